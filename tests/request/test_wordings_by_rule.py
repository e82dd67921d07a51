"""Pairs of prompts that mean two things, by the rule that once made them one wording; and pairs that still are one.

Invariant: what a mend tells apart is told by its rule, so that rightful wordings beside it are one still.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.request.wording import canonical

TEXTS_OF_TASKS = [
    ("Is this sentence polite? Could you tell me what time it is?", "Is this sentence polite? What time is it?"),
    ("Is this a question? Do you know where the bank is?", "Is this a question? Where is the bank?"),
    ("Is the following sentence passive? Can files be moved?", "Is the following sentence passive? Can I move files?"),
    ("Which tense is this sentence in? I was wondering where he is.", "Which tense is this sentence in? Where is he?"),
    ("Rephrase this message. Please send me the file.", "Rephrase this message. Send me the file."),
    ("Rate the tone of this message. Hi, how are you?", "Rate the tone of this message. How are you?"),
    ("What tone does this have? Could you send it?", "What tone does this have? Send it."),
    ("Make this polite. Tell me where he is.", "Make this polite. Where is he?"),
    ("make this polite: send me the file please", "make this polite: send me the file"),
    ("rewrite politely: send it, please", "rewrite politely: send it"),
    ("improve: can you please send it", "improve: can you send it"),
    ("correct: it's good", "correct: it is good"),
    ("fix the grammar: he don't know", "fix the grammar: he do not know"),
    ("sentiment of: great service. thanks", "sentiment of: great service"),
    ("summarize: hi team, we won. thanks", "summarize: we won"),
    ("classify: i want to cancel please", "classify: i want to cancel"),
    ("translate into german\nhello, how are you? thanks", "translate into german\nhello, how are you?"),
    ("translate into german\nplease help me", "translate into german\nhelp me"),
    ("translate to french: i love you. please help", "translate to french: i love you"),
    ("remove the filler words: um, i like it", "remove the filler words: i like it"),
    ("rephrase: could you please help", "rephrase: could you help"),
    ("count the words: so what is it", "count the words: what is it"),
]
ABOUT_WHAT_IS_SAID = [
    ("hello: meaning in hindi", "meaning in hindi"),
    ("sorry, meaning in hindi", "meaning in hindi"),
    ("thanks, in german", "in german"),
    ("please in japanese", "in japanese"),
    ("good night! how do i reply", "how do i reply"),
    ("thank you! how do i reply", "sorry! how do i reply"),
    ("hello is what language", "is what language"),
    ("what is asap", "what is"),
    ("how soon is asap", "how soon is"),
    ("good morning, ai", "artificial intelligence"),
    ("just the answer please. what is love", "what is love"),
    ("difference between can't and cannot", "difference between cannot and can not"),
    ("is it gray or grey", "is it gray or gray"),
    ("difference between ad and advert", "difference between advertisement and ad"),
]
FILLERS_THAT_SAY_SOMETHING = [
    ("what languages do you know", "what languages"),
    ("how many songs do you know", "how many songs"),
    ("should i go anyway", "should i go"),
    ("can i eat it anyway", "can i eat it"),
    ("how did they live then", "how did they live"),
    ("what was it like then", "what was it like"),
    ("which string matches exactly", "which string matches"),
    ("what copies the file exactly", "what copies the file"),
    ("how do i even out my skin tone", "how do i out my skin tone"),
    ("how do i even a surface", "how do i a surface"),
    ("so what if i fail", "what if i fail"),
    ("how does the HMM algorithm work", "how does the algorithm work"),
    ("what is the ERM framework", "what is the framework"),
    ("train an hmm model", "train an model"),
    ("what is the UM campus", "what is the campus"),
    ("if you could choose your age, what would it be", "choose your age, what would it be"),
    ("can you walk on water", "walk on water"),
    ("can you write poems", "write poems"),
    ("can you generate images", "generate images"),
    ("are you able to write code", "write code"),
]
WAYS = [
    ("help with bleeding", "how do i bleed"),
    ("help with vomiting", "how do i vomit"),
    ("help with smoking", "how do i smoke"),
    ("help with drinking", "how do i drink"),
    ("having trouble swallowing", "how do i swallow"),
    ("i am having trouble breathing", "how do i breathe"),
    ("i am struggling with losing my dad", "how do i lose my dad"),
    ("i am stuck on loading screen", "how do i load screen"),
    ("help me breathe", "how do i breathe"),
    ("help me sleep", "how do i sleep"),
    ("help me read this", "how do i read this"),
    ("help me fix this code", "how do i fix this code"),
    ("help me practice spanish", "how do i practice spanish"),
    ("help me play chess", "how do i play chess"),
    ("help me respond to this email", "how do i respond to this email"),
    ("help me sort this list", "how do i sort this list"),
    ("help me guess the word", "how do i guess the word"),
    ("what is needed to make bread", "how do i make bread"),
    ("what is required to vote", "how do i vote"),
    ("what does it take to break glass", "how do i break glass"),
    ("what are the ways to arrange 5 books", "how do i arrange 5 books"),
    ("what are some ways to say happy", "how do i say happy"),
    ("ways to die", "how do i die"),
    ("ways of seeing", "how do i see"),
    ("steps to heaven", "how do i heaven"),
    ("guide to living", "how do i live"),
    ("the way to san jose", "how do i san jose"),
    ("directions to reading", "how do i read"),
    ("what is the process of burning fuel", "how do i burn fuel"),
    ("what is the process of digesting food", "how do i digest food"),
    ("process of making steel", "how do i make steel"),
    ("how would i look bald", "how do i look bald"),
    ("how could i forget you", "how do i forget you"),
    ("how might i die", "how do i die"),
    ("how do you answer questions", "how do i answer questions"),
    ("how do you make decisions", "how do i make decisions"),
    ("how do you calculate interest", "how do i calculate interest"),
    ("how do you generate text", "how do i generate text"),
    ("how do people become homeless", "how do i become homeless"),
    ("how do people go blind", "how do i go blind"),
    ("how do people vote", "how do i vote"),
    ("how does someone become deaf", "how do i become deaf"),
    ("how does a person inherit hemophilia", "how do i inherit hemophilia"),
]
FRAMES = [
    ("is it right that rich people pay less", "do rich people pay less"),
    ("is it right that women earn less", "do women earn less"),
    ("god of war", "who is the god of war"),
    ("king of the hill", "who is the king of the hill"),
    ("head of state", "who is the head of state"),
    ("who is the painter of the century", "who painted the century"),
    ("who is the creator of the week", "who created the week"),
    ("what do you call your mom", "what is your mom called"),
    ("where is the book based", "where is the book"),
    ("where is the office based on", "where is the office on"),
    ("what was the difference between the two plans", "what is the difference between the two plans"),
    ("can you get rabies and how", "how do i get rabies"),
    ("is it fine art", "is it ok to art"),
    ("any way you want it", "is there a way you want it"),
]
ORDER = [
    ("who wrote fire and ice", "who wrote ice and fire"),
    ("who sang night and day", "who sang day and night"),
    ("set difference between a and b", "set difference between b and a"),
    ("kl divergence between p and q", "kl divergence between q and p"),
    ("percentage change between a and b", "percentage change between b and a"),
    ("growth between q1 and q2", "growth between q2 and q1"),
    ("transition between puberty and adulthood", "transition between adulthood and puberty"),
    ("combine column a and column b", "combine column b and column a"),
    ("what is p and l", "what is l and p"),
    ("to stop smoking, how do i ask dad", "how do i ask dad to stop smoking"),
    ("to sit, how do i train a puppy", "how do i train a puppy to sit"),
]
CASE = [
    ("what is FOIL", "what is foil"),
    ("what is PREP", "what is prep"),
    ("what is COGS", "what is cogs"),
    ("what is BLOOM", "what is bloom"),
    ("what is CLIP", "what is clip"),
    ("what is PUMA", "what is puma"),
    ("what is MOD", "what is mod"),
    ("what is Hf", "what is HF"),
    ("what is Cm", "what is cm"),
    ("what is Em", "what is em"),
    ("what is EM", "what is em"),
    ("what is Delta", "what is delta"),
    ("what is Toast", "what is toast"),
    ("what is Medium", "what is medium"),
    ("what is Safari", "what is safari"),
    ("what is Patron", "what is patron"),
    ("how does Linear work", "how does linear work"),
]
OTHER = [
    ("what is iq in the 80s", "what is iq in the 1980s"),
    ("how good are scores in the 90s", "how good are scores in the 1990s"),
    ("what is grey's anatomy", "what is gray's anatomy"),
    ("what is the pwd command", "what is the passwd command"),
    ("what is a promo", "what is a promotion"),
    ("how do i get a promo", "how do i get a promotion"),
]
SAME = [
    ("How many days does a year have?", "How many days are there in a year?"),
    ("Morning! Which gases are in the air?", "Which gases are in the air?"),
    ("Evening all, how do I fix a shredder?", "How do I fix a shredder?"),
    ("how do i mute myself on zoom", "How do I mute myself on Zoom?"),
    ("how do i record a zoom meeting", "How do I record a Zoom meeting?"),
    ("how do i leave a slack channel", "How do I leave a Slack channel?"),
    ("how do i add a row in excel", "How do I add a row in Excel?"),
    ("Without a visa, can they travel?", "Can they travel without a visa?"),
    ("With a stiff knee, how do I run?", "How do I run with a stiff knee?"),
    ("help me reset my password", "how do I reset my password?"),
    ("I need help changing my PIN", "How do I change my PIN?"),
    ("what is the process for activating my modem", "how do I activate my modem"),
    ("Could you rewrite this politely: Send it, please", "rewrite this politely: Send it, please"),
    ("can you explain photosynthesis", "explain photosynthesis"),
    ("How do I even start?", "How do I start?"),
    ("um how do i um reset it", "how do i reset it"),
    ("what is Machine Learning", "what is machine learning"),
    ("I do NOT want this. How do I cancel?", "I do not want this. How do I cancel?"),
    ("what time is it exactly", "what time is it"),
    ("what is love anyway", "what is love"),
    ("how do people make candles at home", "how do i make candles at home"),
]
APART = [*TEXTS_OF_TASKS, *ABOUT_WHAT_IS_SAID, *FILLERS_THAT_SAY_SOMETHING, *WAYS, *FRAMES, *ORDER, *CASE, *OTHER]
_HEADS = ["Translate to German:", "Make this polite:", "Could you please correct this:", "Summarize the following\n"]
_GIVEN = ["um", "please", "it's", "Hi team,", "thanks!", "colour", "2 + 2", "so", "can you", "A AND B", "1,000", "grey"]


@pytest.mark.parametrize(("one", "two"), APART)
def test_two_meanings_have_two_wordings(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_one_meaning_has_one_wording(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize("text", sorted({text for pair in APART + SAME for text in pair}))
def test_the_wording_of_a_wording_is_itself(text: str) -> None:
    wording = canonical(text).text
    assert canonical(wording).text == wording


@given(st.sampled_from(_HEADS), st.lists(st.sampled_from(_GIVEN), min_size=1, max_size=6).map(" ".join))
@settings(deadline=None)
def test_the_text_that_a_task_is_about_stays_to_the_letter(head: str, given_text: str) -> None:
    assert canonical(f"{head} {given_text}").text.endswith(given_text)


@pytest.mark.parametrize("code", ["for line in lines:\n    print(line)", "def check(line):\n    return line"])
def test_code_is_no_task_about_a_text(code: str) -> None:
    assert canonical(code).text == code
