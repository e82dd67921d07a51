"""The agents of docs/tool-results.md, as they stand there: a tool that was read is not read again.

The model is scripted: it reads the ticket that it is asked about, and says what it was told.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_plans import behind
from tests.docs.fences import ROOT, Fence, fences, says
from tests.waiting import PATIENCE

pytestmark = pytest.mark.process
PAGE = fences(ROOT / "docs" / "tool-results.md")
EXAMPLES = [fence for fence in PAGE if "localhost:8080" in fence.body]
[PACK] = [fence.body for fence in PAGE if "pack" in fence.words]


async def model(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application."""
    assert scope["type"] == "http"
    raw = b""
    while (event := await receive())["type"] == "http.request":
        raw += event.get("body", b"")
        if not event.get("more_body"):
            break
    asked = json.loads(raw)
    told = [one for one in asked["messages"] if one["role"] == "tool"]
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if told:
        result = json.loads(told[-1]["content"])
        message["content"] = f"Ticket {result['id']} is {result['state']}."
    else:
        [number] = re.findall(r"\d+", asked["messages"][0]["content"])
        function = {"name": "get_ticket", "arguments": json.dumps({"id": int(number)})}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    reason = "stop" if told else "tool_calls"
    body = {
        "id": "c", "object": "chat.completion", "created": 1, "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    }  # fmt: skip
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@pytest.mark.parametrize("example", EXAMPLES, ids=["openai", "langgraph"])
def test_a_tool_that_was_read_is_not_read_again(example: Fence, tmp_path: Path) -> None:
    (tmp_path / "helpdesk.yaml").write_text(PACK)
    with behind(model) as url:  # type: ignore[arg-type]
        program = example.body.replace("http://localhost:8080", url)
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stderr
    assert example.output is not None
    assert says(done.stdout, example.output), done.stdout
