"""What keeps one tenant out of another's answers, and our keys out of the backend's log."""

from __future__ import annotations

import base64
import secrets
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import InvalidArgument, RequestRejected
from semcache.proxy.auth import Authenticator, Caller, digest, forwardable_headers, new_key, user_of
from semcache.types import ApiKey

SALT = bytes(range(32))
PLAIN, KEY = new_key(secrets.token_bytes, 1.0, "acme", "ci", SALT)
CHIEF_PLAIN, CHIEF = new_key(secrets.token_bytes, 1.0, "ops", "chief", SALT, trusted=True, admin=True)


def bearer(plain: str) -> tuple[bytes, bytes]:
    return b"authorization", f"Bearer {plain}".encode()


def test_a_new_key_is_not_kept_in_plain() -> None:
    assert PLAIN.startswith("sk-sc-")
    assert len(PLAIN) > 40
    assert PLAIN not in repr(KEY)
    assert KEY.digest == digest(PLAIN, SALT) != digest(PLAIN, bytes(32))
    assert (KEY.tenant, KEY.name, KEY.created, KEY.trusted, KEY.admin) == ("acme", "ci", 1.0, False, False)
    assert new_key(secrets.token_bytes, 1.0, "acme", "ci", SALT)[0] != PLAIN


def test_a_key_is_refused_from_its_end_on() -> None:
    now = 99.9
    guard = Authenticator([replace(KEY, expires=100.0), replace(CHIEF, expires=100.0)], SALT, clock=lambda: now)
    assert guard.identify([bearer(PLAIN)]).key_id == KEY.id
    assert (guard.tenants, guard.has_administrator) == ({"acme"}, True)
    now = 100.0
    with pytest.raises(RequestRejected, match=f"{KEY.id} has expired .at 1970-01-01 00:01:40 UTC.") as refused:
        guard.identify([bearer(PLAIN)])
    assert refused.value.status == 401
    assert (guard.tenants, guard.has_administrator) == (frozenset(), False)
    assert guard.required, "a proxy whose last key has expired is not open to everybody"
    with pytest.raises(RequestRejected):
        guard.identify([])


def test_the_end_of_a_key_needs_no_clock_of_the_caller() -> None:
    with pytest.raises(RequestRejected, match="expired"):
        Authenticator([replace(KEY, expires=1.0)], SALT).identify([bearer(PLAIN)])


@pytest.mark.parametrize("tenant", ["", "a\nb"])
def test_a_key_needs_a_tenant(tenant: str) -> None:
    with pytest.raises(InvalidArgument, match="tenant"):
        new_key(secrets.token_bytes, 1.0, tenant, "ci", SALT)


@pytest.mark.parametrize(
    "header", [bearer(PLAIN), (b"authorization", b"bearer  " + PLAIN.encode()), (b"x-api-key", PLAIN.encode())]
)
def test_a_key_is_found_where_sdks_put_it_and_goes_no_further(header: tuple[bytes, bytes]) -> None:
    headers = [(b"content-type", b"application/json"), header]
    caller = Authenticator([KEY, CHIEF], SALT).identify(headers)
    assert (caller.tenant, caller.trusted, caller.admin, caller.key_id) == ("acme", False, False, KEY.id)
    assert forwardable_headers(headers, caller) == [("content-type", "application/json")]


def test_the_own_header_leaves_the_backends_key_in_place() -> None:
    headers = [bearer("sk-openai"), (b"x-semcache-key", PLAIN.encode()), (b"x-semcache-ttl", b"5")]
    caller = Authenticator([KEY], SALT).identify(headers)
    assert caller.tenant == "acme"
    assert forwardable_headers(headers, caller) == [("authorization", "Bearer sk-openai")]


def test_the_encoding_of_a_body_that_was_decoded_is_not_forwarded() -> None:
    assert forwardable_headers([(b"content-encoding", b"gzip")], Caller()) == []


def test_the_own_header_comes_first_and_every_key_must_be_valid() -> None:
    guard = Authenticator([KEY, CHIEF], SALT)
    both = [bearer(PLAIN), (b"x-semcache-key", CHIEF_PLAIN.encode())]
    caller = guard.identify(both)
    assert caller.tenant == "ops"
    assert forwardable_headers(both, caller) == []
    with pytest.raises(RequestRejected):
        guard.identify([bearer("sk-sc-unknown"), (b"x-semcache-key", CHIEF_PLAIN.encode())])


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [bearer("sk-openai")],
        [bearer("sk-sc-")],
        [bearer(PLAIN[:-1])],
        [bearer(PLAIN + "x")],
        [(b"x-semcache-key", b"sk-openai")],
        [(b"x-semcache-key", b"")],
        [(b"cookie", PLAIN.encode())],
        [(b"authorization", b"Basic " + PLAIN.encode())],
    ],
)
def test_without_a_known_key_nobody_enters(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(RequestRejected) as refusal:
        Authenticator([KEY], SALT).identify(headers)
    assert refusal.value.status == 401
    assert PLAIN not in refusal.value.message


def test_revoking_bites_at_once_and_the_last_one_opens_no_door() -> None:
    guard = Authenticator([KEY], SALT)
    guard.identify([bearer(PLAIN)])
    guard.replace([replace(KEY, revoked=2.0)])
    with pytest.raises(RequestRejected, match="revoked"):
        guard.identify([bearer(PLAIN)])
    with pytest.raises(RequestRejected):
        guard.identify([])
    guard.replace([KEY, CHIEF])
    assert guard.identify([bearer(CHIEF_PLAIN)]).admin


def test_anybody_is_trusted_only_alone_on_this_machine() -> None:
    assert Authenticator([], SALT).identify([bearer("sk-openai")]) == Caller(trusted=True, admin=True)
    assert Authenticator([], SALT, loopback=False).identify([]) == Caller()
    assert Authenticator([KEY], SALT, required=False).identify([]) == Caller()
    with pytest.raises(RequestRejected):
        Authenticator([], SALT, required=True).identify([])


def test_a_wrong_key_is_refused_even_where_none_is_needed() -> None:
    with pytest.raises(RequestRejected):
        Authenticator([KEY], SALT, required=False).identify([bearer("sk-sc-typo")])


def test_the_admin_token_needs_no_store() -> None:
    guard = Authenticator([KEY], SALT, admin_token="let me in")
    headers = [bearer("let me in")]
    caller = guard.identify(headers)
    assert caller.admin
    assert forwardable_headers(headers, caller) == []
    with pytest.raises(RequestRejected):
        guard.identify([bearer("let me i")])


@pytest.mark.parametrize("secret", [pytest.param(PLAIN, id="key"), "let me in", "letmein"])
@pytest.mark.parametrize("required", [True, False])
def test_a_key_of_ours_goes_no_further_in_whatever_form_it_is_shown(secret: str, required: bool) -> None:
    guard = Authenticator([KEY], SALT, required=required, admin_token=secret if secret != PLAIN else None)
    basic = base64.b64encode(f"user:{secret}".encode()).decode()
    for name, value in (
        *[("authorization", f"{scheme} {secret}") for scheme in ("Token", "ApiKey", "Bearer Bearer")],
        *[("authorization", f"Basic {basic}"), ("proxy-authorization", f"Bearer {secret}")],
        *[("api-key", secret), ("x-goog-api-key", secret), ("api-key", f" {secret} ")],
    ):
        shown = (name.encode(), value.encode())
        own = (b"x-semcache-key", PLAIN.encode())
        for headers in ([shown], [shown, own]):
            try:
                caller = guard.identify(headers)
            except RequestRejected:
                assert required or headers == [shown]
                continue
            assert forwardable_headers(headers, caller) == []
    caller = guard.identify([(b"authorization", b"Basic dXNlcjpvdGhlcg=="), (b"x-semcache-key", PLAIN.encode())])
    assert caller.consumed == {b"x-semcache-key"}


def test_only_trusted_callers_name_users() -> None:
    headers = [(b"x-semcache-user", b"boss")]
    assert user_of("ann", headers, Caller(trusted=True)) == "boss"
    assert user_of("ann", headers, Caller()) is None
    assert user_of("ann", headers, Caller(), trust_body=True) == "ann"
    assert user_of("ann", [], Caller(trusted=True)) == "ann"
    assert user_of("ann", headers, Caller(trusted=True, user="bob")) == "bob"
    assert user_of("ann", headers, Caller(user="bob"), trust_header=True, trust_body=True) == "bob"
    assert user_of("ann", headers, Caller(), trust_header=True) == "boss"
    assert user_of(None, [(b"x-semcache-user", b"")], Caller(trusted=True)) is None
    assert user_of("", [], Caller()) is None


@given(st.text(min_size=1), st.text(min_size=1))
def test_users_of_different_names_stay_apart_however_a_client_writes_them(one: str, two: str) -> None:
    def named(user: str, encoding: str) -> str | None:
        return user_of(None, [(b"x-semcache-user", user.encode(encoding))], Caller(trusted=True))

    assert (named(one, "utf-8") == named(two, "utf-8")) is (one == two)
    assert named("Jürgen", "latin-1") == named("Jürgen", "utf-8") == "Jürgen"
    assert named("Jörgen", "latin-1") == "Jörgen"


values = st.sampled_from([PLAIN, CHIEF_PLAIN, "sk-openai", "", "sk-sc-typo"]).flatmap(
    lambda plain: st.sampled_from([plain.encode(), b"Bearer " + plain.encode()])
)
names = st.sampled_from([b"authorization", b"x-api-key", b"x-semcache-key", b"accept"])


@given(
    st.lists(st.tuples(names, values), max_size=4),
    st.sampled_from([[], [KEY], [KEY, CHIEF]]),
    st.booleans() | st.none(),
)
def test_no_key_of_ours_in_a_key_header_ever_reaches_the_backend(
    headers: list[tuple[bytes, bytes]], keys: list[ApiKey], required: bool | None
) -> None:
    try:
        caller = Authenticator(keys, SALT, required).identify(headers)
    except RequestRejected:
        return
    assert not [name for name, value in forwardable_headers(headers, caller) if "sk-sc-" in value]
    if caller.tenant != "default":
        assert any(PLAIN.encode() in value or CHIEF_PLAIN.encode() in value for _, value in headers)
