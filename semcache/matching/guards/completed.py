"""An end that has come or is coming: "whose mother died" and "whose mother is dying", in any clause.

Knows verbs of an end that comes once, some of them with the word that makes them so ("drop out", "lose weight"). Parses
no grammar. Invariant: texts are told apart only where they have the same words but for their endings, auxiliaries and
the like, and what is reported alike in any tense, such as a machine that fails, is none of these verbs.
"""

from __future__ import annotations

from semcache.matching.guards.lemmas import lemma_of
from semcache.request.text import LIGHT, READINGS, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_ENDING = vocabulary(
    "die drown starve quit resign retire divorce marry separate graduate expire miscarry evict adopt emigrate"
    " immigrate relocate leave sell buy hire"
)
# Verbs of an end where one of these words comes soon after them.
_ENDING_WITH = {
    "drop": vocabulary("out"),
    "move": vocabulary("out in away abroad house"),
    "break": vocabulary("up"),
    "split": vocabulary("up"),
    "pass": vocabulary("away"),
    "run": vocabulary("out"),
    "burn": vocabulary("down out"),
    "dry": vocabulary("out up"),
    "give": vocabulary("birth up"),
    "fall": vocabulary("asleep pregnant"),
    "go": vocabulary("off bad bankrupt missing blind deaf extinct stale"),
    "lose": vocabulary(
        "job jobs weight hair house home sight hearing vision memory custody tooth teeth leaves baby appetite licence"
        " license"
    ),
    "fail": vocabulary("class course exam exams school subject degree module"),
    "close": vocabulary("account accounts branch store shop business"),
}
_NEAR = 3  # words behind the verb
_BEING = vocabulary("is are am i'm you're we're they're he's she's it's that's who's being getting")
_PASSING = vocabulary("already just now currently slowly still also really about soon finally recently")
_TO_COME = vocabulary("be to will would can could should may might must not")
_COMING = (("going", "to"), ("about", "to"))
_UNCHANGED = vocabulary("quit")
_LIGHTEST = vocabulary("get go")  # of which some forms are light words


def compare(query: str, cached: str) -> str | None:
    """The verb of which one text says that it is under way, and the other that it is over; None without one."""
    ours, theirs = _states(query), _states(cached)
    if not (ours and theirs):
        return None
    one, two = read_text(query).bag, read_text(cached).bag
    if one == two or _verbs(one - two) != _verbs(two - one):
        return None
    return next(
        (f"{verb}: {state} / {theirs[verb]}" for verb, state in ours.items() if theirs.get(verb, state) != state), None
    )


def _verbs(words: frozenset[str]) -> set[str]:
    """The lemmas of words, auxiliaries and contractions aside."""
    return {lemma_of(word) for word in words if word not in LIGHT and "'" not in word} - _LIGHTEST


@scoped_cache(maxsize=READINGS)
def _states(text: str) -> dict[str, str]:
    """The ends that are over, or under way or soon to be, by the verb's lemma; the last mention counts."""
    words = read_text(text).words
    found: dict[str, str] = {}
    for place, word in enumerate(words):
        verb = lemma_of(word)
        if verb not in _ENDING and _ENDING_WITH.get(verb, frozenset()).isdisjoint(words[place + 1 : place + 1 + _NEAR]):
            continue
        if word == verb and words[max(0, place - 2) : place] in _COMING:
            found[verb] = "under way"
            continue
        before = next((said for said in reversed(words[max(0, place - 2) : place]) if said not in _PASSING), "")
        if word.endswith("ing"):
            if before in _BEING:
                found[verb] = "under way"
        elif before not in _TO_COME and (word != verb or word in _UNCHANGED) and not word.endswith("s"):
            found[verb] = "under way" if before in ("being", "getting") else "over"
    return found
