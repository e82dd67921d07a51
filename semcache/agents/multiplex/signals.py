"""Numeric signals of a request before it is answered, and of an answer once it is there.

Cheap and the same for every language model; knows nothing of what is made of the numbers. Pure.
Invariant: `of_request` gives `len(REQUEST)` and `of_answer` `len(ANSWER)` finite numbers for any texts, in time linear
in their first `HEAD` characters.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semcache.runtime.scoped_memo import scoped_cache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Vector

    Array = NDArray[np.float64]

HEAD = 6000  # characters of a text that are looked at
REQUEST = ("length", "figures", "sentences", "lines", "code", "relations")
ANSWER = (
    "closed",  # 1: it ends as a text ends
    "concluded",  # 1: it names its result on a line of its own, or says "the answer is"
    "false_sums",  # ln(1 + equations in it that do not hold)
    "sums",  # ln(1 + equations in it that can be checked)
    "unused",  # ln(1 + numbers of the request that it does not mention)
    "unused_share",
    "new_numbers",  # ln(1 + numbers that the request lacks)
    "answer_length",
    "proportion",  # its length to that of the request, at most 20
    "hedges",  # 1: it doubts, corrects or excuses itself
    "fraction",  # 1: the result it names is no whole number
    "echo",  # 1: the result it names stands in the request
    "last_sum",  # 1: the result it names is that of its last equation
    "relevance",  # cosine similarity of request and answer, 0 where it is unknown
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_RELATION = re.compile(r"\b(?:half|twice|thrice|third|quarter|double|triple|times|percent|per|each|every|than)\b|%")
_SUM = re.compile(
    r"((?:[$€£]?\d[\d,]*(?:\.\d+)?%?\s*[-+*/x×÷−]\s*){1,8}[$€£]?\d[\d,]*(?:\.\d+)?%?)"
    r"\s*=\s*(?:<<[^<>]{0,80}>>)?\s*[$€£]?\s*(-?\d[\d,]*(?:\.\d+)?)"
)
_CONCLUDED = re.compile(
    r"(?:^\s*(?:####|\*\*answer|answer:|\\boxed)|\bthe (?:final |correct )?answer is\b)[^\n]*", re.I | re.M
)
_HEDGES = re.compile(
    r"\b(?:however|unclear|cannot|can't|not possible|impossible|negative|mistake|actually|sorry|unable|not sure|"
    r"doesn't make sense|assum\w+|correction)\b",
    re.I,
)
_ENDS = (".", "!", "?", ")", "]", "}", '"', "'", "`", "*", ":", "…", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """A request to be routed: its last user turn, its category, its embedding and about how many tokens it has."""

    text: str
    category: str = "default"
    vector: Vector | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class _TextNumbers:
    numbers: frozenset[float]
    length: int


def of_request(text: str) -> Array:
    """Its numbers, in the order of `REQUEST`."""
    head = text[:HEAD]
    return np.array(
        [
            math.log1p(len(text)),
            math.log1p(len(_read(head).numbers)),
            math.log1p(sum(head.count(mark) for mark in ".?!;")),
            math.log1p(head.count("\n")),
            float("```" in head or "def " in head or "();" in head),
            math.log1p(len(_RELATION.findall(head.lower()))),
        ]
    )


def of_answer(request: str, answer: str, relevance: float = 0.0) -> Array:
    """Its numbers, in the order of `ANSWER`. `relevance` is the cosine similarity of both, where it is known."""
    asked, head = _read(request[:HEAD]), answer[:HEAD]
    told = _read(head)
    sums = [(made, said) for left, right in _SUM.findall(head) if (made := _value(left)) is not None
            for said in [_number(right)]]  # fmt: skip
    wrong = sum(abs(made - said) > 0.011 * max(1.0, abs(made)) for made, said in sums)
    conclusions = _CONCLUDED.findall(head)
    named = _numbers(conclusions[-1].replace("####", " ")) if conclusions else []
    result = named[-1] if named else None
    unused = len(asked.numbers - told.numbers)
    tail = answer.rstrip()
    return np.array(
        [
            float(tail.endswith(_ENDS) or bool(conclusions)),
            float(bool(conclusions)),
            math.log1p(wrong),
            math.log1p(len(sums)),
            math.log1p(unused),
            unused / (1 + len(asked.numbers)),
            math.log1p(len(told.numbers - asked.numbers)),
            math.log1p(len(answer)),
            min(20.0, len(answer) / (1 + len(request))),
            float(_HEDGES.search(head) is not None),
            float(result is not None and not result.is_integer()),
            float(result is not None and result in asked.numbers),
            float(result is not None and bool(sums) and abs(sums[-1][1] - result) < 1e-6),
            relevance,
        ]
    )


@scoped_cache(maxsize=4096)
def _read(text: str) -> _TextNumbers:
    return _TextNumbers(frozenset(_numbers(text)), len(text))


def _numbers(text: str) -> list[float]:
    return [_number(found) for found in _NUMBER.findall(text)]


def _number(text: str) -> float:
    # A number of more than 300 digits would not fit.
    return float(text.replace(",", "")[:300] or 0)


def _value(left: str) -> float | None:
    """The value of a chain of numbers and operators, None where it divides by nothing."""
    parts = re.findall(r"\d[\d,]*(?:\.\d+)?%?|[-+*/x×÷−]", left)
    total, factor, sign, pending = 0.0, None, 1.0, "*"
    for part in parts:
        if part[0].isdigit():
            number = _number(part.rstrip("%")) / (100.0 if part.endswith("%") else 1.0)
            if factor is None:
                factor = number
            elif pending == "*":
                factor *= number
            elif number == 0.0:
                return None
            else:
                factor /= number
        elif part in "+-−":
            total += sign * (factor or 0.0)
            factor, sign = None, 1.0 if part == "+" else -1.0
        else:
            pending = "/" if part in "/÷" else "*"
    value = total + sign * (factor or 0.0)
    return value if math.isfinite(value) else None
