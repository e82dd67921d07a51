"""What a caller may ask of the cache for one request, and what each reply says of it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.protocols import Outbound
from semcache.proxy.auth import new_key
from tests.proxy.driver import PACK, STREAM, Answer, Call, Clock, Received, Upstream, ask, completion, events, running

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"
JSON = {"content-type": "application/json"}


def numbered() -> Upstream:
    """An upstream whose answers can be told apart."""
    upstream = Upstream(lambda _: Answer([completion(f"Answer {len(upstream.calls)}.")]))
    return upstream


def said(reply: Received) -> str:
    assert reply.status == 200
    text: str = reply.json["choices"][0]["message"]["content"]
    return text


async def test_a_reply_says_how_it_was_made(tmp_path: Path) -> None:
    clock = Clock()
    async with running(numbered(), tmp_path, clock=clock) as proxy:
        miss = await Call(proxy, ask(PROMPT)).reply()
        clock.now += 60
        hit = await Call(proxy, ask(PROMPT)).reply()
        again = await Call(proxy, ask(PROMPT)).reply()
        near = await Call(proxy, ask(PARAPHRASE)).reply()
        off = await Call(proxy, ask(PROMPT), **{"x-semcache-category": "disabled"}).reply()
    assert miss.cache == {"fwd": "miss", "stored": True, "detail": "cold"}
    assert miss.header("age") is None
    assert hit.cache == again.cache == {"hit": True, "ttl": 7 * 86400 - 60, "detail": "exact"}
    assert near.cache["detail"] == "semantic"
    assert {reply.header("age") for reply in (hit, again, near)} == {"60"}
    assert off.cache == {"fwd": "bypass", "detail": "category-disabled"}


async def test_ids_of_requests(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        replies = [await Call(proxy, ask(PROMPT)).reply() for _ in range(3)]
    assert replies[0].header("x-request-id") == "req_upstream"
    ours = [reply.header("x-request-id") or "" for reply in replies[1:]]
    assert ours[0] != ours[1]
    assert all(made.startswith("req_") and made != "req_upstream" for made in ours)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
async def test_a_reply_that_the_upstream_gave_no_id_carries_ours(tmp_path: Path, path: str) -> None:
    vectors = b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0]}],"model":"m","usage":{}}'
    body = completion() if "chat" in path else vectors
    upstream = Upstream(lambda _: Answer([body], headers=[("content-type", "application/json")]))
    asked = ask(PROMPT) if "chat" in path else {"model": "m", "input": "hello"}
    async with running(upstream, tmp_path) as proxy:
        missed = await Call(proxy, asked, path=path).reply()
    assert (missed.header("x-request-id") or "").startswith("req_")


async def test_no_cache_asks_again_and_refreshes_the_entry(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        await Call(proxy, ask(PROMPT)).reply()
        fresh = await Call(proxy, ask(PROMPT), **{"cache-control": "no-cache"}).reply()
        after = [await Call(proxy, ask(prompt)).reply() for prompt in (PROMPT, PROMPT, PARAPHRASE)]
        assert len(proxy.cache.registry) == 1
    assert fresh.cache == {"fwd": "request", "stored": True, "detail": "no-cache"}
    assert [said(reply) for reply in after] == ["Answer 2."] * 3


async def test_no_store_keeps_nothing_and_takes_what_there_is(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT), **{"cache-control": "no-store"}).reply()
        second = await Call(proxy, ask(PROMPT, cache={"no-store": True})).reply()
        await Call(proxy, ask(PROMPT)).reply()
        fourth = await Call(proxy, ask(PROMPT), **{"cache-control": "no-store"}).reply()
    assert "stored" not in first.cache
    assert "stored" not in second.cache
    assert said(fourth) == "Answer 3."


@pytest.mark.parametrize("headers", [{}, {"x-semcache-category": "disabled"}], ids=["miss", "bypass"])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
async def test_only_if_cached_never_asks_the_backend(tmp_path: Path, headers: dict[str, str], path: str) -> None:
    upstream = numbered()
    body: dict[str, Any] = ask(PROMPT) if path.endswith("completions") else {"model": "m", "input": PROMPT}
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, body, path, **{"cache-control": "only-if-cached", **headers}).reply()
        await proxy.cache.event_log.flush()
        tally = await proxy.cache.components.store.tally()
    assert reply.status == 504
    assert reply.cache == {"detail": "not_cached"}
    assert reply.json["error"]["code"] == "not_cached"
    assert reply.header("x-should-retry") == "false", "SDKs would ask again, and find no more"
    assert upstream.calls == []
    assert sum(int(str(row["requests"])) for row in tally) == 1


async def test_max_age_is_the_oldest_answer_accepted(tmp_path: Path) -> None:
    clock = Clock()
    async with running(numbered(), tmp_path, clock=clock) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        clock.now += 100
        young = await Call(proxy, ask(PROMPT), **{"cache-control": "max-age=100"}).reply()
        clock.now += 1
        old = await Call(proxy, ask(PROMPT), **{"cache-control": "max-age=100"}).reply()
        body = await Call(proxy, ask(PROMPT, cache={"s-maxage": 0})).reply()
        clock.now += 1
        body_late = await Call(proxy, ask(PROMPT, cache={"s-maxage": 0})).reply()
    assert [said(reply) for reply in (young, old, body, body_late)] == [
        "Answer 1.",
        "Answer 2.",
        "Answer 2.",
        "Answer 3.",
    ]
    assert old.cache == {"fwd": "request", "stored": True, "detail": "max-age"}


async def test_ttl_can_be_shortened_and_not_lengthened(tmp_path: Path) -> None:
    clock = Clock()
    async with running(numbered(), tmp_path, clock=clock) as proxy:
        await Call(proxy, ask(PROMPT), **{"x-semcache-ttl": "10"}).reply()
        await Call(proxy, ask("Who wrote Faust?"), **{"x-semcache-ttl": "99999999"}).reply()
        hits = [await Call(proxy, ask(prompt)).reply() for prompt in (PROMPT, "Who wrote Faust?")]
        clock.now += 11
        late = [await Call(proxy, ask(prompt)).reply() for prompt in (PROMPT, PARAPHRASE)]
    assert [hit.cache["ttl"] for hit in hits] == [10, 7 * 86400]
    assert late[0].cache == {"fwd": "stale", "stored": True, "detail": "expired"}
    assert late[1].cache["hit"] is True
    assert said(late[1]) == "Answer 3."


@pytest.mark.parametrize("stream", [False, True])
async def test_a_ttl_of_zero_promises_nothing(tmp_path: Path, stream: bool) -> None:
    upstream = Upstream(lambda _: Answer(events("Off."), headers=STREAM) if stream else Answer([completion()]))
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask(PROMPT, stream=stream), **{"x-semcache-ttl": "0"}).reply()
        assert len(proxy.cache.registry) == 0
    assert "stored" not in reply.cache


async def test_namespaces_are_apart(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        one = await Call(proxy, ask(PROMPT), **{"x-semcache-namespace": "one"}).reply()
        two = await Call(proxy, ask(PARAPHRASE), **{"x-semcache-namespace": "two"}).reply()
        none = await Call(proxy, ask(PROMPT)).reply()
        back = await Call(proxy, ask(PARAPHRASE, cache={"namespace": "one"})).reply()
    assert [said(reply) for reply in (one, two, none, back)] == ["Answer 1.", "Answer 2.", "Answer 3.", "Answer 1."]


async def test_an_answer_kept_under_one_category_is_not_served_under_another(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        careful = await Call(proxy, ask(PROMPT), **{"x-semcache-category": "careful"}).reply()
        again = await Call(proxy, ask(PROMPT), **{"x-semcache-category": "careful"}).reply()
        unnamed = await Call(proxy, ask(PROMPT)).reply()
    assert careful.cache == {"fwd": "miss", "stored": True, "detail": "cold"}
    assert said(again) == said(unnamed) == "Answer 2."


async def test_whatever_an_upstream_may_answer_by_keeps_answers_apart(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        variants: list[dict[str, str]] = [
            {},
            {"openai-beta": "assistants=v2"},
            {"anthropic-beta": "context-1m"},
            {"query": "api-version=1"},
            {"query": "api-version=2"},
        ]
        first = [await Call(proxy, ask(PROMPT), **variant).reply() for variant in variants]
        second = [await Call(proxy, ask(PROMPT), **variant).reply() for variant in variants]
        usual = await Call(proxy, ask(PROMPT), **{"anthropic-version": "2023-06-01"}).reply()
    assert not any("hit" in reply.cache for reply in first)
    assert all(reply.cache["detail"] == "exact" for reply in second)
    assert [said(reply) for reply in second] == [said(reply) for reply in first]
    assert said(usual) == said(first[0])


async def test_scores_and_ids_are_for_trusted_callers(tmp_path: Path) -> None:
    """Whoever may not know must not learn from a score that somebody else has asked."""
    async with running(numbered(), tmp_path, auth__required=False, server__host="127.0.0.1") as proxy:
        trusted = [await Call(proxy, ask(prompt)).reply() for prompt in (PROMPT, PROMPT, PARAPHRASE)]
        proxy._process.auth._loopback = False
        proxy._process.auth.replace([])
        proxy.context.replayer.clear()
        others = [await Call(proxy, ask(prompt)).reply() for prompt in (PROMPT, PROMPT, PROMPT, PARAPHRASE, "Who?")]
    names = {"x-semcache-id", "x-semcache-score", "x-semcache-p-correct", "x-semcache-category"}
    for reply in trusted[1:]:
        assert names <= {name for name, _ in reply.headers}
    for reply in others:
        assert not any(name.startswith("x-semcache") for name, _ in reply.headers)
    assert float(trusted[2].header("x-semcache-score") or 0) < 1.0
    assert trusted[1].header("x-semcache-score") == "1.0000"


async def test_our_own_words_are_not_taken_from_the_upstream(tmp_path: Path) -> None:
    headers = (
        ("content-type", "application/json"),
        ("x-semcache-id", "0000000000000001"),
        ("cache-status", "other; hit"),
        ("date", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ("server", "upstream"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("openai-processing-ms", "12"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    )
    upstream = Upstream(lambda _: Answer([completion()], headers=headers))
    async with running(upstream, tmp_path, auth__expose_scores=False) as proxy:
        proxy._process.auth._loopback = False
        proxy._process.auth.replace([])
        reply = await Call(proxy, ask(PROMPT)).reply()
        other = await Call(proxy, path="/v1/files", method="GET").reply()
    for got in (reply, other):
        assert [value for name, value in got.headers if name == "cache-status"][:-1] == ["other; hit"]
        assert not {"x-semcache-id", "date", "server", "x-hop", "connection"} & {name for name, _ in got.headers}
        assert got.header("openai-processing-ms") == "12"
        assert [value for name, value in got.headers if name == "set-cookie"] == ["a=1", "b=2"]


async def test_the_upstream_sees_the_request_and_nothing_that_was_for_us(tmp_path: Path) -> None:
    upstream = numbered()
    raw = b'{ "model":"m","messages":[{"role":"user","content":"caf\xc3\xa9 \\u00e9?"}], "x_new": [1.50, {"a":null}]}'
    async with running(upstream, tmp_path) as proxy:
        await Call(
            proxy, raw, **{"x-semcache-tags": "t", "cache-control": "max-age=3", "x-custom": "1", "te": "trailers"}
        ).reply()
        await Call(proxy, raw[:-1] + b', "cache": {"ttl": 5}}', **{"x-custom": "1"}).reply()
    assert upstream.calls[0].body == raw
    assert dict(upstream.calls[0].headers)["x-custom"] == "1"
    assert not {"x-semcache-tags", "cache-control", "te", "host"} & dict(upstream.calls[0].headers).keys()
    assert len(upstream.calls) == 1, "the cache object is no part of the request"


async def test_the_cache_object_is_taken_out_and_the_rest_stays_as_it_is(tmp_path: Path) -> None:
    upstream = numbered()
    raw = b'{"model":"m","cache":{"ttl":5},"messages":[{"role":"user","content":"caf\\u00e9?"}],"x_new":[1.50]}'
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, raw).reply()
    assert upstream.calls[0].body == (
        b'{"model":"m","messages":[{"role":"user","content":"caf\\u00e9?"}],"x_new":[1.50]}'
    )


async def test_a_memorised_reply_ends_with_its_entry(tmp_path: Path) -> None:
    """The second identical hit skips all parsing, and must see deletion, expiry and wrongness all the same."""
    clock = Clock()
    async with running(numbered(), tmp_path, clock=clock) as proxy:

        async def warm(prompt: str) -> None:
            for _ in range(3):
                last = await Call(proxy, ask(prompt)).reply()
            assert last.cache["hit"] is True
            assert proxy.context.replayer._memo

        await warm("Who wrote Faust?")
        deleted = await Call(proxy, {"category": "default"}, "/semcache/invalidate", **JSON).reply()
        assert deleted.json["count"] == 1
        assert (await Call(proxy, ask("Who wrote Faust?")).reply()).cache["fwd"] == "miss"

        await warm("What is a monad?")
        shown = (await Call(proxy, ask("What is a monad?")).reply()).header("x-semcache-id")
        wrong = await Call(proxy, {"id": shown, "correct": False}, "/semcache/feedback", **JSON).reply()
        assert wrong.status == 200
        assert "hit" not in (await Call(proxy, ask("What is a monad?")).reply()).cache

        await warm("Where is Lima?")
        clock.now += 8 * 86400
        assert (await Call(proxy, ask("Where is Lima?")).reply()).cache["fwd"] == "stale"


async def test_a_reply_made_before_a_key_was_revoked_is_not_memorised_after(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        entry_of = proxy.cache.entry

        async def revoked_meanwhile(*args: Any) -> Any:
            proxy.context.replayer.clear()
            return await entry_of(*args)

        proxy.cache.entry = revoked_meanwhile  # type: ignore[method-assign]
        assert (await Call(proxy, ask(PROMPT)).reply()).cache["hit"] is True
        assert proxy.context.replayer._memo == {}


async def test_feedback_on_a_paraphrase_spares_the_entry_for_its_own_prompt(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        near = await Call(proxy, ask(PARAPHRASE)).reply()
        body = {"id": near.header("x-semcache-id"), "correct": False}
        await Call(proxy, body, "/semcache/feedback", **JSON).reply()
        rejected = await Call(proxy, ask(PARAPHRASE)).reply()
        own = await Call(proxy, ask(PROMPT)).reply()
        after = await Call(proxy, ask(PARAPHRASE)).reply()
    assert near.cache["detail"] == "semantic"
    assert rejected.cache == {"fwd": "miss", "stored": True, "detail": "rejected-before"}
    assert said(own) == "Answer 1."
    assert said(after) == "Answer 2."


async def test_what_the_proxy_says_of_a_refusal(tmp_path: Path) -> None:
    upstream = numbered()
    async with running(upstream, tmp_path, server__max_body=1000) as proxy:
        cases: list[tuple[Any, dict[str, str], int, str]] = [
            (b"{", {}, 400, ""),
            (b'{"model": "m", "messages": [{"role": "user", "content": NaN}]}', {}, 400, ""),
            (b"[]", {}, 400, ""),
            ({"model": "m", "messages": []}, {}, 400, "messages"),
            ({"model": 3, "messages": [{"role": "user", "content": "x"}]}, {}, 400, "model"),
            (ask("x", temperature="hot"), {}, 400, "temperature"),
            (ask("x"), {"x-semcache-category": "nosuch"}, 400, "nosuch"),
            (ask("x"), {"x-semcache-min-score": "7"}, 400, "x-semcache-min-score"),
            (ask("x", cache={"tttl": 3}), {}, 400, "ttl"),
            (ask("x" * 2000), {}, 413, "1000"),
        ]
        replies = [(await Call(proxy, body, **headers).reply(), *rest) for body, headers, *rest in cases]
        anthropic = await Call(proxy, b"{", "/v1/messages").reply()
        await Call(proxy, {"model": "m", "input": 3}, "/v1/embeddings").reply()
        metrics = await Call(proxy, path="/metrics", method="GET").reply()
    assert upstream.calls == []
    refused = 'semcache_requests_total{category="default",endpoint="%s",outcome="bypass",why="%s"} %s'
    for endpoint, why, count in (
        ("chat", "unreadable", "9.0"),
        ("chat", "too-large", "1.0"),
        ("messages", "unreadable", "1.0"),
        ("embeddings", "unreadable", "1.0"),
    ):
        assert refused % (endpoint, why, count) in metrics.body.decode(), "refusals of known callers are counted"
    for reply, status, word in replies:
        assert reply.status == status
        assert reply.json["error"].keys() == {"message", "type", "param", "code"}
        assert word in reply.json["error"]["message"]
        assert reply.cache.keys() == {"detail"}
    assert anthropic.json["type"] == "error"
    assert anthropic.json["error"]["type"] == "invalid_request_error"


async def test_tags_are_what_entries_are_invalidated_by(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT), **{"x-semcache-tags": "router, manual-7"}).reply()
        await Call(proxy, ask("Who wrote Faust?", cache={"tags": ["books"]})).reply()
        dry = await Call(proxy, {"tag": "manual-7", "dry_run": True}, "/semcache/invalidate", **JSON).reply()
        still = await Call(proxy, ask(PROMPT)).reply()
        done = await Call(proxy, {"tag": "manual-7"}, "/semcache/invalidate", **JSON).reply()
        gone = await Call(proxy, ask(PARAPHRASE)).reply()
        other = await Call(proxy, ask("Who wrote Faust?")).reply()
        empty = await Call(proxy, {}, "/semcache/invalidate", **JSON).reply()
    assert dry.json["ids"] == done.json["ids"]
    assert len(done.json["ids"]) == 1
    assert said(still) == "Answer 1."
    assert gone.cache["fwd"] == "miss"
    assert other.cache["hit"] is True
    assert empty.status == 400


async def test_a_tag_is_the_same_in_a_header_and_in_a_body(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT), **{"x-semcache-tags": "größe, 手册"}).reply()
        found = [
            (await Call(proxy, {"tag": tag, "dry_run": True}, "/semcache/invalidate", **JSON).reply()).json["count"]
            for tag in ("größe", "手册")
        ]
    assert found == [1, 1]


@pytest.mark.parametrize("path", ["/semcache/feedback", "/semcache/plans/purge", "/nowhere"])
async def test_no_path_takes_a_body_above_the_limit(tmp_path: Path, path: str) -> None:
    packed = gzip.compress(msgspec.json.encode({"id": "x" * 2000, "correct": True}))
    fits = gzip.compress(b'{"id": "e", "correct": true}')
    async with running(numbered(), tmp_path, server__max_body=1000) as proxy:
        large = await Call(proxy, {"id": "x" * 2000, "correct": True}, path, **JSON).reply()
        small = await Call(proxy, packed, path, **JSON, content_encoding="gzip").reply()
        good = await Call(proxy, fits, path, **JSON, content_encoding="gzip").reply()
    assert [reply.json["error"]["code"] for reply in (large, small)] == ["body_too_large"] * 2
    assert good.status == 404


async def test_embeddings_are_cached_one_by_one(tmp_path: Path) -> None:
    def answer(outbound: Outbound) -> Answer:
        texts = msgspec.json.decode(outbound.body)["input"]
        texts = [texts] if isinstance(texts, str) else texts
        data = [
            {"object": "embedding", "index": i, "embedding": [float(len(text)), 0.5]} for i, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return Answer([msgspec.json.encode({"object": "list", "data": data, "model": "m", "usage": usage})])

    def request(texts: Any) -> dict[str, Any]:
        return {"model": "m", "input": texts}

    upstream = Upstream(answer)
    clock = Clock()
    async with running(upstream, tmp_path, clock=clock) as proxy:
        path = "/v1/embeddings"
        miss = await Call(proxy, request(["a", "bb"]), path).reply()
        clock.now += 5
        part = await Call(proxy, request(["bb", "ccc", "a"]), path).reply()
        hit = await Call(proxy, request(["ccc", "bb"]), path).reply()
        one = await Call(proxy, request("a"), path).reply()
        fresh = await Call(proxy, request(["a", "bb"]), path, **{"cache-control": "no-cache"}).reply()
        for entry in proxy.cache.components.live.hot._entries.values():
            object.__setattr__(entry, "body", b"damaged")
        damaged = await Call(proxy, request(["a", "bb"]), path).reply()
    assert miss.cache == {"fwd": "miss", "stored": True, "detail": "exact-only"}
    assert part.cache["fwd"] == "partial"
    assert b'"input":["ccc"]' in upstream.calls[1].body
    assert [item["embedding"][0] for item in part.json["data"]] == [2.0, 3.0, 1.0]
    assert [item["index"] for item in part.json["data"]] == [0, 1, 2]
    assert hit.cache["hit"] is True
    assert hit.header("age") == "5"
    assert one.json["data"][0]["embedding"] == [1.0, 0.5]
    assert fresh.cache["fwd"] == "request"
    assert damaged.status == 200
    assert damaged.cache == {"fwd": "miss", "stored": True, "detail": "cache-fault"}
    assert len(upstream.calls) == 4


PRIVATE = PACK.replace("name: test", "name: test\nshare: user")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
async def test_where_users_do_not_share_nobody_gets_anothers_answer(tmp_path: Path, path: str) -> None:
    def answer(_: Outbound) -> Answer:
        item = {"object": "embedding", "index": 0, "embedding": [0.5]}
        whole = msgspec.json.encode({"object": "list", "data": [item], "model": "m", "usage": {"prompt_tokens": 1}})
        return Answer([whole if path == "/v1/embeddings" else completion()])

    def request(**fields: Any) -> dict[str, Any]:
        return {"model": "m", "input": PROMPT, **fields} if path == "/v1/embeddings" else ask(PROMPT, **fields)

    async with running(Upstream(answer), tmp_path, pack=PRIVATE) as proxy:

        async def hits(body: dict[str, Any], **headers: str) -> bool:
            return "hit" in (await Call(proxy, body, path, **headers).reply()).cache

        assert [await hits(request(user="ann")) for _ in range(3)] == [False, True, True]
        assert await hits(request(user="bob")) is False
        assert await hits(request(safety_identifier="ann")) is True
        assert await hits(request(), **{"x-semcache-user": "ann"}) is True, "a trusted caller names the user"
        assert [await hits(request()) for _ in range(2)] == [False, False], "without a user nothing is kept"
        proxy._process.auth._loopback = False
        proxy._process.auth.replace([])
        proxy.context.replayer.clear()
        for _ in range(2):
            assert await hits(request(user="bob"), **{"x-semcache-user": "ann"}) is False, "anyone may say that"
        plain, key = new_key(lambda size: b"k" * size, 0.0, "default", "", proxy.cache.salt, user="bob")
        proxy._process.auth.replace([key])
        proxy.context.replayer.clear()
        bound = {"authorization": f"Bearer {plain}"}
        assert await hits(request(user="ann"), **bound) is True, "bob's own, whoever the body names"


async def test_where_a_setting_says_so_the_body_names_the_user(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path, pack=PRIVATE, auth__trust_user_field=True) as proxy:
        proxy._process.auth._loopback = False
        proxy._process.auth.replace([])
        replies = [await Call(proxy, ask(PROMPT, user=name)).reply() for name in ("ann", "ann", "bob")]
    assert ["hit" in reply.cache for reply in replies] == [False, True, False]


async def test_without_keys_another_name_for_this_machine_opens_nothing(tmp_path: Path) -> None:
    async with running(numbered(), tmp_path) as proxy:
        for host, status in (("localhost", 200), ("127.0.0.1:8080", 200), ("evil.example", 403)):
            call = Call(proxy, {"everything": True, "dry_run": True}, "/semcache/invalidate", host=host, **JSON)
            assert (await call.reply()).status == status
