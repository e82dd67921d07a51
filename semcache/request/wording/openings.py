"""Openings that ask for nothing, family by family: greetings, hesitation, politeness, wishes to know.

Each row names its family, the words that such an opening may begin with (None: any), and its pattern; the first row
that matches counts. Invariant: no pattern matches at a text whose first word is not among its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.text import vocabulary
from semcache.request.wording.request_verbs import FOR_WORDS, SKILL, VERB, WORDS_OF_ANYBODY, WORDS_OF_YOURS
from semcache.runtime.late_pattern import late

ASKING = (
    r"(?:what|who|whom|whose|where|when|why|how|which|can|could|would|should|is|are|do|does|did|was|were|will|has|have"
    r"|may|might|please|i|tell|explain|give|show|write|list|describe|translate|summarize)\b"
)
NEXT = r"(?:what|who|whom|whose|where|when|why|how|which)\b"
_PEOPLE = (
    r"(?:there|team|all|everyone|everybody|folks|guys|friend|friends|assistant|again|sir|madam|chatgpt|gpt"
    r"|claude|gemini|ai"
    r"|bot|chatbot|dear|mate|buddy|copilot|siri|alexa|google|or|support|customer|service|staff|colleagues"
    r"|community|experts?"
    r"|desk|help|helpdesk|people|y'all|man|bro|dude|pal|ladies|and|gentlemen|my|(?:mr|mrs|ms|dr|prof)\.? [a-z]+)"
)
_HELLO = r"(?:hi|hello|hey|hiya|heya|howdy|greetings|good (?:morning|afternoon|evening|day)|dear|yo|hey hey|hallo)"
_GREETINGS = vocabulary("hi hello hey hiya heya howdy greetings good dear yo hallo")
_CAN = r"(?:can|could|would|will|might)"
_ANYONE = (
    r"(?:(?:you|anyone|anybody|someone|somebody|somebody|any of you|one of you)(?: (?:guys|all|here"
    r"|out there))?)"
)
_HOW_MUCH = r"(?:(?:very|so|really|most|extremely|truly|super|quite|just|also|always|often|rather|a bit|genuinely) )*"
_SOFT = (
    r"(?:(?:please|kindly|possibly|perhaps|maybe|quickly|briefly|just|also|again|real quick|at all|by "
    r"any chance"
    r"|if possible|somehow|actually) )*"
)
_TELLING = (
    r"(?:tell (?:me|us)|let (?:me|us) know|inform (?:me|us)(?: (?:about|of|on|as to))?"
    r"|explain(?: to (?:me|us))?"
    r"|help (?:me|us) (?:to )?(?:understand|find out|figure out|learn|work out|know|see|remember)"
    r"|help (?:me|us) (?:in |with )?(?:understanding|finding out|figuring out|working out|knowing)"
    r"|remind (?:me|us)(?: (?:of|about))?|clarify(?: (?:for|to) (?:me|us))?|enlighten (?:me"
    r"|us)(?: (?:on|about"
    r"|as to))?|say|advise(?: (?:me|us))?(?: (?:on|about|as to))?|share|show (?:me|us)|fill me in on"
    r"|walk (?:me|us) through|teach (?:me|us)|point out|shed (?:some )?light on|educate me "
    r"on|describe"
    r"|confirm|take me through|talk me through|guide me (?:on|through|as to)|answer|specify"
    r"|provide details on"
    r"|give (?:me|us) (?:an (?:idea|explanation|overview) (?:of|on|about|as to)|a hand (?:with"
    r"|understanding)))"
    r"[ ,]+(?:please )?"
)
_TELLINGS = (
    r"(?:telling (?:me|us)|letting (?:me|us) know|explaining(?: to (?:me|us))?|reminding (?:me"
    r"|us)|clarifying"
    r"|sharing|informing (?:me|us)(?: about)?|showing (?:me|us)|saying|helping (?:me|us) (?:to "
    r")?(?:understand"
    r"|figure out|find out)|walking (?:me|us) through|describing|teaching (?:me|us)|advising "
    r"me(?: on)?) "
)
_KNOW = (
    r"(?:know|find out|ask(?: you)?(?: about)?|learn(?: about)?|understand|figure out|hear(?: "
    r"about)?|be told"
    r"|work out|see|get (?:to know|an idea of|clear on)|determine|inquire|enquire|check|clarify|discover)"
)
_KNOWING = (
    r"(?:knowing|finding out|learning(?: about)?|understanding|hearing(?: about)?|figuring out|working "
    r"out|seeing)"
)
_DISCOURSE = (
    r"(?:so|well|ok|okay|okey|right|alright|all right|anyway|anyways|now|now then|right then|look|listen|honestly"
    r"|basically|actually|essentially|frankly|seriously|yeah|yep|i mean|you know(?: what)?|like|see|say|hmm"
    r"|cool|great|random|also|oh|ah|just"
    r"|so yeah|okay so|ok so|so basically|just out of curiosity|out of (?:pure )?(?:curiosity"
    r"|interest)"
    r"|to be honest|i was (?:just )?thinking|i have been thinking|for real|as it "
    r"happens|first things first|tell me(?: something)?|hang on"
    r"|hold on"
    r"|one (?:more )?(?:thing|question)|wait|come to think of it|curious|just curious"
    r"|serious question|mate)"
)
_IF_YOU = (
    rf"(?:if|whether) {_ANYONE} (?:{_CAN} |would be able to |are able to |happen(?:ed)? to "
    rf"|knew |know |have any idea ){_SOFT}(?:{_TELLING}(?={NEXT})|know (?={NEXT})|(?={NEXT})"
    rf"|(?={FOR_WORDS}))"
)
_GLAD = r"(?:grateful|happy|glad|thankful|delighted|appreciative|obliged|over the moon|curious|interested|keen|pleased)"
_NICE = (
    r"(?:great|nice|good|lovely|helpful|wonderful|awesome|amazing|kind|useful|fantastic|brilliant|super|cool|perfect"
    r"|appreciated|ideal|of (?:great|much) help|a (?:great|big|huge) help)"
)
_UNSURE = (
    r"(?:(?:do|can|could) not (?:really |quite |seem to )?(?:know|understand|figure out"
    r"|remember|recall|see|get"
    r"|work out|find out|tell)|am (?:not (?:really |quite |entirely )?(?:sure|certain|clear)"
    r"|unsure|confused"
    r"|unclear|puzzled)(?: (?:about|as to|on|of))?|have (?:absolutely |really )?no (?:idea|clue)"
    r"|forgot|forget"
    r"|have forgotten|keep forgetting|always forget|never (?:know|understood|remember)|am struggling to"
    r" (?:understand|figure out|work out|see))"
)
_TELLING_IT = _TELLING.removesuffix("[ ,]+(?:please )?")
_FAMILIES: tuple[tuple[str, frozenset[str] | None, str], ...] = (
    ("greeting", _GREETINGS,
     rf"{_HELLO}(?: {_PEOPLE})+(?:(?:[,.!:;]+| [\u2013-])\s+|\n|\s+(?={ASKING}))"),
    ("greeting", _GREETINGS,
     rf"{_HELLO}(?:[,.!:;]+| [\u2013-])\s+(?!world|vietnam|dolly|kitty|goodbye|brooklyn|darkness)"),
    ("greeting", _GREETINGS,
     rf"{_HELLO}\n"),
    ("greeting", _GREETINGS,
     rf"{_HELLO} (?={ASKING}|{VERB})(?!(?:is|was) (?!it\b|there\b|this\b|that\b|my\b|your\b|anyone\b|any\b"
     r"|the \w+ \w))"),
    ("greeting", _GREETINGS,
     r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|dear) (?!world|kitty|jude|delilah|ya"
     rf"|brother)[a-z]+(?:, ?|!\s*|\n| \u2013 )(?={ASKING}|{VERB})"),
    ("greeting", vocabulary("to"),
     r"to whom it may concern[,:.]?\s+"),
    ("hesitation", None,
     rf"(?:u+h+|u+m+|e+r+m+|h+m+|ah+|oh|er(?=[,.!\u2013]| {NEXT}))\b(?!-)(?:[,.!\u2013 ]|\.\.\.)+"),
    ("discourse", vocabulary("""
        so well ok okay okey right alright all anyway anyways now look listen honestly basically actually
        essentially frankly seriously yeah yep i you like see say hm hmm cool great random also oh ah just out
        to for as first tell hang hold one wait come curious serious mate
        """),
     rf"{_DISCOURSE}(?: ?(?:,|\.\.\.| \u2013|:) ?)(?={ASKING}|{VERB}|{_DISCOURSE}\b|u+m+|u+h+|hello|hi\b"
     r"|if |in |on |for |with |it would|any |may |might )"),
    ("discourse", vocabulary("so well ok okay right alright all anyway now basically actually honestly seriously"),
     r"(?:so|well|ok|okay|right|alright|all right|anyway|now|basically|actually|honestly|seriously)"
     rf"(?: ?(?:,|\.\.\.) ?| (?!what if\b)(?={NEXT}|so\b|basically\b|well\b|then,|yeah\b|um+\b|uh+\b"
     r"|like\b))"),
    ("discourse", vocabulary("ok okay well yeah and alright yes yep right oh so"),
     r"(?:(?:ok|okay|well|yeah|and|alright|yes|yep|right|oh) )?so (?=(?:my|i|we|the|there|it|this|our|in|on"
     r"|for|with|if|when|at|using)\b)"),
    ("discourse", vocabulary("ok okay well yeah and alright yes yep right oh"),
     rf"(?:ok|okay|well|yeah|and|alright|yes|yep|right|oh) so (?={NEXT}|{ASKING}|{VERB})"),
    ("discourse", vocabulary("literally seriously honestly basically frankly essentially"),
     rf"(?:literally|seriously|honestly|basically|frankly|essentially) (?={NEXT}|{ASKING})"),
    ("discourse", vocabulary("then"),
     rf"then[ ,]+(?={NEXT})"),
    ("discourse", vocabulary("lol lmao haha"),
     rf"(?:l+o+l+|lmao|ha(?:ha)+) (?={ASKING})"),
    ("hesitation", vocabulary("mm mmm mmmm"),
     r"m{2,}\b[ ,]+"),
    ("politeness", vocabulary("please be"),
     rf"(?:please )?be so (?:kind|good)(?: and| as to|,) {_SOFT}(?={VERB}|{_TELLING})"),
    ("politeness", vocabulary("please help"),
     rf"(?:please )?help (?:me|us)(?: out)? and {_SOFT}(?={VERB}|{_TELLING})"),
    ("politeness", vocabulary("please advise inform guide update"),
     rf"(?:please )?(?:advise|inform|guide|update) (?:me|us) (?:on |about |as to )?(?={NEXT})"),
    ("discourse", vocabulary("so ok okay"),
     r"(?:so|ok|okay) (?=(?:can|could|would|do|does|is|are|i|did|was|were|should|tell|explain|give)\b)"),
    ("discourse", vocabulary("like just but and also"),
     rf"(?:like|just|but|and|also) (?={NEXT})(?!like what\b)"),
    ("question announced", vocabulary("a quick simple silly dumb stupid random general small serious question q"),
     r"(?:a )?(?:quick|simple|silly|dumb|stupid|random|general|small|serious|genuine|honest)? ?(?:question"
     r"|q)(?: ?:|,? but| here:|,| [\u2013-]) "),
    ("question announced", vocabulary("here my the"),
     rf"(?:here is (?:my|a) |my |the )(?:quick )?question(?: is)?(?: ?[:,]| [\u2013-])? (?={NEXT}"
     rf"|{ASKING})"),
    ("question announced", vocabulary("what"),
     rf"what i (?:really )?(?:want|need|would like|am trying) to {_KNOW} is[ ,:]+(?={NEXT})"),
    ("wondering", vocabulary("just curious"),
     rf"(?:just )?(?:wondering|curious)(?: (?:about|as to))? ?[,:\u2013-]? (?={NEXT})"),
    ("wondering", vocabulary("just curious"),
     rf"(?:just )?(?:wondering|curious) {_IF_YOU}"),
    ("discourse", vocabulary("by btw"),
     rf"(?:by the way|btw)(?:, ?| (?={NEXT}))"),
    ("politeness", vocabulary("sorry excuse pardon apologies"),
     r"(?:sorry|excuse me|pardon me|apologies)(?: (?:to bother you|for (?:asking|the bother)))?(?:, "
     r"(?:but )?| but )"),
    ("politeness", vocabulary("please kindly"),
     r"(?:please|kindly)(?!,? (?:in \w+$|meaning\b|(?:or|versus|vs)\b))(?:, ?| (?!please\b|me\b|him\b|her\b"
     r"|them\b))"),
    ("politeness", vocabulary("if when"),
     r"(?:if (?:at all )?possible|if you (?:can|could|would|do not mind|please|have a (?:moment|minute)"
     r"|know)|if it is not too much trouble|when you (?:can|get a chance|have a (?:moment|minute"
     rf"|second))),? (?:please )?(?={ASKING}|{VERB})(?![^.?!\n]* would\b)"),
    ("wondering", vocabulary("i we i'm"),
     rf"(?:i|we)(?: (?:am|was|are|were|have been)|'m) {_HOW_MUCH}(?:wondering|curious|pondering|puzzled"
     rf"|wanting)(?: (?:about|to {_KNOW}|as to))?[ ,]+(?:{_IF_YOU}|(?={NEXT}|(?:do|does|is|are|can)\b))"),
    ("wondering", vocabulary("i we i'm"),
     rf"(?:i|we)(?: (?:am|was|are|were|have been)|'m) {_HOW_MUCH}(?:hoping|wanting|looking|trying|keen"
     rf"|interested|struggling|eager|curious|dying|itching) (?:to (?:{_KNOW}|get help {_KNOWING})"
     rf"|in {_KNOWING}) (?={NEXT})"),
    ("wondering", vocabulary("i i'm"),
     rf"i(?: (?:am|was)|'m) (?:just )?hoping (?:that )?{_ANYONE} {_CAN} {_SOFT}(?:{_TELLING}(?={NEXT})|"
     rf"(?={VERB}))"),
    ("wish to know", vocabulary("i we i'd"),
     rf"(?:i|we)(?: would|'d) {_HOW_MUCH}(?:like|love|want|need|appreciate it if you would) (?:"
     rf"(?:for )?you )?to (?:be able to )?(?:{_KNOW} |{_TELLING})(?={NEXT})"),
    ("wish to know", vocabulary("i we i'd"),
     rf"(?:i|we)(?: would|'d) {_HOW_MUCH}(?:like|love) (?:for )?you to {_SOFT}(?={VERB})"),
    ("wish to know", vocabulary("i we i'd"),
     rf"(?:i|we)(?: would|'d)? {_HOW_MUCH}(?:be {_HOW_MUCH}{_GLAD}|appreciate it(?: (?:a lot|very much"
     rf"|so much))?|love it|like it) if {_ANYONE} {_CAN} {_SOFT}(?:{_TELLING}(?={NEXT})|(?={VERB}))"),
    ("wish to know", vocabulary("i we i'd"),
     rf"(?:i|we)(?: would|'d) be {_HOW_MUCH}{_GLAD} (?:to {_KNOW}|in {_KNOWING}) (?={NEXT})"),
    ("wish to know", vocabulary("i we"),
     rf"(?:i|we) {_HOW_MUCH}(?:want|need|wanted|wish|hope|have|needed|would like) (?:you )?to (?:{_KNOW} "
     rf"|{_TELLING})(?={NEXT})"),
    ("wish to know", vocabulary("i we"),
     rf"(?:i|we) {_HOW_MUCH}(?:want|need|wanted|would like) to (?:know|ask(?: you)?|find out) ?[:,\u2013] "
     rf"(?={NEXT}|{ASKING})"),
    ("help to understand", vocabulary("please help"),
     r"(?:please )?help (?:me|us) (?:to )?(?:understand|figure out|find out|learn|know|see|work out) "
     rf"(?={NEXT})"),
    ("help to understand", vocabulary("i we"),
     rf"(?:i|we) {_HOW_MUCH}(?:need|want|could use|would like) (?:some |your |a (?:bit|little) "
     rf"(?:of )?)?help (?:with |in )?{_KNOWING} (?={NEXT})"),
    ("help to understand", vocabulary("please help"),
     rf"(?:please )?help (?:me )?(?:with )?{_KNOWING} (?={NEXT})"),
    ("help to understand", vocabulary("i we need please help"),
     rf"(?:(?:i|we) {_HOW_MUCH}(?:need|want|could use|would like) (?:some )?help|need (?:some )?help|"
     r"(?:please )?help(?: (?:me|us))?)(?: out)? (?:with|on|in) (?=how (?:to|do|can) )"),
    ("help to understand", vocabulary("need"),
     rf"need (?:some )?(?:help (?:with )?{_KNOWING}|to {_KNOW}) (?={NEXT})"),
    ("wondering", vocabulary("i we"),
     rf"(?:i|we) {_HOW_MUCH}wonder(?:ed)?[ ,]+(?:{_IF_YOU}|(?={NEXT}))"),
    ("uncertainty", vocabulary("i we"),
     rf"(?:i|we) (?:honestly |really |still |simply |just )?{_UNSURE}[ ,]+(?={NEXT})"),
    ("uncertainty", vocabulary("do not"),
     rf"(?:do not (?:really )?know|not (?:really |quite )?sure) (?={NEXT})"),
    ("uncertainty", vocabulary("have no"),
     rf"(?:have )?no (?:idea|clue) (?={NEXT})"),
    ("politeness", vocabulary("i"),
     rf"i (?:want|need) you to {_SOFT}(?=[a-z])"),
    ("politeness", vocabulary("would"),
     r"would it be possible to (?=(?:get|have) )"),
    ("question announced", vocabulary("i"),
     rf"i have a (?:quick |simple )?question(?: ?:|,|\.| [\u2013-]| about| on)? (?={NEXT}|{ASKING})"),
    ("wish to know", vocabulary("it"),
     rf"it (?:would|will) (?:be {_HOW_MUCH}{_NICE}|help (?:me )?(?:a lot|greatly|so much"
     rf"|out)?|mean a lot) ?(?:if {_ANYONE} {_CAN} {_SOFT}(?:{_TELLING}(?={NEXT})|(?={VERB}))|to {_KNOW} "
     rf"(?={NEXT}))"),
    ("politeness", vocabulary("please can could would will might"),
     rf"(?:please )?{_CAN} {_ANYONE} {_SOFT}(?:be (?:so (?:kind|good) as|(?:kind|good) enough|able"
     rf"|willing) to {_SOFT})?(?:{_TELLING}(?={NEXT})|(?={WORDS_OF_ANYBODY})(?<!would you ))"),
    ("politeness", vocabulary("please can could would will might"),
     rf"(?:please )?{_CAN} {_ANYONE} {_SOFT}be (?:so (?:kind|good) as|(?:kind|good) enough|able"
     rf"|willing) to {_SOFT}(?={VERB})"),
    ("politeness", vocabulary("please can could will might"),
     rf"(?:please )?(?:can|could|will|might) you {_SOFT}(?={FOR_WORDS})"),
    ("politeness", vocabulary("please would"),
     rf"(?:please )?would you {_SOFT}(?={WORDS_OF_YOURS})"),
    ("politeness", vocabulary("please can could would will might"),
     rf"(?:please )?{_CAN} {_ANYONE} (?:please|kindly) {_SOFT}(?={VERB})"),
    ("politeness", vocabulary("can could would will might"),
     rf"{_CAN} you (?:please|kindly|possibly) (?=[a-z])"),
    ("politeness", vocabulary("please"),
     r"please can you (?=[a-z])"),
    ("politeness", vocabulary("are would is"),
     rf"(?:are you|would you be|is any(?:one|body)) (?:able|willing|free|happy) to {_SOFT}(?:{_TELLING}"
     rf"(?={NEXT})|(?={FOR_WORDS}))"),
    ("politeness", vocabulary("is would"),
     rf"(?:is|would) it (?:be )?(?:at all )?possible (?:for you )?to (?:get you to )?{_SOFT}(?:{_TELLING}"
     rf"(?={NEXT})|(?<=you to )(?={VERB}))"),
    ("politeness", vocabulary("do"),
     rf"do you think you {_CAN} {_SOFT}(?:{_TELLING}(?={NEXT})|(?={FOR_WORDS}))"),
    ("politeness", vocabulary("would do"),
     rf"(?:would|do) you (?:very much )?mind {_TELLINGS}(?={NEXT})"),
    ("leave to ask", vocabulary("can could may might"),
     r"(?:can|could|may|might) i (?:please |just |quickly |possibly |kindly )*(?:ask(?: (?:you"
     r"|about))?|know|inquire|enquire|find out|get (?:you to (?:tell me|explain)|an explanation of"
     rf"|some help {_KNOWING}|help {_KNOWING}|(?:some )?(?:information|details|clarification) (?:on|about"
     rf"|as to))|(?:ask|trouble|bother) you (?:to (?:tell me|explain)|for))[ ,]+(?={NEXT})"),
    ("leave to ask", vocabulary("can could may might"),
     rf"(?:can|could|may|might) i (?:please )?(?:ask|trouble|get) you to (?={VERB})"),
    ("leave to ask", vocabulary("can could may might"),
     r"(?:can|could|may|might) i (?:please )?(?:trouble|bother|ask) you for (?=(?:the|an?|some) )"),
    ("knowledge asked for", vocabulary("do did would might could can does"),
     rf"(?!(?:do|did|would|might|could|can) you (?:\w+ ){{0,4}}?know {SKILL})(?:(?:do|did|would|might|could"
     rf"|can) {_ANYONE}|does {_ANYONE}) (?:happen to |actually |perhaps |maybe |even |by any chance )?know"
     rf"(?: by any chance)?,? (?={NEXT})"),
    ("knowledge asked for", vocabulary("you anyone anybody someone somebody any one"),
     rf"(?!you (?:happen to )?know {SKILL}){_ANYONE} (?:happen to )?knows? (?={NEXT})"),
    ("knowledge asked for", vocabulary("do have does would got any"),
     rf"(?:do you |have you |does {_ANYONE} |would you )?(?:happen to )?(?:have |got )?any (?:idea|ideas"
     rf"|clue|clues|thoughts|insight)s?(?: (?:on|about|as to))?[ ,]+(?={NEXT})"),
    ("knowledge asked for", vocabulary("is any"),
     rf"(?:is there )?any chance (?:that )?{_ANYONE} (?:"
     rf"(?:happen to )?knows?|{_CAN} {_SOFT}{_TELLING_IT}) (?={NEXT})"),
    ("knowledge asked for", vocabulary("is any"),
     rf"(?:is there )?any chance (?:that )?{_ANYONE} {_CAN} {_SOFT}(?={VERB})"),
    ("telling", vocabulary("tell let explain"),
     rf"(?:tell me|let me know|explain(?: to me)?)[ ,]+please,? (?={NEXT})"),
    ("telling", vocabulary("let do someone please somebody"),
     r"(?:let (?:me|us) know|do tell(?: me)?|someone tell me|please tell me|pray tell|somebody explain"
     rf"(?: to me)?|someone (?:please )?explain(?: to me)?)[ ,]+(?={NEXT})"),
    ("telling", vocabulary("tell"),
     rf"tell me ?[:,] ?(?={NEXT})"),
)  # fmt: skip


class _Opening(NamedTuple):
    """A pattern of openings, the family it belongs to, and the words that one begins with; None for any word."""

    family: str
    words: frozenset[str] | None
    pattern: re.Pattern[str]


_OPENINGS = tuple([_Opening(family, words, late(pattern, re.IGNORECASE)) for family, words, pattern in _FAMILIES])
# Words that an opening begins with, but for those that are drawn out ("ummm").
OPENING_WORDS = frozenset().union(*[opening.words for opening in _OPENINGS if opening.words is not None])
_LETTERS = re.compile(r"[a-z']*")


def opening_of(text: str, first: str) -> int | None:
    """The length of the opening that a text has; None without one. `first` is its first word in lower case.

    >>> opening_of("could you please tell me why", "could")
    25
    """
    match = _LETTERS.match(first)
    word = "" if match is None else match[0]
    for opening in _OPENINGS:
        if (opening.words is None or word in opening.words) and (found := opening.pattern.match(text)) is not None:
            return found.end()
    return None
