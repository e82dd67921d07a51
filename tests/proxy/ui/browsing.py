"""Visiting the page as a browser would: cookies are kept, forms carry the sign of the page that they were on."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from semcache.proxy.application import Proxy
from semcache.proxy.auth import new_key
from semcache.storage.stores import open_store
from tests.proxy.driver import Answer, Call, Received, Upstream, ask, completion, running

PAGE = "/semcache/ui"
FORM = "application/x-www-form-urlencoded"


@dataclass
class Browser:
    """One visitor. `cookies` are those it holds."""

    proxy: Proxy
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str = "", **headers: str) -> Received:
        address, _, query = path.partition("?")
        return self._keep(
            await Call(self.proxy, path=PAGE + address, method="GET", query=query, **self._sent(), **headers).reply()
        )

    async def post(self, path: str, form: dict[str, str] | list[tuple[str, str]], **headers: str) -> Received:
        body = urlencode(form).encode()
        given = {"content_type": FORM, **self._sent(), **headers}
        return self._keep(await Call(self.proxy, body, path=PAGE + path, **given).reply())

    async def change(self, path: str, **fields: str) -> Received:
        """Send a form with this session's sign, and follow where it leads."""
        sign = sign_of((await self.get()).body.decode())
        reply = await self.post(path, {"sign": sign, **fields})
        return await self.follow(reply)

    async def follow(self, reply: Received) -> Received:
        if reply.status != 303:
            return reply
        target = reply.header("location")
        assert target is not None
        return await self.get(target.removeprefix(PAGE))

    async def log_in(self, key: str) -> Received:
        return await self.post("/login", {"key": key})

    def _sent(self) -> dict[str, str]:
        return {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}

    def _keep(self, reply: Received) -> Received:
        for name, value in reply.headers:
            if name == "set-cookie":
                cookie, _, rest = value.partition(";")
                label, _, content = cookie.partition("=")
                if "max-age=0" in rest.lower():
                    self.cookies.pop(label, None)
                else:
                    self.cookies[label] = content
        return reply


def sign_of(html: str) -> str:
    found = re.search(r'x-semcache-sign": "(\w+)"', unescape(html))
    assert found, html[:500]
    return found[1]


@asynccontextmanager
async def kept(
    folder: Path, upstream: Upstream | None = None, **settings: Any
) -> AsyncIterator[tuple[Proxy, dict[str, str]]]:
    """A proxy with an admin's key, a read-only admin's, and for tenants a and b trusted keys and plain ones."""
    url = f"sqlite:///{folder}/semcache.db"
    store = open_store(url)
    await store.open()
    keys: dict[str, str] = {}
    for number, (name, tenant, rights) in enumerate(
        [
            ("admin", "ops", {"admin": True}),
            ("viewer", "ops", {"admin": True}),
            ("a", "a", {"trusted": True}),
            ("b", "b", {"trusted": True}),
            ("a-viewer", "a", {"trusted": True}),
            ("plain", "a", {}),
        ]
    ):
        keys[name], made = new_key(
            lambda n, number=number: bytes([65 + number]) * n, 0.0, tenant, name, store.salt, **rights
        )
        await store.add_key(replace(made, read_only="viewer" in name))
    await store.close()
    async with running(
        upstream or Upstream(lambda _: Answer([completion()])), folder, store__url=url, **settings
    ) as proxy:
        yield proxy, keys


async def logged_in(proxy: Proxy, key: str) -> Browser:
    browser = Browser(proxy)
    assert (await browser.log_in(key)).status == 303
    return browser


async def asked(proxy: Proxy, prompt: str, key: str, **fields: Any) -> str:
    """Send a chat request; return the id under which its decision is found."""
    reply = await Call(proxy, ask(prompt, **fields), x_semcache_key=key).reply()
    assert reply.status == 200
    return reply.header("x-semcache-id") or ""


async def newest(proxy: Proxy, **where: Any) -> dict[str, Any]:
    """The newest decision that was recorded."""
    return (await proxy.cache.operating.requests(**where))[0]
