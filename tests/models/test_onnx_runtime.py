"""ONNX Runtime's telemetry: a machine that runs semcache reports nothing to its makers unless its owner wants it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EMBED = (
    "import os; from semcache.models.cross_encoder import CrossEncoder;"
    " from semcache.models.embedders import DEFAULT_MODEL;"
    " from semcache.models.embedders.onnx import OnnxEmbedder;"
    " OnnxEmbedder(DEFAULT_MODEL).encode(['How do I pay?']); CrossEncoder();"
    " print(os.environ['ORT_DISABLE_TELEMETRY'])"
)


def embedded(home: Path, **more: str) -> str:
    """What a new process, whose home is `home`, prints after it has loaded the embedder and the verifier."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_"))}
    env = kept | {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"} | more
    done = subprocess.run([sys.executable, "-c", EMBED], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_no_identifier_of_the_machine_is_made_and_nothing_is_reported(tmp_path: Path) -> None:
    assert embedded(tmp_path) == "1"
    assert list(tmp_path.iterdir()) == []


def test_who_has_set_the_variable_keeps_the_value(tmp_path: Path) -> None:
    assert embedded(tmp_path, ORT_DISABLE_TELEMETRY="true") == "true"


def test_it_is_imported_in_one_place_so_that_no_import_comes_before_the_switch() -> None:
    named = re.compile(r"^\s*(?:import|from) onnxruntime\b", re.MULTILINE)
    found = [path.name for path in (ROOT / "semcache").rglob("*.py") if named.search(path.read_text(encoding="utf-8"))]
    assert found == ["onnx_runtime.py"]
