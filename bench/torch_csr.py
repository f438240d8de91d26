"""Rendering `csr`: the GCN as fast as torch's own CPU operators allow.

- Sparse CSR adjacency with the self-loops in its pattern; normalised once per epoch, shared by training and evaluation.
- The pattern is symmetric, so the backward product needs no transpose: it uses the same pattern with the values
  gathered through the twin permutation (they may differ between twins).
- Sparse features stay CSR, with a transposed copy for the weight gradient, where that is faster than dense.
- The first layer propagates before or after its dense product. Propagating first means that the propagated features
  are computed once per epoch, serve training and evaluation, and need no backward product.
- Indices int32 or int64, product by MKL or by torch's own kernel, Adam fused or not: whichever is faster here.

`csr_expert` adds what torch does not offer by itself: dropout bits from one random word per 64 values (torch's
Bernoulli generator is otherwise a large part of the epoch) and a heap that keeps its pages between tensors.

Every choice is measured before the timed loop and reported; every choice can be forced.
"""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dataset import Dataset
from pyg_edge_index import DROPOUT, LEARNING_RATE

IGNORED = -100  # cross_entropy's mark for a node that does not count
ORDERS = ("linear-first", "propagate-first")
KERNELS = ("mkl-int32", "native-int32", "native-int64")
TRIAL_ROUNDS, TRIAL_SECONDS = 50, 4.0  # limits of one measured choice
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # glibc's mallopt


@dataclass
class Options:
    """`auto` is replaced by the fastest alternative on this machine and this shape."""

    order: str = "auto"  # linear-first | propagate-first | narrow | auto
    features: str = "auto"  # dense | sparse | auto
    kernel: str = "auto"  # one of KERNELS | auto
    adam: str = "auto"  # fused | foreach | auto
    bit_dropout: bool = False
    dropout: float = DROPOUT


def multiply(kernel: str, matrix: Tensor, dense: Tensor) -> Tensor:
    return matrix @ dense if kernel.startswith("mkl") else torch.sparse.mm(matrix, dense, "sum")


def index_type(kernel: str) -> torch.dtype:
    return torch.int32 if kernel.endswith("int32") else torch.int64


def with_indices(matrix: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.sparse_csr_tensor(
        matrix.crow_indices().to(dtype), matrix.col_indices().to(dtype), matrix.values(), matrix.shape
    )


class Adjacency:
    """The pattern of A + I, and the values of D^-1/2 (A_w + I) D^-1/2 and its transpose for the current weights."""

    def __init__(self, data: Dataset, kernel: str, dtype: torch.dtype) -> None:
        n = data.nodes
        loops = torch.arange(n)
        rows, columns = torch.cat([data.targets, loops]), torch.cat([data.sources, loops])
        key = rows * n + columns
        order = key.argsort()
        if not torch.equal((columns * n + rows).sort().values, key[order]):
            raise ValueError("the csr rendering needs a symmetric graph")
        position = torch.empty_like(order)
        position[order] = torch.arange(len(order))
        self.kernel = kernel
        self.size = (n, n)
        self.rows, self.columns = rows[order], columns[order]
        self.slots = position[: len(data.targets)]  # where each edge sits among edges and loops
        self.twins = (self.columns * n + self.rows).argsort()
        self.ones = torch.ones(n, dtype=dtype)
        self.raw = torch.ones(len(order), dtype=dtype)  # the loops keep their 1
        counts = torch.bincount(self.rows, minlength=n)
        offsets = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
        self.stored_offsets = offsets.to(index_type(kernel))
        self.stored_columns = self.columns.to(index_type(kernel))

    def matrix(self, values: Tensor) -> Tensor:
        return torch.sparse_csr_tensor(self.stored_offsets, self.stored_columns, values, self.size)

    def normalise(self, weights: Tensor) -> None:
        self.raw.index_copy_(0, self.slots, weights)
        scale = torch.mv(self.matrix(self.raw), self.ones).rsqrt_()
        values = scale.index_select(0, self.rows).mul_(scale.index_select(0, self.columns)).mul_(self.raw)
        self.forward_matrix = self.matrix(values)
        self.backward_matrix = self.matrix(values.index_select(0, self.twins))

    def propagate(self, h: Tensor) -> Tensor:
        return Propagate.apply(h, self)


class Propagate(torch.autograd.Function):
    """H -> A H; the gradient is A^T G on the same pattern."""

    @staticmethod
    def forward(ctx, h: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return multiply(adjacency.kernel, adjacency.forward_matrix, h)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:
        adjacency = ctx.adjacency
        return multiply(adjacency.kernel, adjacency.backward_matrix, gradient), None


class SparseLinear(torch.autograd.Function):
    """W -> X W for sparse X; the gradient by W is X^T G with the transpose made once."""

    @staticmethod
    def forward(ctx, weight: Tensor, x: Tensor, transposed: Tensor, kernel: str) -> Tensor:
        ctx.transposed, ctx.kernel = transposed, kernel
        return multiply(kernel, x, weight)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        return multiply(ctx.kernel, ctx.transposed, gradient), None, None, None


class BitDropout(torch.autograd.Function):
    """ReLU and dropout 1/2 in one step, with one random bit per value."""

    @staticmethod
    def forward(ctx, h: Tensor) -> Tensor:
        words = torch.empty((h.numel() + 63) // 64, dtype=torch.int64).random_(-(2**63), None)
        bits = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8)
        kept = words.view(torch.uint8).unsqueeze(1).bitwise_and(bits).view(-1)[: h.numel()].ne(0).view_as(h)
        factor = kept.logical_and_(h > 0).to(h.dtype).mul_(2)
        ctx.save_for_backward(factor)
        return h * factor

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        (factor,) = ctx.saved_tensors
        return gradient * factor


class SparseFeatures:
    """CSR features with their transpose."""

    def __init__(self, x: Tensor, kernel: str) -> None:
        self.kernel = kernel
        self.x = with_indices(x, index_type(kernel))
        self.transposed = with_indices(transpose(x), index_type(kernel))

    def linear(self, weight: Tensor) -> Tensor:
        return SparseLinear.apply(weight, self.x, self.transposed, self.kernel)


def transpose(x: Tensor) -> Tensor:
    coordinates = x.to_sparse_coo().t().coalesce()
    return coordinates.to_sparse_csr()


class DenseFeatures:
    """Row-major features; torch's own product."""

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def linear(self, weight: Tensor) -> Tensor:
        return self.x @ weight


class Csr:
    """One training step and one evaluation, for the loop in `peers.py`."""

    def __init__(self, data: Dataset, options: Options, dtype: torch.dtype = torch.float32) -> None:
        self.data = data
        self.options = resolve(data, options, dtype)
        self.adjacency = Adjacency(data, self.options.kernel, dtype)
        self.features = make_features(data, self.options, dtype)
        self.parameters = {
            "conv1.weight": glorot(data.features, data.hidden, dtype),
            "conv1.bias": nn.Parameter(torch.zeros(data.hidden, dtype=dtype)),
            "conv2.weight": glorot(data.hidden, data.hidden, dtype),
            "conv2.bias": nn.Parameter(torch.zeros(data.hidden, dtype=dtype)),
            "decoder.weight": glorot(data.hidden, data.outputs, dtype),
        }
        self.optimiser = make_adam(list(self.parameters.values()), self.options.adam)
        self.counted = torch.zeros(data.nodes, dtype=torch.bool).index_fill_(0, data.train, True)
        self.train_labels = data.labels if data.multilabel else data.labels.masked_fill(~self.counted, IGNORED)
        self.propagated_x: Tensor | None = None
        self.choices = {
            "order": self.options.order,
            "features": self.options.features,
            "kernel": self.options.kernel,
            "adam": self.options.adam,
            "dropout": "bits" if self.options.bit_dropout else "torch",
            "mkl": str(torch.backends.mkl.is_available()),
        }

    def prepare(self, weights: Tensor) -> None:
        """What training and evaluation of one epoch share."""
        self.adjacency.normalise(weights)
        if self.options.order == "propagate-first":
            with torch.no_grad():
                self.propagated_x = self.adjacency.propagate(self.features.x)

    def first_layer(self) -> Tensor:
        weight, bias = self.parameters["conv1.weight"], self.parameters["conv1.bias"]
        if self.propagated_x is not None:
            return torch.addmm(bias, self.propagated_x, weight)
        return self.adjacency.propagate(self.features.linear(weight)) + bias

    def second_layer(self, h: Tensor) -> Tensor:
        """The embedding z: kept as a matrix of its own, because the curriculum reads it."""
        return self.adjacency.propagate(h @ self.parameters["conv2.weight"]) + self.parameters["conv2.bias"]

    def loss(self) -> Tensor:
        first = self.first_layer()
        if self.options.bit_dropout and self.options.dropout == DROPOUT:
            h = BitDropout.apply(first)
        else:
            h = F.dropout(first.relu(), self.options.dropout, training=True)
        logits = self.second_layer(h) @ self.parameters["decoder.weight"]
        if not self.data.multilabel:
            # Marking nodes as ignored is cheaper than gathering rows and scattering their gradient.
            return F.cross_entropy(logits, self.train_labels, ignore_index=IGNORED)
        mask = self.counted.to(logits.dtype).unsqueeze(1)
        summed = F.binary_cross_entropy_with_logits(logits, self.train_labels, weight=mask, reduction="sum")
        return summed / (len(self.data.train) * self.data.outputs)

    def train_step(self, weights: Tensor) -> None:
        self.prepare(weights)
        self.optimiser.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimiser.step()

    @torch.inference_mode()
    def evaluate(self, _weights: Tensor) -> tuple[float, float]:
        """With the adjacency that `train_step` has normalised from the same weights."""
        data = self.data
        h = self.first_layer().relu_()
        logits = self.second_layer(h) @ self.parameters["decoder.weight"]
        predicted = (logits > 0).float() if data.multilabel else logits.argmax(dim=1)
        correct = (predicted == data.labels).float()
        return float(correct[data.validation].mean()), float(correct[data.test].mean())


def glorot(width_in: int, width_out: int, dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(width_in, width_out, dtype=dtype)))


def make_adam(parameters: list[nn.Parameter], kind: str) -> torch.optim.Adam:
    if kind == "fused":
        return torch.optim.Adam(parameters, lr=LEARNING_RATE, fused=True)
    return torch.optim.Adam(parameters, lr=LEARNING_RATE, foreach=True)


def make_features(data: Dataset, options: Options, dtype: torch.dtype) -> SparseFeatures | DenseFeatures:
    if options.features == "sparse":
        return SparseFeatures(data.x.to(dtype), options.kernel)
    return DenseFeatures(data.dense_x().to(dtype))


def resolve(data: Dataset, options: Options, dtype: torch.dtype) -> Options:
    """Replace every `auto` by the fastest alternative, judged by whole epochs, one choice after the other."""
    chosen = Options(**vars(options))
    if data.x.layout != torch.sparse_csr:
        chosen.features = "dense"
    if chosen.order == "narrow":
        chosen.order = "propagate-first" if data.features < data.hidden else "linear-first"
    if chosen.kernel == "auto":
        chosen.kernel = fastest(KERNELS, lambda kernel: kernel_trial(data, kernel, dtype))
    if chosen.features == "auto":
        chosen.features = fastest(("sparse", "dense"), lambda kind: features_trial(data, chosen, kind, dtype))
    if chosen.features == "sparse":
        chosen.order = "linear-first"  # propagated sparse features would be dense
    if chosen.adam == "auto":
        chosen.adam = fastest(("fused", "foreach"), lambda kind: adam_trial(data, kind, dtype))
    if chosen.order == "auto":
        chosen.order = fastest(ORDERS, lambda order: epoch_trial(data, chosen, order, dtype))
    return chosen


def kernel_trial(data: Dataset, kernel: str, dtype: torch.dtype) -> Callable[[], object]:
    adjacency = Adjacency(data, kernel, dtype)
    adjacency.normalise(torch.ones(len(data.sources), dtype=dtype))
    h = torch.rand(data.nodes, data.hidden, dtype=dtype)
    return lambda: multiply(kernel, adjacency.forward_matrix, h)


def features_trial(data: Dataset, options: Options, kind: str, dtype: torch.dtype) -> Callable[[], object]:
    features = make_features(data, Options(features=kind, kernel=options.kernel), dtype)
    weight = glorot(data.features, data.hidden, dtype)
    return lambda: features.linear(weight).sum().backward()


def adam_trial(data: Dataset, kind: str, dtype: torch.dtype) -> Callable[[], object]:
    shapes = [(data.features, data.hidden), (data.hidden, data.hidden), (data.hidden, data.outputs)]
    parameters = [glorot(*shape, dtype) for shape in shapes]
    for parameter in parameters:
        parameter.grad = torch.rand_like(parameter)
    return make_adam(parameters, kind).step


def epoch_trial(data: Dataset, options: Options, order: str, dtype: torch.dtype) -> Callable[[], object]:
    trial = Csr(data, Options(**(vars(options) | {"order": order})), dtype)
    weights = torch.ones(len(data.sources), dtype=dtype)

    def epoch() -> None:
        trial.train_step(weights)
        trial.evaluate(weights)

    return epoch


def fastest(names: tuple[str, ...], make: Callable[[str], Callable[[], object]]) -> str:
    """Alternate between the candidates and compare their best times: a busy moment of the machine must not decide."""
    trials = {name: make(name) for name in names}
    best = dict.fromkeys(names, float("inf"))
    begin = time.perf_counter()
    for round_ in itertools.count():
        for name, trial in trials.items():
            start = time.perf_counter()
            trial()
            best[name] = min(best[name], time.perf_counter() - start)
        if round_ >= TRIAL_ROUNDS or (round_ >= 3 and time.perf_counter() - begin > TRIAL_SECONDS):
            return min(names, key=best.__getitem__)


def keep_heap_pages() -> bool:
    """Let glibc reuse freed tensors instead of returning their pages: torch frees and allocates every activation."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
