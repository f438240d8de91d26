#!/usr/bin/env python3
"""Train every method of the registry on the graphs of the comparison and write docs/results/methods.md.

    python3 bench/methods.py DATA
    python3 bench/methods.py DATA --methods clnode ptdnet --graphs cora photo --seeds 5

DATA is the folder of datasets ($EDGEPACE_DATA). Every figure is the test accuracy at the epoch of best validation; no choice
looks at a test label. Runs that docs/results/methods.json has already are not done again (`--again` does them).
Beside each figure stands the paper's (bench/paper.csv). Exit code 2: it could not run.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import sys
from pathlib import Path

from accuracy import PROGRAM, ROOT, keep, kept_runs, notes, spread, train

GRAPHS = {
    "synthetic-0.3": "synthetic:homophily=0.3",
    "synthetic-0.6": "synthetic:homophily=0.6",
    "cora": "cora",
    "citeseer": "citeseer",
    "photo": "photo",
    "cora + 100 %": "cora --noise fake=1.0",
    "citeseer + 100 %": "citeseer --noise fake=1.0",
    "photo + 100 %": "photo --noise fake=1.0",
}
# Those with several settings come a second time with settings searched on validation, as their authors tune them.
SEARCHED = ["rcl", "gnn-svd", "pro-gnn", "pro-gnn-sparse", "clnode", "node-linear", "node-root"]
ORDER = """mlp vanilla rcl auto gnn-svd pro-gnn pro-gnn-sparse neural-sparse ptdnet clnode node-linear node-root
curriculum-linear curriculum-root random random-linear random-root rcl-no-appearance rcl-no-confidence rcl-no-pretrain
prune-features prune-overlap""".split()
ORDER = [row for method in ORDER for row in ([method, f"{method} --search"] if method in SEARCHED else [method])]
KEPT = ROOT / "docs" / "results" / "methods.json"


def command(method: str, graph: str, seeds: int) -> str:
    # Every method keeps what it made itself: `rcl` would take its warm start where that validates better.
    method += " --set keep=method" if method.split()[0] == "rcl" else ""
    return f"train {GRAPHS[graph]} --method {method} --seeds 0..{seeds} --jobs {os.cpu_count()} --json"


def paper() -> dict[tuple[str, str], float]:
    with (Path(__file__).parent / "paper.csv").open() as file:
        return {(row["method"], row["dataset"]): float(row["accuracy"]) for row in csv.DictReader(file)}


def cell(runs: list[dict] | None, theirs: float | None) -> str:
    if not runs:
        return ""
    text = spread([run["test"] for run in runs])
    if theirs is None:
        return text
    short = statistics.fmean(run["test"] for run in runs) < theirs - 2
    return f"{text} ({'**' if short else ''}{theirs:.1f}{'**' if short else ''})"


def document(kept: dict, made: str) -> str:
    figures, names = paper(), list(GRAPHS)
    lines = [
        "# Every method on one bench", "",
        "```console", f"$ python3 bench/methods.py {made}", "```", "",
        "Test accuracy in percent at the epoch of best validation, GCN, 150 epochs, Adam 0.01, every method with its defaults, those "
        "with several settings also with settings searched on validation (`--search`); mean ± "
        "standard deviation over the seeds. Noise, split and the synthetic graph follow the seed. In brackets the figure of the "
        "RCL paper for that method, in bold where ours is more than 2 points below it. «+ 100 %»: as many fake edges as "
        "real ones. Each cell is one command, such as", "",
        "```console slow", f"$ edgepace {command('ptdnet', 'cora + 100 %', 5)}", "```", "",
        f"| method | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names),
    ]
    for method in ORDER:
        of = kept.get(method, {})
        if of:
            cells = [cell(of.get(graph), figures.get((method.split()[0], graph))) for graph in names]
            lines.append(f"| {method} | {' | '.join(cells)} |")
    seeds = sorted({len(runs) for of in kept.values() for runs in of.values()})
    lines += ["", f"Seeds per figure: {', '.join(map(str, seeds))}. All runs by seed: [methods.json](methods.json).", ""]
    return "\n".join([*lines, notes("methods")])


def main() -> int:
    parser = argparse.ArgumentParser(description="Every method on one bench.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parser.add_argument("--methods", nargs="+", choices=ORDER, default=ORDER)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="do runs again that are kept")
    args = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    kept = kept_runs(KEPT)
    for graph in args.graphs:
        for method in args.methods:
            if len(kept.get(method, {}).get(graph, [])) >= args.seeds and not args.again:
                continue
            try:
                runs = train(command(method, graph, args.seeds).split(), args.data)
            except RuntimeError as error:
                print(f"error: {error}", file=sys.stderr)
                return 2
            # After every cell: hours of work are not lost to an interrupted run.
            kept.setdefault(method, {})[graph] = runs
            keep(KEPT, kept)
            print(f"{graph:18} {method:18} {spread([run['test'] for run in runs])}", file=sys.stderr, flush=True)
    KEPT.with_suffix(".md").write_text(document(kept, "DATA"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
