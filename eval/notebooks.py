"""Runs the notebooks of `notebooks/` and writes them down with what they printed and drew, as `.ipynb` beside them.

A notebook is a Python file in jupytext's percent format. Knows cells and outputs, nothing of what they are about.
Invariant: an `.ipynb` says which text it was made of, and shows what one run from top to bottom printed and drew; a
notebook runs in a folder of its own, so that nothing of this machine, of the clock or of chance is in its file.

    python -m eval.notebooks [NAME ...] [--check]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "notebooks"
_HEADER = "# ---\n# jupyter:\n"  # what a notebook begins with, and a module that notebooks import does not
_LONGEST = 3600  # seconds that one cell may take, on a machine that does other things as well
_TERMINAL = re.compile(r"\x1b\[[0-9;]*m")
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "NO_COLOR": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run notebooks or check them; exit status 1 when `--check` finds one that was run with another text."""
    parser = argparse.ArgumentParser(prog="python -m eval.notebooks", description="Run the notebooks.")
    names = [path.stem for path in notebooks()]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--check", action="store_true", help="run nothing; fail when a notebook has to be run again")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(names)):
        parser.error(f"no notebook {unknown[0]!r}: choose from {', '.join(names)}")
    chosen = [path for path in notebooks() if not options.names or path.stem in options.names]
    if options.check:
        stale = [path for path in chosen if not fresh(path)]
        for path in stale:
            print(f"{rendered(path).name}: stale: run `python -m eval.notebooks {path.stem}`")
        return 1 if stale else 0
    for path in chosen:
        print(f"running {path.name}", flush=True)
        write(path, run(path)[0])
    return 0


def notebooks(folder: Path = FOLDER) -> list[Path]:
    """The notebooks of a folder, in the order of their names."""
    return [path for path in sorted(folder.glob("*.py")) if path.read_text(encoding="utf-8").startswith(_HEADER)]


def rendered(path: Path) -> Path:
    """Where a notebook lies with its outputs."""
    return path.with_suffix(".ipynb")


def fresh(path: Path) -> bool:
    """Return True if the outputs of a notebook are those of its present text."""
    if not rendered(path).is_file():
        return False
    notebook = json.loads(rendered(path).read_text(encoding="utf-8"))
    return bool(notebook["metadata"].get("made_of") == _digest(path))


def run(path: Path, tell: Mapping[str, str] | None = None) -> tuple[Any, dict[str, Any]]:
    """The notebook with its outputs, and the values that the expressions of `tell` have after its last cell.

    Values are those that JSON can hold. Raises nbclient's CellExecutionError where a cell fails.
    """
    jupytext, nbclient, nbformat = map(import_module, ("jupytext", "nbclient", "nbformat"))
    made_of = _digest(path)
    notebook = jupytext.read(path)
    notebook.metadata["made_of"] = made_of
    cells = list(notebook.cells)
    asked = f"import json\nprint(json.dumps({{{', '.join(f'{k!r}: {v}' for k, v in (tell or {}).items())}}}))"
    notebook.cells.append(nbformat.v4.new_code_cell(asked))
    paths = os.pathsep.join(part for part in (str(FOLDER), os.environ.get("PYTHONPATH", "")) if part)
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        client = nbclient.NotebookClient(
            notebook,
            timeout=_LONGEST,
            startup_timeout=_LONGEST,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": paths})
    printed = [output.text for output in notebook.cells[-1].outputs if output.get("name") == "stdout"]
    told = json.loads("".join(printed))
    notebook.cells = cells
    return notebook, told


def write(path: Path, notebook: Any) -> None:
    """Write a notebook that was run, with what a reader is to see of its outputs."""
    nbformat = import_module("nbformat")
    notebook.metadata.pop("language_info", None)  # holds the version of the Python that ran it
    notebook.metadata.get("jupytext", {}).pop("text_representation", None)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [nbformat.from_dict(output) for output in _shown(cell.outputs)]
    nbformat.validate(notebook)
    rendered(path).write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")


def _shown(outputs: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """What a reader sees of a cell, as outputs: texts, figures and Markdown."""
    printed = ""
    for output in outputs:
        if output.output_type == "stream":
            # Libraries warn on standard error; what the notebook says goes to the other one.
            printed += output.text if output.name == "stdout" else ""
            continue
        yield from _stream(printed)
        printed = ""
        data = output.get("data", {})
        kind = next((kind for kind in ("image/png", "text/markdown", "text/plain") if kind in data), None)
        if kind is not None:
            value = data[kind] if kind == "image/png" else _plain(data[kind])
            yield {"output_type": "display_data", "metadata": {}, "data": {kind: value}}
    yield from _stream(printed)


def _stream(text: str) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield {"output_type": "stream", "name": "stdout", "text": _plain(text) + "\n"}


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in _TERMINAL.sub("", text).strip("\n").splitlines())


def _digest(path: Path) -> str:
    """The digest of a notebook's text and of the modules beside it that notebooks import."""
    modules = sorted(set(path.parent.glob("*.py")) - set(notebooks(path.parent)) - {path})
    return blake2b(b"\0".join(each.read_bytes() for each in (path, *modules)), digest_size=8).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
