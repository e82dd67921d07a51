"""The cost of traces: milliseconds of a proxy's own time per request without them, with them off, and with them sent.

`python -m eval.tracing_cost` drives the proxy in this process (exact hits and misses of a constant upstream), in turns,
so that load from elsewhere meets all alike, and prints the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import msgspec

from eval.markdown import table
from semcache.config.settings import Settings
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy

_BODY = msgspec.json.encode(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }
)


class _Constant:
    status = 200
    headers = (("content-type", "application/json"),)

    async def send(self, _: Outbound) -> _Constant:
        return self

    async def chunks(self) -> AsyncIterator[bytes]:
        yield _BODY

    async def close(self) -> None:
        return None


class _Sink(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


async def _once(proxy: Proxy, prompt: str) -> float:
    raw = msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": prompt}]})
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "headers": [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ],
    }
    waiting = [{"type": "http.request", "body": raw, "more_body": False}]
    never = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await never.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return

    began = time.perf_counter()
    await proxy(scope, receive, send)
    took = time.perf_counter() - began
    await asyncio.sleep(0)
    return took * 1e3


async def _measure(rounds: int, requests: int, url: str) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        proxies = {}
        for name, mode in (("off", "off"), ("off, again", "off"), ("sent", "otlp")):
            cli = {
                "data": Path(folder) / name,
                "store.url": "memory://",
                "embedder": "hashing",
                "traces.mode": mode,
                "traces.endpoint": url,
                "decisions.rate": 0.0,
            }
            proxies[name] = Proxy(Settings.load(cli, {}, None), backend=_Constant())
            await proxies[name].start()
            await _once(proxies[name], "warm")
        for turn in range(rounds):
            for name, proxy in proxies.items():
                hits = [await _once(proxy, "warm") for _ in range(requests)]
                misses = [await _once(proxy, f"prompt {turn} {number}") for number in range(requests // 10)]
                found.setdefault((name, "exact hit"), []).append(statistics.median(hits))
                found.setdefault((name, "miss"), []).append(statistics.median(misses))
        for proxy in proxies.values():
            await proxy.stop()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=500)
    chosen = parser.parse_args(arguments)
    server = HTTPServer(("127.0.0.1", 0), _Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1/traces"
    found = asyncio.run(_measure(chosen.rounds, chosen.requests, url))
    server.shutdown()
    names = list(dict.fromkeys(name for name, _ in found))
    rows = [
        [f"traces {name}", *[f"{statistics.median(found[name, kind]):.3f}" for kind in ("exact hit", "miss")]]
        for name in names
    ]
    print(table(["", "exact hit, ms", "miss, ms"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
