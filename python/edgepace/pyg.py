"""Transforms of PyTorch Geometric."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgepace._arrays import imported
from edgepace.auditing import Audit, audit
from edgepace.errors import SettingError
from edgepace.graph import Graph

_transforms = imported("torch_geometric.transforms", "edgepace.pyg")

__all__ = ["AuditEdges", "CurriculumWeights"]


def _per_edge(audited: Audit, graph: Graph, values: np.ndarray, of_loop: Any) -> Any:
    """Values of undirected edges, for each edge of the input."""
    import torch

    out = np.full(graph.num_edges, of_loop, dtype=values.dtype)
    columns = audited.result._edge_columns()
    out[columns["edge"]] = values
    if graph.is_undirected:
        index = graph.edge_index
        out[np.searchsorted(index[1] * graph.num_nodes + index[0], columns["source"] * graph.num_nodes + columns["target"])] = values
    edges = graph.edge_of_input
    return torch.from_numpy(np.where(edges < 0, np.asarray(of_loop, dtype=values.dtype), out[np.maximum(edges, 0)]))


class AuditEdges(_transforms.BaseTransform):
    """Adds `edge_score` (1 is well supported, 0 suspicious) and `edge_issue` to a `Data`, or removes the issues.

    Args:
        share: At most so many of all edges are issues.
        remove: Whether edges that are issues are removed, with their attributes.
        settings: As for :func:`edgepace.audit`.
    """

    def __init__(self, share: float = 0.1, *, remove: bool = False, **settings: Any) -> None:
        self.share, self.remove, self.settings = share, remove, settings

    def forward(self, data: Any) -> Any:
        graph = Graph.from_pyg(data)
        if "noise" in self.settings:
            raise SettingError("`noise` changes the edges, expected none in a transform")
        audited = audit(graph, share=self.share, **{"progress": False, **self.settings})
        score = _per_edge(audited, graph, (1 - audited._suspicion).astype(np.float32), 1.0)
        issue = _per_edge(audited, graph, audited._flagged, False)
        device = data.edge_index.device
        if not self.remove:
            data.edge_score, data.edge_issue = score.to(device), issue.to(device)
            return data
        keep = ~issue.to(device)
        for key, value in list(data.edge_attrs_items()) if hasattr(data, "edge_attrs_items") else [(key, data[key]) for key in data.edge_attrs()]:
            data[key] = value[:, keep] if key == "edge_index" else value[keep]
        return data


class CurriculumWeights(_transforms.BaseTransform):
    """Adds `edge_weight`: what edges weigh at the end of a curriculum, for a model that is trained on all of them at once.

    An edge that came in late weighs less. `settings` as for :func:`edgepace.fit`; the method is ``rcl``.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def forward(self, data: Any) -> Any:
        graph = Graph.from_pyg(data)
        if "noise" in self.settings:
            raise SettingError("`noise` changes the edges, expected none in a transform")
        audited = audit(graph, **{"progress": False, **self.settings})
        weight = _per_edge(audited, graph, audited.result._edge_columns()["weight"], 1.0)
        given = getattr(data, "edge_weight", None)
        weight = weight.to(data.edge_index.device)
        data.edge_weight = weight if given is None else given * weight
        return data
