"""Code, files, addresses and quotes must match as written; punctuation around them need not."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    (
        'What is meant by "all that glitters is not gold"?',
        "What is meant by all that glitters is never gold?",
        NOTHING,
    ),
    ('Who wrote "the rime of the old mariner"?', "Who wrote that rime about an old mariner?", VETO),
    ("Translate to German: The meeting has moved.", 'Translate to German: "The meeting has moved."', NOTHING),
    ("Translate to German: The meeting has moved.", "Translate to German: The meeting was moved.", VETO),
    ('Is this sentence correct? "She go to school."', 'Is this sentence correct? "She goes to school."', VETO),
    ('Is "I have went home" grammatical?', 'Is "I have went home" grammatically correct?', NOTHING),
    ("Is the Galaxy S23 waterproof?", "Is the Galaxy S24 waterproof?", VETO),
    ("How do I write C++ classes?", "How do I write C# classes?", VETO),
    ("How do I sort in C?", "How do I sort in R?", VETO),
    ("Translate 'good morning' into German", "Translate 'good night' into German", VETO),
    ("What does os.path.join do?", "What does os.path.split do?", VETO),
    ("What does normalise(x) return?", "What does normalize(x) return?", VETO),
    ("Is <centre> deprecated in HTML?", "Is <center> deprecated in HTML?", VETO),
    ("How do I graph y=4x-3?", "How do I graph y=3x-3?", VETO),
    ("What does map(f, xs) do in Python?", "In Python, what does map(f, xs) do?", NOTHING),
    ("How do I define f(x) = x^2 in R?", "How can I define f(x) = x^2 in R?", NOTHING),
    ("What does get_user() return?", "What does set_user() return?", VETO),
    ("Fix main.py", "Fix test.py", VETO),
    ("What is in /etc/hosts?", "What is in /etc/host?", VETO),
    ("Open /var/log/syslog", "Open /var/log/messages", VETO),
    ("What is in /etc/hosts?", "What is in the /etc/hosts file?", NOTHING),
    ("Is it 5 km/h and/or slower?", "Is it 5 km/h or slower?", NOTHING),
    ("What does git log --oneline show?", "What does git log --graph show?", VETO),
    ("Read userName from the form", "Read userEmail from the form", VETO),
    ("is vitamin c good for colds", "is vitamin d good for colds", VETO),
    ("See https://example.com/a", "See https://example.com/b", VETO),
    (
        "What is the difference between supply and demand?",
        'What is the difference between "supply" and "demand"?',
        NOTHING,
    ),
    ("How do I plan a trip?", "How do I plan for trips?", NOTHING),
    ("What is 6! in full?", "What is 6 in full?", VETO),
    ("I scored 5! Is that good?", "I scored 5. Is that good?", NOTHING),
    ("What does color:grey do?", "What does colour:grey do?", VETO),
    ("Note: is this cheap?", "Note:is this cheap?", NOTHING),
    ("Is plan B cheaper?", "Is plan C cheaper?", VETO),
    ("Is it about learning C?", "Is it about learning the C language?", NOTHING),
    ("Merge with git merge --squash", "Merge with git merge", VETO),
    ("Open notes.txt", "open the file notes.txt please", NOTHING),
    (
        'How do I answer "why should we hire you"?',
        "What is a good answer in an interview when they wonder about hiring me?",
        DOUBT,
    ),
    ("Mail help@example.com", "Mail info@example.com", VETO),
    ("Call user_id.strip()", "Call user_id.lower()", VETO),
    ("What is a B2 visa?", "What is an F1 visa?", VETO),
    ("What is a B-2 visa?", "What is a B2 visa?", NOTHING),
    ("How do I use std::vector?", "How do I use std::map?", VETO),
    ("How do I reset my password?", "How can I reset my password?", NOTHING),
    ("Explain ^\\d{3}-\\d{4}$", "Explain ^\\d{3,}-\\d{4}$", VETO),
    ("Where is the vertex of y = |x - 2|?", "Where is the vertex of y = |x + 2|?", VETO),
    ("Solve -2x + 6 > 10", "Solve -2x + 6 < 10", VETO),
    ("Simplify (2x)(4y) = z", "Simplify (2x)/(4y) = z", VETO),
    ("What does the !! operator do?", "What does the ?: operator do?", VETO),
    ("Is 7 - 10 negative?", "Is 7 minus 10 negative?", NOTHING),
    ("They won 6 - 4, 7 - 5.", "They won 6 -- 4, 7 -- 5!", NOTHING),
    ("A *good* warm-up & more?", "A good warm-up and/or more??", NOTHING),
    ("GPT-4 context window", "GPT-4o context window", VETO),
    ("GPT-4 context window", "gpt 4 context window", NOTHING),
    ("iphone 15 camera", "iphone 15 plus camera", VETO),
    ("claude 3 opus price", "claude 3 haiku price", VETO),
    ("What is b 5 plus 7?", "What is b 5 + 7?", NOTHING),
    ("Is macOS free of charge?", "does a mac system cost money", NOTHING),
    ("Why is my onClick handler called twice?", "Each click on the button fires two events in my page", DOUBT),
    ("Why is my onClick handler called twice?", "Each press on the button fires two events in my page", VETO),
    ("Load one schema with pg_restore", "How do I load a single schema from my backup?", VETO),
    ("Load one schema with pg_restore", "I want a single schema to be restored, how do I restore it?", DOUBT),
    ("Load one schema with pg_restore", "Load one schema with pg_dump", VETO),
    ("Unpack tar.gz here", "What unpacks tar archives in this folder?", DOUBT),
    ("Unpack tar.gz here", "What unpacks zip archives in this folder?", VETO),
    ("0.7+0.1 != 0.8, what's wrong?", "Explain the rounding error in 0.7 + 0.1", DOUBT),
    ("When was the Tron 4 launched?", "When was the Tron 4S launched?", DOUBT),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_code(query: str, cached: str, expected: str) -> None:
    assert verdict("code", query, cached) == expected


def test_formats_of_dates_are_compared_as_written() -> None:
    one, two = "Print the date as DD.MM.YYYY", "Print the date as MM/DD/YYYY"
    assert verdict("code", one, two) == VETO
    assert verdict("code", one, "Show the date in the format DD.MM.YYYY") == NOTHING
