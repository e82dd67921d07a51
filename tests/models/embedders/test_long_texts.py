"""Of a long text only the beginning is embedded, and no more of it is looked at: an earlier turn may be a book."""

from __future__ import annotations

import numpy as np
import pytest

from semcache.models.embedders import DEFAULT_MODEL, onnx
from semcache.models.embedders.onnx import OnnxEmbedder


def test_what_an_embedder_does_not_read_costs_it_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of 385 kB took so long to read that lookups by meaning were given up, for all tenants, for a while."""
    seen: list[int] = []
    mended = onnx.mended

    def watched(text: str) -> str:
        seen.append(len(text))
        return mended(text)

    monkeypatch.setattr(onnx, "mended", watched)
    text = " ".join(f"Sack {number} does not stand in the mill." for number in range(10_000))
    embedder = OnnxEmbedder(DEFAULT_MODEL)
    whole, begun = (embedder.encode([one])[0] for one in (text, text[:5_000]))
    assert max(seen) <= 20_000
    assert np.allclose(whole, begun)
