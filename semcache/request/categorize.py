"""Categorisation of a request: the category that it names, that of a rule, or that of the nearest centroid.

Knows no embedder: the caller embeds `example_texts` and hands the vectors to `build`. Centroids are used, not nearest
examples, because they name the right category more often when an example of the shipped packs is left out.

A category of the present moment (`live`) takes a prompt by similarity only if the wording allows that the answer
changes from day to day, because a question about history is near the examples about news, and one about opening in
winter is near those about today. It never takes by similarity a prompt about what holds on any day (opening hours,
price lists), or about a date of history.

Invariant: the result is always a category of the pack, and "default" when nothing else is near enough.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from semcache.config.packs import Pack
from semcache.errors import EmbedError, RequestRejected
from semcache.request.kinds import ends, is_historical, is_live, is_standing
from semcache.request.prompt_volatility import may_change_daily
from semcache.request.wording import canonical
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Request

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector

_REMEMBERED = 2048  # texts
_MUCH = 0.08  # of cosine similarity
_FAINT = 0.3  # a score of a live category that says nothing by itself


class Categories:
    """The categories of one pack. Implements `protocols.Categorizer`.

    `examples` maps a category to its unit vectors, shape (n, dim); without any, `near` is always "default".
    """

    def __init__(self, pack: Pack, examples: Mapping[str, Matrix] | None = None) -> None:
        self._pack = pack
        self._rules = [
            (name, [re.compile(pattern, re.IGNORECASE) for pattern in category.patterns], category.models)
            for name, category in pack.categories.items()
            if category.patterns or category.models
        ]
        self._matched = scoped_cache(maxsize=_REMEMBERED)(self._first_matched)
        means = {name: matrix.mean(axis=0) for name, matrix in (examples or {}).items() if len(matrix)}
        self._names = list(means)
        self._centroids = np.stack([_unit(mean) for mean in means.values()]) if means else None
        self._live = [pack.of(name).live for name in means]

    def by_rule(self, request: Request) -> str | None:
        """The category that the caller names, else the first whose rule matches. Raises RequestRejected(400)."""
        asked = request.controls.category
        if asked is not None:
            if asked in self._pack.categories:
                return asked
            raise RequestRejected(400, self._unknown(asked), code="unknown_category", param="category")
        matched = self._matched(ends(request.text))
        for place, (name, _, models) in enumerate(self._rules):
            if place == matched or any(fnmatchcase(request.model, model) for model in models):
                return name
        return None

    def _first_matched(self, text: str) -> int | None:
        """The place of the first rule of which a pattern matches a text."""
        searched = (any(pattern.search(text) for pattern in patterns) for _, patterns, _ in self._rules)
        return next((place for place, found in enumerate(searched) if found), None)

    def near(self, vector: Vector, text: str) -> tuple[str, ...]:
        """The categories of a prompt, nearest first: the best, and those that are less than `overlap` behind it.

        "default" stands at the pack's `min_margin`: it comes first when no centroid is nearer than that.
        """
        if self._centroids is None:
            return ("default",)
        # As plain numbers: for so few, every call of numpy takes longer than all of this.
        scores: list[float] = (self._centroids @ vector).tolist()
        if any(self._live):
            others = [-math.inf if live else score for score, live in zip(scores, self._live, strict=True)]
            best = max(scores)
            ahead = best - max(self._pack.min_margin, *others)
            if ahead > 0.0:
                text = canonical(text).text  # two prompts of one wording are of one category
            if ahead > 0.0 and (_of_any_day(text) or (ahead < _MUCH and best < _FAINT) or not may_change_daily(text)):
                scores = others
        last = max(self._pack.min_margin, *scores) - self._pack.overlap
        ranked = [(score, name) for score, name in zip(scores, self._names, strict=True) if score >= last]
        if self._pack.min_margin >= last and "default" not in self._names:
            ranked.append((self._pack.min_margin, "default"))
        return tuple(name for _, name in sorted(ranked, key=lambda one: -one[0]))

    def _unknown(self, asked: str) -> str:
        close = difflib.get_close_matches(asked, self._pack.categories, n=1, cutoff=0.0)
        known = ", ".join(sorted(self._pack.categories))
        return f"no category {asked!r} in policy pack {self._pack.name!r}; did you mean {close[0]!r}? known: {known}"


def example_texts(pack: Pack) -> list[tuple[str, str]]:
    """Every (category, example prompt) of the pack, in the order that `build` expects vectors."""
    return [(name, text) for name, category in pack.categories.items() for text in category.examples]


def build(pack: Pack, vectors: Matrix | Sequence[Vector]) -> Categories:
    """Categories from the embedded `example_texts(pack)`. Raises EmbedError for vectors that do not fit them."""
    rows = example_texts(pack)
    matrix = np.asarray(vectors, dtype=np.float32)
    if len(matrix) != len(rows) or (rows and not np.isfinite(matrix).all()):
        raise EmbedError(
            f"{len(rows)} finite example vectors expected for pack {pack.name!r}, got shape {matrix.shape}"
        )
    grouped = {
        name: matrix[[i for i, (owner, _) in enumerate(rows) if owner == name]]
        for name in dict.fromkeys(n for n, _ in rows)
    }
    return Categories(pack, grouped)


def _of_any_day(text: str) -> bool:
    return (is_standing(text) and not is_live(text)) or (is_historical(text) and not may_change_daily(text))


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
