#!/usr/bin/env python3
"""Time how edgepace reads, imports and opens graphs, beside PyTorch Geometric and pandas on the same files.

    python3 bench/data.py DATA
    python3 bench/data.py DATA --edges 10000000 --no-peers

DATA is the folder of datasets ($EDGEPACE_DATA). Peers need bench/.venv (bench/requirements.txt, made by compare.py) with
SciPy and pandas. Writes docs/results/data.md. Exit code 0: every bar met; 1: a bar missed; 2: it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "bench" / ".venv" / "bin" / "python"
SPEED = ["cargo", "run", "--quiet", "--release", "-p", "edgepace-data", "--example", "speed", "--"]

# What is loaded, and in how many seconds at most.
SETS = {"cora": None, "citeseer": None, "pubmed": 0.3, "photo": None, "computers": None, "cs": None, "physics": 1.0}
IMPORT_BAR = 5e6  # edges per second
MEMORY_BAR = 3.0  # times the graph
OPEN_BAR = 0.05  # seconds

# PyG from raw files: what a first use costs, and every use of a set whose processed copy is not there.
PYG = """
import json, pathlib, shutil, sys, tempfile, time
from torch_geometric.datasets import Amazon, Coauthor, Planetoid
data, name = pathlib.Path(sys.argv[1]), sys.argv[2]
files = {"photo": "amazon_electronics_photo", "computers": "amazon_electronics_computers",
         "cs": "ms_academic_cs", "physics": "ms_academic_phy"}
title = {"photo": "Photo", "computers": "Computers", "cs": "CS", "physics": "Physics"}.get(name, name)
seconds = []
for _ in range(3):
    with tempfile.TemporaryDirectory() as root:
        for folder in {title, title.lower()}:
            raw = pathlib.Path(root) / folder / "raw"
            raw.mkdir(parents=True)
            source = [data / "npz" / f"{files[name]}.npz"] if name in files else (data / "planetoid").glob(f"ind.{name}.*")
            for file in source:
                shutil.copy(file, raw / file.name)
        loader = Planetoid if name not in files else Amazon if name in ("photo", "computers") else Coauthor
        start = time.perf_counter()
        loader(root, title)[0]
        seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds}))
"""

PANDAS = """
import json, resource, sys, time
import numpy, pandas
start = time.perf_counter()
table = pandas.read_csv(sys.argv[1], header=None, names=["a", "b"], dtype=numpy.uint32)
read = time.perf_counter() - start
from scipy.sparse import coo_matrix
a, b = table["a"].to_numpy(), table["b"].to_numpy()
nodes = int(max(a.max(), b.max())) + 1
keep = a != b
a, b = a[keep], b[keep]
ones = numpy.ones(2 * len(a), dtype=numpy.int8)
graph = coo_matrix((ones, (numpy.concatenate([a, b]), numpy.concatenate([b, a]))), shape=(nodes, nodes)).tocsr()
print(json.dumps({"read_seconds": read, "seconds": time.perf_counter() - start,
                  "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "edges": int(graph.nnz)}))
"""


class CannotRun(Exception):
    """The measurement could not be made; the message says why."""


def run(command: list[str], data: Path) -> dict:
    environment = {**os.environ, "EDGEPACE_DATA": str(data)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun(f"{' '.join(command[:6])} …: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def loading(data: Path, peers: bool) -> tuple[list[str], bool]:
    lines = ["| set | edgepace ms | PyG ms | ratio | bar |", "| --- | ---: | ---: | ---: | --- |"]
    met = True
    for name, bar in SETS.items():
        ours = statistics.median(run([*SPEED, "load", name], data)["seconds"])
        theirs = statistics.median(run([str(PYTHON), "-c", PYG, str(data), name], data)["seconds"]) if peers else None
        verdict = "" if bar is None else f"≤ {bar * 1000:.0f} ms: {'met' if ours <= bar else 'missed'}"
        met &= bar is None or ours <= bar
        peer = f"{theirs * 1000:.0f} | {theirs / ours:.1f} ×" if theirs else "– | –"
        lines.append(f"| {name} | {ours * 1000:.0f} | {peer} | {verdict} |")
        print(lines[-1], file=sys.stderr)
    return lines, met


def importing(data: Path, edges: int, folder: Path, peers: bool) -> tuple[list[str], bool]:
    file = folder / "edges.csv"
    run([*SPEED, "write", str(file), str(edges), str(edges // 10)], data)
    ours = [run([*SPEED, "import", str(file)], data) for _ in range(3)]
    best = sorted(ours, key=lambda one: one["seconds"])[1]
    rate, memory = best["lines"] / best["seconds"], best["peak_bytes"] / best["graph_bytes"]
    met = rate >= IMPORT_BAR and memory <= MEMORY_BAR
    lines = [
        "| program | seconds | million edges/s | peak memory GB | |",
        "| --- | ---: | ---: | ---: | --- |",
        f"| edgepace, file to graph | {best['seconds']:.1f} | {rate / 1e6:.1f} | {best['peak_bytes'] / 1e9:.2f} "
        f"({memory:.2f} × the graph) | ≥ 5 million/s, ≤ 3 ×: {'met' if met else 'missed'} |",
    ]
    if peers:
        theirs = run([str(PYTHON), "-c", PANDAS, str(file)], data)
        for label, seconds in [("pandas, file to columns", "read_seconds"), ("pandas and SciPy, file to CSR", "seconds")]:
            speed = edges / theirs[seconds] / 1e6
            lines.append(f"| {label} | {theirs[seconds]:.1f} | {speed:.1f} | {theirs['peak_bytes'] / 1e9:.2f} | |")
    file.unlink()
    for line in lines:
        print(line, file=sys.stderr)
    return lines, met


def opening(data: Path, millions: int, folder: Path) -> tuple[list[str], bool]:
    lines = [
        "| undirected edges | file GB | open ms | verify s | save s | |",
        "| ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    met = True
    for size in [1, millions]:
        file = folder / f"{size}.graph"
        one = run([*SPEED, "native", str(file), str(size)], data)
        file.unlink()
        met &= one["open_seconds"] <= OPEN_BAR
        verdict = f"≤ 50 ms: {'met' if one['open_seconds'] <= OPEN_BAR else 'missed'}"
        lines.append(
            f"| {one['edges'] // 2:,} | {one['bytes'] / 1e9:.2f} | {one['open_seconds'] * 1e3:.2f} "
            f"| {one['verify_seconds']:.2f} | {one['save_seconds']:.2f} | {verdict} |".replace(",", " ")
        )
        print(lines[-1], file=sys.stderr)
    return lines, met


def main() -> int:
    parser = argparse.ArgumentParser(description="Time reading, importing and opening of graphs.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parser.add_argument("--edges", type=int, default=100_000_000, help="edges of the CSV file [100 million]")
    parser.add_argument("--no-peers", action="store_true", help="without PyTorch Geometric and pandas")
    args = parser.parse_args()
    peers = not args.no_peers
    try:
        if peers and not PYTHON.exists():
            raise CannotRun("no bench/.venv: run `python3 bench/compare.py` once, or use --no-peers")
        with tempfile.TemporaryDirectory(dir=ROOT / "bench" / "work") as folder:
            load, load_met = loading(args.data.resolve(), peers)
            imported, import_met = importing(args.data.resolve(), args.edges, Path(folder), peers)
            opened, open_met = opening(args.data.resolve(), args.edges // 1_000_000, Path(folder))
    except CannotRun as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    command = f"python3 bench/data.py DATA{'' if args.edges == 100_000_000 else f' --edges {args.edges}'}"
    text = "\n".join([
        "# How fast graphs come in", "",
        "```console", f"$ {command}", "```", "",
        f"On {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end; all programs in one run.", "",
        "## Loading a dataset from its upstream files", "",
        "Median of 5 loads, files in the page cache, content checksum included. PyG: median of 3 first uses from the same raw "
        "files (it keeps a processed copy, which later uses read faster).", "", *load, "",
        f"## Importing {args.edges:,} edges from CSV".replace(",", " "), "",
        "Random pairs of as many numbered nodes as a tenth of the edges; median of 3 runs. pandas alone reads two columns of "
        "`uint32`; with SciPy it also makes a symmetric CSR matrix, without edge ids or twins.", "", *imported, "",
        "## Opening a graph file", "",
        "Opening maps the file and checks its head; `train` also verifies every byte first.", "", *opened, "",
    ])
    (ROOT / "docs" / "results" / "data.md").write_text(text)
    return 0 if load_met and import_met and open_met else 1


if __name__ == "__main__":
    sys.exit(main())
