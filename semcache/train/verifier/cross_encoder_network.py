"""The verifier's network: a cross-encoder, in which every token of either text sees every token of the other.

Both texts are read side by side in every layer (Nogueira and Cho 2019, "Passage re-ranking with BERT", section 3). The
model is transformers' `BertForSequenceClassification`, or `MPNetForSequenceClassification` where the weights hold a
bias of attention by distance, with one output; the embeddings of words stay as they are, so that words which training
never shows keep their meaning. Needs torch. Knows no data. Invariant: the names of weights are those of BERT, "pooler"
and "classifier" among them, without a prefix, and the first row of positions is that of the first token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semcache.train.bert_graph import POSITIONS, WORD_EMBEDDINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

Module: TypeAlias = Any
Arrays: TypeAlias = "Mapping[str, NDArray[np.float32]]"

DISTANCES = "encoder.relative_attention_bias.weight"  # (buckets, heads): see `attention_distances`
EPSILON = 1e-5  # of the layer norms of MPNet, as its authors trained it
_UNUSED = 2  # rows of MPNet's positions before that of the first token
# MPNet's names of what BERT names otherwise.
_MPNET = {
    ".attention.attn.q.": ".attention.self.query.",
    ".attention.attn.k.": ".attention.self.key.",
    ".attention.attn.v.": ".attention.self.value.",
    ".attention.attn.o.": ".attention.output.dense.",
    ".attention.LayerNorm.": ".attention.output.LayerNorm.",
    "classifier.dense.": "pooler.dense.",
    "classifier.out_proj.": "classifier.",
}
_FARTHEST = 128  # tokens
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


def renamed(weights: Arrays) -> dict[str, NDArray[np.float32]]:
    """The weights of an encoder as its authors name them, under the names that `begin` knows."""
    found = {_plain(name): np.asarray(value, np.float32) for name, value in weights.items()}
    if DISTANCES in found:
        found[POSITIONS] = found[POSITIONS][_UNUSED:]
    return found


def begin(known: Arrays, shape: NetworkShape, seed: int) -> Module:
    """A network of the weights that are `known`; what is not, of those in `sizes`, is drawn at random."""
    import torch

    transformers: Any = import_module("transformers")

    words, hidden = known[WORD_EMBEDDINGS].shape
    settings = {
        "vocab_size": words,
        "hidden_size": hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": known["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "num_labels": 1,
    }
    places = known[POSITIONS].shape[0]
    if DISTANCES in known:
        settings |= {"relative_attention_num_buckets": len(known[DISTANCES]), "layer_norm_eps": EPSILON}
        config = transformers.MPNetConfig(max_position_embeddings=places + _UNUSED, **settings)
        module = transformers.MPNetForSequenceClassification(config)
    else:
        config = transformers.BertConfig(max_position_embeddings=places, **settings)
        module = transformers.BertForSequenceClassification(config)
    rng = torch.Generator().manual_seed(seed)
    state = {}
    for name, value in module.state_dict().items():
        plain = _plain(name)
        if plain in known:
            given = torch.tensor(known[plain])
            unused = len(value) - len(given) if plain == POSITIONS else 0
            state[name] = torch.cat([given.new_zeros(unused, hidden), given]) if unused else given
        elif plain.endswith("bias"):
            state[name] = torch.zeros(value.shape)
        else:
            state[name] = torch.randn(value.shape, generator=rng) * _SPREAD
    module.load_state_dict(state)
    module.base_model.embeddings.word_embeddings.weight.requires_grad_(False)
    return module.eval()


def arrays(module: Module) -> dict[str, NDArray[np.float32]]:
    """The weights, by name."""
    return renamed({name: value.detach().numpy() for name, value in module.state_dict().items()})


def linear_layers(module: Module) -> list[list[Module]]:
    """The linear parts of every layer of the encoder, from below: those whose weights are written as int8."""
    import torch

    layers = module.base_model.encoder.layer
    return [[part for part in layer.modules() if isinstance(part, torch.nn.Linear)] for layer in layers]


def linear_weights(module: Module) -> list[Any]:
    """The weights (out, in) of those parts, in the same order."""
    return [part.weight for layer in linear_layers(module) for part in layer]


def judge(module: Module, ids: Any, kinds: Any, mask: Any) -> Any:
    """Logits (n,) of pairs: token `ids` (n, tokens), 0 or 1 for the text that each is of, and which are no padding."""
    import torch

    if module.config.model_type == "mpnet":  # it has no types, and would give no place to tokens that pad elsewhere
        places = torch.arange(_UNUSED, _UNUSED + ids.shape[1], device=ids.device).expand(ids.shape)
        return module(input_ids=ids, attention_mask=mask, position_ids=places).logits[:, 0]
    return module(input_ids=ids, attention_mask=mask, token_type_ids=kinds).logits[:, 0]


def attention_distances(tokens: int, buckets: int) -> NDArray[np.int64]:
    """The bucket of the distance from each token to each other one, shape (tokens, tokens).

    Half of the `buckets` are for either direction; a quarter are for one distance each, the others for ranges that grow
    with their logarithm, up to 128 tokens (Raffel et al. 2020, "Exploring the limits of transfer learning", section
    2.1; Song et al. 2020, "MPNet").
    """
    places = np.arange(tokens)
    away = places[None, :] - places[:, None]
    half = buckets // 2
    exact = half // 2
    steps = np.log(np.maximum(np.abs(away), 1) / exact) / np.log(_FARTHEST / exact) * (half - exact)
    far = np.minimum(exact + steps.astype(np.int64), half - 1)
    found: NDArray[np.int64] = np.where(np.abs(away) < exact, np.abs(away), far) + np.where(away > 0, half, 0)
    return found


def _plain(name: str) -> str:
    name = name.removeprefix("bert.").removeprefix("mpnet.")
    for theirs, ours in _MPNET.items():
        name = name.replace(theirs, ours)
    return name
