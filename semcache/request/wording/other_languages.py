"""Prompts in thirteen other languages than English without what says nothing: greetings, thanks, politeness, case.

German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Arabic and Hindi are told by their function
words, Chinese, Japanese and Korean by their characters. Of a question how something is done the ways to begin it are
one, where the verb behind them stays as it is. Invariant: words of the question itself are never removed, and a text of
whose language nothing is sure is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from semcache.request.text import vocabulary
from semcache.request.wording.courtesies import COURTESIES
from semcache.request.wording.deeds_by_language import by_hand
from semcache.request.wording.edits import Edit, Edited
from semcache.request.wording.questions_by_language import reframed
from semcache.runtime.late_pattern import late

_LEAST = 2  # words, or characters of scripts without blanks, that must remain
_BLANK = "[\\s,.!:;¡、。，！،؛]*"


class Language(NamedTuple):
    """A language by its English name: its function words, what may open and close a prompt, and its frames."""

    name: str
    words: frozenset[str]
    opening: re.Pattern[str]
    closing: re.Pattern[str]
    frames: tuple[tuple[re.Pattern[str], str], ...] = ()


def _language(
    name: str,
    words: str,
    *frames: tuple[str, str],
    openings: str = "",
    closings: str = "",
    politeness: str = "",
) -> Language:
    """A language of words between blanks; alternatives of expressions stand between bars.

    `openings`, `closings` and `politeness` are left out beside its courtesies, and are tried before these.
    """
    known = COURTESIES[name]
    polite = _either(politeness, known.politeness)
    opening = rf"(?:(?:{_either(openings, known.greetings, polite)})(?!\w){_BLANK})+"
    closing = rf"(?<![\s,.!?،؟])(?:[\s,.!?،؟]++(?:{_either(closings, known.thanks, polite)})(?!\w))+[\s,.!?،؟]*$"
    return Language(
        name,
        vocabulary(words),
        late(opening, re.IGNORECASE),
        late(closing, re.IGNORECASE),
        tuple((late(rf"(?:{pattern}) (?=\S)", re.IGNORECASE), f"{plain} ") for pattern, plain in frames),
    )


def _either(*alternatives: str) -> str:
    return "|".join(filter(None, alternatives))


_GERMAN = _language(
    "German",
    "der die das und ist wie ein eine einen einem nicht den dem ich wir mit auf von zu zum zur warum wo wann welche"
    " welcher welches kann mein meine meinen für im bei wird wer was gibt es ihr sich oder muss können hallo"
    " danke bitte",
    (f"wie (?:kann|könnte) (?:ich|man{by_hand('German')})", "wie kann ich"),
    ("wieviel", "wie viel"),
    ("wieviele", "wie viele"),
    ("wieso|weshalb", "warum"),
    ("was kosten", "wie viel kosten"),
    ("was kostet", "wie viel kostet"),
    (r"erklär(?:e|st du|en sie)? mir(?: bitte)?(?: mal)?", "erkläre mir"),
    openings="liebes team|sehr geehrte damen und herren|(?:mal |kurze )?eine frage|kurze frage",
    closings="(?:herzlichen|besten|schönen) dank(?: im voraus)?|danke (?:dir|ihnen|euch|schon mal)"
    "|(?:liebe|viele|beste|freundliche) grüße|mit freundlichen grüßen|lg|mfg",
)
_FRENCH = _language(
    "French",
    "le la les un une est et que qui quoi comment pourquoi dans pour sur avec je tu nous vous des du au aux ce"
    " cette"
    " quel quelle quels quelles mon ma mes puis-je peut-on combien faut-il bonjour merci sont il elle en de où"
    " trouve quand est-ce",
    (
        "comment (?:puis-je|je peux|faire pour|pourrais-je|est-ce que je peut?x?)|que dois-je faire pour"
        f"|(?:comment (?:peut-on|on peut|est-ce qu'on peut?x?)|que faut-il faire pour){by_hand('French')}",
        "comment",
    ),
    ("où se trouv(?:e|ent)|où sont", "où est"),
    ("c'est quoi(?= l)|quel(?:le)?s? (?:est|sont)", "quel est"),
    openings="bonjour à tous|coucou|madame, monsieur|chère équipe|(?:une )?(?:petite |simple )?question"
    "|dites[- ]moi|dis[- ]moi|(?:pourriez-vous|pouvez-vous|peux-tu|pourrais-tu) (?:me dire|m'expliquer)"
    "|expliquez-moi|explique-moi|je voudrais savoir|j'aimerais savoir",
    closings="merci (?:bien|par avance)|cordialement|bonne journée",
)
_SPANISH = _language(
    "Spanish",
    "el los las una es y como por para con qué cómo cuál dónde del en mi su cual cuáles cuánto cuanto cuándo"
    " hola"
    " gracias puedo se de la un hay tiene está son quien quién mis lo que",
    (
        "c[oó]mo (?:puedo|podría|podemos|hago para|hacer para|debo hacer para)"
        f"|c[oó]mo se puede{by_hand('Spanish')}"
        "|qu[eé] (?:debo|tengo que) hacer para"
        r"|cu[aá]l es la (?:forma|manera) de(?= \w+(?:[aei]r|[aei]r(?:l[aeo]s?|me|se))(?!\w))",
        "cómo",
    ),
    ("que(?= (?:es|son|significa|hace|hora|día))", "qué"),
    ("cual(?= (?:es|son|fue))", "cuál"),
    ("como(?= (?:se|puedo|es|hago|funciona))", "cómo"),
    ("donde(?= (?:está|están|puedo|se|hay|queda))", "dónde"),
    ("cuanto", "cuánto"),
    ("cuanta", "cuánta"),
    ("cuantos", "cuántos"),
    ("cuantas", "cuántas"),
    ("quien(?= (?:es|fue|son|ganó))", "quién"),
    openings="hola a todos|buen día|estimado equipo|saludos|una (?:pregunta|duda)|dime|dígame"
    "|(?:me )?(?:puedes?|podrías?|puede|podría) decir(?:me)?|quisiera saber|me gustaría saber",
    closings="mil gracias|(?:muchas |mil )?gracias (?:de antemano|por adelantado)|saludos|un saludo",
    politeness="porfa",
)
_ITALIAN = _language(
    "Italian",
    "il lo gli che di e per con come perché perche dove sono della nel quanto quale qual è un una la mio mia posso si"
    " ciao grazie quando cosa cos'è qual'è dell del delle dei devo ho",
    (
        "come (?:posso|potrei|faccio (?:a|per)|fare (?:a|per))|(?:che )?cosa devo fare per"
        f"|(?:come si (?:può|fa a)|(?:che )?cosa bisogna fare per){by_hand('Italian')}",
        "come",
    ),
    ("qual'è|quale è|qual e'", "qual è"),
    ("(?:che )?cosa è|che cos'è", "cos'è"),
    openings="ciao a tutti|buon giorno|gentile team|(?:ho )?una domanda|dimmi|mi dica"
    "|(?:mi )?(?:puoi|può|potresti|potrebbe|sai|sa) dir(?:mi|e)|vorrei sapere",
    closings="(?:molte|tante) grazie(?: mille)?|(?:molte |tante )?grazie (?:in anticipo|molte|tante)|saluti"
    "|cordiali saluti",
)
_PORTUGUESE = _language(
    "Portuguese",
    "o os uma é com não qual onde em do da dos das meu minha posso faço quanto quando quem olá obrigado obrigada um por"
    " para como que de quais você tem está no na se",
    (
        r"como (?:posso|eu posso|faço para|eu faço para|fazer para|consigo(?= \w+r(?!\w))|podemos)"
        f"|como se faz para{by_hand('Portuguese')}"
        "|o que (?:devo|preciso) fazer para",
        "como",
    ),
    ("oque é", "o que é"),
    openings="olá a todos|prezados|uma (?:pergunta|dúvida)|me diga|diga-me|(?:você )?(?:pode|poderia) me dizer"
    "|gostaria de saber|quero saber|(?:me )?explique(?: o que é)?(?= o que é)",
    closings="(?:muito )?obrigad[oa] (?:desde já|pela ajuda)|valeu|agradeço|abraços",
    politeness="por gentileza",
)
_DUTCH = _language(
    "Dutch",
    "de het een van ik niet hoe wat waar voor kan mijn is en op met zijn welke wanneer wie waarom hoeveel hoi"
    " bedankt kun je moet naar bij wordt er te om of in aan uit over doe zet kunnen hebben",
    (f"hoe kan ik|hoe (?:kan (?:je|men)|kun je){by_hand('Dutch')}", "hoe kan ik"),
    openings="hallo allemaal|beste team|geachte heer(?:/| of )mevrouw|(?:even |korte )?een vraag(?:je)?|korte vraag",
    closings="(?:alvast )?(?:heel erg |hartelijk )bedankt|(?:alvast )?(?:heel erg |hartelijk )?bedankt alvast"
    "|dankjewel|alvast dank|met vriendelijke groet(?:en)?|groetjes|mvg",
    politeness="aub",
)
_RUSSIAN = _language(
    "Russian",
    "в и не на как что где когда кто почему сколько какой какая какое какие мне мой с из для по зачем",
    (f"как (?:я могу|мне)|как можно{by_hand('Russian')}", "как"),
    openings="подскажи(?:те)?|скажи(?:те)?",
    closings="большое спасибо (?:большое|заранее)|заранее спасибо",
)
_POLISH = _language(
    "Polish",
    "nie na jak jest co się czy gdzie kiedy dlaczego kto ile mogę mój moje mojego do dla przez przed od za jaki jaka"
    " jakie które który dzień dobry proszę",
    (f"jak mogę|jak można{by_hand('Polish')}", "jak"),
    openings="dobry wieczór|(?:proszę )?(?:powiedz|wyjaśnij)(?: mi)?"
    "|czy (?:mógłbyś|mogłabyś|możesz|może pani?|mógłby pan|mogłaby pani) (?:mi )?(?:powiedzieć|wyjaśnić)",
    closings="z góry dzięki|(?:z góry|bardzo) dziękuję(?: (?:bardzo|z góry))?|pozdrawiam",
)
_ARABIC = _language(
    "Arabic",
    "ما هي هو هل في على إلى الى عن أن كيف متى أين لماذا من كم يمكنني يمكن لي أنا التي الذي و أو",
    ("ما (?:هي|هو)", "ما"),
    closings="شكرا لكم",
    politeness="رجاء",
)
_HINDI = _language(
    "Hindi",
    "है हैं का की के को में से क्या और पर कि मैं मुझे यह वह कैसे कब कहाँ क्यों कितना कौन अपना अपने एक लिए",
    openings="(?:कृपया )?(?:बताइए|बताएं)(?: कि)?",
)
_SPOKEN = (_GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _RUSSIAN, _POLISH, _ARABIC, _HINDI)
# Of these the greeting or the thanks may be what is to be said, translated or written.
_SAYING = re.compile(
    r"(?<!\w)(?:sag(?:t|en|e)(?!\w)|heißt|heisst|bedeut|überset|schreib|wort(?!\w)|dit-on|dire(?!\w)|signifi|tradui|écri"
    r"|mot(?!\w| de passe)|dice(?!\w)|decir|traduc|palabra|escrib|scriv|parola|diz(?!\w)|dizer|escrev|palavra(?!-)|zeg"
    r"|betekent|vertaal|schrijf|woord(?!\w)|сказать|говор|значит|означает|перев|слов|пиш)"
    r"|[说說訳뜻]|翻译|翻譯|意思|意味|言[うい]|말하|번역",
    re.IGNORECASE,
)
# Behind a greeting and no mark these ask about it: "hola en inglés".
_ASKED_ABOUT = re.compile(
    "(?:auf|in|im|en|em|op|по|на|à|a|al|ao|ist|est|es|é|è|is|значит|это|和|与|用|的|英|日|中|の|は|を|で|と|英語|英|영어|일본)"
    "(?![a-zà-ÿа-я])|по-",
    re.IGNORECASE,
)
# Behind these and no mark it is thanks and politeness that are asked about.
_JOINING = vocabulary("""
    auf zu für und oder mit von ein eine à pour et ou de avec un une a para y o con una per e di em com um uma op voor
    en of met een на для и или
    """)
_UNMARKED = re.compile(r"\w\s*$")
# Of languages without blanks between words. What asks at the end of a Japanese question word is politeness.
_CHINESE = Language(
    "Chinese",
    frozenset(),
    re.compile(rf"(?:(?:你好|您好|嗨|请问一下|请问|請問|麻烦问一下|我想知道|告诉我|告訴我){_BLANK})+"),
    re.compile(
        "(?<![\\s，。？！,.?!])(?:[\\s，。？！,.?!]*+(?:非常感谢|谢谢(?:你|您|大家)?|謝謝|多谢|感谢))+[\\s，。！!.]*$"
        "|(?<=[么里儿少谁样])[呢啊呀][？?]?$"
    ),
)
_JAPANESE = Language(
    "Japanese",
    frozenset(),
    re.compile(rf"(?:(?:こんにちは|すみません|すいません|はじめまして|お世話になっております){_BLANK})+"),
    re.compile(
        "(?<![\\s、。？！])(?:[\\s、。？！]*+(?:ありがとうございます|よろしくお願いします|お願いします))+[\\s。！]*$"
        "|(?<=何|こ|誰|つ|ら)(?:なの)?(?:ですか|でしょうか)[？?]?$|を教えて(?:ください|下さい|くれますか|もらえますか)?$"
    ),
)
_KOREAN = Language(
    "Korean",
    frozenset(),
    re.compile(rf"(?:(?:안녕하세요|저기요|혹시){_BLANK})+"),
    re.compile("(?<![\\s,.!?])(?:[\\s,.!?]*+(?:감사합니다|고맙습니다|부탁드립니다|부탁드려요))+[\\s.!]*$"),
)
# Spanish words that are no other words without their accents.
_ACCENTED = {
    "envio": "envío", "envios": "envíos", "telefono": "teléfono", "pagina": "página", "codigo": "código",
    "credito": "crédito", "debito": "débito", "metodo": "método", "articulo": "artículo", "dia": "día", "dias": "días",
    "aqui": "aquí", "tambien": "también", "despues": "después", "rapido": "rápido", "movil": "móvil", "pais": "país",
    "paises": "países", "musica": "música", "mexico": "méxico", "peru": "perú", "numero": "número", "facil": "fácil",
    "dificil": "difícil", "ultimo": "último", "maximo": "máximo", "minimo": "mínimo", "contrasena": "contraseña",
}  # fmt: skip
_UNACCENTED = re.compile(rf"(?<!\w)(?:\w{{2,}}[cs]ion|{'|'.join(_ACCENTED)})(?!\w)")
# German words that are no other words with two letters for an umlaut.
_WITHOUT_UMLAUTS = re.compile(
    r"(?<!\w)(?:fuer|ueber\w{0,12}|k(?:oe|ue)n(?:nen|nte|ntest|nten|dig\w{1,4})|(?:ver)?aender[en]\w{0,3}|ge(?:ae|oe)\w{4,8}t"
    r"|(?:ge)?loesch\w{1,4}|oeffn\w{1,12}|moecht\w{1,3}|muess\w{1,4}|zurueck\w{0,12}|waehl\w{1,4}|naechste[nrs]?"
    r"|gebuehr(?:en)?|ueblich\w{0,2}|oesterreich\w{0,5}|schluessel|hoere?n?|schoene?[nrs]?|gruene?[nrs]?|spaeter|taeglich"
    r"|erklaer\w{1,3}|benoetig\w{1,3}|bestaetig\w{1,4}|verlaenger\w{1,4}|laenger|duerfen|wofuer|dafuer|tuer(?:en)?)(?!\w)"
)
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_INVERTED = re.compile("[\u00bf\u00a1]")
_WORD = re.compile(r"[^\W\d_]+")
_FORMAL = re.compile(r"(?<=[\w,;] )(?:Sie|Ihnen|Ihr(?:e[mnrs]?)?|Linken?)(?!\w)")
# Cities, regions and names that are another word in lower case.
_NAMED = re.compile(
    "(?:Lima|Granada|Porto|Natal|Salvador|Fortaleza|Vitória|Prato|Bari|Como|Nice|Tours|Orange|Sens|Lens|Mayo|Panamá"
    "|Papa|Assen|Bergen|Orte|Fermo|Salto|Florida|Valencia|Victoria|Paz|Plata|Asunción|Trinidad|Concepción|Santos"
    r"|Niñ[oa]|Andes|Pierre|Marche|Bleus|Рим|Орёл|Орла|Мир|Вера|Надежда|Любовь|Роза|Лев)(?!\w)"
)


def edited(text: str, words: list[str], kinds: frozenset[Edit]) -> Edited:
    """A text in another language than English in its own canonical wording; `words` are its words, lower."""
    language = language_of(text, words)
    if language is None:
        return Edited(text, frozenset())
    made: set[Edit] = set()
    for kind, edit in _EDITS:
        if kind in kinds and (plain := edit(text, language)) != text:
            made.add(kind)
            text = plain
    return Edited(text, frozenset(made))


def language_of(text: str, words: Sequence[str]) -> Language | None:
    """The language of a text that is not English, None where more than one may be it; `words` are its words, lower."""
    if not text.isascii():
        if _HANGUL.search(text):
            return _KOREAN
        if _KANA.search(text):
            return _JAPANESE
        if _HAN.search(text):
            return _CHINESE
    counts = sorted(((sum(map(one.words.__contains__, words)), at) for at, one in enumerate(_SPOKEN)), reverse=True)
    (most, at), (next_most, _) = counts[:2]
    return _SPOKEN[at] if most > next_most else None


def _without_chatter(text: str, language: Language) -> str:
    """The text without what opens and closes it, as long as a question is left."""
    if _SAYING.search(text):
        return text
    plain = text
    if (match := language.opening.match(plain)) and not (
        _UNMARKED.search(match[0]) and _ASKED_ABOUT.match(plain, match.end())
    ):
        plain = plain[match.end() :]
    if (match := language.closing.search(plain)) and not _belongs(plain[: match.start()], match[0]):
        plain = plain[: match.start()]
    left = len(plain.split()) if language.words else len(plain)
    return plain if left >= _LEAST else text


def _belongs(before: str, closing: str) -> bool:
    """Return True for thanks that the sentence needs: "was antwortet man auf danke"."""
    if closing[:1] not in " \t" and before[-1:].isascii():
        return False
    return before.rsplit(maxsplit=1)[-1].lower() in _JOINING or before[-1:] in "はがをにとへ"


def _framed(text: str, language: Language) -> str:
    plain = framed = _INVERTED.sub("", text)
    for pattern, frame in language.frames:
        if match := pattern.match(framed):
            framed = frame + framed[match.end() :]
    framed = reframed(framed, language.name)
    return text if framed == plain else framed


def _evened(text: str, language: Language) -> str:
    """The text in lower case, without inverted marks and the one that ends an Arabic question."""
    return _lowered(_INVERTED.sub("", text), language).rstrip(" \u061f") or text


def _lowered(text: str, language: Language) -> str:
    """The text in lower case, but for words inside that a capital makes others: "Sie", "Lima", "EST"."""
    if text.isupper():
        return text.lower()
    kept = _FORMAL if language is _GERMAN else _NAMED

    def plain(match: re.Match[str]) -> str:
        word = match[0]
        inside = match.start() and kept.match(text, match.start()) is not None
        initials = len(word) > 1 and word.isupper() and word.lower() in language.words
        return word if inside or initials else word.lower()

    return _WORD.sub(plain, text)


def _spelt(text: str, language: Language) -> str:
    if language is _GERMAN:
        return _WITHOUT_UMLAUTS.sub(_umlauted, text)
    return _UNACCENTED.sub(_accented, text) if language is _SPANISH else text


def _umlauted(match: re.Match[str]) -> str:
    return match[0].replace("ae", "ä").replace("oe", "ö").replace("ue", "ü")


def _accented(match: re.Match[str]) -> str:
    word = match[0]
    return f"{word[:-2]}\u00f3n" if word.endswith("ion") else _ACCENTED[word]


_EDITS: tuple[tuple[Edit, Callable[[str, Language], str]], ...] = (
    (Edit.FILLER, _without_chatter),
    (Edit.FRAME, _framed),
    (Edit.CHARACTERS, _evened),
    (Edit.SPELLING, _spelt),
)
