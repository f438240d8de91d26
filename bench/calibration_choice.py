"""Which way of calibrating is the best, by validation nodes alone: what `edgepace predict` does was chosen by this table.

    cargo build --release -p edgepace-cli
    python3 bench/calibration_choice.py DATA

DATA is the folder of datasets ($EDGEPACE_DATA). The validation nodes of each graph are halved. One half chooses the epoch and
fits the calibration, as all of them do in a run of its own, and the other half measures; then the other way round. So the
figures include what it does to a calibration that the nodes that it is fitted on have chosen the epoch too. Test nodes have
neither label nor set in the files that the program reads here. Needs numpy. Prints tables as Markdown.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:  # `--help` does without
    np = None

from calibration import BINS, items

PROGRAM = Path(os.environ.get("EDGEPACE", Path(__file__).resolve().parent.parent / "target" / "release" / "edgepace"))
SETS = ["cora", "citeseer", "pubmed", "photo", "chameleon", "actor", "squirrel", "wisconsin", "cora-noisy", "citeseer-noisy", "items", "computers"]
SEEDS = 3
METHODS = {"default": [], "rcl": ["--set", "keep=method"]}
NOISY = {"cora-noisy": ("cora", "fake=1.0"), "citeseer-noisy": ("citeseer", "fake=1.0")}
LEAST = 1e-30


def run(*words: object, data: Path) -> str:
    environment = {**os.environ, "EDGEPACE_DATA": str(data.resolve())}
    done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"edgepace {' '.join(map(str, words))}: {done.stderr.strip()[-400:]}")
    return done.stdout


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sets_of(name: str, seed: int, work: Path, data: Path) -> dict[str, str]:
    """The set of each node in the split of a run by default."""
    out = work / f"{name}-split-{seed}"
    run("train", work / f"{name}.graph", "--method", "vanilla", "--epochs", 1, "--seeds", seed, "--out", out, data=data)
    run("predict", out, "-o", out / "p.csv", data=data)
    return {row["node"]: row["split"] for row in table(out / "p.csv")}


def halved(name: str, seed: int, half: int, sets: dict[str, str], exported: Path, work: Path) -> list[object]:
    """The graph with half of the validation nodes for validation and the other half as test; nothing is known of the real ones."""
    held = sorted((node for node, set_ in sets.items() if set_ == "val"), key=int)
    random.Random(name).shuffle(held)
    role = {node: set_ for node, set_ in sets.items() if set_ == "train"}
    role |= {node: "val" if place % 2 == half else "test" for place, node in enumerate(held)}
    folder = work / f"{name}-{seed}-{half}"
    folder.mkdir()
    rows = table(exported / "nodes.csv")
    columns = [column for column in rows[0] if column.startswith("feature:")]
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["id", "label", "split", *columns])
        for node, row in enumerate(rows):
            of = role.get(str(node), "")
            out.writerow([node, f"class {row['label']}" if of else "", of, *(row[column] for column in columns)])
    words = ["--edges", exported / "edges.csv", "--nodes", folder / "nodes.csv", "--name", name]
    if (exported / "features.npz").exists():
        words += ["--features", exported / "features.npz"]
    return words


Part = tuple["np.ndarray", "np.ndarray"]  # logits and labels


def answers(path: Path) -> tuple[dict[str, Part], list[str]]:
    rows = table(path)
    names = [column for column in rows[0] if column.startswith("p_")]
    found = {}
    for set_ in ("val", "test"):
        own = [row for row in rows if row["split"] == set_]
        found[set_] = (
            np.log(np.maximum([[float(row[name]) for name in names] for row in own], LEAST)),
            np.array([names.index("p_" + row["label"]) for row in own]),
        )
    return found, [row["node"] for row in rows if row["split"] == "test"]


def softmax(logits: np.ndarray) -> np.ndarray:
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exp / exp.sum(axis=1, keepdims=True)


def loss(probabilities: np.ndarray, labels: np.ndarray) -> float:
    return float(-np.log(np.maximum(probabilities[np.arange(len(labels)), labels], LEAST)).mean())


def error(sure: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error (Guo et al., 2017)."""
    bins = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    return float(np.abs(np.bincount(bins, right - sure, BINS)).sum() / len(sure))


def smallest(of, low: float = -4.6, high: float = 4.6) -> float:
    """Where a function of ln T with one valley is least: golden section."""
    ratio = (5**0.5 - 1) / 2
    for _ in range(60):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if of(a) < of(b) else (a, high)
    return (low + high) / 2


def targets(labels: np.ndarray, classes: int, more: float) -> np.ndarray:
    """Labels as if `more` nodes had been seen whose label is anything."""
    n = len(labels)
    return (n * np.eye(classes)[labels] + more / classes) / (n + more)


def by_loss(logits, labels, more=1.0) -> float:
    target = targets(labels, logits.shape[1], more)
    return smallest(lambda t: -(target * np.log(np.maximum(softmax(logits / np.exp(t)), LEAST))).sum())


def by_brier(logits, labels) -> float:
    target = np.eye(logits.shape[1])[labels]
    grid = np.linspace(-4.6, 4.6, 185)
    return grid[int(np.argmin([((softmax(logits / np.exp(t)) - target) ** 2).sum() for t in grid]))]


def by_mean(logits, labels, less: float = 0.0) -> float:
    """Mean confidence as accuracy, as if one more node had been wrong, and `less` standard errors below that."""
    n, right = len(labels), (logits.argmax(axis=1) == labels).sum()
    accuracy = (right + 1 / logits.shape[1]) / (n + 1)
    accuracy -= less * (accuracy * (1 - accuracy) / n) ** 0.5
    low, high = -4.6, 4.6
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if softmax(logits / np.exp(middle)).max(axis=1).mean() > accuracy else (low, middle)
    return (low + high) / 2


def by_error(logits, labels) -> float:
    right = logits.argmax(axis=1) == labels
    grid = np.linspace(-2.5, 2.5, 101)
    return grid[int(np.argmin([error(softmax(logits / np.exp(t)).max(axis=1), right) for t in grid]))]


def vector(logits, labels, ridge: float, scale: bool):
    """A bias for each class (and a factor), drawn to 0 (and the temperature) by a ridge; gradient descent with Adam."""
    classes, t = logits.shape[1], np.exp(by_loss(logits, labels))
    logits = logits - logits.mean(axis=1, keepdims=True)
    target = targets(labels, classes, 1.0)
    weights, m, v = np.zeros((2, classes)), 0.0, 0.0
    for step in range(1, 401):
        p = softmax(logits / t * np.exp(weights[0] if scale else weights[0].mean()) + weights[1])
        gap = p - target
        slope = np.stack([(gap * logits / t).sum(axis=0) if scale else np.full(classes, (gap * logits / t).sum() / classes), gap.sum(axis=0)])
        slope = slope + 2 * ridge * weights
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        weights -= 0.02 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-9)
    shift = lambda z: (z - z.mean(axis=1, keepdims=True)) / t * np.exp(weights[0] if scale else weights[0].mean()) + weights[1]
    return lambda z: softmax(shift(z))


def at(t: float):
    return lambda logits: softmax(logits / np.exp(t))


WAYS = {
    "raw": lambda z, y: at(0.0),
    "log-loss": lambda z, y: at(by_loss(z, y)),
    "log-loss, 10 nodes of any label": lambda z, y: at(by_loss(z, y, 10.0)),
    "Brier": lambda z, y: at(by_brier(z, y)),
    "mean confidence": lambda z, y: at(by_mean(z, y)),
    "mean confidence, one error less": lambda z, y: at(by_mean(z, y, 1.0)),
    "half way": lambda z, y: at((by_loss(z, y) + by_mean(z, y)) / 2),
    "half way, one error less": lambda z, y: at((by_loss(z, y) + by_mean(z, y, 1.0)) / 2),
    "calibration error": lambda z, y: at(by_error(z, y)),
    "bias": lambda z, y: vector(z, y, 1.0, False),
    "bias, ridge 10": lambda z, y: vector(z, y, 10.0, False),
    "vector": lambda z, y: vector(z, y, 1.0, True),
    "vector, ridge 10": lambda z, y: vector(z, y, 10.0, True),
}
TOGETHER_WAYS = ["log-loss", "mean confidence", "mean confidence, one error less", "half way"]
TOGETHER = ["arithmetic", "geometric", "geometric, fitted", "arithmetic, fitted", "logits, fitted"]


def together(way: str, calibrate, fit: list[Part], measure: list[np.ndarray]) -> np.ndarray:
    """The probabilities of several seeds together."""
    ways = [calibrate(*part) for part in fit]
    mean = {"arithmetic": lambda ps: np.mean(ps, axis=0), "geometric": lambda ps: np.exp(np.mean(np.log(np.maximum(ps, LEAST)), axis=0))}
    if way == "logits, fitted":
        every = np.mean([z - z.mean(axis=1, keepdims=True) for z, _ in fit], axis=0)
        return calibrate(every, fit[0][1])(np.mean([z - z.mean(axis=1, keepdims=True) for z in measure], axis=0))
    kind = way.split(",")[0]
    joined = mean[kind]([one(z) for one, z in zip(ways, measure)])
    joined /= joined.sum(axis=1, keepdims=True)
    if way.endswith("fitted"):
        known = mean[kind]([one(z) for one, (z, _) in zip(ways, fit)])
        return calibrate(np.log(np.maximum(known, LEAST)), fit[0][1])(np.log(np.maximum(joined, LEAST)))
    return joined


def measured(probabilities: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    return probabilities.max(axis=1), probabilities.argmax(axis=1) == labels, loss(probabilities, labels)


def prepare(name: str, work: Path, data: Path) -> None:
    """The graph as a file and as tables."""
    file = work / f"{name}.graph"
    if name == "items":
        items(work)
        run("data", "import", "--edges", work / "bought.csv", "--nodes", work / "items.csv", "--id", "id", "--label", "category", "-o", file, data=data)
    else:
        known, noise = NOISY.get(name, (name, None))
        run("data", "save", known, *(["--noise", noise] if noise else []), "-o", file, data=data)
    run("data", "export", file, "--out", work / f"{name}-tables", data=data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--work", type=Path, help="keep runs in this folder, and use those that are there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = args.work or Path(temporary)
        work.mkdir(exist_ok=True)
        found: dict[tuple, tuple] = {}
        for name in args.sets:
            for seed in range(SEEDS):
                for half in (0, 1):
                    data_words = None
                    for method in args.methods:
                        out = work / f"{name}-{seed}-{half}-{method}"
                        if not (out / "p.csv").exists():
                            if not (work / f"{name}-tables").exists():
                                prepare(name, work, args.data)
                            if data_words is None:
                                split = work / f"{name}-split-{seed}" / "p.csv"
                                sets = {row["node"]: row["split"] for row in table(split)} if split.exists() else sets_of(name, seed, work, args.data)
                                data_words = halved(name, seed, half, sets, work / f"{name}-tables", work)
                            run("train", *data_words, *METHODS[method], "--seeds", seed, "--out", out, data=args.data)
                            run("predict", out, "--raw", "--proba", "-o", out / "p.csv", data=args.data)
                        found[name, method, seed, half] = answers(out / "p.csv")
            print(f"{name}: done", file=sys.stderr, flush=True)
        report(found, args.sets, args.methods)
    return 0


def report(found: dict, sets: list[str], methods: list[str]) -> None:
    for method in methods:
        print(f"\n## {method}\n\nMean calibration error of single runs; the last columns: their mean, mean log-loss, and the error of all runs of a graph in one, averaged.\n")
        print(f"| way | {' | '.join(sets)} | mean | log-loss | pooled |")
        print("| --- |" + " ---: |" * (len(sets) + 3))
        for way, calibrate in WAYS.items():
            cells, losses, pooled = [], [], []
            for name in sets:
                of = [found[name, method, seed, half][0] for seed in range(SEEDS) for half in (0, 1)]
                each = [measured(calibrate(*parts["val"])(parts["test"][0]), parts["test"][1]) for parts in of]
                cells.append(np.mean([error(sure, right) for sure, right, _ in each]))
                losses.append(np.mean([one[2] for one in each]))
                pooled.append(error(np.concatenate([one[0] for one in each]), np.concatenate([one[1] for one in each])))
            print(f"| {way} | {' | '.join(f'{cell:.3f}' for cell in cells)} | {np.mean(cells):.4f} | {np.mean(losses):.4f} | {np.mean(pooled):.4f} |")
        shared = [name for name in sets if len({tuple(found[name, method, seed, 0][1]) for seed in range(SEEDS)}) == 1]
        if not shared:
            continue
        print(f"\nThree seeds together, where they share a split:\n\n| way | together | {' | '.join(shared)} | mean | log-loss |")
        print("| --- | --- |" + " ---: |" * (len(shared) + 2))
        for way in TOGETHER_WAYS:
            calibrate = WAYS[way]
            for how in TOGETHER:
                cells, losses = [], []
                for name in shared:
                    for half in (0, 1):
                        of = [found[name, method, seed, half][0] for seed in range(SEEDS)]
                        p = together(how, calibrate, [parts["val"] for parts in of], [parts["test"][0] for parts in of])
                        sure, right, lost = measured(p, of[0]["test"][1])
                        cells.append(error(sure, right))
                        losses.append(lost)
                by_set = [np.mean(cells[2 * place : 2 * place + 2]) for place in range(len(shared))]
                print(f"| {way} | {how} | {' | '.join(f'{cell:.3f}' for cell in by_set)} | {np.mean(by_set):.4f} | {np.mean(losses):.4f} |")


if __name__ == "__main__":
    sys.exit(main())
