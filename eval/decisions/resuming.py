"""Long evaluations in short sittings: what was computed is kept, and a later run goes on from there.

Knows nothing of what is computed. Invariant: a result is used again only for the same job under the same code, data
files of the package included.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import TypeVar

from eval.embedded import FOLDER

Job = TypeVar("Job")
Result = TypeVar("Result")
_ROOT = Path(__file__).parent.parent.parent
_CODE = (
    "semcache/models/verifier",
    "semcache/matching/strategies",
    "semcache/matching/guards",
    "semcache/simulate",
    "policies",
    "eval/decisions",
)
_FILES = (
    "semcache/matching/doubts.py",
    "semcache/matching/features.py",
    "semcache/matching/audited_stratum.py",
    "semcache/matching/judged_stratum.py",
    "semcache/matching/judged_tier.py",
    "semcache/matching/verdict_worth.py",
    "semcache/matching/decide.py",
    "semcache/matching/label_noise.py",
    "semcache/matching/neighbourhood.py",
    "semcache/matching/wording_tier.py",
    "semcache/learning/labelling.py",
    "semcache/config/packs.py",
)


class Unfinished(Exception):
    """Time was up; what is done is kept."""


def computed(
    compute: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    processes: int,
    minutes: float | None = None,
    told: Callable[[int, int], None] | None = None,
    folder: Path = FOLDER,
) -> list[Result]:
    """The results of all jobs, in their order. A job is told from others by its `repr`.

    Raises Unfinished when not all are done after so many minutes.
    """
    until = float("inf") if minutes is None else time.monotonic() + 60.0 * minutes
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "decisions.db", timeout=120)) as database:
        database.execute("CREATE TABLE IF NOT EXISTS done (code TEXT, job TEXT, data BLOB, PRIMARY KEY (code, job))")
        mark = f"{compute.__module__}.{compute.__qualname__}:{_code()}"
        known = dict(database.execute("SELECT job, data FROM done WHERE code = ?", [mark]).fetchall())
        left = [job for job in jobs if repr(job) not in known]
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")  # read when a child imports numpy: processes need no threads beside them
        with ExitStack() as stack:
            found: Iterator[Result] = map(compute, left)
            if processes > 1 and left:
                found = stack.enter_context(multiprocessing.get_context("spawn").Pool(processes)).imap(compute, left)
            for done, (job, result) in enumerate(zip(left, found, strict=True), 1):
                known[repr(job)] = data = pickle.dumps(result)
                with database:
                    database.execute("INSERT OR REPLACE INTO done VALUES (?, ?, ?)", [mark, repr(job), data])
                if told is not None:
                    told(len(jobs) - len(left) + done, len(jobs))
                if done < len(left) and time.monotonic() > until:
                    raise Unfinished(f"{len(left) - done} of {len(jobs)} parts are left: run it again to go on")
    return [pickle.loads(known[repr(job)]) for job in jobs]


@cache
def _code() -> str:
    digest = hashlib.sha256()
    folders = [path for name in _CODE for path in sorted((_ROOT / name).rglob("*")) if path.is_file()]
    for path in [*folders, *[_ROOT / name for name in _FILES]]:
        if path.suffix in {".py", ".json", ".yaml"}:
            digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
