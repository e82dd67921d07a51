"""An application in this process in the place of an upstream: what goes wrong in it is said."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.upstream.backends.inprocess import InProcessBackend

ASKED = Outbound("POST", "/v1/chat/completions", [], b"{}")


async def test_what_an_application_failed_with_is_said() -> None:
    async def unready(*_: Any) -> None:
        raise RuntimeError("no memory left")

    with pytest.raises(UpstreamError, match="no memory left"):
        await InProcessBackend(unready).send(ASKED)


async def test_an_application_that_ends_early_is_no_reply() -> None:
    async def silent(*_: Any) -> None:
        await asyncio.sleep(0)

    with pytest.raises(UpstreamError, match="before it replied"):
        await InProcessBackend(silent).send(ASKED)
