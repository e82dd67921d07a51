"""Changed promises: the categories to learn anew because their saved state was learned under other promises.

Pure. Invariant: a category that a pack does not name has the promises of `default`, on both sides. What a state of an
older version does not name has not changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from semcache.config.pack_schema import GUARDS
from semcache.config.packs import Pack
from semcache.types.evidence import Label, LabelSource

_MARK = "promise:"
_ONCE = 4  # promises that older versions knew of


@dataclass(frozen=True, slots=True)
class LabelOrigins:
    """The origins of labels: the embedder of their scores, the judge of answers, and the model that gives verdicts.

    None matches any.
    """

    embedder: str | None = None
    judge: str | None = None
    words: str | None = None

    def kept(self) -> dict[str, str | None]:
        """As a saved state names them."""
        return {"embedder": self.embedder, "judge": self.judge, "words": self.words}

    def differ(self, kept: Mapping[str, Any], *names: str) -> bool:
        """Return True if a state was learned from other origins of these names; one that names none was not."""
        return any(None not in (mine := getattr(self, name), kept.get(name)) and mine != kept[name] for name in names)


class ChangedPromises:
    """The categories whose promises are not those that were `saved`; all of them if `entirely`."""

    def __init__(self, saved: Mapping[str, Any], promised: Mapping[str, Any], *, entirely: bool = False) -> None:
        self._saved, self._promised, self._entirely = saved, promised, entirely

    def __contains__(self, category: object) -> bool:
        saved, promised = [
            pack.get(category, pack.get("default"))  # type: ignore[call-overload]
            for pack in (self._saved, self._promised)
        ]
        if None in (saved, promised):
            return self._entirely or saved is not promised
        known = min(len(saved), len(promised))
        return self._entirely or saved[:known] != promised[:known]

    def __bool__(self) -> bool:
        return any(name in self for name in ("default", *self._saved, *self._promised))


NOTHING_CHANGED = ChangedPromises({}, {})


class PromiseMarks:
    """The marks of hits that are served under the promises of a pack and audited by a judge; None is any judge."""

    def __init__(self, pack: Pack, judge: str | None) -> None:
        self._promised = promises(pack)
        self._judge = "" if judge is None else _digest(judge)

    def of(self, category: str) -> str:
        """The mark of a hit in this category."""
        return f"{_MARK}{self._of_pack(category)}:{self._judge}"

    def taught(self, label: Label, changed: Container[str]) -> Label | None:
        """The label as it teaches who gives certificates; None if it teaches them nothing.

        One of a category whose promises have `changed` since, or of other promises or another judge, is given as that
        of a miss, so that it enters no certificate.
        """
        audited = label.source in (LabelSource.AUDIT, LabelSource.UNDECIDED)
        if not audited or not (label.category in changed or self._differs(label)):
            return label
        return None if label.source is LabelSource.UNDECIDED else replace(label, source=LabelSource.MISS, served=False)

    def _differs(self, label: Label) -> bool:
        if not label.origin.startswith(_MARK):
            return False
        of_pack, _, judge = label.origin.removeprefix(_MARK).partition(":")
        other_judge = bool(judge and self._judge and judge != self._judge)
        return other_judge or of_pack not in (self._of_pack(label.category), self._of_pack(label.category, _ONCE))

    def _of_pack(self, category: str, known: int | None = None) -> str:
        promised = self._promised.get(category, self._promised.get("default"))
        return _digest(repr(promised if promised is None else promised[:known]))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def promises(pack: Pack) -> dict[str, Any]:
    """Return what a learned state depends on besides labels, as JSON: what each category promises, and what it serves.

    Versions differ in which guards they ship, so a category that has all of them has just these.
    """
    return {
        name: [
            *(category.strategy, category.contract, pack.target_of(name), pack.confidence),
            *(None if {*category.guards} == {*GUARDS} else sorted(category.guards), category.asked, category.prior),
        ]
        for name, category in sorted(pack.categories.items())
    }
