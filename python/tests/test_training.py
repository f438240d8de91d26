"""Runs: the same result however they are done, and refusals before the first epoch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import NAME, triangles

import edgepace


def same(a: edgepace.Result, b: edgepace.Result) -> bool:
    return a.id == b.id and np.array_equal(a.logits, b.logits)


def test_a_result_has_scores_predictions_and_edges(result: edgepace.Result, graph: edgepace.Graph) -> None:
    assert 0 < result.test_score <= 100
    assert result.scores["accuracy"]["test"] == result.test_score
    probabilities = result.predict_proba()
    assert probabilities.shape == (300, graph.num_classes)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(result.classes[probabilities.argmax(axis=1)], result.predict())
    accuracy = 100 * np.mean(result.predict()[result.split["test"]] == graph.y[result.split["test"]])
    assert accuracy == pytest.approx(result.test_score)
    assert len(result.history["loss"]) == 30
    assert len(result.edges["source"]) == 1800
    suspicion = np.asarray(result.edges["suspicion"])
    assert np.all(np.diff(suspicion) <= 0)
    assert suspicion.min() >= 0 and suspicion.max() <= 1


def test_embeddings_decode_to_the_logits(graph: edgepace.Graph) -> None:
    # Of one epoch: where a window of them answers, embeddings are of its last.
    result = edgepace.fit(graph, epochs=30, ground="paper", progress=False)
    embeddings = result.embeddings
    assert embeddings.shape == (300, result.config["hidden"])
    # The decoder is linear: logits are a linear map of embeddings.
    _, residual, _, _ = np.linalg.lstsq(embeddings.astype(float), result.logits.astype(float), rcond=None)
    assert residual.size == 0 or residual.max() < 1e-4


@pytest.mark.parametrize("method", sorted(edgepace.methods()))
def test_every_method_predicts_and_comes_back_from_files(method: str, tmp_path: object) -> None:
    small = edgepace.Graph.load("synthetic:homophily=0.5,nodes=120,edges=500,seed=0")
    backbone = edgepace.methods()[method]["backbones"][0]
    result = edgepace.fit(small, method, backbone, epochs=12, seed=1, progress=False)
    assert result.predict().shape == (120,)
    assert np.allclose(result.predict_proba().sum(axis=1), 1)
    embeddings = result.embeddings
    assert embeddings is None or embeddings.shape == (120, result.config["hidden"])
    result.save(f"{tmp_path}/run")
    back = edgepace.Result.load(f"{tmp_path}/run")
    if method == "pro-gnn":
        # Its matrix of all pairs is saved as edges, whose sums are rounded otherwise.
        assert np.allclose(back.logits, result.logits, rtol=1e-4, atol=1e-4)
    else:
        assert np.array_equal(back.logits, result.logits)
    assert back.record == result.record
    assert np.array_equal(back.embeddings, embeddings) if embeddings is not None else back.embeddings is None
    if edgepace.methods()[method]["orders_edges"]:
        assert len(result.edges["source"]) == 500
    else:
        with pytest.raises(edgepace.UsageError, match="says nothing about edges"):
            result.edges


def test_a_pool_is_the_weighted_answer_of_its_experts(graph: edgepace.Graph) -> None:
    pool = edgepace.fit(graph, method="auto", epochs=20, progress=False)
    assert [expert["expert"] for expert in pool.experts] == ["mlp", "gcn", "sage", "rcl", "belief 0.5", "belief 1", "labels"]
    assert sum(expert["weight"] for expert in pool.experts) > 0
    assert pool.embeddings is None
    assert "edges" not in pool.history
    assert len(pool.edges["source"]) == 1800, "those of the expert that orders them"
    assert "auto on gcn" in repr(pool) and "belief 0.5" in pool._repr_html_()


def test_a_pool_predicts_another_graph_and_does_so_again_from_its_files(tmp_path: Path) -> None:
    name = "synthetic:homophily=0.8,nodes=200,edges=800,classes=3"
    graph, other = (edgepace.Graph.load(f"{name},seed={seed}") for seed in (0, 1))
    pool = edgepace.fit(graph, method="auto", epochs=60, progress=False)
    predicted = pool.predict(other)
    assert np.mean(predicted == other.y) > 0.75
    pool.save(tmp_path)
    back = edgepace.Result.load(tmp_path)
    assert np.array_equal(back.predict_proba(other), pool.predict_proba(other))
    with pytest.raises(edgepace.SettingError, match="belief, which keeps its answers"):
        edgepace.fit(graph, method="belief", epochs=20, progress=False).predict(other)


def test_one_expert_that_is_picked_is_a_network(graph: edgepace.Graph) -> None:
    picked = edgepace.fit(graph, method="auto", pick=True, epochs=20, progress=False)
    chosen = [expert["expert"] for expert in picked.experts if expert["weight"] == 1]
    assert chosen == [picked.record["result"]["chosen"]]
    alone = next(expert for expert in picked.experts if expert["expert"] == chosen[0])
    assert alone["test"] == picked.test_score


def test_threads_do_not_change_the_result(graph: edgepace.Graph, result: edgepace.Result) -> None:
    assert same(edgepace.fit(graph, epochs=30, keep="method", threads=1, progress=False), result)


def test_eight_threads_of_python_give_what_one_gives(graph: edgepace.Graph, result: edgepace.Result) -> None:
    with ThreadPoolExecutor(8) as pool:
        all_results = list(pool.map(lambda _: edgepace.fit(graph, epochs=30, keep="method", progress=False), range(8)))
    assert all(same(other, result) for other in all_results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_after_a_fork_the_child_gives_the_same(graph: edgepace.Graph, result: edgepace.Result) -> None:
    code = f"""
import os, sys
import edgepace
graph = edgepace.Graph.load({NAME!r})
before = edgepace.fit(graph, epochs=30, keep="method", progress=False)
index = graph.edge_index
curriculum = edgepace.Curriculum(index, graph.num_nodes, graph.x, total_epochs=30)
curriculum.step(logits=before.logits)
child = os.fork()
if child == 0:
    after = edgepace.fit(graph, epochs=30, keep="method", progress=False)
    for _ in range(20):
        curriculum.step(logits=before.logits)
    os._exit(0 if (after.logits == before.logits).all() and curriculum.epoch == 21 else 1)
print(before.test_score)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == result.test_score


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_a_long_run_at_once() -> None:
    code = """
import signal, sys
import edgepace
# Whoever started the tests in the background may have told all that comes of them to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
graph = edgepace.Graph.load("synthetic:homophily=0.3,seed=0")
def tell(done, total):
    print("running", flush=True)
try:
    edgepace.fit(graph, epochs=100000, progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    # A second on an idle machine; the run itself would take many minutes.
    watch = threading.Timer(30, run.kill)
    watch.start()
    try:
        assert run.stdout.readline() == "running\n"
        run.send_signal(signal.SIGINT)
        assert "interrupted\n" in list(run.stdout)
        assert run.wait() == 7
    finally:
        watch.cancel()


def test_others_may_use_the_interpreter_meanwhile(graph: edgepace.Graph) -> None:
    counted = 0
    over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    edgepace.fit(graph, epochs=200, progress=False)
    over.set()
    other.join()
    assert counted > 10


def test_progress_is_told_and_may_break_off(graph: edgepace.Graph) -> None:
    told: list[tuple[int, int]] = []
    edgepace.fit(graph, epochs=20, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (80, 80), "20 epochs, and those of plain training on two grounds and of the warm start"

    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        edgepace.fit(graph, epochs=5000, progress=stop)


def test_a_run_can_be_stepped_saved_and_resumed_to_the_same_bits(graph: edgepace.Graph, result: edgepace.Result, tmp_path: object) -> None:
    run = edgepace.Run(graph, epochs=30, keep="method")
    events = []
    while run.progress[0] < 40:
        events += run.step()
    run.save(f"{tmp_path}/checkpoint")
    assert {event["event"] for event in events} == {"epoch", "update"}
    resumed = edgepace.Run(graph, epochs=30, keep="method", resume=f"{tmp_path}/checkpoint")
    assert resumed.progress[0] == 40
    assert same(resumed.result(), result)
    assert same(run.result(), result)
    with pytest.raises(edgepace.FileError, match="another run: `config.epochs` is 30, expected 31"):
        edgepace.Run(graph, epochs=31, keep="method", resume=f"{tmp_path}/checkpoint")


def test_a_run_can_be_stopped_with_what_it_has(graph: edgepace.Graph) -> None:
    run = edgepace.Run(graph, epochs=1000, method="vanilla")
    for event in run:
        if event["epoch"] == 9:
            break
    stopped = run.stop()
    assert stopped.epochs == 10
    assert stopped.record["result"]["stopped"]
    assert run.step() is None
    with pytest.raises(edgepace.UsageError):
        run.stop()
    with pytest.raises(edgepace.UsageError):
        run.save("never")


def test_a_graph_that_changes_under_a_run_is_found_out() -> None:
    index, x, y = triangles()
    graph = edgepace.Graph(index, x=x, y=y, train_mask=[0, 5], val_mask=[1, 4])
    run = edgepace.Run(graph, epochs=10)
    run.step()
    x[2, 0] = -3.0
    with pytest.raises(edgepace.GraphChangedError, match="written to"):
        run.result()


def test_a_run_in_use_by_another_thread_says_so(graph: edgepace.Graph) -> None:
    run = edgepace.Run(graph, epochs=3000, method="vanilla")
    began = threading.Event()
    other = threading.Thread(target=lambda: run.result(progress=lambda done, total: began.set()))
    other.start()
    assert began.wait(60)
    with pytest.raises(edgepace.UsageError, match="another thread"):
        run.step()
    other.join()
    assert run.result().epochs == 3000


def test_a_saved_result_comes_back(result: edgepace.Result, tmp_path: object) -> None:
    result.save(f"{tmp_path}/run")
    back = edgepace.Result.load(f"{tmp_path}/run")
    assert back.record == result.record
    assert np.array_equal(back.predict(), result.predict())
    assert np.array_equal(back.predict_proba(), result.predict_proba())
    assert np.array_equal(back.embeddings, result.embeddings)
    for column in ("source", "target", "suspicion", "difficulty", "first_epoch", "weight"):
        assert np.array_equal(np.asarray(back.edges[column]), np.asarray(result.edges[column])), column
    with pytest.raises(edgepace.FileError, match="no result"):
        edgepace.Result.load(tmp_path)


def test_labels_and_names_of_ones_own_come_back_in_results(tmp_path: object) -> None:
    index, x, _ = triangles()
    labels = ["left", "left", None, None, "right", "right"]
    graph = edgepace.Graph(index, x=x, y=labels, node_names=["a", "b", "c", "d", "e", "f"], train_mask=[0, 5], val_mask=[1, 4])
    result = edgepace.fit(graph, epochs=60, keep="method", progress=False)
    assert result.test_score is None
    assert result.predict().tolist() == ["left"] * 3 + ["right"] * 3
    assert set(result.edges["source"]) <= set("abcdef")
    worst = [np.asarray(result.edges[end])[0] for end in ("source", "target")]
    assert sorted(worst) == ["c", "d"], "the edge between the triangles"
    result.save(f"{tmp_path}/run")
    back = edgepace.Result.load(f"{tmp_path}/run")
    assert back.predict().tolist() == result.predict().tolist()
    assert [np.asarray(back.edges[end])[0] for end in ("source", "target")] == worst


def test_a_model_predicts_for_another_graph(result: edgepace.Result) -> None:
    other = edgepace.Graph.load("synthetic:homophily=0.3,nodes=150,edges=900,seed=0")
    assert result.predict(other).shape == (150,)
    with pytest.raises(edgepace.SettingError, match="columns"):
        result.predict(edgepace.Graph([[0], [1]], x=np.eye(2, 7), y=[0, 1]))


def test_a_report_is_a_page_of_its_own(result: edgepace.Result, tmp_path: object) -> None:
    result.report(f"{tmp_path}/run.html")
    page = open(f"{tmp_path}/run.html", encoding="utf-8").read()
    assert page.startswith("<!") and "<svg" in page
    with pytest.raises(edgepace.SettingError, match=r"\.html"):
        result.report(f"{tmp_path}/run.pdf")


def test_a_result_shows_itself(result: edgepace.Result) -> None:
    assert "rcl on gcn" in repr(result)
    assert "<polyline" in result._repr_html_()


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"method": "rlc"}, edgepace.SettingError, "did you mean `rcl`"),
        ({"backbone": "gat"}, edgepace.SettingError, "backbone"),
        ({"epochs": 0}, edgepace.SettingError, "between 1 and 1000000"),
        ({"hidden": "many"}, edgepace.SettingError, "units of the hidden layer"),
        ({"no_such": 1}, edgepace.SettingError, "no_such"),
        ({"hidden": [8]}, edgepace.SettingError, "list"),
        ({"seed": -1}, edgepace.SettingError, "seed"),
        ({"seed": 1.5}, edgepace.SettingError, "seed"),
        ({"threads": 0}, edgepace.SettingError, "threads"),
        ({"noise": "fake=-1"}, edgepace.SettingError, "fake"),
        ({"split": "kfold:1:0"}, edgepace.SettingError, "kfold"),
        ({"split": "no-such"}, edgepace.SettingError, "no-such"),
        ({"lr": 1e30, "epochs": 50}, edgepace.DivergedError, "not finite"),
    ],
)
def test_what_cannot_run_is_refused(graph: edgepace.Graph, settings: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        edgepace.fit(graph, progress=False, **settings)
    assert said in str(caught.value)


def test_what_is_no_graph_or_has_no_labels_is_refused() -> None:
    with pytest.raises(edgepace.SettingError, match="expected an edgepace.Graph"):
        edgepace.fit(np.eye(3))
    with pytest.raises(edgepace.GraphError, match="no labels"):
        edgepace.fit(edgepace.Graph([[0], [1]], 2))


def test_import_is_quick_and_brings_nothing_else() -> None:
    # Time of the processor, which does not depend on what else the machine does.
    code = "import sys, time; t = time.process_time(); import edgepace; print(time.process_time() - t, 'numpy' in sys.modules)"
    took, numpy = min(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in range(3))
    assert float(took) < 0.1
    assert numpy == "False"


def test_every_name_that_is_offered_is_there() -> None:
    for name in edgepace.__all__:
        if name in ("EdgepaceClassifier", "lightning", "pyg", "sklearn"):
            continue  # they need packages that may not be there
        assert getattr(edgepace, name) is not None
    with pytest.raises(AttributeError):
        edgepace.no_such_name
