"""What goes into an image is named by its hash, and a release says what it is made of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def locked(name: str) -> dict[str, list[str]]:
    """The packages of a lock and the hashes of each."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            package = re.match(r"([\w.-]+)==", line)
            assert package is not None, line
            found[package[1].lower()] = re.findall(r"--hash=sha256:([0-9a-f]{64})", line)
    return found


def test_every_dependency_is_in_the_lock_with_its_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(one for extra in ("postgres", "hnsw") for one in project["optional-dependencies"][extra]),
    ]
    lock = locked("requirements.lock")
    names = {re.match(r"[\w.-]+", one)[0].lower() for one in wanted}  # type: ignore[index]
    assert names <= lock.keys(), "run the command in CONTRIBUTING.md that makes the lock"
    assert all(hashes for hashes in lock.values())
    assert all(hashes for hashes in locked("build-requirements.lock").values())


def test_torch_litellms_environment_and_the_builders_are_named_by_hash() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    torch, litellm, release = (locked(f"{name}.lock") for name in ("torch", "litellm", "release"))
    builders = locked("build-requirements.lock")
    assert all(hashes for lock in (torch, litellm, release, builders) for hashes in lock.values())
    assert "torch" in torch
    wanted = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["litellm"]]
    assert {re.match(r"[\w.-]+", one)[0].lower() for one in wanted} <= litellm.keys()  # type: ignore[index]
    assert {"build", "cyclonedx-bom"} <= release.keys()
    # hnswlib is the one package that comes as source.
    assert {"hatchling", "setuptools", "wheel", "pybind11", "numpy"} <= builders.keys()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    version = re.search(r"torch==([\d.]+)\)", makefile)
    assert version is not None
    assert f"torch=={version[1]} " in (DEPLOY / "torch.lock").read_text(encoding="utf-8")
    for text in (makefile, (DEPLOY / "Dockerfile").read_text(encoding="utf-8")):
        assert "--no-build-isolation --require-hashes" in text
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "python -m build --no-isolation" in workflow
    assert "--upgrade" not in workflow


def test_no_lock_names_a_place_to_install_from() -> None:
    for lock in DEPLOY.glob("*.lock"):
        assert "://" not in lock.read_text(encoding="utf-8")
        assert "index-url" not in lock.read_text(encoding="utf-8")


def test_the_image_installs_by_hash_on_a_base_that_a_release_names_by_digest() -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes" in image
    assert re.findall(r"^FROM (\S+)", image, re.MULTILINE) == ["${BASE}", "${BASE}"]
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "build-args: BASE=${{ steps.base.outputs.image }}" in release
    for wanted in ("sbom: true", "provenance: mode=max", "attest-build-provenance", "cyclonedx-py"):
        assert wanted in release


def test_what_ci_installs_is_named_by_hash() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups, lock = project["dependency-groups"], locked("ci.lock")
    wanted = [*project["project"]["dependencies"], *groups["demo"], *groups["test"], *groups["lint"]]
    wanted += [one for extra in ("train", "engine") for one in project["project"]["optional-dependencies"][extra]]
    names = {re.match(r"[\w.-]+", one)[0].lower() for one in wanted if isinstance(one, str)} - {"torch"}  # type: ignore[index]
    assert {name.replace("_", "-") for name in names} <= lock.keys(), "CONTRIBUTING.md says how the lock is made"
    assert all(lock.values())
    assert {re.match(r"[\w-]+", one)[0] for one in groups["docs"]} <= locked("docs.lock").keys()  # type: ignore[index]
    for workflow in ("ci.yml", "release.yml"):
        text = (ROOT / ".github" / "workflows" / workflow).read_text(encoding="utf-8")
        assert 'LOCKED: "1"' in text
    assert "--require-hashes" in (ROOT / "Makefile").read_text(encoding="utf-8")
