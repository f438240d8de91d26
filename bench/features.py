#!/usr/bin/env python3
"""Train on every graph with every preparation of its features and write docs/results/features.md.

    python3 bench/features.py DATA
    python3 bench/features.py DATA --only cora photo --methods vanilla --again

DATA is the folder of datasets ($EDGEPACE_DATA). Runs are kept in docs/results/features.json; what is kept is not run again unless
asked. What `features=auto` does was chosen by these figures, so they are validation scores alone: test scores are not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from accuracy import keep, kept_runs, notes
from graphs import MAKERS, build

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("EDGEPACE", ROOT / "target" / "release" / "edgepace"))
KEPT = ROOT / "docs" / "results" / "features.json"
PAGE = ROOT / "docs" / "results" / "features.md"

PREPARATIONS = ["none", "rows", "lengths", "standardise"]
GRAPHS = {
    "texas": "texas",
    "wisconsin": "wisconsin",
    "cornell": "cornell",
    "cora": "cora",
    "citeseer": "citeseer",
    "synthetic-0.3": "synthetic:homophily=0.3",
    "synthetic-0.7": "synthetic:homophily=0.7",
    "chameleon": "chameleon",
    "actor": "actor",
    "photo": "photo",
    "squirrel": "squirrel",
    "computers": "computers",
    "pubmed": "pubmed",
    "cs": "cs",
    **{name: name for name in MAKERS},
}
SMALL = ["texas", "wisconsin", "cornell", "cora", "citeseer", "synthetic-0.3", "synthetic-0.7", "chameleon", "actor", *MAKERS]
METHODS = {"vanilla": list(GRAPHS), "mlp": list(GRAPHS), "rcl": SMALL}
# The larger graphs are trained on with one seed.
SEEDS = {"cs": 1}


def train(graph: str, method: str, preparation: str, data: Path, made: Path) -> list[float]:
    """The validation score of each seed."""
    named = str(made / f"{graph}.graph") if graph in MAKERS else GRAPHS[graph]
    words = ["train", named, "--method", method, "--set", f"features={preparation}"]
    words += ["--seeds", f"0..{SEEDS.get(graph, 3)}", "--threads", "1", "--json"]
    environment = {**os.environ, "EDGEPACE_DATA": str(data.resolve())}
    done = subprocess.run([str(PROGRAM), *words], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"edgepace {' '.join(words)}: {done.stderr.strip()[-400:]}")
    return [run["validation"] for run in json.loads(done.stdout)["runs"]]


def document(kept: dict) -> str:
    lines = ["# What is done to features", "", "`python3 bench/features.py DATA` makes this page.", ""]
    lines += ["Mean validation score of the seeds, in percent, at the epoch of best validation. Test scores were not looked at."]
    for method, graphs in METHODS.items():
        of = {graph: kept.get(f"{method} {graph}", {}) for graph in graphs}
        of = {graph: found for graph, found in of.items() if found}
        if not of:
            continue
        shown = [p for p in PREPARATIONS if any(p in found for found in of.values())]
        lines += ["", f"## {method}", "", f"| graph | seeds | {' | '.join(shown)} |", "| --- | ---: |" + " ---: |" * len(shown)]
        for graph, found in of.items():
            scores = {p: statistics.fmean(found[p]) for p in shown if p in found}
            best = max(scores.values())
            cells = [f"**{scores[p]:.1f}**" if scores.get(p) == best else f"{scores[p]:.1f}" if p in scores else "–" for p in shown]
            lines.append(f"| {graph} | {len(next(iter(found.values())))} | {' | '.join(cells)} |")
        whole = [found for found in of.values() if all(p in found for p in shown)]
        if whole:
            mean = [statistics.fmean(statistics.fmean(found[p]) for found in whole) for p in shown]
            worst = [min(statistics.fmean(f[p]) - max(statistics.fmean(f[q]) for q in shown) for f in whole) for p in shown]
            lines.append("| mean | | " + " | ".join(f"{value:.1f}" for value in mean) + " |")
            lines.append("| furthest below the best | | " + " | ".join(f"{value:.1f}" for value in worst) + " |")
    text = "\n".join(lines) + "\n"
    said = notes("features")
    return text + (f"\n{said}" if said else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", default=list(GRAPHS), choices=list(GRAPHS), metavar="GRAPH")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--preparations", nargs="+", default=PREPARATIONS, choices=PREPARATIONS)
    parser.add_argument("--again", action="store_true", help="run what is kept as well")
    parser.add_argument("--graphs", type=Path, default=ROOT / "target" / "graphs", help="where bench/graphs.py has put its files, or is to")
    args = parser.parse_args()
    build(args.data, args.graphs)
    kept = kept_runs(KEPT)
    for method in args.methods:
        for graph in (graph for graph in METHODS[method] if graph in args.only):
            found = kept.setdefault(f"{method} {graph}", {})
            for preparation in args.preparations:
                if preparation in found and not args.again:
                    continue
                try:
                    found[preparation] = train(graph, method, preparation, args.data, args.graphs)
                except RuntimeError as error:
                    print(f"error: {error}", file=sys.stderr)
                    return 2
                print(method, graph, preparation, [round(score, 1) for score in found[preparation]], flush=True)
                keep(KEPT, kept)
    PAGE.write_text(document(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
