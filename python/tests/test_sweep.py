"""Experiments on the program's store."""

from __future__ import annotations

import numpy as np
import pytest
from test_program import program

import edgepace

GRAPH = "synthetic:homophily=0.5,nodes=100,edges=400"
PLAN = {
    "seeds": "0..2",
    "run": {"epochs": 5},
    "graphs": [{"name": "small", "dataset": GRAPH}],
    "methods": [{"name": "plain", "method": "vanilla"}, {"name": "RCL", "method": "rcl", "settings": {"keep": "method"}}],
}
TEXT = f"""
seeds = "0..2"
[run]
epochs = 5
[[graphs]]
name = "small"
dataset = "{GRAPH}"
[[methods]]
name = "plain"
method = "vanilla"
[[methods]]
name = "RCL"
method = "rcl"
settings = {{ keep = "method" }}
"""


def test_a_sweep_is_kept_and_not_done_again(tmp_path: object) -> None:
    store = f"{tmp_path}/runs.sqlite"
    told: list[tuple[int, int]] = []
    first = edgepace.sweep(PLAN, store, progress=lambda done, total: told.append((done, total)))
    assert list(first["ended"]) == ["done"] * 4
    assert told[-1] == (4, 4)
    again = edgepace.sweep(PLAN, store, progress=False)
    assert list(again["ended"]) == ["before"] * 4
    assert list(again["test"]) == list(first["test"])
    assert sorted(edgepace.runs(store)["id"]) == sorted(first["id"])


def test_the_program_finds_the_same_runs(tmp_path: object) -> None:
    store, plan = f"{tmp_path}/runs.sqlite", f"{tmp_path}/plan.toml"
    with open(plan, "w") as file:
        file.write(TEXT)
    ours = edgepace.sweep(plan, store, jobs=2, progress=False)
    said = program("sweep", plan, "--store", store, "--json", "-q")
    assert said.returncode == 0, said.stderr
    assert '"before":4' in said.stdout.replace(" ", "")
    assert len(np.unique(list(ours["id"]))) == 4


def test_a_plan_that_says_nothing_is_refused(tmp_path: object) -> None:
    with pytest.raises(edgepace.SettingError, match="no_such"):
        edgepace.sweep({**PLAN, "no_such": 1}, f"{tmp_path}/runs.sqlite")
    with pytest.raises(edgepace.FileError, match="cannot read"):
        edgepace.sweep(f"{tmp_path}/none.toml", f"{tmp_path}/runs.sqlite")
    with pytest.raises(edgepace.SettingError, match="jobs"):
        edgepace.sweep(PLAN, f"{tmp_path}/runs.sqlite", jobs=0)
    with pytest.raises(edgepace.EdgepaceError):
        edgepace.runs(f"{tmp_path}/none.sqlite")
