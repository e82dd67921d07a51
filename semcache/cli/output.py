"""Output of commands: results on standard output, everything else on standard error, and exit statuses.

Invariant: `as_json` prints one JSON value, progress appears only on a terminal, no text is read as markup, and none
that a client has sent steers the terminal.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semcache.runtime.moments import iso
from semcache.runtime.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

INTERRUPTED = 130  # exit status that a shell gives a command that Ctrl-C ended
_PIPE_WIDTH = 140
_SILENT = 10.0  # seconds after which long work says how far it is


def note(message: str) -> None:
    """Print a message that is not the result, on standard error."""
    print(visible(message), file=sys.stderr)


def text(message: str = "") -> None:
    """Print lines of a result."""
    print(visible(message))


def as_json(value: Any) -> None:
    """Print one JSON value."""
    print(visible(json.dumps(value, indent=2, ensure_ascii=False)))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print a table; the columns named in `right` are aligned to the right."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*map(visible, row))
    _console().print(grid)


def progress() -> Progress:
    """Return a progress bar in bytes on standard error; a line now and then where that is no terminal."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    return bar(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())


def bar(*columns: ProgressColumn) -> Progress:
    """Return a progress bar on standard error; a line every ten seconds where that is no terminal."""
    from rich.console import Console
    from rich.progress import Progress, TaskID

    terminal = sys.stderr.isatty()

    class Told(Progress):
        """Progress that is told in lines where nobody sees a bar."""

        said = time.monotonic()

        def update(self, task_id: TaskID, **fields: Any) -> None:
            """Note how far a task is."""
            super().update(task_id, **fields)
            self._tell(task_id)

        def advance(self, task_id: TaskID, advance: float = 1) -> None:
            """Note that a task is so much further."""
            super().advance(task_id, advance)
            self._tell(task_id)

        def _tell(self, task_id: TaskID) -> None:
            if terminal or time.monotonic() - self.said < _SILENT:
                return
            self.said = time.monotonic()
            task = self._tasks[task_id]
            share = f": {task.completed / task.total:.0%}" if task.total else ""
            note(f"{task.description}{share}")

    return Told(*columns, console=Console(stderr=True), transient=True, disable=not terminal)


def unknown(what: str, given: str, known: Sequence[str]) -> str:
    """Return the message about a name that there is not: the nearest one, or those that there are."""
    import difflib

    close = difflib.get_close_matches(given, known, n=1)
    return f"{what} {given!r}: " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}")


def many(count: int, name: str, plural: str | None = None) -> str:
    """Return a number of things, which are `plural`, or `name` with an s, if it is not one."""
    return f"{count} {name}" if count == 1 else f"{count} {plural or name + 's'}"


def user() -> str:
    """Return who runs this command, as the administrators' log has it."""
    import getpass

    try:
        return f"command line ({getpass.getuser()})"
    except (OSError, KeyError):
        return "command line"


def moment(seconds: float | None) -> str:
    """Return a Unix time as ISO 8601 in UTC, "" for none; the end of the year 9999 for any later one."""
    return "" if seconds is None else iso(seconds)


def _console() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False)
