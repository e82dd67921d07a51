"""What a request is known by is what its upstream is sent: nothing beside the body can be counterfeited in it."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.errors import RequestRejected
from semcache.proxy.origin import check_json
from semcache.proxy.relay import identity_of


def scope(*headers: tuple[bytes, bytes], query: bytes = b"") -> dict[str, Any]:
    return {"headers": list(headers), "query_string": query}


BETA = (b"openai-beta", b"assistants=v2")


def test_a_member_of_the_body_does_not_pass_for_headers_or_a_query() -> None:
    beside = identity_of({"model": "m"}, scope(BETA, query=b"api-version=2"))["?"]
    counterfeit = {"model": "m", "?": beside}
    assert identity_of(counterfeit, scope()) != identity_of({"model": "m"}, scope(BETA, query=b"api-version=2"))
    assert identity_of(counterfeit, scope()) != identity_of(counterfeit, scope(BETA))


def test_a_header_that_ends_at_this_connection_is_none_of_the_request() -> None:
    plain = {"model": "m"}
    assert identity_of(plain, scope(BETA, (b"connection", b"close, OpenAI-Beta"))) == identity_of(plain, scope())
    assert identity_of(plain, scope(BETA, (b"connection", b"close"))) != identity_of(plain, scope())


@pytest.mark.parametrize(
    "value", [b"application/json", b"application/json; charset=utf-8", b'application/json;charset="UTF-8"']
)
def test_json_is_utf_8(value: bytes) -> None:
    check_json([(b"content-type", value)])


@pytest.mark.parametrize(
    "value",
    [
        b"application/json; charset=utf-7",
        b"application/json; charset=utf-8; charset=utf-16",
        b'application/json; charset="utf-7"',
        b"application/json;CHARSET=latin-1",
        b"application/json; charset*=utf-7''x",
        b"application/json; charset=utf-8x",
    ],
)
def test_another_charset_would_be_another_body_upstream(value: bytes) -> None:
    with pytest.raises(RequestRejected, match="UTF-8") as caught:
        check_json([(b"content-type", value)])
    assert caught.value.status == 415
