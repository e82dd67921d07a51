"""An honest tenant: asks at a fixed pace over one connection and writes down how late each reply was.

    python -m eval.stalls.probe HOST PORT KEY SECONDS_BETWEEN

Writes a line a reply: the monotonic time at which the request was due, the seconds until its reply had come, counted
from that time, and its status. Ends when standard input closes.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time


def main() -> None:
    host, port, key, pace = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    known = _request(host, key, "What is the capital of France?")
    connection = socket.create_connection((host, port), 60)
    due, count = time.monotonic(), 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        due = max(due + pace, time.monotonic() - 2.0)  # after a long stall no more than two seconds are made up for
        time.sleep(max(0.0, due - time.monotonic()))
        count += 1
        text = f"Honest question {count} of {key[-6:]}: how tall is tower number {count}?"
        asked = known if count % 4 else _request(host, key, text)
        try:
            status = _exchange(connection, asked)
        except OSError:
            status = 0
            connection.close()
            try:
                connection = socket.create_connection((host, port), 5)
            except OSError:
                time.sleep(0.05)
        print(f"{due:.6f} {time.monotonic() - due:.6f} {status}", flush=True)


def _request(host: str, key: str, text: str) -> bytes:
    body = json.dumps({"model": "echo", "messages": [{"role": "user", "content": text}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n"
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def _exchange(connection: socket.socket, asked: bytes) -> int:
    connection.sendall(asked)
    found = b""
    while b"\r\n\r\n" not in found:
        found += _more(connection)
    head, _, rest = found.partition(b"\r\n\r\n")
    lowered = head.lower()
    if b"content-length:" in lowered:
        size = int(lowered.split(b"content-length:")[1].split(b"\r\n")[0])
        while len(rest) < size:
            rest += _more(connection)
    else:
        while not rest.endswith(b"0\r\n\r\n"):
            rest += _more(connection)
    return int(head.split(b" ")[1])


def _more(connection: socket.socket) -> bytes:
    got = connection.recv(1 << 16)
    if not got:
        raise ConnectionResetError
    return got


if __name__ == "__main__":
    main()
