"""Abbreviations that stand for one thing only.

Invariant: one that has two readings in questions ("app", "ML", "r", "temp") is no entry.
"""

from __future__ import annotations

import re

ABBREVIATIONS: dict[str, str] = {
    "info": "information",
    "pls": "please",
    "plz": "please",
    "u": "you",
    "ur": "your",
    "thx": "thanks",
    "thnx": "thanks",
    "tnx": "thanks",
    "btw": "by the way",
    "ppl": "people",
    "msg": "message",
    "msgs": "messages",
    "approx": "approximately",
    "vs": "versus",
    "dept": "department",
    "depts": "departments",
    "govt": "government",
    "govts": "governments",
    "asap": "as soon as possible",
    "fyi": "for your information",
    "cuz": "because",
    "coz": "because",
    "tmrw": "tomorrow",
    "tmr": "tomorrow",
    "yrs": "years",
    "bday": "birthday",
    "mgmt": "management",
    "acct": "account",
    "qty": "quantity",
    "config": "configuration",
    "configs": "configurations",
    "fridge": "refrigerator",
    "js": "javascript",
    "db": "database",
    "dbs": "databases",
    "postgres": "postgresql",
    "nyc": "new york city",
    "uk": "united kingdom",
    "usa": "US",
    "eu": "european union",
    "ai": "artificial intelligence",
    "tv": "television",
    "tvs": "televisions",
    "ceo": "chief executive officer",
    "diy": "do it yourself",
    "bmi": "body mass index",
    "gdp": "gross domestic product",
    "dob": "date of birth",
    "faqs": "frequently asked questions",
    "faq": "frequently asked questions",
    "hq": "headquarters",
    "avg": "average",
    "incl": "including",
    "etc": "and so on",
    "alright": "all right",
}

_DOTTED = ("approx", "vs", "dept", "govt", "etc")
# Each pattern stands behind the letters that a text in lower case holds if it matches.
_MARKED: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("w/o ", re.compile(r"(?<!\S)w/o(?= \S)", re.I), "without"),
    ("w/", re.compile(r"(?<!\S)w/ ?(?=\w)(?!o\b)", re.I), "with "),
    ("b/c ", re.compile(r"(?<!\S)b/c(?= \S)", re.I), "because"),
    ("e.", re.compile(r"(?<![\w.])e\. ?g\.?,?(?= \S)", re.I), "for example"),
    ("i.", re.compile(r"(?<![\w.])i\. ?e\.?,?(?= \S)", re.I), "that is"),
    ("eg", re.compile(r"(?<![\w.])eg,?(?= \S)"), "for example"),
    *((f"{word}.", re.compile(rf"\b({word})\.(?=[\s,]|$)", re.I), r"\1") for word in _DOTTED),
    ("u.s", re.compile(r"(?<![\w.])U\.S(?:\.(?:A\.?)?)?(?![\w.])"), "US"),
    ("u.k", re.compile(r"(?<![\w.])U\.K\.?(?![\w.])"), "UK"),
    ("e.u", re.compile(r"(?<![\w.])E\.U\.?(?![\w.])"), "EU"),
    ("united states", re.compile(r"\bunited states(?: of america)?\b", re.I), "US"),
)


def spelled_out(text: str) -> str:
    """The text with the abbreviations that hold a mark written out."""
    lower = text.lower()
    if "." not in lower and "/" not in lower and "eg" not in lower and "united" not in lower:
        return text
    for cue, pattern, plain in _MARKED:
        if cue in lower:
            text = pattern.sub(plain, text)
    return text
