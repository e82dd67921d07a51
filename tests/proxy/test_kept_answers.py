"""An answer that is deleted upstream is replayed to nobody: who deletes it means it, and its id is worth nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.cache.kept_answers import deleted_tag
from semcache.errors import StoreError
from semcache.protocols import Outbound
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
_OTHERS = [("GET", f"{RESPONSES}/r1"), ("DELETE", f"{RESPONSES}/r1/input_items"), ("DELETE", "/v1/files/r1")]


def upstream(*, deletes: int = 200) -> Upstream:
    """An upstream that numbers its answers; `deletes` is the status of a deletion."""
    made: list[str] = []

    def answer(outbound: Outbound) -> Answer:
        if outbound.method != "POST":
            return Answer([b'{"deleted":true}'], status=deletes)
        made.append(f"id_{len(made) + 1}")
        if outbound.path == CHAT:
            return Answer([completion(id=made[-1])])
        text = {"type": "output_text", "text": "An answer.", "annotations": []}
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [text]}
        body = {"id": made[-1], "object": "response", "status": "completed", "model": "m", "output": [item]}
        return Answer([msgspec.json.encode(body)])

    return Upstream(answer)


def body_of(path: str, **fields: Any) -> dict[str, Any]:
    if path == CHAT:
        return ask("What is a heron?", store=True, **fields)
    return {"model": "m", "input": "What is a heron?", **fields}


async def asked(proxy: Any, path: str, **headers: str) -> str:
    reply = await Call(proxy, body_of(path), path=path, **headers).reply()
    return str(reply.json["id"])


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
async def test_an_answer_that_was_deleted_upstream_is_asked_for_anew(tmp_path: Path, path: str) -> None:
    async with running(upstream(), tmp_path) as proxy:
        assert [await asked(proxy, path) for _ in range(3)] == ["id_1"] * 3
        reply = await Call(proxy, path=f"{path}/id_1", method="DELETE").reply()
        assert (reply.status, reply.json) == (200, {"deleted": True})
        assert [await asked(proxy, path) for _ in range(2)] == ["id_2"] * 2


async def test_what_the_upstream_refuses_to_delete_stays(tmp_path: Path) -> None:
    async with running(upstream(deletes=404), tmp_path) as proxy:
        assert await asked(proxy, RESPONSES) == "id_1"
        assert (await Call(proxy, path=f"{RESPONSES}/id_1", method="DELETE").reply()).status == 404
        assert (await Call(proxy, path=f"{RESPONSES}/id_9", method="DELETE").reply()).status == 404
        assert await asked(proxy, RESPONSES) == "id_1"


async def test_a_fault_of_the_store_does_not_change_the_upstreams_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(upstream(), tmp_path) as proxy:
        assert await asked(proxy, RESPONSES) == "id_1"

        async def failing(*_: Any, **__: Any) -> list[int]:
            raise StoreError("away")

        monkeypatch.setattr(proxy.cache, "invalidate", failing)
        assert (await Call(proxy, path=f"{RESPONSES}/id_1", method="DELETE").reply()).json == {"deleted": True}


@pytest.mark.parametrize(("method", "path"), _OTHERS)
def test_other_requests_delete_no_answer(method: str, path: str) -> None:
    assert deleted_tag(method, path) is None
    assert deleted_tag("DELETE", f"{RESPONSES}/r1") == "answer:r1"
