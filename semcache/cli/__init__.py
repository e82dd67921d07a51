"""The command line.

Knows which exit code an error means: 2 for bad usage or settings, 1 for anything else that failed.
Invariant: importing this package or any module in it imports nothing heavier than typer; each command imports what it
needs when it runs. No error of semcache's own ends in a traceback.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments name."""
    from semcache.cli.app import app
    from semcache.errors import ConfigError, InvalidArgument, SemcacheError

    try:
        app(prog_name="semcache")
    except SemcacheError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        sys.exit(2 if isinstance(error, (ConfigError, InvalidArgument)) else 1)
