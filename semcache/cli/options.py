"""Options that several commands share, so that they are named and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file; default: semcache.yaml here, if there is one."),
]
Data = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Data folder of the cache.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Policies = Annotated[
    str | None, typer.Option("--policies", metavar="PACK|DIR|FILE", help="Policy pack: a shipped one, or your own.")
]
Upstream = Annotated[
    str | None,
    typer.Option(
        "--upstream",
        metavar="URL",
        help="What answers misses: a URL (default: https://api.openai.com/v1), unix:PATH, engine:DIR, litellm:MODEL, "
        "or echo, which repeats each prompt.",
    ),
]
Host = Annotated[
    str | None, typer.Option("--host", metavar="HOST", help="Address to listen on (default: 127.0.0.1), or unix:PATH.")
]
Port = Annotated[
    int | None, typer.Option("--port", metavar="PORT", help="Port to listen on (default: 8080); 0 takes a free one.")
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="SPEC",
        help="What compares prompts: default (the model that ships), onnx:DIR, static:DIR, sentence:NAME, "
        "litellm:MODEL or hashing.",
    ),
]
EntryId = Annotated[str, typer.Argument(metavar="ID", help="Entry id: 16 hexadecimal digits, as in x-semcache-id.")]
