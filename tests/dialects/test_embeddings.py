"""Embeddings, one input at a time: splitting requests and answers and putting them together again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects import embeddings
from semcache.errors import IntegrityError, RequestRejected
from semcache.types import Controls, Endpoint, Usage


def read(given_input, **body):
    return embeddings.read(json.dumps({"model": "m", "input": given_input, **body}).encode())


def answer(*vectors, order=None):
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    data = [data[index] for index in order] if order else data
    return json.dumps(
        {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    ).encode()


def test_an_input_is_the_same_request_however_it_was_sent():
    alone, listed = embeddings.request_for(read("b"), 0), embeddings.request_for(read(["a", "b"]), 1)
    assert alone.identity == listed.identity
    assert alone.text == ""
    assert alone.endpoint is Endpoint.EMBEDDINGS
    assert alone.identity != embeddings.request_for(read("a"), 0).identity


@pytest.mark.parametrize("change", [{"dimensions": 8}, {"encoding_format": "base64"}, {"model": "other"}, {"x": 1}])
def test_what_changes_the_vector_changes_the_identity(change):
    assert embeddings.request_for(read("a", **change), 0).identity != embeddings.request_for(read("a"), 0).identity


def test_what_does_not_change_the_vector_does_not():
    same = read("a", encoding_format="float", user="u")
    assert embeddings.request_for(same, 0).identity == embeddings.request_for(read("a"), 0).identity
    assert same.user == "u"


def test_tokens_are_one_input_or_several():
    assert read([1, 2]).inputs == ([1, 2],)
    assert read([[1, 2], [3]]).inputs == ([1, 2], [3])


@pytest.mark.parametrize("bad", [None, 7, {}, [], [[]], ["a", 1], ["a", [1]], [None], [True], [1.5], [["a"]]])
def test_an_input_that_cannot_be_read_is_named(bad):
    with pytest.raises(RequestRejected, match="input") as caught:
        read(bad)
    assert caught.value.param.startswith("input")


def test_only_the_missing_inputs_are_asked_for():
    raw = b'{"model": "m", "input": ["a", "b", "c"], "dimensions": 8.0, "cache": {"no-store": true}}'
    request = embeddings.read(raw)
    assert request.controls == Controls(no_store=True)
    assert json.loads(embeddings.subset(request, [0, 2])) == {"model": "m", "input": ["a", "c"], "dimensions": 8}
    assert b"8.0" in embeddings.subset(request, [1])
    untouched = embeddings.read(b'{ "model":"m", "input":"a" }')
    assert embeddings.subset(untouched, [0]) == untouched.raw == b'{ "model":"m", "input":"a" }'


def test_a_body_with_many_inputs_is_read_once_and_held_once(monkeypatch):
    request = read(["a", "b", "c"], dimensions=8)
    monkeypatch.setattr(embeddings, "_fields", None)
    asked = [embeddings.request_for(request, position) for position in range(3)]
    assert all(one.raw is request.raw for one in asked)
    assert [one.identity["input"] for one in asked] == ["a", "b", "c"]
    assert json.loads(embeddings.subset(request, [1])) == {"model": "m", "input": ["b"], "dimensions": 8}


def test_what_stands_beside_many_inputs_is_bounded_with_their_number():
    with pytest.raises(RequestRejected, match="beside an input of 2000 items have more than 4194 bytes"):
        read(["a"] * 2000, x="x" * 5000)
    assert len(read(["a"] * 2000, x="x" * 4000).inputs) == 2000
    assert len(read(["a"] * 100, x="x" * 60_000).inputs) == 100
    with pytest.raises(RequestRejected, match="65536 bytes"):
        read(["a", "b"], x="x" * 70_000)
    assert read("a", x="x" * 70_000).inputs == ("a",)


vectors = st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=4), min_size=1, max_size=5)


@given(vectors, st.randoms(use_true_random=False))
def test_an_answer_split_and_merged_is_the_answer(given_vectors, random):
    order = list(range(len(given_vectors)))
    random.shuffle(order)
    items = embeddings.split(answer(*given_vectors, order=order), len(given_vectors))
    merged = embeddings.merge(items, "m", Usage(7))
    assert json.loads(merged) == json.loads(answer(*given_vectors))


def test_a_vector_keeps_its_bytes():
    body = b'{"data":[{"object":"embedding","embedding":[0.10,-1.0e-5],"index":0}]}'
    [item] = embeddings.split(body, 1)
    assert b"[0.10,-1.0e-5]" in item
    merged = embeddings.merge([item, item], "m", Usage())
    assert merged.count(b"[0.10,-1.0e-5]") == 2
    assert [entry["index"] for entry in json.loads(merged)["data"]] == [0, 1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"data": []}',
        b'{"data": [1]}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": []}]}',
        b'{"data": [{"index": null, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": []}, {"index": 0, "embedding": []}]}',
    ],
)
def test_an_answer_that_does_not_fit_is_not_split(body):
    assert embeddings.split(body) is None


def test_a_wrong_number_of_vectors_is_not_split():
    assert embeddings.split(answer([1.0]), 2) is None
    assert embeddings.split(answer([1.0], [2.0]), 2) is not None


def test_a_damaged_item_is_an_integrity_error():
    with pytest.raises(IntegrityError):
        embeddings.merge([b"{"], "m", Usage())


@given(st.lists(st.text(max_size=9), min_size=1, max_size=6), st.integers(0, 1000))
def test_token_shares_add_up(texts, tokens):
    request = read(texts)
    shares = embeddings.shares(request, range(len(texts)), Usage(tokens))
    assert sum(share.prompt_tokens for share in shares) == tokens
    assert all(share.prompt_tokens >= 0 for share in shares)
    assert embeddings.usage_of(answer([1.0])) == Usage(7)
