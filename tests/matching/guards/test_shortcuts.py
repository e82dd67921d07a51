"""What the guards look for first, being cheap, must never hide what the patterns behind it would find."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.matching.guards import GUARDS, code, conflicts, dates, entities, persons, timetable, tone, unless_vetoed
from semcache.request import text

LAX = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
WORDS = (
    "What Who's I IS Paris E-mail O'Neil New York iPhone C3 \u00c9mile \u0130zmir U.S. a.b x_y don't ? , . - \" ' NASA"
)
SENTENCES = st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join)


@given(st.one_of(st.text(), SENTENCES, st.text("aZ9'_- .\n\u00e9\u2019", max_size=40)))
@LAX
def test_words_are_the_same_however_they_are_found(raw: str) -> None:
    found = text.read.__wrapped__(raw)
    assert found.tokens == tuple(text._TOKEN.findall(found.raw))
    assert found.words == tuple(token.lower() for token in found.tokens)


MARKS = re.compile(r"""["\u201c`@_#+]|(?<!\w)['.-]|\w[.:][a-z]|\(\)|::|://|[A-Za-z]-?\d|[a-z][A-Z]|\d[SXE]\b""")


@given(st.one_of(st.text("aZ9é\"\u201c`@_#+'.:()/- \n", max_size=12), st.from_regex(MARKS), SENTENCES))
@LAX
def test_marks_are_the_ones_that_they_stand_for(raw: str) -> None:
    assert code._MARKS.search(raw) is not None or MARKS.search(raw) is None


@given(st.one_of(SENTENCES, st.text("ab'\"@`-./:_ hw()1", max_size=40), st.from_regex(code._WITH_MAIL)))
@LAX
def test_literals_are_the_same_wherever_the_search_may_begin(raw: str) -> None:
    raw = raw.replace("@", "")
    spans = [[match.span() for match in one.finditer(raw)] for one in (code._LITERAL, code._WITH_MAIL)]
    assert spans[0] == spans[1]


@given(st.one_of(st.text("ab1 ()[]{}|!?:.,+-*/=<>^&~\\", max_size=16), st.from_regex(code._OPERATOR)))
@LAX
def test_operators_are_found_wherever_there_are_some(raw: str) -> None:
    assert code._OPERATING.search(raw) is not None or code._OPERATOR.search(raw) is None


@given(st.from_regex(tone._JEST))
@LAX
def test_a_jest_is_found_wherever_there_is_one(raw: str) -> None:
    assert tone.is_jest(raw) == (tone._JEST.search(raw) is not None)


@pytest.mark.parametrize("way", range(len(persons._TURNED)))
def test_what_the_asker_says_to_do_is_found_wherever_it_is_said(way: int) -> None:
    asker = persons._TURNED[way][1]

    @given(st.from_regex(asker))
    @LAX
    def check(raw: str) -> None:
        found = persons.read(raw)
        assert found.askers[way] == persons._verbs(asker, found.text)

    check()


@pytest.mark.parametrize(
    ("asker", "model", "verb"),
    [
        ("Let me draw a map.", "Draw me a map.", "draw"),
        ("I want to pick a card.", "I want you to pick a card.", "pick"),
        ("We begin.", "You begin.", "begin"),
    ],
)
def test_whoever_acts_is_told_by_every_way_of_saying_so(asker: str, model: str, verb: str) -> None:
    one, two = persons.read(asker), persons.read(model)
    assert persons.exchanged(one, two) == persons.exchanged(two, one) == verb
    assert not persons.exchanged(one, one)
    assert not persons.exchanged(two, two)


ASKED = st.sampled_from(
    """Can I bring 2 bags to Rome?
    Can I bring 2 bags to Oslo?
    can i bring too bags to rome
    How do I enable it?
    How do I disable it?
    how 2 enable it
    Is it not safe?
    lol is it safe
    Is it safe \U0001f642?
    Pretend you are Anna. Is it safe?
    What did Anna say on May 3?
    What does Anna say on May 3?
    \u00bfCu\u00e1ndo abre el museo?
    \u00bfA qu\u00e9 hora abre el museo?
    us and US""".splitlines()
).map(str.strip)
MORE = st.sampled_from(["", " on Monday", " at 9", " for 2 weeks", " 4 2 weeks", " in Paris", " please", " not"])


@given(st.tuples(ASKED, MORE).map("".join), st.tuples(ASKED, MORE).map("".join))
@LAX
def test_the_search_for_a_veto_finds_what_a_whole_comparison_does(asked: str, cached: str) -> None:
    whole = conflicts(asked, cached, tuple(GUARDS))
    expected = None if any(one.veto for one in whole) else whole
    assert unless_vetoed(asked, cached, tuple(GUARDS)) == expected


def test_what_a_quick_guard_vetoes_no_slow_one_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_guard: object, text: str) -> None:
        raise AssertionError(text)

    for name in ("question", "negation", "direction", "entities"):
        monkeypatch.setattr(type(GUARDS[name]), "read", read)
    asked, cached = "Pay invoice 4711 of Anna today", "Pay invoice 4712 of Jonas today"
    assert unless_vetoed(asked, cached, tuple(GUARDS)) is None
    with pytest.raises(AssertionError):
        conflicts(asked, cached, tuple(GUARDS))


@given(SENTENCES)
@LAX
def test_a_plain_text_has_no_names(raw: str) -> None:
    words = text.read.__wrapped__(raw)
    if entities._plain(words.raw):
        found = [match[0] for match in entities._CAPITALISED.finditer(words.raw, 1)]
        assert set(found) <= {"I"}


@given(
    st.from_regex(
        re.compile(timetable.PATTERN.pattern.replace(f"(?=\\d|{text.heads(timetable._FIRST)})", ""), re.VERBOSE)
    )
)
@LAX
def test_no_text_with_a_time_is_timeless(raw: str) -> None:
    words = text.read.__wrapped__(raw)
    if any(re.fullmatch(r"[\w']+", token) is None for token in words.tokens):
        return  # a mark behind a letter makes another word of it: "ago" with an accent is no time
    found = timetable.PATTERN.search(words.lower)
    if found and found.lastgroup != "at" and not words.digits:  # "at six" is a time beside a day alone
        assert not dates._timeless(words)


@pytest.mark.hypothesis
def test_the_look_ahead_admits_whatever_follows() -> None:
    pattern = timetable.PATTERN
    head = f"(?=\\d|{text.heads(timetable._FIRST)})"
    assert head in pattern.pattern
    bare = re.compile(pattern.pattern.replace(head, ""), re.VERBOSE)

    @given(st.from_regex(bare))
    @LAX
    def check(raw: str) -> None:
        assert [m.span() for m in pattern.finditer(raw)] == [m.span() for m in bare.finditer(raw)]

    check()
