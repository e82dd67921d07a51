"""A question among material is found, the material has to be equal, and what works on its wording is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache import AsyncSemanticCache
from semcache.config.packs import packs_dir
from semcache.dialects import dialects
from semcache.errors import RequestRejected
from semcache.request import conversation, framed
from semcache.request.characters import LONGEST
from semcache.request.eligibility import unkept
from semcache.request.kinds.as_written import works_on_wording
from semcache.types import Endpoint, Frame, Why

POLICY = (
    "Customers may return an unused item within 30 days of delivery for a full refund. Items on sale can only be "
    "exchanged. Shipping costs are not refunded unless the item was faulty. Refunds take five business days, and are "
    "paid to the card or the account from which the order was paid."
)
TEMPLATES = [
    "Answer only from the context.\n\nContext:\n{context}\n\nQuestion: {question}",
    "Use the following pieces of context to answer the question at the end. If you don't know, say so.\n\n{context}\n\n"
    "Question: {question}\nHelpful Answer:",
    "<context>\n{context}\n</context>\n\n<question>{question}</question>",
    "<documents>{context}</documents>\n<user_query>\n{question}\n</user_query>",
    "Question: {question}\n\nContext: {context}",
    "## Context\n{context}\n\n## Question\n{question}",
    "**Context:** {context}\n\n**User question:** {question}\n\n**Answer:**",
    "Context: {context} Question: {question} Answer:",
    "{context}\n\n{question}",
    "{question}\n\n{context}",
    "{question}\n{context}",
    "Kontext: {context}\n\nFrage: {question}",
    "You answer for a shop. {context}\n\nUser: {question}",
    "You answer for a shop. {context}\n\n**Customer's message:** {question}\n\nReply:",
]
STORY = (
    "I've been renting a flat in Leipzig since April 2021, and last week the landlord wrote that he wants to raise the "
    "rent by 18 percent from the first of next month. The contract says nothing about a graduated rent, and there has "
    "been no renovation since I moved in. My neighbour, who has a similar flat, pays about the same as I do. I have "
    "not signed anything yet, and I would rather not start a fight with him."
)
ASKED = "Can sale items be returned?"
AGAIN = "Is it possible to return something bought on sale?"


def filled(template: str, question: str, context: str = POLICY) -> str:
    return template.format(context=context, question=question)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_question_of_a_template_is_found(template: str) -> None:
    found = framed.split(filled(template, ASKED))
    assert found is not None
    question, frame = found
    assert question == ASKED
    assert frame.before + question + frame.after == filled(template, ASKED)


@pytest.mark.parametrize(
    "text",
    [
        "How do I pay?",
        "Question: how do I pay?",
        "Hello,\n\nI would like to pay my bill.\n\nHow do I do that?",
        "Write a haiku about the sea. Make it rhyme, and keep it under twenty words, please, if you can do that.",
        POLICY,
        f"{POLICY}\n\n{POLICY}",
        f"Question:   \n\n{POLICY}",
    ],
)
def test_what_gives_no_material_is_compared_as_a_whole(text: str) -> None:
    assert framed.split(text) is None


@pytest.mark.parametrize("opening", ["Context: ", "### Document\n", "<source>", "**Knowledge base:** "])
async def test_a_question_that_material_answers_is_of_no_moment_by_likeness(opening: str, tmp_path: Path) -> None:
    question = "When is the next full moon?"
    async with await AsyncSemanticCache.open(str(tmp_path)) as cache:
        told = await cache.lookup(f"{opening}The next full moon is on the 3rd.\n\nQuestion: {question}")
        alone = await cache.lookup(question)
    assert told.lookup.request.frame is not None
    assert (told.lookup.category == "live", alone.lookup.category == "live") == (False, True)


def test_a_text_that_is_never_kept_is_not_searched_for_its_question() -> None:
    """Searching 8 MB takes a second, in which no other request of the process is answered."""
    asked = "\nQuestion: How tall is the lighthouse?"
    longest = "word " * ((LONGEST - len(asked)) // 5)
    assert framed.split(longest + asked) is not None
    assert framed.split(longest + 6 * "w" + asked) is None


def test_of_several_questions_the_last_is_asked() -> None:
    text = "Question: How do I pay?\nAnswer: By card, or by transfer.\n\nQuestion: How do I cancel?\nAnswer:"
    found = framed.split(text)
    assert found is not None
    assert found[0] == "How do I cancel?"
    assert found[1].last


@given(st.text(alphabet=st.sampled_from("ab .?:\n\t<>#*_/QuestionContext"), max_size=300))
def test_nothing_of_a_text_is_lost(text: str) -> None:
    found = framed.split(text)
    assert found is None or found[1].before + found[0] + found[1].after == text


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES, Endpoint.COMPLETIONS])
def test_every_dialect_takes_the_question_out(endpoint: Endpoint) -> None:
    text = filled(TEMPLATES[0], ASKED)
    asked = {
        Endpoint.CHAT: {"messages": [{"role": "user", "content": text}]},
        Endpoint.RESPONSES: {"input": text},
        Endpoint.MESSAGES: {"messages": [{"role": "user", "content": text}], "max_tokens": 9},
        Endpoint.COMPLETIONS: {"prompt": text},
    }[endpoint]
    request = dialects()[endpoint].read(json.dumps({"model": "m", **asked}).encode())
    assert request.text == ASKED
    assert request.told == ASKED
    assert request.frame is not None
    key = conversation.cache_key(request, b"0" * 32)
    longer = json.dumps({"model": "m", **asked}).replace("\\n\\nQuestion", "  \\n\\n\\nQuestion").encode()
    other = json.dumps({"model": "m", **asked}).replace("30 days", "60 days").encode()
    line_ends, days = (conversation.cache_key(dialects()[endpoint].read(raw), b"0" * 32) for raw in (longer, other))
    assert line_ends.signature == key.signature
    assert line_ends.exact != key.exact
    assert days.signature != key.signature


def test_no_client_can_write_what_stands_for_material() -> None:
    frame = Frame("Context: a b c d e f\n\nQuestion: ", "")
    part = {"type": "text", "text": ASKED, **framed.placeholder(frame)}
    for content in (framed.placeholder(frame), [part]):
        raw = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
        try:
            request = dialects()[Endpoint.CHAT].read(raw)
        except RequestRejected:
            continue
        assert request.identity["messages"][-1]["content"] != framed.placeholder(frame)


def test_a_secret_in_the_material_is_one() -> None:
    text = filled(TEMPLATES[0], ASKED, context=f"{POLICY} The password is hunter2x9.")
    raw = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    request = dialects()[Endpoint.CHAT].read(raw)
    assert "hunter2x9" not in request.text
    assert unkept(request) is Why.SECRET


async def test_the_same_question_about_the_same_material_is_served_in_other_words_and_about_no_other() -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        for number, template in enumerate(TEMPLATES[:-1]):
            tenant = f"t{number}"
            await cache.record(await cache.lookup(filled(template, ASKED), tenant=tenant), "No, only exchanged.")
            again = await cache.lookup(filled(template, AGAIN), tenant=tenant)
            assert again.answer == "No, only exchanged.", template
            for question, context in (
                (ASKED, POLICY.replace("can only be exchanged", "can be returned")),
                ("Can faulty items be returned?", POLICY),
                ("Can sale items be exchanged?", POLICY),
            ):
                assert (await cache.lookup(filled(template, question, context), tenant=tenant)).answer is None


@pytest.mark.parametrize(
    "instruction",
    [
        "Translate the question below to German.",
        "How many words does the question have?",
        "Is the question formal or informal?",
        "List the nouns in the question.",
        "What language is the question written in?",
        "Repeat the user's question word for word.",
        "Turn the query into a statement.",
        "Decide whether the question is grammatical.",
    ],
)
def test_where_the_wording_of_the_question_is_the_matter_no_other_wording_is_served(instruction: str) -> None:
    assert works_on_wording(instruction)


@pytest.mark.parametrize(
    "instruction",
    [
        "Answer the question in the same language as the question.",
        "Answer the user's question using only the context. If the context does not answer the question, say so.",
        "Classify the query as one of billing, delivery, other.",
        "You analyze the user's request carefully before you answer.",
        "Given the context and the question, write a short answer and quote the passage that supports it.",
        "If the question is about prices, send people to the shop.",
        "Write an SQL query that answers the question.",
        "Evaluate whether the answer to the question is correct.",
    ],
)
def test_an_instruction_to_answer_leaves_the_wording_free(instruction: str) -> None:
    assert not works_on_wording(instruction)


async def test_a_frame_that_works_on_the_wording_serves_the_same_wording_alone() -> None:
    text = "You help a team of editors of questions for a shop.\n\nIs the question formal or informal?\n\nQuestion: {}"
    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        await cache.record(await cache.lookup(text.format("How do I pay?")), "Informal.")
        assert (await cache.lookup(text.format("How do I pay?"))).answer == "Informal."
        assert (await cache.lookup(text.format("Could you please tell me how to pay?"))).answer is None


async def test_what_is_asked_behind_the_question_is_read_too() -> None:
    text = "Question: What is sold here?\n\nContext: bread and cakes of all kinds\n\n{}"
    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        assert (await cache.lookup(text.format("And what is the weather in Paris right now?"))).why is Why.LIVE
        assert (await cache.lookup(text.format("Keep it short."))).why is Why.COLD


async def test_a_language_model_is_shown_what_stands_around_the_questions(tmp_path: Path) -> None:
    shown: list[tuple[str, str]] = []

    class Model:
        async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
            shown.append((query, cached_query))
            return 0.97

    pack = tmp_path / "pack.yaml"
    shipped = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
    pack.write_text(shipped.replace("verify: verifier", "verify: llm", 1), encoding="utf-8")
    one, two = (
        filled(TEMPLATES[0], text) for text in ("Which cities does it connect?", "What cities are linked by it?")
    )
    async with await AsyncSemanticCache.open("memory://", verifier=Model(), policies=str(pack), seed=7) as cache:
        await cache.record(await cache.lookup(one), "Two.")
        await cache.lookup(two)
    assert shown == [(two, one)]


async def test_a_question_behind_a_long_story_is_compared_without_it() -> None:
    found = framed.split(f"{STORY} How long do I have to think it over?")
    assert found == ("How long do I have to think it over?", Frame(f"{STORY} ", ""))
    async with await AsyncSemanticCache.open("memory://") as cache:
        kept = await cache.lookup(f"{STORY} How long do I have to think it over?", tenant="t")
        assert kept.answer is None
        await cache.record(kept, "Until the end of the second month.")
        retold = STORY.replace("I have not", "I haven't")
        again = await cache.lookup(f"{retold} How much time do I have to think it over?", tenant="t")
        assert again.answer == "Until the end of the second month."
        other = await cache.lookup(
            f"{STORY.replace('18 percent', '8 percent')} How long do I have to think it over?", tenant="t"
        )
        assert other.answer is None
        another = await cache.lookup(f"{STORY} Do I have to agree to it?", tenant="t")
        assert another.answer is None


@pytest.mark.parametrize(
    "text", [f"{STORY[:200]} Is that legal?", f"{STORY} Please suggest what to write to him.", STORY]
)
def test_what_is_short_or_asks_nothing_at_its_end_is_compared_as_a_whole(text: str) -> None:
    assert framed.split(text) is None
