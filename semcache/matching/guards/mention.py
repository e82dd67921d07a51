"""Words that are spoken of, not used: "the plural of child" asks about a word, and "kid" has another.

Data and one reading, for the guard of what must match as written. Parses no grammar: a word is spoken of where a frame
says so ("how do you spell ...", "what rhymes with ...", "... in Spanish"). Invariant: two texts conflict only where
both speak of words, and neither speaks of all words of the other.
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.matching.guards.form import TONGUES
from semcache.request.text import SplitText, stem, vocabulary
from semcache.runtime.late_pattern import late

_LONGEST = 400  # characters of a text that is read
_FEW, _SAYING = 4, 12  # words of what is spoken of, and of what is to be said in another language
_ALIKE = 7  # letters that words have in common which are forms of one
_TONGUE = rf"(?:{'|'.join(sorted(TONGUES, key=len, reverse=True))})"
_KIND = r"(?:word|verb|noun|adjective|adverb|term|phrase|expression|idiom|saying|acronym|sentence)"
_WORD = rf"(?:(?:the |an? )?(?:{_TONGUE} |slang )?{_KIND} )"
_X = r"(?P<x>[^?.!,;:()\n]{1,60}?)"
_END = (
    rf"(?=(?: in (?:{_TONGUE}|the|an?|this|everyday|(?:\w+ ){{1,3}}(?:words|sentences))\b"
    r"| (?:when|if|as|that|who|for|to|and|or|but|used|from|with|actually|exactly|please|pls|plz)\b)|\W*$|[?.!,;:(])"
)
_PROPER = r"(?:correct|incorrect|right|wrong|proper|grammatical(?:ly (?:correct|right))?|acceptable|good|bad|idiomatic)"
_FORM = (
    r"(?:plural|singular|past tense|past simple|simple past|past form|(?:past|present) participle|comparative"
    r"|superlative|feminine|masculine|(?:noun|verb|adjective|adverb|possessive) form|conjugation|gerund|diminutive"
    r"|etymology)"
)
_ASK = r"how (?:do|does|would|can|should|to)(?: (?:you|i|we|one|people))?"
_OF_WORDS = tuple(
    late(pattern)
    for pattern in (
        rf"\b(?:does|do|did|is|was) {_WORD}{_X} (?:mean|stand for|come from|originate|used)\b",
        rf"\b(?:meaning|definition|origin|history|usage|gender|root|translation) of {_WORD}{_X}{_END}",
        rf"\b{_FORM} of {_WORD}?{_X}{_END}",
        rf"\b(?:synonyms?|antonyms?|plural|spelling|pronunciation) (?:of|for|to) {_WORD}?{_X}{_END}",
        rf"\b(?:another|other|different|better) (?:words?|ways? (?:of saying|to say)) (?:for |instead of |meaning )?"
        rf"{_X}{_END}",
        rf"\brhymes? with {_WORD}?{_X}{_END}",
        rf"\bhow many (?:letters|syllables|vowels|consonants|[a-z]'?s) (?:(?:are|is|does|do) )?(?:there )?(?:in )?"
        rf"{_WORD}?{_X}(?: have| has| contain)?{_END}",
        rf"\b{_ASK} (?:spell|pronounce|conjugate|hyphenate|capitali[sz]e) {_WORD}?{_X}{_END}",
        rf"\bhow (?:is|are) {_WORD}?{_X} (?:spelled|spelt|pronounced|conjugated|hyphenated)\b",
        rf"\buse {_WORD}?{_X} in a sentence\b",
        rf"\b(?:example sentences? (?:with|for)|sentences? (?:using|containing|that uses?)) {_WORD}?{_X}{_END}",
        rf"\bpart of speech is {_WORD}?{_X}{_END}",
        rf"\bis {_X} (?:actually |really )?an? (?:real |actual |valid |proper |{_TONGUE} )?"
        r"(?:word|noun|verb|adjective|adverb)\b",
        rf"^\W*{_X} (?:synonyms?|antonyms?|plural|etymology|pronunciation|past tense)\W*$",
        rf"\b{_TONGUE} (?:word|term|name) (?:for|of) {_WORD}?{_X}{_END}",
    )
)
_OF_SAYINGS = tuple(
    late(pattern)
    for pattern in (
        rf"\b{_ASK} (?:say|write|translate) {_WORD}?{_X} (?:in|into|to) {_TONGUE}\b",
        rf"\bhow (?:is|are) {_WORD}?{_X} (?:said|written|called|translated) (?:in|into) {_TONGUE}\b",
        rf"\btranslate {_WORD}?{_X} (?:from {_TONGUE} )?(?:in|into|to) {_TONGUE}\b",
        rf"\bwhat(?:'s| is) {_WORD}?{_X} (?:called )?in {_TONGUE}{_END}",
        rf"\b{_PROPER}(?: {_TONGUE}| grammar)? to (?:say|write) (?!that\b){_WORD}?{_X}(?=\W*$|[?.!;:(])",
    )
)
# Of a word, or of the thing that it stands for.
_OF_EITHER = tuple(
    late(pattern)
    for pattern in (
        rf"\bwhat (?:does|do|did) {_X} (?:mean|stand for|signify)\b(?! (?:by|for|to|if|when)\b)",
        rf"\b(?:meaning|definition|abbreviation|acronym|opposite) (?:of|for) {_X}{_END}",
        rf"^\W*define {_X}{_END}",
        rf"^\W*{_X} (?:meaning|definition)\W*$",
    )
)
_FRAMES = ((_OF_WORDS, True, _FEW), (_OF_SAYINGS, True, _SAYING), (_OF_EITHER, False, _FEW))
_CUES = vocabulary(
    "mean stand signify come originate used meaning definition define origin history usage translation translate gender"
    " root plural singular past participle comparative superlative synonym synonyms antonym antonyms feminine masculine"
    " noun verb adjective adverb possessive conjugation conjugate conjugated gerund diminutive etymology pronunciation"
    " pronounce pronounced spelling spell spelled spelt hyphenate hyphenated capitalize capitalise letters syllables"
    " vowels consonants many word words way ways rhyme rhymes say said write written called sentence sentences speech"
    " abbreviation acronym opposite"
) | frozenset(TONGUES)
_MARKS = late(r"(?<!\w)['\u2018]|['\u2019](?!\w)|[\"\u201c\u201d`*_]")
_LEADING = vocabulary("the a an to word words name")
# What points at words that stand elsewhere, or asks.
_POINTING = vocabulary(
    "it this that these those he she they you i your my his her their there here is are was does do did can could would"
    " should how what which who why when where somebody someone people more with telling saying expressing"
)


_THAT = vocabulary("it this that these those")


class Mention(NamedTuple):
    """The words that a text speaks of, and if the frame leaves no doubt that it is of them and not of a thing."""

    words: tuple[str, ...]
    sure: bool


def read(words: SplitText) -> Mention | None:
    """The words that a text speaks of; None where no frame says that it does."""
    if words.bag.isdisjoint(_CUES) or len(words.lower) > _LONGEST:
        return None
    plain = _MARKS.sub("", words.lower.replace("\u2019", "'")).replace("i'm ", "i am ")
    for patterns, sure, longest in _FRAMES:
        for pattern in patterns:
            found = pattern.search(plain)
            if found is not None and (spoken := _bare(found["x"], longest)):
                return Mention(spoken, sure) if len(spoken) <= longest else None
    return None


def differ(one: Mention, two: Mention) -> bool:
    """Return True if these are other words; a word more or less does not make them so."""
    if one.sure and two.sure:
        ours, theirs = set(one.words), set(two.words)
        return not (ours <= theirs or theirs <= ours)
    return {_form(word) for word in one.words}.isdisjoint(_form(word) for word in two.words)


def _bare(spoken: str, longest: int) -> tuple[str, ...]:
    said = ["thank" if word == "thanks" else word for word in spoken.replace("-", " ").split()]
    while said and said[0] in _LEADING:
        del said[0]
    points = _POINTING if longest == _FEW else _THAT if len(said) < _FEW else frozenset[str]()
    return () if said and said[0] in points else tuple(said)


def _form(word: str) -> str:
    return stem(word)[:_ALIKE]
