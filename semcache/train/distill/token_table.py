"""A static student: one vector for each token of the teacher's vocabulary, summed over a text.

Each token is read by the teacher by itself (as in Model2Vec, Minish 2024); the component that all tokens share is taken
out, and frequent tokens weigh less (SIF: Arora, Liang, Ma 2017, algorithm 1, with weights a / (a + p)). Knows the
teacher's graph and token counts, no labels. Invariant: equal teachers and texts give equal tables; special tokens weigh
nothing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.models.embedders.static_table import VECTORS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

_A = 1e-3
_AT_ONCE = 64  # tokens that the teacher reads in one run
_READS = 512  # tokens of a text


def token_vectors(teacher: Path) -> Array:
    """The vector that the model folder `teacher` gives each token alone, shape (vocabulary, dim)."""
    from tokenizers import Tokenizer

    from semcache.models.onnx_runtime import onnx_runtime

    tokenizer = Tokenizer.from_file(str(teacher / "tokenizer.json"))
    whole = tokenizer.encode("a").ids
    if len(whole) < 2:  # a teacher without marks of beginning and end
        whole = [whole[0], *whole, whole[0]]
    session = onnx_runtime().InferenceSession(str(teacher / "model.onnx"), providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    found = []
    for at in range(0, tokenizer.get_vocab_size(), _AT_ONCE):
        tokens = np.arange(at, min(at + _AT_ONCE, tokenizer.get_vocab_size()))
        ids = np.stack([np.full_like(tokens, whole[0]), tokens, np.full_like(tokens, whole[-1])], axis=1)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        found.append(session.run(None, {name: feed[name] for name in wanted})[0])
    vectors: Array = np.concatenate(found)
    return vectors


def weighted(vectors: Array, teacher: Path, texts: Sequence[str]) -> Array:
    """The tokens' vectors without what they share, each by its weight; `texts` tell how frequent tokens are."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(teacher / "tokenizer.json"))
    tokenizer.no_padding()
    counts = np.ones(len(vectors))
    for line in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False):
        np.add.at(counts, line.ids, 1)
    share = counts / counts.sum()
    special = [number for token in _special(teacher) if (number := tokenizer.token_to_id(token)) is not None]
    common = (share[:, None] * vectors).sum(axis=0)
    found: Array = ((vectors - common) * (_A / (_A + share))[:, None]).astype(np.float32)
    found[special] = 0.0
    return found


def write(table: Array, teacher: Path, out: Path, *, name: str, how: str) -> dict[str, Any]:
    """Write vectors.npy, tokenizer.json, model.json and README.md to `out`; return what model.json says."""
    said = json.loads((teacher / "model.json").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    # One size for all: half precision holds numbers near 1 best, and a text's length is divided out anyway.
    np.save(out / VECTORS, (table / np.abs(table).max()).astype(np.float16), allow_pickle=False)
    shutil.copyfile(teacher / "tokenizer.json", out / "tokenizer.json")
    digests = {file: hashlib.sha256((out / file).read_bytes()).hexdigest() for file in (VECTORS, "tokenizer.json")}
    card = {
        "format": 1,
        "kind": "static",
        "id": f"{name}/static/{digests[VECTORS][:12]}",
        "dim": table.shape[1],
        "max_tokens": _READS,
        "precision": "float16",
        "source": f"{said['id']}, {how}",
        "licence": said.get("licence", "as its source"),
        **({"language": said["language"]} if said.get("language") else {}),
        "sha256": digests,
    }
    (out / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    lines = [f"# {name}", "", f"- Source: {card['source']}", f"- Licence: {card['licence']}"]
    lines += [f"- A table of {len(table)} tokens in {table.shape[1]} dimensions: `static:FOLDER`", ""]
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")
    return card


def _special(teacher: Path) -> list[str]:
    told = json.loads((teacher / "tokenizer.json").read_text(encoding="utf-8"))
    return [str(token["content"]) for token in told.get("added_tokens", []) if token.get("special")]
