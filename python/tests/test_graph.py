"""Graphs come in and go out as they are; what is none is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import triangles

import edgepace
from edgepace import Graph, GraphError


def test_edges_keep_their_ends_and_are_sorted_by_target() -> None:
    index, x, y = triangles()
    graph = Graph(index, x=x, y=y)
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (6, 14, 1, 2)
    assert graph.is_undirected
    assert {tuple(edge) for edge in graph.edge_index.T.tolist()} == {tuple(edge) for edge in index.T.tolist()}
    assert np.all(np.diff(graph.edge_index[1]) >= 0)
    assert np.array_equal(graph.edge_index[:, graph.edge_of_input], index)
    assert np.array_equal(graph.x, x)
    assert np.array_equal(graph.y, y)


def test_both_directions_can_be_left_to_the_graph() -> None:
    index, _, _ = triangles()
    assert np.array_equal(Graph(index[:, :7], 6, undirected=True).edge_index, Graph(index, 6).edge_index)


def test_loops_and_repeats_are_counted_and_followed() -> None:
    graph = Graph([[0, 0, 0, 1], [1, 0, 1, 2]], 3)
    assert graph.num_edges == 2
    assert graph.dropped == {"self_loops": 1, "duplicates": 1}
    assert graph.edge_of_input.tolist() == [0, -1, 0, 1]


def test_features_in_single_precision_are_not_copied() -> None:
    index, x, y = triangles()
    graph = Graph(index, x=x, y=y)
    before = graph.checksum
    x[0, 0] = 0.5
    assert graph.checksum != before
    with pytest.raises(edgepace.GraphChangedError, match="written to"):
        edgepace.fit(graph, epochs=1, split="fraction:0.5:0.25")


@pytest.mark.parametrize("kind", [np.float64, np.int32, bool])
def test_other_numbers_are_features_too(kind: type) -> None:
    index, _, _ = triangles()
    assert np.array_equal(Graph(index, x=np.eye(6, dtype=kind)).x, np.eye(6))


def test_arrays_may_lie_in_memory_as_they_like() -> None:
    index, x, y = triangles()
    wide = np.zeros((6, 2), dtype=np.float32)
    wide[:, 1] = x[:, 0]
    graph = Graph(np.asfortranarray(index.astype(np.int32)), x=wide[:, 1:], y=y[::-1][::-1].astype(np.uint8))
    assert np.array_equal(graph.x, x)
    assert graph.checksum == Graph(index, x=x, y=y).checksum


@pytest.mark.parametrize(
    ("y", "classes", "back"),
    [
        ([0, -1, 1], [0, 1], [0, -1, 1]),
        ([7, 30, -1], [7, 30], [7, 30, -1]),
        ([0.0, float("nan"), 1.0], [0, 1], [0, -1, 1]),
        (["b", "a", None], ["a", "b"], ["b", "a", None]),
        (np.array(["x", "y", "x"]), ["x", "y"], ["x", "y", "x"]),
        (np.array([1, None, 0], dtype=object), [0, 1], [1, -1, 0]),
    ],
)
def test_labels_come_back_as_they_were_given(y: object, classes: list[object], back: list[object]) -> None:
    graph = Graph([[0], [1]], 3, y=y)
    assert graph.classes.tolist() == classes
    assert graph.y.tolist() == back


def test_many_labels_are_a_matrix() -> None:
    graph = Graph([[0], [1]], 2, y=np.array([[0, 1, 1], [1, 0, 0]]))
    assert graph.has_many_labels
    assert graph.num_classes == 3
    assert graph.y.tolist() == [[0, 1, 1], [1, 0, 0]]


def test_masks_are_a_split_and_masks_of_columns_several() -> None:
    train, test = np.array([True, False, False]), np.array([False, False, True])
    graph = Graph([[0], [1]], 3, y=[0, 1, 0], train_mask=train, val_mask=[1], test_mask=test)
    assert {part: nodes.tolist() for part, nodes in graph.splits["masks"].items()} == {"train": [0], "validation": [1], "test": [2]}
    several = np.stack([train, test], axis=1)
    assert list(Graph([[0], [1]], 3, y=[0, 1, 0], train_mask=several).splits) == ["masks:0", "masks:1"]


def test_a_graph_file_brings_the_same_graph_back(graph: Graph, tmp_path: object) -> None:
    graph.save(f"{tmp_path}/own.graph")
    assert Graph.load(f"{tmp_path}/own.graph").checksum == graph.checksum


def test_a_graph_can_be_pickled() -> None:
    index, x, _ = triangles()
    labels = ["left", "left", None, None, "right", "right"]
    graph = Graph(np.concatenate([index, [[1], [1]]], axis=1), x=x, y=labels, node_names=list("abcdef"), train_mask=[0, 5], edge_weight=np.arange(1, 16))
    back = pickle.loads(pickle.dumps(graph))
    assert back.checksum == graph.checksum
    assert repr(back) == repr(graph) and back.name == graph.name
    assert back.y.tolist() == labels and back.node_names == list("abcdef")
    assert np.array_equal(back.edge_of_input, graph.edge_of_input) and np.array_equal(back.edge_weight, graph.edge_weight)
    assert {name: parts["train"].tolist() for name, parts in back.splits.items()} == {"masks": [0, 5]}
    damaged = bytearray(graph._raw.to_bytes())
    damaged[-1] ^= 1
    with pytest.raises(edgepace.DataError, match="a pickled graph"):
        edgepace._edgepace.Dataset.from_bytes(bytes(damaged), None, np.zeros(0, dtype=np.int64))


def test_a_graph_says_what_it_is(graph: Graph) -> None:
    assert "300 nodes, 1,800 undirected edges" in repr(graph)
    assert "<b>Graph</b>" in graph._repr_html_()
    assert "<script>" not in Graph([[0], [1]], 2, name="<script>")._repr_html_()


def test_an_empty_graph_is_one() -> None:
    assert Graph(np.zeros((2, 0)), 0).num_nodes == 0
    assert Graph([], 4).edge_index.shape == (2, 0)


INDEX, X, Y = triangles()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"edge_index": INDEX.T}, "transpose it"),
        ({"edge_index": INDEX[0]}, "expected (2, edges)"),
        ({"edge_index": INDEX + 0.5}, "expected whole numbers"),
        ({"edge_index": INDEX.astype(str)}, "expected whole numbers"),
        ({"edge_index": [[0, -1], [1, 0]], "num_nodes": 2}, "`edge_index`[1] is -1"),
        ({"edge_index": [[0, 9], [1, 0]], "num_nodes": 2}, "`edge_index`[1] is 9, but there are 2 nodes"),
        ({"edge_index": [[0, 2**40], [1, 0]], "num_nodes": 2}, "`edge_index`[1] is 1099511627776"),
        ({"edge_index": [[0, 1], [1]]}, "`edge_index` is no array"),
        ({"edge_index": INDEX, "num_nodes": -1}, "`num_nodes` is -1"),
        ({"edge_index": INDEX, "num_nodes": 2.5}, "`num_nodes` is 2.5"),
        ({"edge_index": INDEX, "num_nodes": 2**40}, "are too many"),
        ({"edge_index": INDEX, "num_nodes": 7, "x": X}, "`x` has 6 rows, expected 7"),
        ({"edge_index": INDEX, "x": np.full((6, 2), np.nan)}, "row 0"),
        ({"edge_index": INDEX, "x": X * np.inf}, "row 0"),
        ({"edge_index": INDEX, "x": np.full((6, 1), 1e300)}, "row 0"),
        ({"edge_index": INDEX, "x": X.astype(complex)}, "expected real numbers"),
        ({"edge_index": INDEX, "x": np.array([["a"]] * 6)}, "expected real numbers"),
        ({"edge_index": INDEX, "x": X[None]}, "expected 2 dimensions"),
        ({"edge_index": INDEX, "num_nodes": 6, "y": Y[:3]}, "`y` has 3 entries, expected 6"),
        ({"edge_index": INDEX, "y": Y - 5}, "or -1 for unknown"),
        ({"edge_index": INDEX, "y": Y + 0.5}, "no regression"),
        ({"edge_index": INDEX, "y": ["a", 1, "b", 2, "c", 3]}, "several types"),
        ({"edge_index": INDEX, "y": np.full((6, 3), 2)}, "zeros and ones"),
        ({"edge_index": INDEX, "num_nodes": 6, "edge_weight": np.ones(3)}, "entries, expected 14"),
        ({"edge_index": INDEX, "num_nodes": 6, "edge_weight": -np.ones(14)}, "weigh"),
        ({"edge_index": INDEX, "num_nodes": 6, "edge_weight": np.full(14, np.nan)}, "weigh"),
        ({"edge_index": INDEX, "y": Y, "train_mask": np.ones(5, dtype=bool)}, "`train_mask` has 5 entries, expected 6"),
        ({"edge_index": INDEX, "y": Y, "train_mask": [0, 99]}, "is 99, but there are 6 nodes"),
        ({"edge_index": INDEX, "y": Y, "train_mask": [0], "test_mask": [0]}, "0"),
        ({"edge_index": INDEX, "y": Y, "test_mask": [0]}, "without `train_mask`"),
        ({"edge_index": INDEX, "y": [-1] * 6, "train_mask": [0]}, "label"),
        ({"edge_index": INDEX, "node_names": ["a"] * 6}, "twice"),
        ({"edge_index": INDEX, "num_nodes": 6, "node_names": ["a"]}, "entries, expected 6"),
    ],
)
def test_what_is_no_graph_is_refused_with_what_is_wrong(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph(**arguments)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["no-such-set", "synthetic:homophilly=1", "/no/such.graph", ""])
def test_a_name_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(edgepace.EdgepaceError):
        Graph.load(name, offline=True)
