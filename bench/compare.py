#!/usr/bin/env python3
"""Compare edgepace with PyTorch Geometric and with tuned torch on this machine, in one command.

    python3 bench/compare.py
    python3 bench/compare.py --shapes cora --backbones gcn gin --quick

Exit code 0: every bar met; 1: a bar missed; 2: it could not run. See bench/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from bars import BACKBONES, SHAPES, Bar, bars_for

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
VENV = BENCH / ".venv"
WORK = BENCH / "work"
TORCH_PEERS = {"gcn": ("edge_index", "csr", "csr_expert")}
PLAIN_PEERS = ("edge_index",)
COLUMNS = (
    ("shape", "shape"),
    ("backbone", "backbone"),
    ("edgepace", "edgepace ms"),
    ("edge_index", "edge_index ms"),
    ("edge_index_ratio", "ratio"),
    ("csr", "csr ms"),
    ("csr_ratio", "ratio"),
    ("csr_expert", "csr_expert ms"),
    ("csr_expert_ratio", "ratio"),
    ("roofline", "roofline ms"),
    ("roofline_distance", "distance"),
)
BUSY_LOAD = 0.5  # one-minute load average above which timings are not to be trusted

Cell = tuple[str, str]  # shape, backbone
Row = dict[str, Any]


class CannotRun(Exception):
    """The comparison could not be made; the message says why."""


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def run(command: list[str | Path], seconds: float | None = None) -> str:
    """Standard output of a command; its last words on standard error when it fails."""
    try:
        done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        last_words = "\n".join(done.stderr.strip().splitlines()[-8:])
        raise CannotRun(f"`{' '.join(map(str, command))}` ended with {done.returncode}:\n{last_words}")
    return done.stdout


def run_json(command: list[str | Path], seconds: float | None = None) -> Row:
    output = run(command, seconds)
    try:
        return json.loads(output)
    except json.JSONDecodeError as error:
        raise CannotRun(f"`{' '.join(map(str, command))}` did not print one JSON object: {error}") from error


def ensure_venv() -> Path:
    """The interpreter with torch and PyG. A marker tells a finished installation from an interrupted one."""
    python = VENV / "bin" / "python"
    wanted = (BENCH / "requirements.txt").read_text()
    marker = VENV / "installed.txt"
    if python.exists() and marker.exists() and marker.read_text() == wanted:
        return python
    if not python.exists():
        say("making bench/.venv")
        venv.create(VENV, with_pip=True)
    say("installing bench/requirements.txt (torch is large)")
    run([python, "-m", "pip", "install", "--quiet", "-r", BENCH / "requirements.txt"])
    marker.write_text(wanted)
    return python


def build_edgepace() -> Path:
    say("cargo build --release -p edgepace-bench")
    run(["cargo", "build", "--release", "-p", "edgepace-bench"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return ROOT / target / "release" / "edgepace-bench"


def choose_cells(shapes: list[str] | None, backbones: list[str] | None) -> list[Cell]:
    """Without a choice: the cells that have a bar. Named backbones run on every chosen shape, bar or not."""
    every = [(shape, backbone) for shape in shapes or SHAPES for backbone in backbones or BACKBONES]
    return every if backbones else [cell for cell in every if bars_for(*cell)]


def measure_cell(cell: Cell, arguments: argparse.Namespace, edgepace: Path, python: Path) -> dict[str, Row]:
    """One round: edgepace, then each peer, one after the other on the same cores."""
    shape, backbone = cell
    threads = str(arguments.threads)
    ours = [edgepace, "--shape", shape, "--backbone", backbone, "--threads", threads, "--json"]
    say(f"  {shape} {backbone}: edgepace")
    results = {"edgepace": run_json(ours)}
    for peer in TORCH_PEERS.get(backbone, PLAIN_PEERS):
        say(f"  {shape} {backbone}: {peer}")
        command = [python, BENCH / "peers.py", peer, WORK / shape, "--backbone", backbone, "--threads", threads]
        command += ["--epochs", str(arguments.epochs), "--seconds", f"{arguments.seconds / arguments.rounds:.1f}"]
        results[peer] = run_json(command)
    return results


def summarise(cell: Cell, rounds: list[dict[str, Row]]) -> Row:
    """Medians over rounds, and how many times slower each peer is."""
    row: Row = {"shape": cell[0], "backbone": cell[1]}
    for engine in rounds[0]:
        row[engine] = statistics.median(result[engine]["epoch_ms"] for result in rounds)
        if engine != "edgepace":
            row[f"{engine}_ratio"] = row[engine] / row["edgepace"]
    roofline = rounds[0]["edgepace"].get("roofline_ms")
    if roofline:
        row["roofline"] = statistics.median(result["edgepace"]["roofline_ms"] for result in rounds)
        row["roofline_distance"] = row["edgepace"] / row["roofline"]
    return row


def judge(rows: list[Row]) -> list[tuple[Bar, float | None]]:
    """Each bar of the measured cells with what was measured; None: the quantity is missing."""
    return [(bar, row.get(bar.quantity)) for row in rows for bar in bars_for(row["shape"], row["backbone"])]


def verdict(bar: Bar, value: float | None) -> str:
    if value is None:
        return "not measured"
    return "pass" if bar.met_by(value) else "short"


def cell_text(value: Any) -> str:
    match value:
        case None:
            return "-"
        case float() | int():
            return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
    return str(value)


def as_texts(rows: list[Row]) -> list[list[str]]:
    header = [title for _, title in COLUMNS]
    return [header, *([cell_text(row.get(key)) for key, _ in COLUMNS] for row in rows)]


def aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines)]
    words = 2  # the first two columns are names, the others numbers
    return "\n".join(
        "  ".join(text.ljust(w) if i < words else text.rjust(w) for i, (text, w) in enumerate(zip(line, widths))).rstrip()
        for line in lines
    )


def markdown(rows: list[Row], judged: list[tuple[Bar, float | None]], machine: Row) -> str:
    header, *body = ["| " + " | ".join(line) + " |" for line in as_texts(rows)]
    rule = "|" + " --- |" * 2 + " ---: |" * (len(COLUMNS) - 2)
    bars = [f"| {bar} | {cell_text(value)} | {verdict(bar, value)} |" for bar, value in judged]
    made = ["# edgepace beside its peers", "", "```console", "$ " + " ".join(["python3", *sys.argv]), "```", ""]
    about = f"Median ms per epoch (training step and evaluation), {machine['threads']} threads, {machine['processor']}."
    about += " What each column is: [`bench/README.md`](../../bench/README.md)."
    return "\n".join([*made, about, "", header, rule, *body, "", "| bar | measured | |", "| --- | ---: | --- |", *bars, ""])


def describe_machine(threads: int) -> Row:
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0] if names else processor
    return {"processor": processor, "cores": os.cpu_count(), "threads": threads, "load_before": os.getloadavg()[0]}


def measure_all(arguments: argparse.Namespace) -> tuple[list[Cell], dict[Cell, list[dict[str, Row]]]]:
    cells = choose_cells(arguments.shapes, arguments.backbones)
    if not cells:
        raise CannotRun("nothing to measure: the chosen shapes have no bar; name the backbones as well")
    python = ensure_venv()
    edgepace = arguments.edgepace.resolve() if arguments.edgepace else build_edgepace()
    for shape in dict.fromkeys(shape for shape, _ in cells):
        say(f"exporting {shape}")
        run([edgepace, "--shape", shape, "--export", WORK / shape])
    say("checking the gradients of the csr peer")
    run([python, BENCH / "peers.py", "--self-test"])
    rounds: dict[Cell, list[dict[str, Row]]] = {cell: [] for cell in cells}
    for number in range(arguments.rounds):
        say(f"round {number + 1} of {arguments.rounds}")
        for cell in cells:
            rounds[cell].append(measure_cell(cell, arguments, edgepace, python))
    return cells, rounds


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES)
    parser.add_argument("--backbones", nargs="+", choices=BACKBONES)
    parser.add_argument("--rounds", type=int, default=3, help="how often all engines take turns")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=50, help="timed epochs per peer and round, at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="time per peer and cell over all rounds, about")
    parser.add_argument("--quick", action="store_true", help="one short round: a first look, not a result")
    parser.add_argument("--edgepace", type=Path, help="use this `edgepace-bench` instead of building one")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    parser.add_argument("--markdown", type=Path, help="write the table and the bars to this file")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.epochs, arguments.seconds = 1, 10, 10.0
    if arguments.rounds < 1 or arguments.epochs < 1:
        parser.error("--rounds and --epochs must be at least 1")
    return arguments


def main() -> int:
    arguments = parse()
    machine = describe_machine(arguments.threads)
    if machine["load_before"] > BUSY_LOAD:
        say(f"the machine is busy (load {machine['load_before']:.1f}): the timings will not be worth much")
    try:
        for file in (arguments.json, arguments.markdown):
            if file:
                file.parent.mkdir(parents=True, exist_ok=True)
        cells, rounds = measure_all(arguments)
    except (CannotRun, OSError, subprocess.CalledProcessError) as reason:
        say(f"cannot compare: {reason}")
        return 2
    rows = [summarise(cell, rounds[cell]) for cell in cells]
    judged = judge(rows)
    print(aligned(as_texts(rows)))
    print()
    lines = [[str(bar), "", cell_text(value), verdict(bar, value)] for bar, value in judged]
    print(aligned([["bar", "", "measured", ""], *lines]))
    if arguments.json:
        raw = [{"shape": shape, "backbone": backbone, "rounds": rounds[shape, backbone]} for shape, backbone in cells]
        bars = [{"bar": str(bar), "measured": value, "verdict": verdict(bar, value)} for bar, value in judged]
        arguments.json.write_text(json.dumps({"machine": machine, "rows": rows, "bars": bars, "raw": raw}, indent=1) + "\n")
    if arguments.markdown:
        arguments.markdown.write_text(markdown(rows, judged, machine))
    verdicts = {verdict(bar, value) for bar, value in judged}
    return 1 if "short" in verdicts else 2 if "not measured" in verdicts else 0


if __name__ == "__main__":
    raise SystemExit(main())
