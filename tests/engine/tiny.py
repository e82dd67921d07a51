"""Tiny decoders with random weights, in memory."""

from __future__ import annotations

from functools import cache
from typing import Any

WORDS = 97


@cache
def tiny(kind: str = "Llama", dtype: str = "float32", layers: int = 4) -> Any:
    """A decoder whose attention is far from uniform; the same arguments give the same model."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=WORDS,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        initializer_range=0.2,
        max_position_embeddings=512,
        pad_token_id=None,
    )
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval().to(getattr(torch, dtype))


def text(seed: int, tokens: int, rows: int = 1) -> Any:
    """(rows, tokens) ids."""
    import torch

    return torch.randint(3, WORDS, (rows, tokens), generator=torch.Generator().manual_seed(seed))


def logits(model: Any, ids: Any) -> Any:
    """(rows, tokens, words) logits of a full pass without a cache."""
    import torch

    with torch.inference_mode():
        return model(ids, use_cache=False).logits.float()
