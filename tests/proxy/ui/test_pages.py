"""What the pages say is true, and what their buttons do can be taken back."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pytest

from semcache.cache.inspection import Inspection
from semcache.errors import CacheUnavailable
from semcache.proxy.ui.word_diff import word_diff
from semcache.types import Selector
from tests.proxy.driver import Answer, Call, Clock, Upstream, ask, completion
from tests.proxy.ui.browsing import PAGE, Browser, asked, kept, logged_in, newest, sign_of

PACK = "name: test\ndefaults:\n  strategy: static\n  wording: off\n  threshold: 0.5\n"
LEARNING = "name: test\ntarget: 0.05\ndefaults:\n  wording: off\n"
OWN, OTHER = "How do I cancel my subscription?", "How can I cancel my subscription?"
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> {{ 7*7 }} \"' & how do I escape this?"


def elements(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of a page as a browser reads it, each with its attributes."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, dict(attrs)))

    Reader().feed(page)
    return found


async def detail(proxy, prompt: str, key: str) -> str:
    """What becomes of a request."""
    reply = await Call(proxy, ask(prompt), x_semcache_key=key).reply()
    return str(reply.cache.get("detail"))


async def test_a_hostile_prompt_stays_text_on_every_page(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion(HOSTILE)]))
    async with kept(tmp_path, upstream, pack=PACK) as (proxy, keys):
        for prompt in (HOSTILE, HOSTILE + " please", HOSTILE):
            await asked(proxy, prompt, keys["a"], model="<script>model</script>", user="<b>user</b>")
        browser = await logged_in(proxy, keys["admin"])
        found = await newest(proxy)
        for path in (
            "", "?by=model", "/requests", f"/requests/{found['id']}", "/entries", "/entries?q=<script>", "/review",
            "/ask?prompt=<script>alert(1)</script>&model=<script>model</script>&tenant=a", "/undo", "/access",
            "/requests/<script>", "/entries?q=escape&how=meaning", "/explorer",
        ):  # fmt: skip
            page = (await browser.get(path)).body.decode()
            assert "<script>alert" not in page, path
            for tag, given in elements(page):
                assert tag not in ("img", "b", "style", "iframe"), (path, tag)
                assert tag != "script" or "src" in given, (path, given)
                assert not [name for name in given if name.startswith("on") or name == "style"], (path, given)
        shown = unescape((await browser.get("/entries")).body.decode())
        assert HOSTILE in shown, "and it is shown as it was"


async def test_a_served_answer_that_is_judged_wrong_in_the_review_queue_is_counted_as_a_false_hit(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, OWN, keys["a"])
        assert await detail(proxy, OTHER, keys["a"]) == "semantic"
        hit = await newest(proxy, outcome="semantic")
        browser = await logged_in(proxy, keys["a"])
        done = await browser.change("/review", entry=hit["entry_id"], request=hit["id"], correct="no")
        assert b"it will not be served to that request" in done.body
        [family] = [one for one in proxy.cache.meter.registry.collect() if one.name == "semcache_false_hits"]
    assert sum(sample.value for sample in family.samples if sample.name.endswith("_total")) == 1


async def test_a_wrong_answer_is_reported_and_the_report_withdrawn(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, OWN, keys["a"])
        assert await detail(proxy, OTHER, keys["a"]) == "semantic"
        hit = await newest(proxy, outcome="semantic")
        browser = await logged_in(proxy, keys["a"])
        page = await browser.get(f"/requests/{hit['id']}")
        assert page.status == 200
        text = unescape(page.body.decode())
        assert "How <mark" in text
        assert "An entry asks the same in other words" in text
        done = await browser.change("/report", entry=hit["entry_id"], request=hit["id"])
        assert b"not served to this request again" in done.body
        assert b">Undo</button>" in done.body
        assert b"not served to this request again" not in (await browser.get("/requests")).body, "said once"
        assert await detail(proxy, OTHER, keys["a"]) != "semantic"
        undone = await browser.change("/withdraw", entry=hit["entry_id"], request=hit["id"])
        assert b"The report is withdrawn" in undone.body
        await proxy.cache.invalidate(Selector(ids=(await other_entry(proxy),)))
        assert await detail(proxy, OTHER, keys["a"]) == "semantic"
        log = unescape((await browser.get("/undo")).body.decode())
        assert log.index("<strong>withdraw</strong>") < log.index("<strong>report</strong>")


async def other_entry(proxy) -> int:
    """The entry that the second answer became."""
    return next(entry.id for entry in await proxy.cache.select(Selector(everything=True)) if entry.key.text == OTHER)


async def test_an_entry_is_never_served_by_meaning_until_that_is_undone(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, OWN, keys["a"])
        assert await detail(proxy, OTHER, keys["a"]) == "semantic"
        hit = await newest(proxy, outcome="semantic")
        browser = await logged_in(proxy, keys["a"])
        done = await browser.change("/never-by-meaning", entry=hit["entry_id"], request=hit["id"])
        assert done.status == 200, "the record of the request is still there"
        undo = re.search(r'name="undo" value="(exact-\w+)"', done.body.decode())
        assert undo
        explained = unescape((await browser.get(f"/ask?prompt={OTHER}&model=m")).body.decode())
        assert "No entry is near" in explained
        assert await detail(proxy, OWN, keys["a"]) == "exact", "its own request finds it"
        again = await browser.change("/never-by-meaning", entry=hit["entry_id"], request=hit["id"])
        assert b"already" in again.body
        await browser.change("/undo", undo=undo[1])
        assert await detail(proxy, OTHER, keys["a"]) == "semantic"


async def test_entries_are_forgotten_after_a_dry_run_and_brought_back(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        for number in range(3):
            await asked(proxy, f"What is dish number {number} of the menu?", keys["a"], cache={"tags": ["menu"]})
        await asked(proxy, "Entirely different words here", keys["a"])
        browser = await logged_in(proxy, keys["a"])
        listed = unescape((await browser.get("/entries?q=dish+MENU")).body.decode())
        assert "3 entries match" in listed
        assert "Entirely" not in listed
        assert "Entirely" not in unescape((await browser.get("/entries?tag=menu")).body.decode())
        sign = sign_of((await browser.get()).body.decode())
        dry = await browser.post("/entries/forget", {"sign": sign, "q": "dish", "tag": "menu"})
        assert b"Forget 3 entries?" in dry.body
        assert len(await proxy.cache.select(Selector(everything=True))) == 4, "nothing was done"
        form = {"sign": sign, "q": "dish", "tag": "menu", "sure": "yes", "meant": "2"}
        assert (await browser.post("/entries/forget", form)).status == 400, "other entries than were shown"
        assert len(await proxy.cache.select(Selector(everything=True))) == 4
        nothing = await browser.post("/entries/forget", {"sign": sign, "q": "nowhere", "sure": "yes", "meant": "0"})
        assert nothing.status == 400
        gone = await browser.follow(await browser.post("/entries/forget", {**form, "meant": "3"}))
        assert b"3 entries are forgotten" in gone.body
        assert len(await proxy.cache.select(Selector(everything=True))) == 1
        undo = re.search(r'name="undo" value="(\w+)"', gone.body.decode())
        assert undo
        assert b"3 entries are restored" in (await browser.change("/undo", undo=undo[1], back=PAGE + "/entries")).body
        assert len(await proxy.cache.select(Selector(everything=True))) == 4


async def test_ticked_entries_alone_are_forgotten(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        ids = []
        for number in range(3):
            await asked(proxy, f"What is dish number {number} of the menu?", keys["a"])
        ids = [f"{entry.id:016x}" for entry in await proxy.cache.select(Selector(everything=True))]
        browser = await logged_in(proxy, keys["admin"])
        sign = sign_of((await browser.get()).body.decode())
        form = [("sign", sign), ("ids", ids[0]), ("ids", ids[2]), ("sure", "yes"), ("meant", "2")]
        await browser.post("/entries/forget", form)
        assert [f"{one.id:016x}" for one in await proxy.cache.select(Selector(everything=True))] == [ids[1]]


async def test_a_button_forgets_what_it_says(tmp_path: Path) -> None:
    """Without scripts nothing disables the button for ticked entries, and nothing takes ticks away."""
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        for number in range(3):
            await asked(proxy, f"What is dish number {number} of the menu?", keys["a"])
        ids = [f"{entry.id:016x}" for entry in await proxy.cache.select(Selector(everything=True))]
        browser = await logged_in(proxy, keys["admin"])
        sign = sign_of((await browser.get()).body.decode())
        none = await browser.post("/entries/forget", {"sign": sign, "chosen": "ticked"})
        assert none.status == 400
        assert b"No entry is selected" in none.body
        every = [("sign", sign), ("q", "dish"), ("chosen", "all"), ("ids", ids[0])]
        shown = (await browser.post("/entries/forget", every)).body
        assert b"Forget 3 entries?" in shown
        assert b'name="ids"' not in shown


async def test_older_entries_follow_those_of_the_same_moment(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK, clock=Clock()) as (proxy, keys):
        for number in range(53):
            await asked(proxy, f"What is dish number {number} of the menu?", keys["a"], cache={"no_cache": True})
        browser = await logged_in(proxy, keys["a"])
        page = unescape((await browser.get("/entries")).body.decode())
        first = re.findall(r'name="ids" value="(\w+)"', page)
        older = re.search(r'href="([^"]+)">Older', page)
        assert older
        following = unescape((await browser.get(older[1].removeprefix(PAGE))).body.decode())
        second = re.findall(r'name="ids" value="(\w+)"', following)
        assert (len(first), len(second), len({*first, *second})) == (50, 3, 53)


async def test_the_overview_shows_the_sums_of_the_accounts(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        for tenant in ("a", "a", "b"):
            await asked(proxy, OWN, keys[tenant], model="gpt-4o")
        await asked(proxy, OTHER, keys["a"], model="unpriced-model")
        rows = await proxy.cache.operating.usage("tenant", since=0.0)
        total = rows[-1]
        assert total["net_usd"] > 0
        browser = await logged_in(proxy, keys["admin"])
        page = unescape((await browser.get("?range=24h")).body.decode())
        assert f"{total['net_usd']:.6f}".rstrip("0") in page
        assert "25.0%" in page, "one hit of four requests"
        assert "unpriced-model" in page
        assert "No price is known" in page
        own = unescape((await (await logged_in(proxy, keys["b"])).get("?range=24h")).body.decode())
        assert "0.0%" in own
        assert "No price is known" not in own, "what others call is no tenant's business"


async def test_a_doubt_is_judged_once_and_teaches(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=LEARNING, embedder="default", cache__judge="normalised") as (proxy, keys):
        await asked(proxy, "How do I reset the password of my account?", keys["a"])
        await asked(proxy, "How can I change the password of my account?", keys["a"])
        await proxy.cache.settle()
        [doubt] = await doubts(proxy)
        browser = await logged_in(proxy, keys["a"])
        page = unescape((await browser.get("/review")).body.decode())
        assert "1 in doubt" in page
        assert doubt.record.request_id in page
        before = len(await labels(proxy))
        judged = await browser.change(
            "/review", request=doubt.record.request_id, entry=doubt.neighbour["id"], correct="no"
        )
        assert b"Learned: the answer is wrong" in judged.body
        assert b"0 in doubt" in judged.body, "it does not come back"
        [label] = (await labels(proxy))[before:]
        assert (label.source.value, label.correct, label.served) == ("feedback", False, False)
        assert label.features == pytest.approx(doubt.neighbour["features"])
        assert list(proxy.cache.registry.rejected(label.exact)) == [label.entry_id]
        await browser.change("/withdraw", entry=doubt.neighbour["id"], request=doubt.record.request_id)
        assert list(proxy.cache.registry.rejected(label.exact)) == []


async def doubts(proxy):
    from semcache.cache.inspection import Inspection

    return await Inspection(proxy.cache.components).doubts()


async def labels(proxy):
    return await proxy.cache.components.store.labels(0)


async def test_system_prompts_that_vary_are_told_where_one_looks_for_hits(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion("A box.")]))
    async with kept(tmp_path, upstream, pack=LEARNING) as (proxy, keys):
        for day in range(10, 14):
            system = {"role": "system", "content": f"Be kind. Current date: 2026-11-{day}"}
            body = {"model": "m", "messages": [system, {"role": "user", "content": OWN}]}
            await Call(proxy, body, x_semcache_key=keys["a"]).reply()
        browser = await logged_in(proxy, keys["admin"])
        found = await newest(proxy)
        for path in ("", f"/requests/{found['id']}", f"/ask?prompt={OTHER}&model=m&tenant=a", "/explorer"):
            page = unescape((await browser.get(path)).body.decode())
            assert page.count("ignore_in_system: [date]") == 1, path


async def test_explaining_a_prompt_changes_nothing(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion()]))
    async with kept(tmp_path, upstream, pack=PACK) as (proxy, keys):
        await asked(proxy, OWN, keys["a"])
        browser = await logged_in(proxy, keys["a"])
        rows = len(await proxy.cache.operating.requests())
        page = unescape((await browser.get(f"/ask?prompt={OTHER}&model=m")).body.decode())
        assert OWN.split()[0] in page
        assert "hit by meaning" in page
        assert len(upstream.calls) == 1
        assert len(await proxy.cache.operating.requests()) == rows
        assert (await browser.get("/ask?prompt=x&category=nowhere")).status == 400


async def test_a_prompt_of_several_lines_is_asked_about_as_it_was_sent(tmp_path: Path) -> None:
    """Browsers send the lines of a field with CRLF between them."""
    prompt = "Translate this into French:\n\n" + "The cat sat on the mat. " * 200
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, prompt, keys["a"])
        browser = await logged_in(proxy, keys["a"])
        query = urlencode({"prompt": prompt.replace("\n", "\r\n"), "model": "m"})
        page = unescape((await browser.get(f"/ask?{query}")).body.decode())
        assert "exact hit" in page
        assert prompt in page, "what was typed is still there"


async def test_live_does_not_begin_with_the_oldest_where_the_store_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, "first question of all", keys["a"])
        browser = await logged_in(proxy, keys["admin"])

        async def failing(*_: object, **__: object) -> list[dict[str, object]]:
            raise CacheUnavailable("store: away")

        monkeypatch.setattr(Inspection, "outcomes", failing)
        begun = await stream(proxy, browser)
        assert "id:" not in begun, "a browser would ask for all that there is after 0"
        assert "id: 7\n" in await stream(proxy, browser, last_event_id="7")


async def test_live_events_go_on_where_a_browser_was_cut_off(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, "first question of all", keys["a"], model="one")
        await proxy.cache.event_log.flush()
        browser = await logged_in(proxy, keys["admin"])
        first = await stream(proxy, browser)
        assert '"model":"one"' in first
        last = re.findall(r"^id: (\d+)$", first, re.M)[-1]
        await asked(proxy, "second question, other words", keys["a"], model="two")
        await proxy.cache.event_log.flush()
        second = await stream(proxy, browser, last_event_id=last)
        assert '"model":"two"' in second
        assert '"model":"one"' not in second, "nothing comes twice"
        assert '"model":"two"' not in await stream(proxy, browser, query="model=one", last_event_id="0")
        assert '"model":"one"' in await stream(proxy, browser, query="model=one", last_event_id="0")
        assert "data: {" in await stream(proxy, browser, last_event_id="no number")


async def test_live_events_of_a_filter_are_found_behind_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semcache.proxy.ui.live_page._FIRST", 2)
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        for number, model in enumerate(("rare", "m", "m", "m")):
            await asked(proxy, f"question {'of ' * number}all", keys["a"], model=model)
        await proxy.cache.event_log.flush()
        browser = await logged_in(proxy, keys["admin"])
        assert (await stream(proxy, browser, query="model=rare")).count("data: {") == 1
        assert (await stream(proxy, browser, query="model=m")).count("data: {") == 2


async def stream(proxy, browser: Browser, query: str = "", **headers: str) -> str:
    """The first batch of live events."""
    call = Call(proxy, path=PAGE + "/live/events", method="GET", query=query, **browser._sent(), **headers)
    text = ""
    while "event: seen" not in text:
        message = await call.message()
        assert message is not None, text
        text += message.get("body", b"").decode()
    await call.leave()
    return text


async def test_a_key_is_made_shown_once_used_and_revoked(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        sign = sign_of((await browser.get()).body.decode())
        form = {"sign": sign, "tenant": "c", "rights": "trusted", "name": "new", "read_only": "yes"}
        page = unescape((await browser.post("/access/keys", form)).body.decode())
        plain = re.search(r"sk-sc-[\w-]+", page)
        assert plain
        assert plain[0] not in (await browser.get("/access")).body.decode()
        made = await logged_in(proxy, plain[0])
        [key] = [one for one in await proxy.cache.api_keys() if one.tenant == "c"]
        assert (key.trusted, key.admin, key.read_only, key.name) == (True, False, True, "new")
        assert b"Revoke key_" in (await browser.post("/access/revoke", {"sign": sign, "key": key.id})).body
        assert (await made.get()).status == 200, "nothing was done yet"
        await browser.post("/access/revoke", {"sign": sign, "key": key.id, "sure": "yes"})
        assert (await made.get()).status == 303
        assert (await browser.post("/access/keys", {"sign": sign, "tenant": ""})).status == 400
        for rights in ("trusted", "admin"):
            refused = await browser.post("/access/keys", {"sign": sign, "tenant": "d", "user": "ann", "rights": rights})
            assert refused.status == 400
        await browser.post("/access/keys", {"sign": sign, "tenant": "d", "user": "ann"})
        assert [one.user for one in await proxy.cache.api_keys() if one.tenant == "d"] == ["ann"]
        assert "ann" in str((await proxy.cache.operating.actions(tenant="d"))[0])


async def test_a_key_is_made_with_an_end_that_can_be_moved(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        sign = sign_of((await browser.get()).body.decode())
        now = proxy.cache.clock()

        async def end() -> float | None:
            [key] = [one for one in await proxy.cache.api_keys() if one.tenant == "c"]
            form["key"] = key.id
            return key.expires

        form = {"sign": sign, "tenant": "c"}
        refused = await browser.post("/access/keys", {**form, "expires": "some day"})
        assert refused.status == 400
        assert "such as 90d" in refused.body.decode()
        page = unescape((await browser.post("/access/keys", {**form, "expires": "90d"})).body.decode())
        assert await end() == pytest.approx(now + 90 * 86400, abs=60)
        assert "in 90 d" in page or "in 89 d" in page
        assert b"When does key_" in (await browser.post("/access/end", form)).body
        assert (await browser.post("/access/end", {**form, "expires": "1999-01-31"})).status == 400
        assert (await browser.post("/access/end", {**form, "expires": "2999-01-31"})).status == 303
        assert await end() == 32474736000.0
        assert "2999-01-31T00:00:00Z" in str((await proxy.cache.operating.actions(tenant="c"))[0])
        assert (await browser.post("/access/end", {**form, "expires": "never"})).status == 303
        assert await end() is None
        assert (await browser.post("/access/end", {**form, "key": "key_of_nobody", "expires": "1d"})).status == 404


async def test_a_tenant_is_erased_only_when_its_name_is_typed(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, OWN, keys["a"])
        await asked(proxy, OWN, keys["b"])
        browser = await logged_in(proxy, keys["admin"])
        sign = sign_of((await browser.get()).body.decode())
        assert (
            b"Erase everything stored for a?"
            in (await browser.post("/access/erase", {"sign": sign, "erase": "a"})).body
        )
        assert (
            b"The name does not match"
            in (await browser.post("/access/erase", {"sign": sign, "erase": "a", "typed": "b"})).body
        )
        assert len(await proxy.cache.select(Selector(everything=True))) == 2
        await browser.post("/access/erase", {"sign": sign, "erase": "a", "typed": "a"})
        assert [one.key.scope.tenant for one in await proxy.cache.select(Selector(everything=True))] == ["b"]
        assert await proxy.cache.operating.requests(tenant="a") == []


async def test_a_tenant_whose_name_ends_in_a_space_is_not_taken_for_another(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=PACK) as (proxy, keys):
        await asked(proxy, "What is the capital of France?", keys["a"])
        browser = await logged_in(proxy, keys["admin"])
        sign = sign_of((await browser.get()).body.decode())
        await browser.post("/access/erase", {"sign": sign, "erase": "a ", "typed": "a "})
        assert len(await proxy.cache.select(Selector(tenant="a"))) == 1


async def test_secrets_are_masked_among_the_settings(tmp_path: Path) -> None:
    async with kept(
        tmp_path, pack=PACK, server__admin_token="open-sesame-open-sesame", upstream__api_key="sk-upstream"
    ) as (
        proxy,
        _,
    ):
        page = (await (await logged_in(proxy, "open-sesame-open-sesame")).get("/settings")).body.decode()
    assert "open-sesame-open-sesame" not in page
    assert "sk-upstream" not in page
    assert "server.admin_token" in page
    assert "command line" in page


async def test_a_category_without_labels_has_pages_all_the_same(tmp_path: Path) -> None:
    async with kept(tmp_path, pack=LEARNING, embedder="default") as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        assert b"No judged requests yet" in (await browser.get("/certificates/default")).body
        assert b"No judged requests yet" in (await browser.get("/explorer")).body
        assert (await browser.get("/certificates/nowhere")).status == 404
        for odd in ("place=nan", "place=-5", "place=1e99", "category=nowhere"):
            assert (await browser.get(f"/explorer?{odd}")).status == 200, odd


@pytest.mark.parametrize(
    ("one", "other", "only"),
    [
        ("turn it on now", "turn it off now", ([" on"], [" off"])),
        ("same words", "Same  words", ([], [])),
        ("", "anything", ([], ["anything"])),
        ("a" * 10, "", (["a" * 10], [])),
    ],
)
def test_a_word_diff_marks_what_only_one_prompt_says(one: str, other: str, only: tuple[list[str], list[str]]) -> None:
    left, right = word_diff(one, other)
    assert "".join(text for text, _ in left) == one
    assert "".join(text for text, _ in right) == other
    assert [text.strip() for text, differs in left if differs] == [text.strip() for text in only[0]]
    assert [text.strip() for text, differs in right if differs] == [text.strip() for text in only[1]]


def test_nothing_of_the_page_is_loaded_before_somebody_opens_it() -> None:
    code = "import sys, semcache.proxy.application as a; print({'jinja2', 'starlette'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


async def test_sessions_do_not_outlive_the_clock(tmp_path: Path) -> None:
    clock = Clock()
    async with kept(tmp_path, pack=PACK, clock=clock) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        call = Call(proxy, path=PAGE + "/live/events", method="GET", **browser._sent())
        assert (await call.message() or {}).get("status") == 200
        clock.now += 9 * 3600
        while await call.message() is not None:
            continue
        await call.task


async def test_a_prompt_that_is_asked_about_is_looked_for_where_there_are_entries(tmp_path: Path) -> None:
    """An operator who leaves tenant and model empty would otherwise be told that nothing like it was ever asked."""
    async with kept(tmp_path) as (proxy, keys):
        await Call(proxy, ask("What is a monad?"), x_semcache_key=keys["a"]).reply()
        browser = await logged_in(proxy, keys["admin"])
        assert (await browser.get("/ask")).status == 200
        found = (await browser.get("/ask?prompt=What+is+a+monad%3F")).body.decode()
        assert "An identical request was answered before." in unescape(found)
        other = unescape((await browser.get("/ask?prompt=What+is+a+monad%3F&tenant=b")).body.decode())
        assert "The tenant 'b' has no entries; these have: a." in other
        model = unescape((await browser.get("/ask?prompt=What+is+a+monad%3F&model=none")).body.decode())
        assert "Asked for the model none; this tenant has entries of" in model
        tenant = await logged_in(proxy, keys["b"])
        assert "these have" not in (await tenant.get("/ask?prompt=What+is+a+monad%3F")).body.decode()
