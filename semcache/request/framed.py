"""Prompts that give material and ask about it: finds the part of the text that is the question.

A retrieval template puts passages around a question ("Context: ... Question: ..."); a user pastes an article and says
what to do with it, or tells at length what happened and then asks. The answer follows from both. So the text around the
question has to be equal to the letter, like a system prompt, and only the question is compared by meaning. Pure.
Invariant: `before`, the question and `after` are the text in its order, with nothing left out. Finding another part
than the intended one costs hits, but serves nothing wrong.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from semcache.request.characters import LONGEST
from semcache.request.kinds.patterns import WORKS_ON_TEXT
from semcache.types import Frame

_AROUND = "around"
_SHORTEST = 50  # characters of a prompt that is split
_LEAST = 6  # words around a question that has a label
_MATERIAL = 40  # words beside a question that has none
_STORY = 60  # words before a question that is the last sentence of what is told
_LONGEST = 400  # characters of a question that has none
_SHOWN = 1000
_ENDS = 400  # characters at either end of what stands around a question, where instructions stand

_NAME = (
    r"(?:(?:the|user'?s?|my|customer'?s?|human|follow[- ]?up|final|current|new|original|search|actual)[ _-]+)?"
    r"(?:question|query|q|task|instruction|request|frage|pregunta|domanda|pergunta|vraag|问题|質問|질문|вопрос)"
)
_GAP = r"[ \t]*+(?:\n[ \t]*+)?(?=\S)"
# Who asks: a system prompt within the message, and what the user says to it.
_SPEAKER = r"(?:(?:the|end)[ _-]+)?(?:user|customer|client|human|visitor)(?:'?s?[ _-]+(?:message|input|says|asks))?"
# What an answer is to be taken from, where it is named.
_SOURCE = re.compile(
    r"(?im)^[ \t>]*+(?:[*_]*+(?:the[ _-]+)?(?:context|documents?|passages?|sources?|texts?|articles?|excerpts?"
    r"|paragraphs?|knowledge(?:[ _-]base)?|facts|notes?|search[ _-]results?|data|transcript)"
    r"(?:[ _-]?\d+)?[*_]*[ \t]*+[:：]"
    r"|#{1,6}[ \t]++(?:context|documents?|passages?|sources?|text|article|knowledge base|search results?)\b"
    r"|<(?:context|documents?|passages?|sources?|text|article)\b)"
)
# A line that begins with the label or is a heading of it, a tag, or the label behind the end of a sentence.
_LABEL = re.compile(
    rf"(?im)^[ \t>]*+(?:[*_]*+{_NAME}[*_]*[ \t]*+[:：][*_]*+|#{{1,6}}[ \t]++{_NAME}[ \t]*+[:：]?){_GAP}|<{_NAME}>{_GAP}"
    r"|(?<=[.!?\"')\]])[ \t]++(?-i:Question|Query|QUESTION|QUERY)[ \t]*+:[ \t]*+(?=\S)"
    rf"|^[ \t>]*+[*_]*+{_SPEAKER}[*_]*[ \t]*+[:：][*_]*+{_GAP}"
)
# A blank line, or the beginning of another part of the template.
_END = re.compile(
    r"\n[ \t]*+(?=\n|(?:[>*_#]+[ \t]*+)?[^\W\d_][\w' -]{0,40}[*_]*[:：]|<|```|---|#)|</"
    r"|(?<=\S)[ \t]++(?=(?:Helpful |Final |Your )?(?:Answer|ANSWER|Response|A)[ \t]*+:\s*+\Z)|\Z"
)
_CUE = re.compile(r"[\s#*<>/:：]*+(?:[\w'-]++[\s#*<>/:：]*+){0,4}+\Z")  # "Helpful answer:", "</question>"
_BLANK = re.compile(r"\n[ \t]*+\n\s*+")
_STOP = re.compile(r"(?<=[a-z\d)\"'][.!?])[\"')]*+[ \t\n]++(?=[A-Z\"'])")
_SHORTENED = re.compile(r"(?<=\w)['\u2019](m|re|ve|ll)\b|(?<!\bca)(?<!\bwo)(?<!\bsha)(?<=\w)n(?:'|\u2019)t\b")
_IN_FULL = {"m": " am", "re": " are", "ve": " have", "ll": " will", None: " not"}
_ASKING = re.compile(
    r"(?i)\W*(?:(?:please|now|can you|could you|(?:based on|using|given) (?:this|the above)\S*)\s+)*"
    rf"(?:{WORKS_ON_TEXT}|sum up|explain|describe|list|find|tell|give|write|answer|compare|review|name|what|who|when"
    r"|where|why|how|which|is|are|was|were|does|do|did|can|could|should|will|would|has|have)\b"
)


class Framed(NamedTuple):
    """The question of a prompt, and what stands around it."""

    question: str
    frame: Frame


def split(text: str) -> Framed | None:
    """A prompt in its parts; None for one that is to be compared as a whole, or not at all for its length."""
    if not _SHORTEST <= len(text) <= LONGEST:
        return None
    return _labelled(text) or _beside_material(text) or _behind_story(text)


def _labelled(text: str) -> Framed | None:
    *_, label = [None, *_LABEL.finditer(text)]
    if label is None:
        return None
    end = _END.search(text, label.end())
    assert end is not None  # every text ends
    question = text[label.end() : end.start()].rstrip()
    before, after = text[: label.end()], text[label.end() + len(question) :]
    if not question or len(before[: label.start()].split()) + len(after.split()) < _LEAST:
        return None
    return Framed(question, Frame(before, after, last=_CUE.match(after) is not None))


def _beside_material(text: str) -> Framed | None:
    """A question that is the last paragraph or the first line, beside much else."""
    end = len(text.rstrip())
    *_, above = [None, *_BLANK.finditer(text, max(0, end - _LONGEST - 2), end)]
    if above is not None:
        cut = above.end()
        if _asks(text[cut:end]) and len(text[:cut].split()) >= _MATERIAL:
            return Framed(text[cut:end], Frame(text[:cut], text[end:]))
    first = text.find("\n")
    if first > 0 and text[first - 1] in ":?." and _asks(text[:first]) and len(text[first:].split()) >= _MATERIAL:
        return Framed(text[:first], Frame("", text[first:]))
    return None


def _behind_story(text: str) -> Framed | None:
    """A question that is the last sentence behind much that is told: it is compared better without."""
    end = len(text.rstrip())
    if text[end - 1 : end] != "?":
        return None
    *_, stop = [None, *_STOP.finditer(text, max(0, end - _LONGEST), end)]
    if stop is None or len(text[: stop.end()].split()) < _STORY:
        return None
    return Framed(text[stop.end() : end], Frame(text[: stop.end()], text[end:]))


def _asks(part: str) -> bool:
    return len(part) <= _LONGEST and "\n" not in part and (part.endswith("?") or _ASKING.match(part) is not None)


def has_material(frame: Frame) -> bool:
    """Return True if an answer is to be taken from what stands around the question."""
    around = f"{frame.before}\n{frame.after}"
    return len(around.split()) >= _MATERIAL or _SOURCE.search(around) is not None


def named_source(frame: Frame) -> str | None:
    """The text around a question, if it is named as what to answer from and nothing is asked behind it; else None."""
    around = f"{frame.before}\n{frame.after}"
    return around if frame.last and _SOURCE.search(around) is not None else None


def placeholder(frame: Frame) -> dict[str, list[str]]:
    """The content that stands in an identity in place of one whose question was taken out."""
    return {_AROUND: [frame.before, frame.after]}


def tidied(frame: Frame) -> Frame:
    """The frame without blank lines, contractions and white space at the ends of lines. Indentation may be code's."""
    return Frame(_tidy(frame.before), _tidy(frame.after))


def _tidy(text: str) -> str:
    lines = "\n".join(filter(None, map(str.rstrip, text.split("\n"))))
    return _SHORTENED.sub(lambda match: _IN_FULL[match[1]], lines)


def frame_of(content: Any) -> Frame | None:
    """The frame that a placeholder in an identity stands for; None for any other content."""
    return Frame(*content[_AROUND]) if isinstance(content, dict) and _AROUND in content else None


def shown(frame: Frame | None, question: str) -> str:
    """The question as a language model reads it, with the nearest `_SHOWN` characters of what stands around it."""
    if frame is None:
        return question
    before, after = frame.before[-_SHOWN:], frame.after[:_SHOWN]
    return f"{'[...] ' * (before != frame.before)}{before}{question}{after}{' [...]' * (after != frame.after)}"


def instruction(frame: Frame) -> str:
    """The ends of a frame: where it says what is to be done with a question, it says so there."""
    return "\n".join(
        [part for text in (frame.before, frame.after) for part in (text[:_ENDS], text[_ENDS:][-_ENDS:]) if part]
    )
