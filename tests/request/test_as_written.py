"""Where the answer hangs on how a text is written, another wording of it is another text."""

from __future__ import annotations

import pytest

from semcache import AsyncSemanticCache
from semcache.request.kinds.as_written import asks_about_form, works_on_wording

ABOUT_FORM = [
    "Is accommodate spelled correctly?",
    "Is there a spelling mistake in: accommodate",
    "Fix the spelling: I receive mail",
    "Is this sentence correctly capitalised: I live in Paris",
    "Could you please proofread: Please tell me how to apply",
    "How many words: could you tell me how to pay",
    "Check my grammar:\n\nI has two cats",
    "How many characters are in hello world",
    "Reverse the string hello",
    "Correct the grammar of: he go",
    "Correct the spelling of this",
    "Are there spelling mistakes in my profile: I is a baker",
    "Is there a grammar mistake in the contract?\n\nThe tenant have to pay.",
    "Find the spelling mistakes in my letter Dear sir, I recieved it",
    "Any grammar mistakes in he go to school",
]
NOT_ABOUT_FORM = [
    "How do I check my spelling in Word?",
    "How many words should an essay have?",
    "How many letters are in the English alphabet?",
    'Is "accommodate" spelled correctly?',
    "What is the best way to check the grammar of a thesis?",
    "How do I fix the error in line 5?",
    "Correct spelling of accommodate",
    "There's a spelling mistake in my name on the ticket. How do I get it fixed?",
    "grammar mistakes in your help pages",
    "My passport has a spelling error in the name",
    "Who do I tell about spelling errors in the product catalogue?",
]
ON_WORDING = [
    "Score the politeness of the user's message from 1 to 10.",
    "Count the words in the user's message.",
    "Translate the user's message to German.",
    "You are a professional translator from English to French.",
    "Extract all numbers exactly as written.",
    "Answer: British or American English?",
    "Detect the sentiment of each review.",
    "Proofread whatever the user sends.",
    "Decide whether the customer is angry.",
    "How sarcastic is the writer?",
    "Rate the urgency from 1 to 5.",
    "Extract all verbs.",
    "You teach English. Point out mistakes.",
]
ON_MEANING = [
    "",
    "You are a helpful assistant. Answer in the language of the user's message and keep a polite tone.",
    "You're a support bot. Classify the user's issue into billing, tech or other.",
    "You are a tutor who corrects mistakes kindly.",
    "Summarize answers in three bullet points.",
    "If the user is angry, stay calm and answer the question.",
    "Help the user find errors in their code.",
    "Correct the errors in the code.",
    "List the words you used at the end.",
]


@pytest.mark.parametrize("text", ABOUT_FORM)
def test_a_prompt_about_letters_and_words_is_told(text: str) -> None:
    assert asks_about_form(text)


@pytest.mark.parametrize("text", NOT_ABOUT_FORM)
def test_a_prompt_that_asks_how_to_write_or_marks_the_text_is_none(text: str) -> None:
    assert not asks_about_form(text)


@pytest.mark.parametrize("system", ON_WORDING)
def test_a_system_prompt_that_works_on_wordings_is_told(system: str) -> None:
    assert works_on_wording(system)


@pytest.mark.parametrize("system", ON_MEANING)
def test_a_system_prompt_that_says_how_to_answer_is_none(system: str) -> None:
    assert not works_on_wording(system)


async def test_a_wording_that_is_to_be_scored_is_no_other() -> None:
    def asked(text: str) -> list[dict[str, str]]:
        return [
            {"role": "system", "content": "Score the politeness of the user's message."},
            {"role": "user", "content": text},
        ]

    async with await AsyncSemanticCache.open("memory://", seed=1, embedder="hashing") as cache:
        for text, answer in (("How do I pay?", "5"), ("Could you please tell me how to pay?", None)):
            found = await cache.lookup(asked(text))
            assert found.answer is None
            if answer:
                await cache.record(found, answer)
        assert (await cache.lookup(asked("How do I pay?"))).answer == "5"
