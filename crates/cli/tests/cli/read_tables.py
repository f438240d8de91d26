"""Reads the tables of a run in this folder as a user would: with pandas where it is, and with csv and json otherwise."""

import csv
import json

EDGES = (
    "source target source_name target_name suspicion difficulty first_epoch weight source_class target_class "
    "feature_similarity jaccard fake"
).split()
PREDICTIONS = "node name class probability label split p_book p_toy".split()


def plain(name):
    with open(name, encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            return list(csv.DictReader(file))
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in file]
        return json.load(file)


def check_plain():
    for name, columns, rows in [("p", PREDICTIONS, 60), ("e", EDGES, None)]:
        tables = [plain(f"{name}.{form}") for form in ("csv", "json", "jsonl")]
        for table in tables:
            assert list(table[0]) == columns, list(table[0])
            assert rows in (None, len(table)), len(table)
        assert tables[1] == tables[2]
        for row, same in zip(*tables[:2], strict=True):
            for column in columns:
                text, value = row[column], same[column]
                if isinstance(value, bool):
                    assert text == str(value).lower()
                elif isinstance(value, (int, float)):
                    assert float(text) == value
                else:
                    assert text == (value or "")
    edges = plain("run/seed-0/edges.csv")
    assert edges == plain("e.csv"), "train and audit write the same"
    events = plain("run/seed-0/history.jsonl")
    assert {event["event"] for event in events} == {"epoch", "update"}


def check_pandas(pd):
    frames = {}
    for form, read in [("csv", pd.read_csv), ("json", pd.read_json), ("parquet", pd.read_parquet)]:
        for name in "pe":
            try:
                frames[name, form] = read(f"{name}.{form}")
            except ImportError:  # pandas reads Parquet by another package
                continue
            frame = frames[name, form]
            assert list(frame.columns) == (PREDICTIONS if name == "p" else EDGES)
            assert len(frame) == len(plain(f"{name}.csv"))
    for name in "pe":
        assert len(pd.read_json(f"{name}.jsonl", lines=True)) == len(frames[name, "csv"])
    predictions = frames["p", "csv"]
    assert predictions.probability.dtype == float and predictions.node.dtype == int
    assert predictions.label.isna().sum() == 40 and set(predictions["class"]) == {"book", "toy"}
    edges = frames["e", "csv"]
    assert edges.fake.dtype == bool and edges.suspicion.is_monotonic_decreasing
    assert pd.read_csv("run/seed-0/edges.csv").equals(edges)
    history = pd.read_json("run/seed-0/history.jsonl", lines=True)
    assert history[history.event == "epoch"].loss.notna().all()


check_plain()
try:
    import pandas
except ImportError:
    pass
else:
    check_pandas(pandas)
