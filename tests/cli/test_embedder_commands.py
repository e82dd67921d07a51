"""`semcache embedder evaluate`, `finetune` and `install` as a person calls them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers", reason="the train extra is not installed")
pytest.importorskip("sklearn", reason="the train extra is not installed")

from semcache.cli import embedder_finetune
from semcache.errors import ConfigError
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train.pairs import write
from tests.train.bases import tiny, traffic

Run = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = [pytest.mark.process, pytest.mark.filterwarnings("ignore")]
SHIPPED = {"SEMCACHE_EMBEDDER": "default"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("base"))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write(traffic(), path)
    return path


def log(path: Path, where: str = "branch") -> Path:
    lines = [
        {
            "messages": [{"role": "user", "content": f"{pair.one} in {where} {n}"}],
            "response": f"answer {n}",
            "model": "m",
        }
        for n, pair in enumerate(traffic(1))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_from_pairs_to_a_cache_that_uses_the_model(run: Run, base: Path, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    shape = ["--batch", "16", "--rate", "0.01", "--test-share", "0.2", "--check-share", "0.2", "--device", "cpu"]
    made = run("embedder", "finetune", pairs, "--out", out, "--base", base, *shape, "--json")
    assert made.returncode == 0, made.stderr
    report = json.loads(made.stdout)
    assert report["after"]["pairs"] == report["pairs"]["test"]
    assert "step" in made.stderr
    measured = run("embedder", "evaluate", pairs, "--model", "default", "--model", "onnx:model")
    assert measured.returncode == 0, measured.stderr
    assert "R at P 0.95" in measured.stdout
    assert "onnx:model" in measured.stdout

    assert run("import", log(tmp_path / "log.jsonl"), env=SHIPPED).returncode == 0
    installed = run("embedder", "install", out, "--json", env=SHIPPED)
    assert installed.returncode == 0, installed.stderr
    told = json.loads(installed.stdout)
    assert told["vectors"] == {report["embedder"]: told["switched"]}
    assert told["switched"] > 0
    pointer = json.loads((tmp_path / "data" / "embedder.json").read_text())
    folder = tmp_path / "data" / "models" / pointer["model"]
    assert OnnxEmbedder(folder).id == report["embedder"]
    assert not (folder / "weights").exists(), "a cache needs no training weights"
    assert run("import", log(tmp_path / "more.jsonl", "office"), env=SHIPPED).returncode == 0
    again = json.loads(run("embedder", "install", out, "--json", env=SHIPPED).stdout)
    assert (again["embedded"], again["switched"]) == (0, 0), "what was kept since then was embedded by the new model"
    assert again["vectors"] == {report["embedder"]: 2 * told["switched"]}
    back = json.loads(run("embedder", "install", "default", "--json", env=SHIPPED).stdout)
    assert (back["embedded"], back["switched"]) == (told["switched"], 2 * told["switched"])
    assert not (tmp_path / "data" / "embedder.json").exists()


def test_what_gained_nothing_is_not_installed(run: Run, base: Path, pairs: Path, tmp_path: Path) -> None:
    shape = ["--batch", "16", "--mix", "0", "--test-share", "0.2", "--check-share", "0.2", "--device", "cpu"]
    made = run("embedder", "finetune", pairs, "--out", "model", "--base", base, *shape, "--install", env=SHIPPED)
    assert made.returncode == 1, made.stderr
    assert "not installed: `semcache embedder install model` installs it all the same" in made.stderr
    assert not (tmp_path / "data" / "embedder.json").exists()
    assert (tmp_path / "model" / "model.json").is_file(), "it can be looked at, and installed"


def test_a_model_that_could_not_be_installed_is_not_trained(run: Run, base: Path, pairs: Path, tmp_path: Path) -> None:
    done = run("embedder", "finetune", pairs, "--base", base, "--install", env={"SEMCACHE_EMBEDDER": "hashing"})
    assert done.returncode == 2
    assert "'hashing', which would win over an installed one" in done.stderr
    assert not (tmp_path / "embedder").exists()


def test_a_folder_that_is_no_model_changes_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "junk").mkdir()
    done = run("embedder", "install", tmp_path / "junk", env=SHIPPED)
    assert done.returncode == 2
    assert "is no model folder" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_dimension_that_the_model_does_not_have_is_refused(run: Run, tmp_path: Path) -> None:
    from semcache.models.embedders import DEFAULT_MODEL

    model = tmp_path / "model"
    model.mkdir()
    for file in ("model.onnx", "tokenizer.json"):
        (model / file).symlink_to(DEFAULT_MODEL / file)
    card = json.loads((DEFAULT_MODEL / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**card, "dim": 256}))
    done = run("embedder", "install", model, env=SHIPPED)
    assert done.returncode == 2
    assert "gives 384 dimensions, not the 256" in done.stderr
    assert "the cache keeps the embedder that it has" in done.stderr
    assert not (tmp_path / "data" / "embedder.json").exists()


def test_a_setting_that_would_win_over_the_installed_model_is_named(run: Run, tmp_path: Path) -> None:
    done = run("embedder", "install", tmp_path, env={"SEMCACHE_EMBEDDER": "hashing"})
    assert done.returncode == 2
    assert "'hashing', which would win over an installed one" in done.stderr


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        ("left,right\nx,y\n", [], "no column for one, two, same"),
        ("one,two,same\nx,y,1\nz,w,1\n", [], "only pairs of the same answer"),
        ("one,two,same\nx,y,1\n", ["--columns", "one"], "write one=COLUMN"),
        (None, [], "cannot be read"),
    ],
)
def test_bad_pairs_are_one_line_of_error(
    run: Run, tmp_path: Path, content: str | None, options: list[str], told: str
) -> None:
    if content is not None:
        (tmp_path / "pairs.csv").write_text(content)
    done = run("embedder", "finetune", "pairs.csv", *options)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "embedder").exists()


def test_measuring_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch, pairs: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"semcache-llm\[train\]"):
        embedder_finetune.evaluate([pairs])


def test_too_few_names_leave_no_file_of_tokens(run: Run, tmp_path: Path) -> None:
    done = run("embedder", "federate", "server", "--tokens", "tokens.json", "--names", "ann,bob,ann")
    assert done.returncode == 2
    assert "'ann,bob,ann' names fewer than the 3 clients" in done.stderr
    assert not (tmp_path / "tokens.json").exists()


def test_a_table_of_words_is_refused_before_any_round(run: Run, tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "model.json").write_text('{"id": "t/static/1", "dim": 8, "kind": "static"}')
    done = run("embedder", "federate", "server", "--base", "table", "--tokens", "tokens.json", "--names", "a,b,c")
    assert done.returncode != 0
    assert "table is a table of words, no network" in done.stderr
    assert not (tmp_path / "tokens.json").exists()


def test_nothing_to_learn_from_is_said(run: Run) -> None:
    done = run("embedder", "finetune")
    assert done.returncode == 2
    assert "--labels or --logs" in done.stderr


def test_a_cache_without_labels_has_nothing_to_teach(run: Run, tmp_path: Path) -> None:
    assert run("import", log(tmp_path / "log.jsonl")).returncode == 0
    done = run("embedder", "finetune", "--labels")
    assert done.returncode == 2
    assert "0 pairs from 0 labels" in done.stderr
    assert "no pair" in done.stderr


def test_a_federation_without_its_tokens_says_how_to_make_them(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="needs the train extra")
    done = run("embedder", "federate", "server", "--tokens", tmp_path / "tokens.json", "--out", tmp_path / "model")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path / 'tokens.json'}: No such file")
    assert "--names" in done.stderr
