"""Placeholders: texts that stand for a secret in examples, in code and in prose.

Knows words and spellings, no pattern of a secret. Invariant: pure and linear in the length of a value. Commonly known
values ("password", "changeme") and words that describe a secret are not secrets.
"""

from __future__ import annotations

import re

_PUBLIC = re.compile(
    r"(?:pass(?:word)?\d{0,3}|passwd|pwd?|secret|super-?secret|my[_-]?(?:super[_-]?)?(?:secret)?[_-]?(?:pw|pass|password"
    r"|secret|key|token)?|your\w*|change[_-]?(?:me|it|this)|example|sample|dummy|placeholder|insecure|foo|bar|baz|abc"
    r"|abc123|root|admin|guest|user|username|postgres|test|testing|demo|dev|node|default|string|token|api[_-]?key"
    r"|access[_-]?token|command|authentication|redacted|hidden|masked|yes|no|all)",
    re.IGNORECASE,
)
# "The password is bcrypt-hashed", "the token is opaque".
_SAID_OF = re.compile(
    r"(?:base64|bcrypt|scrypt|argon2\w{0,2}|pbkdf2|sha-?\d{1,3}|md5|jwt|aes|rsa|hmac)(?:-\w+)?"
    r"|opaque|symmetric|asymmetric|plain-?text|clear-?text|case-?(?:in)?sensitive|rate|longer|shorter|stronger|weaker|more"
    r"|vergessen|mindestens|falsch|niet|verlopen|onjuist|vergeten|wie|\u043a\u0430\u043a|\u0447\u0442\u043e"
    r"|less|equal|identical|required|mandatory|temporary|permanent|global|local|static|dynamic|read-only|useless",
    re.IGNORECASE,
)
# A value in code: what another name holds, the name of a variable, what a template or a tag puts there.
_CODE = re.compile(
    r"(?:data|res(?:ponse)?|config|settings|import\.meta|process|env|self|this|props|state|user|body|form|args|options"
    r"|params|password|token|ctx|secrets|vars?|each|local|module|request|req)\??(?:\.[A-Za-z_]\w{0,40}){1,6}"
    r"|(?-i:[A-Z]{2,20}(?:_[A-Z]{2,20}){1,5})|(?:[a-z]{2,20}_){0,4}(?:pass|password|passwd|pwd?|secret|token|key|value"
    r"|var|env|string|hash)(?:_[a-z]{2,20}){0,3}|x(?:-[a-z]+){1,4}|!vault|[\[(<{](?:hidden|redacted|masked|removed|filtered)[\])>}]",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"\.{3}|\u2026|([xX*])\1{3}")
_FILLED_IN = re.compile(
    r"([xX*0])\1{5}|(?<![a-z0-9])your[_-]|[_-]here(?![a-z0-9])|not[_-]a[_-]real|replace[_-](?:me|with)|placeholder|redacted",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
TELLING = re.compile(r"[^\W_a-z]")  # no token of plain words has one: a digit, a capital or a letter beyond ASCII
_PARAMETER = re.compile(r"&\w{1,40}=.*", re.DOTALL)
_PLAIN_WORD = re.compile(r"[^\W\d_]+")


def is_placeholder(value: str) -> bool:
    """Return True for a value given to the name of a secret that is an example, code, or a word about it."""
    plain = _PARAMETER.sub("", value).rstrip(".?:)]}\\")
    if _LEFT_OUT.search(value) is not None:
        return True
    return any(one.fullmatch(plain) or one.fullmatch(value) for one in (_PUBLIC, _SAID_OF, _CODE))


def is_filled_in(value: str) -> bool:
    """Return True for the password in a URL that is an example, or that a template puts there."""
    return is_placeholder(value) or value.startswith(("${", "<", "{", "[", "***", "%("))


def is_word(value: str) -> bool:
    """Return True for a word of prose: letters alone, with none but the first a capital."""
    plain = value.rstrip(".?!:)")
    return _PLAIN_WORD.fullmatch(plain) is not None and plain[1:] == plain[1:].lower()


def is_example_token(token: str, mark: str) -> bool:
    """Return True for what begins like a token and goes on in words: `sk-your-key-here`, `sk-learn-contrib-list`."""
    rest = token.replace(mark, "", 1)
    if TELLING.search(rest) is None or _FILLED_IN.search(rest) is not None:
        return True
    return rest == rest.lower() and _DIGIT.search(rest) is None
