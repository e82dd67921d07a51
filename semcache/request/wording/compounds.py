"""Compounds in one writing: "web site" and "web-site" are "website", "how do I login" is "how do I log in".

Listed are pairs that mean the same together and apart wherever they stand side by side. Invariant: a pair that may be
two words in its own right ("on line 5", "over time", "a green house") is not joined, and of two writings that stand in
one text, to be compared, neither changes.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded, holds
from semcache.request.wording.misspelt import dictionary
from semcache.request.wording.side_by_side import made_one
from semcache.runtime.late_pattern import late

_CLOSED = {
    first: tuple(seconds.split())
    for first, _, seconds in (
        line.strip().partition("=")
        for line in """
air=port bag craft line lines plane mail
arm=chair pit
audio=book
back=ache end ground log pack space story stroke yard
bar=code tender
base=ball line
basket=ball
bath=robe room tub
bed=bug bugs room sheet spread time
birth=day mark place rate
black=berry berries board list mail smith
blue=berry berries print
book=case keeping mark shelf store worm
brain=storm storming
butter=fly milk
car=pool port wash
card=board
child=birth care hood
class=mate room
clip=board
co=founder founders pilot worker workers pay author authors exist
code=base
copy=right
cup=cake
cross=word walk
dash=board cam
data=base set type center
day=care dream light time
dead=line lock
dish=washer
down=load loading loaded time stairs town
door=bell mat step
dragon=fly
draw=bridge
drive=way
earth=quake
eye=brow brows lash lashes lid sight
feed=back
file=name
finger=nail print tip
fire=fighter man place wall work
flash=card light
flat=mate
flow=chart
food=stuff
foot=ball note print step
free=lance lancer lancing
front=end
frame=work
girl=friend
boy=friend
grand=child children daughter father ma mother pa parent parents son
grape=fruit
gift=card cards
guide=line book
hair=cut brush dresser style
half=way
hall=way
hand=bag book shake writing written
hard=cover ware wood
hash=map maps
head=ache aches band line lines light lights phone phones quarters set
health=care
heart=burn
high=way
home=made owner page sick town work
honey=moon
host=name
house=hold keeper keeping plant work
ice=berg
key=chain note pad stroke word
lap=top
law=suit maker
letter=head
life=span style time
light=house weight
mail=box
meat=ball balls loaf
meta=data
mother=board
motor=bike cycle cyclist
name=space
nation=wide
new=born
news=letter paper
night=mare
note=book pad
oat=meal
out=door doors
paper=work
pan=cake cakes
pass=phrase word
pay=check day roll slip
pea=nut nuts
pine=apple
pipe=line
play=ground list
pod=cast
pop=corn
post=card
rail=road way
rain=bow coat drop forest
road=map
room=mate
run=time
sales=man person
sand=paper
screen=saver shot
sea=food shell shore side weed
skate=board
skin=care
smart=phone phones watch
snow=ball board flake man storm
soft=ware
sour=dough
space=craft ship
spot=light
spread=sheet
stair=case way
stand=point
step=brother daughter father mother sister son
story=board teller telling
straw=berry berries
sun=burn burned burnt flower glasses light screen tan
super=market hero model
sweat=shirt
table=cloth spoon
tax=payer
tea=cup pot spoon
team=mate
text=book
thumb=nail
thunder=storm
time=frame line sheet stamp table zone
tool=bar box kit
tooth=ache brush paste pick
trade=mark marks marked
type=face
under=graduate ground wear water
up=grade grading graded load loading loaded time
user=name base
voice=mail over
wall=paper
water=color melon proof
way=point
wave=length
web=cam hook master page site socket
week=day end night
wheel=chair
white=board list space
wild=fire life
wind=mill screen shield
work=book flow force load place sheet shop space station
you=tube
git=hub
face=book
whats=app
""".strip().splitlines()
    )
}
# Joined with what follows where that makes a word.
_PREFIXES = vocabulary("anti micro multi non pre semi sub")
_WORDS = vocabulary("""
    antivirus microservice microservices multithreading multithreaded multitenant multitasking nonprofit nonprofits
    preprocessing preprocess preorder preorders subquery subqueries subdomain subfolder subdirectory
    """)
_TWO = vocabulary("preposition prepositions present presents pretext prefix prefixes subject subjects subway")
_AGAIN = vocabulary("""
    activate apply arrange assign authenticate book boot build calculate calibrate charge configure connect deliver
    deploy download elect enable encode enter evaluate fill finance heat imburse import index install installing
    installed invest invite issue join load name open opening order organize package pair print publish read register
    rent run sell schedule start starting submit subscribe take think train transmit try upload use used using usable
    validate verify visit wire write writing
    """)
_PARTICLES = {
    "backup": "back up", "checkin": "check in", "checkout": "check out", "cleanup": "clean up", "login": "log in",
    "logoff": "log off", "logon": "log on", "logout": "log out", "lookup": "look up", "setup": "set up",
    "shutdown": "shut down", "signin": "sign in", "signout": "sign out", "signup": "sign up", "startup": "start up",
    "opt-in": "opt in", "opt-out": "opt out", "workout": "work out", "rollback": "roll back", "breakdown": "break down",
    "warmup": "warm up", "speedup": "speed up",
}  # fmt: skip
_AS_VERB = late(
    r"(?<![\w'-])(?P<before>(?:i|we|you|not|can't|cannot|don't|won't|couldn't|didn't|please|let's|(?:how|want|need|trying"
    r"|try|able|unable|like|have|has|possible|way|ways|steps|going|used|required|allowed|supposed|wish|hoping|attempt"
    rf"|attempting) to) )(?P<verb>{'|'.join(map(re.escape, _PARTICLES))})"
    r"(?![\w'-]| (?:page|button|form|screen|link)\b)",
    re.IGNORECASE,
)
_STEMS = vocabulary("back break check clean follow log roll set shut sign start warm work")
# Behind an article they are nouns; "in" and "on" may begin another phrase there: "a log in the fire".
_NOUN = late(
    r"(?<![\w'-])(?P<before>(?:an?|the|my|our|your|this|full|daily|automatic) )"
    rf"(?P<one>{'|'.join(sorted(_STEMS))})[ -]"
    r"(?P<two>up|down|out|back)(?![\w'-])",
    re.IGNORECASE,
)
_ENTRANCE = late(
    r"(?<![\w'-])(log|sign)[ -](in)(?= (?:page|screen|details|credentials|button|form|info|information|name|prompt"
    r"|errors?|attempts?|process)\b)",
    re.IGNORECASE,
)
_NOUNS = frozenset(_PARTICLES) | {"followup"}
_INTO = late(r"(?<![\w'-])(log|sign|logged|signed|logging|signing) into(?![\w'-]| (?:law|force)\b)", re.IGNORECASE)
# Things that work, burn and shine, and houses that are cleaned: "how does fire work", "light house cleaning".
_MAY_DO = vocabulary("fire frame home house light moon motor paper rain sun team wind work")
_APART = late(
    r"(?<![\w'-])(?:does|did|will|would|can|could|makes?|making|made|lets?|gets?) (?:(?:the|my|a|an|our|your|this) )?"
    r"(fire|frame|home|house|moon|motor|paper|rain|sun|team|wind|work)[ ]"
    r"(?:work|light|burn|tan|screen|shield|mill|drop|cycle|force|flow|space|place|shop|storm)"
    r"(?= ?$|[?.,!]| (?:in|on|at|with|for|without|under|up|out|down|as|like|when|if|me|you|my|the|people)\b)"
    r"|(?<![\w'-])(light)(?= house (?:clean|work|keep|chore|dut|paint))",
    re.IGNORECASE,
)
_CUES = frozenset(_CLOSED) | _STEMS | _PREFIXES | frozenset(_PARTICLES) | vocabulary("into re")
# Cheap signs of the patterns above, in lower case.
_ENTERING = ("log", "sign")
_BEHIND_STEMS = (" up", "-up", " down", "-down", " out", "-out", " back", "-back", " in", "-in")
_PREFIXED = late(rf"(?<![\w'-])({'|'.join(sorted(_PREFIXES))})[ -]([a-z]{{3,}})(?![\w'-])", re.IGNORECASE)
_REPEATED = late(r"(?<![\w'-])(re)(?:-| (?=install))([a-z]{2,})(?![\w'-])", re.IGNORECASE)
_PATTERNS = {
    first: late(rf"(?<![\w'-])({first})[ -]((?:{'|'.join(seconds)})s?)(?![\w'-])", re.IGNORECASE)
    for first, seconds in _CLOSED.items()
}


def compounded(text: str, bag: frozenset[str]) -> str:
    """The text with its compounds in one writing; `bag` are its words in lower case.

    >>> compounded("how do i login to my web site", frozenset("how do i login to my web site".split()))
    'how do i log in to my website'
    """
    cues = _CUES & (bag if "-" not in text else bag | frozenset(text.lower().replace("-", " ").split()))
    if not cues:
        return text
    before, lower = text, folded(text)
    for first in sorted(cues & _PATTERNS.keys()):
        if _stands_before(first, _CLOSED[first], lower) and not (first in _MAY_DO and _is_apart(first, before)):
            text = _PATTERNS[first].sub(lambda match: match[1] + match[2].lower(), text)
            lower = folded(text)
    if not cues.isdisjoint(_PREFIXES):
        text = _PREFIXED.sub(_prefixed, text)
    if "re" in cues:
        text = _REPEATED.sub(lambda match: f"re{match[2].lower()}" if match[2].lower() in _AGAIN else match[0], text)
    if "into" in cues and holds(lower, _ENTERING):
        text = _INTO.sub(r"\1 in to", text)
    if not cues.isdisjoint(_STEMS) and holds(lower, _BEHIND_STEMS):
        text = _ENTRANCE.sub(lambda match: match[1] + match[2].lower(), _NOUN.sub(_noun, text))
    if not cues.isdisjoint(_PARTICLES):
        text = _AS_VERB.sub(lambda match: match["before"] + _PARTICLES[folded(match["verb"])], text)
    return before if made_one(before, text) else text


def _stands_before(first: str, seconds: tuple[str, ...], lower: str) -> bool:
    """Return True if a word of a text in lower case may be joined with the one behind it."""
    at = lower.find(first)
    while at >= 0:
        end = at + len(first)
        if lower.startswith((" ", "-"), end) and lower.startswith(seconds, end + 1):
            return True
        at = lower.find(first, end)
    return False


def _is_apart(first: str, text: str) -> bool:
    """Return True if a word that may do something does it in this text, so that it is not joined."""
    apart = _APART.search(text)
    return apart is not None and first in (apart[1], apart[2])


def _prefixed(match: re.Match[str]) -> str:
    whole = (match[1] + match[2]).lower()
    return match[1] + match[2].lower() if whole not in _TWO and (whole in _WORDS or whole in dictionary()) else match[0]


def _noun(match: re.Match[str]) -> str:
    """The noun that a verb and its particle make: "a back up", "the set-up"."""
    whole = match["one"] + match["two"].lower()
    return match["before"] + whole if whole.lower() in _NOUNS else match[0]
