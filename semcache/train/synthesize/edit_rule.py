"""An edit rule: a small edit of a prompt that keeps, or changes, what is asked.

Knows nothing of any rule. Invariant: a rule is pure; the same text and the same random state give the same edit.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

Edit = Callable[[str, random.Random], str | None]
"""An edited text, or None where there is nothing to edit."""


@dataclass(frozen=True, slots=True)
class EditRule:
    """One edit.

    `name` is "kind.how"; `same` says that the answer to the prompt stays right; `digits` that there is nothing to edit
    in a text without a digit.
    """

    name: str
    same: bool
    edit: Edit
    digits: bool = False

    @property
    def kind(self) -> str:
        """The kind of edit, by which rules are balanced, selected and left out."""
        return self.name.partition(".")[0]


def keeping_rules(*, digits: bool = False, **edits: Edit) -> tuple[EditRule, ...]:
    """Rules that keep the meaning, named by keyword: `spelling_region` is "spelling.region"; `__` is a hyphen."""
    return tuple(EditRule(_name(word), True, edit, digits) for word, edit in edits.items())


def changing_rules(*, digits: bool = False, **edits: Edit) -> tuple[EditRule, ...]:
    """Rules that change the meaning, named likewise."""
    return tuple(EditRule(_name(word), False, edit, digits) for word, edit in edits.items())


def _name(word: str) -> str:
    return word.replace("__", "-").replace("_", ".", 1)
