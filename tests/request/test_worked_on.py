"""What a first or last sentence works on is a text: its every word counts, with no colon between them."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS, conflicts
from semcache.request.wording import canonical
from semcache.request.wording.task_texts import worked_on

TEXTS = [
    ("Make this polite. Tell me where he is.", "Make this polite. Where is he?"),
    ("Make this polite: Tell me where he is.", "Make this polite: Where is he?"),
    ("Translate to French - I want to cancel a booking", "Translate to French - How do I cancel a booking"),
    ("Translate this sentence to Spanish. Could you help me?", "Translate this sentence to Spanish. Help me."),
    ("Remove the filler words. Um, so I think we should go.", "Remove the filler words. So I think we should go."),
    ("Rewrite without contractions. I'm not going.", "Rewrite without contractions. I am not going."),
    ("Does this sound rude? Close the door.", "Does this sound rude? Could you close the door?"),
    ("Turn into a question. You can swim.", "Turn into a question. You could swim."),
    ("Reply to this. Thanks for your help!", "Reply to this. Thank you very much for your help!"),
    ("Fix the typo. I recieve mail.", "Fix the typo. I receive mail."),
    ("I want to cancel a booking. Is this sentence polite?", "How do I cancel a booking? Is this sentence polite?"),
    ("Could you send the file? Make this more formal.", "Send the file, please. Make this more formal."),
    ("Translate to American English. The colour is grey.", "Translate to American English. The color is gray."),
]
NO_TEXTS = [
    "Can you answer this question. How can I reset my password?",
    "Sorry if this question is dumb. How can I reset my password?",
    "Say hello in French. Thanks!",
    "I was charged twice. Is this correct?",
    "Explain the passive in German. Give three examples.",
    "What is a verb? Please explain.",
    "Convert 5 miles to km. How long does it take to walk that?",
    "Is this normal? My ear rings.",
    "How do I fix this? My tap drips.",
]


@pytest.mark.parametrize(("one", "two"), TEXTS)
def test_other_texts_are_no_equal_wordings_and_are_vetoed(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text
    assert [conflict for conflict in conflicts(one, two, GUARDS) if conflict.veto]


@pytest.mark.parametrize("text", NO_TEXTS)
def test_what_stands_beside_another_sentence_is_read_as_a_request(text: str) -> None:
    assert worked_on(text) is None
