#!/usr/bin/env python3
"""Time a whole table: `plans/throughput.toml` as one sweep on two cores, beside a sample of it with PyTorch Geometric.

    python3 bench/throughput.py
    python3 bench/throughput.py --sample 0.3:0 0.7:1 --json throughput.json

The sample is taken in the same run, half of it before the sweep and half after. `pyg_rcl.py` trains plainly and then with the curriculum,
which begins with that plain training, so that its two runs share it as ours do. The way through the grid that is faster counts: one run
with two threads, or two runs at once with one thread each. Starting Python and loading data are left out of its time, and are part of ours.
Exit code 0: every bar met; 1: a bar missed; 2: it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("EDGEPACE", ROOT / "target" / "release" / "edgepace"))
VENV = ROOT / "bench" / ".venv" / "bin" / "python"
PYTHON = VENV if VENV.exists() else Path(sys.executable)
PLAN = ROOT / "plans" / "throughput.toml"
CORES = 2
# At least so many times as fast as PyTorch Geometric; at most this share of the time for scheduling and storing.
RATIO, OVERHEAD = 25.0, 0.02


def processor_seconds() -> float:
    """Of all that was started and is over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sweep(folder: Path, seeds: str | None) -> dict:
    words = [str(PROGRAM), "--json", "sweep", str(PLAN), "--store", str(folder / "runs.sqlite"), "--jobs", str(CORES)]
    words += ["--seeds", seeds] if seeds else []
    before = processor_seconds()
    done = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    done["processor"] = processor_seconds() - before
    if done["done"] != done["runs"]:
        raise RuntimeError(f"{done['done']} of {done['runs']} runs were done")
    words = [str(PROGRAM), "--json", "runs", "list", "--store", str(folder / "runs.sqlite")]
    done["rows"] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return done


def export(homophily: str, seed: str, folder: Path) -> Path:
    out = folder / f"{homophily}-{seed}"
    name = f"synthetic:homophily={homophily},seed={seed}"
    subprocess.run([str(PROGRAM), "data", "export", name, "--out", str(out), "--format", "npz"], check=True, capture_output=True)
    return out


def pyg(exported: Path, threads: int, at_once: int) -> list[dict]:
    """So many processes at once, each with plain training and the curriculum on one graph."""
    words = [str(PYTHON), str(ROOT / "bench" / "pyg_rcl.py"), str(exported), "--threads", str(threads)]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(at_once)]
    found = []
    for process in started:
        out, error = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {error.strip()[-400:]}")
        found.append(json.loads(out))
    return found


def sampled(graphs: list[str], folder: Path) -> list[dict]:
    rows = []
    for graph in graphs:
        homophily, _, seed = graph.partition(":")
        exported = export(homophily, seed or "0", folder)
        # Seconds of the grid that a pair of runs takes: at once they share the time.
        alone, together = pyg(exported, CORES, 1), pyg(exported, 1, CORES)
        seconds = lambda ones: max(one["seconds"] + one["warm_start_seconds"] for one in ones)
        processor = sum(one["processor_seconds"] for one in together) / CORES
        rows.append({"graph": graph, "two threads": seconds(alone), "two at once": seconds(together) / CORES, "processor": processor})
        print(f"PyTorch Geometric on {graph}: {rows[-1]}", file=sys.stderr, flush=True)
    return rows


def measure(sample: list[str], seeds: str | None) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half = len(sample) // 2
        rows = sampled(sample[:half], folder)
        ours = sweep(folder, seeds)
        rows += sampled(sample[half:], folder)
    way = min(("two threads", "two at once"), key=lambda way: sum(row[way] for row in rows))
    # The sample has both methods on a graph and a seed: two runs.
    grid = lambda of: ours["runs"] / 2 * sum(row[of] for row in rows) / len(rows)
    theirs, processor = grid(way), grid("processor")
    workers = CORES * ours["seconds"]
    spent = ours["spent"]
    return {
        "runs": ours["runs"],
        "seconds": ours["seconds"],
        "runs per second": ours["runs"] / ours["seconds"],
        "processor": ours["processor"],
        "training": sum(row["seconds"] for row in ours["rows"]),
        "spent": spent,
        "overhead": (workers - spent["runs"] - spent["data"]) / workers,
        "data": spent["data"] / workers,
        "pyg": {"rows": rows, "way": way, "seconds": theirs, "processor": processor},
        "ratio": theirs / ours["seconds"],
        # What other programs on the machine do not change; theirs with one thread, where none waits for another.
        "processor ratio": processor / ours["processor"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="How fast a table is made.")
    parser.add_argument("--sample", nargs="+", default=["0.1:0", "0.5:1", "0.9:2", "0.4:3"], metavar="HOMOPHILY:SEED",
                        help="graphs of the table that PyTorch Geometric trains on")
    parser.add_argument("--seeds", help="of the sweep, for a first look, as 0..2 [default: those of the plan]")
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        print("error: no target/release/edgepace: run `cargo build --release`", file=sys.stderr)
        return 2
    try:
        found = measure(arguments.sample, arguments.seeds)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{found['runs']} runs in {found['seconds']:.1f} s, {found['runs per second']:.1f} per second on {CORES} cores")
    print(f"PyTorch Geometric, {found['pyg']['way']}: {found['pyg']['seconds']:.0f} s for the same grid")
    met = [found["ratio"] >= RATIO, found["overhead"] <= OVERHEAD]
    verdict = ["met" if ok else "missed" for ok in met]
    print(f"ratio {found['ratio']:.1f}, at least {RATIO:g}: {verdict[0]}")
    print(f"ratio of processor time {found['processor ratio']:.1f} ({found['processor']:.1f} s and {found['pyg']['processor']:.0f} s)")
    print(f"scheduling and storing {100 * found['overhead']:.2f} %, at most {100 * OVERHEAD:g} %: {verdict[1]}; data {100 * found['data']:.2f} %")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
