"""The weights of a trained network on the grid of the folder that it is written to, one layer after the other.

Each layer is rounded for the inputs that the layers below give it once they are rounded. Needs torch. Invariant: what
`verifier_folder.write` makes of the network, and what is trained next from that folder, are these weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.train.bert_graph import WEIGHT_LEVELS
from semcache.train.rounding import rounded
from semcache.train.verifier import cross_encoder_network, training_loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.train.verifier.cross_encoder_network import Module

PAIRS = 1_000  # some 25,000 tokens, eight for each input of the widest layer


def round_weights(module: Module, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> None:
    """Round the linear layers of the encoder in place, for the inputs that the first `PAIRS` of `pairs` bring about."""
    import torch

    for linear in cross_encoder_network.linear_layers(module):
        grams = _grams(module, linear, tokenizer, pairs[:PAIRS])
        with torch.no_grad():
            for part, gram in zip(linear, grams, strict=True):
                part.weight.copy_(torch.from_numpy(rounded(part.weight.numpy(), gram, WEIGHT_LEVELS)))


def _grams(module: Module, linear: Sequence[Any], tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> list[Any]:
    """The sum of x x^T over the inputs x of each of the layers; those of padding are among them."""
    grams = [np.zeros((part.in_features, part.in_features)) for part in linear]

    def summed(place: int) -> Any:
        def hook(_: Any, given: tuple[Any, ...]) -> None:
            x = given[0].reshape(-1, given[0].shape[-1])
            grams[place] += (x.T @ x).double().numpy()

        return hook

    hooks = [part.register_forward_pre_hook(summed(place)) for place, part in enumerate(linear)]
    try:
        training_loop.logits(module, tokenizer, pairs)
    finally:
        for hook in hooks:
            hook.remove()
    return grams
