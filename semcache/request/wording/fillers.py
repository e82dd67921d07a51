"""Fillers: greetings, hesitation, thanks, and the politeness that a question is wrapped in.

Invariant: what is dropped asks for nothing and says nothing: no "not", no quantity, no "if" and no verb but of asking.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary

_ASKING = (
    r"(?:what|who|whom|whose|where|when|why|how|which|can|could|would|should|is|are|do|does|did|was|were|will|has|have"
    r"|please|i|tell|explain|give|show|write|list|describe|translate|summarize)\b"
)
_VERB = (
    r"(?:explain|give|list|show|write|translate|summarize|describe|tell|suggest|recommend|provide|compare|define|find"
    r"|create|generate|teach|name|calculate|convert|outline|clarify|help|solve|fix|rewrite|draft|check|count|identify"
    r"|walk|spell|say|let|inform|remind|pick|choose|rank|paraphrase|proofread|correct|analyze|evaluate|sketch|illustrate|tabulate"
    r"|estimate|compute|prove|derive|simplify|design|propose|discuss|mention)\b"
)
_NEXT = r"(?:what|who|where|when|why|how|which)\b"
_PEOPLE = (
    r"(?:there|team|all|everyone|everybody|folks|guys|friend|friends|assistant|again|sir|madam|chatgpt|gpt|claude|gemini|ai"
    r"|bot|chatbot|dear|mate|buddy|copilot|siri|alexa|google|or|support|customer|service|staff|colleagues|community|experts?"
    r"|desk|help|helpdesk|people|y'all|man|bro|dude|pal|ladies|and|gentlemen|my|(?:mr|mrs|ms|dr|prof)\.?[ ][a-z]+)"
)
_HELLO = r"(?:hi|hello|hey|hiya|heya|howdy|greetings|good[ ](?:morning|afternoon|evening|day)|dear|yo|hey[ ]hey|hallo)"
_CAN = r"(?:can|could|would|will|might)"
_ANYONE = r"(?:you|anyone|anybody|someone|somebody)"
_SOFT = r"(?:(?:please|kindly|possibly|perhaps|maybe|quickly|briefly|just)[ ])*"
_TELLING = (
    r"(?:tell[ ](?:me|us)|let[ ]me[ ]know|inform[ ]me|explain(?:[ ]to[ ]me)?|help[ ]me[ ](?:to[ ])?(?:understand"
    r"|find[ ]out"
    r"|figure[ ]out)|remind[ ]me|clarify|enlighten[ ]me(?:[ ](?:on|about|as[ ]to))?|say"
    r"|advise(?:[ ]me)?(?:[ ]on)?|share"
    r"|show[ ]me)[ ](?:please[ ])?"
)
_TELLINGS = (
    r"(?:telling[ ](?:me|us)|letting[ ]me[ ]know|explaining(?:[ ]to[ ]me)?|reminding[ ]me|clarifying|sharing"
    r"|informing[ ]me"
    r"|showing[ ]me|saying)[ ]"
)
_KNOW = r"(?:know|find[ ]out|ask(?:[ ]you)?|learn|understand|figure[ ]out|hear|be[ ]told)"
_DISCOURSE = (
    r"(?:so|well|ok|okay|okey|right|alright|all[ ]right|anyway|anyways|now|now[ ]then|right[ ]then|look|listen|honestly"
    r"|basically|actually|essentially|frankly|seriously|yeah|yep|i[ ]mean|you[ ]know(?:[ ]what)?|like|see|say|hmm"
    r"|cool|great"
    r"|so[ ]yeah|okay[ ]so|ok[ ]so|so[ ]basically|just[ ]out[ ]of[ ]curiosity|out[ ]of[ ](?:pure[ ])?(?:curiosity"
    r"|interest)"
    r"|to[ ]be[ ]honest|for[ ]real|as[ ]it[ ]happens|first[ ]things[ ]first|tell[ ]me(?:[ ]something)?|hang[ ]on"
    r"|hold[ ]on"
    r"|one[ ](?:more[ ])?(?:thing|question)|wait|come[ ]to[ ]think[ ]of[ ]it|curious|just[ ]curious"
    r"|serious[ ]question|mate)"
)
_LEADING = re.compile(
    rf"""
    (?:
        {_HELLO}(?:[ ]{_PEOPLE})+(?:(?:[,.!:;]+|[ ][\u2013-])\s+|\n|\s+(?={_ASKING}))
      | {_HELLO}(?:[,.!:;]+|[ ][\u2013-])\s+(?!world|vietnam|dolly|kitty|goodbye|brooklyn|darkness)
      | {_HELLO}\n
      | {_HELLO}[ ](?={_ASKING})
      | (?:hi|hello|hey|good[ ](?:morning|afternoon|evening)|dear)[ ](?!world|kitty|jude|delilah|ya|brother)
          [a-z]+(?:,[ ]?|!\s*|\n)(?={_ASKING})
      | to[ ]whom[ ]it[ ]may[ ]concern[,:.]?\s+
      | (?:i[ ])?(?:hope|trust)[ ](?:you(?:'re|[ ]are|[ ]have|[ ]had)|all[ ]is|this|everything
          |your[ ])[^,.!?;\n]{{0,40}}[.,!;]+\s+
      | (?:how[ ]are[ ]you(?:[ ](?:doing|today))?|how[ ]is[ ]it[ ]going|nice[ ]to[ ]meet[ ]you)[?!.,]+\s+(?=\S+[ ]\S)
      | (?:many[ ])?thank(?:s|[ ]you)(?:[ ](?:in[ ]advance|for[ ](?:your|the)[ ](?:help|time)))?[.,!:][ ](?={_ASKING})
      | (?:u+h+|u+m+|e+r+m*|h+m+|ah+|oh)\b(?!-)(?:[,.!\u2013 ]|\.\.\.)+
      | {_DISCOURSE}(?:[ ]?(?:,|\.\.\.|[ ]\u2013|:)[ ]?)(?={_ASKING}|{_DISCOURSE}\b|u+m+|u+h+|hello|hi\b|if[ ]|in[ ]
          |on[ ]|for[ ]|with[ ]|it[ ]would
          |any[ ]|may[ ]|might[ ])
      | (?:so|well|ok|okay|right|alright|all[ ]right|anyway|now|basically|actually|honestly|seriously)
          (?:[ ]?(?:,|\.\.\.)[ ]?|[ ](?={_NEXT}|so\b|basically\b|well\b|then,|yeah\b))
      | (?:so|ok|okay)[ ](?=(?:can|could|would|do|does|is|are|i)\b)
      | (?:a[ ])?(?:quick|simple|silly|dumb|stupid|random|general|small)?[ ]?question(?:[ ]?:|,|[ ][\u2013-])[ ]
      | just[ ](?:wondering|curious)[ ]?[,:\u2013-]?[ ](?={_NEXT})
      | (?:by[ ]the[ ]way|btw)(?:,[ ]?|[ ](?={_NEXT}))
      | (?:sorry|excuse[ ]me|pardon[ ]me|apologies)(?:[ ](?:to[ ]bother[ ]you|for[ ](?:asking
          |the[ ]bother)))?,[ ](?:but[ ])?
      | (?:please|kindly)(?:,[ ]?|[ ](?!please\b|me\b|him\b|her\b|them\b))
      | (?:if[ ](?:at[ ]all[ ])?possible|if[ ]you[ ](?:can|could|would|do[ ]not[ ]mind|please|have[ ]a[ ](?:moment
          |minute)|know)
          |if[ ]it[ ]is[ ]not[ ]too[ ]much[ ]trouble|when[ ]you[ ](?:can|get[ ]a[ ]chance|have[ ]a[ ](?:moment|minute
              |second)))
          ,[ ](?:please[ ])?(?={_ASKING}|{_VERB})
      | i(?:[ ](?:am|was)|\'m)[ ](?:just[ ])?(?:wondering|curious)(?:[ ](?:about
          |to[ ]know))?[ ,]+(?:if[ ]{_ANYONE}[ ]{_CAN}[ ]
          {_SOFT}(?:{_TELLING}(?={_NEXT})|(?={_VERB}))|(?={_NEXT}|(?:do|does|is|are|can)\b))
      | i(?:[ ](?:am|was)|\'m)[ ](?:just[ ])?(?:hoping|wanting|looking|trying|keen|interested
          |eager)[ ]to[ ]{_KNOW}[ ](?={_NEXT})
      | i(?:[ ](?:am|was)|\'m)[ ](?:just[ ])?hoping[ ](?:that[ ])?{_ANYONE}[ ]{_CAN}[ ]{_SOFT}
          (?:{_TELLING}(?={_NEXT})|(?={_VERB}))
      | i(?:[ ]would|\'d)[ ](?:really[ ]|also[ ])?(?:like|love)[ ](?:you[ ])?to[ ](?:{_KNOW}[ ]|{_TELLING})(?={_NEXT})
      | i(?:[ ]would|\'d)[ ](?:really[ ])?(?:like|love)[ ]you[ ]to[ ](?={_VERB})
      | i(?:[ ]would|\'d)[ ](?:be[ ](?:very[ ])?(?:grateful|happy|glad)|appreciate[ ]it)[ ]if[ ]you[ ]{_CAN}[ ]{_SOFT}
          (?:{_TELLING}(?={_NEXT})|(?={_VERB}))
      | i[ ](?:just[ ]|really[ ]|also[ ])?(?:want|need|wanted|wish|hope|have)[ ](?:you[ ])?to[ ](?:{_KNOW}[ ]
          |{_TELLING})(?={_NEXT})
      | i[ ](?:just[ ]|often[ ])?wonder(?:ed)?[ ,]+(?={_NEXT})
      | i[ ](?:want|need)[ ]you[ ]to[ ](?={_VERB})
      | i[ ]have[ ]a[ ](?:quick[ ]|simple[ ])?question(?:[ ]?:|,|\.|[ ][\u2013-])[ ]
      | it[ ]would[ ]be[ ](?:really[ ]|very[ ])?(?:great|nice|good|lovely|helpful|wonderful|awesome|amazing|kind
          |useful)[ ]if[ ]
          {_ANYONE}[ ]{_CAN}[ ]{_SOFT}(?:{_TELLING}(?={_NEXT})|(?={_VERB}))
      | (?:please[ ])?{_CAN}[ ]{_ANYONE}[ ]{_SOFT}
          (?:be[ ](?:so[ ]kind[ ]as|kind[ ]enough|able)[ ]to[ ]{_SOFT})?(?:{_TELLING}(?={_NEXT})|(?={_VERB}))
      | {_CAN}[ ]you[ ](?:please|kindly|possibly)[ ](?=[a-z])
      | please[ ]can[ ]you[ ](?=[a-z])
      | (?:would|do)[ ]you[ ]mind[ ]{_TELLINGS}(?={_NEXT})
      | (?:can|could|may|might)[ ]i[ ](?:please[ ]|just[ ]|quickly[ ])*(?:ask(?:[ ]you)?|know|inquire)[ ,]+(?={_NEXT})
      | (?:do[ ]you|does[ ]any(?:one|body)(?:[ ]here)?)[ ](?:happen[ ]to[ ])?know[ ](?={_NEXT})
      | (?:do[ ]you[ ]|have[ ]you[ ]|does[ ]any(?:one|body)[ ])?(?:have[ ]|got[ ])?any[ ](?:idea|ideas
          |clue)s?[ ,]+(?={_NEXT})
      | any[ ]chance[ ]you[ ](?:know|{_CAN}[ ]{_SOFT}tell[ ]me)[ ](?={_NEXT})
      | (?:tell[ ]me|let[ ]me[ ]know|explain(?:[ ]to[ ]me)?)[ ]please[ ](?={_NEXT})
      | (?:let[ ]me[ ]know|do[ ]tell[ ]me|someone[ ]tell[ ]me|please[ ]tell[ ]me)[ ](?={_NEXT})
      | tell[ ]me[ ]?[:,][ ]?(?={_NEXT})
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_THANKS = (
    r"(?:(?:many |much )?thanks(?: (?:a lot|a million|so much|very much|again|you))*|thank you(?: (?:so|very) much)?"
    r"|cheers|tia|thx|ty)(?: (?:in advance|for (?:your|the|any) help|for helping|everyone|all|guys|team))*"
    r"|(?:any|all) help (?:is |would be |will be )?(?:much |greatly |really )?appreciated"
    r"|(?:much|greatly) appreciated|please help(?: me)?|help (?:me )?please|(?:kind|best) regards"
    r"|i (?:would )?appreciate (?:it|your help|any help)|thank you for your (?:time|help)|have a (?:great|nice"
    r"|good|lovely) "
    r"(?:day|one|evening|weekend)|looking forward to (?:your|hearing)[^.!?]{0,30}|(?:kind |best |warm )?regards"
    r"|best wishes"
    r"|yours (?:sincerely|faithfully)|(?:very )?much obliged|ta|bye|god bless|you are the best|appreciate it"
)
_TRAILING = re.compile(
    rf"(?:[ ]?[,.?!;\u2013-]+\s*|\n)(?:{_THANKS}|please|pls)(?:[ ,.!]+(?:{_THANKS}))?[ .!:)]*$"
    r"|\s+thanks in advance[ .!]*$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[ ]?,[ ]|[ ]\u2013[ ])(?:anyway|anyways|you know|by the way|exactly|actually|though|mate|man|bro|dude"
    r"|buddy|anyone"
    r"|if you do not mind|if you know|if i may ask|if possible|or something|any ideas?|do you know|right now"
    r" please|then)$"
    r"|(?<=\w) (?:anyway|anyways)$",
    re.IGNORECASE,
)
_TAILS = vocabulary(
    """
    anyway anyways know way exactly actually though mate man bro dude buddy anyone mind ask possible something
    idea ideas then
    """
)
_EMPHASIS = re.compile(
    r"^(what|who|where|when|why|how|which) (?:on earth|in the world|the heck|the hell|exactly|precisely|actually"
    r"|in god's name) "
    r"(?=(?:is|are|was|were|do|does|did|can|could|would|should|has|have|will|i|you|it|the|a|an|my)\b)",
    re.IGNORECASE,
)
_BASE = re.compile(
    r"^((?:how|why|when|where|what) (?:do|can|could|does|did|should|would) (?:[^\s,.?!;]+ ){1,4}?)(?:actually"
    r"|basically|sort of|kind of) "
    r"(?!mean|say|called|the\b|a\b|an\b|in\b|not\b)(?=[a-z])",
    re.IGNORECASE,
)
_JUST = re.compile(r"^(how (?:do|can|could|would) (?:i|you|we|one)) (?:just|simply) (?=[a-z])", re.IGNORECASE)
_GERUND = re.compile(
    r"^(?:would|do) you mind (explain|list|show|translat|summariz|describ|tell|suggest|recommend|provid|compar"
    r"|defin|calculat"
    r"|convert|outlin|clarify|solv|fix|draft|check|giv|writ|rewrit|creat|generat|nam|help)ing (?=\w)",
    re.IGNORECASE,
)
_DROPPED_E = (
    "translat",
    "summariz",
    "describ",
    "provid",
    "compar",
    "defin",
    "calculat",
    "outlin",
    "solv",
    "giv",
    "writ",
    "rewrit",
    "creat",
    "generat",
    "nam",
)
_QUESTIONS = vocabulary("what who where when why how which")
_MEANT = frozenset(("actually", "basically", "sort", "kind"))
_BARE = re.compile(r"(?<=[\w)]) (?:thanks|thx)$", re.IGNORECASE)
_PLEASE = re.compile(r"(?<=[\w)]) (?:please|pls|plz)$", re.IGNORECASE)
_MIDDLE = re.compile(r"(?:(?<=\w),? |(?<=[.?!] ))(?:u+h+|u+m+|erm+|h+m+)(?:,|\.\.\.)?(?= )")
_ASKED = re.compile(r"\b(can|could|would|will) you please ")
_SAID = re.compile(
    r"\b(?:say|saying|says|said|write|writing|words?|phrase|means?|mean|reply|respond|response|express|translate|spell"
    r"|giv(?:e|ing)|many|special|than|no|of|and|or|to|for|thanks.*thanks)\b",
    re.IGNORECASE,
)
_PLEASES = vocabulary("to can that not will you they we i must should would could cannot who people")
_CUES = vocabulary("""
    hi hello hey hiya heya howdy greetings good dear so well ok okay right alright all anyway now quick question just by
    btw sorry excuse pardon please kindly i i'm i'd can could would will do tell let someone explain simple silly dumb
    stupid random general small a
    yo hallo to hope trust how many thank thanks u honestly basically actually essentially frankly seriously yeah yep
    look
    listen you like see say hmm cool great out for as first hang hold one wait come curious serious mate may might if
    when
    it any do does have got anyone someone somebody apologies nice
    """)
_LETTERS = re.compile(r"[a-z]+")
_HESITATION = frozenset(["um", "umm", "ummm", "uh", "uhh", "uhm", "erm", "ermm", "hm", "hmm", "hmmm", "please"])
_ENDS = vocabulary(
    """
    thanks thx thank tia cheers appreciated day one evening weekend wishes sincerely faithfully obliged ta bye
    bless best please pls plz help advance regards appreciate ty
    """
)


def unwrapped(text: str, words: list[str], bag: frozenset[str]) -> str:
    """The text without fillers at its beginning and end; `words` are its words in lower case."""
    while words and (words[0] in _CUES or words[0].startswith(("um", "uu", "uh", "er", "hm", "ah", "oh"))):
        match = _LEADING.match(text)
        if match is None or match.end() == len(text):
            break
        text = text[match.end() :].lstrip(" ,\n")
        words = text[:40].lower().replace(",", " ").split()
    if "mind" in bag and (match := _GERUND.match(text)):
        stem = match[1].lower()
        text = f"{stem}{'e' if stem in _DROPPED_E else ''} {text[match.end() :]}"
    if not bag.isdisjoint(_ENDS) and not _ENDS.isdisjoint(_LETTERS.findall(text[-80:].lower())):
        text = _without_thanks(text)
    if not bag.isdisjoint(_TAILS) and not _TAILS.isdisjoint(_LETTERS.findall(text[-12:].lower())):
        text = _without_tail(text)
    if words and words[0] in _QUESTIONS:
        text = _EMPHASIS.sub(r"\1 ", text)
        if not bag.isdisjoint(_MEANT):
            text = _BASE.sub(r"\1", text)
        if "just" in bag or "simply" in bag:
            text = _JUST.sub(r"\1 ", text)
    if "you please " in text:
        text = _ASKED.sub(r"\1 you ", text)
    if not bag.isdisjoint(_HESITATION):
        text = _MIDDLE.sub("", text)
    return text


def _without_tail(text: str) -> str:
    match = _TAIL.search(text)
    return text[: match.start()] if match and match.start() else text


def _without_thanks(text: str) -> str:
    tail = text[-120:]
    head = text[: len(text) - len(tail)]
    if (match := _TRAILING.search(tail)) and (head or match.start()):
        return (head + tail[: match.start()]).rstrip(" ,")
    if (match := _PLEASE.search(tail)) and tail[: match.start()].rsplit(" ", 1)[-1].lower() not in _PLEASES:
        return head + tail[: match.start()]
    if (match := _BARE.search(tail)) and not _SAID.search(tail[: match.start()]):
        return head + tail[: match.start()]
    return text
