"""Read the folder that `edgepace bench --shape S --export DIR` writes, so that all engines see the same bits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

WEIGHT_SETS = 4  # how many different edge weightings the epochs cycle through
WEIGHT_SPREAD = 0.1  # factors lie in [1 - spread, 1]


@dataclass
class Dataset:
    """A graph with features, labels and split. Edge `e` runs `sources[e] -> targets[e]`, sorted by target, then source."""

    shape: str
    nodes: int
    features: int
    outputs: int
    hidden: int
    multilabel: bool
    sources: Tensor  # int64
    targets: Tensor  # int64
    x: Tensor  # dense f32, or sparse CSR with int64 indices
    labels: Tensor  # int64 classes, or f32 nodes x labels
    train: Tensor
    validation: Tensor
    test: Tensor

    @property
    def edge_index(self) -> Tensor:
        return torch.stack([self.sources, self.targets])

    def dense_x(self) -> Tensor:
        return self.x.to_dense() if self.x.layout == torch.sparse_csr else self.x


def load(folder: Path) -> Dataset:
    meta = json.loads((folder / "meta.json").read_text())
    multilabel = bool(meta["multilabel"])
    labels = torch.from_numpy(np.load(folder / "labels.npy").astype(np.float32 if multilabel else np.int64))
    return Dataset(
        shape=meta["shape"],
        nodes=meta["nodes"],
        features=meta["features"],
        outputs=meta["outputs"],
        hidden=meta["hidden"],
        multilabel=multilabel,
        sources=_indices(folder / "sources.npy"),
        targets=_indices(folder / "targets.npy"),
        x=_features(folder, meta),
        labels=labels,
        train=_indices(folder / "train.npy"),
        validation=_indices(folder / "validation.npy"),
        test=_indices(folder / "test.npy"),
    )


def edge_weightings(edges: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Weights near 1, different per edge and per epoch: nobody may keep a normalised adjacency between epochs."""
    generator = torch.Generator().manual_seed(7)
    return [1 - WEIGHT_SPREAD * torch.rand(edges, generator=generator, dtype=dtype) for _ in range(WEIGHT_SETS)]


def _indices(path: Path) -> Tensor:
    return torch.from_numpy(np.load(path).astype(np.int64))


def _features(folder: Path, meta: dict) -> Tensor:
    if not meta["sparse"]:
        return torch.from_numpy(np.load(folder / "x.npy"))
    values = torch.from_numpy(np.load(folder / "x_values.npy"))
    size = (meta["nodes"], meta["features"])
    return torch.sparse_csr_tensor(
        _indices(folder / "x_offsets.npy"), _indices(folder / "x_columns.npy"), values, size, check_invariants=True
    )
