"""Small talk or a request: sentences of empty words that ask for something all the same.

"Can you help me?" says nothing beside a prompt; "Is this a good question?", "Answer with one word" and "I do not need
help" do. Invariant: a question counts as small talk only if it asks the reader for help or an answer, or after their
well-being; an order only if it is to help, to answer or to tell, and names neither how nor whom.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_AUXILIARIES = vocabulary(
    "is are am was were do does did can could will would have has had may might should isn't aren't don't doesn't"
)
_READERS = vocabulary("you u ur y'all anyone anybody someone somebody")
_PEOPLE = vocabulary(
    """
    friend friends team folks guys people experts expert everyone everybody support community chatgpt gpt claude gemini
    siri alexa copilot assistant bot chatbot ai man dude bro buddy mate pal sir madam gang
    """
)
_SUBJECTS = (
    _READERS
    | _PEOPLE
    | vocabulary("i we it this that these the my your our there a an any some one he she they questions question")
)
_AID = vocabulary("help assistance advice answers answer")  # subjects behind these alone: "do help me" is no question
_BE = vocabulary("is are was were will would does did should")
# Before these, people are the readers themselves; after one of those, somebody else.
_THIRD = vocabulary("a an my your our the this that to for as with from of help ask tell one another some any two all")
_OPENING = vocabulary(
    """
    hi hello hey hiya heya howdy greetings yo hallo good morning afternoon evening night day dear there thank thanks
    thankyou thx thnx tnx ty tia cheers ta much very a lot so well ok okay alright right anyway and but or also please
    pls plz kindly just sorry excuse me pardon quick question again um umm uhm uh uhh er erm hmm hm mm mmm oh ah
    hopefully you maybe now then actually basically honestly
    """
)
_MANNER = vocabulary(
    """
    please pls plz kindly possibly maybe just quickly quick me us this that it my the our a an any some question query
    out with on to about asap soon possible urgently now right today here i need needed really so much as and at all
    off for in of if you can could will would answer answers help helping assist assisting advice guidance input let
    know tell explain reply response moment minute little bit thanks thank there again real by your time
    """
)
_HEADS = vocabulary("one more thing another quick small last first two")
_VERBS = vocabulary("help assist answer reply tell let know explain guide ask")
_WELL = vocabulary("are is you doing well fine good ok okay alright all right there everyone everybody today here it")
_NEGATIONS = vocabulary("not don't never no")
_EXCUSES = vocabulary(
    "mind sorry hope hopefully apologies apologise apologize pardon excuse idea clue know bother trouble"
)


def asks(words: list[str], *, head: bool) -> bool:
    """Return True if a sentence of empty words asks for something, so that it is no mere small talk.

    `head` says that the request proper follows.
    """
    if not _NEGATIONS.isdisjoint(words) and (_EXCUSES.isdisjoint(words) or words[0] in ("do", "don't", "please")):
        return not _minds(words)
    at = next((at for at, word in enumerate(words) if word not in _OPENING), len(words))
    at = _back_to_order(words, at)
    said = words[at:]
    if not said:
        return False
    if _is_question(said):
        return not _for_help(said, head)
    return _orders(said, head)


def asks_of_hope(words: list[str]) -> bool:
    """Return True if what somebody hopes, such as "you can answer with one word", asks for more than help."""
    verbs = [at for at, word in enumerate(words) if word in _VERBS]
    if not _NEGATIONS.isdisjoint(words) and "mind" not in words:
        return True
    return bool(verbs) and words[0] in ("you", "your", "this") and not _plain(words[verbs[0] + 1 :], head=False)


def _minds(words: list[str]) -> bool:
    """Return True for "do you mind", "if you do not mind" and their like."""
    return "mind" in words and "you" in words


def _back_to_order(words: list[str], at: int) -> int:
    """Where the sentence begins, though words of greeting may open it: "thank me", "you are ..."."""
    for place, word in enumerate(words[:at]):
        if word == "thank" and words[place + 1 : place + 2] not in ([], ["you"], ["u"], ["y'all"]):
            return place
    return at - 1 if at and words[at - 1] == "you" and words[max(0, at - 2)] not in ("thank", "bless") else at


def _is_question(said: list[str]) -> bool:
    first, then = said[0], said[1] if len(said) > 1 else ""
    if first not in _AUXILIARIES:
        return False
    return then in _SUBJECTS or (then in _AID and first in _BE)


def _for_help(said: list[str], head: bool) -> bool:
    """Return True for a question that asks its reader for help, an answer or a moment, or how they are."""
    subject, rest = said[1], said[2:]
    if said[0] in ("are", "is") and _WELL.issuperset(said):
        return subject in _READERS or len(said) > 3
    if subject in ("i", "we"):
        if said[0] not in ("can", "could", "may", "might"):
            return False
        return (
            bool(rest)
            and rest[0] in ("ask", "please", "just", "get", "have", "trouble", "bother", "quickly")
            and (_plain(rest[1:], head) or (rest[0] == "ask" and head))
        )
    if subject == "any" and said[0] == "is":
        return False
    if said[0] == "is" and subject == "there" and not _READERS.isdisjoint(rest):
        rest = [word for word in rest if word not in _READERS]
    elif subject not in _READERS:
        return False
    if subject in ("you", "u") and said[0] in ("are", "am", "is", "was", "were", "did", "had"):
        return False
    if not rest or any(word in ("like", "love", "need", "want", "ask", "questions", "think", "find") for word in rest):
        return False
    return _plain([word for word in rest if word not in ("who", "have", "has", "got", "happen", "idea", "mind")], head)


def _orders(said: list[str], head: bool) -> bool:
    """Return True for an order that is more than to help or to answer."""
    first = said[0]
    if first in ("wish", "love", "thank") and said[1:2] in (["me"], ["us"], ["my"], ["your"], ["the"], ["a"], ["one"]):
        return True
    if first in ("apologise", "apologize") and said[1:2] != ["for"]:
        return True
    if first in ("you", "you're"):
        if said == ["you", "are", "a", "helpful", "assistant"]:
            return False
        return "a" in said or "an" in said or "assistant" in said
    if first == "be":
        return _VERBS.isdisjoint(said)
    if first == "ask" or said == ["any", "questions"]:
        return True
    if said[:3] == ["let", "me", "ask"]:
        return False
    if first in ("answer", "reply") and "with" in said:
        return True
    return first in _VERBS and not _plain(said[1:], head)


def _plain(rest: list[str], head: bool) -> bool:
    """Return True if what follows names neither how to help or answer, nor anybody else to help."""
    for at, word in enumerate(rest):
        if (
            word in _MANNER
            or (head and word in _HEADS)
            or (word == "one" and rest[at - 1 : at] in (["this"], ["that"]))
        ):
            continue
        if word in _PEOPLE and at and rest[at - 1] not in _THIRD:
            continue
        return False
    return True
