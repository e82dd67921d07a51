"""Whatever a request holds, routing reads what it can, and the scripted upstream answers or says what is wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given

from semcache.dialects import dialects
from semcache.protocols import Outbound
from semcache.upstream.backends.echo import echo_app
from semcache.upstream.backends.inprocess import InProcessBackend
from semcache.upstream.routing import prompts
from semcache.upstream.routing.kinds import of_models
from semcache.upstream.routing.prompt_assembly import assembled
from tests.dialects.odd import EMBEDDINGS, REQUESTS, mutants, surviving

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

PATHS = {dialect.path: REQUESTS[endpoint] for endpoint, dialect in dialects().items()}
MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "vllm"}]}


@pytest.mark.parametrize("path", PATHS)
def test_routing_reads_any_prompt(path: str) -> None:
    def check(document: Any) -> None:
        prompt = prompts.read(path, [], json.dumps(document).encode())
        assert prompt.tokens() >= 0
        assert isinstance(prompt.session, str)
        assert len(prompt.chain(0).keys) <= prompts.MAX_BLOCKS
        for assembly in ("canonical", "stable"):
            assert assembled(prompt.fields, assembly).keys() == prompt.fields.keys()

    surviving(PATHS[path], check)
    given(mutants(PATHS[path]))(check)()


def test_any_list_of_models_names_a_kind_of_server() -> None:
    def check(document: Any) -> None:
        assert of_models(json.dumps(document).encode()) in ("vllm", "other")

    surviving([MODELS], check)


@pytest.mark.parametrize("path", [*PATHS, "/v1/embeddings"])
def test_the_scripted_upstream_answers_or_says_what_is_wrong(path: str) -> None:
    documents = PATHS.get(path, EMBEDDINGS)
    with asyncio.Runner() as runner:
        backend = InProcessBackend(echo_app(ids=lambda: "1", clock=lambda: 1.0))

        async def ask(document: Any) -> int:
            headers = [("content-type", "application/json")]
            reply = await backend.send(Outbound("POST", path, headers, json.dumps(document).encode()))
            assert b"".join([chunk async for chunk in reply.chunks()])
            return reply.status

        def check(document: Any) -> None:
            assert runner.run(ask(document)) in (200, 400)

        surviving(documents, check)
        given(mutants(documents))(check)()
        runner.run(backend.close())
