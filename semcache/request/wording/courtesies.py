"""Courtesies by language: greetings, thanks and politeness, as alternatives of regular expressions.

`other_languages` leaves them out of prompts in languages that it tells, and `light_edits` in any language where a mark
sets them off. Knows phrases, nothing of where they stand. Invariant: of two greetings of one language of which one
begins the other, the longer one comes first.
"""

from __future__ import annotations

from typing import NamedTuple


class Courtesies(NamedTuple):
    """Those of one language: `greetings` open a prompt, `thanks` close it, and `politeness` does either.

    `marked_greetings` and `marked_thanks` are more of them, which count only where a mark sets them off.
    """

    greetings: str
    thanks: str = ""
    politeness: str = ""
    marked_greetings: str = ""
    marked_thanks: str = ""


COURTESIES = {
    "English": Courtesies("hello|hey|hi", "thanks|thank you", "please"),
    "German": Courtesies(
        "hallo(?: zusammen)?|hi|hey|moin|servus|guten (?:tag|morgen|abend)|grüß gott",
        "vielen dank(?: im voraus)?|danke(?: (?:schön|sehr|im voraus))?",
        "bitte",
        marked_greetings="grüezi",
    ),
    "French": Courtesies(
        "bonjour|bonsoir|salut|hello",
        "merci(?: (?:beaucoup|d'avance))?",
        "s'il (?:vous|te) pla[iî]t|svp|stp",
    ),
    "Spanish": Courtesies(
        "hola|buenos días|buenas(?: (?:tardes|noches))?",
        "(?:muchas )?gracias",
        "por favor",
        marked_greetings="buen(?:os|as) (?:días|tardes|noches)",  # the ending is often wrong
    ),
    "Italian": Courtesies("ciao|salve|buongiorno|buonasera", "grazie(?: mille)?", "per (?:favore|piacere|cortesia)"),
    "Portuguese": Courtesies("olá|oi|bom dia|boa (?:tarde|noite)", "(?:muito )?obrigad[oa]", "por favor"),
    "Dutch": Courtesies(
        "hallo|hoi|hey|hi|dag|goede(?:morgen|middag|navond)",
        "(?:alvast )?bedankt|dank (?:je|u)(?: wel)?",
        "alsjeblieft|alstublieft",
    ),
    "Russian": Courtesies(
        "здравствуйте|привет|добрый (?:день|вечер)|доброе утро",
        "спасибо(?: (?:большое|заранее))?|большое спасибо",
        "пожалуйста",
    ),
    "Polish": Courtesies(
        "dzień dobry|cześć|witam|hej",
        "dzięki|dziękuję(?: (?:bardzo|z góry))?",
        "proszę",
        marked_thanks="dzięki (?:bardzo|z góry)",
    ),
    "Arabic": Courtesies(
        "مرحبا|مرحبًا|أهلا|السلام عليكم|صباح الخير|مساء الخير",
        "شكرا(?: (?:جزيلا|لك))?|شكرًا",
        "من فضلك|لو سمحت",
        marked_greetings="salaam",
        marked_thanks="shukran",
    ),
    "Hindi": Courtesies(
        "नमस्ते|नमस्कार",
        "धन्यवाद|शुक्रिया",
        "कृपया",
        marked_greetings="namaste|namaskar",
        marked_thanks="shukriya|dhanyavaad",
    ),
    "Bengali": Courtesies("হ্যালো|নমস্কার", "ধন্যবাদ", "অনুগ্রহ করে"),
    "Bulgarian": Courtesies("здравейте|здравей|добър ден", "благодаря(?: ви)?", "моля"),
    "Catalan": Courtesies("bon dia|bona tarda", "(?:moltes )?gràcies", "si us plau|sisplau"),
    "Croatian": Courtesies("zdravo|dobar dan|dobro jutro|bok|pozdrav", "hvala(?: unapred| puno)?", "molim"),
    "Czech": Courtesies("dobrý den|ahoj", "děkuji(?: moc| předem)?|díky", "prosím"),
    "Danish": Courtesies("hej|god (?:dag|morgen|aften)", "tak(?: på forhånd)?|på forhånd tak"),
    "Estonian": Courtesies("tere"),
    "Finnish": Courtesies("hei|moi|terve|hyvää päivää", "kiitos(?: paljon| etukäteen)?"),
    "Greek": Courtesies("γεια(?: σας| σου)?|καλημέρα|καλησπέρα", "ευχαριστώ(?: πολύ)?", "παρακαλώ"),
    "Hebrew": Courtesies("שלום|היי", "תודה(?: רבה)?", "בבקשה"),
    "Hungarian": Courtesies("üdvözlöm|sziasztok|szia|jó napot(?: kívánok)?", "köszönöm(?: szépen| előre is)?|köszi"),
    "Indonesian": Courtesies(
        "halo|hai|selamat (?:pagi|siang|sore|malam)|assalamualaikum|salam", "terima kasih|makasih", "tolong"
    ),
    "Latvian": Courtesies("labdien"),
    "Lithuanian": Courtesies("labas"),
    "Norwegian": Courtesies("hei|god (?:dag|morgen|kveld)", "takk(?: skal du ha| på forhånd)?"),
    "Persian": Courtesies("بوقت بخیر|سلام|درود", "ممنون|متشکرم|مرسی|با تشکر", "لطفا"),
    "Romanian": Courtesies(
        "bună(?: ziua| seara| dimineața)?|salutare", "mulțumesc(?: mult| anticipat)?|mersi", "vă rog"
    ),
    "Slovak": Courtesies("dobrý deň|ahoj", "ďakujem(?: pekne)?", "prosím"),
    "Swahili": Courtesies("habari|hujambo|jambo", "asante(?: sana)?", "tafadhali"),
    "Swedish": Courtesies("hejsan|hej", "tack(?: så mycket| på förhand)?"),
    "Turkish": Courtesies("merhaba|selam|iyi günler", "teşekkürler|teşekkür ederim|sağol(?:un)?", "lütfen"),
    "Ukrainian": Courtesies("доброго дня|добрий день|вітаю|привіт", "дякую(?: дуже)?", "будь ласка"),
    "Vietnamese": Courtesies("xin chào|chào(?: bạn)?", "cảm ơn(?: bạn)?"),
}

GREETINGS = "|".join([part for one in COURTESIES.values() for part in (one.greetings, one.marked_greetings) if part])
"""Those of all languages that may open a prompt where a mark sets them off."""

CLOSINGS = "|".join(
    [part for one in COURTESIES.values() for part in (one.thanks, one.marked_thanks, one.politeness) if part]
)
"""The thanks and politeness of all languages that may close a prompt where a mark sets them off."""
