"""`semcache embedder synthesize`: what it reads, writes and refuses, through the real command."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from semcache.cli.embedder_synthesize import synthesize
from semcache.errors import InvalidArgument, StoreError
from semcache.train import pairs
from semcache.train.recipe import authored

app = typer.Typer(pretty_exceptions_enable=False)
app.command("synthesize")(synthesize)

PROMPTS = ["How do I reset my PIN?", "What is the capital of France?", "Cancel my 2 orders before Monday"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    # Authored pairs are looked for with a model; one test has them.
    written = () if "--written" in arguments else ("--written", "0")
    return CliRunner().invoke(app, [*arguments, *written], catch_exceptions=False)


def report(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_text_becomes_pairs_that_training_reads() -> None:
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    told = report("p.txt", "--each", "8", "--out", "made/pairs.jsonl")
    found = pairs.read(Path("made/pairs.jsonl"))
    assert told["pairs"] == len(found) > 12
    assert told["prompts"] == 3
    assert {pair.same for pair in found} == {True, False}
    assert all(pair.kind and pair.made for pair in found)


def test_the_same_command_writes_the_same_file() -> None:
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    files = [Path(name) for name in ("a.jsonl", "b.jsonl")]
    for file in files:
        run("p.txt", "--out", str(file))
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "How do I reset my PIN?"},
        {"question": "How do I reset my PIN?", "answer": "like this"},
        {"messages": [{"role": "user", "content": "How do I reset my PIN?"}]},
        {"messages": [{"role": "user", "content": "How do I reset my PIN?"}, {"role": "assistant", "content": "so"}]},
        {"request": {"model": "m", "messages": [{"role": "user", "content": "How do I reset my PIN?"}]}},
    ],
)
def test_json_lines_and_logs(row: dict[str, Any]) -> None:
    with gzip.open("p.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    assert report("p.jsonl.gz")["pairs"] > 0
    assert any("reset my PIN" in pair.one + pair.two for pair in pairs.read(Path("pairs.jsonl")))


def test_a_column_that_is_named(tmp_path: Path) -> None:
    Path("p.jsonl").write_text('{"q": "How do I reset my PIN?"}\n{"z": 1}\n', encoding="utf-8")
    told = report("p.jsonl", "--column", "q")
    assert told["broken"] == 1
    assert "'q'" in told["broken_lines"][0]["error"]


def test_kinds_are_chosen_and_left_out() -> None:
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    told = report("p.txt", "--only", "entity,greeting,negation", "--without", "negation", "--each", "9")
    assert set(told["kinds"]) == {"entity", "greeting"}
    with pytest.raises(InvalidArgument, match="entitty"):
        run("p.txt", "--only", "entitty", "--out", "other.jsonl")


def test_broken_lines_cost_nothing_but_themselves() -> None:
    Path("p.txt").write_bytes("\n".join(PROMPTS).encode() + b"\n\xff\xfe\n{broken\n")
    told = report("p.txt")
    assert told["broken"] == 2
    assert told["prompts"] == 3


def test_nothing_is_overwritten_and_no_half_file_is_left() -> None:
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    Path("pairs.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="--force"):
        run("p.txt")
    Path("empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="no prompt"):
        run("empty.txt", "--force")
    with pytest.raises(StoreError, match=r"gone\.txt"):
        run("gone.txt", "--force")
    assert Path("pairs.jsonl").read_text(encoding="utf-8") == "mine"
    assert not list(Path().glob(".*.part"))
    run("p.txt", "--force")
    assert pairs.read(Path("pairs.jsonl"))


def test_a_model_that_talks_nonsense_is_counted_beside_the_rules() -> None:
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    told = report("p.txt", "--model", "any", "--url", "echo")
    assert told["asked"] == 3
    assert told["dropped"]["bad reply"] == 6
    assert told["pairs"] > 0
    with pytest.raises(InvalidArgument, match="bad reply"):
        run("p.txt", "--each", "0", "--model", "any", "--url", "echo", "--out", "other.jsonl")
    assert not Path("other.jsonl").exists()


def test_why_no_model_answered_is_said_where_there_is_no_pair() -> None:
    Path("p.txt").write_text(PROMPTS[0], encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"no pair could be made: .*127\.0\.0\.1"):
        run("p.txt", "--each", "0", "--model", "any", "--url", "http://127.0.0.1:1/v1")


def test_text_in_utf_16_is_named_and_gives_no_pair_of_nuls() -> None:
    Path("p.txt").write_bytes("\n".join(PROMPTS).encode("utf-16-le"))
    with pytest.raises(InvalidArgument, match="iconv -f UTF-16"):
        run("p.txt")
    assert not Path("pairs.jsonl").exists()


def test_a_folder_that_cannot_be_written_to_is_one_line_of_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")

    def read_only(self: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "unlink", read_only)
    monkeypatch.setattr(pairs, "write", lambda _, path: read_only(path))
    with pytest.raises(StoreError, match=r"a\.jsonl cannot be written: Read-only file system"):
        run("p.txt", "--out", "a.jsonl")


def test_a_backend_that_is_down_leaves_the_pairs_by_rules() -> None:
    Path("p.txt").write_text("\n".join(PROMPTS * 4), encoding="utf-8")
    told = report("p.txt", "--model", "any", "--url", "http://127.0.0.1:1/v1")
    assert "127.0.0.1" in told["model_failed"]
    assert told["pairs"] > 0


@pytest.mark.slow
def test_authored_pairs_near_the_prompts_are_added_by_themselves_but_not_beside_chosen_kinds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = [group for at, group in enumerate(authored.groups()) if at % 40 == 0 or "PIN" in group.prompt]
    monkeypatch.setattr(authored, "groups", lambda: iter(some))
    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    CliRunner().invoke(app, ["p.txt"], catch_exceptions=False)
    found = pairs.read(Path("pairs.jsonl"))
    assert {pair.made.partition(":")[0] for pair in found} == {"rule", "written"}
    assert any("PIN" in pair.one + pair.two for pair in found if pair.made.startswith("written:"))
    CliRunner().invoke(app, ["p.txt", "--only", "greeting", "--force"], catch_exceptions=False)
    assert all(pair.made.startswith("rule:") for pair in pairs.read(Path("pairs.jsonl")))
    told = report("p.txt", "--each", "0", "--written", "1", "--force")
    assert {pair.made.partition(":")[0] for pair in pairs.read(Path("pairs.jsonl"))} == {"written"}
    assert told["lines"] == 3


def test_kinds_are_listed() -> None:
    assert "negation" in run("p.txt", "--kinds").stdout


@pytest.mark.parametrize(("name", "mark", "separator"), [("p.csv", "\ufeff", ","), ("p.tsv", "", "\t")])
def test_the_prompts_of_a_table_are_those_of_its_column(name: str, mark: str, separator: str) -> None:
    rows = [["id", "prompt", "answer"], ["1", '"How do I reset my PIN?"', "yes"], ["2", '"Cancel my 2\norders"', "no"]]
    Path(name).write_text(mark + "\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")
    told = report(name, "--out", "a.jsonl", "--each", "1")
    assert (told["prompts"], told["broken"]) == (2, 0)
    assert not any("prompt" in pair.one or "yes" in pair.one for pair in pairs.read(Path("a.jsonl")))
    assert report(name, "--column", "answer", "--out", "b.jsonl", "--each", "4")["prompts"] == 2
    with pytest.raises(InvalidArgument, match=r"which column .* 'left', 'right': name it with --column"):
        Path(name).write_text(f"left{separator}right\n1{separator}2\n", encoding="utf-8")
        run(name, "--out", "c.jsonl")
    with pytest.raises(InvalidArgument, match=r":2: no table in UTF-8"):
        Path(name).write_bytes(b"prompt\ngr\xfc\xdf\n")
        run(name, "--out", "c.jsonl")


def test_a_packed_file_that_was_cut_off_gives_what_is_left_and_says_so() -> None:
    packed = gzip.compress("".join(f"How do I cancel order {n} of {n * 7919}?\n" for n in range(2000)).encode())
    Path("p.gz").write_bytes(packed[: len(packed) // 2])
    told = report("p.gz", "--out", "a.jsonl", "--each", "1")
    assert told["prompts"] > 100
    assert (told["broken"], "damaged from here on" in told["broken_lines"][0]["error"]) == (1, True)


def test_what_cannot_be_read_twice_is_refused_before_any_work() -> None:
    with pytest.raises(InvalidArgument, match="read more than once"):
        run("/dev/null", "--out", "a.jsonl")


def test_two_runs_for_one_file_do_not_mix_what_they_write(monkeypatch: pytest.MonkeyPatch) -> None:
    from semcache.cli import embedder_synthesize

    Path("p.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
    written = pairs.write

    def beside(made: Any, path: Path) -> None:
        monkeypatch.setattr(pairs, "write", written)
        monkeypatch.setattr(embedder_synthesize.os, "getpid", lambda: 2)
        run("p.txt", "--out", "a.jsonl", "--each", "1")
        monkeypatch.setattr(embedder_synthesize.os, "getpid", lambda: 1)
        written(made, path)

    monkeypatch.setattr(pairs, "write", beside)
    monkeypatch.setattr(embedder_synthesize.os, "getpid", lambda: 1)
    run("p.txt", "--out", "a.jsonl", "--each", "8", "--force")
    assert len(pairs.read(Path("a.jsonl"))) > 3
    assert not list(Path().glob(".a.jsonl*"))
