"""The name under which a module takes its cache: its own, whichever version of transformers it was written for."""

from __future__ import annotations

from typing import Any

from semcache.engine.cache_argument import cache_argument
from tests.engine.tiny import logits, text, tiny


class _Before:
    def forward(self, hidden_states: Any, past_key_values: Any = None) -> Any:
        """As until transformers 5.23."""


class _Since:
    def forward(self, hidden_states: Any, cache: Any = None, past_key_values: Any = None) -> Any:
        """As since then, where the former name still works."""


def test_the_name_is_the_modules_own() -> None:
    assert cache_argument(_Before(), 1) == {"past_key_values": 1}
    assert cache_argument(_Since(), 1) == {"cache": 1}


def test_a_model_goes_on_from_the_cache_it_is_given() -> None:
    import torch
    from transformers import DynamicCache

    model, ids = tiny(), text(3, 12)
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model(ids[:, :8], use_cache=True, **cache_argument(model, cache))
        rest = model(ids[:, 8:], use_cache=True, **cache_argument(model, cache)).logits
    torch.testing.assert_close(rest, logits(model, ids)[:, 8:], atol=1e-4, rtol=0)
