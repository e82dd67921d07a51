"""`semcache requests`, `why` and `explain`: why requests were or would be served, or not.

Invariant: none of these commands serves, stores or learns anything; a server may run meanwhile.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import cache_of, run_async, settings_from, store_of
from semcache.errors import ConfigError, InvalidArgument

if TYPE_CHECKING:
    from semcache.config.settings import Settings

_PROMPT = 60
_RARELY = 1e-3

Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="This tenant alone.")]


def requests(
    tenant: Tenant = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="NAME", help="semantic, near, plan, miss or bypass.")
    ] = None,
    why: Annotated[str | None, typer.Option("--why", metavar="REASON", help="cold, guard, uncertain, …")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000)] = 20,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List the latest requests with the reasons for their outcomes, newest first; `semcache why ID` says more.

    Hits on the very same request, and what is passed through, are counted (`semcache stats`) and not listed.
    """
    from semcache.types import Outcome, Why

    _check("outcome", outcome, [one.value for one in Outcome])
    _check("why", why, [one.value for one in Why])
    found = run_async(_requests(settings_from(config, data=data), tenant, outcome, why, limit))
    if as_json:
        output.as_json(found)
        return
    if not found:
        output.note("no request was recorded: exact hits are not, and records go after `decisions.keep` seconds")
        return
    cells = [
        [
            one["id"],
            output.moment(one["at"]),
            one["tenant"],
            one["model"],
            one["outcome"],
            one["why"],
            _cut(one["prompt"], _PROMPT),
        ]
        for one in found
    ]
    output.table(["id", "at", "tenant", "model", "outcome", "why", "prompt"], cells)


def why(
    request_id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a request: `semcache requests`, or x-request-id of the reply.")
    ],
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Say why a request was served or not: its neighbours, what guards found, P(correct) against the limit."""
    found = run_async(_why(settings_from(config, data=data), request_id))
    if found is None:
        output.note(
            f"error: no request {request_id!r} is known: `semcache requests` lists those that are; the id is the "
            "reply's x-request-id"
        )
        raise typer.Exit(1)
    if as_json:
        output.as_json(found)
    else:
        _show(found, "Request")


def explain(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The prompt, as the user would send it.")],
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME")] = "default",
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Default: the model that most entries are of.")
    ] = None,
    system: Annotated[str | None, typer.Option("--system", metavar="TEXT", help="The system prompt.")] = None,
    category: Annotated[str | None, typer.Option("--category", metavar="NAME")] = None,
    namespace: Annotated[str, typer.Option("--namespace", metavar="NAME")] = "",
    config: options.Config = None,
    data: options.Data = None,
    policies: options.Policies = None,
    embedder: options.Embedder = None,
    as_json: options.Json = False,
) -> None:
    """Say what would happen to a prompt now, and why, without serving it or learning from it."""
    settings = settings_from(config, data=data, policies=policies, embedder=embedder)
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system is not None else []
    messages.append({"role": "user", "content": prompt})
    found = run_async(_explain(settings, messages, tenant, model, category, namespace))
    if as_json:
        output.as_json(found)
        return
    _show(found, "This prompt")
    if found["why"] == "cold" and found.get("others"):
        output.text(f"\n{found['others']}")


async def _requests(
    settings: Settings, tenant: str | None, outcome: str | None, why: str | None, limit: int
) -> list[dict[str, Any]]:
    from semcache.cache.operating import operator_store, summary

    async with store_of(settings) as store:
        found = await operator_store(store).decisions(tenant=tenant, outcome=outcome, why=why, limit=limit)
        return [summary(one) for one in found]


async def _why(settings: Settings, request_id: str) -> dict[str, Any] | None:
    from semcache.cache.operating import request_of

    async with store_of(settings) as store:
        found = await request_of(store, request_id)
        if found is not None and found["why"] == "cold":
            found["varying_prompts"] = await _varying(settings, store, found["tenant"])
        return found


async def _varying(settings: Settings, store: Any, tenant: str) -> list[str]:
    """The parts in which alone system prompts of a tenant differ, by the pack that serves or by the settings'."""
    from semcache.cache.prompt_sample import ignored_in_service, varying_prompts
    from semcache.config.packs import load

    ignored = await ignored_in_service(store)
    if ignored is None:
        try:
            ignored = load(settings.policies).ignore_in_system
        except ConfigError:
            return []  # what was decided can be told without the pack
    return [one.told() for one in await varying_prompts(store, ignored, tenant=tenant)]


async def _explain(
    settings: Settings,
    messages: list[dict[str, Any]],
    tenant: str,
    model: str | None,
    category: str | None,
    namespace: str,
) -> dict[str, Any]:
    from semcache.cache.explaining import explain as explained
    from semcache.cache.found import chat_request
    from semcache.errors import RequestRejected
    from semcache.models.verifiers import names_of
    from semcache.types import Scope

    async with store_of(settings):  # a folder without a cache is a mistake, and no cache is made here
        pass
    async with cache_of(settings, time.time, looks=True) as cache:
        models = await cache.operating.models(tenant)
        named = model or next(iter(models), "default")
        try:
            request = chat_request(messages, named, {}, Scope(tenant, None, namespace), category)
            found = await explained(cache, request, names_of(settings))
        except RequestRejected as error:
            raise InvalidArgument(error.message) from error
        if others := await cache.operating.elsewhere(tenant, named, found["why"]):
            found["others"] = others + (" Choose with --model NAME." if models else " Choose with --tenant NAME.")
        return found


def _show(found: dict[str, Any], whose: str) -> None:
    served = found["outcome"] in ("exact", "semantic", "plan", "near")
    verb = "is served" if whose == "This prompt" else "was served"
    output.text(
        f"{whose} {verb if served else verb.replace('served', 'not served from the cache')}: "
        f"{found['outcome']}, {found['why']}"
    )
    output.text(found["meaning"])
    if found.get("remedy"):
        output.text(f"To change it: {found['remedy']}")
    output.text()
    category = found.get("category") or {}
    facts: list[tuple[str, Any]] = [
        ("id", found.get("id")),
        ("at", output.moment(found["at"]) if found.get("at") else None),
        ("tenant", found.get("tenant")),
        ("model", found.get("model")),
        ("prompt", _cut(found.get("prompt") or "", 200)),
        ("read as", _cut(found.get("read_as") or "", 200)),
        ("entry", found.get("entry_id")),
        ("category", category.get("name") or found.get("category_name")),
        ("strategy", f"{category['strategy']}, {category['state']}" if category else None),
        ("serves from", None if category.get("limit") is None else f"P(correct) {category['limit']:.2%}"),
        ("note", category.get("note")),
        ("answer", found.get("stored")),
        ("record", "none was kept of this request, only its outcome" if found.get("sampled") is False else None),
    ]
    for name, value in facts:
        if value not in (None, ""):
            output.text(f"{name + ':':<13}{value}")
    for said in found.get("varying_prompts", ()):
        output.text(f"\nNote: {said}")
    for number, one in enumerate(found.get("neighbours", ()), 1):
        _show_neighbour(number, one)


def _show_neighbour(number: int, one: dict[str, Any]) -> None:
    p_correct = "" if one.get("p_correct") is None else f", P(correct) {one['p_correct']:.2%}"
    output.text(f"\n{number}. entry {one['id']}, score {one['score']:.4f}{p_correct}, {_age(one['age'])} old")
    output.text(f"   {_cut(one.get('prompt') or '(the entry is gone)', 200)}")
    if one.get("against"):
        from semcache.cache.reasons import explained
        from semcache.types import Why

        output.text(f"   against it: {one['against']}: {explained(Why(one['against']))[0]}")
        if one["against"] == Why.REJECTED:
            output.text(f"   if that was a mistake: semcache feedback {one['id']} --withdraw")
    for finding in one.get("guards", ()):
        said = "vetoes, but the verifier may overrule it" if finding.get("arguable") else "vetoes"
        output.text(f"   guard {finding['guard']} {said if finding['veto'] else 'doubts'}: {finding['found']}")
    parts = [f"{name} {value:+.2f}" for name, value in one.get("contributions", {}).items() if abs(value) > _RARELY]
    if parts:
        output.text(f"   log-odds: {', '.join(parts)}")


def _age(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _check(name: str, given: str | None, known: list[str]) -> None:
    if given is not None and given not in known:
        raise InvalidArgument(output.unknown(f"--{name}", given, known))
