"""What new nodes cost: trained without them and predicted later, against a graph that had them from the beginning.

    cargo build --release -p edgepace-cli
    python3 bench/inductive.py

Of each graph a random fifth of the nodes is new. Both runs have the same training and validation nodes, of the other four
fifths; the one knows the graph of these alone, the other the whole graph. Both then answer for the new nodes on the whole
graph. Prints a table as Markdown, accuracy in percent.
"""

import argparse
import array
import ast
import csv
import io
import os
import random
import statistics
import struct
import subprocess
import tempfile
import zipfile
from pathlib import Path

PROGRAM = Path(os.environ.get("EDGEPACE", Path(__file__).resolve().parent.parent / "target" / "release" / "edgepace"))
SETS = ["pubmed", "photo"]
SEEDS, NEW, TRAIN, VALIDATION = 3, 0.2, 0.6, 0.2
TYPES = {"<f4": "f", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q"}


def run(*words) -> str:
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


def read_npz(path: Path) -> dict[str, tuple[dict, bytes]]:
    """The arrays of a file: each with its head and its bytes."""
    found = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (struct.unpack("<I", data[8:12])[0], 12)
            found[name] = (ast.literal_eval(data[start : start + length].decode()), data[start + length :])
    return found


def npy(descr: str, shape: tuple, data: bytes) -> bytes:
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def rows_of(arrays: dict, kept: list[int]) -> dict[str, bytes]:
    """Rows of a sparse matrix as SciPy keeps it."""
    numbers = {}
    for name, (head, data) in arrays.items():
        if head["descr"] in TYPES:
            numbers[name] = array.array(TYPES[head["descr"]])
            numbers[name].frombytes(data)
    starts = numbers["indptr.npy"]
    parts = {name: array.array(numbers[name].typecode) for name in ("data.npy", "indices.npy")}
    offsets = array.array(starts.typecode, [0])
    for row in kept:
        for name, part in parts.items():
            part.extend(numbers[name][starts[row] : starts[row + 1]])
        offsets.append(len(parts["data.npy"]))
    numbers["shape.npy"][0] = len(kept)
    parts |= {"indptr.npy": offsets, "shape.npy": numbers["shape.npy"]}
    out = {}
    for name, (head, data) in arrays.items():
        if name in parts:
            out[name] = npy(head["descr"], (len(parts[name]),), parts[name].tobytes())
        else:
            out[name] = npy(head["descr"], head["shape"], data)
    return out


def write_graph(folder: Path, kept: list[int], sets: dict[int, str], labels: list[str], edges: list, arrays: dict) -> list:
    folder.mkdir()
    inside = set(kept)
    with (folder / "nodes.csv").open("w", encoding="utf-8") as file:
        file.write("id,label,split\n")
        file.writelines(f"n{node},class {labels[node]},{sets.get(node, '')}\n" for node in kept)
    with (folder / "edges.csv").open("w", encoding="utf-8") as file:
        file.write("source,target\n")
        file.writelines(f"n{a},n{b}\n" for a, b in edges if a in inside and b in inside)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in rows_of(arrays, kept).items():
            file.writestr(name, data)
    (folder / "features.npz").write_bytes(buffer.getvalue())
    return ["--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--features", folder / "features.npz"]


def accuracy(table: Path, new: set[str]) -> float:
    with table.open(newline="", encoding="utf-8") as file:
        answers = [row["class"] == row["label"] for row in csv.DictReader(file) if row["name"] in new]
    assert len(answers) == len(new)
    return 100 * statistics.mean(answers)


def measure(name: str, method: str, seed: int, exported: Path, work: Path) -> tuple[float, float]:
    with (exported / "nodes.csv").open(newline="", encoding="utf-8") as file:
        labels = [row["label"] for row in csv.DictReader(file)]
    with (exported / "edges.csv").open(newline="", encoding="utf-8") as file:
        edges = [(int(row["source"]), int(row["target"])) for row in csv.DictReader(file)]
    arrays = read_npz(exported / "features.npz")
    order = list(range(len(labels)))
    random.Random(seed).shuffle(order)
    old = order[int(NEW * len(order)) :]
    new = order[: int(NEW * len(order))]
    first, second = int(TRAIN * len(old)), int((TRAIN + VALIDATION) * len(old))
    known = dict.fromkeys(old[:first], "train") | dict.fromkeys(old[first:second], "val")
    folder = work / f"{name}-{method}-{seed}"
    folder.mkdir()
    part = write_graph(folder / "old", sorted(old), known | dict.fromkeys(old[second:], "test"), labels, edges, arrays)
    whole = write_graph(folder / "all", sorted(order), known | dict.fromkeys(new, "test"), labels, edges, arrays)
    scores = []
    for data, predict in [(whole, []), (part, whole)]:
        out = folder / f"run-{len(scores)}"
        run("train", *data, "--method", method, "--seeds", seed, "--out", out)
        run("predict", out, *predict, "-o", out / "p.csv")
        scores.append(accuracy(out / "p.csv", {f"n{node}" for node in new}))
    return scores[0], scores[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--methods", nargs="+", default=["rcl", "vanilla"])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--work", type=Path, help="keep the files in this new folder")
    arguments = parser.parse_args()
    print("| graph | method | with the new nodes from the beginning | as new nodes | difference |")
    print("| --- | --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(exist_ok=True)
        for name in arguments.sets:
            run("data", "export", name, "--out", work / name)
            for method in arguments.methods:
                scores = [measure(name, method, seed, work / name, work) for seed in range(arguments.seeds)]
                both = [statistics.mean(of) for of in zip(*scores, strict=True)]
                cells = [f"{mean:.2f} ({', '.join(f'{score:.1f}' for score in of)})" for mean, of in zip(both, zip(*scores, strict=True), strict=True)]
                print(f"| {name} | {method} | {cells[0]} | {cells[1]} | {both[1] - both[0]:+.2f} |", flush=True)


if __name__ == "__main__":
    main()
