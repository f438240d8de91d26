"""The audit: fake edges come first, and a cleaned graph is without them."""

from __future__ import annotations

import numpy as np
import pytest

import edgepace


@pytest.fixture(scope="module")
def audited() -> edgepace.Audit:
    graph = edgepace.Graph.load("synthetic:homophily=0.9,nodes=300,edges=1500,seed=0")
    return edgepace.audit(graph, noise="fake=0.3", epochs=40, share=0.2, progress=False)


def test_issues_have_low_scores_and_are_mostly_fake(audited: edgepace.Audit) -> None:
    issues = audited.issues
    score, flagged, fake = (np.asarray(issues[name]) for name in ("edge_score", "is_edge_issue", "fake"))
    assert score.min() >= 0 and score.max() <= 1
    assert np.all(np.diff(score) >= 0), "the worst first"
    assert 0 < flagged.sum() <= 0.21 * len(flagged)
    assert fake[flagged].mean() > 2 * fake.mean()
    for name in ("agreement", "features", "neighbourhood"):
        contribution = np.asarray(issues[name])
        assert contribution.min() >= 0 and contribution.max() <= 1
    classes = [np.asarray(issues[end]) for end in ("source_class", "target_class")]
    assert np.all(classes[0][flagged] != classes[1][flagged])


def test_the_auc_is_that_of_the_scores(audited: edgepace.Audit) -> None:
    score, fake = np.asarray(audited.issues["edge_score"]), np.asarray(audited.issues["fake"])
    pairs = score[fake][:, None] - score[~fake][None, :]
    assert audited.auc == pytest.approx(np.mean(pairs < 0) + np.mean(pairs == 0) / 2)
    assert audited.summary["auc"] == audited.auc > 0.6


def test_a_cleaned_graph_is_without_its_issues(audited: edgepace.Audit) -> None:
    before = audited.result.graph
    after = audited.clean()
    assert after.num_edges == before.num_edges - 2 * audited.num_issues
    assert after.is_undirected
    gone = {tuple(edge) for edge in before.edge_index.T.tolist()} - {tuple(edge) for edge in after.edge_index.T.tolist()}
    flagged = np.asarray(audited.issues["is_edge_issue"])
    ends = np.stack([np.asarray(audited.issues[end])[flagged] for end in ("source", "target")])
    assert gone == {tuple(edge) for edge in np.concatenate([ends, ends[::-1]], axis=1).T.tolist()}


def test_issues_may_stay_with_less_weight(audited: edgepace.Audit) -> None:
    softer = audited.clean(weight=0.25)
    assert softer.num_edges == audited.result.graph.num_edges
    assert np.sum(softer.edge_weight == 0.25) == 2 * audited.num_issues
    assert edgepace.fit(softer, epochs=3, progress=False).test_score is not None


def test_labels_of_ones_own_take_the_place_of_the_graphs(graph: edgepace.Graph) -> None:
    labels = np.where(np.arange(300) % 2, "odd", "even")
    audited = edgepace.audit(graph, labels, epochs=5, progress=False)
    assert set(audited.issues["source_class"]) <= {"odd", "even"}


def test_what_cannot_be_audited_is_refused(audited: edgepace.Audit, graph: edgepace.Graph) -> None:
    with pytest.raises(edgepace.UsageError, match="says nothing about edges"):
        edgepace.audit(graph, method="vanilla", epochs=2, progress=False)
    with pytest.raises(edgepace.SettingError, match="share"):
        edgepace.audit(graph, share=2, epochs=2, progress=False)
    with pytest.raises(edgepace.GraphError, match="other edges"):
        audited.clean(graph)
    with pytest.raises(edgepace.SettingError, match="weight"):
        audited.clean(weight=-1)


def test_an_audit_shows_itself(audited: edgepace.Audit, tmp_path: object) -> None:
    assert "issues" in repr(audited)
    assert "<table>" in audited._repr_html_()
    audited.report(f"{tmp_path}/audit.html")
