"""Changed promises: the categories to learn anew because their saved state was learned under other promises.

Pure. Invariant: a category that a pack does not name has the promises of `default`, on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semcache.config.packs import Pack


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
        return self._entirely or saved != promised

    def __bool__(self) -> bool:
        return any(name in self for name in ("default", *self._saved, *self._promised))


NOTHING_CHANGED = ChangedPromises({}, {})


def promises(pack: Pack) -> dict[str, Any]:
    """Return what a learned state depends on besides labels: each category's strategy and promises, as JSON."""
    return {
        name: [category.strategy, category.contract, pack.target_of(name), pack.confidence]
        for name, category in sorted(pack.categories.items())
    }
