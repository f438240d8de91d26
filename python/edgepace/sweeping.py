"""Experiments with many runs, on the store that the program uses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from edgepace import _edgepace
from edgepace._progress import Progress, progress as shown
from edgepace.errors import FileError, SettingError
from edgepace.result import table

__all__ = ["runs", "sweep"]


def sweep(
    plan: str | os.PathLike[str] | dict[str, Any],
    store: str | os.PathLike[str] = "edgepace.sqlite",
    *,
    jobs: int = 1,
    threads: int | None = None,
    seeds: str | None = None,
    data: str | os.PathLike[str] | None = None,
    offline: bool = False,
    retry: bool = False,
    progress: bool | Progress | None = None,
) -> Any:
    """Does all runs of an experiment that are not in the store yet, as `edgepace sweep` does.

    Args:
        plan: A file, or its content as a dict; `edgepace sweep --options` lists all that it can say.
        store: The file that keeps the runs.
        jobs: Runs at the same time.
        threads: Threads of each run.
        seeds: Seeds in place of the plan's, as ``"0..5"``.
        data: The folder of datasets.
        offline: Never use the network.
        retry: Whether runs that failed are tried again.
        progress: As for :func:`edgepace.fit`, in runs.

    Returns:
        One row per run: what it is of, how it `ended` (done, before, failed, no data, left), and its scores.

    Ctrl-C saves what runs and leaves it; the same call goes on from there.
    """
    if isinstance(plan, dict):
        path, text = Path("plan.toml"), _toml(plan)
    else:
        path = Path(plan)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}") from error
    if jobs < 1:
        raise SettingError(f"`jobs` is {jobs}, expected a whole number from 1 on")
    folder = None if data is None else os.fspath(data)
    with shown(progress, "runs") as tell:
        out = _edgepace.sweep(os.fspath(path), text, os.fspath(store), jobs, threads, seeds, folder, offline, retry, tell)
    return _rows(json.loads(out))


def runs(store: str | os.PathLike[str] = "edgepace.sqlite") -> Any:
    """All runs of a store, one row each."""
    return _rows(json.loads(_edgepace.records(os.fspath(store))))


def _rows(rows: list[dict[str, Any]]) -> Any:
    names = list(rows[0]) if rows else []
    return table({name: [row[name] for row in rows] for name in names})


def _toml(value: dict[str, Any]) -> str:
    """A plan as TOML: JSON is nearly that."""

    def inline(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(str(key))} = {inline(item)}" for key, item in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(inline(item) for item in value) + "]"
        if isinstance(value, (bool, int, float, str)):
            return json.dumps(value)
        raise SettingError(f"the plan has a {type(value).__name__}, expected numbers, strings, lists and dicts")

    return "\n".join(f"{json.dumps(str(key))} = {inline(item)}" for key, item in value.items())
