"""The weights of a trained verifier lie on the grid of the folder that holds it, rounded for what its layers read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semcache.train.verifier import cross_encoder_network, rounded_network, training_loop, verifier_folder
from semcache.train.verifier.logit_calibration import LogitScale
from tests.train import tiny

torch = pytest.importorskip("torch", reason="needs the train extra")

WORDS = ("card", "capital", "password", "france", "spain", "what", "is", "the", "of", "my")
PAIRS = [(f"what is the {one} of {two}", f"my {two} {one}") for one in WORDS for two in WORDS]


def logits(module: cross_encoder_network.Module) -> np.ndarray:
    from tokenizers import Tokenizer

    return training_loop.logits(module, Tokenizer.from_str(tiny.tokenizer()), PAIRS)


def test_a_folder_gives_back_the_network_that_was_rounded(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    module = cross_encoder_network.begin(tiny.weights(), tiny.SHAPE, 0)
    whole = {name: value.copy() for name, value in cross_encoder_network.arrays(module).items()}
    exact = logits(module)
    rounded_network.round_weights(module, Tokenizer.from_str(tiny.tokenizer()), PAIRS)
    given = cross_encoder_network.arrays(module)
    changed = {name for name, value in given.items() if not np.array_equal(value, whole[name])}
    linear = {name for name in whole if name.startswith("encoder.layer") and whole[name].ndim == 2}
    assert changed == linear
    verifier_folder.write(
        tmp_path / "it", given, tiny.SHAPE, tiny.tokenizer(), LogitScale(), name="tiny", card={"licence": "x"}
    )
    back, shape = verifier_folder.read(tmp_path / "it")
    assert all(np.allclose(back[name], given[name], atol=1e-6) for name in linear)
    found = logits(cross_encoder_network.begin(back, shape, 0))
    assert np.corrcoef(found, exact)[0, 1] > 0.98


def test_every_layer_is_rounded_for_all_that_it_is_shown_up_to_a_thousand_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tokenizers import Tokenizer

    read: list[int] = []
    monkeypatch.setattr(
        training_loop, "logits", lambda *of, given=training_loop.logits: (read.append(len(of[2])), given(*of))
    )
    module = cross_encoder_network.begin(tiny.weights(), tiny.SHAPE, 0)
    for pairs in (PAIRS, PAIRS * 11):
        rounded_network.round_weights(module, Tokenizer.from_str(tiny.tokenizer()), pairs)
    assert read == [100] * tiny.SHAPE.layers + [1000] * tiny.SHAPE.layers
