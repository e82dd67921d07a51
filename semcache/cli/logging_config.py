"""Logging of the server processes on standard error.

Invariant: one line a message, and none for a connection that was cut on purpose: because the backend had cut its own,
or because a draining server could wait no longer, which is said in the line before; nor for each connection to a
database that went away.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

_EXPECTED = (
    "ASGI callable returned without completing response.",
    "Application startup failed. Exiting.",  # the reason has been logged in the line before
    # Of the pool of a database that is away, of which the cache says so in a line of its own.
    "Exception during reset or similar",
    "Exception terminating connection %r",
    "Exception closing connection %r",
)


class WithoutExpected(logging.Filter):
    """A filter that drops messages of the server about expected events."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record is worth a line."""
        cut = isinstance(record.exc_info, tuple) and isinstance(record.exc_info[1], asyncio.CancelledError)
        return not cut and not str(record.msg).endswith(_EXPECTED)


class LowercaseLevel(logging.Formatter):
    """A formatter that writes `error: message`, as every command of this program does."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return f"{record.levelname.lower()}: {super().format(record)}"


def config(level: str) -> dict[str, Any]:
    """Return the logging configuration for `level`; the server's messages about itself count as debugging."""
    shown = {"debug": "DEBUG", "info": "WARNING"}.get(level, level.upper())
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"expected": {"()": "semcache.cli.logging_config.WithoutExpected"}},
        "formatters": {"line": {"()": "semcache.cli.logging_config.LowercaseLevel"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stderr",
                "formatter": "line",
                "filters": ["expected"],
            }
        },
        "loggers": {
            "sqlalchemy.pool": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
            "uvicorn": {"handlers": ["stderr"], "level": shown, "propagate": False},
            "semcache": {"handlers": ["stderr"], "level": level.upper(), "propagate": False},
        },
    }
