"""The canonical wording: one pass of edits after another until nothing changes any more.

Pure. Invariant: idempotent, for a wording that no pass leaves as it is is given up and the text returned as it came.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording import misspelt, other_languages
from semcache.request.wording.abbreviations import ABBREVIATIONS, capitals, is_clipped, spelled_out
from semcache.request.wording.british import AMERICAN, WIDER, american
from semcache.request.wording.calculations import calculation
from semcache.request.wording.chatter import without_chatter
from semcache.request.wording.compounds import compounded
from semcache.request.wording.contractions import CONTRACTIONS, OPENED, opened
from semcache.request.wording.coordination import ordered
from semcache.request.wording.corrections import slips_in, withheld
from semcache.request.wording.cues import bag_of, opening_words
from semcache.request.wording.edits import ALL, Edit, Edited, Wording
from semcache.request.wording.english import is_english
from semcache.request.wording.fillers import unwrapped
from semcache.request.wording.frames import framed
from semcache.request.wording.joined_questions import separated
from semcache.request.wording.letters import flattened, is_evident, lowered, normalised, shouted
from semcache.request.wording.numerals import numbered
from semcache.request.wording.protected import held, restored, straightened
from semcache.request.wording.side_by_side import COMPARING, made_one
from semcache.request.wording.slips import USUAL
from semcache.request.wording.task_texts import parted
from semcache.request.wording.word_pieces import pieces_of
from semcache.request.wording.worked_on import text_ends
from semcache.runtime.scoped_memo import scoped_cache

VERSION = 18
LONGEST = 4096  # characters; longer texts are returned as they are
_PASSES = 8
_REMEMBERED = 4096
# One of two vectors, functions or variables, and no "you".
_U_IS_SYMBOL = re.compile(
    r"\bu(?:,| and| or| dot| cross| times| plus| minus| [^\w\s])+ ?v\b|\bv(?:,| and| or| dot| cross| times| plus| minus"
    r"| [^\w\s])+ ?u\b|\b(?:vector|vectors|variable|function|let|letter) u\b|\bu[- ]substitution\b"
)
_SENTENCE = re.compile(r"[.?!:]\"?\s+$|\n\s*$")
_EDITED = frozenset([*CONTRACTIONS, *OPENED, *AMERICAN, *ABBREVIATIONS])
# Words in lower case that may be written in another way.
_CHANGING = _EDITED | frozenset(USUAL)
# Who asks for the letters of an abbreviation does not mean what it stands for.
_ABOUT_WORDS = vocabulary("stand stands abbreviation abbreviations abbreviated acronym acronyms mean means pronounce")
# Who asks how a word is written means it as it is written.
_ABOUT_LETTERS = vocabulary("spell spelled spelt spelling typo typos grammar grammatical proofread correct word")
_DEFINING = vocabulary("define definition explain describe long big heavy look looks use used work works")
_PROGRAMMES = frozenset(("programme", "programmes"))
_OF_SOFTWARE = vocabulary("write writing code coding run running compile debug install uninstall computer language")
_WRITTEN = frozenset({Edit.CONTRACTION, Edit.SPELLING, Edit.ABBREVIATION})
_SPELLED = frozenset({Edit.SPELLING, Edit.TYPO, Edit.ABBREVIATION})
_ABOUT_PAIRS = (frozenset(("full", "form")), frozenset(("short", "for")))
_SENTENCED = frozenset({Edit.FILLER, Edit.FRAME, Edit.ORDER})
_BREAKS = re.compile(r"([.?!\n](?:(?<=\n)\n*|(?<=[a-z\d)\"'%\ue000-\uf8ff][.?!])[.?!]*\s+(?=\S)))", re.IGNORECASE)
_MOST_SENTENCES = 15
_SHORT = frozenset({Edit.CHARACTERS, Edit.CONTRACTION, Edit.SPELLING})
T = TypeVar("T")


class _Traced(NamedTuple):
    """A canonical wording, and the kinds of edits without which it might have been another.

    `passes` is after how many the text settled; 0 for one that was given up.
    """

    wording: Wording
    needed: frozenset[Edit]
    passes: int = 0


@dataclass(slots=True)
class _Notes:
    """The notes of the passes over one text: `made` are the kinds that changed it in this pass.

    `told` are those that might have changed it in any pass, `counted` the texts in which no number is to be written in
    another way, and `joined` says that two questions were joined.
    """

    made: set[Edit] = field(default_factory=set)
    told: set[Edit] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    joined: bool = False

    def of(self, kind: Edit, before: T, after: T) -> T:
        """The text that an edit has made, noted if it is another."""
        if before != after:
            self.made.add(kind)
        return after


def canonical(text: str, kinds: frozenset[Edit] = ALL) -> Wording:
    """The canonical wording of a text by these kinds of edits.

    >>> canonical("Hi team, how can I  reverse a list in Python??").text
    'how do i reverse a list in python'
    """
    return _traced(text, kinds).wording


def strictest(one: str, two: str, kinds: frozenset[Edit] = ALL) -> Edit | None:
    """The least risky kind such that it and all less risky ones make these texts one; None if all kinds do not."""
    ascending = sorted(kinds)
    if one == two:
        return ascending[0] if ascending else None
    both = zip(ascending, _by_risk(one, ascending), _by_risk(two, ascending), strict=True)
    return next((kind for kind, first, second in both if first == second), None)


def _by_risk(text: str, ascending: list[Edit]) -> list[str]:
    """The wordings by the first of these kinds, by the first two, and so on."""
    found: list[str] = []
    known: _Traced | None = None
    for last in range(len(ascending), 0, -1):
        allowed = frozenset(ascending[:last])
        if known is None or not known.needed <= allowed:
            known = _traced(text, allowed)
        found.append(known.wording.text)
    return found[::-1]


def _traced(text: str, kinds: frozenset[Edit]) -> _Traced:
    if len(text) > LONGEST or not kinds:
        return _Traced(Wording(text, ()), frozenset())
    whole = _canonical(text, ALL)
    return whole if whole.needed <= kinds else _canonical(text, kinds)


@scoped_cache(maxsize=_REMEMBERED)
def _canonical(text: str, kinds: frozenset[Edit]) -> _Traced:
    if text_ends(text):  # "... Make this more formal.": the words before are what that is about
        return _Traced(Wording(text, ()), frozenset())
    return _settled_by(text, kinds, first=True)


@scoped_cache(maxsize=_REMEMBERED)
def _rest(text: str, kinds: frozenset[Edit]) -> _Traced:
    """The wording of a text that a pass has made: most texts of one wording become one text by their first."""
    return _settled_by(text, kinds, first=False)


def _settled_by(text: str, kinds: frozenset[Edit], *, first: bool) -> _Traced:
    """The wording that a text has when no pass changes it any more; `first`: no pass has made it."""
    edits: set[Edit] = set()
    notes = _Notes()
    current = text
    for done in range(_PASSES):
        if done == 1 and first and not notes.joined:
            rest = _rest(current, kinds)
            if rest.passes and done + rest.passes <= _PASSES:
                wording = Wording(rest.wording.text, tuple(sorted(edits.union(rest.wording.edits))))
                return _Traced(wording, rest.needed | notes.told, done + rest.passes)
        notes.made = set()
        if Edit.FRAME in kinds and (whole := calculation(current)) is not None:
            # Here, and not beside the other frames: expressions are held out of what these see.
            notes.of(Edit.FRAME, current, whole)
            edits |= notes.made
            needed = frozenset(notes.told | edits | {Edit.FRAME})
            return _Traced(Wording(whole, tuple(sorted(edits))), needed, done + 1)
        head, given = parted(current) or (current, "")
        if given and head + given != current:
            if Edit.CHARACTERS not in kinds:
                break
            edits.add(Edit.CHARACTERS)
            notes.told.add(Edit.CHARACTERS)
            current = head + given
        held_out = held(head, given)
        if held_out is None:
            break
        body, spans = held_out
        edited = _edited(body, kinds, notes)
        if spans and Edit.CHARACTERS in kinds:
            plain = straightened(spans[:-1]) + spans[-1:] if given else straightened(spans)
            spans = notes.of(Edit.CHARACTERS, spans, plain)
        changed = restored(edited, spans)
        if changed == current and Edit.CHARACTERS in kinds:
            changed = notes.of(Edit.CHARACTERS, changed, restored(_flat(edited), spans))
        notes.told |= notes.made
        if changed == current:
            return _Traced(Wording(current, tuple(sorted(edits))), frozenset(notes.told), done + 1)
        edits |= notes.made
        current = changed
    return _Traced(Wording(text, ()), frozenset(notes.told))


def _flat(text: str) -> str:
    """A text that no other edit changes any more, without the commas and hyphens that say nothing in English."""
    return flattened(text) if is_english(text, bag_of(text)) is not False else text


def _edited(text: str, kinds: frozenset[Edit], notes: _Notes) -> str:
    """The text after one pass."""
    start, words = text, bag_of(text)
    if not words:
        return text
    english = is_english(text, words if text.isascii() else [word.replace("\u2019", "'") for word in words])
    if Edit.CHARACTERS in kinds:
        text = notes.of(Edit.CHARACTERS, text, normalised(text, english is not False))
    if not text:
        return text
    if english is False:
        text, changes = other_languages.edited(text, words, kinds)
        notes.made |= changes
        return text
    bag = frozenset(words)
    kinds = _fitting(kinds, bag)
    if english is None and not all(word.isdigit() or misspelt.is_word(word.removesuffix("'s")) for word in words):
        kinds = kinds & _SHORT
    if Edit.FILLER in kinds:
        text = notes.of(Edit.FILLER, text, without_chatter(text))
    if Edit.ABBREVIATION in kinds:
        text = notes.of(Edit.ABBREVIATION, text, spelled_out(text, bag))
    if Edit.SPELLING in kinds:
        text = notes.of(Edit.SPELLING, text, compounded(text, bag))
    if text != start:
        bag = frozenset(bag_of(text))
    if not _plain(text, bag):
        before, text = text, _words_edited(text, kinds, notes)
        if text != before:
            bag = frozenset(bag_of(text))
    if Edit.FRAME in kinds:
        before, text = text, notes.of(Edit.FRAME, text, separated(text))
        notes.joined = notes.joined or text != before
    if Edit.NUMBER in kinds and text not in notes.counted:
        before, text = text, notes.of(Edit.NUMBER, text, numbered(text, bag))
        if text == before:
            notes.counted.add(text)
    return text if kinds.isdisjoint(_SENTENCED) else _sentences_edited(text, kinds & _SENTENCED, notes)


def _fitting(kinds: frozenset[Edit], bag: frozenset[str]) -> frozenset[Edit]:
    """Those of the kinds that leave alone what a text of these words is about: a spelling, or an abbreviation."""
    if not bag.isdisjoint(_ABOUT_LETTERS):
        kinds = kinds - _SPELLED
    if not bag.isdisjoint(WIDER) and (
        bag <= WIDER | LIGHT | _DEFINING or not (bag.isdisjoint(_PROGRAMMES) or bag.isdisjoint(_OF_SOFTWARE))
    ):
        kinds = kinds - {Edit.SPELLING}
    if not bag.isdisjoint(_ABOUT_WORDS) or any(pair <= bag for pair in _ABOUT_PAIRS):
        kinds = kinds - {Edit.ABBREVIATION}
    return kinds


def _sentences_edited(text: str, kinds: frozenset[Edit], notes: _Notes) -> str:
    pieces = _BREAKS.split(text)
    if len(pieces) > _MOST_SENTENCES:
        return text
    for at in range(0, len(pieces), 2):
        pieces[at], changes = _sentence(pieces[at], kinds)
        notes.made |= changes
    return "".join(pieces)


@scoped_cache(maxsize=_REMEMBERED)
def _sentence(text: str, kinds: frozenset[Edit]) -> Edited:
    """The text of one sentence without fillers, in the frame of its question and in order."""
    words = bag_of(text)
    bag = frozenset(words)
    if len(words) < 2:
        return Edited(text, frozenset())
    notes = _Notes()
    if Edit.FILLER in kinds:
        text = notes.of(Edit.FILLER, text, unwrapped(text, words, bag))
    if Edit.FRAME in kinds and (words := opening_words(text)):
        text = notes.of(Edit.FRAME, text, framed(text, words[0]))
    if Edit.ORDER in kinds and (words := opening_words(text)):
        text = notes.of(Edit.ORDER, text, ordered(text, words, bag))
    return Edited(text, frozenset(notes.made))


def _plain(text: str, bag: frozenset[str]) -> bool:
    """Return True for a text in lower case of which all words are plain ones, so that none is to be edited."""
    if not bag.isdisjoint(_CHANGING) or text != text.lower() or "'" in text:
        return False
    return all(map(str.isdecimal, bag - misspelt.dictionary()))


def _words_edited(text: str, kinds: frozenset[Edit], notes: _Notes) -> str:
    """The text after the edits that touch one word at a time: case, contractions, spelling, abbreviations, slips."""
    pieces = pieces_of(text)
    upper, marked = text.isupper(), "'" in text
    if Edit.CHARACTERS in kinds and upper and shouted(text):
        notes.made.add(Edit.CHARACTERS)
        pieces[1::2] = [word.lower() for word in pieces[1::2]]
    known = misspelt.dictionary()
    ats = [
        at
        for at, word in zip(range(1, len(pieces), 2), pieces[1::2], strict=True)
        if word not in known or word in _CHANGING or (marked and word.endswith("'s"))
    ]
    slips = slips_in(pieces, ats) if Edit.TYPO in kinds else {}
    if slips:
        notes.told.update((Edit.TYPO, Edit.CHARACTERS))
    before = text if not COMPARING.isdisjoint(pieces) else None
    done = set(notes.made)
    words = _Words(pieces, kinds, notes.made, slips, upper=upper)
    for at in ats:
        words.edit(at)
    if before is not None and not _WRITTEN.isdisjoint(notes.made - done) and made_one(before, "".join(pieces)):
        notes.made.intersection_update(done)
        return _words_edited(text, kinds - _WRITTEN, notes)
    return "".join(pieces)


class _Words:
    """The words of a text, every second of `pieces`, edited in place; `made` takes the kinds that changed one.

    `slips` are corrections by where they go; `upper` says that the whole text was in capitals.
    """

    def __init__(
        self, pieces: list[str], kinds: frozenset[Edit], made: set[Edit], slips: dict[int, str], *, upper: bool
    ) -> None:
        self._pieces, self._kinds, self._made, self._slips, self._upper = pieces, kinds, made, slips, upper
        self._kept = withheld(pieces, slips) if slips else frozenset[int]()
        self._last = len(pieces) - 2
        self._written = pieces[:]

    def edit(self, at: int) -> None:
        """Edit the word that stands there."""
        word = self._pieces[at]
        low = word.lower()
        if low == word and low not in _EDITED and at not in self._slips and not low.endswith("'s"):
            return
        joined = self._pieces[at + 1][:1] == "-" or self._pieces[at - 1][-1:] == "-"
        if not joined and self._may_be_corrected(at, word == low):
            self._put(at, self._slips[at], Edit.TYPO)
            low = self._pieces[at]
        if not joined and self._spells_capitals_out(at):
            return
        if word.isupper() and not self._upper and is_clipped(low):
            return
        self._lower(at, low)
        if low in _EDITED or low.endswith("'s"):
            self._rewrite(at, low, joined=joined)

    def _put(self, at: int, word: str, kind: Edit) -> None:
        self._made.add(kind)
        self._pieces[at] = word

    def _may_be_corrected(self, at: int, small: bool) -> bool:
        return at in self._slips and at not in self._kept and (small or Edit.CHARACTERS in self._kinds)

    def _spells_capitals_out(self, at: int) -> bool:
        word = self._pieces[at]
        if Edit.ABBREVIATION not in self._kinds or self._upper or not word.isupper():
            return False
        plain = capitals(word)
        if plain is not None:
            self._put(at, plain, Edit.ABBREVIATION)
        return plain is not None

    def _lower(self, at: int, low: str) -> None:
        pieces, word = self._pieces, self._pieces[at]
        if Edit.CHARACTERS not in self._kinds or word == low or at in self._kept:
            return
        first = (at == 1 and not pieces[0].strip("\"'( ")) or _SENTENCE.search(pieces[at - 1]) is not None
        before = self._written[at - 2] if at > 1 and pieces[at - 1] == " " else ""
        if is_evident(low, before, "".join(pieces[at + 1 : at + 3])):
            plain = low
        else:
            plain = lowered(word, first, self._beside(at, before, word))
        if plain != word:
            self._put(at, plain, Edit.CHARACTERS)

    def _beside(self, at: int, before: str, word: str) -> bool:
        """Return True if the word beside this one is in capitals too, or has one, as in a title."""
        behind = self._pieces[at + 2] if at < self._last and self._pieces[at + 1] == " " else ""
        if word.isupper():
            return any(len(other) > 1 and other.isupper() for other in (before, behind))
        return any(other[:1].isupper() and other != "I" for other in (before if at > 3 else "", behind))

    def _rewrite(self, at: int, low: str, *, joined: bool) -> None:
        """Write a contraction in full, British spelling as American, and an abbreviation as what it stands for."""
        pieces, kinds, word = self._pieces, self._kinds, self._pieces[at]
        small, upper = word == low, word.isupper()
        if word[1:] != low[1:] and not upper:
            return
        follows = pieces[at + 2].lower() if at < self._last and pieces[at + 1] == " " else ""
        if Edit.CONTRACTION in kinds and (plain := opened(low, follows)) is not None:
            self._put(at, plain, Edit.CONTRACTION)
        elif joined:
            return
        elif Edit.SPELLING in kinds and small and (plain := american(low, follows)) is not None:
            self._put(at, plain, Edit.SPELLING)
        elif low == "u" and _U_IS_SYMBOL.search("".join(self._written).lower()) is not None:
            return
        elif Edit.ABBREVIATION in kinds and (small or upper) and (plain := ABBREVIATIONS.get(low)) is not None:
            self._put(at, plain, Edit.ABBREVIATION)
            ends = at == self._last or pieces[at + 2][:1].islower()
            if pieces[at + 1].startswith((". ", ".,")) and len(low) < 7 and ends:
                pieces[at + 1] = pieces[at + 1][1:]
