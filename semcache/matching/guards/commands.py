"""Commands that are two where programs are meant: a service that is disabled still runs, one that is stopped does not.

Data and one reading. Of other things the same words may be said for one another ("stop notifications"), so they count
beside a word of their context only. Invariant: texts conflict only where each names a command that the other does not.
"""

from __future__ import annotations

from semcache.request.text import differing, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.protected import is_about_here

_LITTLE = 4  # content words by which texts may differ
# By the words of a context, commands that do different things there.
_COMMANDS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (vocabulary(context), vocabulary(commands))
    for context, commands in (
        ("service services daemon daemons systemd systemctl", "start stop enable disable restart reload mask unmask"),
        ("nginx apache httpd", "start stop restart reload"),
        (
            "git branch branches commit commits repo repository",
            "fetch pull push merge rebase squash reset revert amend",
        ),
        ("docker container containers pod pods", "start stop kill pause restart remove prune attach exec"),
        ("kubernetes k8s kubectl node nodes", "cordon uncordon drain taint delete scale restart"),
        ("terraform tofu", "init validate plan apply destroy import refresh taint untaint"),
        ("sql table tables postgres mysql database", "truncate delete drop alter create rename"),
        ("subscription membership plan", "pause cancel renew upgrade downgrade"),
    )
)


def compare(query: str, cached: str) -> str | None:
    """The commands in which two texts about one kind of thing differ; None where they do not."""
    if len(differing(query, cached)) > _LITTLE:
        return None
    if is_about_here(query) != is_about_here(cached):
        return "a command, and the same about the directory"
    one, two = read_text(query).bag, read_text(cached).bag
    for context, commands in _COMMANDS:
        if context.isdisjoint(one) or context.isdisjoint(two):
            continue
        ours, theirs = commands & one, commands & two
        if ours and theirs and not (ours <= theirs or theirs <= ours):
            return f"{', '.join(sorted(ours - theirs))} / {', '.join(sorted(theirs - ours))}"
    return None
