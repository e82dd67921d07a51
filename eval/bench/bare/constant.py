"""The floor of an exact hit: the same bytes for everybody, read from a file once."""

from __future__ import annotations

from pathlib import Path

from eval.bench.bare import parser, run

if __name__ == "__main__":
    arguments = parser()
    arguments.add_argument("--reply", type=Path, required=True)
    options = arguments.parse_args()
    constant = options.reply.read_bytes()
    run(lambda _: constant, options.port)
