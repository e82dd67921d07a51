"""The text that a task is about: what stands behind "translate to German:", "make this polite:", "is this polite?".

It is material and no request, so each of its words, marks and capitals may be what the answer turns on. Invariant: the
head, with the mark that ends it, and the text together are the prompt, but for blanks between and around them.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.listed import listed
from semcache.request.wording.worked_on import text_begins, text_ends

_DONE_TO = vocabulary("""
    edit polish shorten simplify condense expand elaborate punctuate pronounce spell respond reply
    repeat reverse extract
    continue complete finish critique evaluate rate review correct fix remove replace count convert make turn format
    tokenize parse annotate label detect identify say read check lowercase uppercase rewrote
    """)
_STEMS = (
    "translat", "transliterat", "rewrit", "rephras", "paraphras", "reword", "proofread", "improv", "summar", "classif",
    "categoris", "categoriz", "transcrib", "punctuat", "capitalis", "capitaliz", "analys", "analyz",
)  # fmt: skip
_KINDS = vocabulary("""
    word letter character syllable sentence phrase paragraph text passage email e-mail message tweet review essay quote
    line poem comment caption headline title typo error mistake filler
    """)
_OF_TEXT = frozenset([*_KINDS, *(f"{kind}s" for kind in _KINDS)]) | vocabulary("""
    lyrics sentiment tone polite politely politeness formal formally rude grammar grammatical grammatically spelling
    punctuation meaning mean means following below correct wrong tldr improvement
    """)
_LONGEST = 240  # characters before the text
_COLON = re.compile(r":(?=\s|[\"'A-Za-z\u00c0-\uffff])")
_WORDS = re.compile(r"(?<![\w.-])[a-z]+(?:-[a-z]+)*(?![\w.(-])")
_CODED = re.compile(r"[(){}\[\]=<>;\\]|\w_\w")
_INDENTED = re.compile(r"[ \t]*\n(?: {2}|\t)")
_POLITE = re.compile(r"(?:(?:please|kindly|can you|could you|would you|will you) )*([a-z]+)\b", re.IGNORECASE)


def parted(text: str) -> tuple[str, str] | None:
    r"""The head of a task, up to the text that it is about, and that text; None for a prompt that holds none.

    >>> parted("make this polite: send it please")
    ('make this polite: ', 'send it please')
    """
    if (found := listed(text)) is not None:
        return found
    start = text[: _LONGEST + 1]
    if begins := text_begins(text.lstrip()):
        text = text.strip()
        return f"{text[:begins].rstrip()} ", text[begins:]
    if ":" not in start and "\n" not in start:
        return None
    text = text.strip()
    line = text[: _LONGEST + 1].partition("\n")[0]
    # Before a colon any word of such a task tells.
    if (mark := _COLON.search(text, 0, len(line) + 1)) is not None and mark.start() <= len(line):
        head = text[: mark.start()]
        if ":" not in head and _CODED.search(head) is None and any(map(_tells, _WORDS.findall(head.lower()))):
            given = text[mark.end() :]
            if _INDENTED.match(given):
                return None
            gap = "\n" if given.lstrip(" \t").startswith("\n") else " "
            return (f"{head.rstrip()}:{gap}", given.strip()) if given.strip() else None
    if (
        len(line) > _LONGEST
        or len(line) == len(text)
        or ":" in line
        or _CODED.search(line) is not None
        or not _points(line)
    ):
        return None
    return f"{line.rstrip()}\n", text[len(line) :].strip()


def worked_on(text: str) -> str | None:
    """The text that the first or the last sentence of a prompt works on, without a colon; None for another prompt.

    >>> worked_on("Is this polite? Send it.")
    'Send it.'
    """
    text = text.strip()
    if (begins := text_begins(text)) > 0:
        return text[begins:]
    return text[:ends] if (ends := text_ends(text)) > 0 else None


def _tells(word: str) -> bool:
    return word in _OF_TEXT or _is_done(word)


def _is_done(word: str) -> bool:
    return word in _DONE_TO or word.startswith(_STEMS)


def _points(line: str) -> bool:
    """Return True for a line that begins with what is done to a text, or ends with words for the text that follows."""
    if (match := _POLITE.match(line)) is not None and _is_done(match[1].lower()):
        return True
    *before, last = line.lower().rstrip(" .").split(" ")
    return last in ("following", "below") or (before[-1:] == ["this"] and last in _OF_TEXT)
