"""Slow reading: what takes milliseconds to read is read beside the event loop, so that others need not wait for it.

Knows sizes, nothing of what is read. Invariant: whoever reads on the event loop and whoever does not agree on the size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LARGE = 16 << 10  # bytes of a request or an answer that take milliseconds to read


async def unblocking(size: int, read: Callable[..., T], *args: object) -> T:
    """Read so many bytes, beside the event loop if they are so many that others would wait for it."""
    return await asyncio.to_thread(read, *args) if size > LARGE else read(*args)
