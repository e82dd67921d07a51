"""Edits of the form in which an answer is wanted: a table, JSON, French, one sentence, a poem.

Knows forms by name. Invariant: a form is added only to a prompt that asks to be told something and names no form yet.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, alternatives, capital, single, small, split_end

_FORMS = (
    "in one sentence", "in three bullet"
                       " points", "as a table", "in JSON", "as a numbered list", "in French", "in Spanish", "in German",
    "as a poem", "in exactly 50 words", "as a dialogue", "for a five-year-old", "in Markdown",
    "in YAML", "as a tweet", "in Italian", "in one paragraph", "in LaTeX", "as CSV", "in XML",
    "in a humorous way", "in Chinese", "in Portuguese", "in at most 20 words", "as a haiku", "in HTML",
)  # fmt: skip
_ANSWERED = re.compile(
    r"^(?:please )?(?:what|why|explain|describe|how (?:do|does|did|to|can)|list|tell me (?:about|how|what|why)"
    r"|write|give me|summari[sz]e|compare|define|who|create|generate"
    r"|outline|suggest|name|identify|can you (?:explain|describe|list|write)|which|find|calculate|rewrite"
    r"|classify|provide|compose|design|discuss)\b",
    re.IGNORECASE,
)
_FORMED = re.compile(
    r"\b(?:json|table|list of|bullet|poem|haiku|tweet|essay|sentence|words|paragraph|step|example|csv|xml|yaml"
    r"|format|tone|language|in (?:french|spanish|german|italian|chinese|english))\b",
    re.IGNORECASE,
)
_GROUPS = """
json, xml, yaml, csv
in one sentence, in one paragraph, in three sentences, in two pages
as a table, as a list, as a paragraph
a poem, an essay, a short story, a haiku, a song
an essay, a summary, a speech, a poem
a short, a long
an email, a letter, a tweet, a text message, a blog post
a paragraph, a sentence, an essay
a list, a table, a paragraph
bullet points, full sentences
in english, in french, in spanish, in german, in italian, in chinese, in portuguese, in japanese
to english, to french, to spanish, to german, to italian
into english, into french, into spanish, into german
briefly, in detail
formal, casual, humorous
pdf, word document, spreadsheet
a haiku, a sonnet, a limerick
active voice, passive voice
past tense, present tense, future tense
first person, third person
"""


def _added(text: str, rng: random.Random) -> str | None:
    core, end = split_end(text)
    if len(text) > 160 or not single(text) or _ANSWERED.match(core) is None or _FORMED.search(core):
        return None
    form = rng.choice(_FORMS)
    if rng.random() < 0.25:
        return f"{core}{end.strip() or '.'} {rng.choice(('Answer', 'Reply', 'Respond'))} {form}."
    if rng.random() < 0.15:
        return f"{capital(form)}, {small(core)}{end}"
    return f"{core}, {form}{end}" if rng.random() < 0.4 else f"{core} {form}{end}"


RULES = changing_rules(
    form_added=_added,
    form_other=Lexicon(alternatives(_GROUPS), proper=True),
)
