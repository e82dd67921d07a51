"""A real server in a process of its own, spoken to by OpenAI's own client."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import openai
import pytest

from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process
SYSTEM = {"role": "system", "content": "You are the cache of a model. " * 8}


def asked(text: str = "hello") -> list[Any]:
    return [SYSTEM, {"role": "user", "content": text}]


@contextmanager
def served(model: Path, log: Path, *place: str) -> Iterator[str]:
    """A server of the engine, and its address."""
    command = [sys.executable, "-m", "semcache", "engine", "serve", "--model", str(model), "--name", "tiny", *place]
    command += ["--cache-mib", "2", "--max-running", "4", "--threads", "1"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stderr=out, stdout=out, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    try:
        ready = re.compile(r"ready on (http://\S+(?=/v1)|unix:\S+)")
        eventually(lambda: ready.search(log.read_text()) or process.poll() is not None)
        found = ready.search(log.read_text())
        assert found, log.read_text()
        yield found.group(1)
        assert process.poll() is None, log.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, log.read_text()
        assert "Traceback" not in log.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def url(folder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(folder(), tmp_path_factory.mktemp("serve") / "log", "--port", "0") as address:
        yield address


def test_an_engine_at_a_unix_socket_answers_there_and_leaves_nothing(
    folder: Callable[..., Path], tmp_path: Path
) -> None:
    # So that no port is open beside the proxy that asks it.
    with TemporaryDirectory(prefix="uds") as place:
        path = f"{place}/engine.sock"
        with served(folder(), tmp_path / "log", "--host", f"unix:{path}") as address:
            assert address == f"unix:{path}"
            http = openai.DefaultHttpxClient(transport=httpx2.HTTPTransport(uds=path))
            with openai.OpenAI(base_url="http://localhost/v1", api_key="none", http_client=http) as made:
                assert made.models.list().data[0].id == "tiny"
        assert not Path(path).exists()


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=PATIENCE) as made:
        yield made


@pytest.mark.parametrize(
    "page", [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}], ids=str
)
def test_a_web_page_of_elsewhere_is_refused(url: str, page: dict[str, str]) -> None:
    said = {"model": "tiny", "messages": asked(), "max_tokens": 1}
    assert httpx2.post(f"{url}/v1/chat/completions", headers=page, json=said).status_code == 403
    assert httpx2.get(f"{url}/metrics", headers=page).status_code == 403
    here = {"origin": "http://localhost:3000"}
    assert httpx2.post(f"{url}/v1/chat/completions", headers=here, json=said).status_code == 200


def test_a_chat_whole_and_as_a_stream_is_the_same(client: openai.OpenAI) -> None:
    call: dict[str, Any] = {"model": "tiny", "messages": asked(), "max_tokens": 12, "temperature": 0, "logprobs": True}
    call["top_logprobs"] = 2
    whole = client.chat.completions.create(**call)
    chunks = list(client.chat.completions.create(**call, stream=True, stream_options={"include_usage": True}))
    (one,), parts = whole.choices, [chunk.choices[0] for chunk in chunks[:-1]]
    assert "".join(part.delta.content or "" for part in parts) == one.message.content
    assert [part.finish_reason for part in parts if part.finish_reason] == [one.finish_reason] == ["length"]
    assert one.logprobs
    assert one.logprobs.content
    streamed = [entry for part in parts if part.logprobs for entry in part.logprobs.content or []]
    assert streamed == one.logprobs.content
    assert [len(entry.top_logprobs) for entry in streamed] == [2] * 12
    assert whole.usage
    usage = chunks[-1].usage
    assert usage
    assert usage.completion_tokens == whole.usage.completion_tokens == 12
    assert usage.prompt_tokens_details
    assert usage.prompt_tokens_details.cached_tokens == (whole.usage.prompt_tokens - 1) // 32 * 32


def test_a_salt_separates_what_is_cached(client: openai.OpenAI) -> None:
    def cached(salt: str) -> int:
        reply = client.chat.completions.create(
            model="tiny", messages=asked("salted"), max_tokens=1, extra_body={"cache_salt": salt}
        )
        assert reply.usage
        assert reply.usage.prompt_tokens_details
        return reply.usage.prompt_tokens_details.cached_tokens or 0

    assert [cached("a"), cached("b"), cached("a") > 0, cached("b") > 0] == [0, 0, True, True]


def test_choices_stops_and_seeds(client: openai.OpenAI) -> None:
    call: dict[str, Any] = {"model": "tiny", "messages": asked(), "max_tokens": 16, "seed": 4, "n": 3}
    first, second = client.chat.completions.create(**call), client.chat.completions.create(**call)
    texts = [choice.message.content for choice in first.choices]
    assert texts == [choice.message.content for choice in second.choices]
    assert len(set(texts)) == 3
    whole = texts[0] or ""
    stopped = client.chat.completions.create(**call, stop=[whole[4:6]])
    assert stopped.choices[0].message.content == whole[: whole.index(whole[4:6])]
    assert stopped.choices[0].finish_reason == "stop"


def test_completions_of_several_prompts_as_text_and_tokens(client: openai.OpenAI) -> None:
    call: dict[str, Any] = {"model": "tiny", "max_tokens": 6, "temperature": 0, "logprobs": 1}
    both = client.completions.create(prompt=["the cache", "a token is"], **call)
    alone = client.completions.create(prompt="a token is", **call)
    assert [choice.index for choice in both.choices] == [0, 1]
    assert both.choices[1].text == alone.choices[0].text
    assert alone.choices[0].logprobs
    assert len(alone.choices[0].logprobs.tokens or []) == 6
    streamed = "".join(
        chunk.choices[0].text for chunk in client.completions.create(prompt="a token is", stream=True, **call)
    )
    assert streamed == alone.choices[0].text
    assert client.completions.create(prompt=[7, 8, 9], **call).usage.prompt_tokens == 3  # type: ignore[union-attr]


def test_a_prediction_is_verified_and_counted(client: openai.OpenAI) -> None:
    call: dict[str, Any] = {"model": "tiny", "messages": asked("predict"), "max_tokens": 24, "temperature": 0}
    said = client.chat.completions.create(**call, extra_body={"ignore_eos": True})
    content = said.choices[0].message.content or ""
    again = client.chat.completions.create(
        **call, prediction={"type": "content", "content": content}, extra_body={"ignore_eos": True}
    )
    assert again.choices[0].message.content == content
    details = again.usage.completion_tokens_details if again.usage else None
    assert details
    assert (details.accepted_prediction_tokens or 0) + (details.rejected_prediction_tokens or 0) > 0


@pytest.mark.parametrize("way", [{}, {"chunks": {"recompute": 0.2}}])
def test_documents_that_may_be_asked_about_are_read_ahead(client: openai.OpenAI, way: Any) -> None:
    """As a retriever finds them, before it is done: what is asked then, of those that stay, finds them read."""
    manual = MANUAL.replace("17", "18" if way else "19")
    given: Any = {"model": "tiny", "max_tokens": 6, "temperature": 0}
    read = client.chat.completions.create(
        messages=documents(manual, LEAFLET, ask=""), extra_body={"prefill": True, **way}, **given
    )
    assert (read.choices[0].message.content, read.choices[0].finish_reason) == ("", "length")
    assert read.usage
    assert (read.usage.completion_tokens, read.usage.prompt_tokens > 100) == (0, True)
    found = []
    for text in (manual, manual.replace("the", "with", 1)):
        asked = client.chat.completions.create(messages=documents(text, ask="who signs it"), extra_body=way, **given)
        assert asked.usage
        assert asked.usage.prompt_tokens_details
        found.append(asked.usage.prompt_tokens_details.cached_tokens or 0)
    assert found[0] > found[1] + 60
    chunks = list(client.completions.create(model="tiny", prompt=manual, stream=True, extra_body={"prefill": True}))
    assert [(one.choices[0].text, one.choices[0].finish_reason) for one in chunks] == [("", "length")]


@pytest.mark.parametrize(
    ("change", "status", "param"),
    [
        ({"foo": 1}, 400, "foo"),
        ({"prefill": True, "n": 2}, 400, "n"),
        ({"prefill": "yes"}, 400, "prefill"),
        ({"temperature": 9}, 400, "temperature"),
        ({"temperature": "hot"}, 400, "temperature"),
        ({"top_p": 0}, 400, "top_p"),
        ({"n": 0}, 400, "n"),
        ({"n": 5}, 400, "n"),
        ({"stop": [""]}, 400, "stop"),
        ({"stop": 5}, 400, "stop"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"max_tokens": 10**9}, 400, "prompt"),
        ({"messages": []}, 400, "messages"),
        ({"messages": "hello"}, 400, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "messages"),
        ({"messages": [{"role": "user", "content": "much " * 2000}]}, 400, "prompt"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "tools"),
        ({"response_format": {"type": "xml"}}, 400, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 5}}}}, 400, "response_format"),
        ({"tool_choice": "required"}, 400, "tool_choice"),
        ({"top_logprobs": 3}, 400, "top_logprobs"),
        ({"logit_bias": {"x": 1}}, 400, "logit_bias"),
        ({"logit_bias": {"100000": 1}}, 400, "logit_bias"),
        ({"logit_bias": {"1" * 5000: 1}}, 400, "logit_bias"),
        ({"prediction": {"type": "content"}}, 400, "prediction"),
        ({"stream_options": {"include_usage": True}}, 400, "stream_options"),
        ({"cache_salt": "x" * 129}, 400, "cache_salt"),
        ({"model": "gpt-4"}, 404, "model"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(
    client: openai.OpenAI, change: Any, status: int, param: str
) -> None:
    body = {"model": "tiny", "messages": asked(), "max_tokens": 4, **change}
    with pytest.raises(openai.APIStatusError) as caught:
        client.post("/chat/completions", cast_to=object, body=body)
    assert (caught.value.status_code, caught.value.param) == (status, param)
    assert caught.value.code
    assert caught.value.type in {"invalid_request_error", "not_found_error"}


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_that_turns_out_to_be_too_large_is_the_clients_to_change(client: openai.OpenAI, stream: bool) -> None:
    many = [
        {"type": "object", "properties": {f"k{kind}_{name}": {"type": "string"} for name in range(50)}}
        for kind in range(50)
    ]
    asked_for: Any = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"anyOf": many}}}
    with pytest.raises(openai.APIError) as caught:
        list(
            client.chat.completions.create(
                model="tiny", messages=asked(), max_tokens=40, response_format=asked_for, stream=stream
            )
        )
    assert caught.value.type == "invalid_request_error"
    assert "a smaller schema may pass" in str(caught.value)
    assert "\n" not in str(caught.value.message)


@pytest.mark.parametrize("prompt", ["", [], [[]], ["a", ""], [1, "a"], [True], 5, None, {"a": 1}, [99999], [-1]])
def test_a_prompt_that_is_none_is_refused(client: openai.OpenAI, prompt: Any) -> None:
    with pytest.raises(openai.BadRequestError):
        client.post("/completions", cast_to=object, body={"model": "tiny", "prompt": prompt})


def test_raw_nonsense_gets_an_error_in_openais_form(url: str) -> None:
    for method, path, content, status in [
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/chat/completions", b"\xff", 400),
        ("POST", "/v1/chat/completions", b"[" * 5000, 400),
        ("POST", "/v1/completions", b"[]", 400),
        ("GET", "/v1/completions", b"", 405),
        ("POST", "/v1/models", b"", 405),
        ("GET", "/v1/nothing", b"", 404),
        ("POST", "/v1/embeddings", b"{}", 404),
        ("POST", "/v1/load_lora_adapter", b"{}", 404),
        ("GET", "/v1/models/nothing", b"", 404),
    ]:
        reply = httpx2.request(method, url + path, content=content)
        assert reply.status_code == status, (path, reply.text)
        assert reply.json()["error"]["message"]


def test_the_desk(client: openai.OpenAI, url: str) -> None:
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").id == "tiny"
    assert httpx2.get(f"{url}/readyz").json()["status"] == "ok"
    client.chat.completions.create(model="tiny", messages=asked(), max_tokens=2)
    assert "semcache_engine_generated_tokens_total" in httpx2.get(f"{url}/metrics").text


def running(url: str) -> float:
    found = re.search(r"^semcache_engine_running (\S+)", httpx2.get(f"{url}/metrics").text, re.MULTILINE)
    assert found
    return float(found.group(1))


def test_a_client_that_leaves_has_its_job_cancelled(client: openai.OpenAI, url: str) -> None:
    call: dict[str, Any] = {"model": "tiny", "messages": asked("leave"), "max_tokens": 700}
    stream = client.chat.completions.create(**call, stream=True, extra_body={"ignore_eos": True})
    next(iter(stream))
    stream.close()
    whole = socket.create_connection(httpx2.URL(url).netloc.decode().split(":"))  # type: ignore[arg-type]
    body = b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": 900, "ignore_eos": true}'
    whole.sendall(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    )
    eventually(lambda: running(url))
    whole.close()
    eventually(lambda: not running(url))


def test_many_clients_at_once_each_get_their_own_answer(client: openai.OpenAI) -> None:
    def ask(number: int) -> str | None:
        reply = client.chat.completions.create(
            model="tiny", messages=asked(f"question {number % 4}"), max_tokens=8, temperature=0
        )
        return reply.choices[0].message.content

    alone = [ask(number) for number in range(4)]
    barrier = threading.Barrier(12)

    def together(number: int) -> str | None:
        barrier.wait()
        return ask(number)

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(together, range(12))) == alone * 3


MANUAL = "the cache answers prefix tokens of a model and question 17 was in the cache " * 6
LEAFLET = "a prefix is to the answer as with it the model was for a token at question 5 " * 5


def documents(*texts: str, ask: str = "hello") -> list[Any]:
    parts = [{"type": "text", "text": text, "document": True} for text in texts]
    return [SYSTEM, {"role": "user", "content": [*parts, {"type": "text", "text": ask}]}]


@pytest.mark.parametrize("body", [{"chunks": {"recompute": 0.2}}, {"press": {"method": "lagkv", "keep": 0.5}}])
def test_documents_read_the_short_way_are_marked_and_found_again(client: openai.OpenAI, body: Any) -> None:
    def ask(**given: Any) -> Any:
        return client.chat.completions.with_raw_response.create(model="tiny", max_tokens=6, temperature=0, **given)

    first = ask(messages=documents(MANUAL, LEAFLET), extra_body=body)
    label = first.headers["x-semcache-approximate"]
    assert label == ("chunks;recompute=0.2" if "chunks" in body else "press=lagkv;keep=0.5")
    assert first.parse().usage.model_extra["approximate"] == label
    again = ask(messages=documents(MANUAL, LEAFLET, ask="again"), extra_body=body, stream=True)
    assert again.headers["x-semcache-approximate"] == label
    assert "".join(chunk.choices[0].delta.content or "" for chunk in again.parse() if chunk.choices)
    used = ask(messages=documents(MANUAL, LEAFLET, ask="who"), extra_body=body).parse().usage
    assert used.prompt_tokens_details.cached_tokens > 0.7 * used.prompt_tokens
    if "chunks" in body:
        turned = ask(messages=documents(LEAFLET, MANUAL), extra_body=body).parse().usage
        assert turned.prompt_tokens_details.cached_tokens > 0.3 * turned.prompt_tokens


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("craft", {"alpha": 0.5}),
        ("parallel", {"temperature": 0.8, "scale": 1.0}),
        ("align", {"recompute": 0.1}),
    ],
)
def test_other_ways_to_reuse_documents(client: openai.OpenAI, method: str, settings: Any) -> None:
    given: Any = {"model": "tiny", "max_tokens": 6, "temperature": 0, "extra_body": {}}
    given["extra_body"]["chunks"] = {"method": method, **settings}
    for ask in ("hello", "again"):
        answer = client.chat.completions.create(messages=documents(MANUAL, LEAFLET, ask=ask), **given)
        assert answer.usage.model_extra["approximate"] == ";".join(
            [f"chunks={method}", *(f"{name}={value:g}" for name, value in settings.items())]
        )
    assert answer.usage.prompt_tokens_details.cached_tokens > 0.5 * answer.usage.prompt_tokens


@pytest.mark.parametrize(
    "body",
    [
        {"chunks": {"recompute": 1}},
        {"chunks": {"method": "craft", "recompute": 1}},
        {"chunks": {"method": "align", "recompute": 1}},
        {"press": {"keep": 1}},
        {"approximate": True},
        {},
    ],
)
def test_what_loses_nothing_is_not_marked(client: openai.OpenAI, body: Any) -> None:
    given: Any = {"model": "tiny", "max_tokens": 6, "temperature": 0, "messages": documents(MANUAL)}
    answer = client.chat.completions.with_raw_response.create(**given, extra_body=body)
    assert "x-semcache-approximate" not in answer.headers
    plain = client.chat.completions.create(
        **given | {"messages": [SYSTEM, {"role": "user", "content": MANUAL + "hello"}]}
    )
    assert answer.parse().choices[0].message.content == plain.choices[0].message.content


def test_a_document_without_a_token_of_its_own_is_read_as_text(client: openai.OpenAI) -> None:
    """Not refused as if it had not been marked."""
    given: Any = {"model": "tiny", "max_tokens": 6, "temperature": 0}
    exact = client.chat.completions.create(messages=documents("e", ask="xit"), **given)
    for body in ({"chunks": {"recompute": 0.2}}, {"chunks": {"method": "parallel"}}, {"press": {}}):
        answer = client.chat.completions.create(messages=documents("e", ask="xit"), extra_body=body, **given)
        assert answer.choices[0].message.content == exact.choices[0].message.content


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"chunks": {"recompute": 2}}, "chunks"),
        ({"chunks": {"share": 1}}, "share"),
        ({"chunks": {"method": "guess"}}, "chunks"),
        ({"chunks": {"method": "craft", "recompute": 0.2}}, "chunks"),
        ({"chunks": {"method": "parallel", "temperature": 0}}, "chunks"),
        ({"press": {"method": "snapkv"}}, "press"),
        ({"press": {"method": ""}}, "press"),
        ({"press": {}, "chunks": {}}, "press"),
    ],
)
def test_a_short_way_that_there_is_not(client: openai.OpenAI, body: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="tiny", messages=documents(MANUAL), extra_body=body)
    assert caught.value.param == param
    with pytest.raises(openai.BadRequestError, match="mark parts"):
        client.chat.completions.create(model="tiny", messages=asked(), extra_body={"chunks": {}})


def test_a_prompt_is_cut_into_the_tokens_that_it_is_read_in(url: str, client: openai.OpenAI) -> None:
    """vLLM's `/tokenize`, by which routers know the blocks of a prompt."""
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    for asking in ({"messages": asked()}, {"prompt": "a cache of a model"}):
        body: dict[str, Any] = {"model": "tiny", **asking, "return_token_strs": False, "add_generation_prompt": True}
        told = httpx2.post(f"{url}/tokenize", json=body).json()
        assert (told["count"], told["max_model_len"]) == (len(told["tokens"]), 1024)
        usage = client.completions.create(model="tiny", prompt=told["tokens"], max_tokens=1, temperature=0).usage
        create: Any = client.chat.completions.create if "messages" in asking else client.completions.create
        again = create(model="tiny", max_tokens=1, temperature=0, **asking).usage
        assert usage
        assert again.prompt_tokens == usage.prompt_tokens == told["count"]
        assert again.prompt_tokens_details.cached_tokens == (told["count"] - 1) // 32 * 32
    for wrong, named in (
        ({"messages": asked(), "add_generation_prompt": False}, "add_generation_prompt"),
        ({"prompt": "x", "add_special_tokens": False}, "add_special_tokens"),
        ({"prompt": ["x", "y"]}, "prompt"),
        ({"messages": asked(), "tools": [tool]}, "tools"),
        ({"messages": []}, "messages"),
        ({"prompt": "x", "model": "other"}, "model"),
        ([], None),
    ):
        refused = httpx2.post(f"{url}/tokenize", json=wrong)
        assert refused.status_code in {400, 404}, wrong
        assert refused.json()["error"]["param"] == named
