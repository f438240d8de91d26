"""Read the folder that `edgepace-bench --shape S --export DIR` writes, so that all engines see the same bits."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    about = json.loads((folder / "shape.json").read_text())
    arrays = np.load(folder / "dataset.npz")
    labels = arrays["y"]
    multilabel = labels.ndim == 2
    x = _features(arrays)
    sources, targets = torch.from_numpy(arrays["edge_index"])
    train, validation, test = (torch.from_numpy(np.flatnonzero(arrays[f"{name}_mask"])) for name in ("train", "val", "test"))
    return Dataset(
        shape=about["shape"],
        nodes=len(labels),
        features=x.shape[1],
        outputs=about["outputs"],
        hidden=about["hidden"],
        multilabel=multilabel,
        sources=sources,
        targets=targets,
        x=x,
        labels=torch.from_numpy(labels.astype(np.float32 if multilabel else np.int64)),
        train=train,
        validation=validation,
        test=test,
    )


def edge_weightings(edges: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Weights near 1, different per edge and per epoch: nobody may keep a normalised adjacency between epochs."""
    generator = torch.Generator().manual_seed(7)
    return [1 - WEIGHT_SPREAD * torch.rand(edges, generator=generator, dtype=dtype) for _ in range(WEIGHT_SETS)]


def _features(arrays: Mapping[str, np.ndarray]) -> Tensor:
    if "x" in arrays:
        return torch.from_numpy(arrays["x"])
    offsets, columns = (torch.from_numpy(arrays[f"x_{part}"].astype(np.int64)) for part in ("indptr", "indices"))
    values, size = torch.from_numpy(arrays["x_data"]), tuple(arrays["x_shape"].tolist())
    return torch.sparse_csr_tensor(offsets, columns, values, size, check_invariants=True)
