"""Code has no other wording; prose, its dashes, its brackets and its markdown have."""

from __future__ import annotations

import pytest

from semcache.request.code_parts import code_parts, same_code

DIFFERENT = [
    ("x = 7 // 2", "x = 7 / 2"),
    ('if x == None: print("empty")', 'if x is None: print("empty")'),
    ("def f(a, b): return a - b", "def f(b, a): return a - b"),
    ("if not a or b", "if not (a or b)"),
    ("WHERE x AND y OR z", "WHERE x AND (y OR z)"),
    ("items=[]", "items=()"),
    ("rm -rf ./tmp", "rm -rf /tmp"),
    ("chmod +x run", "chmod -x run"),
    ("kill %1", "kill 1"),
    ("i++", "++i"),
    ("s[1:]", "s[:1]"),
    ("if (!x) go", "if (x) go"),
    (r"\d+", r"\d*"),
    ("(a + b) * c", "a + b * c"),
    ("y = -x", "y = x"),
    ("the interval [a, b)", "the interval (a, b]"),
    ("A \u2282 B", "B \u2282 A"),
    ("f(g(x))", "g(f(x))"),
    ("cat in.txt > out.txt", "cat out.txt > in.txt"),
    ("x < y", "y < x"),
    ("It is O(n).", "It is O(n log n)."),
    ("echo '$HOME'", 'echo "$HOME"'),
    ("int **p", "int *p"),
    ("y=2x+3", "y=3x+2"),
    ("for i in x:\n    a(i)\n    print(i)", "for i in x:\n    a(i)\nprint(i)"),
    ("a - b", "b - a"),
]
PROSE = [
    "5% of $30, help 24/7 (really) and/or a refund - in short: yes :)",
    "**Paris** is the capital. *Really*.\n- one\n- two\n1. first\n# Title\n> a quote",
    "Bake at 200 \u00b0C (390 \u00b0F) for 1/2 hour; 10-12 km/h, AT&T, e-mail a@b.com, C-3PO.",
    'Dr. Smith (1990) said: "Hello!" Is it? \u2014 Yes!',
    "See https://www.example.com/a-b for more.",
    "Tom & Jerry, rock - or pop?",
]


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_other_code_is_told_apart(one: str, two: str) -> None:
    assert not same_code(one, two)
    assert same_code(f"Here is my code: {one} What does it do?", f"This is my code: {one} What will it do?")


@pytest.mark.parametrize("text", PROSE)
def test_prose_has_no_code_parts(text: str) -> None:
    assert code_parts(text) == ()


def test_bold_and_list_marks_are_no_code() -> None:
    assert same_code("Use **`git add`**, then:\n- `git commit`", "Use `git add`, then:\n* `git commit`")
