"""Text-speak: what people type for words when they are in haste.

Data and patterns, no dictionary. Invariant: nothing stands here that is a word, a name or a well-known abbreviation of
something else, but for what the pattern around it tells.
"""

from __future__ import annotations

import re

from semcache.request.text import lexicon

_SPELLINGS = lexicon(
    """
    you=u,yu,yew your=ur yours=urs you're=youre please=pls,plz,plss thanks=thx,thnx,tnx what=wat,wut,wot,whut
    what's=wats,wuts,whts when=wen,whn where=wher,whr,wer which=wich,whch why=wy,whyy how=hw,howw
    should=shud,shld,shuld,shoud could=cud,cld,culd would=wud,wld,wuld have=hav,hv having=havin
    because=cuz,coz,cus,becuz,bcuz,bcoz,becos,bcos about=abt between=btwn,btween through=thru though=tho
    although=altho right_now=rn from=frm,fromm many=mny work=wrk,wrks help=hlp best=bst never=nvr every=evry
    need=ned,nead make=mak,mke take=tak,tke give=giv this=ths that=tht just=jst want=wnt level=lvl day=dya get=gte
    how_do=howdo how_do_i=howdoi people=ppl something=sth,smth,sumthing,somethin someone=sb,smn,sumone message=msg
    messages=msgs password=pw,pwd,pswd,passwd,pword account=acct,acnt accounts=accts appointment=appt
    appointments=appts address=addr phone=fone phones=fones tickets=tix night=nite tonight=tonite
    tomorrow=tmrw,tmr,tomoro,tomorro,tmro the=da this=dis that=dat
    long=lng days=dayz week=wk weeks=wks year=yr years=yrs hours=hrs minutes=mins
    doesn't=doesnt,dosent,dosnt,doesent don't=dont,dnt can't=cant,cnt i'm=im i've=ive give_me=gimme let_me=lemme
    don't_know=dunno i_don't_know=idk birthday=bday really=rly somewhere=smwhere by_the_way=btw
    """
)
SPOKEN = {slip: word for slip, word in _SPELLINGS.items() if slip.replace("_", " ") != word}
_WHOLE = {
    "b4": "before",
    "2day": "today",
    "2(?:morrow|moro|mrw)": "tomorrow",
    "2nite": "tonight",
    "gr8": "great",
    "(?:sum|some)1": "someone",
}
# No number stands before one person, unless more of the name follows: "2 boss fights".
_ONE_PERSON = (
    r"(?:mom|mum|dad|boss|teacher|client|landlord|friend|doctor|gf|bf|wife|husband|sister|brother|son|daughter|grandma"
    r"|grandpa|coworker|colleague|neighbou?r|manager|professor|him|them|someone|everyone)"
    r"(?=\W*$|[,.!?;:]| (?:n|and|who|that|about|because|i|is|was|asking|saying|so|pls|please|\d+|with|from|for|re"
    r"|if|on)\b)"
)
_MARKED = (
    *((re.compile(rf"(?<![\w/.-]){typed}(?![\w/.-])"), word) for typed, word in _WHOLE.items()),
    (re.compile(r"(?<![\w/])w/o(?![\w/])"), "without"),
    (re.compile(r"(?<![\w/])w/in(?![\w/])"), "within"),
    (re.compile(r"(?<![\w/])w/(?=\s)"), "with"),
    (re.compile(r"(?<![\w/.-])diff(?= (?:btw|between|betwen|btwn)\b)"), "difference"),
    (re.compile(r"(?<=\bdifference )btw\b|(?<=\bdiffrence )btw\b"), "between"),
    (re.compile(r"(?<![\w/.-])4(?= (?:my|the|a|an|free|your|ur|me|us|it|this|all|some)\b)"), "for"),
    (
        re.compile(
            r"(?<=[a-z] )2(?= (?:my|the|a|an|your|ur|me|us|it|do|get|be|make|go|use|see|have|buy|change|pay|send|visit"
            r"|find|cancel|delete|remove|learn|write|eat|know|tell|install|reset|give|put|add|ask|sell|fix|bring|choose"
            r"|become|keep|avoid|create|build|play)\b)"
        ),
        "to",
    ),
    (re.compile(rf"(?<=[a-z] )4(?= {_ONE_PERSON})"), "for"),
    (re.compile(rf"(?<=[a-z] )2(?= {_ONE_PERSON})"), "to"),
    (re.compile(r"(?<=[a-z] )n(?= [a-z])"), "and"),
    (re.compile(r"(?<=[a-z] )w(?= (?:a|an|the|my|your|ur|no|his|her|only|two|one|just|another)\b)"), "with"),
    (
        re.compile(r"^y(?= (?:is|are|r|do|does|did|my|the|cant|wont|would|am|can|was|were|dose)\b)", re.IGNORECASE),
        "why",
    ),
    (re.compile(r"(?<=\bhow )2(?= [a-z])"), "to"),
    (re.compile(r"^(?:ho|hoe)(?= (?:do|can|cn|to|did|does) )"), "how"),
    (
        re.compile(
            r"(?:(?<=\bi )|(?<=\byou )|(?<=\bu )|(?<=\bwe )|(?<=\bto )|(?<=\bnot )|(?<=\bdon't )|(?<=\bdont ))"
            r"no(?= (?:if|when|what|how|why|where|which|whether|who)\b)"
        ),
        "know",
    ),
    (re.compile(r"(?<![\w/.-])4(?= \d+ (?:days?|weeks?|wks?|months?|years?|yrs?|hours?|hrs?)\b)"), "for"),
    (re.compile(r"\bbc(?= (?:of|i|my|the|it|they|we|he|she)\b)"), "because"),
    (
        re.compile(
            r"(?:^|(?<=\bwhat )|(?<=\bwat )|(?<=\bhow )|(?<=\bwhere )|(?<=\bwher )|(?<=\bwhy )|(?<=\by )|(?<=\bwho )"
            r"|(?<=\bwhen )|(?<=\bwen )|(?<=\bthere )|(?<=\bthey )|(?<=\bwe )|(?<=\bu )|(?<=\byou )|(?<=\bwhich )"
            r"|(?<=[a-z]s ))r(?= [a-z])"
        ),
        "are",
    ),
)
# Thanks and the like, as they are typed in haste; written out, they stay.
_TAIL = re.compile(
    r"(?:(?<![ ,.!?])[ ,.!?]++(?:pls|plz|plss|thx|thnx|tnx|ty|tia|idk|lol|lmao|hlp|or nah"
    r"|(?:asap|thanks|please)(?= *$)))+[ ?!.]*$"
)
_HASTE = re.compile(r"pls|plz|thx|tnx|thnx|\bty\b|tia|idk|lol|lmao|hlp|nah")
_CHATTY = re.compile(
    r"(?<![\w/.-])(?:w/|b4|2\w*|gr8|\w+1|diff|btw|4|n|w|y|bc|r|no(?= (?:if|wh|how)))(?![\w.-])", re.IGNORECASE
)


def is_chatty(text: str) -> bool:
    """Return True if there may be something for `spelled_out` to do."""
    return _CHATTY.search(text) is not None


def spelled_out(text: str) -> str:
    """The text with letters and digits that stand for words written out, and without hasty thanks behind it.

    >>> spelled_out("y r u asking 4 my name pls")
    'why are u asking for my name'
    """
    if (tail := _TAIL.search(text)) is not None and tail.start() and _HASTE.search(tail[0]):
        text = text[: tail.start()]
    if not is_chatty(text):
        return text
    for pattern, word in _MARKED:
        text = pattern.sub(word, text)
    return text
