"""The canonical wording of any text: found without error, one and the same, its own wording, fair to both sides."""

from __future__ import annotations

import re
import subprocess
import sys

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from semcache.request.text import vocabulary
from semcache.request.wording import ALL, Edit, canonical, strictest, warm
from semcache.request.wording.cues import folded, holds

warm()
# Reads a text by these kinds of edits whatever was found out about it before.
read_anew = sys.modules["semcache.request.wording.canonical"]._canonical
_PIECES = sorted(
    vocabulary(
        """
        US us Polish polish March what's do don't not no how can I to please hi team thanks in advance colour 1,000 48k
        3 per cent half a gigabyte twenty five hundred and two 2nd or between difference from In Python foo_bar
        kubernets Jorgen jorgen thier Thier captial e.g. w/o vs um so well the A UNITED States tell me what is steps 5!
        WHO km 5km it's 'quoted \u201cX\u201d Frnace berlin U.S. compare der und explain works where dozen one
        """
    )
)
_MARKS = [",", ".", "?", "!", "\n", " ", "\u2013", "(", ")", ":", "\t", "'"]
_PROMPTS = st.lists(
    st.one_of(st.sampled_from(_PIECES), st.sampled_from(_MARKS)),
    max_size=16,
).map(" ".join)
_TEXTS = st.one_of(st.text(max_size=80), _PROMPTS)
_KINDS = st.frozensets(st.sampled_from(list(Edit)))
_SPANS = st.one_of(
    st.text(st.characters(blacklist_characters='"', blacklist_categories=("Cs", "Co")), max_size=30).map('"{}"'.format),
    st.text(st.characters(blacklist_characters="`", blacklist_categories=("Cs", "Co")), min_size=1, max_size=30)
    .filter(lambda inner: not re.search(r"[{};\\]", inner))
    .map("`{}`".format),
    st.from_regex(r"https://[a-zA-Z]{1,8}\.org/[A-Za-z0-9_/]{1,12}", fullmatch=True),
    st.from_regex(r"[a-z]{1,6}_[A-Za-z]{1,6}", fullmatch=True),
    st.from_regex(r"[a-zA-Z]{1,8}@[a-zA-Z]{1,8}\.org", fullmatch=True),
)
_MANY = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@given(_TEXTS, _KINDS)
@_MANY
def test_a_wording_is_its_own_wording(text: str, kinds: frozenset[Edit]) -> None:
    wording = canonical(text, kinds)
    again = canonical(wording.text, kinds)
    assert again.text == wording.text
    assert again.edits == ()


@given(_TEXTS, _KINDS)
@example("POLISH \n0", frozenset([Edit.CHARACTERS]))
@example("POLISH \n0", frozenset([Edit.FILLER]))
@_MANY
def test_edits_are_allowed_ascending_and_named_if_anything_changed(text: str, kinds: frozenset[Edit]) -> None:
    wording = canonical(text, kinds)
    assert list(wording.edits) == sorted(set(wording.edits) & kinds)
    assert bool(wording.edits) == (wording.text != text)


@given(_TEXTS, _TEXTS, _KINDS)
@_MANY
def test_the_strictest_kind_is_the_same_from_both_sides(one: str, two: str, kinds: frozenset[Edit]) -> None:
    assert strictest(one, two, kinds) == strictest(two, one, kinds)
    if kinds:
        assert strictest(one, one, kinds) == min(kinds)


@given(_TEXTS, _KINDS)
@_MANY
def test_leaving_out_kinds_that_did_nothing_gives_what_reading_anew_gives(text: str, kinds: frozenset[Edit]) -> None:
    if kinds:
        assert canonical(text, kinds) == read_anew(text, kinds).wording


@given(_PROMPTS, st.sampled_from(["{}?", "hi, {}", "um {} thanks", "{} vs it", "please {}"]), _KINDS)
@_MANY
def test_the_strictest_kind_is_the_first_at_which_the_wordings_meet(
    text: str, shape: str, kinds: frozenset[Edit]
) -> None:
    other = shape.format(text)
    meeting = [
        kind
        for kind in sorted(kinds)
        if canonical(text, frozenset(one for one in kinds if one <= kind)).text
        == canonical(other, frozenset(one for one in kinds if one <= kind)).text
    ]
    assert strictest(text, other, kinds) == (meeting[0] if meeting else None)


@given(st.text(st.sampled_from("sSkKiI\u017f\u212a\u0131\u0130aZ. "), max_size=12))
def test_a_sign_is_found_wherever_a_pattern_that_ignores_case_would_match(text: str) -> None:
    for part in ("sk", "ii", "is", "k."):
        if re.search(re.escape(part), text, re.IGNORECASE):
            assert holds(folded(text), (part,))


@given(_PROMPTS, _SPANS, _PROMPTS)
@_MANY
def test_a_protected_span_anywhere_stays_to_the_letter(before: str, span: str, after: str) -> None:
    safe = re.compile("['\"\u201c\u201d]")
    text = f"{safe.sub('', before)} {span} {safe.sub('', after)}"
    assert span in canonical(text).text


@given(st.text(max_size=60))
@example("\U0001f3000")
@_MANY
def test_a_negation_is_never_dropped(text: str) -> None:
    prompt = f"Please tell me how I can not {text}"
    assert re.search(r"\bnot\b|\bcannot\b", canonical(prompt).text)


def test_another_process_finds_the_same_wording() -> None:
    prompts = ["Hi, what's the captial of Peru?", "difference between UDP and TCP", "is beter vs. teh other 3 per cent"]
    script = (
        "import sys; from semcache.request.wording import canonical;"
        "print('\\n'.join(canonical(line).text for line in sys.argv[1:]))"
    )
    for seed in ("1", "2"):
        out = subprocess.run(
            [sys.executable, "-c", script, *prompts],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        assert out.stdout.splitlines() == [canonical(prompt).text for prompt in prompts]


def test_the_dictionary_is_not_loaded_by_an_import() -> None:
    script = "import sys, semcache.request.wording; print('symspellpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_all_kinds_stand_in_the_order_of_their_risk() -> None:
    assert frozenset(Edit) == ALL
    assert [kind.name for kind in sorted(Edit)] == (
        ["CHARACTERS", "CONTRACTION", "SPELLING", "FILLER", "NUMBER", "ABBREVIATION", "FRAME", "ORDER", "TYPO"]
    )
