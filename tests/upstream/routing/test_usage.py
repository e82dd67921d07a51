"""What a reply says of tokens, cut anywhere."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from semcache.upstream.routing.usage import UsageReader

OPENAI = {"prompt_tokens": 1200, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1024}}
TEXT = 'the API says "cached_tokens": 5, and "prompt_tokens": 6}'


def body(usage: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": TEXT}}], "usage": usage}).encode()


@given(st.lists(st.integers(0, 250), max_size=6))
def test_cut_anywhere_the_numbers_of_the_usage_are_read_and_never_the_text(cuts: list[int]) -> None:
    whole = body(OPENAI)
    usage = UsageReader()
    at = [0, *sorted(cuts), len(whole)]
    for start, end in pairwise(at):
        usage.feed(whole[start:end])
    assert (usage.prompt, usage.completion, usage.cached) == (1200, 7, 1024)


def test_what_is_not_said_is_not_known() -> None:
    usage = UsageReader()
    usage.feed(body({"prompt_tokens": 5, "prompt_tokens_details": None}))
    assert (usage.prompt, usage.completion, usage.cached) == (5, None, None)


def test_other_servers_words() -> None:
    llama, claude = UsageReader(), UsageReader()
    llama.feed(b'data: {"timings":{"cache_n":236,"prompt_n":1},"usage":{"prompt_tokens":237}}\n\n')
    claude.feed(b'{"usage":{"input_tokens":10,"cache_read_input_tokens":900,"output_tokens":3}}')
    assert llama.cached == 236
    assert (claude.prompt, claude.cached, claude.completion) == (10, 900, 3)
