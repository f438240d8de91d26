"""Graphs: from the libraries that people keep them in, and back."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from edgepace import _edgepace
from edgepace._arrays import as_numpy, features, floats, imported, nodes_of, whole
from edgepace.errors import GraphError, SettingError

__all__ = ["Graph"]

#: What marks a node whose class is not known, as in scikit-learn's semi-supervised estimators.
UNLABELLED = -1


class Graph:
    """A graph with features and labels. It does not change once it is made.

    Args:
        edge_index: Edges as two rows, sources and targets, as PyTorch Geometric has them. An undirected edge is there in both
            directions, or pass ``undirected=True``. Self-loops and repeated edges are left out, see :attr:`dropped`.
        num_nodes: How many nodes there are. By default as many as `x` or `y` has, or one more than the largest id.
        x: Features, one row per node: a matrix, or a sparse one of SciPy. A float32 matrix is used where it lies, without a copy;
            do not write to it while the graph is in use.
        y: The class of each node: whole numbers with -1 for unknown, or strings with None or NaN for unknown. A matrix of zeros and
            ones means many labels per node.
        edge_weight: What each edge weighs, above 0.
        train_mask, val_mask, test_mask: Nodes to learn from, to choose by and to report on: masks, or numbers of nodes.
        node_names: The name of each node; it comes back in results.
        feature_names: The name of each column of `x`.
        undirected: Whether each edge stands for both directions.
        name: What reports call it.

    >>> import numpy as np
    >>> from edgepace import Graph
    >>> graph = Graph([[0, 1, 2], [1, 2, 0]], x=np.eye(3), y=["a", "b", None], undirected=True)
    >>> graph
    Graph(3 nodes, 3 undirected edges, 3 features, 2 classes, 2 nodes labelled)
    >>> graph.classes
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        edge_index: Any,
        num_nodes: int | None = None,
        x: Any = None,
        y: Any = None,
        *,
        edge_weight: Any = None,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        node_names: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        undirected: bool = False,
        name: str = "graph",
    ) -> None:
        index = _edges(edge_index)
        count = _node_count(index, num_nodes, x, y, node_names)
        dense, sparse = features(x, count)
        labels, many, classes = _labels(y, count)
        weights = None
        if edge_weight is not None:
            weight = as_numpy(edge_weight, "edge_weight")
            weights = floats(weight.reshape(-1) if weight.ndim == 2 and weight.shape[1] == 1 else weight, "edge_weight", dimensions=1)
        ids = None if node_names is None else list(node_names)
        if ids is not None and len(set(map(str, ids))) != len(ids):
            raise GraphError("`node_names` has a name twice, expected one of its own for each node")
        columns = None if feature_names is None else [str(column) for column in feature_names]
        raw = _edgepace.Dataset.build(
            name,
            index[0],
            index[1],
            count,
            bool(undirected),
            weights,
            dense,
            sparse,
            labels,
            0 if classes is None else len(classes),
            many,
            _splits(train_mask, val_mask, test_mask, count),
            None if ids is None else [str(id) for id in ids],
            _names_of(classes) if labels is not None else None,
            columns,
        )
        self._take(raw, classes, ids)

    def _take(self, raw: _edgepace.Dataset, classes: np.ndarray | None, ids: list[Any] | None) -> None:
        self._raw = raw
        self._ids = ids
        if classes is None:
            names = raw.class_names
            classes = np.asarray(names) if names is not None else np.arange(raw.width)
        self._classes = classes

    @classmethod
    def _of(cls, raw: _edgepace.Dataset, classes: np.ndarray | None = None, ids: list[Any] | None = None) -> Graph:
        graph = cls.__new__(cls)
        graph._take(raw, classes, ids)
        return graph

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._raw.to_bytes(), self._raw.source, self._raw.edge_of_input(), self._classes, self._ids)

    # ---- From elsewhere

    @classmethod
    def load(cls, name: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, offline: bool = False) -> Graph:
        """The dataset of a name (`edgepace data list` shows them), a generator, or a file.

        A known dataset that is not there is fetched, unless `offline`. `data` is the folder of datasets: by default
        $EDGEPACE_DATA, or the cache folder of the platform.

        >>> from edgepace import Graph
        >>> Graph.load("synthetic:homophily=0.3,nodes=100,edges=400,seed=0").num_nodes
        100
        """
        return cls._of(_edgepace.Dataset.load(os.fspath(name), None if data is None else os.fspath(data), offline))

    @classmethod
    def from_scipy(cls, adjacency: Any, x: Any = None, y: Any = None, **more: Any) -> Graph:
        """The graph of a sparse matrix, whose entry (i, j) is the edge from i to j and what it weighs. `more` as for :class:`Graph`."""
        if not hasattr(adjacency, "tocoo"):
            raise GraphError(f"`adjacency` is a {type(adjacency).__name__}, expected a sparse matrix of SciPy")
        coo = adjacency.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise GraphError(f"`adjacency` has the shape {coo.shape}, expected as many rows as columns")
        values = coo.data
        there = values != 0
        index = np.stack([coo.row[there], coo.col[there]]).astype(np.int64)
        values = values[there]
        if more.get("edge_weight") is None and values.dtype != bool and not np.all(values == 1):
            more["edge_weight"] = values
        return cls(index, coo.shape[0], x, y, **more)

    @classmethod
    def from_networkx(
        cls, graph: Any, *, x: str | Sequence[str] | None = None, y: str | None = None, weight: str | None = "weight", **more: Any
    ) -> Graph:
        """The graph of NetworkX. Its nodes keep their names.

        Args:
            graph: A Graph or DiGraph; of parallel edges one is kept.
            x: The attribute of nodes that holds their features (a number or a vector), or several of such.
            y: The attribute that holds their class; a node without it is unlabelled.
            weight: The attribute of edges that holds what they weigh, if they have it.
            more: As for :class:`Graph`.
        """
        nodes = list(graph.nodes())
        place = {node: number for number, node in enumerate(nodes)}
        edges = list(graph.edges(data=True))
        index = np.array([[place[a] for a, _, _ in edges], [place[b] for _, b, _ in edges]], dtype=np.int64).reshape(2, len(edges))
        if weight is not None and any(weight in data for _, _, data in edges):
            more.setdefault("edge_weight", np.array([data.get(weight, 1.0) for _, _, data in edges], dtype=np.float32))
        matrix = None
        if x is not None:
            names = [x] if isinstance(x, str) else list(x)
            matrix = _node_attributes(graph, nodes, names)
        labels = None
        if y is not None:
            labels = np.array([graph.nodes[node].get(y) for node in nodes], dtype=object)
        more.setdefault("node_names", nodes)
        return cls(index, len(nodes), matrix, labels, undirected=not graph.is_directed(), **more)

    @classmethod
    def from_pandas(
        cls,
        edges: Any,
        nodes: Any = None,
        *,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        id: str | None = None,
        label: str | None = None,
        columns: Sequence[str] | None = None,
        undirected: bool = True,
        **more: Any,
    ) -> Graph:
        """The graph of a table of edges and, if there is one, of nodes.

        Args:
            edges: One row per edge.
            nodes: One row per node. Without it, nodes are those that edges name.
            source, target: The columns of `edges` with the ends; by default the first two.
            weight: The column with what edges weigh.
            id: The column of `nodes` with the names that `edges` uses; by default the index.
            label: The column of `nodes` with the class; None or NaN is unknown.
            columns: The columns of `nodes` to learn from; by default all of numbers, and what is left out is said in a warning.
            undirected: Whether each row stands for both directions.
            more: As for :class:`Graph`.
        """
        pandas = imported("pandas", "Graph.from_pandas")
        source = edges.columns[0] if source is None else source
        target = edges.columns[1] if target is None else target
        _check_columns("edges", edges, [source, target, *([weight] if weight else [])])
        ends = pandas.concat([edges[source], edges[target]], ignore_index=True)
        if ends.isna().any():
            row = int(np.flatnonzero(ends.isna().to_numpy())[0]) % len(edges)
            raise GraphError(f"`edges` has an edge without an end in row {row}: drop it, or name the node")
        if nodes is None:
            names = pandas.Index(ends.unique())
        else:
            _check_columns("nodes", nodes, [name for name in (id, label, *(columns or ())) if name is not None])
            names = nodes.index if id is None else pandas.Index(nodes[id])
            if not names.is_unique:
                raise GraphError(f"`nodes` has {names[names.duplicated()][0]!r} twice, expected one row per node")
        places = names.get_indexer(ends)
        if (places < 0).any():
            unknown = ends[places < 0].iloc[0]
            raise GraphError(f"`edges` names the node {unknown!r}, which is not in `nodes`: add it, or drop the edge")
        index = places.reshape(2, len(edges)).astype(np.int64)
        matrix, labels = None, None
        if nodes is not None:
            if columns is None:
                others = [name for name in nodes.columns if name not in (id, label)]
                columns = [name for name in others if _is_number(nodes[name])]
                left = [str(name) for name in others if name not in columns]
                if left:
                    said = ", ".join(f"`{name}`" for name in left)
                    warnings.warn(f"columns that are no numbers are left out: {said} (make numbers of them, as pandas.get_dummies does)", stacklevel=2)
            if columns:
                matrix = nodes[list(columns)].to_numpy(dtype=np.float32)
                more.setdefault("feature_names", [str(column) for column in columns])
            if label is not None:
                labels = nodes[label].to_numpy()
        if weight is not None:
            more.setdefault("edge_weight", edges[weight].to_numpy(dtype=np.float32))
        more.setdefault("node_names", names.tolist())
        return cls(index, len(names), matrix, labels, undirected=undirected, **more)

    @classmethod
    def from_pyg(cls, data: Any, **more: Any) -> Graph:
        """The graph of a `Data` of PyTorch Geometric: edges, weights, features, labels and masks.

        Masks of several columns, as those of Geom-GCN's datasets, are several splits. `more` as for :class:`Graph`.
        """
        if not hasattr(data, "num_nodes") or hasattr(data, "node_types"):
            raise GraphError(f"`data` is a {type(data).__name__}, expected a Data of PyTorch Geometric: one kind of nodes and edges")
        index = getattr(data, "edge_index", None)
        if index is None and getattr(data, "adj_t", None) is not None:
            target, source, _ = data.adj_t.coo()
            index = np.stack([as_numpy(source, "adj_t"), as_numpy(target, "adj_t")])
        if index is None:
            raise GraphError("`data` has no edge_index")
        weight = getattr(data, "edge_weight", None)
        attributes = getattr(data, "edge_attr", None)
        if weight is None and attributes is not None and (attributes.dim() == 1 or attributes.shape[1] == 1):
            weight = attributes
        y = getattr(data, "y", None)
        if y is not None:
            y = as_numpy(y, "y")
            if y.ndim == 2 and y.shape[1] == 1:
                y = y[:, 0]
        given = {"edge_weight": weight, "y": y, "x": getattr(data, "x", None)}
        given.update({mask: getattr(data, mask, None) for mask in ("train_mask", "val_mask", "test_mask")})
        given.update(more)
        return cls(index, int(data.num_nodes), given.pop("x"), given.pop("y"), **given)

    @classmethod
    def from_dgl(cls, graph: Any, *, x: str = "feat", y: str = "label", weight: str | None = None, **more: Any) -> Graph:
        """The graph of a homogeneous DGLGraph: its edges, and from `ndata` features, labels and masks."""
        source, target = graph.edges()
        nodes = graph.ndata
        index = np.stack([whole(source, "edges"), whole(target, "edges")])
        given: dict[str, Any] = {mask: nodes[mask] for mask in ("train_mask", "val_mask", "test_mask") if mask in nodes}
        if weight is not None:
            given["edge_weight"] = graph.edata[weight]
        given.update(more)
        return cls(index, int(graph.num_nodes()), nodes[x] if x in nodes else None, nodes[y] if y in nodes else None, **given)

    # ---- What it is

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._raw.name

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return self._raw.nodes

    @property
    def num_edges(self) -> int:
        """How many directed edges there are; an undirected one counts twice, as in PyTorch Geometric."""
        return self._raw.edges

    @property
    def num_features(self) -> int:
        """How many columns the features have."""
        return self._raw.columns

    @property
    def num_classes(self) -> int:
        """How many classes there are, or how many labels a node has."""
        return self._raw.width

    @property
    def is_undirected(self) -> bool:
        """Whether every edge is there in both directions."""
        return self._raw.is_undirected

    @property
    def has_many_labels(self) -> bool:
        """Whether nodes have many yes-or-no labels instead of one class."""
        return self._raw.has_many_labels

    @property
    def dropped(self) -> dict[str, int]:
        """How many self-loops and repeated edges were left out."""
        loops, duplicates = self._raw.dropped
        return {"self_loops": loops, "duplicates": duplicates}

    @property
    def edge_index(self) -> np.ndarray:
        """All edges, sorted by target: sources and targets. The number of a column is the edge's id."""
        return self._raw.edge_index()

    @property
    def edge_weight(self) -> np.ndarray | None:
        """What each edge weighs, in the order of :attr:`edge_index`."""
        return self._raw.edge_column("weight")

    @property
    def edge_of_input(self) -> np.ndarray:
        """The id of each edge that the graph was made of, in the order given; -1 for a self-loop."""
        return self._raw.edge_of_input()

    @property
    def x(self) -> np.ndarray:
        """The features as a matrix."""
        return self._raw.dense_features()

    @property
    def y(self) -> np.ndarray:
        """The class of each node as it was given; unknown is -1 for numbers and None for other labels."""
        many = self._raw.many_labels()
        if many is not None:
            return many
        return self.decode(self._raw.labels())

    @property
    def codes(self) -> np.ndarray:
        """The number of each node's class in :attr:`classes`, -1 where it is not known."""
        labels = self._raw.labels()
        return np.full(self.num_nodes, UNLABELLED) if labels is None else labels

    @property
    def classes(self) -> np.ndarray:
        """The classes, as labels name them."""
        return self._classes

    @property
    def node_names(self) -> list[Any] | None:
        """The names of nodes, if they have any."""
        return self._ids if self._ids is not None else self._raw.node_names

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features' columns, if they have any."""
        return self._raw.feature_names

    @property
    def splits(self) -> dict[str, dict[str, np.ndarray]]:
        """The splits that it has, by name: numbers of nodes for train, validation and test."""
        return {name: {"train": train, "validation": validation, "test": test} for name, train, validation, test in self._raw.splits()}

    @property
    def homophily(self) -> float | None:
        """The share of edges that join nodes of one class, where both are known."""
        return self._raw.homophily

    @property
    def checksum(self) -> str:
        """SHA-256 of edges, weights, features and labels."""
        return self._raw.checksum()

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Classes by their number, as labels name them; unknown is -1 for numbers and None for other labels."""
        codes = np.asarray(codes)
        classes = self._classes
        if len(classes) == 0:
            return np.full(len(codes), UNLABELLED)
        known = codes >= 0
        if np.all(known):
            return classes[codes]
        out = np.full(len(codes), UNLABELLED, dtype=classes.dtype) if np.issubdtype(classes.dtype, np.signedinteger) else np.full(len(codes), None, dtype=object)
        out[known] = classes[codes[known]]
        return out

    def with_split(self, train: Any, validation: Any = (), test: Any = (), *, name: str = "given") -> Graph:
        """The same graph with these nodes, masks or numbers, to learn from, to choose by and to report on."""
        sets = [nodes_of(np.asarray(nodes, dtype=np.int64) if isinstance(nodes, tuple) and not nodes else nodes, "split", self.num_nodes) for nodes in (train, validation, test)]
        return self._of(self._raw.with_split(name, *sets), self._classes, self._ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as a graph file (`.graph`), which :meth:`load` and the program read."""
        if not os.fspath(path).endswith(".graph"):
            raise SettingError(f"`path` is `{os.fspath(path)}`, expected a name that ends in `.graph`")
        self._raw.save(os.fspath(path))

    # ---- To elsewhere

    def to_scipy(self) -> Any:
        """The adjacency as a CSR matrix: entry (i, j) is what the edge from i to j weighs."""
        sparse = imported("scipy.sparse", "Graph.to_scipy")
        index, weight = self.edge_index, self.edge_weight
        values = np.ones(self.num_edges, dtype=np.float32) if weight is None else weight
        return sparse.csr_matrix((values, (index[0], index[1])), shape=(self.num_nodes, self.num_nodes))

    def to_networkx(self) -> Any:
        """A Graph of NetworkX, or a DiGraph; nodes have the attributes `x` and `y`, edges `weight` if they have one."""
        networkx = imported("networkx", "Graph.to_networkx")
        out = networkx.Graph() if self.is_undirected else networkx.DiGraph()
        names = self.node_names or range(self.num_nodes)
        x, y = self.x, self.y if self.num_classes else [None] * self.num_nodes
        for node, name in enumerate(names):
            out.add_node(name, **({"x": x[node]} if self.num_features else {}), y=y[node])
        index, weight = self.edge_index, self.edge_weight
        names = list(names)
        for edge, (source, target) in enumerate(index.T.tolist()):
            out.add_edge(names[source], names[target], **({} if weight is None else {"weight": float(weight[edge])}))
        return out

    def to_pandas(self) -> tuple[Any, Any]:
        """A table of edges, with columns `source`, `target` and `weight`, and one of nodes, with features and `label`. An undirected edge has one row."""
        pandas = imported("pandas", "Graph.to_pandas")
        index, weight = self.edge_index, self.edge_weight
        once = index[0] <= index[1] if self.is_undirected else np.ones(self.num_edges, dtype=bool)
        names = np.asarray(self.node_names, dtype=object) if self.node_names is not None else np.arange(self.num_nodes)
        edges = pandas.DataFrame({"source": names[index[0][once]], "target": names[index[1][once]]})
        if weight is not None:
            edges["weight"] = weight[once]
        nodes = pandas.DataFrame(self.x, index=names, columns=self.feature_names or [f"x{column}" for column in range(self.num_features)])
        if self.num_classes and not self.has_many_labels:
            nodes["label"] = self.y
        return edges, nodes

    def to_pyg(self) -> Any:
        """A `Data` of PyTorch Geometric, with the masks of the first split."""
        imported("torch_geometric", "Graph.to_pyg")
        import torch
        from torch_geometric.data import Data

        data = Data(edge_index=torch.from_numpy(self.edge_index), num_nodes=self.num_nodes)
        if self.num_features:
            data.x = torch.from_numpy(self.x)
        if self.has_many_labels:
            data.y = torch.from_numpy(self.y)
        elif self.num_classes:
            data.y = torch.from_numpy(self.codes)
        if self.edge_weight is not None:
            data.edge_weight = torch.from_numpy(self.edge_weight)
        for split in list(self.splits.values())[:1]:
            for mask, part in (("train_mask", "train"), ("val_mask", "validation"), ("test_mask", "test")):
                chosen = torch.zeros(self.num_nodes, dtype=torch.bool)
                chosen[torch.from_numpy(split[part])] = True
                data[mask] = chosen
        return data

    def to_dgl(self) -> Any:
        """A DGLGraph, with features, labels and the masks of the first split in `ndata`."""
        dgl = imported("dgl", "Graph.to_dgl")
        data = self.to_pyg()
        out = dgl.graph((data.edge_index[0], data.edge_index[1]), num_nodes=self.num_nodes)
        for name, key in (("feat", "x"), ("label", "y"), ("train_mask", "train_mask"), ("val_mask", "val_mask"), ("test_mask", "test_mask")):
            if key in data:
                out.ndata[name] = data[key]
        if "edge_weight" in data:
            out.edata["weight"] = data.edge_weight
        return out

    # ---- How it is shown

    def _facts(self) -> list[str]:
        edges = f"{self.num_edges // 2:,} undirected edges" if self.is_undirected else f"{self.num_edges:,} directed edges"
        facts = [f"{self.num_nodes:,} nodes", edges]
        if self.num_features:
            facts.append(f"{self.num_features:,} features")
        if self.has_many_labels:
            facts.append(f"{self.num_classes} labels per node")
        elif self.num_classes:
            facts += [f"{self.num_classes} classes", f"{int(np.sum(self.codes >= 0)):,} nodes labelled"]
        if self.edge_weight is not None:
            facts.append("weighted")
        return facts

    def __repr__(self) -> str:
        name = "" if self.name == "graph" else f"{self.name!r}, "
        return f"Graph({name}{', '.join(self._facts())})"

    def _repr_html_(self) -> str:
        facts = "".join(f"<li>{html.escape(fact)}</li>" for fact in self._facts())
        homophily = "" if self.homophily is None else f"<li>homophily {self.homophily:.2f}</li>"
        return f"<div><b>Graph</b> {html.escape(self.name)}<ul>{facts}{homophily}</ul></div>"


def _unpickled(graph: bytes, source: str | None, edge_of_input: np.ndarray, classes: np.ndarray, ids: list[Any] | None) -> Graph:
    return Graph._of(_edgepace.Dataset.from_bytes(graph, source, edge_of_input), classes, ids)


def _edges(edge_index: Any) -> np.ndarray:
    index = whole(edge_index, "edge_index")
    if index.size == 0:
        return np.zeros((2, 0), dtype=np.int64)
    if index.ndim != 2 or index.shape[0] != 2:
        hint = ": transpose it" if index.ndim == 2 and index.shape[1] == 2 else ""
        raise GraphError(f"`edge_index` has the shape {index.shape}, expected (2, edges): sources and targets{hint}")
    return index


def _node_count(index: np.ndarray, num_nodes: int | None, x: Any, y: Any, names: Any) -> int:
    if num_nodes is not None:
        try:
            count = num_nodes.__index__()
        except AttributeError:
            raise GraphError(f"`num_nodes` is {num_nodes!r}, expected a whole number") from None
        if count < 0:
            raise GraphError(f"`num_nodes` is {count}, expected 0 or more")
        return count
    for given in (x, y, names):
        shape = getattr(given, "shape", None)
        if shape is not None and len(shape) > 0:
            return int(shape[0])
        if given is not None and hasattr(given, "__len__"):
            return len(given)
    return int(index.max()) + 1 if index.size else 0


def _labels(y: Any, count: int) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """The class of each node by number, or many labels of each, and the classes."""
    if y is None:
        return None, None, None
    if isinstance(y, (list, tuple)) and any(isinstance(value, str) for value in y):
        # NumPy would make strings of all else.
        y = np.array(y, dtype=object)
    array = as_numpy(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if len(array) != count if array.ndim else True:
        raise GraphError(f"`y` has {len(array) if array.ndim else 'no'} entries, expected {count}: one per node, -1 for unknown")
    if array.ndim == 2:
        if not np.isin(array, (0, 1)).all():
            raise GraphError("`y` is a matrix, which means many labels per node, expected zeros and ones")
        return None, np.ascontiguousarray(array, dtype=np.uint8), np.arange(array.shape[1])
    if array.ndim != 1:
        raise GraphError(f"`y` has the shape {array.shape}, expected one class per node")
    if np.issubdtype(array.dtype, np.integer):
        known = array != UNLABELLED if np.issubdtype(array.dtype, np.signedinteger) else np.ones(count, dtype=bool)
        if np.any(array[known] < 0):
            raise GraphError(f"`y` has the class {array[known].min()}, expected 0, 1, … or -1 for unknown")
    elif np.issubdtype(array.dtype, np.floating):
        known = np.isfinite(array) & (array != UNLABELLED)
        if np.any(array[known] != np.trunc(array[known])):
            raise GraphError("`y` has numbers that are not whole, expected classes: this is no regression")
        array = np.where(known, array, UNLABELLED).astype(np.int64)
    elif array.dtype == bool or array.dtype.kind in "US":
        known = np.ones(count, dtype=bool)
    else:
        known = np.array([not (value is None or value != value or value is _missing()) for value in array], dtype=bool)
        values = array[known].tolist()
        if values and all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values):
            known &= np.array([value != UNLABELLED for value in array], dtype=bool)
            values = array[known].tolist()
        array = np.where(known, array, None)
        try:
            classes = np.array(sorted(set(values)))
        except TypeError:
            raise GraphError("`y` has labels of several types, expected all of one") from None
        place = {value: number for number, value in enumerate(classes.tolist())}
        codes = np.array([place[value] if there else UNLABELLED for value, there in zip(array.tolist(), known.tolist())], dtype=np.int64)
        return codes, None, classes
    classes, numbers = np.unique(array[known], return_inverse=True)
    codes = np.full(count, UNLABELLED, dtype=np.int64)
    codes[known] = numbers
    return codes, None, classes


def _missing() -> Any:
    import sys

    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas is not None else object()


def _names_of(classes: np.ndarray | None) -> list[str] | None:
    """Names of classes, where their numbers are not names enough."""
    if classes is None or len(classes) == 0:
        return None
    if np.issubdtype(classes.dtype, np.integer) and np.array_equal(classes, np.arange(len(classes))):
        return None
    return [str(value) for value in classes.tolist()]


def _splits(train: Any, validation: Any, test: Any, count: int) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    if train is None:
        if validation is not None or test is not None:
            raise GraphError("`val_mask` or `test_mask` is given without `train_mask`: there is nothing to learn from")
        return []
    masks = [None if mask is None else as_numpy(mask, name) for mask, name in ((train, "train_mask"), (validation, "val_mask"), (test, "test_mask"))]
    names = ("train_mask", "val_mask", "test_mask")
    several = max((mask.shape[1] for mask in masks if mask is not None and mask.ndim == 2), default=0)
    out = []
    for column in range(max(several, 1)):
        sets = []
        for mask, name in zip(masks, names):
            if mask is None:
                sets.append(np.zeros(0, dtype=np.int64))
                continue
            if mask.ndim == 2 and mask.shape[1] != several:
                raise GraphError(f"`{name}` has {mask.shape[1]} columns, expected {several} as the other masks")
            sets.append(nodes_of(mask[:, column] if mask.ndim == 2 else mask, name, count))
        out.append((f"masks:{column}" if several else "masks", *sets))
    return out


def _node_attributes(graph: Any, nodes: list[Any], names: list[str]) -> np.ndarray:
    rows = []
    for node in nodes:
        own = graph.nodes[node]
        missing = [name for name in names if name not in own]
        if missing:
            raise GraphError(f"node {node!r} has no attribute `{missing[0]}`, expected one at every node")
        rows.append(np.concatenate([np.atleast_1d(as_numpy(own[name], name)) for name in names]))
    if len({len(row) for row in rows}) > 1:
        raise GraphError(f"the attributes {', '.join(names)} have different lengths at different nodes, expected the same everywhere")
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, 0), dtype=np.float32)


def _check_columns(table: str, frame: Any, names: Sequence[str]) -> None:
    for name in names:
        if name not in frame.columns:
            known = ", ".join(f"`{column}`" for column in frame.columns)
            raise GraphError(f"`{table}` has no column `{name}`, expected one of {known}")


def _is_number(column: Any) -> bool:
    from pandas.api import types

    return bool(types.is_numeric_dtype(column) or types.is_bool_dtype(column))
