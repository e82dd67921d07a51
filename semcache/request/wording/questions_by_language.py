"""Questions in other languages in the frame that most people choose: "por qué razón", "wie ändere ich", "est-ce que".

German, French, Spanish, Italian and Portuguese. Invariant: what is asked after stays as it is, but for its place where
the grammar of the frame says it; a question of two parts is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from semcache.request.wording import verbs_by_language
from semcache.runtime.late_pattern import late

_END = r"(?P<end>[\s.?!]*)$"
_INNER = r"[^,.;:?!\n]+?"


class _Frame(NamedTuple):
    """A pattern of a question, and what is written in its place; `made` may decline and give the text back."""

    pattern: re.Pattern[str]
    made: str | Callable[[re.Match[str]], str]


def _frame(pattern: str, made: str | Callable[[re.Match[str]], str]) -> _Frame:
    return _Frame(late(pattern, re.IGNORECASE), made)


def reframed(text: str, language: str) -> str:
    """The text of a question with its frame in the usual form; another text as it is.

    >>> reframed("wie ändere ich mein passwort?", "German")
    'wie kann ich mein passwort ändern?'
    """
    for pattern, made in _FRAMES.get(language, ()):
        text = pattern.sub(made, text, count=1)
    return text


def _by_hand(match: re.Match[str]) -> str:
    asked, form, who, rest, end = (match[name] for name in ("asked", "form", "who", "rest", "end"))
    read = verbs_by_language.german if who.lower() == "ich" else verbs_by_language.german_of_anybody
    if asked.lower() == "wo" and form.lower() in _WHERE_ONE_IS:
        return match[0]
    found = read(form.lower(), rest)
    if found is None or not found[1] or _SECOND.search(rest):
        return match[0]
    verb, rest = found
    return f"{asked} kann ich {rest} {verb}{end}"


def _verb_second(match: re.Match[str]) -> str:
    """The question that an indirect one has: its verb goes from the end to the second place."""
    asked, rest, verb, end = (match[name] for name in ("asked", "rest", "verb", "end"))
    return f"{asked} {verb} {rest}{end}"


def _romance(language: str, where: str, can: str) -> Callable[[re.Match[str]], str]:
    """How or where one does something oneself, in a language whose infinitive follows the word that asks."""

    def made(match: re.Match[str]) -> str:
        asked, form = match["asked"].lower(), match["form"].lower()
        read = verbs_by_language.of_anybody if match["se"] else verbs_by_language.of_oneself
        verb = read(form, language)
        if verb is None:
            return match[0]
        return f"{asked} {can} {verb}" if asked.startswith(where) else f"{asked} {verb}"

    return made


def _two_sorted(match: re.Match[str]) -> str:
    """Two things whose difference is asked after, in the order of their letters and without what says "a"."""
    one, two = (_A.sub("", match[name]) for name in ("one", "two"))
    if not (one and two):
        return match[0]
    first, second = sorted((one, two), key=str.lower)
    return f"{match['asked']} {first} {match['and']} {second}{match['end']}"


def _difference(opening: str, between: str, both: str, plain: str) -> tuple[_Frame, _Frame]:
    """The ways to ask for a difference, and the order of what differs."""
    return (
        _frame(rf"^(?:{opening}) (?:{between}) (?=\S)", f"{plain} "),
        _frame(
            rf"^(?P<asked>{plain}) (?P<one>(?:(?!{both} ){_THING} ?){{1,3}}) (?P<and>{both})"
            rf" (?P<two>(?:(?!{both} ){_THING} ?){{1,3}}?){_END}",
            _two_sorted,
        ),
    )


# "Wo arbeite ich morgen" asks where that is, and not where it can be done.
_WHERE_ONE_IS = frozenset(
    ("arbeite", "fliege", "lande", "liege", "parke", "schlafe", "sitze", "spiele", "starte", "stehe", "steige", "wohne")
)
_OF_ONE = {"ist": "t", "sind": "n"}
_THING = r"[^\s,.;:?!]+"
_A = re.compile(r"^(?:(?:une?|uma?|uno|una|eine[mnr]?|ein) |un')", re.IGNORECASE)
_SECOND = re.compile(r" (?:und|oder|aber) (?:wie|wo|was|wann|wer|welche[rsnm]?|warum|kann|muss|soll)(?!\w)")
_ADJECTIVES = "lange|viele?|oft|hoch|teuer|weit|groß|schwer|alt|spät|schnell|warm|kalt|lang|breit|tief"
_ASKED = rf"warum|wieso|weshalb|wie (?:{_ADJECTIVES})|wie|wo|wann|was|wer|woher|wohin|womit|wofür"
_TELL = (
    "(?:(?:kannst du|können sie|könntest du|könnten sie|könnt ihr|könntet ihr|kann mir (?:bitte )?jemand)"
    "(?: mir| uns)?(?: bitte)?(?: mal)?(?: kurz)? (?:sagen|erklären|verraten|mitteilen)"
    "|weißt du|wissen sie|wisst ihr|weiß jemand"
    "|(?:bitte )?(?:sag|sagt|sagen sie|erkläre?|erklären sie|verrate?)(?: mir)(?: bitte)?(?: mal)?"
    "|ich (?:möchte|würde) (?:gerne? )?wissen|ich wüsste gerne?)"
)
# Forms that a verb at the end of a clause has; a noun seldom has them, and never in a text with capitals.
_VERB = r"(?:ist|sind|war|hat|kann|muss|soll|darf|wird|will|gibt|[a-zäöüß]{2,}(?:t|e|en|ern|eln))"
_PRONOUNS = "ich|man|wir|er|es|ihr"
_DETERMINED = "(?:(?:les?|la|une?|des|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|nos|votre|vos|leurs?|cet?|cette|ces) |l')"
_OBJECTS = "lui|leur|y|en|ne|me|te|se|nous|vous|les?|la"
_TELL_FRENCH = (
    "(?:(?:pourriez-vous|pouvez-vous|peux-tu|pourrais-tu|tu peux|vous pouvez)"
    " (?:(?:s'il (?:vous|te) pla[iî]t|svp|stp) )?(?:me dire|m'expliquer|m'indiquer)"
    "|(?:dis|dites|explique|expliquez)[- ]moi|savez-vous|sais-tu)"
)
_WHICH_FRENCH = "quel(?:le)?s? |comment |où |pourquoi |combien |quand |à quelle "
_TELL_SPANISH = (
    "(?:(?:me )?(?:puedes?|podrías?|podría|pueden) (?:decir|explicar|indicar)(?:me)?|me (?:dices|explicas|indicas?)"
    "|(?:dime|dígame|explícame|explíqueme|explicame)|(?:sabes|sabe|alguien sabe))"
)
_WHICH_SPANISH = "qu[eé] |c[oó]mo |cu[aá]l(?:es)? |d[oó]nde |cu[aá]ndo |cu[aá]nt[oa]s? |qui[eé]n |por qu[eé] "
_TELL_PORTUGUESE = (
    "(?:(?:você |vocês )?(?:me )?(?:pode|poderia|podes|podem) (?:me )?(?:dizer|explicar|informar)(?:-me)?"
    "|(?:me )?(?:diga|diz|explique|explica)(?:-me)?|(?:você )?(?:sabe|sabes)(?: me dizer)?)"
)
_WHICH_PORTUGUESE = "qual |quais |como |onde |por ?que |quando |quant[oa]s? |quem |o que (?:é|são) |que horas "
_TELL_ITALIAN = (
    "(?:(?:mi )?(?:puoi|può|potresti|potrebbe|potete|sai|sa) (?:dire|dirmi|spiegare|spiegarmi|indicare|indicarmi)"
    "|mi (?:dici|spieghi|spiega)|(?:dimmi|spiegami|mi dica|mi spieghi)|(?:sai|sapete))"
)
_WHICH_ITALIAN = "qual(?:e|i)? |qual'è |come |dove |perch[eé]'? |quando |quant[oaie] |chi |cosa |cos'è |che cos"
_FRAMES: dict[str, tuple[_Frame, ...]] = {
    "German": (
        _frame(rf"^{_TELL},? (?P<asked>{_ASKED}) (?P<rest>{_INNER}) (?P<verb>{_VERB}){_END}", _verb_second),
        _frame(
            rf"^{_TELL},? (?P<asked>welche[rsnm]? [^\W\d_]+)"
            rf" (?P<rest>(?:{_PRONOUNS}) {_INNER}) (?P<verb>{_VERB}){_END}",
            _verb_second,
        ),
        _frame(
            rf"^(?P<asked>wie|wo) (?P<form>[^\W\d_]+) (?P<who>ich|man) (?P<rest>{_INNER}){_END}",
            _by_hand,
        ),
        _frame(r"(?<=\w )(ich|man|mir) bitte(?= \S)", r"\1"),
        _frame(r"(?<=\w )benötig(?=(?:e ich|t man) )", "brauch"),
        _frame(r"^wie teuer (ist|sind) (?=\S)", lambda found: f"wie viel koste{_OF_ONE[found[1].lower()]} "),
        _frame(r"^wie lang (?=(?:dauer|brauch))", "wie lange "),
        *_difference(
            "(?:erklär(?:e|en sie)?(?: mir)?(?: bitte)?|nenne? mir) den unterschied"
            "|wo (?:ist|liegt) der unterschied|worin (?:liegt|besteht) der unterschied"
            "|welche[rn]? unterschiede? (?:gibt es|besteh(?:t|en))|was ist der unterschied",
            "zwischen",
            "und",
            "was ist der unterschied zwischen",
        ),
    ),
    "French": (
        _frame(rf"^{_TELL_FRENCH},? (?={_WHICH_FRENCH})", ""),
        _frame(r"^pour quelles? raisons? (?=\S)", "pourquoi "),
        _frame(r"^de quelle (?:façon|manière) (?:puis-je|je peux|est-ce que je peux) (?=\S)", "comment "),
        _frame(r"^(où|comment) (?:puis-je|je peux|est-ce que je peux) (?=\S)", r"\1 "),
        _frame(r"^((?:pourquoi|comment|quand|où|à quelle heure)) est-ce qu(?:e |')(?=\S)", r"\1 "),
        _frame(
            rf"^(?P<asked>pourquoi|comment|quand|où|à quelle heure) (?P<who>{_DETERMINED}(?!(?:{_OBJECTS}) )"
            r"[^\s,.;:?!]+(?: [^\s,.;:?!]+){0,4}? [^\s,.;:?!-]+)-(?:t-)?(?:il|elle)s?(?![\w-])",
            r"\g<asked> \g<who>",
        ),
        _frame(rf"^(?P<what>(?:l[ea]s? |l'){_INNER}),? c'est quoi{_END}", r"quel est \g<what>\g<end>"),
        _frame(r"^(?:combien ça coûte|ça coûte combien),? (?=(?:une? |l))", "combien coûte "),
        _frame(r"^quel est le (?:prix|tarif|coût) (?:de (?=l[a'])|d'(?=une? ))", "combien coûte "),
        _frame(r"^quel est le (?:prix|tarif|coût) du (?=\S)", "combien coûte le "),
        *_difference(
            "quel est les? différences?|quelles? différences? y a-t-il|quel est la différence"
            "|(?:explique|expliquez)(?:-moi)? la différence",
            "entre",
            "et",
            "quel est la différence entre",
        ),
    ),
    "Spanish": (
        _frame(rf"^{_TELL_SPANISH},? (?={_WHICH_SPANISH})", ""),
        _frame(r"^(?:por qu[eé] (?:raz[oó]n|motivo)) (?=\S)", "por qué "),
        _frame(r"^de qu[eé] (?:manera|forma|modo) (?:puedo|podría) (?=\S)", "cómo "),
        _frame(
            r"^(?P<asked>c[oó]mo|d[oó]nde) (?P<se>se )?(?P<form>[^\W\d_]+)(?= \S)",
            _romance("Spanish", "d", "puedo"),
        ),
        _frame(r"^cuánto (?:tiempo (?=(?:tard|demor)))?(?:tarda|demora)(?=n? )", "cuánto tarda"),
        _frame(r"^(?:cuál es el (?:precio|costo|coste) de|qué precio tiene) (?=(?:el|la|una?) )", "cuánto cuesta "),
        _frame(r"^cuál es el (?:precio|costo|coste) del (?=\S)", "cuánto cuesta el "),
        *_difference(
            "qué diferencias? hay|cuáles son las diferencias|cuál es la diferencia"
            "|(?:explica|explícame|explique) la diferencia",
            "entre",
            "y",
            "cuál es la diferencia entre",
        ),
    ),
    "Portuguese": (
        _frame(rf"^{_TELL_PORTUGUESE},? (?={_WHICH_PORTUGUESE})", ""),
        _frame(r"^(como|onde|quando|por que|porque|quanto) é que (?=\S)", r"\1 "),
        _frame(r"^(?:por (?:que|qual) (?:razão|motivo)) (?=\S)", "por que "),
        _frame(r"^de que (?:forma|maneira|modo|jeito) (?:posso|eu posso|consigo) (?=\S)", "como "),
        _frame(
            r"^(?P<asked>como|onde) (?P<se>se )?(?:eu )?(?P<form>[^\W\d_]+)(?= \S)",
            _romance("Portuguese", "onde", "posso"),
        ),
        _frame(r"(?<=\w )[oa]s? (?=(?:meu|minha)s? )", ""),
        _frame(r"^qual (?=[oa] \S)", "qual é "),
        _frame(r"^quais (?=[oa]s \S)", "quais são "),
        _frame(r"^(?:qual é o preço d|quanto é que custa )(?=[oa] |uma? )", "quanto custa "),
        *_difference(
            "que diferenças? (?:há|existem?)|quais são as diferenças|qual é a diferença"
            "|expli(?:que|ca)(?:-me)? a diferença",
            "entre",
            "e",
            "qual é a diferença entre",
        ),
    ),
    "Italian": (
        _frame(rf"^{_TELL_ITALIAN},? (?={_WHICH_ITALIAN})", ""),
        _frame(r"^(?:come mai|perche'?|per (?:quale|che) (?:motivo|ragione)) (?=\S)", "perché "),
        _frame(r"^in (?:che|quale) modo (?:posso|potrei) (?=\S)", "come "),
        _frame(
            r"^(?P<asked>come|dove) (?P<se>si )?(?P<form>[^\W\d_]+)(?= \S)",
            _romance("Italian", "dove", "posso"),
        ),
        _frame(r"^quanto tempo (?=(?:ci vuole|ci vogliono|serve|richiede) )", "quanto "),
        _frame(r"^(?:qual è il (?:prezzo|costo) d|quanto viene )(?=(?:una? |un'))", "quanto costa "),
        _frame(r"^qual è il (?:prezzo|costo) di (?=una? |un')", "quanto costa "),
        *_difference(
            "(?:che|quale) differenza c'è|quali sono le differenze|qual è la differenza"
            "|(?:spiega|spiegami|spieghi) la differenza",
            "tra|fra",
            "e",
            "qual è la differenza tra",
        ),
    ),
}
