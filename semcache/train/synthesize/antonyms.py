"""Edits to the opposite: antonyms, quantifiers, comparatives, order, conditions, tense.

Data, and lexicons over it. Invariant: the words of a line exclude each other in whatever a prompt asks.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, put, single, table

_PAST = re.compile(
    r"\b(?P<was>was|were|is being|are being|am being)\b(?! (?:not|the|my|a|an|it|there|i|this|that|you|going)\b)",
    re.IGNORECASE,
)


def _future(text: str, _: random.Random) -> str | None:
    """Turn "was charged" into "will be charged", in a plain sentence with one verb of the kind."""
    found = list(_PAST.finditer(text))
    if (
        len(found) != 1
        or not single(text)
        or "," in text
        or not found[0].start()
        or re.search(r"\b(?:if|when|while|after|ago|last|yesterday|did|had)\b", text, re.IGNORECASE)
    ):
        return None
    before = text[: found[0].start()].split()
    if not before or (before[0].lower() in ("why", "when", "where", "how") and len(before) == 1):
        return None
    return put(text, found[0].start(), found[0].end(), "will be")


_ANTONYMS = """
enable | disable
enabled | disabled
enabling | disabling
activate | deactivate
activated | deactivated
increase | decrease
increasing | decreasing
increased | decreased
allow | forbid
allowed | forbidden
include | exclude
includes | excludes
start | stop
started | stopped
accept | reject
accepted | rejected
approved | rejected
subscribe to | unsubscribe from
log in to | log out of
log in | log out
sign in | sign out
turn on | turn off
switch on | switch off
turned on | turned off
turn up | turn down
lock | unlock
locked | unlocked
freeze | unfreeze
connect to | disconnect from
connect | disconnect
encrypt | decrypt
encode | decode
compress | decompress
serialize | deserialize
lend | borrow
import | export
ascending | descending
maximum | minimum
largest | smallest
biggest | smallest
highest | lowest
longest | shortest
fastest | slowest
best | worst
cheapest | most expensive
oldest | youngest | newest
newest | oldest
strongest | weakest
easiest | hardest
larger than | smaller than
greater than | less than
bigger than | smaller than
higher than | lower than
longer than | shorter than
older than | younger than
faster than | slower than
first element | last element
first row | last row
first name | last name
first day | last day
the first | the last
impossible | possible
difficult | easy
rising | falling
safe | dangerous
legal | illegal
cheap | expensive
hot | cold
high | low
higher | lower
long-term | short-term
positive | negative
inside | outside
internal | external
domestic | international
public | private
input | output
upper | lower
uppercase | lowercase
vertical | horizontal
full-time | part-time
temporary | permanent
temporarily | permanently
automatically | manually
advantages | disadvantages
benefits | drawbacks
pros | cons
similarities | differences
profit | loss
income | expenses
supply | demand
incoming | outgoing
arrival | departure
acute | chronic
benign | malignant
hyperthyroidism | hypothyroidism
bacterial | viral
contagious | harmless
increases | decreases
rises | falls
gain weight | lose weight
win | lose
winning | losing
succeed | fail
agree | disagree
agrees | disagrees
formal | informal
renewable | nonrenewable
strong | weak
stronger | weaker
rich | poor
young | old
wet | dry
raw | cooked
sweet | sour
vegan | non-vegan
vegetarian | non-vegetarian
paid | unpaid
sorted | unsorted
unique | duplicate
valid | invalid
visible | hidden
known | unknown
correct | incorrect
healthy | unhealthy
before tax | after tax
wholesale | retail
buyer | seller
employer | employee
landlord | tenant
teacher | student
parent | child
male | female
men | women
boys | girls
husband | wife
"""
_ORDER_WORDS = """
before | after
earlier than | later than
above | below
"""
_QUANTIFIERS = """
all the | some of the | none of the
all of the | some of the | none of the
all my | some of my | one of my
any of | all of | none of
both | neither of | only one of
most of the | few of the
at least | at most | exactly
at most | at least
no more than | at least
no fewer than | at most
more than | less than | exactly
all users | no users
every other | every third
every | only one
not all | all
all types of | some types of
more than once | only once
both | neither
less than | more than
fewer than | more than
always | never | sometimes
usually | rarely
often | rarely
each | only one
exactly | at least | at most
several | a single
the most | the least
the same | a different
twice | once | three times
once | twice
half of | all of | a quarter of
"""
# How much of it there is, not which side of it.
_AGES = ("how old", "how young", "years old", "year old", "months old", "weeks old", "days old")
_CONDITIONS = """
without | with
without a | with a
without any | with
without using | using
if there is | if there isn't
unless | if
in addition to | instead of
together with | instead of
instead of | as well as
except for | only for
because of | despite
despite | because of
free of charge | for a fee
for free | for a fee
"""
_TENSES = """
was i charged | will I be charged
will i be charged | was I charged
did i | will I
will i | did I
will my | did my
did my | will my
will the | did the
did the | will the
is going to | used to
will happen | happened
did they | will they
have i | will I have
the former | the next
last time | next time
my next | my previous
my previous | my next
my last | my next
the latest | the first
most recent | very first
the current | the previous
my current | my previous
is used | was formerly used
"""


RULES = changing_rules(
    antonym_other=Lexicon(table(_ANTONYMS), whole=_AGES),
    order_before__after=Lexicon(table(_ORDER_WORDS)),
    quantifier_other=Lexicon(table(_QUANTIFIERS, both=False)),
    condition_other=Lexicon(table(_CONDITIONS, both=False)),
    tense_past=_future,
    tense_other=Lexicon(table(_TENSES, both=False)),
)
