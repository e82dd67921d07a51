"""Requests are read in threads, several at a time, from the first on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from semcache.engine.generation_defaults import GenerationDefaults, generation_defaults
from semcache.engine.job import Sampling
from semcache.engine.openai_requests import ServedModel, read_chat, read_completion
from semcache.errors import ConfigError, RequestRejected
from tests.engine.test_odd_requests import Words

_FIRST = """
import os, random, sys, threading, time
from semcache.engine.chat_template import ChatTemplate
from semcache.engine.openai_requests import ServedModel, read_chat, read_completion

class Text:
    size = 9
    template = ChatTemplate("", str)
    def chat(self, messages, settings): return [1]
    def ending(self, ids): return ""
    def encode(self, text, special=True): return [1]

def read(at, wait):
    until = time.perf_counter() + wait
    while time.perf_counter() < until:
        pass
    if at % 2:
        read_chat(b'{"messages": [{"role": "user", "content": "x"}]}', Text(), ServedModel("m", 9), id="a")
    else:
        read_completion(b'{"prompt": "x"}', Text(), ServedModel("m", 9), id="a")

for _ in range(24):
    child = os.fork()
    if not child:
        sys.setswitchinterval(1e-5)
        threads = [threading.Thread(target=read, args=(at, random.random() * 3e-3)) for at in range(24)]
        for one in threads: one.start()
        for one in threads: one.join()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(1)
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_the_first_requests_at_once_do_not_end_the_process() -> None:
    subprocess.run([sys.executable, "-c", _FIRST], check=True)


ADVISED = GenerationDefaults(temperature=0.6, top_p=0.95, top_k=20, min_p=0.05, repetition_penalty=1.1)
FIELDS = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")


def sampling(**given: Any) -> Sampling:
    body = {"messages": [{"role": "user", "content": "x"}], **given}
    served = ServedModel("m", 100, defaults=ADVISED)
    (job,) = read_chat(json.dumps(body).encode(), Words(), served, id="a").jobs  # type: ignore[arg-type]
    return job.sampling


def test_a_request_without_sampling_has_that_of_the_models_authors() -> None:
    assert [getattr(sampling(), name) for name in FIELDS] == [0.6, 0.95, 20, 0.05, 1.1]
    own = {"temperature": 0, "top_p": 1, "top_k": 0, "min_p": 0, "repetition_penalty": 1}
    assert [getattr(sampling(**own), name) for name in FIELDS] == [0, 1, 0, 0, 1]
    served = ServedModel("m", 100, defaults=ADVISED)
    (job,) = read_completion(b'{"prompt": "x"}', Words(), served, id="a").jobs  # type: ignore[arg-type]
    assert job.sampling.top_k == 20


@pytest.mark.parametrize("penalty", [0, 1e-300, -1, 11, "much"])
def test_a_repetition_penalty_out_of_range_is_refused(penalty: Any) -> None:
    with pytest.raises(RequestRejected) as caught:
        sampling(repetition_penalty=penalty)
    assert caught.value.param == "repetition_penalty"


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"type": "text", "text": 5}, "whose text is 5: it must be a string"),
        ({"type": "text"}, "whose text is None: it must be a string"),
        ({"type": "image_url", "image_url": {}}, "of type 'image_url'; this engine reads text"),
    ],
)
def test_a_part_that_is_no_text_is_refused_for_what_is_wrong_with_it(part: Any, says: str) -> None:
    with pytest.raises(RequestRejected, match=says):
        sampling(messages=[{"role": "user", "content": [part]}])


def test_reasoning_is_switched_by_the_fields_that_the_template_reads() -> None:
    assert sampling(chat_template_kwargs={"enable_thinking": False})
    assert sampling(reasoning_effort="none")
    for field, value in {"chat_template_kwargs": {"depth": 1}, "reasoning_effort": "sideways"}.items():
        with pytest.raises(RequestRejected) as caught:
            sampling(**{field: value})
        assert caught.value.param == field


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({}, {}),
        ({"temperature": 0.7, "top_k": 20, "do_sample": True}, {"temperature": 0.7, "top_k": 20}),
        ({"temperature": 1.0, "top_p": None}, {}),
        ({"temperature": -1}, None),
        ({"top_p": 0}, None),
        ({"top_k": "many"}, None),
        ({"top_k": 50.0}, {"top_k": 50}),
        ({"top_k": 1.5}, None),
        ({"repetition_penalty": True}, None),
        ({"repetition_penalty": 1e-300}, None),
    ],
)
def test_a_generation_config_is_read_or_refused_at_start(written: Any, read: Any) -> None:
    class Config:
        def __init__(self) -> None:
            self.__dict__.update(written)

    if read is None:
        with pytest.raises(ConfigError, match="generation_config"):
            generation_defaults(Config(), "m")
    else:
        found = generation_defaults(Config(), "m")
        assert found.advised == read
        assert isinstance(found.top_k, int), "a fraction of a token fails in every request"


def test_a_verbosity_that_is_not_heeded_is_refused() -> None:
    assert sampling(verbosity="medium")
    with pytest.raises(RequestRejected) as caught:
        sampling(verbosity="low")
    assert caught.value.param == "verbosity"
