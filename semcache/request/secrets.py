"""Detection of credentials and account numbers in text, so that they are neither looked up nor kept.

Knows nothing of requests or policy. Favours precision where a check digit allows it (cards, IBANs), and recall for
tokens with a known prefix.
Invariant: pure, and linear in the length of the text: some tens of milliseconds for a megabyte, in steps of a few.

A pattern is tried only where a text holds a mark that it cannot do without: to find a mark is cheap, to try a pattern
at every character of a long document is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    -----BEGIN\ (?:[A-Z0-9]+\ ){0,3}PRIVATE\ KEY
    | \b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b
    | \bsk-(?:proj-|ant-|live-|or-)?[A-Za-z0-9_-]{16,}
    | \b[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}
    | \bAIza[A-Za-z0-9_-]{30,} | \bya29\.[A-Za-z0-9_-]{20,}
    | \bhf_[A-Za-z0-9]{20,} | \bnpm_[A-Za-z0-9]{20,} | \bpypi-[A-Za-z0-9_-]{20,}
      | \bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    | (?<=[A-Za-z0-9_-])\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}  # of a header the dot alone: one try a dot
    """,
    re.VERBOSE,
)
# How every token begins.
_MARKS = (
    *("-----BEGIN ", "AKIA", "ASIA", "AROA", "AIDA", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_"),
    *("pk_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AIza", "ya29.", "hf_"),
    *("npm_", "pypi-", "SG.", ".eyJ"),
)
_SCHEME = 13  # characters at most before the mark of a URL
_LOGIN = re.compile(r"://[^\s/:@]{1,64}:[^\s/@]{3,64}@")
_URL = re.compile(rf"\b[a-z][a-z0-9+]{{1,{_SCHEME - 1}}}{_LOGIN.pattern}")
_STATED = re.compile(
    r"""\b(?:
      (?:pass(?:word|phrase|code)|pwd|pin(?:\ code|\ number)?|(?:api|secret|access|auth)[\s_-]?(?:key|token)
        |client[\s_-]?secret
        |bearer|social\ security(?:\ number)?|ssn|cvv|cvc|otp)
      (?:\s+(?:for\s+\S+|to\s+\S+))?\s*(?:is\b|was\b|=|:)\s*["'`]?(?P<value>[^\s"'`,;]{3,})
    | bearer\s+(?P<bearer>[A-Za-z0-9._~+/-]{20,})
    | aws_secret_access_key\s*[=:]\s*\S{20,}
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# "My password is not working" states no password.
_NO_VALUE = re.compile(
    r"(?:not|n't|wrong|incorrect|invalid|expired?|compromised|leaked|required|correct|right|too|locked|blocked|lost"
    r"|missing|always|never|still|being|the|a|an|it|in|on|for|of|and|or|that|this|case|set|stored|saved|sent|accepted"
    r"|rejected|weak|strong|safe|secure|secret|hashed|encrypted|needed|used|asked|showing|failing|forgotten|declined"
    r"|stuck|hidden|visible|empty|null|none|your|my|what|how|why|something|denied|unlocked|refused|working|changed"
    r"|reset|\?+|\.+|\*+|<.*|\$\{?.*|x+|your[_-].*)[.?!]*",
    re.IGNORECASE,
)
# The texts in which a card's or a social security number can stand, apart from what surrounds them.
_DIGITS = re.compile(r"\d[\d -]{10,}")
_CARD = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d,]|[ -]\d)")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])")
# It looks back from its first letter, not before: a search for a letter skips what is none.
_IBAN = re.compile(r"[A-Z](?<!\w.)[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
# How what states a secret begins, in folded text; within one of them no other begins a word.
_NAMES = re.compile("p(?:ass|wd|in)|a(?:pi|ccess|uth|ws_)|s(?:ecret|ocial|sn)|c(?:lient|vv|vc)|bearer|otp")


def fold(text: str) -> str:
    """`text` in lower case such that a lower-case pattern finds what it would find with `re.IGNORECASE`.

    Every character keeps its place.
    """
    if not text.isascii():
        # The only letters beyond ASCII that `re.IGNORECASE` takes for one of ASCII.
        text = text.replace("\u017f", "s").replace("\u212a", "k").replace("\u0130", "i").replace("\u0131", "i")
    return text.lower()


def has_secret(text: str) -> bool:
    """Return True if `text` holds an API key, token, private key, stated password, card number, IBAN or US SSN."""
    return _has_token(text) or _has_stated(text) or _has_number(text)


def _has_token(text: str) -> bool:
    if any(_TOKEN.match(text, at) for mark in _MARKS for at in _places(text, mark)):
        return True
    logins = (_LOGIN.match(text, at) for at in _places(text, "://"))
    return any(_URL.search(text, max(0, one.start() - _SCHEME), one.end()) for one in logins if one is not None)


def _has_stated(text: str) -> bool:
    end = 0
    for name in _NAMES.finditer(fold(text)):
        # What was read as a value states nothing of its own.
        if name.start() >= end and (match := _STATED.match(text, name.start())) is not None:
            if _is_stated(match):
                return True
            end = match.end()
    return False


def _has_number(text: str) -> bool:
    for run in _DIGITS.finditer(text):
        # Two characters more, for what may not follow a number.
        where = run.start(), run.end() + 2
        if any(_luhn(match[0]) for match in _CARD.finditer(text, *where)) or _SSN.search(text, *where):
            return True
    return any(_mod97(match[0]) for match in _IBAN.finditer(text))


def _places(text: str, mark: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


def _is_stated(match: re.Match[str]) -> bool:
    value = match["value"]
    return value is None or _NO_VALUE.fullmatch(value) is None


def _luhn(text: str) -> bool:
    digits = [int(char) for char in text if char.isdigit()]
    if digits[0] not in (2, 3, 4, 5, 6) or len(set(digits)) == 1:
        return False
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + doubled) % 10 == 0


def _mod97(text: str) -> bool:
    iban = text.replace(" ", "")
    if not 15 <= len(iban) <= 34:
        return False
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 == 1
