"""The tone of a prompt that asks for an answer in jest, or for the opposite of what it says.

Knows the words that say so. Invariant: a text that speaks about jokes, and asks for none, is no jest.
"""

from __future__ import annotations

import re

_JEST = re.compile(
    r"""
    ^\W*(?:jokingly|ironically|sarcastically|sarcasm|satirically|in\ jest|as\ a\ joke|just\ for\ fun|hypothetically
        |opposite\ day|in\ bizarro\ world|wrong\ answers?\ only|pretend\w*|roleplay\w*|lol|parody)\b\W*(?=\w)
    | (?:^|\s|\()/?(?:/s|/j|/jk|/sarcasm|/sarcastic|/joking|/irony|/lh|/hj|jk|j/k|just\ kidding|only\ joking|not\ really
        |or\ not|lol|lmao|rofl|haha\w*|wink\ wink|wrong\ answers?\ only|opposite\ day|in\ opposite\ land)\W*$
    | \b(?:answer|reply|respond)\b[^.?!\n]{0,30}\b
        (?:the\ (?:opposite|reverse)\ of|wrongly|incorrectly|falsely|untruth\w*)\b
    | \bs\W{0,2}arcasm\b|\b(?:the\ opposite|be\ sarcastic|answer\ wrongly|lie\ to\ me)\W*$
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_jest(text: str) -> bool:
    """Return True if a prompt says that it is not meant as it stands."""
    return _JEST.search(text) is not None
