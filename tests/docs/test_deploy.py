"""The container files fit this program: no docker is needed to find a renamed variable or a missing file."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from semcache.cli.serve import _GRACE
from semcache.config.settings import FILE_VARIABLE, KEYS, PREFIX, Settings, check_exposure
from semcache.errors import ConfigError
from tests.docs.fences import ROOT

DEPLOY = ROOT / "deploy"
VARIABLES = {PREFIX + key.replace(".", "__").upper() for key in KEYS} | {FILE_VARIABLE}
NAMED = re.compile(rf"\b{PREFIX}[A-Z_]+\b")
SUBSTITUTED = re.compile(r"\$\{(?P<name>\w+)(?P<rest>[^}]*)\}")


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def dockerfile() -> list[tuple[str, str]]:
    """Instructions and their arguments, comments and line breaks undone."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line)]


@pytest.mark.parametrize(
    "file", sorted(path for path in DEPLOY.iterdir() if path.is_file()), ids=lambda path: path.name
)
def test_every_variable_is_a_setting(file: Path) -> None:
    named = set(NAMED.findall(file.read_text(encoding="utf-8")))
    # Named as what must not be in the environment.
    assert named - {"SEMCACHE_SERVICE_HOST"} <= VARIABLES


def test_the_proxy_of_the_composition_has_settings_that_load(compose: dict[str, Any]) -> None:
    settings = Settings.load({}, resolved(compose["services"]["proxy"]["environment"]), None)
    assert settings.server.workers == 2
    assert settings.store_url.startswith("postgresql://semcache:pw@postgres/")
    assert settings.upstream.api_key is None
    check_exposure(settings.model_copy(update={"server": open_to_all(settings)}), has_keys=False)


def test_the_image_alone_refuses_strangers(dockerfile: list[tuple[str, str]]) -> None:
    settings = Settings.load({}, environment(dockerfile), None)
    assert settings.server.host == "0.0.0.0"
    with pytest.raises(ConfigError, match="semcache keys create"):
        check_exposure(settings, has_keys=False)
    check_exposure(settings, has_keys=True)


def test_the_composition_asks_for_what_has_no_default(compose: dict[str, Any]) -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    assert all(rest.startswith((":-", ":?")) for _, rest in SUBSTITUTED.findall(text))
    assert "latest" not in text
    for service in compose["services"].values():
        for volume in service["volumes"]:
            source, _, target = volume.partition(":")
            assert target.startswith("/")
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in compose["volumes"]
        for waited in service.get("depends_on", []):
            assert waited in compose["services"]


def test_what_is_built_and_scraped_exists(compose: dict[str, Any], dockerfile: list[tuple[str, str]]) -> None:
    build = compose["services"]["proxy"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    prometheus = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
    [job] = prometheus["scrape_configs"]
    [target] = job["static_configs"][0]["targets"]
    service, _, port = target.partition(":")
    assert service in compose["services"]
    assert port in dict(dockerfile)["EXPOSE"].split()
    assert is_route(job["metrics_path"])


def test_the_image_is_small_and_unprivileged(dockerfile: list[tuple[str, str]]) -> None:
    names = [name for name, _ in dockerfile]
    assert names.count("FROM") == 2
    last = dockerfile[len(names) - 1 - names[::-1].index("FROM") :]
    assert dict(last)["USER"].split(":")[0] not in ("", "0", "root")
    assert "HNSWLIB_NO_NATIVE" in environment(dockerfile)
    assert dict(last)["VOLUME"] == environment(dockerfile)["SEMCACHE_DATA"]
    assert [json.loads(dict(last)[name]) for name in ("ENTRYPOINT", "CMD")] == [["semcache"], ["serve"]]


def test_the_build_copies_what_the_wheel_is_made_of(dockerfile: list[tuple[str, str]]) -> None:
    copied = {
        source for name, rest in dockerfile if name == "COPY" and "--from" not in rest for source in rest.split()[:-1]
    }
    assert all((ROOT / source).exists() for source in copied)
    assert copied >= {"pyproject.toml", "README.md", "LICENSE", "semcache", "policies", "adapters"}
    sent = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in sent if line.startswith("!")} == copied


def test_the_health_check_is_a_program_that_asks_a_real_path(dockerfile: list[tuple[str, str]]) -> None:
    [check] = [rest for name, rest in dockerfile if name == "HEALTHCHECK"]
    command = json.loads(check.partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]
    ast.parse(command[2])
    found = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", command[2])
    assert found is not None
    assert int(found[1]) == Settings.load({}, {}, None).server.port
    assert is_route(found[2])


def is_route(path: str) -> bool:
    sources = (ROOT / "semcache" / "proxy").glob("*.py")
    return any(f'get("{path}"' in source.read_text(encoding="utf-8") for source in sources)


def environment(dockerfile: list[tuple[str, str]]) -> dict[str, str]:
    """The variables that an image sets, of all its stages."""
    pairs = [pair.partition("=") for name, rest in dockerfile if name == "ENV" for pair in shlex.split(rest)]
    return {name: value for name, _, value in pairs}


def resolved(variables: dict[str, str]) -> dict[str, str]:
    """Variables of a service with defaults put in, and `pw` for what has to be given."""

    def value(found: re.Match[str]) -> str:
        return found["rest"][2:] if found["rest"].startswith(":-") else "pw"

    return {name: SUBSTITUTED.sub(value, str(text)) for name, text in variables.items()}


def open_to_all(settings: Settings) -> Any:
    return settings.server.model_copy(update={"host": "0.0.0.0"})


def test_the_ports_of_the_composition_are_loopback(compose: dict[str, Any]) -> None:
    published = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


METRIC = re.compile(r"\bsemcache_[a-z_]+\b")


def metrics_named(file: str) -> set[str]:
    known = set(METRIC.findall((DEPLOY / file).read_text(encoding="utf-8")))
    return {re.sub(r"_bucket$", "", name) for name in known}


@pytest.mark.parametrize("file", ["alerts.yml", "grafana/semcache.json"])
def test_what_is_watched_is_a_metric(file: str) -> None:
    from semcache.runtime.telemetry import Meter

    kinds = {metric.name: metric.type for metric in Meter().registry.collect()}
    exported = {f"{name}_total" if kind == "counter" else name for name, kind in kinds.items()}
    exported.add("semcache_worker_deaths_total")  # counted by the parent of the workers
    assert metrics_named(file), "nothing is watched"
    assert metrics_named(file) <= exported


def test_alerts_and_panels_are_whole() -> None:
    [group] = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]:
        assert {"alert", "expr", "labels", "annotations"} <= rule.keys()
        assert rule["expr"].count("(") == rule["expr"].count(")")
    board = json.loads((DEPLOY / "grafana" / "semcache.json").read_text(encoding="utf-8"))
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert all(target["expr"] for panel in board["panels"] for target in panel["targets"])


def test_every_alert_has_a_unit_test_in_which_it_goes_off() -> None:
    [group] = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    tests = yaml.safe_load((DEPLOY / "alerts_test.yml").read_text(encoding="utf-8"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    fired = {case["alertname"] for case in cases if case["exp_alerts"]}
    quiet = {case["alertname"] for case in cases if not case["exp_alerts"]}
    assert fired == quiet == {rule["alert"] for rule in group["rules"]}


SELECTED = re.compile(r"(semcache_[a-z_]+)\{([^}]*)\}")
LABEL = re.compile(r"(\w+)\s*(?:=~|!=|!~|=)")


@pytest.mark.parametrize("file", ["alerts.yml", "alerts_test.yml", "grafana/semcache.json"])
def test_labels_that_are_selected_by_are_those_of_the_metric(file: str) -> None:
    """A selector with a label that a metric lacks finds nothing, and the alert never goes off."""
    labels = {name: labels for name, *_, labels in exported_metrics()}
    selected = SELECTED.findall((DEPLOY / file).read_text(encoding="utf-8"))
    assert selected
    for metric, selector in selected:
        if metric != "semcache_worker_deaths_total":
            # Prometheus adds the target's own labels.
            assert set(LABEL.findall(selector)) - {"job", "instance"} <= labels[metric], metric


def exported_metrics() -> list[tuple[str, set[str]]]:
    """The counters and gauges, and what they are labelled by."""
    from semcache.runtime.telemetry import Meter

    meter = Meter()
    return [
        (f"{one._name}_total" if one._type == "counter" else one._name, set(one._labelnames))
        for one in meter.registry._collector_to_names
        if hasattr(one, "_labelnames")
    ]


def test_the_manifests_of_kubernetes_fit_the_image(dockerfile: list[tuple[str, str]]) -> None:
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
    by_kind = {one["kind"]: one for one in documents}
    pod = by_kind["Deployment"]["spec"]["template"]
    [container] = pod["spec"]["containers"]
    given = {one["name"]: one["value"] for one in container["env"]}
    settings = Settings.load({}, {**environment(dockerfile), **given}, None)
    check_exposure(settings, has_keys=False)
    assert pod["spec"]["enableServiceLinks"] is False
    labels = pod["metadata"]["labels"].items()
    for kind in ("Service", "PodDisruptionBudget", "Deployment"):
        selector = by_kind[kind]["spec"]["selector"]
        assert selector.get("matchLabels", selector).items() <= labels
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["spec"]["volumes"]}
    assert pod["spec"]["securityContext"]["runAsUser"] == 10001
    # A pod that ends is first taken out of the Service, and has time for its requests after that.
    [command, seconds] = container["lifecycle"]["preStop"]["exec"]["command"]
    assert (command, int(seconds) > 0) == ("sleep", True)
    assert int(seconds) + _GRACE < pod["spec"]["terminationGracePeriodSeconds"]
