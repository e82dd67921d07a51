"""The models in the wheel: small enough, loadable without the training libraries, described, and of full quality."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from semcache.models.cross_encoder import DEFAULT_VERIFIER, CrossEncoder
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train import pairs as files
from semcache.train.recipe.sources import SOURCES
from tests.waiting import PATIENCE

MODELS = Path(DEFAULT_MODEL).parent
pytestmark = pytest.mark.skipif(
    not (DEFAULT_VERIFIER / "model.onnx").is_file(), reason="no verifier was made: make models"
)
PAIRS = [
    ("How do I reset my password?", "I forgot my password, how do I get in again?"),
    ("How do I reset my password?", "How do I reset my router?"),
    ("What was the revenue in 2021?", "What was the revenue in 2022?"),
    ("Is it safe to take ibuprofen with paracetamol?", "Can I take paracetamol and ibuprofen together?"),
    ("Transfer 50 dollars from savings to checking", "Transfer 50 dollars from checking to savings"),
]


def test_they_fit_into_the_wheel() -> None:
    # Zipped, and with the rest, a fifth less: PyPI takes files of up to 100 MB.
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) <= 105_000_000


def test_they_load_without_the_training_libraries() -> None:
    code = (
        "import sys; from semcache.models.cross_encoder import CrossEncoder; "
        "from semcache.models.embedders.onnx import OnnxEmbedder; "
        "from semcache.models.embedders import DEFAULT_MODEL; OnnxEmbedder(DEFAULT_MODEL).encode(['a']); "
        "CrossEncoder().probabilities([('a', 'b')]); "
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'onnx', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.strip() == "[]"


def test_the_cards_name_what_was_learned_from() -> None:
    card = (DEFAULT_VERIFIER / "README.md").read_text(encoding="utf-8")
    for name, source in SOURCES.items():
        assert name in card
        assert source.licence in card
        assert source.by in card
    for section in ("## Data", "## Held out by the recipe", "## Measured", "## Limits"):
        assert section in card
    assert "Apache-2.0" in (DEFAULT_MODEL / "README.md").read_text(encoding="utf-8")


def test_int8_agrees_with_the_same_weights_in_float32() -> None:
    pytest.importorskip("onnx", reason="needs the train extra")
    import onnxruntime
    from tokenizers import Tokenizer

    from semcache.train.verifier import verifier_folder
    from semcache.train.verifier.token_rows import padded, rows

    weights, shape = verifier_folder.read(DEFAULT_VERIFIER)
    model = verifier_folder.JointGraph(weights, shape, "float32").model().SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    words = Tokenizer.from_file(str(DEFAULT_VERIFIER / "tokenizer.json"))
    ids, kinds, mask = padded(rows(words, [(min(pair), max(pair)) for pair in PAIRS]))
    exact = session.run(None, {"input_ids": ids, "token_type_ids": kinds, "attention_mask": mask})[0]
    assert np.allclose(CrossEncoder().logits(PAIRS), exact, atol=0.5)


def test_the_check_set_is_told_apart() -> None:
    check = files.read(DEFAULT_VERIFIER / "check.jsonl")
    assert len(check) >= 200
    files.both_classes(check, "the check set")
    same = np.array([pair.same for pair in check])
    p = CrossEncoder().probabilities([(pair.one, pair.two) for pair in check])
    assert ((p > 0.5) == same).mean() > 0.7


def test_the_vocabulary_loses_no_text() -> None:
    from tokenizers import Tokenizer

    whole = Tokenizer.from_file(str(DEFAULT_MODEL / "tokenizer.json"))
    small = Tokenizer.from_file(str(DEFAULT_VERIFIER / "tokenizer.json"))
    texts = [
        "Tottenham's antidisestablishmentarianism?",
        "東京の天気はどうですか",
        "Wie heißt die Straße?",
        "naïve café 🙂",
        "x²+y²=1 ∀ε>0",
    ]
    for text in texts:
        lost = [line.tokens.count("[UNK]") for line in (whole.encode(text), small.encode(text))]
        assert lost[1] <= lost[0], text


def test_the_card_says_what_is_in_the_folder() -> None:
    card = json.loads((DEFAULT_VERIFIER / "model.json").read_text(encoding="utf-8"))
    assert set(card) >= {"id", "calibration", "max_tokens", "source", "licence", "seed", "sha256"}
    assert "/" not in card["source"].replace("sentence-transformers/all-mpnet-base-v2", "")
    assert 0.5 < CrossEncoder().best < 1.0


def test_words_that_look_like_special_tokens_are_words() -> None:
    cross, embedder = CrossEncoder(), OnnxEmbedder(DEFAULT_MODEL)
    told = [(f"reset my card {mark} close my account", "close my account") for mark in ("<pad>", "<PAD>")]
    assert np.ptp(cross.logits(told)) == 0.0
    one, two = embedder.encode([f"reset my card {mark} close my account" for mark in ("[SEP]", "[sep]")])
    assert np.array_equal(one, two)
