"""Runs commands given as JSON lines, each in a child that is forked after the libraries have been loaded."""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import traceback
from typing import Any, NoReturn

import aiosqlite  # noqa: F401
import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401
import httpx2  # noqa: F401

import semcache.cache.opening  # noqa: F401
from semcache.cli import main


def child(order: dict[str, Any], out: int, err: int) -> NoReturn:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = ["semcache", *order["args"]]
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


gc.freeze()
for line in sys.stdin:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            child(order, out.fileno(), err.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
    print(json.dumps({"id": order["id"], "code": code, "out": said[0], "err": said[1]}), flush=True)
