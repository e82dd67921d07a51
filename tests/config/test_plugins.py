"""Parts of other packages can be named wherever built-in ones are, and what is wrong with one is said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.config import packs, plugins
from semcache.config.settings import Settings
from semcache.errors import ConfigError, StoreError
from semcache.learning.judges import JUDGES, open_judge
from semcache.matching import features, strategies
from semcache.matching.guards import conflicts
from semcache.matching.strategies import STRATEGIES, ByCategory, StaticThreshold
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.priors import read_priors
from semcache.models.embedders import open_embedder
from semcache.retention.eviction import POLICIES, Quota
from semcache.storage.stores import open_store
from semcache.types import Candidate, Card, Conflict, Controls, Verdict, Why
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.connection import Connection
from tests.docs.fences import ROOT, fences
from tests.waiting import PATIENCE

PAGE = fences(ROOT / "docs" / "plug-ins.md")
Install = Callable[..., Path]

PARTS = """
    from semcache.upstream.backends.echo import echo_app
    from semcache.upstream.backends.inprocess import InProcessBackend
    from semcache.models.embedders.hashing import HashingEmbedder
    from semcache.errors import StoreError
    from semcache.learning.judges.by_text import ExactJudge
    from semcache.storage.stores.memory import MemoryStore
    from semcache.matching.strategies.static import StaticThreshold

    class Strict(StaticThreshold):
        def floor(self, category, controls):
            return 0.999

    class Early(StaticThreshold):
        def note(self, category, p_correct, *, served, audited):
            self.noted = p_correct, served, audited

    class Aware(StaticThreshold):
        def note(self, category, p_correct, **told):
            self.noted = p_correct, told["candidate"]

    class Kept(MemoryStore):
        def __init__(self, url, seal):
            super().__init__()
            self.given = url, seal

    class Named(ExactJudge):
        name = "tiny"

        def __init__(self, *, embedder, verifier, backend, model):
            self.given = embedder, verifier, backend, model

    class Echo(InProcessBackend):
        def __init__(self, rest, *, api_key, timeout):
            super().__init__(echo_app(), timeout=timeout)
            self.given = rest, api_key, timeout

    def embedder(rest):
        return HashingEmbedder(int(rest or 32))

    def broken(*args, **named):
        raise RuntimeError("no licence")

    def sealed(url, seal):
        raise StoreError("the disk is full")

    def nothing(*args, **named):
        return object()

    number = 3
"""
POINTS = {
    "embedders": {"tiny": "embedder", "hashing": "broken"},
    "stores": {"tiny": "Kept", "sqlite": "broken", "full": "sealed", "hollow": "nothing"},
    "judges": {"tiny": "Named", "exact": "broken"},
    "strategies": {
        "tiny": "Strict",
        "early": "Early",
        "aware": "Aware",
        "static": "broken",
        "hollow": "nothing",
        "angry": "broken",
        "number": "number",
    },
    "evictions": {"lru": "broken"},
    "guards": {"numbers": "broken"},
    "backends": {"tiny": "Echo", "echo": "broken"},
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Lay a package out as pip does, in a folder where this process looks; returns the folder."""

    def put(name: str, module: str, code: str, points: Mapping[str, Mapping[str, str]]) -> Path:
        site = tmp_path / f"site-{name}"
        info = site / f"{name.replace('-', '_')}-0.1.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(textwrap.dedent(code))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
        groups = [
            f"[semcache.{kind}]\n" + "".join(f"{key} = {value}\n" for key, value in named.items())
            for kind, named in points.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(groups))
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, module, raising=False)
        return site

    return put


@pytest.fixture
def tiny(install: Install) -> ModuleType:
    """The package of `PARTS`, imported."""
    points = {kind: {name: f"tiny_parts:{value}" for name, value in named.items()} for kind, named in POINTS.items()}
    install("tiny-parts", "tiny_parts", PARTS, points)
    import tiny_parts  # made above

    return tiny_parts


@pytest.fixture
def documented(install: Install) -> tuple[Path, Path]:
    """The package and the pack of docs/plug-ins.md: the folder of the one, the file of the other."""
    [project] = [tomllib.loads(block.body) for block in PAGE if block.language == "toml"]
    [code] = [block.body for block in PAGE if block.language == "python"]
    [pack] = [block.body for block in PAGE if block.language == "yaml"]
    points = {group.removeprefix("semcache."): named for group, named in project["project"]["entry-points"].items()}
    site = install(project["project"]["name"], "semcache_clock", code, points)
    file = site.parent / "loud.yaml"
    file.write_text(pack)
    return site, file


async def test_the_package_of_the_page_is_used_by_the_library(documented: tuple[Path, Path], tmp_path: Path) -> None:
    _, pack = documented
    folder = str(tmp_path / "data")
    async with await AsyncSemanticCache.open(folder, policies=str(pack), embedder="hashing") as cache:
        first = await cache.lookup("What is a monad in Haskell?", model="m")
        await cache.record(first, "A box.")
        calm = await cache.lookup("what is a monad in haskell", model="m")
        loud = await cache.lookup("WHAT IS A MONAD IN HASKELL", model="m")
    assert calm.answer == "A box."
    assert loud.answer is None
    quota = Quota(2, POLICIES[packs.load(str(pack)).of("default").eviction]())
    for id in (1, 2, 1, 3):
        quota.touch(id) if id in quota else quota.admit(id)
    assert [id in quota for id in (1, 2, 3)] == [True, False, True]


@pytest.mark.process
def test_the_command_line_knows_the_package_of_the_page(documented: tuple[Path, Path], tmp_path: Path) -> None:
    site, pack = documented
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
        "SEMCACHE_DATA": str(tmp_path / "data"),
        "SEMCACHE_POLICIES": str(pack),
        "SEMCACHE_EMBEDDER": "hashing",
        "SEMCACHE_UPSTREAM__URL": "echo",
        "SEMCACHE_SERVER__PORT": "0",
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "semcache", *words]
        return subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    done = run("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [row for row in json.loads(done.stdout)["checks"] if row["check"] == "plug-in"]
    assert {row["state"] for row in rows} == {"ok"}
    assert sorted(row["found"] for row in rows) == [
        "plug-in 'clock' of semcache-clock 0.1 (semcache.evictions: semcache_clock:Clock)",
        "plug-in 'shouting' of semcache-clock 0.1 (semcache.guards: semcache_clock:Shouting)",
    ]
    schema = json.loads(run("policy", "schema").stdout)
    fields = schema["$defs"]["CategorySpec"]["properties"]
    assert {"clock", "lru"} <= set(fields["eviction"]["anyOf"][0]["enum"])
    pack.write_text(pack.read_text().replace("eviction: clock", "eviction: clok"))
    wrong = run("policy", "lint", str(pack))
    assert wrong.returncode != 0
    assert "defaults.eviction: no 'clok' among the evictions; did you mean 'clock'?" in wrong.stdout + wrong.stderr


def test_settings_take_every_judge_that_is_built_in_and_name_the_nearest() -> None:
    assert [Settings.load({"cache.judge": name}, {}, None).cache.judge for name in JUDGES] == [*JUDGES]
    with pytest.raises(ConfigError, match="did you mean 'verifier'"):
        Settings.load({"cache.judge": "verifyer"}, {}, None)


def test_parts_are_given_what_the_page_says(tiny: Any) -> None:
    assert open_embedder("tiny").dim == 32
    assert open_embedder("tiny:64").dim == 64
    store = open_store("tiny://host/name")
    assert isinstance(store, tiny.Kept)
    assert store.given == ("tiny://host/name", None)
    judge = open_judge("tiny", model="small")
    assert isinstance(judge, tiny.Named)
    assert judge.given == (None, None, None, "small")
    assert Settings.load({"cache.judge": "tiny"}, {}, None).cache.judge == "tiny"
    backend = open_backend("tiny:some:where", Connection(api_key="k", timeout=3.0))
    assert isinstance(backend, tiny.Echo)
    assert backend.given == ("some:where", "k", 3.0)
    assert isinstance(open_backend("tiny", Connection(timeout=3.0)), tiny.Echo)


def test_a_pack_chooses_the_strategy_of_a_plug_in(tiny: Any, tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text("name: x\ndefaults: {strategy: static}\ncategories: {careful: {strategy: tiny}}\n")
    threshold = ByCategory(packs.load(str(file)))
    assert isinstance(threshold._of("careful"), tiny.Strict)
    assert type(threshold._of("default")) is StaticThreshold


def test_a_strategy_from_before_it_was_told_what_was_served_goes_on_working(tiny: Any, tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text("name: x\ndefaults: {strategy: early}\ncategories: {new: {strategy: aware}}\n")
    threshold = ByCategory(packs.load(str(file)))
    found = Candidate(Card(1, b"", b"", "default", "What is a monad?", 0.0, 1.0), 0.999)
    for _ in range(2):
        for category in ("default", "new"):
            threshold.note(category, 0.9, served=True, audited=False, candidate=found)
        early: Any = threshold._of("default")
        aware: Any = threshold._of("new")
        assert (early.noted, aware.noted) == ((0.9, True, False), (0.9, found))
        threshold.relearn([])


@pytest.mark.parametrize(
    ("strategy", "asks"), [("static", False), ("certified", False), ("certified, verify: verifier", True)]
)
def test_no_strategy_overrules_the_guard_of_a_plug_in(strategy: str, asks: bool, tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text(f"name: x\ntarget: 0.4\ndefaults: {{strategy: {strategy}, threshold: 0.5, prior: questions}}\n")
    threshold = ByCategory(packs.load(str(file)), priors=read_priors(None))
    found = Candidate(Card(1, b"", b"", "default", "What is a monad?", 0.0, 1.0), 0.999)

    def verdict(*objections: Conflict) -> Verdict:
        seen = replace(found, conflicts=objections)
        seen = replace(seen, features=features.of("what is monad?", seen))
        return threshold.judge(seen, "default", controls=Controls(), draw=0.5)

    for willing in (verdict(), verdict(Conflict("theirs", "a doubt", veto=False))):
        assert (willing.serve, willing.verify) == (not asks, asks)
    refused = verdict(Conflict("theirs", "a veto"))
    assert (refused.serve, refused.audit, refused.why) == (False, 0.0, Why.GUARD)
    assert not refused.verify


def test_what_the_guard_of_a_plug_in_vetoes_is_shown_to_no_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    threshold = ByCategory(packs.load("default"))
    wants = Verdict(False, 0.99, audit=0.2, verify=True, risk=0.03, alone=True)
    monkeypatch.setattr(CertifiedThreshold, "judge", lambda *_, **__: wants)
    found = Candidate(Card(1, b"", b"", "default", "What is a monad?", 0.0, 1.0), 0.999)
    assert threshold.judge(found, "default", controls=Controls(), draw=0.5) == wants
    vetoed = replace(found, conflicts=(Conflict("theirs", "a veto"),))
    refused = threshold.judge(vetoed, "default", controls=Controls(), draw=0.5)
    assert (refused.verify, refused.alone, refused.why) == (False, False, Why.GUARD)


def test_built_in_names_cannot_be_shadowed(tiny: Any, tmp_path: Path) -> None:
    assert open_embedder("hashing").dim == 256
    assert type(open_store(f"sqlite:///{tmp_path}/semcache.db")).__name__ == "SqlStore"
    assert open_judge("exact").name == "exact"
    assert STRATEGIES["static"] is strategies.StaticThreshold
    assert POLICIES["lru"]().victim() is None
    assert conflicts("in 5 days", "in 6 days", ["numbers"])
    assert type(open_backend("echo")).__name__ == "InProcessBackend"
    from semcache.cli.doctor_checks import _plugins

    rows = {row.found: row for row in _plugins()}
    shadowed = [row for found, row in rows.items() if "is never used" in found]
    assert len(shadowed) == 7
    assert all(row.state == "warn" and "built-in" in row.remedy for row in shadowed)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("angry", "RuntimeError: no licence"),
        ("hollow", "lacks: floor, judge, note"),
        ("number", "names a int"),
    ],
)
def test_a_broken_plug_in_is_named_with_its_package(tiny: Any, name: str, said: str) -> None:
    pack = packs.load("default")
    with pytest.raises(ConfigError, match=rf"plug-in '{name}' of tiny-parts 0\.1 \(semcache\.strategies: ") as error:
        STRATEGIES[name](pack)
    assert said in str(error.value)


def test_a_store_that_lacks_a_part_is_told_the_methods_of_it(tiny: Any) -> None:
    with pytest.raises(ConfigError, match="lacks: ") as error:
        open_store("hollow://anywhere")
    lacking = str(error.value).partition("lacks: ")[2].split(", ")
    assert {"salt", "put", "vectors", "reject", "changes", "label", "learn", "claim", "record", "keys"} <= set(lacking)


def test_what_a_maker_says_of_its_own_is_passed_on(tiny: Any) -> None:
    with pytest.raises(StoreError, match="the disk is full"):
        open_store("full://")


def test_nothing_is_imported_before_its_name_is_used(install: Install) -> None:
    points = {"guards": {"gone": "no_such_module:Guard"}}
    install("gone-parts", "gone_parts", "raise AssertionError('imported')", {**points, "judges": {"j": "gone_parts:J"}})
    assert plugins.names("guards") == ["gone"]
    assert open_judge("exact").name == "exact"
    assert "gone_parts" not in sys.modules
    with pytest.raises(ConfigError, match=r"'gone' of gone-parts 0\.1 .*cannot be imported: ModuleNotFoundError"):
        conflicts("a", "b", ["gone"])
    with pytest.raises(ConfigError, match=r"'j' of gone-parts 0\.1 .*AssertionError: imported"):
        open_judge("j")


def test_two_packages_with_one_name_are_both_named(install: Install) -> None:
    for package in ("one-parts", "two-parts"):
        module = package.replace("-", "_")
        install(package, module, "class J: ...", {"judges": {"same": f"{module}:J"}})
    with pytest.raises(ConfigError, match=re.compile(r"one-parts.*two-parts.*uninstall one")):
        open_judge("same")


@pytest.mark.parametrize("wrong", ["tinny", "statik"])
def test_an_unknown_name_is_met_with_the_nearest(tiny: Any, wrong: str, tmp_path: Path) -> None:
    near = {"tinny": "tiny", "statik": "static"}[wrong]
    file = tmp_path / "pack.yaml"
    file.write_text(f"name: x\ncategories:\n  a:\n    strategy: {wrong}\n")
    with pytest.raises(ConfigError, match=rf"pack\.yaml:4: categories\.a\.strategy: .*did you mean '{near}'"):
        packs.load(str(file))
    with pytest.raises(ConfigError, match=f"did you mean '{near}'"):
        STRATEGIES[wrong]


@pytest.mark.parametrize(
    "open_one",
    [
        lambda: open_embedder("nowhere"),
        lambda: open_store("nowhere://x"),
        lambda: open_judge("nowhere"),
        lambda: open_backend("nowhere:x"),
        lambda: conflicts("a", "b", ["nowhere"]),
        lambda: POLICIES["nowhere"],
    ],
)
def test_a_name_that_nobody_has_is_an_error_of_configuration(open_one: Callable[[], Any]) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        open_one()
