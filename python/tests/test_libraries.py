"""Graphs of the libraries that people use, there and back. Each test is left out where its library is not installed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from conftest import triangles

import edgepace
from edgepace import Curriculum, Graph, GraphError

INDEX, X, Y = triangles()
LOGITS = np.array([[2, 0], [2, 0], [1, 0], [0, 1], [0, 2], [0, 2]], dtype=np.float32)


def test_scipy_there_and_back() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    weights = np.arange(1, 15, dtype=np.float32)
    matrix = sparse.coo_matrix((weights, INDEX), shape=(6, 6))
    graph = Graph.from_scipy(matrix, X, Y)
    assert (graph.to_scipy() != matrix.tocsr()).nnz == 0
    assert Graph.from_scipy(sparse.csr_matrix((np.ones(14), INDEX), shape=(6, 6))).edge_weight is None
    words = sparse.random(6, 40, 0.2, random_state=0, format="coo", dtype=np.float64)
    assert np.allclose(Graph(INDEX, x=words).x, words.toarray())
    assert Graph(INDEX, x=words).checksum == Graph(INDEX, x=words.tocsc().astype(np.float32)).checksum
    with pytest.raises(GraphError, match="as many rows as columns"):
        Graph.from_scipy(sparse.csr_matrix((2, 3)))
    with pytest.raises(GraphError, match="sparse matrix"):
        Graph.from_scipy(np.eye(3))


def test_networkx_there_and_back() -> None:
    networkx = pytest.importorskip("networkx")
    given = networkx.Graph()
    names = ["ann", "bob", "cat", "dan", "eve", "fay"]
    for name, x, y in zip(names, X, Y):
        given.add_node(name, age=float(x[0]), team=None if name == "bob" else ("red", "blue")[y], vector=[1.0, 2.0])
    for a, b in INDEX[:, :7].T.tolist():
        given.add_edge(names[a], names[b], weight=2.0)
    graph = Graph.from_networkx(given, x=["age", "vector"], y="team")
    assert graph.node_names == names
    assert graph.is_undirected and graph.num_edges == 14
    assert graph.y.tolist() == ["red", None, "red", "blue", "blue", "blue"]
    assert graph.num_features == 3
    assert set(graph.edge_weight.tolist()) == {2.0}
    back = graph.to_networkx()
    assert {frozenset(edge) for edge in back.edges} == {frozenset(edge) for edge in given.edges}
    assert back.nodes["dan"]["y"] == "blue"
    assert Graph.from_networkx(given.to_directed()).num_edges == 14
    with pytest.raises(GraphError, match="has no attribute `height`"):
        Graph.from_networkx(given, x="height")


def test_pandas_there_and_back() -> None:
    pandas = pytest.importorskip("pandas")
    names = np.array(["a", "b", "c", "d", "e", "f"])
    edges = pandas.DataFrame({"from": names[INDEX[0, :7]], "to": names[INDEX[1, :7]], "times": np.arange(1, 8)})
    nodes = pandas.DataFrame({"id": names, "size": X[:, 0], "kind": ["x", "x", None, "y", float("nan"), "y"], "note": list("uvwxyz")})
    with pytest.warns(UserWarning, match="`note`"):
        graph = Graph.from_pandas(edges, nodes, weight="times", id="id", label="kind")
    assert graph.node_names == names.tolist()
    assert graph.feature_names == ["size"]
    assert graph.y.tolist() == ["x", "x", None, "y", None, "y"]
    back_edges, back_nodes = graph.to_pandas()
    assert len(back_edges) == 7
    assert {(frozenset(row[:2]), row[2]) for row in back_edges.itertuples(index=False, name=None)} == {
        (frozenset(row[:2]), row[2]) for row in edges.itertuples(index=False, name=None)
    }
    assert back_nodes.loc["d", "label"] == "y"
    assert Graph.from_pandas(edges).num_nodes == 6
    result = edgepace.fit(graph, epochs=5, split="fraction:0.5:0.25", progress=False)
    assert isinstance(result.edges, pandas.DataFrame)
    assert set(result.edges["source"]) <= set(names)
    with pytest.raises(GraphError, match="no column `nope`"):
        Graph.from_pandas(edges, nodes, label="nope")
    with pytest.raises(GraphError, match="not in `nodes`"):
        Graph.from_pandas(edges, nodes.iloc[:3], id="id", columns=["size"])
    with pytest.raises(GraphError, match="twice"):
        Graph.from_pandas(edges, nodes.assign(id="a"), id="id", columns=["size"])


def test_pyg_there_and_back() -> None:
    torch = pytest.importorskip("torch")
    data_module = pytest.importorskip("torch_geometric.data")
    mask = torch.tensor([True, False, False, False, False, True])
    data = data_module.Data(x=torch.from_numpy(X.copy()), edge_index=torch.from_numpy(INDEX), y=torch.from_numpy(Y), train_mask=mask, val_mask=~mask)
    data.edge_weight = torch.linspace(0.5, 1, 14)
    graph = Graph.from_pyg(data)
    back = Graph.from_pyg(graph.to_pyg())
    assert back.checksum == graph.checksum
    assert graph.splits["masks"]["train"].tolist() == [0, 5]
    data.y = data.y[:, None]
    assert Graph.from_pyg(data).checksum == graph.checksum
    data.train_mask = torch.stack([mask, ~mask], dim=1)
    data.val_mask = None
    assert list(Graph.from_pyg(data).splits) == ["masks:0", "masks:1"]
    with pytest.raises(GraphError, match="expected a Data"):
        Graph.from_pyg(data_module.HeteroData())
    with pytest.raises(GraphError, match="expected a Data"):
        Graph.from_pyg({"x": 1})


def test_features_of_torch_are_not_copied() -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X.copy())
    graph = Graph(torch.from_numpy(INDEX), x=x, y=torch.from_numpy(Y))
    before = graph.checksum
    x[0] = 0.5
    assert graph.checksum != before


def test_tensors_that_require_a_gradient_or_lie_otherwise_are_taken() -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(np.tile(X, (1, 2))).double().requires_grad_()
    assert np.allclose(Graph(torch.from_numpy(INDEX).int(), x=x.T.contiguous().T).x, np.tile(X, (1, 2)))
    assert np.array_equal(Graph(INDEX, x=torch.from_numpy(X).to_sparse_csr()).x, X)
    with pytest.raises(GraphError, match="sparse tensor"):
        Graph(torch.from_numpy(INDEX).to_sparse(), 6)


def test_a_curriculum_gives_tensors_for_tensors() -> None:
    torch = pytest.importorskip("torch")
    index = torch.from_numpy(INDEX)
    curriculum = Curriculum(index, 6, total_epochs=10, preset="posterior", period=2)
    logits = torch.from_numpy(LOGITS).requires_grad_()
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(Y), reduction="none")
    curriculum.step(logits=logits, node_loss=loss, train_mask=torch.tensor([True] * 3 + [False] * 3))
    assert isinstance(curriculum.edge_weight, torch.Tensor)
    assert index[:, curriculum.active_edges].shape[0] == 2
    import io

    buffer = io.BytesIO()
    torch.save(curriculum.state_dict(), buffer)
    buffer.seek(0)
    other = Curriculum(index, 6, total_epochs=10, preset="posterior", period=2)
    other.load_state_dict(torch.load(buffer, weights_only=False))
    assert torch.equal(other.edge_weight, curriculum.edge_weight)


def _tensors(path: str) -> dict[str, np.ndarray]:
    """What a file of safetensors holds in single precision."""
    content = open(path, "rb").read()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__")
    return {
        name: np.frombuffer(content[start + at["data_offsets"][0] : start + at["data_offsets"][1]], dtype=np.float32).reshape(at["shape"])
        for name, at in header.items()
        if at["dtype"] == "F32"
    }


@pytest.mark.parametrize("preset", ["edgepace", "posterior", "cosine"])
def test_a_model_of_pyg_with_the_same_weights_lets_in_the_native_trainers_edges(preset: str, tmp_path: object) -> None:
    torch = pytest.importorskip("torch")
    convolutions = pytest.importorskip("torch_geometric.nn")
    epochs = 60
    clean = Graph.load("synthetic:homophily=0.4,nodes=300,edges=1500,seed=1")
    graph = edgepace.fit(clean, epochs=1, noise="fake=0.5", seed=3, progress=False).graph
    own = edgepace.fit(graph, preset=preset, keep="method", epochs=epochs, seed=3, progress=False)
    plain = edgepace.fit(graph, method="vanilla", epochs=epochs, seed=3, progress=False)
    plain.save(f"{tmp_path}/plain")
    weights = {name: torch.from_numpy(values.copy()) for name, values in _tensors(f"{tmp_path}/plain/model.safetensors").items()}
    x = torch.from_numpy(own._raw.prepared_features().dense_features())
    index, y = torch.from_numpy(graph.edge_index), torch.from_numpy(graph.codes)
    layers = []
    for name in ("conv1", "conv2"):
        layer = convolutions.GCNConv(*weights[f"{name}.weight"].shape)
        layer.lin.weight.data = weights[f"{name}.weight"].T.contiguous()
        layer.bias.data = weights[f"{name}.bias"][0]
        layers.append(layer)

    @torch.no_grad()
    def evaluate(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        there = weight > 0
        edges = index[:, there]
        embeddings = layers[1](torch.relu(layers[0](x, edges, weight[there])), edges, weight[there])
        return embeddings, embeddings @ weights["decoder.weight"]

    every = torch.ones(graph.num_edges)
    assert np.allclose(evaluate(every)[1].numpy(), plain.logits, atol=1e-4), "it is the same model"
    curriculum = Curriculum(index, graph.num_nodes, x, total_epochs=epochs, preset=preset, seed=3)
    train = torch.from_numpy(own.split["train"])
    for epoch in range(epochs):
        if curriculum.due:
            embeddings, logits = evaluate(every if epoch == 0 else curriculum.edge_weight)
            loss = torch.nn.functional.cross_entropy(logits[train], y[train], reduction="none")
            curriculum.step(embeddings, logits, loss, train)
        else:
            curriculum.step()
    columns = own._edge_columns()
    assert np.array_equal(curriculum.first_epoch[columns["edge"]], columns["first_epoch"])
    counts = [[update["epoch"], update["selected"]] for update in curriculum.updates]
    assert counts == [list(count) for count in own.record["result"]["edges_history"]]


class _DglGraph:
    """As much of a DGLGraph as is read, for machines without DGL."""

    def __init__(self) -> None:
        self.ndata = {"feat": X, "label": Y, "train_mask": Y == 0}
        self.edata = {"w": np.ones(14)}

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        return INDEX[0], INDEX[1]

    def num_nodes(self) -> int:
        return 6


def test_what_dgl_offers_is_read() -> None:
    graph = Graph.from_dgl(_DglGraph(), weight="w")
    assert graph.splits["masks"]["train"].tolist() == [0, 1, 2]
    assert np.array_equal(graph.x, X) and np.array_equal(graph.y, Y)


def test_dgl_graphs_come_and_go(graph: Graph) -> None:
    dgl, torch = _dgl()
    there = graph.to_dgl()
    assert isinstance(there, dgl.DGLGraph)
    assert (there.num_nodes(), there.num_edges()) == (graph.num_nodes, graph.num_edges)
    back = Graph.from_dgl(there)
    assert np.array_equal(back.edge_index, graph.edge_index)
    assert np.array_equal(back.x, graph.x) and np.array_equal(back.y, graph.y)
    there.edata["w"] = torch.linspace(0.5, 1, graph.num_edges)
    assert Graph.from_dgl(there, weight="w").checksum != back.checksum


def test_a_model_of_dgl_trains_with_the_curriculum(graph: Graph) -> None:
    dgl, torch = _dgl()
    from dgl.nn import GraphConv

    there, epochs = graph.to_dgl(), 12
    x, y = torch.from_numpy(graph.x), torch.from_numpy(graph.y)
    train = torch.arange(0, graph.num_nodes, 3)
    torch.manual_seed(0)
    model = GraphConv(x.shape[1], int(y.max()) + 1, allow_zero_in_degree=True)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    curriculum = Curriculum(torch.stack(there.edges()), graph.num_nodes, x, total_epochs=epochs, period=3)
    losses, counts = [], []
    for _ in range(epochs):
        with torch.no_grad():
            logits = model(there, x)
        loss = torch.nn.functional.cross_entropy(logits[train], y[train], reduction="none")
        curriculum.step(logits=logits, node_loss=loss, train_mask=train)
        active = curriculum.active_edges
        kept = dgl.edge_subgraph(there, active, relabel_nodes=False)
        optimiser.zero_grad()
        own = torch.nn.functional.cross_entropy(model(kept, x, edge_weight=curriculum.edge_weight[active])[train], y[train])
        own.backward()
        optimiser.step()
        losses.append(float(own.detach()))
        counts.append(int(active.sum()))
    assert losses[-1] < losses[0]
    assert counts == sorted(counts) and counts[-1] > counts[0]


def _dgl() -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    return pytest.importorskip("dgl"), torch


def test_transforms_of_pyg_add_scores_and_weights(graph: Graph) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from edgepace.pyg import AuditEdges, CurriculumWeights

    data = graph.to_pyg()
    # With self-loops and in another order.
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))
    data.edge_index = torch.cat([data.edge_index[:, order], torch.tensor([[7], [7]])], dim=1)
    scored = AuditEdges(epochs=10)(data.clone())
    assert scored.edge_score.shape == (data.num_edges,)
    audited = edgepace.audit(Graph.from_pyg(data), epochs=10, progress=False)
    expected = {(int(a), int(b)): 1 - s for a, b, s in zip(*(audited.result._edge_columns()[name] for name in ("source", "target", "suspicion")))}
    for (a, b), score in zip(data.edge_index.T.tolist()[:-1], scored.edge_score.tolist()):
        assert score == pytest.approx(expected[(a, b) if (a, b) in expected else (b, a)])
    assert scored.edge_score[-1] == 1 and not scored.edge_issue[-1]
    removed = AuditEdges(epochs=10, remove=True)(data.clone())
    assert removed.num_edges == data.num_edges - int(scored.edge_issue.sum())
    weighed = CurriculumWeights(epochs=10)(data.clone())
    assert weighed.edge_weight.shape == (data.num_edges,) and weighed.edge_weight.max() <= 1


def test_scikit_learn_searches_over_graphs(graph: Graph) -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    from edgepace.sklearn import EdgepaceClassifier, GraphKFold

    model = EdgepaceClassifier(graph, epochs=10, threads=1)
    assert clone(model).get_params() == model.get_params()
    folds = GraphKFold(graph, 3)
    search = GridSearchCV(model, {"hidden": [4, 16], "method": ["vanilla", "rcl"]}, cv=folds).fit(folds.nodes, folds.labels)
    assert len(search.cv_results_["params"]) == 4
    assert 0 <= search.best_score_ <= 1
    assert len(cross_val_score(model, folds.nodes, folds.labels, cv=folds)) == 3


def test_the_estimator_never_trains_on_nodes_outside_its_fold(graph: Graph) -> None:
    pytest.importorskip("sklearn")
    from edgepace.sklearn import EdgepaceClassifier

    nodes = np.arange(0, 300, 3)
    # Other labels everywhere else: what is learned must not change.
    labels = graph.y.copy()
    labels[np.setdiff1d(np.arange(300), nodes)] = 0
    other = Graph(graph.edge_index, x=graph.x, y=labels)
    one = EdgepaceClassifier(graph, epochs=10).fit(nodes)
    two = EdgepaceClassifier(other, epochs=10).fit(nodes)
    assert np.array_equal(one.result_.logits, two.result_.logits)
    assert set(one.result_.split["train"]) | set(one.result_.split["validation"]) == set(nodes)


def test_the_estimator_answers_as_scikit_learns_do(graph: Graph) -> None:
    pytest.importorskip("sklearn")
    from sklearn.exceptions import NotFittedError

    from edgepace.sklearn import EdgepaceClassifier

    model = EdgepaceClassifier(epochs=20, settings={"keep": "method"})
    with pytest.raises(NotFittedError):
        model.predict(graph)
    mask = np.zeros(300, dtype=bool)
    mask[:200] = True
    assert model.fit(graph, mask=mask) is model
    assert model.predict(graph).shape == model.transduction_.shape == (300,)
    assert model.predict_proba(np.array([3, 4])).shape == (2, graph.num_classes)
    assert model.score(graph) == pytest.approx(np.mean(model.transduction_[200:] == graph.y[200:]))
    assert model.score(np.arange(200, 300), graph.y[200:]) == pytest.approx(model.score(graph))
    assert len(model.history_["loss"]) == 20
    labels = np.where(graph.y > 4, "high", "low")
    assert set(model.fit(graph, labels).predict()) <= {"high", "low"}
    with pytest.raises(edgepace.SettingError, match="graph="):
        EdgepaceClassifier().fit(np.arange(5))


def test_the_checks_that_an_estimator_of_graphs_cannot_meet_are_those_that_are_listed() -> None:
    pytest.importorskip("sklearn")
    from sklearn.utils.estimator_checks import check_estimator

    from edgepace.sklearn import UNMET_CHECKS, EdgepaceClassifier

    told = check_estimator(EdgepaceClassifier(epochs=2), on_skip=None, on_fail=None)
    assert {check["check_name"] for check in told if check["status"] == "failed"} == set(UNMET_CHECKS)
    assert sum(check["status"] == "passed" for check in told) >= 15


def test_what_those_checks_are_after_holds_for_graphs(graph: Graph) -> None:
    pytest.importorskip("sklearn")
    import pickle

    from edgepace.sklearn import EdgepaceClassifier

    model = EdgepaceClassifier(epochs=5)
    before = model.get_params()
    first = model.fit(graph).predict_proba()
    assert model.get_params() == before
    assert np.array_equal(model.fit(graph).predict_proba(), first), "fitting again changes nothing"
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict_proba(), first)
    assert np.array_equal(back.predict(graph), model.predict())


def test_optuna_searches_over_graphs(graph: Graph) -> None:
    optuna = pytest.importorskip("optuna")
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    from edgepace.sklearn import EdgepaceClassifier, GraphKFold

    folds = GraphKFold(graph, 3)
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: object) -> float:
        model = EdgepaceClassifier(graph, epochs=5, hidden=trial.suggest_int("hidden", 4, 16))
        return cross_val_score(model, folds.nodes, folds.labels, cv=folds).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=2)
    assert 4 <= study.best_params["hidden"] <= 16


def test_a_callback_of_lightning_runs_the_curriculum() -> None:
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning.pytorch")
    from edgepace.lightning import CurriculumCallback

    x, y, index = torch.from_numpy(X.copy()), torch.from_numpy(Y), torch.from_numpy(INDEX)
    curriculum = Curriculum(index, 6, x, total_epochs=6, preset="posterior", period=2)
    seen: list[object] = []

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(1, 2)

        def forward(self) -> object:
            return self.linear(x)

        def training_step(self, batch: object, number: int) -> object:
            assert self.training
            seen.append(curriculum.edge_weight.clone())
            return torch.nn.functional.cross_entropy(self(), y)

        def configure_optimizers(self) -> object:
            return torch.optim.Adam(self.parameters(), lr=0.1)

    def feedback(model: object) -> dict[str, object]:
        assert not model.training and not torch.is_grad_enabled()
        return {"logits": model(), "node_loss": torch.nn.functional.cross_entropy(model(), y, reduction="none")}

    callback = CurriculumCallback(curriculum, feedback)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(max_epochs=6, accelerator="cpu", callbacks=[callback], **quiet)
    trainer.fit(Model(), torch.utils.data.DataLoader([0]))
    assert curriculum.epoch == 6 and len(curriculum.updates) == 3
    assert curriculum.active_edges.all() and len(seen) == 6
    other = CurriculumCallback(Curriculum(index, 6, x, total_epochs=6, preset="posterior", period=2), feedback)
    other.load_state_dict(callback.state_dict())
    assert torch.equal(other.curriculum.edge_weight, curriculum.edge_weight)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(edgepace.MissingPackageError, match="pip install networkx"):
        Graph(INDEX).to_networkx()
