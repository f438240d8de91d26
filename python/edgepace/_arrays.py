"""Arrays of other libraries as NumPy's, without a copy where their layout allows it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from edgepace.errors import GraphError, MissingPackageError


def imported(name: str, why: str) -> Any:
    """The module of an optional package."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(name.split(".")[0], name.split(".")[0])
        raise MissingPackageError(f"{why} needs the package {package}: install it with `pip install {package}`") from error


def is_torch(value: Any) -> bool:
    """Whether it is a tensor of PyTorch; does not import it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_numpy(value: Any, name: str) -> np.ndarray:
    """An array, a tensor on any device (also one that requires a gradient), a list, or what has `__array__` or DLPack."""
    if isinstance(value, np.ndarray):
        return value
    if is_torch(value):
        value = value.detach()
        if value.layout is not sys.modules["torch"].strided:
            raise GraphError(f"`{name}` is a sparse tensor, expected a dense one: call `.to_dense()`")
        return value.resolve_conj().resolve_neg().cpu().numpy()
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise GraphError(f"`{name}` is no array: {error}") from error


def whole(value: Any, name: str) -> np.ndarray:
    """Whole numbers as int64."""
    array = as_numpy(value, name)
    if array.dtype == object or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        if np.issubdtype(array.dtype, np.floating) and np.all(np.isfinite(array)) and np.all(array == np.trunc(array)):
            return np.ascontiguousarray(array, dtype=np.int64)
        raise GraphError(f"`{name}` has the dtype {array.dtype}, expected whole numbers")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise GraphError(f"`{name}` has a number that is too large: {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)


def floats(value: Any, name: str, *, dimensions: int) -> np.ndarray:
    """Numbers in single precision, in one piece."""
    array = as_numpy(value, name)
    if array.ndim != dimensions:
        raise GraphError(f"`{name}` has the shape {array.shape}, expected {dimensions} dimensions")
    kind = array.dtype
    if kind == object or not (np.issubdtype(kind, np.floating) or np.issubdtype(kind, np.integer) or kind == bool):
        raise GraphError(f"`{name}` has the dtype {kind}, expected real numbers")
    if kind == np.float32:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def nodes_of(value: Any, name: str, num_nodes: int) -> np.ndarray:
    """Nodes, given as a mask of all nodes or by their numbers."""
    array = as_numpy(value, name)
    if array.ndim != 1:
        raise GraphError(f"`{name}` has the shape {array.shape}, expected one dimension: a mask of the nodes, or their numbers")
    if array.dtype == bool:
        if len(array) != num_nodes:
            raise GraphError(f"`{name}` has {len(array)} entries, expected {num_nodes}: one per node")
        return np.flatnonzero(array).astype(np.int64)
    return whole(array, name)


def features(value: Any, num_nodes: int) -> tuple[np.ndarray | None, tuple[np.ndarray, np.ndarray, np.ndarray, int] | None]:
    """Features as a matrix, or as offsets, columns, values and width where they are sparse."""
    if value is None:
        return None, None
    shape = getattr(value, "shape", None)
    if hasattr(value, "tocsr") and shape is not None:
        matrix = value.tocsr()
        if not matrix.has_sorted_indices or not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        rows, width = matrix.shape
        _check_rows("x", rows, num_nodes)
        parts = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), floats(matrix.data, "x", dimensions=1))
        return None, (*parts, int(width))
    if is_torch(value) and value.layout is sys.modules["torch"].sparse_csr:
        value = value.detach().cpu()
        _check_rows("x", int(value.shape[0]), num_nodes)
        parts = (whole(value.crow_indices(), "x"), whole(value.col_indices(), "x"), floats(value.values(), "x", dimensions=1))
        return None, (*parts, int(value.shape[1]))
    array = as_numpy(value, "x")
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    array = floats(array, "x", dimensions=2)
    _check_rows("x", len(array), num_nodes)
    return array, None


def _check_rows(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise GraphError(f"`{name}` has {found} rows, expected {expected}: one per node")
