"""Chatter: sentences and clauses at either end of a prompt that ask for nothing and say nothing.

Told by their words alone: each is one of a closed set, and one of them is a sign of greeting, thanks, apology, asking
for help or hesitation. Invariant: at least two words are left, and what is to be said, translated or written is kept.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded, holds
from semcache.request.wording.small_talk import asks, asks_of_hope

# Words that chatter is made of; none of them names a thing that a question can be about.
_EMPTY = vocabulary(
    """
    hi hello hey hiya heya howdy greetings yo hallo morning afternoon evening night good day dear team all everyone
    everybody
    folks guys friend friends there assistant sir madam buddy mate pal bro dude man bot chatbot ai chatgpt gpt claude
    gemini siri alexa copilot support community y'all fellas people experts expert gang
    thank thanks thankyou thx thnx tnx ty tia cheers ta much many so very a an lot lots ton tons bunch million again in
    advance kindly appreciated appreciate appreciates appreciating grateful gratitude obliged blessed bless god
    help helping helped helps helpful assist assistance assisting guidance advice input insight insights answer answers
    reply response any some your the this that it its would be will is great nice lovely awesome wonderful amazing
    fantastic super cool perfect really truly greatly deeply highly sincerely hugely immensely massively incredibly
    i i'm im am i'd i've ive we we're we'd me us my our you you're ur u your are were was have had has got need needed
    want wanted like love hope hoping hopefully wish trust finds find doing well fine okay ok alright kind
    sorry apologies apologise apologize pardon excuse bother bothering disturb disturbing interrupt interrupting
    intrude trouble troubling for to if with of on about from at dumb silly stupid basic simple quick quickly little
    small tiny easy random odd weird strange obvious newbie noob question questions query ask asking wondering
    curious wonder wondered curiosity interest one two another more thing just only here can could may might please
    pls plz someone anyone somebody anybody know knows let tell do does did not don't mind
    time week weekend one patience understanding reading attention consideration efforts effort
    regards wishes best warm warmest truly faithfully yours bye goodbye ciao later soon forward looking hearing hear
    um umm uhm uh uhh er erm hmm hm mm mmm oh ah aha eh huh gosh geez ugh phew right now anyway anyways by way btw
    fyi first
    off real quick as always basically honestly actually seriously frankly literally essentially look listen yeah yep
    yup yes mean guess suppose think out pure and or but ahead everything going today
    next before while earlier yesterday previous last already since been stuck confused lost desperate urgent
    urgently asap possible chance soon artificial intelligence
    """
)
_SIGNS = vocabulary(
    """
    hi hello hey hiya heya howdy greetings yo hallo thank thanks thankyou thx thnx tnx ty tia ta cheers appreciated
    appreciate appreciates appreciating grateful gratitude obliged help helping helped helpful assist assistance
    guidance sorry apologies apologise apologize pardon excuse bother bothering disturb disturbing interrupt
    interrupting
    question questions query wondering curious curiosity regards wishes hope hoping hopefully um umm uhm uh uhh er erm
    hmm hm mm mmm please pls plz bye goodbye ciao morning afternoon evening night dear btw ugh phew
    """
)
_POLITE = vocabulary("please pls plz")
_TIMES = vocabulary("morning afternoon evening night")
_AUDIENCE = vocabulary("all everyone everybody team folks guys there y'all friends mate mates people")
_WISHED = vocabulary("good nice great lovely wonderful have")
_SOFT = vocabulary("""
    please pls plz kindly now asap urgent urgently soon quickly quick as possible so really just ok okay thank right
    and but well very i need want this it that would like if you can could will again here man dude mate bro
    """)
_ANSWERS = vocabulary("""
    help helping assist assistance advice answer answers reply response tell know let explain guidance anyone someone
    somebody anybody asking ask wondering question
    """)
# "Two answers please", "a simple answer please": of these answers something is said.
_REPLIES = vocabulary("answer answers reply response")
_LIKENED = vocabulary("""
    one two another more all only simple easy small tiny basic random weird odd silly stupid dumb strange awesome
    amazing fantastic lovely wonderful super cool perfect little just only
    """)
# What hangs before a comma and is no sentence.
_CONNECTIVES = vocabulary(
    """
    so well ok okay okey alright anyway anyways basically honestly actually seriously frankly essentially literally look
    listen yeah yep yup hmm hm mm mmm man dude mate bro boy then um uh er erm oh ah cool great right now anywho soo
    sooo well-well aha huh
    """
)
# What somebody says before a question so as not to be blamed for it.
EXCUSES = (
    r"(?:(?:it|this) (?:has bugged|has been bugging) me(?: forever| for (?:ages|years|days|weeks|hours))?"
    r"|(?:i am )?not sure if (?:this|it) is (?:the right place|ok|okay)(?: to ask)?(?: this| here)?"
    r"|first[- ]time (?:user|caller|poster|asker) here|(?:total |complete |absolute )?(?:noob|newbie|n00b) here"
    r"|homework help(?: please)?|late night question|(?:i know )?this (?:is|may be|might be|sounds) (?:probably |maybe "
    r"|perhaps )?(?:obvious|dumb|silly|stupid|an? (?:obvious|dumb|silly|stupid|basic|noob|weird)(?: question| one)?)"
    r"|sorry if (?:this|it) (?:is obvious|has been asked(?: before| already)?))"
)
_PHRASES = re.compile(
    r"(?:to be (?:honest|fair|clear)|i mean|you know(?: what)?|as (?:it happens|always|i said)"
    r"|by the way"
    r"|first things first|first of all|real quick|for what it is worth|long story short|out of (?:pure |sheer |idle )?"
    r"(?:curiosity|interest)|just out of (?:curiosity|interest)|come to think of it|(?:hang|hold) on(?: a (?:second|sec"
    r"|minute|moment))?|wait(?: a (?:second|minute|moment))?|one (?:more|last|other|quick) (?:thing|question)"
    r"|(?:quick|small|little|tiny) (?:one|thing|favou?r)|tell me(?: something)?|let me ask(?: you)?(?: "
    r"(?:this|something))?"
    r"|let us see|let me see|you see|guess what|long time listener|asking for a friend|serious question|no rush"
    r"|no (?:hurry|pressure|worries)|(?:kind of )?an? (?:quick|small|little|silly|dumb|random|odd) (?:one"
    r"|question|thing|favou?r)|(?:would|could|will|can) you|i mean|well then|ok then|alright then|if you "
    r"(?:do not mind(?: me asking| my asking)?|know|can|could|may|please|would"
    r"|have (?:a|the|any) (?:moment|minute|second|time|idea)|happen to know|get (?:a|the) chance)|if i may(?: ask)?"
    r"|if (?:that is|it is|at all)? ?(?:possible|ok|okay|alright|all right|not too much trouble)|if it is "
    r"not (?:too much"
    r" |a )?(?:trouble|bother)|when(?:ever)? you (?:can|get a (?:chance|moment|minute)|have (?:a|the) (?:moment|minute"
    r"|second|time|chance))|at your (?:earliest )?convenience|(?:any|all) (?:ideas?|thoughts?|suggestions?|tips?|clues?"
    r"|pointers|takers)|any(?:one|body)(?: know)?|do you know|i wonder(?: if you know)?|i was wondering|i am (?:just )?"
    r"(?:curious|wondering)|just (?:curious|wondering|asking)|would (?:love|like) to know|i (?:would|'d) "
    r"(?:love|like) to"
    r" know|(?:i )?(?:would )?appreciate (?:it|your help|any help)|have a (?:great|good|nice|lovely"
    r"|wonderful) (?:day|one"
    r"|evening|weekend|week|time|night)|take care|god bless|see you|speak soon|talk soon|all the best|keep (?:it )?up"
    r"(?: the)? (?:the )?(?:good|great) work|how (?:are|is) (?:you|it|things|everything)(?: (?:doing|going|today|all))*"
    r"|what is up|how do you do|nice to meet you|good to see you|long time no see"
    rf"|{EXCUSES}|(?:i have )?(?:looked|searched|tried|checked) everywhere|l+o+l+|lmao|ha(?:ha)+"
    r"|been bugging me|i keep forgetting|i always forget|i forgot"
    r"|i (?:really )?(?:do not|have no) (?:know|idea|clue)(?: please help)?|i am (?:so )?(?:confused|stuck|lost)"
    r"|need to know(?: asap| soon)?|let me know|please (?:tell me|advise|let me know|help|explain|answer|respond|reply)"
    r"|kindly (?:advise|help|assist|reply|respond)|please and thank you|(?:can|could|would) (?:you|some(?:one|body)"
    r"|any(?:one|body)) (?:please )?(?:help(?: me| us)?(?: out)?|tell me|explain|advise|let me know)(?: please)?)"
)
_HOPES = re.compile(
    r"(?:i |we )?(?:really |do )?(?:hope|trust|wish)(?: that)? (?=(?:you|this|all|every(?:one|thing)|your|we)\b)"
)
# Words of hopes that are nobody's business but the reader's.
_HOPED = _EMPTY | vocabulary(
    """
    message email mail note letter clear having makes make sense safe healthy enjoying enjoyed holiday holidays vacation
    christmas easter summer winter spring autumn monday tuesday wednesday thursday friday saturday sunday month year
    staying keeping family loved ones health spirits go goes went start far work
    """
)
_PICTURES = re.compile(
    "[ ]?[\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\U0001f1e6-\U0001f1ff]+"
    r"|(?<=\s)(?:[:;=]-?[)(DPp]|<3|:'\()(?=\s|$)"
)
_TAKING = vocabulary("""
    with use using the a an is are was does do of and or emoji emojis add put send like to in for by between vs versus
    this that these those my describe explain about
    """)
_ASKING = vocabulary("""
    what who whom whose where when why how which can could would will should is are do does did i we please hi hello
    hey thanks thank tell give show explain write list help any my so
    """)
_CLOSING = frozenset((*".?!,:;\n", *"\u2013)"))
_MARKS = frozenset(".?!,:;\n\u2013")
_HEAD = re.compile(r"([^.?!,:;\n]{1,90}?)(?:[.!?,:;]+\s+|\s+\u2013\s+|\s*\.\.\.\s*|\s*\n\s*)")
_STOP = re.compile(r"[.?!,:;\n]")
_MARKED = re.compile(r"[.!?,:;]+\s")
_LAST = re.compile(r"(?:[.?!;,]+\s+|\s+\u2013\s+|\s*\n\s*|\s*\.\.\.\s*)(?=([^.?!;,\n]{1,90})[.?!;,\s)]*$)")
# The same where no line ends, no dash stands and nothing trails off.
_LAST_MARKED = re.compile(r"[.?!;,]+\s+(?=([^.?!;,\n]{1,90})[.?!;,\s)]*$)")
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\S")
_QUOTING = re.compile(
    r"\b(?:say|saying|says|said|translat\w*|writ(?:e|ing)|wrote|words?|phrase|means?|meaning|express\w*"
    r"|spell|repl(?:y|ies)"
    r"|respond|rewrite|rephrase|paraphrase|proofread|correct|following|sentence|sign)\b",
    re.IGNORECASE,
)
_QUOTED = (
    "say", "said", "transla", "writ", "wrote", "word", "phrase", "mean", "express", "spell",
    "repl", "respond", "proofread",
    "correct", "following", "sentence", "sign",
)  # fmt: skip
_HELD = re.compile("[\ue000-\uf8ff]")
_ASKS = vocabulary("what who whom whose where when why how which")
_ABOUT = re.compile(
    r"(?:in [a-z]+|(?:the )?(?:meaning|definition|pronunciation|spelling|etymology|origin|translation|synonyms?)\b.*"
    r"|is (?:it|that|this) (?:an? )?(?:noun|verb|adjective|adverb|interjection|word|slang|formal"
    r"|informal|rude|polite)\b.*"
    r"|what (?:does|do) (?:it|that|this) (?:mean|stand for)|(?:or|versus|vs)\b.*)[ .?!]*$",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"(?:how|what) (?:do|should|can|could|would|to|is)\b.*\b(?:reply|respond|response|say|answer|text|write)(?: back)?"
    r"(?: to (?:that|this|it|him|her|them))?[ .?!]*$",
    re.IGNORECASE,
)
_JOINS = re.compile(r"(?:but|and|so|however)[, ]+(?=\S)", re.IGNORECASE)
# Behind a comma these may belong to a title: "Hello, Goodbye".
_PARTING = vocabulary(
    "hi hello hey goodbye bye ciao again good morning evening afternoon day dear god bless love you me"
)
_SIGNED = re.compile(
    r"(?<=[.?!\n])\s*(?:many |with )?(?:(?:kind|best|warm)(?:est)? )?(?:regards|wishes|sincerely|yours(?: "
    r"\w+)?|cheers|thanks"
    r"|thank you|best(?=[,\n]))(?: in advance)?[,!.]?\s+[a-z]+(?: [a-z]+)?\.?$",
    re.IGNORECASE,
)
_SIGNING = ("regards", "wishes", "sincerely", "yours", "cheers", "thank", "best")
_END_CUES = _SIGNS | vocabulary(
    """
    mind possible chance know wonder ideas idea thoughts suggestions tips clue clues pointers anyone anybody advise me
    convenience minute moment time trouble bother rush hurry pressure worries day one evening weekend week night
    care would will mean everywhere obvious before already
    bless you soon best work forgetting forget forgot stuck confused lost friend can could may okay ok alright right
    asap everyone guys y'all team all folks takers explain answer respond reply huh please ask asking
    """
)


def without_chatter(text: str) -> str:
    """The text without chatter at its beginning and end, and without pictures."""
    if not text.isascii():
        plain = _without_pictures(text)
        text = plain if len(plain) > 2 else text
    elif ":-" in text or ":)" in text or ":(" in text or ":D" in text or ";)" in text or "<3" in text or ":P" in text:
        text = _without_pictures(text)
    for _ in range(4):
        shorter = _without_head(text)
        if shorter == text:
            break
        text = shorter
    if (
        holds(folded(text), _SIGNING)
        and (match := _SIGNED.search(text))
        and enough(text[: match.start()])
        and not says(text[: match.start()], clause=False)
    ):
        text = text[: match.start()]
    for _ in range(4):
        shorter = _without_end(text)
        if shorter == text:
            break
        text = shorter
    return text


def _without_pictures(text: str) -> str:
    """The text without pictures that say nothing; all stay in a text about what is written."""
    return text if _quotes(text) else _PICTURES.sub(_gap, text)


def _quotes(text: str) -> bool:
    """Return True for a text about what is said, written or meant."""
    return holds(folded(text), _QUOTED) and _QUOTING.search(text) is not None


def _gap(picture: re.Match[str]) -> str:
    """The rest of a picture: nothing, a space where words would run together, or all of it where a word needs it.

    "Is [a picture] a fox" and "a tweet with [a picture]" ask about it.
    """
    before, behind = picture.string[: picture.start()].rstrip(), picture.string[picture.end() :].split(maxsplit=1)
    last = before.rsplit(maxsplit=1)[-1].lower() if before else ""
    asked = bool(behind) and behind[0].lower().strip(",.?!") in _ASKING
    needed = bool(behind) and not asked and before[-1:] not in _CLOSING
    if last in _TAKING or needed:
        return picture[0]
    return " " if picture.start() and picture.string[picture.end() : picture.end() + 1].isalnum() else ""


def _without_head(text: str) -> str:
    if _MARKS.isdisjoint(text[:100]):
        return text
    if "\u2013" not in text[:120] and (stop := _STOP.search(text)) is not None:
        # What is before the first mark is too long, or the mark stands inside a word.
        at = stop.start()
        if text[90:at].strip() or (stop[0] != "." and stop[0] != "\n" and not _MARKED.match(text, at)):
            return text
    match = _HEAD.match(text)
    if match is None or match.end() >= len(text):
        return text
    mark = text[match.end(1) : match.end()]
    words = _WORDS.findall(match[1].lower())
    rest = text[match.end() :]
    if ":" in mark and not rest[:1].isalpha():
        return text
    said = match[1].lower().strip()
    if not words or not (
        _wishes(words, mark) or _is_chatter(words, said, clause="," in mark or ":" in mark, head=True)
    ):
        return text
    rest = rest[found.end() :] if (found := _JOINS.match(rest)) else rest
    return rest if enough(rest) and not is_about(rest) else text


def _without_end(text: str) -> str:
    tail = text[-110:]
    if _MARKS.isdisjoint(tail[:-1]):
        return text
    low = tail.lower()
    for mark in _MARKS:
        if mark in low:
            low = low.replace(mark, " ")
    if _END_CUES.isdisjoint(low.split()):
        return text
    last = _LAST if "\n" in tail or "\u2013" in tail or "..." in tail else _LAST_MARKED
    match = last.search(tail)
    while match is not None and (later := last.search(tail, match.end())) is not None:
        match = later
    if match is None:
        return text
    said = match[1].lower().strip()
    words = _WORDS.findall(said)
    if not words or len(words) > 18 or _END_CUES.isdisjoint(words):
        return text
    mark = tail[match.start() : match.end()]
    if not _is_chatter(words, said, clause="," in mark, head=False):
        return text
    head = text[: len(text) - len(tail) + match.start()]
    if says(head, "," in mark):
        return text
    if "," in mark and _PARTING.issuperset(words):
        return text
    kept = "?" if "?" in mark else ""
    return head + kept if enough(head) else text


def says(head: str, clause: bool) -> bool:
    """Return True if what follows may be what is to be said, translated or written; `clause`: behind a comma."""
    if not _quotes(head) or _HELD.search(head):
        return False
    return clause or ":" in head


def _is_chatter(words: list[str], said: str, *, clause: bool, head: bool) -> bool:
    """Return True if these words, a sentence or a clause of one, say nothing."""
    if _PHRASES.fullmatch(said):
        # Behind the request these are requests of their own.
        return head or (words[0] not in ("how", "what") and words[-1] != "one" and said != "tell me something")
    if len(words) > 16:
        return False
    if (hope := _HOPES.match(said)) is not None:
        hoped = _WORDS.findall(said[hope.end() :])
        return all(map(_HOPED.__contains__, hoped)) and not asks_of_hope(hoped)
    if not all(map(_EMPTY.__contains__, words)) or asks(words, head=head):
        return False
    if head and clause and all(map(_CONNECTIVES.__contains__, words)):
        return True
    signs = _SIGNS.intersection(words)
    if not signs or not _is_polite(words, signs):
        return False
    # "Help me" before a colon asks; "can you help me: ..." does not.
    return head or len(words) > 1 or words[0] in _SIGNS


def _is_polite(words: list[str], signs: frozenset[str]) -> bool:
    """Return False for what an answer is to be like, with a "please" or a time of day: "in one week please"."""
    if signs <= _TIMES:
        return not _WISHED.isdisjoint(words)
    if not signs <= _TIMES | _POLITE or _SOFT.issuperset(words):
        return True
    return not _ANSWERS.isdisjoint(words) and (_REPLIES.isdisjoint(words) or _LIKENED.isdisjoint(words))


def _wishes(words: list[str], mark: str) -> bool:
    """Return True for a time of day that is wished, and not told: "Morning!", "Evening all,"."""
    said = _TIMES | _AUDIENCE
    return said.issuperset(words) and words[0] in _TIMES and ("!" in mark or len(words) > 1)


def is_about(rest: str) -> bool:
    """Return True if what follows asks about a greeting or thanks itself: "sorry! how do I reply", "thanks, in German".

    So "in Germany, can I" is not taken for a language, nothing but a word or two may stand behind "in".
    """
    return _ABOUT.match(rest) is not None or _BACK.match(rest) is not None


def enough(text: str) -> bool:
    """Return True if a request may be left: two words, or one of another writing than chatter."""
    words = _WORDS.findall(text.lower())
    return len(words) > 1 and not all(map(_EMPTY.__contains__, words[:12]))
