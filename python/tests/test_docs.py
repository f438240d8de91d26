"""Examples in docstrings do what they say, and stubs name what is there."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

import edgepace
from edgepace import _edgepace

PACKAGE = Path(edgepace.__file__).parent
NEEDS = {"sklearn": "sklearn", "pyg": "torch_geometric", "lightning": "lightning"}
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", ["__init__", *MODULES])
def test_examples_in_docstrings_hold(name: str) -> None:
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")
    module = edgepace if name == "__init__" else importlib.import_module(f"edgepace.{name}")
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_stubs_name_what_the_module_has() -> None:
    stubs = ast.parse((PACKAGE / "_edgepace.pyi").read_text())
    functions = {node.name for node in stubs.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: {item.name for item in node.body if isinstance(item, ast.FunctionDef)} for node in stubs.body if isinstance(node, ast.ClassDef)}
    there = {name for name in dir(_edgepace) if not name.startswith("_")}
    assert functions | set(classes) == there
    for name, methods in classes.items():
        own = {method for method in vars(getattr(_edgepace, name)) if not method.startswith("_") or method == "__new__"}
        assert methods | {"__new__"} == own | {"__new__"}, name


def test_stubs_name_the_arguments_that_the_module_takes() -> None:
    stubs = ast.parse((PACKAGE / "_edgepace.pyi").read_text())

    def arguments(function: ast.FunctionDef) -> list[str]:
        return [argument.arg for argument in function.args.args if argument.arg not in ("self", "cls")]

    compared = 0
    for node in stubs.body:
        if isinstance(node, ast.FunctionDef):
            found = {node: getattr(_edgepace, node.name)}
        elif isinstance(node, ast.ClassDef):
            own = getattr(_edgepace, node.name)
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            found = {item: own if item.name == "__new__" else getattr(own, item.name) for item in methods}
        else:
            continue
        for stub, there in found.items():
            if not callable(there):
                continue  # a property
            taken = [name for name in inspect.signature(there).parameters if name != "self"]
            assert arguments(stub) == taken, stub.name
            compared += 1
    assert compared > 40


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
