"""What `pip install` brings: the package, the adapters, the data they need, and nothing under a generic name."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    [wheel] = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_installs_only_its_own_names(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    modules = {path.name for path in (ROOT / "adapters").glob("semcache_*.py")}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"semcache", *modules}


def test_every_module_and_every_data_file_is_inside(names: set[str]) -> None:
    code = {str(path.relative_to(ROOT)) for path in (ROOT / "semcache").rglob("*.py")}
    models = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "semcache" / "models").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    page = {
        str(path.relative_to(ROOT))
        for folder in ("static", "templates")
        for path in (ROOT / "semcache" / "proxy" / "ui" / folder).iterdir()
    }
    assert {"semcache/proxy/ui/static/NOTICE.txt", "semcache/proxy/ui/templates/base.html"} <= page
    packs = {f"semcache/policies/{path.name}" for path in (ROOT / "policies").glob("*.yaml")}
    assert packs
    assert models
    assert code | models | page | packs | {"semcache/py.typed"} <= names


def test_nothing_stray_is_inside(names: set[str]) -> None:
    assert not [name for name in names if "__pycache__" in name or name.endswith((".db", ".log", ".pickle", ".pkl"))]
