"""The formats of credentials that can be recognised by their form: for each a mark that it contains, and its pattern.

Facts, after the rules of gitleaks (MIT licence) and the vendors' documentation; kept by hand. Invariant: every pattern
is bounded, and is tried only at given places beside its mark, so a text full of marks is read in one pass.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.runtime.late_pattern import late


class SecretFormat(NamedTuple):
    """A format: its mark, and the pattern, which begins as many characters before the mark as `offsets` says."""

    mark: str
    pattern: re.Pattern[str]
    offsets: tuple[int, ...]


_HEX, _WORD, _KEY = "[a-fA-F0-9]", "[A-Za-z0-9]", "[A-Za-z0-9_-]"
# A line a format: its mark, and what follows it. `H`, `W` and `K` before a count stand for a hexadecimal digit, for a
# letter or digit, and for one of these or `_-`; neither letter nor digit stands before the mark.
_AFTER = r"""
AKIA [A-Z0-9]{16}\b
ASIA [A-Z0-9]{16}\b
AROA [A-Z0-9]{16}\b
AIDA [A-Z0-9]{16}\b
ABIA [A-Z0-9]{16}\b
ACCA [A-Z0-9]{16}\b
ABSK [A-Za-z0-9+/]{100}
bedrock-api-key- K{20}
sk- (?:proj-|ant-|live-|or-|svcacct-|admin-|lf-|or-v1-)?K{16}
sk_live_ W{10}
sk_test_ W{10}
sk_prod_ W{10}
rk_live_ W{10}
rk_test_ W{10}
rk_prod_ W{10}
pk_live_ W{10}
pk_test_ W{10}
whsec_ [A-Za-z0-9+/=]{24}
ghp_ W{20}
gho_ W{20}
ghu_ W{20}
ghs_ W{20}
ghr_ W{20}
github_pat_ [A-Za-z0-9_]{20}
glpat- K{16}
gldt- K{16}
glrt- K{16}
glcbt- K{16}
glptt- H{40}
glft- K{16}
glimt- K{16}
glagent- K{40}
gloas- K{40}
glsoat- K{16}
glffct- K{16}
GR1348941 K{20}
glc_ [A-Za-z0-9+/]{32}
glsa_ W{32}_H{8}
xoxa- [A-Za-z0-9-]{10}
xoxb- [A-Za-z0-9-]{10}
xoxe [.-][A-Za-z0-9-]{10}
xoxo- [A-Za-z0-9-]{10}
xoxp- [A-Za-z0-9-]{10}
xoxr- [A-Za-z0-9-]{10}
xoxs- [A-Za-z0-9-]{10}
xapp- \d-[A-Z0-9]{1,40}-\d{1,20}-[a-z0-9]{10}
AIza K{30}
ya29. K{20}
GOCSPX- K{20}
hf_ W{20}
api_org_ W{30}
npm_ W{20}
pypi- K{20}
SG. K{16,60}\.K{16}
xkeysib- H{64}-W{16}
AGE-SECRET-KEY-1 [A-Z0-9]{58}
A3- [A-Z0-9]{6}-[A-Z0-9]{5,11}-[A-Z0-9]{5}-
ops_eyJ [A-Za-z0-9+/]{60}
p8e- W{32}
LTAI W{16}
AKCp W{60}
cmVmd W{59}
ATATT3 [A-Za-z0-9_=-]{50}
ATCTT3 [A-Za-z0-9_=-]{50}
ATBB W{28}
CLOJARS_ W{60}
dapi H{32}
dop_v1_ H{64}
doo_v1_ H{64}
dor_v1_ H{64}
dp.pt. W{40}
dp.st. K{20}
duffel_live_ K{40}
duffel_test_ K{40}
dt0c01. W{24}\.W{60}
EZAK W{54}
EZTK W{54}
EAAM W{90}
EAAC W{90}
EAAA K{55}
sq0atp- K{22}
sq0csp- K{40}
FLWSECK H{0,2}(?:_TEST)?-[a-h0-9]{32}
FLWSECK_TEST- [a-h0-9]{12}
FLWPUBK_TEST- [a-h0-9]{32}
fo1_ K{40}
fm2_ [A-Za-z0-9+/]{60}
fio-u- [A-Za-z0-9_=-]{60}
pat. K{22}\.W{24}\.W{20}
sat. K{22}\.W{24}\.W{20}
HRKU- K{30}
ico- W{32}\b
lin_api_ W{40}
lin_oauth_ W{40}
pubkey- H{32}
key- [a-f0-9]{32}\b
NRAK- W{27}
NRJS- H{19}
NRII- K{30}
NRAA- H{27}
ntn_ W{40}
secret_ W{40}
oy2 [a-z0-9]{43}\b
API- [A-Z0-9]{26}\b
sess- W{40}
sha256~ K{43}
pplx- W{40}
pscale_tkn_ [A-Za-z0-9_=.-]{32}
pscale_pw_ [A-Za-z0-9_=.-]{32}
pscale_oauth_ [A-Za-z0-9_=.-]{32}
PMAK- H{24}-H{34}
pnu_ W{36}
pul- H{40}
rdme_ W{70}
rubygems_ H{48}
tk-us- K{48}
sntrys_ [A-Za-z0-9_=+/]{40}
sntryu_ H{60}
sm_aat_ W{16}
sm_pat_ W{16}
sm_sat_ W{16}
shippo_live_ H{40}
shippo_test_ H{40}
shpat_ H{32}
shpca_ H{32}
shppa_ H{32}
shpss_ H{32}
sqp_ [a-z0-9=_-]{40}
squ_ [a-z0-9=_-]{40}
sqa_ [a-z0-9=_-]{40}
sgp_ W{30}
tfp_ [A-Za-z0-9_.=-]{55}
hvs. K{24}
hvb. K{60}
AQVN K{35}
YCAJE K{20}
t1. K{20,300}={0,2}\.K{80}
gsk_ W{40}
xai- W{60}
r8_ W{37}
lsv2_pt_ H{32}_H{10}
lsv2_sk_ H{32}_H{10}
tvly- K{20}
nvapi- K{50}
pcsk_ K{40}
fc- [a-f0-9]{32}\b
sbp_ H{40}
sb_secret_ K{20}
nfp_ W{36}
figd_ K{36}
dckr_pat_ K{20}
dckr_oat_ K{20}
bkua_ H{40}
CCIPAT_ K{40}
CFPAT- K{40}
sl. K{120}
access-sandbox- H{8}-H{4}-
access-production- H{8}-H{4}-
access-development- H{8}-H{4}-
tskey- [a-z]{3,8}-K{12}
rzp_live_ W{14}
rzp_test_ W{14}
APP_USR- [\d-]{20}
phc_ W{40}
phx_ W{40}
dG9rO W{20}
vcp_ K{20}
rpa_ W{40}
pit-tok- W{20}
key_live_ W{20}
live_ [a-zA-Z0-9]{30}
SK [0-9a-f]{32}\b
eyJrIjoi W{60}
v1.0- H{24}-H{100}
PuTTY-User-Key-File- \d
xoxc- [A-Za-z0-9-]{10}
xoxd- [A-Za-z0-9%+/-]{10}
pat W{14}\.H{64}\b
pat-na1- H{8}-H{4}-
pat-eu1- H{8}-H{4}-
napi_ W{40}
wandb_v1_ K{40}
e2b_ H{40}
tgp_v1_ K{40}
jina_ W{40}
vercel_blob_rw_ W{16}_W{20}
cfat_ W{40}
cfut_ W{40}
shptka_ H{32}
fw_ W{22}\b
re_ W{8}_W{20}
sk_ H{48}\b
pa- K{43}\b
rnd_ W{28}\b
key_ H{64}\b
crsr_ W{40}
AQ.Ab K{40}
"""
# What does not begin with its mark, or has more in it than a table can say.
_ROUND: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    # The header of a signed token is not needed: the dot alone, one try a dot.
    (".eyJ", rf"(?<={_KEY})\.eyJ{_KEY}{{8,4000}}+\.{_KEY}{{8}}", (0,)),
    ("Q~", rf"{_KEY[:-1]}~.]{{3}}\dQ~[A-Za-z0-9_~.-]{{31}}", (4,)),
    (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60}", (14,)),
    ("-us", rf"{_HEX}{{32}}-us\d{{1,2}}\b", (32,)),
    ("_mmk", rf"{_WORD}{{6}}_{_WORD}{{29}}_mmk\b", (36,)),
    (":AA", rf"(?<!\d)\d{{8,10}}:AA{_KEY}{{32}}", (8, 9, 10)),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40}", (0,)),
    ("webhook.office.com/", rf"webhook\.office\.com/webhookb2/{_HEX}{{8}}-", (0,)),
    ("/api/webhooks/", rf"/api/webhooks/\d{{16,20}}/{_KEY}{{60}}", (0,)),
    ("AccountKey=", r"AccountKey=[A-Za-z0-9+/]{60,100}={0,2}", (0,)),
    ("SharedAccessKey=", r"SharedAccessKey=[A-Za-z0-9+/]{40,100}={0,2}", (0,)),
    ("sig=", r"[?&;]sig=[A-Za-z0-9%+/]{40}", (1,)),
    ("_authToken=", rf"_authToken={_KEY}{{20}}", (0,)),
    ("$2a$", r"\$2a\$\d\d\$[./A-Za-z0-9]{53}", (0,)),
    ("$2b$", r"\$2b\$\d\d\$[./A-Za-z0-9]{53}", (0,)),
    ("$2y$", r"\$2y\$\d\d\$[./A-Za-z0-9]{53}", (0,)),
    ("s-s4t2", rf"s-s4t2(?:ud|af)-{_HEX}{{64}}", (0,)),
)  # fmt: skip
_TYPED = r"\w!#%&*+.@^~/-"
_KNOWN = r"(?:pass|pw|token|secret|your|(?:root|admin|guest|node|test)(?!\w))"  # what a manual writes there
_WITH_SPACE = (
    ("-----BEGIN ", r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY", (0,)),
    # What a command is told: "curl -u name:word", "mysql -uroot -pword", "sshpass -p word".
    (" -u ", rf" -u (?!\d{{1,6}}:\d{{1,6}}(?!\S))[\w.@-]{{1,40}}:(?!{_KNOWN})[{_TYPED}]{{4}}", (0,)),
    ("mysql -p", rf"mysql -p'?(?!{_KNOWN})[{_TYPED}]{{4}}", (0,)),
    ("mysql -u", rf"mysql -u ?[\w.@-]{{1,40}} -p'?(?!{_KNOWN})[{_TYPED}]{{4}}", (0,)),
    ("sshpass -p", rf"sshpass -p ?'?(?!{_KNOWN})[{_TYPED}]{{4}}", (0,)),
    ("asic ", r"\b[Bb]asic (?:[A-Za-z0-9+/]{16,400}={0,2}|[A-Za-z0-9+/]{11,15}=)(?![\w+/])(?<=[=\dA-Z])", (1,)),
)


def _formats() -> tuple[SecretFormat, ...]:
    found = []
    for line in _AFTER.strip().splitlines():
        mark, rest = line.split(" ", 1)
        spelled = rest.replace("H{", _HEX + "{").replace("W{", _WORD + "{").replace("K{", _KEY + "{")
        found.append(SecretFormat(mark, late(rf"(?<![A-Za-z0-9]){re.escape(mark)}{spelled}"), (0,)))
    found += [SecretFormat(mark, late(pattern), offsets) for mark, pattern, offsets in _ROUND]
    return tuple(found)


FORMATS = _formats()
"""Every format, told by its mark."""
SPACED = tuple([SecretFormat(mark, late(pattern), offsets) for mark, pattern, offsets in _WITH_SPACE])
"""Formats with a space in the mark."""
