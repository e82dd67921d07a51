"""The installed embedder: which model folder in the data folder is in use.

Knows the data folder, no store. Invariant: `use` replaces the pointer in one step, and a pointer never names a folder
that is not there.

    DATA/models/NAME-DIGEST/    model folders, never changed once they are there
    DATA/embedder.json          {"model": "NAME-DIGEST"}; without it, the embedder that ships
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from semcache.errors import ConfigError

POINTER, MODELS, PRIOR = "embedder.json", "models", "prior.json"


def spec_of(spec: str, data: Path | None) -> str:
    """Resolve "default" in a data folder, as `open_embedder` takes it; any other `spec` is returned as it is.

    Raises ConfigError where the pointer is damaged or names a folder that is gone.
    """
    folder = None if spec != "default" or data is None else current(data)
    return spec if folder is None else f"onnx:{folder}"


def prior_of(spec: str) -> Path | None:
    """Where the decision prior of the embedder that `spec` names would lie; None for one that has no folder."""
    kind, _, folder = spec.partition(":")
    return Path(folder) / PRIOR if kind in ("onnx", "static") and folder else None


def current(data: Path) -> Path | None:
    """The folder of the installed model, None without one. Raises ConfigError."""
    pointer = data / POINTER
    try:
        name = json.loads(pointer.read_text(encoding="utf-8"))["model"]
        folder = data / MODELS / str(name)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise ConfigError(f"{data} is a file: the data of a cache is a folder") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{pointer} cannot be read ({error}): run `semcache embedder install` again") from error
    if not (folder / "model.json").is_file():
        raise ConfigError(f"{pointer} names {folder}, which holds no model: run `semcache embedder install` again")
    return folder


def use(data: Path, folder: Path | None) -> None:
    """Point to a folder in DATA/models, or with None back to the embedder that ships. Raises OSError."""
    pointer = data / POINTER
    if folder is None:
        pointer.unlink(missing_ok=True)
        return
    staged = pointer.with_suffix(f".{os.getpid()}.staged")  # two processes may install at once: the last one counts
    try:
        with staged.open("w", encoding="utf-8") as out:
            out.write(json.dumps({"model": folder.name}) + "\n")
            out.flush()
            os.fsync(out.fileno())
        staged.replace(pointer)
    finally:
        staged.unlink(missing_ok=True)
