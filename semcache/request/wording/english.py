"""English or not, told by letters and function words.

Invariant: a text in another script, or with more function words of another language than of English, is not English.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

FUNCTION_WORDS = vocabulary(
    """
    the a an of to in is are was were do does did how what what's why where where's when which who who's whose can
    could would should will shall may might must i i'm i'd my me you your he she his her they their we our us for with
    on and or not be been this that these those it its it's from by at have has had please tell there about into than
    if as so but no don't can't doesn't isn't won't whats hows give show explain write list make get find help vs plz
    pls u ur tho thx hi hello hey thanks dont cant between through over under after before without per w/ w/o need
    want let's let best steps way difference compare
    """
)
_FOREIGN = (
    vocabulary(
        """
    der die das und ist wie ein eine einen nicht den dem ich sie wir mit auf von zu warum wo wann welche kann
    le la les un une est et que qui quoi comment pourquoi dans pour sur avec je tu nous vous des du au aux ce cette
    quel quelle el los las una es y como por para con qué cómo cuál dónde del en mi su il lo gli che di e per con come
    perché dove sono della nel o os um uma é com não qual onde de het een van ik niet hoe wat waar voor och att det
    som är hur vad på av jag og er hvad hvordan på til ikke jeg bir ve bu için nasıl nedir ne w na jak jest co z się
    où puis-je peux-tu pouvez-vous est-ce c'est você é posso minha meu quais puedo cuánto cuál perché dov'è cos'è
    """
    )
    - FUNCTION_WORDS
    - vocabulary("die e o y co per con come w z ne na das den des lo sur son")
)


def is_english(text: str, words: list[str]) -> bool | None:
    """Return True for English, False for another language, None where a few words tell neither; `words` is lower."""
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        foreign = sum(char.isalpha() and not "\ue000" <= char <= "\uf8ff" for char in text if char > "\x7f")
        if foreign * 8 > letters:
            return False
    known = sum(map(FUNCTION_WORDS.__contains__, words))
    other = sum(map(_FOREIGN.__contains__, words))
    if other and other >= known:
        return False
    if known:
        return known * 12 >= len(words)
    return None if len(words) < 9 else False
