"""Forms of the same question: "how do I X", "steps to X", "what is the way to X".

Reads the frame in which a prompt of one sentence asks, and renders another frame of the same type around the same
body. Knows English sentence openings, nothing of bodies. Invariant: the body is carried over word for word, so that
all that can be misread is the frame, and a frame that is not surely read is left alone.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from semcache.request.text import vocabulary
from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import capital, last_sentence, plain, single, small, split_end

PROCEDURE, ABILITY, WANTED, ORDER = "procedure", "ability", "wanted", "order"

_MAY = r"(?:can|could|may|might) (?:i|we)"
_TELL = (
    r"(?:(?:can|could|would|will) you (?:please )?|please )?(?:tell|show|explain to|teach|inform)(?: to)? me"
    r" (?:please )?"
)
_OPENINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        PROCEDURE,
        re.compile(
            r"(?:how (?:do|can|could|would|must) (?:i|we|one)(?! feel| know| like)"
            rf"|{_TELL}how (?:to|(?:i|we) can|(?:do|can) i)|how (?:to|do you go about)"
            r"|what(?:'s| is) the (?:easiest |right |correct |proper |normal |usual )?(?:way|process|procedure"
            r"|method) (?:to|for me to)"
            r"|what steps (?:do i take|should i take|are needed|do i need to take) to|what do i (?:need"
            r"|have) to do to"
            r"|i(?:'d like| would like| want| need) to know how (?:to|i can)|i(?:'m| am) trying to figure out how to"
            r"|i (?:don't|do not) know how to|walk me through how to|steps to|instructions to)"
            r" (?P<body>\w.+)$",
            re.IGNORECASE,
        ),
    ),
    (
        ABILITY,
        re.compile(
            rf"(?:{_MAY}|am i able to|is it possible (?:to|for me to)|is there (?:a|any) way (?:to|for me to)"
            rf"|would i be able to)"
            r" (?P<body>(?!please|help|have a|ask|get some help|speak|talk)\w.+)$",
            re.IGNORECASE,
        ),
    ),
    (
        WANTED,
        re.compile(
            rf"(?:(?:what is|what's|what are|what're)|{_TELL}|i(?:'d like| would like| want| need) to know"
            r"|do you know|give me) (?P<body>(?:the|my|our|all the|all my) [^,;:?!.]+)$",
            re.IGNORECASE,
        ),
    ),
    (
        ORDER,
        re.compile(
            r"(?:(?:please|can you please|could you please|can you|could you|would you|will you|i want you to"
            r"|i need you to"
            r"|i'd like you to|i would like you to|go ahead and|kindly) )?"
            r"(?P<body>(?:add|alert|apply|arrange|book|build|calculate|call|cancel|change|check|choose|classify"
            r"|clear|close"
            r"|combine|compare|compose|compute|convert|correct|count|create|delete|describe|design|determine"
            r"|develop|disable"
            r"|draft|draw|edit|enable|erase|estimate|evaluate|explain|extract|fetch|find|fix|flip|generate|give"
            r"|help|identify"
            r"|implement|increase|decrease|insert|join|list|locate|lock|look up|make|merge|modify|move|name"
            r"|navigate|open|order"
            r"|outline|paraphrase|pay|pick|play|post|predict|print|propose|provide|pull up|put|rank|read"
            r"|recommend|remind|remove"
            r"|rename|reorder|repeat|replace|report|reserve|reset|reverse|revise|rewrite|roll|save|schedule"
            r"|search|select|send"
            r"|set|share|show|simplify|solve|sort|split|start|stop|suggest|summari[sz]e|switch|tell|track"
            r"|transfer|translate"
            r"|turn|unlock|update|verify|wake|write) (?!me how|me what|me the way)\w.*)$",
            re.IGNORECASE,
        ),
    ),
)
_FRAMES = {
    PROCEDURE: (
        "how do I {b}?", "how can I {b}?", "how to {b}?", "how to {b}", "what's the way to"
                                                                        " {b}?", "what is the way to {b}?",
        "what steps do I take to"
        " {b}?", "what do I need to do to {b}?", "what do I have to do to {b}?", "steps to {b}",
        "what is the process to"
        " {b}?", "what's the procedure to {b}?", "tell me how to {b}.", "can you show me how to {b}?",
        "could you explain how to {b}?", "please explain how to {b}.", "I'd like to know how to {b}.",
        "I need to {b}. How does that work?", "I want to {b}. How do I do that?", "I don't know how to {b}.",
        "I'm trying to {b}, how is that"
        " done?", "walk me through how to {b}.", "instructions to {b}", "guide: how to {b}",
        "which steps are needed to {b}?", "I need help to {b}.", "{b}: how?", "any idea how to {b}?",
        "if I want to {b}, what do I do?", "I'd like to {b}, what should I do?", "what would I do to {b}?",
    ),
    ABILITY: (
        "can I {b}?", "could I {b}?", "is it possible to {b}?", "is it possible for me to {b}?", "am I able to {b}?",
        "would I be able to {b}?", "I'd like to know if I can {b}.", "do you know whether I can {b}?",
        "is there any way to"
        " {b}?", "tell me whether I can {b}.", "I want to {b}. Is that possible?", "{b}: possible?",
        "I was wondering if I could {b}.", "let me know if it is possible to {b}.", "would it be possible to {b}?",
    ),
    WANTED: (
        "tell me {b}.", "please tell me {b}.", "I'd like to know"
                                               " {b}.", "I need to know {b}.", "could you tell me {b}?",
        "can you tell me {b} please?", "do you know {b}?", "{b}?", "{b}", "I want to know {b}.", "let me know {b}.",
        "I'm trying to find out {b}.",
    ),
    ORDER: (
        "please {b}.", "can you {b}?", "could you {b}?", "could you please"
                                                         " {b}?", "would you {b}?", "I want you to {b}.",
        "I need you to {b}.", "I'd like you to {b}.", "{b}", "go ahead and {b}.", "{b}, please.", "kindly {b}.",
        "would you be able to {b}?", "would you mind helping: {b}.", "your task: {b}.", "what I need from you: {b}.",
    ),
}  # fmt: skip
# A body that goes on with another question or a reason is more than a body.
_NOT_A_BODY = re.compile(
    r"\b(?:and|but|or|because|since|as) (?:how|what|why|when|where|who|can|is|do|i)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|do|does|did|will|would|should|has|have|had|if|because|since|where|who|which|doing"
    r"|going|called)\b",
    re.IGNORECASE,
)


class QuestionFrame(NamedTuple):
    """The type of a prompt, what it asks about, and whether it is written with capitals and an end mark."""

    type: str
    body: str
    tidy: bool


def read(text: str) -> QuestionFrame | None:
    """The frame of a prompt of one sentence; None where it has none that is known."""
    if len(text) > 240 or not single(text):
        return None
    core, end = split_end(text.strip())
    for kind, pattern in _OPENINGS:
        match = pattern.match(core)
        if match is None:
            continue
        body = match["body"]
        if _NOT_A_BODY.search(body) or (kind == WANTED and _CLAUSE.search(body)):
            return None
        if kind == ORDER and end.startswith("?") and match.start("body") == 0:
            return None
        return QuestionFrame(kind, small(body) if match.start("body") == 0 else body, bool(end) or core[:1].isupper())
    return None


def render(frame: str, body: str, *, tidy: bool) -> str:
    """A frame around a body; without capitals and end mark unless `tidy`."""
    text = frame.format(b=body)
    if tidy:
        return capital(text)
    return split_end(text)[0]


def _another(text: str, rng: random.Random) -> str | None:
    frame = read(text)
    if frame is None:
        return None
    return render(rng.choice(_FRAMES[frame.type]), frame.body, tidy=frame.tidy)


_STOP = vocabulary(
    """
    a an the is are was were be do does did can could would should will to i i'd i'm me my we our you your please
    of for in on at what what's how how's there that this it it's have has am need want like know tell show give
    """
)
_KEEP = re.compile(
    r"\b(?:not|no|never|without|n't|who|why|when|where|which|all|before|after|from|if|or|and|than|how|what"
    r"|much)\b|n't\b"
)


def _keywords(text: str, rng: random.Random) -> str | None:
    """The prompt as keywords for a search box; only where no small word carries meaning."""
    frame = read(text)
    if (
        frame is None
        or frame.type not in (PROCEDURE, WANTED)
        or not plain(frame.body)
        or _KEEP.search(frame.body.lower())
    ):
        return None
    kept = [word for word in frame.body.split() if word.lower() not in _STOP - {"in", "on", "to", "for"}]
    if not 2 <= len(kept) <= 8 or len(kept) == len(frame.body.split()):
        return None
    body = " ".join(kept)
    return rng.choice((f"how to {body}", f"{body} how to", f"{body} steps")) if frame.type == PROCEDURE else body


_PRONOUN = r"(?P<subject>i|it|they|we|he|she|there)"
_INVERTED = re.compile(
    rf"^(?P<wh>(?:at |in |from |on |by )?(?:what|which|where|when|why|how)(?: (?!do\b|does\b|did\b|is\b|are\b"
    rf"|can\b)\w+){{0,3}}?)"
    rf" (?P<aux>can|can't|could|should|will|would|must|am|is|was|were|have|haven't|has|hasn't|do"
    rf"|don't) {_PRONOUN} (?P<rest>\w.+)$",
    re.IGNORECASE,
)
_POLITE = (
    "could you tell me"
    " {b}?", "can you tell me {b}?", "please tell me {b}.", "I'd like to know {b}.", "do you know {b}?",
    "I was wondering {b}.", "I need to know {b}.", "I'm trying to find out {b}.", "any idea {b}?", "tell me {b}.",
    "would you be able to tell me {b}?", "I want to find out {b}.",
)  # fmt: skip


def _indirect(text: str, rng: random.Random) -> str | None:
    """Turn "Where can I X?" into "Could you tell me where I can X?"."""
    if not single(text) or len(text) > 240:
        return None
    core, end = split_end(text.strip())
    match = _INVERTED.match(core)
    if match is None or _NOT_A_BODY.search(match["rest"]):
        return None
    subject, aux = match["subject"], match["aux"].lower()
    subject = "I" if subject.lower() == "i" and not core.islower() else subject
    if aux in ("do", "don't"):
        if subject.lower() in ("he", "she", "it"):
            return None
        aux = "" if aux == "do" else "don't "
    else:
        aux += " "
    body = f"{small(match['wh'])} {subject} {aux}{match['rest']}"
    return render(rng.choice(_POLITE), body, tidy=bool(end) or core[:1].isupper())


_BE = re.compile(
    r"^(?P<wh>where|when|what|who|how|why)(?P<aux>'s| is| are| was| were) (?P<subject>(?:my|the|our|your"
    r"|all) [\w' -]+)$",
    re.IGNORECASE,
)


def _located(text: str, rng: random.Random) -> str | None:
    """Turn "Where is my card?" into "Could you tell me where my card is?"; only for a bare noun."""
    core, end = split_end(text.strip())
    match = _BE.match(core)
    if match is None or match["wh"].lower() in ("why", "when", "how") or len(match["subject"].split()) > 5:
        return None
    if _CLAUSE.search(match["subject"]) or re.search(r"\b\w+(?:ing|ed)\b", match["subject"]):
        return None
    if match["wh"].lower() == "where" and re.search(
        r"\b(?:in|on|at|of|for|from|to|located|nearest)\b", match["subject"]
    ):
        return None
    aux = match["aux"].strip().replace("'s", "is")
    body = f"{small(match['wh'])} {match['subject']} {aux}"
    return render(rng.choice(_POLITE), body, tidy=bool(end) or core[:1].isupper())


RULES = keeping_rules(
    asking_frame=last_sentence(_another),
    keywords_search=_keywords,
    indirect_pronoun=last_sentence(_indirect),
    indirect_noun=last_sentence(_located),
)
