"""The files of the package that one chat completion enters: `python -m eval.reach [--show]`.

A proxy in this process answers a miss, the same request again, and the same question in other words, before the echo;
what is asked first only warms it up. A file counts when one of its functions is entered while the request is answered,
by any thread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import semcache
from semcache.config.settings import Settings
from semcache.proxy.application import Proxy

PACKAGE = Path(semcache.__file__).parent
QUIET = 1.2  # seconds after which what one request left to do in the background is done
ASKED = (
    ("", "What is the boiling point of lead?"),
    ("miss", "How do I cancel my subscription?"),
    ("exact hit", "How do I cancel my subscription?"),
    ("hit by equal wording", "How can I cancel my subscription?"),
    ("", "How long does delivery take?"),
    ("hit by meaning", "How long does the delivery take?"),
)


class Recorder:
    """The files that are entered while it is on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.on = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if self.on and event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            self.files.add(str(Path(frame.f_code.co_filename).relative_to(PACKAGE)))


async def ask(proxy: Proxy, prompt: str) -> str:
    """Send one chat completion; return the reply's Cache-Status."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
    pieces = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [
        (b"host", b"localhost"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    path = "/v1/chat/completions"
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http"}
    scope |= {"asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": ""}
    await proxy(scope, receive, send)
    return str(dict(sent[0]["headers"])[b"cache-status"].decode())


async def measured(folder: str) -> list[tuple[str, str, list[str]]]:
    """Return what was asked, the Cache-Status and the files entered."""
    proxy = Proxy(Settings.load({"data": folder, "upstream.url": "echo"}, {}, None))
    await proxy.start()
    recorder, found = Recorder(), []
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    for name, prompt in ASKED:
        recorder.files, recorder.on = set(), True
        status = await ask(proxy, prompt)
        recorder.on = False
        found.append((name, status, sorted(recorder.files)))
        await asyncio.sleep(QUIET)
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]
    await proxy.stop()
    return [one for one in found if one[0]]


def main() -> None:
    """Print how many files each request entered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--show", action="store_true", help="name the files")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, status, files in asyncio.run(measured(folder)):
            print(f"{name}: {len(files)} files ({status})")
            if chosen.show:
                print("  " + "\n  ".join(files))


if __name__ == "__main__":
    main()
