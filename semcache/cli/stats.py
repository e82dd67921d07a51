"""`semcache stats`: requests, hits, savings and errors, read from the store or asked of a running server."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from
from semcache.cli.stored_statistics import read_statistics, read_usage
from semcache.errors import InvalidArgument, UpstreamError
from semcache.runtime.unix_address import http_root

if TYPE_CHECKING:
    from semcache.config.settings import Settings


_COLUMNS = (
    "entries", "requests", "exact", "semantic", "plan", "near", "misses", "bypassed", "hit_rate", "saved_tokens",
    "saved_usd",
)  # fmt: skip
_SPENT = (
    "requests", "calls", "prompt_tokens", "completion_tokens", "spent_usd", "overhead_usd", "always_usd", "saved_usd",
)  # fmt: skip
_USED = (
    "requests", "exact", "semantic", "misses", "hit_rate", "saved_tokens", "always_usd", "spent_usd", "overhead_usd",
    "net_usd",
)  # fmt: skip
_SEEN = ("entries", "requests", "labels", "audits")
_WIDTH = 100
_SMALL = 0.01  # dollars
_ANSWERED = {"categories", "total", "confidence"}
_RATIO = "x target"
_PROMISED = (
    "target", "state", "certified", "audits", "wrong", "undecided", "error_per_hit", "error_per_request", _RATIO,
    "audit_rate",
)  # fmt: skip


def stats(
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Ask this server, with server.admin_token as the key.")
    ] = None,
    config: options.Config = None,
    data: options.Data = None,
    policies: options.Policies = None,
    as_json: options.Json = False,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="WHAT", help="tenant, model, day, hour or category: net savings over time."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="AGE", help="With --by: 12h, 7d, 2w; 7d unless said.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="With --by: this tenant alone.")
    ] = None,
) -> None:
    """Show requests, hits, savings and errors by category; works while a server runs.

    Net savings by tenant, of the last week: `semcache stats --by tenant`.
    """
    settings = settings_from(config, data=data, policies=policies)
    if by is not None:
        _show_usage(settings, url, by, since or "7d", tenant, as_json)
        return
    if tenant is not None:
        raise InvalidArgument("--tenant goes with --by, such as `--by model`: without it all tenants are counted")
    if since is not None:
        raise InvalidArgument("--since goes with --by, such as `--by day`: without it all time is counted")
    found = ask_server(settings, url) if url else run_async(read_statistics(settings))
    if as_json:
        output.as_json(found)
    else:
        _show_statistics(found)


def _show_statistics(found: dict[str, Any]) -> None:
    seen = {name: row for name, row in found["categories"].items() if any(row.get(one) for one in _SEEN)}
    rows = {**seen, "total": found["total"]}
    columns = [column.replace("_", " ") for column in _COLUMNS]
    cells = [[name, *(_cell(column, row) for column in _COLUMNS)] for name, row in rows.items()]
    output.table(["category", *columns], cells, right=columns)
    idle = [name for name in found["categories"] if name not in seen]
    if idle:
        output.text(_wrapped(f"neither entries nor requests: {', '.join(idle)}"))
    _disk(found.get("disk"))
    _money(found.get("outcomes", {}))
    promised = {name: row for name, row in (seen or found["categories"]).items() if row.get("strategy")}
    if promised:
        _errors(promised, found["confidence"])
    _tiers(found)
    _unpriced(found.get("unpriced_models", ()))
    for said in found.get("varying_prompts", ()):
        output.text("\n" + _wrapped(f"WARNING: {said}"))
    if found["total"]["requests"]:
        output.text("\nBy tenant, model, day or hour: `semcache stats --by tenant --since 7d`")


def _tiers(found: dict[str, Any]) -> None:
    """Print the errors that audits found by tier, and what asking a language model costs."""
    counts = _counted_by_tier(found)
    asking = found.get("asking", {})
    for category, strata in found.get("wording", {}).items():
        if closed := [row["edit"] for row in strata if row["closed"]]:
            output.text(_wrapped(f"{category}: {_told_of_closed(closed)}"))
    if not (asking.get("asked") or any(audits or undecided for audits, _, undecided in counts.values())):
        return
    output.text("\nErrors that audits found, by tier")
    cells = [
        [name, str(audits), str(wrong), _error(wrong, audits), str(undecided)]
        for name, (audits, wrong, undecided) in counts.items()
    ]
    columns = ["audits", "wrong", "error", "undecided"]
    output.table(["tier", *columns], cells, right=columns)
    if any(undecided for _, _, undecided in counts.values()):
        output.text("undecided: audits without a verdict; certificates count them as wrong, and nothing else does")
    if asking.get("asked") or asking.get("over_budget"):
        output.text(_wrapped(_told_of_asking(asking)))
    for name, row in found.get("judged", {}).items():
        if row.get("note"):
            output.text(_wrapped(f"{name}: {row['note']}"))


def _told_of_closed(edits: Sequence[str]) -> str:
    """Say which kinds of edits are closed; a judge that errs closes several, and traffic rarely more than one."""
    said = f"not served for too many errors: equal wordings by {', '.join(edits)}"
    if len(edits) == 1:
        return said
    return (
        f"{said}; several at once are likelier errors of the judge: choose another (cache.judge), or say how often it "
        "errs (judge.false_yes, judge.false_no)"
    )


def _counted_by_tier(found: dict[str, Any]) -> dict[str, list[int]]:
    """Return the audits of each tier, how many found an error, and how many found no verdict."""
    total = found["total"]
    counts: dict[str, list[int]] = {"meaning": [total["audits"] or 0, total["wrong"] or 0, total.get("undecided") or 0]}
    for name, strata in (("wording", found.get("wording", {})), ("judged", found.get("judged", {}))):
        rows = [row for one in strata.values() for row in (one if isinstance(one, list) else [one])]
        counts[name] = [sum(row.get(one, 0) for row in rows) for one in ("audits", "wrong", "undecided")]
    return counts


def _told_of_asking(asking: dict[str, Any]) -> str:
    """Say how often a language model was asked, and for which share of what the upstream costs."""
    share, capped = [asking[name] / asking["upstream"] if asking["upstream"] else 0.0 for name in ("asking", "capped")]
    budget = f" of at most {asking['budget']:.1%}"
    if asking["uncapped"]:
        budget = (
            f" ({asking['uncapped']} in the modes first and hedged, which verdicts.budget would bound; the others for "
            f"{capped:.1%}{budget})"
        )
    about = f", {asking['audits']} of them about audits," if asking.get("audits") else ""
    return (
        f"a language model's verdict ({asking['mode']}): asked {asking['asked']} times{about} for {share:.1%} "
        f"of upstream spend{budget}, {asking['over_budget']} times not for want of budget; "
        f"{asking['called_off']} calls called off"
    )


def _error(wrong: int, audits: int) -> str:
    from semcache.types.evidence import wilson

    one = wilson(wrong, audits)
    return f"{one.estimate:.2%} ({one.low:.2%}–{one.high:.2%})" if audits else ""


def _show_usage(settings: Settings, url: str | None, by: str, since: str, tenant: str | None, as_json: bool) -> None:
    """Print usage over time."""
    from semcache.runtime.durations import duration

    seconds = duration(since)
    if url:
        query = f"?by={quote(by)}&since={quote(since)}" + (f"&tenant={quote(tenant)}" if tenant else "")
        rows = ask_server(settings, url, "/semcache/usage" + query, {"rows"})["rows"]
    else:
        rows = run_async(read_usage(settings, by, time.time() - seconds, tenant))
    if as_json:
        output.as_json(rows)
        return
    columns = [column.replace("_", " ") for column in _USED]
    cells = [[str(row[by]), *(_cell(column, row) for column in _USED)] for row in rows]
    output.table([by, *columns], cells, right=columns)
    output.text(
        "net usd: what always asking the model would have cost, less what was spent, judges and verifiers included"
    )


def _unpriced(models: Sequence[str]) -> None:
    """Say loudly that savings are too low."""
    if models:
        named = ", ".join(list(models)[:10]) + (f" and {len(models) - 10} more" if len(models) > 10 else "")
        output.text()
        output.text(
            _wrapped(
                f"WARNING: no price is known for {named}: the calls count as free, and dollars saved are too few. Name "
                "a file with `prices:` in semcache.yaml, one `model: [input, output]` a line, in dollars per million "
                "tokens; [0, 0] says that a model is free."
            )
        )


def ask_server(
    settings: Settings, url: str, path: str = "/semcache/stats", keys: Set[str] = frozenset(_ANSWERED)
) -> dict[str, Any]:
    """Return the statistics of a running server. Raises UpstreamError."""
    import httpx2

    token = settings.server.admin_token
    headers = {"x-semcache-key": token.get_secret_value()} if token else {}
    root, uds = http_root(url)
    address = root + path if uds is None else f"{path} of {url}"
    try:
        transport = httpx2.HTTPTransport(uds=uds) if uds is not None else None
        with httpx2.Client(transport=transport, headers=headers, timeout=10.0) as client:
            reply = client.get(root + path)
        found: Any = reply.json() if reply.status_code == httpx2.codes.OK else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise UpstreamError(f"{address} cannot be asked: {error}") from error
    if isinstance(found, dict) and found.keys() >= keys:
        return found
    if found is not None:
        raise UpstreamError(f"{address} answered no statistics: is there a semcache server?")
    hint = "; set SEMCACHE_SERVER__ADMIN_TOKEN to an admin key" if reply.status_code in (401, 403) else ""
    raise UpstreamError(f"{address} answered {reply.status_code}{hint}")


def _disk(found: dict[str, Any] | None) -> None:
    """Print what the store takes on its disk, and how much it may."""
    from semcache.cache.disk_bound import size

    if found is not None:
        bound = "" if found["most"] is None else f" of at most {size(found['most'])} (store.max_bytes)"
        output.text(f"the store takes {size(found['bytes'])}{bound}")


def _money(outcomes: dict[str, dict[str, Any]]) -> None:
    """Print the cost of each outcome, beside that of always asking the model that was named."""
    if not outcomes.get("total", {}).get("calls"):
        return
    output.text("\nCalls, tokens and dollars by outcome; always: had every request gone to the model that it names")
    columns = [column.replace("_", " ") for column in _SPENT]
    cells = [[name, *(_cell(column, row) for column in _SPENT)] for name, row in outcomes.items()]
    output.table(["outcome", *columns], cells, right=columns)


def _errors(rows: dict[str, dict[str, Any]], confidence: float) -> None:
    """Print the error target of each category that is served by meaning, and the error that was seen."""
    said = "Error of hits by meaning, with 95% intervals, and as a multiple of its target (x target)"
    output.text(f"\n{said}; certified at {confidence:.4g} confidence")
    columns = [column.replace("error_", "").replace("_", " ") for column in _PROMISED]
    cells = [
        [name, *(_promise(column, {**row, _RATIO: _realised(row)}) for column in _PROMISED)]
        for name, row in rows.items()
    ]
    output.table(["category", *columns], cells, right=[column for column in columns if column != "state"])
    notes: dict[str, list[str]] = {}
    for name, row in rows.items():
        for one in row["classes"] or ():
            if one["closed"]:
                notes.setdefault(f"closed to tenant {one['name']}: its own audits showed too many errors", []).append(
                    name
                )
        if row["note"]:
            notes.setdefault(f"{row['note']} (strategy {row['strategy']})", []).append(name)
        if row["outlook"] == "loses":
            rate = "no hit rate" if row["break_even"] is None else f"a hit rate of {row['break_even']:.1%}"
            notes.setdefault(f"costs more than it saves; it would pay from {rate} on", []).append(name)
    if notes:
        output.text()
    for note, names in notes.items():
        who = "all of them" if len(names) == len(rows) > 1 else ", ".join(names)
        output.text(_wrapped(f"{who}: {note}"))


def _realised(row: dict[str, Any]) -> float | None:
    """The error that audits show, by the contract, divided by the target; None before there are audits."""
    error = row.get(f"error_per_{row['contract']}")
    return None if error is None or not row["target"] else error["estimate"] / row["target"]


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _cell(name: str, row: dict[str, Any]) -> str:
    value = row.get(name)
    if value is None:
        return "-" if name == "hit_rate" else ""
    if name == "hit_rate":
        return f"{value:.1%}"
    if name.endswith("_usd"):
        return f"{value:.6f}" if 0 < abs(value) < _SMALL else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _promise(name: str, row: dict[str, Any]) -> str:
    value = row.get(name)
    if value is None:
        return "-"
    match name:
        case "target":
            return f"{_share(value)} per {row['contract']}"
        case "x target":
            return f"{value:.2f}"
        case "certified":
            return f"<= {_share(value)}"
        case "audit_rate":
            return _share(value)
        case "error_per_hit" | "error_per_request":
            return f"{_share(value['estimate'])} ({100 * value['low']:.2g}-{100 * value['high']:.2g})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _share(value: float) -> str:
    return f"{100 * value:.2g}%"
