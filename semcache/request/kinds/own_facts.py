"""Questions for a fact of the sender's own life or dealings: what was done, decided or promised, how a thing stands.

Knows how such a question is built (a first person, a verb of the past, a thing of one's own and its state), and the
words behind which the same question is one of advice. Invariant: what the sender may, must or should do is no such
fact, nor how a body, an animal, a family or a device behaves.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule, vocabulary

_FEW = r"(?:[\w'.&-]+ ){0,3}?"
# Bodies, beings, food and devices: whoever asks how these stand wants advice, as anybody does.
_NO_RECORD = (
    r"(?:[\w'-]+ ){0,2}?(?:phone|iphone|android|laptop|computer|pc|mac|macbook|screen|printer|keyboard|mouse|tv"
    r"|television|fridge|oven|car|bike|engine|battery|router|wifi|wi-fi|dog|cat|puppy|kitten|pet|rabbit|hamster|fish"
    r"|bird|horse|baby|newborn|toddler|kids?|plants?|tomato(?:es)?|lawn|tree|garden|roses?|bread|dough|cake|rice"
    r"|chicken|meat|milk|eggs?|skin|hair|teeth|tooth|eyes?|ears?|nose|knees?|foot|feet|legs?|arms?|hands?|fingers?"
    r"|sourdough|starter|steak|turkey|pasta|pizza|sauce|soup"
    r"|back pain|heart|liver|stomach|brain|body|urine|poop|stool|period|cycle|blood|breath|weight|pain|cough|fever"
    r"|cold|allerg\w+|rash|anxiety|depression|sleep|diet|dreams?|life|career|idea|ideas|english|grammar|sentence"
    r"|answer|understanding|reasoning|solution|proof|assumption|code|function|loop|query|regex|script|program|class"
    r"|method|variable|algorithm|model|model's|wife|husband|girlfriend|boyfriend|partner|friend|mother|mom|mum|father"
    r"|dad|parents|brother|sister|son|daughter|child|children|neighbou?rs?|landlord|tenant|roommate|boss|ex)\b"
)
_OWN = rf"(?:my|our) (?!{_NO_RECORD})(?:[\w'-]+ ){{1,4}}?"
_YET = r"(?: (?:yet|already|now|again|today|still|through|out|in|up|by \w+))?\W*$"
_HAPPENED = (
    r"(?:accept|activat|answer|appl|approv|archiv|assess|assign|bill|book|cancel|cancell|chang|charg|check|clear|clos"
    r"|complet|confirm|count|credit|deactivat|decid|declin|delay|deliver|deposit|dispatch|end|escalat|evaluat|expir"
    r"|extend|finali[sz]|finish|fix|forward|fulfill?|grad|handl|increas|install|invoic|issu|lift|link|load|mail|mark"
    r"|match|merg|migrat|mov|notifi|open|pick|post|process|publish|receiv|record|reduc|refund|regist|register"
    r"|reimburs|reject|releas|renew|replac|request|reschedul|reserv|resolv|restor|return|review|sav|schedul|settl|ship"
    r"|submitt|suspend|synch?|transferr|unblock|unlock|updat|upgrad|upload|validat|verifi|waiv|withdraw)ed\b"
    r"|(?:paid|sent|lost|set|done|drawn|won|put|gone|come|begun|seen|heard|got|gotten|taken|given|written|read|held|met"
    r"|cut|reset|gone through|come (?:in|through|back)|run out|gone up|gone down)\b"
)
# Deeds of offices, firms and colleagues upon what is one's own.
_DEED = (
    r"(?:get|got|receive|received|grade|graded|answer|answered|reply|replied|respond|responded|approve|approved|review"
    r"|reviewed|read|seen|see|sign|signed|send|sent|pay|paid|call|called|book|booked|process|processed|file|filed"
    r"|submit|submitted|update|updated|change|changed|cancel|cancell?ed|assign|assigned|accept|accepted|reject"
    r"|rejected|confirm|confirmed|finish|finished|complete|completed|check|checked|comment|commented|charge|charged"
    r"|refund|refunded|credit|credited|deliver|delivered|ship|shipped|invite|invited|email|emailed|message|messaged"
    r"|text|texted|merge|merged|open|opened|close|closed|renew|renewed|upload|uploaded|forward|forwarded|write|wrote"
    r"|written|issue|issued|decide|decided|mark|marked|collect|collected|pick(?:ed)? up|look(?:ed)? (?:at|into))"
)
_DID_TO = (
    r"(?:approved|reviewed|rejected|merged|closed|opened|edited|changed|deleted|viewed|visited|liked|shared|sent|called"
    r"|emailed|invited|paid|signed|booked|logged in|accessed|used|added|removed|assigned|reported|followed|unfollowed"
    r"|endorsed|commented|replied|answered|declined|cancell?ed|messaged|renamed|created|blocked|tagged|mentioned"
    r"|graded|prescribed|referred|ordered|requested|moved|borrowed|picked up|signed in|signed up)"
)
_BY_I = (
    r"(?!just (?:read|see|watch|hear|eat)\b)(?!(?:do|go) (?:wrong|right)\b)(?!do (?:to|wrong|that|this)\b)(?!need\b"
    r"|have to\b|evolve\b|come from\b|misunderst"
    r"|mess up\b|get (?:wrong|pregnant|sick|cancer|infected|an? (?:error|warning|exception))\b|lose (?:hair|weight)\b)"
    r"(?!(?:[\w'-]+ ){0,3}?(?:wrong|incorrectly|instead)\b)"
)
_STATE = (
    r"(?:active|available|back|blocked|closed|complete|correct on file|covered|current|due|frozen|final|free|full|here"
    r"|in|inactive|live|locked|on hold|on time|open|out|outstanding|over|overdue|pending|public|private|ready|running"
    r"|safe and sound|set|still valid|stuck|there|through|unpaid|up to date|valid|visible to everyone|won)"
)
_FACTS = CuedPatterns(
    # "Am I due for a vaccination?", "are we booked in?"; what one is allowed or supposed to do is a rule.
    rule(
        "am are was were",
        r"^\W*+(?:am|are|was|were) (?:i|we) (?:all |still |already |currently |now |even |ever )*"
        r"(?:checked in|due (?:for|at|to|on|any|in|a)\b|free (?:on|at|this|next|tomorrow|today|after|before|between)\b"
        r"|invited|listed|logged in|enroll?ed|scheduled|booked|billed|opted (?:in|out)|up for|still on for|on (?:the"
        r"|a) \w+ (?:plan|list|team|tariff|waitlist|shift)|short-?listed|named|matched|paired|meeting|seeing|flying"
        r"|working (?:on"
        r"|tomorrow|today|this|next)|seated|waitlisted|upgraded|admitted|included|flagged|selected|promoted|insured"
        r"|vaccinated|registered|subscribed|connected to|sharing)\b(?!.{0,80}\b(?:if|when i)\b)",
    ),
    # "What level am I?", "which achievements am I missing?"
    rule(
        "am",
        r"\b(?:what|which|how many|how much|whose) (?!(?:kind|type|sort|sign|zodiac|generation|bracket|tax|trimester"
        r"|age|personality|percentage)\b)(?:[\w'-]+ ){1,3}?am i"
        r"(?: (?:still |currently |now )?(?:missing|owed|short|using|paying|getting|earning|sharing|following|taking"
        r"|teaching|leading|meeting|seeing|flying|sitting|due|playing|assigned|booked|down for))?"
        r"(?:\W*$| (?:for|in|on|at|with|from|to|this|next|today|tomorrow)\b)(?!.{0,80}\b(?:if|when) )",
        r"\b(?:when|where|who|whom|what time) am i (?:\w+ )?(?:meeting|seeing|flying|seated|sitting|staying|booked|due"
        r"|scheduled|working|on (?:call|shift|duty)|off|playing|presenting|travell?ing|leaving|starting|picking up"
        r"|having|paired|assigned|registered|free|paid|getting paid|being paid|next)\b(?!.{0,80}\b(?:if|when) )",
    ),
    # "What did I promise Paul?", "which lights did I leave on?", "when did I play?"
    rule(
        "did",
        r"^\W*+(?:(?:and|so) )?(?:what|which|who|whom|whose|where|when|how (?:much|many|far|fast|long|well|often|late"
        rf"|high)) {_FEW}did i {_BY_I}\w+",
        r"^\W*+how did i (?:sleep|do|perform|score|rank|place)\b(?! (?:this|that|it)\b)",
        r"^\W*+(?:what|which|who|whom|where|when|how (?:much|many|long|often)) (?:[\w'-]+ ){0,4}?did we (?:\w+ )?"
        r"(?:decide|agree|discuss|ship|set|spend|pay|order|buy|promise|sign|hire|plan|release|deploy|budget|invoice"
        r"|book"
        r"|choose|pick|send|receive|sell|earn|raise|charge|assign|move|schedule|meet|store|put|park|file|submit|say"
        r"|write|change|configure|use for our|commit|merge|log|report)\b(?! (?:that|this) (?:way|earth|planet)\b)",
    ),
    # "Did I lock the front door?", "did we get paid?"
    rule(
        "did have",
        r"^\W*+(?:did|have) i (?:already |really |ever |even |just |actually |still |not )*(?!(?:do|done|make|made"
        r"|get|got)"
        r" (?:it|this|that|the right|a mistake|something|anything)\b)(?!understand|evolve|break the law|violate"
        r"|do (?:wrong|something|anything)\b|have to\b|need\b|get (?:scammed|covid|an? std|pregnant)\b|been (?:scammed"
        r"|hacked|gaslit|misled)\b|gotten\b|to\b|a\b|an\b|any\b|the (?:right|option|choice)\b|enough\b|no\b|not\b"
        r"|lost my mind\b)[a-z]+(?!.{0,120}\b(?:wrong|correctly|right|incorrectly|properly|if|diagnosed|symptoms)\b)",
        r"^\W*+(?:did|have) we (?:already |ever |even |just |actually |still )*(?:receiv|get paid|got paid|pay|paid"
        r"|order"
        r"|renew|sign|ship|hit|met? (?:the|our)|miss|agree|decid|sen[dt]|invit|book|cancel|submit|invoic|hir|releas"
        r"|deploy|merg|clos|schedul|updat|us(?:e|ed) up|run out)\w*\b(?!.{0,80}\bif\b)",
    ),
    # "Is my alarm set?", "has my scholarship been paid out?", "are my lab results back?"
    rule(
        "my our",
        rf"^\W*+(?:is|are|was|were|'s) (?!{_OWN}(?:leave )?paid\b){_OWN}(?:still |already |all |now |finally )?"
        rf"(?:{_STATE}|(?:been )?(?:{_HAPPENED})){_YET}",
        rf"^\W*+(?:has|have) {_OWN}(?:still |already |finally |even )?(?:been )?(?:\w+ )?(?:{_HAPPENED})"
        r"(?!.{0,80}\b(?:if|when)\b)",
        rf"^\W*+did {_OWN}(?:get |ever |finally |actually )?(?:arrive|break|pass|fail|finish|clear|expire"
        rf"|go (?:through|up"
        r"|down|out|in)|come (?:in|through|back)|run|deploy|renew|ship|post|succeed|sync|upload|win|close|sell|change"
        r"|increase|decrease|reply|answer|get \w+ed|approved|paid|sent|rejected|accepted|cancell?ed)\b"
        r"(?!.{0,80}\b(?:if|when)\b)",
        # "Did HR get my form?", "has Dr. Okafor answered my message?", "who approved my pull request?"
        rf"^\W*+(?:has|have|did) (?!(?:i|we|my|our)\b)(?:[\w'.&-]+ ){{1,4}}?{_DEED} "
        rf"(?:to |on |at |into |for |about |off (?:on )?)?(?:all (?:of )?)?my (?!{_NO_RECORD})\w",
        r"^\W*+has my (?:boss|manager|landlord|doctor|teacher|advis[eo]r|lawyer|accountant|supervisor|agent|tenant"
        r"|employer|bank|school|insurer) (?:\w+ )?\w+ed\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+(?:did|has) my (?:boss|manager|landlord|doctor|teacher|advis[eo]r|lawyer|accountant|supervisor|agent) "
        r"(?:already )?(?:sign|approve|send|accept|confirm|pay|read|get|receive|submit)\w*\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+what(?:'s| is) (?:left (?:of|in|on|from) my"
        r"|my next (?:class|appointment|meeting|shift|flight|lesson|exam|task"
        r"|payment|train|bill|deadline))\b"
        r"|^\W*+(?:are|is) there (?:any )?\w+ (?:from|for|in|on) my (?:last|next|recent|latest)\b",
        rf"^\W*+who (?:last |just |else |has |has last )?{_DID_TO} (?:[\w'-]+ ){{0,3}}?(?:in |to |on |with |into "
        rf"|for )?"
        r"(?:the \w+ (?:of|on|in) )?my\b",
        r"^\W*+(?:why (?:is|are|was|were|has|have|did)) (?:my|our) (?:[\w'-]+ ){1,4}?(?:(?:higher|lower|bigger|smaller"
        r"|more|less|larger) (?:than|this)|so (?:high|low|much|big|small) (?:this|for|in|compared)|still (?:pending"
        r"|open|not|on hold|unpaid|inactive|blocked|processing|under review|waiting|missing|in review)"
        r"|(?:gone|go|went) (?:up|down)\b|(?:drop|dropped|increase|increased|change|changed|rise|risen|fall|fallen)\b"
        r"(?= (?:so|this|last|since|by|from|again|yesterday)\b|\W*$))",
        r"\b(?:how much|how many|what) (?:[\w'-]+ ){0,3}?(?:is|are|do (?:i|we) have) (?:still )?(?:left|remaining"
        r"|available) (?:on|in|of|for) (?:my|our)\b(?! (?:phone|laptop|body|life|use|purposes?)\b)",
        r"\b(?:how much|how many|what) (?:[\w'-]+ ){1,3}?(?:do|does|did|has|have) (?:my|our) (?:team|workspace|company"
        r"|organi[sz]ation|org|account|plan|project|department|subscription|household|house|class)\b",
        r"\bwhat(?:'s| is| are| was| were) (?:[\w'.,-]+ ){0,6}?(?:on|in) my (?:[\w'-]+ )?(?:statement|bill|invoice"
        r"|account|payslip|inbox|basket|cart|calendar|file|record|queue|transcript|report card|schedule|timetable)\b"
        r"|\baccording to my (?:\w+ )?(?:records?|files?|profile|account|statement|chart|history)\b",
        r"^\W*+(?:is|are|was|were) (?:there )?(?:still )?(?:any|some|no)?(?:one|thing|body)?\s?(?:\w+ )?(?:left |new )?"
        r"(?:in|on) my (?:[\w'-]+ )?(?:account|inbox|basket|cart|calendar|wallet|balance|file|mailbox|queue"
        r"|wishlist)\b",
    ),
    rule(
        "me us",
        rf"^\W*+who (?:last |just |else |has )?{_DID_TO} (?:[\w'-]+ ){{0,4}}?(?:to |with |for |by )?(?:me"
        r"|us)\b",
    ),
    # "Do I have access?", "do we have admin rights?"; "did you receive the documents I uploaded?"
    rule(
        "have qualify",
        r"\bdo (?:i|we) (?:still |already |currently |now )*have (?:\w+ )?(?:access|admin|permissions?"
        r"|anything (?:in|on"
        r"|due|planned|scheduled|booked|left|open|pending|from)|credits?|points|coupons?|vouchers?|messages?|meetings?"
        r"|appointments?|bookings?|invoices?|homework|classes|notifications?|unread|overdue|unpaid|outstanding"
        r"|pending)\b(?!.{0,80}\b(?:if|when)\b)",
    ),
    rule(
        "i",
        r"^\W*+(?:has|have|did|does|is|are|was|were|will|where|when|where's|where is|where are) (?:you |anyone "
        r"|anybody "
        r"|someone |hr |they )?(?:[\w'-]+ )?the (?:[\w'-]+ ){1,3}?(?:that |which )?i (?:have |had |just |already )*"
        r"(?:\w{3,}ed|sent|paid|bought|made|wrote|left|put|brought|gave|took|told|got|filed|sold|lent|won)\b"
        r"(?!.{0,80}\b(?:if|when)\b)",
        r"\b(?:whether|if|that) i (?:was|am|have been|'ve been|got) (?:\w+ )?(?:accepted|approved|selected|charged"
        r"|billed"
        r"|enroll?ed|registered|invited|refunded|paid|admitted|booked|shortlisted|promoted|rejected)\b(?=[^.]{0,80}\?)",
        r"^\W*+(?:what|which|how many|how much) (?:[\w'-]+ ){1,3}?do i (?:still|currently) (?:have"
        r"|need) to \w+(?!.{0,80}\bif\b)",
        r"^\W*+what(?:'s| is| was) the (?!(?:\w+ )?(?:error|message|problem|exception)\b)(?:[\w'-]+ ){1,5}?i "
        r"(?:hired|booked|bought|ordered|sent|filed|chose|picked|signed|paid|saved|used last|reported|requested)\b",
        r"^\W*+(?:did|has|have) (?:[\w'-]+ ){1,4}?(?:the|that) (?:[\w'-]+ ){1,2}?i (?:sent|wired|transferred|ordered"
        r"|mailed|paid|posted|returned|submitted|uploaded|shared|lent)\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+do i (?:still |currently )?owe (?:anything|any|money|you|the)\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+what(?: have|'ve) i got (?:on|in my|for|planned|tomorrow|today|this|next)\b",
        r"^\W*+why (?:haven't|have|hasn't) i (?:still )?(?:not )?(?:been (?:paid|refunded|reimbursed|credited|contacted"
        r"|invited|told)|received|heard|got)\b",
        r"^\W*+am i (?:still |already )?the (?:\w+ )?(?:owner|admin|administrator|organi[sz]er|host|assignee"
        r"|reviewer)\b",
        r"^\W*+did (?:anybody|anyone|somebody|someone) (?:call|write|text|ring|come by|visit|email)\b.{0,40}\b(?:i"
        r"|me)\b",
        r"^\W*+what languages do i speak\b|^\W*+where do i (?:live|work|bank|study)\W*$|^\W*+who do i (?:report to"
        r"|work for|bank with)\W*$",
        r"^\W*+(?:how much|how many|what) (?:[\w'-]+ ){0,4}?(?:will|shall|am) i (?:be |get |going to )?(?:get|receive"
        r"|owe|getting|paid|reimbursed|credited|refunded)\b(?! (?:to|if|when|per|for (?:an?|one|selling|my old)|after"
        r"|by)\b)(?!.{0,120}(?:\b(?:if|when|with an?|on an?|from an?|for an?|should)\b|\d))",
        r"^\W*+when (?:will|do|does|am|are|can) (?:i|we) (?:next |finally )?(?:be |get |getting |being )?(?:paid"
        r"|reimbursed"
        r"|refunded|promoted|discharged|credited|contacted|called back|billed next)\b(?!.{0,80}\b(?:if|when|as an?)\b)",
    ),
    rule(
        "was were",
        r"^\W*+why (?:was|were) (?:i|we) (?:\w+ )?(?:banned|suspended|kicked|fired|downgraded|demoted|removed"
        r"|unsubscribed"
        r"|rejected|turned down|not (?:selected|accepted|invited|paid)|waitlisted|moved|reassigned)\b(?!.{0,80}\bif\b)",
    ),
    # "Who is in my guild?", "did Sarah reply to me?", "which gate do I board at?", "when do I fly home?"
    rule(
        "my our",
        r"^\W*+(?:who(?:'s| is| are| was| were)?|which of us)(?: else)? (?:is |are )?(?:in|on|at) (?:my|our) "
        r"(?!(?:shoes|side|mind|head|way|credit report|back|case)\b)(?:[\w'-]+ ){0,2}[\w'-]+"
        r"(?: (?:on call|on duty|off|working|free|available|in charge))?(?: (?:today|now|tonight|this week))?\W*$",
        rf"^\W*+when (?:will|are|do) (?:they|you) (?:\w+ )?(?:deliver|ship|send|refund|return|fix|repair|collect"
        rf"|pick up|install|pay|process|approve|answer|review|unlock|release) (?:my|our) (?!{_NO_RECORD})\w",
    ),
    rule(
        "me my us our",
        r"^\W*+(?:did|has|have) (?!(?:i|we|my|our|the|a|an|any|this|that|it|humans?|people)\b)[\w'.-]+ "
        r"(?:ever |already |finally )?(?:reply|replied|respond|responded|answer|answered|write|written|text"
        r"|texted|call|called|message"
        r"|messaged|e?-?mail|e?-?mailed) (?:to )?(?:me|us)(?: (?:yet|back|today|already))*\W*$",
        r"^\W*+(?:did|have|has) (?:they|you|he|she) (?:\w+ )?(?:take|taken|charge|charged|bill|billed|pay|paid|refund"
        r"|refunded|send|sent|deduct|deducted|debit|debited)\b[^?]{0,60}\b(?:me|us|my|our)\b"
        r"(?!.{0,80}\b(?:if|when)\b)",
    ),
    rule(
        "i we",
        r"^\W*+(?:which|what) (?:gate|terminal|platform|seat|room|desk|table|coach|hall|ward|bay)s? (?:do|did|am|are"
        r"|will|should) (?:i|we)\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+when (?:do|am|are|will) (?:i|we) (?:\w+ )?(?:fly|flying|board|boarding|depart|departing|land|landing)"
        r"(?: (?:home|back|out|there|to \w+|from \w+))?\W*$",
    ),
    # "And mine?", "how much is mine?"; a mine is dug, and so is a coin.
    rule(
        "mine",
        r"(?:^|\b(?:about|is|are|was|were|and|with|has|have|did|does|will|does|when's|where's|what's) )\W*mine"
        r"(?=\W*$| (?:yet|too|now|then|still|been|arrive|arrived|come|ready|approved|due|expire|from|in|on)\b)",
    ),
    rule(
        "me us",
        r"^\W*+(?:is|are) there (?:still )?(?:any )?(?:\w+ )?"
        r"(?:mail|post|messages?|packages?|parcels?|letters?) for (?:me|us)\b",
    ),
    rule(
        "you",
        r"^\W*+(?:what|which|when|how much|how many|where) (?:[\w'-]+ ){0,3}?did you (?:give|send|assign|charge"
        r"|bill|book|promise|offer|quote|refund|reserve for) (?:me|us)\b",
    ),
    rule("me us", r"^\W*+(?:(?:and|so|ok|but|now) )*(?:(?:what|how) about |and |for |and for )+(?:me|us)\W*$"),
)
_CUES = vocabulary("i we my our mine me us")
_SUPPOSED = any_of(
    r"^\W*+(?:if|suppose|supposing|imagine|assuming|say)\b",
    r"\b(?:history|mankind|humankind|humans?|humanity|civili[sz]ation|evolution|ancestors|moon|mars|galaxy|universe"
    r"|world war|planet|species)\b",
)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a folded text asks for a fact of its sender's own; `bag` holds its words."""
    return not bag.isdisjoint(_CUES) and _FACTS.match(folded, bag) and _SUPPOSED.search(folded) is None
