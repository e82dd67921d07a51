"""Phrases at the head of a question, at its end: "in Python, how do I sort a list", "with a fever, can I exercise".

Invariant: a phrase that would be read of somebody or something else behind their noun keeps its place.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary

_HEADS = (
    r"how|what|who|where|when|why|which|whose|is|are|do|does|did|can|should|could|would|will|was|were|has"
    r"|have|explain|describe|list"
    r"|give|write|suggest|recommend|name|tell|define|show|find|translate|summarize|compare|calculate|create"
    r"|may|must|am|any"
)
_LEADERS = (
    r"in|on|with|using|for|during|at|under|without|after|before|from|since|within|near|if|when|while|as"
    r"|according to|compared to"
    r"|compared with|by|through|throughout|across|among|besides|despite|due to|because of|given|considering"
    r"|regarding|concerning"
    r"|about|inside|outside|into|over|per|until|via|whenever|once|unless|although|because|assuming|based on"
    r"|as of|as for|amid"
    r"|along|around|behind|below|beneath|above|beyond|towards?|upon|in order to|to|next to|instead of|apart "
    r"from|in terms of"
    r"|thanks to|relative to|on top of|in front of|out of|ahead of|prior to|starting from|as soon as"
    r"|provided|even if|even though"
)
_FRONTED = re.compile(
    rf"^({_LEADERS}) (?!(?:short|general|fact|addition|particular|other words|order|contrast|summary"
    rf"|conclusion|you|the way|all honesty|case you|my"
    rf" opinion)\b,?)([^,.?!;:\n]{{1,90}}), (?:then )?((?:{_HEADS})\b[^.?!;:\n]+?)(\?)?$"
)
_FRONTED_BARE = re.compile(
    r"^(in|using|on|for|with|at|during|without|after|before|under|near|within) ((?:[^\s,.?!;:]+ "
    r"){0,4}?[^\s,.?!;:]+) ((?:how do i|how does|how do"
    r"|how did|what is|what are|what does|what do|what was|why does|why do|why is|why are|why did|who was"
    r"|who is|where is|where are|where do i"
    r"|where can i|when is|when does|when do|when did|how many|how much|how long|how often|can i|should i|is "
    r"it|do i need to)\b[^,.?!;:\n]+)(\?)?$"
)
_MIDDLE = re.compile(
    rf"^((?:how|what|where|when|why|who) (?:do|does|did|is|are|can|should|was|were|would)(?: (?:i|you|we"
    rf"|they|it|the \w+|an? \w+))?), ((?:{_LEADERS})"
    rf" [^,.?!;:\n]{{1,60}}), ([^,.?!;:\n]+)(\?)?$"
)
# Behind these a phrase at the end belongs to another clause than one at the head.
_SAYING = vocabulary(
    "said say says think thinks believe believes claim claimed claims promise promised that who which want wanted"
)
# Phrases that are often of what stands before them; and those of time, of which some name no one whose time it is.
_ATTACHED = vocabulary("with without from by about")
_NAMELESS = vocabulary("after before during since until")
_CLAUSES = vocabulary("when whenever while if once unless")
_UNATTACHED = vocabulary("according although because")
_BEINGS = vocabulary("""
    man men woman women person people child children kid kids boy boys girl girls baby babies friend friends
    husband wife son daughter brother sister mother father parent parents partner boyfriend girlfriend someone somebody
    anyone anybody everyone employee employees worker workers student students teacher patient patients customer
    customers user users client clients neighbor neighbors tenant tenants driver drivers passenger passengers guest
    guests dog dogs cat cats animal animals bird birds horse horses pet pets
    dad mom mum grandma grandpa uncle aunt boss cousin puppy kitten
    """)
_PEOPLE = _BEINGS | vocabulary("""
    admin admins adult adults buyer buyers candidate candidates colleague colleagues contractor contractors coworker
    coworkers crowd developer developers doctor doctors editor editors elder elders ex family fiance fiancee foreigner
    foreigners freelancer freelancers grandparent grandparents hiker hikers infant infants inmate inmates kitten
    kittens landlord landlords manager managers member members neighbour neighbours newborn newborns nurse nurses one
    others owner owners prisoner prisoners puppies relative relatives roommate roommates seller sellers senior seniors
    sibling siblings spouse stranger strangers suspect team teen teenager teenagers teens toddler toddlers tourist
    tourists twin twins veteran veterans victim victims visitor visitors
    """)
_OF_PEOPLE = ("er", "or", "ist", "ee", "ian", "ers", "ors", "ists", "ees", "ians")
_POSSESSIVES = vocabulary("my your his her our their its")
_ASKERS = vocabulary("i we you one it")
_SUBJECTS = _ASKERS | _POSSESSIVES | vocabulary("he she they there this that these those the a an")
# Before the verb of a clause, and behind one that has no object.
_BEFORE_VERBS = vocabulary("""
    able allowed also always be best better dangerous easy ever go going good have illegal just legal need normal not ok
    okay possible really required safe safely still supposed to
    """)
_BEHIND_VERBS = vocabulary("""
    abroad again ahead alone around away back better fast faster first here home less more now out outside overseas
    quickly safely there today together tomorrow tonight up well
    """)
_PREPOSITIONS = vocabulary("in on at to from into over through across around during for near after before until")
# What is made or reached is no being, and with whatever is at hand; and what one pays or learns in a role has none.
_MAKING = vocabulary("bake boil brew build cook cut enter fry grill knit make reach roast sew steam")
_ROLE = vocabulary("apply claim deduct earn file learn paint pay study vote")
# Somebody who is asked, told or taught "to" do a thing.
_MOVING = vocabulary(
    "ask tell convince persuade train teach force allow want remind order advise encourage invite pay get"
)
_LEADING = vocabulary("in using on for with at during without after before under near within")
_IDIOMS = vocabulary("short general fact case addition particular other order time contrast comparison")


def moved(text: str, first: str) -> str:
    """The text with a phrase at its head or between commas at its end; `first` is its first word in lower case."""
    if "," not in text and first not in _LEADING:
        return text
    if match := _MIDDLE.match(text):
        leader, _, phrase = match[2].lower().partition(" ")
        if _may_be_of_another(leader, phrase.split(), f"{match[1]} {match[3]}".lower().split()):
            return text
        return f"{match[1]} {match[3]} {match[2]}{match[4] or ''}"
    match = _FRONTED.match(text) or _FRONTED_BARE.match(text)
    if match is None or match[2].split()[-1] in _IDIOMS or match[2] in ("that", "this", "it"):
        return text
    leader, phrase, clause = match[1].lower(), match[2].lower().split(), match[3].lower().rstrip(" ,").split()
    if not _SAYING.isdisjoint(match[3].split()[1:]) or _may_be_of_another(leader, phrase, clause):
        return text
    return f"{match[3].rstrip(' ,')} {match[1]} {match[2]}{match[4] or ''}"


def _may_be_of_another(leader: str, phrase: list[str], words: list[str]) -> bool:
    """Return True where a phrase that begins so would be read of another in the clause, if it stood behind them.

    "With a gun, how do I stop a man" is not "how do I stop a man with a gun".
    """
    if leader in _UNATTACHED or phrase in (["law"], ["default"]):
        return False
    if leader == "to" and not _MOVING.isdisjoint(words):
        return True
    if leader in _NAMELESS or (leader in _CLAUSES and phrase[0] not in _SUBJECTS):
        at = next((at for at, word in enumerate(words) if word in _ASKERS), len(words))
        return not _PEOPLE.isdisjoint(words[at + 1 :])
    if leader in _CLAUSES:
        return False
    if leader in _ATTACHED or leader == "as":
        return not _PEOPLE.isdisjoint(words[1:]) or not _is_of_the_asker(leader, words)
    if leader == "using":
        return not _PEOPLE.isdisjoint(words[1:])
    # Of "my dog" nothing more need be said.
    return words[-1] in _BEINGS and words[-2] not in _POSSESSIVES


def _is_of_the_asker(leader: str, words: list[str]) -> bool:
    """Return True for a clause with nothing in it but who asks that a phrase behind it might be of."""
    at = next((at for at, word in enumerate(words) if at and word in _ASKERS), None)
    if at is None:
        return leader != "as" and not any(map(_may_be_somebody, words[1:]))
    rest = words[at + 1 :]
    while rest and rest[0] in _BEFORE_VERBS:
        rest = rest[1:]
    if rest and rest[0] in (_ROLE if leader == "as" else _MAKING):
        return leader != "as" or not any(map(_may_be_somebody, rest[1:]))
    rest = rest[1:]
    while rest and rest[0] in _BEHIND_VERBS:
        rest = rest[1:]
    return not rest or (rest[0] in _PREPOSITIONS and not any(map(_may_be_somebody, rest)))


def _may_be_somebody(word: str) -> bool:
    return word in _PEOPLE or (len(word) > 4 and word.endswith(_OF_PEOPLE))
