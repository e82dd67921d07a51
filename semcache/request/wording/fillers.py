"""Fillers: greetings, hesitation, thanks, and the politeness that a question is wrapped in.

Invariant: what is dropped asks for nothing and says nothing: no "not", no quantity, no "if" and no verb but of asking.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.chatter import EXCUSES, enough, is_about, without_chatter
from semcache.request.wording.cues import begun, opening_words
from semcache.request.wording.endings import without_ending
from semcache.request.wording.request_verbs import FOR_WORDS, SKILL, VERB, WORDS_OF_ANYBODY, WORDS_OF_YOURS
from semcache.request.wording.verbs import is_base

_ASKING = (
    r"(?:what|who|whom|whose|where|when|why|how|which|can|could|would|should|is|are|do|does|did|was|were|will|has|have"
    r"|may|might|please|i|tell|explain|give|show|write|list|describe|translate|summarize)\b"
)
_NEXT = r"(?:what|who|whom|whose|where|when|why|how|which)\b"
_PEOPLE = (
    r"(?:there|team|all|everyone|everybody|folks|guys|friend|friends|assistant|again|sir|madam|chatgpt|gpt"
    r"|claude|gemini|ai"
    r"|bot|chatbot|dear|mate|buddy|copilot|siri|alexa|google|or|support|customer|service|staff|colleagues"
    r"|community|experts?"
    r"|desk|help|helpdesk|people|y'all|man|bro|dude|pal|ladies|and|gentlemen|my|(?:mr|mrs|ms|dr|prof)\.?[ ][a-z]+)"
)
_HELLO = r"(?:hi|hello|hey|hiya|heya|howdy|greetings|good[ ](?:morning|afternoon|evening|day)|dear|yo|hey[ ]hey|hallo)"
_CAN = r"(?:can|could|would|will|might)"
_ANYONE = (
    r"(?:(?:you|anyone|anybody|someone|somebody|somebody|any[ ]of[ ]you|one[ ]of[ ]you)(?:[ ](?:guys|all|here"
    r"|out[ ]there))?)"
)
_HOW_MUCH = (
    r"(?:(?:very|so|really|most|extremely|truly|super|quite|just|also|always|often|rather|a[ ]bit|genuinely)[ ])*"
)
_SOFT = (
    r"(?:(?:please|kindly|possibly|perhaps|maybe|quickly|briefly|just|also|again|real[ ]quick|at[ ]all|by[ "
    r"]any[ ]chance"
    r"|if[ ]possible|somehow|actually)[ ])*"
)
_TELLING = (
    r"(?:tell[ ](?:me|us)|let[ ](?:me|us)[ ]know|inform[ ](?:me|us)(?:[ ](?:about|of|on|as[ ]to))?"
    r"|explain(?:[ ]to[ ](?:me|us))?"
    r"|help[ ](?:me|us)[ ](?:to[ ])?(?:understand|find[ ]out|figure[ ]out|learn|work[ ]out|know|see|remember)"
    r"|help[ ](?:me|us)[ ](?:in[ ]|with[ ])?(?:understanding|finding[ ]out|figuring[ ]out|working[ ]out|knowing)"
    r"|remind[ ](?:me|us)(?:[ ](?:of|about))?|clarify(?:[ ](?:for|to)[ ](?:me|us))?|enlighten[ ](?:me"
    r"|us)(?:[ ](?:on|about"
    r"|as[ ]to))?|say|advise(?:[ ](?:me|us))?(?:[ ](?:on|about|as[ ]to))?|share|show[ ](?:me|us)|fill[ ]me[ ]in[ ]on"
    r"|walk[ ](?:me|us)[ ]through|teach[ ](?:me|us)|point[ ]out|shed[ ](?:some[ ])?light[ ]on|educate[ ]me[ "
    r"]on|describe"
    r"|confirm|take[ ]me[ ]through|talk[ ]me[ ]through|guide[ ]me[ ](?:on|through|as[ ]to)|answer|specify"
    r"|provide[ ]details[ ]on"
    r"|give[ ](?:me|us)[ ](?:an[ ](?:idea|explanation|overview)[ ](?:of|on|about|as[ ]to)|a[ ]hand[ ](?:with"
    r"|understanding)))"
    r"[ ,]+(?:please[ ])?"
)
_TELLINGS = (
    r"(?:telling[ ](?:me|us)|letting[ ](?:me|us)[ ]know|explaining(?:[ ]to[ ](?:me|us))?|reminding[ ](?:me"
    r"|us)|clarifying"
    r"|sharing|informing[ ](?:me|us)(?:[ ]about)?|showing[ ](?:me|us)|saying|helping[ ](?:me|us)[ ](?:to[ "
    r"])?(?:understand"
    r"|figure[ ]out|find[ ]out)|walking[ ](?:me|us)[ ]through|describing|teaching[ ](?:me|us)|advising[ "
    r"]me(?:[ ]on)?)[ ]"
)
_KNOW = (
    r"(?:know|find[ ]out|ask(?:[ ]you)?(?:[ ]about)?|learn(?:[ ]about)?|understand|figure[ ]out|hear(?:[ "
    r"]about)?|be[ ]told"
    r"|work[ ]out|see|get[ ](?:to[ ]know|an[ ]idea[ ]of|clear[ ]on)|determine|inquire|enquire|check|clarify|discover)"
)
_KNOWING = (
    r"(?:knowing|finding[ ]out|learning(?:[ ]about)?|understanding|hearing(?:[ ]about)?|figuring[ ]out|working[ "
    r"]out|seeing)"
)
_DISCOURSE = (
    r"(?:so|well|ok|okay|okey|right|alright|all[ ]right|anyway|anyways|now|now[ ]then|right[ ]then|look|listen|honestly"
    r"|basically|actually|essentially|frankly|seriously|yeah|yep|i[ ]mean|you[ ]know(?:[ ]what)?|like|see|say|hmm"
    r"|cool|great|random|also|oh|ah|just"
    r"|so[ ]yeah|okay[ ]so|ok[ ]so|so[ ]basically|just[ ]out[ ]of[ ]curiosity|out[ ]of[ ](?:pure[ ])?(?:curiosity"
    r"|interest)"
    r"|to[ ]be[ ]honest|i[ ]was[ ](?:just[ ])?thinking|i[ ]have[ ]been[ ]thinking|for[ ]real|as[ ]it[ "
    r"]happens|first[ ]things[ ]first|tell[ ]me(?:[ ]something)?|hang[ ]on"
    r"|hold[ ]on"
    r"|one[ ](?:more[ ])?(?:thing|question)|wait|come[ ]to[ ]think[ ]of[ ]it|curious|just[ ]curious"
    r"|serious[ ]question|mate)"
)
_IF_YOU = (
    rf"(?:if|whether)[ ]{_ANYONE}[ ](?:{_CAN}[ ]|would[ ]be[ ]able[ ]to[ ]|are[ ]able[ ]to[ ]|happen(?:ed)?[ ]to[ ]"
    rf"|knew[ ]|know[ ]|have[ ]any[ ]idea[ ]){_SOFT}(?:{_TELLING}(?={_NEXT})|know[ ](?={_NEXT})|(?={_NEXT})"
    rf"|(?={FOR_WORDS}))"
)
_GLAD = (
    r"(?:grateful|happy|glad|thankful|delighted|appreciative|obliged|over[ ]the[ ]moon|curious|interested|keen|pleased)"
)
_NICE = (
    r"(?:great|nice|good|lovely|helpful|wonderful|awesome|amazing|kind|useful|fantastic|brilliant|super|cool|perfect"
    r"|appreciated|ideal|of[ ](?:great|much)[ ]help|a[ ](?:great|big|huge)[ ]help)"
)
_UNSURE = (
    r"(?:(?:do|can|could)[ ]not[ ](?:really[ ]|quite[ ]|seem[ ]to[ ])?(?:know|understand|figure[ ]out"
    r"|remember|recall|see|get"
    r"|work[ ]out|find[ ]out|tell)|am[ ](?:not[ ](?:really[ ]|quite[ ]|entirely[ ])?(?:sure|certain|clear)"
    r"|unsure|confused"
    r"|unclear|puzzled)(?:[ ](?:about|as[ ]to|on|of))?|have[ ](?:absolutely[ ]|really[ ])?no[ ](?:idea|clue)"
    r"|forgot|forget"
    r"|have[ ]forgotten|keep[ ]forgetting|always[ ]forget|never[ ](?:know|understood|remember)|am[ ]struggling[ ]to"
    r"[ ](?:understand|figure[ ]out|work[ ]out|see))"
)
_SKILL = SKILL.replace(" ", "[ ]")
_LEADING = re.compile(
    rf"""
    (?:
        {_HELLO}(?:[ ]{_PEOPLE})+(?:(?:[,.!:;]+|[ ][\u2013-])\s+|\n|\s+(?={_ASKING}))
      | {_HELLO}(?:[,.!:;]+|[ ][\u2013-])\s+(?!world|vietnam|dolly|kitty|goodbye|brooklyn|darkness)
      | {_HELLO}\n
      | {_HELLO}[ ](?={_ASKING}|{VERB})(?!(?:is|was)[ ]
          (?!it\b|there\b|this\b|that\b|my\b|your\b|anyone\b|any\b|the[ ]\w+[ ]\w))
      | (?:hi|hello|hey|good[ ](?:morning|afternoon|evening)|dear)[ ](?!world|kitty|jude|delilah|ya|brother)
          [a-z]+(?:,[ ]?|!\s*|\n|[ ]\u2013[ ])(?={_ASKING}|{VERB})
      | to[ ]whom[ ]it[ ]may[ ]concern[,:.]?\s+
      | (?:u+h+|u+m+|e+r+m+|h+m+|ah+|oh|er(?=[,.!\u2013]|[ ]{_NEXT}))\b(?!-)(?:[,.!\u2013 ]|\.\.\.)+
      | {_DISCOURSE}(?:[ ]?(?:,|\.\.\.|[ ]\u2013|:)[ ]?)(?={_ASKING}|{VERB}|{_DISCOURSE}\b|u+m+|u+h+|hello|hi\b
          |if[ ]|in[ ]|on[ ]|for[ ]|with[ ]|it[ ]would
          |any[ ]|may[ ]|might[ ])
      | (?:so|well|ok|okay|right|alright|all[ ]right|anyway|now|basically|actually|honestly|seriously)
          (?:[ ]?(?:,|\.\.\.)[ ]?|[ ](?!what[ ]if\b)(?={_NEXT}|so\b|basically\b|well\b|then,|yeah\b|um+\b|uh+\b|like\b))
      | (?:(?:ok|okay|well|yeah|and|alright|yes|yep|right|oh)[ ])?so[ ](?=(?:my|i|we|the|there|it|this|our|in|on
        |for|with|if|when|at|using)\b)
      | (?:ok|okay|well|yeah|and|alright|yes|yep|right|oh)[ ]so[ ](?={_NEXT}|{_ASKING}|{VERB})
      | (?:literally|seriously|honestly|basically|frankly|essentially)[ ](?={_NEXT}|{_ASKING})
      | then[ ,]+(?={_NEXT})
      | (?:l+o+l+|lmao|ha(?:ha)+)[ ](?={_ASKING})
      | m{{2,}}\b[ ,]+
      | (?:please[ ])?be[ ]so[ ](?:kind|good)(?:[ ]and|[ ]as[ ]to|,)[ ]{_SOFT}(?={VERB}|{_TELLING})
      | (?:please[ ])?help[ ](?:me|us)(?:[ ]out)?[ ]and[ ]{_SOFT}(?={VERB}|{_TELLING})
      | (?:please[ ])?(?:advise|inform|guide|update)[ ](?:me|us)[ ](?:on[ ]|about[ ]|as[ ]to[ ])?(?={_NEXT})
      | (?:so|ok|okay)[ ](?=(?:can|could|would|do|does|is|are|i|did|was|were|should|tell|explain|give)\b)
      | (?:like|just|but|and|also)[ ](?={_NEXT})(?!like[ ]what\b)
      | (?:a[ ])?(?:quick|simple|silly|dumb|stupid|random|general|small|serious|genuine|honest)?[ ]?(?:question
        |q)(?:[ ]?:|,?[ ]but|[ ]here:|,|[ ][\u2013-])[ ]
      | (?:here[ ]is[ ](?:my|a)[ ]|my[ ]|the[ ])(?:quick[ ])?question(?:[ ]is)?(?:[ ]?[:,]
        |[ ][\u2013-])?[ ](?={_NEXT}|{_ASKING})
      | what[ ]i[ ](?:really[ ])?(?:want|need|would[ ]like|am[ ]trying)[ ]to[ ]{_KNOW}[ ]is[ ,:]+(?={_NEXT})
      | (?:just[ ])?(?:wondering|curious)(?:[ ](?:about|as[ ]to))?[ ]?[,:\u2013-]?[ ](?={_NEXT})
      | (?:just[ ])?(?:wondering|curious)[ ]{_IF_YOU}
      | (?:by[ ]the[ ]way|btw)(?:,[ ]?|[ ](?={_NEXT}))
      | (?:sorry|excuse[ ]me|pardon[ ]me|apologies)(?:[ ](?:to[ ]bother[ ]you|for[ ](?:asking
          |the[ ]bother)))?(?:,[ ](?:but[ ])?|[ ]but[ ])
      | (?:please|kindly)(?!,?[ ](?:in[ ]\w+$|meaning\b|(?:or|versus|vs)\b))(?:,[ ]?|[ ]
          (?!please\b|me\b|him\b|her\b|them\b))
      | (?:if[ ](?:at[ ]all[ ])?possible|if[ ]you[ ](?:can|could|would|do[ ]not[ ]mind|please|have[ ]a[ ](?:moment
          |minute)|know)
          |if[ ]it[ ]is[ ]not[ ]too[ ]much[ ]trouble|when[ ]you[ ](?:can|get[ ]a[ ]chance|have[ ]a[ ](?:moment|minute
              |second)))
          ,?[ ](?:please[ ])?(?={_ASKING}|{VERB})(?![^.?!\n]*[ ]would\b)
      | (?:i|we)(?:[ ](?:am|was|are|were|have[ ]been)|\'m)[ ]{_HOW_MUCH}(?:wondering|curious|pondering|puzzled|wanting)
          (?:[ ](?:about|to[ ]{_KNOW}|as[ ]to))?[ ,]+(?:{_IF_YOU}|(?={_NEXT}|(?:do|does|is|are|can)\b))
      | (?:i|we)(?:[ ](?:am|was|are|were|have[ ]been)|\'m)[ ]{_HOW_MUCH}(?:hoping|wanting|looking|trying|keen
        |interested|struggling
          |eager|curious|dying|itching)[ ](?:to[ ](?:{_KNOW}|get[ ]help[ ]{_KNOWING})|in[ ]{_KNOWING})[ ](?={_NEXT})
      | i(?:[ ](?:am|was)|\'m)[ ](?:just[ ])?hoping[ ](?:that[ ])?{_ANYONE}[ ]{_CAN}[ ]{_SOFT}
          (?:{_TELLING}(?={_NEXT})|(?={VERB}))
      | (?:i|we)(?:[ ]would|\'d)[ ]{_HOW_MUCH}(?:like|love|want|need|appreciate[ ]it[ ]if[ ]you[ ]would)[ ]
          (?:(?:for[ ])?you[ ])?to[ ](?:be[ ]able[ ]to[ ])?(?:{_KNOW}[ ]|{_TELLING})(?={_NEXT})
      | (?:i|we)(?:[ ]would|\'d)[ ]{_HOW_MUCH}(?:like|love)[ ](?:for[ ])?you[ ]to[ ]{_SOFT}(?={VERB})
      | (?:i|we)(?:[ ]would|\'d)?[ ]{_HOW_MUCH}(?:be[ ]{_HOW_MUCH}{_GLAD}|appreciate[ ]it(?:[ ](?:a[ ]lot
        |very[ ]much|so[ ]much))?
          |love[ ]it|like[ ]it)[ ]if[ ]{_ANYONE}[ ]{_CAN}[ ]{_SOFT}(?:{_TELLING}(?={_NEXT})|(?={VERB}))
      | (?:i|we)(?:[ ]would|\'d)[ ]be[ ]{_HOW_MUCH}{_GLAD}[ ](?:to[ ]{_KNOW}|in[ ]{_KNOWING})[ ](?={_NEXT})
      | (?:i|we)[ ]{_HOW_MUCH}(?:want|need|wanted|wish|hope|have|needed|would[ ]like)[ ](?:you[ ])?to[ ](?:{_KNOW}[ ]
          |{_TELLING})(?={_NEXT})
      | (?:i|we)[ ]{_HOW_MUCH}(?:want|need|wanted|would[ ]like)[ ]to[ ](?:know|ask(?:[ ]you)?
        |find[ ]out)[ ]?[:,\u2013][ ](?={_NEXT}|{_ASKING})
      | (?:please[ ])?help[ ](?:me|us)[ ](?:to[ ])?(?:understand|figure[ ]out|find[ ]out|learn|know|see
        |work[ ]out)[ ](?={_NEXT})
      | (?:i|we)[ ]{_HOW_MUCH}(?:need|want|could[ ]use|would[ ]like)[ ](?:some[ ]|your[ ]|a[ ](?:bit
        |little)[ ](?:of[ ])?)?help[ ]
          (?:with[ ]|in[ ])?{_KNOWING}[ ](?={_NEXT})
      | (?:please[ ])?help[ ](?:me[ ])?(?:with[ ])?{_KNOWING}[ ](?={_NEXT})
      | (?:(?:i|we)[ ]{_HOW_MUCH}(?:need|want|could[ ]use|would[ ]like)[ ](?:some[ ])?help|need[ ](?:some[ ])?help
        |(?:please[ ])?help(?:[ ](?:me|us))?)(?:[ ]out)?[ ](?:with|on|in)[ ](?=how[ ](?:to|do|can)[ ])
      | need[ ](?:some[ ])?(?:help[ ](?:with[ ])?{_KNOWING}|to[ ]{_KNOW})[ ](?={_NEXT})
      | (?:i|we)[ ]{_HOW_MUCH}wonder(?:ed)?[ ,]+(?:{_IF_YOU}|(?={_NEXT}))
      | (?:i|we)[ ](?:honestly[ ]|really[ ]|still[ ]|simply[ ]|just[ ])?{_UNSURE}[ ,]+(?={_NEXT})
      | (?:do[ ]not[ ](?:really[ ])?know|not[ ](?:really[ ]|quite[ ])?sure)[ ](?={_NEXT})
      | (?:have[ ])?no[ ](?:idea|clue)[ ](?={_NEXT})
      | i[ ](?:want|need)[ ]you[ ]to[ ]{_SOFT}(?=[a-z])
      | would[ ]it[ ]be[ ]possible[ ]to[ ](?=(?:get|have)[ ])
      | i[ ]have[ ]a[ ](?:quick[ ]|simple[ ])?question(?:[ ]?:|,|\.|[ ][\u2013-]|[ ]about|[ ]on)?[ ](?={_NEXT}
        |{_ASKING})
      | it[ ](?:would|will)[ ](?:be[ ]{_HOW_MUCH}{_NICE}|help[ ](?:me[ ])?(?:a[ ]lot|greatly|so[ ]much|out)?
        |mean[ ]a[ ]lot)[ ]?
          (?:if[ ]{_ANYONE}[ ]{_CAN}[ ]{_SOFT}(?:{_TELLING}(?={_NEXT})|(?={VERB}))|to[ ]{_KNOW}[ ](?={_NEXT}))
      | (?:please[ ])?{_CAN}[ ]{_ANYONE}[ ]{_SOFT}
          (?:be[ ](?:so[ ](?:kind|good)[ ]as|(?:kind|good)[ ]enough|able
            |willing)[ ]to[ ]{_SOFT})?(?:{_TELLING}(?={_NEXT})|(?={WORDS_OF_ANYBODY})(?<!would[ ]you[ ]))
      | (?:please[ ])?{_CAN}[ ]{_ANYONE}[ ]{_SOFT}be[ ](?:so[ ](?:kind|good)[ ]as|(?:kind|good)[ ]enough|able
          |willing)[ ]to[ ]{_SOFT}(?={VERB})
      | (?:please[ ])?(?:can|could|will|might)[ ]you[ ]{_SOFT}(?={FOR_WORDS})
      | (?:please[ ])?would[ ]you[ ]{_SOFT}(?={WORDS_OF_YOURS})
      | (?:please[ ])?{_CAN}[ ]{_ANYONE}[ ](?:please|kindly)[ ]{_SOFT}(?={VERB})
      | {_CAN}[ ]you[ ](?:please|kindly|possibly)[ ](?=[a-z])
      | please[ ]can[ ]you[ ](?=[a-z])
      | (?:are[ ]you|would[ ]you[ ]be|is[ ]any(?:one|body))[ ](?:able|willing|free
        |happy)[ ]to[ ]{_SOFT}(?:{_TELLING}(?={_NEXT})|(?={FOR_WORDS}))
      | (?:is
        |would)[ ]it[ ](?:be[ ])?(?:at[ ]all[ ])?possible[ ](?:for[ ]you[ ])?to[ ](?:get[ ]you[ ]to[ ])?{_SOFT}
          (?:{_TELLING}(?={_NEXT})|(?<=you[ ]to[ ])(?={VERB}))
      | do[ ]you[ ]think[ ]you[ ]{_CAN}[ ]{_SOFT}(?:{_TELLING}(?={_NEXT})|(?={FOR_WORDS}))
      | (?:would|do)[ ]you[ ](?:very[ ]much[ ])?mind[ ]{_TELLINGS}(?={_NEXT})
      | (?:can|could|may|might)[ ]i[ ](?:please[ ]|just[ ]|quickly[ ]|possibly[ ]|kindly[ ])*(?:ask(?:[ ](?:you
        |about))?|know|inquire|enquire|find[ ]out
          |get[ ](?:you[ ]to[ ](?:tell[ ]me|explain)|an[ ]explanation[ ]of|some[ ]help[ ]{_KNOWING}|help[ ]{_KNOWING}
          |(?:some[ ])?(?:information|details|clarification)[ ](?:on|about|as[ ]to))
          |(?:ask|trouble|bother)[ ]you[ ](?:to[ ](?:tell[ ]me|explain)|for))[ ,]+(?={_NEXT})
      | (?:can|could|may|might)[ ]i[ ](?:please[ ])?(?:ask|trouble|get)[ ]you[ ]to[ ](?={VERB})
      | (?:can|could|may|might)[ ]i[ ](?:please[ ])?(?:trouble|bother|ask)[ ]you[ ]for[ ](?=(?:the|an?|some)[ ])
      | (?!(?:do|did|would|might|could|can)[ ]you[ ](?:\w+[ ]){{0,4}}?know[ ]{_SKILL})
        (?:(?:do|did|would|might|could|can)[ ]{_ANYONE}|does[ ]{_ANYONE})[ ](?:happen[ ]to[ ]|actually[ ]
        |perhaps[ ]|maybe[ ]|even[ ]|by[ ]any[ ]chance[ ])?
          know(?:[ ]by[ ]any[ ]chance)?,?[ ](?={_NEXT})
      | (?!you[ ](?:happen[ ]to[ ])?know[ ]{_SKILL}){_ANYONE}[ ](?:happen[ ]to[ ])?knows?[ ](?={_NEXT})
      | (?:do[ ]you[ ]|have[ ]you[ ]|does[ ]{_ANYONE}[ ]|would[ ]you[ ])?(?:happen[ ]to[ ])?(?:have[ ]
        |got[ ])?any[ ](?:idea|ideas
          |clue|clues|thoughts|insight)s?(?:[ ](?:on|about|as[ ]to))?[ ,]+(?={_NEXT})
      | (?:is[ ]there[ ])?any[ ]chance[ ](?:that[ ])?{_ANYONE}[ ](?:(?:happen[ ]to[ ])?knows?
        |{_CAN}[ ]{_SOFT}{_TELLING.removesuffix("[ ,]+(?:please[ ])?")})[ ](?={_NEXT})
      | (?:is[ ]there[ ])?any[ ]chance[ ](?:that[ ])?{_ANYONE}[ ]{_CAN}[ ]{_SOFT}(?={VERB})
      | (?:tell[ ]me|let[ ]me[ ]know|explain(?:[ ]to[ ]me)?)[ ,]+please,?[ ](?={_NEXT})
      | (?:let[ ](?:me|us)[ ]know|do[ ]tell(?:[ ]me)?|someone[ ]tell[ ]me|please[ ]tell[ ]me|pray[ ]tell
        |somebody[ ]explain(?:[ ]to[ ]me)?
          |someone[ ](?:please[ ])?explain(?:[ ]to[ ]me)?)[ ,]+(?={_NEXT})
      | tell[ ]me[ ]?[:,][ ]?(?={_NEXT})
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EXCUSED = re.compile(
    rf"(?:(?:ok|okay|well|so|and) ){{0,2}}(?:{EXCUSES}[ ,]+but (?={_ASKING})|(?:i know )?it is (?:(?:very|really|so"
    rf"|quite|getting) )?late(?: (?:here|at night))?[ ,]+but (?={_NEXT}))",
    re.IGNORECASE,
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
_MIDDLE = re.compile(
    r"(?<!say)(?<!saying)(?<!word)(?<!mean)(?<!means)(?<!says)(?<!\buse)(?<!\busing)(?<!\bspell)(?<!\bplay)"
    r"(?<!\btype)(?<!\bwrite)(?<!\bavoid)(?<!\bhear)(?<!pronounce)(?<!\bremove)(?<!\bor)(?<!\bversus)"
    r"(?:(?<=\w)(?:,|\.\.\.)? |(?<=[.?!] ))(?:(?-i:u+h+m*|u+m+)|(?-i:e+rm+|h+m+|er)(?=,|\.\.\.))(?:,|\.\.\.)?(?= )",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?<=\w), (?:like|you know|i mean|i guess|i suppose|basically|honestly|essentially|literally|please|well|okay|just"
    r"|sort of|kind of|if possible|by the way|if you do not mind|if you know|anyway|as it were|so to speak|or whatever"
    r"|let us say|shall we say|say|if i may ask|by any chance|for example|perhaps|maybe),(?= )",
    re.IGNORECASE,
)
_ASIDES = vocabulary(
    "like know mean guess suppose basically honestly essentially literally please well okay just of possible "
    "way mind anyway were speak whatever say ask chance example perhaps maybe"
)
_ASKED = re.compile(r"\b(can|could|would|will) you please ")
# Behind these "to" alone may be of the verb: "what do I need in order to pass", "what do I need to pass".
_IN_ORDER = re.compile(
    r"(?<= )(?!(?:is|are|was|were|be|need|needed|have|has|had|want|get|got|use|used|ask|try|like|wish|hope|plan|choose"
    r"|decide|learn|expect|seem|fail|prefer|start|begin|go|come|stop|help|put|keep|sort|them|him|her|people|someone)\b)"
    r"(\w+) in order to (?=[a-z])"
)
_CUES = vocabulary("""
    hi hello hey hiya heya howdy greetings good dear so well ok okay right alright all anyway now quick question just by
    btw sorry excuse pardon please kindly i i'm i'd can could would will do tell let someone explain simple silly dumb
    stupid random general small a
    yo hallo to hope trust how many thank thanks u honestly basically actually essentially frankly seriously yeah yep
    look
    listen you like see say hmm cool great out for as first hang hold one wait come curious serious mate may might if
    when
    it any do does have got anyone someone somebody apologies nice here my the what we are need not no q also but and
    lol lmao haha
    anybody help is did then literally be advise inform guide update mm mmm mmmm man thx
    """)
# What is asked of kinds of things asks if the reader can at all: "can you generate images".
_ABILITY = re.compile(
    r"(?:can you|are you able to) (?:also |actually |really )?(?:write|draw|generate|create"
    r"|translate|solve|sketch|summarize"
    r"|analyze|edit|proofread|predict|design|debug|transcribe|identify|answer|guess|share|extract|plan|review|check)"
    r"(?: (?!the |my |this |these |those |your |our )(?:[a-z]+ )?(?:[a-z]{2,}s|code|poetry|music|art"
    r"|text|fiction|content|data"
    r"|html|css|sql|python|javascript|java|french|spanish|german|english|chinese|japanese|italian|video|audio))?$",
    re.IGNORECASE,
)
# Words that somebody may ask about, rather than say.
_SAID = vocabulary("hi hello hey hiya heya howdy greetings good dear yo hallo sorry please oh ok okay well um uh er hm")
_REQUEST = re.compile(rf"{VERB}", re.IGNORECASE)
_EVEN = re.compile(r"^((?:how|why|what|where) (?:do|does|did|can|would) \w+) even (?=([a-z]+)\b)", re.IGNORECASE)
_HESITATION = frozenset(["um", "umm", "ummm", "uh", "uhh", "uhm", "er", "erm", "ermm", "hm", "hmm", "hmmm"])


def is_request(text: str) -> bool:
    """Return True for a text that begins with a verb of what an assistant is asked to do: "explain", "list"."""
    return _REQUEST.match(text) is not None


def _asked_by(match: re.Match[str]) -> str:
    return f"{match[1]} "


def _of_a_verb(match: re.Match[str]) -> str:
    """The words before "even" alone where a verb follows it: "how do I even start", not "how do I even out"."""
    return f"{match[1]} " if is_base(match[2].lower()) and match[2] != "out" else match[0]


def unwrapped(text: str, words: list[str], bag: frozenset[str]) -> str:
    """The text without fillers at its beginning and end; `words` are its words in lower case."""
    if (plain := without_chatter(text)) is not text:
        text = plain
        words = opening_words(text)
    if "but" in bag and (match := _EXCUSED.match(text)) is not None:
        text = text[match.end() :]
        words = opening_words(text)
    able = words[:1] in (["can"], ["are"]) and _ABILITY.match(text) is not None
    while words and not able and (words[0] in _CUES or words[0].startswith(("um", "uu", "uh", "er", "hm", "ah", "oh"))):
        match = _LEADING.match(text)
        if match is None or match.end() == len(text):
            break
        if words[0] in _SAID and (
            is_about(text[match.end() :]) or (len(words) < 5 and not enough(text[match.end() :]))
        ):
            break
        text = text[match.end() :].lstrip(" ,\n")
        words = opening_words(text)
    if "mind" in bag and (match := _GERUND.match(text)):
        stem = match[1].lower()
        text = f"{stem}{'e' if stem in _DROPPED_E else ''} {text[match.end() :]}"
    text = without_ending(text, bag)
    if words and words[0] in _QUESTIONS:
        text = begun(_EMPHASIS, _asked_by, text)
        if not bag.isdisjoint(_MEANT):
            text = begun(_BASE, lambda match: match[1], text)
        if "even" in bag:
            text = begun(_EVEN, _of_a_verb, text)
        if "just" in bag or "simply" in bag:
            text = begun(_JUST, _asked_by, text)
    if "in order to " in text:
        text = _IN_ORDER.sub(r"\1 to ", text)
    if "you please " in text:
        text = _ASKED.sub(r"\1 you ", text)
    if not bag.isdisjoint(_HESITATION):
        text = _MIDDLE.sub("", text)
    if text.count(", ") > 1 and not bag.isdisjoint(_ASIDES):
        text = _ASIDE.sub("", text)
    return text
