"""Fillers: greetings, hesitation, thanks, and the politeness that a question is wrapped in.

Invariant: what is dropped asks for nothing and says nothing: no "not", no quantity, no "if" and no verb but of asking.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary

_ASKING = (
    r"(?:what|who|whom|whose|where|when|why|how|which|can|could|would|should|is|are|do|does|did|was|were|will|has|have"
    r"|please|i|tell|explain|give|show|write|list|describe|translate|summarize)\b"
)
_VERB = (
    r"(?:explain|give|list|show|write|translate|summarize|describe|tell|suggest|recommend|provide|compare|define|find"
    r"|create|generate|teach|name|calculate|convert|outline|clarify|help|solve|fix|rewrite|draft|check|count|identify"
    r"|walk)\b"
)
_NEXT = r"(?:what|who|where|when|why|how|which)\b"
_PEOPLE = (
    r"(?:there|team|all|everyone|everybody|folks|guys|friend|friends|assistant|again|sir|madam|chatgpt|claude|gemini|ai"
    r"|bot|dear|mate|buddy|copilot|siri|alexa|google)"
)
_HELLO = r"(?:hi|hello|hey|hiya|heya|howdy|greetings|good[ ](?:morning|afternoon|evening|day)|dear)"
_CAN = r"(?:can|could|would|will)"
_LEADING = re.compile(
    rf"""
    (?:
        {_HELLO}(?:[ ]{_PEOPLE})+(?:(?:[,.!:;]+|[ ][\u2013-])\s+|\s+(?={_ASKING}))
      | {_HELLO}(?:[,.!:;]+|[ ][\u2013-])\s+(?!world|vietnam|dolly|kitty|goodbye|brooklyn|darkness)
      | {_HELLO}\n
      | {_HELLO}[ ](?={_ASKING})
      | (?:hi|hello|hey)[ ](?!world|kitty|jude|delilah|ya|brother)[a-z]+(?:,[ ]?|!\s*|\n)(?={_ASKING})
      | (?:u+h+|u+m+|e+r+m*|h+m+|ah+|oh)\b(?!-)(?:[,.!\u2013 ]|\.\.\.)+
      | (?:so|well|ok|okay|right|alright|all[ ]right|anyway|now)(?:[ ]?(?:,|\.\.\.)[ ]?|[ ](?={_NEXT}))
      | (?:so|ok|okay)[ ](?=(?:can|could|would|do|does|is|are|i)\b)
      | (?:a[ ])?(?:quick|simple|silly|dumb|stupid|random|general|small)?[ ]?question(?:[ ]?:|,|[ ][\u2013-])[ ]
      | just[ ](?:wondering|curious)[ ]?[,:\u2013-]?[ ](?={_NEXT})
      | (?:by[ ]the[ ]way|btw)(?:,[ ]?|[ ](?={_NEXT}))
      | (?:sorry|excuse[ ]me|pardon[ ]me)(?:[ ](?:to[ ]bother[ ]you|for[ ]asking))?,[ ]
      | (?:please|kindly)(?:,[ ]?|[ ](?!please\b|me\b|him\b|her\b|them\b))
      | (?:i[ ](?:am|was)|i\'m)[ ](?:just[ ])?(?:wondering|curious)(?:[ ]about)?[ ](?:if[ ]you[ ](?:can|could|would)[ ]
          (?:please[ ])?(?={_VERB})|(?={_NEXT}))
      | i(?:[ ]would|\'d)[ ](?:like|love)[ ]
          (?:to[ ](?:know|find[ ]out|ask)|you[ ]to[ ](?:tell[ ]me|explain(?:[ ]to[ ]me)?))
          [ ](?={_NEXT})
      | i(?:[ ]would|\'d)[ ](?:like|love)[ ]you[ ]to[ ](?={_VERB})
      | i[ ](?:just[ ])?(?:want|need|wanted|wish)[ ](?:to[ ](?:know|find[ ]out|ask)|you[ ]to[ ]tell[ ]me)[ ](?={_NEXT})
      | i[ ](?:want|need)[ ]you[ ]to[ ](?={_VERB})
      | i[ ]have[ ]a[ ](?:quick[ ]|simple[ ])?question(?:[ ]?:|,|\.|[ ][\u2013-])[ ]
      | {_CAN}[ ]you[ ](?:please[ ]|kindly[ ])?(?:be[ ]so[ ]kind[ ]as[ ]to[ ]|be[ ]kind[ ]enough[ ]to[ ])?
          (?:tell[ ]me|let[ ]me[ ]know|explain(?:[ ]to[ ]me)?|help[ ]me[ ]understand|remind[ ]me|say)[ ](?:please[ ])?
          (?={_NEXT})
      | {_CAN}[ ]you[ ](?:please|kindly)[ ](?=[a-z])
      | please[ ]can[ ]you[ ](?=[a-z])
      | {_CAN}[ ]you[ ](?={_VERB})
      | would[ ]you[ ]mind[ ]telling[ ]me[ ](?={_NEXT})
      | do[ ]you[ ](?:happen[ ]to[ ])?know[ ](?={_NEXT})
      | (?:tell[ ]me|let[ ]me[ ]know|explain(?:[ ]to[ ]me)?)[ ]please[ ](?={_NEXT})
      | (?:let[ ]me[ ]know|do[ ]tell[ ]me|someone[ ]tell[ ]me)[ ](?={_NEXT})
      | tell[ ]me[ ]?[:,][ ]?(?={_NEXT})
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_THANKS = (
    r"(?:(?:many |much )?thanks(?: (?:a lot|a million|so much|very much|again|you))*|thank you(?: (?:so|very) much)?"
    r"|cheers|tia|thx|ty)(?: (?:in advance|for (?:your|the|any) help|for helping|everyone|all|guys|team))*"
    r"|(?:any|all) help (?:is |would be |will be )?(?:much |greatly |really )?appreciated"
    r"|(?:much|greatly) appreciated|please help(?: me)?|help (?:me )?please|(?:kind|best) regards"
    r"|i (?:would )?appreciate (?:it|your help|any help)"
)
_TRAILING = re.compile(
    rf"(?:[ ]?[,.?!;\u2013-]+\s*|\n)(?:{_THANKS}|please|pls)(?:[ ,.!]+(?:{_THANKS}))?[ .!:)]*$"
    r"|\s+thanks in advance[ .!]*$",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?<=[\w)]) (?:thanks|thx)$", re.IGNORECASE)
_PLEASE = re.compile(r"(?<=[\w)]) (?:please|pls|plz)$", re.IGNORECASE)
_MIDDLE = re.compile(r"(?:(?<=\w),? |(?<=[.?!] ))(?:u+h+|u+m+|erm+|h+m+)(?:,|\.\.\.)?(?= )")
_ASKED = re.compile(r"\b(can|could|would|will) you please ")
_SAID = re.compile(
    r"\b(?:say|saying|says|said|write|writing|words?|phrase|means?|mean|reply|respond|response|express|translate|spell"
    r"|giv(?:e|ing)|many|special|than|no|of|and|or|to|for|thanks.*thanks)\b",
    re.IGNORECASE,
)
_PLEASES = vocabulary("to can that not will you they we i must should would could cannot who people")
_CUES = vocabulary("""
    hi hello hey hiya heya howdy greetings good dear so well ok okay right alright all anyway now quick question just by
    btw sorry excuse pardon please kindly i i'm i'd can could would will do tell let someone explain simple silly dumb
    stupid random general small a
    """)
_LETTERS = re.compile(r"[a-z]+")
_HESITATION = frozenset(["um", "umm", "ummm", "uh", "uhh", "uhm", "erm", "ermm", "hm", "hmm", "hmmm", "please"])
_ENDS = vocabulary("thanks thx thank tia cheers appreciated please pls plz help advance regards appreciate ty")


def unwrapped(text: str, words: list[str], bag: frozenset[str]) -> str:
    """The text without fillers at its beginning and end; `words` are its words in lower case."""
    while words and (words[0] in _CUES or words[0].startswith(("um", "uu", "uh", "er", "hm", "ah", "oh"))):
        match = _LEADING.match(text)
        if match is None or match.end() == len(text):
            break
        text = text[match.end() :].lstrip(" ,\n")
        words = text[:40].lower().replace(",", " ").split()
    if not bag.isdisjoint(_ENDS) and not _ENDS.isdisjoint(_LETTERS.findall(text[-80:].lower())):
        text = _without_thanks(text)
    if "you please " in text:
        text = _ASKED.sub(r"\1 you ", text)
    if not bag.isdisjoint(_HESITATION):
        text = _MIDDLE.sub("", text)
    return text


def _without_thanks(text: str) -> str:
    tail = text[-120:]
    head = text[: len(text) - len(tail)]
    if (match := _TRAILING.search(tail)) and (head or match.start()):
        return (head + tail[: match.start()]).rstrip(" ,")
    if (match := _PLEASE.search(tail)) and tail[: match.start()].rsplit(" ", 1)[-1].lower() not in _PLEASES:
        return head + tail[: match.start()]
    if (match := _BARE.search(tail)) and not _SAID.search(tail[: match.start()]):
        return head + tail[: match.start()]
    return text
