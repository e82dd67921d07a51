"""Vary headers: those of a request by which an upstream's answer may differ, and its identity with them.

Pure. Invariant: requests that differ in anything beside their bodies that an upstream may answer by do not share an
answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from semcache.dialects.hop_headers import connection_own

_USUAL = {b"anthropic-version": b"2023-06-01"}
# Headers that no answer depends on: of connections, of whoever passes a request on, traces, names of clients, and what
# is read by this cache. Credentials say who pays, not what is answered. Any other header is part of the key.
HARMLESS = frozenset(
    b"host user-agent accept accept-charset accept-encoding accept-language connection content-length content-type date"
    b" content-encoding cache-control pragma expect via forwarded max-forwards from referer origin dnt priority"
    b" upgrade-insecure-requests save-data te trailer transfer-encoding upgrade keep-alive proxy-connection"
    b" proxy-authorization authorization x-api-key api-key traceparent tracestate baggage b3 sentry-trace"
    b" x-request-id x-correlation-id request-id x-trace-id x-amzn-trace-id x-cloud-trace-context x-client-trace-id"
    b" x-client-request-id x-request-start x-real-ip x-client-ip true-client-ip client-ip x-envoy-attempt-count"
    b" x-envoy-expected-rq-timeout-ms x-envoy-external-address idempotency-key x-idempotency-key x-title http-referer"
    b" x-amzn-requestid fly-client-ip fastly-client-ip cdn-loop x-azure-ref x-azure-clientip x-ms-client-request-id"
    b" x-goog-request-params anthropic-dangerous-direct-browser-access x-app x-requested-with"
    # traces
    b" uber-trace-id elastic-apm-traceparent newrelic grpc-trace-bin x-ot-span-context x-dynatrace x-honeycomb-trace"
    b" correlation-context request-context ms-cv x-correlationid x-braintrust-parent x-bt-parent helicone-user-id"
    b" helicone-request-id x-portkey-trace-id x-portkey-span-id x-portkey-span-name x-portkey-parent-span-id"
    b" x-litellm-trace-id x-litellm-session-id"
    # of whoever passes a request on
    b" x-scheme x-original-forwarded-for x-original-host x-original-uri x-original-url x-cluster-client-ip"
    b" x-envoy-original-path x-envoy-decorator-operation x-envoy-peer-metadata x-envoy-peer-metadata-id x-nginx-proxy"
    b" x-kong-request-id x-vcap-request-id x-amzn-tls-version x-amzn-tls-cipher-suite x-azure-fdid x-azure-socketip"
    b" x-azure-requestchain x-arr-log-id x-arr-ssl disguised-host was-default-hostname x-site-deployment-id"
    b" x-appservice-proto x-waws-unencoded-url rndr-id"
    # names of clients and of their runs
    b" semantic-kernel-version x-ms-useragent x-ms-user-agent x-goog-api-client x-openrouter-title"
    b" x-openrouter-categories x-session-affinity x-grok-conv-id x-codex-turn-metadata x-codex-turn-state".split()
)
HARMLESS_KINDS = (
    *(b"x-semcache-", b"x-stainless-", b"x-forwarded-", b"x-b3-", b"x-datadog-", b"x-newrelic-", b"cf-", b"sec-"),
    *(b"helicone-cache-", b"x-portkey-cache", b"x-openrouter-cache", b"x-bf-cache-"),
    *(
        b"x-instana-",
        b"ot-tracer-",
        b"ot-baggage-",
        b"uberctx-",
        b"l5d-",
        b"fly-",
        b"x-railway-",
        b"x-nf-",
        b"x-heroku-",
    ),
    *(b"helicone-session-", b"helicone-property-", b"x-claude-code-", b"x-opencode-"),
    *(b"x-higress-", b"x-amz-cf-", b"x-vercel-", b"x-appengine-", b"x-cloud-", b"access-control-", b"x-langfuse-"),
)
# Cookies by which a load balancer or a content network knows a connection again.
_BALANCING = re.compile(
    rb"\s*(?:__cf_bm|_cfuvid|cf_clearance|AWSALB\w*|AWSELB\w*|GCLB|ARRAffinity\w*|SERVERID|__cflb|INGRESSCOOKIE"
    rb"|ApplicationGatewayAffinity\w*|BIGipServer[^=;]*|NSC_[^=;]*|(?:visid_incap|incap_ses|nlbi)_[^=;]*"
    rb"|ak_bmsc|bm_s[vz]|bm_mi|_abck)=[^;]*;?"
)


def beside_body(
    identity: Mapping[str, Any], *, query: bytes, headers: Iterable[tuple[bytes, bytes]], base: str = ""
) -> Mapping[str, Any]:
    """Return a request's identity with its query, its telling headers and the address of the upstream that it names.

    Names of headers are in lower case; `base` is "" where every request goes to the same upstream.
    """
    pairs = list(headers)
    telling = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in pairs if not harmless(name, value)]
    if telling:
        # What `Connection` lists ends here, and is not forwarded.
        ending = connection_own((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)
        telling = [pair for pair in telling if pair[0] not in ending]
    if not telling and not query and not base and "?" not in identity:
        return identity
    beside: dict[str, Any] = {"query": query.decode("latin-1"), "headers": telling}
    if base:
        beside["base"] = base
    # A member of that name in the body must not pass for what stands beside the body.
    return {**identity, "?": {**beside, "body": identity["?"]} if "?" in identity else beside}


def harmless(name: bytes, value: bytes) -> bool:
    """Return True if a header, its name in lower case, tells an upstream nothing more than its usual value does."""
    if name in HARMLESS or name.startswith(HARMLESS_KINDS):
        return True
    if name == b"cookie":
        return not _BALANCING.sub(b"", value).strip()
    return _USUAL.get(name) == value
