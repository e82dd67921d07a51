"""Prompts that want something new each time: a poem, an idea, another one, a random number.

Knows words and patterns of folded text. Invariant: code is no such work, unless it is asked for playfully.
"""

from __future__ import annotations

from semcache.request.kinds.general import HOW_TO
from semcache.request.kinds.patterns import SENTENCES, CuedPatterns, any_of, rule, vocabulary, words_of

_WORK = (
    r"(?:poems?|haikus?|limericks?|sonnets?|verses?|(?<!user\s)(?<!user-)(?<!job\s)stor(?:y|ies)"
    r"(?! behind\b| of (?!(?:about|around|roughly|some|at most|up to|\d+)\b))|tales?|fable|novel|jokes?|puns?"
    r"|riddles?|songs?|lyrics|rap|tweets?|captions?|slogans?|taglines?|names? for|ideas?|essay|speech|toast|screenplay"
    r"|script for a (?:movie|play|video|scene|podcast)|scene|dialogue|blog(?:\s?post)?s?|bio|ad(?:vert(?:isement)?)?s?"
    r""
    r"|ad copy"
    r"|posts?(?! offices?\b)|headlines?|letters?(?! (?:of|in)\b)|prompts?|pickup lines?|greetings?"
    r"|fan\s?fic(?:tion)?"
    r"|characters?(?! (?:of|in|from)\b)|plot(?! of\b)|quiz|trivia|compliments?|usernames?|nicknames?"
    r"|passwords?(?! (?:polic\w+|managers?|rules?|resets?|fields?|generators?|hash\w*|prompts?|forms?)\b)"
    r"|dad jokes?|bedtime story)\b"
)
# "Tell me how many ..." asks for knowledge, and "the story", "the password" is one that exists.
_WORD = r"(?!(?:how|what|which|who|whose|where|when|why|whether|if|about|wrong)\b)[\w']+[\s-]+"
_VERB = (
    r"(?:write|compose|create|craft|draft|generate|make(?: up)?|invent|come up with|think of|pen|tell(?: me)?"
    r"|give(?: me)?"
    r"|sing(?: me)?|suggest|propose|produce|put together|whip up)"
)
_LITERARY = (
    r"(?:poems?|haikus?|limericks?|sonnets?|jokes?|puns?|riddles?|songs?|raps?|(?:bedtime |short )?"
    r"(?<!user\s)(?<!user-)(?<!job\s)stor(?:y|ies))\b"
)
_EXISTING = r"(?:(?:give|tell)(?: me)?|make) (?:\w+ ){0,2}?(?:(?:the|my|your) (?:story|tale|password)\b|wrong\b)"
_WORKS = vocabulary(
    "raps"
    " poem poems haiku haikus limerick limericks sonnet sonnets verse verses story stories tale tales fable novel joke",
    "jokes pun puns riddle riddles song songs lyrics rap tweet tweets caption captions slogan slogans tagline",
    "taglines name names idea ideas essay speech toast screenplay script scene dialogue blog blogs blogpost blogposts",
    "bio ad ads advert adverts advertisement advertisements post posts headline headlines letter letters prompt",
    "prompts pickup greeting greetings fan fanfic fanfiction character characters plot quiz trivia compliment",
    "compliments username usernames nickname nicknames password passwords dad bedtime sonnet card wish message note",
)
_ANOTHER = r"(?:one|joke|story|poem|idea|version|example|try|attempt|option|variation|suggestion)"
_CREATIVE = CuedPatterns(
    rule(
        _WORKS,
        rf"\b(?!{_EXISTING}){_VERB} (?:me |us |up )?"
        rf"(?:an? |some |the |another |one |\d+ |few |two |three |five |ten )*(?:{_WORD}){{0,3}}?{_WORK}",
        # "Write me, in four lines, a limerick", "write for my gran a poem".
        rf"\b{_VERB}(?: me| us)?(?:, [^,.?!\n]{{1,80}}, | for [^,.?!\n]{{1,60}}? )(?:an?"
        rf"|some|one|two"
        rf"|three|\d+) (?:{_WORD}){{0,3}}?{_WORK}",
        rf"\b(?:i(?:'d| would) (?:like|love)|i (?:want|need)|i(?:'m| am) looking for|how about"
        rf"|gimme|do(?: me| us)?)(?: to (?:hear|read|have|get))? (?:an?|some|another|two"
        rf"|three) (?:{_WORD}){{0,3}}?{_LITERARY}"
        r"(?! (?:by|book|books|collection|called|that (?:i|my|we)|i (?:heard|read|saw))\b)(?![^?\n]{0,60}\bby\b)",
        rf"\b(?:an?|one) (?:{_WORD}){{0,3}}?{_LITERARY},? (?:please|pls)\W*$",
        rf"^\W*(?:can i (?:get|have)|(?:do you )?(?:have|know)|have you got|got) (?:an? |any |some )(?:{_WORD}){{0,2}}?"
        rf"{_LITERARY}(?! (?:by|books?|called|titles?|templates?|formats?|recommendations|points?|arcs?)\b)",
        rf"\byou mind (?:writing|composing|making up|inventing)(?: me| us)? an? (?:{_WORD}){{0,3}}?{_WORK}",
    ),
    rule(
        "surprise laugh entertain regenerate creative",
        r"\bsurprise me\b|\bmake me laugh\b|\bentertain me\b|\bregenerate\b|\bbe creative\b",
    ),
    rule(
        "random",
        r"\brandom (?:number|fact|word|name|person|color|colour|letter|quote|joke|thing|topic|movie|song|animal|country"
        r"|idea|one)\b",
        r"\brandom password\b(?!.{0,200}\b(?:vs|versus|(?:stronger|safer|better) than)\b)",
    ),
    rule("random randomly", r"\b(?:pick|choose|select|give me|generate) (?:\w+ ){0,3}?(?:at random|randomly|random)\b"),
    rule("coin roll", r"\b(?:flip|toss) a coin\b|\broll (?:a )?(?:dic?e|\d*d\d+)\b"),
    rule(
        "another different more",
        r"^\W*(?:(?:give|tell|show) me )?(?:another|a different|one more|some more)\b(?: \w+)?\W*$",
    ),
    # "Merge a branch into another one" names a second thing, and asks for nothing new.
    rule(
        "another",
        rf"^\W*(?:\w+\W+){{0,2}}?another {_ANOTHER}\b",
        rf"\b(?:tell|give|show|write|try|make|do|generate|suggest|create|compose|invent|make up|come up with) "
        rf"(?:me |us )?another {_ANOTHER}\b",
        rf"\b(?:want|need|have|like|got|is there|what is|what's|about|with|now|and|please) another {_ANOTHER}"
        r"\W*(?:please\W*)?$",
        r"\banother (?:joke|story|poem)\b",
    ),
    rule("again more retry redo next", r"^\W*(?:try again|again|once more|retry|redo|more|next)\b\W*+(?:please)?\W*+$"),
    rule(
        _WORKS,
        r"^\W*(?:(?:an?|some|short|funny|good|new) ){0,3}(?:(?:poem|haiku|limerick|sonnet|joke|pun|riddle|song)s?"
        r"|rap|stor(?:y|ies))\b"
        r"(?: (?:please|pls)| (?:about|for) (?!.{0,200}\bby\b)[^\n]{1,200})?\W*$",
        r"^\W*(?:(?:please|hi|hello|hey|so|ok|(?:can|could|would|will) you|i (?:want|need) you to)\W+)*"
        r"(?:write|compose|draft|create) (?:me )?an? (?:\w+ ){0,2}?(?:birthday|anniversary|wedding|retirement|love)"
        r" (?:message|note|card|wish|letter)\b",
    ),
    rule("fact facts quote", r"^\W*(?:tell me |give me )?(?:an? |some )?(?:fun facts?|motivational quote)\W*$"),
    rule("number word", r"\b(?:pick|choose|think of) a number\b|^\W*(?:invent|make up) a (?:new )?word\b"),
    rule("something", r"\bsomething (?:interesting|fun)\W*$"),
    rule(
        "something",
        r"^\W*(?:please )?something (?:different|creative|original|funny|new)\b",
        r"\b(?:tell|give|show|write|say|try|do|make|create|compose|generate|invent|sing|suggest|want|need|with|like"
        r"|draw"
        r"|send|about|think of) (?:me |us |up )?something (?:different|creative|original|funny|new)\b",
    ),
)
_BRAINSTORM = any_of(r"\bbrainstorm")
# "Write a function" names a work too, yet one answer serves everybody.
_CODE = any_of(
    r"\b(?:function|regex|sql|python|javascript|java|bash|code|class|method|unit tests?|api|html|css"
    r"|algorithm|program)\b"
)
# A form to be filled in is the same for everybody.
_FILLED_IN = r"(?:letters?|bios?|blogs?|posts?|emails?|essays?|speech(?:es)?|quiz|ads?|cards?|invitations?|messages?)"
_FORM = any_of(
    rf"\b{_FILLED_IN} templates?\b|\btemplates? (?:for|of) (?:an? |the |my )?(?:[\w-]+ ){{0,3}}?{_FILLED_IN}\b"
)
_PLAYFUL = any_of(r"\b(?:random|brainstorm|another|regenerate|again|poem|joke|haiku|lyrics|song|limerick)")
_RANDOMNESS = any_of(  # what a program is to draw
    r"\b(?:function|query|method|class|code|script|program|algorithm|regex)\b.{0,120}\brandom",
    r"\b(?:python|javascript|java|bash|sql|php|ruby|rust|golang|c\+\+|c#|typescript|excel|numpy)(?!\w).{0,60}\brandom"
    r" (?:number|integer|int|float|string|element|item|row|choice|sample|color|colour|password|date|boolean)s?\b",
    r"\brandom.{0,120}\b(?:in|using|with) (?:python|javascript|java|bash|sql|php|ruby|rust|go|c\+\+|c#"
    r"|typescript|excel)(?!\w)",
)
# "How many parts make up the story?" counts what there is.
_ASKS_ABOUT = any_of(
    r"^\W*(?:how (?:many|much|long|often|hard)|who|whose|which|when|where|what makes)\b[^.!?\n]*+\W*+$"
)


# "What should I write in a card?" asks for advice, after whatever has been told.
_ASKS_HOW = any_of(
    r"^\W*(?:(?:and|so|but) )?(?:how (?:do|does|can|could|should|would|to|long|often)\b"
    r"|what (?:should|do|must|can) (?:i|you|one) (?:write|say|put|include)\b|what would be an? (?:\w+ )?way to\b)"
)
_OWN_CASE = any_of(
    r"^\W*(?:i|i'm|i've|i'd|we|we're|we've|my|our|whenever|when (?:i|we))\b"
    r"(?!.{0,300}\b(?:please|(?:want|need|like|love|looking for) (?:you|an?|some|the|one|\d+)\b))"
)


# Who is to give a speech does not ask for one, unless the text asks for words.
_PERFORMED = any_of(
    r"(?<!you\s)\b(?:to|must|will|should|have to|gotta) (?:give|hold|deliver|make) (?:an?|my|the) (?:[\w'-]+ ){0,3}?"
    r"(?:speech|toast)\b"
)
_WRITES = any_of(
    r"\b(?:write|writing|draft|compose|create|craft|generate|prepare|come up with|need an?|suggest|example|ideas?)\b"
)


def _without_performed(folded: str) -> str:
    return folded if _WRITES.search(folded) is not None else _PERFORMED.sub(" _ ", folded)


def _tells_and_asks_how(folded: str) -> bool:
    """Return True if a text ends by asking how, and all else that names a work tells the sender's own case."""
    *told, asked = SENTENCES.split(folded.strip())
    if _ASKS_HOW.match(asked) is None:
        return False
    return all(_OWN_CASE.match(part) is not None or not _CREATIVE.match(part, words_of(part)) for part in told)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if something new is wanted each time; `bag` holds the words of the text."""
    folded = _without_performed(folded)
    if not (_CREATIVE.match(folded, bag) or ("brainstorm" in folded and _BRAINSTORM.search(folded) is not None)):
        return False
    if HOW_TO.match(folded) is not None or _ASKS_ABOUT.match(folded) is not None or _tells_and_asks_how(folded):
        return False
    if _RANDOMNESS.search(folded) is not None or _FORM.search(folded) is not None:
        return False
    return _CODE.search(folded) is None or _PLAYFUL.search(folded) is not None
