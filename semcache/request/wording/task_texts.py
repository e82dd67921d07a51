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
# Before a colon any of these words tells; a line of its own has to begin with one, or to point at what follows.
_BEFORE_COLON = re.compile(
    rf"(?=[^:\n]*\b(?:{_ON_TEXT}|{_OF_TEXT})\b)[^:\n]{{2,240}}?[ ]?:(?=\s|[\"'A-Za-z\u00c0-\uffff])", re.IGNORECASE
)
_OPENS = rf"(?:(?:please|kindly|can you|could you|would you|will you) )*(?:{_ON_TEXT})\b"
_LINE_BEFORE = re.compile(
    rf"(?:{_OPENS}[^\n]{{0,240}}?|[^\n]{{0,240}}?\b(?:following|below|this (?:{_OF_TEXT})))[ .]*(?=\n)", re.IGNORECASE
)


def parted(text: str) -> tuple[str, str] | None:
    r"""The head of a task, up to the text that it is about, and that text; None for a prompt that holds none.

    >>> parted("make this polite: send it please")
    ('make this polite: ', 'send it please')
    """
    if ":" not in text and "\n" not in text:
        return None
    text = text.strip()
    match, gap = _BEFORE_COLON.match(text), " "
    if match is None or text[match.end() :].lstrip(" \t")[:1] == "\n":
        match, gap = match or _LINE_BEFORE.match(text), "\n"
    given = text[match.end() :].strip() if match is not None else ""
    return (match[0].rstrip() + gap, given) if match is not None and given else None
