"""Files of pairs: what is read from them, and what a person is told about a bad one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import InvalidArgument, StoreError
from semcache.train.pairs import Pair, both_classes, read, write

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
pairs = st.builds(Pair, words, words, st.booleans(), st.sampled_from(["", "number"]), st.sampled_from(["", "rule"]))


@given(st.lists(pairs, min_size=1, max_size=5))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, given_pairs: list[Pair]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    write(given_pairs, path)
    assert read(path) == given_pairs


def test_tables_with_the_usual_names_need_no_mapping(tmp_path: Path) -> None:
    csv, tsv, packed = tmp_path / "a.csv", tmp_path / "b.tsv", tmp_path / "c.jsonl.gz"
    csv.write_text('\ufeffquestion1,question2,is_duplicate\n"one, and",two,1\n')
    tsv.write_text("sentence1\tsentence2\tlabel\none\ttwo\t0\n")
    packed.write_bytes(gzip.compress(json.dumps({"a": "one", "b": "two", "same_answer": True}).encode()))
    assert read(csv) == [Pair("one, and", "two", True)]
    assert read(tsv) == [Pair("one", "two", False)]
    assert read(packed) == [Pair("one", "two", True)]


def test_columns_of_other_names_are_mapped_and_triplets_give_two_pairs(tmp_path: Path) -> None:
    mapped, triplets = tmp_path / "a.csv", tmp_path / "b.jsonl"
    mapped.write_text("left,right,dup\nx,y,yes\n")
    triplets.write_text('{"anchor": "x", "positive": "y", "negative": "z"}\n')
    assert read(mapped, {"one": "left", "two": "right", "same": "dup"}) == [Pair("x", "y", True)]
    assert read(triplets) == [Pair("x", "y", True), Pair("x", "z", False)]


def test_triplets_whose_first_has_no_negative_keep_those_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"anchor": "x", "positive": "y"}\n{"anchor": "p", "positive": "q", "negative": "r"}\n'
        '{"one": "a", "two": "b", "same": false, "kind": "number"}\n'
    )
    assert read(path) == [
        Pair("x", "y", True), Pair("p", "q", True), Pair("p", "r", False), Pair("a", "b", False, "number"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"left,right\nx,y\n", ["no column for one, two, same", "'left', 'right'", "--columns one=COLUMN"]),
        ("a.csv", b"one,two,same\nx,y,maybe\n", ["a.csv:2", "same is 'maybe'", "not 1 or 0"]),
        ("a.csv", b"one,two,same\nx,,1\n", ["a.csv:2", "two is ''", "not a text"]),
        ("a.csv", "one,two,same\nx,y,1\ngr\xfc\xdf,y,1\n".encode("latin-1"), ["a.csv:3", "not UTF-8", "convert"]),
        ("a.jsonl", b'{"one": "x", "two": "y", "same": 1}\n{"one": \n', ["a.jsonl:2", "no JSON"]),
        ("a.jsonl", b'{"one": "x", "two": 3, "same": 1}\n', ["a.jsonl:1", "two is 3"]),
        ("a.jsonl", b"[1]\n", ["a.jsonl:1", "list instead of an object"]),
        ("a.jsonl", b'{"one": "x", "two": "y", "same": 1}\n{"one": "x"}\n', ["a.jsonl:2", "no column for two, same"]),
        ("a.csv", b'one,two,same\n"x,y,1\n' + b"z" * 200_000, ["a.csv:", "field limit", "close the quotation mark"]),
        ("a.jsonl", b"\n", ["is empty"]),
    ],
)
def test_a_bad_file_is_refused_with_the_line_and_the_remedy(
    tmp_path: Path, name: str, content: bytes, told: list[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidArgument) as error:
        read(tmp_path / name)
    assert [part for part in told if part not in str(error.value)] == []


def test_a_file_that_is_not_there_or_damaged_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.jsonl cannot be read"):
        read(tmp_path / "none.jsonl")
    packed = gzip.compress(b'{"one": "x"}' * 99)
    for damaged in (packed[:-15], packed[:12] + b"\xff" * 8 + packed[20:]):
        (tmp_path / "cut.jsonl.gz").write_bytes(damaged)
        with pytest.raises(StoreError, match=r"cut\.jsonl\.gz cannot be read"):
            read(tmp_path / "cut.jsonl.gz")


def test_half_a_character_is_replaced_as_no_tokenizer_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"one": "sent from my phone \\ud83d", "two": "\\ud83d\\ude00", "same": 1}')
    assert read(tmp_path / "a.jsonl") == [Pair("sent from my phone ?", "\U0001f600", True)]


@pytest.mark.parametrize(
    ("same", "told"), [([True, True], "only pairs of the same"), ([], "no pair"), ([False], "only")]
)
def test_one_class_is_not_enough(same: list[bool], told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        both_classes([Pair("a", "b", value) for value in same], "these")


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('a\tb\t0\n"What is x\tfoo\t1\na\tb\t0\nc" d\te\t1\nf\tg\t0\n', 3),
        ('"Quoted" word first\tfoo\t1\na\tb\t0\n', 2),
        ('"What is x\tfoo\t1\na\tthey said "yes"\t0\n', 2),
        ('a\tb\t0\n"What is x\tfoo\t1\n', 3),
    ],
)
def test_a_mark_at_the_start_of_a_field_swallows_no_rows(tmp_path: Path, rows: str, line: int) -> None:
    (tmp_path / "a.tsv").write_text("one\ttwo\tsame\n" + rows)
    with pytest.raises(InvalidArgument, match=rf"a\.tsv:{line}: .* write JSON lines"):
        read(tmp_path / "a.tsv")


def test_quoted_fields_of_a_table_of_tabs_may_hold_lines_and_marks(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('one\ttwo\tsame\n"a\nb"\t"say ""c"""\t1\nsay "d"\te\t0\n')
    assert read(tmp_path / "a.tsv") == [Pair("a\nb", 'say "c"', True), Pair('say "d"', "e", False)]
