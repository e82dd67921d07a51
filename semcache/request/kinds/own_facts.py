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
_NO_ADVICE = (
    r"(?!.{0,120}\b(?:should|can|could|would|must|may|might|if|when|because|without|affect(?:ed)?|supposed|mean"
    r"|means|enough"
    r"|wrong|problem|ever|always|allowed|required|valid)\b)"
)
_YET = r"(?: (?:yet|already|now|again|today|still|through|out|in|up|by \w+))?\W*$"
_HAPPENED = (
    r"(?:accept|activat|answer|appl|approv|archiv|assess|assign|bill|book|cancel|cancell|chang|charg|check|clear|clos"
    r"|complet|confirm|count|credit|deactivat|decid|declin|delay|deliver|deposit|dispatch|end|escalat|evaluat|expir"
    r"|extend|finali[sz]|finish|fix|forward|fulfill?|grad|grant|handl|increas|install|invoic|issu|lift|link|load"
    r"|mail|mark"
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
    # "Who is in my guild?", "which of our clients left?", "what level is my paladin?"
    rule(
        "my our",
        r"^\W*+who(?:'s| is| are| else is)? (?:all )?(?:in|on) (?:my|our) (?:[\w'-]+ )?(?:guild|clan|party|squad"
        r"|raid|lobby"
        r"|team|group|class|course|section|department|shift|carpool|contacts|family plan|plan|study group)\W*$",
        r"^\W*+(?:how many|how much|which|what percentage) of (?:my|our) (?:[\w'-]+ ){1,3}?(?:are|is|was|were|has"
        r"|have|did"
        r"|got|sold|failed|passed|arrived|expired|left|opened|replied|churned)\b"
        r"(?!.{0,120}\b(?:should|can|must|if|when|tax\w*|deductible|allowed|from)\b)",
        r"^\W*+which of (?:my|our) (?!"
        rf"{_NO_RECORD})(?:[\w'-]+ ){{1,2}}(?:expires?|ends?|renews?|starts?|costs?|lapses?|runs? out|comes?"
        rf"|arrives?|pays?)\b",
        r"^\W*+(?:what|which) (?!(?:kind|type|sort|use|good|benefit|age|time|day)\b)[\w-]+ (?:is|are|was) "
        rf"(?:my|our) (?!{_NO_RECORD})(?:[\w'-]+ ){{0,2}}?[\w'-]+(?: (?:in|on|at|now|under|with))?\W*$",
        rf"^\W*+how many (?:[\w-]+ ){{1,2}}(?:does|do|did) my (?!{_NO_RECORD})(?:[\w'-]+ ){{1,3}}?(?:have|get|got)\W*$",
        r"^\W*+(?:has|did) (?:anyone|anybody|someone|somebody) (?:joined?|left|leave|seen?|opened?|booked?|claimed?"
        r"|used?"
        r"|edited?|changed?|touched?|accepted?|visited?|watched?|downloaded?|signed?|reviewed?) my (?!"
        rf"{_NO_RECORD})(?:[\w'-]+ )?[\w'-]+(?: (?:yet|today|yesterday))?\W*$",
        r"^\W*+how (?:high|big|large|low|expensive) (?:is|was|are|were) (?:my|our) (?:last|latest|next|current|first"
        r"|previous|recent|[\w-]+ly) (?:[\w'-]+ ){0,2}?(?:bills?|invoices?|payments?|rent|salary|premium|refund|bonus"
        r"|instal?lment|balance|grade|score|payslip|statement)\W*$",
        r"\b(?:which|what|how many) (?:[\w-]+ ){1,3}?(?:is|are) (?:still )?(?:waiting|pending|open|due|ready"
        r"|overdue|blocked"
        r"|stuck|missing) (?:for|on|to|in|from) (?:my|our) \w+\W*$",
        r"^\W*+who (?:withdrew|took|debited|charged|transferred|spent) (?:[\w'-]+ ){1,4}?(?:from|to|on|with) my "
        r"(?:[\w'-]+ )?(?:account|card|wallet|balance)\b",
        r"^\W*+(?:did|has|have) (?:anyone|anybody|someone|somebody|[\w'-]+) (?:like|liked|share|shared|view|viewed"
        r"|bid on"
        r"|buy|bought|rate|rated|favou?rite|repost|reposted) (?:on )?my (?:[\w'-]+ )?(?:posts?|photos?|videos?"
        r"|listings?"
        r"|items?|stor(?:y|ies)|comments?|tracks?|recipes?|ads?)\b",
        r"^\W*+(?:what|how (?:much|high|big|large)) (?:is|was|are|were) our (?:[\w'-]+ ){0,2}?(?:revenue|sales|turnover"
        r"|profits?|churn|headcount|burn rate|mrr|arr|conversion(?: rate)?|net income|spend|spending|budget|backlog"
        r"|cash flow"
        r"|runway)(?: (?:in|for|last|this|on|so|from|by)\b.{0,60})?\W*$",
        r"^\W*+who(?:'s| is| are| were) our (?:[\w'-]+ ){0,3}?(?:clients?|customers?|suppliers?|vendors?|accounts?"
        r"|leads"
        r"|investors|buyers?|sellers?)(?: (?:in|for|last|this)\b.{0,40})?\W*$",
        r"^\W*+when (?:was|did) (?:my|our) (?:[\w'-]+ ){1,3}?last\b(?!.{0,80}\bif\b)",
        r"\bwhat(?:'s| is) the (?:name|password|ssid) of my (?:[\w-]+ )?(?:wi-?fi|network|hotspot|wi-?fi network)\W*$"
        r"|\bwhat(?:'s| is) the (?:licen[cs]e|number) plate (?:number )?(?:of|on) my\b",
    ),
    # "When do I fly home?", "am I still under warranty?", "how far over budget are we?"
    rule(
        "i we",
        r"^\W*+(?:and |so )*(?:when|what time|what day) (?:do|will) (?:i|we) (?:fly|land|depart|take off|board"
        r"|leave|arrive"
        r"|travel|move in|get (?:back|home|there|in))(?: (?:home|back|again|next|there|tomorrow|today|tonight"
        r"|(?:on|to|from|in|for|at) (?!an?\b)[\w' ]{1,30}))*\W*$",
        r"^\W*+(?:am|are) (?:i|we) (?:still |already |currently )*(?:under (?:warranty|guarantee|contract)"
        r"|in (?:warranty"
        r"|contract)|out of (?:warranty|contract|data|minutes|credit)|over (?:budget|quota|my|our|the limit))\W*$",
        r"^\W*+how (?:far|much|close|many \w+) (?:(?:over|under|behind|below|above|ahead of|past|to) )(?:the |our "
        r"|my )?"
        r"(?:[\w-]+ )?(?:budget|target|quota|schedule|plan|goal|limit|deadline|allowance) (?:are we|am i)\W*$",
        r"^\W*+(?:since when|how long|for how long) (?:am|are|have) (?:i|we) (?:been |had )?(?:an? )?(?:customer|member"
        r"|subscriber|client|user|tenant|employee|policyholder|with you|subscribed|enrolled|employed|on (?:this|the"
        r"|my) plan)s?"
        r"\W*$",
        r"^\W*+(?:do (?:i|we) work|am i (?:off|in|on|busy|away)) (?:on (?!\w+days\b)\w+day|tomorrow|today|tonight"
        r"|this \w+"
        r"|next \w+)\W*$",
        r"^\W*+was i (?:marked |logged )?(?:late|early|on time|absent|present|nominated|mentioned|tagged|overpaid"
        r"|underpaid)"
        r"(?: (?:on|for|at|with|in|yesterday|last|today)\b.{0,40})?\W*$",
        r"^\W*+(?:what|which|how many) (?:[\w'-]+ ){1,3}?(?:do (?:i|we) (?:own|manage|follow|lead|administer"
        r"|maintain|subscribe to"
        r"|belong to)|am i (?:part of|following|subscribed to|a member of|an? admin of))\W*$",
        r"^\W*+(?:list|show(?: me)?|name|count) (?:all )?(?:of )?(?:the|every) [\w'-]+ (?:that |which |who )?(?:i"
        r"|we) (?:manage"
        r"|own|lead|follow|maintain|supervise|saved|liked|bookmarked|shared)\W*$",
        r"^\W*+(?:what|which) (?:[\w'-]+ ){1,3}?have (?:i|we) (?:already |still |not |yet )*(?:borrowed|booked"
        r"|ordered|bought"
        r"|reserved|rented|watched|finished|completed|submitted|uploaded|received|missed|paid(?! for)|unlocked"
        r"|collected"
        r"|enrolled in|signed up for|subscribed to|shipped|hired|signed|sold)\b(?!.{0,80}\b(?:if|when)\b)",
    ),
    # "Did Anna answer me?", "what did the buyer offer me?", "who follows me?"
    rule(
        "me us",
        r"^\W*+(?:did|has|have) (?!(?:you|it|they|god|this|that|he|she)\b)[\w'.-]+(?: [\w'.-]+)? (?:already |ever "
        r"|even )?"
        r"(?:answer(?:ed)?|repl(?:y|ied)|respond(?:ed)?|wr(?:ite|ote|itten)|text(?:ed)?|e-?mail(?:ed)?|messaged?"
        r"|pa(?:y|id)"
        r"|invited?|call(?:ed)?|ring|rung) (?:back )?(?:to )?(?:me|us)(?: (?:back|yet|today|yesterday))*\W*$",
        r"^\W*+(?:what|how much) did (?:the |my |our )?[\w'.-]+(?: [\w'.-]+)? (?:offer|quote|charge|promise|send"
        r"|pay|give|lend|sell"
        r"|prescribe) (?:me|us)\b(?!.{0,80}\bif\b)",
        r"^\W*+when (?:did|does|will) (?:the |my )?(?:[\w'-]+ ){1,2}?(?:take|charge|debit|credit|refund|pay|call"
        r"|visit|bill"
        r"|invoice) (?:[\w'-]+ ){0,4}?(?:from |to )?(?:me|us)(?: back| next| again)?\W*$",
        r"^\W*+who (?:(?:is |are )?(?:report(?:s|ing)? to|cover(?:s|ing)? for|fill(?:s|ing)? in for|manag(?:es|ing)"
        r"|supervis(?:es|ing)|mentor(?:s|ing)|standing in for)) (?:me|us)(?: (?:on|next|this|tomorrow|today"
        r"|while)\b.{0,30})?\W*$",
        r"^\W*+who (?:follows|unfollowed|messaged|texted|rang|wrote(?: to)?|poked|matched with) (?:me|us)"
        r"(?: (?:on|in|today|yesterday|last)\b.{0,30})?\W*$",
    ),
    # Anything of one's own of which it is asked if it has happened, what is in it, and by which number it goes.
    rule(
        "my our",
        rf"^\W*+(?:has|have|did) (?!i\b|we\b|humans\b|people\b){_NO_ADVICE}(?:(?:[\w'.-]+ ){{0,4}}?my|our)"
        rf" (?!{_NO_RECORD})(?!own\b|lives\b|ancestors\b"
        r"|(?:[\w-]+ )?(?:species|planet|galaxy|universe|sun|moon)\b)(?:[\w'-]+ ){0,4}?[\w'-]+\W*$",
        rf"^\W*+how (?:high|full|big|large|long|old|far along) (?:is|are|was|were) my (?!{_NO_RECORD}){_NO_ADVICE}"
        r"(?:[\w'-]+ ){0,3}?[\w'-]+\W*$",
        rf"^\W*+what(?:'s| is| was) (?:still |left )?in my (?!{_NO_RECORD}|best|own|way|area|power|hand|dna"
        rf"|genes)[\w'-]+"
        r"(?: [\w'-]+)?\W*$",
        r"^\W*+what(?:'s| is| was) the (?:[\w-]+ )?(?:code|combination|date|total|reference|serial number|mileage"
        r"|passcode|due date"
        rf") (?:of|for|on|to) (?:my|our) (?!{_NO_RECORD}){_NO_ADVICE}(?:[\w'-]+ ){{0,2}}?[\w'-]+\W*$",
        r"^\W*+what(?:'s| is| are) (?:my|our) next (?!(?:best |logical |career )?(?:steps?|moves?|level|stage"
        r"|options?)\b)[\w'-]+"
        r"(?: [\w'-]+)?\W*$",
    ),
    # "Who is coming to my party?", "how is my application coming along?"
    rule(
        "my our",
        r"^\W*+who(?:'s| is| are| all is)? (?:coming|invited|signed up|registered|attending) (?:to|for) (?:my|our) \w+",
        r"^\W*+who (?:else )?(?:has|had|holds) (?:the |a |an? )?(?:(?:spare )?keys?|access|copy|copies) (?:to|for"
        r"|of) my \w+",
        r"^\W*+how(?:'s| is| are) my (?:[\w-]+ )?(?:progress|savings|portfolio|scores?|grades?|application|credit"
        r"|budget"
        r"|investments?|stats|sales|pension|streak|attendance|order|claim|case)(?: (?:doing|going|looking"
        r"|coming along))?\W*$",
    ),
    # "Am I on track?", "do I owe Tom anything?", "where are we meeting?"
    rule(
        "i we",
        r"^\W*+(?:am|are) (?:i|we) (?:still )?(?:on (?:track|schedule|target)|behind|ahead)(?: (?:for|with|this"
        r"|on) .{1,40})?\W*$",
        r"^\W*+do i (?:still )?owe [\w'-]+(?: [\w'-]+)? (?:anything|any|money|something)\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+(?:where|when|what time) are we (?:meeting|eating|staying|flying|leaving)(?: (?:on|at|for|tomorrow"
        r"|tonight|today"
        r"|next|this)\b.{0,30})?\W*$",
        r"^\W*+(?:what|which) (?:[\w-]+ )?size do i (?:wear|take|have)\W*$",
    ),
    # "Anything new for me?", "when did you last call us?", "which of us is on call?"
    rule(
        "me us",
        r"^\W*+(?:is there |are there |have you got |got )?(?:any(?: new)? (?:mail|post|messages?|calls?|letters?"
        r"|parcels?)"
        r"|any(?:thing|one)(?: new)?) for (?:me|us)(?: (?:today|yet|here))?\W*$",
        r"^\W*+when did you (?:last )?(?:contact|call|email|e-mail|write to|text|visit|pay|bill|invoice"
        r"|charge) (?:me|us)\W*$",
        r"^\W*+what (?:information |data |else )*(?:do you have|have you got|do you (?:know|remember|store)"
        r"|have you stored)"
        r" (?:on|about) (?:me|us)\W*$",
        r"^\W*+which of us (?:is|are|was|has|did)\b",
    ),
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
