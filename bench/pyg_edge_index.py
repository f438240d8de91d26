"""Rendering `edge_index`: the model as most users of PyTorch Geometric write it, with modules, dense x and edge_index."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv, PNAConv, SAGEConv

from dataset import Dataset

LEARNING_RATE = 1e-2
DROPOUT = 0.5
GIN_EPSILON = 0.1


class Model(nn.Module):
    """conv -> ReLU -> dropout -> conv -> bias-free linear decoder."""

    def __init__(self, backbone: str, data: Dataset, dropout: float = DROPOUT) -> None:
        super().__init__()
        histogram = torch.bincount(torch.bincount(data.targets, minlength=data.nodes))
        self.weighted = backbone == "gcn"  # the other modules of PyG take no edge weights
        self.dropout = dropout
        self.conv1 = make_conv(backbone, data.features, data.hidden, histogram)
        self.conv2 = make_conv(backbone, data.hidden, data.hidden, histogram)
        self.decoder = nn.Linear(data.hidden, data.outputs, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        extra = (edge_weight,) if self.weighted else ()
        h = F.relu(self.conv1(x, edge_index, *extra))
        h = F.dropout(h, self.dropout, training=self.training)
        return self.decoder(self.conv2(h, edge_index, *extra))


def make_conv(backbone: str, width_in: int, width_out: int, degree_histogram: Tensor) -> nn.Module:
    match backbone:
        case "gcn":
            return GCNConv(width_in, width_out)
        case "gin":
            mlp = nn.Sequential(nn.Linear(width_in, width_out), nn.ReLU(), nn.Linear(width_out, width_out))
            return GINConv(mlp, eps=GIN_EPSILON)
        case "sage":
            return SAGEConv(width_in, width_out)
        case "pna":
            aggregators = ["mean", "min", "max", "std"]
            scalers = ["identity", "amplification", "attenuation"]
            return PNAConv(width_in, width_out, aggregators, scalers, degree_histogram)
    raise ValueError(f"unknown backbone {backbone!r}")


class EdgeIndex:
    """One training step and one evaluation, for the loop in `peers.py`."""

    def __init__(self, backbone: str, data: Dataset) -> None:
        self.data = data
        self.x = data.dense_x()
        self.edge_index = data.edge_index
        self.model = Model(backbone, data)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)
        self.choices: dict[str, str] = {}

    def train_step(self, weights: Tensor) -> None:
        data = self.data
        self.model.train()
        self.optimiser.zero_grad()
        logits = self.model(self.x, self.edge_index, weights)
        loss_of = F.binary_cross_entropy_with_logits if data.multilabel else F.cross_entropy
        loss = loss_of(logits[data.train], data.labels[data.train])
        loss.backward()
        self.optimiser.step()

    @torch.no_grad()
    def evaluate(self, weights: Tensor) -> tuple[float, float]:
        data = self.data
        self.model.eval()
        logits = self.model(self.x, self.edge_index, weights)
        predicted = (logits > 0).float() if data.multilabel else logits.argmax(dim=1)
        correct = (predicted == data.labels).float()
        return float(correct[data.validation].mean()), float(correct[data.test].mean())
