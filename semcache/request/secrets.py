"""Detection of credentials and account numbers in text, so that they are neither looked up nor stored.

Knows nothing of requests or policy. Favours precision where a check digit allows it (cards, IBANs), and recall for
tokens with a known prefix. Invariant: pure, and linear in the length of any text. No call of the regular expression
engine reads more than a few times `_WINDOW` characters, so that a thread which reads a long text lets others run.

A pattern is tried only where a text holds a mark that the pattern needs, because finding a mark is cheap, and trying a
pattern at every character of a long document is not.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from semcache.request.secret_formats import FORMATS, SPACED
from semcache.request.secret_placeholders import TELLING, is_example_token, is_filled_in, is_placeholder, is_word

_WINDOW = 16 << 10  # characters that are read at a time
_BEYOND = 1 << 10  # characters behind a window in which what begins there may end
_UNSPACED = re.compile(r"\S{10,}")  # every token has one, but for those of `SPACED`
_PLAIN = frozenset({"role", "type", "content", "text", "name", "id", "model", "input", "output", "system", "prompt"})
_DATA = 1 << 10  # characters, from which a text may be a file in Base64
_ENCODING = f"{string.ascii_letters}{string.digits}+/_-=".encode()
_FILE = re.compile(r"data:[\w/.+;= -]{0,200};base64,")
_SHORT = 9  # characters of a member's name that hold no secret
_LONG_NUMBER = 10**12  # from which a number may be that of a card
_TAILED = 256
_TAIL = re.compile(rf"[\w*-]{{0,{_TAILED}}}")
_SCHEME = 13  # characters at most before the mark of a URL
_LOGIN = re.compile(r"://[^\s/:@]{0,64}:[^\s/@]{3,64}@")
_URL = re.compile(rf"\b[a-z][a-z0-9+]{{1,{_SCHEME - 1}}}{_LOGIN.pattern}")
_STATED = re.compile(
    r"""(?<![a-z])(?:
      (?P<digits>pin(?:\ code|\ number)?|cvv2?|cvc2?|otp
        |(?:verification|security|login|2fa|mfa|one[\ -]time|two[\ -]factor)\ code)
      | pass(?:word|phrase|code|wd|wort)|pwd|(?:api|secret|access|auth)[\s_-]?(?:key|token)|client[\s_-]?secret|bearer
      | kennwort|contrase\u00f1a|mot\ de\ passe|senha|wachtwoord|has\u0142o|\u043f\u0430\u0440\u043e\u043b\u044c
      | \u5bc6\u7801|\u30d1\u30b9\u30ef\u30fc\u30c9|social\ security(?:\ number)?|ssn|(?:bank\ )?account\ number
      | passport\ (?:number|no\.?)|pw(?=\s?[:=])
      | pass(?=["']?\s?[:=]\s{0,3}["']?(?=[^\s"',;]{0,60}\d)(?=[^\s"',;]{0,60}[a-z])[^\s"',;]{6})
      )
      (?:
        ['\u2019"\]]{0,2}(?:\s{1,8}(?:for\s{1,8}\S{1,64}|to\s{1,8}\S{1,64}))?\s{0,8}
        (?:(?:is|was|lautet|(?P<foreign>ist|es|est)(?!\s?:))\b\s?:?|(?:ist|es|est)\s?:|['\u2019]s\b|=>?|:|->)
        \s{0,8}["'`]?(?P<value>[^\s"'`,;]{3,128})
      | \s{1,8}(?P<number>\d{3,19}\b)
      | \s{1,8}(?P<given>(?=[A-Za-z]{0,40}\d)[^\s"'`,;()]{6,128})
      | \s{1,8}to\s{1,8}["'`]?(?P<chosen>(?=[^\s"'`]{0,40}\d)(?=[^\s"'`]{0,40}[A-Za-z])[^\s"'`,;()]{8,128})
      | \s{1,8}["'`](?P<quoted>(?=[^\s"'`]{0,64}\d)[^\s"'`]{5,64})["'`]
      )
    | bearer\s{1,8}(?P<bearer>(?!(?:your|my|access)[_-])[A-Za-z0-9._~+/-]{20})
    | aws_secret_access_key\s{0,8}[=:]\s{0,8}(?!["'<]?(?:your|my|x{4}))\S{20}
    | (?:social\ security(?:\ number)?|ssn)\W{1,4}(?:is\W{1,3})?\d{3}[ -]?\d{2}[ -]?\d{4}\b
    | (?:seed|recovery|mnemonic|backup)\ phrase\W{1,4}(?:is\W{1,3})?(?:[a-z]{3,8}\s{1,3}){11}[a-z]{3,8}\b
    | private\ key\W{1,4}(?:is\W{1,3})?(?:0x)?[0-9a-f]{64}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTES = "\"'`"
# What stands before a password that is somebody's: "my", "user bob, password ...", "with password ...".
_OWN = re.compile(r"\b(?:my|with|(?:user|username|login)(?::|\s+is)?\s+\S{1,64}?,?(?:\s+and)?)\s+\Z", re.IGNORECASE)
_OWNED = 100  # characters that are read for it
_ALGORITHM = re.compile(
    r"(?:aes|sha|md|rsa|pbkdf|argon|scrypt|bcrypt|base|utf|oauth|ntlmv|v)-?\d+(?:-\w+)?\W*", re.IGNORECASE
)
# "My password is not working" states no password.
_NO_VALUE = re.compile(
    r"(?:not|n't|wrong|incorrect|invalid|compromised|leaked|correct|right|too|lost|missing|always|never|still|the|a|an|it"
    r"|in|on|for|of|and|or|that|this|case|set|sent|weak|strong|safe|secure|secret|stuck|hidden|visible|empty|null|none"
    r"|your|my|what|how|why|something|reset|about|between|which|where|when|who|as|at|to|from|with|by|under|over|only"
    r"|just|also|bent|broken|written|known|shown|given|taken|stolen|gone|down|off|out|up|part|one|long|short|same"
    r"|different|optional|mandatory|valid|available|plain|public|private|there|here|unique|very|yes|ok|if|but|so|must|should|can|does"
    r"|[a-z]{2,}(?:ed|ing)|expired?|\?+|\.+|\*+|<.*|\$\{?.*|%.*|\{.*|x+|your[_-].*)[.?!:]*"
    r"|\w+(?:\.\w+){0,6}[\[(].*"
    r"|(?:str(?:ing)?|bytes|text|int|bool|char|varchar|optional|undefined|true|false|os|self|process|request|req)\b.*",
    re.IGNORECASE,
)
# A value that is given to a name of a key: `datadog_api_token: "..."`. What it says decides whether it is one.
_ASSIGNED = re.compile(
    r"""(?:key|token|secret|passwd|password|credential)[a-z0-9_-]{0,20}["'\]]{0,2}\s{0,5}(?:=>|:=|=|:)\s{0,5}["'`]?
    (?P<value>[\w.=+/~-]{16,200})
    | (?:key|token|secret)\s{1,3}(?P<bare>[\w.=+/~-]{20,200})""",
    re.VERBOSE | re.IGNORECASE,
)
_ASSIGNED_NAMES = ("key", "token", "secret", "passw", "credential")
_ENTROPY = 3.3  # bits a character: words have less, and few changes between letters and digits
_CHANGE = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
# The texts in which a card's or a social security number can stand, apart from what surrounds them.
_DIGITS = re.compile(r"\d[\d -]{10,}+")
_RUN = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d)*+|\d(?:[ -]?\d)*+")
_CARD = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d){12,18}\Z")
_CARD_LENGTH = 37  # 19 digits and what may stand between them
# Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro; and how long their numbers are.
_ISSUERS = (
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|22[2-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"30[0-5]|36|38"), (14, 16)),
    (re.compile(r"6011|64[4-9]|65"), (16, 19)),
    (re.compile(r"35(?:2[89]|[3-8])"), (16, 19)),
    (re.compile(r"62|81"), (16, 17, 18, 19)),
    (re.compile(r"50|5[6-8]|6[0137]"), (13, 15, 16, 18, 19)),
)
_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
# It looks back from its first letter, not before: a search for a letter skips what is none.
_IBAN = re.compile(r"[A-Z](?<!\w.)[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
# How what states a secret begins, in folded text.
_STATING = (
    "pass", "pwd", "pin", "api", "access", "auth", "aws_", "secret", "social", "ssn", "client", "cvv", "cvc", "bearer",
    "otp", "pw", "kennwort", "contrase", "senha", "wachtwoord", "has\u0142o", "\u043f\u0430\u0440\u043e\u043b\u044c",
    "\u5bc6\u7801", "\u30d1\u30b9\u30ef\u30fc\u30c9", "mot de passe", "verification", "security", "login", "2fa", "mfa",
    "one", "two", "account", "bank", "seed", "recovery", "mnemonic", "backup", "private",
)  # fmt: skip
# A card number is no IBAN, and prose in lower case is none either, but where somebody says that it is one.
_SAYS_IBAN = "iban"


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
    if len(text) <= _WINDOW + _BEYOND:
        return _read(text, len(text), whole=True)
    for start in range(0, len(text), _WINDOW):
        # What stands before a window says what it begins in the middle of.
        before = max(0, start - _BEYOND)
        window = text[before : start + _WINDOW + _BEYOND]
        if _read(window, start + _WINDOW - before, whole=start + _WINDOW + _BEYOND >= len(text)):
            return True
    return False


def strings_of(value: object) -> str:
    """Return every string in a JSON value, each on lines of its own that no pattern reads across."""
    found: list[str] = []
    left = [value]
    while left:
        node = left.pop()
        if isinstance(node, str) and not _is_data(node):
            found.append(node)
        elif isinstance(node, Mapping):
            for name, child in node.items():
                if not isinstance(child, str) or not isinstance(name, str):
                    left.append(child)
                if isinstance(name, str) and (member := _shown(name, child)) is not None:
                    found.append(member)
        elif isinstance(node, int) and abs(node) >= _LONG_NUMBER:
            found.append(str(node))
        elif isinstance(node, list | tuple):
            left.extend(node)
    return "\n\0\n".join(found)


def _shown(name: str, child: object) -> str | None:
    """The text that is read of a member: `{"password": "..."}` with its name, or a name that may be a secret."""
    if not isinstance(child, str):
        return name if len(name) > _SHORT else None
    if _is_data(child):
        return None
    return child if name in _PLAIN else f"{name}: {child}"


def _is_data(text: str) -> bool:
    """Return True for an image, a sound or a file in Base64, from end to end: nothing that anybody wrote."""
    if len(text) <= _DATA or not text.isascii():
        return False
    head = _FILE.match(text)
    return not text[0 if head is None else head.end() :].encode().translate(None, _ENCODING)


def _read(text: str, end: int, *, whole: bool) -> bool:
    """Return True if a secret begins before `end`; what touches the end of a text that is not `whole` is cut off."""
    unspaced = " ".join(_UNSPACED.findall(text))
    if (unspaced and _has_token(unspaced)) or _has_spaced(text):
        return True
    folded = fold(text)
    return _has_stated(text, folded, end) or _has_assigned(text, folded, end) or _has_number(text, end, whole=whole)


def _has_token(text: str) -> bool:
    marked = [one for one in FORMATS if one[0] in text]
    if any(_has_format(text, mark, pattern, offsets) for mark, pattern, offsets in marked):
        return True
    if "://" not in text:
        return False
    logins = (_LOGIN.match(text, at) for at in _places(text, "://", len(text)))
    return any(
        _URL.search(text, max(0, one.start() - _SCHEME), one.end())
        for one in logins
        if one is not None and not _is_example_login(one)
    )


def _has_format(text: str, mark: str, pattern: re.Pattern[str], offsets: Iterable[int]) -> bool:
    """Return True if a token of one format stands in the text, and is no example of a manual."""
    telling = -1  # where the next character stands that is no plain word's
    places = (at - back for at in _places(text, mark, len(text)) for back in offsets if at >= back)
    for found in filter(None, map(partial(pattern.match, text), places)):
        if telling < found.start():
            following = TELLING.search(text, found.start())
            telling = len(text) if following is None else following.start()
        if telling >= found.end() + _TAILED:
            continue  # an example, however often it is repeated
        tail = _TAIL.match(text, found.end())
        if not is_example_token(found[0] + (tail[0] if tail else ""), mark):
            return True
    return False


def _is_example_login(match: re.Match[str]) -> bool:
    """Return True for the login of a manual: `user:password@host`, `${USER}:${PASSWORD}@host`."""
    value = match[0].partition("://")[2].partition(":")[2][:-1]
    return is_filled_in(value)


def _has_spaced(text: str) -> bool:
    return any(
        pattern.match(text, at - offsets[0]) is not None
        for mark, pattern, offsets in SPACED
        for at in _places(text, mark, len(text))
        if at >= offsets[0]
    )


def _has_stated(text: str, folded: str, end: int) -> bool:
    starts = sorted({at for name in [name for name in _STATING if name in folded] for at in _found(folded, name, end)})
    after = 0
    for start in starts:
        # What was read as a value states nothing of its own.
        if start >= after and (match := _STATED.match(text, start)) is not None:
            if _is_stated(match):
                return True
            after = match.end()
    return False


def _has_assigned(text: str, folded: str, end: int) -> bool:
    after = 0
    names = [name for name in _ASSIGNED_NAMES if name in folded]
    for start in sorted({at for name in names for at in _found(folded, name, end)}):
        if start >= after and (match := _ASSIGNED.match(text, start)) is not None:
            if _looks_random(match["value"] or match["bare"]):
                return True
            after = match.end()
    return False


def _has_number(text: str, end: int, *, whole: bool) -> bool:
    for part in _DIGITS.finditer(text):
        if part.start() >= end:
            break
        for run in _RUN.finditer(text, part.start(), part.end()):
            digits = run.end() - run.start() - run[0].count(" ") - run[0].count("-")
            if digits >= 13 and (whole or run.end() < len(text)) and _ends_in_card(text, run.end()):
                return True
        if _SSN.search(text, part.start(), min(len(text), part.end() + 1)) is not None:
            return True
    if any(_mod97(match[0]) for match in _IBAN.finditer(text)):
        return True
    return _SAYS_IBAN in text.lower() and any(_mod97(match[0]) for match in _IBAN.finditer(text.upper()))


def _ends_in_card(text: str, end: int) -> bool:
    """Return True if the run of digits that ends here ends in a card's number: nothing else may end a run."""
    after = text[end : end + 2]
    if after and (after[0].isalnum() or after[0] in "_," or (after[0] in " -" and after[1:].isdigit())):
        return False
    tail = text[max(0, end - _CARD_LENGTH - 1) : end]
    return any(
        (match := _CARD.match(tail, at)) is not None and _is_card(match[0])
        for at in range(len(tail))
        if tail[at].isdigit() and not (at == 0 and len(tail) > _CARD_LENGTH)
    )


def _places(text: str, mark: str, end: int) -> Iterable[int]:
    # Nearly every text holds none of them, and to begin a search takes longer than to find nothing.
    return _found(text, mark, end) if mark in text else ()


def _found(text: str, mark: str, end: int) -> Iterator[int]:
    at = text.find(mark, 0, end + len(mark))
    while at >= 0:
        yield at
        at = text.find(mark, at + 1, end + len(mark))


def _is_stated(match: re.Match[str]) -> bool:
    """Return True if what a name of a secret is followed by is one."""
    if match["given"] is not None:
        return _is_given(match, match["given"])
    if (chosen := match["chosen"]) is not None:
        named = match[0].lower().startswith(("pass", "pwd"))
        return named and any(map(str.isupper, chosen[1:])) and not is_placeholder(chosen)
    if (quoted := match["quoted"]) is not None:
        return match["digits"] is None and not is_placeholder(quoted)
    if match["number"] is not None:
        return _is_numbered(match)
    return match["value"] is None or _is_value(match, match["value"])


def _is_given(match: re.Match[str], given: str) -> bool:
    """Return True if a word right behind a name, with no "is" between, is a secret: "my password hunter2"."""
    if len(given) >= 8 and len(_CHANGE.findall(given)) > 1:
        return True
    own = _OWN.search(match.string, max(0, match.start() - _OWNED), match.start()) is not None
    return own and not is_placeholder(given) and _ALGORITHM.fullmatch(given) is None


def _is_value(match: re.Match[str], value: str) -> bool:
    """Return True if the value that a name is said to have is a secret."""
    if match["digits"] is not None:
        return any(map(str.isdigit, value)) and _NO_VALUE.fullmatch(value) is None
    name = match.string[match.start() : match.start("value")].lower()
    if "number" in name and not any(map(str.isdigit, value)):
        return False  # "the account number is definitely right"
    if _NO_VALUE.fullmatch(value) is not None or is_placeholder(value):
        return False
    if value.startswith("/") and name.startswith(("pwd", "passwd")):
        return False
    text, at = match.string, match.start()
    if text.startswith("/etc/", max(0, at - 5)) or (text[max(0, at - 8) : at].lower() == "default " and is_word(value)):
        return False
    # "Das Passwort ist falsch": which words are said of a password is known of English alone.
    return match["foreign"] is None or text[match.start("value") - 1] in _QUOTES or not is_word(value)


def _is_numbered(match: re.Match[str]) -> bool:
    """Return True if digits right behind a name are what it names: four of a PIN, more of an account."""
    size, name = len(match["number"]), match[0].lower()
    if match["digits"] is not None:
        if name.startswith("pin code") and size == 6:
            return False  # a place in India
        return size in (3, 4) if name.startswith(("cvv", "cvc")) else 4 <= size <= 8
    return size >= 8


def _looks_random(value: str) -> bool:
    """Return True if a value is no word, path or date: many changes between letters and digits, and few repetitions."""
    if len(_CHANGE.findall(value)) < 4:
        return False
    counts, size = Counter(value).values(), len(value)
    return -sum(count / size * math.log2(count / size) for count in counts) >= _ENTROPY


def _is_card(text: str) -> bool:
    digits = "".join(char for char in text if char.isdigit())
    return any(len(digits) in lengths and one.match(digits) for one, lengths in _ISSUERS) and _luhn(digits)


def _luhn(text: str) -> bool:
    digits = [int(char) for char in text]
    if len(set(digits)) == 1:
        return False
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + doubled) % 10 == 0


def _mod97(text: str) -> bool:
    iban = text.replace(" ", "")
    if not 15 <= len(iban) <= 34:
        return False
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 == 1
