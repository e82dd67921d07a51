"""A smaller encoder cut out of a larger one: some of its layers, some of its words, the weights as they are.

Works on a sentence-transformers folder of the BERT family; needs safetensors, no torch. The layers kept are evenly
spaced, the first and the last among them (as DistilBERT begins, Sanh et al. 2019, section 2). Invariant: the source is
only read, and a text that could be spelled before can be spelled after.
"""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

from semcache.errors import InvalidArgument
from semcache.train.bert_graph import WORD_EMBEDDINGS
from semcache.train.recipe.vocabulary import trimmed

_LAYER = "encoder.layer."


def cut(source: Path, out: Path, *, layers: int | None, vocabulary: int | None) -> list[int]:
    """Write the student to `out` and return the numbers of the layers that it keeps, counted from 0.

    None keeps all. Raises InvalidArgument for more layers or a smaller vocabulary than there can be.
    """
    config: dict[str, Any] = json.loads((source / "config.json").read_text(encoding="utf-8"))
    kept = spaced(int(config["num_hidden_layers"]), layers)
    library = import_module("safetensors.numpy")
    weights = library.load_file(source / "model.safetensors")
    shutil.copytree(source, out, dirs_exist_ok=True)
    (out / "vocab.txt").unlink(missing_ok=True)  # tokenizer.json says the same, and will say less
    found = {}
    for name, value in weights.items():
        head, mark, tail = name.partition(_LAYER)
        if not mark:
            found[name] = value
        elif (number := int(tail.partition(".")[0])) in kept:
            found[f"{head}{_LAYER}{kept.index(number)}.{tail.partition('.')[2]}"] = value
    config["num_hidden_layers"] = len(kept)
    if vocabulary is not None:
        tokenizer, ids = trimmed((source / "tokenizer.json").read_text(encoding="utf-8"), vocabulary)
        (out / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        name = next(name for name in found if name.endswith(WORD_EMBEDDINGS))
        found[name] = found[name][ids].copy()
        config["vocab_size"], config["pad_token_id"] = len(ids), json.loads(tokenizer)["model"]["vocab"]["[PAD]"]
    library.save_file(found, out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return kept


def spaced(there: int, wanted: int | None) -> list[int]:
    """`wanted` of `there` layers, evenly spaced; one alone is the first. Raises InvalidArgument."""
    if wanted is None or wanted == there:
        return list(range(there))
    if not 1 <= wanted <= there:
        raise InvalidArgument(f"{wanted} layers cannot be taken of {there}")
    return [round(place * (there - 1) / max(wanted - 1, 1)) for place in range(wanted)]
