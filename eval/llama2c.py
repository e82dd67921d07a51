"""A llama2.c checkpoint as a transformers model.

Knows the legacy layout (seven integers, then float32 weights) and that its rotary pairs are neighbours, where
transformers has halves. Raises ValueError for a file of another length.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def load(path: Path) -> Any:
    """Read a checkpoint."""
    import numpy as np
    import torch
    import transformers

    dim, hidden, layers, heads, groups, words, context = np.fromfile(path, dtype=np.int32, count=7).tolist()
    numbers = torch.from_numpy(np.fromfile(path, dtype=np.float32, offset=28))
    size = dim // heads
    config = transformers.LlamaConfig(
        vocab_size=abs(words),
        hidden_size=dim,
        intermediate_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        max_position_embeddings=context,
        rms_norm_eps=1e-5,
        tie_word_embeddings=words > 0,
        bos_token_id=1,
        eos_token_id=2,
    )
    at = 0

    def take(*shape: int) -> Any:
        nonlocal at
        count = int(np.prod(shape))
        at += count
        return numbers[at - count : at].view(*shape)

    state: dict[str, Any] = {"model.embed_tokens.weight": take(abs(words), dim)}
    parts = (
        ("input_layernorm", (dim,)),
        ("self_attn.q_proj", (dim, dim)),
        ("self_attn.k_proj", (groups * size, dim)),
        ("self_attn.v_proj", (groups * size, dim)),
        ("self_attn.o_proj", (dim, dim)),
        ("post_attention_layernorm", (dim,)),
        ("mlp.gate_proj", (hidden, dim)),
        ("mlp.down_proj", (dim, hidden)),
        ("mlp.up_proj", (hidden, dim)),
    )
    for name, shape in parts:
        for layer, weight in enumerate(take(layers, *shape)):
            turned = name.endswith(("q_proj", "k_proj"))
            halves = weight.view(-1, size // 2, 2, dim).transpose(1, 2).reshape(shape) if turned else weight
            state[f"model.layers.{layer}.{name}.weight"] = halves
    state["model.norm.weight"] = take(dim)
    take(2, context, size // 2)  # sines and cosines, which transformers computes
    state["lm_head.weight"] = state["model.embed_tokens.weight"] if words > 0 else take(abs(words), dim)
    if at != len(numbers):
        raise ValueError(f"{path} holds {len(numbers):,} numbers, not the {at:,} that its header asks for")
    model = transformers.LlamaForCausalLM(config)
    model.load_state_dict(state)
    return model.eval()
