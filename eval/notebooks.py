"""Runs the notebooks of the documentation and writes them down, with their figures, as pages of the site.

A notebook is a Python file in jupytext's percent format. Knows cells and outputs, nothing of what they are about.
Invariant: a page says which text it was made of, and shows what one run from top to bottom printed and drew; a notebook
runs in a folder of its own, so that nothing of this machine is in its page.

    python -m eval.notebooks [NAME ...] [--check]
"""

from __future__ import annotations

import argparse
import base64
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

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
_LONGEST = 900  # seconds that one cell may take, on a machine that does other things as well
_TERMINAL = re.compile(r"\x1b\[[0-9;]*m")
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "NO_COLOR": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check pages; exit status 1 when `--check` finds one that was made of another text."""
    parser = argparse.ArgumentParser(prog="python -m eval.notebooks", description="Write the pages of the notebooks.")
    names = [path.stem for path in notebooks()]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--check", action="store_true", help="run nothing; fail when a page is stale")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(names)):
        parser.error(f"no notebook {unknown[0]!r}: choose from {', '.join(names)}")
    chosen = [path for path in notebooks() if not options.names or path.stem in options.names]
    if options.check:
        stale = [path for path in chosen if not fresh(path)]
        for path in stale:
            print(f"{page_of(path).name}: stale: run `python -m eval.notebooks {path.stem}`")
        return 1 if stale else 0
    for path in chosen:
        print(f"running {path.name}", flush=True)
        write(path, run(path)[0])
    return 0


def notebooks() -> list[Path]:
    """The notebooks, in the order of their names."""
    return sorted(FOLDER.glob("*.py"))


def page_of(path: Path) -> Path:
    """Where the page of a notebook lies."""
    return path.with_suffix(".md")


def fresh(path: Path) -> bool:
    """Whether the page was made of the notebook as it is now, and its figures are there."""
    page = page_of(path)
    if not page.is_file():
        return False
    text = page.read_text(encoding="utf-8")
    figures = re.findall(r"^!\[[^\]]*\]\(([^)]+)\)$", text, re.MULTILINE)
    return text.endswith(_colophon(path, _digest(path))) and all((page.parent / figure).is_file() for figure in figures)


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
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        client = nbclient.NotebookClient(
            notebook,
            timeout=_LONGEST,
            startup_timeout=_LONGEST,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, **_ENVIRONMENT})
    printed = [output.text for output in notebook.cells[-1].outputs if output.get("name") == "stdout"]
    told = json.loads("".join(printed))
    notebook.cells = cells
    return notebook, told


def write(path: Path, notebook: Any) -> None:
    """Write the page of a notebook that was run, and its figures beside it."""
    for old in path.parent.glob(f"{path.stem}-*.png"):
        old.unlink()
    parts: list[str] = []
    figures = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source.strip())
            continue
        parts.append(f"```python\n{cell.source.strip()}\n```")
        for kind, content in _shown(cell.outputs):
            if kind == "figure":
                figures += 1
                name = f"{path.stem}-{figures}.png"
                (path.parent / name).write_bytes(base64.b64decode(content))
                parts.append(f"![{cell.metadata.get('alt', f'Figure {figures}')}]({name})")
            else:
                parts.append(content if kind == "markdown" else f"```text\n{content}\n```")
    page_of(path).write_text("\n\n".join([*parts, _colophon(path, notebook.metadata["made_of"])]), encoding="utf-8")


def _shown(outputs: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What a reader sees of a cell: ("figure", base64), ("markdown", text) or ("text", text)."""
    printed = ""
    for output in outputs:
        if output.output_type == "stream":
            # Libraries warn on standard error; what the notebook says goes to the other one.
            printed += output.text if output.name == "stdout" else ""
            continue
        if printed.strip():
            yield "text", _plain(printed)
            printed = ""
        data = output.get("data", {})
        if "image/png" in data:
            yield "figure", data["image/png"]
        elif "text/markdown" in data:
            yield "markdown", data["text/markdown"].strip()
        elif "text/plain" in data:
            yield "text", _plain(data["text/plain"])
    if printed.strip():
        yield "text", _plain(printed)


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in _TERMINAL.sub("", text).strip("\n").splitlines())


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=8).hexdigest()


def _colophon(path: Path, digest: str) -> str:
    return (
        f"---\n\nThis page was written by running [{path.name}]({path.name}), a notebook that Jupyter opens with "
        f"jupytext.\n\n<!-- made of {digest} by python -m eval.notebooks -->\n"
    )


if __name__ == "__main__":
    sys.exit(main())
