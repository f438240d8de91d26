"""What can go wrong, one class each. All of them are :class:`EdgepaceError`.

Each message says what was found, what was expected, and what to do.

>>> import edgepace
>>> try:
...     edgepace.Graph([[0, 1], [1, 5]], num_nodes=3)
... except edgepace.GraphError as error:
...     print(error)
`edge_index`[1] is 5, but there are 3 nodes: ids count from 0 and must be below the number of nodes
"""

from __future__ import annotations

__all__ = [
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
]


class EdgepaceError(Exception):
    """Whatever edgepace refuses or cannot do."""


class GraphError(EdgepaceError, ValueError):
    """Edges, features, labels or masks that are no graph, or do not fit each other."""


class GraphChangedError(EdgepaceError, RuntimeError):
    """An array that a graph shares was written to while the graph was in use."""


class SettingError(EdgepaceError, ValueError):
    """A setting that is unknown or out of its range."""


class DataError(EdgepaceError, ValueError):
    """A dataset that cannot be had, or a file that is damaged."""


class FileError(EdgepaceError, OSError):
    """A file that cannot be read or written."""


class CurriculumError(EdgepaceError, ValueError):
    """Something that a curriculum cannot learn from."""


class StateError(EdgepaceError, ValueError):
    """Something saved that is damaged, or of another run."""


class DivergedError(EdgepaceError, ArithmeticError):
    """Training that came to numbers that are not finite."""


class NotEnoughMemoryError(EdgepaceError, MemoryError):
    """A run that needs more memory than there is."""


class StoreError(EdgepaceError, OSError):
    """A store of runs that cannot be read or written."""


class UsageError(EdgepaceError, RuntimeError):
    """Something that is used in a way in which it cannot be, as a run that is over."""


class MissingPackageError(EdgepaceError, ImportError):
    """An optional package that is not installed."""


class InternalError(EdgepaceError, RuntimeError):
    """A fault of edgepace itself."""
