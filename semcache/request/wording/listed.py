r"""A question above or below a table or lettered choices: the question can be worded anew, the rest stays as it is.

Cells, their dividing row and the marks of choices are evened. Invariant: no word of a table or of a choice is changed,
and a prompt that says anything else beside the question is left alone.
"""

from __future__ import annotations

import re

_LONGEST = 240  # characters of the question
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_DIVIDING = re.compile(r"[\s|:-]+")
_DASHES = re.compile(r"-+")  # the colons beside them say how a column is aligned
_CHOICE = re.compile(r"[ \t]*\(?([A-Ha-h]|\d{1,2})[.):][ \t]+(\S.*)")
_OF_THESE = re.compile(r"^(?:which|what)(?: one)? of (?:these|those|the following)(?= \w)", re.IGNORECASE)
_FEWEST = 2  # lines of a table, or choices
_CODED = re.compile(r"[`{}\[\]=<>;\\|]")


def listed(text: str) -> tuple[str, str] | None:
    r"""The question of a prompt, with the end of its line, and the table or the choices; None for another prompt.

    >>> listed("Which is a mammal?\nA. tuna\n\nB. dolphin")
    ('Which is a mammal?\n', 'A) tuna\nB) dolphin')
    """
    if "\n" not in text:
        return None
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if len(lines) <= _FEWEST:
        return None
    if (evened := _table(lines[1:]) or _choices(lines[1:])) is not None:
        question = lines[0].strip()
    elif (evened := _table(lines[:-1])) is not None:
        question = lines[-1].strip()
    else:
        return None
    if len(question) > _LONGEST or _CODED.search(question) or _CHOICE.match(question):
        return None
    return f"{_OF_THESE.sub('which of these', question)}\n", "\n".join(evened)


def _table(lines: list[str]) -> list[str] | None:
    if not all(map(_ROW.fullmatch, lines)):
        return None
    return [_row(line.strip()) for line in lines]


def _row(line: str) -> str:
    if _DIVIDING.fullmatch(line):
        return "|".join([_DASHES.sub("---", cell.strip()) for cell in line.split("|")])
    return "|".join([f" {cell.strip()} " if cell.strip() else cell.strip() for cell in line.split("|")]).strip()


def _choices(lines: list[str]) -> list[str] | None:
    found = [_CHOICE.fullmatch(line) for line in lines]
    marks = [match[1].upper() for match in found if match is not None]
    first = "1" if marks[:1] == ["1"] else "A"
    expected = [chr(ord(first) + at) if first == "A" else str(1 + at) for at in range(len(lines))]
    if marks != expected:
        return None
    return [f"{match[1].upper()}) {match[2].strip()}" for match in found if match is not None]
