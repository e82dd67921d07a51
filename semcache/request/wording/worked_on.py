"""Instructions that work on a text beside them, with no colon between: "Is this polite? Send it." and the like.

Read by their words: an instruction works on language, and points at the text or lacks an object of its own. Invariant:
nothing but the first sentence of a prompt, or its last, is such an instruction; thanks behind one are no text.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.chatter import enough
from semcache.request.wording.cues import holds

_LONGEST = 120  # characters of an instruction
_VERBS = vocabulary("""
    add answer capitalize change classify complete condense convert correct count describe detect edit evaluate expand
    explain find fix give identify improve make name paraphrase parse polish proofread punctuate put rate read remove
    rephrase replace reply respond reverse reword rewrite say score shorten simplify spell summarize translate
    transliterate turn underline unscramble use
    """)
_QUESTIONS = vocabulary("is are was does do what what's which how who where in")
_POLITE = vocabulary("please kindly can could would will you just now then and so also but help me us to try now")
_POINTING = vocabulary("this these that it here following below above")
# What is said of language, and of nothing else in so short a sentence.
_LANGUAGE = vocabulary("""
    sentence sentences phrase phrases paragraph typo typos grammar grammatical grammatically spelling misspelled
    punctuation contractions contraction politely polite impolite rude formal formally informal informally casual
    casually passive syllable syllables vowels consonants plural singular tense verb verbs noun nouns adjective
    adjectives adverb adverbs pronoun pronouns preposition prepositions clause abbreviation acronym sentiment tone mood
    sarcastic sarcasm joke pun metaphor simile idiom proverb slang wording filler rhyme subject predicate reported
    indirect interrogative imperative declarative capitals uppercase lowercase
    """)
# These only with a word that points at the text.
_OF_A_TEXT = vocabulary("""
    words word letters letter characters text message email tweet quote poem headline caption review comment passage
    statement question voice shorter longer simpler clearer nicer friendlier language correct spam positive negative
    speech offensive professional concise fluent
    """)
_TONGUES = vocabulary("""
    english french spanish german italian portuguese dutch swedish norwegian danish finnish polish czech russian
    ukrainian greek turkish arabic hebrew persian hindi urdu bengali tamil chinese mandarin japanese korean vietnamese
    thai indonesian latin romanian hungarian catalan swahili
    """)
_MISTAKEN = re.compile(
    r"(?:what is|what's|find|spot|fix|correct) (?:the |any )?(?:wrong|mistakes?|errors?|typos?)(?: here)?$"
)
_TO = re.compile(
    r"(?:translate|say|put|write|render|turn|convert|change|rewrite|reply|respond)(?: (?:this|it|that|the following))?"
    r" (?:in|into|to)(?: (?:an?|the|american|british|simplified|traditional|brazilian|formal|informal|simple|plain"
    r"|past|present|future|yes-no|indirect|reported))? ([a-z]+)$"
)
_MADE_INTO = _TONGUES | _LANGUAGE | _OF_A_TEXT | _POINTING | vocabulary("past present future active")
_FEW = 6  # words of an instruction that names nothing but what to do: "remove the filler words"
# With these an instruction names what it is about: "explain the passive in German", "a joke about cats".
_TOLD = vocabulary("a an about between of my some for in three five ten two four")
_BARE = _VERBS | _POLITE | _POINTING | _LANGUAGE | _OF_A_TEXT | vocabulary("the in to into with without")
_FIRST = re.compile(r"([^.?!:;\n]{4,120}?)(?:[.?!]+\s+|\s*[:;]\s+|\s+[-\u2013\u2014]\s+)(?=\S)")
_ENDS = tuple(".?!:;-\u2013\u2014")  # one of these ends a first sentence
_LAST = re.compile(r"(?<=[.?!\"'\u201d])\s+([^.?!:;\n]{4,120})[.?!]*\s*$")
_LAST_READ = 160  # characters from the end
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def text_begins(text: str) -> int:
    """Where the text begins that a first sentence works on, 0 where none does.

    >>> text_begins("Is this polite? Send it.")
    16
    """
    match = _FIRST.match(text) if holds(text, _ENDS) else None
    if match is None:
        return 0
    said = match[1].lower().strip()
    return match.end() if _works(said) and (enough(text[match.end() :]) or _lacks_object(said)) else 0


def text_ends(text: str) -> int:
    """Where the text ends that a last sentence works on, 0 where none does.

    >>> text_ends("Send it. Make this more polite.")
    8
    """
    tail = text[-_LAST_READ:]
    match = _LAST.search(tail)
    if match is None:
        return 0
    words = _WORD.findall(match[1].lower())
    # "I paid twice. Is this correct?" asks of no wording.
    asks = words[:1] != [] and words[0] in _QUESTIONS and _LANGUAGE.isdisjoint(words) and _TONGUES.isdisjoint(words)
    if asks or _POINTING.isdisjoint(words) or not _works(match[1].lower().strip()):
        return 0
    return len(text) - len(tail) + match.start()


def _works(said: str) -> bool:
    """Return True for a sentence in lower case that works on language."""
    words = _WORD.findall(said)
    asked = next((word for word in words if word not in _POLITE), "")
    verb = asked.replace("ise", "ize") if asked.endswith("ise") else asked
    if (verb not in _VERBS and verb not in _QUESTIONS) or (verb == "answer" and "question" in words):
        return False
    if _lacks_object(said):
        return True
    pointing = not _POINTING.isdisjoint(words)
    if not _LANGUAGE.isdisjoint(words):
        return pointing or (verb in _VERBS and len(words) <= _FEW and _TOLD.isdisjoint(words))
    return pointing and not (_OF_A_TEXT.isdisjoint(words) and _TONGUES.isdisjoint(words))


def _lacks_object(said: str) -> bool:
    """Return True for what says nothing but what to do: "translate to French", "complete the sentence"."""
    match = _TO.match(said)
    if (match is not None and match[1] in _MADE_INTO) or _MISTAKEN.match(said) is not None:
        return True
    words = _WORD.findall(said)
    return words[0] in _VERBS and not _LANGUAGE.isdisjoint(words[1:]) and _BARE.issuperset(words)
