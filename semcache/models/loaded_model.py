"""A loaded model: the tokenizer and the ONNX session of a folder, held once in a process for all that use it.

Several caches of one process, or a cache and a command beside it, would otherwise hold as many copies of the weights.
Knows the files, nothing of what is computed with them. Invariant: a folder whose files were replaced is loaded anew,
and what is loaded goes with the last that uses it.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from tokenizers import Tokenizer

from semcache.models.model_card import FileVersion, version_of
from semcache.models.onnx_runtime import onnx_runtime

if TYPE_CHECKING:
    from pathlib import Path

_GRAPH, _TOKENIZER = "model.onnx", "tokenizer.json"
# The process is part of the key: a session is not to be used in a fork of the process that made it.
_Key: TypeAlias = "tuple[int, FileVersion, FileVersion, int, int | None]"
_lock = threading.Lock()


class LoadedModel:
    """The `tokenizer` and the `session` of one folder. Both are shared: neither is to be changed."""

    __slots__ = ("__weakref__", "session", "tokenizer")

    def __init__(self, folder: Path, threads: int, longest: int | None) -> None:
        """Load it. Raises whatever the two libraries raise."""
        graph = str(folder / _GRAPH)
        self.session = onnx_runtime().InferenceSession(graph, _options(threads), providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self.tokenizer.encode_special_tokens = True  # who writes "[SEP]" means these letters
        self.tokenizer.no_padding()
        if longest is None:
            self.tokenizer.no_truncation()
        else:
            self.tokenizer.enable_truncation(longest)


_loaded: WeakValueDictionary[_Key, LoadedModel] = WeakValueDictionary()


def load(folder: Path, *, threads: int = 1, longest: int | None = None) -> LoadedModel:
    """The model of a folder, run by `threads` threads; texts are cut off after `longest` tokens, if that is a number.

    Raises OSError for a missing file, and whatever the two libraries raise.
    """
    key = (os.getpid(), version_of(folder / _GRAPH), version_of(folder / _TOKENIZER), threads, longest)
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = LoadedModel(folder, threads, longest)
        return found


def _options(threads: int) -> Any:
    onnxruntime = onnx_runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The exported graph is already in the form that runs fastest: the extended passes would fuse its normalisations
    # into a slower kernel.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
