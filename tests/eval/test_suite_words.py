"""The recorded judge of the suites: a wrong word here would make the page on judged suites wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.judged_suites import groups
from eval.suite_words import UNSURE, VERDICTS, RecordedJudge, verdicts
from eval.traps import shuffled


async def test_a_pair_has_its_word_whichever_prompt_was_kept() -> None:
    judge = RecordedJudge({frozenset(("a", "b")): 0.95})
    judge.expected = "right"
    assert [await judge.same(*pair, "right") for pair in (("a", "b"), ("b", "a"))] == [0.95, 0.95]
    assert (judge.asked, judge.unknown, list(judge.agreed.values())) == (2, {}, [True])


async def test_nothing_is_served_on_a_pair_without_a_word_and_it_is_counted() -> None:
    from semcache.matching.model_quality import YES

    judge = RecordedJudge({frozenset(("a", "b")): 0.95})
    judge.expected = "right"
    assert await judge.same("a", "c", "right") == UNSURE < YES
    assert judge.unknown == {("a", "c"): True}
    assert judge.agreed == {}


async def test_a_word_that_belies_the_suite_is_told_as_one() -> None:
    judge = RecordedJudge({frozenset(("a", "b")): 0.95, frozenset(("a", "c")): 0.01})
    judge.expected = "right"
    await judge.same("a", "b", "another's")
    await judge.same("a", "c", "another's")
    assert sorted(judge.agreed.values()) == [False, True]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", "b", 0.9), ("b", "a", 0.1)], "another word already"),
        ([("a", "b", 1.0)], "between 0 and 1"),
    ],
)
def test_verdicts_that_cannot_be_are_refused(tmp_path: Path, rows: list[tuple[str, str, float]], said: str) -> None:
    lines = [json.dumps({"a": a, "b": b, "p_yes": p}) for a, b, p in rows]
    (tmp_path / "some.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        verdicts(folder=tmp_path)


def test_the_readme_counts_the_verdicts_that_lie_beside_it() -> None:
    readme = (VERDICTS / "README.md").read_text(encoding="utf-8")
    assert f"{len(verdicts()):,} pairs" in readme
    for path in VERDICTS.glob("*.jsonl"):
        assert f"`{path.name}` ({len(path.read_text(encoding='utf-8').splitlines()):,} pairs)" in readme


@pytest.mark.parametrize("name", ["help desk", "traps, held"])
def test_the_words_are_about_the_prompts_of_the_suites_and_agree_with_their_labels(name: str) -> None:
    """All but one of them, which is counted in the README: a shift by a line would be seen at once."""
    words = verdicts()
    said = [
        (words[pair] > UNSURE) == right
        for group in groups(name)
        for right, prompts in ((True, group.right), (False, group.traps))
        for prompt in prompts
        if (pair := frozenset((str(group.base), str(prompt)))) in words
    ]
    assert len(said) > 300
    assert said.count(False) <= 1


def test_every_text_of_a_suite_is_asked_once_and_a_trap_shares_no_answer() -> None:
    some = groups("help desk")
    every = shuffled(some, 7)
    assert len(every) == sum(1 + len(one.right) + len(one.traps) for one in some)
    assert len({turn.answer for turn in every if not turn.shared}) == sum(len(one.traps) for one in some)
    assert len({turn.answer for turn in every if turn.shared}) == len(some)
