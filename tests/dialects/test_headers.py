"""Controls in headers, `Cache-Status`, and which headers travel on."""

from __future__ import annotations

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects.headers import (
    cache_status,
    controls_from,
    forwarded_as,
    strip_reply_headers,
    strip_request_headers,
)
from semcache.errors import RequestRejected
from semcache.types import Controls, Outcome, Why


def controls(*headers: tuple[str, str], body: Controls | None = None) -> Controls:
    return controls_from(headers, body or Controls())


@pytest.mark.parametrize(
    ("name", "value", "wish"),
    [
        ("Cache-Control", "no-cache", Controls(no_cache=True)),
        ("cache-control", "No-Store , max-age=60", Controls(no_store=True, max_age=60)),
        ("cache-control", 'max-age="5", no-transform, stale-if-error=9', Controls(max_age=5)),
        ("cache-control", "only-if-cached", Controls(only_if_cached=True)),
        ("pragma", "no-cache", Controls(no_cache=True)),
        ("X-Semcache-Bypass", "true", Controls(no_cache=True)),
        ("x-semcache-bypass", "0", Controls()),
        ("x-semcache-ttl", "1.5", Controls(ttl=1.5)),
        ("x-semcache-min-score", "-0.5", Controls(min_score=-0.5)),
        ("x-semcache-max-error", "0.001", Controls(max_error=0.001)),
        ("x-semcache-category", "medical", Controls(category="medical")),
        ("x-semcache-namespace", "beta", Controls(namespace="beta")),
        ("x-semcache-tags", "a, b,,a", Controls(tags=("a", "b"))),
        ("cf-aig-skip-cache", "true", Controls(no_cache=True)),
        ("x-portkey-cache-force-refresh", "True", Controls(no_cache=True)),
        ("X-OpenRouter-Cache-Clear", "true", Controls(no_cache=True)),
        ("x-higress-skip-ai-cache", "on", Controls(no_cache=True)),
        ("Helicone-Cache-Read", "false", Controls(no_cache=True)),
        ("Helicone-Cache-Save", "false", Controls(no_store=True)),
        ("Helicone-Cache-Seed", "s", Controls(namespace="s")),
        ("cf-aig-cache-ttl", "60", Controls(ttl=60)),
        ("x-openrouter-cache-ttl", "60", Controls(ttl=60)),
        ("x-bf-cache-threshold", "0.9", Controls(min_score=0.9)),
        ("x-bf-cache-type", "Direct", Controls(min_score=1.0)),
        ("x-bf-cache-type", "semantic", Controls(min_score=-1.0)),
        ("x-bf-cache-key", "k", Controls(namespace="k")),
        ("x-bf-cache-ttl", "300", Controls(ttl=300)),
        ("x-bf-cache-ttl", "1h30m", Controls(ttl=5400)),
        ("x-bf-cache-no-store", "true", Controls(no_store=True)),
        ("X-OpenRouter-Cache", "false", Controls(no_cache=True, no_store=True)),
        ("X-OpenRouter-Cache", "true", Controls()),
        ("authorization", "Bearer no-cache", Controls()),
    ],
)
def test_each_dialect_means_the_same(name, value, wish):
    assert controls((name, value)) == wish


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-semcache-ttl", "soon"),
        ("x-semcache-ttl", "-1"),
        ("x-semcache-ttl", "inf"),
        ("x-semcache-ttl", "nan"),
        ("x-semcache-min-score", "1.01"),
        ("x-semcache-min-score", "nan"),
        ("x-semcache-max-error", "0"),
        ("x-semcache-max-error", "1"),
        ("x-semcache-max-error", "5%"),
        ("x-semcache-bypass", "maybe"),
        ("cache-control", "max-age=soon"),
        ("cache-control", "max-age"),
        ("cache-control", "max-age=-5"),
        ("cf-aig-cache-ttl", "x"),
        ("x-bf-cache-ttl", "90 seconds"),
        ("x-bf-cache-type", "fuzzy"),
    ],
)
def test_a_header_that_cannot_be_understood_is_refused_by_name(name, value):
    with pytest.raises(RequestRejected, match=name) as caught:
        controls((name, value))
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("x-semcache-min_score", "did you mean x-semcache-min-score"),
        ("X-Semcache-MaxError", "did you mean x-semcache-max-error"),
        ("x-semcache-no-store", "cache-control"),
        ("x-semcache-", "known: x-semcache-agent"),
    ],
)
def test_a_misspelt_wish_is_refused_with_what_was_probably_meant(name, hint):
    with pytest.raises(RequestRejected, match=hint) as caught:
        controls((name, "true"))
    assert (caught.value.status, caught.value.param) == (400, name.lower())


def test_who_asks_is_no_wish_and_what_others_call_theirs_is_left_to_them():
    assert controls(*((f"x-semcache-{name}", "x") for name in ("key", "user", "agent", "session"))) == Controls()
    assert controls(("x-semcached-by", "a"), ("x-portkey-trace-id", "b"), ("helicone-user-id", "c")) == Controls()


@pytest.mark.parametrize(
    ("enabled", "read", "save", "looked_up", "stored"),
    [
        ("true", None, None, True, True),
        ("true", "true", None, True, True),
        ("true", "false", None, False, True),
        ("true", None, "false", True, False),
        ("false", None, None, False, False),
        ("false", "true", None, True, False),
        ("false", None, "true", False, True),
        (None, "true", None, True, False),
        (None, None, "true", False, True),
        (None, "false", None, False, True),
        (None, None, "false", True, False),
        (None, "true", "true", True, True),
        (None, "true", "false", True, False),
        (None, "false", "true", False, True),
        (None, "false", "false", False, False),
    ],
)
def test_helicones_headers_read_and_save_as_they_do_there_and_no_other_wish_is_lost_beside_them(
    enabled, read, save, looked_up, stored
):
    names = ("helicone-cache-enabled", "helicone-cache-read", "helicone-cache-save")
    sent = [(name, value) for name, value in zip(names, (enabled, read, save), strict=True) if value is not None]
    assert controls(*sent) == Controls(no_cache=not looked_up, no_store=not stored)
    assert controls(*sent, ("cache-control", "no-cache")) == Controls(no_cache=True, no_store=not stored)
    assert controls(*sent, body=Controls(no_store=True)) == Controls(no_cache=not looked_up, no_store=True)


@pytest.mark.parametrize("name", ["helicone-cache-enabled", "helicone-cache-read", "helicone-cache-save"])
@pytest.mark.parametrize("other", ["no-cache", "no-store", "no-cache, no-store"])
def test_a_switch_that_cannot_be_understood_is_refused_also_where_another_header_asks_for_the_same(name, other):
    with pytest.raises(RequestRejected, match=name):
        controls(("cache-control", other), (name, "maybe"))
    with pytest.raises(RequestRejected, match=name):
        controls((name, "maybe"), body=Controls(no_cache=True, no_store=True))


wishes = st.builds(
    Controls,
    no_cache=st.booleans(),
    no_store=st.booleans(),
    only_if_cached=st.booleans(),
    max_age=st.none() | st.integers(0, 99),
    ttl=st.none() | st.integers(0, 99),
    min_score=st.none() | st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
    max_error=st.none() | st.sampled_from([0.01, 0.5]),
)


def as_headers(wish: Controls) -> list[tuple[str, str]]:
    headers = [
        ("cache-control", d.replace("_", "-")) for d in ("no_cache", "no_store", "only_if_cached") if getattr(wish, d)
    ]
    if wish.max_age is not None:
        headers.append(("cache-control", f"max-age={wish.max_age}"))
    for name in ("ttl", "min_score", "max_error"):
        if getattr(wish, name) is not None:
            headers.append((f"x-semcache-{name.replace('_', '-')}", str(getattr(wish, name))))
    return headers


@given(wishes, wishes)
def test_header_and_body_together_ask_for_the_stricter(header, body):
    both = controls_from(as_headers(header), body)
    for name in ("no_cache", "no_store", "only_if_cached"):
        assert getattr(both, name) == (getattr(header, name) or getattr(body, name))
    for name, stricter in (("max_age", min), ("ttl", min), ("max_error", min), ("min_score", max)):
        given_values = [value for value in (getattr(header, name), getattr(body, name)) if value is not None]
        assert getattr(both, name) == (stricter(given_values) if given_values else None)
    assert controls_from(as_headers(body), header) == both


def test_our_own_header_wins_over_other_gateways_and_the_body():
    found = controls(
        ("cf-aig-cache-key", "theirs"),
        ("x-semcache-namespace", "ours"),
        ("x-semcache-category", "code"),
        body=Controls(namespace="body", category="chat", tags=("t",)),
    )
    assert (found.namespace, found.category, found.tags) == ("ours", "code", ("t",))
    assert controls(body=Controls(namespace="body")).namespace == "body"


def status(**changes):
    given_fields = {
        "hit": False,
        "ttl": None,
        "fwd": None,
        "fwd_status": None,
        "stored": False,
        "collapsed": False,
        "detail": None,
    }
    return cache_status(**(given_fields | changes))


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"hit": True, "ttl": 3412, "detail": "semantic"}, "semcache; hit; ttl=3412; detail=semantic"),
        ({"hit": True, "ttl": 81, "detail": "semantic 0.962"}, 'semcache; hit; ttl=81; detail="semantic 0.962"'),
        (
            {"fwd": "miss", "stored": True, "detail": "below-threshold"},
            "semcache; fwd=miss; stored; detail=below-threshold",
        ),
        ({"fwd": "miss", "fwd_status": 429}, "semcache; fwd=miss; fwd-status=429"),
        ({"fwd": "miss", "collapsed": True}, "semcache; fwd=miss; collapsed"),
        ({"fwd": "bypass", "detail": 'a"b\\c'}, 'semcache; fwd=bypass; detail="a\\"b\\\\c"'),
    ],
)
def test_cache_status_reads_as_rfc_9211_shows(fields, value):
    assert status(**fields) == value


@given(
    hit=st.booleans(),
    ttl=st.none() | st.integers(),
    fwd=st.sampled_from(["miss", "stale", "request", "bypass"]),
    fwd_status=st.none() | st.integers(100, 599),
    stored=st.booleans(),
    collapsed=st.booleans(),
    detail=st.none() | st.text(max_size=20) | st.sampled_from([str(why) for why in Why]),
)
def test_cache_status_is_always_a_valid_structured_field(**fields):
    parsed = http_sf.parse(cache_status(**fields).encode(), tltype="list")
    assert len(parsed) == 1
    name, parameters = parsed[0]
    assert str(name) == "semcache"
    assert parameters.get("hit", False) is fields["hit"]
    assert ("fwd" in parameters) is not fields["hit"]
    assert isinstance(parameters.get("ttl", 0), int)
    detail = fields["detail"]
    if detail and detail.isascii() and detail.isprintable():
        assert str(parameters["detail"]) == detail


@pytest.mark.parametrize(
    ("why", "outcome", "fwd"),
    [
        (Why.COLD, Outcome.MISS, "miss"),
        (Why.BELOW_THRESHOLD, Outcome.MISS, "miss"),
        (Why.GUARD, Outcome.NEAR, "miss"),
        (Why.EXPIRED, Outcome.MISS, "stale"),
        (Why.NO_CACHE, Outcome.BYPASS, "request"),
        (Why.MAX_AGE, Outcome.MISS, "request"),
        (Why.PERSONAL, Outcome.BYPASS, "bypass"),
        (Why.FAULT, Outcome.BYPASS, "bypass"),
    ],
)
def test_why_a_request_went_on_is_told_in_the_registered_words(why, outcome, fwd):
    assert forwarded_as(why, outcome) == fwd


def test_only_end_to_end_headers_reach_the_backend():
    kept = [
        ("Authorization", "Bearer k"),
        ("OpenAI-Organization", "o"),
        ("anthropic-beta", "b"),
        ("Content-Type", "application/json"),
    ]
    dropped = [
        ("Host", "proxy"),
        ("Content-Length", "9"),
        ("Connection", "keep-alive, X-Private"),
        ("X-Private", "1"),
        ("TE", "trailers"),
        ("Accept-Encoding", "br"),
        ("Cache-Control", "no-cache"),
        ("X-Semcache-TTL", "9"),
        ("x-semcache-user", "alice"),
    ]
    assert strip_request_headers([*dropped, *kept]) == kept


def test_a_backend_cannot_speak_in_our_name():
    kept = [("x-request-id", "r"), ("x-ratelimit-remaining-requests", "9"), ("retry-after", "1")]
    dropped = [
        ("transfer-encoding", "chunked"),
        ("content-encoding", "br"),
        ("content-length", "9"),
        ("x-semcache-id", "0"),
    ]
    assert strip_reply_headers([*dropped, *kept]) == kept
