"""Tiny models with random weights, made once per run."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.engine_models import make

Folder = Callable[..., Path]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Makes a model folder by architecture, each kind once."""
    pytest.importorskip("torch", reason="needs the extra `engine`")
    pytest.importorskip("transformers", reason="needs the extra `engine`")
    import torch

    torch.set_num_threads(1)
    made: dict[str, Path] = {}

    def get(kind: str = "llama") -> Path:
        if kind not in made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made[kind] = make(tmp_path_factory.mktemp(kind), kind)
        return made[kind]

    return get
