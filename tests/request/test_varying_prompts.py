"""An operator is told that system prompts differ in a date alone, with a line for the pack that mends it."""

from __future__ import annotations

import msgspec
import pytest
import yaml

from semcache.request.varying_prompts import varying

RULES = "You are the help desk of a bank. " * 400
ID = "12345678-1234-1234-1234-1234567890{0:02d}"


@pytest.mark.parametrize(
    ("template", "parts", "line"),
    [
        ("Be kind.\nCurrent date: 2026-11-{0:02d}", ["the current date"], "ignore_in_system: [date]"),
        (
            "Be kind.\nCurrent time: 2026-11-02 10:{0:02d}",
            ["the current time"],
            "ignore_in_system: [date, time]",
        ),
        ("Session ID: ab{0}99-x. Be kind.", ["the id of a request or session"], "ignore_in_system: [request_id]"),
        (RULES + "Today is November {0}, 2026.", ["the current date"], "ignore_in_system: [date]"),
    ],
)
def test_a_named_part_is_told_by_its_name(template: str, parts: list[str], line: str) -> None:
    prompts = [template.format(number) for number in range(10, 14)] * 2
    [found] = varying(prompts)
    assert (found.prompts, found.entries, list(found.parts), found.line) == (4, 8, parts, line)
    assert found.line in found.told()


@pytest.mark.parametrize(
    "template",
    [
        "Be kind. 2026-11-{0:02d}.",
        "Current time: 2026-11-29 10:{0:02d}",
        "Ref " + ID,
        "2026-11-{0:02d} 10:{0:02d}\nBe kind.",
        "Date: 2026-11-{0:02d}. " + ID,
    ],
)
def test_the_line_is_one_that_mends_it(template: str) -> None:
    prompts = [template.format(day) for day in range(10, 14)]
    [found] = varying(prompts)
    assert varying(prompts, yaml.safe_load(found.line)["ignore_in_system"]) == []


@pytest.mark.parametrize(
    "prompts",
    [
        ["Be kind."] * 9,
        ["Answer in 3 sentences.", "Answer in 4 sentences.", "Answer in 5 sentences."],
        ["Be kind.", "Be brief.", "Be polite.", "Be quick."],
        [f"Today is November {day}, 2026. {RULES}{word}{RULES}" for day, word in ((1, "Al"), (2, "Bo"), (3, "Cy"))],
    ],
)
def test_prompts_that_differ_otherwise_are_left_alone(prompts: list[str]) -> None:
    assert varying(prompts) == []


def test_numbers_are_told_without_a_line_and_no_prompt_is_quoted() -> None:
    [found] = varying([f"You help customer {number} of the Vault." for number in range(9)])
    assert (list(found.parts), found.line) == (["a number"], "")
    assert "Vault" not in msgspec.json.encode(found).decode() + found.told()
