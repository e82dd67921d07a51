"""Only a complete, final, clean answer is kept, and never for longer than the pack allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semcache.retention.admission import admission, is_refusal
from semcache.types import Assembled, Controls, Discard, Endpoint, Request, Store, Traits, Why

REQUEST = Request(Endpoint.CHAT, "gpt-x", {}, "What is a cache?", b"")
ANSWER = Assembled(b'{"x": 1}', "A store of answers.", complete=True)
TTL = 3600.0


def test_a_good_answer_is_kept_for_both_tiers() -> None:
    assert admission(REQUEST, ANSWER, 200, ttl=TTL) == Store(3600.0, semantic=True)


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": [{"message": {"content": "Fine."}}, {"message": {"content": "The password is hunter2x9."}}]}',
        b'{"choices": [{"message": {"content": "Fine.", "reasoning_content": "The password is hunter2x9."}}]}',
    ],
)
def test_a_secret_beside_the_first_text_is_one(body: bytes) -> None:
    assert admission(REQUEST, replace(ANSWER, text="Fine.", body=body), 200, ttl=TTL) == Discard(Why.SECRET)
    assert admission(REQUEST, replace(ANSWER, body=body.replace(b"password", b"weather")), 200, ttl=TTL) == Store(
        TTL, semantic=True
    )


@pytest.mark.parametrize("status", [201, 204, 301, 400, 401, 429, 500, 503])
def test_only_200_is_kept(status: int) -> None:
    assert admission(REQUEST, ANSWER, status, ttl=TTL) == Discard(Why.STATUS)


def test_half_an_answer_is_not_kept() -> None:
    assert admission(REQUEST, replace(ANSWER, complete=False), 200, ttl=TTL) == Discard(Why.INCOMPLETE)


def test_flagged_refusals_are_not_kept() -> None:
    assert admission(REQUEST, replace(ANSWER, refusal=True), 200, ttl=TTL) == Discard(Why.REFUSAL)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I\u2019m sorry, but I can\u2019t help with that request.",
        "Sorry, I cannot comply with this request.",
        "I cannot provide that information.",
        "As an AI language model, I cannot discuss this.",
        "Unfortunately, I am unable to assist with your request.",
        "I apologize, but I won't be able to help you with that.",
        "I can't do that.",
    ],
)
def test_refusals_in_words_are_not_kept(text: str) -> None:
    assert admission(REQUEST, replace(ANSWER, text=text), 200, ttl=TTL) == Discard(Why.REFUSAL)


@pytest.mark.parametrize(
    "text",
    [
        "Sorry to hear that! Restart the device and try again.",
        "You cannot return opened items.",
        "As of my last update, the capital is Paris.",
        "I don't have real-time data, but it is usually warm in June.",
        "I can help with that. First, open the settings.",
        "I'm sorry, but I can't help without details. " + "Here is the general procedure. " * 20,
    ],
)
def test_answers_that_sound_sorry_are_kept(text: str) -> None:
    assert not is_refusal(text)
    assert isinstance(admission(REQUEST, replace(ANSWER, text=text), 200, ttl=TTL), Store)


def test_a_tool_call_is_exact_only_and_a_later_step_is_not_kept() -> None:
    call = replace(ANSWER, tool_calls=True)
    assert admission(REQUEST, call, 200, ttl=TTL) == Store(3600.0, semantic=False)
    step = replace(REQUEST, traits=Traits(last_role="tool"))
    assert admission(step, call, 200, ttl=TTL) == Discard(Why.TOOL_STEP)
    assert isinstance(admission(step, ANSWER, 200, ttl=TTL), Store)


def test_secrets_in_the_answer_are_not_kept() -> None:
    leaked = replace(ANSWER, text="Use the key sk-proj-abcdefghijklmnop1234")
    assert admission(REQUEST, leaked, 200, ttl=TTL) == Discard(Why.SECRET)


def test_the_size_limit_counts_bytes() -> None:
    assert isinstance(admission(REQUEST, replace(ANSWER, body=b"x" * 10), 200, ttl=TTL, max_bytes=10), Store)
    assert admission(REQUEST, replace(ANSWER, body=b"x" * 11), 200, ttl=TTL, max_bytes=10) == Discard(Why.TOO_LARGE)


def test_no_store_wins_over_everything() -> None:
    request = replace(REQUEST, controls=Controls(no_store=True))
    assert admission(request, replace(ANSWER, complete=False), 500, ttl=TTL) == Discard(Why.NO_STORE)


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("nan")])
def test_what_would_be_dead_at_once_is_not_stored(ttl: float) -> None:
    assert admission(REQUEST, ANSWER, 200, ttl=ttl) == Discard(Why.NO_STORE)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_answer_that_says_nothing_is_not_kept(text: str) -> None:
    silent = replace(ANSWER, text=text)
    assert admission(REQUEST, silent, 200, ttl=TTL) == Discard(Why.EMPTY)
    assert admission(REQUEST, replace(silent, complete=False), 200, ttl=TTL) == Discard(Why.INCOMPLETE)
    assert admission(REQUEST, replace(silent, refusal=True), 200, ttl=TTL) == Discard(Why.REFUSAL)


def test_what_speaks_without_text_is_kept_for_the_same_request_alone() -> None:
    silent = replace(ANSWER, text="")
    assert admission(REQUEST, replace(silent, tool_calls=True), 200, ttl=TTL) == Store(TTL, semantic=False)
    assert admission(REQUEST, replace(silent, wordless=True), 200, ttl=TTL) == Store(TTL, semantic=False)
    assert admission(REQUEST, replace(ANSWER, wordless=True), 200, ttl=TTL) == Store(TTL, semantic=True)
    assert isinstance(admission(replace(REQUEST, endpoint=Endpoint.EMBEDDINGS), silent, 200, ttl=TTL), Store)
