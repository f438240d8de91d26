"""Trains graph neural networks that learn which edges to trust.

>>> import edgepace
>>> graph = edgepace.Graph.load("synthetic:homophily=0.3,nodes=300,edges=1800,seed=0")
>>> result = edgepace.fit(graph, method="rcl", epochs=60, seed=0)
>>> result.test_score > 20  # percent
True

Bring a graph of your own with :class:`Graph` (NumPy, SciPy, NetworkX, pandas, PyTorch Geometric, DGL), train with :func:`fit`, look for
bad edges with :func:`audit`, or keep your own model and take the :class:`Curriculum` alone. scikit-learn's way is in
:mod:`edgepace.sklearn`, transforms of PyTorch Geometric are in :mod:`edgepace.pyg`, and a callback is in :mod:`edgepace.lightning`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgepace import errors as errors
    from edgepace._edgepace import __version__ as __version__
    from edgepace.auditing import Audit as Audit
    from edgepace.auditing import audit as audit
    from edgepace.curriculum import Curriculum as Curriculum
    from edgepace.errors import (
        CurriculumError as CurriculumError,
        DataError as DataError,
        DivergedError as DivergedError,
        EdgepaceError as EdgepaceError,
        FileError as FileError,
        GraphChangedError as GraphChangedError,
        GraphError as GraphError,
        InternalError as InternalError,
        MissingPackageError as MissingPackageError,
        NotEnoughMemoryError as NotEnoughMemoryError,
        SettingError as SettingError,
        StateError as StateError,
        StoreError as StoreError,
        UsageError as UsageError,
    )
    from edgepace.graph import Graph as Graph
    from edgepace.result import Result as Result
    from edgepace.sklearn import EdgepaceClassifier as EdgepaceClassifier
    from edgepace.sweeping import runs as runs
    from edgepace.sweeping import sweep as sweep
    from edgepace.training import Run as Run
    from edgepace.training import fit as fit
    from edgepace.training import methods as methods

# Where each name is. What is not asked for is not imported, so that `import edgepace` costs next to nothing.
_PLACES = {
    "Audit": "auditing",
    "Curriculum": "curriculum",
    "EdgepaceClassifier": "sklearn",
    "Graph": "graph",
    "Result": "result",
    "Run": "training",
    "__version__": "_edgepace",
    "audit": "auditing",
    "fit": "training",
    "methods": "training",
    "runs": "sweeping",
    "sweep": "sweeping",
}
_ERRORS = (
    "CurriculumError",
    "DataError",
    "DivergedError",
    "EdgepaceError",
    "FileError",
    "GraphChangedError",
    "GraphError",
    "InternalError",
    "MissingPackageError",
    "NotEnoughMemoryError",
    "SettingError",
    "StateError",
    "StoreError",
    "UsageError",
)
_PLACES.update(dict.fromkeys(_ERRORS, "errors"))
_MODULES = ("errors", "lightning", "pyg", "sklearn")

__all__ = [*sorted(name for name in _PLACES if not name.startswith("_")), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"edgepace.{name}")
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'edgepace' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"edgepace.{place}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_MODULES})
