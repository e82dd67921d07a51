"""Questions for yes or no against orders, statements and questions of the same words: what is done by saying them.

"Can you eat potato skins?" asks whether somebody may, "Eat potato skins." tells somebody to. Reads the auxiliary that a
question opens with and who it is asked about. Parses no grammar. Invariant: what an assistant can be told to do is the
same request as an order and as a question to it ("Can you list the planets?").
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.request.text import READINGS, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.fillers import is_request
from semcache.runtime.scoped_memo import scoped_cache

_AUXILIARIES = vocabulary(
    "can could should would will shall may might must do does did is are am was were has have had"
)
_SUBJECTS = vocabulary("i we you he she it they one people anyone somebody someone")
_OPENING = vocabulary("please so and ok okay well hi hello hey kindly")
_ASKERS = frozenset(("i", "we"))
_OFFERS = vocabulary("can could may might")
_WILLING = vocabulary("can could would will")
# What an answer, or something that was talked about, is changed by.
_CHANGING = vocabulary(
    "make do add remove change replace use turn put try repeat keep include skip drop cut split merge update mark"
    " rename move delete run set start stop send book order search look"
)
_OWNED = vocabulary("me my mine us our ours")  # what is done to these is done for the asker
_RECEIVING = vocabulary("get have see know ask borrow request")
# With these "you" is the one who is asked; with the others it is anybody.
_OWN = vocabulary("would did had have has am are was were")
_BE = vocabulary("am are is was were")
_ASKING = vocabulary("who whom whose what which when where why how who's what's where's how's when's why's")
_ADVERBS = vocabulary("please the a an just really ever actually also still")


class Act(NamedTuple):
    """A text that opens with an auxiliary and a subject (`auxiliary`), asks with a word, or does neither."""

    auxiliary: str
    subject: str
    asks: bool
    body: tuple[str, ...]


@scoped_cache(maxsize=READINGS)
def read(text: str) -> Act:
    """The auxiliary, the subject and the other words of a text."""
    words = read_text(text).words
    start = 0
    while start < len(words) and words[start] in _OPENING:
        start += 1
    words = words[start:]
    auxiliary = subject = ""
    if len(words) > 2 and words[0] in _AUXILIARIES and words[1] in _SUBJECTS:
        auxiliary, subject, words = words[0], words[1], words[2:]
    elif len(words) > 1 and words[0] in _SUBJECTS:
        subject, words = words[0], words[1:]
    asks = not _ASKING.isdisjoint(words[:1])
    return Act(auxiliary, subject, asks, tuple([word for word in words if word not in _ADVERBS]))


def compare(query: str, cached: str) -> str | None:
    """The two things that texts of the same words do; None where they do the same or differ in other words."""
    one, two = read(query), read(cached)
    if one.body != two.body or not one.body or one.asks or two.asks:
        return None
    if one.auxiliary and two.auxiliary:
        # "Do you need a visa" and "Do I need a visa" ask the same.
        if one.auxiliary not in _OWN or (one.subject in _ASKERS) == (two.subject in _ASKERS):
            return None
        alike = one.auxiliary == two.auxiliary or {one.auxiliary, two.auxiliary} <= _BE
        return f"{one.subject} / {two.subject}" if alike and "you" in (one.subject, two.subject) else None
    if not one.auxiliary and not two.auxiliary:
        return None
    asked, told = (one, two) if one.auxiliary else (two, one)
    if (cached if one.auxiliary else query).rstrip().endswith("?"):
        return None  # "compost meat?" leaves out "can I"
    if told.subject:
        return f"{asked.auxiliary} {asked.subject} / {told.subject}" if told.subject == asked.subject else None
    if _requests(asked):
        return None
    return f"{asked.auxiliary} {asked.subject} / an order"


def _requests(asked: Act) -> bool:
    """Return True if the question asks the assistant to do something, so that an order says the same."""
    if asked.subject == "you" and asked.auxiliary in _WILLING:
        return asked.body[0] in _CHANGING or is_request(" ".join(asked.body)) or not _OWNED.isdisjoint(asked.body)
    return asked.subject in _ASKERS and asked.auxiliary in _OFFERS and asked.body[0] in _RECEIVING
