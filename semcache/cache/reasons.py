"""The reason for an outcome as a sentence for people, with what to do about it, for each `Why`.

Pure. Invariant: every reason has a sentence.
"""

from __future__ import annotations

from semcache.types import Why

_EXPLAINED: dict[Why, tuple[str, str]] = {
    Why.EXACT: ("An identical request was answered before.", ""),
    Why.SEMANTIC: ("An entry asks the same in other words, and its P(correct) is high enough.", ""),
    Why.JUDGED: (
        "A language model says that the answer is right, and its verdict is trusted enough to serve it.",
        "",
    ),
    Why.WORDING: ("An entry's prompt equals this one except for edits that do not change the question.", ""),
    Why.PLAN: ("A stored plan names the next step.", ""),
    Why.COLD: (
        "No entry is near: nothing like it was asked before by this tenant with the same model, system prompt, tools, "
        "settings and headers.",
        "If you expected one, compare the requests: they match only if all of these are equal. Or the earlier answer "
        "was not stored, for example because `max_tokens` cut it off: `semcache why` of that request says so.",
    ),
    Why.BELOW_THRESHOLD: (
        "The nearest entry's score is below what the strategy looks at, or below the caller's min-score.",
        "With the strategy `static`, lower `threshold`; otherwise train the embedder on your traffic.",
    ),
    Why.UNCERTAIN: (
        "The nearest entry's P(correct) is too low for the category's error target.",
        "A looser `target`, more traffic to learn from, or `verify: verifier` in the pack.",
    ),
    Why.CLOSED: (
        "Audits showed more errors than the target allows: the category serves nothing by meaning for now.",
        "It opens again by itself after enough right answers. `semcache stats` shows what was wrong.",
    ),
    Why.UNPROFITABLE: (
        "Lookups by meaning cost more in this category than they save.",
        "Nothing, or set `prices` and `wrong_cost` to what calls and errors really cost.",
    ),
    Why.GUARD: (
        "A guard found another number, date, name, negation or the like in the nearest entry's prompt.",
        "Compare both prompts. If the guard is wrong, take it out of `guards:` in the category.",
    ),
    Why.REJECTED: (
        "The nearest entry was reported or judged wrong for this very request.",
        "If the report was a mistake: `semcache feedback ID --withdraw`.",
    ),
    Why.QUORUM: (
        "There is an answer, but too few users of the tenant have asked for it to serve it to others.",
        "A lower `quorum` in the category; requests that name no user, and have no key, count as nobody's.",
    ),
    Why.EXPIRED: ("The entry has expired.", "Raise `ttl`, or set `revalidate`."),
    Why.MAX_AGE: ("The entry is older than the request's max-age.", "The caller asks for it in Cache-Control."),
    Why.EXACT_ONLY: (
        "Only an identical request can be served: the category is not served by meaning, the prompt is too long or not "
        "plain text, or it refers to something that is not in the request.",
        "`semantic: true`, or a higher `max_chars`, if paraphrases may be served.",
    ),
    Why.VERIFY_FAILED: (
        "A verifier was asked, and even with its verdict P(correct) is too low for the error target; or no verdict "
        "could make it high enough.",
        "A looser `target`, more traffic to learn from, or a language model's verdict (`verdicts`).",
    ),
    Why.NO_VERDICT: (
        "The nearest entry is served only on a verdict, and there was none in time: the verifier was late, failed or "
        "busy, rests after failures, is not set up, or does not read such texts.",
        "`result` of `semcache_verifications_total` says which. If it is late, raise `verifier.timeout` or give the "
        "server more processor time; if it fails, the server's log says why.",
    ),
    Why.NO_CACHE: ("The request said no-cache.", "Take the header out of the client."),
    Why.DISABLED: ("The pack has `cache: false` for this category.", "Change the pack, or its rules and examples."),
    Why.PERSONAL: (
        "The prompt is about the caller's own things, or the pack shares by user and the request names none.",
        "`share: user` in the pack, and `user` in the request.",
    ),
    Why.LIVE: ("The answer depends on the moment.", "A category with `live: true` and a short `ttl`."),
    Why.CREATIVE: (
        "The prompt asks for something new each time.",
        "`creative: true`, if a repeated answer is welcome.",
    ),
    Why.TEMPERATURE: (
        "The temperature is above the category's `max_temperature`.",
        "Raise that, or lower the client's.",
    ),
    Why.STATEFUL: (
        "The answer depends on state that the provider holds.",
        "For /v1/responses send `store: false` and the whole conversation.",
    ),
    Why.SECRET: (
        "The prompt holds a key, a password or a card number: it is never cached.",
        "Take the secret out of the prompt.",
    ),
    Why.UNREADABLE: ("The request could not be read.", "Read the error's message."),
    Why.LIMITED: (
        "The API key had used up its requests or tokens of the minute, or its dollars of the day.",
        "`semcache keys limit ID`, or the settings under `limits`.",
    ),
    Why.FAULT: ("A part of the cache failed, and the request was forwarded.", "`semcache doctor`, or /readyz."),
    Why.NO_STORE: ("The request said no-store, or the backend's answer is only approximate.", ""),
    Why.STATUS: ("The backend's status was not 200.", "Look at the backend."),
    Why.INCOMPLETE: (
        "The answer was not stored because it is incomplete: the stream broke off, or `max_tokens` cut it off.",
        "Raise `max_tokens` in the client if that is what cut it off.",
    ),
    Why.REFUSAL: ("The model refused.", ""),
    Why.TOOL_STEP: ("The answer asks for tools again: it is a step of a run, not an answer.", ""),
    Why.EMPTY: ("The answer has no content.", ""),
    Why.KEPT_LATER: (
        "The store was slow: the reply was not held up, and the answer is kept as soon as it is written.",
        "Look at the store's disk or server, if this goes on.",
    ),
    Why.TOO_LARGE: ("The answer is larger than an entry may be.", ""),
}


def explained(why: Why) -> tuple[str, str]:
    """A reason in a sentence, and what to do about it, "" for nothing."""
    return _EXPLAINED.get(why, (f"The reason is {why.value}.", ""))
