"""Follow-ups through the official clients: the same words in another conversation are another question."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.contract.services import Service, serving
from tests.proxy.driver import cache_status

pytestmark = pytest.mark.process

PACK = """
name: conversations
min_margin: -1
defaults: {strategy: static, threshold: 0.85, context: semantic}
"""
THROAT = ("What is throat cancer?", "A cancer of the throat.", "Is it treatable?")
LUNG = ("What is lung cancer?", "A cancer of the lung.", "Is it treatable?")
REPHRASED = ("Could you explain throat cancer?", "A cancer of the throat.", "Is it treatable?")
REWORDED = ("What's throat cancer?", "A cancer of the throat.", "Is it treatable?")


def talk(texts: Sequence[str]) -> list[Any]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def chat(url: str, texts: Sequence[str], headers: dict[str, str]) -> dict[str, Any]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", default_headers=headers, max_retries=0) as client:
        reply = client.chat.completions.with_raw_response.create(model="gpt-x", messages=talk(texts))
        assert reply.parse().choices[0].message.content
        return cache_status(reply.headers["cache-status"])


def responses(url: str, texts: Sequence[str], headers: dict[str, str]) -> dict[str, Any]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", default_headers=headers, max_retries=0) as client:
        reply = client.responses.with_raw_response.create(model="gpt-x", input=talk(texts), store=False)
        assert reply.parse().output_text
        return cache_status(reply.headers["cache-status"])


def messages(url: str, texts: Sequence[str], headers: dict[str, str]) -> dict[str, Any]:
    with anthropic.Anthropic(base_url=url, api_key="k", default_headers=headers, max_retries=0) as client:
        reply = client.messages.with_raw_response.create(model="claude-x", max_tokens=100, messages=talk(texts))
        assert reply.parse().content
        return cache_status(reply.headers["cache-status"])


Ask = Callable[[str, Sequence[str], dict[str, str]], dict[str, Any]]
asking = pytest.mark.parametrize("ask", [chat, responses, messages])


@pytest.fixture(scope="module")
def lenient(upstream: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A proxy whose pack lets earlier turns be put in other words."""
    folder = tmp_path_factory.mktemp("conversations")
    pack = Path(folder / "pack.yaml")
    pack.write_text(PACK)
    with serving(upstream.url, folder / "data", "--policies", str(pack)) as service:
        yield service


@pytest.fixture
def headers() -> dict[str, str]:
    return {"x-semcache-namespace": uuid.uuid4().hex}


@asking
def test_the_same_last_message_in_another_conversation_is_not_served(
    proxy: Service, headers: dict[str, str], ask: Ask
) -> None:
    assert "stored" in ask(proxy.url, THROAT, headers)
    for other in (LUNG, (LUNG[0], *THROAT[1:]), THROAT[2:]):
        assert "hit" not in ask(proxy.url, other, headers)
    assert ask(proxy.url, THROAT, headers)["detail"] == "exact"


@asking
def test_a_conversation_in_other_words_is_served_where_the_pack_says_so(
    lenient: Service, headers: dict[str, str], ask: Ask
) -> None:
    assert "stored" in ask(lenient.url, THROAT, headers)
    for other in (LUNG, (LUNG[0], *THROAT[1:]), THROAT[2:]):
        assert "hit" not in ask(lenient.url, other, headers)
    assert ask(lenient.url, REWORDED, headers)["detail"] == "wording"
    assert ask(lenient.url, REPHRASED, headers)["detail"] == "semantic"
