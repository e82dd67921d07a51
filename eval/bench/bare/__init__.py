"""The floor of the cost: applications without the product, under the server options that it uses."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Answer = Callable[[bytes], bytes]


def application(answer: Answer) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """A raw ASGI application that answers any body with the bytes that `answer` gives for it."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        message = await receive()
        body = message["body"]
        while message.get("more_body"):
            message = await receive()
            body += message["body"]
        reply = answer(body) if scope["method"] == "POST" else b"{}"
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(reply))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": reply})

    return app


def parser() -> argparse.ArgumentParser:
    """The arguments that every application takes."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, required=True)
    return arguments


def run(answer: Answer, port: int) -> None:
    """Serve as `semcache serve` does."""
    import uvicorn

    uvicorn.run(
        application(answer),
        port=port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
    )
