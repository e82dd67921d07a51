"""An entry is worth what the cheapest acceptable model would take, so that what is dear to answer stays longest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache import SemanticCache
from semcache.config.agent_packs import ModelSpec
from semcache.retention.answer_worth import worth_by
from semcache.types import Card, Usage
from tests.storage.stores.values import entry

LARGE, SMALL = ModelSpec(prompt=20, completion=20, quality=0.9), ModelSpec(prompt=1, completion=1, quality=0.88)


@pytest.mark.parametrize(
    ("models", "allowed", "worth"),
    [
        ({"large": LARGE, "small": SMALL}, 0.05, 15.0),
        ({"large": LARGE, "small": SMALL}, 0.01, 300.0),
        ({"large": LARGE, "small": ModelSpec(prompt=1, completion=1)}, 0.05, 300.0),
        ({"small": SMALL}, 0.05, 300.0),
        ({"large": ModelSpec(prompt=90, completion=90, quality=0.9)}, 0.05, 300.0),
    ],
)
def test_the_cheapest_acceptable_model_is_what_an_entry_spares(
    models: dict[str, ModelSpec], allowed: float, worth: float
) -> None:
    answered = replace(entry(1), model="large", usage=Usage(10, 5), cost=300.0 / 1e6)
    assert worth_by(models, allowed)(answered) == pytest.approx(worth / 1e6)


PACK = """
models:
  large: {prompt: 20, completion: 20, quality: 0.9}
  small: {prompt: 10, completion: 1, quality: 0.9}
"""


def test_a_quota_is_told_what_the_cheapest_acceptable_model_would_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = tmp_path / "pack.yaml"
    told: dict[str, list[float]] = {"named": [], "unnamed": []}
    for name, text in {"named": PACK, "unnamed": PACK.partition("  small")[0]}.items():
        pack.write_text(text)
        with SemanticCache.open(str(tmp_path / name), policies=str(pack), embedder="hashing") as cache:
            catalogue = cache.inner.registry
            add = catalogue.add

            def noting(card: Card, **given: Any) -> list[Card]:
                if "cost" in given:  # not where the cache follows the store, and finds what it wrote itself
                    told[name].append(given["cost"])  # noqa: B023
                return add(card, **given)  # noqa: B023

            monkeypatch.setattr(catalogue, "add", noting)
            # To the large model a long prompt and a long answer cost the same; to the small one only the prompt does.
            for asked, said in ((1, 100), (100, 1)):
                usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": 101}
                choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
                answer = {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}
                cache.record(cache.lookup(f"What do {asked} words mean?", model="large"), answer)
    assert told["unnamed"] == pytest.approx([1.0, 1.0])
    assert told["named"] == pytest.approx([1.0, 1001 / ((110 + 1001) / 2)])
