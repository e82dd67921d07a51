"""Question frames: many ways to ask for one thing, each family brought to one frame.

The families: how to do something; what, who, where and when something is; how something works.
Invariant: no frame leads into another family: what asks for leave, need, advice or a reason alone ("can I", "should I",
"why do I", "what is the best way") becomes no question of how to.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.conversions import converted
from semcache.request.wording.cues import folded
from semcache.request.wording.deeds import asked_once, way_to_do
from semcache.request.wording.frames_of_leave import FRAMES_OF_LEAVE
from semcache.request.wording.imperatives import HEADS, commanded
from semcache.request.wording.programs import names_program
from semcache.request.wording.questions import asked_whether, directed
from semcache.request.wording.relations import related
from semcache.request.wording.request_verbs import SKILL
from semcache.request.wording.subjects import way_of_anybody
from semcache.request.wording.verbs import base_of
from semcache.request.wording.ways import is_asked_for, is_told_of, way_wanted
from semcache.runtime.late_pattern import late

_TELL = (
    r"(?:(?:can|could|would|will) you (?:please )?)?(?:please )?"
    r"(?:(?:tell|show|teach) me(?: please)?|explain(?: to me)?|describe|let me know|help me understand"
    r"|remind me|advise me(?: on)?|guide me(?: through| on)?|walk me through|take me through|talk me through"
    r"|clarify|show me"
    r"|i (?:want|need|would like|wish|am trying) to (?:know|find out|understand)|i am wondering|i was wondering"
    rf"|do you (?:happen to )?know(?! {SKILL}))"
)
_SPACED_TELL = _TELL.replace(" ", "[ ]")
_ACTION = r"(?!(?:not|no|never|be|i|you|we|they|he|she|it|much|many|long|old|far)\b)(?=[a-z\ue000-\uf8ff])"
# "How could I forget" asks for no way to do it.
_BEFALLING = "look|sound|feel|seem|smell|taste|weigh|die|react|benefit|forget|hate|fail|miss|lose[ ](?:so|\\d)"
# What befalls somebody is no deed of the asker: "how can one die".
_SUFFERING = "bleed|catch|choke|contract|die|drown|inherit|overdose|starve|suffer"
_HOW_TO = late(
    rf"""
    (?:
        (?:{_SPACED_TELL}[ ])?how[ ](?:can|do|(?:could|would|might)(?![ ]\w+[ ](?:{_BEFALLING})\b))[ ]
          (?:i|one(?![ ](?:{_SUFFERING})\b))
      | (?:{_SPACED_TELL}[ ])?how[ ](?:(?:i|one)[ ](?:can|could|would|might)|to)
      | (?:can|could|would)[ ]you[ ](?:please[ ])?(?:tell|show|teach)[ ]me[ ]how[ ]to
      | (?:{_SPACED_TELL}[ ])?what(?:[ ]is|\'s)[ ](?:the|a)[ ](?:way|procedure|process)[ ]to
      | (?:{_SPACED_TELL}[ ])?what[ ](?:are|is|would[ ]be)[ ]the[ ](?:steps|instructions)[ ](?:to|(?:for|on)[ ]how[ ]to)
      | (?:{_SPACED_TELL}[ ])?what[ ](?:are|is)[ ](?:the|a|some)[ ](?:ways?|methods?)[ ](?:to|of[ ]how[ ]to
        |(?:that[ ])?i[ ]can)
      | (?:{_SPACED_TELL}[ ])?what[ ]steps[ ](?:are[ ](?:needed|required|involved|necessary)|does[ ]it[ ]take)[ ]to
      | how[ ]would[ ](?:you|we|i|one)[ ]go[ ]about[ ]to
      | how[ ]am[ ]i[ ](?:supposed|able)[ ]to
      | how[ ]shall[ ](?:i|we|one)
      | (?:any[ ](?:idea|ideas|tips|clue)[ ](?:on[ ])?)how[ ]to
      | (?:tell|show|teach)[ ]me[ ]the[ ]way[ ]to
      | teach[ ]me[ ]to
      | how[ ]exactly[ ](?:do|can|would)[ ](?:i|you|we|one)
      | (?:what|which)[ ]steps[ ](?:do[ ]i|should[ ]i|must[ ]i)[ ](?:take|follow)[ ]to
      | (?:{_SPACED_TELL}[ ]|give[ ]me[ ]|list[ ])?(?:the[ ])?(?:steps|way|instructions)[ ](?:to|on[ ]how[ ]to)
      | i[ ](?:want|need|would[ ]like)[ ]to[ ]know[ ](?:the[ ]way[ ]to|how[ ]to|how[ ]i[ ]can)
      | how[ ]does[ ]one(?![ ](?:{_SUFFERING})\b)
      | how[ ]to[ ]go[ ]about[ ]to
      | (?:{_SPACED_TELL}[ ])?what[ ](?:do[ ]i[ ](?:(?:need|have)[ ]to[ ])?do|must[ ]i[ ]do
          |can[ ]i[ ]do)[ ](?:in[ ]order[ ])?to
      | how[ ]is[ ]it[ ]possible[ ]for[ ]me[ ]to
      | (?:the[ ]|give[ ]me[ ](?:some[ ])?|what[ ]are[ ](?:the[ ]|some[ ])?|list[ ](?:some[ ])?)?ways[ ]to
      | (?:what[ ]is[ ])?(?:the[ ]|a[ ])?(?:procedure|process)[ ]to
      | (?:guide|directions|a[ ]guide)[ ](?:to|on[ ]how[ ]to)
      | what[ ]is[ ]the[ ]way[ ]in[ ]which[ ]i[ ]can
      | (?:in[ ](?:what|which)[ ]way|by[ ]what[ ]means)[ ](?:can|do|could)[ ]i
      | how[ ]do[ ]i[ ]go[ ]about[ ]to
    )[ ]{_ACTION}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BE = r"(?:is|are|was|were)"
_PERSONS = (
    r"(?:i|you|he|she|we|they|me|him|them|us|that|which|who|what|if|whether|is|are|was|were|has|have|had|do|does|did"
    r"|not|no|never|nor|cannot)"
)
_NOUNS = rf"((?!{_PERSONS}\b)\S+(?: (?!{_PERSONS}\b)[^\s,.?!;]+){{0,6}})"
_DETERMINED = late(r"(?:the|a|an|my|your|his|her|our|their|this|these|those)\b", re.IGNORECASE)
_INNER = late(
    rf"^(?!{_DETERMINED.pattern})(?:(?!of|in|on|for|at|to|with|by)\S+ )+?{_DETERMINED.pattern}", re.IGNORECASE
)
_KINDS = late(
    r"(?:colou?rs?|country|city|state|year|day|date|time|kinds?|types?|sorts?|languages?|size|age|part|percentage|month"
    r"|number|shape|brand|species|version|font|format|genre|level|position|nationality|religion) \S",
    re.IGNORECASE,
)
_INVERTED = late(rf"(?:{_TELL} )?(what|who|where|when) {_NOUNS} ({_BE})\??$", re.IGNORECASE)
_INVERTED_IT = late(
    rf"(?:{_TELL} )?(what|who|where|when) (it|he|she|they|this|that|i|you|we) (is|are|was|were|am)$", re.I
)
_MEASURED_NOUN = late(
    rf"(?:{_TELL} )?how (old|tall|far|long|big|deep|high|heavy|fast|large|wide|expensive|hot"
    rf"|cold|rich|popular) {_NOUNS} ({_BE})$",
    re.IGNORECASE,
)
_WORKS = late(rf"(?:{_TELL} )?how {_NOUNS} (works?)( [^,.?!;]+)?$", re.IGNORECASE)
_STRAIGHT = late(
    rf"{_TELL} (?=(?:(?:what|who|where|when) (?:{_BE}|do|does|did)|how (?:do|does|did)"
    rf"|how (?:many|much|long|old|far|tall)\b|why)\b)",
    re.IGNORECASE,
)
_TIME = late(rf"(?:{_TELL} )?what time it is( .+)?$", re.IGNORECASE)
_HEADS = (
    vocabulary("""
    how what who where when why which whose steps way ways instructions procedure process guide directions the tell show
    teach explain describe let help remind i can could would will do does did is are was were should has have give list
    please name state provide find for in by a meaning definition define on at during to from with of under through
    into any
    need having struggling stuck may might must am just wondering curious no my advise check clarify confirm verify
    determine say whether guide would largest smallest
    highest lowest biggest tallest longest shortest oldest best worst most least fastest slowest first last deepest
    hottest coldest youngest
    which it be walk talk take trying we
    """)
    | HEADS
)
_DOING = late(
    rf"""
    (?:
        (?:{_SPACED_TELL}[ ]|give[ ]me[ ])?(?:what[ ]is[ ])?(?:the[ ]|a[ ])?(?:procedure|process|steps|instructions
            |way|ways|guide
          |directions|method|methods)[ ](?:(?:involved|needed|required|necessary)[ ])?(?:for|of|to|in|when)
      | (?:{_SPACED_TELL}[ ])?what[ ]are[ ]the[ ](?:steps|instructions)[ ](?:(?:involved|needed|required
        |necessary)[ ])?(?:for|of|in|when)
      | (?:guide|walk|take|talk)[ ](?:me|us)[ ]through(?:[ ]the[ ](?:process|steps)[ ]of)?
      | how[ ](?:do|can|would|should|could|might)[ ](?:i|you|we|one)[ ]go[ ]about
      | how[ ]to[ ]go[ ]about
    )[ ]([a-z]+ing)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REASON = late(
    rf"(?:(?:{_TELL} )?what is the reason(?: why| that| for which|(?= (?!for\b|of\b|behind\b|to\b|is\b"
    rf"|as\b)\w+ \w))|how come"
    rf"|for what reason|why is it that|(?:{_TELL} )?the reason why) (?=\w)",
    re.IGNORECASE,
)
_MEANING = late(
    rf"(?:(?:{_TELL} )?what is |(?:give|name|tell|show|provide|state)(?: me| us)?(?: with)? |explain |i "
    rf"(?:need|want) )?the"
    rf" (?:meaning|definition) of (?!life\b)(.+)$|meaning of (?!life\b)(.+)$"
    rf"|(?:{_TELL} )?what (?:does |do )?(.+) means?$"
    rf"|what (?:is )?(\S+(?: \S+)?)(?: is|'s)? (?:meaning|definition)$|(?:(?:what is )?a )?definition (?:of|for) (.+)$"
    rf"|define (.+)$|what is meant by (.+)$|what do(?:es)? (?:you|one|people|we|they) mean by (.+)$"
    rf"|(?:explain |tell me )?the meaning of (?!life\b)(.+)$",
    re.IGNORECASE,
)
_STANDS = late(
    r"what (?:does|do) the (?:abbreviation|acronym|letters|initials) (\S+) (?:stand for|mean)|(?:what is )?(?:the )?"
    r"(?:full|long|expanded) form of (?:the (?:abbreviation|acronym) )?(\S+)|what is (\S+) (?:short for|(?:an?|the)"
    r" (?:abbreviation|acronym) (?:for|of))|(\S+) (?:stands|is short) for what|(\S+) full form$",
    re.IGNORECASE,
)
_TELL_WH = late(rf"{_TELL} (?=(?:what|who|where|when|why|which|whose|how)\b)", re.IGNORECASE)
_KNOWING = (
    r"(?:(?:(?:can|could|would|will) (?:you|any(?:one|body)|some(?:one|body)) (?:please |kindly "
    r")?)?(?:please )?(?:tell (?:me|us)|let"
    r" (?:me|us) know|explain(?: to me)?|clarify|confirm|say|check|find out|verify|advise)|(?:do|does|would) "
    r"(?:you|any(?:one|body)|"
    r"some(?:one|body))(?: here)? (?:happen to )?(?:know|have any idea|remember)|(?:i|we) (?:want|need|would "
    r"(?:like|love)|wish|am"
    r" trying|am looking|was hoping|am hoping|wanted|was trying)(?: you)? to (?:know|find out|understand"
    r"|ask(?: you)?|figure out|learn"
    r"|check|see|tell me)|i (?:am|was|have been) (?:just |really |also |very )?(?:wondering|curious"
    r"|interested|unsure|not sure"
    r"|confused)(?: (?:about|as to|in knowing|to know|to learn|to find out))?|i (?:just |often |really "
    r")?wonder(?:ed)?|i (?:do|can) not"
    r" (?:really |quite )?(?:know|remember|tell|understand|figure out|recall)|(?:may|might|can|could) i "
    r"(?:please |just )?"
    r"(?:ask(?: you)?|know|find out)|any idea|is it known|it would be (?:really |very )?(?:helpful|great"
    r"|good|nice|useful|interesting) to (?:know|find out|learn|understand)|would you (?:mind telling me|be "
    r"able to tell me|know)|curious|wondering"
    r"|just (?:curious|wondering)|i would be (?:curious|interested|grateful|happy) to (?:know|learn|find "
    r"out)|(?:i have )?no idea"
    r"|(?:the|my) question is|i need help (?:knowing|understanding|figuring out)|help me (?:understand"
    r"|figure out|find out))"
)
_WHETHER = late(
    rf"{_KNOWING},? (?:if|whether)(?: or not)? (?!you (?:can|could|would|will|know|knew)\b)(?=\S+ \S)|is it "
    rf"(?:true|correct|the case|a fact)(?: to say)? that (?=\S+ \S)|whether(?: or not)? (?=(?:the|a"
    rf"|an|it|i|my|your) \S)",
    re.IGNORECASE,
)
# To check what may be of any one thing is a task, such as one for a program: "check if a number is prime".
_CHECKED = late(
    r"(?:(?:can|could|would|will) \S+ (?:please |kindly )?)?(?:please )?(?:check|confirm|find out|verify) ",
    re.IGNORECASE,
)
_ANY = late(r"(?:an?|any|each|every|one|some|both) |\d+ \w{3,}s |\S+s (?:are|have|were|match|exist)\b", re.IGNORECASE)
_BY_TIME = r"(?:year|years|day|days|date|month|months|century|centuries|decade|time|season|era|age|period|hour|week)"
# What only its name answers, "the largest planet", "the person who": of another thing that is asked for, what it is.
_TOLD = r"the (?:(?:\w{2,8}est|most|least|first|last)\b|[^,.?!;]*? (?:that|who|whose|whom|which|where|when)\b)[^,.?!;]*"
# Each pattern is another writing of the frame beside it.
_ALIKE: tuple[tuple[re.Pattern[str], str], ...] = (
    (late(
        rf"(?:in|on|at|during) (?:what|which) ({_BY_TIME}) (?=(?:did|was|were|is|does|do|will|are|has|have|can"
        rf"|should)\b)", re.I), r"what \1 "),
    (late(
        r"which (?!of\b|one\b|ones\b|is\b|are\b|was\b|were\b|do\b|does\b|did\b|to\b|and\b|or\b|has\b|have\b"
        r"|will\b|can\b|would\b|should\b)(?=[a-z])", re.I), "what "),
    (late(r"(what|which) (?:kinds?|types?|sorts?) of ", re.I), "what kind of "),
    (late(r"(?:how much time|what length of time) ", re.I), "how long "),
    (late(r"for how long ", re.I), "how long "),
    (late(r"how frequently ", re.I), "how often "),
    (late(r"how long (?:will|would|should) it take ", re.I), "how long does it take "),
    (late(r"what number of ", re.I), "how many "),
    (late(r"(?:what amount of|what quantity of) ", re.I), "how much "),
    (late(r"(when|where|how (?:often|much|long|many \w+)) to (?=[a-z])(?!be\b)", re.I), r"\1 do i "),
    (late(
        r"where (?:can|could|might|would) (?:i|one|we|you(?= find\b)) (?=(?:find|get|buy|download|watch|see|view|report"
        r"|check|apply|renew|stream|rent|order|recycle|donate|exchange|register|complain)\b)", re.I), "where do i "),
    (late(r"where do you (?=find\b)", re.I), "where do i "),
    (late(
        r"what ((?:[\w'-]+ ){1,3}?)(?:are|is) (?:needed|required|necessary) (?=for \S|to \w+ (?:an?|the|my|your|this"
        r"|another|\d+) \S)", re.I), r"what \1do i need "),
    (late(r"(how (?:many|much) [^,.?!;]{1,60}?) there (are|is|were|was)(?=$| )", re.I), r"\1 \2"),
    (late(r"(how (?:many|much) [^,.?!;]{1,60}? (?:are|is|were|was)) there(?: in total)?(?=$| )", re.I), r"\1"),
    (late(r"what (?:would|will) happen (?=(?:if|when)\b)", re.I), "what happens "),
    (late(r"why (?:is|was) it that ", re.I), "why "),
    (late(r"(what|who|where|when) (?:is|was) it (?:that|who) ", re.I), r"\1 "),
    (late(
        r"(to|for|from|with|by|of|about|on) whom ((?:is|are|was|were|do|does|did|can|could|should|would|will|has"
        r"|have)\b[^,.?!;]+)$", re.I), r"who \2 \1"),
    (late(r"whom (?=(?:do|does|did|can|should|would|will|is|are)\b)", re.I), "who "),
    (late(
        r"(?:what|which) person (?=\w+ed\b|wrote|won|was|is|made|built|led|has|had|said"
        r"|sang)", re.I), "who "),
    (late(
        r"what (?:(?:author|writer|novelist|playwright) (?=wrote\b)|(?:artist|painter) (?=painted\b)|composer "
        r"(?=composed\b|wrote\b)|(?:inventor|engineer) (?=invented\b)|(?:director|filmmaker) (?=directed\b)|(?:explorer"
        r"|astronomer|chemist|physicist) (?=discovered\b)|architect (?=designed\b)|sculptor (?=sculpted\b))", re.I),
            "who "),
    (late(
        r"name (the (?:\w{2,8}est|most \w+|least \w+) [^,.?!;]*)$", re.I), r"what is \1"),
    (late(
        r"(?:what is )?(?:the )?(?:total )?number of ((?:[\w'-]+ ){0,2}[\w'-]+s) (?=(?:in|on) (?:the|a|an)\b)", re.I),
            r"how many \1 are "),
    (late(r"which (is|are|was|were) (?=(?:the|an?|your|my|some)\b)", re.I), r"what \1 "),
    (late(r"when is the (best|right|ideal|worst|cheapest|busiest) time (?=(?:to|for|of)\b)", re.I),
        r"what is the \1 time "),
    (late(r"what is an? (?:good )?recipe for ([^,.?!;]+)$", re.I), r"give a recipe for \1"),
    (late(
        r"what do (?:you|we|people|they) call (?!(?:you|me|my|him|her|them)\w*\b)([^,.?!;]+)$", re.I),
            r"what is \1 called"),
    (late(rf"what is the name (?:of|for) ({_TOLD})$", re.I), r"what is \1"),
    (late(rf"what is ({_TOLD}) (?:called|named)$", re.I), r"what is \1"),
    (late(r"what is the (?:name (?:of|for)|(?:term|word) for) ([^,.?!;]+)$", re.I), r"what is \1 called"),
    (late(
        r"(?:the )?((?:\w{2,8}est|most \w+|least \w+|best|worst|first|last) (?!way\b|of\b)(?:(?!is\b|are\b|was\b"
        r"|do\b|does\b|did\b)[\w'-]+ ){1,4}(?:in|on|ever|of) [^,.?!;]+)$", re.I), r"what is the \1"),
    (late(r"(?:can|could) (?:i|one|we) ([^,.?!;]+),? and (?:if so,? )?how\??$", re.I), r"how do i \1"),
    (late(
        r"is there (?:a|any) way to ([^,.?!;]+),? and (?:if so,? )?(?:how|what is it)\??$", re.I), r"how do i \1"),
    (late(
        r"(where (?:is|are) [^,.?!;]{1,60}?) (?:located|situated|found|to be found"
        r"|(?<!book )(?<!film )(?<!movie )(?<!story )"
        r"(?<!show )(?<!series )(?<!novel )(?<!game )based(?! on))(?=$| (?:in|on)\b)", re.I),
            r"\1"),
    *FRAMES_OF_LEAVE,
)  # fmt: skip
# The first words of what they match, but for superlatives.
_ALIKE_HEADS = vocabulary("""
    in on at during which what how for why who where when to from with by of about whom name the total number is can
    could am would are any do must most least best worst first last
    """)
_STRANDED = late(
    r"(in|on|at|to|from|for|with|of|by|under|through|into) (?:what|which) ([^,.?!;]{1,40}?) ((?:is|are|was"
    r"|were|do|does|did|can|could"
    r"|should|would|will|has|have)\b[^,.?!;]+)$",
    re.IGNORECASE,
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)"
# Behind the whole subject and nothing else: "is it ok to not eat" is not "is it not ok to eat". A yes to "should I not
# go" is a no to "shouldn't I go", so that only what is no question of yes or no counts, and what can be no more. What
# all do not do is not what not all do.
_NEGATED = late(
    rf"((?:why|where|when|how|what|who|which)(?: (?!not\b)\w+){{0,3}}? |(?=(?:could|would|should)\b.* not have ))"
    rf"({_AUXILIARY}) "
    r"((?:(?:i|you|he|she|it|we|they|there|this|that|these|those)|(?:the|an?|my|your|his|her|its|our|their|this|that"
    r"|these|those|some|any|most) (?!one\b)[\w'-]+|(?!(?:not|only|to|all|both|each|every\w*)\b)\w+(?<!ing)) )not"
    r" (?!only\b|just\b|even\b|to\b)(?=\S)",
    re.IGNORECASE,
)


def framed(text: str, first: str) -> str:
    """The text in the frame of its family; `first` is its first word in lower case."""
    if (plain := converted(text)) != text:
        return plain
    if (
        first not in _HEADS
        and " of " not in text[:40]
        and "'s " not in text
        and "difference" not in text[:24]
        and not text.endswith((" for what", " full form", " by who", " by who?", " by whom"))
    ):
        return text
    if (match := _DOING.match(text)) and (base := base_of(match[1].lower())) and not is_told_of(match):
        return f"how do i {base}{text[match.end() :]}"
    if (match := _HOW_TO.match(text)) and is_asked_for(match):
        return "how do i " + asked_once(text[match.end() :])
    if (way := way_of_anybody(text)) is not None or (way := way_to_do(text, first)) is not None:
        return way
    end = text.find("\n")
    line, rest = (text, "") if end < 0 else (text[:end], text[end:])
    if len(line) > 240:
        return text
    return directed(_asked(related(commanded(_named(_wanted(line)))))) + rest


def _named(text: str) -> str:
    """The text with a meaning, a reason, a time or a place in the frame that asks for it."""
    if match := _REASON.match(text):
        return "why " + text[match.end() :]
    if match := _STANDS.fullmatch(text):
        return f"what does {next(filter(None, match.groups()))} stand for"
    if match := _MEANING.match(text):
        word = next(group for group in match.groups() if group)
        if match[4] or text.lower().endswith((" meaning", " definition")):
            word = word.removesuffix("'s")
        return f"what does {word} mean"
    first = folded(text[:24]).split(" ", 1)[0]
    if first in _ALIKE_HEADS or first.endswith("est"):
        for pattern, plain in _ALIKE:
            if match := pattern.match(text):
                text = match.expand(plain) + text[match.end() :]
    if match := _STRANDED.match(text):
        text = f"what {match[2]} {match[3]} {match[1]}"
    return text


def _wanted(text: str) -> str:
    """The question in what says first what is wanted and then asks for it: "I want to X, how do I do that"."""
    if (way := way_wanted(text)) is not None:
        return way
    if match := _WHETHER.match(text):
        clause = text[match.end() :]
        if _CHECKED.match(text) and (_ANY.match(clause) or names_program(clause)):
            return text
        return asked_whether(clause) or text
    return text


def _asked(text: str) -> str:
    if match := _STRAIGHT.match(text):
        return text[match.end() :]
    if (match := _TELL_WH.match(text)) and not text.lower().startswith(("describe ", "help ", "teach ")):
        return text[match.end() :]
    if " not " in text and (match := _NEGATED.match(text)):
        return f"{match[1]}{match[2]} not {match[3]}{text[match.end() :]}"
    if match := _TIME.match(text):
        return "what time is it" + (match[1] or "")
    if match := _INVERTED.match(text):
        asked, nouns, be = match.groups()
        # "what colour the sky is" asks for a colour.
        if asked.lower() == "what" and (_KINDS.match(nouns) or _INNER.search(nouns)):
            return text
        return f"{asked} {be} {nouns}"
    if match := _INVERTED_IT.match(text):
        return f"{match[1]} {match[3]} {match[2]}"
    if match := _MEASURED_NOUN.match(text):
        return f"how {match[1]} {match[3]} {match[2]}"
    if match := _WORKS.match(text):
        verb = "does" if match[2] == "works" else "do"
        if match[2] == "works" or not _DETERMINED.match(match[1]) or match[1].endswith("s"):
            return f"how {verb} {match[1]} work{match[3] or ''}"
    return text
