"""The public names are typed: a user's program passes a strict type checker, and a user's mistakes do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("typed_user.py")


def test_a_users_program_and_plug_ins_pass_a_strict_type_checker(tmp_path: Path) -> None:
    # As a user has it: none of this project's own settings, and nothing said about the package's own code.
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    options = ["--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'user'}", str(PROGRAM)]
    env = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=500, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
