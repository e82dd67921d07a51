"""An answer read as it comes: its thoughts, what it says, and the calls of tools that it makes.

Knows the text of one choice, nothing of replies. Invariant: the pieces of a text are the same however it is cut; what
looks like a call and is none is said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from semcache.engine.tool_format import UNTHINK, ToolFormat

_THINK = "<think>"


@dataclass(frozen=True, slots=True)
class AnswerShape:
    """The shape of an answer: calls in a format, and thoughts, which its prompt may have `opened`."""

    form: ToolFormat | None = None
    thinks: bool = False
    opened: bool = False

    @property
    def plain(self) -> bool:
        """True if an answer is a text and no more."""
        return self.form is None and not self.thinks


PLAIN = AnswerShape()


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of an answer: a text of thoughts or of what is said, or a call."""

    kind: Literal["thought", "said", "call"]
    text: str = ""
    call: dict[str, Any] | None = None


class AnswerReader:
    """One choice."""

    def __init__(self, shape: AnswerShape) -> None:
        self._shape, self._held = shape, ""
        self._at = "thought" if shape.opened else "begin" if shape.thinks else "said"
        self._said = self._thought = False

    def feed(self, text: str, *, last: bool = False) -> list[AnswerPiece]:
        """The pieces that this text completes; `last` says that no more comes."""
        self._held += text
        found: list[AnswerPiece] = []
        while self._step(found, last):
            pass
        if last and self._held:
            kind: Literal["thought", "said"] = "thought" if self._at == "thought" else "said"
            found += self._calls(self._held) or [AnswerPiece(kind, self._held)]
            self._held = ""
        return found

    def _step(self, found: list[AnswerPiece], last: bool) -> bool:
        """Take what is decided from the text held; False where more of it is needed."""
        if self._at == "begin":
            head = self._held.lstrip()
            if head.startswith(_THINK):
                self._held, self._at = head[len(_THINK) :].lstrip("\n"), "thought"
                return True
            if _THINK.startswith(head) and not last:
                return False
            self._at = "said"
        if self._at == "thought":
            if not self._thought:
                self._held = self._held.lstrip("\n")
            thought, mark, rest = self._held.partition(UNTHINK)
            if mark:
                self._add(found, "thought", thought.rstrip("\n"))
                self._held, self._at = rest.lstrip("\n"), "after" if not rest.strip("\n") else "said"
                return True
            self._keep(found, "thought", UNTHINK)
            return False
        if self._at == "after":
            # Blank lines between thoughts and what is said belong to neither.
            self._held = self._held.lstrip("\n")
            if not self._held:
                return False
            self._at = "said"
        form = self._shape.form
        if form is None:
            self._add(found, "said", self._held)
            self._held = ""
            return False
        return self._within(found, form) if form.within else self._alone(found)

    def _within(self, found: list[AnswerPiece], form: ToolFormat) -> bool:
        """Calls that may stand behind a text, each between its marks."""
        before, mark, rest = self._held.partition(form.within)
        if not mark:
            self._keep(found, "said", form.within)
            return False
        end = form.end.strip("}\n")
        at = _end_of_call(rest, end)
        if at < 0:
            if before.strip():
                self._add(found, "said", before.rstrip())
                self._held = self._held[len(before.rstrip()) :]
            return False
        inner, behind = rest[: at + len(end)], rest[at + len(end) :]
        calls = self._calls(mark + inner)
        if calls is None:
            self._add(found, "said", before + mark + inner)
        else:
            self._add(found, "said", before.rstrip())
            found += calls
        self._held = behind
        return bool(behind)

    def _alone(self, found: list[AnswerPiece]) -> bool:
        """Calls that are a whole answer: its first character decides."""
        head = self._held.lstrip()
        if not self._said and (not head or head[0] in "[{<"):
            return False
        self._add(found, "said", self._held)
        self._held = ""
        return False

    def _calls(self, text: str) -> list[AnswerPiece] | None:
        form = self._shape.form
        calls = None if form is None or self._at == "thought" else form.read(text)
        return None if calls is None else [AnswerPiece("call", call=one) for one in calls]

    def _keep(self, found: list[AnswerPiece], kind: Literal["thought", "said"], mark: str) -> None:
        """Give what cannot be the beginning of a mark, and hold the rest."""
        held = next((n for n in range(min(len(mark), len(self._held)), 0, -1) if mark.startswith(self._held[-n:])), 0)
        sure = self._held[: len(self._held) - held]
        # Blank before a mark is no text.
        cut = len(sure.rstrip("\n") if kind == "thought" else sure.rstrip())
        self._add(found, kind, self._held[:cut])
        self._held = self._held[cut:]

    def _add(self, found: list[AnswerPiece], kind: Literal["thought", "said"], text: str) -> None:
        if text:
            self._said, self._thought = self._said or kind == "said", self._thought or kind == "thought"
            found.append(AnswerPiece(kind, text))


def _end_of_call(text: str, end: str) -> int:
    """The place of the mark that ends a call, -1 where it is still to come; within a string of JSON it ends none."""
    first = at = text.find(end)
    while at >= 0:
        try:
            json.loads(text[:at])
        except (ValueError, RecursionError) as error:
            if not str(error).startswith("Unterminated string"):
                return first
            at = text.find(end, at + 1)
        else:
            return at
    return -1
