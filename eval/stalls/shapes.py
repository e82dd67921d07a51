"""The attack corpus: requests that are cheap to send and were, or could be, dear to read.

Pure: a shape is a name and the bytes of its requests. Invariant: every shape is a function of nothing but its name.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

CHAT, EMBED, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/embeddings", "/v1/messages", "/v1/responses"
_MB = 1 << 20
_BIG = 19 * _MB


@dataclass(frozen=True)
class Shape:
    """An attack: `requests` are whole bodies to post to `path`; `packed` ones are sent as gzip; `model` as named.

    Of a `fresh` one every request has a text of its own, so that each is looked up, compared and stored.
    """

    name: str
    path: str
    body: Callable[[], bytes]
    packed: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    encoding: str = "gzip"
    fresh: bool = False

    def payload(self) -> tuple[list[tuple[str, str]], bytes]:
        """Return the headers and the bytes to send."""
        body = self.body()
        headers = [("content-type", "application/json"), *self.headers]
        if self.packed:
            headers.append(("content-encoding", self.encoding))
            body = gzip.compress(body, 6) if self.encoding == "gzip" else zlib.compress(body, 6)
        return headers, body


def _asking(model: str, *, stream: bool) -> bytes:
    """Return a request for a long answer."""
    fields = {"stream": True} if stream else {}
    turns = [{"role": "user", "content": "tell me all about it"}]
    return json.dumps({"model": model, **fields, "messages": turns}).encode()


def chat(text: str, **fields: object) -> bytes:
    """A chat completion's body."""
    return json.dumps({"model": "echo", "messages": [{"role": "user", "content": text}], **fields}).encode()


def _fill(pattern: str, size: int) -> str:
    return pattern * (size // len(pattern.encode()))


def _prompt(pattern: str, size: int = _BIG) -> Callable[[], bytes]:
    return lambda: chat(_fill(pattern, size))


def _raw(before: str, pattern: str, after: str, size: int = _BIG) -> Callable[[], bytes]:
    def body() -> bytes:
        return (before + _fill(pattern, size).rstrip(",") + after).encode()

    return body


_ASK = '"messages":[{"role":"user","content":"hello there"}]'


def shapes() -> Iterator[Shape]:
    """Every shape of the corpus that is a request with a key."""
    yield Shape("embeddings-10k", EMBED, lambda: _embed([f"text {n}" for n in range(10_000)]))
    yield Shape("embeddings-2048", EMBED, lambda: _embed([f"legal {n}" for n in range(2048)]))
    yield Shape("embeddings-50k-empty", EMBED, lambda: _embed([""] * 50_000))
    yield Shape("embeddings-5m-empty", EMBED, _raw('{"model":"e","input":[', '"",', "]}", 15 * _MB))
    yield Shape("embeddings-tokens", EMBED, _raw('{"model":"e","input":[', "7,", "]}"))
    yield Shape("embeddings-token-lists", EMBED, _raw('{"model":"e","input":[', "[7],", "]}"))
    yield Shape("prompt-4", CHAT, _prompt("4 "))
    for name, pattern in _PATTERNS.items():
        yield Shape(f"prompt-{name}", CHAT, _prompt(pattern))
    yield Shape("prompt-4-1mb", CHAT, _prompt("4 ", _MB))
    yield Shape("prompt-4-64kb", CHAT, _prompt("4 ", 60_000))
    yield Shape("prompt-words-64kb", CHAT, _prompt("what is my order status today ", 60_000))
    yield Shape("prompt-words-8kb", CHAT, _prompt("what is my order status today ", 8_000))
    for name, pattern in _GUARDED.items():
        yield Shape(f"guard-{name}", CHAT, _prompt(pattern, 1_000), packed=False, fresh=True)
    yield Shape("json-arrays", CHAT, _raw('{"model":"echo",' + _ASK + ',"x":[', "[],", "]}"))
    yield Shape("json-objects", CHAT, _raw('{"model":"echo",' + _ASK + ',"x":[', "{},", "]}"))
    yield Shape("json-numbers", CHAT, _raw('{"model":"echo",' + _ASK + ',"x":[', "1.5e3,", "]}"))
    yield Shape("json-strings", CHAT, _raw('{"model":"echo",' + _ASK + ',"x":[', '"a",', "]}"))
    yield Shape("json-null", CHAT, _raw('{"model":"echo",' + _ASK + ',"x":[', "null,", "]}"))
    yield Shape("json-keys", CHAT, lambda: chat("hi", x={f"k{n}": n for n in range(600_000)}))
    yield Shape("json-same-keys", CHAT, _raw('{"model":"echo",' + _ASK + ',"x":{', '"a":1,', "}}"))
    yield Shape("json-deep", CHAT, lambda: b'{"model":"echo",%s,"x":%s%s}' % (_ASK.encode(), b"[" * _MB, b"]" * _MB))
    yield Shape("json-escapes", CHAT, _raw('{"model":"echo","messages":[{"role":"user","content":"', "\\u0041", '"}]}'))
    yield Shape(
        "json-backslashes", CHAT, _raw('{"model":"echo","messages":[{"role":"user","content":"', "\\\\", '"}]}')
    )
    yield Shape("json-digits", CHAT, lambda: b'{"model":"echo",%s,"x":%s}' % (_ASK.encode(), b"9" * _MB))
    yield Shape("json-spaces", CHAT, lambda: b'{"model":"echo",%s%s}' % (_ASK.encode(), b" " * _BIG))
    yield Shape("messages-20k", CHAT, lambda: _turns(20_000, "hi"))
    yield Shape("messages-200k", CHAT, lambda: _turns(200_000, "hi"))
    yield Shape("messages-long", CHAT, lambda: _turns(31, _fill("4 my order ", 600_000)))
    yield Shape("messages-names", CHAT, lambda: _turns(31, _fill("Aa Bb ", 4_000)))
    yield Shape(
        "turn-before-words", CHAT, lambda: _before_last("what is my order status today and how is it ", 385_000)
    )
    yield Shape("turns-before-4k", CHAT, lambda: _turns(60, _fill("it's what is my order status today ", 4_000)))
    yield Shape("answer-before-words", CHAT, lambda: _before_last("Here is what's there. ", 385_000, "assistant"))
    yield Shape("system-long", CHAT, lambda: _system(_fill("4 ", _BIG)))
    yield Shape("parts-100k", CHAT, lambda: _parts(100_000))
    yield Shape("tools-20k", CHAT, lambda: _tools(20_000))
    yield Shape("tags-1m", CHAT, lambda: chat("hi", cache={"tags": [f"t{n}" for n in range(1_000_000)]}))
    yield Shape("namespace-10mb", CHAT, lambda: chat("hi", cache={"namespace": "n" * (10 * _MB)}))
    yield Shape("user-10mb", CHAT, lambda: chat("hi", user="u" * (10 * _MB)))
    yield Shape("blocks-100k", MESSAGES, lambda: _blocks(100_000))
    yield Shape("items-200k", RESPONSES, lambda: _items(200_000))
    yield Shape(
        "prompts-100k", "/v1/completions", lambda: json.dumps({"model": "e", "prompt": ["a"] * 100_000}).encode()
    )
    yield Shape("deflate-zeros", CHAT, lambda: b"\0" * (400 * _MB), encoding="deflate")
    yield Shape("gzip-zeros", CHAT, lambda: b"\0" * (400 * _MB))
    yield Shape("answer-1mb", CHAT, lambda: _asking("echo-long", stream=False), packed=False, fresh=True)
    yield Shape("answer-stream", CHAT, lambda: _asking("echo", stream=True), packed=False, fresh=True)
    yield Shape("feedback-long", "/semcache/feedback", lambda: json.dumps({"id": "x" * _BIG}).encode())
    yield Shape("invalidate-1m", "/semcache/invalidate", lambda: json.dumps({"tags": ["t"] * 1_000_000}).encode())


_PATTERNS = {
    "digits": "4",
    "dashes": "4-",
    "luhn": "4242 4242 4242 424 ",
    "iban": "GB12 AAAA 1111 ",
    "capitals": "A",
    "jwt": ".eyJ",
    "sk": "sk-",
    "login": "a://b:c",
    "password": "password ",
    "pass": "pass",
    "password-for": "password for x ",
    "bearer": "bearer ",
    "pem": "-----BEGIN A ",
    "long-s": "\u017f",
    "dotted-i": "\u0130",
    "marks": "e\u0301",
    "zero-width": "\u200b",
    "words": "how is my order ",
    "commas": ",",
    "quotes": '"',
    "newlines": "\n",
    "emoji": "\U0001f600",
    "ssn": "111-11-111 ",
    "scheme": "a+b:",
    "my": "my ",
    "stated": "secret key is ",
    "dots": "..",
    "apostrophes": "'",
}
_GUARDED = {
    "numbers": "1 2 3 and ",
    "dates": "May 3rd 2024 ",
    "negations": "not never don't ",
    "names": "Aa Bb ",
    "units": "5 kg ",
    "opposites": "hot cold ",
    "directions": "from a to b ",
    "quantifiers": "all some ",
    "qualifiers": "best only ",
    "code": "a.b(c) ",
    "hyphens": "a-b-",
    "spelled": "seven hundred ",
    "capitals": "AB ",
    "order": "x before y ",
    "possessives": "a's b's ",
    "commas": "a, b and c, ",
    "one-word": "a",
    "digits": "1",
    "punctuation": "?!.,;: ",
}


def _embed(inputs: list[str]) -> bytes:
    return json.dumps({"model": "text-embedding-echo", "input": inputs}).encode()


def _turns(count: int, text: str) -> bytes:
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"{text} {n}"} for n in range(count - count % 2 + 1)]
    return json.dumps({"model": "echo", "messages": turns}).encode()


def _before_last(pattern: str, size: int, role: str = "user") -> bytes:
    said = {"user": "And what of the kettle?", "assistant": "It boils.", role: _fill(pattern, size)}
    turns = [{"role": one, "content": text} for one, text in said.items()]
    return json.dumps({"model": "echo", "messages": [*turns, {"role": "user", "content": "Is that so?"}]}).encode()


def _system(text: str) -> bytes:
    turns = [{"role": "system", "content": text}, {"role": "user", "content": "hello there"}]
    return json.dumps({"model": "echo", "messages": turns}).encode()


def _parts(count: int) -> bytes:
    parts = [{"type": "text", "text": "a"}] * count
    return json.dumps({"model": "echo", "messages": [{"role": "user", "content": parts}]}).encode()


def _tools(count: int) -> bytes:
    tools = [{"type": "function", "function": {"name": f"f{n}", "parameters": {}}} for n in range(count)]
    return chat("hi", tools=tools)


def _blocks(count: int) -> bytes:
    system = [{"type": "text", "text": "a"}] * count
    turns = [{"role": "user", "content": "hello there"}]
    return json.dumps({"model": "echo", "max_tokens": 5, "system": system, "messages": turns}).encode()


def _items(count: int) -> bytes:
    return json.dumps({"model": "echo", "input": [{"role": "user", "content": "hi"}] * count}).encode()
