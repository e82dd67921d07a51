"""Other spellings of the same words: abbreviations, contractions, regional spelling, and negation in another form.

Data, and lexicons over it. Invariant: the words of a line may stand for each other in whatever a prompt asks; what is
a synonym only in some senses is left out, or stands with the word that fixes its sense.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import Lexicon, put, table

_ABBREVIATIONS = """
information | info
application | app
applications | apps
approximately | approx.
maximum | max
reference | ref
identification | ID
advertisement | ad
advertisements | ads
laboratory | lab
mathematics | maths
gymnasium | gym
refrigerator | fridge
examination | exam
photograph | photo
photographs | photos
television | TV
telephone | phone
vegetables | veggies
as soon as possible | asap
frequently asked questions | FAQ
do it yourself | DIY
estimated time of arrival | ETA
department | dept.
number of | no. of
apartment | apt
account number | acct number
bank account | bank acct
customer service | customer svc
personal identification number | PIN
automated teller machine | ATM
united states | US | USA
united kingdom | UK
european union | EU
united nations | UN
new york city | NYC
los angeles | LA
artificial intelligence | AI
machine learning | ML
natural language processing | NLP
application programming interface | API
operating system | OS
database | DB
databases | DBs
regular expression | regex
regular expressions | regexes
dictionary | dict
dictionaries | dicts
repository | repo
repositories | repos
configuration | config
environment variable | env var
environment variables | env vars
directory | dir
javascript | JS
typescript | TS
postgresql | postgres
kubernetes | k8s
graphical user interface | GUI
user interface | UI
command line interface | CLI
central processing unit | CPU
graphics processing unit | GPU
two-factor authentication | 2FA
two factor authentication | 2FA
virtual private network | VPN
human immunodeficiency virus | HIV
attention deficit hyperactivity disorder | ADHD
chronic obstructive pulmonary disease | COPD
deoxyribonucleic acid | DNA
body mass index | BMI
chief executive officer | CEO
chief executive | CEO
human resources | HR
paid time off | PTO
gross domestic product | GDP
annual percentage rate | APR
value added tax | VAT
miles per gallon | mpg
miles per hour | mph
kilometres per hour | km/h
versus | vs
without | w/o
please | pls
thanks | thx
you | u
because | bc
people | ppl
message | msg
messages | msgs
tomorrow | tmrw
minutes | mins
hours | hrs
seconds | secs
weeks | wks
years | yrs
kilometers | km
kilometres | km
kilograms | kg
centimeters | cm
millimeters | mm
"""
_CONTRACTIONS = """
do not | don't
does not | doesn't
did not | didn't
is not | isn't
are not | aren't
was not | wasn't
were not | weren't
has not | hasn't
have not | haven't
had not | hadn't
cannot | can't
can not | can't
could not | couldn't
should not | shouldn't
would not | wouldn't
will not | won't
what is | what's
where is | where's
who is | who's
when is | when's
how is | how's
that is | that's
there is | there's
it is | it's
i am | I'm
i have been | I've been
i have a | I've got a
i would like | I'd like
i will | I'll
we are | we're
you are | you're
they are | they're
"""
_EXPANSIONS = """
don't | do not
doesn't | does not
didn't | did not
isn't | is not
aren't | are not
wasn't | was not
hasn't | has not
haven't | have not
couldn't | could not
shouldn't | should not
wouldn't | would not
won't | will not
can't | cannot
what's the | what is the
what's my | what is my
what's a | what is a
where's my | where is my
where's the | where is the
there's a | there is a
i'm | I am
i'd like | I would like
i've been | I have been
i've lost | I have lost
i've got | I have got
i'll | I will
we're | we are
you're | you are
they're | they are
gonna | going to
wanna | want to
gotta | have to
lemme | let me
gimme | give me
dunno | don't know
info | information
pls | please
plz | please
asap | as soon as possible
app | application
fridge | refrigerator
photo | photograph
exam | examination
maths | mathematics
dict | dictionary
regex | regular expression
repo | repository
config | configuration
atm | cash machine
uk | United Kingdom
usa | United States
vs | versus
"""
_SPELLINGS = """
colour color|colours colors|favourite favorite|favourites favorites|flavour flavor|flavours flavors|behaviour behavior
neighbour neighbor|neighbours neighbors|honour honor|labour labor|humour humor|rumour rumor|harbour harbor
centre center|centres centers|theatre theater|metre meter|metres meters|litre liter|litres liters|fibre fiber
kilometre kilometer|kilometres kilometers|centimetre centimeter|centimetres centimeters
organise organize|organised organized|organising organizing|organisation organization|organisations organizations
recognise recognize|recognised recognized|realise realize|realised realized|apologise apologize|authorise authorize
authorised authorized|authorisation authorization|minimise minimize|maximise maximize|optimise optimize
optimising optimizing|optimisation optimization|summarise summarize|summarised summarized|summarising summarizing
normalise normalize|normalised normalized|visualise visualize|initialise initialize|initialised initialized
serialise serialize|customise customize|customised customized|prioritise prioritize|analyse analyze|analysed analyzed
analysing analyzing|catalogue catalog|dialogue dialog|travelling traveling|travelled traveled|traveller traveler
cancelled canceled|cancelling canceling|labelled labeled|modelling modeling|modelled modeled|jewellery jewelry
defence defense|grey gray|cheques checks|aluminium aluminum|mum mom|maths math|anaemia anemia|leukaemia leukemia
oestrogen estrogen
paediatric pediatric|haemophilia hemophilia|diarrhoea diarrhea|oesophagus esophagus|foetus fetus|tumour tumor
tumours tumors|ageing aging|pyjamas pajamas|sceptical skeptical|yoghurt yogurt|doughnut donut
enrolment enrollment|fulfil fulfill|instalment installment|instalments installments|judgement judgment
e-mail email|e-mails emails|ok okay
"""
_NEGATED = """
not possible | impossible
not legal | illegal
not safe | unsafe
not allowed | forbidden
is not available | is unavailable
isn't available | is unavailable
not able to | unable to
i cannot | I am unable to
i can't | I'm not able to
i couldn't | I was unable to
didn't receive | never received
did not receive | never received
haven't received | have yet to receive
have not received | have yet to receive
hasn't arrived | has yet to arrive
has not arrived | has yet to arrive
isn't working | doesn't work
is not working | doesn't work
is not correct | is incorrect
not valid | invalid
not necessary | unnecessary
don't have a | have no
don't have any | have no
do not have any | have no
do not have a | have no
doesn't have a | has no
without any | with no
without a | with no
not equal | unequal
not recognized | unrecognized
not authorized | unauthorized
"""


def _spellings() -> dict[str, list[str]]:
    return table("\n".join(_SPELLINGS.replace("|", "\n").strip().splitlines()).replace(" ", " | "))


_CONTRACTED = re.compile(r"\b(?:do|does|did|ca|wo|is|has|have|would)n['’]t\b", re.IGNORECASE)


def _apostrophe(text: str, rng: random.Random) -> str | None:
    """Turn "don't" into "dont", as people type."""
    found = list(_CONTRACTED.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    return put(text, match.start(), match.end(), match[0].replace("'", "").replace("’", "").lower())


RULES = keeping_rules(
    abbreviation_shorten=Lexicon(table(_ABBREVIATIONS, both=False)),
    abbreviation_expand=Lexicon({k: v for k, v in table(_EXPANSIONS, both=False).items() if "'" not in k}),
    contraction_contract=Lexicon(table(_CONTRACTIONS, both=False)),
    contraction_expand=Lexicon({k: v for k, v in table(_EXPANSIONS, both=False).items() if "'" in k}),
    contraction_apostrophe=_apostrophe,
    spelling_region=Lexicon(_spellings()),
    negated_otherwise=Lexicon(table(_NEGATED)),
)
