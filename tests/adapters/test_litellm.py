"""The LiteLLM cache, in an environment of its own: litellm and the tests' `openai` cannot be installed together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venvs" / "litellm" / "bin" / "python"
INSTALL = "python -m venv .venvs/litellm && .venvs/litellm/bin/pip install -e '.[litellm]'"


@pytest.mark.process
def test_litellm_hits_streams_and_survives_a_broken_cache() -> None:
    if not PYTHON.exists():
        pytest.skip(f"no environment with litellm: {INSTALL}")
    script = Path(__file__).with_name("litellm_check.py")
    done = subprocess.run([PYTHON, script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
