"""Follow-ups: of which earlier question a prompt takes its kind ("and tomorrow?"), and what "it" stands for.

A prompt that asks nothing without the turn before ("what about GitLab?") is about the moment, or about its sender, if
that turn is. A prompt with a pronoun ("and what is it?") may be about what an earlier turn called the sender's own,
though that turn asked for the way there, as anybody does. Knows pronouns and "my", reads no conversation itself.
Invariant: pure, and of any conversation at most `_TURNS` earlier questions are read, newest first; `readings` takes the
last `_READ` characters of each, and makes at most `_MOST` readings of a question of at most `_LONGEST` words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from semcache.request.kinds.elliptic import is_elliptic
from semcache.request.kinds.general import asks_the_way
from semcache.request.text import vocabulary

_LONGEST = 12  # words; a longer question says itself what it is about
_TURNS, _READ = 6, 500  # of the earlier questions, the last
_MOST = 4  # readings
_OWN = re.compile(r"\b(?:my|our) ([\w'-]+(?: [\w'-]+){0,3})")
# A word that ends what is called one's own: "my order from Monday", "my card is blocked".
_BEHIND = vocabulary(
    """is isn't are aren't was wasn't were be been has have had do does did can can't could will won't would should may
    might must in into on onto at to from for with without of off by about after before over under until since during
    and or but if when whether while because as than so that which who where how i you we they he she it not still yet
    again back online now today tomorrow yesterday here there please"""
)
# "That" is what was said, if no value is asked for: "is that normal?".
_PRONOUN = re.compile(r"\b(?:it|(?P<many>they|them|these|those)|(?<=what is )that|(?<=how much is )that)\b")
# "How long does it take" and "is it free" mean doing it.
_DOING = re.compile(r"\bdo(?:es)? (?:it|that) (?:take|cost)\b|\bis (?:it|that) (?:free(?! to)|safe|possible|allowed)\b")
_WHICH_ONE = re.compile(r"\bwhich ones? (?=is |are )")
_JOINED = re.compile(r"\A\W*(?:(?:and|so|but|or|then|also|ok|okay|no|yes|well|thanks)\b\W*)+")
# "When?" behind "How do I see when my order comes?".
_BARE = re.compile(r"(?:(?:and|so|but|ok|okay|then) )?((?:and )?(?:when|where|how (?:much|many|high|long)|which))\W*$")
# "And how much is that?" behind "How do I see how much I owe?".
_PLAIN = re.compile(
    r"(?:(?:and|so|but|ok|okay|then) )*(?:what|when|where|who|which(?: one)?|how (?:much|many|long))"
    r"(?: (?:is|are|was|were) (?:it|that|they|those))?\W*$"
)
_ASKED_FOR = re.compile(
    r"\b(?:see|find(?: out)?|check|know|look up|view|tell) ((?:how|when|where|which|what) [^.?!,;]{1,60})"
)


def leant_on(text: str, earlier: Iterable[str]) -> Iterator[str]:
    """The questions of `earlier` that `text` continues, newest first, up to the first that says itself what it asks."""
    if not leans(text):
        return
    for one in islice(earlier, _TURNS):
        yield one
        if not leans(one):
            return


def leans(text: str) -> bool:
    """Return True if what a text is about, and how that is asked, stands in an earlier turn.

    The way to do something ("and how do I unblock it?") is the same whatever was asked before.
    """
    return len(text) <= _READ and is_elliptic(text) and not asks_the_way(_JOINED.sub("", _plain(text)))


def readings(text: str, earlier: Iterable[str]) -> Iterator[str]:
    """Questions that `text` may ask if it speaks of what is called the asker's own in `earlier`, newest question first.

    None for a question that is long, or points at nothing.
    """
    asked = _WHICH_ONE.sub("which ", _plain(text))
    if len(asked.split()) > _LONGEST:
        return
    bare, pronoun = _BARE.match(asked), _PRONOUN.search(asked)
    if (bare is None and pronoun is None) or _DOING.search(asked) is not None:
        return
    turns = [_plain(one[-_READ:]) for one in islice(earlier, _TURNS)]
    if turns and _PLAIN.match(asked) is not None and (clause := _ASKED_FOR.search(turns[0])) is not None:
        yield f"tell me {clause[1]}"
    for thing in islice(_named(turns), _MOST):
        if bare is not None:
            yield f"{bare[1]} is {thing}?"
        elif pronoun is not None and (pronoun["many"] is None or thing.endswith("s")):
            yield asked[: pronoun.start()] + thing + asked[pronoun.end() :]


def _plain(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").lower().split())


def _named(turns: Iterable[str]) -> Iterator[str]:
    """The things that are called one's own, the last first and each once."""
    found: set[str] = set()
    for said in turns:
        for own in reversed(_OWN.findall(said)):
            words = own.split()
            last = next((at for at, word in enumerate(words) if word in _BEHIND), len(words))
            thing = "my " + " ".join(words[:last])
            if last and thing not in found:
                found.add(thing)
                yield thing
