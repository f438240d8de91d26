"""How much of the native trainer's gain a GCN of PyTorch Geometric has that is trained with `edgepace.Curriculum`, on Cora with as many fake edges as true ones.

Needs the package itself (`pip install .`), torch and torch_geometric, and Cora (`edgepace data get cora`, or `$EDGEPACE_DATA`).
Run it as `python3 bench/python_gain.py`. Exit code: 0 at least 80 % of the gain, 1 less.

Both use the same graphs, splits and settings: hidden units, dropout, learning rate, epochs, preparation of features. Each is judged at its epoch of best
validation, on the test nodes, once.
"""

from __future__ import annotations

import argparse
import sys

try:
    import numpy as np
    import torch
    from torch.nn.functional import cross_entropy, dropout, relu
    from torch_geometric.nn import GCNConv

    import edgepace
except ImportError as error:
    sys.exit(f"{error}: install the package with `pip install .`, torch and torch_geometric")

SHARE = 0.8


class Gcn(torch.nn.Module):
    """As the native one: two convolutions and a bias-free decoder."""

    def __init__(self, columns: int, hidden: int, classes: int, rate: float) -> None:
        super().__init__()
        self.one, self.two = GCNConv(columns, hidden), GCNConv(hidden, hidden)
        self.decoder = torch.nn.Linear(hidden, classes, bias=False)
        self.rate = rate

    def forward(self, x: torch.Tensor, index: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        h = dropout(relu(self.one(x, index, weight)), self.rate, self.training)
        return self.decoder(self.two(h, index, weight))


class Material:
    """One noisy graph with its split, as torch has it."""

    def __init__(self, result: edgepace.Result) -> None:
        graph = result.graph
        self.index = torch.from_numpy(graph.edge_index)
        # The features as the native model takes them.
        self.x = torch.from_numpy(result._raw.prepared_features().dense_features())
        self.y = torch.from_numpy(graph.codes)
        self.nodes, self.classes = graph.num_nodes, graph.num_classes
        self.split = {part: torch.from_numpy(nodes) for part, nodes in result.split.items()}
        self.config = result.config

    def accuracy(self, logits: torch.Tensor, part: str) -> float:
        nodes = self.split[part]
        return 100 * float((logits.argmax(1)[nodes] == self.y[nodes]).float().mean())


@torch.no_grad()
def evaluate(model: Gcn, data: Material, weight: torch.Tensor) -> torch.Tensor:
    there = weight > 0
    return model.eval()(data.x, data.index[:, there], weight[there])


def train(data: Material, seed: int, judge: Gcn | None) -> tuple[Gcn, float]:
    """A model at its epoch of best validation, with its test accuracy; with a judge of edges, by the curriculum."""
    torch.manual_seed(seed)
    config, epochs = data.config, data.config["epochs"]
    model = Gcn(data.x.shape[1], config["hidden"], data.classes, config["dropout"])
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    every = torch.ones(data.index.shape[1])
    curriculum = None
    if judge is not None:
        curriculum = edgepace.Curriculum(data.index, data.nodes, data.x, total_epochs=epochs, seed=seed)
    train_nodes = data.split["train"]
    best, test, state = -1.0, 0.0, model.state_dict()
    for epoch in range(epochs):
        weight = every
        if curriculum is not None:
            if curriculum.due:
                logits = evaluate(judge, data, every if epoch == 0 else curriculum.edge_weight)
                loss = cross_entropy(logits[train_nodes], data.y[train_nodes], reduction="none")
                curriculum.step(logits=logits, node_loss=loss, train_mask=train_nodes)
            else:
                curriculum.step()
            weight = curriculum.edge_weight
        there = weight > 0
        optimizer.zero_grad()
        out = model.train()(data.x, data.index[:, there], weight[there])
        cross_entropy(out[train_nodes], data.y[train_nodes]).backward()
        optimizer.step()
        # As the native trainer: the weighted graph or the full one, whichever validates better.
        for on in [every] if curriculum is None else [curriculum.evaluation_weight, every]:
            logits = evaluate(model, data, on)
            score = data.accuracy(logits, "validation")
            if score > best:
                best, test = score, data.accuracy(logits, "test")
                state = {key: value.clone() for key, value in model.state_dict().items()}
    model.load_state_dict(state)
    return model, test


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--noise", default="fake=1.0")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    graph = edgepace.Graph.load(arguments.dataset)
    rows = []
    print(f"{'seed':>4} {'native: all edges':>18} {'curriculum':>11} {'PyG: all edges':>15} {'curriculum':>11}")
    for seed in range(arguments.seeds):
        settings = {"noise": arguments.noise, "seed": seed, "progress": False}
        plain = edgepace.fit(graph, method="vanilla", **settings)
        own = edgepace.fit(graph, method="rcl", keep="method", **settings)
        data = Material(own)
        judge, without = train(data, seed, None)
        _, with_it = train(data, seed, judge)
        rows.append((plain.test_score, own.test_score, without, with_it))
        print(f"{seed:>4} {rows[-1][0]:>18.2f} {rows[-1][1]:>11.2f} {rows[-1][2]:>15.2f} {rows[-1][3]:>11.2f}", flush=True)
    mean = np.mean(rows, axis=0)
    native, torch_gain = mean[1] - mean[0], mean[3] - mean[2]
    print(f"gain: native {native:+.2f}, PyG {torch_gain:+.2f}: {100 * torch_gain / native:.0f} % (bar: {100 * SHARE:.0f} %)")
    return 0 if torch_gain >= SHARE * native else 1


if __name__ == "__main__":
    sys.exit(main())
