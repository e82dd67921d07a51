"""Made-up prompts and paraphrases of them, as many as a benchmark needs, the same for the same numbers.

Pure. Invariant: every stored prompt differs from every other, and every paraphrase from every stored prompt and from
every other paraphrase, so that neither an exact tier nor a memory of embeddings can answer one. Nor is a paraphrase
an equal wording of its prompt: it has to be embedded.
"""

from __future__ import annotations

import json
from hashlib import blake2b

MODEL = "gpt-4o-mini"
VERBS = (
    "order", "return", "repair", "replace", "exchange", "clean", "store", "measure", "assemble", "ship", "register",
    "insure", "upgrade", "review", "reserve", "sell", "wrap", "compare", "inspect", "label",
)  # fmt: skip
OBJECTS = (
    "a tent", "a backpack", "a sleeping bag", "a rain jacket", "a kayak", "a bicycle", "a camping stove", "a headlamp",
    "a climbing rope", "a pair of boots", "a folding chair", "a water filter", "a compass", "a snow shovel",
    "a fishing rod", "a hammock", "a cooler", "a life vest", "a paddle", "a helmet",
)  # fmt: skip
PLACES = (
    "in the mobile app", "at the store counter", "through the website", "over the phone", "at a partner shop",
    "from abroad", "as a gift", "for a school", "for a sports club", "as a wholesale customer", "by mail",
    "at the warehouse", "before a long trip", "after the winter", "in a small apartment", "with a discount code",
    "on a tight budget", "together with a friend", "without a receipt", "during the summer sale",
)  # fmt: skip
WORDINGS = (
    "What would you do to {}?",
    "Is there an easy way to {}?",
    "How are you supposed to {}?",
    "How might a customer {}?",
    "How would a beginner {}?",
    "What is involved if I {}?",
    "How does a customer {}?",
    "I have to {}: how does that work?",
)
FRAMES = (
    "Which {name} {thing} would you {verb} {place}?",
    "Explain in two sentences why people {verb} the {thing} called {name}.",
    "Is the {name} made for those who want to {verb} it {place}?",
    "Compare {name} with an ordinary {thing} for somebody {place}.",
    "What does the word {name} on my {thing} mean?",
    "List three reasons against {name} as a brand of {thing}.",
    "Who invented the {name} process that helps to {verb} textiles?",
    "Summarise the manual of {name}, chapter by chapter, {place}.",
    "Does {name} contain latex, nickel or wool?",
    "How heavy is the {name} compared to a {thing}?",
    "Give the opening hours of the {name} museum.",
    "When was {name} founded, and by whom?",
)
SYLLABLES = (
    "ka",
    "vo",
    "ru",
    "mi",
    "ster",
    "lan",
    "pex",
    "dor",
    "qui",
    "zel",
    "bran",
    "tho",
    "gim",
    "fay",
    "nos",
    "wyl",
)
_COMBINATIONS = len(VERBS) * len(OBJECTS) * len(PLACES)


def stored(count: int) -> list[str]:
    """`count` prompts; beyond 8,000 they carry a name that tells them apart."""
    return [f"How do I {task(number)}?" for number in range(count)]


def paraphrases(count: int) -> list[str]:
    """Other wordings of each of `stored(count)`, one wording of all prompts after the other."""
    return [wording.format(task(number)) for wording in WORDINGS for number in range(count)]


def fresh(count: int, tag: str) -> list[str]:
    """`count` prompts that resemble none before, as long as no `tag` is used twice."""
    found: list[str] = []
    for number in range(count):
        picks = blake2b(f"{tag}/{number}".encode(), digest_size=16).digest()
        frame = FRAMES[picks[0] % len(FRAMES)]
        made_up = "".join(SYLLABLES[pick % len(SYLLABLES)] for pick in picks[4:10])
        thing = OBJECTS[picks[1] % len(OBJECTS)].rpartition(" ")[2]
        place = PLACES[picks[2] % len(PLACES)]
        found.append(frame.format(thing=thing, verb=VERBS[picks[3] % len(VERBS)], place=place, name=made_up))
    return found


def body(prompt: str, *, stream: bool = False) -> bytes:
    """A chat completion request on one line, as an SDK would send it."""
    fields = {"model": MODEL, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
    return json.dumps(fields | ({"stream": True} if stream else {}), separators=(",", ":")).encode()


def answer(prompt: str) -> str:
    """An answer of ordinary length."""
    return (
        f"You asked: {prompt} Open the page of your order and choose the item. Follow the three steps shown there; "
        "they take about two minutes. We confirm by mail within the hour, and our staff will gladly help with the rest."
    )


def completion(prompt: str) -> dict[str, object]:
    """The whole chat completion that holds `answer`."""
    message = {"role": "assistant", "content": answer(prompt), "refusal": None}
    return {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 15, "completion_tokens": 60, "total_tokens": 75},
    }


def task(number: int) -> str:
    """Something that can be done, another for every number; neighbours have little in common."""
    series, rest = divmod(number, _COMBINATIONS)
    # A stride without common divisors visits every combination once.
    rest, place = divmod(rest * 3001 % _COMBINATIONS, len(PLACES))
    verb, thing = divmod(rest, len(OBJECTS))
    agent = f" with agent {_name(series)}" if series else ""
    return f"{VERBS[verb]} {OBJECTS[thing]} {PLACES[place]}{agent}"


def _name(series: int) -> str:
    letters = ""
    while series:
        series, letter = divmod(series - 1, 26)
        letters = chr(97 + letter) + letters
    return letters
