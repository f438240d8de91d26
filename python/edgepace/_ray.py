"""Sweeps on Ray: one task per run, records streamed back to the one store."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any

from edgepace import _edgepace
from edgepace._arrays import imported
from edgepace._progress import Progress
from edgepace.errors import EdgepaceError
from edgepace.graph import Graph

#: How often a task is tried again whose worker or machine was lost.
RETRIES = 3
#: Seconds until it is looked again whether anything came back; Ctrl-C is heard in between.
LOOKED_EVERY = 0.2


def _run(asked: dict[str, Any], store: str, run: tuple[int, int], graph: Graph, threads: int, checkpoint: float) -> tuple[str | None, str | None]:
    """What a worker does: one run, as a line for the store, or why there is none."""
    with contextlib.ExitStack() as until_the_end:
        try:
            os.makedirs(f"{store}.d", exist_ok=True)
        except OSError:
            # The machine does not have the folder of the store: what is lost here begins anew elsewhere.
            store = os.path.join(until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="edgepace-")), "store")
        try:
            return _edgepace.one_run(asked, store, run, graph._raw, threads, checkpoint), None
        except EdgepaceError as error:
            return None, str(error)


def sweep(asked: dict[str, Any], store: str, *, threads: int, checkpoint: float, address: str | None, tell: Progress | None) -> list[dict[str, Any]]:
    """Does all runs of a plan that are not in the store on a cluster; the rows say what became of each."""
    ray = imported("ray", 'engine="ray"')
    store = os.path.abspath(store)
    rows = json.loads(_edgepace.outlook(asked, store))
    own = not ray.is_initialized()
    if own:
        # A new cluster unless one is named: what another program left running is not ours.
        ray.init(address=address or "local", log_to_driver=False, **({} if address else {"include_dashboard": False}))
    try:
        _submit_and_keep(ray, rows, asked, store, threads, checkpoint, tell)
    finally:
        if own:
            ray.shutdown()
    return rows


def _submit_and_keep(ray: Any, rows: list[dict[str, Any]], asked: dict[str, Any], store: str, threads: int, checkpoint: float, tell: Progress | None) -> None:
    # Two cells may ask for the same run: it is done once.
    by_id: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["ended"] == "left":
            by_id.setdefault(row["id"], []).append(row)
    task = ray.remote(_run).options(num_cpus=threads, max_retries=RETRIES)
    graphs: dict[str, Any] = {}
    pending: dict[Any, list[dict[str, Any]]] = {}
    everywhere = ray.put(asked)
    for same in by_id.values():
        name = same[0]["data"]
        if name not in graphs:
            # Once; Ray brings it once to each machine that needs it.
            graphs[name] = ray.put(Graph.load(name, data=asked["folder"], offline=asked["offline"]))
        reference = task.remote(everywhere, store, (same[0]["cell"], same[0]["seed"]), graphs[name], threads, checkpoint)
        pending[reference] = same
    done = len(rows) - sum(map(len, pending.values()))
    try:
        while pending:
            if tell is not None:
                tell(done, len(rows))
            ready, _ = ray.wait(list(pending), num_returns=len(pending), timeout=LOOKED_EVERY)
            for reference in ready:
                same = pending.pop(reference)
                done += len(same)
                _keep(ray, reference, same, store)
        if tell is not None:
            tell(done, len(rows))
    except BaseException:
        for reference in pending:
            ray.cancel(reference, force=True)
        raise


def _keep(ray: Any, reference: Any, same: list[dict[str, Any]], store: str) -> None:
    """Keeps what came back of a run, and writes it into its rows."""
    try:
        line, reason = ray.get(reference)
    except ray.exceptions.RayError as error:
        line, reason = None, f"Ray lost it: {error}".strip()
    if line is None:
        for row in same:
            row["ended"], row["error"] = ("failed", reason) if reason else ("left", None)
        return
    _edgepace.keep(store, line, json.dumps([row["label"] for row in same]))
    run = json.loads(line)["run"]
    for number, row in enumerate(same):
        row["ended"] = "failed" if run["error"] is not None else "done" if number == 0 else "before"
        for name in ("error", "test", "validation", "seconds"):
            row[name] = run[name]
