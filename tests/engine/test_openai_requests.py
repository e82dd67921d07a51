"""Requests are read in threads, several at a time, from the first on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_FIRST = """
import os, random, sys, threading, time
from semcache.engine.openai_requests import ServedModel, read_chat, read_completion

class Text:
    size = 9
    def chat(self, messages): return [1]
    def encode(self, text, special=True): return [1]

def read(at, wait):
    until = time.perf_counter() + wait
    while time.perf_counter() < until:
        pass
    if at % 2:
        read_chat(b'{"messages": [{"role": "user", "content": "x"}]}', Text(), ServedModel("m", 9), id="a", tenant="")
    else:
        read_completion(b'{"prompt": "x"}', Text(), ServedModel("m", 9), id="a", tenant="")

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
