#!/usr/bin/env python3
"""Time the curriculum beside a PyTorch Geometric rendering of it; docs/results/cost.md.

    python3 bench/cost.py DATA
    python3 bench/cost.py DATA --rounds 5 --graphs citeseer

DATA is the folder of datasets ($EDGEPACE_DATA). In each round edgepace trains first, then PyTorch Geometric with dense and with sparse
features, of which the faster counts, each on two threads. A ratio is the median over rounds; warm starts are counted on neither side.
Exit code 0: every bar met; 1: a bar missed; 2: it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "edgepace"
VENV = ROOT / "bench" / ".venv" / "bin" / "python"
PYTHON = VENV if VENV.exists() else Path(sys.executable)
GRAPHS = {"synthetic": "synthetic:homophily=0.3,seed=0", "citeseer": "citeseer"}
# PyTorch Geometric takes at least so many times as long.
BAR = 10.0


def run(words: list[str], data: Path) -> str:
    environment = {**os.environ, "EDGEPACE_DATA": str(data.resolve())}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-400:]}")
    return done.stdout


def compare(graph: str, rounds: int, data: Path, folder: Path) -> dict:
    exported = folder / graph
    run([str(PROGRAM), "data", "export", GRAPHS[graph], "--out", str(exported), "--format", "npz"], data)
    kinds, split = (["dense"], []) if graph == "synthetic" else (["dense", "sparse"], ["--split", "full"])
    rows = []
    for round_ in range(rounds):
        ours = json.loads(run([str(PROGRAM), "train", GRAPHS[graph], "--method", "rcl", "--threads", "2", "--json"], data))["runs"][0]
        theirs = {}
        for kind in kinds:
            words = [str(PYTHON), str(ROOT / "bench" / "pyg_rcl.py"), str(exported), *split, "--features", kind, "--threads", "2"]
            theirs[kind] = json.loads(run(words, data))
        kind = min(theirs, key=lambda kind: theirs[kind]["seconds"])
        rows.append({"ours": ours["seconds"], "pyg": theirs[kind]["seconds"], "ratio": theirs[kind]["seconds"] / ours["seconds"], "kind": kind,
                     "test": theirs[kind]["test"]})
        print(f"{graph} round {round_}: {rows[-1]}", file=sys.stderr, flush=True)
    middle = {key: statistics.median(row[key] for row in rows) for key in ("ours", "pyg", "ratio", "test")}
    return {**middle, "kind": rows[-1]["kind"], "ratios": sorted(round(row["ratio"], 1) for row in rows)}


def main() -> int:
    parser = argparse.ArgumentParser(description="The curriculum beside PyTorch Geometric.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = {graph: compare(graph, arguments.rounds, arguments.data, Path(folder)) for graph in arguments.graphs}
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("| graph | edgepace, s | PyG, s | ratio | rounds | features | PyG's accuracy |\n| --- | ---: | ---: | ---: | --- | --- | ---: |")
    for graph, one in found.items():
        ratios = ", ".join(f"{ratio:g}" for ratio in one["ratios"])
        print(f"| {graph} | {one['ours']:.2f} | {one['pyg']:.1f} | {one['ratio']:.1f} | {ratios} | {one['kind']} | {one['test']:.1f} |")
    return 0 if all(one["ratio"] >= BAR for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
