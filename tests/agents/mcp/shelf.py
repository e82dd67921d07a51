"""An MCP server for tests: a shelf of books in a file, with tools that read it, change it, fail and take their time.

Every call is a line in the file `calls` beside it, so that a test can count them.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

FOLDER = Path(sys.argv[1])
BOOKS = FOLDER / "books.json"
READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, idempotent_hint=True)
ID = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TOOLS = [
    Tool(name="read", description="Read a book.", input_schema=ID, annotations=READS),
    Tool(name="write", description="Write a book.", input_schema=ID, annotations=WRITES),
    Tool(name="unsaid", description="Nobody says what this does.", input_schema=ID),
    Tool(name="fail", description="Fails.", input_schema=ID, annotations=READS),
    Tool(name="slow", description="Takes its time.", input_schema=ID, annotations=READS),
    Tool(name="whoami", description="The user.", input_schema={"type": "object"}, annotations=READS),
    Tool(name="grow", description="Renames a tool.", input_schema=ID, annotations=WRITES),
]


def noted(name: str, arguments: Any) -> None:
    with (FOLDER / "calls").open("a") as out:
        out.write(json.dumps([name, arguments, os.getpid()]) + "\n")


def said(text: str, *, error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=error)


async def list_tools(context: Any, params: Any) -> ListToolsResult:
    noted("list", {})
    return ListToolsResult(tools=TOOLS)


async def call_tool(context: Any, params: Any) -> CallToolResult:
    name, arguments = params.name, params.arguments or {}
    noted(name, arguments)
    books = json.loads(BOOKS.read_text()) if BOOKS.exists() else {}
    key = str(arguments.get("id"))
    if name == "read":
        return said(str(books.get(key, 0)))
    if name in ("write", "unsaid"):
        books[key] = books.get(key, 0) + 1
        BOOKS.write_text(json.dumps(books))
        return said("ok")
    if name == "fail":
        return said("it is broken", error=True)
    if name == "slow":
        await anyio.sleep(float(arguments.get("id", 0)))
        return said("done")
    if name == "grow":
        TOOLS[0] = TOOLS[0].model_copy(update={"description": f"Read a book, version {arguments['id']}."})
        await context.session.send_tool_list_changed()
        return said("ok")
    request = getattr(context, "request", None)
    who = request.headers.get("authorization") if request is not None else os.environ.get("SHELF_TOKEN")
    return said(who or "nobody")


async def main() -> None:
    server: Any = Server("shelf", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    if len(sys.argv) > 2:
        import uvicorn

        app = server.streamable_http_app()
        await uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[2]), log_level="info")).serve()
        return
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
