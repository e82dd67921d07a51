"""The guard for what must match as written: code, files, flags, addresses, quoted strings, words that are spoken of.

Reads text that is not prose: "os.path.join", "main.py", "--graph", "C++", "B2", "6!", "color:red", "vitamin C",
what stands in quotes, and the operators of code and formulas, which must be the same wherever both texts have some.
It runs nothing and knows no programming language. Two different literals are a conflict. One that only one text has is
a conflict if it is code of which the other text has no part, else a doubt, unless it is all that tells them apart.
Invariant: a literal counts as shared when the other text spells it anywhere, whatever the punctuation.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards import entities, mention
from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.names import ALIASES
from semcache.request.code_parts import code_parts
from semcache.request.kinds.as_written import asks_of_letters
from semcache.request.kinds.given import given
from semcache.request.text import FEW, LIGHT, all_the_difference, differing, stem, stems, vocabulary
from semcache.request.text import read as read_text
from semcache.types import Conflict

_MAIL = r"[\w.+-]{1,64}@[\w-]+\.[\w.]+\w"


# What a model of a product is called behind its number: "phone 15 pro".
_EDITIONS = vocabulary("pro plus max mini ultra lite turbo air opus sonnet haiku flash nano fe xl")
_EDITION = rf"(?i:pro\ max|{'|'.join(sorted(_EDITIONS))})\b(?!\ ?\d)"


def _literal(start: str, address: str) -> re.Pattern[str]:
    """The pattern of what must match as written, tried where `start` allows."""
    return re.compile(
        rf"""{start}(?:
    (?P<quoted>"([^"\n]{{1,80}})"|“([^”\n]{{1,80}})”|(?<!\w)'([^'\n]{{1,80}})'(?!\w)|(?<!`)`+([^`\n]{{1,80}})`+)
    | (?P<address>{address})
    | (?P<path>(?<![\w/:.])/(?:[\w.-]{{1,80}}/)+[\w.-]*\w)
    | (?P<language>(?<!\w)(?i:c\+\+|c\#|f\#|\.net\b|objective-c\b|node\.js|next\.js|vue\.js))
    | (?P<flag>(?<![\w-])--?[a-z][\w-]{{1,30}}(?!\w))
    | (?P<call>\b[A-Za-z_][\w.]{{0,80}}\(\))
    | (?P<file>\b[\w-]{{1,80}}\.(?:py|js|ts|tsx|jsx|java|cpp|rb|rs|sh|sql|csv|json|ya?ml|xml|html|css|pdf|docx?|xlsx?
        |pptx?|txt|md|toml|ini|log|png|jpe?g|gif|svg|mp[34]|zip|exe|ipynb|env)\b)
    | (?P<code>\b[A-Za-z]\w*_\w+\b|\b[a-z]{{2,}}[A-Z]\w*\b|\b[a-z_]{{2}}\w*(?:\.[a-z_]{{2}}\w*)+\b|\b\w+(?:::\w+)+)
    | (?P<pattern>\b(?:[DMY]{{1,4}}[./-]){{2}}[DMY]{{1,4}}\b)
    | (?P<property>(?<![\w:])[a-z][a-z-]{{1,40}}:[a-z#][\w#.-]*(?!\S{{0,80}}[/:]))
    | (?P<factorial>(?<![\w.])\d+!(?=\ ?[a-z?]|\ [+*/=-]))
    | (?P<id>\b[A-Za-z]{{1,6}}-?\d[\w-]*|\b\d{{1,3}}[SXE]\b)
    | (?P<letter>\b(?i:plan|class|type|grade|option|section|part|schedule|form|language)\ (?:[A-HJ-Z]
      |[b-hj-z])\b(?!['+\#])
        |\b(?i:vitamin|hepatitis)\ [A-Za-z]\b|\b(?:in|using|with|learn)\ [CR]\b(?![+\#]))
    | (?P<edition>(?<=[a-z]\ \d\ )(?:{_EDITION})|(?<=[a-z]\ \d\d\ )(?:{_EDITION})|(?<=[a-z]\d\ )(?:{_EDITION}))
    )""",
        re.VERBOSE,
    )


_SITE = r'(?:https?://|www\.)[^\s<>"]+[\w/]'
_WITH_MAIL = _literal("", rf"{_SITE}|{_MAIL}")
# Without an "@" only quotes, sites and hyphens can begin inside a word, which spares most attempts.
_LITERAL = _literal(r"""(?:(?<!\w)|(?=["“`hw/-]))""", _SITE)
# Whether `_LITERAL` is worth the search. One set of characters comes first, so that the engine skips to them.
_MARKS = re.compile(
    r"""
    ["“`@_#+'.:(!/\dA-Z-](?:
      (?<=["“`@_#+]) | (?<=['.-])(?<!\w.) | (?<=[.:])(?<=\w.)(?=[a-z]) | (?<=\()(?=\)) | (?<=:)(?=:|//)
    | (?<=[a-z]:)(?=[a-z\#])
    | (?<=[./-])(?<=[DMY].)(?=[DMY])
    | (?<=/)(?<![\w/:.]/)(?=[\w.-])
    | (?<=\d!)(?=\ ?[a-z?+*/=-])
    | (?<=\d)(?:(?<=[A-Za-z].)|(?<=[A-Za-z]-.)|(?=[SXE]\b)) | (?<=[A-Z])(?<=[a-z].)
    )
    """,
    re.VERBOSE,
)
_LETTERED = vocabulary("vitamin plan class type grade option hepatitis section part schedule form language")
_LETTERS = frozenset("cr")
_IN_LETTER = re.compile(r"\b(?:in|using|with|learn) [CR]\b")
_NONE: dict[str, str] = {}
# Whether `_OPERATOR` is worth the search.
_OPERATING = re.compile(r"[+*^<>=|&~\\{}\u2264\u2265\u00d7\u00f7]|!!|!=|\?[:.?]\s|\s[-/]\s|\)[-/]|-[|(]|,[}\]]")
# A sign that prose has as well counts only where a formula would have it.
_OPERATOR = re.compile(
    r"""[<>=!]=+|[<>=^|&~\\{}\u2264\u2265\u00d7\u00f7]+|(?<=\s)(?:!!|\?[:.?])(?=\s)
    |(?<=[\w)\]|])(?:[+*]+|\ [+*]+\ )(?=[\w(\[|])|(?<=\))[-/](?=[\w(\[|])
    |(?:(?<=[)\]|])|(?<=\b[a-z]))\ [-/]\ (?=[\d(\[|]|[a-z](?![\w']))|(?<=\d)\ [-/]\ (?=[(\[|]|\d*[a-z](?![\w']))
    |(?<![\w)\]])-(?=[|(])|(?<=[\d}\])]),(?=[}\]])""",
    re.VERBOSE,
)
_NAMED, _SIGNED = re.compile(r"[\w\s,`]+"), re.compile(r"[\W_]+")
_FIRM = frozenset(("factorial", "property", "language", "flag", "call", "file", "code"))


class CodeReading(NamedTuple):
    """The code in a text: `literals` and their kinds, and `operators` in a row.

    `spoken` are the words that it speaks of, `given` is the text that it gives to be worked on. `signs` are those of
    its code parts without their names, and `names` the names. `by_letter` is True where it asks if a quote is right as
    it is written.
    """

    literals: dict[str, str]
    operators: tuple[str, ...]
    spoken: mention.Mention | None
    given: str | None
    signs: str = ""
    names: tuple[str, ...] = ()
    by_letter: bool = False


_NOTHING = CodeReading(_NONE, (), None, None)


class CodeGuard(ReadingGuard[CodeReading]):
    """Vetoes prompts that name different literals or operators; doubts those of which only one quotes something."""

    name = "code"

    def read(self, text: str) -> CodeReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, ours: CodeReading, theirs: CodeReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the literals and operators of both texts."""
        if ours.given is not None and theirs.given is not None and ours.given != theirs.given:
            return Conflict(self.name, "other texts are given to be worked on")
        return (
            self._operated(ours, theirs, query, cached)
            or self._spoken_of(ours, theirs, query, cached)
            or self._written(ours, theirs, query, cached)
        )

    def _operated(self, ours: CodeReading, theirs: CodeReading, query: str, cached: str) -> Conflict | None:
        """The finding where both texts have operators, or code with equal signs or names, and not the same."""
        if ours.operators and theirs.operators and ours.operators != theirs.operators:
            told = _told_in_words(ours.operators, theirs.operators) and len(differing(query, cached)) > FEW
            return Conflict(self.name, f"{' '.join(ours.operators)} / {' '.join(theirs.operators)}", not told)
        if ours.signs and theirs.signs and len(differing(query, cached)) <= FEW:
            if ours.signs != theirs.signs and ours.names == theirs.names:
                return Conflict(self.name, f"{ours.signs} / {theirs.signs}")
            left, right = _not_in(ours.names, cached), _not_in(theirs.names, query)
            if left and right:
                return Conflict(self.name, f"{' '.join(left)} / {' '.join(right)}")
        return None

    def _spoken_of(self, ours: CodeReading, theirs: CodeReading, query: str, cached: str) -> Conflict | None:
        """The finding where the texts speak of different words, and not both have all of them."""
        one, two = ours.spoken, theirs.spoken
        if one is None or two is None or not mention.differ(one, two):
            return None
        if read_text(cached).bag.issuperset(one.words) and read_text(query).bag.issuperset(two.words):
            return None
        return Conflict(self.name, f"spoken of: {' '.join(one.words)} / {' '.join(two.words)}")

    def _written(self, ours: CodeReading, theirs: CodeReading, query: str, cached: str) -> Conflict | None:
        """The finding where a literal of one text does not stand in the other."""
        one, two = ours.literals, theirs.literals
        if one == two or (ours.spoken is not None and ours.spoken == theirs.spoken):
            return None
        if ours.by_letter and theirs.by_letter and _quotes(one) != _quotes(two):
            return Conflict(self.name, f"{', '.join(_quotes(one))} / {', '.join(_quotes(two))}")
        left, right = _unshared(one, two, cached), _unshared(two, one, query)
        if not left and not right:
            return None
        firm = [word for word in left + right if one.get(word, two.get(word)) in _FIRM]
        veto = bool(left and right) or any(not _described(word, cached if left else query) for word in firm)
        detail = f"{', '.join(left) or 'nothing'} / {', '.join(right) or 'nothing'}"
        return Conflict(self.name, detail, veto or all_the_difference(query, cached, _pieces(left + right)))


def read(text: str) -> CodeReading:
    """The literals and operators of `text`."""
    words = read_text(text)
    bag, raw = words.bag, words.raw
    lettered = not bag.isdisjoint(_LETTERED | _EDITIONS) or (
        not bag.isdisjoint(_LETTERS) and _IN_LETTER.search(raw) is not None
    )
    literals = _literals(raw) if lettered or _MARKS.search(raw) is not None else _NONE
    operators = () if _OPERATING.search(raw) is None else tuple(match[0].strip() for match in _OPERATOR.finditer(raw))
    spoken, worked_on = mention.read(words), given(text)
    parts = " ".join(code_parts(raw))
    signs, names = _NAMED.sub("", parts), tuple(_SIGNED.sub(" ", parts).lower().split())
    by_letter = "quoted" in literals.values() and asks_of_letters(text)
    found = CodeReading(literals, operators, spoken, worked_on, signs, names, by_letter)
    return found if literals or operators or spoken or worked_on or signs else _NOTHING


def _literals(raw: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in (_WITH_MAIL if "@" in raw else _LITERAL).finditer(raw):
        kind, text = match.lastgroup, match[0].lower()
        if kind == "code" and text in ALIASES:
            continue
        if kind == "quoted":
            text = text.strip("\"'“”` ").rstrip(".,;:!? ")
        elif kind == "letter" and text.startswith(("in ", "using ", "with ", "learn ")):
            text = f"language {text[-1]}"
        elif kind == "id":
            text = text.replace("-", "").replace("_", "")
        found[text] = kind or ""
    found.pop("", None)
    return found


def _not_in(names: tuple[str, ...], other: str) -> list[str]:
    """The names of code that do not stand in the other text."""
    words = frozenset(_SIGNED.sub(" ", other).lower().split())
    return [name for name in names if name not in words]


def _quotes(literals: dict[str, str]) -> list[str]:
    return [text for text, kind in literals.items() if kind == "quoted"]


def _told_in_words(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return True if one text has all operators of the other in this order, and words may stand for the rest."""
    short, long = sorted((one, two), key=len)
    left = iter(long)
    return all(sign in left for sign in short)


def _described(literal: str, other: str) -> bool:
    """Return True if the other text has a part of this name of code as a word: "the dump" for "pg_dump"."""
    found = stems(other) - LIGHT
    parts = [part for part in re.split(r"[\W_]+", literal) if part]
    if len(parts) > 1 and any(len(part) > 2 and stem(part) in found for part in parts):
        return True
    words = tuple(word for word in found if len(word) > 3)
    return any(part.startswith(words) or part.endswith(words) for part in parts)


def _unshared(literals: dict[str, str], others: dict[str, str], other: str) -> list[str]:
    """The literals of one text that the other does not spell anywhere."""
    return sorted(word for word in literals.keys() - others.keys() if not _is_spelt(word, literals[word], other))


def _is_spelt(literal: str, kind: str, other: str) -> bool:
    """Return True if the other text spells this literal, whatever the punctuation."""
    words = read_text(other)
    if ALIASES.get(literal) in entities.read(other).known:
        return True
    if literal[-2:-1] == " " and literal[-1] in words.bag and literal[-1] not in "ai":
        return True
    if literal.endswith("!"):
        return False
    if kind == "path":
        return re.search(rf"{re.escape(literal)}(?![\w/.-])", words.lower) is not None
    squeezed = re.sub(r"[\W_]+", "", literal)
    if kind in ("id", "edition"):
        if _stands(squeezed, words.words):
            return True
    elif len(squeezed) > 1 and squeezed in "".join(words.words).replace("_", ""):
        return True
    pieces = literal.split()
    return len(pieces) > 3 and sum(stem(piece) in stems(other) for piece in pieces) >= 0.7 * len(pieces)


def _stands(squeezed: str, words: tuple[str, ...]) -> bool:
    """Return True if words in a row end in this one, written apart or not: "gpt 4" for "gpt4", and not "gpt 4o"."""
    for place, word in enumerate(words):
        joined = word
        for other in (*words[place + 1 : place + 4], ""):
            if joined.endswith((squeezed, squeezed + "s", squeezed + "'s")):
                return True
            if not squeezed.startswith(joined):
                break
            joined += other
    return False


def _pieces(literals: list[str]) -> list[str]:
    return [piece for literal in literals for piece in re.split(r"[\W_]+", literal) if piece]
