"""The verifier's network: a cross-encoder, in which every token of either text sees every token of the other.

Both texts are read side by side in every layer (Nogueira and Cho 2019, "Passage re-ranking with BERT", section 3). The
model is transformers' `BertForSequenceClassification` with one output; the embeddings of words stay as they are, so
that words which training never shows keep their meaning. Needs torch. Knows no data. Invariant: the names of weights
are those of BERT, "pooler" and "classifier" among them, without a prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Module: TypeAlias = Any
Arrays: TypeAlias = "Mapping[str, NDArray[np.float32]]"

_WORDS = "embeddings.word_embeddings.weight"
_SPREAD = 0.02  # standard deviation of weights that are drawn (Devlin et al. 2019)


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """The encoder has `layers`, of `heads` each."""

    layers: int
    heads: int


def sizes(hidden: int) -> dict[str, tuple[int, ...]]:
    """The shape of every weight above the encoder's last layer."""
    return {
        "pooler.dense.weight": (hidden, hidden),
        "pooler.dense.bias": (hidden,),
        "classifier.weight": (1, hidden),
        "classifier.bias": (1,),
    }


def begin(known: Arrays, shape: NetworkShape, seed: int) -> Module:
    """A network of the weights that are `known`; what is not, of those in `sizes`, is drawn at random."""
    import torch

    transformers: Any = import_module("transformers")

    words, hidden = known[_WORDS].shape
    config = transformers.BertConfig(
        vocab_size=words,
        hidden_size=hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=known["encoder.layer.0.intermediate.dense.weight"].shape[0],
        max_position_embeddings=known["embeddings.position_embeddings.weight"].shape[0],
        num_labels=1,
    )
    rng = torch.Generator().manual_seed(seed)
    module = transformers.BertForSequenceClassification(config)
    state = {}
    for name, value in module.state_dict().items():
        plain = name.removeprefix("bert.")
        if plain in known:
            state[name] = torch.tensor(known[plain])
        elif plain.endswith("bias"):
            state[name] = torch.zeros(value.shape)
        else:
            state[name] = torch.randn(value.shape, generator=rng) * _SPREAD
    module.load_state_dict(state)
    module.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    return module.eval()


def arrays(module: Module) -> dict[str, NDArray[np.float32]]:
    """The weights, by name."""
    found = module.state_dict().items()
    return {name.removeprefix("bert."): value.detach().numpy().astype(np.float32) for name, value in found}


def judge(module: Module, ids: Any, kinds: Any, mask: Any) -> Any:
    """Logits (n,) of pairs: token `ids` (n, tokens), 0 or 1 for the text that each is of, and which are no padding."""
    return module(input_ids=ids, token_type_ids=kinds, attention_mask=mask).logits[:, 0]
