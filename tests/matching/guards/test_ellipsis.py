"""A prompt that leans on earlier turns must not be answered from the cache of another conversation."""

from __future__ import annotations

import pytest

from semcache.request.kinds.elliptic import is_elliptic
from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ELLIPTIC = """
Which have gluten in them?
In Norwegian, repeat it
do they have gluten in them
What about Germany?
And the second one?
And in France?
How about tomorrow?
But why?
Why?
Why not?
When?
How much?
the other one
Which one?
Is it treatable?
What are its symptoms?
When was he born?
Can they do that?
How do they test for it?
How do they measure it?
Tell me more
Can you explain that again?
Continue
Shorter please
Make it shorter
Translate it into French
for children?
in Germany?
Same for Spain
What is the first sign of it?
ok, and the price?
Does it have side effects?
The former?
the latter, please
Only in Germany?
only children?
per month?
from Leeds to York?
Yes or no?
yes, and why?
What can I do about that?
Which of these is larger?
Is it safe or not?
Where do they sell stamps?
Why is it so expensive?
Can I eat bread with it?
What is it called?
""".strip().split("\n")
COMPLETE = """
What is the capital of Germany?
Which foods have gluten in them?
at 50: term life insurance
which sodas have caffeine in them
How do I reset my password?
Is it safe to take aspirin?
Why does it rain?
What time is it?
How long does it take to get a passport?
Is it possible to pay by card?
How can I tell that a mango isn't ripe yet?
Do they speak Cantonese or Mandarin in Hong Kong?
Is the Indian Army a better career than IT?
Is it cheaper living in Spain or in Portugal?
will it rain tomorrow in Leeds
What is it like to live in Leeds?
Is it going to rain tomorrow?
What is this error: file not found?
I lost my card and want to block it
My parcel is late, where is it?
What is a mortgage and how does it work?
How do ducks clean their feathers?
How do they say hello in Japanese?
How do they calculate a credit score?
Which one is better, tea or coffee?
What about me makes dogs bark at strangers when I walk past them with my trolley?
Reset password
Why is the sky blue?
It says that my payment was declined
In which country is Timbuktu?
Does this phone have a headphone jack?
former colleague's keys, who wants them back?
The former president of Ghana
Only child syndrome, is that real?
only child upsides and downsides
per capita income Ghana
per diem Norway
From Leeds to York by train
Yes or no: may I prune a fig in winter?
What happened that made the Roman Empire fall?
Which of these is larger, 2/3 or 0.6?
Is it 'less chairs' or 'fewer chairs'?
Where do they hold the annual Cannes film festival?
When it snows, who has to clear the pavement?
Why is it so windy in Wellington?
Why is it called the Black Sea?
can you fry bread with cheese in it
In simple words, explain gravity
In Norwegian, say good evening
how can I tell if it's real silver or plate
""".strip().split("\n")


@pytest.mark.parametrize("text", ELLIPTIC)
def test_leans_on_earlier_turns(text: str) -> None:
    assert is_elliptic(text)
    assert is_elliptic(text.upper())


@pytest.mark.parametrize("text", COMPLETE)
def test_says_itself_what_it_is_about(text: str) -> None:
    assert not is_elliptic(text)


def test_an_elliptic_prompt_matches_only_its_own_words() -> None:
    assert verdict("ellipsis", "What about Germany?", "What about Spain?") == VETO
    assert verdict("ellipsis", "What about Germany?", "What is the capital of Germany?") == VETO
    assert verdict("ellipsis", "What about Germany?", "what about germany") == NOTHING
    assert verdict("ellipsis", "What is the capital of Germany?", "Where is Germany?") == NOTHING


@pytest.mark.parametrize("text", ["", " ", "?", "\n"])
def test_nothing_is_not_elliptic(text: str) -> None:
    assert not is_elliptic(text)


@pytest.mark.parametrize("text", ["Is it who or whom?", "Is it a hour or an hour?", "is it spelled colour or color"])
def test_two_spellings_say_what_it_is(text: str) -> None:
    assert not is_elliptic(text)


@pytest.mark.parametrize("text", ["Is it legal or illegal?", "Is it male or female?", "Is it free or paid?"])
def test_two_other_words_leave_it_open_what_it_is(text: str) -> None:
    assert is_elliptic(text)
