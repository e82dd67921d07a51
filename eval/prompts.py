"""The demo's traffic: some sixty prompts with the answers that a good assistant gives.

Written for this demo. Each line names what it is: `new` and `trap` need an answer of their own, `repeat` and
`paraphrase` may be served the answer of the prompt they repeat, `bypass` must never touch the cache.
Invariant: two prompts with the same `key` have the same right answer, two with different keys have not.
"""

from __future__ import annotations

from dataclasses import dataclass

SYSTEM = "You are the assistant of Harbour, an online shop for outdoor gear."


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of the demo; `earlier` are the turns before it, `stream` how it is asked."""

    kind: str
    key: str
    prompt: str
    earlier: tuple[tuple[str, str], ...] = ()
    stream: bool = False


ANSWERS: dict[str, str] = {
    "reset": "Open Settings, choose Security, and press Reset password. We send you a link that is valid for an hour.",
    "refund": "You can return anything unused within 30 days. The money is back on your card within five working days.",
    "refund-business": "Business customers have 14 days, and the goods must be in their original packaging.",
    "cancel": "Open Subscriptions and press Cancel. You keep access until the end of the month you have paid for.",
    "resume": "Open Subscriptions and press Resume. Billing starts again on the same day of the month as before.",
    "ship": "Standard delivery takes three to five working days; express delivery takes one.",
    "ship-canada": "Delivery to Canada takes seven to ten working days, customs included.",
    "2fa-on": "Under Security, switch on two-factor authentication and scan the code with an authenticator app.",
    "2fa-off": "Under Security, switch off two-factor authentication and confirm with a code from your app.",
    "sort": "Use `sorted(items)`; it returns a new list in ascending order.",
    "sort-desc": "Use `sorted(items, reverse=True)`; it returns a new list in descending order.",
    "read-json": "Open the file and call `json.load(file)`; it returns dicts and lists.",
    "read-csv": "Open the file with `newline=''` and iterate over `csv.DictReader(file)`.",
    "py-venv": "Run `python3 -m venv .venv` and then `. .venv/bin/activate`.",
    "git-undo": "`git reset --soft HEAD~1` removes the last commit and keeps its changes staged.",
    "pct": "15% of 80 is 12.",
    "pct-90": "15% of 90 is 13.5.",
    "sqrt": "The square root of 144 is 12.",
    "derivative": "The derivative of x squared is 2x.",
    "integral": "The integral of x squared is x cubed over three, plus a constant.",
    "ibuprofen": "Adults take 200 to 400 mg every four to six hours, and no more than 1200 mg a day.",
    "ibuprofen-child": "For children the dose goes by weight: 5 to 10 mg per kilogram every six to eight hours.",
    "flu": "Fever, cough, sore throat, aching muscles and tiredness, usually coming on quickly.",
    "cold": "A runny nose, sneezing and a sore throat, usually coming on slowly and without high fever.",
    "capital": "The capital of Australia is Canberra.",
    "capital-austria": "The capital of Austria is Vienna.",
    "tent": "The Fjord 2 sleeps two people and weighs 1.9 kg.",
    "tent-price": "The Fjord 2 costs 249 euros.",
    "jacket-price": "The Skerry jacket costs 179 euros.",
    "jacket": "The Skerry is a waterproof shell jacket of 340 grams.",
    "weather": "It is 17 degrees and raining in Oslo at the moment.",
    "order": "Your order 4471 left our warehouse this morning.",
    "poem": "Grey tide, patient stone, / the gulls rehearse their leaving; / the harbour keeps still.",
}

_TENT = (("user", "Tell me about the Fjord 2 tent."), ("assistant", ANSWERS["tent"]))
_JACKET = (("user", "Tell me about the Skerry jacket."), ("assistant", ANSWERS["jacket"]))

ASKS: tuple[Ask, ...] = (
    # support
    Ask("new", "reset", "How do I reset my password?"),
    Ask("repeat", "reset", "How do I reset my password?"),
    Ask("paraphrase", "reset", "How can I reset my password?"),
    Ask("paraphrase", "reset", "how do i reset my password", stream=True),
    Ask("new", "refund", "What is your refund policy?"),
    Ask("paraphrase", "refund", "What's your refund policy?"),
    Ask("trap", "refund-business", "What is your refund policy for business customers?"),
    Ask("new", "cancel", "How do I cancel my subscription?", stream=True),
    Ask("paraphrase", "cancel", "How can I cancel my subscription?"),
    Ask("trap", "resume", "How do I resume my subscription?"),
    Ask("repeat", "cancel", "How do I cancel my subscription?"),
    Ask("new", "ship", "How long does delivery take?"),
    Ask("paraphrase", "ship", "How long does the delivery take?"),
    Ask("trap", "ship-canada", "How long does delivery to Canada take?"),
    Ask("new", "2fa-on", "How do I enable two-factor authentication?"),
    Ask("trap", "2fa-off", "How do I disable two-factor authentication?"),
    Ask("paraphrase", "2fa-on", "How can I enable two-factor authentication?"),
    Ask("paraphrase", "reset", "I forgot my password. What should I do?"),
    Ask("paraphrase", "ship", "When will a parcel arrive with standard delivery?"),
    # code
    Ask("new", "sort", "How do I sort a list in ascending order in Python?"),
    Ask("trap", "sort-desc", "How do I sort a list in descending order in Python?"),
    Ask("paraphrase", "sort", "How can I sort a list in ascending order in Python?"),
    Ask("new", "read-json", "How do I read a JSON file in Python?", stream=True),
    Ask("trap", "read-csv", "How do I read a CSV file in Python?"),
    Ask("paraphrase", "read-json", "In Python, how do I read a JSON file?"),
    Ask("repeat", "read-json", "How do I read a JSON file in Python?", stream=True),
    Ask("new", "py-venv", "How do I create a virtual environment in Python?"),
    Ask("paraphrase", "py-venv", "How to create a virtual environment in Python?"),
    Ask("new", "git-undo", "How do I undo the last commit in git?"),
    Ask("paraphrase", "git-undo", "How to undo the last git commit?"),
    Ask("paraphrase", "py-venv", "Which command makes a Python virtual environment?"),
    # maths
    Ask("new", "pct", "What is 15% of 80?"),
    Ask("trap", "pct-90", "What is 15% of 90?"),
    Ask("paraphrase", "pct", "What's 15 percent of 80?"),
    Ask("new", "sqrt", "What is the square root of 144?"),
    Ask("repeat", "sqrt", "What is the square root of 144?"),
    Ask("new", "derivative", "What is the derivative of x squared?"),
    Ask("trap", "integral", "What is the integral of x squared?"),
    # medical
    Ask("new", "ibuprofen", "What is the recommended dose of ibuprofen for adults?"),
    Ask("trap", "ibuprofen-child", "What is the recommended dose of ibuprofen for children?"),
    Ask("paraphrase", "ibuprofen", "What's the recommended dose of ibuprofen for adults?"),
    Ask("new", "flu", "What are the symptoms of the flu?"),
    Ask("trap", "cold", "What are the symptoms of a cold?"),
    Ask("paraphrase", "flu", "What are the symptoms of flu?"),
    # facts
    Ask("new", "capital", "What is the capital of Australia?"),
    Ask("trap", "capital-austria", "What is the capital of Austria?"),
    Ask("paraphrase", "capital", "What's the capital of Australia?", stream=True),
    Ask("paraphrase", "capital", "Which city is Australia's capital?"),
    Ask("repeat", "capital-austria", "What is the capital of Austria?"),
    # live, personal and creative: never from a cache
    Ask("bypass", "weather", "What is the weather in Oslo right now?"),
    Ask("bypass", "weather", "What is the weather in Oslo right now?"),
    Ask("bypass", "order", "Where is my order?"),
    Ask("bypass", "order", "Where is my order?", stream=True),
    Ask("bypass", "poem", "Write me a haiku about a harbour."),
    Ask("bypass", "poem", "Write me a haiku about a harbour."),
    # conversations: the same last words after different turns
    Ask("new", "tent", "Tell me about the Fjord 2 tent."),
    Ask("new", "tent-price", "How much does it cost?", earlier=_TENT),
    Ask("trap", "jacket-price", "How much does it cost?", earlier=_JACKET),
    Ask("repeat", "tent-price", "How much does it cost?", earlier=_TENT, stream=True),
    Ask("paraphrase", "tent-price", "How much does it cost, please?", earlier=_TENT),
    Ask("trap", "jacket", "Tell me about the Skerry jacket."),
    Ask("repeat", "tent", "Tell me about the Fjord 2 tent."),
    # a second round
    Ask("repeat", "reset", "How do I reset my password?", stream=True),
    Ask("repeat", "ibuprofen", "What is the recommended dose of ibuprofen for adults?"),
    Ask("repeat", "sort-desc", "How do I sort a list in descending order in Python?"),
    Ask("paraphrase", "sqrt", "What's the square root of 144?"),
)
