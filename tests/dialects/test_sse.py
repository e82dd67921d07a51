"""The event reader: the same events however the bytes are cut, and the offset at which each starts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects.sse import EventReader, event


def read(*chunks: bytes) -> list[tuple[int, str, bytes]]:
    reader = EventReader()
    events = [found for chunk in chunks for found in reader.feed(chunk)]
    return [tuple(found) for found in events + reader.close()]


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [(0, "", b"a"), (9, "", b"b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [(0, "", b"a"), (11, "", b"b")]),
        (b"data: a\r\rdata: b\r\r", [(0, "", b"a"), (9, "", b"b")]),
        (b"event: x\ndata:a\ndata:\ndata: b\n\n", [(0, "x", b"a\n\nb")]),
        (b"\xef\xbb\xbfdata: a\n\n", [(0, "", b"a")]),
        (b": keep-alive\n\nid: 7\nretry: 9\ndata:  a\n\n", [(14, "", b" a")]),
        (b"data\n\n", [(0, "", b"")]),
        (b"event: x\n\ndata: a\n\n", [(10, "", b"a")]),
        (b"\n\n\ndata: a\n\n", [(3, "", b"a")]),
        (b"data: cut off", [(0, "", b"cut off")]),
        (b"data: cut off\n", [(0, "", b"cut off")]),
        (b"", []),
    ],
)
def test_reads_what_the_standard_describes(raw, events):
    assert read(raw) == events
    assert read(*(raw[at : at + 1] for at in range(len(raw)))) == events


pieces = st.sampled_from(
    [b"data: x", b"data:", b"event: n", b":c", b"\n", b"\r", b"\r\n", b"\n\n", b"id: 1", b"\xef\xbb\xbf"]
)


@given(st.lists(pieces, max_size=20).map(b"".join), st.lists(st.integers(0, 120), max_size=8))
def test_cutting_the_bytes_never_changes_the_events(raw, cuts):
    edges = sorted({0, len(raw), *(cut for cut in cuts if cut <= len(raw))})
    chunks = [raw[a:b] for a, b in pairwise(edges)]
    assert read(*chunks) == read(raw)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_what_lies_before_an_event_can_be_read_without_it(raw, at):
    stream = raw.replace(b"\r", b"") + b"\n\n" + event(b"[DONE]")
    *before, last = read(stream)
    assert last[2] == b"[DONE]"
    assert stream[last[0] :] == event(b"[DONE]")
    assert read(stream[: last[0]]) == before


@given(st.text(alphabet=st.characters(exclude_characters="\r", codec="utf-8"), min_size=1))
def test_what_is_written_is_read_back(text):
    data = text.encode()
    assert read(event(data, "name")) == [(0, "name", data)]


def test_a_long_line_in_many_chunks_is_joined_once():
    reader = EventReader()
    assert not any(reader.feed(b"x" * 10) for _ in range(10_000))
    assert reader.feed(b"\n\n") == []
