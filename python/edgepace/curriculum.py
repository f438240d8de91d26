"""The curriculum alone: bring your own model."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from edgepace import _edgepace
from edgepace._arrays import as_numpy, features, floats, is_torch, nodes_of
from edgepace.errors import CurriculumError, SettingError, StateError
from edgepace.graph import _edges, _node_count

__all__ = ["Curriculum"]


class Curriculum:
    """Decides which edges a model trains on, when, and with which weight.

    It works with any model that takes edge weights: PyTorch Geometric, DGL, JAX. Once per epoch, *before* the epoch is trained, call
    :meth:`step` with what the model makes of the nodes, then train with :attr:`edge_weight`. Fed the same numbers, it lets the same edges in
    as :func:`edgepace.fit`.

    The default preset ``edgepace`` and ``posterior`` read `logits`; ``cosine``, ``paper`` and ``official`` read `embeddings`. What
    works best is what :func:`edgepace.fit` does: train a plain model first, keep it frozen, and let *it* judge the edges (``source =
    "pretrained"``), evaluated on the edges that are in so far.

    Args:
        edge_index: Edges as two rows, sources and targets. Both directions of an undirected edge are decided about together.
        num_nodes: How many nodes there are; by default as many as `x` has rows.
        x: Features, which the preset ``edgepace`` also judges edges by.
        total_epochs: How many epochs there will be; edges come in over these.
        edge_weight: What edges weigh by themselves. :attr:`edge_weight` is without it: multiply both.
        preset: A named set of settings.
        seed: For what is drawn at random.
        threads: Threads to use; by default all cores.
        settings: Settings of the curriculum over those of the preset, as `period` (epochs from one update to the next) or `full_at` (the share
            of the epochs after which every edge is in).

    >>> import numpy as np
    >>> from edgepace import Curriculum
    >>> # Two triangles and an edge between them; the model thinks that each triangle is a class.
    >>> a, b = np.array([0, 1, 2, 3, 4, 5, 2]), np.array([1, 2, 0, 4, 5, 3, 3])
    >>> edges = np.stack([np.concatenate([a, b]), np.concatenate([b, a])])
    >>> logits = np.array([[2, 0], [2, 0], [1, 0], [0, 1], [0, 2], [0, 2]], dtype=np.float32)
    >>> curriculum = Curriculum(edges, 6, total_epochs=100, preset="posterior", period=10)
    >>> for epoch in range(100):
    ...     changed = curriculum.step(logits=logits, node_loss=[0.1, 0.1], train_mask=[0, 5])
    ...     weights = curriculum.edge_weight  # train with these
    >>> int(np.argmax(curriculum.first_epoch))  # the edge between the triangles comes in last
    6
    """

    def __init__(
        self,
        edge_index: Any,
        num_nodes: int | None = None,
        x: Any = None,
        *,
        total_epochs: int,
        edge_weight: Any = None,
        preset: str = "edgepace",
        seed: int = 0,
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        index = _edges(edge_index)
        self.num_nodes = _node_count(index, num_nodes, x, None, None)
        self.total_epochs = _positive("total_epochs", total_epochs)
        dense, sparse = features(x, self.num_nodes)
        weights = None if edge_weight is None else floats(edge_weight, "edge_weight", dimensions=1)
        try:
            changes = json.dumps(settings)
        except TypeError as error:
            raise SettingError(f"a setting is of a type that none has: {error}") from None
        self._raw = _edgepace.Curriculum(index[0], index[1], self.num_nodes, weights, dense, sparse, preset, changes, self.total_epochs, seed, threads)
        self._epoch = 0
        # Results go where the edges are.
        self._like = edge_index if is_torch(edge_index) else None
        self._weight: Any = None

    @property
    def epoch(self) -> int:
        """How often :meth:`step` was called: the epoch that is trained next is one less."""
        return self._epoch

    @property
    def config(self) -> dict[str, Any]:
        """All settings."""
        return json.loads(self._raw.config())

    @property
    def due(self) -> bool:
        """Whether the next :meth:`step` changes the edges. If not, it needs no arguments."""
        return self._raw.due(self._epoch)

    def step(self, embeddings: Any = None, logits: Any = None, node_loss: Any = None, train_mask: Any = None, *, many_labels: bool = False) -> bool:
        """Tells the curriculum what the model makes of the nodes before an epoch. Returns whether edges or weights changed.

        Args:
            embeddings: One row per node, for the kernels ``inner`` and ``cosine``.
            logits: One row per node, for the kernels ``evidence`` and ``posterior``.
            node_loss: The loss of each training node, or of every node: edges at nodes with a large loss weigh less.
            train_mask: The training nodes, as a mask or by number. Without it, `node_loss` is of all nodes.
            many_labels: Whether logits are of many yes-or-no labels.
        """
        if not self.due:
            self._epoch += 1
            return False
        given = {"embeddings": embeddings, "logits": logits}
        arrays = {name: None if value is None else floats(value, name, dimensions=2) for name, value in given.items()}
        for name, array in arrays.items():
            if array is not None and len(array) != self.num_nodes:
                raise CurriculumError(f"`{name}` has {len(array)} rows, expected {self.num_nodes}: one per node")
        nodes, losses = self._losses(node_loss, train_mask)
        self._raw.update(self._epoch, arrays["embeddings"], arrays["logits"], many_labels, nodes, losses)
        self._epoch += 1
        self._weight = None
        return True

    def _losses(self, node_loss: Any, train_mask: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
        if node_loss is None:
            return None, None
        losses = floats(node_loss, "node_loss", dimensions=1)
        nodes = np.arange(self.num_nodes) if train_mask is None else nodes_of(train_mask, "train_mask", self.num_nodes)
        if len(losses) == self.num_nodes and len(nodes) != self.num_nodes:
            if len(nodes) and (nodes.min() < 0 or nodes.max() >= self.num_nodes):
                raise CurriculumError(f"`train_mask` names node {nodes.max()}, but there are {self.num_nodes} nodes")
            losses = np.ascontiguousarray(losses[nodes])
        if len(losses) != len(nodes):
            raise CurriculumError(f"`node_loss` has {len(losses)} entries, expected {len(nodes)}, one per training node, or {self.num_nodes}, one per node")
        return nodes, losses

    @property
    def edge_weight(self) -> Any:
        """The weight to train with of each edge, in the order of `edge_index`: 0 for edges that are not in. A self-loop weighs 1.

        A tensor on the device of `edge_index` where that is a tensor of PyTorch, else an array.
        """
        if self._weight is None:
            self._weight = self._like_edges(self._raw.weights())
        return self._weight

    @property
    def evaluation_weight(self) -> Any:
        """The weight of each edge, whether it is in or not, for evaluation: as often as it was in."""
        return self._like_edges(self._raw.evaluation_weights())

    @property
    def active_edges(self) -> Any:
        """Whether each edge is in: a mask, as in ``edge_index[:, curriculum.active_edges]``."""
        return self._like_edges(self._raw.active())

    @property
    def difficulty(self) -> np.ndarray:
        """How hard each edge is by the last update: 0 easy, 1 hard."""
        return self._raw.difficulty()

    @property
    def first_epoch(self) -> np.ndarray:
        """The epoch from which on each edge was in; -1: not yet."""
        return self._raw.first_epoch()

    @property
    def updates(self) -> list[dict[str, Any]]:
        """Each update: its epoch, the age parameter, and how many directed edges are in."""
        return [{"epoch": update["epoch"], "lambda": update["lambda"], "selected": update["selected"]} for update in json.loads(self._raw.updates())]

    def _like_edges(self, array: np.ndarray) -> Any:
        if self._like is None:
            return array
        import torch

        return torch.from_numpy(array).to(self._like.device)

    def state_dict(self) -> dict[str, Any]:
        """All that it remembers: arrays and text, to be kept with a checkpoint of the model."""
        return {"epoch": self._epoch, **self._raw.save()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes back to what :meth:`state_dict` gave, of a curriculum with the same edges and settings. Goes on to the same bits."""
        if not isinstance(state, dict) or "epoch" not in state:
            raise StateError("the saved state does not fit: expected what `state_dict()` gave")
        rest = {name: as_numpy(value, name) if not isinstance(value, str) else value for name, value in state.items() if name != "epoch"}
        self._raw.restore(rest)
        self._epoch = int(state["epoch"])
        self._weight = None

    def __repr__(self) -> str:
        selected, edges = self._raw.selected
        return f"Curriculum({selected:,} of {edges:,} directed edges in, epoch {self._epoch} of {self.total_epochs})"


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise SettingError(f"`{name}` is {value!r}, expected a whole number from 1 on")
    return value.__index__()
