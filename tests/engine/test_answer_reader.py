"""Thoughts, text and calls are told apart however an answer is cut into pieces."""

from __future__ import annotations

import random
from typing import Any

import pytest

from semcache.engine.answer_reader import AnswerReader, AnswerShape
from semcache.engine.tool_format import HERMES, LLAMA, MISTRAL, format_of
from tests.engine.test_chat_template import TEMPLATES

F, G = {"name": "f", "arguments": {"id": 5}}, {"name": "g", "arguments": {}}
HERMES_F = '<tool_call>\n{"name": "f", "arguments": {"id": 5}}\n</tool_call>'
HERMES_G = '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'


def read(shape: AnswerShape, text: str, seed: int | None) -> list[Any]:
    reader, rng, found, at = AnswerReader(shape), random.Random(seed), [], 0
    while at < len(text):
        step = len(text) if seed is None else rng.randrange(1, 6)
        found += reader.feed(text[at : at + step])
        at += step
    merged: list[Any] = []
    for piece in found + reader.feed("", last=True):
        if piece.kind != "call" and merged and merged[-1][0] == piece.kind:
            merged[-1] = (piece.kind, merged[-1][1] + piece.text)
        else:
            merged.append((piece.kind, piece.call if piece.kind == "call" else piece.text))
    return merged


@pytest.mark.parametrize(
    ("shape", "text", "pieces"),
    [
        (AnswerShape(HERMES), f"{HERMES_F}\n{HERMES_G}", [("call", F), ("call", G)]),
        (AnswerShape(HERMES), f"I look. \n{HERMES_F}", [("said", "I look."), ("call", F)]),
        (
            AnswerShape(HERMES, thinks=True),
            f"<think>\nhm </th no\n</think>\n\nI look.\n{HERMES_F}",
            [("thought", "hm </th no"), ("said", "I look."), ("call", F)],
        ),
        (
            AnswerShape(HERMES),
            "a <tool_call> b </tool_call> c <tool",
            [("said", "a <tool_call> b </tool_call> c <tool")],
        ),
        (AnswerShape(HERMES), '<tool_call>\n{"name": "f"', [("said", '<tool_call>\n{"name": "f"')]),
        (
            AnswerShape(HERMES),
            HERMES_F
            + '\n<tool_call>\n{"name": "h", "arguments": {"t": "</tool_call> \\" </tool_call>"}}\n</tool_call>',
            [("call", F), ("call", {"name": "h", "arguments": {"t": '</tool_call> " </tool_call>'}})],
        ),
        (
            AnswerShape(HERMES),
            f'<tool_call>{{"name": "f</tool_call>\n{HERMES_G}',
            [("said", '<tool_call>{"name": "f</tool_call>'), ("call", G)],
        ),
        (AnswerShape(LLAMA), '{"name": "f", "parameters": {"id": 5}}', [("call", F)]),
        (AnswerShape(LLAMA), '<|python_tag|>{"name": "f", "parameters": {"id": 5}}', [("call", F)]),
        (AnswerShape(LLAMA), '{"x": 1}', [("said", '{"x": 1}')]),
        (AnswerShape(LLAMA), 'Hello {"name"', [("said", 'Hello {"name"')]),
        (
            AnswerShape(MISTRAL),
            '[TOOL_CALLS][{"name": "f", "arguments": {"id": 5}}, {"name": "g", "arguments": {}}]',
            [("call", F), ("call", G)],
        ),
        (AnswerShape(thinks=True, opened=True), "so\n</think>\n\nyes\n", [("thought", "so"), ("said", "yes\n")]),
        (AnswerShape(thinks=True), "plain <thi", [("said", "plain <thi")]),
        (AnswerShape(thinks=True), "<think>never ends", [("thought", "never ends")]),
        (AnswerShape(thinks=True), "<think>\n\n</think>\n\nyes", [("said", "yes")]),
        (AnswerShape(), "a <think> b", [("said", "a <think> b")]),
        (AnswerShape(HERMES), "", []),
    ],
)
def test_pieces_are_the_same_however_they_come(shape: AnswerShape, text: str, pieces: list[Any]) -> None:
    for seed in (None, *range(25)):
        assert read(shape, text, seed) == pieces


@pytest.mark.parametrize(
    ("family", "form"),
    [("qwen2", HERMES), ("qwen3", HERMES), ("mistral", MISTRAL), ("llama", LLAMA), ("gemma", None), ("harmony", None)],
)
def test_a_family_is_known_by_its_template(family: str, form: Any) -> None:
    assert format_of((TEMPLATES / f"{family}.jinja").read_text()) is form
