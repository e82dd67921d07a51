"""The page in a real browser: Chromium, without a window, against a server on a port of its own.

Skipped where there is no Chromium: `apt-get install chromium`, or name one in CHROMIUM.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from semcache.config.settings import Settings
from semcache.proxy.application import Proxy
from semcache.proxy.auth import new_key
from semcache.storage.stores import open_store
from semcache.types import Selector
from tests.proxy.driver import Answer, Upstream, completion
from tests.waiting import PATIENCE, eventually

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = (
    os.environ.get("CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("google-chrome")
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium, or name one in CHROMIUM"),
    # The driver of the browser leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PACK = "name: test\ndefaults:\n  strategy: static\n  wording: off\n  threshold: 0.5\n  quota: 200000\n"
OWN, OTHER = "How do I cancel my subscription?", "How can I cancel my subscription?"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> How do I escape this?"
SECRET = "The recipe that only a may read"
EVERY = ("", "/requests", "/ask", "/entries", "/review", "/live", "/certificates", "/certificates/default",
         "/explorer", "/plans", "/access", "/undo", "/settings")  # fmt: skip


class Served:
    """A proxy in a thread of its own. `stop` and `start` take it down and up again, on the same port and store."""

    def __init__(self, folder: Path, pack: str = PACK) -> None:
        (folder / "pack.yaml").write_text(pack)
        self._folder, self.port = folder, 0
        with ThreadPoolExecutor(1) as aside:
            # The driver of the browser has a loop of its own in this thread.
            work = aside.submit(lambda: asyncio.run(_keys(f"sqlite:///{folder}/semcache.db")))
            self.keys: dict[str, str] = work.result()
        self.start()

    def start(self) -> None:
        given = {
            "data": self._folder / "data",
            "store.url": f"sqlite:///{self._folder}/semcache.db",
            "policies": str(self._folder / "pack.yaml"),
            "embedder": "hashing",
        }
        self.proxy = Proxy(Settings.load(given, {}, None), backend=Upstream(lambda _: Answer([completion(HOSTILE)])))
        config = uvicorn.Config(
            self.proxy, port=self.port, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        eventually(lambda: self._server.started)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        self.page = f"http://127.0.0.1:{self.port}/semcache/ui"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)

    def ask(self, prompt: str, key: str = "a", model: str = "m") -> httpx.Response:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        address = f"http://127.0.0.1:{self.port}/v1/chat/completions"
        return httpx.post(address, json=body, headers={"x-semcache-key": self.keys[key]}, timeout=PATIENCE)

    def run(self, work: Any) -> Any:
        """Run something in the loop of the server."""
        loop = self.proxy.cache.event_log._task.get_loop()
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)


async def _keys(url: str) -> dict[str, str]:
    store = open_store(url)
    await store.open()
    plain: dict[str, str] = {}
    for number, (name, rights) in enumerate(
        {"admin": {"admin": True}, "a": {"trusted": True}, "b": {"trusted": True}}.items()
    ):
        rng = lambda n, number=number: bytes([65 + number]) * n  # noqa: E731
        plain[name], made = new_key(rng, 0.0, name, name, store.salt, **rights)
        await store.add_key(made)
    await store.close()
    return plain


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(tmp_path)
    yield server
    server.stop()


@contextmanager
def visiting(chromium: Any, served: Served, key: str = "admin", **options: Any) -> Iterator[Any]:
    """A page of a browser that is logged in. Fails if anything was written to its console as an error."""
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{served.page}/login")
    page.fill("#key", served.keys[key])
    page.click("button.main")
    page.wait_for_url(served.page)
    page.errors = errors
    yield page
    context.close()
    assert errors == []


def test_a_script_in_a_prompt_and_an_answer_stays_text(chromium: Any, served: Served) -> None:
    for prompt in (HOSTILE, HOSTILE + " please"):
        served.ask(prompt, model="<b>m</b>")
    with visiting(chromium, served) as page:
        for path in ("/requests", "/entries", "/live", "/ask?tenant=a&model=<b>m</b>&prompt=" + HOSTILE):
            page.goto(served.page + path)
            page.get_by_text("document.title='owned'").first.wait_for() if path != "/live" else page.wait_for_selector(
                "#live td"
            )
            assert "owned" not in page.title(), path
        page.goto(f"{served.page}/requests")
        page.locator("a.row").first.click()
        page.get_by_text("The entry's answer").first.click()
        page.get_by_text("The request").first.wait_for()
        assert "owned" not in page.title()


def test_an_operator_finds_why_reports_and_takes_it_back(chromium: Any, served: Served) -> None:
    served.ask(OWN)
    assert "semantic" in served.ask(OTHER).headers["cache-status"]
    with visiting(chromium, served, "a") as page:
        page.keyboard.press("/")
        page.keyboard.type("How can I cancel")
        page.keyboard.press("Enter")
        page.locator("a.row", has_text="How can I cancel").first.click()
        assert page.locator("mark.added").all_inner_texts() == ["can"]
        page.get_by_role("button", name="Wrong for this request").click()
        page.get_by_text("is not served to this request again").wait_for()
        assert "semantic" not in served.ask(OTHER).headers["cache-status"]
        served.run(served.proxy.cache.invalidate(Selector(model="m", ids=_ids(served, OTHER))))
        page.locator(".notice").get_by_role("button", name="Undo").click()
        page.get_by_text("The report is withdrawn").wait_for()
        assert "semantic" in served.ask(OTHER).headers["cache-status"]


def _ids(served: Served, text: str) -> tuple[int, ...]:
    entries = served.run(served.proxy.cache.select(Selector(everything=True)))
    return tuple(entry.id for entry in entries if entry.key.text == text)


def test_a_tenant_sees_only_its_own(chromium: Any, served: Served) -> None:
    served.ask(SECRET)
    served.ask("What b asked", "b")
    with visiting(chromium, served, "b") as page:
        for path in (
            "",
            "/requests",
            "/entries",
            "/entries?how=meaning&q=recipe",
            "/live",
            "/review",
            "/undo",
            "/plans",
        ):
            page.goto(served.page + path)
            page.wait_for_load_state("load")
            if path == "/live":
                page.wait_for_selector("#live td")
            assert "recipe that only" not in page.inner_text("main"), path
        assert page.locator("nav").get_by_text("Settings").count() == 0


def test_live_events_come_and_go_on_after_the_server_was_away(chromium: Any, served: Served) -> None:
    served.ask("a first question", model="first-model")
    with visiting(chromium, served) as page:
        page.goto(f"{served.page}/live")
        page.locator("#live td", has_text="first-model").wait_for()
        served.ask("quite another thing", model="second-model")
        page.locator("#live td", has_text="second-model").wait_for()
        served.stop()
        page.get_by_text("reconnecting").wait_for()
        served.start()
        served.ask("and something else again", model="third-model")
        page.locator("#live td", has_text="third-model").wait_for()
        assert page.locator("#live td", has_text="second-model").count() == 1, "nothing comes twice"
        page.get_by_role("button", name="Pause").click()
        served.ask("while it is paused", model="fourth-model")
        page.get_by_text("1 waiting").wait_for()
        page.get_by_role("button", name="Go on").click()
        page.locator("#live td", has_text="fourth-model").wait_for()
        page.errors[:] = [
            one for one in page.errors if "ERR_CONNECTION_REFUSED" not in one and "ERR_INCOMPLETE" not in one
        ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_fits_a_phone(chromium: Any, served: Served, scheme: str) -> None:
    axe = axe_script()
    for prompt in (OWN, OTHER, "Something else entirely", OWN):
        served.ask(prompt)
    served.run(served.proxy.cache.operating.delete(Selector(ids=_ids(served, "Something else entirely")), who="test"))
    found = served.run(served.proxy.cache.operating.requests())
    more = (f"/requests/{found[-1]['id']}", f"/ask?prompt={OTHER}&tenant=a&model=m", "/entries?q=cancel&how=meaning")
    with visiting(chromium, served, color_scheme=scheme, bypass_csp=True) as page:
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 900})
            for path in (*EVERY, *more):
                page.goto(served.page + path)
                if path == "/live":
                    page.wait_for_selector("#live td")
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 0, (path, width)
                page.evaluate(axe)
                told = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
                wrong = [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in told["violations"]]
                assert wrong == [], (path, width, scheme)


def axe_script() -> str:
    package = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def test_everything_works_with_the_keyboard(chromium: Any, served: Served) -> None:
    served.ask(OWN)
    with visiting(chromium, served) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.goto(f"{served.page}/entries")
        tick = page.locator("input[name=ids]").first
        button = page.get_by_role("button", name="Forget selected…")
        assert button.is_disabled()
        tick.focus()
        page.keyboard.press("Space")
        button.focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Forget 1 entry?").wait_for()
        page.get_by_role("button", name="Forget 1 entry").press("Enter")
        page.get_by_text("1 entry is forgotten").wait_for()


def test_the_colours_are_the_visitors_choice_and_the_slider_answers(chromium: Any, served: Served) -> None:
    with visiting(chromium, served, color_scheme="light") as page:
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Switch between light and dark").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
        page.goto(f"{served.page}/explorer")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light, "it is remembered"
        page.locator("#place").evaluate(
            "one => { one.value = 1000; one.dispatchEvent(new Event('change', {bubbles: true})) }"
        )
        page.locator("#outlook .lead", has_text="20.0%").wait_for()


def test_a_hundred_thousand_entries_are_searched(chromium: Any, served: Served) -> None:
    served.ask(OWN)
    served.run(_fill(served.proxy, 100_000))
    with visiting(chromium, served) as page:
        page.goto(f"{served.page}/entries")
        page.get_by_text("100,001 entries.").wait_for()
        page.goto(f"{served.page}/entries?q=NUMBER+77777%3F&tenant=a")
        page.get_by_text("1 entry matches of 100,001.").wait_for()
        page.get_by_text("What is the meaning of number 77777?").wait_for()
        page.goto(f"{served.page}/entries?q=number&category=default")
        page.get_by_text("100,000 entries match of 100,001.").wait_for()
        assert page.locator("li.row").count() == 50
        page.goto(f"{served.page}/entries?q=number&tenant=b")
        page.get_by_text("No entry matches").wait_for()


async def _fill(proxy: Proxy, count: int) -> None:
    """Keep many entries that differ in their prompts."""
    [entry] = await proxy.cache.select(Selector(everything=True))
    store, now = proxy.cache.components.store, time.time()
    for start in range(0, count, 5000):
        batch = []
        for number in range(start, start + 5000):
            exact = number.to_bytes(32, "big")
            key = replace(entry.key, exact=exact, text=f"What is the meaning of number {number}?")
            batch.append((replace(entry, id=number + 1, key=key, partition=b"", embedder_id="", created=now), None))
        await store.put_all(batch)
    await proxy.cache.catch_up()


def test_the_numbers_of_a_chart_are_those_of_its_table(chromium: Any, served: Served) -> None:
    for _ in range(3):
        served.ask(OWN)
    served.run(served.proxy.cache.event_log.flush())
    with visiting(chromium, served) as page:
        page.goto(f"{served.page}?range=24h")
        page.wait_for_selector("figure canvas")
        data = json.loads(page.locator("figure[data-chart]").nth(1).get_attribute("data-chart"))
        assert {one["name"]: sum(one["values"]) for one in data["series"]} == {"Exact": 2, "Missed": 1}
        page.get_by_text("Data of the charts").click()
        assert page.locator("details tbody tr").count() == len(data["x"])
