#!/usr/bin/env python3
"""Train every method on every graph of the accuracy table and write docs/results/accuracy.md.

    python3 bench/accuracy.py DATA
    python3 bench/accuracy.py DATA --only cora synthetic-0.3 --methods edgepace --again

DATA is the folder of datasets ($EDGEPACE_DATA). Runs are kept in docs/results/accuracy.json, by seed; what is kept is not run
again unless asked. Every figure is the test score at the epoch of best validation; no choice that makes it looks at a test label.
Exit code 0: every bar met; 1: a bar missed; 2: it could not run.
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
KEPT = ROOT / "docs" / "results" / "accuracy.json"

# What is compared keeps what it made itself, however good its warm start was.
METHODS = {
    "MLP": "--method mlp",
    "vanilla": "--method vanilla",
    "random order": "--method random",
    "edgepace": "--method rcl --preset edgepace --set keep=method",
    "posterior": "--method rcl --preset posterior --set keep=method",
    "official": "--method rcl --preset official --set keep=method",
    "cosine": "--method rcl --preset cosine --set keep=method",
    "paper": "--method rcl --preset paper --set keep=method",
    "auto": "--method auto",
}


@dataclass
class Row:
    """One graph of the table, with what `edgepace` or `auto` must reach."""

    name: str
    dataset: str
    seeds: int = 10
    noise: str | None = None
    backbone: str = "gcn"
    settings: str = ""
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
        Row("photo+100%, rows", "photo", 3, "fake=1.0", settings="features=rows", gain=20),
    ]
    pages = [Row("texas", "texas", gain=8), Row("wisconsin", "wisconsin", gain=17)]
    others = [
        Row("synthetic-0.3, GIN", "synthetic:homophily=0.3,law=inverse", backbone="gin", gain=7),
        Row("synthetic-0.3, SAGE", "synthetic:homophily=0.3,law=inverse", backbone="sage", gain=0),
        Row("cora, SAGE", "cora", backbone="sage", gain=0),
        Row("cora+100%, SAGE", "cora", 10, "fake=1.0", backbone="sage", gain=0),
        Row("citeseer+100%, SAGE", "citeseer", 10, "fake=1.0", backbone="sage", gain=0),
    ]
    return synthetic + clean + noisy + pages + others


def command(row: Row, method: str, seeds: int) -> list[str]:
    words = ["train", row.dataset, "--backbone", row.backbone, *METHODS[method].split()]
    words += ["--noise", row.noise] if row.noise else []
    words += ["--set", row.settings] if row.settings else []
    return [*words, "--seeds", f"0..{seeds}", "--jobs", str(os.cpu_count()), "--json"]


def train(words: list[str], data: Path) -> list[dict]:
    """The runs of one `edgepace train … --json`: what a table needs of each."""
    environment = {**os.environ, "EDGEPACE_DATA": str(data.resolve())}
    done = subprocess.run([str(PROGRAM), *words], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"edgepace {' '.join(words)}: {done.stderr.strip()[-400:]}")
    return [{key: run.get(key) for key in ("seed", "test", "validation", "chosen")} for run in json.loads(done.stdout)["runs"]]


def spread(values: list[float]) -> str:
    mean = statistics.fmean(values)
    return f"{mean:.1f} ± {statistics.stdev(values):.1f}" if len(values) > 1 else f"{mean:.1f}"


def kept_runs(file: Path) -> dict:
    """What earlier runs of a table left behind."""
    try:
        return json.loads(file.read_text()) if file.exists() else {}
    except ValueError as error:
        print(f"error: {file}: {error}: mend it, or remove it to run everything again", file=sys.stderr)
        sys.exit(2)


def keep(file: Path, kept: dict) -> None:
    """Replaces the file in one step: a run that is killed leaves it as it was."""
    fresh = file.with_suffix(".part")
    fresh.write_text(json.dumps(kept, indent=1))
    fresh.replace(file)


def notes(table: str) -> str:
    """What there is to say about a table beside its figures."""
    file = ROOT / "docs" / "results" / f"{table}-notes.md"
    return file.read_text() if file.exists() else ""


def verdicts(row: Row, tests: dict[str, list[float]]) -> list[tuple[str, bool]]:
    """Each bar of a row, and whether the better of `edgepace` and `auto` reaches it."""
    reached = {name: statistics.fmean(tests[name]) for name in ("edgepace", "auto") if name in tests}
    bars = [(f"≥ {row.at_least}", row.at_least)] if row.at_least is not None else []
    if row.gain is not None and "vanilla" in tests:
        bars.append((f"≥ vanilla + {row.gain}", statistics.fmean(tests["vanilla"]) + row.gain))
    texts = []
    for text, bar in bars if reached else []:
        by = [name for name, score in reached.items() if score >= bar]
        texts.append((f"{text}: {'met by ' + ', '.join(by) if by else '**missed**'}", bool(by)))
    return texts


def document(kept: dict) -> tuple[str, bool]:
    lines = [f"| graph | seeds | {' | '.join(METHODS)} | edgepace − vanilla | auto − vanilla | bar |"]
    lines.append("| --- | ---: |" + " ---: |" * (len(METHODS) + 2) + " --- |")
    picks, met = [], True
    for row in rows():
        runs = kept.get(row.name)
        if not runs:
            continue
        tests = {method: [one["test"] for one in ones] for method, ones in runs.items()}
        cells = [spread(tests[method]) if method in tests else "" for method in METHODS]
        for ours in ("edgepace", "auto"):
            plain = {one["seed"]: one["test"] for one in runs.get("vanilla", [])}
            paired = [one["test"] - plain[one["seed"]] for one in runs.get(ours, []) if one["seed"] in plain]
            cells.append(("+" if statistics.fmean(paired) >= 0 else "") + spread(paired) if paired else "")
        bars = verdicts(row, tests)
        met &= all(ok for _, ok in bars)
        seeds = "/".join(sorted({str(len(ones)) for ones in runs.values()}))
        lines.append(f"| {row.name} | {seeds} | {' | '.join(cells)} | {'; '.join(text for text, _ in bars)} |")
        names = [one.get("chosen") or "" for one in runs.get("auto", [])]
        picks.append(f"| {row.name} | {', '.join(f'{name} {names.count(name)}' for name in sorted(set(names)))} |")
    example = " ".join(command(Row("cora+100%", "cora", noise="fake=1.0"), "auto", 10))
    text = "\n".join([
        "# Accuracy", "",
        "```console", "$ python3 bench/accuracy.py DATA", "```", "",
        "Test accuracy in percent at the epoch of best validation accuracy, 150 epochs, Adam 0.01; mean ± standard deviation over seeds; "
        "differences are paired by seed. Noise, split and the synthetic graph follow the seed. «auto» trains the MLP, vanilla "
        "and three presets and keeps the best on validation. A bar is met where one of `edgepace` and `auto` reaches it, and says which. All runs by seed: "
        "[accuracy.json](accuracy.json). Each cell is one command, such as", "",
        "```console slow", f"$ edgepace {example}", "```", "", *lines, "",
        "What `auto` chose, by seeds:", "", "| graph | chosen |", "| --- | --- |", *picks, "", notes("accuracy"),
    ])
    return text, met


def main() -> int:
    parser = argparse.ArgumentParser(description="The accuracy table.")
    parser.add_argument("data", type=Path, help="the folder of datasets")
    parser.add_argument("--only", nargs="+", choices=[row.name for row in rows()], metavar="GRAPH", help="names of rows")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--again", action="store_true", help="do runs again that are kept")
    args = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    kept = kept_runs(KEPT)
    for row in rows():
        if args.only and row.name not in args.only:
            continue
        for method in args.methods:
            if len(kept.get(row.name, {}).get(method, [])) >= row.seeds and not args.again:
                continue
            try:
                runs = train(command(row, method, row.seeds), args.data)
            except RuntimeError as error:
                print(f"error: {error}", file=sys.stderr)
                return 2
            # After every cell: hours of work are not lost to an interrupted run.
            kept.setdefault(row.name, {})[method] = runs
            keep(KEPT, kept)
            print(f"{row.name:20} {method:14} {spread([one['test'] for one in runs])}", file=sys.stderr, flush=True)
    text, met = document(kept)
    KEPT.with_suffix(".md").write_text(text)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
