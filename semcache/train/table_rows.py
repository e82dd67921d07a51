"""The rows of a CSV or TSV file, each with the number of its line.

Knows the two writings of a table, nothing of what its columns mean. Invariant: no row is lost in another one: a
quotation mark that opens a field of a TSV file and closes none is refused with its line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from semcache.errors import InvalidArgument

_REMEDY = "close the quotation mark that is open, or write JSON lines, whose texts may be of any length"
_ALONE = "its quotation marks are not those of a quoted field: write JSON lines, whose texts may hold any mark"


def is_table(path: Path) -> bool:
    """Return True for the name of a CSV or TSV file, packed with gzip or not."""
    return _form(path) in ("csv", "tsv")


class TableRows:
    """The rows of the lines of a table, by the names of its columns."""

    def __init__(self, path: Path, lines: Iterable[str]) -> None:
        self._path, self._tabs = path, _form(path) == "tsv"
        self._table = csv.DictReader(lines, delimiter="\t" if self._tabs else ",", strict=self._tabs)

    @property
    def columns(self) -> Sequence[str]:
        """The names in the first line. Raises InvalidArgument."""
        try:
            return self._table.fieldnames or ()
        except csv.Error as error:
            raise self._fault(1, error) from error

    @property
    def line(self) -> int:
        """The number of the last line that was read."""
        return self._table.line_num

    def __iter__(self) -> Iterator[tuple[int, dict[str, str | None]]]:
        """Yield each row with the number of its last line. Raises InvalidArgument, naming the line."""
        while True:
            begun = max(1, self.line) + 1
            try:
                row = next(self._table, None)
            except csv.Error as error:
                raise self._fault(begun, error) from error
            if row is None:
                return
            named = {name: value for name, value in row.items() if isinstance(name, str)}
            if self._tabs and any("\t" in value for value in named.values() if isinstance(value, str)):
                raise InvalidArgument(f"{self._path}:{begun}: a field holds a tab; {_ALONE}")
            yield self.line, named

    def _fault(self, begun: int, error: csv.Error) -> InvalidArgument:
        return InvalidArgument(f"{self._path}:{begun}: {error}; {_ALONE if self._tabs else _REMEDY}")


def _form(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").rpartition(".")[2]
