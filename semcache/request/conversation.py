"""The earlier turns of a conversation: reads them out of a request, and says which of them must be equal.

Pure. Knows how the dialects write turns into `Request.identity`; compares no two of them. The chain of turns is that of
MeanCache (arXiv 2403.02694), with the assistant's turns in it. Invariant: only the texts of earlier user and assistant
turns are ever compared by meaning. Everything else, and their number and order, stays in `TurnChain.rest`, which must
be equal for two requests to be in one partition. If turns must be equal to the letter, `cache_key` still ignores
greetings and thanks that were answered in kind, contractions and "please".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from semcache.request import eligibility, framed, keys
from semcache.request.conversation_items import CALLS, is_call, is_text, items_of, lines, text_alone, uses_tool
from semcache.request.kinds.elliptic import is_elliptic
from semcache.request.text import read as read_text
from semcache.request.text import vocabulary
from semcache.runtime.scoped_memo import scoped_cache

if TYPE_CHECKING:
    from semcache.types import CacheKey, Frame, Matrix, Request, Vector

MOST = 32  # earlier turns; a longer conversation has to match to the letter

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_sorted = msgspec.json.Encoder(order="sorted").encode
# Tuples: what stands in a foreign item need not be hashable.
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id")
# What a greeting or a word of thanks is made of, of which it needs one of `_KIND`; and the answers in kind.
_KIND = vocabulary(
    "hi hello hey hiya greetings morning afternoon evening thanks thank appreciate bye goodbye help question"
)
# What is said of an answer; where that asked something, it is an answer itself.
_PRAISE = vocabulary("ok okay cool perfect great nice awesome amazing wonderful excellent brilliant wow haha helped")
_SMALL = (
    _KIND
    | _PRAISE
    | vocabulary(
        "there good day how are you doing today going it's is everything so much very a lot for your the being here"
        " helpful that was really i nice to meet pleasure can could may me please have quick ask something some need"
        " again glad all just what's up sounds good love this you're"
    )
)
_SMALL_ANSWER = _SMALL | vocabulary(
    "what do you're welcome my no problem of course sure certainly absolutely glad happy assist assistance i'm am fine"
    " well and anything else let know if feel free any time anytime with would like about yours thanks yes happily"
    " see later take care great don't mention it at all always go ahead sure hear sorry good question"
)
_ABOUT_TALK = re.compile(
    r"\b(?:greet(?:ed|ing|ings)?"
    r"|(?:did|have|had|do) (?:i|you|we) (?:just |already |ever )?(?:say|said|ask|asked|write|wrote|written"
    r"|type|typed|tell|told|thank|thanked|mention|mentioned|use|used)|i (?:just )?(?:said|wrote|typed|told)"
    r"|you (?:just )?(?:said|wrote|told)|my (?:first|last|previous) (?:message|question|sentence|word)"
    r"|(?:this|our) (?:conversation|chat)|so far)\b"
)
_SMALLEST = 30  # words; a longer text is no small talk
_SMALL_LONGEST = 1000  # characters, in which thirty such words have more room than anybody leaves between them
_LONGEST = 16_384  # characters of earlier questions whose contractions are written out, in some thirty milliseconds
_CONTRACTED = (
    (re.compile(r"(?i)\b(i)'m\b"), r"\1 am"),
    (re.compile(r"(?i)\b(you|we|they|who|what)'re\b"), r"\1 are"),
    (re.compile(r"(?i)\b(i|you|we|they)'ve\b"), r"\1 have"),
    (re.compile(r"(?i)\b(i|you|we|they|he|she|it)'ll\b"), r"\1 will"),
    (re.compile(r"(?i)\b(what|who|where|how|when|it|that|there|he|she|here)'s\b"), r"\1 is"),
    (re.compile(r"(?i)\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n't\b"), r"\1 not"),
    (re.compile(r"(?i)\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"(?i)\bwon't\b"), "will not"),
)
_QUOTED = frozenset('"`\u201c\u201d\u00ab\u00bb{}')
# Where nobody can mean the word itself: "how do I say please in German?".
_PLEASE = (
    (re.compile(r"(?i)^(?:please|pls)\b,? ?(?=\S)"), ""),
    (re.compile(r"(?i)\b((?:can|could|would|will) you) (?:please|pls)\b"), r"\1"),
    (re.compile(r"(?i)(?<!say)(?<!mean)(?<!translate)(?<!word)(?<![:,']),? (?:please|pls)(?=[\s.!?]*$)"), ""),
)


class EarlierTurn(NamedTuple):
    """An earlier turn that has text; `role` is "user" or "assistant".

    One `beside_call` has a tool's call or result next to it, which two requests that meet have in common.
    """

    role: str
    text: str
    beside_call: bool = False


@dataclass(frozen=True, slots=True)
class TurnChain:
    """A conversation up to its last turn. `rest` is the identity without the texts that `turns` holds, oldest first.

    No turns means that nothing may be compared by meaning.
    """

    rest: Mapping[str, Any]
    turns: tuple[EarlierTurn, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """The earlier messages of the user."""
        return tuple([turn.text for turn in self.turns if turn.role == "user"])


def read(identity: Mapping[str, Any]) -> TurnChain:
    """The chain of a request's identity without small talk, in which the last turn holds no text any more.

    Ids of tool calls and of output items are drawn anew each time; they become numbers in the order of appearance.
    """
    identity = without_small_talk(identity, plain=False)
    name, items = items_of(identity)
    if not 1 < len(items) <= MOST + 1:
        return TurnChain(identity)
    turns: list[EarlierTurn] = []
    rest: list[Any] = []
    numbers: dict[str, int] = {}
    for place, item in enumerate(items[:-1]):
        kept, turn = _split(item)
        rest.append(_numbered(kept, numbers))
        if turn is not None:
            beside = (
                uses_tool(items[place + 1]) if turn.role == "user" else uses_tool(item) or uses_tool(items[place - 1])
            )
            turns.append(turn._replace(beside_call=beside))
    if not turns:
        return TurnChain(identity)
    return TurnChain({**identity, name: [*rest, _numbered(items[-1], numbers)]}, tuple(turns))


def without_small_talk(identity: Mapping[str, Any], *, plain: bool = True) -> Mapping[str, Any]:
    """The identity without small talk; where `plain`, its earlier questions without contractions and "please".

    One that has no room in what is left of `_LONGEST` characters stays as it is.
    """
    name, items = items_of(identity)
    if len(items) < 2:
        return identity
    kept: list[Any] = []
    place, room = 0, _LONGEST if plain else 0
    while place < len(items) - 1:
        item = items[place]
        said = text_alone(item, "user")
        asked = bool(kept) and (text_alone(kept[-1], "assistant") or "").rstrip().endswith("?")
        if said is not None and _small(said, _KIND if asked else _KIND | _PRAISE) and place + 2 < len(items):
            answer = text_alone(items[place + 1], "assistant")
            if answer is not None and is_small_answer(answer):
                place += 2
                continue
        if said is not None and len(said) <= room:
            room -= len(said)
            item = item if (wording := _plain(said)) == said else {**item, "content": wording}
        kept.append(item)
        place += 1
    kept.append(items[-1])
    same = len(kept) == len(items) and all(one is two for one, two in zip(kept, items, strict=True))
    return identity if same else {**identity, name: kept}


def with_numbered_calls(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """The identity with numbers for ids of tool calls, in the order of appearance, and without ids of output items.

    Models draw these ids anew in every run, and an agent that repeats a run sends them back.
    """
    name, items = items_of(identity)
    if not any(map(uses_tool, items)):
        return identity
    numbers: dict[str, int] = {}
    return {**identity, name: [_numbered(item, numbers) for item in items]}


def cache_key(request: Request, salt: bytes) -> CacheKey:
    """`keys.cache_key` with numbered calls, and a signature without small talk, contractions in turns and line ends."""
    identity = with_numbered_calls(request.identity)
    if identity is not request.identity:
        request = replace(request, identity=identity)
    alike = without_small_talk(request.identity)
    if alike is not request.identity and asks_about_talk(request.text):
        alike = request.identity
    return keys.cache_key(request, salt, alike=_with_tidy_frame(alike))


def asks_about_talk(text: str) -> bool:
    """Return True for a message about the conversation itself, to which every word of it may matter."""
    return _ABOUT_TALK.search(text.lower()) is not None


def is_small_answer(text: str) -> bool:
    """Return True for words of an assistant that only greet, thank, or offer help."""
    return _small(text, _SMALL_ANSWER, within=_SMALL_ANSWER)


def stored_chain(canonical: bytes) -> TurnChain | None:
    """The chain of an entry, from `CacheKey.canonical`; None when that cannot be read."""
    identity = stored_identity(canonical)
    return read(identity) if identity else None


def stored_identity(canonical: bytes) -> Mapping[str, Any]:
    """The identity of an entry, from `CacheKey.canonical`; empty when that cannot be read."""
    try:
        return _decode(keys.unframe(canonical)[2])
    except (msgspec.MsgspecError, IndexError):
        return {}


def transcript(identity: Mapping[str, Any], text: str) -> str:
    """The conversation as a judge reads it: its turns, what tools were called and gave, and the last message."""
    _, items = items_of(with_numbered_calls(without_small_talk(identity)))
    last = framed.shown(_last_frame(identity), text)
    return "\n".join([line for item in items[:-1] for line in lines(item)] + [f"user: {last}"])


def has_earlier_question(identity: Mapping[str, Any]) -> bool:
    """Return True if the user said something before the last turn, beyond small talk."""
    return any(
        isinstance(item, dict) and item.get("role") == "user" for item in items_of(without_small_talk(identity))[1][:-1]
    )


def has_context(identity: Mapping[str, Any]) -> bool:
    """Return True if the last message has what it may point to: an earlier question, or material around it."""
    return _last_frame(identity) is not None or has_earlier_question(identity)


def leans_on_tools(identity: Mapping[str, Any]) -> bool:
    """Return True if a tool was called in an earlier turn."""
    return any(map(uses_tool, items_of(identity)[1]))


def lacks_context(identity: Mapping[str, Any], text: str) -> bool:
    """Return True if the last message `text` points to what this request does not have."""
    return is_elliptic(text) and not has_context(identity)


def blended_vector(last: Vector, questions: Matrix) -> Vector:
    """The unit vector under which a conversation is kept: as much of its last message as of the questions before."""
    if not len(questions):
        return last
    before = np.mean(questions, axis=0)
    mixed = last + before / max(float(np.linalg.norm(before)), 1e-6)
    length = float(np.linalg.norm(mixed))
    vector: Vector = (mixed / length).astype(np.float32) if length > 1e-3 else last
    return vector


# Reading


def _with_tidy_frame(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """The identity with what stands around the last question tidied; as it is where nothing does."""
    frame = _last_frame(identity)
    if frame is None:
        return identity
    tidy = framed.placeholder(framed.tidied(frame))
    name, items = items_of(identity)
    return {**identity, name: [*items[:-1], {**items[-1], "content": tidy}]} if items else {**identity, "prompt": tidy}


def _last_frame(identity: Mapping[str, Any]) -> Frame | None:
    """The frame of the question in the last turn."""
    _, items = items_of(identity)
    last = items[-1] if items else None
    return framed.frame_of(last.get("content") if isinstance(last, dict) else identity.get("prompt"))


def _small(text: str, needed: frozenset[str], *, within: frozenset[str] = _SMALL) -> bool:
    """Return True for a text that is made of these words alone, and has one of those that are needed."""
    if len(text) > _SMALL_LONGEST:
        return False
    said = read_text(text).words
    return 0 < len(said) <= _SMALLEST and within.issuperset(said) and not needed.isdisjoint(said)


@scoped_cache(maxsize=2048)
def _plain(text: str) -> str:
    """The text in full words, without "please"; as it is where it must match to the letter."""
    # Line breaks and indentation may be code's, and quoted words are meant as they stand.
    if "\n" in text or not _QUOTED.isdisjoint(text) or _fixed(text, opens=False):
        return text
    found = " ".join(text.replace("\u2019", "'").split())
    if "'" in found:
        for pattern, full in _CONTRACTED:
            found = pattern.sub(full, found)
    for pattern, full in _PLEASE:
        found = pattern.sub(full, found)
    found = found.strip().rstrip(".! ")
    return found[:1].upper() + found[1:] if found else text


def _split(item: Any) -> tuple[Any, EarlierTurn | None]:
    """Split an item into what stays of it and its text, if it is a turn of user or assistant that has some."""
    role = item.get("role") if isinstance(item, dict) else None
    if role not in ("user", "assistant"):
        return item, None
    content = item.get("content")
    if role == "assistant" and item.get("tool_calls") and (content is None or isinstance(content, str)):
        return {**item, "content": [{"type": "text"}]}, EarlierTurn(role, content or "")
    if isinstance(content, str):
        return ({**item, "content": [{"type": "text"}]}, EarlierTurn(role, content)) if content else (item, None)
    if not isinstance(content, list):
        return item, None
    texts = [part["text"] for part in content if is_text(part)]
    if not any(texts):
        return item, None
    return {**item, "content": [_without_text(part) for part in content]}, EarlierTurn(role, "\n".join(texts))


def _without_text(part: Any) -> Any:
    """A placeholder for a text, with whatever else was said about it."""
    if not is_text(part):
        return part
    return {**{key: value for key, value in part.items() if key != "text" and value not in ([], None)}, "type": "text"}


def _numbered(item: Any, numbers: dict[str, int]) -> Any:
    """The item with numbers for ids of calls, and without the id and the status of an output item."""
    if not isinstance(item, dict):
        return item
    changed: dict[str, Any] = {key: _number(item[key], numbers) for key in _CALL_IDS if key in item}
    for name in ("tool_calls", "content"):
        parts = item.get(name)
        if isinstance(parts, list) and any(is_call(part, called=name == "tool_calls") for part in parts):
            changed[name] = [_numbered_part(part, numbers, called=name == "tool_calls") for part in parts]
    if item.get("type") in CALLS or (item.get("role") == "assistant" and isinstance(item.get("id"), str)):
        item = _ordered({key: value for key, value in item.items() if key not in ("id", "status")})
    return {**item, **changed} if changed else item


def _numbered_part(part: Any, numbers: dict[str, int], *, called: bool) -> Any:
    if not is_call(part, called=called):
        return part
    found = {key: _number(value, numbers) if key in ("id", "tool_use_id") else value for key, value in part.items()}
    function = found.get("function")
    if isinstance(function, dict):
        found["function"] = _ordered(function)
    return found


def _ordered(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call whose arguments, JSON in a string, have their keys in order; as it is where they are none."""
    try:
        arguments = _sorted(_decode(call["arguments"]))
    except (KeyError, TypeError, msgspec.MsgspecError):
        return call
    return {**call, "arguments": arguments.decode()}


def _number(value: Any, numbers: dict[str, int]) -> Any:
    return numbers.setdefault(value, len(numbers)) if isinstance(value, str) else value


def _fixed(text: str, *, opens: bool) -> bool:
    kind = eligibility.kinds(text)
    return kind.secret or kind.personal or kind.live or (opens and is_elliptic(text))
