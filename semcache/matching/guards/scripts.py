"""The subject of a text in another script than Latin, for embedders that can hardly read it.

An embedder of English knows few words of Arabic and few characters of Chinese: texts that differ in what matters lie
as near to each other as a text to itself. Reads the characters of scripts without spaces (Chinese,
Japanese, Thai), and the words of those with spaces (Arabic, Cyrillic, Devanagari, Hangul, ...), less those that ask.
Knows no grammar and, beside question words and negations, no language.
Invariant: a text in Latin script has no content here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from semcache.matching.light_edits import without_politeness
from semcache.request.text import READINGS, lexicon, vocabulary
from semcache.runtime.scoped_memo import scoped_cache

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005"
_FOREIGN = re.compile("[\u0370-\u1fff\u2c00-\u2dff\u2e80-\u2fff\u3005-\ud7ff\uf900-\ufdff\ufe70-\ufeff]")
_KANA = re.compile("[\u3041-\u30ff]")
_UNITS = re.compile(f"[{_HAN}]|[\u30a1-\u30fa\u30fc]{{2,}}|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_SPACED = re.compile("[\u0370-\u052f\u0531-\u0de9\u10a0-\u10ff\u1100-\u11ff\u1200-\u137f\u1f00-\u1fff\uac00-\ud7a3"
                     "\ufb1d-\ufdff\ufe70-\ufefc]+")  # fmt: skip
_PUNCTUATION = re.compile(
    "[\u037e\u0387\u055a-\u055f\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965]"
)
# Arabic articles and endings of case, which come and go with grammar.
_ARABIC = re.compile("^(?:و|ف|ب|ل)?ال(?=..)|(?<=..)[اةه]$")
# What is far in meaning though a single character: numerals, degrees.
_TELLING = frozenset("一二两三四五六七八九十百千万亿兩萬億半双大小高低长短新旧男女早晚前后内外上下左右")
# "From Beijing to Shanghai"
_FROM_TO = re.compile(
    f"([{_HAN}]{{2}})到([{_HAN}]{{2}})|(?<![{_HAN}\u30a1-\u30fa\u30fc])([{_HAN}\u30a1-\u30fa\u30fc]+)(から|まで)"
)
# Question words, longest first where one holds another.
_CHINESE = (
    ("why", "为什么 为何 为啥 為什麼 為何"),
    ("when", "什么时候 何时 几点 哪一年 哪年 什麼時候 何時"),
    ("who", "什么人 谁 哪位 誰"),
    ("where", "什么地方 哪里 哪儿 在哪 何处 哪裡"),
    ("span", "多长时间 多久 多長時間"),
    ("how", "怎么样 怎么 怎样 如何 咋 怎麼 怎樣"),
    (
        "",
        "什么 哪些 哪个 哪一个 多少 几个 什麼 告诉我 告訴我 请问 請問 我想知道 知道 可以 可不可以 能不能 是不是 有没有"
        " 需要 之间",
    ),
)
_JAPANESE = (
    ("why", "なぜ どうして 何故"),
    ("when", "いつ"),
    ("who", "誰 だれ どなた"),
    ("where", "どこ 何処"),
    ("how", "どうやって 方法 作り方 やり方"),
    ("many", "いくら いくつ"),
    ("span", "何時間 何分 何日 どのくらい どれくらい"),
    ("", "教えて下さい 下さい 教えて 何 知りたい お願い 時 中 必要"),
)  # fmt: skip
_MUST = re.compile("なければ(?:な|い)|なくては|ねばな|必要")
_NOT = re.compile("ない|ません|なし|ずに|ぬ|なく|[不没無无未非别別勿]|最")
_PARTICLES = frozenset(
    "的多了吗呢吧啊么呀是有在和与及或被把给对从到向于以之其这那请您你我他她它们个些一下儿就都也还很能会问間嗎還對給從與這個們"
)
_ASKING = lexicon(
    "why=почему,зачем,чому,لماذا,क्यों,왜,γιατί,למה,מדוע when=когда,коли,متى,कब,언제,πότε,מתי"
    " where=где,куда,де,أين,कहाँ,कहां,어디,어디에,어디에서,어디서,πού,איפה,היכן who=кто,хто,किसने,누가,누구,ποιος,ποια,מי"
    " how=как,як,كيف,कैसे,어떻게,πώς,איך many=сколько,скільки,كم,कितना,कितने,कितनी,얼마,얼마나,몇,πόσο,πόσα,כמה"
    " why=কেন,چرا,защо when=কখন,кога where=কোথায়,کجا,къде who=কে,кой how=কীভাবে,কিভাবে,چطور,چگونه many=কত,چقدر,چند,колко"
)
_NEGATING = vocabulary(
    "не нет без ні немає ليس ليست لا لم لن بدون بلا غير دون नहीं बिना मत 안 못 없이 없는 않는 않은 않고 δεν μη μην χωρίς"
    " לא בלי אין ללא"
)
_LIGHT = vocabulary(
    """
    что какой какая какое какие каков какова это есть ли в во на и для мне можно я ты вы мы из с со у о об по к а но ещё
    пожалуйста скажите подскажите який яка яке які що це є чи та і й до про
    ما هي هو هل في على إلى الى عن أن أي التي الذي و أو يمكنني يمكن من فضلك أنا لي
    है हैं का की के को में से क्या और पर कि था थी थे हो मैं मुझे यह वह कौन सा सी एक लिए जाता
    जाती कृपया बताइए हूँ हूं द्वारा गया गई
    무엇 무엇인가요 뭐 뭐예요 인가요 입니까 이에요 예요 있나요 하나요 그 이 저 좀 수 것 알려주세요 알려줘 말해줘 나요
    되나요 어떤
    τι είναι το η ο οι τα και σε στο στη στην του της να για μου ένα μια
    কী কি হয় এর একটি আমি است را به در از که با برای این آن می‌ какво е се да си за това ли
    מה הוא היא את של על אני האם עם ב ל זה יש איזה איזו
    """
)
_HARD = frozenset(("why", "when", "who", "where", "how", "span", "many"))


class ScriptReading(NamedTuple):
    """`units` are characters or words that say what the text is about, `asks` the types of its questions.

    `order` are the units as they stand in the text.
    """

    units: tuple[str, ...]
    asks: frozenset[str]
    negated: bool
    spaced: bool
    order: tuple[str, ...] = ()


class ScriptDifference(NamedTuple):
    """The subjects of only one and of only the other text, and whether they are apart beyond doubt."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    sure: bool


NOTHING = ScriptReading((), frozenset(), False, False)


@scoped_cache(maxsize=READINGS)
def read(text: str) -> ScriptReading:
    """The reading of `text` in scripts other than Latin; `NOTHING` where it has none."""
    if text.isascii() or _FOREIGN.search(text) is None:
        return NOTHING
    text = without_politeness(text)
    words = _SPACED.findall(_PUNCTUATION.sub(" ", text.lower().replace("ё", "е")))
    asks: set[str] = set()
    if words:
        asks = {_ASKING[word] for word in words if word in _ASKING}
        told = [word for word in words if word not in _ASKING and word not in _LIGHT and word not in _NEGATING]
        order = tuple([_ARABIC.sub("", word) for word in told])
        return ScriptReading(tuple(sorted(set(order))), frozenset(asks), not _NEGATING.isdisjoint(words), True, order)
    ways = ["".join(filter(None, match)) for match in _FROM_TO.findall(text)]
    for kind, phrases in _JAPANESE if _KANA.search(text) is not None else _CHINESE:
        for phrase in phrases.split():
            if phrase in text:
                text = text.replace(phrase, " ")
                asks.add(kind)
    text, obliged = _MUST.subn(" ", text)
    negations = _NOT.findall(text)
    order = tuple([unit for unit in _UNITS.findall(text) if unit not in _PARTICLES])
    units = [*order, *ways, *(["must"] if obliged else [])]
    return ScriptReading(tuple(sorted(units)), frozenset(asks & _HARD), len(negations) % 2 == 1, False, order)


def differing(one: ScriptReading, two: ScriptReading) -> ScriptDifference | None:
    """The difference of two texts; None where they agree."""
    if one.negated != two.negated or (one.asks and two.asks and one.asks.isdisjoint(two.asks)):
        return ScriptDifference(_shown(one, two), _shown(two, one), sure=True)
    if one.spaced or two.spaced:
        left, right = _strange(one.units, two.units), _strange(two.units, one.units)
        sure = bool(left and right)
    else:
        ours, theirs = Counter(one.units), Counter(two.units)
        left, right = tuple((ours - theirs).elements()), tuple((theirs - ours).elements())
        sure = bool(left and right) or len(left + right) > 1 or not _TELLING.isdisjoint(left + right)
    if left or right:
        return ScriptDifference(left, right, sure)
    # The embedder sees no order in these scripts: "dogs are smarter than cats" is near "cats are smarter than dogs".
    if "how" in one.asks & two.asks and _moved(one.order, two.order):
        return None
    return ScriptDifference(one.order, two.order, sure=True) if _reordered(one.order, two.order) else None


def _moved(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return True if what stands at the end of one text stands before the rest in the other, as an object may."""
    return len(one) == len(two) and any(one[at:] + one[:at] == two for at in range(len(one)))


def _reordered(one: Sequence[str], two: Sequence[str]) -> bool:
    """Return True if the words that two texts share stand in another order."""
    left = dict(enumerate(two))
    last = -1
    for word in one:
        at = next((at for at, other in left.items() if _alike(word, other)), None)
        if at is None:
            continue
        if at < last:
            return True
        del left[at]
        last = at
    return False


def _strange(words: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """The words that no other word shares the better part of, as forms of one word do."""
    return tuple([word for word in words if not any(_alike(word, other) for other in others)])


def _alike(one: str, two: str) -> bool:
    if len(one) > len(two):
        one, two = two, one
    if one in two:
        return len(one) > 1 or one == two
    same = 0
    while same < len(one) and one[same] == two[same]:
        same += 1
    return same >= 3 and 3 * same >= 2 * len(one)


def _shown(one: ScriptReading, two: ScriptReading) -> tuple[str, ...]:
    told = [unit for unit in one.units if unit not in two.units]
    return (*sorted(one.asks - two.asks), *told, *(["not"] if one.negated else []))
