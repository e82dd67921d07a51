"""The application of one process of `semcache serve`: from the environment, or from what its parent hands over.

Invariant: a process that is handed the files of others serves by these, whatever lies on the disk; it reads anew when a
reload is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from semcache.config.settings import Settings, find_file
from semcache.errors import ConfigError
from semcache.proxy.application import Proxy
from semcache.proxy.reloading import Loaded
from semcache.runtime.metric_files import FOLDER, take_room_beforehand


def create(loaded: Loaded | None = None, hand_back: Callable[[Loaded], object] | None = None) -> Proxy:
    """Return the application of this process, which serves by its own files if nothing is `loaded`.

    `hand_back` takes what a reload has read.
    """
    from prometheus_client import disable_created_metrics

    # Each counter would be told twice, the second time with a time that nobody asks for.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    if os.environ.get(FOLDER):
        take_room_beforehand()

    first = find_file(dict(os.environ), Path.cwd())

    def settings() -> Settings:
        env = dict(os.environ)
        file = find_file(env, Path.cwd())
        if first is not None and (file is None or (file == first and not file.exists())):
            raise ConfigError(f"{first} was read at the start and is gone: put it back, or restart to do without it")
        return Settings.load({}, env, file)

    now = settings() if loaded is None else loaded.settings
    return Proxy(now, sink=_stdout, again=settings, loaded=loaded, hand_back=hand_back)


def _stdout(lines: bytes) -> None:
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()
