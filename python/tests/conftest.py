"""What tests share."""

from __future__ import annotations

import numpy as np
import pytest

import edgepace

#: Small, and with edges of every kind.
NAME = "synthetic:homophily=0.3,nodes=300,edges=1800,seed=0"


@pytest.fixture(scope="session")
def graph() -> edgepace.Graph:
    return edgepace.Graph.load(NAME)


@pytest.fixture(scope="session")
def result(graph: edgepace.Graph) -> edgepace.Result:
    return edgepace.fit(graph, epochs=30, seed=0, keep="method", progress=False)


def triangles() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two triangles that one edge joins: edges in both directions, features, classes."""
    a, b = np.array([0, 1, 2, 3, 4, 5, 2]), np.array([1, 2, 0, 4, 5, 3, 3])
    index = np.stack([np.concatenate([a, b]), np.concatenate([b, a])])
    x = np.array([[1.0], [0.8], [0.6], [-0.6], [-0.8], [-1.0]], dtype=np.float32)
    return index, x, np.array([0, 0, 0, 1, 1, 1])
