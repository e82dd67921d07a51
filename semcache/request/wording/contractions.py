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
_ASKED = (
    "what", "who",
        "where", "when", "how", "that", "here", "there", "it", "he", "she", "why", "which", "this", "everything",
    "everyone", "someone", "something", "anyone", "nothing", "everybody", "somebody",
)  # fmt: skip
# Behind a noun and before one of these "'s" is no genitive.
_PREDICATES = vocabulary(
    """
    a an the not so too very always never still already really going getting being doing making having turning
    running coming
    becoming leaving working looking feeling acting losing trying saying asking telling using taking falling rising
    crying
    barking leaking dying growing moving calling playing sleeping flashing beeping blinking crashing freezing
    overheating
    dripping squeaking freaking wilting rotting browning yellowing drooping in on at under down up off out dead
    broken empty
    full late early wrong right stuck slow fast cold hot warm red green yellow dirty gone sick ill pregnant
    """
)
CONTRACTIONS: dict[str, str] = {
    **{f"{verb}n't": f"{verb} not" for verb in _NEGATED},
    **{f"{verb}nt": f"{verb} not" for verb in _NEGATED if verb not in ("is", "need", "must", "might")},
    "wont": "will not",
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
    "wats": "what is",
    "wots": "what is",
    "hows": "how is",
    "wheres": "where is",
    "whos": "who is",
    "needn't": "need not",
    "neednt": "need not",
    "oughtn't": "ought not",
    "mustnt": "must not",
    "mightnt": "might not",
    "heres": "here is",
    "theres": "there is",
    "hes": "he is",
    "shes": "she is",
    "itll": "it will",
    "youll": "you will",
    "theyll": "they will",
    "youve": "you have",
    "theyve": "they have",
    "weve": "we have",
    "wouldve": "would have",
    "couldve": "could have",
    "shouldve": "should have",
    "whatre": "what are",
    "whys": "why is",
    "whens": "when is",
    "c'mon": "come on",
    "y'know": "you know",
    "'em": "them",
    "'til": "until",
    "o'er": "over",
    "'twas": "it was",
    "d'you": "do you",
    "whatcha": "what are you",
    "how'll": "how will",
    "how'd": "how did",
    "where'd": "where did",
    "why'd": "why did",
    "what'd": "what did",
    "when'd": "when did",
    "who'll": "who will",
    "where'll": "where will",
    "that'll": "that will",
    "this'll": "this will",
    "there'll": "there will",
    "there'd": "there would",
    "may've": "may have",
    "must've": "must have",
    "might've": "might have",
    "why're": "why are",
    "who're": "who are",
    "when're": "when are",
    "there're": "there are",
    "these're": "these are",
    "those're": "those are",
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
    **{f"{who}'d": f"{who} would" for who in ("who", "that", "it", "i", "you", "we", "they", "he", "she", "it")},
}
_WISHES = vocabulary("like love prefer rather be need have want recommend say suggest appreciate hate")
_PERFECT = vocabulary("been got gotten become begun grown fallen risen happened")
_HAS = vocabulary("been got gotten gone become done had come begun grown fallen risen taken given made left lost won")


def opened(word: str, following: str) -> str | None:
    """The words that a contraction in lower case stands for before `following`; None for another word."""
    if word.endswith("'d") and word in OPENED:
        if following == "better":
            return f"{word[:-2]} had"
        had = (
            following in _HAS
            or following in ("never", "always", "just")
            or (following.endswith("ed") and not following.endswith("eed"))
        )
        return f"{word[:-2]} {'had' if had else 'would'}" if following else None
    if (plain := CONTRACTIONS.get(word)) is not None:
        return plain
    if (plain := OPENED.get(word)) is None:
        if word.endswith("'s") and following in _PREDICATES and word.removesuffix("'s") not in ("let", "one"):
            return word.removesuffix("'s") + " is"
        return None
    if following in _PERFECT:
        return f"{word[:-2]} has"
    return None if following in _HAS or following.endswith("ed") else plain
