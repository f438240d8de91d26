"""Python in documents and notebooks runs from top to bottom."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def runs(code: str, name: str, where: dict[str, object]) -> None:
    for package in ("torch_geometric", "torch", "networkx", "pandas", "sklearn"):
        if re.search(rf"\b{package}\b", code) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    exec(compile(code, name, "exec"), where)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_in_the_document_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runs(BLOCKS[number], f"python.md, block {number}", {"__name__": "__main__"})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    where: dict[str, object] = {"__name__": "__main__"}
    needed = "\n".join(code)
    for package in ("torch_geometric", "torch", "networkx", "pandas"):
        if re.search(rf"\b{package}\b", needed) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    for number, cell in enumerate(code):
        exec(compile(cell, f"{path.name}, cell {number}", "exec"), where)


def test_there_are_documents_to_run() -> None:
    assert len(BLOCKS) >= 8
    assert {path.stem for path in NOTEBOOKS} >= {"quickstart", "audit", "own_model"}
