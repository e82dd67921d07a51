"""Inflection: the tense of a clause, participles that feel and that make felt, gerunds, and plurals of another sense.

"Who leads the army?" and "who led the army?" have the same words but for an ending. Reads the first finite verb of each
main clause; parses no grammar. Invariant: texts are told apart only where nothing but endings, determiners, auxiliaries
and conjunctions differs.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from semcache.request.text import LIGHT, READINGS, lexicon, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.misspelt import dictionary
from semcache.request.wording.verbs import BASES, DOUBTFUL, IRREGULAR, PAST, base_of, is_base, past_tense, third_person
from semcache.runtime.scoped_memo import scoped_cache

DETERMINERS = vocabulary("a an the this that these those my your his her its our their any some")
_MOST = 12  # words that stand in one of two texts only
_DO = {"do": "present", "does": "present", "did": "past"}
_BE = vocabulary("is are am was were")
_BEING = vocabulary("is are am")
_HAVE = vocabulary("have has had")
_MODAL = vocabulary("can could will would shall should may might must to let please cannot")
_JOINING = vocabulary("when after if once as to")
_PASSING = vocabulary("now currently just already ever yet still today")
_LOOSE = (
    DETERMINERS
    | _BE
    | _HAVE
    | _JOINING
    | _PASSING
    | vocabulary("do does did done doing be been being will who what which where how who's what's where's how's i've")
    | vocabulary("we've they've you've i'm we're they're it's")
)
_PREPOSITIONS = vocabulary("in on at of for from with without by about against over under through into onto and or")
_SENTENCES = re.compile(r"[.?!;:,\n]+(?:\s|$)")
# A clause begun by one of these says under which condition, or of whom: "what if I lost my card" is of no time.
_CLAUSES = re.compile(
    r"\s(?=(?:if|when|whenever|because|that|which|who|whose|while|after|before|since|until|once"
    r"|although|though|whether|why|how|what|where|unless|and|but|or)\s)"
)
# Before a question that is asked indirectly, and before what is true of the things that a list is wanted of.
_ASKED_OF = re.compile(
    r"(?:please )?(?:(?:(?:can|could|would) you (?:please )?)?(?:tell me|explain(?: to me)?)"
    r"|(?:do you|i want to|i'd like to) know)"
    r" (?=(?:who|what|which|why|how|where|when)\b)"
    r"|(?:please )?(?:list|name|find|show me|give me|tell me)(?P<things>(?: [\w']+){1,6}?) (?=(?:that|who|which) )"
)
_SUBORDINATE = vocabulary(
    "if whenever because that while after before since until once although though whether unless as"
)
_QUESTION_WORDS = vocabulary("who what which why how where when whose")
_OPENING = _QUESTION_WORDS | _BE | _HAVE | frozenset(_DO)
_FIRST = vocabulary("i we you they he she it people everyone someone somebody there who what") | DETERMINERS
_HEADS = vocabulary("which whose many")
_HE = vocabulary("it he she that there")
_SAYING = vocabulary("who he she it")  # a verb stands behind these, be it known or not
_REQUIRED = vocabulary("needed required")  # "what papers needed" leaves out "are"
_STARTING = _OPENING | _FIRST
_PLURALS = vocabulary("i you we they people men women children police who")
_UNCHANGED = vocabulary("cut put set hit let shut spread burst quit")
# Forms of the past that wordings leave alone.
_STRONG = lexicon(
    "bend=bent bleed=bled blow=blew,blown breed=bred cling=clung creep=crept deal=dealt dig=dug dream=dreamt feed=fed"
    " flee=fled hang=hung hide=hid lay=laid lend=lent light=lit ride=rode ring=rang,rung seek=sought shine=shone"
    " shrink=shrank slide=slid spin=spun stick=stuck sting=stung strike=struck sweep=swept swear=swore swing=swung"
    " tear=tore weep=wept withdraw=withdrew,withdrawn undo=undid undergo=underwent"
)
_CONTRARY = frozenset(
    map(frozenset, (("past", "present"), ("past", "progressive"), ("perfect", "present"), ("perfect", "progressive")))
)
# Somebody reports one and the same trouble, or says one and the same wish, in any tense: "it crashes", "it crashed".
_REPORTED = vocabulary(
    """
    crash freeze hang lag fail stop break lose forget see receive try hear notice feel hurt ache keep say show tell ask
    think want need wonder hope like love expect find seem look mean disconnect overheat leak lock misplace pop appear
    display flash flicker blink beep suspect reject decline restart shut drain hack clog
    block jam stall bounce refuse smell ring squeak grind rattle vibrate buzz cry cough vomit
    itch turn wilt rot fade drip bleed limp sneeze
    """
)
_MESSAGES = vocabulary("error errors exception exceptions warning warnings message messages noise noises nothing")
# What goes wrong with a thing, goes wrong in any tense.
_THINGS = vocabulary(
    """
    app apps application program website site page browser button link form server script query build test tests
    software update updates file email mail account phone laptop computer tablet pc screen display keyboard mouse
    printer router wifi internet connection network camera battery charger speaker headphones tv console engine car
    brakes fridge oven dishwasher washer heater boiler toilet tap sink alarm light lights fan drive disk game api
    """
)
_TELLERS = vocabulary("i we i'm i've we're we've")
_DONE, _ASKERS = vocabulary("done doing being"), vocabulary("i we my our it")
# What people do in a work of art is told in either tense, and so is an event with a name of its own.
_STAGED = vocabulary("play sing star direct voice narrate write act portray")
_CLUBS = vocabulary("for at against with in")
_TOLD = vocabulary(
    """
    difference differences meaning definition movie film book books novel story episode season chapter series scene
    ending myth bible
    war wars battle revolution siege treaty massacre uprising rebellion ww1 ww2 wwi wwii reformation renaissance
    crusades plague holocaust
    """
)
# Verbs of what is felt: one who is "-ed" feels what another, who is "-ing", makes felt.
_FELT = vocabulary(
    """
    alarm amaze amuse annoy astonish baffle bewilder bore captivate charm confuse convince daunt depress devastate
    disappoint discourage disgust disturb embarrass encourage engage entertain enchant excite exhaust fascinate frighten
    frustrate horrify humiliate inspire insult interest intimidate intrigue irritate motivate move offend overwhelm
    please puzzle reassure refresh relax satisfy shock startle stimulate surprise tempt terrify threaten thrill tire
    touch trouble upset develop
    """
)
# "Stop smoking" ends it, "stop to smoke" begins it. Machines that "stopped to work" stopped working.
_GERUND_VERBS = vocabulary("stop remember forget regret mean")
_WORKING = vocabulary("work respond load function charge ring print run start play open sync update connect")
# Plurals with a sense that the singular has not.
_SENSES = {
    "glasses": "glass", "woods": "wood", "customs": "custom", "goods": "good", "spectacles": "spectacle",
    "peoples": "people", "manners": "manner", "clothes": "cloth", "arms": "arm", "securities": "security",
    "shorts": "short", "savings": "saving", "news": "new", "blinds": "blind", "grounds": "ground",
    "premises": "premise", "spirits": "spirit", "airs": "air", "rights": "right", "morals": "moral",
    "draughts": "draught", "means": "mean", "damages": "damage",
}  # fmt: skip
_APART = vocabulary("spectacles manners clothes news means damages")  # "a spectacle" is not one of these
_VERBS_TOO, _BEFORE_NOUNS = vocabulary("means damages"), vocabulary("a an are is of in legal what")
_SINGULARS = frozenset(_SENSES.values())
_COMPOUNDS = (("account",), ("accounts",), ("and",))  # "savings account", "goods and services"
_VOWELS = frozenset("aeiouy")
_ONE = vocabulary("a an one each every per another")
_ACTING = vocabulary("to i you we they")
_OWNED = vocabulary("my your his her its our their the")


class Inflections(NamedTuple):
    """`tenses` are those of the main clauses, `gerunds` the verbs with "to" or "-ing" behind such a verb as "stop"."""

    tenses: tuple[tuple[str, bool], ...]
    gerunds: frozenset[tuple[str, str, str]]


@scoped_cache(maxsize=READINGS)
def read(text: str) -> Inflections:
    """The inflections of a text."""
    seen = read_text(text)
    tenses = []
    for sentence in _SENTENCES.split(seen.lower):
        asked = sentence.strip()
        if (lead := _ASKED_OF.match(asked)) is not None:
            asked = asked[lead.end() :]
            if lead["things"]:
                asked = "who " + asked.partition(" ")[2]
        words = read_text(_CLAUSES.split(asked, maxsplit=1)[0]).words
        if words and words[0] not in _SUBORDINATE:
            tense = _tense(words)
            if tense:
                tenses.append((tense, words[0].partition("'")[0] in _OPENING))
    return Inflections(tuple(tenses), frozenset(_gerunds(seen.words)))


def compare(query: str, cached: str) -> str | None:
    """The disagreement of two texts that differ in inflection alone."""
    one, two = read_text(query), read_text(cached)
    left, right = one.bag - two.bag, two.bag - one.bag
    if not left.isdisjoint(_LOOSE) or not right.isdisjoint(_LOOSE):
        left, right = left - _contracts(right), right - _contracts(left)
    if (not left and not right) or len(left) + len(right) > _MOST:
        return None
    first, second = _lemmas(left), _lemmas(right)
    if first.keys() != second.keys() and not _used_to(first, second, one.words, two.words):
        return None
    for lemma, form in first.items():
        other = second.get(lemma, form)
        if form == other:
            continue
        if lemma in _FELT and any(one.endswith("ing") and _is_past(two) for one, two in ((form, other), (other, form))):
            return f"{form} / {other}"
        if _other_sense(form, other, one.words, two.words):
            return f"{form} / {other}"
    here, there = read(query), read(cached)
    for verb, done, how in here.gerunds:
        if (verb, done, "ing" if how == "to" else "to") in there.gerunds and (verb, done, how) not in there.gerunds:
            return f"{verb} to {done} / {verb} doing so"
    changed = {lemma for lemma in first if is_base(lemma)}
    if "being" in left or "being" in right:
        changed |= {lemma_of(word) for word in one.bag & two.bag if _is_participle(word)}
    for (past, asked), (present, too) in zip(here.tenses, there.tenses, strict=False):
        if frozenset((past, present)) in _CONTRARY and asked == too:
            said = one.bag | two.bag
            if not changed and said.isdisjoint(_DONE) and {past, present} != {"past", "present"}:
                continue
            if any(_of_all_times(changed, asked, {past, present}, said, words) for words in (one.words, two.words)):
                return None
            return f"{past} / {present}"
    return None


def _of_all_times(
    changed: set[str], asked: bool, tenses: set[str], said: frozenset[str], words: tuple[str, ...]
) -> bool:
    """Return True if what is said in one tense is as well said in the other."""
    if not said.isdisjoint(_TOLD) or ("the", "play") in pairwise(words):
        return True
    if words[0] == "who" and not changed.isdisjoint(_STAGED) and words[2:3] and words[2] not in _CLUBS:
        return True
    if asked:
        return tenses != {"past", "present"} and not changed.isdisjoint(_REPORTED) and not said.isdisjoint(_ASKERS)
    if (
        not changed.isdisjoint(_REPORTED)
        or not said.isdisjoint(_MESSAGES)
        or ("get" in changed and _gets_a_thing(words))
    ):
        return True
    return tenses == {"past", "present"} and not _THINGS.isdisjoint(words[:3])


def _gets_a_thing(words: tuple[str, ...]) -> bool:
    """Return True for "I get headaches", not for "I get married"."""
    place = next((place for place, word in enumerate(words) if lemma_of(word) == "get"), 0)
    return words[0] in _TELLERS and not any(map(_is_participle, words[place + 1 : place + 2]))


def _contracts(words: frozenset[str]) -> set[str]:
    """The pronouns of contractions, "i" of "i'm"."""
    return {word.partition("'")[0] for word in words if "'" in word}


def _lemmas(words: frozenset[str]) -> dict[str, str]:
    """The words of one text only, each by its lemma."""
    return {lemma_of(word): word for word in words if word not in _LOOSE}


@scoped_cache(maxsize=8192)
def lemma_of(word: str) -> str:
    """The form of a dictionary, "go" for "went"; a word that is no known form is returned without its ending."""
    if (known := _SENSES.get(word) or IRREGULAR.get(word) or _STRONG.get(word)) is not None:
        return known
    if word in _SINGULARS:
        return word
    if word.endswith("ing"):
        doing = base_of(word) or word
        return doing if is_base(doing) or not is_base(doing + "e") else doing + "e"
    stump = word[:-2]
    # "Hosted" and "rolled" are of no "hoste" and "rolle".
    if word not in PAST and _ends_as_past(word) and _VOWELS.isdisjoint(stump[-2:]) and stump in dictionary():
        return stump
    base = third_person(word) or past_tense(word)
    if base is not None:
        return base
    return stump if word.endswith("oes") or _ends_as_past(word) else stem(word)


def _used_to(first: dict[str, str], second: dict[str, str], one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return True if one text alone says "used to", and nothing else is another word."""
    for lemmas, others, said in ((first, second, one), (second, first, two)):
        if lemmas.get("use") == "used" and ("used", "to") in pairwise(said):
            return lemmas.keys() - {"use"} == others.keys()
    return False


def _other_sense(form: str, other: str, one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return True if one of two forms is a plural with a sense that the other has not."""
    if form in _SENSES and _SENSES[form] == other:
        plural, many, single = form, one, two
    elif other in _SENSES and _SENSES[other] == form:
        plural, many, single = other, two, one
    else:
        return False
    singular = _SENSES[plural]
    where, place = many.index(plural), single.index(singular)
    if many[where + 1 : where + 2] in _COMPOUNDS:
        return False
    before, ahead = single[place - 1] if place else "", many[where - 1] if where else ""
    verbal = plural in _VERBS_TOO and not {before, ahead} <= _BEFORE_NOUNS
    if verbal or (plural == "arms" and not _OWNED.isdisjoint((before, ahead))):
        return False
    if before in _ONE:
        return plural in _APART
    verb = single[place - 2] if place > 1 else ""  # "to dye cloth", "do I dye cloth"
    # "Wine glass" and "wine glasses": what a noun stands before is counted.
    return (
        not before or before != ahead or before in LIGHT or before in BASES or verb in _ACTING or before.endswith("ing")
    )


def _gerunds(words: tuple[str, ...]) -> list[tuple[str, str, str]]:
    found = []
    for place, word in enumerate(words[:-1]):
        verb = lemma_of(word)
        if word == "on" and place and lemma_of(words[place - 1]) == "go":
            verb = "go on"
        elif verb not in _GERUND_VERBS:
            continue
        behind = words[place + 1]
        if behind == "to" and place + 2 < len(words):
            done, how = words[place + 2], "to"
        elif behind.endswith("ing"):
            done, how = lemma_of(behind), "ing"
        else:
            continue
        if verb != "stop" or done not in _WORKING:
            found.append((verb, done, how))
    return found


def _tense(words: tuple[str, ...]) -> str:
    """The tense and aspect of the first finite verb; "" for none, or for one that is of no time."""
    if words[0] not in _STARTING and "'" not in words[0]:
        return ""
    before = ""
    for place, said in enumerate(words):
        word = _contracted(said) if "'" in said else said
        if word in _DO:
            return _DO[word]
        if word in _BE:
            return _be(word, words[place + 1 :])
        if word in _HAVE:
            return _have(words[place + 1 :])
        if word in _MODAL:
            return ""
        if word == "used" and words[place + 1 : place + 2] == ("to",):
            return "past"
        if place and before not in DETERMINERS and before not in _PREPOSITIONS:
            tense = _main_verb(word, before, words, place)
            if tense:
                return tense if tense != "none" else ""
        before = word
    return ""


def _contracted(word: str) -> str:
    """The auxiliary of a contraction, "n't" left out; the word itself for any other."""
    stump, _, tail = word.rpartition("'")
    if tail == "t":
        return "will" if stump == "won" else "can" if stump == "can" else stump.removesuffix("n")
    if tail == "s":
        return "is" if stump in _QUESTION_WORDS or stump in _HE else word
    return {"ve": "have", "m": "am", "re": "are", "ll": "will", "d": "would"}.get(tail, word)


def _be(word: str, behind: tuple[str, ...]) -> str:
    """Progressive, or "state" for all else; what was and what is, is told by the first auxiliary of the text."""
    for one in behind:
        if one in ("going", "been"):
            return "state"
        if one in ("being", "doing", "getting") or (one.endswith("ing") and is_base(lemma_of(one))):
            return "progressive" if word in _BEING else "state"
        if _is_participle(one) or one in _PREPOSITIONS:
            return "state"
    return "state"


def _have(behind: tuple[str, ...]) -> str:
    """Perfect, "lasting" if it still goes on ("has been raining"), or present of what somebody has."""
    before = ""
    for one in behind:
        if one == "to":
            return "lasting"
        if one == "been":
            follow = behind[behind.index(one) + 1 :]
            return "lasting" if follow[:1] and follow[0].endswith("ing") else "perfect"
        if before not in DETERMINERS and (one in _UNCHANGED or _is_participle(one)):
            return "perfect"
        before = one
    return "lasting"


def _main_verb(word: str, before: str, words: tuple[str, ...], place: int) -> str:
    """The tense of a word that may be the main verb, "none" for a verb of no time, "" for any other word."""
    behind = words[place + 1 : place + 2]
    if word in _REQUIRED or word == "have":
        return "none"
    if _is_past(word):
        return "none" if behind == ("by",) else "past"
    if word in _UNCHANGED and before not in _PLURALS and not before.endswith("s"):
        return "past"
    if before in _SAYING and (_ends_as_past(word) or (word.endswith("s") and not word.endswith("ss"))):
        return "past" if word.endswith("ed") else "present"
    if (base := third_person(word)) is not None and before not in _HEADS and not (behind and _is_past(behind[0])):
        sure = word not in DOUBTFUL or before in _QUESTION_WORDS or before in _HE or (place == 2 and words[0] in _HEADS)
        return "present" if sure or (place == 2 and base in _UNCHANGED and words[0] in DETERMINERS) else ""
    if (before in _PLURALS or (before.endswith("s") and not before.endswith("ss"))) and is_base(word):
        return "present"
    return ""


def _ends_as_past(word: str) -> bool:
    return word.endswith("ed") and not word.endswith("eed") and len(word) > 4


def _is_past(word: str) -> bool:
    return past_tense(word) is not None or word in _STRONG


def _is_participle(word: str) -> bool:
    return word in IRREGULAR or _is_past(word)
