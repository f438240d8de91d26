"""What edges of new data should weigh to a model that was trained with a curriculum's weights, by nodes that no table reports.

    cargo build --release -p edgepace-cli
    python3 bench/inductive_choice.py

As bench/inductive.py, one level further in: of the four fifths that are known there a fifth is new here, and what is measured
there has neither nodes nor edges here. Compared are weight 1; the mean weight of the training's edges; and the score from the
evidence: a logistic regression of edges against random pairs of the same degrees, on posterior agreement, feature similarity,
Jaccard and Adamic-Adar, whose rank among all edges gives the weight that edges of that rank had in training. Each also with
the edges of the training as they were. Needs numpy and scipy. Prints a table as Markdown, accuracy in percent.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:  # `--help` does without
    np = None
try:
    from scipy import sparse
except ImportError:
    sparse = None

from inductive import NEW, SEEDS, SETS, TRAIN, VALIDATION, accuracy, read_npz, run, write_graph

RIDGE, STEPS = 1.0, 30


def posteriors(table: Path) -> np.ndarray:
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name.startswith("p_")]
    return np.array([[float(row[name]) for name in names] for row in rows])


def columns(pairs: np.ndarray, posterior: np.ndarray, features, adjacency, is_edge: bool) -> np.ndarray:
    a, b = pairs.T
    agree = np.clip((posterior[a] * posterior[b]).sum(axis=1), 1e-6, 1 - 1e-6)
    alike = np.asarray(features[a].multiply(features[b]).sum(axis=1)).ravel()
    common = adjacency[a].multiply(adjacency[b])
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    shared = np.asarray(common.sum(axis=1)).ravel()
    # An edge does not vouch for itself: the ends are in each other's neighbourhood by it alone.
    both = degree[a] + degree[b] - shared - 2 * is_edge
    rare = np.asarray(common @ (1 / np.log(np.maximum(degree, 2))).reshape(-1, 1)).ravel()
    return np.stack([np.log(agree / (1 - agree)), alike, shared / np.maximum(both, 1), np.log1p(rare)], axis=1)


def scores(pairs: np.ndarray, posterior, features, adjacency, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    sample = pairs[draw.permutation(len(pairs))[:8192]]
    # Ends of edges, drawn apart: as many of each degree.
    others = np.stack([draw.permutation(sample.ravel())[: len(sample)], draw.permutation(sample.ravel())[: len(sample)]], axis=1)
    x = np.concatenate([columns(sample, posterior, features, adjacency, True), columns(others, posterior, features, adjacency, False)])
    y = np.repeat([1.0, 0.0], len(sample))
    mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-9
    x = np.concatenate([(x - mean) / deviation, np.ones((len(x), 1))], axis=1)
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(hessian, x.T @ (p - y) + RIDGE * weights)
    own = (columns(pairs, posterior, features, adjacency, True) - mean) / deviation
    return own @ weights[:-1]


def normalised(arrays: dict, kept: list[int]):
    numbers = {name: np.frombuffer(data, head["descr"]) for name, (head, data) in arrays.items() if head["descr"].startswith("<")}
    matrix = sparse.csr_matrix((numbers["data.npy"], numbers["indices.npy"], numbers["indptr.npy"]), shape=tuple(numbers["shape.npy"]))[kept]
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.diags(1 / np.maximum(length, 1e-9)) @ matrix


def measure(name: str, seed: int, exported: Path, work: Path) -> dict[str, float]:
    with (exported / "nodes.csv").open(newline="", encoding="utf-8") as file:
        labels = [row["label"] for row in csv.DictReader(file)]
    with (exported / "edges.csv").open(newline="", encoding="utf-8") as file:
        edges = [(int(row["source"]), int(row["target"])) for row in csv.DictReader(file)]
    arrays = read_npz(exported / "features.npz")
    order = list(range(len(labels)))
    random.Random(seed).shuffle(order)
    order = order[int(NEW * len(order)) :]
    new, old = order[: int(NEW * len(order))], order[int(NEW * len(order)) :]
    first, second = int(TRAIN * len(old)), int((TRAIN + VALIDATION) * len(old))
    known = dict.fromkeys(old[:first], "train") | dict.fromkeys(old[first:second], "val")
    folder = work / f"{name}-{seed}"
    folder.mkdir()
    part = write_graph(folder / "old", sorted(old), known | dict.fromkeys(old[second:], "test"), labels, edges, arrays)
    whole = write_graph(folder / "all", sorted(order), known | dict.fromkeys(new, "test"), labels, edges, arrays)
    out = folder / "run"
    # What is compared is what the weights of a curriculum are worth: plain training has none.
    run("train", *part, "--seeds", seed, "--set", "keep=method", "--out", out)
    record = json.loads((out / f"seed-{seed}" / "record.json").read_text())
    kept = sorted(order)
    place = {node: at for at, node in enumerate(kept)}
    inside = [(a, b) for a, b in edges if a in place and b in place]
    pairs = np.array([(place[a], place[b]) for a, b in inside])
    with (out / f"seed-{seed}" / "edges.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    weight_of = {frozenset((int(row["source_name"][1:]), int(row["target_name"][1:]))): float(row["weight"]) for row in rows}
    # The rows are the most suspicious first.
    by_rank = np.array([float(row["weight"]) for row in reversed(rows)])
    window = max(1, len(by_rank) // 200)
    by_rank = np.convolve(np.pad(by_rank, window, "edge"), np.ones(2 * window + 1) / (2 * window + 1), "valid")
    target = {f"n{node}" for node in new}

    def predicted(title: str, weights: np.ndarray) -> float:
        table = folder / f"edges-{title}.csv"
        with table.open("w", encoding="utf-8") as file:
            file.write("source,target,weight\n")
            file.writelines(f"n{a},n{b},{w:.6g}\n" for (a, b), w in zip(inside, weights, strict=True))
        answers = folder / f"p-{title}.csv"
        run("predict", out, "--edges", table, *whole[2:], "--weight", "weight", "--proba", "-o", answers)
        return accuracy(answers, target)

    found = {"weight 1": predicted("one", np.ones(len(inside)))}
    found["mean weight"] = predicted("mean", np.full(len(inside), by_rank.mean()))
    before = [weight_of.get(frozenset(edge)) for edge in inside]
    as_they_were = lambda others: np.array([other if own is None else own for own, other in zip(before, others, strict=True)])
    found["mean weight, old edges as they were"] = predicted("mean-old", as_they_were(np.full(len(inside), by_rank.mean())))
    adjacency = sparse.csr_matrix((np.ones(len(pairs)), pairs.T), shape=(len(kept), len(kept)))
    adjacency = ((adjacency + adjacency.T) > 0).astype(float)
    score = scores(pairs, posteriors(folder / "p-one.csv"), normalised(arrays, kept), adjacency, seed)
    rank = np.argsort(np.argsort(score)) / max(1, len(score) - 1)
    by_score = by_rank[np.round(rank * (len(by_rank) - 1)).astype(int)]
    found["score"] = predicted("score", by_score)
    found["score, old edges as they were"] = predicted("score-old", as_they_were(by_score))
    print(f"{name} {seed}: evaluated on {record['result']['evaluated_on']}, mean weight {by_rank.mean():.3f}", {k: round(v, 2) for k, v in found.items()}, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    arguments = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        for name in arguments.sets:
            run("data", "export", name, "--out", work / name)
            rows[name] = [measure(name, seed, work / name, work) for seed in range(arguments.seeds)]
    ways = list(next(iter(rows.values()))[0])
    print(f"| graph | {' | '.join(ways)} |")
    print("| --- |" + " ---: |" * len(ways))
    for name, found in rows.items():
        cells = [f"{np.mean([one[way] for one in found]):.2f} ({', '.join(f'{one[way]:.1f}' for one in found)})" for way in ways]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
