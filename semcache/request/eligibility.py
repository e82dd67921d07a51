"""Eligibility of a request: for the cache at all, and for lookups by meaning.

Reads the request and its category, nothing else: no store, no clock, no embedding. Invariant: when in doubt a request
is ineligible. A prompt that may be looked up by meaning was read from end to end.
"""

from __future__ import annotations

from collections.abc import Iterator

from semcache.config.packs import Category
from semcache.request import framed
from semcache.request.characters import LONGEST, LONGEST_WORD, is_plain
from semcache.request.conversation_items import items_of, text_alone, uses_tool
from semcache.request.kinds import LONGEST as REMEMBERED
from semcache.request.kinds import Kinds, follow_ups, is_creative, is_live, is_personal, kinds, material
from semcache.request.kinds.as_written import asks_about_form, works_on_wording
from semcache.request.secrets import has_secret, strings_of
from semcache.types import Request, Why

__all__ = [
    "Kinds",
    "ineligible",
    "is_answered_by_material",
    "is_creative",
    "is_live",
    "is_personal",
    "kinds",
    "semantic_eligible",
    "unkept",
]


def ineligible(request: Request, category: Category) -> Why | None:
    """The first reason against looking up and storing this request; None when there is none."""
    if not category.cache:
        return Why.DISABLED
    if request.traits.stateful:
        return Why.STATEFUL
    temperature = request.traits.temperature
    if temperature is not None and temperature > category.max_temperature:
        return Why.TEMPERATURE
    if len(request.text) > LONGEST:
        return Why.TOO_LARGE
    kind = kinds(request.told, whole=category.max_chars)
    if kind.secret:
        return Why.SECRET
    around = _source(request)
    if around is not None and not kind.secret:
        kind = kind._replace(
            live=kind.live and not material.tells_the_moment(request.text, around, is_live),
            personal=kind.personal and not material.tells_the_term(request.text, around),
        )
    kind = _with_kinds_leant_on(kind, request)
    if not (category.personal or request.scope.user is not None) and (kind.personal or _follows_own(request)):
        return Why.PERSONAL
    if kind.live and not category.live:
        return Why.LIVE
    if kind.creative and not category.creative:
        return Why.CREATIVE
    return None


def _with_kinds_leant_on(kind: Kinds, request: Request) -> Kinds:
    """The kinds of a question, with those of the earlier turns without which it asks nothing."""
    for one in follow_ups.leant_on(request.text, _earlier(request)):
        before = kinds(one[-REMEMBERED:])
        kind = kind._replace(personal=kind.personal or before.personal, live=kind.live or before.live)
    return kind


def _follows_own(request: Request) -> bool:
    """Return True if the question is about something that the asker called their own in an earlier turn.

    Where a tool was called, what it gave stands in the conversation, which is equal wherever the answer is shared.
    """
    if any(map(uses_tool, items_of(request.identity)[1])):
        return False
    return any(is_personal(one) for one in follow_ups.readings(request.text, _earlier(request)))


def _earlier(request: Request) -> Iterator[str]:
    """The messages of the user before the last one, newest first."""
    _, items = items_of(request.identity)
    return (said for item in reversed(items[:-1]) if (said := text_alone(item, "user")) is not None)


def is_answered_by_material(request: Request) -> bool:
    """Return True if material in the request answers what would else depend on the moment, or on who asks."""
    around = _source(request)
    return around is not None and (
        material.tells_the_moment(request.text, around, is_live) or material.tells_the_term(request.text, around)
    )


def _source(request: Request) -> str | None:
    """The material that an answer is to be taken from, in a request without tools to look elsewhere; None for none."""
    return None if request.frame is None or request.traits.tools else framed.named_source(request.frame)


def unkept(request: Request) -> Why | None:
    """The reason against keeping what stands before the last message, which `ineligible` reads; None for none.

    That is the system prompt, earlier turns, tools and their calls. More than can be read in the time that a request
    has is not kept either.
    """
    said = strings_of(request.identity)
    if len(said) + len(request.text) > LONGEST:
        return Why.TOO_LARGE
    controls = request.controls
    # Tags and the like are kept beside the entry; a line parts them, for no pattern reads across it.
    beside = (request.model, controls.namespace or "", *controls.tags)
    return Why.SECRET if has_secret("\n\0\n".join((said, *beside))) else None


def semantic_eligible(request: Request, category: Category, longest_word: int = LONGEST_WORD) -> Why | None:
    """EXACT_ONLY when a paraphrase of this request must not be sought; None when it may.

    `longest_word` is how many characters of a word the embedder tells apart.
    """
    traits, text = request.traits, request.text
    if not category.semantic or traits.multimodal or traits.repeats_prompt or traits.last_role != "user":
        return Why.EXACT_ONLY
    if len(text) > category.max_chars or not any(map(str.isalnum, text)) or not is_plain(text, longest_word):
        return Why.EXACT_ONLY
    if works_on_wording(traits.system) or asks_about_form(text):
        return Why.EXACT_ONLY
    if request.frame is not None and works_on_wording(framed.instruction(request.frame)):
        return Why.EXACT_ONLY
    return None
