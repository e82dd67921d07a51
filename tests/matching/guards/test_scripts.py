"""Texts in scripts that the embedder hardly reads: what they are about has to be the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.matching.guards import scripts
from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("怎么做番茄炒蛋？", "番茄炒蛋怎么做？", NOTHING),
    ("怎么做番茄炒蛋？", "请问如何做番茄炒蛋？", NOTHING),
    ("怎么做番茄炒蛋？", "怎么做韭菜炒蛋？", VETO),
    ("哪些国家使用欧元？", "哪些国家不使用欧元？", VETO),
    ("长城有多长？", "长城有多高？", VETO),
    ("长城是什么时候建的？", "长城是谁建的？", VETO),
    ("从北京到上海要多久？", "从上海到北京要多久？", VETO),
    ("卵を使うケーキ", "卵を使わないケーキ", VETO),
    ("誰が源氏物語を書きましたか？", "源氏物語を書いたのは誰ですか？", NOTHING),
    ("源氏物語を書いたのは誰ですか？", "源氏物語を書いたのはいつですか？", VETO),
    ("東京から大阪までいくらですか？", "大阪から東京までいくらですか？", VETO),
    ("水を飲んでもいいですか？", "水を飲まなければなりませんか？", VETO),
    ("ما هي عاصمة المغرب؟", "ما عاصمة المغرب؟", NOTHING),
    ("ما هي عاصمة المغرب؟", "ما هي عملة المغرب؟", VETO),
    ("كيف أصنع خبزا بدون خميرة؟", "كيف أصنع الخبز بدون خميرة؟", NOTHING),
    ("भारत की राजधानी क्या है?", "भारत की राजधानी कौन सी है?", NOTHING),
    ("भारत की राजधानी क्या है?", "नेपाल की राजधानी क्या है?", VETO),
    ("Какая столица Канады?", "Какая столица Кении?", VETO),
    ("Сколько стоит билет в метро?", "Сколько стоит билет в Москве в метро?", DOUBT),
    ("Можно ли беременным кофе?", "Беременным можно кофе?", NOTHING),
    ("ลิงกินอะไร", "ช้างกินอะไร", VETO),
    ("한국의 수도는 어디인가요?", "한국의 수도는?", DOUBT),
    ("猫比狗聪明吗", "狗比猫聪明吗", VETO),
    ("谁打败了曹操", "曹操打败了谁", VETO),
    ("英语翻译成法语的软件", "法语翻译成英语的软件", VETO),
    ("英语翻译成法语的软件", "请问英语翻译成法语的软件", NOTHING),
    ("把美元换成人民币", "把人民币换成美元", VETO),
    ("ドルを円に換算する方法", "円をドルに換算する方法", VETO),
    ("猫は犬より賢いですか", "犬は猫より賢いですか", VETO),
    ("서울에서 부산까지 기차", "부산에서 서울까지 기차", VETO),
    ("Поезд из Москвы в Казань", "Поезд из Казани в Москву", VETO),
    ("Как приготовить борщ", "Борщ как приготовить?", NOTHING),
    ("Wie hoch ist der Mount Everest?", "Wie alt ist der Mount Everest?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_scripts(query: str, cached: str, expected: str) -> None:
    assert verdict("entities", query, cached) == expected


@given(st.text("abcdé ?!.,'123€", max_size=30))
def test_latin_text_says_nothing_here(text: str) -> None:
    assert scripts.read(text) is scripts.NOTHING


LETTERS = st.text("长城多少不有кт мыأن هلकमल 가나다いつ", max_size=12)


@given(LETTERS, LETTERS)
def test_a_text_agrees_with_itself_and_findings_are_symmetric(one: str, two: str) -> None:
    left, right = scripts.read(one), scripts.read(two)
    assert scripts.differing(left, scripts.read(one)) is None
    forth, back = scripts.differing(left, right), scripts.differing(right, left)
    assert (forth is None) == (back is None)
    assert forth is None or (back is not None and forth == (back[1], back[0], back[2]))
