"""Mathematical expressions in one writing: "12 multiplied by 7", "12×7" and "12 * 7".

Reads numbers, variables of one letter, operators and the words for them, and calculates nothing. Invariant: operands
and operators keep their order, and what can be read in two ways ("the square root of 9 plus 16") is no expression.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.text import vocabulary

_LONGEST = 160  # characters
_DEEPEST = 8  # brackets
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[$\u20ac\u00a3]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[$\u20ac\u00a3]?\.\d+)
    | (?P<word>[^\W\d_\u00b2\u00b3]+)
    | (?P<sign>\*\*|[-+*/^()=%!\u2212\u2013\u00d7\u00f7\u00b7\u221a\u00b2\u00b3])
    )""",
    re.VERBOSE,
)
_SIGNS = {"**": "^", "\u2212": "-", "\u2013": "-", "\u00d7": "*", "\u00b7": "*", "\u00f7": "/"}
_RAISED = {"\u00b2": "2", "\u00b3": "3", "squared": "2", "cubed": "3"}
_PHRASES = tuple(
    (re.compile(rf"(?<![^\W_]){pattern}(?![^\W_])", re.IGNORECASE), plain)
    for pattern, plain in (
        (r"(?:multiplied by|times)", "*"),
        (r"divided by", "/"),
        (r"plus", "+"),
        (r"minus", "-"),
        (r"(?:raised )?to the power(?: of)?", "^"),
        (r"per ?cent", "%"),
        (r"(?:the )?square root of", "\u221a"),
    )
)
_BETWEEN_NUMBERS = re.compile(r"(?<=\d) x (?=\d)", re.IGNORECASE)
# A blank before a variable tells that it does not stand under the fraction: "1/2 x", but "1/2x".
_BESIDE_FRACTION = re.compile(r"(/ ?\d+(?:\.\d+)?) (?=[bcf-hj-np-z](?![^\W_]))", re.IGNORECASE)
_TIGHT = re.compile(r"\d+(?:[-/\u2013]\d+)+")
_FUNCTIONS = vocabulary("sin cos tan cot sec csc log ln exp sqrt arcsin arccos arctan sinh cosh tanh")
_LETTERS = "bcfghjklmnpqrstuvwxyz"
_VARIABLES = frozenset(_LETTERS + _LETTERS.upper())


class Expression(NamedTuple):
    """An expression in its one writing, the variables in it, and if any operation stands in it.

    `written_tight` tells that it is nothing but whole numbers with "-" or "/" close between them, as dates,
    names and scores have them ("9/11", "24/7").
    """

    text: str
    variables: frozenset[str]
    operates: bool
    written_tight: bool


def expression(text: str) -> Expression | None:
    """The expression that this whole text is; None for another text.

    >>> expression("12 multiplied by 7").text
    '12 * 7'
    """
    text = text.strip()
    if len(text) > _LONGEST or text.count("(") > _DEEPEST:
        return None
    tight = _TIGHT.fullmatch(text) is not None
    for pattern, plain in _PHRASES:
        text = pattern.sub(plain, text)
    tokens = _tokens(_BESIDE_FRACTION.sub(r"\1 * ", _BETWEEN_NUMBERS.sub(" * ", text)))
    if not tokens:
        return None
    reading = _Reading(tokens)
    if not reading.whole():
        return None
    inner = _Reading(tokens[1:-1])
    if tokens[0] == "(" and inner.whole():
        # The same in brackets.
        reading = inner
    return Expression(reading.written(), frozenset(reading.variables), reading.operates, tight)


def _tokens(text: str) -> list[str] | None:
    """The tokens of a text; None where something else stands in it."""
    found: list[str] = []
    done = 0
    while done < len(text):
        match = _TOKEN.match(text, done)
        if match is None:
            return None
        done = match.end()
        if number := match["number"]:
            found.append(_plain(number.replace(",", "")))
        elif sign := match["sign"]:
            found.append(_SIGNS.get(sign, sign))
        else:
            word = match["word"]
            found.append(word if len(word) == 1 else word.lower())
    return found


def _plain(number: str) -> str:
    """A number as it is mostly written: "0.5" for ".5", "7" for "7.0"."""
    sign, digits = ("", number) if number[0].isdigit() or number[0] == "." else (number[0], number[1:])
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return f"{sign}0{digits}" if digits.startswith(".") else sign + digits


class _Reading:
    """A reading of tokens by the grammar of expressions; writes them as it goes.

    `whole` must have been called, and have returned True, before the rest means anything.
    """

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._written: list[str] = []
        self._counts = False  # what was read last is a number, and no exponent
        self.variables: set[str] = set()
        self.operates = False

    def whole(self) -> bool:
        """Read all tokens as one expression; False if they are none."""
        return self._sum() and self._at == len(self._tokens)

    def written(self) -> str:
        """The expression in its one writing."""
        return "".join(self._written)

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, written: str) -> bool:
        self._at += 1
        self._written.append(written)
        return True

    def _sum(self) -> bool:
        if self._next() == "-" and not self._take("-"):
            return False
        if not self._product():
            return False
        while (sign := self._next()) in ("+", "-"):
            self.operates = True
            self._take(f" {sign} ")
            if not self._product():
                return False
        return True

    def _product(self) -> bool:
        if not self._power():
            return False
        while (sign := self._goes_on()) is not None:
            self.operates = True
            self._written.append(sign)
            if not self._power():
                return False
        return True

    def _goes_on(self) -> str | None:
        """The sign by which a product goes on, read and not yet written; None where it ends.

        There is none between the parts of 2x, and "2 * x" is the same.
        """
        before, sign = self._tokens[self._at - 1], self._next()
        if sign == "of" and before == "%":
            self._at += 1
            return " of "
        if sign == "/":
            self._at += 1
            return " / "
        if sign == "*":
            divides = self._at > 1 and self._tokens[self._at - 2] == "/"
            self._at += 1
            return "" if self._counts and self._next() in _VARIABLES and not divides else " * "
        if sign in _VARIABLES:
            return "" if self._counts else None
        if sign in _FUNCTIONS:
            return " * "
        return " * " if sign == "(" and (self._counts or before == ")") else None

    def _power(self) -> bool:
        if not self._atom():
            return False
        while (one := self._next()) in _RAISED or one in ("^", "%"):
            self._counts = False
            if one == "%":
                return self._take("%")
            self.operates = True
            if one in _RAISED:
                self._take("^" + _RAISED[one])
                continue
            self._take("^")
            if self._next() == "-":
                self._take("-")
            if not self._atom():
                return False
            self._counts = False
        return True

    def _atom(self) -> bool:
        one = self._next()
        if not one:
            return False
        self._counts = one[-1].isdecimal()
        if one == "(":
            self._take("(")
            closed = self._sum() and self._next() == ")" and self._take(")")
            self._counts = False
            return closed
        if one in _FUNCTIONS or one == "\u221a":
            return self._function("sqrt" if one == "\u221a" else one)
        if one in _VARIABLES:
            self.variables.add(one)
            return self._take(one)
        return (one == "e" or self._counts) and self._take(one)

    def _function(self, name: str) -> bool:
        """A function and what it is of: in brackets, a number or variable, or a number times a variable ("sin 2x").

        What a root in words goes on with may stand under it or not, so that nothing may follow.
        """
        rooted = self._tokens[self._at] == "\u221a"
        self.operates = True
        self._take(name)
        if self._next() == "of":
            self._at += 1
        if self._next() == "(":
            return self._atom()
        self._written.append("(")
        if self._next() in _FUNCTIONS or not self._atom():
            return False
        if self._next() in _VARIABLES and self._counts:
            self._atom()
        self._counts = False
        self._written.append(")")
        follows = self._next()
        return not follows or (not rooted and follows in ("+", "-", "*", "/", ")"))
