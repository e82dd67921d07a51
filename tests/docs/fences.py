"""Fenced blocks of Markdown pages, and what the words behind their language ask for."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*DOCS, *sorted(ROOT.glob("*.md")), ROOT / "deploy" / "README.md", ROOT / "notebooks" / "README.md"]
_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Fence:
    """A block; `output` is that of the `text output` block right behind it, in which `…` stands for anything."""

    page: Path
    line: int
    language: str
    words: frozenset[str]
    body: str
    output: str | None = None

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def fences(page: Path) -> list[Fence]:
    """Every block of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    matches = list(_FENCE.finditer(text))
    for match, following in itertools.zip_longest(matches, matches[1:]):
        language, _, words = match["info"].strip().partition(" ")
        told = following is not None and following["info"].strip() == "text output"
        output = following["body"] if told and not text[match.end() : following.start()].strip() else None
        line = text.count("\n", 0, match.start()) + 1
        found.append(Fence(page, line, language, frozenset(words.split()), match["body"], output))
    return found


def runnable(page: Path, language: str) -> list[Fence]:
    """The blocks of a page that are to be run."""
    return [fence for fence in fences(page) if fence.language == language and "no-run" not in fence.words]


def says(output: str, wanted: str) -> bool:
    """Whether `output` is what was promised, white space at the end aside."""
    pattern = ".*".join(re.escape(part) for part in wanted.rstrip().split("…"))
    return re.fullmatch(pattern, output.replace("\r", "").rstrip(), re.DOTALL) is not None
