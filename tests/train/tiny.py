"""A verifier small enough for tests: random weights, a vocabulary of its own."""

from __future__ import annotations

import json

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from semcache.train.verifier import cross_encoder_network
from semcache.train.verifier.cross_encoder_network import DISTANCES, NetworkShape

SHAPE = NetworkShape(layers=3, heads=2)
HIDDEN, INNER = 16, 32
_TEXT = "how do i reset my password the card what is capital of france spain forgot a in to get please not"
_PIECES = [
    *"abcdefghijklmnopqrstuvwxyz0123456789?!.'",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"),
]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_PIECES, *(word for word in _TEXT.split() if len(word) > 1)]


def tokenizer() -> str:
    """The tokenizer's JSON."""
    made = Tokenizer(models.WordPiece({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))],
    )
    return json.dumps(json.loads(made.to_str()))


def weights(seed: int = 0, *, by_distance: bool = False) -> dict[str, np.ndarray]:
    """Of an encoder and what is above it, named as BERT names them; `by_distance`, one as MPNet has it."""
    rng = np.random.default_rng(seed)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (256, HIDDEN),
        **({DISTANCES: (32, SHAPE.heads)} if by_distance else {"embeddings.token_type_embeddings.weight": (2, HIDDEN)}),
        **cross_encoder_network.sizes(HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(SHAPE.layers):
        at = f"encoder.layer.{layer}"
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        for name in [*parts, f"{at}.attention.output.dense"]:
            sizes |= {f"{name}.weight": (HIDDEN, HIDDEN), f"{name}.bias": (HIDDEN,)}
        sizes |= {f"{at}.intermediate.dense.weight": (INNER, HIDDEN), f"{at}.intermediate.dense.bias": (INNER,)}
        sizes |= {f"{at}.output.dense.weight": (HIDDEN, INNER), f"{at}.output.dense.bias": (HIDDEN,)}
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    made = {name: rng.normal(0, 0.2, size).astype(np.float32) for name, size in sizes.items()}
    for name in norms:
        made |= {f"{name}.weight": np.ones(HIDDEN, np.float32), f"{name}.bias": np.zeros(HIDDEN, np.float32)}
    return made
