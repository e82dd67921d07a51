"""A smaller WordPiece vocabulary that can still spell every text: rare words are spelled with the pieces that stay.

BERT's vocabulary lists its words and pieces by falling frequency in Wikipedia and books, between its special tokens and
its single characters; the tail is dropped. Knows tokenizers' JSON and nothing of models. Invariant: special tokens and
single characters, alone or continuing a word, all stay, so that no text that could be read becomes unreadable.
"""

from __future__ import annotations

import json

from semcache.errors import InvalidArgument

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "<pad>", "</s>", "<unk>", "<mask>")


def trimmed(tokenizer: str, size: int) -> tuple[str, list[int]]:
    """The tokenizer's JSON with at most `size` entries, and the old id of each new one.

    Raises InvalidArgument for a tokenizer that is no WordPiece one, or a size that does not hold the characters.
    """
    told = json.loads(tokenizer)
    if told.get("model", {}).get("type") != "WordPiece":
        raise InvalidArgument("only a WordPiece vocabulary can be made smaller")
    vocabulary: dict[str, int] = told["model"]["vocab"]
    needed = [word for word in vocabulary if word in _SPECIAL or len(word.removeprefix("##")) == 1]
    if size < len(needed):
        raise InvalidArgument(f"a vocabulary of {size} does not hold its {len(needed)} characters and special tokens")
    frequent = [word for word in vocabulary if not word.startswith("[unused") and word not in set(needed)]
    frequent = sorted(frequent, key=vocabulary.__getitem__)[: size - len(needed)]
    kept = sorted([*needed, *frequent], key=vocabulary.__getitem__)
    told["model"]["vocab"] = {word: place for place, word in enumerate(kept)}
    places = told["model"]["vocab"]
    for token in told.get("added_tokens", []):
        token["id"] = places[token["content"]]
    ends = told.get("post_processor") or {}
    for special in ends.get("special_tokens", {}).values():
        special["ids"] = [places[token] for token in special["tokens"]]
    for side in {"cls", "sep"} & ends.keys():
        ends[side] = [ends[side][0], places[ends[side][0]]]
    told["padding"], told["truncation"] = None, None
    return json.dumps(told, ensure_ascii=False), [vocabulary[word] for word in kept]
