"""MkDocs' hook: shows files from outside `docs/` on the site, and makes pages of the repository pages of the site.

- Root files and executed notebooks become pages; links between pages hold in the repository and on the site.
- A link to a file that is no page leads to the repository, where `[project.urls]` in pyproject.toml names one.
- The words behind a fence's language, which are for the tests, are taken away.

Invariant: the site is made of files of the repository alone; its addresses stand in pyproject.toml and nowhere else.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SHOWN = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
_FENCE_WORDS = re.compile(r"^(```\w+)[ ]+[\w -]+$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s#:]*)(?P<anchor>#[^)\s]*)?\)")


def on_config(config: Any, **_: Any) -> Any:
    """Take the addresses from pyproject.toml."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    config.site_url, config.repo_url = urls.get("Documentation"), urls.get("Source")
    config.repo_name = None if config.repo_url is None else config.repo_url.rstrip("/").rpartition("/")[2]
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages that do not lie in `docs/`."""
    from mkdocs.structure.files import File

    for source, page in SHOWN.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text, figures = page_of(json.loads(path.read_text(encoding="utf-8")), path.stem)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in figures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any = None, config: Any = None, **_: Any) -> str:
    """The page as MkDocs is to read it."""
    markdown = _FENCE_WORDS.sub(r"\1", markdown)
    return markdown if page is None else linked(markdown, page.file.src_uri, config.repo_url)


def page_of(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """An executed notebook as Markdown, and its figures by the names of their files."""
    parts: list[str] = []
    figures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                figure = f"{name}-{len(figures) + 1}.png"
                figures[figure] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![{cell['metadata'].get('alt', 'Figure')}]({figure})")
            elif "text/markdown" in data:
                parts.append("".join(data["text/markdown"]).strip())
            else:
                text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n", figures


def linked(markdown: str, page: str, repository: str | None) -> str:
    """A page whose links lead to pages of the site, or to the repository, where they lead out of `docs/`."""
    folder = posixpath.dirname(_source(page))

    def replaced(found: re.Match[str]) -> str:
        if not found["target"]:
            return found[0]
        source = posixpath.normpath(posixpath.join(folder, found["target"]))
        shown = _page(source)
        if shown is not None:
            target = posixpath.relpath(shown, posixpath.dirname(page) or ".")
            return f"[{found['text']}]({target}{found['anchor'] or ''})"
        if repository is None:
            return found["text"]
        return f"[{found['text']}]({repository.rstrip('/')}/blob/main/{source}{found['anchor'] or ''})"

    # Code is left as it is.
    return "".join(
        part if place % 2 else _LINK.sub(replaced, part)
        for place, part in enumerate(re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL))
    )


def _source(page: str) -> str:
    """The file of the repository that a page of the site is made of."""
    if page.startswith("notebooks/"):
        return page.removesuffix(".md") + ".ipynb"
    return next((source for source, shown in SHOWN.items() if shown == page), f"docs/{page}")


def _page(source: str) -> str | None:
    """The page of the site that is made of a file of the repository, if there is one."""
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    if source.startswith("notebooks/") and source.endswith(".ipynb"):
        return source.removesuffix(".ipynb") + ".md"
    return SHOWN.get(source)
