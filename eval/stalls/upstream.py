"""An upstream that takes next to no time, whatever it is sent: what is late beside it is late because of the proxy.

    python -m eval.stalls.upstream PORT

It reads nothing of a body but its length and whether it wants a long answer (`"model": "echo-long"`) or a stream.
"""

from __future__ import annotations

import asyncio
import json
import sys

LONG = "4 4 call 555 " * 70_000
_USAGE = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}


def _answer(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    said = {"id": "c", "object": "chat.completion", "created": 1, "model": "echo", "choices": [choice], "usage": _USAGE}
    body = json.dumps(said).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def _event(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    said = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "echo", "choices": [choice]}
    return b"data: " + json.dumps(said).encode() + b"\n\n"


SHORT_ANSWER, LONG_ANSWER = _answer("It is so."), _answer(LONG)
_EVENTS = _event({"role": "assistant", "content": ""}) + _event({"content": "4 4 call "}) * 20_000
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
STREAM += _EVENTS + _event({}, "stop") + b"data: [DONE]\n\n"


def _embeddings(count: int) -> bytes:
    items = [{"object": "embedding", "index": index, "embedding": [0.1, 0.2]} for index in range(count)]
    body = json.dumps({"object": "list", "data": items, "model": "e", "usage": _USAGE}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]) if b"ength:" in head else 0
            start, left, inputs = b"", length, 0
            while left:
                piece = await reader.read(min(left, 1 << 16))
                if not piece:
                    return
                left -= len(piece)
                start, inputs = (start + piece)[:1000], inputs + piece.count(b'","')
            writer.write(_reply(head, start, inputs))
            await writer.drain()
            if b'"stream"' in start:
                return
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


def _reply(head: bytes, start: bytes, inputs: int) -> bytes:
    if b" /v1/embeddings" in head:
        return _embeddings(inputs + 1)
    if b'"stream"' in start:
        return STREAM
    return LONG_ANSWER if b"echo-long" in start else SHORT_ANSWER


async def _main(port: int) -> None:
    async with await asyncio.start_server(_serve, "127.0.0.1", port) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1])))
