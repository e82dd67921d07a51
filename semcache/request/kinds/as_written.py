"""Prompts whose answer hangs on how a text is written: its spelling, its words, its tone, the language it is in.

Another wording of such a text is another text. It stands in the prompt, behind an instruction, or a system prompt says
that what the user writes is to be worked on. Knows folded text. Invariant: what only asks how to write, and a system
prompt that says how to answer, is not of this kind.
"""

from __future__ import annotations

import re

from semcache.request.kinds.given import LEAD
from semcache.request.kinds.patterns import any_of
from semcache.request.secrets import fold
from semcache.runtime.scoped_memo import scoped_cache

_READ = 4000  # characters of a system prompt
_PIECE = (
    r"(?:text|sentences?|words?|phrase|paragraph|passage|line|spelling|grammar|punctuation|capitali[sz]ation|e-?mail"
    r"|message)"
)
# A record or a page that is not in the prompt: no colon and no new line gives its text.
_ELSEWHERE = (
    r"(?:my|your|our|his|her|their|the|an?|someone's) (?:[\w'-]+ ){0,2}?(?:name|surname|address|tickets?|bookings?"
    r"|reservation|invoices?|passport|visa|certificate|contract|accounts?|profile|orders?|pages?|web\s?sites?|site|docs"
    r"|documentation|app|manual|guides?|forms?|records?|articles?|menus?|listings?|database|catalog(?:ue)?|letterhead"
    r"|newsletter|brochure|label|sign|card|badge|licence|license|diploma|transcript|payslip|statement)\b(?!.{0,80}[:\n])"
)
# Asked of letters and words themselves.
_FORM = any_of(
    r"\bspel(?:led|t) (?:correctly|right|properly|wrong|incorrectly)\b",
    r"\b(?:spelling|grammar|grammatical|punctuation) (?:mistakes?|errors?)\b.{0,40}\b(?:here|this|following)\b",
    rf"\b(?:spelling|grammar|grammatical|punctuation) (?:mistakes?|errors?)\b.{{0,40}}\bin\b(?! {_ELSEWHERE})",
    rf"{LEAD}(?:find|fix|check|correct|spot|mark|list|count|remove|point out)\b.{{0,40}}"
    r"\b(?:spelling|grammar|grammatical|punctuation) (?:mistakes?|errors?)\b.{0,40}\bin\b(?! my (?:\w+ )?name\b)",
    rf"{LEAD}(?:proofread|spell-?check"
    rf"|(?:fix|check|correct)(?: up)? (?:the |my |this |any |all )?(?:following )?{_PIECE})\b"
    # "Correct spelling of accommodate" asks for one.
    r"(?! (?:of|for) (?!th|it\b)['\w-]+\W*$)",
    r"\b(?:is|are) (?:this|the following|these) (?:\w+ )?(?:sentence|phrase|word|text|title)s?\b.{0,40}"
    r"\b(?:capitali[sz]ed|correct|correctly|grammatical\w*|punctuated|spel(?:led|t)|right)\b",
    r"\b(?:how many|number of|count (?:the|all|how many)) (?:words|characters|letters|spaces|sentences|syllables"
    r"|vowels|consonants|[a-z]'s)\b"
    r"(?!.{0,60}\b(?:should|can|may|must|need|limit|allowed|average|english|language|alphabet)\b)",
    r"\bdid i (?:spell|write|type|misspell|capitali[sz]e|use)\b",
    r"\b(?:spell|spelled|spelt) (?:it|that|this) (?:right|correctly|wrong)",
    r"\b(?:that|this|my) spelling\b|\bin capital letters\b|\bexclamation mark\b",
    r"^\W*is (?:this|that) (?:right|correct|spelled right)\s*:",
    rf"{LEAD}(?:reverse|capitali[sz]e|uppercase|lowercase|punctuate) (?:the |this |following )*(?:string|{_PIECE})\b",
    r"\b(?:british or american|american or british|question or (?:a )?statement)\b(?=.{0,40}[:\n])",
)
# Asked of a quote: is it right as it is written?
_RIGHT = any_of(
    r"\b(?:un)?grammatical(?:ly)?\b|\b(?:correct|proper|good|right|bad|wrong) (?:english|grammar|spelling"
    r"|punctuation|german|french|spanish)\b|\bmisspel|\btypos?\b",
    r"\b(?:mistakes?|errors?|wrong) (?:in|with)\b(?=.{0,40}[\"\u201c'])",
)
_QUOTED = re.compile("[\"\u201c\u201d`].+[\"\u201c\u201d`]|(?<!\\w)'.+'(?!\\w)", re.DOTALL)
_HOW_TO = any_of(r"^\W*(?:how (?:do|can|should|would|to)\b|what(?:'s| is) the (?:best )?way\b)")
_TOOL = (
    r"(?:translat(?:or|ion (?:engine|assistant|bot|service|system))|proof-?reader|copy-?editor"
    r"|grammar (?:checker|corrector)|spell-?checker)"
)
_ASKED = (
    r"(?:(?:the|this|that|each|every|an?|following|given|users?'?s?|customer'?s?|my|their|current|original) ){0,3}"
    r"(?:questions?|query|queries|messages?|utterances?|prompts?|requests?|inputs?)\b"
)
_FORMAL = (
    r"(?:well|badly|gramm\w+|(?:im)?polite|(?:in)?formal|rude|correctly|spel\w+|written|phrased|worded|contains?|includes?"
    r"|starts?|begins?|ends?|uses?|(?:an? )?(?:yes|statement|question\b|open|closed|rhetorical))"
)
_MANNER = r"(?:angry|upset|rude|polite|sarcastic|ironic|frustrated|happy|satisfied|annoyed|sad|joking|serious)"
_SYSTEM = any_of(
    r"\b(?:translate|rewrite|rephrase|reword|paraphrase|proofread|spell-?check|transcribe|transliterate|reverse"
    r"|capitali[sz]e|punctuate|shorten|condense|expand|polish|repeat|echo|copy|lemmati[sz]e|tokeni[sz]e|highlight"
    rf"|underline) {_ASKED}",
    r"\b(?:turn|convert|transform|put|change|make) " + _ASKED + r"[^.\n]{0,30}\b(?:statement|sentence|capitals?"
    r"|upper ?case|lower ?case|passive|tense|polite|formal|shorter|longer)\b",
    r"\b(?:words?|wording|tone|grammar|spelling|style|letters?|characters?|syllables?|nouns?|verbs?|adjectives?|syntax"
    rf"|length|phrasing|politeness|sentiment|formality)\b[^.\n]{{0,20}}\b(?:of|in|from) {_ASKED}",
    rf"\b(?:is|was|does|has|whether|if) {_ASKED} (?:is |was |has |have )?{_FORMAL}",
    rf"\bhow (?:polite|formal|rude|long|clear|well|many \w+)\b[^.\n]{{0,40}}\b{_ASKED}",
    r"\byes(?:/| or )no question\b",
    r"\b(?:what|which|detect|identify|determine)\b[^.\n]{0,25}\blanguage\b",
    r"\b(?:translate|rewrite|rephrase|reword|paraphrase|proofread|spell-?check|transcribe|transliterate|reverse"
    r"|capitali[sz]e|punctuate|(?:fix|correct) (?:the )?(?:spelling|grammar|text|sentence)s?)\b[^.\n]{0,60}"
    r"\b(?:user|user's|users|following|given|provided|input|incoming|text|texts|sentences?|everything|whatever"
    r"|anything)\b",
    r"\btranslate (?:[\w' ]{1,40} )?(?:from \w+ )?(?:in)?to \w+\b",
    r"\b(?:score|rate|judge|assess|evaluate|detect|measure|analy[sz]e|classify|identify|determine|label|tell)\b"
    r"[^.\n]{0,40}\b(?:politeness|tone|sentiment|emotions?|mood|formality|readability|dialect|toxicity|urgency|profanity"
    r"|spam)\b",
    rf"(?:\b(?:decide|determine|detect|tell|say|judge|check|classify|rate|assess)\b[^.\n]{{0,20}}\b(?:whether|if|how)"
    rf"|^\W*(?:is|was|how {_MANNER} is))\b[^.\n]{{0,30}}\b(?:user|customer|client|speaker|writer|author|sender)\b"
    rf"(?:[^.\n]{{0,20}}\b{_MANNER}\b|\?)",
    r"\b(?:extract|list|find|mark|tag|underline|highlight) (?:(?:all|any|every|each|the|of) ){0,3}"
    r"(?:verbs?|nouns?|adjectives?|adverbs?|pronouns?|prepositions?)\b",
    r"\b(?:point out|mark|correct|underline|highlight|spot) (?:(?:all|any|every|each|the|of|his|her|their) ){0,3}"
    r"(?:mistakes?|errors?|typos?|misspellings?)\b(?![^.\n]{0,40}\b(?:code|program|script|query|bugs?|data|plan)\b)",
    r"\bcount\b[^.\n]{0,40}\b(?:words|characters|letters|sentences|tokens|syllables)\b",
    r"\b(?:extract|list|return|output|copy)\b[^.\n]{0,80}\b(?:verbatim|exactly as"
    r"|as (?:it is |they are )?(?:written|given)|in the (?:same )?(?:format|form|spelling))\b",
    rf"\b(?:you are|act as) (?:an? |the )?(?:[\w-]+ ){{0,3}}{_TOOL}\b",
    r"\b(?:british or american|american or british|question or (?:an? )?statement|statement or (?:an? )?question)\b",
)


@scoped_cache(maxsize=2048)
def asks_about_form(text: str) -> bool:
    """Return True if a prompt asks about how a text in it is written, and does not mark that text by quotes."""
    folded = fold(text)
    return _FORM.search(folded) is not None and _HOW_TO.match(folded) is None and _QUOTED.search(text) is None


@scoped_cache(maxsize=2048)
def asks_of_letters(text: str) -> bool:
    """Return True if a prompt asks whether what it quotes is right as it is written."""
    folded = fold(text)
    return _FORM.search(folded) is not None or _RIGHT.search(folded) is not None


@scoped_cache(maxsize=256, usual=4096)
def works_on_wording(system: str) -> bool:
    """Return True if a system prompt has the user's messages worked on, so that their wording decides the answer."""
    return _SYSTEM.search(fold(system[:_READ])) is not None
