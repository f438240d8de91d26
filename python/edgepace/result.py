"""What came out of a run."""

from __future__ import annotations

import html
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from edgepace import _edgepace
from edgepace.errors import SettingError, UsageError
from edgepace.graph import Graph

__all__ = ["Result"]

#: What Python knows of the labels beside what the graph file keeps.
_LABELS = "python.json"


def table(columns: dict[str, Any]) -> Any:
    """A DataFrame where pandas is installed, else the dict of arrays."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


class Result:
    """A run that is over: scores, predictions, embeddings, and what was learned about each edge.

    >>> import edgepace
    >>> graph = edgepace.Graph.load("synthetic:homophily=0.5,nodes=200,edges=800,seed=0")
    >>> result = edgepace.fit(graph, epochs=20)
    >>> sorted(result.scores["accuracy"])
    ['test', 'validation']
    >>> result.predict_proba().shape
    (200, 10)
    """

    def __init__(self) -> None:
        raise UsageError("a Result is made by edgepace.fit, edgepace.Run or Result.load")

    @classmethod
    def _of(cls, raw: _edgepace.Finished, graph: Graph | None = None, classes: np.ndarray | None = None, ids: list[Any] | None = None) -> Result:
        self = cls.__new__(cls)
        self._raw = raw
        self._record = json.loads(raw.record())
        if graph is not None:
            classes, ids = graph._classes, graph._ids
        self._graph = Graph._of(raw.graph(), classes, ids)
        self._edges: Any = None
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory(prefix="edgepace-") as folder:
            self.save(folder)
            return _unpickled, ({path.name: path.read_bytes() for path in Path(folder).iterdir()},)

    # ---- What was measured

    @property
    def record(self) -> dict[str, Any]:
        """All that was measured, and how: what the program writes as `record.json`."""
        return self._record

    @property
    def id(self) -> str:
        """The hash of all that determined the result."""
        return self._record["result"]["id"]

    @property
    def test_score(self) -> float | None:
        """The score of the test nodes in percent (log-loss in nats) at the epoch of best validation; None without test nodes."""
        return self._record["result"]["test"]

    @property
    def validation_score(self) -> float | None:
        """The best score of the validation nodes."""
        return self._record["result"]["validation"]

    @property
    def scores(self) -> dict[str, dict[str, float | None]]:
        """Every metric that fits the labels, each for validation and test."""
        return self._record["result"]["metrics"]

    @property
    def best_epoch(self) -> int:
        """The epoch of the best validation score, from 0."""
        return self._record["result"]["best_epoch"]

    @property
    def epochs(self) -> int:
        """Epochs of the training that was kept."""
        return self._record["result"]["epochs"]

    @property
    def kept(self) -> str:
        """Which part of the run was kept: the ``method``, or the ``warm start``, which is plain training."""
        return self._record["result"]["kept"]

    @property
    def plain_ground(self) -> str | None:
        """The ground of the plain training that the method was compared with, where it is not the run's own."""
        return self._record["result"].get("plain_ground")

    @property
    def experts(self) -> list[dict[str, Any]]:
        """Where experts answer together, as in method ``auto``: the name of each (`expert`), how much it counts (`weight`), and what it scores by itself."""
        return self._record["result"].get("pool", [])

    @property
    def config(self) -> dict[str, Any]:
        """All settings."""
        return self._record["config"]

    @property
    def warnings(self) -> list[str]:
        """What one should know about the run."""
        return [warning.get("message", str(warning)) if isinstance(warning, dict) else str(warning) for warning in self._record["result"]["warnings"]]

    @property
    def history(self) -> Any:
        """Loss, validation score and number of edges of each epoch that was kept: a DataFrame, or a dict of arrays without pandas.

        Of experts that answer together it is the training of the one that counts most, and there is no number of edges.
        """
        curve = self._record["history"]
        epochs = len(curve["loss"])
        columns: dict[str, Any] = {"epoch": np.arange(epochs)}
        for name, values in curve.items():
            if isinstance(values, list) and len(values) == epochs:
                columns[name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        edges = np.zeros(epochs, dtype=np.int64)
        for epoch, count in self._record["result"]["edges_history"]:
            edges[epoch:] = count
        if self.kept == "method" and not self.experts:
            columns["edges"] = edges
        return table(columns)

    # ---- What it says of nodes

    @property
    def graph(self) -> Graph:
        """The graph that it was trained on, with its noise."""
        return self._graph

    @property
    def classes(self) -> np.ndarray:
        """The classes, in the order of the columns of :meth:`predict_proba`."""
        return self._graph.classes

    @property
    def split(self) -> dict[str, np.ndarray]:
        """The nodes of train, validation and test."""
        found = self._raw.split()
        if found is None:
            return {}
        _, train, validation, test = found
        return {"train": train, "validation": validation, "test": test}

    @property
    def logits(self) -> np.ndarray:
        """What the model says of each node and class, before the softmax."""
        return self._raw.logits()

    @property
    def embeddings(self) -> np.ndarray | None:
        """The output of the last convolution for each node; None where no single network answers, as in method ``auto`` or ``belief``.

        Where a window of epochs answers, they are those of its last epoch.
        """
        return self._raw.embeddings()

    def predict(self, graph: Graph | None = None) -> np.ndarray:
        """The predicted class of every node, as labels name it; of another graph with the same features, if one is given.

        Where nodes have many labels, a matrix of zeros and ones. Methods ``belief`` and ``label-propagation`` answer for their own graph alone.
        """
        logits = self._raw.logits() if graph is None else self._raw.logits(graph._raw)
        if self._graph.has_many_labels:
            return (logits > 0).astype(np.uint8)
        return self.classes[np.argmax(logits, axis=1)]

    def predict_proba(self, graph: Graph | None = None, *, calibrated: bool = True) -> np.ndarray:
        """The probability of each class for every node; calibrated on the validation nodes, unless told otherwise."""
        logits = self._raw.logits() if graph is None else self._raw.logits(graph._raw)
        return self._raw.probabilities(logits, bool(calibrated))

    # ---- What it says of edges

    @property
    def edges(self) -> Any:
        """What is known of each edge, an undirected one once, the most suspicious first: a DataFrame, or a dict of arrays without pandas.

        Columns: `source` and `target` (names where nodes have them), `suspicion` (the share of other edges that are better supported),
        `difficulty` (0 easy, 1 hard), `first_epoch` (from which on it was trained on; -1: never), `weight` at the end, the predicted classes of
        both ends, `feature_similarity`, `jaccard`, and `fake` where noise was added.
        """
        columns = dict(self._edge_columns())
        for end in ("source", "target"):
            columns[end] = self._named(columns[end])
            if f"{end}_class" in columns:
                columns[f"{end}_class"] = self.classes[columns[f"{end}_class"]]
        for hidden in ("edge", "auc", "disagreement", "features", "neighbourhood"):
            columns.pop(hidden, None)
        return table(columns)

    def _edge_columns(self) -> dict[str, Any]:
        if self._edges is None:
            self._edges = self._raw.edges()
        return self._edges

    def _named(self, nodes: np.ndarray) -> np.ndarray:
        names = self._graph.node_names
        return nodes if names is None else np.array(names, dtype=object)[nodes]

    # ---- Files

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the result into a folder: graph, model, edges and record, as the program does."""
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise SettingError(f"`folder` is `{path}`, which is a file, expected a folder")
        self._raw.save(os.fspath(path))
        classes, ids = self._graph._classes, self._graph._ids
        known = {"classes": classes.tolist(), "kind": classes.dtype.kind}
        if ids is not None and all(isinstance(id, int) for id in ids):
            known["ids"] = ids
        (path / _LABELS).write_text(json.dumps(known))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Result:
        """Reads what :meth:`save` wrote; it predicts the same, to the bit (``pro-gnn`` to rounding: its matrix is saved as edges)."""
        raw = _edgepace.Finished.load(os.fspath(folder))
        path = Path(folder) / _LABELS
        if not path.is_file():
            return cls._of(raw)
        known = json.loads(path.read_text())
        return cls._of(raw, classes=np.array(known["classes"]), ids=known.get("ids"))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes one page that works offline: curves, calibration, the graph and its edges."""
        path = Path(path)
        if path.suffix not in (".html", ".htm"):
            raise SettingError(f"`path` is `{path}`, expected a name that ends in `.html`")
        path.write_text(self._raw.page("edgepace.fit"), encoding="utf-8")

    # ---- How it is shown

    def __repr__(self) -> str:
        def score(value: float | None) -> str:
            return "none" if value is None else f"{value:.2f}"

        config = self.config
        metric = self._record["result"]["metric"]
        return (
            f"Result({config['method']} on {config['backbone']}, {metric}: test {score(self.test_score)}, "
            f"validation {score(self.validation_score)} at epoch {self.best_epoch}, kept: {self.kept})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td>" + "".join(f"<td>{'' if parts[part] is None else format(parts[part], '.2f')}</td>" for part in ("validation", "test")) + "</tr>"
            for name, parts in self.scores.items()
        )
        curve = self._record["history"]
        charts = _line("loss", curve["loss"]) + _line("validation", curve.get("validation") or [])
        charts += _line("edges", [count for _, count in self._record["result"]["edges_history"]])
        experts = "".join(f"<li>{html.escape(expert['expert'])} counts {expert['weight']:.2f}</li>" for expert in self.experts)
        notes = experts + "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return (
            f"<div><b>{html.escape(repr(self))}</b><table><tr><th></th><th>validation</th><th>test</th></tr>{rows}</table>"
            f"{charts}{f'<ul>{notes}</ul>' if notes else ''}</div>"
        )


def _unpickled(files: dict[str, bytes]) -> Result:
    # The graph may still be mapped: where that keeps its file, it stays.
    with tempfile.TemporaryDirectory(prefix="edgepace-", ignore_cleanup_errors=True) as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        return Result.load(folder)


def _line(name: str, values: list[float | None]) -> str:
    """A small chart of a curve."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    width, height, reach = 220, 70, (high - low) or 1.0
    points = " ".join(f"{place * width / (len(known) - 1):.1f},{height - (value - low) / reach * height:.1f}" for place, value in enumerate(known))
    return (
        f"<figure style='display:inline-block;margin:8px'><svg width='{width}' height='{height}' viewBox='-2 -2 {width + 4} {height + 4}' role='img' aria-label='{name}'>"
        f"<polyline points='{points}' fill='none' stroke='currentColor'/></svg><figcaption>{name}: {known[0]:.4g} … {known[-1]:.4g}</figcaption></figure>"
    )
