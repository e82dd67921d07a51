"""A calculation asked for in other words is the same calculation; another one, or more than a result, is another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.request.wording import ALL, Edit, canonical
from semcache.request.wording.calculations import calculation
from semcache.request.wording.expressions import expression

SAME = [
    [
        "What is 15% of 240?",
        "calculate 15 percent of 240",
        "Can you work out 15 per cent of 240 for me, please?",
        "15% of 240 = ?",
    ],
    ["12 x 7", "What's 12 multiplied by 7?", "multiply 12 by 7", "12\u00d77=", "compute 12*7", "what is (12 * 7)?"],
    ["subtract 12 from 30", "30 minus 12", "what is 30 \u2212 12?", "take 12 away from 30"],
    ["what is 144 divided by 12", "Calculate 144/12.", "144 \u00f7 12", "divide 144 by 12"],
    ["square root of 144", "sqrt(144)", "\u221a144", "find the square root of 144", "hi, what's sqrt 144?"],
    ["What is 2 to the power of 10?", "2^10", "2**10", "evaluate 2 raised to the power of 10"],
    ["what is 7 squared", "7\u00b2", "7^2", "calculate 7 ^ 2"],
    [
        "solve 2x+3=11",
        "Find x if 2x + 3 = 11",
        "If 2x + 3 = 11, what is x?",
        "Solve for x: 2x + 3 = 11",
        "What value of x satisfies 2x + 3 = 11?",
        "2x + 3 = 11, find the value of x",
    ],
    [
        "differentiate 3x^2 - 2x",
        "What is the derivative of 3x\u00b2 - 2x with respect to x?",
        "d/dx (3x^2-2x)",
        "derivative of f(x) = 3x^2 - 2x",
    ],
    ["integrate x^2", "find the integral of x^2 dx", "What is the indefinite integral of x\u00b2?"],
    ["\u222b x^2 dx from 0 to 1", "Evaluate the integral of x^2 between 0 and 1"],
    [
        "LCM of 12 and 18",
        "What's the least common multiple of 18 and 12?",
        "find the lowest common multiple (LCM) of 12, 18",
    ],
    ["gcd of 12, 18 and 30", "What is the greatest common factor of 30, 18 and 12?"],
    ["Convert 3/8 to a decimal", "What's three eighths as a decimal number?", "express 3/8 in decimal form"],
    ["what is 42 in binary", "convert 42 into binary"],
    ["Factorise x^2-5x+6", "factor the polynomial x\u00b2 - 5x + 6"],
    ["simplify 12/16", "Reduce 12 / 16 to its lowest terms."],
]
SAME += [
    ["What is the definite integral of 6x^2 from 0 to 2?", "integrate 6x^2 dx from 0 to 2"],
    ["solve x^2 - 5x + 6 = 0", "What are the roots of x^2 - 5x + 6 = 0?"],
    ["average of 4, 8, 15 and 21", "what is the mean of 21, 4, 15, 8"],
    ["log base 2 of 64", "What is log2(64)?"],
    ["What is .5 times 12?", "0.50 x 12"],
    ["What is 25 + 17?", "17 + 25", "how much is 17 plus 25?"],
    ["How much is 12 times 25?", "25 * 12 =", "what is 25 x 12"],
    ["3 * 4 + 2", "2 + 4 * 3", "what is 4 times 3 plus 2"],
    ["calculate 7!", "7 factorial", "what is the factorial of 7"],
]
OTHERS = [
    ("average of 4, 8 and 15", "median of 4, 8 and 15"),
    ("mean of 4, 4 and 8", "mean of 4 and 8"),
    ("log base 2 of 64", "log base 64 of 2"),
    ("what is 15% of 240", "what is 15% off 240"),
    ("what is 15% of 240", "what is 240% of 15"),
    ("what is 15% of 240", "calculate 15% of 2400"),
    ("what is 12 - 7", "what is 7 - 12"),
    ("what is 3 * 4 + 2", "what is 3 * 2 + 4"),
    ("what is 8 / 2 * 4", "what is 8 / 4 * 2"),
    ("what is 9 - 2 + 4", "what is 9 - 4 + 2"),
    ("divide 144 by 12", "divide 12 by 144"),
    ("subtract 12 from 30", "subtract 30 from 12"),
    ("what is 3 + 4 * 5", "what is (3 + 4) * 5"),
    ("what is 2^10", "what is 10^2"),
    ("what is 3 + 5", "what is 3 + 5!"),
    ("solve 2x + 3 = 11", "solve 2x - 3 = 11"),
    ("solve 2x + 3 = 11", "how do I solve 2x + 3 = 11"),
    ("solve x + y = 3 for x", "solve x + y = 3 for y"),
    ("solve V = 3v for v", "solve v = 3V for v"),
    ("differentiate x^2", "integrate x^2"),
    ("integrate x^2 from 0 to 1", "integrate x^2 from 0 to 2"),
    ("lcm of 12 and 18", "gcd of 12 and 18"),
    ("convert 0.5 to a fraction", "convert 0.5 to a percentage"),
    ("calculate 12/16", "simplify 12/16"),
    ("simplify (x + 1)^2", "expand (x + 1)^2"),
    ("what is 9 / 11", "what is 9/11"),
    ("what is sin x", "what is sin(x^2)"),
]
NONE = [
    "what is 9/11",
    "what is 24/7?",
    "7-11",
    "what is 5G",
    "what is 401k",
    "what is 4x4",
    "what is x",
    "what is e",
    "explain how to calculate 15% of 240",
    "what is 15% of 240 in words",
    "solve 3x = 9 and explain",
    "what is the square root of 9 plus 16",
    "why is 12 * 7 84?",
    "if x = 2, what is 3x + 1",
    "what is 0.1 + 0.2 in Python",
    "sin x^2",
    "1,5 + 2",
    "what is 12 *",
    "(((((((((1 + 2)))))))))",
    "find 2x if x = 3",
]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_one_calculation_has_one_wording(texts: list[str]) -> None:
    assert {canonical(text).text for text in texts} == {canonical(texts[0]).text}


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_another_calculation_has_another_wording(one: str, other: str) -> None:
    assert canonical(one).text != canonical(other).text


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_calculation_or_more_than_one_is_left_alone(text: str) -> None:
    assert calculation(text) is None


def test_the_edit_is_a_frame_and_can_be_switched_off() -> None:
    assert canonical("multiply 12 by 7").edits == (Edit.FRAME,)
    assert canonical("multiply 12 by 7", ALL - {Edit.FRAME}).text == "multiply 12 by 7"


_ATOMS = st.one_of(
    st.integers(0, 9999).map(str), st.sampled_from(["x", "2x", "3.5", "sin x", "(x + 1)", "x^2", "\u221a2"])
)
_SIGNS = st.sampled_from(
    [" + ", "-", " minus ", "*", " times ", "/", " divided by ", "^", "% of ", " x ", "", " ", "=", "("]
)
_SUMS = st.lists(st.tuples(_ATOMS, _SIGNS), min_size=1, max_size=6).map(
    lambda pairs: "".join([part for pair in pairs for part in pair]).strip()
)
_ASKS = st.sampled_from(
    ["what is {}", "calculate {}?", "solve {} for x", "differentiate {}", "{}", "simplify {}", "{} as a decimal"]
)


@given(_SUMS, _ASKS)
def test_a_frame_is_its_own_frame(text: str, asks: str) -> None:
    framed = calculation(asks.format(text))
    if framed is not None:
        assert calculation(framed) == framed
        assert canonical(framed).text == framed


@given(_SUMS)
def test_an_expression_keeps_its_operands_in_order(text: str) -> None:
    found = expression(text)
    if found is not None:
        again = expression(found.text)
        assert again is not None
        assert again[:3] == found[:3]
        digits = [sign for sign in text if sign.isdigit() and sign != "0"]
        assert [sign for sign in found.text if sign.isdigit() and sign != "0"] == digits
