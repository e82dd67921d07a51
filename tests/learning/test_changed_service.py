"""Certificates after a change of what is served: they lapse, and those of an older version do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from semcache.config import packs
from semcache.config.pack_schema import GUARDS
from semcache.learning import changed_promises
from semcache.learning.changed_promises import ChangedPromises, PromiseMarks, promises
from semcache.storage.stores import open_store
from tests.learning.test_changed_promises import audit, opened, standing, taught


def serving(**fields: object) -> packs.Pack:
    pack = packs.load("default")
    changed = msgspec.structs.replace(pack.of("default"), **fields)
    return msgspec.structs.replace(pack, categories={**pack.categories, "default": changed})


@pytest.mark.parametrize("change", ["guards: []", "guards: [numbers]", "verify: verifier", "prior: questions"])
async def test_audits_of_what_was_served_otherwise_certify_nothing(tmp_path: Path, change: str) -> None:
    # Without guards or the verifier others are served, and the category went on saying `certified`.
    more = "defaults: {verify: off}\n"
    async with opened(tmp_path, target=0.1, more=more) as cache:
        await taught(cache, [audit(number) for number in range(100)])
        assert standing(cache).audits == 100
    name = change.partition(":")[0]
    lax = f"defaults: {{{change}{'' if name == 'verify' else ', verify: off'}}}\n"
    async with opened(tmp_path, target=0.1, more=lax) as again:
        found = standing(again)
        assert (found.labels, found.audits, found.certified) == (100, 0, None)


def test_packs_that_serve_the_same_have_the_same_promises() -> None:
    whole = promises(serving())
    assert not ChangedPromises(whole, promises(serving(guards=tuple(reversed(GUARDS)))))
    assert not ChangedPromises(promises(serving(guards=GUARDS[:2])), promises(serving(guards=GUARDS[1::-1])))
    for other in ({"guards": GUARDS[1:]}, {"verify": "llm"}, {"prior": "questions"}):
        assert [name for name in whole if name in ChangedPromises(whole, promises(serving(**other)))] == ["default"]


async def test_certificates_and_audits_of_an_older_version_hold_for_the_same_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, target=0.1) as cache:
        await taught(cache, [audit(number) for number in range(100)])
        old = {name: kept[:4] for name, kept in promises(cache.pack).items()}
        with monkeypatch.context() as before:
            before.setattr(changed_promises, "promises", lambda _: old)
            mark = PromiseMarks(cache.pack, cache.components.learner.log._origins.judge).of("default")
    store = open_store(str(tmp_path / "data" / "semcache.db"))
    await store.open()
    for name in ("threshold", "judged"):
        saved = await store.learned(name)
        assert saved is not None
        kept = msgspec.json.decode(saved[1])
        await store.learn(name, saved[0], msgspec.json.encode({**kept, "promises": old}))
    await store.label([replace(audit(100), origin=mark), replace(audit(101), origin=mark + "other")])
    await store.close()
    async with opened(tmp_path, target=0.1) as again:
        assert standing(again).audits == 101
        await taught(again, [audit(102)])
    async with opened(tmp_path, target=0.1, more="defaults: {guards: []}\n") as other:
        assert standing(other).audits == 0
