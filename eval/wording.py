"""Words for settings, fields and reasons in the generated parts of the documentation, which the code does not hold.

Invariant: a setting, reason or field without words here stops the generator, so a new one cannot go undocumented.
"""

from __future__ import annotations

SETTINGS = {
    "upstream.url": "What answers misses: a base URL, `litellm:MODEL`, or `echo` (a scripted upstream, for trials).",
    "upstream.api_key": "Replaces the client's credentials. Without it they are passed on; `OPENAI_API_KEY` fills in "
    "for clients that send none.",
    "upstream.timeout": "Seconds of silence before a call is given up; a stream that keeps sending has no limit.",
    "upstream.connect_timeout": "Seconds to connect.",
    "upstream.anthropic_url": "Where `/v1/messages` goes, if not to `upstream.url`.",
    "upstream.proxy": "An HTTP proxy on the way to the upstream; may hold a password. `HTTP_PROXY` is not read.",
    "upstream.passthrough": "What else of the API tenants may use: `all` everything, `stateless` what keeps nothing "
    "upstream (models, audio, images, moderations and the like), `auto` everything unless several tenants share the "
    "server's own key, with which the lists of files, batches or stored completions are those of all. Admin keys may "
    "use everything.",
    "upstream.cache_salt": "Give servers that keep prefixes (vLLM, SGLang, the local engine) a salt of each tenant, "
    "so that no tenant can tell by the time of a first token what another has asked. A server of an unknown kind is "
    "asked `/v1/models` before its first prompt. The servers of `near.url` and `plans.small.url` are given them too.",
    "upstream.busy_at": "Calls at once, of one worker, that are a full load: a pack's `relax_to` works towards it.",
    "upstream.replicas": "Several upstreams in the place of `url`: by commas, JSON, or a list with `url`, `kind`, "
    "`events` and `replay`, see [a local engine, and several backends](local-engine.md).",
    "routing.session_ttl": "Seconds for which a conversation stays with its upstream.",
    "routing.hold": "Longest wait, in seconds, for the first token of a request that reads the same beginning.",
    "routing.quantum": "Tokens that a tenant may be ahead of the others, where requests have to wait.",
    "routing.max_running": "Requests that one upstream is sent at a time. Empty: no limit.",
    "routing.assembly": "Rewrite of prompts for equal beginnings: `off`, `canonical` or `stable`.",
    "server.host": "Address to listen on. Any but loopback needs API keys, see [operations](operations.md).",
    "server.port": "Port; 0 takes a free one.",
    "server.workers": "Worker processes. They share the store, not memory.",
    "server.max_body": "Largest request body, after decompression.",
    "server.admin_token": "An API key with all rights that needs no store, for bootstrap and `semcache stats --url`; "
    "at least 20 characters.",
    "server.insecure": "Together with `auth.required: false`: serve other machines without keys.",
    "server.allowed_hosts": "Names by which the proxy may be called, by commas, `*` for any. On loopback without keys "
    "`localhost` and its addresses always may, and nothing else unless it is named; so may pages of these hosts. With "
    "keys, none are checked unless some are named.",
    "server.max_header": "The largest head of a request.",
    "server.max_in_flight": "Bodies of requests that a worker holds at once, inflated; what does not fit waits unread, "
    "and gets 503 after half a minute.",
    "server.max_tenant_in_flight": "The same of one tenant.",
    "server.max_connections": "Connections of clients to a worker. Not set: three quarters of its file descriptors.",
    "server.header_timeout": "Seconds in which a client sends the head of a request.",
    "server.body_timeout": "Seconds in which it sends the body, and one more for every 16 KiB.",
    "server.write_timeout": "Seconds for which it may take nothing of its reply.",
    "auth.trust_user_field": "Whether a caller with an ordinary key may name the user in the body, where a pack shares "
    "answers by user. Otherwise it is whom the key is bound to (`semcache keys create --user`).",
    "auth.public_metrics": "Whether `/metrics`, `/openapi.json` and `/docs` answer callers without an admin key. Not "
    "set: while there is no key.",
    "store.url": "`sqlite:///FILE`, `postgresql://USER:PASSWORD@HOST/NAME` or `memory://`. Empty: SQLite in `data`.",
    "store.seal_keys": "Encryption keys, newest first: `id:base64,id:base64`, 32 bytes each.",
    "data": "Folder of the SQLite file and of the index snapshot.",
    "policies": "Policy pack: a shipped name, a YAML file, or a folder of them.",
    "embedder": "`default`, `onnx:DIR`, `static:DIR` (a distilled table), `sentence:NAME` (needs the extra `train`), "
    "`litellm:MODEL` (a provider's, by the extra `litellm`), `hashing[:DIM]` (tests).",
    "cache.hot_bytes": "Memory for answers that are replayed without asking the store, per worker.",
    "cache.timeout": "Seconds that a request waits for the store, index or embedder; after that it is forwarded.",
    "cache.target": "The error to keep, in every category; overrides the pack's.",
    "cache.judge": "How a cached answer is compared with a fresh one, in the background: the same string (`exact`), "
    "the same words (`normalised`), the same meaning by the embedder (`verifier`), or the verdict of a language model "
    "(`llm`, see `judge.model`). Free text needs one of the last two. Or a plug-in's name.",
    "cache.seed": "Makes random choices reproducible.",
    "cache.share_memos": "Remember for all tenants what was read or embedded for one. It spares an embedding (1 to 2 "
    "ms of a processor) where tenants ask the same, and lets a tenant tell from the time of one reply, mostly rightly, "
    "whether another asked that text of late: `semcache audit timing` shows it.",
    "judge.url": "Where the judge `llm` is asked, an OpenAI-compatible base URL. Empty: the upstream.",
    "judge.model": "The model that the judge `llm` asks.",
    "judge.api_key": "Its API key. Empty, without a `judge.url`: the upstream's.",
    "judge.timeout": "Seconds that a call of the judge may take. What it leaves unanswered yields no label.",
    "judge.false_yes": "Share of wrong answers that the judge, whichever it is, calls right.",
    "judge.false_no": "Share of right answers that it calls wrong.",
    "verifier.url": "Where the verifier `llm` is asked, an OpenAI-compatible base URL. Empty: the upstream.",
    "verifier.model": "The model that the verifier `llm` asks; a small, fast one.",
    "verifier.api_key": "Its API key. Empty, without a `verifier.url`: the upstream's.",
    "verifier.kind": "Who is asked, while a client waits, about neighbours too uncertain to be served, in categories "
    "whose pack says so with `verify`.",
    "verifier.timeout": "Seconds that a client waits for the verifier; after that the request is forwarded.",
    "verifier.accuracy": "P(yes) that the model's plain yes counts as where it says no log-probabilities.",
    "verdicts.mode": "When a language model is asked about what is in doubt, where a pack does not say: `after` a "
    "request was forwarded, `first`, or `hedged`, beside the forward. `auto` is `after` where the upstream is reached "
    "over HTTP with a key of the server's own, else `off`.",
    "verdicts.model": "The model that is asked. Empty: `verifier.model`, or else the one that the request names.",
    "verdicts.budget": "Share of upstream spend that asking may cost. Empty: 0.02 for words that are had after a "
    "forward, and no cap for the other modes, whose costs count in the break-even of their category.",
    "verdicts.callers_key": "Without a key of its own, ask with the key of the caller whose request is in doubt.",
    "verdicts.opted_out": "Names of tenants, by commas, with `*` for any letters: no model is shown their texts.",
    "background.audit_rate": "Audits a second at most, per worker; 0 makes none, and no certificate.",
    "background.concurrency": "Calls of the upstream at once that no client waits for, per worker.",
    "background.waiting": "Such calls that may wait for their turn, per worker; what is beyond is left undone.",
    "background.timeout": "Seconds that such a call may take.",
    "plans.mode": "What [plan templates](plans.md) of agents are used for: to answer requests with tools in the place "
    "of the model, or as a hint to it.",
    "plans.rule": "Which runs become a plan: those that `POST /semcache/plans/outcome` says ended well, or every whole "
    "run without an error of a tool.",
    "plans.target": "The predicted success below which no plan is used.",
    "plans.life": "Seconds that a plan lives after its last success.",
    "plans.small.url": "Where the small model of plans is asked. Empty: the upstream.",
    "plans.small.model": "The [small model](plans.md#a-small-model) that fills open slots of plans, and has the last "
    "word of their runs, once it is certified to. Empty: none.",
    "plans.small.api_key": "Its API key. A server of its own never sees the client's credentials.",
    "plans.small.timeout": "Seconds that it has; after that the model that was named is asked.",
    "plans.small.target": "The accepted share of its work that is worse than that of the model that was named.",
    "plans.small.rate": "The highest share of its work that is compared once it is certified.",
    "near.url": "Where the cheaper model of a pack's [`near`](near-hits.md) is asked. Empty: the upstream.",
    "near.api_key": "Its API key. A server of its own never sees the client's credentials.",
    "near.timeout": "Seconds that the cheaper model has; after that the model that was named is asked.",
    "auth.required": "Whether requests need an API key. Empty: as soon as one was ever made.",
    "auth.trust_user_header": "Believe `x-semcache-user` of every caller; for a gateway in front that sets it.",
    "auth.expose_scores": "Show `x-semcache-*` reply headers to callers that are not trusted.",
    "server.cors_origins": "Origins whose pages may use the API from a browser, by commas (`https://app.example.com`); "
    "`*`: all.",
    "server.ui": "The operators' [page](ui.md) at `/semcache/ui`: `auto` where an admin key exists, or only this "
    "machine can connect; `off`: never.",
    "store.undo": "Seconds for which a purge or a mistaken report can be undone (`semcache undo`); 0: never.",
    "decisions.rate": "Requests a second whose decision is recorded at most, so that `semcache why` can explain them.",
    "decisions.keep": "Seconds that such a record is kept. It goes with its tenant and with each entry it mentions.",
    "decisions.most": "Records that are kept at most, the newest.",
    "limits.requests": "Requests a minute of every API key that has no limit of its own (`semcache keys limit`); "
    "see [limits of keys](operations.md#limits-of-keys).",
    "limits.tokens": "Its tokens a minute, prompts and answers together.",
    "limits.dollars": "US dollars that it may spend in a day, which ends at midnight UTC.",
    "limits.hits": "Whether answers of the cache count as well.",
    "traces.mode": "`otlp` sends a span for each request to a collector ([traces](operations.md#traces)); needs the "
    "extra `otel`.",
    "traces.endpoint": "URL of the collector, such as `http://localhost:4318/v1/traces`. Empty: what the environment "
    "says (`OTEL_EXPORTER_OTLP_ENDPOINT`).",
    "traces.sample": "Share of requests that are traced where no caller has decided that.",
    "traces.prompts": "Whether prompts are among the attributes of spans.",
    "log.level": "What the server says on standard error.",
    "prices": "YAML file, one `model-pattern: [input, output]` a line, dollars per million; see [prices](#prices).",
}

# Fields of a policy pack that have no docstring in `semcache.config.packs`.
FIELDS = {
    "PackSpec.name": "Name of the pack; left out, the name of the file.",
    "PackSpec.description": "A line for people.",
    "PackSpec.defaults": "What every category starts from; the fields of a category.",
    "PackSpec.categories": "Categories by name. There always is one called `default`.",
    "PackSpec.tools": "What [tools](tool-results.md) do, by name or shell-style pattern; a tool not named is unknown.",
    "PackSpec.models": "Prices and qualities of models by name; they count before the price list.",
    "PackSpec.near": "A cheaper model that answers with [examples](near-hits.md). Left out: none.",
    "CategorySpec.description": "A line for people.",
    "CategorySpec.guards": "Checks that veto or doubt a neighbour; `[]` switches them off.",
    "CategorySpec.rules": "What puts a request here without asking the embedder.",
    "CategorySpec.examples": "Prompts of this category; a request joins the category with the nearest centroid.",
}

WHY = {
    "exact": "The same request was answered before.",
    "semantic": "A neighbour's answer was found right for this request, as the category's strategy demands.",
    "wording": "The same question in trivially other words; see [equal wordings]"
    "(decision-reference.md#equal-wordings).",
    "judged": "A language model said that the neighbour's answer fits, and that word is worth enough; see "
    "[a language model's word](decision-reference.md#a-language-models-word).",
    "plan": "A [plan](plans.md) was the answer: an agent had such a task before.",
    "cold": "Nothing near enough to look at is stored.",
    "below-threshold": "The best neighbour's score is too low.",
    "uncertain": "The best neighbour is not probable enough to be right, for the error that is allowed.",
    "closed": "Audits have shown too many errors: the category serves nothing by meaning for now.",
    "unprofitable": "Looking paraphrases up costs more in this category than they save; one request in fifty still is.",
    "guard": "A guard found a conflict with the best neighbour: another number, date, name, or an opposite.",
    "rejected-before": "The neighbour was reported wrong for this very request.",
    "quorum": "Fewer users of the tenant than the category's `quorum` have asked for the answer that would be served.",
    "expired": "The neighbour's time is over.",
    "max-age": "The entry is older than the request accepts.",
    "exact-only": "No paraphrase may be sought: the category says so, the prompt is too long or not text, or the last "
    "turn is not the user's.",
    "verify-failed": "A verifier was asked, and its word did not make the neighbour probable enough; or there was "
    "none to be had.",
    "no-cache": "The request said so.",
    "category-disabled": "The pack does not cache this category.",
    "personal": "The answer belongs to the caller's own records, or the pack shares per user and no user was named.",
    "live": "The answer depends on the moment of asking.",
    "creative": "Something new is wanted each time.",
    "temperature": "The request's temperature is above the category's `max_temperature`.",
    "stateful": "The answer depends on state that only the upstream holds (stored prompts, hosted tools, ...).",
    "secret": "A credential or account number was seen.",
    "limited": "The API key had used up its requests, tokens or dollars, and was refused (429).",
    "unreadable": "The request could not be read, or was refused.",
    "cache-fault": "A part of the cache failed; the request was forwarded.",
    "no-store": "The request, or a `ttl` of 0, said so.",
    "status": "The upstream did not answer 200.",
    "incomplete": "The answer did not end as its dialect ends an answer.",
    "refusal": "The model declined, or a filter did.",
    "tool-step": "The answer asks for tools again, in the middle of an agent's run.",
    "empty": "The answer ended as it should and says nothing.",
    "too-large": "The answer is larger than an entry may be.",
}
