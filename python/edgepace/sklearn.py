"""scikit-learn's way: an estimator for graphs, and a splitter for its searches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from edgepace._arrays import as_numpy, imported, nodes_of
from edgepace.errors import GraphError, SettingError, UsageError
from edgepace.graph import UNLABELLED, Graph
from edgepace.training import fit

_base = imported("sklearn.base", "edgepace.sklearn")

__all__ = ["EdgepaceClassifier", "GraphKFold", "UNMET_CHECKS"]

_NO_EDGES = "it fits a matrix of features, which has no edges: `fit` takes a graph, or numbers of its nodes"
_OTHER_MESSAGE = "it expects a message about the columns or rows of a matrix; what is said instead is that `X` must be a graph or its nodes"
_NODES = "nodes are numbered by their graph, and what is said of one depends on its neighbours"

#: The checks of scikit-learn's `check_estimator` that an estimator of graphs cannot meet, and why. All others hold.
UNMET_CHECKS = {
    **dict.fromkeys(
        (
            "check_classifier_data_not_an_array",
            "check_classifiers_classes",
            "check_classifiers_one_label",
            "check_classifiers_train",
            "check_dict_unchanged",
            "check_dont_overwrite_parameters",
            "check_dtype_object",
            "check_estimator_sparse_tag",
            "check_estimators_dtypes",
            "check_estimators_fit_returns_self",
            "check_estimators_overwrite_params",
            "check_estimators_pickle",
            "check_f_contiguous_array_estimator",
            "check_fit2d_predict1d",
            "check_fit_check_is_fitted",
            "check_fit_idempotent",
            "check_fit_score_takes_y",
            "check_n_features_in",
            "check_n_features_in_after_fitting",
            "check_pipeline_consistency",
            "check_positive_only_tag_during_fit",
            "check_readonly_memmap_input",
            "check_supervised_y_2d",
        ),
        _NO_EDGES,
    ),
    **dict.fromkeys(
        (
            "check_classifiers_regression_target",
            "check_complex_data",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
            "check_estimators_empty_data_messages",
            "check_estimators_nan_inf",
            "check_fit2d_1feature",
            "check_fit2d_1sample",
            "check_requires_y_none",
        ),
        _OTHER_MESSAGE,
    ),
    "check_methods_sample_order_invariance": _NODES,
    "check_methods_subset_invariance": _NODES,
}


class EdgepaceClassifier(_base.ClassifierMixin, _base.BaseEstimator):
    """Node classification with :func:`edgepace.fit` as a scikit-learn estimator.

    `fit` takes a graph. Where a search hands out numbers of nodes, give it the graph at construction: then ``X`` are nodes and ``y`` their
    classes, and all others count as unlabelled.

    Args:
        graph: The graph, where ``X`` are numbers of nodes.
        method, backbone, preset, epochs, lr, hidden, dropout, seed, threads: As for :func:`edgepace.fit`.
        validation: The share of the given nodes that choose the epoch.
        settings: Any other setting, as a dict.

    Attributes:
        classes_: The classes.
        transduction_: The predicted class of every node.
        history_: Loss and validation score of each epoch.
        result_: The :class:`edgepace.Result`.

    >>> import numpy as np
    >>> import edgepace
    >>> from edgepace.sklearn import EdgepaceClassifier
    >>> graph = edgepace.Graph.load("synthetic:homophily=0.7,nodes=200,edges=800,seed=0")
    >>> model = EdgepaceClassifier(epochs=20).fit(graph)
    >>> model.predict(np.arange(5)).shape
    (5,)
    """

    def __init__(
        self,
        graph: Graph | None = None,
        *,
        method: str = "rcl",
        backbone: str = "gcn",
        preset: str | None = None,
        epochs: int | None = None,
        lr: float | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        validation: float = 0.25,
        seed: int = 0,
        threads: int | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.graph = graph
        self.method = method
        self.backbone = backbone
        self.preset = preset
        self.epochs = epochs
        self.lr = lr
        self.hidden = hidden
        self.dropout = dropout
        self.validation = validation
        self.seed = seed
        self.threads = threads
        self.settings = settings

    def __sklearn_clone__(self) -> EdgepaceClassifier:
        # A graph never changes, and may be large: clones share it.
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, y: Any = None, mask: Any = None) -> EdgepaceClassifier:
        """Trains on a graph, or on nodes of the graph that was given at construction.

        Args:
            X: A graph, or numbers of nodes.
            y: The class of each node of the graph (-1 is unknown), or of each node in `X`. By default those of the graph.
            mask: With a graph: the nodes to learn from, as a mask or by number. By default all that are labelled, or the graph's own split.
        """
        if isinstance(X, Graph):
            graph = X
            if y is not None:
                from edgepace.auditing import _relabelled

                graph = _relabelled(graph, y)
            nodes = None if mask is None else nodes_of(mask, "mask", graph.num_nodes)
        else:
            graph, nodes = self._own_graph(), self._nodes(X)
            if y is not None:
                given = as_numpy(y, "y")
                if len(given) != len(nodes):
                    raise GraphError(f"`y` has {len(given)} entries, expected {len(nodes)}: one per node of `X`")
                known = graph.y
                if not np.array_equal(known[nodes], given):
                    from edgepace.auditing import _relabelled

                    labels = np.full(graph.num_nodes, None, dtype=object)
                    labels[nodes] = given
                    graph = _relabelled(graph, labels)
        if nodes is not None or not graph.splits:
            graph = self._with_split(graph, nodes)
        more = dict(self.settings or {})
        self.result_ = fit(
            graph,
            self.method,
            self.backbone,
            preset=self.preset,
            epochs=self.epochs,
            lr=self.lr,
            hidden=self.hidden,
            dropout=self.dropout,
            seed=self.seed,
            threads=self.threads,
            progress=False,
            **more,
        )
        self.graph_ = graph
        self.classes_ = graph.classes
        self.transduction_ = self.result_.predict()
        self.history_ = self.result_.history
        self.n_features_in_ = graph.num_features
        return self

    def _own_graph(self) -> Graph:
        if self.graph is None:
            raise SettingError("`X` are numbers of nodes, expected a graph, or `graph=` at construction")
        if not isinstance(self.graph, Graph):
            raise SettingError(f"`graph` is a {type(self.graph).__name__}, expected an edgepace.Graph")
        return self.graph

    def _nodes(self, X: Any) -> np.ndarray:
        array = as_numpy(X, "X")
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        graph = self.graph if self.graph is not None else self.graph_
        nodes = nodes_of(array, "X", graph.num_nodes)
        if len(nodes) and (nodes.min() < 0 or nodes.max() >= graph.num_nodes):
            raise GraphError(f"`X` names node {nodes.max() if nodes.max() >= graph.num_nodes else nodes.min()}, but there are {graph.num_nodes} nodes")
        return nodes

    def _with_split(self, graph: Graph, nodes: np.ndarray | None) -> Graph:
        """Nodes to learn from and to choose by, class by class; there are none to test on."""
        if not 0 <= self.validation < 1:
            raise SettingError(f"`validation` is {self.validation}, expected a number from 0 to below 1")
        codes = graph.codes
        if nodes is None:
            nodes = np.flatnonzero(codes != UNLABELLED)
        nodes = np.unique(nodes[codes[nodes] != UNLABELLED])
        if len(nodes) == 0:
            raise GraphError("there is no labelled node to learn from")
        random = np.random.default_rng(self.seed)
        train, validation = [], []
        for own in np.unique(codes[nodes]):
            members = random.permutation(nodes[codes[nodes] == own])
            count = min(int(round(self.validation * len(members))), len(members) - 1)
            validation.append(members[:count])
            train.append(members[count:])
        return graph.with_split(np.concatenate(train), np.concatenate(validation), name="sklearn")

    def _answers(self, X: Any, whole: np.ndarray, new: Any) -> np.ndarray:
        if not hasattr(self, "result_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this EdgepaceClassifier is not fitted yet: call `fit` first")
        if X is None:
            return whole
        if isinstance(X, Graph):
            same = X is self.graph_ or X.checksum == self.graph_.checksum or np.array_equal(X.edge_index, self.graph_.edge_index) and X.num_features == self.graph_.num_features and np.array_equal(X.x, self.graph_.x)
            return whole if same else new(X)
        return whole[self._nodes(X)]

    def predict(self, X: Any = None) -> np.ndarray:
        """The class of each node of a graph (by default that of `fit`), or of the nodes in `X`."""
        return self._answers(X, getattr(self, "transduction_", None), lambda graph: self.result_.predict(graph))

    def predict_proba(self, X: Any = None) -> np.ndarray:
        """The probability of each class, calibrated on the validation nodes."""
        whole = self.result_.predict_proba() if hasattr(self, "result_") else None
        return self._answers(X, whole, lambda graph: self.result_.predict_proba(graph))

    def score(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy on the nodes in `X`, or on all labelled nodes of a graph that were not trained on."""
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X)
        if y is None:
            if X is not None and not isinstance(X, Graph):
                y = self.graph_.y[self._nodes(X)]
            else:
                graph = X if isinstance(X, Graph) else self.graph_
                known = graph.codes != UNLABELLED
                if graph is self.graph_ or np.array_equal(graph.edge_index, self.graph_.edge_index):
                    seen = self.result_.split
                    known = known.copy()
                    known[seen["train"]] = False
                    known[seen["validation"]] = False
                if not known.any():
                    raise UsageError("every labelled node was trained on: pass other nodes and their classes")
                predicted, y = predicted[known], graph.y[known]
        return float(accuracy_score(np.asarray(y).tolist(), np.asarray(predicted).tolist(), sample_weight=sample_weight))


class GraphKFold:
    """Folds of a graph's labelled nodes for `GridSearchCV` and `cross_val_score`, class by class.

    Pass `nodes` and `labels` as ``X`` and ``y``; what is in no training fold is unlabelled to the estimator, and its label is not used.

    >>> import edgepace
    >>> from edgepace.sklearn import EdgepaceClassifier, GraphKFold
    >>> from sklearn.model_selection import GridSearchCV
    >>> graph = edgepace.Graph.load("synthetic:homophily=0.7,nodes=120,edges=500,seed=0")
    >>> folds = GraphKFold(graph, 3)
    >>> search = GridSearchCV(EdgepaceClassifier(graph, epochs=10, threads=1), {"hidden": [8, 16]}, cv=folds)
    >>> search.fit(folds.nodes, folds.labels).best_params_["hidden"] in (8, 16)
    True
    """

    def __init__(self, graph: Graph, n_splits: int = 5, *, seed: int = 0) -> None:
        if n_splits < 2:
            raise SettingError(f"`n_splits` is {n_splits}, expected 2 or more")
        self.graph, self.n_splits, self.seed = graph, n_splits, seed
        #: The labelled nodes.
        self.nodes: np.ndarray = np.flatnonzero(graph.codes != UNLABELLED)
        #: Their classes.
        self.labels: np.ndarray = graph.y[self.nodes]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        return self.n_splits

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places within `X` to train on and to score, fold by fold."""
        from sklearn.model_selection import StratifiedKFold

        X = self.nodes if X is None else X
        codes = self.graph.codes[nodes_of(np.asarray(X).reshape(-1), "X", self.graph.num_nodes)]
        yield from StratifiedKFold(self.n_splits, shuffle=True, random_state=self.seed).split(np.zeros(len(codes)), codes)
