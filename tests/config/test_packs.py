"""A pack with a mistake must say where it is and how to mend it; a pack without one must mean what it says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from semcache.config import pack_schema, packs
from semcache.errors import ConfigError
from semcache.runtime.durations import duration


def written(folder: Path, text: str, name: str = "pack.yaml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("nam: x\n", 1, ["nam", "did you mean 'name'"]),
        (
            "name: x\ncategories:\n  a:\n    threshold: 0.9\n  b:\n    treshold: 0.9\n",
            6,
            ["categories.b.treshold", "'threshold'"],
        ),
        ("name: x\ndefaults:\n  threshold: 1.5\n", 3, ["defaults.threshold", "1.0"]),
        ("name: x\ncategories:\n  a:\n    ttl: 5\n", 4, ["categories.a.ttl"]),
        ("name: x\ncategories:\n  a:\n    ttl: 5 fortnights\n", 4, ["categories.a.ttl"]),
        ("name: x\ncategories:\n  a:\n    strategy: magic\n", 4, ["categories.a.strategy", "magic"]),
        ("name: x\ncategories:\n  a:\n    guards: [numbers, nmubers]\n", 4, ["categories.a.guards"]),
        (
            "name: x\ncategories:\n  a:\n    rules:\n      pattern: [x]\n",
            5,
            ["categories.a.rules.pattern", "'patterns'"],
        ),
        ("name: x\ncategories:\n  a:\n    rules:\n      patterns: ['(']\n", 5, ["categories.a.rules.patterns", "'('"]),
        ("name: x\ntarget: 0\n", 2, ["target"]),
        ("name: x\ntools:\n  get:\n    effekt: reads\n", 4, ["tools.get.effekt", "'effect'"]),
        ("name: x\ntools:\n  get:\n    effect: read\n", 4, ["tools.get.effect", "read"]),
        ("name: x\ntools:\n  get:\n    effect: reads\n    ttl: soon\n", 5, ["tools.get.ttl"]),
        ("name: x\nmodels:\n  a: {prompt: 1, completion: 1}\n  b: {prompt: 1}\n", 4, ["models.b", "completion"]),
        ("name: x\nmodels:\n  a:\n    prompt: -1\n    completion: 1\n", 4, ["models.a.prompt"]),
        ("name: x\nnear:\n  model: a\n  instead: b\n", 4, ["near.instead", "'instead_of'"]),
        ("name: x\nnear:\n  model: a\n", 2, ["near", "instead_of"]),
        ("name: x\nnear:\n  model: a\n  instead_of: b\n  rate: 1.5\n", 5, ["near.rate"]),
        ("name: [\n", 2, ["YAML"]),
        ("- a\n- b\n", 1, ["mapping"]),
    ],
)
def test_a_mistake_is_named_with_file_line_key_and_remedy(
    tmp_path: Path, text: str, line: int, words: list[str]
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        packs.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("categories:\n  a: {target: 0.1}\n  b: {}\n  a: {}\n", ":4: a stands here twice"),
        ("name: x\ndefaults:\n  target: 0.1\n  ttl: 1d\n  target: 0.2\n", ":5: target stands here twice"),
        ("name: &n {a: *n}\n", "name"),
        ("[" * 5000, "too deep"),
        ("name: x\ndescription: 2024-02-30\n", "day is out of range.*quotes"),
    ],
)
def test_what_would_count_for_half_or_cannot_be_read_is_a_mistake(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pack.yaml").write_text(text)
    with pytest.raises(ConfigError, match=said):
        packs.load(str(tmp_path / "pack.yaml"))


def test_a_half_written_pack_is_one_or_a_mistake(tmp_path: Path) -> None:
    """A running proxy reads it when it is told to, whether or not an editor has done with it."""
    text = packs.packs_dir().joinpath("default.yaml").read_bytes()
    file = tmp_path / "pack.yaml"
    said: list[str] = []
    for end in range(0, len(text), len(text) // 100):
        file.write_bytes(text[:end])
        try:
            packs.load(str(file))
        except ConfigError as error:
            said.append(str(error))
    assert said
    assert all(one.startswith(str(file)) for one in said)


def test_a_name_that_yaml_takes_for_a_boolean_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r":3: YAML reads the name off as true or false: put it in quotes"):
        packs.load(written(tmp_path, "name: x\ncategories:\n  off: {threshold: 0.9}\n"))
    with pytest.raises(ConfigError, match=r":3: YAML reads the name 007 as 7: put it in quotes"):
        packs.load(written(tmp_path, "name: x\ntenants:\n  007: [bond]\n"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: off\n", "1: name: YAML reads off as true or false, and a text is expected: write 'off' in quotes"),
        ("name: 7\n", "1: name: YAML reads 7 as a number, and a text is expected: write '7' in quotes"),
        (
            "name: x\ndescription: 2027-01-31\n",
            "2: description: YAML reads 2027-01-31 as a date, and a text is expected: write '2027-01-31' in quotes",
        ),
        (
            "near: {model: off, instead_of: b}\n",
            "1: near.model: YAML reads off as true or false, and a text is expected: write 'off' in quotes",
        ),
    ],
    ids=["boolean", "number", "date", "within"],
)
def test_a_text_that_lacks_its_quotes_is_the_only_mistake(tmp_path: Path, text: str, line: str) -> None:
    """Not also a missing field, which only the message had left out."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        packs.load(path)
    assert str(caught.value) == f"{path}:{line}"


def test_an_unknown_pack_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'support'"):
        packs.load("suport")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("pack.txt", "name: x\n", r"pack\.txt is no policy pack: .*\*\.yaml"),
        ("pack.json", "{}", r"pack\.json is no policy pack: .*default"),
        ("empty.yaml", "", r"empty\.yaml:1: .*this file is empty"),
        ("list.yaml", "- a\n", r"list\.yaml:1: .*this is a list"),
        ("semcache.yaml", "upstream: {url: x}\nserver: {port: 1}\n", r"yaml:1: .*holds upstream, server, .*--config"),
        ("compose.yaml", "services: {}\n", r"compose\.yaml:1: this is no policy pack: it holds services, .*name, "),
        ("typo.yaml", "categorie: {}\n", r"typo\.yaml:1: .*did you mean 'categories'"),
    ],
)
def test_a_file_that_is_no_pack_is_said_to_be_none(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=says):
        packs.load(str(tmp_path / name))


@pytest.mark.parametrize("name", ["nowhere/pack", "nowhere/pack.yaml", "./default"])
def test_a_path_that_leads_nowhere_is_no_unknown_pack(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="no such file or folder"):
        packs.load(f"{tmp_path}/{name}")


def test_a_missing_file_and_an_empty_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        packs.load(str(tmp_path / "nowhere.yaml"))
    with pytest.raises(ConfigError, match=r"no \*\.yaml"):
        packs.load(str(tmp_path))


def test_a_category_takes_from_the_defaults_what_it_leaves_out(tmp_path: Path) -> None:
    text = "name: x\ndefaults: {ttl: 2h, threshold: 0.8}\ncategories:\n  a: {threshold: 0.95}\n  default: {quota: 3}\n"
    pack = packs.load(written(tmp_path, text))
    assert (pack.of("a").ttl, pack.of("a").threshold) == (7200.0, 0.95)
    assert (pack.of("unheard of").ttl, pack.of("default").quota) == (7200.0, 3)


def test_tools_models_and_near_hits_are_read_and_near_may_be_switched_off(tmp_path: Path) -> None:
    text = "tools: {get_*: {effect: reads, ttl: 5m}}\nmodels: {a: {prompt: 1, completion: 4}}\n"
    pack = packs.load(written(tmp_path, text + "near: {model: a, instead_of: b, target: 0.1}\n"))
    assert (pack.tools["get_*"].ttl, pack.models["a"].completion) == ("5m", 4.0)
    assert pack.near is not None
    assert (pack.near.instead_of, pack.near.target, pack.near.rate) == ("b", 0.1, 0.2)
    assert packs.load(written(tmp_path, text + "near: off\n")).near is None


def test_a_folder_is_one_pack(tmp_path: Path) -> None:
    written(tmp_path, "name: one\ncategories:\n  a: {threshold: 0.9}\n", "a.yaml")
    written(tmp_path, "name: two\ncategories:\n  b: {threshold: 0.8}\n  a: {threshold: 0.7}\n", "b.yaml")
    pack = packs.load(str(tmp_path))
    assert pack.name == "one"
    assert (pack.of("a").threshold, pack.of("b").threshold) == (0.7, 0.8)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("1.5h", 5400), ("7d", 604800), ("2 w", 1209600)]
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1y", "1d2h"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigError):
        duration(text)


def test_the_json_schema_accepts_what_ships_and_refuses_what_load_refuses() -> None:
    schema = pack_schema.json_schema()
    json.dumps(schema)
    for name in packs.packs():
        jsonschema.validate(yaml.safe_load((packs.packs_dir() / f"{name}.yaml").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "x", "defaults": {"treshold": 1}}, schema)


def test_the_schema_beside_the_packs_is_the_one_that_is_enforced() -> None:
    written = json.loads((packs.packs_dir() / "pack.schema.json").read_text(encoding="utf-8"))
    assert written == pack_schema.json_schema(), "run: semcache policy schema > policies/pack.schema.json"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ttl: 3 fortnights", "'3 fortnights' is no duration: write a number and one of s, m, h, d, w, such as 12h"),
        ("contract: hits", "'hits' is none of hit, request; did you mean 'hit'?"),
        ("verify: sometimes", "'sometimes' is none of"),
        ("wording: [typos]", "'typos' is none of characters, contraction, spelling, filler, number, abbreviation, "),
        ("wording_by_language: {xx: off}", "'xx' is none of en, de, fr, es, it, pt, nl, pl, ru, ar, hi, zh, ja, ko, "),
        ("wording_by_language: {de: [typos]}", "'typos' is none of characters, contraction, spelling, filler, number,"),
        ("semantic: maybe", "'maybe' is neither true nor false"),
    ],
)
def test_a_mistake_is_told_in_a_persons_words(tmp_path: Path, line: str, said: str) -> None:
    """Not as a regular expression, nor without the words that there are."""
    path = tmp_path / "pack.yaml"
    path.write_text(f"name: p\ncategories:\n  facts:\n    {line}\n")
    with pytest.raises(ConfigError) as caught:
        packs.load(str(path))
    assert f"pack.yaml:4: categories.facts.{line.split(':')[0]}" in str(caught.value)
    assert f": {said}" in str(caught.value)
    assert "regex" not in str(caught.value)


@pytest.mark.parametrize("where", ["defaults:\n  max_chars: 16001", "categories:\n  default: {max_chars: 16001}"])
def test_a_prompt_longer_than_guards_read_in_time_is_no_setting(tmp_path: Path, where: str) -> None:
    path = tmp_path / "long.yaml"
    path.write_text(f"name: long\n{where}\n")
    with pytest.raises(ConfigError, match=r"max_chars: 16001 is out of range: give a number <= 16000"):
        pack_schema.read(path)
    path.write_text(f"name: long\n{where.replace('16001', '16000')}\n")
    pack_schema.read(path)
