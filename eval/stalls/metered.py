"""The proxy with a meter in its event loop: how much processor time the process spends between two turns of it.

    python -m eval.stalls.metered FILE serve ...

What other programs take does not count, so the figures of a busy machine are those of an idle one. A line of FILE is
the monotonic time of a turn and the seconds of processor time since the turn before, which was at least two
milliseconds earlier.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from semcache.cli import main as program
from semcache.proxy.application import Proxy

_EVERY = 0.002


async def _meter(file: Path) -> None:
    with file.open("w") as out:
        before, said = time.process_time(), time.monotonic()
        lines: list[str] = []
        while True:
            await asyncio.sleep(_EVERY)
            now, at = time.process_time(), time.monotonic()
            lines.append(f"{at:.6f} {now - before:.6f}\n")
            before = now
            if at - said > 0.2:
                out.writelines(lines)
                out.flush()
                lines, said = [], at


def main() -> None:
    file = Path(sys.argv.pop(1))
    start = Proxy.start
    kept = []

    async def metered(self: Proxy) -> None:
        await start(self)
        kept.append(asyncio.create_task(_meter(file)))

    Proxy.start = metered  # type: ignore[method-assign]
    program()


if __name__ == "__main__":
    main()
