"""The shipped model: quality, independence of the batch, truncation, and what its folder says."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from semcache.errors import EmbedError
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import RUN_TOKENS, OnnxEmbedder, _runs


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(DEFAULT_MODEL)


def test_paraphrases_are_nearer_than_other_questions(embedder: OnnxEmbedder) -> None:
    groups = [
        ("How do I reset my password?", "I forgot my password, how do I set a new one?"),
        ("What is the refund policy?", "Can I get my money back?"),
        ("Where is my parcel?", "How do I track my package?"),
        ("Which planet is the largest?", "What is the biggest planet in the solar system?"),
    ]
    left = embedder.encode([pair[0] for pair in groups])
    right = embedder.encode([pair[1] for pair in groups])
    assert (left @ right.T).argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_slips_are_read_as_the_words_they_stand_for(embedder: OnnxEmbedder) -> None:
    typed, meant = "wat is teh captial of austrlia", "what is the capital of australia"
    assert np.array_equal(embedder.encode([typed]), embedder.encode([meant]))
    standing = embedder.encode([typed], mending=False)[0]
    assert float(standing @ embedder.encode([meant])[0]) < 0.8


def test_a_long_neighbour_does_not_change_a_vector(embedder: OnnxEmbedder) -> None:
    """With one quantisation scale per tensor this cosine was 0.99 and entries moved with the traffic."""
    text = "How do I reset my password?"
    alone = embedder.encode([text])[0]
    beside = embedder.encode([text, "What a long question it is, " * 3, "12345 67890 !!!! ???? ####"])[0]
    assert float(alone @ beside) > 0.99999


def test_text_beyond_the_limit_is_not_read(embedder: OnnxEmbedder) -> None:
    start = "one two three four " * 100
    assert embedder.encode([start + "alpha"])[0] == pytest.approx(embedder.encode([start + "omega"])[0], abs=1e-6)


def test_runs_hold_every_row_once_and_few_tokens() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 257, 500).tolist()
    runs = _runs(lengths)
    assert sorted(row for run in runs for row in run) == list(range(500))
    assert all(len(run) == 1 or len(run) * max(lengths[row] for row in run) <= RUN_TOKENS for run in runs)
    assert len(_runs([8] * 32)) == 2


def test_what_is_no_unit_vector_is_an_error(embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (np.nan, 0.0, 2.0):
        monkeypatch.setattr(
            embedder, "_run", lambda tokens, value=value: np.full((len(tokens), 384), value, np.float32)
        )
        with pytest.raises(EmbedError, match="unit length"):
            embedder.encode(["hello"])


@pytest.mark.parametrize(
    ("error", "said"),
    [(RuntimeError("out of memory"), "out of memory"), (MemoryError(), "MemoryError")],
    ids=["says-why", "says-nothing"],
)
def test_a_failing_runtime_is_an_embed_error(
    embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """The start under a limit of memory ended with "failed: " and no cause."""

    def broken(_: object) -> None:
        raise error

    monkeypatch.setattr(embedder, "_run", broken)
    with pytest.raises(EmbedError, match=said):
        embedder.encode(["hello"])


def test_the_card_describes_the_files() -> None:
    card = json.loads((DEFAULT_MODEL / "model.json").read_text())
    for name, digest in card["sha256"].items():
        assert hashlib.sha256((DEFAULT_MODEL / name).read_bytes()).hexdigest() == digest
    assert card["licence"] == "Apache-2.0"
    assert card["cosine_to_float32"]["mean"] >= 0.99
    assert card["sha256"]["model.onnx"].startswith(card["id"].rsplit("/", 1)[1])
    assert sum(path.stat().st_size for path in DEFAULT_MODEL.iterdir()) < 25_000_000


def test_no_file_of_the_model_names_a_place() -> None:
    for path in DEFAULT_MODEL.iterdir():
        content = path.read_bytes()
        assert not [word for word in (b"/home/", b"/tmp/", b"/Users/", b"C:\\Users") if word in content]
