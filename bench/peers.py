#!/usr/bin/env python3
"""Time one peer on one exported shape and print one JSON object.

    bench/.venv/bin/python bench/peers.py edge_index bench/work/cora --backbone gcn
    bench/.venv/bin/python bench/peers.py csr bench/work/cora --order auto
    bench/.venv/bin/python bench/peers.py --self-test

An epoch is what edgepace's own benchmark times: a training step (forward with dropout 1/2, loss on the training
nodes, backward, Adam) and an evaluation (forward without dropout, accuracy on validation and test), with new edge
weights in every epoch, hence with a new normalisation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path
from typing import Protocol

warnings.filterwarnings("ignore", category=FutureWarning)  # of libraries among themselves
warnings.filterwarnings("ignore", message="Sparse")  # CSR is "beta", and its checks are off: both known

import torch
from torch import Tensor

from dataset import Dataset, edge_weightings, load
from pyg_edge_index import EdgeIndex, Model
from torch_csr import KERNELS, ORDERS, BitDropout, Csr, Options, keep_heap_pages

PEERS = ("edge_index", "csr", "csr_expert")
MINIMUM_EPOCHS = 3


class Rendering(Protocol):
    choices: dict[str, str]

    def train_step(self, weights: Tensor) -> None: ...

    def evaluate(self, weights: Tensor) -> tuple[float, float]: ...


def time_epochs(rendering: Rendering, weightings: list[Tensor], most: int, seconds: float) -> tuple[list[float], list[float]]:
    """Milliseconds of training and of evaluation per epoch, after one warm-up; stops at `most` epochs or when time is up."""
    train_ms: list[float] = []
    eval_ms: list[float] = []
    begin = time.perf_counter()
    for epoch in range(most + 1):
        weights = weightings[epoch % len(weightings)]
        start = time.perf_counter()
        rendering.train_step(weights)
        middle = time.perf_counter()
        rendering.evaluate(weights)
        end = time.perf_counter()
        if epoch == 0:
            continue
        train_ms.append(1e3 * (middle - start))
        eval_ms.append(1e3 * (end - middle))
        per_epoch = (end - begin) / (epoch + 1)
        if epoch >= MINIMUM_EPOCHS and end - begin + per_epoch > seconds:
            break
    return train_ms, eval_ms


def make_rendering(arguments: argparse.Namespace, data: Dataset) -> Rendering:
    if arguments.peer == "edge_index":
        return EdgeIndex(arguments.backbone, data)
    if arguments.backbone != "gcn":
        raise SystemExit(f"{arguments.peer} renders gcn only")
    expert = arguments.peer == "csr_expert"
    heap = keep_heap_pages() if expert else False
    options = Options(arguments.order, arguments.features, arguments.kernel, arguments.adam, bit_dropout=expert)
    rendering = Csr(data, options)
    rendering.choices["heap"] = "kept" if heap else "default"
    return rendering


def measure(arguments: argparse.Namespace) -> dict:
    torch.manual_seed(0)
    data = load(arguments.folder)
    rendering = make_rendering(arguments, data)
    train_ms, eval_ms = time_epochs(rendering, edge_weightings(len(data.sources)), arguments.epochs, arguments.seconds)
    epoch_ms = [train + evaluation for train, evaluation in zip(train_ms, eval_ms)]
    return {
        "peer": arguments.peer,
        "shape": data.shape,
        "backbone": arguments.backbone,
        "train_ms": round(statistics.median(train_ms), 3),
        "eval_ms": round(statistics.median(eval_ms), 3),
        "epoch_ms": round(statistics.median(epoch_ms), 3),
        "best_epoch_ms": round(min(epoch_ms), 3),
        "threads": torch.get_num_threads(),
        "epochs": len(train_ms),
        "choices": rendering.choices,
    }


def random_dataset(sparse: bool, multilabel: bool) -> Dataset:
    """A small symmetric graph with an isolated node, in double precision."""
    nodes, features, outputs = 60, 11, 4
    generator = torch.Generator().manual_seed(3)
    upper = torch.rand(nodes, nodes, generator=generator).triu(1) > 0.9
    upper[:, 5] = upper[5, :] = False
    targets, sources = (upper | upper.T).nonzero(as_tuple=True)
    x = torch.randn(nodes, features, generator=generator, dtype=torch.float64)
    if sparse:
        x = (x * (x > 0.5)).to_sparse_csr()
    classes = torch.randint(0, outputs, (nodes,), generator=generator)
    labels = (torch.rand(nodes, outputs, generator=generator) > 0.5).double() if multilabel else classes
    parts = torch.randperm(nodes, generator=generator)
    return Dataset(
        "self-test", nodes, features, outputs, 8, multilabel, sources, targets, x, labels, parts[:30], parts[30:45], parts[45:]
    )


def largest_difference(data: Dataset, options: Options) -> float:
    """Between the gradients of the hand-made backward pass and autograd through PyG's modules, and between predictions."""
    weights = torch.rand(len(data.sources), dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    csr = Csr(data, options, torch.float64)
    model = Model("gcn", data, dropout=0.0).double()
    pairs = {
        "conv1.weight": (model.conv1.lin.weight, True),
        "conv1.bias": (model.conv1.bias, False),
        "conv2.weight": (model.conv2.lin.weight, True),
        "conv2.bias": (model.conv2.bias, False),
        "decoder.weight": (model.decoder.weight, True),
    }
    for name, (theirs, transposed) in pairs.items():
        csr.parameters[name].data.normal_()
        theirs.data = csr.parameters[name].detach().T.clone() if transposed else csr.parameters[name].detach().clone()
    csr.prepare(weights)
    csr.loss().backward()
    logits = model(data.dense_x(), data.edge_index, weights)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits if data.multilabel else torch.nn.functional.cross_entropy
    loss_of(logits[data.train], data.labels[data.train]).backward()
    differences = []
    for name, (theirs, transposed) in pairs.items():
        expected = theirs.grad.T if transposed else theirs.grad
        differences.append(float((csr.parameters[name].grad - expected).abs().max() / expected.abs().max()))
    return max(differences)


def dropout_is_fair() -> bool:
    """The bits keep half of the positive values, each doubled, and the gradient uses the same bits."""
    h = torch.randn(3000, 37, requires_grad=True)
    out = BitDropout.apply(h)
    out.sum().backward()
    kept = (out != 0).double()
    positive = h.detach() > 0
    doubled = torch.equal(out.detach(), 2 * h.detach() * kept.float())
    half = bool((kept[positive].mean() - 0.5).abs() < 0.01) and bool((kept.sum(0) / positive.sum(0) - 0.5).abs().max() < 0.1)
    return doubled and half and not kept[~positive].any() and torch.equal(h.grad, 2 * kept.float())


def self_test() -> bool:
    worst = 0.0
    for sparse in (False, True):
        for multilabel in (False, True):
            data = random_dataset(sparse, multilabel)
            for kernel in KERNELS:
                for order in ORDERS:
                    for features in ("dense", "sparse") if sparse else ("dense",):
                        options = Options(order, features, kernel, "foreach", dropout=0.0)
                        worst = max(worst, largest_difference(data, options))
    gradients, dropout = worst < 1e-10, dropout_is_fair()
    print(json.dumps({"gradients_equal": gradients, "largest_relative_difference": worst, "dropout_fair": dropout}))
    return gradients and dropout


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS, nargs="?")
    parser.add_argument("folder", type=Path, nargs="?", help="written by `edgepace-bench --shape S --export DIR`")
    parser.add_argument("--backbone", choices=("gcn", "gin", "sage", "pna"), default="gcn")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=50, help="timed epochs at most")
    parser.add_argument("--seconds", type=float, default=60.0, help=f"stop then, but not before {MINIMUM_EPOCHS} epochs")
    parser.add_argument("--order", choices=(*ORDERS, "narrow", "auto"), default="auto", help="csr: first layer")
    parser.add_argument("--features", choices=("dense", "sparse", "auto"), default="auto", help="csr: layout of x")
    parser.add_argument("--kernel", choices=(*KERNELS, "auto"), default="auto", help="csr: sparse product")
    parser.add_argument("--adam", choices=("fused", "foreach", "auto"), default="auto", help="csr: optimiser")
    parser.add_argument("--self-test", action="store_true", help="compare the csr gradients with autograd through PyG")
    arguments = parser.parse_args()
    if not arguments.self_test and (arguments.peer is None or arguments.folder is None):
        parser.error("give a peer and a folder, or --self-test")
    return arguments


def main() -> int:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    if arguments.self_test:
        return 0 if self_test() else 1
    print(json.dumps(measure(arguments)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
