"""Logs that an embedder is trained on: which of their lines give pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from semcache.cli import embedder_finetune
from semcache.train import finetune
from semcache.train.pairs import Pair


class Unread:
    """A model that nothing is embedded by."""

    def encode(self, texts: Sequence[str], **_: Any) -> None:
        raise AssertionError(f"{len(texts)} texts were embedded")


def test_follow_ups_and_other_tenants_are_no_prompts_of_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetune, "load", lambda *_, **__: Unread())
    monkeypatch.setattr(finetune, "device_of", lambda wanted: wanted)

    def line(tenant: str, said: str, *turns: str) -> dict[str, Any]:
        roles = ("user", "assistant")
        asked = [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]
        return {"tenant": tenant, "model": "m", "messages": asked, "response": said}

    coat, tea = "Bring a warm coat along.", "Steep it for four minutes."
    lines = [
        line("acme", coat, "Visiting Oslo?", "Yes.", "And in winter?"),
        line("acme", coat, "Feeding tortoises?", "Salad.", "And when they sleep?"),
        line("acme", tea, "How long does tea take?"),
        line("globex", tea, "What did the board decide?"),
        line("acme", tea, "Steeping time of tea?"),
        {"text": "where is my card", "intent": "card"},
        {"text": "has my card come", "intent": "card"},
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert embedder_finetune._logged([log], "default", "cpu").same() == [
        Pair("How long does tea take?", "Steeping time of tea?", True, made="log"),
        Pair("where is my card", "has my card come", True, made="log"),
    ]
