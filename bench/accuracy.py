#!/usr/bin/env python3
"""Train every method on every graph of the accuracy table and write docs/results/accuracy.md.

    python3 bench/accuracy.py DATA
    python3 bench/accuracy.py DATA --only cora synthetic-0.3 --seeds 3

DATA is the folder of datasets ($EDGEPACE_DATA). Every figure is the test score at the epoch of best validation; no choice
looks at a test label. Exit code 0: every bar met; 1: a bar missed; 2: it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "edgepace"

METHODS = {
    "MLP": "--method mlp",
    "vanilla": "--method vanilla",
    "random order": "--method random",
    "edgepace": "--method rcl --preset edgepace",
    "posterior": "--method rcl --preset posterior",
    "official": "--method rcl --preset official",
    "cosine": "--method rcl --preset cosine",
    "paper": "--method rcl --preset paper",
    "auto": "--method auto",
}


@dataclass
class Row:
    """One graph of the table, with what `auto` must reach."""

    name: str
    dataset: str
    seeds: int = 10
    noise: str | None = None
    backbone: str = "gcn"
    at_least: float | None = None  # test score
    gain: float | None = None  # over vanilla


def rows() -> list[Row]:
    synthetic = [
        Row(f"synthetic-{h}", f"synthetic:homophily={h},law=inverse", at_least=bar)
        for h, bar in [(0.1, 62), (0.3, 76), (0.5, 91.5), (0.7, 97.7)]
    ]
    clean = [Row("cora", "cora", at_least=86.3, gain=0), Row("citeseer", "citeseer", gain=0)]
    noisy = [
        Row("cora+100%", "cora", noise="fake=1.0", gain=10.5),
        Row("citeseer+100%", "citeseer", noise="fake=1.0", gain=11),
        Row("pubmed+100%", "pubmed", 3, "fake=1.0", gain=5),
        Row("cs+100%", "cs", 3, "fake=1.0", gain=11),
        Row("photo+100%", "photo", 3, "fake=1.0", gain=20),
    ]
    pages = [Row("texas", "texas", gain=8), Row("wisconsin", "wisconsin", gain=17)]
    others = [
        Row("synthetic-0.3, GIN", "synthetic:homophily=0.3,law=inverse", 5, backbone="gin", gain=7),
        Row("synthetic-0.3, SAGE", "synthetic:homophily=0.3,law=inverse", 5, backbone="sage", gain=0),
        Row("cora, SAGE", "cora", 5, backbone="sage", gain=0),
        Row("cora+100%, SAGE", "cora", 5, "fake=1.0", backbone="sage", gain=0),
        Row("citeseer+100%, SAGE", "citeseer", 5, "fake=1.0", backbone="sage", gain=0),
    ]
    return synthetic + clean + noisy + pages + others


def command(row: Row, method: str, seeds: int) -> list[str]:
    words = ["train", row.dataset, "--backbone", row.backbone, *METHODS[method].split()]
    words += ["--noise", row.noise] if row.noise else []
    return [*words, "--seeds", f"0..{seeds}", "--jobs", str(os.cpu_count()), "--json"]


def train(row: Row, method: str, seeds: int, data: Path) -> list[dict]:
    words = command(row, method, seeds)
    done = subprocess.run(
        [str(PROGRAM), *words], env={**os.environ, "EDGEPACE_DATA": str(data)}, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"edgepace {' '.join(words)}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)["runs"]


def spread(values: list[float]) -> str:
    mean = statistics.fmean(values)
    return f"{mean:.1f} ± {statistics.stdev(values):.1f}" if len(values) > 1 else f"{mean:.1f}"


def notes(table: str) -> str:
    """What there is to say about a table beside its figures."""
    file = ROOT / "docs" / "results" / f"{table}-notes.md"
    return file.read_text() if file.exists() else ""


def document(made: str, lines: list[str], picks: list[str]) -> str:
    example = " ".join(command(Row("cora+100%", "cora", noise="fake=1.0"), "auto", 10))
    return "\n".join([
        "# Accuracy", "",
        "```console", f"$ python3 bench/accuracy.py {made}", "```", "",
        "Test accuracy in percent at the epoch of best validation accuracy, 150 epochs, Adam 0.01; mean ± standard deviation over seeds. "
        "Noise, split and the synthetic graph follow the seed. «auto» trains the MLP, vanilla and three presets and keeps "
        "the best on validation. Each cell is one command, such as", "",
        "```console slow", f"$ edgepace {example}", "```", "", *lines, "",
        "What `auto` chose, by seeds:", "", "| graph | chosen |", "| --- | --- |", *picks, "", notes("accuracy"),
    ])


def main() -> int:
    parser = argparse.ArgumentParser(description="The accuracy table.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parser.add_argument("--only", nargs="+", help="names of rows")
    parser.add_argument("--seeds", type=int, help="seeds per row, instead of 10, 5 or 3")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "results" / "accuracy.md", help="the document")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    args = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    chosen = [row for row in rows() if not args.only or row.name in args.only]
    lines = [f"| graph | seeds | {' | '.join(args.methods)} | auto − vanilla, paired | bar |"]
    lines.append("| --- | ---: |" + " ---: |" * len(args.methods) + " ---: | --- |")
    picks, met = [], True
    for row in chosen:
        seeds = args.seeds or row.seeds
        try:
            runs = {method: train(row, method, seeds, args.data.resolve()) for method in args.methods}
        except RuntimeError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        tests = {method: [one["test"] for one in ones] for method, ones in runs.items()}
        gain, verdict = "", []
        if "auto" in tests and "vanilla" in tests:
            paired = [a - b for a, b in zip(tests["auto"], tests["vanilla"], strict=True)]
            gain = ("+" if statistics.fmean(paired) >= 0 else "") + spread(paired)
            if row.at_least is not None:
                verdict.append((f"≥ {row.at_least}", statistics.fmean(tests["auto"]) >= row.at_least))
            if row.gain is not None:
                verdict.append((f"≥ vanilla + {row.gain}", statistics.fmean(paired) >= row.gain))
            names = [one.get("chosen") or "" for one in runs["auto"]]
            picks.append(f"| {row.name} | {', '.join(f'{name} {names.count(name)}' for name in sorted(set(names)))} |")
        met &= all(ok for _, ok in verdict)
        bar = "; ".join(f"{text}: {'met' if ok else '**missed**'}" for text, ok in verdict)
        cells = [spread(tests[method]) for method in args.methods]
        lines.append(f"| {row.name} | {seeds} | {' | '.join(cells)} | {gain} | {bar} |")
        print(lines[-1], file=sys.stderr, flush=True)
        # After every row: hours of work are not lost to an interrupted run.
        made = " ".join(["DATA", "--only", *args.only] if args.only else ["DATA"])
        args.output.write_text(document(made, lines, picks))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
