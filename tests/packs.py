"""Shipped packs under a strategy that serves from the first request on: for tests that are not about learning."""

from __future__ import annotations

from pathlib import Path

from semcache.config.packs import packs_dir


def static(folder: Path, name: str = "default") -> str:
    """Write a shipped pack with `strategy: static`, by meaning alone, into a folder, and return its path."""
    text = (packs_dir() / f"{name}.yaml").read_text(encoding="utf-8")
    head, defaults, rest = text.partition("\ndefaults:\n")
    assert defaults
    path = folder / f"static-{name}.yaml"
    path.write_text(f"{head}{defaults}  strategy: static\n  wording: off\n{rest}", encoding="utf-8")
    return str(path)
