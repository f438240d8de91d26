"""What edgepace promises on each shape, and whether a measurement keeps it."""

from __future__ import annotations

from dataclasses import dataclass

SHAPES = ("cora", "synthetic", "computers", "arxiv")
BACKBONES = ("gcn", "gin", "sage", "pna")
SMALL_SHAPES = ("cora", "synthetic")  # where the backbones other than GCN are compared


@dataclass(frozen=True)
class Bar:
    shape: str
    backbone: str
    quantity: str  # a derived field of a row: a ratio of times
    limit: float
    at_least: bool = True

    def met_by(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{self.shape} {self.backbone}: {LABELS[self.quantity]} {'>=' if self.at_least else '<='} {self.limit:g}"


LABELS = {
    "edge_index_ratio": "times faster than edge_index",
    "csr_ratio": "times faster than csr",
    "roofline_distance": "times the roofline",
}
CSR_RATIOS = {"cora": 9.0, "synthetic": 7.0, "computers": 2.1, "arxiv": 4.5}
ROOFLINE_DISTANCES = {"cora": 2.5, "synthetic": 2.5, "computers": 2.5, "arxiv": 3.0}

BARS = (
    *(Bar(shape, "gcn", "edge_index_ratio", 14.0) for shape in SHAPES),
    *(Bar(shape, "gcn", "csr_ratio", limit) for shape, limit in CSR_RATIOS.items()),
    *(Bar(shape, backbone, "edge_index_ratio", 10.0) for backbone in ("gin", "sage", "pna") for shape in SMALL_SHAPES),
    *(Bar(shape, "gcn", "roofline_distance", limit, at_least=False) for shape, limit in ROOFLINE_DISTANCES.items()),
)


def bars_for(shape: str, backbone: str) -> list[Bar]:
    return [bar for bar in BARS if (bar.shape, bar.backbone) == (shape, backbone)]
