"""Two requests share an answer only when they are the same request; that is decided here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from semcache.request.keys import cache_key, canonical, digest, loose_signature, partitions_of
from semcache.types import Endpoint, Request, Scope

SALT = b"s" * 32
BASE = Request(Endpoint.CHAT, "m", {"model": "m", "messages": ["…"], "temperature": 0}, "hello", b"{}")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
identities = st.dictionaries(st.text(max_size=5), json_values, max_size=4)
scopes = st.builds(Scope, st.sampled_from(["a", "b"]), st.sampled_from([None, "u", ""]), st.sampled_from(["", "n"]))
requests = st.builds(
    Request,
    st.sampled_from([Endpoint.CHAT, Endpoint.MESSAGES]),
    st.just("m"),
    identities,
    st.text(max_size=6),
    st.just(b""),
    scope=scopes,
)


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(requests)
def test_field_order_does_not_matter(request: Request) -> None:
    same = replace(request, identity=reordered(request.identity))
    assert cache_key(request, SALT) == cache_key(same, SALT)


@given(requests, requests)
def test_digests_are_equal_exactly_when_requests_are(one: Request, two: Request) -> None:
    same_identity = canonical(one.identity) == canonical(two.identity)
    same_rest = (one.scope, one.endpoint) == (two.scope, two.endpoint)
    first, second = cache_key(one, SALT), cache_key(two, SALT)
    assert (first.signature == second.signature) == (same_identity and same_rest)
    assert (first.exact == second.exact) == (same_identity and same_rest and one.text == two.text)
    assert (first.canonical == second.canonical) == (first.exact == second.exact)


def test_an_absent_user_is_not_the_user_with_an_empty_name() -> None:
    nobody, empty = (cache_key(replace(BASE, scope=Scope(user=user)), SALT) for user in (None, ""))
    assert nobody.exact != empty.exact


def test_a_whole_float_is_the_integer() -> None:
    whole = replace(BASE, identity={**BASE.identity, "temperature": 0.0})
    assert cache_key(whole, SALT).exact == cache_key(BASE, SALT).exact


def test_volatile_parts_of_a_request_do_not_count() -> None:
    assert cache_key(replace(BASE, stream=True, raw=b"x", user="u"), SALT) == cache_key(BASE, SALT)


def test_digests_need_the_salt() -> None:
    assert cache_key(BASE, SALT).exact != cache_key(BASE, b"t" * 32).exact


def test_moving_a_byte_between_parts_changes_the_digest() -> None:
    assert digest(SALT, b"ab", b"c") != digest(SALT, b"a", b"bc")


def test_a_lone_surrogate_is_a_text_like_any_other() -> None:
    assert cache_key(replace(BASE, text="\ud800"), SALT).exact != cache_key(BASE, SALT).exact


def test_a_partition_is_one_signature_one_category_one_embedder() -> None:
    key = cache_key(BASE, SALT)
    other = cache_key(replace(BASE, identity={"model": "m2"}), SALT)
    names = {
        partitions_of(key.signature, ["support"], "e1", SALT)[0],
        partitions_of(key.signature, ["code"], "e1", SALT)[0],
        partitions_of(key.signature, ["support"], "e2", SALT)[0],
        partitions_of(other.signature, ["support"], "e1", SALT)[0],
    }
    assert len(names) == 4
    assert {len(name) for name in names} == {16}


def test_partitions_that_are_named_together_are_those_that_are_named_alone() -> None:
    # A stored entry remembers the name of its partition: another way to compute it must not lose what is stored.
    key = cache_key(BASE, SALT)
    alone = [partitions_of(key.signature, [category], "e1", SALT)[0] for category in ("support", "code", "")]
    assert partitions_of(key.signature, ["support", "code", ""], "e1", SALT) == alone
    assert alone[0] == digest(SALT, b"shelf", key.signature, b"support", b"e1")[:16]
    assert partitions_of(key.signature, [], "e1", SALT) == []


@given(requests, requests)
def test_a_loose_signature_covers_scope_endpoint_and_what_is_left_of_the_identity(one: Request, two: Request) -> None:
    same = canonical(one.identity) == canonical(two.identity) and (one.scope, one.endpoint) == (two.scope, two.endpoint)
    first, second = (loose_signature(request, request.identity, SALT) for request in (one, two))
    assert (first == second) == same
    assert first != cache_key(one, SALT).signature


def test_what_the_upstream_does_not_keep_is_not_replayed_to_who_would_go_on_from_it() -> None:
    kept, unkept = BASE, replace(BASE, replay={"store": False})
    assert cache_key(kept, SALT).exact != cache_key(unkept, SALT).exact
    assert cache_key(kept, SALT).signature == cache_key(unkept, SALT).signature
