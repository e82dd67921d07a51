"""What only tells a case binds no answer to a day, and what asks how things stand on that day does."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_live
from semcache.request.kinds.told import without_told
from semcache.request.secrets import fold

OF_ANY_DAY = [
    "I'm setting up a small web service on a machine with 2 cores. At the moment gunicorn is started with four "
    "workers, and under a load of fifty requests a second the response times climb to several seconds. Most requests "
    "wait for an external payment API. What should I change first to bring the response times down?",
    "I changed my DNS records yesterday, but a friend still sees the old site. How long does DNS propagation take?",
    "We were lying on the grass this weekend when my boy asked the classic. Why is the sky blue?",
    "My daughter has to pick her subjects next month. Which is the better career, engineering or medicine?",
    "I'm having twelve guests tonight and the soup is far too salty. How do I rescue it?",
    "My exam is tomorrow and I keep mixing them up. What's the difference between mitosis and meiosis?",
    "Yesterday somebody asked me about it at work. Where does the word salary come from?",
    "I follow the news about the Middle East. What's the difference between Sunni and Shia Muslims?",
    "I can't picture what's going on in there. How does a neural network learn?",
    "I have to present it in class tomorrow. Please explain how photosynthesis works.",
    "Please give me the pros and cons of nuclear power. I have to present them in class tomorrow.",
    "Could you show me how to write a JUnit test? My professor wants one by tomorrow.",
    "I am opening a bakery next week. Please give me a checklist of things to test beforehand.",
    "I have an interview next week. Could you list the questions that a product manager is asked?",
    "My cat has been sneezing since last night. Is it dangerous?",
    "I lost my keys last night and the locksmith was dear. How much does it normally cost to have a door opened?",
    "The vet is closed until tomorrow and my rabbit won't eat. Can this wait or is it an emergency?",
    "I'm on nights this week, and my son says it makes you ill, but what if I sleep all day?",
    "I started with TypeScript last month. What is an interface?",
    "My flatmate is fasting at the moment. Why do Muslims fast during Ramadan?",
    "Our storm last night was loud. Why do you see lightning before the thunder?",
    "I'm in hospital next month. What should I pack for a hospital stay?",
    "I planted tomatoes last weekend. How often should I water them?",
    "Since this morning my laptop is slow. Is there any way to speed it up?",
    "Could you draft an email asking for a day off next week? I would rather not give a reason.",
    "Can you draft a polite mail asking for half a day of leave tomorrow?",
    "friendly reminder that the invoice is due next week",
    "Fix this sentence: me and him was going to the store yesterday",
    "My power bill is twice that of last month, though I was away for half of it. What could be the reason?",
    "How should I tell my boss that I am ill and can't come in today?",
    "I forgot one contraceptive pill yesterday, just that one in this pack, what do I do now?",
    "A worker of ours in Ohio resigned today without notice. When is her last pay due?",
    "I've had a headache since yesterday and my visit is on Thursday. Is it fine to hold off until then?",
]
LASTING = [
    "Does slavery still exist today?",
    "do samurai still exist today",
    "Which is the oldest language still spoken today?",
    "Is the Magna Carta still law today?",
    "Is an MBA still worth it these days?",
    "Is it worth learning Latin nowadays?",
    "Why is the Magna Carta important today?",
    "Are there any descendants of the Mughals alive today?",
    "Are there still Incas living today?",
    "Are keywords still important or is it all about content now?",
    "Why do companies do so many interview rounds now?",
    "which countries are socialist today",
    "what determines exchange rates",
    "What factors determine the exchange rate between two currencies?",
    "best way to get a good exchange rate",
    "Why does the price of gold go up in a crisis?",
    "Is cycling better than running?",
    "is it too risky to invest in stock markets",
    "back in stock notification",
    "Can I get an email when something is back in stock?",
    "can i order preorder and in stock items together",
    "I have an array of products and need those that are in stock. How do I filter it?",
    "How do I find a trustworthy babysitter near me?",
]
OF_THAT_DAY = [
    "I fly to Rome tomorrow. What is the weather like?",
    "I fly to Rome tomorrow. What should I wear?",
    "I fly to Rome tomorrow. What should I pack?",
    "I'm hiking tomorrow. Should I take an umbrella?",
    "We have a picnic this weekend. Will it rain then?",
    "My train leaves at 8 tomorrow. Is it on time?",
    "My train leaves at 8 tomorrow. Which platform does it leave from?",
    "My train leaves at 8 tomorrow. How late is it?",
    "We land tonight. Which terminal?",
    "I'm driving to Lyon this afternoon. How does the traffic look?",
    "I'm driving to Lyon this afternoon. How long will it take?",
    "I'm driving to Lyon today. Why is the motorway closed?",
    "We arrived in Paris today. Why are the streets full of police?",
    "We arrived in Paris today. Why are so many people in the streets?",
    "The sky is orange this morning. Why is it so dark?",
    "I bought shares last week. How are they doing?",
    "I bought shares last week. Should I sell them?",
    "I bought shares last week. Why do they fall?",
    "I get paid in dollars next week. How much is that in euros?",
    "I need euros for tomorrow. What is the exchange rate?",
    "There was an election yesterday. Who won?",
    "There was an election yesterday. What does it mean for the euro?",
    "There was an election last week. How do elections work, and who won?",
    "The president resigned last night. Why did he?",
    "The Fed met yesterday. How does that affect mortgages?",
    "There was a match last night. Write a short summary of it.",
    "Our team played last night. What was the score?",
    "I missed the game last night. How can I find out who won?",
    "There was an earthquake last night. How strong was it?",
    "A hurricane hits us tomorrow. What does it do now?",
    "I ordered yesterday. When does it arrive?",
    "I ordered a phone yesterday. Is it delivered tomorrow?",
    "The museum is on my list for tomorrow. Is it open?",
    "I have the day off tomorrow. What is open?",
    "I have the day off tomorrow. What are the opening times of the Louvre?",
    "My parents visit this weekend. What's happening in town?",
    "My parents visit this weekend. What can we do in Leeds?",
    "We're free tonight. Which movies are showing?",
    "The metro strikes tomorrow. Is it still happening?",
    "I can't open my mail this morning. Is Gmail down?",
    "My mail has been slow since this morning. Are there any outages?",
    "I want tickets for next week. Are any available?",
    "The shop had none last week. Is it back in stock?",
    "I looked for the console last week. Which shops have it in stock?",
    "I'd like to know what the weather will be tomorrow. How do I read a forecast?",
    "I fly to Rome tomorrow, what's the weather? How do I tie a tie?",
    "Weather in Rome tomorrow. How do I tie a tie?",
    "Summarize today's news for me. What is inflation?",
    "How does inflation work? I also need the latest rates for today.",
    "What is the weather in Rome tomorrow? I have to pack.",
    "We read about Hiroshima last week. Which countries have nuclear weapons now?",
    "I'm doing a poster this week. Which animals are the most endangered today?",
    "It is my first day tomorrow. What time does the next bus leave?",
    "I heard there is a new iPhone this week. What is the latest model?",
    "We're free tonight. Suggest things to do in Leeds.",
    "I vote next week. Name the candidates.",
    "I watch Arsenal tonight. List the players.",
    "Why is Taylor Swift famous? Who is number one today?",
    "Does slavery still exist? And what day is it today?",
    "There was an earthquake yesterday. Should I be worried?",
    "There was a plane crash yesterday. What are the causes?",
    "There are protests in Lyon this week. Why do people protest?",
    "There are riots in Lyon this week. What is the reason?",
    "I fly to Israel tomorrow. Is it safe to travel there?",
    "I'm in Paris today. Is it safe to swim in the Seine?",
    "I'm at the coast tomorrow. Is the water safe?",
    "Nothing loads since this morning. Why is Netflix not working?",
    "Nothing loads since this morning. Why does Instagram not load?",
    "I bought Apple last week. What is Apple at?",
    "I bought Tesla last week. What's Tesla doing?",
    "I bought a ticket last week. Is it still valid?",
    "My head hurts since this morning. What is the nearest pharmacy?",
    "I start work tomorrow. How often do the buses run?",
    "I wonder who is on tonight. How do I tie a tie?",
    "I would like to know if my train is late tomorrow. How do I tie a tie?",
    "How can I watch the game this weekend? I moved here last month.",
    "Is Jimmy Carter still alive today?",
    "Is the pool still open today?",
    "Is my ticket still valid today?",
    "Is Bitcoin still worth buying today?",
    "Is the offer still on today?",
    "Does the discount still exist today?",
    "Why is the bridge important today?",
    "why are police outside today",
    "What is the exchange rate today?",
    "Why does the price of gold go up today?",
    "Is the PS5 in stock?",
    "when back in stock",
    "email me if it is in stock at Argos",
    "How do I find a pharmacy near me?",
    "restaurants near me",
    "Is the river running?",
    "Can you remind me tomorrow?",
    "Write a summary of today's news",
]


@pytest.mark.parametrize("text", [*OF_ANY_DAY, *LASTING])
def test_a_question_of_any_day_is_cached_whatever_day_is_told(text: str) -> None:
    assert not is_live(text)


@pytest.mark.parametrize("text", OF_THAT_DAY)
def test_a_question_about_the_day_that_is_told_is_not_cached(text: str) -> None:
    assert is_live(text)


def test_only_what_asks_is_left_of_a_text_that_tells_a_case() -> None:
    text = fold("I moved my site last night. How long does DNS propagation take?")
    assert without_told(text) == "how long does dns propagation take?"


@pytest.mark.parametrize(
    "text",
    ["", "?", "how do i sort a list?", "i moved my site last night.", "?" * 1000, "a. " * 300, "a, how do " * 90],
)
def test_a_text_that_does_not_tell_and_ask_stays_as_it_is(text: str) -> None:
    assert without_told(text) == text
