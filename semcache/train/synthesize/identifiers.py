"""Edits of names in code, quotations, flags and files, which must match as written.

Runs nothing and knows no programming language. Invariant: the new name is one that the text does not hold yet.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, table

_QUOTED = re.compile(r"(?<!\w)(?P<quote>['\"`])(?P<inner>[A-Za-z][\w -]{1,30})(?P=quote)(?!\w)")
_SNAKE = re.compile(r"\b(?P<inner>[a-z]+(?:_[a-z0-9]+)+)\b")
_CALL = re.compile(r"\b(?P<inner>[a-z_]\w+)(?=\(\))")
_FILE = re.compile(r"(?P<inner>\.(?:csv|json|txt|xml|pdf|py|html|xlsx|png|jpg|log|yaml))\b")
_FLAG = re.compile(r"(?<![\w-])(?P<inner>-[a-z])(?![\w-])")
_NAMES = [
    "data",
    "items",
    "values",
    "result",
    "user",
    "order",
    "total",
    "index",
    "name",
    "price",
    "start",
    "end",
    "first_name",
    "config",
    "output",
    "count",
    "items_b",
    "prices",
    "old_value",
]
_FILES = [".csv", ".json", ".txt", ".xml", ".pdf", ".html", ".xlsx", ".png", ".log", ".yaml"]
_WORDS = """
left join | inner join | outer join
string to int | int to string
ascii | utf-8
for loop | while loop
class method | static method
abstract class | interface
merge | rebase
int | float
binary | hexadecimal
list of strings | list of integers
list of lists | list of tuples
nested list | flat list
dataframe | series
prime numbers | perfect numbers
prime number | perfect number
factorial | square root
even numbers | odd numbers
palindrome | anagram
vowels | consonants
"""


def _other(text: str, rng: random.Random) -> str | None:
    found = [match for pattern in (_QUOTED, _SNAKE, _CALL) for match in pattern.finditer(text)]
    if not found:
        return None
    match = rng.choice(found)
    new = rng.choice([name for name in _NAMES if name not in text] or ["another_name"])
    old = match["inner"]
    # All of its places, or the prompt would contradict itself.
    return re.sub(rf"(?<![\w]){re.escape(old)}(?![\w])", new, text)


def _file(text: str, rng: random.Random) -> str | None:
    match = _FILE.search(text)
    if match is None:
        return None
    return text.replace(match["inner"], rng.choice([one for one in _FILES if one not in text]))


def _flag(text: str, rng: random.Random) -> str | None:
    match = _FLAG.search(text)
    if match is None:
        return None
    new = rng.choice([letter for letter in "abcdefhlnrstvxz" if letter != match["inner"][1]])
    return f"{text[: match.start()]}-{new}{text[match.end() :]}"


RULES = changing_rules(
    identifier_name=_other,
    identifier_file=_file,
    identifier_flag=_flag,
    identifier_operation=Lexicon(table(_WORDS, both=False)),
)
