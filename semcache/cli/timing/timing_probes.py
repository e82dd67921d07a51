"""Probes of the timing audit: one for each path on which a reply may be faster because somebody asked before.

A probe lets one caller ask, and times another that asks the same, or something that nobody has asked; in both cases the
first has asked something just before, so that nothing else differs. Invariant: a timed request is asked once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from semcache.cli.timing.timed_client import TimedClient
from semcache.cli.timing.timing_prompts import Prompts

_CHAT, _EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"
_LEAD = 0.004  # seconds by which a request in flight comes first
_PREFIX_WORDS = 110
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_weather",
            "parameters": {"type": "object", "properties": {"station": {"type": "string"}}, "required": ["station"]},
        },
    }
]


class Probe(Protocol):
    """One path."""

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        """Return the seconds of a request of the caller `timed`; `asked` says that `earlier` has asked the same."""


class _HttpProbe:
    """One path over HTTP. `clients` gives a caller's connection by the caller's role and its number."""

    def __init__(self, clients: Callable[[str, int], TimedClient], prompts: Prompts, model: str) -> None:
        self._clients, self._prompts, self._model = clients, prompts, model


class ChatProbe(_HttpProbe):
    """Chat completions: the same prompt, or with `reworded` the same in other words.

    With `flying` the first request is still under way when the timed one comes.
    """

    def __init__(
        self, clients: Callable[[str, int], TimedClient], prompts: Prompts, model: str, *,
        reworded: bool = False, flying: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(clients, prompts, model)
        self._reworded, self._flying = reworded, flying

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        """Time one request."""
        prompt = self._prompts.draw()
        before = prompt if asked else self._prompts.draw()
        first = self._clients(earlier, 0)
        first.send(_CHAT, chat(self._model, before.text))
        if self._flying:
            time.sleep(_LEAD)
        else:
            first.receive()
        text = prompt.reworded if self._reworded else prompt.text
        seconds = self._clients(timed, 1).ask(_CHAT, chat(self._model, text))
        if self._flying:
            first.receive()
        return seconds


class EmbeddingProbe(_HttpProbe):
    """Embeddings of the same text."""

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        """Time one request."""
        text = self._prompts.draw().text
        before = text if asked else self._prompts.draw().text
        self._clients(earlier, 0).ask(_EMBEDDINGS, {"model": self._model, "input": before})
        return self._clients(timed, 1).ask(_EMBEDDINGS, {"model": self._model, "input": text})


class PrefixProbe(_HttpProbe):
    """Long prompts with a common beginning, of which the proxy keeps no answer: what the upstream has read before."""

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        """Time one request."""
        text = self._prompts.long(_PREFIX_WORDS)
        before = text if asked else self._prompts.long(_PREFIX_WORDS)
        self._clients(earlier, 0).ask(_CHAT, self._body(before + " a"), cache_control="no-cache, no-store")
        return self._clients(timed, 1).ask(_CHAT, self._body(text + " b"), cache_control="no-cache, no-store")

    def _body(self, text: str) -> dict[str, Any]:
        return chat(self._model, text) | {"max_tokens": 1, "temperature": 0}


class PlanProbe(_HttpProbe):
    """A task of an agent whose plan may be known: the first caller's whole run makes it known."""

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        """Time the first request of a run."""
        agent, other = self._prompts.name(), self._prompts.name()
        self._run(self._clients(earlier, 0), agent if asked else other)
        body = chat(self._model, _task(self._prompts.name())) | {"tools": _TOOLS}
        return self._clients(timed, 1).ask(_CHAT, body, x_semcache_agent=agent)

    def _run(self, client: TimedClient, agent: str) -> None:
        body: dict[str, Any] = chat(self._model, _task(self._prompts.name())) | {"tools": _TOOLS}
        while True:
            client.send(_CHAT, body, x_semcache_agent=agent)
            message = client.receive()[1]["choices"][0]["message"]
            if not message.get("tool_calls"):
                return
            body["messages"].append(message)
            for call in message["tool_calls"]:
                told = {"role": "tool", "tool_call_id": call["id"], "content": '{"sky": "clear"}'}
                body["messages"].append(told)


class ToolProbe:
    """Results of tools in the library: the same call of two tenants. `call` executes one and returns its seconds."""

    def __init__(self, call: Callable[[str, str], float], prompts: Prompts) -> None:
        self._call, self._prompts = call, prompts

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        """Time one call."""
        name = self._prompts.name()
        self._call(earlier, name if asked else self._prompts.name())
        return self._call(timed, name)


def chat(model: str, text: str) -> dict[str, Any]:
    """Return a chat completion's body."""
    return {"model": model, "messages": [{"role": "user", "content": text}]}


def _task(name: str) -> str:
    return f"Tell me the weather of station {name}"
