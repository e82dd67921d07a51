"""Placement: the categories of a request, the partitions that are searched for it, and the one where it is stored.

Knows packs, conversations and embeddings; searches nothing. Invariant: every partition named here belongs to the
request's own scope and signature, or to a signature that leaves out only earlier turns that may match by meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from semcache.config.packs import Category, Pack
from semcache.errors import EmbedError, SemcacheError
from semcache.protocols import Categorizer, Embedder, longest_word
from semcache.request import categorize, conversation, eligibility, framed, keys
from semcache.request.characters import LONGEST_WORD
from semcache.request.conversation import TurnChain
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.types import CacheKey, Request

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector


class Places(NamedTuple):
    """The partitions of a request: that of its exact conversation, and those where similar ones may be.

    `vector` is that of the last message, `conversation_vector` that of the conversation, by which the `loose`
    partitions are ordered. The request itself is stored in `home`, under the vector of that partition.
    """

    home: bytes
    strict: Sequence[bytes]
    vector: Vector
    loose: Sequence[bytes] = ()
    conversation_vector: Vector | None = None
    chain: TurnChain | None = None

    @property
    def kept(self) -> Vector:
        """The vector under which the request is stored."""
        vector = self.conversation_vector
        return self.vector if vector is None or self.home not in self.loose else vector


class Embedding:
    """An embedder behind a breaker, whose vectors are checked."""

    def __init__(self, embedder: Embedder, faults: GuardedCalls) -> None:
        self.id = embedder.id
        self.longest_word = longest_word(embedder)
        self._embedder = embedder
        self._faults = faults

    async def of(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector a text, shape (n, dim). Raises CacheUnavailable."""
        return await self._faults.guard("embedder", self._checked(texts))

    async def _checked(self, texts: Sequence[str]) -> Matrix:
        embedder = self._embedder
        try:
            matrix = await embedder.embed(texts)
        except (SemcacheError, OSError):
            raise
        except Exception as error:  # a user's own embedder raises what its libraries raise
            raise EmbedError(f"embedder {embedder.id!r} failed: {error!r}") from error
        # False for NaN and infinity too.
        if matrix.shape != (len(texts), embedder.dim) or not all(abs(float(row @ row) - 1) < 1e-2 for row in matrix):
            raise EmbedError(
                f"embedder {embedder.id!r} did not return one unit vector of {embedder.dim} numbers a text"
            )
        return matrix


class Placement:
    """Finds the categories and partitions of requests. `salt` is the store's."""

    def __init__(self, pack: Pack, categorizer: Categorizer, embedding: Embedding, salt: bytes) -> None:
        self.pack = pack
        self.embedding = embedding
        self._categorizer = categorizer
        self._salt = salt

    def categories(self, request: Request, rule: str | None, vector: Vector) -> list[Category]:
        """Return the category in which to store this request, and then others in which its paraphrases may be stored.

        `rule` is the category that the caller or a rule named.
        """
        if request.controls.category is not None:
            return [self.pack.of(request.controls.category)]
        near = [self.pack.of(name) for name in self._categorizer.near(vector, request.text)]
        if near[0].live and _tells_itself(request):
            # What tools gave, or what a passage says, stands in the request: an answer about that is of no moment.
            near = [one for one in near if not one.live] or [self.pack.of("default")]
        if rule is not None:
            return [self.pack.of(rule), *[category for category in near if category.name != rule]]
        return near

    async def places(self, request: Request, key: CacheKey, near: Sequence[Category], vector: Vector) -> Places:
        """Return where to search for a request of these categories, and where to keep it. Raises CacheUnavailable."""
        near = [category for category in near if category.cache and category.semantic]
        names = [category.name for category in near]
        partitions = keys.partitions_of(key.signature, names, self.embedding.id, self._salt)
        chain = chain_of(request, near)
        if chain is None:
            return Places(partitions[0], partitions, vector)
        conversation_vector = conversation.blended_vector(vector, await self.embedding.of(chain.questions))
        others = self.loose(request, chain, names)
        lenient = [category.context == "semantic" for category in near]
        return Places(
            others[0] if lenient[0] else partitions[0],
            [one for one, free in zip(partitions, lenient, strict=True) if not free],
            vector,
            [one for one, free in zip(others, lenient, strict=True) if free],
            conversation_vector,
            chain,
        )

    def loose(self, request: Request, chain: TurnChain, names: Sequence[str]) -> list[bytes]:
        """Return the partitions of these categories for conversations of this form, whatever was said."""
        signature = keys.loose_signature(request, chain.rest, self._salt)
        return keys.partitions_of(signature, names, self.embedding.id, self._salt)


def _tells_itself(request: Request) -> bool:
    """Return True if the request has what an answer is to be taken from, and asks for nothing of the moment besides."""
    if eligibility.is_live(request.text):
        return eligibility.is_answered_by_material(request)
    frame = request.frame
    return (frame is not None and framed.has_material(frame)) or conversation.leans_on_tools(request.identity)


def chain_of(request: Request, near: Sequence[Category]) -> TurnChain | None:
    """Return the conversation, if it has earlier turns that any of these categories lets match by meaning."""
    if (
        request.traits.turns < 2
        or conversation.asks_about_talk(request.text)
        or all(category.context == "exact" for category in near)
    ):
        return None
    chain = conversation.read(request.identity)
    return chain if chain.turns else None


def bars_paraphrases(request: Request, policy: Category, pack: Pack, longest_word: int = LONGEST_WORD) -> bool:
    """Return True if no paraphrase may be looked up.

    That is also so if the caller wants fewer errors than the pack allows, or refers to something that is not in the
    request. `longest_word` is how many characters of a word the embedder tells apart.
    """
    asked = request.controls.max_error
    if asked is not None and asked < pack.target:
        return True
    return eligibility.semantic_eligible(request, policy, longest_word) is not None or conversation.lacks_context(
        request.identity, request.text
    )


def guards_of(policy: Category, request: Request) -> tuple[str, ...]:
    """Return the names of the guards that compare this request with others of a category."""
    names: tuple[str, ...] = policy.guards
    if "ellipsis" in names and conversation.has_context(request.identity):
        # What the message leans on is there, and is compared by signature or turn by turn.
        names = tuple([name for name in names if name != "ellipsis"])
    return names


async def categorizer_of(pack: Pack, embedder: Embedder) -> Categorizer:
    """Return what puts requests into the categories of a pack, by the vectors of its examples."""
    texts = categorize.example_texts(pack)
    return categorize.build(pack, await embedder.embed([text for _, text in texts]))
