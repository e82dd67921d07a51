"""The findings of `semcache doctor` about what would end the start of `semcache serve` with an error.

Invariant: what the start refuses for its settings alone is a finding that fails; what is in order is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.cli import start_checks
from semcache.cli.doctor_finding import Finding
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.config.settings import Settings

_CHECKS = (
    ("workers", start_checks.check_workers, "set server.workers to 1, or store.url to a file or a server"),
    ("judge", start_checks.check_judge, "set judge.model, or another cache.judge"),
    ("prices", start_checks.check_prices, "mend the file that `prices` names, or take the setting out"),
)


async def check_start(settings: Settings) -> list[Finding]:
    """Return what the start would refuse, except for a mistake in the pack, which has a finding of its own."""
    from semcache.config.packs import load

    findings = []
    for name, check, remedy in _CHECKS:
        try:
            check(settings)
        except ConfigError as error:
            findings.append(Finding(name, "fail", str(error), remedy))
    try:
        pack = load(settings.policies)
    except ConfigError:
        return findings
    try:
        await start_checks.check_verifiers(settings, pack)
    except ConfigError as error:
        findings.append(Finding("verifier", "fail", str(error), "mend `verifier` and `verdicts` of the settings"))
    return findings
