"""Commands of `semcache` inside a notebook, run by the interpreter that runs the notebook."""

import shlex
import subprocess
import sys


def semcache(command):
    """Run a command as one types it and print what it says."""
    done = subprocess.run([sys.executable, "-m", "semcache.cli", *shlex.split(command)], capture_output=True, text=True)
    print(f"$ semcache {command}\n{done.stdout}{done.stderr if done.returncode else ''}")
    done.check_returncode()
