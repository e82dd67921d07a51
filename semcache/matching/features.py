"""Features of a neighbour: numbers about the two prompts and the neighbourhood that tell right from wrong ones.

They stand in one tuple: the surroundings, the comparison of the texts, the local verifier's verdict, and the findings
of guards. Pure; knows no vectors, answers or policies, and nothing of how the numbers are used. Invariant: `of` returns
`len(NAMES)` finite floats, each of them bounded, for any two texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from semcache.matching import text_features
from semcache.matching.guards import GUARDS
from semcache.matching.logistic import log_odds
from semcache.matching.surroundings import Surroundings, around
from semcache.matching.text_features import TextFeatures
from semcache.types import Candidate, Conflict

AROUND = Surroundings._fields
NAMES = (
    *AROUND,
    *TextFeatures._fields,
    "asked",  # 1: the local verifier has been asked about the two
    "word",  # its verdict then, as log-odds of their being the same, within ±LOUDEST; saved states have the name
    *(f"guard:{name}" for name in GUARDS),  # 1: that guard would veto, ARGUED: arguably, DOUBT: it doubts
)
OF_GUARDS = {f"guard:{name}": NAMES.index(f"guard:{name}") for name in GUARDS}  # places, by the feature's name
DOUBT = 0.2  # what a finding counts that is no veto
ARGUED = 0.5  # what a veto counts that is arguable, until the local verifier was asked: then it is a doubt
# What a doubt counts where the local verifier was asked about the two: measured on prompts of strangers, pairs that it
# finds the same are hardly less often the same for a doubt, but for doubts of these guards.
HEARD_DOUBT = 0.06
_UNSETTLED = frozenset(("question", "negation"))
LOUDEST = 4.6  # log-odds: as loud as the shipped verifier gets, so that what was learned of its verdict covers them all
_ASKED, _VERDICT = NAMES.index("asked"), NAMES.index("word")
_GUARDS = slice(len(NAMES) - len(GUARDS), len(NAMES))  # those of a model's verdict may follow
_NOT_ASKED = (0.0, 0.0)
_NO_FINDING = (0.0,) * len(GUARDS)


def of(text: str, candidate: Candidate, *, mending: bool = True) -> tuple[float, ...]:
    """The features of serving `candidate` for `text`, in the order of `NAMES`; those of guards come from its conflicts.

    A candidate without features of its surroundings counts as found alone. Without `mending`, typing errors stay.
    """
    surroundings = candidate.around or around([candidate])[0]
    texts = text_features.compare(text, candidate.card.text, candidate.score, mending=mending)
    plain = (*surroundings, *texts, *_NOT_ASKED, *_NO_FINDING)
    return with_conflicts(plain, candidate.conflicts) if candidate.conflicts else plain


def with_conflicts(values: tuple[float, ...], conflicts: Sequence[Conflict]) -> tuple[float, ...]:
    """These features with the findings of guards in their places."""
    asked = bool(values[_ASKED])
    found = {one.guard: _weight(one, asked=asked) for one in conflicts}
    return (*values[: _GUARDS.start], *[found.get(name, 0.0) for name in GUARDS])


def asked(values: tuple[float, ...]) -> bool:
    """Return True if the local verifier has been asked about the two, by these features."""
    return bool(values[_ASKED])


def vetoed(values: tuple[float, ...]) -> bool:
    """Return True if these features, which may be followed by a model's verdict, hold a final veto of a guard."""
    return 1.0 in values[_GUARDS]


def with_verdict(values: tuple[float, ...], p_same: float) -> tuple[float, ...]:
    """These features after the local verifier gave this P(same), in [0, 1]."""
    odds = max(-LOUDEST, min(LOUDEST, log_odds(p_same)))
    findings = zip(GUARDS, values[_GUARDS], strict=True)
    heard = [_doubt(name, asked=True) if 0.0 < finding < 1.0 else finding for name, finding in findings]
    return (*values[:_ASKED], 1.0, odds, *values[_VERDICT + 1 : _GUARDS.start], *heard)


def _weight(found: Conflict, *, asked: bool) -> float:
    if found.final:
        return 1.0
    return ARGUED if found.veto and not asked else _doubt(found.guard, asked=asked)


def _doubt(guard: str, *, asked: bool) -> float:
    return HEARD_DOUBT if asked and guard not in _UNSETTLED else DOUBT
