"""The command line: its entry point and commands, and the exit status of each kind of error.

The status is 2 for bad usage or settings, 1 for anything else that failed. Invariant: importing this package or any
module in it imports nothing heavier than typer; each command imports what it needs when it runs. No error of semcache's
own ends in a traceback.
"""

from __future__ import annotations

import errno
import sys

from semcache.cli import output

_UNWRITTEN = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def main() -> None:
    """Run the command that the arguments name."""
    _open_streams()
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(output.INTERRUPTED)
    except OSError as error:
        if error.errno not in _UNWRITTEN:
            raise
        _discard_output()
        if error.errno != errno.EPIPE:
            print(f"error: the output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(1)


def _run() -> None:
    from semcache.cli.app import app
    from semcache.errors import ConfigError, InvalidArgument, SemcacheError

    try:
        app(prog_name="semcache")
    except SemcacheError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        sys.exit(2 if isinstance(error, (ConfigError, InvalidArgument)) else 1)
    finally:
        sys.stdout.flush()


def _open_streams() -> None:
    """Open the standard streams that the caller has closed, lest the next file be taken for one of them."""
    import os

    names = ("stdin", "stdout", "stderr")
    if all(getattr(sys, name) is not None for name in names):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) < len(names):
        pass
    os.close(number)
    for number, name in enumerate(names):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def _discard_output() -> None:
    """Replace standard output, whose buffered rest would fail once more when the interpreter ends."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
