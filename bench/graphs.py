#!/usr/bin/env python3
"""Make the graph files that tables of results use beside the named sets.

    python3 bench/graphs.py DATA FOLDER

DATA is the folder of datasets ($EDGEPACE_DATA). Writes into FOLDER, what is there already is kept:

- cora-largest.graph: the largest connected component of Cora, as many papers use it, with Cora's own splits;
- items.graph: 1500 generated products with a price, a weight and a colour (numbers and one category), bought together, of
  which 30 % have a class (bench/calibration.py).
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from calibration import items
from inductive import read_npz, rows_of

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("EDGEPACE", ROOT / "target" / "release" / "edgepace"))


def run(*words: object, data: Path) -> None:
    environment = {**os.environ, "EDGEPACE_DATA": str(data.resolve())}
    subprocess.run([str(PROGRAM), *map(str, words)], check=True, stdout=subprocess.DEVNULL, env=environment)


def largest_component(nodes: int, edges: list[tuple[int, int]]) -> list[int]:
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    found: list[int] = []
    seen = [False] * nodes
    for start in range(nodes):
        if seen[start]:
            continue
        seen[start], component = True, [start]
        for node in component:
            for other in neighbours[node]:
                if not seen[other]:
                    seen[other] = True
                    component.append(other)
        found = max(found, component, key=len)
    return sorted(found)


def cora_largest(file: Path, data: Path, work: Path) -> None:
    run("data", "export", "cora", "--out", work / "cora", data=data)
    with (work / "cora" / "nodes.csv").open(newline="", encoding="utf-8") as table:
        nodes = list(csv.DictReader(table))
    with (work / "cora" / "edges.csv").open(newline="", encoding="utf-8") as table:
        edges = [(int(row["source"]), int(row["target"])) for row in csv.DictReader(table)]
    kept = largest_component(len(nodes), edges)
    inside = set(kept)
    with (work / "nodes.csv").open("w", newline="", encoding="utf-8") as table:
        out = csv.DictWriter(table, list(nodes[0]))
        out.writeheader()
        out.writerows(nodes[node] | {"id": f"n{node}"} for node in kept)
    with (work / "edges.csv").open("w", encoding="utf-8") as table:
        table.write("source,target\n")
        table.writelines(f"n{a},n{b}\n" for a, b in edges if a in inside)
    with zipfile.ZipFile(work / "features.npz", "w") as archive:
        for name, array in rows_of(read_npz(work / "cora" / "features.npz"), kept).items():
            archive.writestr(name, array)
    tables = ["--edges", work / "edges.csv", "--nodes", work / "nodes.csv", "--features", work / "features.npz"]
    run("data", "import", *tables, "--name", "cora-largest", "-o", file, data=data)


def items_graph(file: Path, data: Path, work: Path) -> None:
    items(work)
    tables = ["--edges", work / "bought.csv", "--nodes", work / "items.csv", "--id", "id", "--label", "category"]
    run("data", "import", *tables, "--name", "items", "-o", file, data=data)


MAKERS = {"cora-largest": cora_largest, "items": items_graph}


def build(data: Path, folder: Path) -> None:
    """Makes what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, maker in MAKERS.items():
        file = folder / f"{name}.graph"
        if not file.exists():
            with tempfile.TemporaryDirectory() as work:
                maker(file, data, Path(work))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    build(arguments.data, arguments.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
