"""The words of a text that may be edited one at a time, and what stands between them.

Invariant: joined again, the pieces are the text; every second piece, from the second on, is a word, and no part of an
address, an identifier or a number.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"((?<![\w'.@/-])[^\W\d_]+(?:'[^\W\d_]+)*(?![\w@/]|\.\w|'\w))")
# In a text in ASCII without any of these signs, every row of letters is a word.
_SIGN = re.compile(r"[\d_'@/-]|\.\w")
_LETTERS = re.compile(r"([A-Za-z]+)")


def pieces_of(text: str) -> list[str]:
    """The pieces of a text.

    >>> pieces_of("mail bob@example.org, please")
    ['', 'mail', ' bob@example.org, ', 'please', '']
    """
    plain = text.isascii() and _SIGN.search(text) is None
    return (_LETTERS if plain else _WORD).split(text)
