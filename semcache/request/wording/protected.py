"""Spans that no edit may touch: quotes, code, formulas, identifiers, addresses, paths.

Each span is held out of the text by one character of the private use area and put back at the end.
Invariant: `restored(*held(text))` is `text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from semcache.request.text import vocabulary
from semcache.request.wording.cues import holds

_FIRST = 0xE000
_MOST = 1024
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_QUOTED = re.compile(r"""["'`$\\\u2018\u201c\u201d\u201e\u00ab](?<!\w')""")
_SPAN = re.compile(
    r"""
      ```.*?(?:```|\Z)
    | `[^`]+`
    | "[^"]*"
    | [\u201c\u201d\u201e][^\u201c\u201d\u201e]*[\u201c\u201d]
    | \u00ab[^\u00ab\u00bb]*\u00bb
    | '(?<![\w'\u2019]')(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)
    | \u2018(?:[^\u2018\u2019\n]|(?<=\w)\u2019(?=\w))*\u2019(?!\w)
    | \$\$[^$]+\$\$
    | \$[^$\s](?:[^$\n]*[^$\s])?\$(?![\w$])
    | \\\([^\\]*(?:\\(?![()])[^\\]*)*+\\\)
    """,
    re.VERBOSE | re.DOTALL,
)
# The directory that a command is about.
_HERE = re.compile(r"(?<=\s)\.{1,2}(?=\s|[?!]*\s*$)")
_COMMANDS = vocabulary(
    "git cd ls docker podman npm npx yarn pip cp mv rm find grep rg tar rsync chmod chown pytest ruff black eslint code"
    " cargo go make terraform tree du zip scp"
)
# A property of a style sheet and its value.
_PROPERTY = re.compile(
    r"(?<![\w-])(?:[a-z]+-(?:align|color|style|size|family|weight|width|height|decoration|transform|spacing"
    r"|content|items"
    r"|self|index|radius|image|position|repeat|collapse|type|wrap|flow|top|bottom|left|right)|color|display"
    r"|float|cursor"
    r"|visibility|overflow|margin|padding|border|background|opacity|font): [\w#.%-]+"
)
_MARKED = re.compile(
    r"[/@\\_#=<>{}|~^*+&:(.A-Z](?:(?<=[/@\\_#=<>{}|~^*+&])|(?<=\w:)(?=\w)|(?<=\w\()|(?<=\.)(?=\w)|(?<=[a-z][A-Z]))"
)
_CHUNK = re.compile(r"([(\[]?)(.*[^)\].,;:!?])(.*)", re.DOTALL)
_CODED = ("{", "}", ";", "\\", "=", "<", ">", "|", "()", "\n ", "\n\t")
_CODE = re.compile(
    r"[{}\\]|;(?=\s*$)|;(?=\S)|[^\s=]\s*==?\s|=>|->|\w\(\)|^(?: {2,}|\t)\S|(?<!\S)[<|]|<\w+>|</", re.MULTILINE
)
# Chunks with a mark in them that other rooms read: units, abbreviations, numbers, well-known names.
_READ = re.compile(
    r"""
      w/o? | b/c | [1-9]/(?:[234568]|10) | \.\d+(?:[a-zA-Z]{1,5}|%)? | [MG]B/s | [MG]b(?:it)?/s | m/s | and/or
          | km/h | mi/h | [+*&/\u00d7\u00f7=] | \d{1,2}[:.][0-5]\d(?:[aApP]\.?[mM])? | \#\d+
            | \d+(?:\.\d+)?(?:[+*]\d+(?:\.\d+)?)+ | \d+\^\d+
          | [UE]\.[SKU](?:\.A)? | i\.e | e\.g | (?:\d\d?)?[apAP]\.[mM]
    | [$\u20ac\u00a3]?\d[\d,]*(?:\.\d+)?(?:[a-zA-Z]{1,5}[\u00b2\u00b3]?|%|\u00b0[CFcf]?|\u00b5[a-z])?
    """,
    re.VERBOSE,
)
# Names with a capital or a mark inside them, whose case says nothing.
STYLED = vocabulary("""
    javascript typescript github gitlab iphone ipad ipod imac youtube linkedin postgresql mysql mongodb mariadb macos
    ios wifi wi-fi ebay paypal openai chatgpt deepmind tiktok whatsapp powerpoint sqlite numpy scipy pytorch tensorflow
    latex fastapi graphql dynamodb bigquery duckdb couchdb rabbitmq websocket websockets oauth devops airpods icloud
    itunes airbnb facetime playstation onedrive sharepoint wordpress stackoverflow bitcoin ph phd coffeescript jquery
    vscode intellij pycharm huggingface langchain llamaindex openssl openstreetmap mcdonald's kubectl opencv xcode
    testflight swiftui uikit webgl webassembly nosql newsql gpu gpus cpu cpus api apis pdfs urls dvds cds tvs
    c++ c# f# .net asp.net node.js vue.js next.js react.js three.js d3.js express.js angular.js nuxt.js
    """)


def is_about_here(text: str) -> bool:
    """Return True if a command in a text is given the directory it runs in: "git add ."."""
    return " ." in text and not _COMMANDS.isdisjoint(text.split()) and _HERE.search(text) is not None


def held(text: str, given: str = "") -> tuple[str, tuple[str, ...]] | None:
    r"""The text with a mark in the place of each protected span, and the spans; None for code and what cannot be held.

    What is `given` to go behind it is held as a whole, as the last of the spans.

    >>> held("the command `ls -l`")
    ('the command \ue000', ('`ls -l`',))
    """
    if (not text.isascii() and _PRIVATE.search(text)) or (not given.isascii() and _PRIVATE.search(given)):
        return None
    spans: list[str] = []

    def hold(span: str) -> str:
        spans.append(span)
        return chr(_FIRST + min(len(spans), _MOST) - 1)

    if _QUOTED.search(text):
        text = _SPAN.sub(lambda match: hold(match[0]), text)
    if is_about_here(text):
        text = _HERE.sub(lambda match: hold(match[0]), text)
    if ": " in text:
        text = _PROPERTY.sub(lambda match: hold(match[0]), text)
    if holds(text, _CODED) and _CODE.search(text.strip()):
        return None
    pieces: list[str] = []
    done = 0
    while (mark := _MARKED.search(text, done)) is not None:
        start = end = mark.start()
        while start > done and not text[start - 1].isspace():
            start -= 1
        while end < len(text) and not text[end].isspace():
            end += 1
        pieces += (text[done:start], _marked(text[start:end], hold))
        done = end
    if pieces:
        text = "".join(pieces) + text[done:]
    if given:
        text += hold(given)
    return None if len(spans) > _MOST else (text, tuple(spans))


def _marked(piece: str, hold: Callable[[str], str]) -> str:
    """A piece of text between blanks with a mark in it, held unless another room reads it."""
    if (match := _CHUNK.match(piece)) is None:
        return piece
    before, chunk, after = match.groups()
    if (
        not _READ.fullmatch(chunk)
        and chunk.lower() not in STYLED
        and (not _PRIVATE.search(chunk) or "=" in chunk or "(" in chunk)
    ):
        return before + hold(chunk) + after
    return piece


_WORDS = re.compile(r"[A-Za-z][A-Za-z ,.!?&-]+(?:'[a-z]+[A-Za-z ,.!?&-]*)*")


def straightened(spans: tuple[str, ...]) -> tuple[str, ...]:
    """The spans with straight marks around quoted text, where there are none inside; what is quoted stays."""
    return tuple(
        [
            f'"{span[1:-1]}"'
            if len(span) > 1 and span[0] in "\u201c\u201d\u201e" and '"' not in span
            else f'"{span[1:-1]}"'
            if len(span) > 1 and span[0] in "\u2018'" and _WORDS.fullmatch(span[1:-1])
            else span
            for span in spans
        ]
    )


def restored(text: str, spans: tuple[str, ...]) -> str:
    """The text with its protected spans put back."""
    if not spans:
        return text
    while _PRIVATE.search(text):
        text = _PRIVATE.sub(lambda match: spans[ord(match[0]) - _FIRST], text)
    return text
