"""The pages are in step with the code and with each other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from eval import docs
from eval.mkdocs_hook import on_page_markdown
from semcache.types import Why
from tests.docs.fences import PAGES, ROOT

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"""code=["'](?P<code>\w+)["']""")
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
    assert sorted(shown) == sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    assert all((ROOT / hook).is_file() for hook in site["hooks"])


def test_the_site_sees_no_words_of_the_tests() -> None:
    page = "```bash no-run\nls\n```\n\n```text output\nfile\n```\n\n```python\nx = 1\n```\n"
    assert on_page_markdown(page) == "```bash\nls\n```\n\n```text\nfile\n```\n\n```python\nx = 1\n```\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for match in LINK.finditer(text):
        path, _, anchor = match["target"].partition("#")
        if path.startswith(("http://", "https://")):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {match['target']}"
        if page.parent == ROOT / "docs":
            assert target.is_relative_to(ROOT / "docs"), f"{page.name}: {target} is not part of the site"
        if anchor:
            found = {slug(heading) for heading in HEADING.findall(target.read_text(encoding="utf-8"))}
            assert anchor in found, f"{page.name}: {match['target']}; there are {sorted(found)}"


def test_every_error_code_of_the_proxy_is_on_its_page() -> None:
    sources = [*(ROOT / "semcache" / "proxy").glob("*.py"), *(ROOT / "semcache" / "wire").glob("*.py")]
    sources.append(ROOT / "semcache" / "categorize.py")
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
