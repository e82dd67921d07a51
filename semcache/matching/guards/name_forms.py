"""Forms of a name in another text: in several words, as an acronym, abbreviated, in another word class, misspelt.

Compares names with words in lower case, by their letters and endings. Invariant: no result depends on what is named.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_ENDINGS = vocabulary("i is ic ics ism ist ists ian ians n an ns ans ish ese al er ers")


def written_apart(name: str, words: tuple[str, ...]) -> bool:
    """Return True if a name is made of whole words in a row ("you tube"), or begins or ends a longer word.

    "Niger" is no such part of "Nigeria": what is left must be long enough for a word.
    """
    longer = len(name) + 2
    for place, word in enumerate(words):
        if len(word) > longer:
            if word.startswith(name) or word.endswith(name):
                return True
        elif name.startswith(word):
            joined = word
            for other in words[place + 1 : place + 4]:
                joined += other
                if joined == name:
                    return True
                if not name.startswith(joined):
                    break
    return False


def expanded(name: str, words: tuple[str, ...]) -> bool:
    """Return True if `name` is an acronym of words that stand in a row in the other text."""
    return 2 <= len(name) <= 6 and name.isalpha() and name in "".join(word[0] for word in words)


def derived(name: str, words: tuple[str, ...]) -> bool:
    """Return True if the other text has a word of the same stem: "Islamic" for "Islam", "Israelis" for "Israeli".

    Of Greek names the end is another: "Pythagorean" for "Pythagoras".
    """
    head = name[:4]
    if len(head) < 4:
        return False
    for word in words:
        if word.startswith(head):
            shorter, longer = sorted((name, word), key=len)
            if longer.startswith(shorter) and longer[len(shorter) :] in _ENDINGS:
                return True
            if longer.endswith("ean") and longer[:-3] == shorter.rstrip("aeious"):
                return True
    return False


def short_for(name: str, words: tuple[str, ...]) -> bool:
    """Return True if a name abbreviates one of these words, is abbreviated by it, or is another form of it."""
    return any(
        word[0] == name[0]
        and (_is_abbreviation(*sorted((name, word), key=len)) or (len(name) > 4 and word[:5] == name[:5]))
        for word in words
    )


def _is_abbreviation(short: str, long: str) -> bool:
    """Return True if the letters of `short` stand in `long` in this order."""
    letters = iter(long)
    return len(short) > 1 and all(letter in letters for letter in short)


def typos(left: list[str], right: list[str]) -> bool:
    """Return True if each name has a long counterpart that differs by one letter or by two swapped ones."""
    if len(left) != len(right):
        return False
    return all(any(_slip(one, two) for two in right) for one in left)


def _slip(one: str, two: str) -> bool:
    if len(one) > len(two):
        one, two = two, one
    if len(one) < 5 or len(two) - len(one) > 1 or one[0] != two[0] or not one.isalpha():
        return False
    start = 0
    while start < len(one) and one[start] == two[start]:
        start += 1
    if one[start + 1 :] == two[start + 1 :] or one[start:] == two[start + 1 :]:
        return True
    return one[start : start + 2] == two[start : start + 2][::-1] and one[start + 2 :] == two[start + 2 :]
