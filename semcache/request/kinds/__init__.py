"""The kinds of a prompt: it holds a secret, is about its sender, about this moment, or wants something new.

Knows words and patterns, nothing of requests or policy. Of a long document the two ends are read, for the question
stands at one of them: every pattern at every word of a megabyte would take seconds. Secrets are sought all through.
Invariant: when in doubt a text is of a kind, for a needless call costs money and a wrong answer costs trust; yet a
general how-to question that merely says "my" is not personal.

No pattern of this package tries two ways to read the same white space or punctuation, or looks ahead without end: a
text could be made of that.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.kinds import by_language, creative, live, personal, standing
from semcache.request.kinds.direct import direct
from semcache.request.kinds.given import is_problem, without_given
from semcache.request.kinds.patterns import SENTENCES, words_of
from semcache.request.secrets import fold, has_secret
from semcache.runtime.scoped_memo import scoped_cache

_READINGS = 2048  # remembered texts; with LONGEST it bounds the memory, to some 20 MB of ASCII
LONGEST = 8192  # characters: a longer text is not remembered, and is read at its ends


class Kinds(NamedTuple):
    """The kinds that a text is of, whatever its category allows."""

    secret: bool
    personal: bool
    live: bool
    creative: bool


_QUOTED = re.compile(r""""[^"]{1,300}"|(?<!\w)'(?:[^'"]|(?<=\w)'(?=\w)){1,300}'(?!\w)""")
# What is to be edited says nothing about now, though no quotation marks stand around it.
_EDITED = re.compile(
    r"(?:\W*+\w++){0,6}?\W*+\b(?:proofread\w*|grammar|spelling|rephras\w+|rewrite|rewrit\w+|reword\w*|paraphras\w+"
    r"|translate|correct(?! me\b)|fix this sentence)\b[^:>\n]{0,40}(?::|->)\s*+(?=\w|['\"])"
)
_LEAST_WORDS = 3
_SHORT = 60  # characters of a question at the end that is read by itself
_DIGIT = re.compile(r"\d")
_OF_ANY = re.compile(r"(?:why|how|what is the)\b")
_SECRET = Kinds(True, False, False, False)


def kinds(text: str, *, whole: int | None = None) -> Kinds:
    """The kinds of `text`, remembered for the next look; of a secret nothing else is said, nor kept.

    A text of more than `whole` characters (and more than `LONGEST`) is read at its two ends; None: all of any is read.
    """
    try:
        return _remembered(text) if len(text) <= LONGEST else _read(text, whole)
    except _SecretError:
        return _SECRET


class _SecretError(Exception):
    """Raised past the memo, which keeps no text that raises."""


def _read(text: str, whole: int | None = None) -> Kinds:
    if has_secret(text):
        raise _SecretError
    written, asked, bag = _asked(text if whole is None or len(text) <= whole else ends(text))
    about = not is_problem(asked, bag)  # its sender or this moment, as no problem is
    return Kinds(
        secret=False,
        personal=about and _is_of_the_sender(written, asked, bag),
        live=about and _is_of_the_moment(written, asked, bag),
        creative=creative.applies(written, words_of(written)),
    )


_remembered = scoped_cache(maxsize=_READINGS)(_read)


def _asked(text: str) -> tuple[str, str, frozenset[str]]:
    """The folded text without what it quotes or gives to be worked on, what it asks directly, and the words of that."""
    written = _written(text)
    asked = direct(written)
    return written, asked, words_of(asked)


def _written(text: str) -> str:
    return without_given(unquoted(fold(text.replace("\u2019", "'"))))


def _is_of_the_sender(written: str, asked: str, bag: frozenset[str]) -> bool:
    if personal.applies(asked, bag) or by_language.is_of_the_sender(asked, bag):
        return True
    if asked.endswith("?") and _DIGIT.search(asked) is None:  # "I sat it on Monday. Did I pass?"
        last = SENTENCES.split(asked)[-1]
        if len(last) <= _SHORT and personal.applies(last, words_of(last)):
            return True
    # "Tell me why my application was refused" would be an order to tell something of a record.
    return written != asked and _OF_ANY.match(asked) is None and personal.applies(written, words_of(written))


def _is_of_the_moment(written: str, asked: str, bag: frozenset[str]) -> bool:
    if live.applies(asked, bag) or by_language.is_of_the_moment(asked, bag):
        return True
    return written != asked and live.applies(written, words_of(written))


def is_personal(text: str) -> bool:
    """Return True if the answer depends on the records of the person who asks."""
    written, asked, bag = _asked(ends(text))
    return _is_of_the_sender(written, asked, bag) and not is_problem(asked, bag)


def is_live(text: str) -> bool:
    """Return True if the answer depends on the moment of asking."""
    written, asked, bag = _asked(ends(text))
    return _is_of_the_moment(written, asked, bag) and not is_problem(asked, bag)


def is_standing(text: str) -> bool:
    """Return True if the answer holds on any day: opening hours, set times, price lists."""
    return standing.applies(*_asked(ends(text))[1:])


def is_historical(text: str) -> bool:
    """Return True if a date of history is asked for, or something of a year that is named."""
    return standing.is_of_history(_asked(ends(text))[0])


def is_creative(text: str) -> bool:
    """Return True if something new is wanted each time."""
    written = _written(ends(text))
    return creative.applies(written, words_of(written))


def unquoted(folded: str) -> str:
    """A folded text without what it quotes, or gives to be edited; as it is where little else is left."""
    if (":" in folded or "->" in folded) and (edit := _EDITED.match(folded)) is not None:
        return edit[0]
    if folded.count('"') < 2 and folded.count("'") < 2:
        return folded
    rest = _QUOTED.sub(" ", folded)
    return rest if rest.count(" ") >= _LEAST_WORDS else folded


def ends(text: str) -> str:
    """The part of a text that is read: the first and the last half of `LONGEST` characters, where it has more."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}"
