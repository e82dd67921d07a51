"""The wrapped `openai` client against a scripted upstream on a real socket: what is asked again and what comes back."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import httpx2
import openai
import pydantic
import pytest
import uvicorn
from openai import AsyncOpenAI, AzureOpenAI, OpenAI

from semcache import AsyncSemanticCache, SemanticCache
from semcache.errors import StoreError
from semcache.upstream.backends.echo import echo_app
from semcache_openai import cached
from tests.adapters.auditing import Auditing
from tests.components import replace_strategy

ASK = [{"role": "user", "content": "How do I reset my password?"}]
AGAIN = [{"role": "user", "content": "How do I reset my password, please?"}]
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]


@contextmanager
def served() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(echo_app(), "127.0.0.1", 0, log_level="critical", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    with served() as url:
        yield url


class Upstream:
    def __init__(self, url: str) -> None:
        self.url = url
        self.before = self._count()

    def _stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/echo/stats") as reply:
            return json.load(reply)

    def _count(self) -> int:
        return sum(n for path, n in self._stats()["paths"].items() if path.startswith("/v1"))

    @property
    def asked(self) -> int:
        """Calls since the test began."""
        return self._count() - self.before

    @property
    def newest(self) -> dict[str, Any]:
        return self._stats()["newest"][-1]


@pytest.fixture
def upstream(echo: str) -> Upstream:
    return Upstream(echo)


@pytest.fixture
def plain(echo: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{echo}/v1", api_key="sk-x", max_retries=0) as client:
        yield client


@pytest.fixture
def client(plain: OpenAI, cache: SemanticCache) -> OpenAI:
    return cached(plain, cache)


@pytest.fixture
async def aclient(echo: str, cache: SemanticCache) -> AsyncIterator[AsyncOpenAI]:
    async with cached(AsyncOpenAI(base_url=f"{echo}/v1", api_key="sk-x", max_retries=0), cache) as client:
        yield client


def create(client: OpenAI, messages: Any = ASK, **fields: Any) -> Any:
    return client.chat.completions.create(**{"model": "echo", "messages": messages, **fields})


def test_a_paraphrase_is_answered_without_asking(client: OpenAI, upstream: Upstream) -> None:
    assert isinstance(client, OpenAI)
    first, second, third = create(client), create(client), create(client, AGAIN)
    assert upstream.asked == 1
    assert first.model_dump() == second.model_dump() == third.model_dump()
    assert second._request_id != first._request_id


def test_the_plain_client_is_left_as_it_was(plain: OpenAI, client: OpenAI, upstream: Upstream) -> None:
    create(client)
    create(plain)
    assert upstream.asked == 2


@pytest.mark.parametrize(
    "other",
    [
        {"messages": [{"role": "system", "content": "Answer in French."}, *ASK]},
        {"model": "echo-large"},
        {"tools": TOOLS},
        {"response_format": {"type": "json_object"}},
        {"temperature": 0.5},
        {"extra_body": {"cache": {"namespace": "elsewhere"}}},
        {"extra_headers": {"x-semcache-namespace": "elsewhere"}},
        {"extra_body": {"cache": {"no-cache": True}}},
        {"extra_headers": {"cache-control": "no-cache"}},
    ],
)
def test_another_request_is_asked(client: OpenAI, upstream: Upstream, other: dict[str, Any]) -> None:
    create(client)
    create(client, **other)
    assert upstream.asked == 2
    assert "cache" not in json.loads(upstream.newest["body"])
    assert not any(name.startswith("x-semcache") for name, _ in upstream.newest["headers"])


def text_of(stream: Any) -> str:
    return "".join(c.choices[0].delta.content or "" for c in stream if c.choices)


def test_a_stream_is_kept_and_replayed_as_a_stream_and_as_a_body(client: OpenAI, upstream: Upstream) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    fresh = list(create(client, **options))
    with create(client, AGAIN, **options) as stream:
        replayed = list(stream)
    assert upstream.asked == 1
    assert {type(chunk) for chunk in replayed} == {type(chunk) for chunk in fresh}
    assert text_of(replayed) == text_of(fresh) == create(client).choices[0].message.content
    assert replayed[-1].usage == fresh[-1].usage != None  # noqa: E711
    assert replayed[-2].choices[0].finish_reason == "stop"
    assert upstream.asked == 1


def test_a_body_is_replayed_as_a_stream(client: OpenAI, upstream: Upstream) -> None:
    whole = create(client).choices[0].message.content
    assert text_of(create(client, stream=True)) == whole
    with client.chat.completions.stream(model="echo", messages=ASK) as events:
        assert events.get_final_completion().choices[0].message.content == whole
    assert upstream.asked == 1


def test_a_stream_that_is_left_early_is_not_kept(client: OpenAI, upstream: Upstream) -> None:
    with create(client, stream=True) as stream:
        next(iter(stream))
    assert text_of(create(client, stream=True))
    assert upstream.asked == 2


@pytest.mark.parametrize("fault", ["no-end", "die-midstream", "malformed"])
def test_a_stream_without_its_end_is_not_kept(client: OpenAI, upstream: Upstream, fault: str) -> None:
    for _ in range(2):
        # Of openai 1 and 2 the library is httpx, whose errors they hand on as they are.
        with suppress(openai.APIError, httpx.HTTPError, httpx2.HTTPError, json.JSONDecodeError):
            list(create(client, stream=True, extra_headers={"x-echo": fault}))
    assert upstream.asked == 2
    assert text_of(create(client, stream=True))
    assert upstream.asked == 3


def test_errors_are_the_providers_and_are_not_kept(client: OpenAI, upstream: Upstream) -> None:
    for _ in range(2):
        with pytest.raises(openai.RateLimitError) as caught:
            create(client, extra_headers={"x-echo": "fail-429"})
        assert caught.value.response.headers["retry-after"] == "7"
    assert upstream.asked == 2


class Answer(pydantic.BaseModel):
    city: str
    people: int


def test_parse_works_on_hits(client: OpenAI, upstream: Upstream) -> None:
    one, two = (
        client.chat.completions.parse(model="echo", messages=ASK, response_format=Answer).choices[0].message.parsed
        for _ in range(2)
    )
    assert isinstance(two, Answer)
    assert one == two
    assert upstream.asked == 1


def test_tool_calls_survive_both_ways(client: OpenAI, upstream: Upstream) -> None:
    question = [{"role": "user", "content": "How does a weather front form?"}]
    fresh = create(client, question, tools=TOOLS).choices[0]
    assert fresh.finish_reason == "tool_calls"
    assert create(client, question, tools=TOOLS).choices[0] == fresh
    calls = [c.choices[0].delta.tool_calls for c in create(client, question, tools=TOOLS, stream=True) if c.choices]
    names = [call.function.name for found in calls for call in found or () if call.function and call.function.name]
    assert names == [fresh.message.tool_calls[0].function.name]
    assert upstream.asked == 1


def test_raw_responses_tell_hits_from_misses_and_take_feedback(
    client: OpenAI, cache: SemanticCache, upstream: Upstream
) -> None:
    raw = client.chat.completions.with_raw_response
    miss = raw.create(model="echo", messages=ASK)
    hit = raw.create(model="echo", messages=AGAIN)
    assert miss.headers["cache-status"] == "semcache; fwd=miss; detail=cold"
    assert hit.headers["cache-status"] == "semcache; hit; detail=semantic"
    assert hit.parse().choices == miss.parse().choices
    with client.chat.completions.with_streaming_response.create(model="echo", messages=ASK) as streamed:
        assert streamed.json()["object"] == "chat.completion"
    assert upstream.asked == 1
    assert cache.feedback(hit.headers["x-semcache-id"], correct=False)
    raw.create(model="echo", messages=AGAIN)
    assert upstream.asked == 2


def test_only_if_cached_never_asks(client: OpenAI, upstream: Upstream) -> None:
    with pytest.raises(openai.InternalServerError, match="only-if-cached"):
        create(client, extra_headers={"cache-control": "only-if-cached"})
    assert upstream.asked == 0


def test_a_wish_that_cannot_be_read_is_refused(client: OpenAI, upstream: Upstream) -> None:
    for wish in ({"extra_body": {"cache": {"ttll": 3}}}, {"extra_headers": {"x-semcache-category": "nosuch"}}):
        with pytest.raises(openai.BadRequestError, match=r"ttll|nosuch"):
            create(client, **wish)
    assert upstream.asked == 0


def test_responses_are_cached_where_they_leave_no_state(client: OpenAI, upstream: Upstream) -> None:
    def ask(**fields: Any) -> Any:
        return client.responses.create(model="echo", input="How do I reset my password?", **fields)

    assert ask(store=False).output_text == ask(store=False).output_text
    assert upstream.asked == 1
    events = list(ask(store=False, stream=True))
    assert events[-1].type == "response.completed"
    assert upstream.asked == 1
    ask()
    ask()
    assert upstream.asked == 3


def test_a_response_from_the_cache_repeats_nothing_of_who_asked_first(cache: SemanticCache) -> None:
    asked: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        asked.append(body)
        part = {"type": "output_text", "text": "A tree.", "annotations": []}
        said = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
        head = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m"}
        repeated = {"metadata": body.get("metadata"), "user": body.get("user"), "store": False, "tools": []}
        return httpx2.Response(200, json={**head, **repeated, "parallel_tool_calls": True, "output": [said]})

    plain = OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    with cached(plain, cache) as client:
        for user in ("ann", "bob"):
            reply = client.responses.create(
                model="m", input="What is a heap?", store=False, user=user, metadata={"order": user}
            )
            assert (reply.user, reply.metadata, reply.output_text) == (user, {"order": user}, "A tree.")
    assert len(asked) == 1


def test_stored_responses_are_cached_when_asked_for(plain: OpenAI, cache: SemanticCache, upstream: Upstream) -> None:
    client = cached(plain, cache, stored_responses=True)
    ids = {client.responses.create(model="echo", input="How do I reset my password?").id for _ in range(2)}
    assert (len(ids), upstream.asked) == (1, 1)


def test_text_completions_are_cached_and_the_rest_passes_through(client: OpenAI, upstream: Upstream) -> None:
    for _ in range(2):
        assert client.completions.create(model="echo", prompt="Why is the sky blue?").choices[0].text
    assert upstream.asked == 1
    for _ in range(2):
        assert client.models.list().data
    assert upstream.asked == 3


def test_tenants_and_users_never_share(plain: OpenAI, cache: SemanticCache, upstream: Upstream) -> None:
    create(cached(plain, cache, tenant="one"))
    create(cached(plain, cache, tenant="two"))
    assert upstream.asked == 2
    cache.inner.pack = cache.inner.pack.__class__(
        **{name: getattr(cache.inner.pack, name) for name in cache.inner.pack.__struct_fields__} | {"share": "user"}
    )
    client = cached(plain, cache)
    for user in ("ann", "bob", "ann"):
        create(client, safety_identifier=user)
    assert upstream.asked == 4


def test_a_failing_cache_changes_nothing(
    client: OpenAI, cache: SemanticCache, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> Any:
        raise StoreError("the disk is gone")

    create(client)
    with monkeypatch.context() as patched:
        patched.setattr(cache.inner, "consult", broken)
        assert create(client).choices[0].message.content
        assert text_of(create(client, stream=True))
    assert upstream.asked == 3
    cache.close()
    assert create(client).choices[0].message.content
    assert upstream.asked == 4


def test_an_audited_hit_is_asked_and_judged(
    client: OpenAI, cache: SemanticCache, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    strategy = cache.inner.components.strategy
    replace_strategy(cache.inner, Auditing(strategy))
    fresh = create(client, AGAIN).choices[0].message.content
    assert upstream.asked == 2
    replace_strategy(cache.inner, strategy)
    assert create(client, AGAIN).choices[0].message.content == fresh


def test_an_audited_hit_is_served_to_who_wants_nothing_else(
    client: OpenAI, cache: SemanticCache, upstream: Upstream
) -> None:
    create(client)
    replace_strategy(cache.inner, Auditing(cache.inner.components.strategy))
    raw = client.chat.completions.with_raw_response.create(
        model="echo", messages=AGAIN, extra_headers={"cache-control": "only-if-cached"}
    )
    assert raw.headers["cache-status"].startswith("semcache; hit")
    assert upstream.asked == 1


async def test_async_clients_hit_and_stream(aclient: AsyncOpenAI, upstream: Upstream) -> None:
    fresh = await aclient.chat.completions.create(model="echo", messages=ASK)  # type: ignore[arg-type]
    stream = await aclient.chat.completions.create(model="echo", messages=AGAIN, stream=True)  # type: ignore[call-overload]
    async with stream:
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    assert "".join(pieces) == fresh.choices[0].message.content
    assert upstream.asked == 1


async def test_async_streams_are_kept_at_their_end(aclient: AsyncOpenAI, upstream: Upstream) -> None:
    async def ask(*, leave: bool = False) -> int:
        stream = await aclient.chat.completions.create(model="echo", messages=ASK, stream=True)  # type: ignore[call-overload]
        async with stream:
            async for _ in stream:
                if leave:
                    break
        return upstream.asked

    assert [await ask(leave=True), await ask(), await ask()] == [1, 2, 2]


async def test_a_cache_of_the_same_loop_serves_an_async_client(echo: str, tmp_path: Any, upstream: Upstream) -> None:
    plain = AsyncOpenAI(base_url=f"{echo}/v1", api_key="sk-x")
    async with (
        await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as cache,
        cached(plain, cache) as client,
    ):
        for _ in range(2):
            await client.chat.completions.create(model="echo", messages=ASK)  # type: ignore[arg-type]
    assert upstream.asked == 1


def test_every_input_of_embeddings_is_cached_on_its_own(cache: SemanticCache, echo: str) -> None:
    upstream = Upstream(echo)
    with cached(OpenAI(base_url=f"{echo}/v1", api_key="k"), cache) as client:
        first = client.embeddings.create(model="e", input=["one", "two"])
        again = client.embeddings.create(model="e", input=["two", "three", "one"])
        assert upstream.asked == 2
        vectors = [item.embedding for item in first.data]
        assert [item.embedding for item in again.data if item.index != 1] == vectors[::-1]
        assert [item.index for item in again.data] == [0, 1, 2]
        raw = client.embeddings.with_raw_response.create(model="e", input="one")
        assert raw.headers["cache-status"] == "semcache; hit"
        assert raw.parse().data[0].embedding == vectors[0]
        assert raw.parse().usage.prompt_tokens > 0
        client.embeddings.create(model="e", input="One")
        client.embeddings.create(model="e", input="one", dimensions=8)
        client.embeddings.create(model="f", input="one")
        assert upstream.asked == 5, "only the very same input of the same model and dimensions is served"
        with pytest.raises(openai.APIStatusError) as caught:
            client.embeddings.create(model="e", input=["one", "new"], extra_headers={"cache-control": "only-if-cached"})
        assert caught.value.status_code == 504
        assert upstream.asked == 5


async def test_embeddings_of_an_asynchronous_client(cache: SemanticCache, echo: str) -> None:
    upstream = Upstream(echo)
    async with cached(AsyncOpenAI(base_url=f"{echo}/v1", api_key="k"), cache) as client:
        one = await client.embeddings.create(model="e", input="one")
        two = await client.embeddings.create(model="e", input=["one"])
        assert one.data[0].embedding == two.data[0].embedding
    assert upstream.asked == 1


def test_deployments_of_azure_never_share_whatever_model_is_named(cache: SemanticCache) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        name = request.url.path.split("/")[3]
        if request.url.path.endswith("/embeddings"):
            item = {"object": "embedding", "index": 0, "embedding": [float(len(name))]}
            return httpx2.Response(200, json={"object": "list", "model": "e", "data": [item], "usage": {}})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": name}}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return httpx2.Response(200, json=reply)

    for name in ("echo", "legal", "echo", "legal"):
        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        azure = AzureOpenAI(
            azure_endpoint="http://azure.test", azure_deployment=name, api_version="1", api_key="k", http_client=http
        )
        with cached(azure, cache) as client:
            assert create(client).choices[0].message.content == name
            vector = client.embeddings.create(model="echo", input="one", encoding_format="float").data[0].embedding
            assert vector == [float(len(name))]


@pytest.mark.parametrize(
    "other",
    [
        {"base_url": "http://beta.test/v1"},
        {"base_url": "http://alpha.test:8000/v1"},
        {"base_url": "https://alpha.test/v1"},
        {"base_url": "http://alpha.test/legal/v1"},
        {"default_headers": {"x-portkey-config": "pc-legal"}},
        {"default_headers": {"Anthropic-Beta": "context-1m"}},
        {"default_query": {"api-version": "2"}},
        {"organization": "org-legal"},
    ],
)
def test_upstreams_and_what_they_may_answer_by_are_told_apart(cache: SemanticCache, other: dict[str, Any]) -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        if request.url.path.endswith("/embeddings"):
            item = {"object": "embedding", "index": 0, "embedding": [1.0]}
            return httpx2.Response(200, json={"object": "list", "model": "e", "data": [item], "usage": {}})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return httpx2.Response(200, json=reply)

    for fields in ({}, other, {"default_headers": {"traceparent": "00-1-2-01", "authorization": "Bearer other"}}):
        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        named = {"base_url": "http://alpha.test/v1", "api_key": "k", "max_retries": 0, "http_client": http, **fields}
        with cached(OpenAI(**named), cache) as client:
            create(client)
            create(client, AGAIN)
            client.embeddings.create(model="e", input="one", encoding_format="float")
    assert len(asked) == 4, "each asks for both once, and the third is the first again"


def test_an_answer_of_openai_itself_is_that_of_a_request_that_names_no_upstream(cache: SemanticCache) -> None:
    found = cache.lookup(ASK[0]["content"], model="m")
    cache.record(found, "Press Reset.")
    refused = httpx2.MockTransport(lambda _: httpx2.Response(500))
    with cached(OpenAI(api_key="k", max_retries=0, http_client=httpx2.Client(transport=refused)), cache) as client:
        assert create(client, model="m").choices[0].message.content == "Press Reset."


def test_embeddings_of_a_provider_that_does_not_number_them_are_all_there(cache: SemanticCache) -> None:
    asked: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        texts = json.loads(request.content)["input"]
        asked.append(texts)
        texts = [texts] if isinstance(texts, str) else texts
        items = [{"object": "embedding", "index": 0, "embedding": [float(len(text))]} for text in texts]
        return httpx2.Response(200, json={"object": "list", "model": "e", "data": items, "usage": {}})

    plain = OpenAI(api_key="k", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    with cached(plain, cache) as client:
        client.embeddings.create(model="e", input="one", encoding_format="float")
        reply = client.embeddings.create(model="e", input=["one", "three", "seven"], encoding_format="float")
    assert [item.embedding for item in reply.data] == [[3.0], [5.0], [5.0]]
    assert asked[-1] == ["one", "three", "seven"]
