"""A prompt or a model's name that a client made up cannot steer the terminal or the page of whoever looks at it."""

from __future__ import annotations

import json

import pytest

from semcache.cli import output
from semcache.proxy.ui.rendering import Renderer
from semcache.runtime.visible import visible

STEERING = "\x1b]0;owned\x07\x9b31m\u202egnorw\u2066\r\x00"


def test_steering_characters_are_spelled_out_and_all_others_stay() -> None:
    spelled = "\\u001b]0;owned\\u0007\\u009b31m\\u202egnorw\\u2066\\u000d\\u0000"
    assert visible(STEERING) == spelled
    plain = "Größe 大 👩\u200d💻 שלום\tand\nmore"
    assert visible(plain) == plain
    assert visible("one\r\ntwo") == "one\ntwo"


def test_commands_print_nothing_that_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.text(STEERING)
    output.note(STEERING)
    output.table(["prompt"], [[STEERING]])
    output.as_json({"prompt": STEERING})
    printed = capsys.readouterr()
    assert not set(printed.out + printed.err) & set(STEERING) - set("]0;owned31mgr")
    assert json.loads(printed.out[printed.out.index("{") :]) == {"prompt": STEERING}


def test_a_page_does_not_read_backwards_for_a_name_that_a_client_made_up() -> None:
    template = Renderer(lambda: 0.0)._env.from_string("<p>{{ name }} {{ [name]|join(', ') }} {{ other }}</p>")
    assert template.render(name="\u202ex<b>", other=3) == "<p>\\u202ex&lt;b&gt; \\u202ex&lt;b&gt; 3</p>"
