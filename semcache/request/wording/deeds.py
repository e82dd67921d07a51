"""Deeds that are wished for, in the passive or named by a noun, as questions of how to do them.

"I need to cancel an order", "How can an order be canceled?" and "cancellation of an order" ask what "How do I cancel an
order?" asks. Invariant: only verbs of what people do with their own accounts, files and things count, and nothing that
is the asker's own ("my order") is wished for: that may be an order to do it.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.verbs import IRREGULAR, base_of, past_tense
from semcache.request.wording.ways import THEIR_OWN

# Who wishes for these may want an offer, a choice or care rather than the way to do it.
_WISHED = (
    THEIR_OWN
    - vocabulary("""
        apply book build buy cook cut grow hack hang improve join jump keep kill learn lose make mount order pair pay
        plant purchase quit raise rent sell start stop turn use
        """)
) | vocabulary("""
    archive attach copy customize edit embed evict export extract filter hide import insert merge rename rotate sort
    split thaw trademark unhide unzip upload
    """)
_WISH = re.compile(
    r"(?:(?:i|we) (?:just |really |also )?(?:want|need|would like|have|wish|(?:am|are) (?:trying|looking|hoping))"
    r"|trying|need) to ([a-z]+) ([^.?!;:,\n]+)$",
    re.IGNORECASE,
)
# Behind these the wish is told of, or goes on: "I need to return it because it is broken".
_GOES_ON = vocabulary("""
    my our mine ours your yours me us myself ourselves you it them him her this these those i we he she they but so
    because since if when while unless until before after how what why who which where whether please today tonight
    tomorrow now help asap
    """)
# The wish of a first sentence has become a question, and the second one asks the same.
_ASKED_AGAIN = re.compile(
    r"([^.?!;:,\n]+?)[.?!;,]* (?:(?:but|so|and) )?how(?: (?:do|can|could|would|should) (?:i|we)"
    r"(?: go about| do| achieve)? (?:it|that|this|so)(?: best)?)?\??$",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"(how can|can) ([^.?!;:,\n]{2,60}?) be ([a-z]+)((?: [^.?!;:,\n]+)?)(\??)$", re.IGNORECASE)
_NO_THING = vocabulary("""
    i you we he she it they this that these those there one anyone anybody someone somebody everyone who what which me
    people children child kids person persons man men woman women patient patients employee employees tenant tenants
    worker workers citizen citizens
    """)
_LEFT_ALONE = vocabulary("be by and not never or my our your his her their its")
_DONE_TO_THINGS = vocabulary("""
    activate add attach avoid cancel change clean close configure connect copy create customize deactivate
    delete deposit disable download edit enable exchange export extend extract filter fix freeze hide
    import insert install link merge migrate mount move mute open pause prevent print recover reduce refreeze reheat
    remove rename renew repair replace report reschedule reset restart restore retrieve return reverse revert rotate
    save schedule send share sort split stop store submit switch sync take transfer treat unblock undo uninstall
    unlink unlock unmute unsubscribe update upgrade upload use verify catch visit
    """)
# Who asks if these can be done means to do them; "can a booking be changed" asks what the airline may do as well.
_DONE_BY_ASKER = vocabulary("""
    copy customize download edit exchange export filter freeze import insert install merge mute print refreeze reheat
    rename restore retrieve return rotate sort sync undo uninstall unlink unmute update upload
    """)
# What a bank, a court or a landlord freezes.
_OF_MONEY = vocabulary("""
    account accounts asset assets benefit benefits card cards credit fund funds funding investments loan loans money
    mortgage pay payment payments pension pensions price prices rate rates rent rents salaries salary wage wages
    """)
# Behind the deed these tell of another who does it: "without warning", "for inactivity".
_UNASKED = vocabulary("""
    without due for because despite against unless under mid automatically remotely secretly suddenly retroactively
    accidentally legally illegally notice warning permission consent knowledge approval court sender hackers
    """)
# Nouns of deeds and their verbs; those of `_HOW_IT_GOES` are done at a counter, and nothing goes on by itself.
_NOUNS = dict(
    pair.split("=")
    for pair in vocabulary("""
        activation=activate cancellation=cancel closure=close configuration=configure conversion=convert creation=create
        deactivation=deactivate deletion=delete exchange=exchange extraction=extract insertion=insert
        installation=install preparation=prepare reactivation=reactivate registration=register
        reinstallation=reinstall removal=remove renewal=renew replacement=replace restoration=restore return=return
        submission=submit termination=terminate transfer=transfer uninstallation=uninstall verification=verify
        """)
)
_HOW_IT_GOES = vocabulary("cancellation closure deletion exchange registration renewal replacement return transfer")
# Alone these name a thing: "the creation of the world".
_ONLY_ASKED = vocabulary("configuration conversion creation exchange preparation restoration return transfer")
# What people have of their own and on their machines: the activation of an enzyme is nothing that the asker does.
_POSSESSED = vocabulary("""
    account accounts address agreement alarm antivirus app appointment appointments apps battery benefit bill boiler
    booking bookings broadband browser bulb cable car card cards certificate claim code codec contract contracts debit
    debits deposit device devices dishwasher disk domain drive driver drivers email emails extension extensions file
    files filter flight flights folder font form gadget game games gear giftcard giftcards goods gym hinge hose icon
    insurance invoice item items key keys lamp laptop lease library licence license lock login machine membership
    memberships meter meters mortgage number office order orders oven package packages parcel part parts passport
    passports password payment payments permit permits pet pets phone photo photos pin plan plans plugin plugins
    policies policy printer product products profile program programs purchase receipt registration reservation
    reservations router sensor service services sim sink software standing subscription subscriptions system tap
    ticket tickets tile tiles tire tires toilet trial tv tyre tyres update updates user users vehicle version video
    videos virus visa visas wallet warranty website wheel window windows
    """)
# What these say of the noun is asked about, and not the way to do it.
_TOLD = vocabulary("by is are was were does do did has have will can should fee fees cost costs price date time of")
_BARE = re.compile(r"(?:the )?([a-z]+) of ([^.?!;:,\n]{2,60})$", re.IGNORECASE)
_PROCESS = re.compile(
    r"(?:what (?:is|are) )?(?:the )?(?:process|procedure|steps|instructions|way|method) for (?:the )?([a-z]+) of "
    r"([^.?!;:,\n]+)(\??)$",
    re.IGNORECASE,
)
_WORKS = re.compile(r"how does (?:the )?([a-z]+) of ([^.?!;:,\n]+?) work(\??)$", re.IGNORECASE)
_WISHING = vocabulary("i we trying need")
_ASKING = vocabulary("how can")
_NAMING = vocabulary("how what the process procedure steps instructions way method")


def way_to_do(text: str, first: str) -> str | None:
    """The question in a wish, in the passive or in a noun; `first` is its first word in lower case.

    >>> way_to_do("i need to cancel an order", "i")
    'how do i cancel an order'
    >>> way_to_do("how can a direct debit be canceled", "how")
    'how do i cancel a direct debit'
    """
    if first in _WISHING:
        return _wished(text)
    if first in _ASKING and " be " in text and (found := _active(text)) is not None:
        return found
    return _verbal(text, first) if " of " in text and (first in _NAMING or first in _NOUNS) else None


def asked_once(deed: str) -> str:
    """The words behind "how do I", without a second question for the same: "cancel a booking. How?"."""
    match = _ASKED_AGAIN.match(deed) if " how" in deed else None
    return deed if match is None else match[1]


def _wished(text: str) -> str | None:
    match = _WISH.match(text)
    if match is None or (verb := match[1].lower()) not in _WISHED:
        return None
    words = match[2].lower().split()
    return None if not _GOES_ON.isdisjoint(words) or "that" in (words[0], words[-1]) else f"how do i {verb} {match[2]}"


def _active(text: str) -> str | None:
    """The question in the active voice; None where another than the asker may do the deed."""
    match = _PASSIVE.match(text)
    if match is None:
        return None
    asked, thing, participle, rest, mark = match.groups()
    base = _base(participle.lower())
    if base not in _DONE_TO_THINGS or not _NO_THING.isdisjoint(thing.lower().split()):
        return None
    if not _LEFT_ALONE.isdisjoint((*thing.lower().split(), *rest.lower().split())) or (
        base == "freeze" and not _OF_MONEY.isdisjoint(thing.lower().split())
    ):
        return None
    if not _UNASKED.isdisjoint(rest.lower().split()):
        return None
    if asked.lower() == "how can":
        return f"how do i {base} {thing}{rest}{mark}"
    return f"can i {base} {thing}{rest}{mark}" if base in _DONE_BY_ASKER else None


def _base(participle: str) -> str | None:
    if participle in _DONE_TO_THINGS:  # "reset", "split"
        return participle
    return IRREGULAR.get(participle) or past_tense(participle) or participle.removesuffix("ed")


def _verbal(text: str, first: str) -> str | None:
    noun = thing = mark = ""
    if " for " in text and (match := _PROCESS.match(text)) is not None:
        noun, thing, mark = match.groups()
    elif first == "how":
        if (
            text.endswith(("work", "work?"))
            and (match := _WORKS.match(text)) is not None
            and match[1].lower() in _HOW_IT_GOES
        ):
            noun, thing, mark = match.groups()
    elif (first in _NOUNS or first == "the") and (match := _BARE.match(text)) is not None:
        noun, thing = match.groups()
        if noun.lower() in _ONLY_ASKED:
            return None
    verb = _NOUNS.get(noun.lower()) or (base_of(noun.lower()) if noun.lower().endswith("ing") else None)
    words = thing.lower().split()
    if verb is None or not _TOLD.isdisjoint(words) or (noun.lower() in _NOUNS and _POSSESSED.isdisjoint(words)):
        return None
    return f"how do i {verb} {thing}{mark}"
