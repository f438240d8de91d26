"""Sweeps on Ray: the local sweep's store, whatever happens to a machine of the cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_program import program
from test_sweep import PLAN, TEXT, contents

import edgepace

ray = pytest.importorskip("ray")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that does no runs."""
    from ray.cluster_utils import Cluster

    # A machine that does not answer three times in a row, a second apart, is lost.
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 3}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": soon})
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def in_the_background(call: Any) -> tuple[threading.Thread, list[Any]]:
    out: list[Any] = []
    thread = threading.Thread(target=lambda: out.append(call()))
    thread.start()
    return thread, out


def test_two_hundred_runs_with_a_machine_lost_make_the_local_store(cluster: Any, tmp_path: Path) -> None:
    plan = {**PLAN, "seeds": "0..50", "noise": ["", "fake=0.5"]}
    edgepace.sweep(plan, tmp_path / "local.sqlite", progress=False)
    _, second = cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)
    told: list[int] = []
    store = tmp_path / "ray.sqlite"
    thread, out = in_the_background(lambda: edgepace.sweep(plan, store, engine="ray", progress=lambda done, total: told.append(done)))
    while thread.is_alive() and (not told or told[-1] < 60):
        time.sleep(0.01)
    assert thread.is_alive() and told[-1] < 190, "it is in the middle"
    cluster.remove_node(second, allow_graceful=False)
    thread.join()
    assert list(out[0]["ended"]) == ["done"] * 200
    assert told[-1] == 200
    assert contents(str(store)) == contents(str(tmp_path / "local.sqlite"))
    again = edgepace.sweep(plan, store, engine="ray", progress=False)
    assert list(again["ended"]) == ["before"] * 200


def test_a_run_whose_machine_is_lost_goes_on_from_its_checkpoint(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Seconds, also on a fast machine: a checkpoint is written five times in one.
    epochs, large = 4000, "synthetic:homophily=0.5,nodes=2000,edges=10000"
    plan = {**PLAN, "seeds": "0..1", "run": {"epochs": epochs}, "graphs": [{"dataset": large}], "methods": PLAN["methods"][:1]}
    monkeypatch.setattr("edgepace.sweeping.CHECKPOINT", 0.2)
    graph = edgepace.Graph.load(f"{large},seed=0")
    first = cluster.add_node(num_cpus=1)
    thread, out = in_the_background(lambda: edgepace.sweep(plan, tmp_path / "ray.sqlite", engine="ray", progress=False))

    def epochs_saved() -> int:
        for path in (tmp_path / "ray.sqlite.d").glob("*/checkpoint*"):
            try:
                return edgepace.Run(graph, method="vanilla", epochs=epochs, resume=path).progress[0]
            except edgepace.EdgepaceError:
                return 0  # it is being replaced
        return 0

    while thread.is_alive() and epochs_saved() < 10:
        time.sleep(0.02)
    cluster.remove_node(first, allow_graceful=False)
    before = epochs_saved()
    assert 10 <= before < epochs
    cluster.add_node(num_cpus=1)
    after = [saved for saved in iter(lambda: epochs_saved() if thread.is_alive() else -1, -1) if saved]
    thread.join()
    assert min(after, default=before) >= before, "it did not begin anew"
    assert list(out[0]["ended"]) == ["done"]
    assert out[0]["test"][0] == edgepace.fit(graph, "vanilla", epochs=epochs, progress=False).test_score


def test_threads_are_what_a_task_takes_of_a_machine(cluster: Any, tmp_path: Path) -> None:
    cluster.add_node(num_cpus=2)
    waiting = in_the_background(lambda: edgepace.sweep(PLAN, tmp_path / "ray.sqlite", engine="ray", threads=3, progress=False))
    time.sleep(2)
    assert waiting[0].is_alive(), "no machine has three"
    cluster.add_node(num_cpus=3)
    waiting[0].join()
    assert list(waiting[1][0]["ended"]) == ["done"] * 4


def test_the_program_of_the_package_sweeps_on_ray(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(TEXT)
    said = program("sweep", "plan.toml", "--engine", "ray", "--json", "-q", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert '"done":4' in said.stdout
    again = program("sweep", "plan.toml", "--engine", "ray", "--json", "-q", cwd=tmp_path)
    assert '"before":4' in again.stdout
    refused = program("sweep", "plan.toml", "--engine", "ray", "--keep", "models", cwd=tmp_path)
    assert refused.returncode == 2 and "--keep" in refused.stderr
