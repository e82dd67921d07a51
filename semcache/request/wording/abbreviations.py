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

_MARKED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<!\S)w/o(?= \S)", re.I), "without"),
    (re.compile(r"(?<!\S)w/ ?(?=\w)", re.I), "with "),
    (re.compile(r"(?<!\S)b/c(?= \S)", re.I), "because"),
    (re.compile(r"(?<!\w)e\. ?g\.?,?(?= \S)", re.I), "for example"),
    (re.compile(r"(?<!\w)i\. ?e\.?,?(?= \S)", re.I), "that is"),
    (re.compile(r"(?<![\w.])eg,?(?= \S)"), "for example"),
    (re.compile(r"\b(approx|vs|dept|govt|etc)\.(?=[\s,]|$)", re.I), r"\1"),
    (re.compile(r"(?<![\w.])U\. ?S\.(?: ?A\.?)?(?![\w])|(?<![\w.])U\.S(?![\w.])"), "US"),
    (re.compile(r"(?<![\w.])U\. ?K\.(?!\w)"), "UK"),
    (re.compile(r"(?<![\w.])E\. ?U\.(?!\w)"), "EU"),
    (re.compile(r"\bunited states(?: of america)?\b", re.I), "US"),
)
_CUE = re.compile(r"/|\.|\beg\b|united states", re.I)


def spelled_out(text: str) -> str:
    """The text with the abbreviations that hold a mark written out."""
    if not _CUE.search(text):
        return text
    for pattern, plain in _MARKED:
        text = pattern.sub(plain, text)
    return text
