"""A base that trains in a second: one layer, random weights, the words of the shipped tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from semcache.models.embedders import DEFAULT_MODEL
from semcache.train.pairs import Pair

THINGS = ("password", "invoice", "parcel", "refund", "address", "card", "account", "order", "coupon", "receipt")


def tiny(folder: Path) -> Path:
    """Write the weights to `folder` and return it."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    shape: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = BertModel(BertConfig(**shape, intermediate_size=32, max_position_embeddings=64), add_pooling_layer=False)
    model.save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(DEFAULT_MODEL / "tokenizer.json"), pad_token="[PAD]")
    tokenizer.save_pretrained(folder)
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}" if n else "", "type": f"sentence_transformers.models.{kind}"}
        for n, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 32, "do_lower_case": False}))
    return folder


def traffic(each: int = 6) -> list[Pair]:
    """Pairs about ten things, none of which shares a text with another: same thing, same answer."""
    found = []
    for number, thing in enumerate(THINGS):
        other = THINGS[(number + 1) % len(THINGS)]
        for n in range(each):
            found.append(Pair(f"where is my {thing} {n}", f"I cannot find my {thing}, number {n}", True))
            found.append(Pair(f"how do I get a {thing} {n}", f"how do I get a {other} with {n} please", False))
    return found
