"""What stands in a JSON text is counted before it is decoded, and a name is given once in what is forwarded."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects import body as bodies
from semcache.dialects import json_shape
from semcache.dialects.chat import DIALECT
from semcache.dialects.json_shape import members_of, shape
from semcache.errors import RequestRejected

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\\\,:{}[] é\n'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='k"\\\\:,'), inner),
)


def counted(value: object) -> tuple[int, int, int]:
    if isinstance(value, dict | list):
        children = list(value.values()) if isinstance(value, dict) else value
        below = [counted(child) for child in children]
        own = (1, max(0, len(children) - 1), len(value) if isinstance(value, dict) else 0)
        return tuple(map(sum, zip(own, *below, strict=True)))  # type: ignore[return-value]
    return 0, 0, 0


@given(_VALUES, st.integers(1, 20), st.booleans())
def test_the_counts_are_those_of_the_decoded_text(value: object, piece: int, spaced: bool) -> None:
    raw = json.dumps(value, indent=1 if spaced else None).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_shape, "_PIECE", piece)
        assert tuple(shape(raw)) == counted(value)
    assert members_of(value) == shape(raw).members


@pytest.mark.parametrize("raw", [b"[" + b"[]," * 60_000 + b"0]", b"[" + b"1," * 500_000 + b"0]"])
def test_a_text_of_too_many_values_is_refused_before_it_is_decoded(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_decode", None)
    with pytest.raises(RequestRejected, match="more than"):
        bodies.read(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"messages": [{"role":"user","content":"a"}], "model": "m", "messages": [{"role":"user","content":"b"}]}',
        b'{"model": "m", "messages": [{"role": "user", "content": "a", "content": "b"}]}',
        b'{"model": "m", "messages": [{"role": "user", "content": "a", "c\\u006fntent": "b"}]}',
        b'{"model": "n", "model": "m", "messages": [{"role": "user", "content": "b"}]}',
    ],
)
def test_of_two_members_of_one_name_the_one_that_was_read_is_forwarded(raw: bytes) -> None:
    read = DIALECT.read(raw)
    assert read.text == "b"
    pairs = json.loads(read.raw, object_pairs_hook=lambda found: found)
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names))
    assert msgspec.json.decode(read.raw) == {"model": "m", "messages": [{"role": "user", "content": "b"}]}


def test_a_body_without_such_members_is_forwarded_byte_for_byte() -> None:
    raw = b'{ "model": "m",  "messages": [{"role":"user", "content":"a \\u0041 {:}"}], "temperature": 1.0}'
    assert DIALECT.read(raw).raw == raw


def test_there_are_as_many_embedding_inputs_as_openai_allows() -> None:
    from semcache.dialects import embeddings

    assert len(embeddings.read(msgspec.json.encode({"model": "m", "input": ["a"] * 2048})).inputs) == 2048
    with pytest.raises(RequestRejected, match="2048"):
        embeddings.read(msgspec.json.encode({"model": "m", "input": ["a"] * 2049}))
    with pytest.raises(RequestRejected, match="beside"):
        embeddings.read(msgspec.json.encode({"model": "m", "input": ["a", "b"], "x": "y" * 100_000}))
