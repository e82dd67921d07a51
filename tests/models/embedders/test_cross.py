"""The verifier at run time: symmetric, the same in company, calibrated, and never sure of what it did not read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.errors import ConfigError, EmbedError
from semcache.models.cross_encoder import UNREAD, CrossEncoder
from semcache.request.wording.mending import mended
from semcache.runtime import scoped_memo
from semcache.train.verifier import verifier_folder
from semcache.train.verifier.logit_calibration import LogitScale
from tests.train import tiny

SCALE = LogitScale(0.8, 0.3, 0.02, 0.97)
text = st.text(alphabet="abcdefg hijk78?'é😀\ud800\n", max_size=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "verifier"
    verifier_folder.write(made, tiny.weights(), tiny.SHAPE, tiny.tokenizer(), SCALE, name="tiny", card={})
    return made


@pytest.fixture(scope="module")
def cross(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(st.tuples(text, text), min_size=1, max_size=6))
def test_a_pair_has_one_probability(cross: CrossEncoder, pairs: list[tuple[str, str]]) -> None:
    p = cross.probabilities(pairs)
    assert p.shape == (len(pairs),)
    assert np.all((p >= SCALE.least) & (p <= SCALE.most))
    assert np.allclose(p, cross.probabilities([(two, one) for one, two in pairs]), atol=1e-5)
    assert np.allclose(p, [cross.probabilities([pair])[0] for pair in pairs], atol=1e-4)


def test_probabilities_are_the_calibrated_logits(cross: CrossEncoder) -> None:
    pairs = [("reset my password", "i forgot my password"), ("the card 7", "the card 8")]
    assert np.allclose(cross.probabilities(pairs), SCALE.of(cross.logits(pairs)))


def test_slips_are_read_as_the_words_they_stand_for(cross: CrossEncoder) -> None:
    typed, meant = "how do i rseet my pasword", "how do i reset my password"
    asked = "i forgot my password"
    assert cross.logits([(typed, asked)]) == cross.logits([(meant, asked)])


def test_what_is_too_long_to_be_read_is_vouched_for_by_nobody(cross: CrossEncoder) -> None:
    long = "a b " * cross.max_tokens
    p = cross.probabilities([("reset", "reset"), (long + "7", long + "8"), ("card", long)])
    assert list(p[1:]) == [UNREAD, UNREAD]
    assert p[0] >= SCALE.least


def test_no_pairs_give_no_probabilities(cross: CrossEncoder) -> None:
    assert cross.probabilities([]).shape == (0,)


async def test_it_is_a_verifier(cross: CrossEncoder) -> None:
    p = await cross.same("reset my password", "i forgot my password", "an answer")
    assert p == pytest.approx(cross.probabilities([("reset my password", "i forgot my password")])[0])
    assert cross.best == SCALE.most
    await cross.close()


async def test_a_failure_of_the_runtime_is_an_error_that_forwards(
    cross: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        tokenizer = cross._model.tokenizer
        session = property(lambda self: self)

        def run(self, *_: object) -> None:
            raise RuntimeError("out of memory")

    monkeypatch.setattr(cross, "_model", Broken())
    with pytest.raises(EmbedError, match="out of memory"):
        await cross.same("a", "b", "c")


def test_a_folder_without_a_verifier_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no model folder.*train one with `semcache embedder verifier`"):
        CrossEncoder(tmp_path)


def test_an_embedders_folder_is_no_verifier(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"id": "x", "dim": 3, "max_tokens": 8}), encoding="utf-8")
    with pytest.raises(ConfigError, match="calibration"):
        CrossEncoder(tmp_path)


def test_a_damaged_model_is_refused(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "model.onnx").open("ab") as out:
        out.write(b"x")
    with pytest.raises(ConfigError, match=r"model\.onnx is not what model\.json describes"):
        CrossEncoder(tmp_path)


@pytest.mark.parametrize("wrong", [{"calibration": None}, {"calibration": {"slope": 1}}])
def test_a_card_that_lacks_a_part_is_refused(folder: Path, tmp_path: Path, wrong: dict[str, object]) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    (tmp_path / "model.json").write_text(json.dumps(card | wrong), encoding="utf-8")
    with pytest.raises(ConfigError, match="does not describe a verifier"):
        CrossEncoder(tmp_path)


async def test_what_is_read_in_a_pair_is_remembered_for_the_scope_that_asks(cross: CrossEncoder) -> None:
    pair = ("wher is teh museum of bells", "when does teh museum of bells open")

    async def ask(tenant: str) -> tuple[int, int]:
        """How many texts were read for a tenant who has read the pair, and by the verifier."""
        scoped_memo.enter("scope of a pair", tenant)
        before = _read()
        for text in pair:
            mended(text)
        between = _read()
        await cross.same(*pair, "")
        return between - before, _read() - between

    for tenant in ("a", "b"):
        assert await asyncio.create_task(ask(tenant)) == (2, 0)


def _read() -> int:
    return int(mended.cache_info().misses)  # type: ignore[attr-defined]
