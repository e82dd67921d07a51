"""Languages and programs in which a request is one for code: "create a list of integers in Python"."""

from __future__ import annotations

import re

_NAMES = (
    r"(?:bash|c|c#|c\+\+|clojure|css|dart|django|elixir|excel|f#|go|golang|google sheets|haskell|html|java|javascript"
    r"|jquery|julia|kotlin|latex|linux|lua|matlab|mongodb|mysql|node|numpy|pandas|perl|php|postgres|postgresql|powershell"
    r"|python ?[23]?|r|react|ruby|rust|sas|scala|shell|sql|sqlite|stata|swift|terraform|typescript|vba|vue|zsh)"
)
_WITHIN = re.compile(rf"\b(?:in|on|using|with) (?:a |an |the )?{_NAMES}(?![\w+#])", re.IGNORECASE)


def names_program(text: str) -> bool:
    """Return True for a text that says in which language or program it is to be done."""
    return _WITHIN.search(text) is not None
