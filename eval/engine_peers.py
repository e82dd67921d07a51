"""OpenVINO GenAI and llama.cpp over the engine's test model, each a process in an environment of its own.

Knows packages and lines of JSON (`engine_peer_app.py`). Invariant: a runtime that cannot be installed or does not run
is a line that says why, never the end of the benchmark.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.bench.peers import Absent, environment

OPENVINO = ("openvino", ("openvino-genai==2026.4.1", "gguf==0.19.0", "safetensors"))
# A release of the bindings is one of llama.cpp, whose interface changes; built from source, which takes minutes.
LLAMACPP = ("llamacpp", ("llama-cpp-python==0.3.36", "gguf==0.19.0", "safetensors"))
PEERS = {
    "OpenVINO GenAI, float32": (OPENVINO, "openvino", "float32"),
    "OpenVINO GenAI, precision of its own": (OPENVINO, "openvino", "default"),
    "llama.cpp, flash attention": (LLAMACPP, "llamacpp", "flash"),
    "llama.cpp, no flash attention": (LLAMACPP, "llamacpp", "plain"),
}


@dataclass(frozen=True, slots=True)
class Peer:
    """A runtime that waits for lines; `log` is what it says beside its answers."""

    name: str
    process: subprocess.Popen[str]
    log: Path

    def ask(self, prompts: Sequence[Sequence[int]], most: int) -> tuple[float, list[list[int]]]:
        """Answer prompts greedily and together: CPU seconds, and the tokens said. Raises Absent when it has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"prompts": [list(one) for one in prompts], "most": most}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.line()
        return answer["seconds"], answer["said"]

    def line(self) -> dict[str, Any]:
        """Its next line. Raises Absent when it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        said = self.log.read_text(errors="replace").split("\n")
        raise Absent(f"it ended: {next((line for line in reversed(said) if line.strip()), 'without a word')[-300:]}")


@contextmanager
def peers(folder: Path) -> Iterator[tuple[list[Peer], list[str]]]:
    """Runtimes over a model folder, and a line for each that is not there."""
    running: list[Peer] = []
    missing: list[str] = []
    with ExitStack() as stack:
        for name, (wanted, kind, variant) in PEERS.items():
            log = folder.with_name(f"{kind}-{variant}.log")
            try:
                program = str(environment(wanted) / "python")
                app = str(Path(__file__).with_name("engine_peer_app.py"))
                command = [program, "-I", app, kind, variant, str(folder), str(log.with_suffix(".gguf"))]
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"), text=True
                )
                stack.enter_context(process)
                stack.callback(process.kill)
                peer = Peer(name, process, log)
                peer.line()
            except (Absent, OSError) as error:
                missing.append(f"{name} is not measured: {' '.join(str(error).split())}")
            else:
                running.append(peer)
        yield running, missing
