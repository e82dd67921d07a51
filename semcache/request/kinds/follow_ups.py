"""Follow-ups: "and what is it?", where "it" is something of the asker's own that an earlier question named.

Knows pronouns and "my", reads no conversation itself. Invariant: pure, and at most `_MOST` readings of a question of
at most `_LONGEST` words; of each earlier question at most the last `_READ` characters are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

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
_DOING = re.compile(r"\bdo(?:es)? (?:it|that) (?:take|cost)\b")  # "how long does it take" means to do it
# "When?" behind "How do I see when my order comes?".
_BARE = re.compile(r"(?:(?:and|so|but|ok|okay|then) )?((?:and )?(?:when|where|how (?:much|many|high|long)|which))\W*$")


def readings(text: str, earlier: Iterable[str]) -> Iterator[str]:
    """Questions that `text` may ask if it speaks of what is called the asker's own in `earlier`, newest question first.

    None for a question that is long, or points at nothing.
    """
    asked = " ".join(text.replace("\u2019", "'").lower().split())
    if len(asked.split()) > _LONGEST:
        return
    bare, pronoun = _BARE.match(asked), _PRONOUN.search(asked)
    if (bare is None and pronoun is None) or _DOING.search(asked) is not None:
        return
    for thing in islice(_named(earlier), _MOST):
        if bare is not None:
            yield f"{bare[1]} is {thing}?"
        elif pronoun is not None and (pronoun["many"] is None or thing.endswith("s")):
            yield asked[: pronoun.start()] + thing + asked[pronoun.end() :]


def _named(earlier: Iterable[str]) -> Iterator[str]:
    """The things that are called one's own, the last first and each once."""
    found: set[str] = set()
    for text in islice(earlier, _TURNS):
        said = " ".join(text[-_READ:].replace("\u2019", "'").lower().split())
        for own in reversed(_OWN.findall(said)):
            words = own.split()
            last = next((at for at, word in enumerate(words) if word in _BEHIND), len(words))
            thing = "my " + " ".join(words[:last])
            if last and thing not in found:
                found.add(thing)
                yield thing
