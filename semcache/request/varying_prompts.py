"""System prompts that differ only in a date, a time, an id or a number, and what to write into the pack about it.

Pure. Invariant: a finding holds counts and kinds of parts, nothing of a prompt; no prompt is kept beyond the call.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from semcache.config.system_parts import NAMED
from semcache.request.ignored import blanked

_LEAST = 3  # prompts of one kind, from which on they are no two versions of one
_LEAST_OF_NUMBERS = 6
_READ = 4096  # characters at each end of a prompt; between them it has to be equal
_PLAIN = {
    "an id": r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b",
    "a date or time": r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?",
}
_NAMES = {"date": "the current date", "time": "the current time", "request_id": "the id of a request or session"}
_NUMBER = "a number"
_PARTS = [
    *((_NAMES[name], name, expression) for name, expression in NAMED.items()),
    *((name, f"'{expression}'", re.compile(expression)) for name, expression in _PLAIN.items()),
    (_NUMBER, "", re.compile(r"\d+")),
]
_HELP = "policies.md#a-system-prompt-with-the-date-in-it"


@dataclass(frozen=True, slots=True)
class VaryingPrompts:
    """System prompts that are alike but for `parts`. `entries` are the kept answers, `line` is for the pack."""

    prompts: int
    entries: int
    parts: tuple[str, ...]
    line: str

    def told(self) -> str:
        """Say it in words, with the remedy."""
        named = " and ".join(self.parts)
        start = f"{self.prompts} system prompts of {self.entries} requests differ only in {named}, and share no answer"
        if not self.line:
            return f"{start}; where answers do not depend on it, name the place by `ignore_in_system` ({_HELP})"
        return f"{start}; where answers do not depend on it, write into the pack: {self.line}"


@dataclass(slots=True)
class _Alike:
    entries: int = 0
    prompts: set[bytes] = field(default_factory=set)
    values: dict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))


def varying(prompts: Iterable[str], ignored: Sequence[str] = ()) -> list[VaryingPrompts]:
    """The differences of system prompts that are alike otherwise, most prompts first.

    `ignored` is what the pack leaves out already.
    """
    groups: dict[bytes, _Alike] = defaultdict(_Alike)
    known: dict[bytes, _Alike] = {}
    for prompt in prompts:
        whole = _digest(prompt)
        if whole not in known:
            known[whole] = _placed(prompt, ignored, groups)
        known[whole].entries += 1
    return sorted(filter(None, map(_finding, groups.values())), key=lambda one: -one.prompts)


def _placed(prompt: str, ignored: Sequence[str], groups: Mapping[bytes, _Alike]) -> _Alike:
    """Find the group of a prompt, and note there what it says in the parts."""
    middle = prompt[_READ:-_READ]
    text = blanked(f"{prompt[:_READ]}\0{prompt[-_READ:]}" if middle else prompt, ignored)
    whole, values = _digest(text + middle), {}
    for name, _, expression in _PARTS:
        found = [match[0] for match in expression.finditer(text)]
        if found:
            values[name] = _digest("\0".join(found))
            text = blanked(text, expression)
    group = groups[_digest(text + middle)]
    group.prompts.add(whole)
    for name, value in values.items():
        group.values[name].add(value)
    return group


def _finding(group: _Alike) -> VaryingPrompts | None:
    parts = [(name, written) for name, written, _ in _PARTS if len(group.values.get(name, ())) > 1]
    of_numbers = any(name == _NUMBER for name, _ in parts)
    if not parts or len(group.prompts) < (_LEAST_OF_NUMBERS if of_numbers else _LEAST):
        return None
    lines = [written for _, written in parts]
    if "time" in lines and "date" not in lines and _NAMES["date"] in group.values:
        # A clock behind a date is found once the date is left out, and tomorrow the date will be another one.
        lines.insert(0, "date")
    line = "" if of_numbers else f"ignore_in_system: [{', '.join(lines)}]"
    return VaryingPrompts(len(group.prompts), group.entries, tuple(name for name, _ in parts), line)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
