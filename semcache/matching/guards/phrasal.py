"""Opposites of more than one word: "turn on" against "disable", "log in" against "sign out".

Data and one reading. Invariant: no phrase stands on both sides of one axis, and a text that holds both sides of an
axis is on neither.
"""

from __future__ import annotations

import re

from semcache.request.text import SplitText, vocabulary
from semcache.request.wording.cues import holds

_BETWEEN = r"(?: (?!and\b|or\b|if\b|when\b|to\b|from\b)[\w'-]+){0,4}?"
_IN = r"in(?:to)?\b"
_MUCH = r"(?: possible)? (?:numbers?|amounts?|quantity|quantities|count|sum|total)\b"
_CLOCK = r"(?:half|quarter|\w+ minutes)"
_HOUR = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight"


def _forms(verbs: str) -> str:
    """A pattern of these verbs and their inflections."""
    forms: list[str] = []
    for verb in verbs.split():
        stem = verb.removesuffix("e")
        forms += [
            verb,
            verb + "s",
            verb + "es",
            stem + "ed",
            stem + "ing",
            verb + verb[-1] + "ed",
            verb + verb[-1] + "ing",
        ]
    return rf"\b(?:{'|'.join(forms)})"


_SWITCH = _forms("turn switch power toggle flip")
_AXES: tuple[tuple[str, str], ...] = (
    (
        rf"{_SWITCH}{_BETWEEN} (?:back )?on\b(?! off)|{_forms('enable activate reactivate')}\b",
        rf"(?:{_SWITCH}|{_forms('shut')}){_BETWEEN} off\b|{_forms('disable deactivate')}\b",
    ),
    (
        rf"{_forms('log sign')}{_BETWEEN} (?:back )?{_IN}|\blog-?in\b|\bsign-?in\b",
        rf"{_forms('log sign')}{_BETWEEN} (?:out|off)\b|\blog-?out\b|\bsign-?out\b",
    ),
    (rf"{_forms('opt')} {_IN}", rf"{_forms('opt')} out\b"),
    (
        rf"{_forms('check')}{_BETWEEN} {_IN}|\bcheck-in\b",
        rf"{_forms('check')}{_BETWEEN} out\b|\bcheckout\b|\bcheck-out\b",
    ),
    (
        rf"{_forms('turn crank')}{_BETWEEN} up\b|{_forms('raise increase boost')}\b",
        rf"{_forms('turn dial')}{_BETWEEN} down\b|{_forms('lower reduce decrease')}\b",
    ),
    (
        rf"{_forms('speed')}{_BETWEEN} up\b|{_forms('accelerate')}\b",
        rf"{_forms('slow')}{_BETWEEN} down\b|{_forms('decelerate')}\b",
    ),
    (
        rf"{_forms('start boot')}(?:{_BETWEEN} up)?\b|{_forms('power')}{_BETWEEN} up\b|{_forms('launch')}\b",
        rf"{_forms('shut power')}{_BETWEEN} down\b|\bshutdown\b|{_forms('stop halt')}\b",
    ),
    (r"\bput(?:ting|s)? (?:\S+ ){0,3}?on\b|\bput on\b", r"\b(?:take|takes|taking|took|taken) (?:\S+ ){0,3}?off\b"),
    (
        rf"{_forms('set')}{_BETWEEN} up\b|{_forms('install')}\b",
        rf"{_forms('remove uninstall dismantle')}\b|\btear(?:ing)? down\b",
    ),
    (rf"{_forms('plug')}{_BETWEEN} {_IN}", rf"{_forms('unplug')}\b"),
    (rf"{_forms('zoom')} {_IN}", rf"{_forms('zoom')} out\b"),
    (r"\b(?:move|moving|moved) in(?:to)?\b", r"\b(?:move|moving|moved) out\b"),
    (rf"{_forms('pick')}{_BETWEEN} up\b", rf"{_forms('drop')}{_BETWEEN} off\b"),
    (r"\b(?:put|putting) on weight\b|\bgain(?:ing)? weight\b", r"\b(?:lose|losing|lost) weight\b"),
    (rf"{_forms('back')}{_BETWEEN} up\b", rf"{_forms('restore')}\b"),
    (r"\b(?:wake|waking|woke|get|getting) up\b", r"\b(?:fall|falling|fell) asleep\b|\bgo(?:ing)? to (?:sleep|bed)\b"),
    (rf"{_forms('roll')}{_BETWEEN} out\b|{_forms('deploy')}\b", rf"{_forms('roll')}{_BETWEEN} back\b"),
    (rf"{_forms('break')}{_BETWEEN} up\b", r"\bget(?:ting)? back together\b"),
    (rf"{_forms('scale')}{_BETWEEN} (?:up|out)\b", rf"{_forms('scale')}{_BETWEEN} (?:down|in)\b"),
    (r"\bgreedy\b", r"\b(?:lazy|non-?greedy|reluctant)\b"),
    (r"\beager(?:ly)?\b", r"\blaz(?:y|ily)\b"),
    (
        rf"\b(?:least|fewest|smallest|lowest|minimum|minimal){_MUCH}",
        rf"\b(?:most|largest|biggest|greatest|highest|maximum|maximal){_MUCH}",
    ),
    (
        r"(?<!and )\b(?:causes? of|causes? behind|what causes?)\b",
        r"\b(?:(?:effect|consequence|impact|symptom|outcome|treatment)s? of|treatments? for)\b",
    ),
    (r"\bside[- ]?effects?\b|\b(?:risks?|dangers?|harms?) of\b", r"\bbenefits? of\b"),
    (r"\bsquare roots?\b|\bsquare[ds]\b", r"\bcube roots?\b|\bcube[ds]\b"),
    (rf"\b{_CLOCK} past (?=\d|{_HOUR})", rf"\b{_CLOCK} (?:to|before|till) (?=\d|{_HOUR})"),
)
# Letters of which a text holds some if it is on either side of the axis, in the order of the axes.
_LETTERS = (
    "turn switch power toggl flip enabl disabl activat shut", "log sign", "opt", "check",
    "turn crank rais increas boost dial lower reduc decreas", "speed accelerat slow decelerat",
    "start boot power launch shut stop halt", "put tak took", "set install remov dismantl tear", "plug", "zoom", "mov",
    "pick drop", "weight", "back restor", "up asleep go", "roll deploy", "break get", "scal", "greedy lazy reluctant",
    "eager laz",
    "least fewest smallest lowest minim most largest biggest greatest highest maxim",
    "cause effect consequence impact symptom outcome treatment", "side risk danger harm benefit", "square cube",
    "past to before till",
)  # fmt: skip
_COMPILED = tuple(
    (tuple(letters.split()), re.compile(one), re.compile(two))
    for letters, (one, two) in zip(_LETTERS, _AXES, strict=True)
)
_EITHER_WAY = re.compile(r"\b(?:on|in|up|off|out|down) ?(?:or|and|/) ?(?:on|in|up|off|out|down)\b")
_CUES = vocabulary("on off in into out up down back asleep together sleep bed weight") | vocabulary(
    """
    enable enables enabled enabling activate activates activated activating reactivate disable disables disabled
    disabling deactivate deactivates
    deactivated deactivating login logout signin signout checkout shutdown raise raised raising increase increased
    increasing boost lower lowered
    lowering reduce reduced reducing decrease decreased decreasing accelerate decelerate start starts started
    starting boot launch launching stop
    stopping stopped halt install installing installed remove removing removed uninstall uninstalling dismantle
    unplug unplugging restore restoring least fewest smallest lowest minimum
    minimal most largest biggest greatest highest maximum maximal cause causes effect effects consequence consequences
    impact impacts symptom symptoms outcome outcomes treatment treatments side benefit benefits risk risks danger
    dangers harm harms square squared squares cube cubed
    cubes quarter half minutes
    deploy deploying greedy lazy reluctant eager eagerly lazily nongreedy
    """
)


def sides(words: SplitText) -> dict[int, int]:
    """The side of each axis that a text holds; axes have negative numbers, for words have the others."""
    if words.bag.isdisjoint(_CUES) or _EITHER_WAY.search(words.lower) is not None:
        return {}
    found: dict[int, int] = {}
    for number, (letters, one, two) in enumerate(_COMPILED, 1):
        if not holds(words.lower, letters):
            continue
        first, second = one.search(words.lower) is not None, two.search(words.lower) is not None
        if first != second:
            found[-number] = 1 if first else -1
    return found
