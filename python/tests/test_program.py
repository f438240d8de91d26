"""The package and the program give the same."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import edgepace


def program(*words: str, cwd: object = None) -> subprocess.CompletedProcess[str]:
    """The program as the package brings it."""
    call = [sys.executable, "-c", "import sys; from edgepace._main import main; sys.exit(main())", *words]
    return subprocess.run(call, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize(
    ("dataset", "flags", "settings"),
    [
        ("synthetic:homophily=0.3,nodes=300,edges=1800,seed=0", [], {}),
        ("synthetic:homophily=0.3,nodes=300,edges=1800,seed=0", ["--noise", "fake=0.5", "--set", "keep=method"], {"noise": "fake=0.5", "keep": "method"}),
        ("blocks:nodes=300,edges=900,seed=3", ["--method", "vanilla", "--backbone", "sage", "--split", "fraction:0.5:0.25"], {"method": "vanilla", "backbone": "sage", "split": "fraction:0.5:0.25"}),
    ],
)
def test_fit_gives_the_bits_of_the_program(dataset: str, flags: list[str], settings: dict[str, str]) -> None:
    said = program("train", dataset, "--epochs", "20", "--seed", "2", "--json", "-q", *flags)
    assert said.returncode == 0, said.stderr
    (run,) = json.loads(said.stdout)["runs"]
    result = edgepace.fit(edgepace.Graph.load(dataset), epochs=20, seed=2, progress=False, **settings)
    ours = result.record["result"]
    assert result.test_score == run["test"]
    for key in ("id", "validation", "best_epoch", "split_hash", "metrics", "temperature", "kept"):
        assert ours[key] == run[key], key


def test_the_program_comes_with_the_package() -> None:
    said = program("--version")
    assert said.returncode == 0
    assert said.stdout.strip() == f"edgepace {edgepace.__version__}"


def test_the_program_says_by_its_exit_code_what_it_could_not_do() -> None:
    said = program("train", "no-such-dataset")
    assert said.returncode == 2
    assert "error:" in said.stderr


def test_what_the_program_is_asked_goes_into_its_errors_as_json() -> None:
    said = program("train", "--no-such-flag", "--json")
    assert json.loads(said.stderr)["error"]["message"]


def test_a_saved_result_predicts_through_the_program(result: edgepace.Result, tmp_path: object) -> None:
    result.save(f"{tmp_path}/run")
    said = program("predict", f"{tmp_path}/run/model.safetensors", "-o", f"{tmp_path}/out.csv")
    assert said.returncode == 0, said.stderr
    lines = open(f"{tmp_path}/out.csv").read().splitlines()
    column = lines[0].split(",").index("class")
    found = np.array([int(line.split(",")[column]) for line in lines[1:]])
    assert np.array_equal(found, result.predict())
