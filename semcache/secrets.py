"""Recognises credentials and account numbers in text, so that they are neither looked up nor kept.

Knows nothing of requests or policy. Favours precision where a check digit allows it (cards, IBANs), and recall for
tokens with a known prefix.
Invariant: pure, and linear in the length of the text.
"""

from __future__ import annotations

import re

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
    | \b[a-z][a-z0-9+]{1,12}://[^\s/:@]{1,64}:[^\s/@]{3,64}@
    """,
    re.VERBOSE,
)
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
_CARD = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d,]|[ -]\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])")


# What every token holds, by length or by mark, and what every stated secret holds: looked for first, being cheap.
_SHORTEST = 15
_MARKS = ("://", "-----")
_HINTS = re.compile("pass[wpc]|pwd|pin|key|token|client|bearer|social|ssn|cvv|cvc|otp")
_TWO_DIGITS = re.compile(r"\d{2}")
# The only letters beyond ASCII that `re.IGNORECASE` takes for one of ASCII.
_ALIKE = str.maketrans({"\u017f": "s", "\u212a": "k", "\u0130": "i", "\u0131": "i"})


def fold(text: str) -> str:
    """`text` in lower case such that a lower-case pattern finds what it would find with `re.IGNORECASE`."""
    return text.lower() if text.isascii() else text.translate(_ALIKE).lower()


def has_secret(text: str) -> bool:
    """Whether `text` holds an API key, token, private key, stated password, card number, IBAN or US SSN."""
    parts = text.split()
    long = bool(parts) and len(max(parts, key=len)) >= _SHORTEST
    if (long or any(mark in text for mark in _MARKS)) and _TOKEN.search(text):
        return True
    if _HINTS.search(fold(text)) and any(_is_stated(match) for match in _STATED.finditer(text)):
        return True
    if _TWO_DIGITS.search(text) is None:
        return False
    if any(_luhn(match[0]) for match in _CARD.finditer(text)) or _SSN.search(text):
        return True
    return any(_mod97(match[0]) for match in _IBAN.finditer(text))


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
