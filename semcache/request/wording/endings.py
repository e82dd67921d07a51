"""Thanks, politeness and other tails behind a question that need no mark before them.

Invariant: what is to be said or written is kept, and so is "please" behind a verb that wants an object.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.chatter import says

_THANKS = (
    r"(?:(?:many |much )?thanks(?: (?:a lot|a million|so much|very much|again|you))*|thank you(?: (?:so|very) much)?"
    r"|cheers|tia|thx|ty)(?: (?:in advance|for (?:your|the|any) help|for helping|everyone|all|guys|team))*"
    r"|(?:any|all) help (?:is |would be |will be )?(?:much |greatly |really )?appreciated"
    r"|(?:much|greatly) appreciated|please help(?: me)?|help (?:me )?please|(?:kind|best) regards"
    r"|i (?:would )?appreciate (?:it|your help|any help)|thank you for your (?:time|help)|have a (?:great|nice"
    r"|good|lovely) "
    r"(?:day|one|evening|weekend)|looking forward to (?:your|hearing)[^.!?]{0,30}|(?:kind |best |warm )?regards"
    r"|best wishes"
    r"|yours (?:sincerely|faithfully)|(?:very )?much obliged|ta|bye|god bless|you are the best|appreciate it"
)
_TRAILING = re.compile(
    rf"(?:[ ]?[,.?!;\u2013-]+\s*|\n)(?:{_THANKS}|please|pls)(?:[ ,.!]+(?:{_THANKS}))?[ .!:)]*$"
    r"|\s+thanks in advance[ .!]*$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[ ]?,[ ]|[ ]\u2013[ ])(?:anyway|anyways|you know|by the way|exactly|actually|though|mate|man|bro|dude"
    r"|buddy|anyone"
    r"|if you do not mind|if you know|if i may ask|if possible|or something|any ideas?|do you know|right now"
    r" please|then)$"
    r"|(?<=\w) (?:by any chance|if you do not mind|if possible|then|though"
    r"|you guys|if you know|if i may ask|or something|or whatever|if you please)$"
    r"|^(?:what|who|where|when|which)(?: time| day| date| year)? (?:is|are|was|were)\b.* (?:exactly|precisely)$"
    r"|^(?:what|who|where|when|which)\b.* (?:mean|do|happened|happen|work|live|go|start"
    r"|end)(?P<just> exactly| precisely)$"
    r"|^(?:what|who|where|when|why|how) (?:is|are|was|were)\b.*(?P<anyway> anyways?)$"
    r"|^(?:what|who|where|when|why|how) (?:is|are|was|were|do|does|did|can|should|will"
    r"|would)\b.* \w+(?P<known> do you know)$",
    re.IGNORECASE,
)
# "Then" is a time there.
_PAST = vocabulary("did was were had used")
_TAILS = vocabulary(
    """
    anyway anyways know way exactly actually though mate man bro dude buddy anyone mind ask possible something
    idea ideas then precisely chance again guys whatever please
    """
)
_BARE = re.compile(r"(?<=[\w)]) (?:thanks|thx)$", re.IGNORECASE)
_PLEASE = re.compile(r"(?<=[\w)]) (?:please|pls|plz)$", re.IGNORECASE)
_SAID = re.compile(
    r"\b(?:say|saying|says|said|write|writing|words?|phrase|means?|mean|reply|respond|response|express|translate|spell"
    r"|giv(?:e|ing)|many|special|than|no|of|and|or|to|for|thanks.*thanks)\b",
    re.IGNORECASE,
)
_PLEASES = vocabulary("say spell word to can that not will you they we i must should would could cannot who people")
_LETTERS = re.compile(r"[a-z]+")
# Behind a comma, or where something is to be told, the answer is urgent; else the deed is: "how do I sell it asap".
_URGENT = re.compile(r"(?<=\w)(?<!\b(?:is|or|of|to|vs)\b)(?P<set_off>,?) (?:asap|as soon as possible)$", re.IGNORECASE)
_ANSWERED = re.compile(
    r"(?:what|who|where|when|why) (?:is|are|was|were) (?!.* to )"
    r"|(?:please )?(?:tell|explain|answer|list|describe|summarize|clarify|translate|suggest|recommend)\b"
    r"|let (?:me|us) know|(?:(?:i|we) (?:really )?)?(?:need|want) (?:(?:some|your) )?(?:help|advice|answers?|an answer"
    r"|info|information|to know|(?:an?|the|some) (?:list|recipe|explanation|summary|translation|example|template))\b",
    re.IGNORECASE,
)
_ENDS = vocabulary(
    """
    thanks thx thank tia cheers appreciated day one evening weekend wishes sincerely faithfully obliged ta bye
    bless best please pls plz help advance regards appreciate ty
    """
)


def without_ending(text: str, bag: frozenset[str]) -> str:
    """The text without what is said politely behind it; `bag` holds its words in lower case."""
    if not bag.isdisjoint(_ENDS) and not _ENDS.isdisjoint(_LETTERS.findall(text[-80:].lower())):
        text = _without_thanks(text)
    if not bag.isdisjoint(_TAILS) and not _TAILS.isdisjoint(_LETTERS.findall(text[-12:].lower())):
        text = _without_tail(text)
    if "asap" in bag or "possible" in bag:
        text = _unhurried(text)
    return text


def _unhurried(text: str) -> str:
    match = _URGENT.search(text)
    return text[: match.start()] if match and (match["set_off"] or _ANSWERED.match(text)) else text


def _without_tail(text: str) -> str:
    match = _TAIL.search(text)
    if match is None or (match[0] == " then" and not _PAST.isdisjoint(text.lower().split())):
        return text
    if (tail := match.lastgroup) is not None:
        return text[: match.start(tail)]
    if not match.start():
        return text.rsplit(" ", 1)[0]
    return text[: match.start()]


def _without_thanks(text: str) -> str:
    tail = text[-120:]
    head = text[: len(text) - len(tail)]
    if (
        (match := _TRAILING.search(tail))
        and (head or match.start())
        and not says(head + tail[: match.start()], "," in match[0])
    ):
        return (head + tail[: match.start()]).rstrip(" ,")
    if (match := _PLEASE.search(tail)) and tail[: match.start()].rsplit(" ", 1)[-1].lower() not in _PLEASES:
        return head + tail[: match.start()]
    if (match := _BARE.search(tail)) and not _SAID.search(tail[: match.start()]):
        return head + tail[: match.start()]
    return text
