"""Training: one call, or epoch by epoch."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from edgepace import _edgepace
from edgepace._progress import Progress, progress as shown
from edgepace.errors import SettingError, UsageError
from edgepace.graph import Graph
from edgepace.result import Result

__all__ = ["Run", "fit", "methods"]


def methods() -> dict[str, dict[str, Any]]:
    """The methods that :func:`fit` knows: what each is and is for (`group`), whether it orders edges, its backbones and its presets, the default first.

    >>> import edgepace
    >>> edgepace.methods()["rcl"]["orders_edges"]
    True
    """
    told = ("summary", "group", "orders_edges", "backbones", "presets")
    return {method["name"]: {name: method[name] for name in told} for method in json.loads(_edgepace.methods())}


def _text(key: str, value: Any) -> str:
    """A setting as the program's `--set` takes it."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return value if isinstance(value, str) else repr(value)
    raise SettingError(f"`{key}` is a {type(value).__name__}, expected a number, a string, True or False")


def _asked(
    method: str,
    backbone: str,
    preset: str | None,
    epochs: int | None,
    seed: int,
    noise: str | None,
    split: str | None,
    threads: int | None,
    settings: dict[str, Any],
) -> dict[str, Any]:
    named = {"method": method, "backbone": backbone, "preset": preset, "epochs": epochs, **settings}
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed.__index__() < 2**64:
        raise SettingError(f"`seed` is {seed!r}, expected a whole number from 0 on")
    if threads is not None and (not hasattr(threads, "__index__") or threads.__index__() < 1):
        raise SettingError(f"`threads` is {threads!r}, expected a whole number from 1 on")
    return {
        "settings": [(key, _text(key, value)) for key, value in named.items() if value is not None],
        "noise": noise,
        "split": split,
        "seed": seed.__index__(),
        "threads": None if threads is None else threads.__index__(),
    }


class Run:
    """A run that is held: step it, look at it, save it, stop it.

    Iterating trains epoch by epoch and gives what happens as dicts: an ``epoch`` with its `loss`, `validation` and number of `edges`, an
    ``update`` of the edges, or a ``candidate`` where the run chooses among several. :meth:`result` trains what is left.

    Arguments are those of :func:`fit`; `resume` is a file that :meth:`save` wrote of a run with the same arguments, and the run goes on
    from there to the same bits.

    >>> import edgepace
    >>> graph = edgepace.Graph.load("synthetic:homophily=0.5,nodes=100,edges=400,seed=0")
    >>> run = edgepace.Run(graph, epochs=5, method="vanilla")
    >>> [event["epoch"] for event in run]
    [0, 1, 2, 3, 4]
    >>> run.result().epochs
    5
    """

    def __init__(
        self,
        graph: Graph,
        *,
        method: str = "rcl",
        backbone: str = "gcn",
        preset: str | None = None,
        epochs: int | None = None,
        seed: int = 0,
        noise: str | None = None,
        split: str | None = None,
        threads: int | None = None,
        resume: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(graph, Graph):
            raise SettingError(f"`graph` is a {type(graph).__name__}, expected an edgepace.Graph, as Graph.from_pyg(data) makes")
        self._graph = graph
        asked = _asked(method, backbone, preset, epochs, seed, noise, split, threads, settings)
        self._raw = _edgepace.Run(graph._raw, asked, None if resume is None else os.fspath(resume))
        self._result: Result | None = None
        self._over = False

    @property
    def id(self) -> str:
        """The hash of all that determines the result."""
        return self._result.id if self._result is not None else self._raw.id

    @property
    def progress(self) -> tuple[int, int]:
        """Epochs that are done, those of a warm start included, and about how many are left."""
        return self._raw.progress

    def step(self) -> list[dict[str, Any]] | None:
        """Trains one more epoch. Returns what happened, or None when there is no more to do."""
        if self._over:
            return None
        text = self._raw.advance()
        if text is None:
            self._over = True
            return None
        return json.loads(text)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (events := self.step()) is not None:
            yield from events

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all that is needed to go on from here later, to the same bits."""
        self._raw.save(os.fspath(path))

    def result(self, *, progress: bool | Progress | None = None) -> Result:
        """Trains what is left, and gives the result."""
        if self._result is None:
            with shown(progress, "training") as tell:
                self._result = Result._of(self._raw.finish(tell), self._graph)
            self._over = True
        return self._result

    def stop(self) -> Result:
        """Ends the run here with the best that it has."""
        if self._result is not None:
            raise UsageError("the run is over: `result()` has what came out")
        self._result = Result._of(self._raw.stop(), self._graph)
        self._over = True
        return self._result


def fit(
    graph: Graph,
    method: str = "rcl",
    backbone: str = "gcn",
    *,
    preset: str | None = None,
    epochs: int | None = None,
    seed: int = 0,
    noise: str | None = None,
    split: str | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Any,
) -> Result:
    """Trains a graph neural network that learns which edges to trust.

    The same graph, settings and seed give the same result as `edgepace train`, to the bit, on any number of threads.

    Args:
        graph: What to train on.
        method: What decides which edges to learn from: ``rcl`` is the curriculum, ``auto`` pools it with other
            experts, ``vanilla`` is plain training; :func:`methods` lists all.
        backbone: The convolution: ``gcn``, ``gin``, ``sage``, ``pna`` or ``mlp``.
        preset: A named set of the method's settings.
        epochs: Training epochs; 150 by default.
        seed: Decides the first parameters, dropout and, where they are drawn, noise and split.
        noise: Noise to add first, as ``"fake=1.0"`` or ``"fake=0.5,delete=0.1"``.
        split: A split of the graph by name, or a rule: ``"kfold:5:0"``, ``"fraction:0.6:0.2"``, ``"per-class:20:500:1000"``, each also with
            ``:stratified``. By default the graph's own, or a fold of five of its labelled nodes.
        threads: Threads to use; by default all cores. It does not change the result.
        progress: True for a bar, False for none, or a function that is called with epochs done and in all.
        settings: Any other setting of the run (`lr`, `hidden`, `dropout`, `patience`, `metric`, `keep`, `search`, …) or of the method
            (`kernel`, `pace`, `period`, …), as `edgepace methods NAME` lists them.

    Raises:
        SettingError: A setting that is unknown or out of its range.
        GraphError: A graph without labels, or a split that does not fit it.
        DivergedError: Training that came to numbers that are not finite.

    >>> import edgepace
    >>> graph = edgepace.Graph.load("synthetic:homophily=0.5,nodes=200,edges=800,seed=0")
    >>> result = edgepace.fit(graph, epochs=20, hidden=16)
    >>> result.predict().shape
    (200,)
    """
    run = Run(
        graph,
        method=method,
        backbone=backbone,
        preset=preset,
        epochs=epochs,
        seed=seed,
        noise=noise,
        split=split,
        threads=threads,
        **settings,
    )
    return run.result(progress=progress)
