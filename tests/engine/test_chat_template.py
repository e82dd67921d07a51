"""An instruction that a chat template drops without a word is an answer to another question."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.errors import InvalidArgument

Folder = Callable[..., Path]
TEMPLATES = Path(__file__).parent / "templates"  # in the manner of the families that are served most
RULE = "Answer in French, and nothing else."


@pytest.fixture
def speaking(folder: Folder, tmp_path: Path) -> Callable[[str], Any]:
    """Makes a tokenizer with the chat template of a family."""
    from semcache.engine.tokenizer import Tokenizer

    def get(family: str) -> Any:
        path = tmp_path / family
        shutil.copytree(folder(), path)
        shutil.copy(TEMPLATES / f"{family}.jinja", path / "chat_template.jinja")
        return Tokenizer(str(path))

    return get


def text(tokenizer: Any, *turns: tuple[str, str], **settings: Any) -> str:
    messages = [{"role": role, "content": content} for role, content in turns]
    return str(tokenizer._outer.decode(tokenizer.chat(messages, settings)))


@pytest.mark.parametrize(
    ("family", "system", "developer"),
    [
        ("llama", f"2023\n\n{RULE}<|eot_id|>", f"2023\n\n{RULE}<|eot_id|>"),
        ("qwen2", f"<|im_start|>system\n{RULE}<|im_end|>", f"<|im_start|>system\n{RULE}<|im_end|>"),
        ("qwen3", f"<|im_start|>system\n{RULE}<|im_end|>", f"<|im_start|>system\n{RULE}<|im_end|>"),
        ("mistral", f"[INST]{RULE}\n\nhi[/INST]", f"[INST]{RULE}\n\nhi[/INST]"),
        ("harmony", f"<|start|>developer<|message|># Instructions\n\n{RULE}", f"# Instructions\n\n{RULE}<|end|>"),
    ],
)
def test_an_instruction_reaches_the_model_under_either_role(
    speaking: Callable[[str], Any], family: str, system: str, developer: str
) -> None:
    tokenizer = speaking(family)
    by_system = text(tokenizer, ("system", RULE), ("user", "hi"))
    by_developer = text(tokenizer, ("developer", RULE), ("user", "hi"))
    assert system in by_system
    assert developer in by_developer
    assert by_developer == by_system


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3"])
def test_an_instruction_in_the_midst_of_a_conversation_reaches_the_model(
    speaking: Callable[[str], Any], family: str
) -> None:
    seen = text(speaking(family), ("user", "a"), ("assistant", "b"), ("developer", RULE), ("user", "c"))
    assert RULE in seen
    assert "developer" not in seen


@pytest.mark.parametrize(
    ("family", "turns", "said"),
    [
        ("gemma", [("system", RULE), ("user", "hi")], "System role not supported"),
        ("gemma", [("developer", RULE), ("user", "hi")], r"messages\[0\] has the role 'developer'"),
        ("mistral", [("user", "a"), ("assistant", "b"), ("developer", RULE), ("user", "c")], "Only user and assistant"),
        (
            "harmony",
            [("user", "a"), ("assistant", "b"), ("developer", RULE), ("user", "c")],
            r"leaves out messages\[2\]",
        ),
        ("qwen2", [("critic", RULE), ("user", "hi")], r"leaves out messages\[0\], whose role is 'critic'"),
    ],
)
def test_an_instruction_that_cannot_reach_the_model_is_refused(
    speaking: Callable[[str], Any], family: str, turns: Any, said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        text(speaking(family), *turns)


def test_what_a_template_trims_and_switches_it_does_not_drop(speaking: Callable[[str], Any]) -> None:
    tokenizer = speaking("llama")
    tokenizer._outer.chat_template = "{{ messages[0]['content'].replace('/no_think', '') | trim }}"
    assert text(tokenizer, ("system", f"\n  {RULE} /no_think\n"), ("user", "hi")) == RULE
    assert text(tokenizer, ("system", "  \n"), ("user", "hi")) == ""


def test_settings_of_a_template_are_passed_and_others_refused_by_name(speaking: Callable[[str], Any]) -> None:
    thinking = speaking("qwen3")
    assert text(thinking, ("user", "hi")).endswith("<|im_start|>assistant\n")
    assert text(thinking, ("user", "hi"), enable_thinking=False).endswith("</think>\n\n")
    assert thinking.template.settings({"enable_thinking": False}) == {"enable_thinking": False}
    for name in ("depth", "chat_template", "tools", "add_generation_prompt", "a b"):
        with pytest.raises(InvalidArgument, match=name):
            thinking.template.settings({name: 1})
