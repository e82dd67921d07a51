"""Whatever stands in a field of a request is refused by name or read; whatever stands in an answer is read or left."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects import dialects, embeddings, sse
from semcache.errors import IntegrityError, RequestRejected
from semcache.types import Endpoint, Usage
from tests.dialects.odd import ANSWERS, EMBEDDINGS, REQUESTS, changed, mutants, surviving

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

EACH = pytest.mark.parametrize("endpoint", ANSWERS, ids=str)
DONE = b"[DONE]"


def encoded(document: Any) -> bytes:
    return json.dumps(document).encode()


def read_request(endpoint: Endpoint, document: Any) -> None:
    with suppress(RequestRejected):
        dialects()[endpoint].read(encoded(document))


def read_answer(endpoint: Endpoint, document: Any) -> None:
    dialect, body = dialects()[endpoint], encoded(document)
    if dialect.parse(body).complete:
        dialect.stream(body, {"include_usage": True})
    else:
        with suppress(IntegrityError):
            dialect.stream(body, {"include_usage": True})


def read_events(endpoint: Endpoint, events: list[tuple[str, bytes]]) -> None:
    dialect = dialects()[endpoint]
    assembler = dialect.assembler()
    for name, data in events:
        assembler.feed((f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n")
    found = assembler.finish()
    assert isinstance(found.usage, Usage)
    if found.complete:
        dialect.stream(found.body, {"include_usage": True})


def events_of(endpoint: Endpoint) -> list[tuple[str, bytes]]:
    stream = b"".join(dialects()[endpoint].stream(encoded(ANSWERS[endpoint]), {"include_usage": True}))
    return [(event.name, event.data) for event in sse.EventReader().feed(stream)]


@EACH
def test_any_field_of_a_request_may_hold_anything(endpoint: Endpoint) -> None:
    surviving(REQUESTS[endpoint], lambda document: read_request(endpoint, document))

    @given(mutants(REQUESTS[endpoint]))
    def check(document: Any) -> None:
        read_request(endpoint, document)

    check()


def test_any_field_of_a_request_for_embeddings_may_hold_anything() -> None:
    def check(document: Any) -> None:
        with suppress(RequestRejected):
            request = embeddings.read(encoded(document))
            for position in range(len(request.inputs)):
                embeddings.request_for(request, position)

    surviving(EMBEDDINGS, check)
    given(mutants(EMBEDDINGS))(check)()


@EACH
def test_any_field_of_an_answer_may_hold_anything(endpoint: Endpoint) -> None:
    surviving([ANSWERS[endpoint]], lambda document: read_answer(endpoint, document))

    @given(mutants([ANSWERS[endpoint]]))
    def check(document: Any) -> None:
        read_answer(endpoint, document)

    check()


@EACH
def test_any_field_of_an_event_may_hold_anything(endpoint: Endpoint) -> None:
    events = events_of(endpoint)
    for at, (name, data) in enumerate(events):
        if data == DONE:
            continue
        for where, odd in changed(json.loads(data)):
            try:
                read_events(endpoint, [*events[:at], (name, encoded(odd)), *events[at + 1 :]])
            except Exception as error:
                raise AssertionError(f"event {at}, {where}") from error


@EACH
def test_any_event_may_hold_anything(endpoint: Endpoint) -> None:
    events = events_of(endpoint)
    readable = [at for at, (_, data) in enumerate(events) if data != DONE]

    @given(st.data())
    def check(data: st.DataObject) -> None:
        at = data.draw(st.sampled_from(readable))
        name, known = events[at]
        odd = data.draw(mutants([json.loads(known)]))
        read_events(endpoint, [*events[:at], (data.draw(st.sampled_from(["", name])), encoded(odd)), *events[at + 1 :]])

    check()


@pytest.mark.parametrize("odd", [[], {}, 1, None], ids=repr)
def test_a_block_whose_type_is_no_name_makes_an_answer_incomplete(odd: Any) -> None:
    answer = {**ANSWERS[Endpoint.MESSAGES], "content": [{"type": odd, "text": "Hi"}]}
    assert not dialects()[Endpoint.MESSAGES].parse(encoded(answer)).complete
    answer = {**ANSWERS[Endpoint.RESPONSES], "output": [{"type": odd}]}
    assert not dialects()[Endpoint.RESPONSES].parse(encoded(answer)).complete


@pytest.mark.parametrize("odd", [[], {}, 1], ids=repr)
def test_a_tool_whose_type_is_no_name_is_not_taken_for_the_clients_own(odd: Any) -> None:
    for endpoint in (Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES):
        document = {**REQUESTS[endpoint][-1], "tools": [{"type": odd, "name": "f"}]}
        assert dialects()[endpoint].read(encoded(document)).traits.stateful
