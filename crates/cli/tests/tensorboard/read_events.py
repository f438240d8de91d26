"""Compares the event files of a run, read by TensorBoard, with its history: read_events.py RUN LOGS"""

import json
import pathlib
import sys

from tensorboard.backend.event_processing import event_file_loader
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util


def expected(history):
    """Tag → [(step, value)], from the lines of a history."""
    scalars, candidate = {}, None
    for event in map(json.loads, history):
        if event["event"] == "candidate":
            candidate = f"{event['number']} {event['name']}"
            continue
        warm = event.get("phase") == "warmstart"
        if candidate:
            place = candidate + (", warm start" if warm else "")
        else:
            place = "warm start" if warm else "training"
        if event["event"] == "update":
            values = {"objective": event["objective"] and event["objective"][1]}
        else:
            values = {name: event[name] for name in ("loss", "validation", "edges")}
        for name, value in values.items():
            if value is not None:
                scalars.setdefault(f"{name}/{place}", []).append((event["epoch"], value))
    return scalars


run, logs = map(pathlib.Path, sys.argv[1:])
seeds = sorted(path.name for path in logs.iterdir())
assert seeds == sorted(path.name for path in run.glob("seed-*")), seeds
for seed in seeds:
    scalars = expected((run / seed / "history.jsonl").read_text().splitlines())
    events = EventAccumulator(str(logs / seed), size_guidance={"tensors": 0})
    events.Reload()
    found = {
        tag: [(event.step, float(tensor_util.make_ndarray(event.tensor_proto))) for event in events.Tensors(tag)]
        for tag in events.Tags()["tensors"]
        if tag != "settings"
    } or {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    assert found.keys() == scalars.keys(), (found.keys(), scalars.keys())
    for tag, points in scalars.items():
        assert [step for step, _ in found[tag]] == [step for step, _ in points], tag
        for (_, value), (_, told) in zip(found[tag], points, strict=True):
            assert abs(value - told) <= 1e-6 * max(1, abs(told)), (tag, value, told)
    settings = (run / "config.toml").read_text().split("\n", 1)[1]
    (text,) = (tensor_util.make_ndarray(event.tensor_proto) for event in events.Tensors("settings"))
    assert text.item().decode() == f"```toml\n{settings}```\n"
    assert events.SummaryMetadata("settings").plugin_data.plugin_name == "text"
    times = [event.wall_time for event in event_file_loader.EventFileLoader(str(next((logs / seed).iterdir()))).Load()]
    assert times == sorted(times) and len(times) > 2
