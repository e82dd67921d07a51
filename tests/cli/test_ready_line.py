"""What `semcache serve` says at its start: to somebody who waits at a terminal, and about language models."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import CLI
from tests.waiting import PATIENCE

pytestmark = pytest.mark.process


def test_who_waits_at_a_terminal_sees_that_it_starts_and_who_gives_verdicts(
    environment: dict[str, str], tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    command = [*CLI, "serve", "--upstream", "echo", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=theirs) as server:
        os.close(theirs)
        with os.fdopen(ours, encoding="utf-8") as said:
            first, second = said.readline(), said.readline()
            server.send_signal(signal.SIGTERM)
            assert server.wait(PATIENCE) == 0
    assert first.startswith("semcache is starting")
    assert second.startswith("semcache is ready on ")
    assert "verdicts none: " in second  # the echo upstream has no key
    assert "upstream.api_key" in second
