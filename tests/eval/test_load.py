"""The requests that the benchmark sends, and how it reads the replies."""

from __future__ import annotations

import json

from eval.bench import prompts
from eval.bench.load import parse
from eval.bench.stages import medians
from semcache.request.wording import strictest


def test_no_paraphrase_repeats_a_stored_prompt_or_another_paraphrase():
    stored, others = prompts.stored(9000), prompts.paraphrases(9000)
    assert len(set(stored)) == 9000
    assert len({*stored, *others}) == len(stored) + len(others)


def test_no_paraphrase_is_an_equal_wording_of_its_prompt():
    # Else a semantic hit would be measured without its embedding, beside caches that embed.
    stored = prompts.stored(20)
    others = [form.format(prompts.task(number)) for number in range(20) for form in prompts.WORDINGS]
    equal = [other for at, other in enumerate(others) if strictest(stored[at // len(prompts.WORDINGS)], other)]
    assert not equal


def test_fresh_prompts_of_different_tags_share_nothing():
    assert len({*prompts.fresh(500, "a"), *prompts.fresh(500, "b")}) == 1000
    assert prompts.fresh(5, "a") == prompts.fresh(5, "a")


def test_a_body_is_one_line_of_json_with_the_prompt_last():
    body = prompts.body('say "hi"', stream=True)
    assert b"\n" not in body
    assert json.loads(body)["messages"][-1]["content"] == 'say "hi"'
    assert json.loads(body)["stream"] is True


def test_the_result_line_is_found_among_what_wrk_prints():
    output = 'Running 1s test\n  1 threads\nRESULT {"p50":71.0,"p99":118.0,"requests":13000,"seconds":1.0,"errors":0}\n'
    found = parse(output)
    assert found is not None
    assert found["requests"] == 13000
    assert parse("unable to connect to 127.0.0.1:1 Connection refused") is None


def test_stages_are_those_of_the_outcome_asked_for():
    lines = [
        "semcache is ready on http://127.0.0.1:1/v1",
        '{"outcome":"semantic","ms":2.0,"stages_ms":{"embed":1.0}}',
        '{"outcome":"semantic","ms":4.0,"stages_ms":{"embed":3.0}}',
        '{"outcome":"miss","ms":9.0,"stages_ms":{"embed":9.0,"upstream":5.0}}',
        '{"outcome":"semantic","ms":',
    ]
    assert medians(lines, "semantic") == {"ms": 3.0, "embed": 2.0}
    assert medians(lines, "exact") == {}
