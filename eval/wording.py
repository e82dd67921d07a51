"""Words for settings, fields and reasons in the generated parts of the documentation, which the code does not hold.

Invariant: a setting, reason or field without words here stops the generator, so a new one cannot go undocumented.
"""

from __future__ import annotations

SETTINGS = {
    "upstream.url": "Where misses are sent: a base URL, several separated by commas, `unix:PATH`, `engine:DIR`, "
    "`litellm:MODEL`, `echo` (a scripted upstream for trials), or the name of a plug-in.",
    "upstream.api_key": "Replaces the client's credentials. If it is not set, they are passed on, and "
    "`OPENAI_API_KEY` is used for clients that send none.",
    "upstream.timeout": "Seconds without a byte after which a call is given up; a stream that keeps sending is not "
    "limited.",
    "upstream.connect_timeout": "Seconds that connecting may take.",
    "upstream.stream_timeout": "Seconds without a byte in the midst of a stream, counted from its first byte on, "
    "after which it is given up, with an error event for the client. Empty: as `upstream.timeout`. Leave time for "
    "models that think without a word after they have begun.",
    "upstream.anthropic_url": "Where `/v1/messages` is sent, if not to `upstream.url`.",
    "upstream.proxy": "HTTP proxy between semcache and the upstream; may contain a password. `HTTP_PROXY` is not read.",
    "upstream.passthrough": "Which other paths of the API tenants may use: `all`; `stateless`, those that keep "
    "nothing upstream (models, audio, images, moderations and the like); or `auto`, all of them unless several "
    "tenants share the server's own key, because lists of files, batches or stored completions would then show those "
    "of every tenant. It also decides about WebSockets and about responses that name what is stored upstream. Admin "
    "keys may use all of them.",
    "upstream.cache_salt": "Send servers that cache prefixes (vLLM, SGLang, the local engine) a salt for each tenant, "
    "so that no tenant can tell from the time to the first token what another has asked. A server of an unknown kind "
    "is asked for `/v1/models` before its first prompt. This applies to `near.url` and `plans.small.url` too.",
    "upstream.busy_at": "Concurrent calls of one worker that count as full load, towards which a pack's `relax_to` "
    "works.",
    "upstream.replicas": "Several upstreams instead of `url`: separated by commas, as JSON, or as a list with `url`, "
    "`kind`, `events` and `replay`; see [a local engine, and several backends](local-engine.md).",
    "routing.session_ttl": "Seconds for which a conversation stays with its upstream.",
    "routing.hold": "Longest wait, in seconds, for the first token of another request with the same beginning.",
    "routing.quantum": "Tokens by which a tenant may be ahead of the others when requests have to queue.",
    "routing.max_running": "Requests that one upstream is sent at a time. Empty: no limit.",
    "routing.assembly": "How prompts are rewritten so that more of them begin alike: `off`, `canonical` or `stable`.",
    "server.host": "Address to listen on, or `unix:PATH` for [a Unix socket](operations.md#a-unix-socket). Any address "
    "that other machines can reach needs API keys; see [operations](operations.md).",
    "server.port": "Port; 0 takes a free one. A Unix socket has none.",
    "server.workers": "Number of worker processes. They share the store, but no memory.",
    "server.max_body": "Largest request body, after decompression.",
    "server.admin_token": "An admin key that needs no store, for setting up and for `semcache stats --url`; at least "
    "20 characters.",
    "server.insecure": "Together with `auth.required: false`: serve other machines without keys.",
    "server.allowed_hosts": "Host names that requests may use, separated by commas; `*` for any. On loopback without "
    "keys only `localhost`, its addresses and these names are accepted, and so are pages from these hosts. With keys, "
    "host names are checked only if this is set.",
    "server.max_header": "Largest head of a request.",
    "server.max_in_flight": "Bytes of request bodies (decompressed) that a worker holds at once. Further requests "
    "wait unread, and get 503 after half a minute.",
    "server.max_tenant_in_flight": "The same limit for each tenant.",
    "server.max_connections": "Client connections per worker. Not set: three quarters of its file descriptors.",
    "server.header_timeout": "Seconds in which a client must send the head of a request.",
    "server.body_timeout": "Seconds in which a client must send the body, plus one for every 16 KiB.",
    "server.write_timeout": "Seconds after which a client that takes nothing of its reply is disconnected.",
    "auth.trust_user_field": "Whether a caller with an ordinary key may name the user in the body, where a pack "
    "shares answers by user. If not, the user is the one that the key is bound to (`semcache keys create --user`).",
    "auth.public_metrics": "Whether `/metrics`, `/openapi.json` and `/docs` answer callers without an admin key. Not "
    "set: only while there is no key.",
    "store.url": "`sqlite:///FILE`, `postgresql://USER:PASSWORD@HOST/NAME` or `memory://`. Empty: SQLite in `data`.",
    "store.seal_keys": "Encryption keys, newest first: `id:base64,id:base64`, 32 bytes each.",
    "data": "Folder of the SQLite file and the index snapshot.",
    "policies": "Policy pack: the name of a shipped one, a YAML file, or a folder of YAML files.",
    "embedder": "`default`, `onnx:DIR`, `static:DIR` (a distilled table), `sentence:NAME` (needs the extra `train`), "
    "`litellm:MODEL` (an embedding API; needs the extra `litellm`), or `hashing[:DIM]` (for tests).",
    "cache.hot_bytes": "Memory, per worker, for answers that are served without reading the store.",
    "cache.timeout": "Seconds that a request waits for the store, index or embedder; after that it is forwarded.",
    "cache.target": "The error target in every category; overrides the pack's.",
    "cache.judge": "How a cached answer is compared with a fresh one, in the background: the same string (`exact`), "
    "the same words (`normalised`), the same meaning according to the embedder (`verifier`), or the verdict of a "
    "language model (`llm`, see `judge.model`). Free text needs one of the last two. The name of a plug-in is "
    "possible too.",
    "cache.seed": "Makes random choices reproducible.",
    "cache.share_memos": "Let tenants share parsed and embedded texts. This saves an embedding (1 to 2 ms of "
    "processor time) when tenants ask the same, but from the time of one reply a tenant can then tell, in most cases, "
    "whether another has recently asked that text; `semcache audit timing` shows it.",
    "judge.url": "Where the judge `llm` is called: an OpenAI-compatible base URL. Empty: the upstream.",
    "judge.model": "The model that the judge `llm` calls.",
    "judge.api_key": "API key of the judge. Empty: the upstream's, unless `judge.url` is set.",
    "judge.timeout": "Seconds that a call of the judge may take. A comparison without a verdict in time yields no "
    "label.",
    "judge.false_yes": "Share of wrong answers that the judge (of any kind) takes for right.",
    "judge.false_no": "Share of right answers that the judge takes for wrong.",
    "verifier.url": "Where the verifier `llm` is called: an OpenAI-compatible base URL. Empty: the upstream.",
    "verifier.model": "The model that the verifier `llm` calls; choose a small, fast one.",
    "verifier.api_key": "API key of the verifier. Empty: the upstream's, unless `verifier.url` is set.",
    "verifier.kind": "What checks uncertain neighbours while a client waits, in categories whose pack asks for it "
    "with `verify`.",
    "verifier.timeout": "Seconds that a client waits for the verifier; after that the request is forwarded.",
    "verifier.accuracy": "P(yes) that a plain yes counts as, if the model gives no log-probabilities.",
    "verdicts.mode": "When a language model is asked about uncertain neighbours, unless the pack says: `after` the "
    "request was forwarded, `first`, or `hedged` (while it is forwarded). `auto` is `after` if the upstream is "
    "reached over HTTP with a key of the server's own, otherwise `off`.",
    "verdicts.model": "The model that is asked. Empty: `verifier.model`, or else the model that the request names.",
    "verdicts.budget": "Share of the upstream spend that asking may cost. Empty: 0.02 in the mode `after`, and no cap "
    "in the other modes, whose costs count in the break-even of their category.",
    "verdicts.callers_key": "If the server has no key of its own, ask with the key of the caller whose request is "
    "uncertain.",
    "verdicts.opted_out": "Names of tenants, separated by commas, with `*` as a wildcard, whose texts are shown to no "
    "model.",
    "background.audit_rate": "Audits per second and worker at most; 0 makes none, and then there are no certificates.",
    "background.concurrency": "Upstream calls that run at once without a client waiting for them, per worker.",
    "background.waiting": "How many such calls may wait for their turn, per worker; more are skipped.",
    "background.timeout": "Seconds that such a call may take.",
    "plans.mode": "What [plan templates](plans.md) of agents are used for: to answer requests with tools instead of "
    "the model, or as a hint to it.",
    "plans.rule": "Which runs become a plan: those that `POST /semcache/plans/outcome` reports as successful, or "
    "every complete run without a tool error.",
    "plans.target": "The predicted success below which no plan is used.",
    "plans.life": "Seconds that a plan lives after its last success.",
    "plans.small.url": "Where the small model for plans is called. Empty: the upstream.",
    "plans.small.model": "The [small model](plans.md#a-small-model) that fills open slots of plans, and writes the "
    "last answer of their runs once it is certified to. Empty: none.",
    "plans.small.api_key": "Its API key. A server set by `plans.small.url` never sees the client's credentials.",
    "plans.small.timeout": "Seconds that it has; after that the model named in the request is called.",
    "plans.small.target": "The accepted share of its work that is worse than the work of the model named in the "
    "request.",
    "plans.small.rate": "The highest share of its work that is compared after it is certified.",
    "near.url": "Where the cheaper model of a pack's [`near`](near-hits.md) is called. Empty: the upstream.",
    "near.api_key": "Its API key. A server set by `near.url` never sees the client's credentials.",
    "near.timeout": "Seconds that the cheaper model has; after that the model named in the request is called.",
    "auth.required": "Whether requests need an API key. Empty: they do once a key has been created.",
    "auth.trust_user_header": "Trust `x-semcache-user` from every caller; for a gateway in front that sets it.",
    "auth.expose_scores": "Send the `x-semcache-*` reply headers to callers that are not trusted, too.",
    "server.cors_origins": "Origins whose pages may use the API from a browser, separated by commas "
    "(`https://app.example.com`); `*`: all.",
    "server.ui": "The operators' [page](ui.md) at `/semcache/ui`: `auto` serves it if an admin key exists or only "
    "this machine can connect; `off` never serves it.",
    "store.undo": "Seconds for which a purge or a mistaken report can be undone (`semcache undo`); 0: never.",
    "store.max_bytes": "Most that a SQLite database may take, such as `2 GiB`; at least 16 MiB. Entries that are worth "
    "least are given up for it ([disk](operations.md#disk)). Empty: no bound. PostgreSQL: refused.",
    "decisions.rate": "Decisions recorded per second at most, so that `semcache why` can explain them.",
    "decisions.keep": "Seconds that such a record is kept. It is deleted earlier with its tenant or with an entry "
    "that it mentions.",
    "decisions.most": "Number of records that are kept; the oldest are deleted first.",
    "limits.requests": "Requests per minute for every API key without a limit of its own (`semcache keys limit`); see "
    "[limits of keys](operations.md#limits-of-keys).",
    "limits.tokens": "Tokens per minute, prompts and answers together.",
    "limits.dollars": "US dollars per day, which ends at midnight UTC.",
    "limits.hits": "Whether cached answers count as well.",
    "traces.mode": "`otlp` sends a span for each request to a collector ([traces](operations.md#traces)); needs the "
    "extra `otel`.",
    "traces.endpoint": "URL of the collector, such as `http://localhost:4318/v1/traces`. Empty: taken from the "
    "environment (`OTEL_EXPORTER_OTLP_ENDPOINT`).",
    "traces.sample": "Share of requests that are traced if the caller has not decided it.",
    "traces.prompts": "Whether spans contain prompts as attributes.",
    "log.level": "Lowest level of the messages on standard error.",
    "prices": "YAML file with one `model-pattern: [input, output]` per line, in dollars per million tokens; see "
    "[prices](#prices).",
}

# Fields of a policy pack that have no docstring in `semcache.config.packs`.
FIELDS = {
    "PackSpec.name": "Name of the pack. Default: the name of the file.",
    "PackSpec.description": "A line for readers.",
    "PackSpec.defaults": "Fields of a category that apply to every category unless it sets them.",
    "PackSpec.categories": "Categories by name. There is always one called `default`.",
    "PackSpec.tools": "Effects of [tools](tool-results.md), by name or shell-style pattern; tools that are not named "
    "are unknown.",
    "PackSpec.models": "Prices and qualities of models by name; they override the price list.",
    "PackSpec.near": "A cheaper model that answers with [examples](near-hits.md). Default: none.",
    "CategorySpec.description": "A line for readers.",
    "CategorySpec.guards": "Checks that can veto or doubt a neighbour; `[]` switches them off.",
    "CategorySpec.rules": "What assigns a request to this category without using the embedder.",
    "CategorySpec.examples": "Prompts of this category; a request joins the category with the nearest centroid.",
}

WHY = {
    "exact": "The same request was answered before.",
    "semantic": "The strategy of the category accepted a neighbour's answer for this request.",
    "wording": "The same question in slightly other words; see [equal wordings](decision-reference.md#equal-wordings).",
    "judged": "A language model said that the neighbour's answer fits, and its verdicts are reliable enough; see [a "
    "language model's verdict](decision-reference.md#a-language-models-verdict).",
    "plan": "A [plan](plans.md) was the answer: an agent has done such a task before.",
    "cold": "No entry is near enough to be considered.",
    "below-threshold": "The best neighbour's score is too low.",
    "uncertain": "The best neighbour's P(correct) is too low for the error target.",
    "closed": "Audits showed too many errors: the category serves nothing by meaning for now.",
    "unprofitable": "Semantic lookups cost more in this category than they save; one request in fifty is still looked "
    "up.",
    "guard": "A guard found a conflict with the best neighbour: another number, date, name, or an opposite.",
    "rejected-before": "The neighbour was reported wrong for this same request.",
    "quorum": "Fewer users of the tenant than the category's `quorum` have asked for the answer.",
    "expired": "The neighbour has expired.",
    "max-age": "The entry is older than the request accepts.",
    "exact-only": "No paraphrase may be looked for: the category says so, the prompt is too long or not text, or the "
    "last turn is not the user's.",
    "verify-failed": "A verifier was asked, and even with its verdict P(correct) was too low.",
    "no-verdict": "A verdict was needed and there was none in time: the verifier was late, failed, busy, resting, not "
    "set up, or does not read such texts.",
    "no-cache": "The request asked for a fresh answer.",
    "category-disabled": "The pack does not cache this category.",
    "personal": "The answer belongs to the caller's own records, or the pack shares per user and no user was named.",
    "live": "The answer depends on the moment of asking.",
    "creative": "The prompt asks for something new each time.",
    "temperature": "The request's temperature is above the category's `max_temperature`.",
    "stateful": "The answer depends on state that only the upstream holds (stored prompts, hosted tools, ...).",
    "secret": "The text contains a credential or account number.",
    "limited": "The API key had used up its requests, tokens or dollars, and was refused (429).",
    "unreadable": "The request could not be read, or was refused.",
    "cache-fault": "A part of the cache failed; the request was forwarded.",
    "kept-later": "The store was slow: the answer is kept as soon as it is written; the reply did not wait for it.",
    "no-store": "The request said so, or its time to live was 0.",
    "status": "The upstream did not answer 200.",
    "incomplete": "The answer was cut off before its end.",
    "refusal": "The model or a filter declined.",
    "tool-step": "The answer asks for tools again, in the middle of an agent's run.",
    "empty": "The answer ended properly but has no content.",
    "too-large": "The answer is larger than an entry may be.",
}
