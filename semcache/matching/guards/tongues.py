"""Negations, opposites and question words of other languages than English that are written in Latin letters.

Embedders of English hardly see that "niet" or "nicht" turns a question round. Reads words and the beginnings of words;
knows no grammar. Invariant: texts of two languages, or of one that is not listed, never conflict here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from semcache.request.text import READINGS, vocabulary
from semcache.request.wording.cues import bag_of
from semcache.request.wording.english import is_english
from semcache.request.wording.other_languages import language_of
from semcache.runtime.scoped_memo import scoped_cache

_APOSTROPHES = re.compile("['\u2019]")


class _Tongue(NamedTuple):
    """Negators; opposites as beginnings of words, or words behind "="; words that end a text; who and whom."""

    negators: frozenset[str]
    axes: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    last: tuple[frozenset[str], frozenset[str]]
    whom: re.Pattern[str] | None


class TongueReading(NamedTuple):
    """The language, if it is negated, the side taken on each axis, and who is asked for; "" for no language."""

    language: str
    negated: bool
    sides: tuple[int, ...]
    asked: str


_NOTHING = TongueReading("", False, (), "")


def _tongue(negators: str, axes: str, last: str = " | ", whom: str = "") -> _Tongue:
    pairs = []
    for pair in " ".join(axes.split()).split(";"):
        one, two = (tuple(side.split()) for side in pair.split("|"))
        pairs.append((one, two))
    first, second = (vocabulary(side) for side in last.split("|"))
    return _Tongue(
        vocabulary(negators), tuple(pairs), (first, second), re.compile(whom, re.IGNORECASE) if whom else None
    )


_TONGUES = {
    "German": _tongue(
        "nicht kein keine keinen keinem keiner keines nie niemals ohne weder nirgends niemand nichts",
        """
        einschalt anschalt anmach eingeschalt angeschalt | ausschalt abschalt ausmach ausgeschalt abgeschalt
        ; =vor | =nach ; =mit | =ohne ; erhöh steiger anheb | senk verringer reduzier
        ; öffn geöffn | schließ geschloss ; begin anfäng anfang start | end aufhör
        ; käufer | verkäufer ; mieter | vermieter ; aktivier | deaktivier ; kauf | verkauf ; hinzufüg | entfern lösch
        ; sperr | entsperr ; =links linke | =rechts rechte ; =oben | =unten ; anmeld | abmeld ; größt | kleinst
        ; höchst | niedrigst tiefst ; billigst günstigst | teuerst ; ältest | jüngst ; =laut lauter | =leise leiser
        ; warm wärmer | kalt kälter ; =erste =ersten =erster | letzt ; maxim höchstens | minim mindestens
        ; import | export ; hochlad hochgelad | herunterlad heruntergelad ; ankunft | abfahrt abflug
        ; einzahl | auszahl ; arbeitgeber | arbeitnehmer ; erwachsen | kind ; vorteil | nachteil ; plus | minus
        ; =mehr | =weniger ; =früher früh | =später spät ; verleih | ausleih leihe
        """,
        "ein an auf | aus ab zu",
        r"\b(?:wer|wen|wem|wessen)\b",
    ),
    "Dutch": _tongue(
        "niet geen nooit zonder noch niemand niets nergens",
        """
        inschakel ingeschakel aanzet | uitschakel uitgeschakel uitzet ; =voor voordat | =na nadat ; =met | =zonder
        ; verhoog verhog | verlaag verlag ; open | sluit gesloten ; begin start | eindig stop ; koper | verkoper
        ; huurder | verhuurder ; koop koch | verkoop verkoch ; toevoeg toegevoeg | verwijder ; blokke | deblokke
        ; eerst | laatst ; maxim | minim ; links | rechts ; ingang | uitgang ; aankomst | vertrek ; =meer | =minder
        ; hoogst | laagst ; volwassen | kind ; voordel | nadel ; activeer activer | deactiveer deactiver
        ; grootst | kleinst ; =vroeg vroeger | =laat later ; werkgever | werknemer
        """,
        "aan open | uit dicht",
    ),
    "French": _tongue(
        "ne n pas jamais sans aucun aucune",
        """
        allum activ | éteind éteins éteint désactiv ; =avant | =après ; =avec | =sans
        ; augment mont | baiss dimin rédui ; ouvr | ferm ; commenc début | termin fini ; acheteur | vendeur
        ; locataire | propriétaire bailleur ; achet | vend ; ajout | supprim retir ; bloqu | débloqu ; premi | derni
        ; maxim | minim ; gauche | droite ; entrée | sortie ; arriv | part départ ; =riche =riches | pauvre
        ; adult | enfant ; import | export ; avantage | inconvénient ; =plus | =moins ; =haut =haute | =bas =basse
        ; employeur | salarié employé
        """,
    ),
    "Spanish": _tongue(
        "no nunca sin jamás ningún ninguna tampoco nadie",
        """
        encend encien activ | apag desactiv ; =antes | después despues ; =con | =sin
        ; aument subir =sube =subo | reduc baj disminu ; abr | cierr cerr ; empiez empez comienz comenz | termin acab
        ; comprador | vendedor ; inquilino | arrendador propietario casero ; compr | vend
        ; añad agreg | elimin quit borr ; bloque | desbloque ; primer | último ultim ; máxim maxim | mínim minim
        ; izquierd | derech ; entrad llegad | salid ; =más =mas | =menos ; adult | niñ ; mayor | menor
        ; import | export ; ventaj | desventaj ; verano | invierno
        """,
        whom=r"\b(?:a )?qui[eé]n(?:es)?\b",
    ),
    "Italian": _tongue(
        "non mai senza nessun nessuno nessuna",
        """
        accend acces attiv | spegn speng spent disattiv ; =prima | =dopo ; =con | =senza
        ; aument alz | riduc ridurre diminu abbass
        ; apr | chiud ; inizi cominci | finisc termin ; acquirent comprator | venditor
        ; inquilin | proprietari locator ; compr acquist | vend ; aggiung | elimin rimuov ; blocc | sblocc
        ; massim | minim ; sinistr | destr ; entrat ingress | uscit ; arriv | partenz ; =più | =meno
        ; maggior | minor ; adult | bambin ; vantagg | svantagg
        """,
        whom=r"\b(?:a )?chi\b",
    ),
    "Portuguese": _tongue(
        "não nao nunca sem nenhum nenhuma jamais ninguém",
        """
        ligar ligue liga ligo ative ativar | deslig desativ ; =antes | =depois =após ; =com | =sem
        ; aument | reduz diminu baix
        ; abr | fech ; começ inici | termin acab ; comprador | vendedor ; inquilin | proprietári locador
        ; compr | vend ; adicion | remov exclu apag ; bloque | desbloque ; primeir | últim ; máxim | mínim
        ; esquerd | direit ; entrad | saíd ; chegad | partid ; =mais | =menos ; maior | menor ; adult | crianç
        ; vantag | desvantag
        """,
        whom=r"\b(?:a )?quem\b",
    ),
    "Polish": _tongue(
        "nie bez nigdy żaden żadna żadne",
        """
        włącz | wyłącz ; =przed | =po ; =z =ze | =bez ; zwiększ | zmniejsz ; otw | zamk zamyk
        ; zaczyn rozpocz | kończy zakończ ; kupując | sprzedając ; najemc | wynajmując ; kup | sprzeda
        ; dodać dodaj | usuń usunąć ; zablok | odblok ; pierwsz | ostatni ; maksym | minim ; lew | praw
        ; wejści | wyjści ; przyjazd | odjazd ; więcej | mniej ; najwyższ | najniższ ; dorosł | dzieck dzieci
        """,
        whom=r"\b(?:kto|kogo|komu|kim)\b",
    ),
}  # fmt: skip


@scoped_cache(maxsize=READINGS)
def read(text: str) -> TongueReading:
    """The reading of `text` in one of these languages; nothing for any other text."""
    words = bag_of(text)
    if is_english(text, words):
        return _NOTHING
    language = language_of(text, words)
    tongue = _TONGUES.get(language.name) if language is not None else None
    if language is None or tongue is None:
        return _NOTHING
    said = [part for word in words for part in _APOSTROPHES.split(word) if part]
    asked = tongue.whom.search(text.lower()) if tongue.whom is not None else None
    return TongueReading(
        language.name,
        not tongue.negators.isdisjoint(said),
        tuple([_side(said, one) - _side(said, two) for one, two in tongue.axes] + [_last(said, tongue)]),
        asked[0] if asked is not None else "",
    )


def compare(query: str, cached: str) -> str | None:
    """The finding where two texts of one language are negated otherwise, or say opposites; None where they do not."""
    one, two = read(query), read(cached)
    if not one.language or one.language != two.language:
        return None
    if one.negated != two.negated:
        return f"only one is negated, in {one.language}"
    if any(left * right < 0 for left, right in zip(one.sides, two.sides, strict=True)):
        return f"opposites, in {one.language}"
    if one.asked and two.asked and one.asked != two.asked:
        return f"{one.asked} / {two.asked}"
    return None


def _side(said: Sequence[str], words: Sequence[str]) -> bool:
    """Return True if one of these words, or beginnings of words, is said."""
    return any(word == one[1:] if one[0] == "=" else word.startswith(one) for one in words for word in said)


def _last(said: Sequence[str], tongue: _Tongue) -> int:
    first, second = tongue.last
    return (said[-1] in first) - (said[-1] in second) if said else 0
