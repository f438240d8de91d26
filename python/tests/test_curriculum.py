"""The curriculum alone: the native trainer's edges, and nothing but exceptions for bad input."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import triangles

import edgepace
from edgepace import Curriculum, CurriculumError, GraphError, SettingError, StateError

LOGITS = np.array([[2, 0], [2, 0], [1, 0], [0, 1], [0, 2], [0, 2]], dtype=np.float32)


def native(graph: edgepace.Graph, epochs: int, preset: str) -> tuple[edgepace.Result, edgepace.Result]:
    """The curriculum of the native trainer, and the plain training that it begins with."""
    settings = {"epochs": epochs, "seed": 3, "progress": False}
    own = edgepace.fit(graph, preset=preset, keep="method", **settings)
    return own, edgepace.fit(graph, method="vanilla", **settings)


@pytest.mark.parametrize("preset", ["edgepace", "posterior", "cosine"])
@pytest.mark.parametrize("noise", [None, "fake=0.5"])
def test_fed_the_same_numbers_it_lets_in_the_native_trainers_edges(preset: str, noise: str | None) -> None:
    epochs = 60
    graph = edgepace.Graph.load("synthetic:homophily=0.4,nodes=300,edges=1500,seed=1")
    if noise is not None:
        graph = edgepace.fit(graph, epochs=1, noise=noise, seed=3, progress=False).graph
    own, plain = native(graph, epochs, preset)
    # In another order than the graph's, and with self-loops, which are none of its business.
    order = np.random.default_rng(0).permutation(graph.num_edges)
    index = np.concatenate([graph.edge_index[:, order], [[5, 6], [5, 6]]], axis=1)
    by_id = np.argsort(order)
    # The trainer hands over the features as it has prepared them.
    x = own._raw.prepared_features().dense_features()
    curriculum = Curriculum(index, graph.num_nodes, x, total_epochs=epochs, preset=preset, seed=3)
    train = own.split["train"]
    counts = []
    for epoch in range(epochs):
        if curriculum.due:
            # The frozen model on the edges that are in so far; on all of them at first.
            weights = np.ones(graph.num_edges, dtype=np.float32) if epoch == 0 else curriculum.edge_weight[by_id]
            logits, embeddings = plain._raw.evaluate_on(weights)
            losses = plain._raw.node_losses(logits, train)
            curriculum.step(logits=logits, embeddings=embeddings, node_loss=losses, train_mask=train)
            counts.append([epoch, int(curriculum.active_edges[:-2].sum())])
        else:
            curriculum.step()
    assert counts == [list(count) for count in own.record["result"]["edges_history"]]
    columns = own._edge_columns()
    edges = columns["edge"]
    assert np.array_equal(curriculum.first_epoch[by_id][edges], columns["first_epoch"])
    assert np.array_equal(curriculum.difficulty[by_id][edges], columns["difficulty"])
    assert np.array_equal(curriculum.evaluation_weight[by_id][edges], columns["weight"])
    assert curriculum.edge_weight[-2:].tolist() == [1, 1]


def test_a_saved_curriculum_goes_on_to_the_same_bits() -> None:
    index, x, _ = triangles()

    def fresh() -> Curriculum:
        return Curriculum(index, 6, x, total_epochs=40, period=4)

    def steps(curriculum: Curriculum, count: int) -> None:
        for _ in range(count):
            curriculum.step(logits=LOGITS * (1 + curriculum.epoch), node_loss=[0.1, 0.5], train_mask=[0, 5])

    whole, half, rest = fresh(), fresh(), fresh()
    steps(whole, 40)
    steps(half, 17)
    rest.load_state_dict(half.state_dict())
    assert rest.epoch == 17
    steps(rest, 23)
    assert np.array_equal(whole.edge_weight, rest.edge_weight)
    assert whole.updates == rest.updates
    with pytest.raises(StateError):
        Curriculum(index, 6, x, total_epochs=41, period=4).load_state_dict(half.state_dict())
    with pytest.raises(StateError):
        fresh().load_state_dict({})
    damaged = half.state_dict()
    damaged["mask"] = damaged["mask"] + 5
    with pytest.raises(StateError, match="mask"):
        fresh().load_state_dict(damaged)
    damaged["mask"] = np.zeros(3, dtype=np.float32)
    with pytest.raises(StateError, match="mask"):
        fresh().load_state_dict(damaged)
    damaged["mask"] = np.zeros(7)
    with pytest.raises(StateError, match="mask"):
        fresh().load_state_dict(damaged)


def test_before_the_first_step_no_edge_is_in_and_at_the_end_all_are() -> None:
    index, x, _ = triangles()
    curriculum = Curriculum(index, 6, x, total_epochs=30, preset="posterior", period=1)
    assert not curriculum.active_edges.any()
    for _ in range(30):
        curriculum.step(logits=LOGITS)
    assert curriculum.active_edges.all()
    assert "14 of 14" in repr(curriculum)


def test_what_is_not_due_needs_no_numbers() -> None:
    index, _, _ = triangles()
    curriculum = Curriculum(index, 6, total_epochs=30, preset="posterior", period=10)
    assert curriculum.due
    assert curriculum.step(logits=LOGITS)
    assert not curriculum.due
    assert not curriculum.step()


def test_weights_follow_the_order_of_the_edges_that_were_given() -> None:
    index, _, _ = triangles()
    order = np.random.default_rng(1).permutation(14)
    one, other = (Curriculum(edges, 6, total_epochs=9, preset="posterior", period=3) for edges in (index, index[:, order]))
    for curriculum in (one, other):
        for _ in range(4):
            curriculum.step(logits=LOGITS, node_loss=[0.3, 0.1, 0.2, 0.2, 0.1, 0.3])
    assert np.array_equal(one.edge_weight[order], other.edge_weight)
    assert len(np.unique(one.edge_weight)) > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "logits"),
        ({"embeddings": LOGITS}, "logits"),
        ({"logits": LOGITS[:3]}, "`logits` has 3 rows, expected 6"),
        ({"logits": LOGITS[0]}, "expected 2 dimensions"),
        ({"logits": LOGITS * np.nan}, "node 0"),
        ({"logits": LOGITS + np.inf}, "finite"),
        ({"logits": LOGITS.astype(str)}, "expected real numbers"),
        ({"logits": LOGITS, "node_loss": [0.1], "train_mask": [0, 5]}, "`node_loss` has 1 entries, expected 2"),
        ({"logits": LOGITS, "node_loss": [0.1, np.nan], "train_mask": [0, 5]}, "loss"),
        ({"logits": LOGITS, "node_loss": [0.1, 0.1], "train_mask": [0, 50]}, "50"),
        ({"logits": LOGITS, "node_loss": [0.1], "train_mask": np.ones(3, dtype=bool)}, "`train_mask` has 3 entries"),
    ],
)
def test_what_it_cannot_learn_from_is_refused_and_changes_nothing(arguments: dict[str, object], said: str) -> None:
    index, _, _ = triangles()
    curriculum = Curriculum(index, 6, total_epochs=30, preset="posterior")
    with pytest.raises((CurriculumError, GraphError)) as caught:
        curriculum.step(**arguments)
    assert said in str(caught.value)
    assert curriculum.epoch == 0
    assert curriculum.step(logits=LOGITS)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"total_epochs": 0}, SettingError, "total_epochs"),
        ({"total_epochs": 10, "preset": "no-such"}, SettingError, "no-such"),
        ({"total_epochs": 10, "perod": 3}, SettingError, "did you mean `period`"),
        ({"total_epochs": 10, "period": "often"}, SettingError, "period"),
        ({"total_epochs": 10, "period": 0}, SettingError, "period"),
        ({"total_epochs": 10, "period": object()}, SettingError, "type"),
        ({"total_epochs": 10, "x": np.ones((3, 2))}, GraphError, "`x` has 3 rows, expected 6"),
        ({"total_epochs": 10, "num_nodes": 2}, GraphError, "but there are 2 nodes"),
    ],
)
def test_settings_that_it_cannot_have_are_refused(arguments: dict[str, object], error: type[Exception], said: str) -> None:
    index, _, _ = triangles()
    with pytest.raises(error) as caught:
        Curriculum(index, **{"num_nodes": 6, **arguments})
    assert said in str(caught.value)


def test_a_graph_without_edges_has_empty_updates() -> None:
    curriculum = Curriculum(np.zeros((2, 0)), 3, total_epochs=5, preset="posterior", period=1)
    assert curriculum.step(logits=LOGITS[:3])
    assert curriculum.edge_weight.shape == (0,)
