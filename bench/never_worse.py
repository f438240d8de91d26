#!/usr/bin/env python3
"""Train the default beside plain training on many graphs and write docs/results/never-worse.md.

    python3 bench/never_worse.py DATA
    python3 bench/never_worse.py DATA --only cora 'random 07' --methods default vanilla --again

DATA is the folder of datasets ($EDGEPACE_DATA). Thirteen real sets, nine synthetic graphs, and forty settings of the generators
that were drawn once with the seed below; the drawn settings stand in docs/results/never-worse.json with all runs. A cell is
one command; one that is kept with the same command is not run again unless asked. Every figure is the test score at the
epoch of best validation; no choice that makes it looks at a test label. The bar: on no graph is the default more than one point
below vanilla, on average of seeds. Exit code 0: the bar is met on all graphs; 1: it is missed or not all are measured; 2: it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from accuracy import PROGRAM, ROOT, keep, kept_runs, notes

KEPT = ROOT / "docs" / "results" / "never-worse.json"
SEEDS = 3
BAR = -1.0
DRAWN_WITH = 2023
DRAWN = 40

REAL = "cora citeseer pubmed photo computers cs physics texas wisconsin cornell actor chameleon squirrel".split()
# What is compared keeps what it made itself; the default may keep its warm start.
METHODS = {
    "mlp": "--method mlp",
    "vanilla": "--method vanilla",
    "default": "",
    "auto": "--method auto",
    "edgepace": "--preset edgepace --set keep=method",
    "posterior": "--preset posterior --set keep=method",
    "cosine": "--preset cosine --set keep=method",
    "paper": "--preset paper --set keep=method",
    "official": "--preset official --set keep=method",
}


def drawn(seed: int, number: int) -> list[str]:
    """Settings of the generators: features weak to strong, edges misleading to informative, sparse to dense."""
    draw = random.Random(seed)
    settings = []
    for place in range(number):
        nodes = draw.choice([800, 1500, 2500, 4000])
        edges = round(nodes * draw.uniform(1.5, 10))
        homophily = round(draw.uniform(0.05, 0.95), 2)
        classes = draw.choice([3, 5, 7, 10])
        if place % 4 < 3:
            # The centres of neighbouring classes are 600 · sin(π / classes) apart.
            sigma = round(10 ** draw.uniform(1.5, 3.2))
            law = draw.choice(["inverse", "exp"])
            settings.append(f"synthetic:homophily={homophily},sigma={sigma},nodes={nodes},edges={edges},classes={classes},law={law}")
        else:
            # More columns tell classes apart better; the edges between classes say nothing.
            columns = draw.choice([1, 2, 4, 8, 32])
            settings.append(f"blocks:homophily={homophily},features={columns},nodes={nodes},edges={edges},classes={classes}")
    return settings


def graphs() -> dict[str, str]:
    """Every graph by the name of its row."""
    rows = {name: name for name in REAL}
    rows |= {f"synthetic {tenth / 10}": f"synthetic:homophily={tenth / 10}" for tenth in range(1, 10)}
    return rows | {f"random {place:02}": text for place, text in enumerate(drawn(DRAWN_WITH, DRAWN))}


def command(graph: str, method: str) -> str:
    words = ["train", graphs()[graph], *METHODS[method].split(), "--seeds", f"0..{SEEDS}", "--threads 1", "--json"]
    return " ".join(words)


def train(words: str, data: Path) -> list[dict]:
    environment = {**os.environ, "EDGEPACE_DATA": str(data.resolve())}
    done = subprocess.run([str(PROGRAM), *words.split()], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"edgepace {words}: {done.stderr.strip()[-400:]}")
    fields = ("seed", "id", "test", "validation", "validation_se", "kept", "chosen", "warm_start_validation", "method_validation")
    return [{key: run.get(key) for key in fields} for run in json.loads(done.stdout)["runs"]]


def mean(cell: dict, field: str = "test") -> float:
    return statistics.fmean(run[field] for run in cell["runs"])


def difference(cells: dict, one: str, other: str) -> float | None:
    """How much better one is than the other on test, on average of seeds."""
    return mean(cells[one]) - mean(cells[other]) if one in cells and other in cells else None


def signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.1f}"


def document(kept: dict) -> tuple[str, bool]:
    cells_of = {graph: cells for graph in graphs() if (cells := kept["cells"].get(graph))}
    lines, differences = [], {}
    for graph, cells in cells_of.items():
        shown = [f"{mean(cells[method]):.1f}" if method in cells else "" for method in METHODS]
        plain = f"{sum(run['kept'] == 'warm start' for run in cells['default']['runs'])} of {SEEDS}" if "default" in cells else ""
        differences[graph] = difference(cells, "default", "vanilla")
        against = [signed(differences[graph]), signed(difference(cells, "auto", "vanilla"))]
        name = f"{graph}: `{graphs()[graph]}`" if graph.startswith("random") else graph
        lines.append(f"| {name} | {' | '.join(shown)} | {' | '.join(against)} | {plain} |")
    known = sorted((value, graph) for graph, value in differences.items() if value is not None)
    below = [graph for value, graph in known if value < BAR]
    worst = [f"| {graph} | {value:+.2f} |" for value, graph in known[:8]]
    against = []
    for method in METHODS:
        gaps = sorted((difference(cells, method, "vanilla"), graph) for graph, cells in cells_of.items() if method in cells and "vanilla" in cells)
        if method != "vanilla" and gaps:
            against.append(f"| {method} | {len(gaps)} | {statistics.fmean(gap for gap, _ in gaps):+.1f} | "
                           f"{gaps[0][0]:+.1f} ({gaps[0][1]}) | {sum(gap < BAR for gap, _ in gaps)} |")
    missing = [graph for graph in graphs() if differences.get(graph) is None]
    met = f"met on all that is measured; not yet measured: {', '.join(missing)}" if missing else "met"
    verdict = met if not below else f"**missed** on {', '.join(below)}"
    text = "\n".join([
        "# Never worse than plain training", "",
        "```console", "$ python3 bench/never_worse.py DATA", "```", "",
        f"Test accuracy in percent at the epoch of best validation, GCN, 150 epochs, mean of {SEEDS} seeds. The default is `edgepace train GRAPH`: the "
        "curriculum, or its warm start where plain training validates as well. The presets beside it keep what they made "
        "(`--set keep=method`). Split and generated graph follow the seed. The last column says for how many seeds the default kept its warm "
        "start. All runs by seed, and how the forty random settings were drawn: [never-worse.json](never-worse.json). Each "
        "cell is one command, such as", "",
        "```console slow", f"$ edgepace {command('synthetic 0.7', 'default')}", "```", "",
        f"**Bar: the default is nowhere more than 1 point below vanilla on average of seeds: {verdict}** ({len(known)} of {len(graphs())} graphs measured).", "",
        "The lowest differences, default − vanilla in points:", "", "| graph | difference |", "| --- | ---: |", *worst, "",
        "Against vanilla, over all graphs:", "", "| method | graphs | mean difference | worst | more than 1 point below |",
        "| --- | ---: | ---: | ---: | ---: |", *against, "",
        f"| graph | {' | '.join(METHODS)} | default − vanilla | auto − vanilla | plain kept |",
        "| --- |" + " ---: |" * (len(METHODS) + 3), *lines, "", notes("never-worse"),
    ])
    return text, not below and not missing


def main() -> int:
    parser = argparse.ArgumentParser(description="The default beside plain training.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parser.add_argument("--only", nargs="+", choices=graphs(), metavar="GRAPH", help="names of rows")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=2, help="commands at a time, each on one thread")
    parser.add_argument("--again", action="store_true", help="do runs again that are kept")
    args = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    kept = kept_runs(KEPT)
    kept["drawn"] = {"seed": DRAWN_WITH, "settings": drawn(DRAWN_WITH, DRAWN)}
    cells = kept.setdefault("cells", {})
    lock = Lock()

    def one(cell: tuple[str, str]) -> None:
        graph, method = cell
        words, begin = command(graph, method), time.monotonic()
        found = cells.get(graph, {}).get(method)
        if found and found["command"] == words and not args.again:
            return
        runs = train(words, args.data)
        with lock:
            # After every cell: hours of work are not lost to an interrupted run.
            cells.setdefault(graph, {})[method] = {"command": words, "runs": runs}
            keep(KEPT, kept)
            print(f"{graph:14} {method:10} {mean(cells[graph][method]):5.1f}  {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)

    # What the bar asks for comes first.
    wanted = sorted(args.methods, key=lambda method: method not in ("vanilla", "default"))
    todo = [(graph, method) for method in wanted for graph in graphs() if not args.only or graph in args.only]
    try:
        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(one, todo))
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    keep(KEPT, kept)
    text, met = document(kept)
    KEPT.with_suffix(".md").write_text(text)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
