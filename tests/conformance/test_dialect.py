"""Conformance of `Dialect` and `Assembler`, in whatever shapes. A new dialect joins with one line in `SAMPLES`."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.dialects import by_path, dialects
from semcache.errors import IntegrityError, RequestRejected
from semcache.protocols import Assembler, Dialect
from semcache.types import Controls, Endpoint

GOLDEN = Path(__file__).parent.parent / "golden" / "wire"


@dataclass(frozen=True)
class Sample:
    """A request asking `What is 2+2?`, the key that holds it, and the golden answers' prefix."""

    endpoint: Endpoint
    request: dict[str, object]
    prompt_key: str

    @property
    def dialect(self) -> Dialect:
        return dialects()[self.endpoint]

    def streams(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted(GOLDEN.glob(f"{self.endpoint.value}_*.sse"))]

    def bodies(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted(GOLDEN.glob(f"{self.endpoint.value}_*.json"))]


QUESTION = "What is 2+2?"
TURNS = [{"role": "user", "content": QUESTION}]
SAMPLES = [
    Sample(Endpoint.CHAT, {"model": "m", "messages": TURNS}, "messages"),
    Sample(Endpoint.COMPLETIONS, {"model": "m", "prompt": QUESTION}, "prompt"),
    Sample(Endpoint.RESPONSES, {"model": "m", "input": QUESTION, "store": False}, "input"),
    Sample(Endpoint.MESSAGES, {"model": "m", "max_tokens": 9, "messages": TURNS}, "messages"),
]
dialect_samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.endpoint.value)


def read(sample: Sample, **changes: object):
    return sample.dialect.read(json.dumps({**sample.request, **changes}).encode())


def assemble(dialect: Dialect, *chunks: bytes) -> tuple[Assembler, object]:
    assembler = dialect.assembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler, assembler.finish()


@dialect_samples
def test_is_found_by_its_path(sample):
    assert by_path(sample.dialect.path) is sample.dialect
    assert sample.dialect.endpoint is sample.endpoint
    assert by_path("/v1/models") is None


@dialect_samples
def test_forwards_the_clients_bytes_untouched(sample):
    raw = json.dumps({**sample.request, "vendor_extra": {"a": [1.0, 1e3]}}, indent=1).encode()
    request = sample.dialect.read(raw)
    assert request.raw == raw
    assert request.text == QUESTION
    assert request.identity["vendor_extra"] == {"a": [1.0, 1e3]}
    assert QUESTION not in json.dumps(request.identity)


@dialect_samples
def test_the_cache_object_is_obeyed_and_never_forwarded(sample):
    head, tail = json.dumps(sample.request)[:-1], '"n_exact": 1.50, "big": 123456789012345678901}'
    raw = f'{head}, "cache": {{"no-cache": true, "ttl": 60, "min_score": 0.9, "tags": ["a"]}}, {tail}'.encode()
    request = sample.dialect.read(raw)
    assert request.controls == Controls(no_cache=True, ttl=60, min_score=0.9, tags=("a",))
    forwarded = json.loads(request.raw)
    assert list(forwarded) == [*sample.request, "n_exact", "big"]
    assert b"1.50" in request.raw
    assert b"123456789012345678901" in request.raw
    assert "cache" not in request.identity


@dialect_samples
def test_how_an_answer_is_delivered_and_billed_is_no_part_of_the_identity(sample):
    plain = read(sample)
    same = read(sample, stream=True, service_tier="flex" if sample.endpoint is not Endpoint.MESSAGES else "auto")
    assert same.identity == plain.identity
    assert same.stream
    assert not plain.stream


@dialect_samples
@pytest.mark.parametrize(
    "change", [{"model": "other"}, {"temperature": 0.5}, {"top_p": 0.5}, {"unknown_to_us": 1}, {"seed": 7}]
)
def test_everything_else_is_part_of_the_identity(sample, change):
    assert read(sample, **change).identity != read(sample).identity


@dialect_samples
def test_a_number_has_one_spelling(sample):
    whole, point = read(sample, temperature=1), read(sample, temperature=1.0)
    assert json.dumps(whole.identity) == json.dumps(point.identity)
    assert read(sample).identity != whole.identity


@dialect_samples
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"model": NaN}',
        b'{"model": "m", "temperature": Infinity}',
        b'{"model": "\\ud800"}',
        b"{}",
        b'{"model": null}',
        b'{"model": 7}',
        b'{"model": ""}',
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
    ids=lambda raw: raw[:24].decode("latin-1"),
)
def test_a_body_that_cannot_be_read_is_refused_with_a_reason(sample, raw):
    with pytest.raises(RequestRejected) as caught:
        sample.dialect.read(raw)
    assert caught.value.status == 400
    assert caught.value.message


@dialect_samples
@pytest.mark.parametrize("depth", [150, 500, 900])
def test_a_deep_body_is_refused_before_anyone_else_recurses_into_it(sample, depth):
    deep = "[" * depth + "]" * depth
    raw = json.dumps(sample.request)[:-1] + f', "extra": {deep}}}'
    with pytest.raises(RequestRejected, match="nested deeper"):
        sample.dialect.read(raw.encode())


@dialect_samples
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stream", "yes"),
        ("stream", 1),
        ("temperature", "hot"),
        ("temperature", True),
        ("temperature", 10**400),
        ("PROMPT", 7),
        ("PROMPT", {"role": "user"}),
    ],
)
def test_a_wrong_type_names_its_field(sample, field, value):
    field = sample.prompt_key if field == "PROMPT" else field
    with pytest.raises(RequestRejected) as caught:
        read(sample, **{field: value})
    assert caught.value.status == 400
    assert caught.value.param == field
    assert field in caught.value.message


@dialect_samples
@pytest.mark.parametrize(
    ("wishes", "key"),
    [
        ({"ttl": "long"}, "ttl"),
        ({"ttl": -1}, "ttl"),
        ({"s-maxage": True}, "s-maxage"),
        ({"no-cache": 1}, "no-cache"),
        ({"min-score": 1.5}, "min-score"),
        ({"max_error": 0}, "max_error"),
        ({"tags": "a"}, "tags"),
        ({"tags": [1]}, "tags"),
        ({"namespace": 3}, "namespace"),
        ({"no_cahce": True}, "no_cahce"),
    ],
)
def test_a_wish_that_cannot_be_understood_is_refused(sample, wishes, key):
    with pytest.raises(RequestRejected) as caught:
        read(sample, cache=wishes)
    assert caught.value.param == f"cache.{key}"
    assert key in caught.value.message


@dialect_samples
def test_a_repeated_key_means_its_last_value(sample):
    raw = json.dumps(sample.request)[:-1] + ', "model": "last"}'
    assert sample.dialect.read(raw.encode()).model == "last"


@dialect_samples
def test_errors_carry_the_message_where_the_dialects_clients_look_for_it(sample):
    body = json.loads(sample.dialect.error(400, "it broke", code="invalid_request_error", param="model"))
    assert "it broke" in body["error"]["message"]
    assert body["error"]["type"] == "invalid_request_error"
    limited = json.loads(sample.dialect.error(429, "slow down", code="rate_limited"))
    assert limited["error"]["type"] == "rate_limit_error"


@dialect_samples
def test_the_terminal_event_is_found_wherever_the_bytes_are_cut(sample):
    for stream in sample.streams():
        whole, expected = assemble(sample.dialect, stream)
        assert expected.complete
        assert stream[whole.terminal :].count(b"\n\n") == 1
        for size in (1, 2, 7, 64):
            cut = [stream[at : at + size] for at in range(0, len(stream), size)]
            assembler, answer = assemble(sample.dialect, *cut)
            assert answer == expected
            assert assembler.terminal == whole.terminal


@dialect_samples
@pytest.mark.parametrize("newline", [b"\r\n", b"\r"])
def test_other_line_ends_mean_the_same(sample, newline):
    for stream in sample.streams():
        _, expected = assemble(sample.dialect, stream)
        other = stream.replace(b"\n", newline)
        assembler, answer = assemble(sample.dialect, other)
        assert answer == expected
        cut = [other[at : at + 3] for at in range(0, len(other), 3)]
        by_threes, answer = assemble(sample.dialect, *cut)
        assert answer == expected
        assert by_threes.terminal == assembler.terminal


@dialect_samples
def test_a_stream_that_breaks_off_is_not_complete(sample):
    for stream in sample.streams():
        terminal, _ = assemble(sample.dialect, stream)
        for end in {0, 1, terminal.terminal // 2, terminal.terminal - 1, terminal.terminal}:
            assembler, answer = assemble(sample.dialect, stream[:end])
            assert not answer.complete
            assert assembler.terminal is None


@dialect_samples
def test_a_stream_that_lacks_its_terminal_event_alone_is_complete_where_its_body_ended_of_itself(sample):
    for stream in sample.streams():
        whole, expected = assemble(sample.dialect, stream)
        assembler = sample.dialect.assembler()
        assembler.feed(stream[: whole.terminal])
        answer = assembler.finish(closed=True)
        # The terminal event of a response carries the whole answer; of several choices, one may not have come.
        several = len(json.loads(expected.body).get("choices", "1")) > 1
        assert answer.complete is (sample.endpoint is not Endpoint.RESPONSES and not several)
        assert not answer.complete or answer == expected
        for end in {0, 1, whole.terminal // 2, whole.terminal - 3}:
            assembler = sample.dialect.assembler()
            assembler.feed(stream[:end])
            found = assembler.finish(closed=True)
            assert not found.complete or found.text == expected.text


@dialect_samples
def test_an_error_inside_a_stream_makes_it_incomplete(sample):
    error = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    for stream in sample.streams():
        terminal, _ = assemble(sample.dialect, stream)
        broken = stream[: terminal.terminal] + error + stream[terminal.terminal :]
        assert not assemble(sample.dialect, broken)[1].complete
        garbled = stream[: terminal.terminal] + b"data: {oops\n\n" + stream[terminal.terminal :]
        assert not assemble(sample.dialect, garbled)[1].complete


@dialect_samples
@pytest.mark.parametrize("include_usage", [True, False])
def test_a_stored_answer_streams_and_assembles_to_itself(sample, include_usage):
    for body in sample.bodies():
        events = sample.dialect.stream(body, {"include_usage": include_usage})
        assembler, answer = assemble(sample.dialect, *events)
        assert assembler.terminal == sum(map(len, events[:-1]))
        want = json.loads(body)
        if not include_usage and sample.endpoint in (Endpoint.CHAT, Endpoint.COMPLETIONS):
            want.pop("usage", None)
        assert json.loads(answer.body) == want
        assert answer.complete
        assert answer.text == sample.dialect.parse(body).text


@dialect_samples
def test_a_whole_answer_and_its_stream_are_judged_alike(sample):
    for stream, body in zip(sample.streams(), sample.bodies(), strict=True):
        answer, whole = assemble(sample.dialect, stream)[1], sample.dialect.parse(body)
        assert json.loads(answer.body) == json.loads(body)
        assert whole.body is body
        for field in ("text", "complete", "refusal", "tool_calls", "usage"):
            assert getattr(answer, field) == getattr(whole, field), field


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
VOCABULARY = """
    id type role index choices delta message content text tool_calls function arguments name usage finish_reason stop
    logprobs output response status completed summary annotations input refusal error model item part block
    content_block message_start content_block_start content_block_delta message_delta message_stop text_delta
    response.completed response.output_item.done partial_json input_json_delta citations_delta citation
"""
WORDS = st.sampled_from(VOCABULARY.split())
odd_objects = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | WORDS | st.just([]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)


@dialect_samples
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_bytes_make_an_assembler_raise(sample, data):
    assembler = sample.dialect.assembler()
    start = data.draw(st.sampled_from([b"", *sample.streams()]))
    assembler.feed(start[: data.draw(st.integers(0, len(start)))])
    for piece in data.draw(st.lists(st.binary(max_size=40) | odd_objects, max_size=8)):
        assembler.feed(piece if isinstance(piece, bytes) else b"data: " + json.dumps(piece).encode() + b"\n\n")
    assembler.finish()


@dialect_samples
@settings(max_examples=150, deadline=None)
@given(
    body=st.binary(max_size=60)
    | json_values.map(lambda v: json.dumps(v).encode())
    | odd_objects.map(lambda v: json.dumps(v).encode())
)
def test_no_body_makes_parse_raise_and_what_it_calls_complete_can_be_streamed(sample, body):
    answer = sample.dialect.parse(body)
    if answer.complete:
        sample.dialect.stream(body, {})
        return
    with contextlib.suppress(IntegrityError):
        sample.dialect.stream(body, {})


@dialect_samples
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_changing_any_value_of_a_good_answer_never_breaks_the_reader(sample, data):
    body = json.loads(data.draw(st.sampled_from(sample.bodies())))
    node, steps = body, data.draw(st.integers(1, 5))
    for _ in range(steps):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if isinstance(node[key], dict | list) and data.draw(st.booleans()):
            node = node[key]
            continue
        node[key] = data.draw(odd_objects)
        break
    raw = json.dumps(body).encode()
    answer = sample.dialect.parse(raw)
    try:
        events = sample.dialect.stream(raw, {"include_usage": True})
    except IntegrityError:
        assert not answer.complete
    else:
        assemble(sample.dialect, *events)
