"""A follow-up means something only within its conversation: what is read of earlier turns, and what may differ."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects import dialects
from semcache.request import conversation, turn_pairs
from semcache.request.keys import cache_key, canonical, loose_signature
from semcache.request.turn_pairs import TurnPair
from semcache.types import Endpoint, Request

SALT = b"s" * 32
CHAT, RESPONSES, MESSAGES = Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES
ALL = [CHAT, RESPONSES, MESSAGES]
FIELD = {CHAT: "messages", RESPONSES: "input", MESSAGES: "messages"}


def read(endpoint: Endpoint, *items: Any, **body: Any) -> Request:
    return dialects()[endpoint].read(json.dumps({"model": "m", FIELD[endpoint]: list(items), **body}).encode())


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **extra}


def talk(*texts: str) -> list[dict[str, Any]]:
    return [user(text) if place % 2 == 0 else assistant(text) for place, text in enumerate(texts)]


def with_system(endpoint: Endpoint, prompt: str, *items: Any) -> Request:
    if endpoint is CHAT:
        return read(endpoint, {"role": "system", "content": prompt}, *items)
    return read(endpoint, *items, **{"instructions" if endpoint is RESPONSES else "system": prompt})


def with_tool(endpoint: Endpoint, result: str, *, arguments: str = '{"city":"Oslo"}', call: str = "c1") -> Request:
    """A conversation in which a tool was called."""
    first, last = user("Which coat fits the climate of Oslo?"), user("And what should I wear below?")
    if endpoint is CHAT:
        function = {"id": call, "type": "function", "function": {"name": "weather", "arguments": arguments}}
        steps: list[Any] = [
            assistant(None, tool_calls=[function]),
            {"role": "tool", "tool_call_id": call, "content": result},
        ]
    elif endpoint is RESPONSES:
        steps = [
            {
                "type": "function_call",
                "id": f"fc{call}",
                "call_id": call,
                "name": "weather",
                "arguments": arguments,
                "status": "completed",
            },
            {"type": "function_call_output", "call_id": call, "output": result},
        ]
    else:
        steps = [
            assistant([{"type": "tool_use", "id": call, "name": "weather", "input": json.loads(arguments)}]),
            user([{"type": "tool_result", "tool_use_id": call, "content": result}]),
        ]
    return read(endpoint, first, *steps, assistant("It rains."), last)


def chain(request: Request) -> conversation.TurnChain:
    return conversation.read(request.identity)


def loose(request: Request) -> bytes:
    return loose_signature(request, chain(request).rest, SALT)


def compared(one: Request, two: Request) -> tuple[TurnPair, ...] | None:
    return turn_pairs.pairs(chain(one), chain(two), last=(one.text, two.text), longest=200)


def keys_of(identity: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in (b"s", b"chat", identity, b"text"))


# What the name of the partition covers


@pytest.mark.parametrize("endpoint", ALL)
def test_only_the_words_of_earlier_turns_are_left_out(endpoint: Endpoint) -> None:
    one, two = read(endpoint, *talk("a", "b", "c")), read(endpoint, *talk("x", "y", "c"))
    assert [turn[:2] for turn in chain(one).turns] == [("user", "a"), ("assistant", "b")]
    assert loose(one) == loose(two)
    assert cache_key(one, SALT).signature != cache_key(two, SALT).signature


@pytest.mark.parametrize("endpoint", ALL)
def test_another_system_prompt_is_another_partition(endpoint: Endpoint) -> None:
    brief, long = (with_system(endpoint, prompt, *talk("a", "b", "c")) for prompt in ("Be brief.", "Be thorough."))
    assert chain(brief).turns == chain(long).turns
    assert loose(brief) != loose(long)


@pytest.mark.parametrize("endpoint", ALL)
def test_another_tool_result_is_another_partition(endpoint: Endpoint) -> None:
    rain, same, sun = (with_tool(endpoint, result) for result in ("rain", "rain", "sun"))
    assert loose(rain) == loose(same)
    assert loose(rain) != loose(sun)


@pytest.mark.parametrize("endpoint", ALL)
def test_another_tool_call_is_another_partition(endpoint: Endpoint) -> None:
    assert loose(with_tool(endpoint, "rain")) != loose(with_tool(endpoint, "rain", arguments='{"city":"Rome"}'))


@pytest.mark.parametrize("endpoint", ALL)
def test_ids_that_are_drawn_for_each_call_do_not_keep_conversations_apart(endpoint: Endpoint) -> None:
    assert loose(with_tool(endpoint, "rain", call="c1")) == loose(with_tool(endpoint, "rain", call="z9"))


@pytest.mark.parametrize("endpoint", ALL)
def test_a_run_with_other_ids_of_the_same_calls_is_the_same_request(endpoint: Endpoint) -> None:
    one, two = (conversation.cache_key(with_tool(endpoint, "rain", call=call), SALT) for call in ("c1", "z9"))
    assert one == two
    assert conversation.cache_key(with_tool(endpoint, "sun"), SALT).exact != one.exact
    assert conversation.cache_key(with_tool(endpoint, "rain", arguments='{"city":"Rome"}'), SALT).exact != one.exact


@pytest.mark.parametrize("endpoint", ALL)
def test_a_judge_reads_a_stored_run_as_it_reads_the_request(endpoint: Endpoint) -> None:
    asked, kept = with_tool(endpoint, "rain", call="c1"), with_tool(endpoint, "rain", call="z9")
    stored = conversation.stored_identity(conversation.cache_key(kept, SALT).canonical)
    assert conversation.transcript(asked.identity, asked.text) == conversation.transcript(stored, asked.text)


def test_results_that_belong_to_other_calls_stay_apart() -> None:
    def request(first: str, second: str) -> Request:
        calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "ab"]
        results = [{"role": "tool", "tool_call_id": name, "content": "1"} for name in (first, second)]
        return read(CHAT, user("go"), assistant(None, tool_calls=calls), *results, user("What did they say?"))

    one, two = request("a", "b"), request("b", "a")
    assert loose(one) != loose(two)
    assert conversation.cache_key(one, SALT).exact != conversation.cache_key(two, SALT).exact


@pytest.mark.parametrize("endpoint", ALL)
@pytest.mark.parametrize(
    "body", [{"temperature": 0.5}, {"model": "other"}, {"tools": [{"type": "function", "name": "f"}]}]
)
def test_model_sampling_and_tools_are_part_of_the_partition(endpoint: Endpoint, body: dict[str, Any]) -> None:
    assert loose(read(endpoint, *talk("a", "b", "c"))) != loose(read(endpoint, *talk("a", "b", "c"), **body))


def test_number_and_order_of_turns_are_part_of_the_partition() -> None:
    shapes = [
        talk("a", "b", "c"),
        talk("a", "b", "a", "b", "c"),
        [user("a"), user("b"), user("c")],
        [assistant("a"), user("b"), user("c")],
        [user("a"), assistant("b"), {"role": "system", "content": "s"}, user("c")],
    ]
    assert len({loose(read(CHAT, *shape)) for shape in shapes}) == len(shapes)


def test_a_picture_in_an_earlier_turn_is_part_of_the_partition() -> None:
    def request(url: str) -> Request:
        picture = {"type": "image_url", "image_url": {"url": url}}
        return read(CHAT, user([{"type": "text", "text": "Look."}, picture]), assistant("Nice."), user("What is that?"))

    assert loose(request("https://a.org/1.png")) != loose(request("https://a.org/2.png"))
    assert chain(request("https://a.org/1.png")).turns == chain(request("https://a.org/2.png")).turns


def test_scope_and_endpoint_are_part_of_the_loose_signature() -> None:
    assert loose(read(CHAT, *talk("a", "b", "c"))) != loose(read(MESSAGES, *talk("a", "b", "c")))


def test_output_items_of_the_responses_api_match_whatever_their_ids() -> None:
    def request(name: str) -> Request:
        part = {"type": "output_text", "text": "b", "annotations": []}
        item = {"type": "message", "id": name, "status": "completed", "role": "assistant", "content": [part]}
        return read(RESPONSES, user("a"), item, user("c"))

    assert loose(request("msg_1")) == loose(request("msg_2")) == loose(read(RESPONSES, *talk("a", "b", "c")))


texts = st.text(min_size=1, max_size=5)
turns = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), texts), min_size=1, max_size=5)


@given(turns, turns)
def test_the_chain_and_what_is_left_say_together_what_the_identity_says(
    one: list[tuple[str, str]], two: list[tuple[str, str]]
) -> None:
    first, second = (
        {"messages": [*({"role": role, "content": text} for role, text in talked), user([{"type": "text"}])]}
        for talked in (one, two)
    )
    left, right = conversation.read(first), conversation.read(second)
    equal = canonical(left.rest) == canonical(right.rest) and left.turns == right.turns
    assert equal == (one == two)


@given(st.recursive(st.none() | st.integers() | texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_nothing_that_a_client_may_send_cannot_be_read(value: Any) -> None:
    for items in (value, [value, value], [{"role": "user", "content": value}, {"role": "user"}]):
        assert isinstance(conversation.read({"messages": items}), conversation.TurnChain)
        assert isinstance(conversation.lacks_context({"input": items}, "Is it treatable?"), bool)


def test_an_entry_remembers_its_conversation() -> None:
    request = read(CHAT, *talk("a", "b", "c"))
    kept = conversation.stored_chain(cache_key(request, SALT).canonical)
    assert kept is not None
    assert kept.turns == chain(request).turns


@pytest.mark.parametrize("canonical", [b"", b"{}", b"\x00" * 40, keys_of(b"[]"), keys_of(b"{")])
def test_an_entry_that_no_cache_wrote_has_no_conversation(canonical: bytes) -> None:
    assert conversation.stored_chain(canonical) is None


def test_a_very_long_conversation_has_to_match_to_the_letter() -> None:
    assert chain(read(CHAT, *talk(*"ab" * (conversation.MOST // 2), "c"))).turns
    assert not chain(read(CHAT, *talk(*"ab" * conversation.MOST, "c"))).turns


# What may be compared


def asking(*texts: str) -> Request:
    return read(CHAT, *talk(*texts))


def test_only_turns_right_beside_a_call_may_be_in_looser_words() -> None:
    """What is personal may be in other words where a tool was called for it, and nowhere else."""
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    calls = [assistant(None, tool_calls=[call]), {"role": "tool", "tool_call_id": "c1", "content": "5 degrees"}]
    found = read(
        CHAT,
        user("Which coat fits Oslo?"),
        assistant("Let me look."),
        *calls,
        assistant("A warm one."),
        assistant("Bring gloves."),
        user("Is it cold there now?"),
        *calls,
        *[assistant("Yes."), user("Thanks.")],
    )
    beside = {turn.text: turn.beside_call for turn in chain(found).turns}
    assert beside == {
        "Which coat fits Oslo?": False,
        "Let me look.": False,
        "": True,  # the call itself
        "A warm one.": True,
        "Bring gloves.": False,
        "Is it cold there now?": True,
        "Yes.": True,
    }


def test_turns_in_other_words_are_compared_and_equal_ones_are_not() -> None:
    one = asking("How do I reset my router?", "Hold the button.", "How long does that take?")
    two = asking("How can I reset my router?", "Hold the button.", "How long does it take?")
    assert compared(one, two) == (TurnPair("user", "How do I reset my router?", "How can I reset my router?"),)
    assert compared(one, one) == ()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("Is it treatable?", "Mostly.", "Since when?"), ("Is that treatable?", "Mostly.", "Since when?")),
        (("What is the weather today?", "Rain.", "And there?"), ("How is the weather today?", "Rain.", "And there?")),
        (("Where is my order?", "Here.", "Thanks!"), ("Where did my order go?", "Here.", "Thanks!")),
        (("I fly to Rome.", "When?", "On Monday."), ("I fly to Paris.", "When?", "On Monday.")),
        (("I fly to Rome.", "When?", "On Monday."), ("I fly there.", "When?", "On Monday.")),
        (("x" * 300, "Fine.", "Go on."), ("x" * 299, "Fine.", "Go on.")),
        (
            ("List hotels.", "A, then B.", "Book the second one."),
            ("List hotels.", "B, then A.", "Book the second one."),
        ),
        (
            ("List hotels.", "A, then B.", "Take the first one.", "Done.", "Thanks."),
            ("List hotels.", "B, then A.", "Take the first one.", "Done.", "Thanks."),
        ),
    ],
    ids=[
        "opens with a pronoun",
        "live",
        "personal",
        "another name",
        "no name",
        "long",
        "points at a list",
        "pointed at a list before",
    ],
)
def test_what_has_to_match_to_the_letter(one: tuple[str, ...], two: tuple[str, ...]) -> None:
    assert compared(asking(*one), asking(*two)) is None
    assert compared(asking(*one), asking(*one)) == ()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Tell me about Rome.", "Please tell me about Rome."),
        ("Rome is where I go.", "I go to Rome."),
        ("I'd like a tent.", "Yes. I want a tent."),
        ("我想去罗马", "我要去罗马"),
    ],
)
def test_the_same_names_in_other_words_are_compared(one: str, two: str) -> None:
    assert compared(asking(one, "Fine.", "How much?"), asking(two, "Fine.", "How much?"))


def test_a_name_of_the_question_need_not_be_said_again_in_the_answer() -> None:
    short, full = "It was built in 1961.", "The Berlin Wall was built in 1961."
    asked = "When was the Berlin Wall built?"
    assert compared(asking(asked, short, "Why?"), asking(asked, full, "Why?"))
    assert compared(asking("When was it built?", short, "Why?"), asking("When was it built?", full, "Why?")) is None


def test_conversations_of_other_shapes_never_match() -> None:
    assert compared(asking("a", "b", "c"), asking("a", "b", "a", "b", "c")) is None


# What makes no sense alone


@pytest.mark.parametrize(
    "text",
    [
        "what about Germany?",
        "How about the blue one?",
        "and the second one?",
        "Is it treatable?",
        "What are its symptoms?",
        "Where do they live?",
        "Why was it important?",
        "Which one?",
    ],
)
def test_a_message_that_points_back_has_no_answer_of_its_own(text: str) -> None:
    for endpoint in ALL:
        greeted = with_system(endpoint, "Help.", assistant("Hello!"), user(text))
        assert conversation.lacks_context(read(endpoint, user(text)).identity, text)
        assert conversation.lacks_context(greeted.identity, text)
        assert not conversation.lacks_context(read(endpoint, *talk("a", "b", text)).identity, text)


@pytest.mark.parametrize(
    "text",
    [
        "How do I reset my password?",
        "What is the capital of Peru?",
        "Is it safe to eat raw eggs?",
        "How long does it take to fly from Oslo to Rome?",
        "Is there a way to export all my data as CSV?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(text: str) -> None:
    assert not conversation.lacks_context(read(CHAT, user(text)).identity, text)


@pytest.mark.parametrize("endpoint", ALL)
def test_small_talk_is_nothing_to_point_back_to(endpoint: Endpoint) -> None:
    text = "what about Germany?"
    assert conversation.lacks_context(
        read(endpoint, *talk("Hi there!", "Hello! How can I help you today?", text)).identity, text
    )


# What equal to the letter means


def signature(endpoint: Endpoint, *items: Any) -> bytes:
    return conversation.cache_key(read(endpoint, *items), SALT).signature


@pytest.mark.parametrize("endpoint", ALL)
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("Hello", "Hi! How can I help you?", "Why do cats purr?"), ("Why do cats purr?",)),
        (
            ("Hi", "Hello!", "Thanks for being there.", "Of course!", "I'm allergic to nuts.", "Noted.", "A dessert?"),
            ("I am allergic to nuts", "Noted.", "A dessert?"),
        ),
        (("What's TCP?", "A protocol.", "And UDP?"), ("What is TCP?", "A protocol.", "And UDP?")),
        (("Please explain TCP.", "It resends.", "And UDP?"), ("Explain TCP.", "It resends.", "And UDP?")),
        (("Explain TCP, please", "It resends.", "And UDP?"), ("Explain TCP.", "It resends.", "And UDP?")),
        (
            ("Can you please explain TCP?", "It resends.", "And UDP?"),
            ("Can you explain TCP?", "It resends.", "And UDP?"),
        ),
        (("I don\u2019t eat meat", "Noted.", "Dinner?"), ("I do not eat meat.", "Noted.", "Dinner?")),
    ],
)
def test_small_talk_and_contractions_leave_a_conversation_where_it_is(
    endpoint: Endpoint, one: tuple[str, ...], two: tuple[str, ...]
) -> None:
    assert signature(endpoint, *talk(*one)) == signature(endpoint, *talk(*two))
    keys = [conversation.cache_key(read(endpoint, *talk(*texts)), SALT) for texts in (one, two)]
    assert keys[0].exact != keys[1].exact


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("Hello", "Hello, I only know about trains.", "Why so late?"), ("Why so late?",)),
        (("Answer in verse.", "Of course!", "Why do cats purr?"), ("Why do cats purr?",)),
        (("Short answers?", "Sure!", "Yes", "Great!", "Why?"), ("Short answers?", "Sure!", "Why?")),
        (("I am allergic to nuts", "Noted.", "A dessert?"), ("I am not allergic to nuts", "Noted.", "A dessert?")),
        (("What's TCP?", "A protocol.", "And UDP?"), ("What was TCP?", "A protocol.", "And UDP?")),
        (("Where's my order?", "Here.", "Thanks!"), ("Where is my order?", "Here.", "Thanks!")),
        (("Hi", "A.", "And UDP?"), ("Hi", "B.", "And UDP?")),
        (
            ("Fix this:\nif a:\n  b()\nc()", "Done.", "And faster?"),
            ("Fix this:\nif a:\n  b()\n  c()", "Done.", "And faster?"),
        ),
        (("Translate 'please' into French", "OK.", "Why?"), ("Translate '' into French", "OK.", "Why?")),
        (("How do I say please in German?", "OK.", "Why?"), ("How do I say in German?", "OK.", "Why?")),
    ],
    ids=[
        "told something",
        "a wish",
        "an agreement",
        "negated",
        "tense",
        "personal",
        "another answer",
        "indented",
        "a quoted please",
        "a please that is asked about",
    ],
)
def test_what_was_said_keeps_conversations_apart(one: tuple[str, ...], two: tuple[str, ...]) -> None:
    for endpoint in ALL:
        assert signature(endpoint, *talk(*one)) != signature(endpoint, *talk(*two))


def test_a_tool_result_or_a_system_prompt_is_never_small_talk() -> None:
    assert signature(CHAT, user("Why?")) != signature(CHAT, {"role": "system", "content": "Hello"}, user("Why?"))
    assert conversation.cache_key(with_tool(CHAT, "3 degrees"), SALT) != conversation.cache_key(
        with_tool(CHAT, "18 degrees"), SALT
    )


# Where a conversation is kept


def unit(*values: float) -> Any:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_a_conversation_lies_between_its_last_message_and_what_was_asked_before() -> None:
    last, before, other = unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)
    mine = conversation.blended_vector(last, np.stack([before]))
    theirs = conversation.blended_vector(last, np.stack([other]))
    assert float(mine @ mine) == pytest.approx(1, abs=1e-5)
    assert float(mine @ last) == pytest.approx(float(mine @ before), abs=1e-5)
    assert float(mine @ mine) > float(mine @ theirs)


@pytest.mark.parametrize("before", [np.empty((0, 3), np.float32), unit(-1, 0, 0)[None], np.zeros((1, 3), np.float32)])
def test_questions_that_say_nothing_leave_the_last_message(before: Any) -> None:
    assert conversation.blended_vector(unit(1, 0, 0), before) == pytest.approx(unit(1, 0, 0))


@pytest.mark.parametrize("unread", ["acgt" * 26, "gene\u200b"])
@pytest.mark.parametrize("turn", [0, 1])
def test_a_turn_that_no_embedder_reads_is_no_wording_of_another(unread: str, turn: int) -> None:
    turns = ["What does this gene do?", "It makes a protein.", "Is that common?"]
    other = [f"{text} {unread}" if place == turn else text for place, text in enumerate(turns)]
    assert compared(read(Endpoint.CHAT, *talk(*turns)), read(Endpoint.CHAT, *talk(*other))) is None


def test_a_long_pasted_question_is_left_as_it_is_and_later_ones_are_read() -> None:
    pasted = "what's boiling in the kettle " * 1_000
    asked = [user(pasted), assistant("Water."), user("what's in the pot"), assistant("Tea."), user("And now?")]
    items = conversation.without_small_talk(read(CHAT, *asked).identity)["messages"]
    assert [items[0]["content"], items[2]["content"]] == [pasted, "What is in the pot"]


def test_what_is_read_of_all_earlier_questions_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(conversation, "_plain", lambda text: (seen.append(text), text)[1])
    texts = [f"what's boiling in kettle {place} " * 100 for place in range(61)]
    conversation.without_small_talk(read(CHAT, *talk(*texts)).identity)
    assert 1 < len(seen) < 20_000 / len(texts[0])


def test_a_long_turn_that_both_conversations_have_is_not_searched_in_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(turn_pairs, "asks_about_form", lambda text: bool(seen.append(text)))
    pasted = "The kettle boils water for the tea. " * 10_000
    same, other = (
        conversation.read(read(CHAT, *talk(pasted, "Noted.", asked, "At nine.", "Is that so?")).identity)
        for asked in ("When is breakfast?", "What time is breakfast?")
    )
    last = ("Is that so?", "Is that really so?")
    assert turn_pairs.pairs(same, same, last=last, longest=1_000) == ()
    assert not seen
    assert turn_pairs.pairs(same, other, last=last, longest=1_000)
    assert max(map(len, seen)) < 10_000
