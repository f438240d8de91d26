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

#: Seconds between two checkpoints of a run, as in the program.
CHECKPOINT = 30.0


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
    engine: str = "local",
    address: str | None = None,
    progress: bool | Progress | None = None,
) -> Any:
    """Does all runs of an experiment that are not in the store yet, as `edgepace sweep` does.

    Args:
        plan: A file, or its content as a dict; `edgepace sweep --options` lists all that it can say.
        store: The file that keeps the runs.
        jobs: Runs at the same time; with Ray as many as the cluster has room for.
        threads: Threads of each run; with Ray 1 by default.
        seeds: Seeds in place of the plan's, as ``"0..5"``.
        data: The folder of datasets.
        offline: Never use the network for datasets.
        retry: Whether runs that failed are tried again.
        engine: ``"local"``, or ``"ray"``: each run is a task of a Ray cluster, and comes back to this one store. Datasets are read here and
            brought to each machine once. A run whose worker is lost is tried again; where machines share the folder of the store, it goes on from
            its checkpoint.
        address: Where the Ray cluster is, as ``"auto"``; by default the one that this process is connected to, or else a new one on this machine.
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
    if threads is not None and threads < 1:
        raise SettingError(f"`threads` is {threads}, expected a whole number from 1 on")
    asked = _asked(path, text, seeds, data, offline, retry)
    if engine == "ray":
        from edgepace import _ray

        with shown(progress, "runs") as tell:
            rows = _ray.sweep(asked, os.fspath(store), threads=threads or 1, checkpoint=CHECKPOINT, address=address, tell=tell)
        for row in rows:
            del row["cell"], row["data"], row["label"]
        return _rows(rows)
    if engine != "local":
        raise SettingError(f"`engine` is {engine!r}, expected 'local' or 'ray'")
    if address is not None:
        raise SettingError("`address` is that of a cluster, expected it with `engine=\"ray\"`")
    with shown(progress, "runs") as tell:
        return _rows(json.loads(_edgepace.sweep(asked, os.fspath(store), jobs, threads, tell)))


def runs(store: str | os.PathLike[str] = "edgepace.sqlite") -> Any:
    """All runs of a store, one row each."""
    return _rows(json.loads(_edgepace.records(os.fspath(store))))


def _on_ray(
    plan: str,
    text: str,
    *,
    store: str,
    seeds: str | None,
    data: str | None,
    offline: bool,
    retry: bool,
    threads: int,
    checkpoint: float,
    address: str | None,
) -> str:
    """What the program calls for `--engine ray`."""
    import signal

    from edgepace import _ray

    signal.signal(signal.SIGINT, signal.default_int_handler)
    asked = _asked(Path(plan), text, seeds, data, offline, retry)
    with shown(None, "runs") as tell:
        rows = _ray.sweep(asked, os.fspath(store), threads=threads, checkpoint=checkpoint, address=address, tell=tell)
    return json.dumps([{name: row[name] for name in ("cell", "seed", "id", "ended", "error")} for row in rows])


def _asked(path: Path, text: str, seeds: str | None, data: str | os.PathLike[str] | None, offline: bool, retry: bool) -> dict[str, Any]:
    folder = None if data is None else os.path.abspath(data)
    return {"path": os.fspath(path), "text": text, "seeds": seeds, "folder": folder, "offline": offline, "retry": retry}


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
