"""The audit of a graph's edges, as cleanlab audits labels."""

from __future__ import annotations

import html
import os
from typing import Any

import numpy as np

from edgepace._arrays import as_numpy
from edgepace._progress import Progress
from edgepace.errors import GraphError, SettingError
from edgepace.graph import Graph
from edgepace.result import Result, table
from edgepace.training import fit

__all__ = ["Audit", "audit"]


class Audit:
    """How well each edge of a graph is supported; made by :func:`audit`, or of a :class:`Result` that has edges.

    An edge is an issue when its two ends are predicted to be of different classes *and* it is among the `share` of edges with least
    support. `edge_score` is the share of other edges that are less supported: 0 is the worst edge, 1 the best. It is a rank, not a
    probability of being right.

    >>> import edgepace
    >>> graph = edgepace.Graph.load("synthetic:homophily=0.5,nodes=200,edges=800,seed=0")
    >>> audit = edgepace.audit(graph, epochs=30, noise="fake=0.5")
    >>> audit.auc > 0.5  # how often a fake edge scores below a true one
    True
    """

    def __init__(self, result: Result, *, share: float = 0.1) -> None:
        if not isinstance(result, Result):
            raise SettingError(f"`result` is a {type(result).__name__}, expected an edgepace.Result")
        if not 0 <= share <= 1:
            raise SettingError(f"`share` is {share}, expected a number from 0 to 1")
        self.result = result
        self.share = float(share)
        columns = result._edge_columns()
        self._edge: np.ndarray = columns["edge"]
        self._suspicion: np.ndarray = columns["suspicion"]
        flagged = self._suspicion >= np.float32(1 - share)
        if "source_class" in columns:
            flagged &= columns["source_class"] != columns["target_class"]
        self._flagged = flagged

    @property
    def issues(self) -> Any:
        """One row per edge (an undirected one once), the worst first: a DataFrame, or a dict of arrays without pandas.

        Columns: `source`, `target`, `is_edge_issue`, `edge_score`; what speaks against it, each as the share of other edges that are better in
        it: `agreement` (of the model about both ends), `features` (how alike they are), `neighbourhood` (how far they overlap); the predicted
        classes of both ends; and `fake` where noise was added.
        """
        columns = self.result._edge_columns()
        named = self.result._named
        out: dict[str, Any] = {
            "source": named(columns["source"]),
            "target": named(columns["target"]),
            "is_edge_issue": self._flagged,
            "edge_score": 1 - columns["suspicion"],
            "agreement": columns["disagreement"],
            "features": columns["features"],
            "neighbourhood": columns["neighbourhood"],
        }
        for end in ("source_class", "target_class"):
            if end in columns:
                out[end] = self.result.classes[columns[end]]
        if "fake" in columns:
            out["fake"] = columns["fake"]
        return table(out)

    @property
    def num_issues(self) -> int:
        """How many edges are issues."""
        return int(self._flagged.sum())

    @property
    def auc(self) -> float | None:
        """The probability that a fake edge is less supported than a true one, where noise was added."""
        return self.result._edge_columns().get("auc")

    @property
    def summary(self) -> dict[str, Any]:
        """In short: edges, issues and their share, the mean score of each, and the pair of classes that issues join most often."""
        score = 1 - self._suspicion
        out: dict[str, Any] = {
            "edges": len(score),
            "issues": self.num_issues,
            "share": self.num_issues / max(len(score), 1),
            "mean_score": float(score.mean()) if len(score) else None,
            "mean_score_of_issues": float(score[self._flagged].mean()) if self.num_issues else None,
        }
        columns = self.result._edge_columns()
        if self.num_issues and "source_class" in columns:
            ends = np.sort(np.stack([columns["source_class"], columns["target_class"]])[:, self._flagged], axis=0)
            pairs, counts = np.unique(ends, axis=1, return_counts=True)
            most = pairs[:, np.argmax(counts)]
            out["most_often_between"] = tuple(self.result.classes[most].tolist())
        if self.auc is not None:
            out["auc"] = self.auc
        return out

    def clean(self, graph: Graph | None = None, *, weight: float = 0.0) -> Graph:
        """The graph without its issues, or with `weight` times what they weighed. `graph` is the one that was audited, by default with its noise."""
        if not (np.isfinite(weight) and 0 <= weight <= 1):
            raise SettingError(f"`weight` is {weight}, expected a number from 0 to 1")
        own = self.result.graph
        graph = own if graph is None else graph
        if not np.array_equal(graph.edge_index, own.edge_index):
            raise GraphError("`graph` has other edges than the one that was audited: pass that one")
        weights = np.ones(graph.num_edges, dtype=np.float32)
        columns = self.result._edge_columns()
        weights[self._edge[self._flagged]] = weight
        if graph.is_undirected:
            # Edges are sorted by target, then by source: where the other direction of each is.
            index = graph.edge_index
            sources, targets = columns["source"][self._flagged], columns["target"][self._flagged]
            weights[np.searchsorted(index[1] * graph.num_nodes + index[0], sources * graph.num_nodes + targets)] = weight
        return Graph._of(graph._raw.reweighted(weights), graph._classes, graph._ids)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes one page that works offline, with the graph, its most suspicious edges, and why."""
        self.result.report(path)

    def __repr__(self) -> str:
        return f"Audit({len(self._suspicion):,} edges, {self.num_issues:,} issues)"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(str(key))}</td><td>{html.escape(str(value))}</td></tr>" for key, value in self.summary.items())
        return f"<div><b>{html.escape(repr(self))}</b><table>{rows}</table></div>"


def audit(
    graph: Graph,
    y: Any = None,
    *,
    share: float = 0.1,
    method: str = "rcl",
    backbone: str = "gcn",
    seed: int = 0,
    progress: bool | Progress | None = None,
    **settings: Any,
) -> Audit:
    """Trains on a graph and ranks its edges from well supported to suspicious.

    Args:
        graph: What to audit.
        y: Labels, in place of the graph's own; -1 is unknown.
        share: At most so many of all edges are issues.
        method: One that orders edges.
        backbone, seed, progress, settings: As for :func:`edgepace.fit`.
    """
    if not isinstance(graph, Graph):
        raise SettingError(f"`graph` is a {type(graph).__name__}, expected an edgepace.Graph, as Graph.from_pyg(data) makes")
    if y is not None:
        graph = _relabelled(graph, y)
    return Audit(fit(graph, method, backbone, seed=seed, progress=progress, **settings), share=share)


def _relabelled(graph: Graph, y: Any) -> Graph:
    sparse = graph._raw.sparse_features()
    x: Any = graph.x
    if sparse is not None:
        x = _Rows(*sparse, (graph.num_nodes, graph.num_features))
    return Graph(
        graph.edge_index,
        graph.num_nodes,
        x if graph.num_features else None,
        as_numpy(y, "y"),
        edge_weight=graph.edge_weight,
        node_names=graph.node_names,
        feature_names=graph.feature_names,
        name=graph.name,
    )


class _Rows:
    """Compressed rows as SciPy has them, where there is no SciPy."""

    has_sorted_indices = has_canonical_format = True

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, shape: tuple[int, int]) -> None:
        self.indptr, self.indices, self.data, self.shape = indptr, indices, data, shape

    def tocsr(self) -> _Rows:
        return self
