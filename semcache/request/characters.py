"""Characters that say something else to a model than to an embedder or a reader.

An embedder drops characters that its vocabulary lacks: invisible characters, mathematical letters, upside-down writing,
and any word of more than a hundred letters. A prompt with any of them is matched by its bytes alone. Two prompts that
differ in symbols, or in their scripts, do not share an answer. A symbol and its name are no difference: "5 €" and "5
euros". Knows Unicode, and of words only the names of symbols. Invariant: pure, and linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata

# Letters of other scripts that are made to look like words: mathematics, circles, superscripts, phonetics, full width.
_STYLED = re.compile(
    "[\u0180\u0183\u018d\u018e\u0196\u019b\u01ab\u01bb\u01be\u01dd\u0250-\u0252\u0255\u0258\u025a\u025c-\u025f"
    "\u0261-\u0262\u0264-\u0267\u026a-\u026b\u026d-\u0271\u0273-\u0274\u0276-\u0287\u028a\u028c-\u0291\u0293-\u02af\u02b0-\u02b8"
    "\u02e0-\u02e4\u1d00-\u1dbf\u2071\u207f\u2090-\u209c\u2102\u210a-\u2115\u2118-\u211d\u2124\u2128\u212c-\u2138"
    "\u213c-\u214f\u2184\u2460-\u24ff\u2800-\u28ff\u2c60-\u2c7f\u3260-\u327f\ua640-\ua69f\ua720-\ua7ff\uab30-\uab6f"
    "\uff21-\uff3a\uff41-\uff5a\uff10-\uff19\U00010780-\U000107ba\U0001d400-\U0001d7ff\U0001df00-\U0001dfff"
    "\U0001f100-\U0001f1e5\U0001fbf0-\U0001fbf9]"
)
_VARIANTS = re.compile("[\u180b-\u180f\ufe00-\ufe0e\U000e0100-\U000e01ef]")
_JOINERS = re.compile(
    "(?<=[\u0600-\u07ff\u0900-\u0dff\ufb50-\ufeff])[\u200c\u200d]|(?<=[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f])\u200d"
)
_SHOWN = {"\n", "\t", "\r", "\u00a0"}
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_SYMBOLS = frozenset({"So", "Sk", "Sm", "Sc"})
# A mark on a letter that has no such letter of its own, or several on one.
_STACKED = re.compile("[A-Za-z\u00c0-\u024f][\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")
# A mark on no letter at all: it strikes out or joins what is beside it. Keycaps of emoji are none.
_ALONE = re.compile("(?:^|[\\W\\d_])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20e2\u20e4-\u20ff]")
# Pictograms made of punctuation, but for the smile of a polite request.
_EMOTICON = re.compile(
    r"(?:^|(?<=\s))(?:[:;]['’]?-?[DPpOo/\\|*\[]|:['’]?-?\(|;-?[)\]]|:-?3|[xX]D+|=[DP]|<3|>:-?[()]|-_+-|\^_*\^)(?=$|[\s.,!?])"
)
_OF_EMOTICONS = re.compile("[:;=<>^xX-]")  # each begins with one of these
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_SCRIPTS = (
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("cyrillic", re.compile("[\u0400-\u052f]")),
    ("armenian", re.compile("[\u0531-\u058f]")),
    ("hebrew", re.compile("[\u0590-\u05ff]")),
    ("arabic", re.compile("[\u0600-\u07ff\ufb50-\ufdff\ufe70-\ufefc]")),
    ("indic", re.compile("[\u0900-\u0dff]")),
    ("southeast", re.compile("[\u0e00-\u109f\u1780-\u17ff]")),
    ("georgian", re.compile("[\u10a0-\u10ff]")),
    ("hangul", re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")),
    ("cherokee", re.compile("[\u1200-\u177f\u1800-\u1cff]")),
    ("kana", re.compile("[\u3041-\u30ff]")),
    ("han", re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("rare", re.compile("[\u2d30-\u2ddf\ua000-\ua63f\ua800-\uab2f\U00010000-\U0001077f\U00010800-\U0001cfff]")),
)
LONGEST = 1 << 20  # characters of a request; a longer one is forwarded, and neither looked up nor kept
LONGEST_WORD = 100  # characters; most tokenizers of word pieces read any longer word as the one token for unknown words
_BETWEEN_WORDS = re.compile(r"[\s!-/:-@\[-`{-~\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_NOSES = str.maketrans("", "", "-'’")
_WORD = re.compile(r"[^\W\d_]+")
_DEGREES = re.compile(r"\s?(?:\u00b0\s?([CF])\b|([\u2103\u2109]))")
_FRACTIONS = re.compile("(?:([0-9]{1,9}) ?)?([\u00bc-\u00be\u2150-\u215e])")
# What says nothing to anybody: marks of ownership behind a name, and an accent in the place of an apostrophe.
_MUTE = re.compile("(?<=\\w)[\u2122\u00ae\u00a9]+|(?<=[^\\W\\d_])\u00b4(?=[^\\W\\d_])")
_CURRENCIES = {
    "\u20ac": "eur euro euros",
    "\u00a3": "gbp pound pounds sterling quid",
    "\u00a5": "jpy yen cny yuan rmb",
    "\u20b9": "inr rs rupee rupees",
    "$": "usd dollar dollars bucks",
}
# The words and signs for other symbols, any of which stands for the symbol.
_NAMES = {
    "\u2192": ["->", "=>", ">", "to", "into", "in", "from", "as", "gives?", "yields?", "becomes?"],
    "\u00d7": [r"\*", r"\d ?(?:m|cm|mm|ft)? ?x ?\d", "x", "by", "times", "for", "per", "each", r"multipl\w+"],
    "\u00f7": ["/", "by", "over", "per", "divided?"],
    "\u2212": ["-", "minus", "negative", "less"],
    "\u2264": ["<=", "at most", "maximum", "max", "up to", "or (?:less|fewer)", r"(?:no|not) (?:more|over)"],
    "\u2265": [">=", "at least", "minimum", "min", "from", "or more", r"(?:no|not) (?:less|fewer|under)"],
    "\u2260": ["!=", "<>", "not equal", "unequal", "differs?"],
    "\u2248": ["~", "about", "approx", "approximately", "around", "roughly"],
    "\u00b0": ["deg", "degrees?"],
    "\u221a": ["sqrt", "square root", "root of"],
    "\u222b": ["integral", "integrate", "area"],
    "\u2211": ["sum", "sigma"],
    "\u221e": ["infinity", "infinite", "infinitely"],
    "\u2227": ["and", "&&?"],
    "\u2228": ["or", r"\|\|?"],
    "\u00ac": ["not", "!"],
}
_SAID = {
    symbol: re.compile("|".join(rf"\b(?:{name})\b" if name[-1].isalpha() or "(" in name else name for name in names))
    for symbol, names in _NAMES.items()
}
_MONEY = {
    symbol: re.compile(rf"{re.escape(symbol)}|(?:\b|(?<=\d))(?:{'|'.join(names.split())})\b")
    for symbol, names in _CURRENCIES.items()
}
_GREEK = re.compile("[\u0370-\u03ff]")
# A letter of mathematics, beside no other letter.
_LONE_GREEK = re.compile("(?<![^\\W\\d_])[\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c1\u03c3-\u03c9](?![^\\W\\d_])")
# So that those who read words read these, too.
_SPELT = (
    ("\u2192", " to "),
    ("\u221a", " square root of "),
    ("\u00b0", " degrees "),
    ("\u2212", "-"),
    ("\u2264", "<="),
    ("\u2265", ">="),
    ("\u2260", "!="),
)
_SCALES = {"C": " Celsius", "\u2103": " Celsius", "F": " Fahrenheit", "\u2109": " Fahrenheit"}


def is_plain(text: str, longest_word: int = LONGEST_WORD) -> bool:
    """Return True if every character of `text` says to an embedder what it says to a reader.

    No word of more than `longest_word` characters does: any two of them have one and the same embedding.
    """
    if _has_unreadable_word(text, longest_word):
        return False
    if text.isascii():
        return text.isprintable() or not any((char < " " and char not in _SHOWN) or char == "\x7f" for char in text)
    if _STYLED.search(text) or _VARIANTS.search(text):
        return False
    composed = unicodedata.normalize("NFC", text)
    if _STACKED.search(composed) or _ALONE.search(composed):
        return False
    rest = _JOINERS.sub("", composed)
    if any(unicodedata.category(char) in _UNSEEN and char not in _SHOWN for char in set(rest)):
        return False
    return not any(_is_mixed(word) for word in _WORD.findall(composed) if not word.isascii())


def _has_unreadable_word(text: str, longest: int) -> bool:
    """Return True if a word of `text` is longer than a tokenizer reads, once its letters are decomposed."""
    if not text.isascii():
        text = "".join(
            [" " if unicodedata.category(char)[0] == "P" else char for char in unicodedata.normalize("NFD", text)]
        )
    return len(text) > longest and max(map(len, _BETWEEN_WORDS.split(text))) > longest


def alike(one: str, two: str) -> bool:
    """Return True if two texts have the same symbols and are written in the same scripts."""
    if _emoticons(one) != _emoticons(two):
        return False
    if one.isascii() and two.isascii():
        return True
    one, two = _muted(one), _muted(two)
    letters = _lone_greek(one) ^ _lone_greek(two)
    one, two = _voiced(one), _voiced(two)
    if any(letter_name not in text.lower() for letter_name in map(_greek_name, letters) for text in (one, two)):
        return False
    ours, theirs = _symbols(one), _symbols(two)
    if ours != theirs and not (_says(two, ours - theirs) and _says(one, theirs - ours)):
        return False
    return _scripts(one) == _scripts(two)


def unstyled(text: str) -> str:
    """The text in the plainest letters that mean the same (NFKC): degrees in words, signs of fractions in digits."""
    if text.isascii():
        return text
    text = _voiced(unicodedata.normalize("NFKC", _FRACTIONS.sub(_in_digits, _muted(text))))
    for symbol, words in _SPELT:
        text = text.replace(symbol, words)
    return text


def _muted(text: str) -> str:
    return _MUTE.sub(lambda match: "'" if match[0] == "\u00b4" else "", text)


def _voiced(text: str) -> str:
    """The text with its scales of temperature, and its single letters of Greek, by their names."""
    text = _scaled(text)
    for letter in _lone_greek(text):
        text = text.replace(letter, f" {_greek_name(letter)} ")
    return text


def _lone_greek(text: str) -> frozenset[str]:
    """The letters of Greek that stand for something in mathematics: none of a text with a word of Greek."""
    lone = _LONE_GREEK.findall(text)
    return frozenset(lone) if lone and len(lone) == len(_GREEK.findall(text)) else frozenset()


def _greek_name(letter: str) -> str:
    """The name of a letter: "pi"."""
    return unicodedata.name(letter).rpartition(" ")[2].lower()


def _says(text: str, symbols: frozenset[str]) -> bool:
    """Return True if a text says each of these symbols in words; money need not be named where there is no other."""
    lower = text.lower()
    for symbol in symbols:
        if symbol in _MONEY:
            if _MONEY[symbol].search(lower) is None and any(words.search(lower) for words in _MONEY.values()):
                return False
        elif symbol not in _SAID or _SAID[symbol].search(lower) is None:
            return False
    return True


def _scaled(text: str) -> str:
    return _DEGREES.sub(lambda match: _SCALES[match[1] or match[2]], text)


def _in_digits(match: re.Match[str]) -> str:
    """A fraction, or a number and a fraction: "0.5" or "1/3", "1.5" or "4/3"."""
    above, below = unicodedata.normalize("NFKC", match[2]).split("\u2044")
    top, bottom = int(match[1] or 0) * int(below) + int(above), int(below)
    return f"{top / bottom:.15g}" if 1000 % bottom == 0 else f"{top}/{bottom}"


def _symbols(text: str) -> frozenset[str]:
    return frozenset(char for char in set(text) if char > "\x7f" and unicodedata.category(char) in _SYMBOLS)


def _emoticons(text: str) -> frozenset[str]:
    """The emoticons of a text, without their noses."""
    if _OF_EMOTICONS.search(text) is None:
        return frozenset()
    return frozenset([found.translate(_NOSES).upper() for found in _EMOTICON.findall(text)])


def _scripts(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _SCRIPTS if pattern.search(text) is not None)


def _is_mixed(word: str) -> bool:
    """Return True for a word of letters of two alphabets that look alike."""
    return _LATIN.search(word) is not None and any(pattern.search(word) for _, pattern in _SCRIPTS[:3])
