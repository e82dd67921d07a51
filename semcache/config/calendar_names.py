"""The names of months and weekdays, in full and short, for all code that reads dates.

Data alone, in lower case. Invariant: the lists are complete; code that reads prose has to leave out names that are also
other words ("may", "sat", "sun").
"""

from __future__ import annotations

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
SHORT_MONTHS = {month[:3]: month for month in MONTHS if month != "may"} | {"sept": "september"}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT_WEEKDAYS = {day[:3]: day for day in WEEKDAYS} | {"tues": "tuesday", "thurs": "thursday"}
