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


@pytest.mark.parametrize(
    "name",
    [
        "uber-trace-id",
        "elastic-apm-traceparent",
        "newrelic",
        "x-instana-t",
        "x-arr-log-id",
        "x-original-forwarded-for",
        "fly-request-id",
        "helicone-session-id",
        "helicone-property-app",
        "x-claude-code-session-id",
        "semantic-kernel-version",
    ],
)
def test_what_is_new_with_each_request_and_no_model_reads_is_none_of_it(name: str) -> None:
    assert identity_of({"model": "m"}, scope((name.encode(), b"7"))) == {"model": "m"}


@pytest.mark.parametrize(
    "name", ["helicone-target-url", "helicone-prompt-id", "x-portkey-metadata", "x-litellm-tags", "x-session-id"]
)
def test_a_header_by_which_a_gateway_may_answer_otherwise_is_part_of_the_request(name: str) -> None:
    assert identity_of({"model": "m"}, scope((name.encode(), b"7"))) != {"model": "m"}


@pytest.mark.parametrize(
    ("cookie", "told"),
    [
        (b"BIGipServerpool=12.34; __cf_bm=x", False),
        (b"ApplicationGatewayAffinityCORS=x;ApplicationGatewayAffinity=x", False),
        (b"INGRESSCOOKIE=x|y", False),
        (b"visid_incap_12=a==; nlbi_12=b; incap_ses_7_12=c", False),
        (b"AWSELB=x; session=7", True),
        (b"BIGipServer", True),
    ],
    ids=["f5", "application-gateway", "ingress", "imperva", "with-a-session", "no-cookie-of-a-balancer"],
)
def test_cookies_of_load_balancers_are_none_of_a_request(cookie: bytes, told: bool) -> None:
    assert (identity_of({"model": "m"}, scope((b"cookie", cookie))) != {"model": "m"}) is told
