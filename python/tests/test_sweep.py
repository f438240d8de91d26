"""Experiments on the program's store."""

from __future__ import annotations

import json
import pickle
import sqlite3
import sys
from pathlib import Path

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


def contents(store: str) -> list[dict[str, object]]:
    """What a store holds by id, without how long it took and where."""
    def timeless(value: object) -> object:
        if isinstance(value, dict):
            return {key: timeless(item) for key, item in value.items() if "seconds" not in key and key not in ("created", "peak_bytes")}
        return [timeless(item) for item in value] if isinstance(value, list) else value

    with sqlite3.connect(store) as connection:
        connection.row_factory = sqlite3.Row
        rows = [dict(row) for row in connection.execute("SELECT * FROM runs ORDER BY id")]
        labels = [tuple(row) for row in connection.execute("SELECT * FROM labels")]
    for row in rows:
        row["record"], row["config"] = (None if row[name] is None else timeless(json.loads(row[name])) for name in ("record", "config"))
    return [*(timeless(row) for row in rows), {"labels": sorted(labels)}]


def test_runs_that_are_done_one_by_one_make_the_same_store(tmp_path: object) -> None:
    """What workers on other machines do."""
    from edgepace import _edgepace
    from edgepace.sweeping import _asked, _toml

    plan = {**PLAN, "methods": [*PLAN["methods"], {"name": "plain again", "method": "vanilla"}, {"name": "hot", "method": "vanilla", "settings": {"lr": 1e30}}]}
    edgepace.sweep(plan, f"{tmp_path}/local.sqlite", progress=False)
    store = f"{tmp_path}/parts.sqlite"
    asked = _asked(Path("plan.toml"), _toml(plan), None, None, True, False)
    rows = json.loads(_edgepace.outlook(asked, store))
    assert [row["ended"] for row in rows] == ["left"] * 8
    for row in rows:
        graph = pickle.loads(pickle.dumps(edgepace.Graph.load(row["data"])))
        line = _edgepace.one_run(asked, store, (row["cell"], row["seed"]), graph._raw, 1, 30.0)
        assert json.loads(line)["run"]["id"] == row["id"]
        _edgepace.keep(store, line, json.dumps([row["label"]]))
    assert contents(store) == contents(f"{tmp_path}/local.sqlite")
    assert [row["ended"] for row in json.loads(_edgepace.outlook(asked, store))] == ["before"] * 6 + ["failed"] * 2
    with pytest.raises(edgepace.UsageError, match="no such run"):
        _edgepace.one_run(asked, store, (0, 99), graph._raw, 1, 30.0)


def test_engines_that_are_not_there_are_named(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    store = f"{tmp_path}/runs.sqlite"
    with pytest.raises(edgepace.SettingError, match="expected 'local' or 'ray'"):
        edgepace.sweep(PLAN, store, engine="dask")
    with pytest.raises(edgepace.SettingError, match="address"):
        edgepace.sweep(PLAN, store, address="auto")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(edgepace.MissingPackageError, match="pip install ray"):
        edgepace.sweep(PLAN, store, engine="ray")
