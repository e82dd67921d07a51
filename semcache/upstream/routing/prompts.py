"""A request as routing sees it: the beginning of its prompt, cut into blocks with chained keys.

Knows which fields of an OpenAI or Anthropic body the model reads first, and nothing of replicas. Where the prompt's
token ids are known, blocks are of tokens; else they are of bytes, and tokens are estimated.
Invariant: two prompts share the key of block i iff their blocks 0 to i, their root (tenant's salt, adapter or model)
and the size of a block are equal, up to collisions of a 128-bit digest. Nothing in a request makes reading it raise.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice

import msgspec

CHUNK_BYTES = 512
BYTES_PER_TOKEN = 4
MAX_BLOCKS = 4096
_LONGEST_SESSION = 256  # characters that are remembered of a session's name; a longer one goes by its digest
BYTES = 0  # the unit of blocks that are made of bytes

# In the order in which chat templates place them: what comes first is what a prefix is made of.
_ORDER = ("tools", "functions", "instructions", "system", "messages", "input", "prompt")
_SESSION_FIELDS = ("session_id", "conversation", "prompt_cache_key", "previous_response_id")
_SESSION_HEADERS = (
    "x-session-id",
    "x-dynamo-session-id",
    "x-claude-code-session-id",
    "x-smg-routing-key",
    "session-id",
)
Fields = dict[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class BlockChain:
    """The keys of the blocks of one prompt, 16 bytes each, and how many tokens a block stands for."""

    keys: Sequence[bytes]
    unit_tokens: int


@dataclass(slots=True)
class RoutedPrompt:
    """One request. `fields` are the body's, each as its own bytes; empty where it is no JSON object.

    `tenant` is a name, `salt` what stands for it towards replicas; `ids` are the prompt's token ids once known.
    `rewritten` says that `fields` are not those that came.
    """

    path: str
    tenant: str
    salt: str
    fields: Fields
    session: str = ""
    ids: Sequence[int] | None = None
    rewritten: bool = False
    _chains: dict[tuple[int, str], BlockChain] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """True if there is a prompt to go by."""
        return self.ids is not None or any(name in self.fields for name in _ORDER)

    @property
    def model(self) -> str:
        """The model that the request names, "" for none."""
        return self.text("model")

    def text(self, name: str) -> str:
        """A field that is a text, "" where it is missing or something else."""
        return _text(self.fields.get(name))

    @property
    def streamed(self) -> bool:
        """True if the answer will be a stream, whose first token can be seen to arrive."""
        return bytes(self.fields.get("stream", b"")) == b"true"

    def tokens(self) -> int:
        """Length of the prompt in tokens, estimated from bytes where the ids are not known."""
        if self.ids is not None:
            return len(self.ids)
        return sum(len(memoryview(self.fields[name])) for name in _ORDER if name in self.fields) // BYTES_PER_TOKEN

    def chain(self, unit: int, adapter: str = "") -> BlockChain:
        """The keys of whole blocks of `unit` tokens, or of bytes with `BYTES` or where the ids are not known."""
        unit = unit if self.ids is not None else BYTES
        found = self._chains.get((unit, adapter))
        if found is None:
            if self.ids is not None and unit != BYTES:
                keys, size = token_keys(root(self.salt, adapter), self.ids, unit), unit
            else:
                start = _digest(b"bytes", root(self.salt, self.model))
                keys, size = _chained(start, _chunks(self.fields)), CHUNK_BYTES // BYTES_PER_TOKEN
            found = self._chains[unit, adapter] = BlockChain(list(islice(keys, MAX_BLOCKS)), size)
        return found


def read(
    path: str, headers: Sequence[tuple[str, str]], body: bytes, *, tenant: str = "", salt: str = ""
) -> RoutedPrompt:
    """Read what routing needs of a request of any kind."""
    try:
        fields = msgspec.json.decode(body, type=Fields) if body else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        fields = {}
    return RoutedPrompt(path, tenant, salt, fields, _session(headers, fields))


def root(salt: str, adapter: str) -> bytes:
    """The key that the first block's key is chained to."""
    return _digest(salt.encode(), adapter.encode("utf-8", "surrogatepass"))


def token_keys(parent: bytes, ids: Sequence[int], unit: int) -> Iterator[bytes]:
    """The keys of the whole blocks of `ids`, chained to `parent`; ids are taken modulo 2^64."""
    whole = len(ids) - len(ids) % unit
    return _chained(parent, (_packed(ids[at : at + unit]) for at in range(0, whole, unit)))


def _packed(ids: Sequence[int]) -> bytes:
    return array("Q", [value & 0xFFFF_FFFF_FFFF_FFFF for value in ids]).tobytes()


def _chained(parent: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        parent = _digest(parent, block)
        yield parent


def _digest(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _chunks(fields: Mapping[str, msgspec.Raw]) -> Iterator[bytes]:
    """The prompt's bytes, field by field, in whole chunks."""
    held = bytearray()
    for name in _ORDER:
        for piece in _pieces(fields.get(name)):
            held += piece
            while len(held) >= CHUNK_BYTES:
                yield bytes(held[:CHUNK_BYTES])
                del held[:CHUNK_BYTES]


def _pieces(raw: msgspec.Raw | None) -> Iterator[bytes]:
    """The items of a list, or a value, without what would follow it: the next turn goes on where this one ended."""
    if raw is None:
        return
    value = bytes(raw)
    if value.startswith(b"["):
        for item in msgspec.json.decode(value, type=list[msgspec.Raw]):
            yield bytes(item)
    else:
        # A text that goes on has no closing quote here.
        yield value[:-1] if value.endswith(b'"') else value


def _session(headers: Sequence[tuple[str, str]], fields: Mapping[str, msgspec.Raw]) -> str:
    sent = {name.lower(): value for name, value in headers}
    named = next((sent[name] for name in _SESSION_HEADERS if sent.get(name)), "")
    named = named or next((text for name in _SESSION_FIELDS if (text := _text(fields.get(name)))), "")
    return named if len(named) <= _LONGEST_SESSION else _digest(named.encode("utf-8", "surrogatepass")).hex()


def _text(raw: msgspec.Raw | None) -> str:
    """The value of a field that is a text, or an object with an id; "" for anything else."""
    if raw is None:
        return ""
    try:
        value = msgspec.json.decode(bytes(raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    if isinstance(value, dict):
        value = value.get("id")
    return value if isinstance(value, str) else ""
