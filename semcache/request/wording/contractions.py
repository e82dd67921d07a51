"""Contractions and the words they stand for.

Invariant: "not" is never lost, and "'s" is opened only where it can but be "is".
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_NEGATED = vocabulary(
    """
    do does did is are was were have has had would should could must might need
    """
)
_PRONOUNS = {
    "i": "am",
    "you": "are",
    "we": "are",
    "they": "are",
    "he": "",
    "she": "",
    "it": "",
    "that": "",
    "there": "",
}
_ASKED = ("what", "who", "where", "when", "how", "that", "here", "there", "it", "he", "she", "why")
CONTRACTIONS: dict[str, str] = {
    **{f"{verb}n't": f"{verb} not" for verb in _NEGATED},
    **{f"{verb}nt": f"{verb} not" for verb in _NEGATED if verb not in ("is", "need", "must", "might")},
    "isnt": "is not",
    "can't": "can not",
    "cant": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "shouldnt": "should not",
    **{f"{who}'ll": f"{who} will" for who in (*_PRONOUNS, "what", "who")},
    **{f"{who}'ve": f"{who} have" for who in ("i", "you", "we", "they", "would", "could", "should", "might", "must")},
    **{f"{who}'{be[1:]}": f"{who} {be}" for who, be in _PRONOUNS.items() if be},
    "what're": "what are",
    "where're": "where are",
    "how're": "how are",
    **{f"{who}'ve": f"{who} have" for who in ("where", "what", "who", "how", "why", "there")},
    "let's": "let us",
    "im": "i am",
    "ive": "i have",
    "youre": "you are",
    "theyre": "they are",
    "thats": "that is",
    "whats": "what is",
    "hows": "how is",
    "wheres": "where is",
    "whos": "who is",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "have to",
    "gimme": "give me",
    "lemme": "let me",
    "kinda": "kind of",
    "dunno": "do not know",
    "'cause": "because",
    "y'all": "you all",
}
OPENED: dict[str, str] = {
    **{f"{word}'s": f"{word} is" for word in _ASKED},
    **{f"{who}'d": f"{who} would" for who in ("i", "you", "we", "they", "he", "she", "it")},
}
_WISHES = vocabulary("like love prefer rather be need have want recommend say suggest appreciate hate")
_HAS = vocabulary("been got gotten gone become done had come begun grown fallen risen taken given made left lost won")


def opened(word: str, following: str) -> str | None:
    """The words that a contraction in lower case stands for before `following`; None for another word."""
    if word.endswith("'d"):
        return f"{word[:-2]} would" if following in _WISHES else None
    if (plain := CONTRACTIONS.get(word)) is not None:
        return plain
    if (plain := OPENED.get(word)) is None or following in _HAS or following.endswith("ed"):
        return None
    return plain
