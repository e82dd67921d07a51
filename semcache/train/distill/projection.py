"""A model folder whose vectors are those of another one behind a linear map: the graph gets two more nodes.

Works on any folder that `semcache.models.embedders.onnx` loads, int8 or float32, without the weights that it came
from. The graph keeps giving the whole vector as a second output, so that whoever wants to compare at full precision
need not run it twice. Knows onnx and the card, nothing of how the map came about. Invariant: the source folder is only
read, and the same folder and map give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError, InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMBEDDING, WHOLE = "embedding", "whole"


def need_onnx() -> None:
    """Raise ConfigError where the library that writes graphs is not installed."""
    if find_spec("onnx") is None:
        raise ConfigError("writing a model needs onnx: pip install 'semcache-llm[train]'")


def project(source: Path, out: Path, matrix: NDArray[np.float32], *, name: str, how: str) -> dict[str, Any]:
    """Write to `out` the model of `source` behind `matrix`, shape (rows, its dimension); return what model.json says.

    `how` says in the card what the map is. Raises ConfigError for a folder that is no model, InvalidArgument for a map
    that does not fit it.
    """
    need_onnx()
    import onnx
    from onnx import helper, numpy_helper

    card = _card(source)
    rows, dim = matrix.shape
    if dim != int(card["dim"]) or not np.all(np.isfinite(matrix)):
        raise InvalidArgument(f"a map of shape {matrix.shape} does not fit the {card['dim']} dimensions of {source}")
    try:
        model = onnx.load(str(source / "model.onnx"))
    except Exception as error:  # onnx raises protobuf's errors and its own
        raise ConfigError(f"the model in {source} cannot be read: {error}") from error
    graph = model.graph
    # What went through here before has a "whole" of its own: what counts now is what this map reads.
    _rename(graph, WHOLE, "whole.before")
    _rename(graph, EMBEDDING, WHOLE)
    suffix = len(graph.node)
    graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(matrix.T), f"map.{suffix}"))
    graph.node.extend([
        helper.make_node("MatMul", [WHOLE, f"map.{suffix}"], [f"mapped.{suffix}"], name=f"mapped.{suffix}"),
        helper.make_node("LpNormalization", [f"mapped.{suffix}"], [EMBEDDING], name=EMBEDDING, axis=1, p=2),
    ])  # fmt: skip
    del graph.output[:]
    for output, width in ((EMBEDDING, rows), (WHOLE, dim)):
        graph.output.append(helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, ["batch", width]))
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(out / "model.onnx"))
    shutil.copyfile(source / "tokenizer.json", out / "tokenizer.json")
    digests = {file: hashlib.sha256((out / file).read_bytes()).hexdigest() for file in ("model.onnx", "tokenizer.json")}
    made = {key: value for key, value in card.items() if key != "cosine_to_float32"} | {
        "id": f"{name}/{card.get('pooling', 'mean')}/{card.get('precision', 'float32')}/{digests['model.onnx'][:12]}",
        "dim": rows,
        "source": f"{card['id']}, {how}",
        "sha256": digests,
    }
    (out / "model.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    lines = [f"# {name}", "", f"- Source: {made['source']}", f"- Licence: {made.get('licence', 'as its source')}"]
    lines += [f"- Vectors: {rows} dimensions, L2-normalised; those of the source, {dim}, are the second output", ""]
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")
    return made


def _rename(graph: Any, old: str, new: str) -> None:
    for node in graph.node:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name == old:
                    names[place] = new
        if node.name == old:
            node.name = new


def _card(folder: Path) -> dict[str, Any]:
    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return {**card, "id": str(card["id"]), "dim": int(card["dim"])}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{folder} is no model folder: model.json cannot be read ({error})") from error
