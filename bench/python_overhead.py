"""What the Python package costs: a step of the curriculum beside the same in plain PyTorch, `fit` beside the program, a `Data` that becomes a graph, and a run of a
sweep on Ray beside one of a local sweep.

Needs the package itself (`pip install .`), torch, torch_geometric and, for the last, ray. Run it on a quiet machine: `python3 bench/python_overhead.py`.
Exit code: 0 every bar met, 1 a bar missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

try:
    import numpy as np
    import torch
    from torch_geometric.data import Data

    import edgepace
except ImportError as error:
    sys.exit(f"{error}: install the package with `pip install .`, torch and torch_geometric")

PARTS = ["step", "fit", "graph", "ray"]
# ogbn-arxiv, both directions of every edge.
NODES, PAIRS, UNITS, COLUMNS = 169_343, 1_157_799, 64, 128
STEP_MS, STEP_RATIO, FIT_SHARE, GRAPH_SECONDS, RAY_MS = 60, 5, 0.02, 0.5, 50


def median(call: Callable[[], object], rounds: int) -> float:
    """Seconds of one call."""
    call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def edges() -> torch.Tensor:
    random = np.random.default_rng(0)
    ends = random.integers(0, NODES, (2, PAIRS))
    return torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1).copy())


class PlainCurriculum:
    """The step as a user of PyTorch writes it: cosine, pace, mask, times in, confidence, weights."""

    def __init__(self, index: torch.Tensor, epochs: int) -> None:
        self.index, self.epochs, self.updates = index, epochs, 0
        self.times = torch.zeros(index.shape[1])

    def step(self, embeddings: torch.Tensor, loss: torch.Tensor, train: torch.Tensor) -> torch.Tensor:
        z = torch.nn.functional.normalize(embeddings, dim=1)
        kappa = (1 + (z[self.index[0]] * z[self.index[1]]).sum(1)) / 2
        residual = (1 - kappa) ** 2
        age = 1 / max(2 / 3 * self.epochs + 1 - self.updates, 1)
        mask = residual < age
        self.updates += 1
        self.times += mask
        rho = torch.ones(NODES)
        rho[train] = torch.exp(-loss) / torch.exp(-loss).max()
        return mask * self.times / self.updates * rho[self.index[0]] * rho[self.index[1]]


def step_times(rounds: int) -> tuple[float, float]:
    index, generator = edges(), torch.Generator().manual_seed(0)
    embeddings = torch.randn(NODES, UNITS, generator=generator)
    train = torch.arange(0, NODES, 2)
    loss = torch.rand(len(train), generator=generator)
    own = edgepace.Curriculum(index, NODES, total_epochs=10_000, preset="cosine", period=1)
    plain = PlainCurriculum(index, 10_000)

    def our_step() -> object:
        own.step(embeddings, node_loss=loss, train_mask=train)
        return own.edge_weight

    return median(our_step, rounds), median(lambda: plain.step(embeddings, loss, train), rounds)


def fit_times(rounds: int) -> tuple[float, float]:
    """Wall time of a run from Python, and of the same in the program, reading and start included in both."""
    name, epochs = "synthetic:homophily=0.3,nodes=20000,edges=240000,seed=0", 60
    call = [sys.executable, "-c", "import sys; from edgepace._main import main; sys.exit(main())"]
    words = ["train", name, "--epochs", str(epochs), "--seed", "0", "--json", "-q"]
    code = f"import edgepace; print(edgepace.fit(edgepace.Graph.load({name!r}), epochs={epochs}, progress=False).test_score)"
    ours, program, scores = [], [], set()
    for _ in range(rounds):
        begin = time.perf_counter()
        said = subprocess.run([*call, *words], capture_output=True, text=True, check=True).stdout
        program.append(time.perf_counter() - begin)
        scores.add(json.loads(said)["runs"][0]["test"])
        begin = time.perf_counter()
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        ours.append(time.perf_counter() - begin)
        scores.add(float(said))
    assert len(scores) == 1, "the program and the package agree"
    return statistics.median(ours), statistics.median(program)


def graph_time(rounds: int) -> float:
    generator = torch.Generator().manual_seed(0)
    data = Data(
        x=torch.randn(NODES, COLUMNS, generator=generator),
        edge_index=edges(),
        y=torch.randint(0, 40, (NODES, 1), generator=generator),
        train_mask=torch.arange(NODES) % 2 == 0,
    )
    return median(lambda: edgepace.Graph.from_pyg(data), rounds)


def ray_times() -> tuple[float, float, int]:
    """Seconds per run that are not spent in runs, on Ray and in a local sweep, both with two workers; and how many runs there were."""
    import ray

    plan = {
        "seeds": "0..100",
        "run": {"epochs": 50},
        # Each run alone, as a task is.
        "own_warm_starts": True,
        "graphs": [{"dataset": "synthetic:homophily=0.5,nodes=500,edges=2000"}],
        "methods": [{"method": "vanilla"}, {"method": "rcl"}],
    }
    workers, out = 2, []
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    # A worker that is there; how long Ray takes to start one is not ours.
    ray.get([ray.remote(lambda: __import__("edgepace.graph")).remote() for _ in range(2 * workers)])
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("ray", "local"):
            store = os.path.join(folder, f"{engine}.sqlite")
            begin = time.perf_counter()
            edgepace.sweep(plan, store, engine=engine, jobs=workers, threads=1, progress=False)
            took = time.perf_counter() - begin
            runs = edgepace.runs(store)
            out.append((workers * took - sum(runs["seconds"])) / len(runs["seconds"]))
    ray.shutdown()
    return out[0], out[1], len(runs["seconds"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=PARTS, nargs="*", default=PARTS)
    arguments = parser.parse_args()
    missed = 0

    def show(what: str, value: str, bar: str, met: bool) -> None:
        nonlocal missed
        missed += not met
        print(f"{what:<58} {value:>16}   bar: {bar:<10} {'met' if met else 'MISSED'}", flush=True)

    if "step" in arguments.only:
        ours, plain = step_times(arguments.rounds)
        show(f"Curriculum.step, {2 * PAIRS:,} edges x {UNITS}", f"{1e3 * ours:.1f} ms", f"{STEP_MS} ms", 1e3 * ours <= STEP_MS)
        show(f"the same in plain PyTorch: {1e3 * plain:.0f} ms", f"{plain / ours:.1f} x", f"{STEP_RATIO} x", plain / ours >= STEP_RATIO)
    if "fit" in arguments.only:
        ours, program = fit_times(arguments.rounds)
        share = ours / program - 1
        show(f"fit from Python {ours:.2f} s, the program {program:.2f} s", f"{100 * share:+.1f} %", f"{100 * FIT_SHARE:.0f} %", share <= FIT_SHARE)
    if "graph" in arguments.only:
        took = graph_time(arguments.rounds)
        show("a Data of arxiv's size becomes a Graph", f"{took:.3f} s", f"{GRAPH_SECONDS} s", took <= GRAPH_SECONDS)
    if "ray" in arguments.only:
        ours, local, runs = ray_times()
        more = 1e3 * (ours - local)
        show(f"a run on Ray over one of a local sweep, {runs} runs", f"{more:+.1f} ms", f"{RAY_MS} ms", more <= RAY_MS)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
