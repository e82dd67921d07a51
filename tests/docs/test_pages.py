"""The pages are in step with the code and with each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from eval import docs
from eval.mkdocs_hook import SHOWN, linked, on_page_markdown, page_of
from semcache.types import Why
from tests.docs.fences import PAGES, ROOT

CODE = re.compile(r"""code=["'](?P<code>\w+)["']""")
FIRST = ("index", "quickstart", "how-it-decides", "policies", "faq")
HEADING = re.compile(r"^#{1,6} (?P<text>.+)$", re.MULTILINE)


def test_generated_parts_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "eval.docs", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stale_page_fails_the_check_and_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- generated: why -->\nold\n<!-- end: why -->\nAfter\n", encoding="utf-8")
    monkeypatch.setattr(docs, "pages", lambda: [page])
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    assert docs.main(["--check"]) == 1
    assert "old" in page.read_text(encoding="utf-8")
    assert docs.main([]) == 0
    assert docs.main(["--check"]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before\n")
    assert text.endswith("After\n")
    assert all(f"`{why.value}`" in text for why in Why)


def test_every_generated_part_is_used_and_closed() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in docs.pages())
    opened = re.findall(r"<!-- generated: ([\w-]+) -->", text)
    assert sorted(opened) == sorted(docs.BLOCKS)
    assert re.findall(r"<!-- end: ([\w-]+) -->", text) == opened


def test_the_site_shows_every_page_once() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    shown: list[str] = []
    for item in site["nav"]:
        shown += [item] if isinstance(item, str) else next(iter(item.values()))
    folder = ROOT / site["docs_dir"]
    pages = [path.relative_to(folder).as_posix() for path in folder.rglob("*.md")]
    pages += [f"notebooks/{path.stem}.md" for path in (ROOT / "notebooks").glob("*.ipynb")]
    assert sorted(shown) == sorted([*pages, *SHOWN.values()])
    assert all((ROOT / hook).is_file() for hook in site["hooks"])


def test_the_site_sees_no_words_of_the_tests() -> None:
    page = "```bash no-run\nls\n```\n\n```text output\nfile\n```\n\n```python\nx = 1\n```\n"
    assert on_page_markdown(page) == "```bash\nls\n```\n\n```text\nfile\n```\n\n```python\nx = 1\n```\n"


def test_links_hold_on_the_site_as_in_the_repository() -> None:
    page = (
        "[a](policies.md#schema) [b](../notebooks/fine-tuning.ipynb) [c](../CHANGELOG.md) [d](../eval/traps.py)\n"
        "[e](https://example.org/x.md) [f](#here)\n```text\n[b](../notebooks/fine-tuning.ipynb)\n```\n"
    )
    assert linked(page, "index.md", "https://example.org/repo") == (
        "[a](policies.md#schema) [b](notebooks/fine-tuning.md) [c](changelog.md)"
        " [d](https://example.org/repo/blob/main/eval/traps.py)\n"
        "[e](https://example.org/x.md) [f](#here)\n```text\n[b](../notebooks/fine-tuning.ipynb)\n```\n"
    )
    assert linked("[d](../eval/traps.py)", "index.md", None) == "d"
    assert linked("[g](docs/faq.md)", "changelog.md", None) == "[g](faq.md)"
    assert linked("[h](../docs/faq.md#x)", "notebooks/fine-tuning.md", None) == "[h](../faq.md#x)"
    assert linked("[i](reading-a-curve.ipynb)", "notebooks/fine-tuning.md", None) == "[i](reading-a-curve.md)"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_site_shows_what_a_notebook_printed_and_drew(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text, figures = page_of(notebook, path.stem)
    assert text.startswith("# ")
    assert figures
    assert all(content.startswith(b"\x89PNG") for content in figures.values())
    assert re.findall(r"^!\[[^\]]{10,}\]\((.+)\)$", text, re.MULTILINE) == list(figures)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            assert "".join(output.get("text", "")).strip() in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for match in re.finditer(r"\]\((?P<target>[^)\s]+)\)", text):
        path, _, anchor = match["target"].partition("#")
        if path.startswith(("http://", "https://")):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {match['target']}"
        if anchor:
            found = {slug(heading) for heading in HEADING.findall(target.read_text(encoding="utf-8"))}
            assert anchor in found, f"{page.name}: {match['target']}; there are {sorted(found)}"


@pytest.mark.parametrize("page", ["README", *(f"docs/{name}" for name in FIRST)])
def test_pages_that_are_read_first_take_five_minutes(page: str) -> None:
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) <= 1150  # 230 words a minute


def test_every_reason_is_explained_to_those_who_wonder() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("| `") or "reasons of hits" in line)
    assert {why.value for why in Why if f"`{why.value}`" not in rows} == set()


def test_paths_that_are_named_to_contributors_exist() -> None:
    for page in (ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"):
        for line in page.read_text(encoding="utf-8").splitlines():
            named = re.findall(r"`((?:[\w.-]+/)+|(?:[\w.-]+/)*[\w-]+\.(?:py|md|yaml|yml|toml))`", line)
            folder = ROOT
            for path in named:
                if "/" in path or not (folder / path).exists():  # else it stands "beside" the one before
                    bases = (ROOT, ROOT / "semcache", ROOT / "tests")
                    found = next((base / path for base in bases if (base / path).exists()), None)
                    assert found is not None, f"{page.name}: {path}"
                    folder = found.parent


def test_the_glossary_has_the_words_of_the_code_in_order() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [re.findall(r"\*\*([^*]+)\*\*", row.split("|")[1]) for row in page.splitlines() if row.startswith("| **")]
    words = {word for row in rows for word in row}
    assert {"entry", "partition", "category", "pack", "certificate", "audit", "label", "alias"} <= words
    assert {"verdict", "coalescing", "strategy", "target", "contract", "signature", "scope", "near hit"} <= words
    firsts = [row[0].lower() for row in rows if row[0] != "provisional"]
    assert firsts == sorted(firsts)


def test_the_public_api_is_there() -> None:
    page = (ROOT / "docs" / "api-stability.md").read_text(encoding="utf-8")
    surface = page[page.index("## Public") : page.index("## Not public")]
    named = re.findall(r"`(semcache(?:[._]\w+)+)`", surface)
    assert "semcache.SemanticCache" in named
    assert {path.stem for path in (ROOT / "adapters").glob("*.py")} <= set(named)
    for name in named:
        module, _, attribute = name.rpartition(".")
        if find_spec(name.partition(".")[0]) is None or not module:
            assert (ROOT / "adapters" / f"{name}.py").is_file(), name
        else:
            assert hasattr(import_module(module), attribute) or find_spec(name) is not None, name


def test_every_error_code_of_the_proxy_is_on_its_page() -> None:
    rooms = ("proxy", "dialects", "request")
    sources = [path for room in rooms for path in (ROOT / "semcache" / room).rglob("*.py")]
    codes = {code for path in sources for code in CODE.findall(path.read_text(encoding="utf-8"))}
    assert "not_cached" in codes
    page = (ROOT / "docs" / "http-api.md").read_text(encoding="utf-8")
    assert {code for code in codes if f"`{code}`" not in page} == set()


def test_every_page_begins_with_a_title_and_what_it_is_for() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        title, blank, first, *_ = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith("# "), page
        assert blank == "", page
        assert first[:1].isalpha(), page


def slug(heading: str) -> str:
    """The anchor that MkDocs and GitHub make of a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
