"""What a checkpoint of an arxiv-sized run costs, and how long it takes to go on from one.

    cargo build --release -p edgepace-cli
    python3 bench/checkpoint.py

Runs that are saved after each epoch and runs that are never saved take turns; the difference by epoch is the cost of a checkpoint.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target" / "release" / "edgepace"
# As many nodes, edges, classes and features as ogbn-arxiv has.
ARXIV = "blocks:nodes=169343,edges=1166243,classes=40,features=128,homophily=0.65,seed=0"
EPOCHS, ROUNDS, DEFAULT_INTERVAL = 15, 3, 30.0
# Plain training on two grounds, the network without edges that the curriculum starts from, and its own.
TRAININGS = 4


def run(*words: str) -> float:
    begin = time.monotonic()
    subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def resumed(folder: Path) -> float:
    """Seconds from the start of the program to its first epoch, less the time that an epoch takes."""
    history = folder / "seed-0" / "history.jsonl"
    begin, moments = time.monotonic(), []
    program = subprocess.Popen([PROGRAM, "train", "--resume", folder], stdout=subprocess.DEVNULL)
    size = history.stat().st_size
    while len(moments) < 2 and program.poll() is None:
        if history.stat().st_size > size:
            size = history.stat().st_size
            moments.append(time.monotonic() - begin)
        time.sleep(0.002)
    program.wait()
    return moments[0] - (moments[1] - moments[0])


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        run("data", "save", ARXIV, "-o", "arxiv.graph")
        train = ("train", "arxiv.graph", "--epochs", str(EPOCHS), "--overwrite", "--out")
        saved, plain, back = [], [], []
        for _ in range(ROUNDS):
            saved.append(run(*train, "saved", "--checkpoint", "0"))
            plain.append(run(*train, "plain", "--checkpoint", "1h"))
            # Stopped near the end, where the curriculum is in the checkpoint too.
            run(*train, "part", "--time-limit", str(0.7 * plain[-1]))
            bytes_ = Path("part/seed-0/checkpoint.safetensors").stat().st_size
            back.append(resumed(Path("part")))
        same = Path("part/seed-0/model.safetensors").read_bytes() == Path("plain/seed-0/model.safetensors").read_bytes()
        cost = (statistics.median(saved) - statistics.median(plain)) / (TRAININGS * EPOCHS)
        print(f"checkpoint: {bytes_ / 1e6:.0f} MB, {1000 * cost:.0f} ms, {100 * cost / DEFAULT_INTERVAL:.2f} % of the time "
              f"at the default interval of {DEFAULT_INTERVAL:.0f} s")
        print(f"going on from it: {statistics.median(back):.2f} s until the next epoch (median of {ROUNDS}), "
              f"the same model in the end: {same}")


if __name__ == "__main__":
    main()
