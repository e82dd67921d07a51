"""Named parts of system prompts: the current date, the current time, ids of a request.

Pure. Invariant: a date, a time or an id counts only after a word that says it is of the moment or of the request, and
the text before it is in the group `kept`. The date of a law, opening hours and a version number stay.
"""

from __future__ import annotations

import re

from semcache.config.calendar_names import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS

_MONTH = rf"(?:{'|'.join((*MONTHS, *SHORT_MONTHS))})\b\.?"
_WEEKDAY = rf"(?:{'|'.join((*WEEKDAYS, *SHORT_WEEKDAYS))})\b"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?\b"
_DATE = (
    rf"(?:{_WEEKDAY},?[ \t]+(?:the[ \t]+)?)?(?:(?:19|20)\d\d[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](?:(?:19|20)\d\d|\d\d)(?!\d)"
    rf"|{_MONTH}[ \t]+{_DAY}(?:,?[ \t]+\d{{4}}\b)?|{_DAY}[ \t]+(?:of[ \t]+)?{_MONTH}(?:,?[ \t]+\d{{4}}\b)?)"
)
_ZONE = r"(?:[ \t]?(?:[ap]\.m\.|(?:z|utc|gmt|[ecmp][sd]?t|ces?t|bst|ist|[ap]m)\b)|[ \t]?[+-]\d{2}:?\d{2}\b)"
_CLOCK = rf"(?:T?(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?!\d){_ZONE}{{0,3}}|1\d{{9}}(?:\d{{3}})?\b)"
_GAP = (
    r"(?:[ \t,:;=*_()\[\].\"'-]"
    r"|\b(?:is|it|at|and|date|time|the|local|utc|gmt|now|day|on|datetime|timestamp|server|user's)\b"
    r"|(?:19|20)\d\d-\d\d-\d\d(?=T)){0,24}?"
)
_OF_NOW = (
    r"(?:\b(?:today(?:'s)?|current(?:ly|[ _-]?date(?:[ _-]?time)?|[ _-]?time)?|now)\b"
    r"|^[ \t>*#_\"-]*(?:date|date ?time|time|time ?stamp)(?=[*_\"]*[ \t]*[:=]))"
)
_REQUEST = r"\b(?:request|session|conversation|trace|correlation|run|thread|message|chat)[ \t_-]?(?:id|uuid)\b"
NAMED = {
    "date": re.compile(rf"(?im)(?P<kept>{_OF_NOW}{_GAP})(?<![\w/])(?:{_DATE}|{_WEEKDAY}(?!,?[ \t]+\w+[ \t]+\d))"),
    "time": re.compile(rf"(?im)(?P<kept>(?:{_OF_NOW}|\btime (?:is|now)\b){_GAP})(?<![\d:]){_CLOCK}"),
    "request_id": re.compile(rf"(?im)(?P<kept>{_REQUEST}[ \t:=#*_\"'`]{{1,8}}(?:is[ \t]+)?)(?=[\w-]*\d)[\w-]{{4,80}}"),
}
