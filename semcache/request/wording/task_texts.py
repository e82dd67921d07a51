"""The text that a task is about: what stands behind "translate to German:", "make this polite:", "count the words in:".

It is material and no request, so each of its words, marks and capitals may be what the answer turns on. Invariant: the
head, with the mark that ends it, and the text together are the prompt, but for blanks between and around them.
"""

from __future__ import annotations

import re

_ON_TEXT = (
    r"translat\w*|transliterat\w*|rewrit\w*|rewrote|rephras\w*|paraphras\w*|reword\w*|proofread\w*|edit|polish"
    r"|improv\w*|shorten|simplify|summar\w*|condense|expand|elaborate|classif\w*|categori[sz]\w*|transcrib\w*|punctuat\w*"
    r"|capitali[sz]\w*|lowercase|uppercase|pronounce|spell|respond|reply|repeat|reverse|extract|continue|complete|finish"
    r"|analy[sz]e|critique|evaluate|rate|review|correct|fix|remove|replace|count|convert|make|turn|format|tokenize|parse"
    r"|annotate|label|detect|identify|say|read|check"
)
_OF_TEXT = (
    r"words?|letters?|characters?|syllables?|sentences?|phrases?|paragraphs?|texts?|passages?|emails?|e-mails?|messages?"
    r"|tweets?|reviews?|essays?|quotes?|lines?|poems?|lyrics|comments?|captions?|headlines?|titles?|typos?|errors?"
    r"|mistakes?|fillers?|sentiment|tone|polite|politely|politeness|formal|formally|rude|grammar|grammatical"
    r"|grammatically|grammatical|spelling|punctuation|meaning|means?|following|below|correct|wrong|tl;?dr|improvement"
)
_LONGEST = 240  # characters before the text
# Before a colon any of these words tells; a line of its own has to begin with one, or to point at what follows.
_TOLD = re.compile(rf"\b(?:{_ON_TEXT}|{_OF_TEXT})\b", re.IGNORECASE)
_COLON = re.compile(r":(?=\s|[\"'A-Za-z\u00c0-\uffff])")
_LINE = re.compile(
    rf"(?:(?:please|kindly|can you|could you|would you|will you) )*(?:{_ON_TEXT})\b"
    rf"|.*\b(?:following|below|this (?:{_OF_TEXT}))[ .]*$",
    re.IGNORECASE,
)


def parted(text: str) -> tuple[str, str] | None:
    r"""The head of a task, up to the text that it is about, and that text; None for a prompt that holds none.

    >>> parted("make this polite: send it please")
    ('make this polite: ', 'send it please')
    """
    start = text[: _LONGEST + 1]
    if ":" not in start and "\n" not in start:
        return None
    text = text.strip()
    line = text[: _LONGEST + 1].partition("\n")[0]
    if (mark := _COLON.search(text, 0, len(line) + 1)) is not None and mark.start() <= len(line):
        head = text[: mark.start()]
        if ":" not in head and _TOLD.search(head) is not None:
            given = text[mark.end() :]
            gap = "\n" if given.lstrip(" \t").startswith("\n") else " "
            return (f"{head.rstrip()}:{gap}", given.strip()) if given.strip() else None
    if len(line) > _LONGEST or len(line) == len(text) or ":" in line or _LINE.match(line) is None:
        return None
    return f"{line.rstrip()}\n", text[len(line) :].strip()
