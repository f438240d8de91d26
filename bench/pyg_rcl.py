#!/usr/bin/env python3
"""Relational Curriculum Learning as a competent user of PyTorch Geometric writes it: the loop of `edgepace train --method rcl`.

    edgepace data export citeseer --out bench/work/citeseer --format npz
    bench/.venv/bin/python bench/pyg_rcl.py bench/work/citeseer --split full --seeds 3

Prints one JSON object per seed. The warm start, 150 epochs of a plain GCN, is timed apart. Kernels as in `docs/curriculum.md`;
every 20 epochs an update, whose fit begins at the last one, training on the selected edges, evaluation on the weighted and on the plain
graph under no_grad.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

warnings.filterwarnings("ignore", category=FutureWarning)
warnings.filterwarnings("ignore", message="Sparse")

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

PERIOD, FULL_AT, AVERAGE, RIDGE, SAMPLES = 20, 2 / 3, 0.5, 1.0, 8192


@dataclass
class Data:
    x: Tensor
    edge_index: Tensor
    y: Tensor
    train: Tensor
    validation: Tensor
    test: Tensor


class SparseLinear(nn.Module):
    """x · W for a sparse x, in place of the first layer's own."""

    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(columns, units))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sparse.mm(x, self.weight)


class Model(nn.Module):
    def __init__(self, data: Data, hidden: int = 64) -> None:
        super().__init__()
        self.conv1 = GCNConv(data.x.shape[1], hidden)
        if data.x.is_sparse:
            self.conv1.lin = SparseLinear(data.x.shape[1], hidden)
        self.conv2 = GCNConv(hidden, hidden)
        self.decoder = nn.Linear(hidden, int(data.y.max()) + 1, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor | None = None) -> Tensor:
        h = F.dropout(F.relu(self.conv1(x, edge_index, weight)), 0.5, training=self.training)
        return self.decoder(self.conv2(h, edge_index, weight))


def load(folder: Path, split: str | None, sparse: bool) -> Data:
    arrays = np.load(folder / "dataset.npz", allow_pickle=False)
    if "x" in arrays:
        x = torch.from_numpy(arrays["x"])
        x = (x - x.mean(0)) / x.std(0, correction=0)
    else:
        matrix = sp.csr_matrix((arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]), shape=arrays["x_shape"])
        sums = np.maximum(np.asarray(matrix.sum(1)).ravel(), 1e-12)
        matrix = (sp.diags(1 / sums) @ matrix).tocoo()
        x = torch.sparse_coo_tensor(np.stack([matrix.row, matrix.col]), matrix.data.astype(np.float32), matrix.shape).coalesce()
        x = x if sparse else x.to_dense()
    names = list(arrays["split_names"])
    column = names.index(split) if split else 0
    masks = [torch.from_numpy(arrays[f"{part}_mask"].reshape(len(x), -1)[:, column]) for part in ("train", "val", "test")]
    return Data(x, torch.from_numpy(arrays["edge_index"]), torch.from_numpy(arrays["y"]), *masks)


def step(model: Model, optimiser: torch.optim.Optimizer, data: Data, edge_index: Tensor, weight: Tensor | None) -> None:
    model.train()
    optimiser.zero_grad()
    logits = model(data.x, edge_index, weight)
    F.cross_entropy(logits[data.train], data.y[data.train]).backward()
    optimiser.step()


@torch.no_grad()
def accuracy(model: Model, data: Data, weight: Tensor | None) -> tuple[float, float]:
    model.eval()
    right = model(data.x, data.edge_index, weight).argmax(1) == data.y
    return float(right[data.validation].float().mean()), float(right[data.test].float().mean())


def vanilla(data: Data, epochs: int) -> tuple[Model, float]:
    model = Model(data)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    best, test, state = -1.0, 0.0, None
    for _ in range(epochs):
        step(model, optimiser, data, data.edge_index, None)
        validation, at = accuracy(model, data, None)
        if validation > best:
            best, test, state = validation, at, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(state)
    return model, test


class Evidence:
    """A ridge logistic regression of edges against non-edges with shuffled ends; an edge's rank is how expected it is."""

    def __init__(self, data: Data, pairs: Tensor) -> None:
        nodes = len(data.y)
        i, j = pairs.numpy()
        sampled = np.arange(min(len(i), SAMPLES)) * len(i) // min(len(i), SAMPLES)
        k, l = i[sampled], np.random.permutation(j)[: len(sampled)]
        adjacency = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(nodes, nodes))
        keep = (k != l) & (np.asarray(adjacency[k, l]).ravel() == 0)
        self.ends = np.stack([np.r_[i, k[keep]], np.r_[j, l[keep]]])
        self.rows = np.r_[sampled, np.arange(len(i), self.ends.shape[1])]
        self.truth = np.r_[np.ones(len(sampled)), np.zeros(keep.sum())]
        degree = np.asarray(adjacency.sum(1)).ravel()
        a, b = self.ends
        common = np.asarray(adjacency[a].multiply(adjacency[b]).sum(1)).ravel()
        weight = sp.diags(1 / np.log(np.maximum(degree, 2)))
        adamic = np.asarray((adjacency[a] @ weight).multiply(adjacency[b]).sum(1)).ravel()
        jaccard = common / np.maximum(degree[a] + degree[b] - common, 1)
        self.fixed = np.stack([similarity(data.x, self.ends), jaccard, np.log1p(adamic)], 1)
        self.count = len(i)
        self.theta = np.zeros(5)

    def expected(self, posterior: np.ndarray) -> np.ndarray:
        agreement = np.clip((posterior[self.ends[0]] * posterior[self.ends[1]]).sum(1), 1e-6, 1 - 1e-6)
        columns = np.column_stack([np.log(agreement / (1 - agreement)), self.fixed])
        mean, spread = columns[self.rows].mean(0), columns[self.rows].std(0)
        columns = (columns - mean) / np.where(spread > 0, spread, np.inf)
        design = np.column_stack([np.ones(len(self.rows)), columns[self.rows]])
        for _ in range(10):
            p = 1 / (1 + np.exp(-design @ self.theta))
            hessian = design.T @ (design * (p * (1 - p))[:, None]) + RIDGE * np.eye(5)
            change = np.linalg.solve(hessian, design.T @ (self.truth - p) - RIDGE * self.theta)
            self.theta += change
            if np.abs(change).max() < 1e-5:
                break
        return (columns[: self.count] @ self.theta[1:]).argsort().argsort() / self.count + 1 / self.count


def similarity(x: Tensor, ends: np.ndarray) -> np.ndarray:
    if x.shape[1] > 64:
        rows = sp.csr_matrix(x.to_dense().numpy())
        rows = sp.diags(1 / np.maximum(np.sqrt(np.asarray(rows.multiply(rows).sum(1)).ravel()), 1e-12)) @ rows
        return np.asarray(rows[ends[0]].multiply(rows[ends[1]]).sum(1)).ravel()
    return -np.linalg.norm(x.numpy()[ends[0]] - x.numpy()[ends[1]], axis=1)


def run(data: Data, epochs: int, kernel: str) -> dict:
    begin, processor = time.perf_counter(), time.process_time()
    pretrained, vanilla_test = vanilla(data, epochs)
    warm_start = time.perf_counter() - begin

    begin = time.perf_counter()
    once = data.edge_index[0] < data.edge_index[1]
    pairs = data.edge_index[:, once]
    both = torch.cat([pairs, pairs.flip(0)], 1)
    evidence = Evidence(data, pairs) if kernel == "evidence" else None
    model = Model(data)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    times, kappa, updates = torch.zeros(pairs.shape[1]), None, 0
    weight = torch.zeros(2 * pairs.shape[1])
    best, test = -1.0, 0.0
    data = Data(data.x, both, data.y, data.train, data.validation, data.test)
    selected_edges, selected_weight = both[:, :0], weight[:0]
    for epoch in range(epochs):
        if epoch % PERIOD == 0:
            with torch.no_grad():
                pretrained.eval()
                on = (both, None) if updates == 0 else (selected_edges, selected_weight)
                logits = pretrained(data.x, *on)
                posterior = logits.softmax(1)
                if evidence:
                    new = torch.from_numpy(evidence.expected(posterior.numpy())).float()
                else:
                    new = (posterior[pairs[0]] * posterior[pairs[1]]).sum(1)
                kappa = new if kappa is None else AVERAGE * kappa + (1 - AVERAGE) * new
                share = min(1.0, epoch / (FULL_AT * epochs))
                chosen = torch.zeros(len(kappa), dtype=torch.bool)
                chosen[kappa.argsort(descending=True)[: round(share * len(kappa))]] = True
                updates += 1
                times += chosen
                confidence = torch.ones(len(data.y))
                loss = F.cross_entropy(logits[data.train], data.y[data.train], reduction="none")
                confidence[data.train] = (-loss).exp() / (-loss).exp().max()
                pi = times / updates * confidence[pairs[0]] * confidence[pairs[1]]
                weight = torch.cat([pi, pi])
                mask = torch.cat([chosen, chosen])
                selected_edges, selected_weight = both[:, mask], weight[mask]
        step(model, optimiser, data, selected_edges, selected_weight)
        for on in (weight, None):
            validation, at = accuracy(model, data, on)
            if validation > best:
                best, test = validation, at
    seconds = time.perf_counter() - begin
    processor = time.process_time() - processor
    return {"seconds": seconds, "warm_start_seconds": warm_start, "processor_seconds": processor, "test": 100 * test,
            "vanilla_test": 100 * vanilla_test}


def main() -> None:
    parser = argparse.ArgumentParser(description="RCL with PyTorch Geometric.")
    parser.add_argument("folder", type=Path, help="with dataset.npz, as `edgepace data export --format npz` writes it")
    parser.add_argument("--split", help="one of the splits of the file [default: the first]")
    parser.add_argument("--features", choices=("dense", "sparse"), default="dense")
    parser.add_argument("--kernel", choices=("evidence", "posterior"), default="evidence")
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for seed in range(arguments.seeds):
        torch.manual_seed(seed)
        np.random.seed(seed)
        data = load(arguments.folder, arguments.split, arguments.features == "sparse")
        print(json.dumps({"seed": seed, **run(data, arguments.epochs, arguments.kernel)}), flush=True)


if __name__ == "__main__":
    main()
