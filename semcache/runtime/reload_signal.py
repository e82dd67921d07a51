"""SIGHUP, which asks for a reload, held back while a process cannot take it: by default it ends the process.

Knows the signal mask of the process, which new threads and processes inherit. Invariant: a signal that comes while it
is held is delivered once it is released; where a system has no such signal, nothing happens.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def hold() -> None:
    """Hold the signal back in this thread, and in the threads and processes that it starts from here on."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def release() -> None:
    """Let this thread take the signal, and one that came meanwhile."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


@contextmanager
def held() -> Iterator[None]:
    """Hold the signal back for a while, so that a process that is started meanwhile begins with it held."""
    hold()
    try:
        yield
    finally:
        release()
