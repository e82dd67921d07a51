"""Synonyms: other words for the same thing.

Data, and lexicons over it. Invariant: what stands for a word fits wherever that word may stand in a prompt; a word
with other senses stands only with the words that fix its sense, or on the right-hand side.
"""

from __future__ import annotations

from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import Lexicon, table

# Each for any other of its line.
_SYNONYMS = """
purchasing | buying
repair | fix
repairing | fixing
attempting to | trying to
allowed to | permitted to
children | kids
physician | doctor
doctors | physicians
lawyer | attorney
illness | sickness
cellphone | mobile phone
cell phone | mobile phone
automobile | car
movie | film
movies | films
restroom | bathroom
sofa | couch
frequently | often
currently | at the moment | right now
immediately | right away | at once
a lot of | lots of | plenty of
additional | extra
huge | enormous
tiny | very small
notify me | let me know
utilize | use
utilise | use
utilizing | using
construct | build
constructing | building
calculating | computing
deleting | removing
deleted | removed
erase | delete
concatenate | join together
iterate over | loop over | loop through
iterating over | looping over
duplicate elements | repeated elements
generating | producing
summarize | sum up
summary of | synopsis of
treatments for | therapies for
treatment for | therapy for
medications | medicines
drugs for | medications for
disease | illness
cash machine | atm
withdraw cash | take out cash
declined | refused | rejected
reimbursement | refund
paycheck | pay cheque
spouse | partner
grocery store | supermarket
groceries | food shopping
airplane | plane
luggage | baggage
garbage | rubbish | trash
gas station | petrol station | filling station
freeway | motorway | highway
nearby | close by
close to me | near me
in the vicinity of | near
weather forecast for | weather outlook for
loudly | at high volume
ingredients for | things needed for
nation | country
inhabitants of | people living in
biggest | largest
smallest | tiniest
most populous | most populated
wrote | authored
established | founded
forbidden | prohibited | not allowed
permitted | allowed
necessary to | needed to
if possible | if that is possible
as well as | and also
instead of | rather than
the majority of | most of
stopped working | no longer works
won't start | refuses to start
forgot | can't remember
don't remember | can't recall
got lost | went missing
"""
# One way: the second is not always the first.
_NARROWER = """
in order to | to
require | need
commence | start
begin | start
terminate | end
incorrect | wrong
entire | whole
choose | pick
choosing | picking
select | choose
modify | change
modifying | changing
alter | change
numerous | many
sufficient | enough
inform | tell
reply to | answer
enumerate | list
provide | give
provide me with | give me
the following | these
ought to | should
regarding | about | concerning
mandatory | compulsory | required
mistake | error
mistakes | errors
calculate | compute | work out
approximately | roughly | about
verify | check
verifying | checking
dictionary with | dict with
receive | get
obtain | get
acquire | get
attempt to | try to
try to | attempt to
due to | because of
because of | due to
owing to | because of
in spite of | despite
till | until
a few | several
several | a few
top up my | add money to my
top-up my | top up my
concise | brief
demonstrate | show
rapidly | quickly
approximately | roughly
roughly | approximately
apart from | except for
how can i | how could I
how do i | how can I
how can i | how do I
compose | write
assist me | help me
as soon as possible | as quickly as possible | right away
a way to | some way to
is there a way to | is there any way to
can you | could you
could you | can you
doesn't work | isn't working
isn't working | doesn't work
does not work | is not working
does not work | isn't working
went wrong | was the problem
not sure | uncertain
a lot | very much
find out what | learn what
let me know | tell me
tell me about | give me information about
write a story about | make up a story about
write an essay about | compose an essay about
write a poem about | compose a poem about
generate a list of | make a list of
create a list of | put together a list of
make a list of | create a list of
come up with | think of
suggest | propose
design a | create a
find all | look for all
check if | test whether | check whether
check whether | check if
best way to | best method to
merge | combine
combine | merge
discard | throw away
sum of all | total of all
occurs | happens
located in | situated in
situated in | located in
known as | called
is required to | has to
leads to | results in
results in | leads to
refers to | means
consider the | look at the
employed by | used by
primarily | mainly
mainly | primarily
typically | usually
usually | typically
generally | in general
initially | at first
therefore | thus
purpose of | aim of
aim of | goal of
goal of | aim of
method of | way of
kind of | type of
types of | kinds of
kinds of | types of
sort of | kind of
approach to | way to approach
inhabitants | residents
pupils | schoolchildren
on the internet | online
over the internet | online
purchase a | buy a
to purchase | to buy
purchased | bought
acquire | obtain
receive my | get my
received my | got my
change my | modify my
maximum | max
locate | find
erase | delete
failed to | did not manage to
retrieve the | get the
sign up for | register for
set up | configure
look up | search for
get rid of | remove
turn on | switch on
turn off | switch off
turn down | lower
call off | cancel
fill in | complete
hand in | submit
carry on | continue
point out | mention
throw away | discard
write down | note
consists of | is made up of
wait for | await
look for | search for
deal with | handle
used to measure | employed to measure
take part in | participate in
buy | purchase
bought | purchased
need to | have to
have to | need to
want to | would like to
i'd like to | I want to
shows | displays
often | frequently
cheapest | least expensive
car | automobile
doctor | physician
kids | children
phone | telephone
picture of | photo of
photos | pictures
get a refund | get my money back
do you have | have you got
do i have | have I got
"""


RULES = keeping_rules(
    synonym_either=Lexicon(table(_SYNONYMS)),
    synonym_narrower=Lexicon(table(_NARROWER, both=False)),
)
