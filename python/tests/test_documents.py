"""Python in documents and notebooks runs from top to bottom."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("torch_geometric", "torch", "dgl", "networkx", "scipy", "pandas", "sklearn", "optuna", "ray")
BLOCKS = [
    (document.name, code)
    for document in (ROOT / "README.md", ROOT / "docs" / "python.md")
    for code in re.findall(r"^```python\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def needs(code: str) -> None:
    """Leaves a test out whose code imports a package that is not here."""
    for package in PACKAGES:
        if re.search(rf"^(import|from) .*\b{package}\b", code, re.MULTILINE) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")


@pytest.mark.parametrize(("name", "code"), BLOCKS, ids=[f"{name}-{number}" for number, (name, _) in enumerate(BLOCKS)])
def test_python_in_documents_runs(name: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    needs(code)
    exec(compile(code, name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    where: dict[str, object] = {"__name__": "__main__"}
    needs("\n".join(code))
    for number, cell in enumerate(code):
        exec(compile(cell, f"{path.name}, cell {number}", "exec"), where)


def test_there_are_documents_to_run() -> None:
    assert len(BLOCKS) >= 12
    assert {path.stem for path in NOTEBOOKS} >= {"quickstart", "audit", "own_model"}
