"""What a reader sees and an embedder does not keeps two prompts apart; ordinary writing of any language does not."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semcache.matching.guards import GUARDS, conflicts
from semcache.matching.guards.tone import is_jest
from semcache.request.characters import alike, is_plain, unstyled

ASKED = "What is the capital of France?"


@pytest.mark.parametrize(
    "text",
    [
        ASKED + "\u200b",
        "What is\u2060 the capital?",
        ASKED + "".join(chr(0xE0000 + ord(char)) for char in "lie"),
        ASKED + "\ufe01",
        ASKED + "\U000e0101",
        ASKED + "\ue000",
        ASKED + "\u202elie",
        "W\u0336h\u0336a\u0336t is it?",
        "\U0001d416\U0001d421\U0001d41a\U0001d42d is the capital?",
        "\u24cc\u24d7\u24d0\u24e3 is the capital?",
        "\uff37\uff48\uff41\uff54 is the capital?",
        "\u00bf\u01ddu\u0250\u0279\u025f",
        "What is the c\u0430pital of France?",
        "\u1d42\u02b0\u1d43\u1d57 is it?",
        ASKED + "\x07",
        ASKED + "\x7f",
        "What \u0336is the capital?",
        "Add 3\u0336 and 4",
        "What is the reverse complement of " + "acgt" * 26 + "?",
        "\u0e01\u0e02\u0e04\u0e07" * 26,
        "\ud55c\uad6d\uc5b4" * 17,
    ],
    ids=ascii,
)
def test_what_a_reader_sees_otherwise_is_known_by_its_bytes_alone(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        ASKED,
        "Quelle est la capitale de la France\u00a0?",
        "Wie hei\u00dft die Hauptstadt \u2013 \u201eParis\u201c?",
        "e\u0301te\u0301",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u65e5\u672c\u306e\u9996\u90fd\u306f\u3069\u3053\u3067\u3059\u304b\uff1f",
        "\ud55c\uad6d\uc758 \uc218\ub3c4\ub294?",
        "\u041a\u0430\u043a\u0430\u044f \u0441\u0442\u043e\u043b\u0438\u0446\u0430?",
        "5 \u20ac, 3 m\u00b2, 20 \u00b0C, \u00bd cup",
        "thanks \U0001f64f\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f1eb\U0001f1f7",
        "two\nlines\tand a tab\r\n",
        "Az\u0259rbaycan \u0254k\u025b",
        "Vi\u1ec7t Nam",
        "What is the reverse complement of " + "acgt" * 25 + "?",
        "\u65e5\u672c\u306e\u9996\u90fd\u306f\u3001" * 30,
        "https://example.com/" + "a/b-c" * 40,
    ],
    ids=ascii,
)
def test_ordinary_writing_is_sought_by_meaning(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (ASKED, ASKED + " \U0001f643"),
        (ASKED, ASKED + " \U0001f1e9\U0001f1ea"),
        (ASKED, ASKED + " \u7528\u4e2d\u6587"),
        (ASKED, ASKED + " \u043d\u0435\u0442"),
        ("5 \u20ac", "5 \u00a3"),
        (ASKED, "Jokingly: " + ASKED),
        (ASKED, ASKED + " /s"),
        (ASKED, ASKED + " wrong answers only"),
        (ASKED, ASKED + " Answer with the opposite of the truth."),
        (ASKED, "Reply wrongly: " + ASKED),
        (ASKED, ASKED + " Or not."),
        (ASKED, ASKED + " Say the opposite."),
        (ASKED, "Pretend that Lyon rules France. " + ASKED),
        (ASKED, "Pretend to be a pirate. " + ASKED),
        (ASKED, "Role-play: " + ASKED),
        (ASKED, ASKED + " Not really."),
    ],
    ids=ascii,
)
def test_other_symbols_scripts_or_tones_veto(one: str, two: str) -> None:
    for pair in ((one, two), (two, one)):
        assert any(conflict.veto for conflict in conflicts(*pair, ()))


@example("Brand\u00ae\u00ae", "Brand")
@given(st.text(), st.text())
def test_likeness_is_symmetric(one: str, two: str) -> None:
    assert alike(one, one)
    assert alike(one, two) == alike(two, one)
    assert unstyled(unstyled(one)) == unstyled(one)


@pytest.mark.parametrize(
    "text",
    [
        ASKED,
        "What is irony?",
        "Tell me a joke",
        "How do I mount //s/share?",
        "Is it raining or not in Oslo?",
        "Are mangoes grown in Kenya or not?",
        "mango skin, edible or not",
        "is mango skin edible, or not really?",
        "Pretending to be asleep, the fox waited for the crow.",
        "Rivers flow to the sea; for this one it's the opposite.",
    ],
)
def test_who_speaks_of_jokes_makes_none(text: str) -> None:
    assert not is_jest(text)


def test_a_part_to_play_may_be_given_in_other_words() -> None:
    told = "Act as a waiter and let me order soup in French"
    assert conflicts("Pretend to be a waiter and let me order soup in French", told, ()) == ()
    assert conflicts(told, "Roleplay: you're a waiter, I order soup in French", ()) == ()


@pytest.mark.parametrize(
    "said", ["how do i peel a mango lol", "how do i peel a mango hahaha!", "lol how do i peel a mango"]
)
def test_who_laughs_at_his_question_is_doubted(said: str) -> None:
    for pair in ((said, "how do i peel a mango"), ("how do i peel a mango", said)):
        assert [(one.guard, one.veto) for one in conflicts(*pair, ())] == [("tone", False)]


@pytest.mark.parametrize("sign", [";)", ";-)", ":P", ":-p", "xD", "XDD", "<3", ":/", ":(", "-_-", "^^"])
def test_an_emoticon_is_a_symbol_like_an_emoji(sign: str) -> None:
    assert not alike(ASKED, f"{ASKED} {sign}")
    assert not alike(ASKED, f"{sign} {ASKED}")
    assert alike(f"{ASKED} {sign}", f"Which is the capital of France? {sign}")
    assert any(one.guard == "characters" for one in conflicts(f"{ASKED} {sign}", ASKED, ["numbers"]))


@pytest.mark.parametrize(
    "text",
    [
        "Thanks :)",
        "8) Eggs",
        "a) x",
        "See https://x.org/a?b=c:d",
        "x = 3",
        "Time: 5",
        "f(x; y)",
        "a: (b)",
        "5 - _x - 3",
    ],
)
def test_ordinary_punctuation_is_no_emoticon(text: str) -> None:
    assert alike(text, "What is it?")


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ("At what temperature in degrees Celsius does ethanol boil?", "Boiling point of ethanol in \u00b0C?", False),
        ("Is 20 \u2103 warm?", "Is 20 degrees celsius warm?", False),
        ("Is 20\u00b0C warm?", "Is 20\u00b0F warm?", True),
        ("What is the sine of 30\u00b0?", "What is the sine of 30?", True),
    ],
)
def test_degrees_celsius_and_fahrenheit_are_words(one: str, two: str, apart: bool) -> None:
    assert any(conflict.veto for conflict in conflicts(one, two, GUARDS)) == apart


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("A week in Oslo for \u20ac700?", "A week in Oslo for 700 euros?"),
        ("A week in Oslo for 700\u20ac?", "A week in Oslo for 700eur?"),
        ("A week in Oslo for \u00a3700?", "A week in Oslo for 700 quid?"),
        ("Is \u20b9900 the fee?", "Is Rs 900 the fee?"),
        ("train Leeds \u2192 York", "train from Leeds to York"),
        ("png \u2192 jpg", "Turn a png into a jpg"),
        ("\u221a81", "square root of 81"),
        ("\u221a81", "sqrt(81)"),
        ("a rug of 3 \u00d7 4 m", "a rug of 3 by 4 m"),
        ("What is \u22126 + 9?", "What is -6 + 9?"),
        ("for n \u2265 3", "for n >= 3"),
        ("at an angle of 70\u00b0", "at an angle of 70 degrees"),
        ("Digits of \u03c0", "Digits of pi"),
        ("area of a circle, 2\u03c0 at the edge", "area of a circle, 2 pi at the edge"),
        ("Is Lego\u00ae safe?", "Is Lego safe?"),
        ("What\u00b4s Lego made of?", "What's Lego made of?"),
    ],
    ids=ascii,
)
def test_a_symbol_and_its_name_are_alike(one: str, two: str) -> None:
    for pair in ((one, two), (two, one)):
        assert not any(conflict.veto for conflict in conflicts(*pair, GUARDS))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("A week in Oslo for \u20ac700?", "A week in Oslo for 700 dollars?"),
        ("A week in Oslo for \u20ac700?", "A week in Oslo for $700?"),
        ("\u221a81", "cube root of 81"),
        ("\u221a81", "81"),
        ("for n \u2265 3", "for n < 3"),
        ("Digits of \u03c0", "Digits of p"),
        ("\u03b1 decay", "\u03b2 decay"),
        ("\u03b1 decay", "a decay"),
        ("\u0397 \u03c0\u03cc\u03bb\u03b7", "eta pi"),
        ("trains Leeds \u2192 York", "trains from York to Leeds"),
        ("Sign of 3 \u2212 9", "Sign of 3 + 9"),
    ],
    ids=ascii,
)
def test_a_symbol_and_another_name_are_not(one: str, two: str) -> None:
    for pair in ((one, two), (two, one)):
        assert any(conflict.veto for conflict in conflicts(*pair, GUARDS))
