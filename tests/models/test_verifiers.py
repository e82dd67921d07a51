"""Who verifies: the cache's own model before the one that ships, nobody for a pack that asks nobody."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from semcache.agents.library import SemanticCache
from semcache.config import packs
from semcache.config.packs import Pack
from semcache.errors import ConfigError
from semcache.models.cross_encoder import DEFAULT_VERIFIER, CrossEncoder
from semcache.models.verifiers import FOLDER, local_verifier, offline_verifier, verifiers_for_library

PACK = packs.load("default")
ONE, TWO = "How do I reset my password?", "I forgot my password. How can I set a new one?"


def asking(name: str) -> Pack:
    categories = {each: msgspec.structs.replace(one, verify=name) for each, one in PACK.categories.items()}
    return msgspec.structs.replace(PACK, categories=categories)


def test_a_pack_that_asks_the_verifier_gets_the_model_that_ships(tmp_path: Path) -> None:
    model = local_verifier(asking("verifier"), tmp_path)["verifier"].verifier
    assert isinstance(model, CrossEncoder)
    assert model.id == CrossEncoder(DEFAULT_VERIFIER).id
    assert verifiers_for_library("model", asking("verifier"), None).lacking(asking("verifier")) == []


def test_a_pack_that_asks_nobody_loads_nothing(tmp_path: Path) -> None:
    assert local_verifier(asking("off"), tmp_path) == local_verifier(asking("llm"), tmp_path) == {}
    assert offline_verifier(asking("off"), tmp_path) is None
    assert local_verifier(packs.load("medical"), tmp_path) == {}, "where an error does harm, nobody guesses"
    assert verifiers_for_library("off", asking("verifier"), tmp_path).lacking(asking("verifier")) == sorted(
        name for name, one in PACK.categories.items() if one.cache and one.semantic
    )


def test_a_model_of_the_caches_own_comes_first_and_a_broken_one_is_said(tmp_path: Path) -> None:
    own = tmp_path / FOLDER
    shutil.copytree(DEFAULT_VERIFIER, own)
    card = own / "model.json"
    card.write_text(card.read_text(encoding="utf-8").replace("semcache-verifier/", "own/"), encoding="utf-8")
    model = local_verifier(asking("verifier"), tmp_path)["verifier"].verifier
    assert isinstance(model, CrossEncoder)
    assert model.id.startswith("own/")
    (own / "model.onnx").write_bytes(b"broken")
    with pytest.raises(ConfigError, match=r"model\.onnx"):
        local_verifier(asking("verifier"), tmp_path)


def test_a_simulation_asks_what_the_live_cache_would() -> None:
    verify = offline_verifier(asking("verifier"), None)
    model = CrossEncoder(DEFAULT_VERIFIER)
    assert verify is not None
    said = float(model.probabilities([(ONE, TWO)])[0])
    assert verify(ONE, TWO) == pytest.approx(said)


def test_a_library_user_may_switch_it_off(tmp_path: Path) -> None:
    pack = tmp_path / "asking.yaml"
    pack.write_text("name: asking\ndefaults: {verify: verifier}\n", encoding="utf-8")
    for verifier, known in (("model", True), ("off", False)):
        with SemanticCache.open(str(tmp_path / verifier), policies=str(pack), verifier=verifier) as cache:
            assert (cache.inner.components.verifiers.lacking(cache.inner.pack) == []) is known


UNREAD = [
    ("Wie setze ich mein Passwort zurück?", "Wie kann ich mein Passwort zurücksetzen?"),
    (
        "The river rises in the hills of the north and flows past the town into the eastern sea.",
        "The river rises in the hills of the north and flows into the eastern sea past the town.",
    ),
]


@pytest.mark.parametrize("pair", UNREAD, ids=["another language", "a statement"])
def test_the_model_that_ships_is_asked_about_english_prompts_that_ask(pair: tuple[str, str]) -> None:
    shipped = local_verifier(asking("verifier"), None)["verifier"]
    assert shipped.reads(ONE, TWO)
    assert not shipped.reads(*pair)
    assert not shipped.reads(ONE, pair[1])
    said = offline_verifier(asking("verifier"), None)
    assert said is not None
    assert said(*pair) is None
    assert (said(ONE, TWO) or 0.0) > 0.0


def test_one_that_was_trained_on_the_caches_own_labels_is_asked_about_all(tmp_path: Path) -> None:
    own = shutil.copytree(DEFAULT_VERIFIER, tmp_path / FOLDER)
    card = msgspec.json.decode((own / "model.json").read_bytes())
    del card["language"]
    (own / "model.json").write_bytes(msgspec.json.encode(card))
    trained = local_verifier(asking("verifier"), tmp_path)["verifier"]
    assert all(trained.reads(*pair) for pair in UNREAD)
