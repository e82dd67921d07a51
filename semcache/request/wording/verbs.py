"""English verbs of questions: their base form, and the tense of an inflected form.

Knows the verbs that people ask with, not all. Invariant: a form that is a base form too ("put", "found") is read as
the base form alone.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.misspelt import dictionary
from semcache.runtime.scoped_memo import scoped_cache

_REGULAR = vocabulary(
    """
    accept achieve acquire act adapt add address adopt affect afford age agree aim allow answer appear apply approach
    argue
    arrive ask assemble attack attract avoid bake balance ban bark believe belong blink block bloom boil book boost
    borrow
    bounce brew brush burn call calculate cancel carry cause celebrate change charge check clean climb clone close coach
    collapse collect combine come commit compare compete compile complete configure connect consider contain continue
    convert cook cool copy correct cost cough count cover crack crash create cross cure dance debug decide declare
    decline decorate define delay delete deliver depend describe deserve design destroy detect determine develop die
    differ
    digest direct disable disappear discover display distinguish divide dissolve dream dress dry earn edit elect
    emit enable encrypt end enforce enter erupt escape estimate evaporate evolve exchange exercise exist expand expire
    explain explode export extend fade fail fall fertilize file fill filter finish fit fix float flood flow fold
    follow form
    format freeze fry fuel function gain generate happen harvest hatch heal heat help hibernate hiccup hunt identify
    ignite import improve include increase influence inform inherit inspect install intend invade invent invest involve
    iron join judge jump kick kill last launch lead learn leave lend level lift like limit link list live load lock look
    lower maintain manage march marry match matter mean measure melt merge migrate mix mount move multiply need
    negotiate
    notice obtain occur offer open operate order organize originate orbit own pack paint park pass pay peel perform
    permit persuade pick plan plant play point pollinate possess pour practice predict prefer prepare present preserve
    prevent print process produce program promise protect provide prune publish pull purr push qualify quit raise react
    reach receive recognize recommend recover recycle reduce refer refill reflect refuse register regrow reign reject
    relate release remain remember remove renew rename repair repeat repel replace reply report represent reproduce
    require reset resign resist resolve respond rest restart restore result retire return reverse revise revolve rhyme
    ripen rise rotate rust sail save scale schedule season secrete seed seem select separate serve settle
    share shed shift shine shoot shrink sign signal sink sleep slow smell smoke sneeze snore solve sound spawn specify
    spell
    spoil sprout stain start starve stay steam stop store stretch struggle study submit suck suffer suggest supply
    support
    surrender survive sweat swell switch symbolize synchronize taste tax tend test thank thaw tickle tie toast touch
    trade train transfer translate transport travel treat trim troubleshoot trust turn twinkle twist type unblock
    unclog undo
    update upgrade upload use vary visit vote wait wake walk want warm warn wash waste watch wear weigh whistle win wipe
    wither work worry wrap yawn yield zip
    """
)
_IRREGULAR = dict(
    entry.split("=")
    for entry in vocabulary(
        """
        became=become began=begin broke=break brought=bring built=build bought=buy caught=catch chose=choose came=come
        did=do drew=draw drank=drink drove=drive ate=eat fell=fall felt=feel fought=fight flew=fly forgot=forget
        froze=freeze
        got=get gave=give went=go grew=grow had=have heard=hear held=hold kept=keep knew=know led=lead left=leave
        lost=lose made=make meant=mean met=meet paid=pay ran=run said=say saw=see sold=sell sent=send
        shook=shake shot=shoot sang=sing sank=sink slept=sleep spoke=speak spent=spend stood=stand stole=steal
        swam=swim took=take taught=teach told=tell thought=think threw=throw understood=understand woke=wake wore=wear
        won=win wrote=write rose=rise arose=arise split=split
        """
    )
)
_PARTICIPLES = dict(
    entry.split("=")
    for entry in vocabulary(
        """
        begun=begin broken=break chosen=choose done=do drawn=draw drunk=drink driven=drive eaten=eat fallen=fall
        flown=fly forgotten=forget frozen=freeze given=give gone=go grown=grow hidden=hide known=know ridden=ride
        risen=rise seen=see shaken=shake shown=show sung=sing spoken=speak stolen=steal sworn=swear taken=take
        thrown=throw torn=tear woken=wake worn=wear written=write bitten=bite
        """
    )
)
IRREGULAR: dict[str, str] = {**_IRREGULAR, **_PARTICIPLES}
_STRONG = frozenset(_IRREGULAR.values()) | vocabulary(
    "cut put set hit let shut read spread cost hurt quit burst lay lie sit"
)
BASES: frozenset[str] = (_REGULAR | _STRONG) - {"split"}
_DOUBLING = vocabulary(
    """
    ban cancel clog unclog commit cut debug fit get hit jog knit let plan permit prefer put quit refer regret reset
    rub run
    set shed shut sit skip slip snap spin spot step stop strip submit swim tag tap tip transfer trim wrap zip win begin
    forget plug drop grab beg chop dig mop nod rip
    """
)
# Forms in "s" that are nouns at least as often.
_NOUNS = vocabulary(
    """
    acts ages aims answers attacks balances bans blocks books calls causes changes charges checks claims classes clones
    coaches collapses copies costs coughs counts covers cracks crashes crosses cures dances declines delays designs
    dreams dresses ends estimates exchanges exercises exports files fills filters fits fixes floods flows folds forms
    formats functions gains harvests heats helps hiccups hunts imports increases influences invests irons judges jumps
    kicks
    leads levels lifts likes limits links lists lives loads locks looks marches matches matters measures mounts moves
    needs notices offers orders orbits owns packs paints parks passes pays peels permits plans plants plays points
    practices presents presses prints processes programs promises pulls pushes reigns releases remains repairs reports
    rests results returns reverses rises sails saves scales schedules seasons seeds shares sheds shifts shoots signs
    signals sinks smells smokes sounds spells stains starts stays steams stops stores stretches studies supplies
    supports
    switches tastes taxes tests ties toasts touches trades trains transfers transports travels treats trusts turns
    twists types
    updates upgrades uses visits votes waits walks wants wastes watches wears wins works worries wraps yields zips runs
    cuts sets hits reads spreads drinks drives falls feels fights flies catches builds breaks draws stands thoughts
    leaves
    """
)


def _third(base: str) -> str:
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLING else "") + "ed"


def _gerund(base: str) -> str:
    if base in ("die", "lie", "tie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    return base + (base[-1] if base in _DOUBLING else "") + "ing"


PRESENT: dict[str, str] = {_third(base): base for base in BASES}
PAST: dict[str, str] = {
    **{_past(base): base for base in BASES - _STRONG},
    **{form: base for form, base in _IRREGULAR.items() if form not in _REGULAR and form != "split"},
}
GERUNDS: dict[str, str] = {_gerund(base): base for base in BASES}
DOUBTFUL: frozenset[str] = _NOUNS & frozenset(PRESENT)


@scoped_cache(maxsize=8192)
def third_person(word: str) -> str | None:
    """The base of a form in "-s" in lower case; None for one of no verb that is known or in the dictionary."""
    if (base := PRESENT.get(word)) is not None or not word.endswith("s") or len(word) < 4:
        return base
    for base in (word[:-3] + "y" if word.endswith("ies") else "", word[:-1], word[:-2] if word.endswith("es") else ""):
        if base and _inflects(base) and _third(base) == word:
            return base
    return None


@scoped_cache(maxsize=8192)
def past_tense(word: str) -> str | None:
    """The base of a form of the past in lower case; None for one of no verb that is known or in the dictionary."""
    if (base := PAST.get(word)) is not None or not word.endswith("ed") or len(word) < 5:
        return base
    stem = word[:-2]
    for base in (
        stem[:-1] + "y" if stem.endswith("i") else "",
        stem + "e",
        stem,
        stem[:-1] if stem[-1:] == stem[-2:-1] else "",
    ):
        if base and _inflects(base) and word in (_past(base), base + base[-1] + "ed"):
            return base
    return None


@scoped_cache(maxsize=8192)
def is_base(word: str) -> bool:
    """Return True for the base form of a verb that is known, or of which the dictionary has all forms."""
    return word in BASES or (len(word) > 2 and _inflects(word))


def _inflects(base: str) -> bool:
    known = dictionary()
    if base not in known or base.endswith(("ing", "ed")):
        return False
    last = base[-1]
    return (_gerund(base) in known or base + last + "ing" in known) and (
        _past(base) in known or base + last + "ed" in known or (_third(base) in known and not base.endswith("s"))
    )


def base_of(gerund: str) -> str | None:
    """The base form of a verb in "-ing" in lower case; None for one that cannot be told."""
    if (known := GERUNDS.get(gerund)) is not None:
        return known
    stem = gerund.removesuffix("ing")
    if stem == gerund or len(stem) < 3 or not any(letter in "aeiouy" for letter in stem):
        return None
    if stem[-1] == stem[-2] and stem[-1] not in "lsfzeo":
        return stem[:-1]
    # One vowel before one consonant that is not doubled: "bak", "fil" lack an "e".
    if _SHORT.fullmatch(stem) or stem.endswith(_MUTE):
        return stem + "e"
    return stem


_SHORT = re.compile(r"(?:re|un|de|pre|dis)?[^aeiou]*[aeiou][^aeiouwxy]")
_MUTE = (
    "at",
    "iz",
    "is",
    "as",
    "os",
    "us",
    "uc",
    "ac",
    "ic",
    "v",
    "rg",
    "dg",
    "ut",
    "ur",
    "bl",
    "pl",
    "tl",
    "dl",
    "gl",
    "kl",
    "fl",
    "uid",
    "ud",
    "id",
    "ag",
    "in",
)
