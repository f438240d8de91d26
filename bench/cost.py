#!/usr/bin/env python3
"""Time every method beside plain training, and the curriculum beside a PyTorch Geometric rendering; docs/results/cost.md.

    python3 bench/cost.py DATA
    python3 bench/cost.py DATA --parts curriculum pyg --rounds 5

DATA is the folder of datasets ($EDGEPACE_DATA). In each round vanilla runs first, then the others, on two threads; a ratio is the
median over rounds of the time by that round's vanilla. The curriculum is compared with its own warm start, which is a vanilla run
in the same process and so meets the same disturbances. Exit code 0: every bar met; 1: a bar missed; 2: it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from accuracy import PROGRAM, ROOT, keep, kept_runs, notes

WORK = ROOT / "bench" / "work"
PYTHON = ROOT / "bench" / ".venv" / "bin" / "python"
KEPT = ROOT / "docs" / "results" / "cost.json"
# As many nodes, edges, classes and features as ogbn-arxiv has.
ARXIV = "blocks:nodes=169343,edges=1166243,classes=40,features=128,homophily=0.65,seed=0"
GRAPHS = {"synthetic": "synthetic:homophily=0.3", "cora": "cora", "citeseer": "citeseer", "computers": "computers",
          "arxiv": str(WORK / "arxiv.graph")}
# Multiples of vanilla, by method; arxiv size is watched for memory.
BARS = {"rcl": 1.4, "clnode": 1.2, "gnn-svd": 4, "ptdnet": 8, "neural-sparse": 8}
DENSE = {"pro-gnn": 60}
METHODS = """mlp gnn-svd pro-gnn-sparse neural-sparse ptdnet clnode node-linear node-root curriculum-linear curriculum-root random
random-linear random-root rcl-no-appearance rcl-no-confidence rcl-no-pretrain prune-features prune-overlap""".split()
ORDER = ["vanilla", "rcl", *METHODS, *DENSE]
LARGE = "gnn-svd neural-sparse ptdnet pro-gnn-sparse".split()
MEMORY = {"rcl": 0.7, **dict.fromkeys(LARGE, 12.0)}


def train(graph: str, method: str, data: Path, seeds: int = 1) -> dict:
    words = ["train", GRAPHS[graph], "--method", method, "--seeds", f"0..{seeds}", "--threads", "2", "--json"]
    environment = {**os.environ, "EDGEPACE_DATA": str(data)}
    done = subprocess.run([str(PROGRAM), *words], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"edgepace {' '.join(words)}: {done.stderr.strip()[-400:]}")
    runs = json.loads(done.stdout)["runs"]
    return {
        "seconds": statistics.median(run["seconds"] for run in runs),
        "warm_start": statistics.median(run["warm_start_seconds"] for run in runs),
        "by_warm_start": statistics.median(run["seconds"] / max(run["warm_start_seconds"], 1e-9) for run in runs),
        "peak": max(run["peak_bytes"] for run in runs) / 1e9,
    }


def compare(graph: str, methods: list[str], rounds: int, data: Path, seeds: int) -> dict:
    """Each method beside vanilla in the same round."""
    taken: dict[str, list[dict]] = {}
    for round_ in range(rounds):
        vanilla = train(graph, "vanilla", data, seeds)
        taken.setdefault("vanilla", []).append({**vanilla, "ratio": 1.0})
        for method in methods:
            one = train(graph, method, data, seeds)
            ratio = one.pop("by_warm_start") if method == "rcl" else one["seconds"] / vanilla["seconds"]
            taken.setdefault(method, []).append({**one, "ratio": ratio})
            print(f"{graph:10} round {round_} {method:16} {one['seconds']:8.2f} s  {taken[method][-1]['ratio']:6.2f} x  {one['peak']:.2f} GB",
                  file=sys.stderr, flush=True)
    middle = lambda ones: {key: statistics.median(one[key] for one in ones) for key in ones[0]}
    return {method: {**middle(ones), "ratios": sorted(round(one["ratio"], 2) for one in ones)} for method, ones in taken.items()}


def pyg(graph: str, rounds: int, data: Path) -> dict:
    """The same loop by PyTorch Geometric: the faster of dense and sparse features."""
    folder = WORK / f"{graph}-npz"
    name = GRAPHS[graph] + (",seed=0" if graph == "synthetic" else "")
    environment = {**os.environ, "EDGEPACE_DATA": str(data)}
    subprocess.run([str(PROGRAM), "data", "export", name, "--out", str(folder), "--format", "npz", "--overwrite"],
                   env=environment, check=True, capture_output=True)
    kinds = ["dense"] if graph == "synthetic" else ["dense", "sparse"]
    split = [] if graph == "synthetic" else ["--split", "full"]
    rows = []
    for round_ in range(rounds):
        ours = train(graph, "rcl", data)
        theirs = {}
        for kind in kinds:
            words = [str(PYTHON), str(ROOT / "bench" / "pyg_rcl.py"), str(folder), *split, "--features", kind, "--threads", "2"]
            theirs[kind] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        kind = min(theirs, key=lambda kind: theirs[kind]["seconds"])
        best = theirs[kind]
        rows.append({"ours": ours["seconds"], "pyg": best["seconds"], "kind": kind, "ratio": best["seconds"] / ours["seconds"],
                     "test": best["test"]})
        print(f"{graph:10} round {round_} pyg {rows[-1]}", file=sys.stderr, flush=True)
    middle = {key: statistics.median(row[key] for row in rows) for key in ("ours", "pyg", "ratio", "test")}
    return {**middle, "kind": rows[-1]["kind"], "ratios": sorted(round(row["ratio"], 1) for row in rows)}


def evidence() -> list[str]:
    words = ["cargo", "run", "--release", "-q", "-p", "edgepace-curriculum", "--example", "cost", "--", "2", "5", "edgepace"]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def verdicts(kept: dict) -> list[tuple[str, bool]]:
    """Every bar that has been measured."""
    found = []
    for graph, methods in kept.get("methods", {}).items():
        for method, one in methods.items():
            bar = {**BARS, **(DENSE if graph == "citeseer" else {})}.get(method)
            if bar is not None and (graph != "arxiv" or method == "rcl"):
                found.append((f"{method} on {graph}: {one['ratio']:.2f} × vanilla, at most {bar}", one["ratio"] <= bar))
            if graph == "arxiv" and method in MEMORY:
                found.append((f"{method} at arxiv size: {one['peak']:.2f} GB, at most {MEMORY[method]}", one["peak"] <= MEMORY[method]))
    for graph, one in kept.get("pyg", {}).items():
        found.append((f"PyTorch Geometric on {graph}: {one['ratio']:.1f} × our time, at least 10", one["ratio"] >= 10))
    return found


def document(kept: dict) -> str:
    lines = [
        "# What a run costs", "", "```console", "$ python3 bench/cost.py DATA", "```", "",
        "Seconds of a whole run of 150 epochs on two threads (evaluations, updates and whatever the method makes before its first epoch "
        "included; a warm start, itself a vanilla run, is counted apart), and the largest memory of the process, data included. `× vanilla` "
        "is the median over rounds of the time by that round's vanilla run, all rounds behind it; that of `rcl` by its own warm start, a "
        "vanilla run in the same process. The bars are of this column. «with warm start» is what a user waits for, as a multiple of the same.", "",
    ]
    for graph, methods in kept.get("methods", {}).items():
        lines += [f"## {graph}", ""]
        if graph == "arxiv":
            lines += ["A random graph as large as ogbn-arxiv, from a file:", "", "```console slow",
                      f"$ edgepace data save {ARXIV} -o arxiv.graph", "$ edgepace train arxiv.graph --method rcl", "```", ""]
        lines += ["| method | seconds | warm start | × vanilla | with warm start | rounds | peak memory |",
                  "| --- | ---: | ---: | ---: | ---: | --- | ---: |"]
        for method, one in sorted(methods.items(), key=lambda item: ORDER.index(item[0])):
            rounds = ", ".join(f"{ratio:g}" for ratio in one["ratios"])
            warm, whole = "", ""
            if one["warm_start"] > 0:
                warm = f"{one['warm_start']:.2f}"
                whole = f"{one['ratio'] * (1 + one['warm_start'] / one['seconds']):.2f}"
            lines.append(f"| {method} | {one['seconds']:.2f} | {warm} | {one['ratio']:.2f} | {whole} | {rounds} | {one['peak']:.2f} GB |")
        lines.append("")
    if kept.get("pyg"):
        lines += ["## The curriculum beside PyTorch Geometric", "",
                  "`bench/pyg_rcl.py` is the same loop (evidence kernel, update every 20 epochs, training on the selected edges, two "
                  "evaluations per epoch under `no_grad`) as a user of PyG writes it: its evaluations see all nodes, where ours propagate to "
                  "the validation nodes alone. The faster of dense and sparse features counts. Warm starts are counted on neither side.", "",
                  "| graph | edgepace, s | PyG, s | ratio | rounds | features | PyG's accuracy |", "| --- | ---: | ---: | ---: | --- | --- | ---: |"]
        for graph, one in kept["pyg"].items():
            rounds = ", ".join(f"{ratio:g}" for ratio in one["ratios"])
            lines.append(f"| {graph} | {one['ours']:.2f} | {one['pyg']:.1f} | {one['ratio']:.1f} | {rounds} | {one['kind']} | {one['test']:.1f} |")
        lines.append("")
    if kept.get("evidence"):
        lines += ["## The evidence for all edges of a graph of arxiv's size", "", "```console slow",
                  "$ cargo run --release -p edgepace-curriculum --example cost -- 2 5 edgepace", "```", "", "```text", *kept["evidence"], "```", ""]
    lines += ["## Bars", "", *[f"- {text}: {'met' if ok else '**missed**'}" for text, ok in verdicts(kept)], ""]
    return "\n".join([*lines, notes("cost")])


def main() -> int:
    parser = argparse.ArgumentParser(description="What a run costs.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parts = ["curriculum", "methods", "dense", "arxiv", "large", "pyg", "evidence"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", nargs="+", help="of the parts curriculum, methods and dense [default: all]")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="of the part methods [default: all]")
    args = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    data = args.data.resolve()
    kept = kept_runs(KEPT)
    methods = kept.setdefault("methods", {})

    def asked(*graphs: str) -> list[str]:
        return [graph for graph in graphs if not args.graphs or graph in args.graphs]

    def add(part: str, graph: str, found: dict) -> None:
        kept.setdefault(part, {}).setdefault(graph, {}).update(found)
        keep(KEPT, kept)

    try:
        if "curriculum" in args.parts:
            for graph in asked("synthetic", "cora", "citeseer", "computers"):
                # Runs of a fifth of a second differ by half, so it takes many.
                rounds, seeds = (2, 1) if graph == "computers" else (4, 5)
                add("methods", graph, compare(graph, ["rcl"], rounds * args.rounds, data, seeds))
        if "methods" in args.parts:
            for graph in asked("synthetic", "citeseer", "computers"):
                rounds, seeds = (1, 1) if graph == "computers" else (2, 3)
                found = compare(graph, args.methods, rounds * args.rounds, data, seeds)
                add("methods", graph, {name: one for name, one in found.items() if name != "vanilla" or name not in methods.get(graph, {})})
        if "dense" in args.parts:
            for graph in asked("synthetic", "citeseer", "computers"):
                found = compare(graph, list(DENSE), args.rounds if graph == "citeseer" else 1, data, 1)
                add("methods", graph, {name: one for name, one in found.items() if name in DENSE})
        if {"arxiv", "large"} & set(args.parts):
            WORK.mkdir(exist_ok=True)
            Path(GRAPHS["arxiv"]).unlink(missing_ok=True)
            subprocess.run([str(PROGRAM), "data", "save", ARXIV, "-o", GRAPHS["arxiv"]], check=True, capture_output=True)
        if "arxiv" in args.parts:
            add("methods", "arxiv", compare("arxiv", ["rcl"], args.rounds, data, 1))
        if "large" in args.parts:
            found = compare("arxiv", LARGE, 1, data, 1)
            add("methods", "arxiv", {name: one for name, one in found.items() if name != "vanilla"})
        if "pyg" in args.parts:
            for graph in ("synthetic", "citeseer"):
                add("pyg", graph, pyg(graph, args.rounds, data))
        if "evidence" in args.parts:
            kept["evidence"] = evidence()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    keep(KEPT, kept)
    KEPT.with_suffix(".md").write_text(document(kept))
    return 0 if all(ok for _, ok in verdicts(kept)) else 1


if __name__ == "__main__":
    sys.exit(main())
