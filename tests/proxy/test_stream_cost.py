"""Streams are charged with what their backend told, and with an estimate where it told nothing, however they end."""

from __future__ import annotations

import pytest

from semcache.dialects.chat import DIALECT
from semcache.proxy.stream_cost import EventCount, with_cost
from semcache.types import Assembled, Usage

REQUEST = DIALECT.read(b'{"model":"m","messages":[{"role":"user","content":"hi"}]}')


def cost(text: str, usage: Usage, events: int, *, ended: bool = False, complete: bool = False) -> tuple[int, int]:
    usage = with_cost(Assembled(b"", text, complete=complete, usage=usage), REQUEST, events, ended=ended).usage
    return usage.prompt_tokens, usage.completion_tokens


def test_what_was_told_at_the_end_is_what_is_charged() -> None:
    assert cost("a b", Usage(5, 1), 9, ended=True) == (5, 1)
    assert cost("a b", Usage(5, 1), 9, complete=True) == (5, 1)


def test_a_beginning_that_tells_of_one_token_is_no_end() -> None:
    """Anthropic's first event holds the prompt's tokens: a stream that is cut costs what came behind it as well."""
    assert cost("word " * 30, Usage(5, 1), 40) == (5, 40)


def test_few_events_of_many_words_are_charged_by_their_words() -> None:
    assert cost("word " * 400, Usage(), 3) == (len(REQUEST.raw) // 4, 500)


def test_nothing_that_came_costs_nothing() -> None:
    assert cost("", Usage(), 0) == cost("", Usage(), 2) == (0, 0)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_events_are_counted_wherever_the_bytes_are_cut(newline: bytes, size: int) -> None:
    blank = newline * 2
    said = b": ping" + blank + blank.join([b'data: {"a":"\\ndata:"}', b"event: x" + newline + b"data:1"] * 3) + blank
    count = EventCount()
    for start in range(0, len(said), size):
        count.feed(said[start : start + size])
    assert count.events == 6
