"""How sure `edgepace predict` is, and how often it is right: expected calibration error in 15 bins, raw and calibrated.

    cargo build --release -p edgepace-cli
    python3 bench/calibration.py

Trains three seeds on each graph, predicts with each seed alone and with the mean of all, and measures on test nodes: of the
graph of items, whose labels are known to its maker alone, on all that have none in the files. Prints a table as Markdown.
"""

import argparse
import csv
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

PROGRAM = Path(os.environ.get("EDGEPACE", Path(__file__).resolve().parent.parent / "target" / "release" / "edgepace"))
SETS = ["cora", "citeseer", "pubmed", "photo"]
SEEDS, BINS = 3, 15


def items(folder: Path) -> dict[str, str]:
    """Items that are bought together, with string ids, a price, a weight, a colour and 30 % of the categories. Returns all."""
    draw = random.Random(7)
    categories = ["books", "garden", "kitchen", "music", "sport", "toys"]
    colours = ["black", "blue", "green", "red", "white"]
    truth, rows = {}, ["id,price,weight,colour,category"]
    by_category = {category: [] for category in categories}
    for number in range(1500):
        category = draw.choice(categories)
        place = categories.index(category)
        item = f"B{number:05d}"
        truth[item] = category
        by_category[category].append(item)
        price = f"{draw.lognormvariate(2 + 0.3 * place, 0.5):.2f}"
        weight = f"{draw.gauss(1 + place % 3, 0.8):.2f}"
        colour = colours[place % 5] if draw.random() < 0.5 else draw.choice(colours)
        rows.append(f"{item},{price},{weight},{colour},{category if draw.random() < 0.3 else ''}")
    edges = set()
    for item, category in truth.items():
        for _ in range(3):
            other = draw.choice(by_category[category] if draw.random() < 0.75 else list(truth))
            if other != item:
                edges.add((min(item, other), max(item, other)))
    (folder / "items.csv").write_text("\n".join(rows) + "\n")
    (folder / "bought.csv").write_text("\n".join(["source,target", *(f"{a},{b}" for a, b in sorted(edges))]) + "\n")
    return truth


def error(answers: list[tuple[float, bool]]) -> float:
    """Expected calibration error (Guo et al., 2017)."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for sure, right in answers:
        bins.setdefault(min(int(sure * BINS), BINS - 1), []).append((sure, right))
    return sum(abs(sum(right - sure for sure, right in bin_)) for bin_ in bins.values()) / len(answers)


def run(*words: str) -> str:
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


def answers(path: Path, truth: dict[str, str] | None) -> list[tuple[float, bool]]:
    """Confidence and whether it was right, of test nodes, or of nodes without a label whose truth is known."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if truth is None:
        return [(float(row["probability"]), row["class"] == row["label"]) for row in rows if row["split"] == "test"]
    return [(float(row["probability"]), row["class"] == truth[row["name"]]) for row in rows if not row["label"]]


def measure(name: str, words: list[str], truth: dict[str, str] | None, work: Path) -> str:
    folder = work / name
    run("train", *words, "--seeds", f"0..{SEEDS}", "--out", folder)
    cells: dict[str, list[float]] = {"raw": [], "calibrated": []}
    scores = []
    for seed in range(SEEDS):
        for how, flag in [("raw", ["--raw"]), ("calibrated", [])]:
            table = work / f"{name}-{seed}-{how}.csv"
            run("predict", folder, "--seeds", seed, *flag, "-o", table)
            found = answers(table, truth)
            cells[how].append(error(found))
        scores.append(100 * statistics.mean(right for _, right in found))
        sure = statistics.mean(sure for sure, _ in found)
    mean = work / f"{name}-mean.csv"
    run("predict", folder, "-o", mean)
    # Where each seed has a split of its own, a test node of one is a training node of another.
    with mean.open(newline="", encoding="utf-8") as file:
        shared = truth is not None or "split" in next(csv.reader(file))
    of_mean = f"{error(answers(mean, truth)):.3f}" if shared else "–"
    three = [", ".join(f"{value:.3f}" for value in cells[how]) for how in ("raw", "calibrated")]
    return f"| {name} | {statistics.mean(scores):.1f} | {100 * sure:.1f} | {three[0]} | {three[1]} | {of_mean} |"


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("| graph | accuracy % | mean probability % | raw, by seed | calibrated, by seed | mean of the seeds |")
    print("| --- | ---: | ---: | --- | --- | ---: |")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        for name in SETS:
            print(measure(name, [name], None, work), flush=True)
        truth = items(work)
        own = ["--edges", work / "bought.csv", "--nodes", work / "items.csv", "--id", "id", "--label", "category"]
        print(measure("items", own, truth, work), flush=True)


if __name__ == "__main__":
    main()
