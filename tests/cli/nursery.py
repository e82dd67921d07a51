"""Runs commands given as JSON lines, each in a child that is forked after the libraries have been loaded.

A command that is to run beside the test writes into pipes that come over the socket whose number is the argument.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import socket
import sys
import tempfile
import traceback
from typing import Any, NoReturn

import aiosqlite  # noqa: F401
import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401
import httpx2  # noqa: F401
import uvicorn  # noqa: F401

import semcache.cache.opening
import semcache.cli.app
import semcache.cli.serve
import semcache.proxy.application
import semcache.proxy.http_connection
import semcache.storage.stores.sql  # noqa: F401
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


def keep(order: dict[str, Any], out: int, err: int, told: int) -> NoReturn:
    """Run a command, and tell its process and then its end: only a parent learns with which status it ends."""
    pid = os.fork()
    if pid == 0:
        os.close(told)
        # Workers are forks, too: of a fresh interpreter, each would load the libraries anew.
        multiprocessing.get_context = lambda _: get_context("fork")  # type: ignore[assignment]
        child(order, out, err)
    os.close(out)
    os.close(err)
    os.write(told, b"%d\n" % pid)
    os.write(told, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def begin(order: dict[str, Any], pipes: socket.socket) -> None:
    """Start what runs a command beside the test; it is no child of this process, which waits for its own."""
    _, ends, _, _ = socket.recv_fds(pipes, 1, 3)
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            keep(order, *ends)
        os._exit(0)
    os.waitpid(pid, 0)
    for end in ends:
        os.close(end)


get_context = multiprocessing.get_context

if __name__ == "__main__":  # and not for a worker that is spawned, which reads this file as well
    pipes = socket.socket(fileno=int(sys.argv[1]))
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        if order.get("beside"):
            begin(order, pipes)
            continue
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if pid == 0:
                child(order, out.fileno(), err.fileno())
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read().decode())
        print(json.dumps({"id": order["id"], "code": code, "out": said[0], "err": said[1]}), flush=True)
