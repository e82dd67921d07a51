"""Prompts about their sender: what is looked up in that person's records, or what only that person can know.

Knows words and patterns of folded text. Invariant: a general how-to question that merely says "my" is not personal.
"""

from __future__ import annotations

import re

from semcache.request.kinds import own_cases, own_dealings, own_facts
from semcache.request.kinds.general import asks_besides, asks_the_way, tells_and_asks_the_way, without_conditions
from semcache.request.kinds.patterns import CuedPatterns, any_of, rule, vocabulary, words_of

# What belongs to one caller and is looked up in that caller's records.
_RECORDS = vocabulary(
    "account application appointment appointments balance balances basket bill bills booking bookings calendar card",
    "cart case claim claims contact contacts contract contracts credit credits dashboard data deliveries delivery",
    "deployment details diagnoses diagnosis document documents email emails file files flight flights grade grades",
    "history holding holdings inbox instance investment investments invoice invoices itinerary lab limit loan luggage",
    "meeting meetings membership message messages miles mortgage note notes order orders package packages parcel",
    "parcels payment payments payslip plan points policies policy portfolio prescription prescriptions profile quota",
    "record records refund refunds reminder reminders repo repository reservation reservations result results return",
    "returns salary schedule score seat server shipment shipments statement statements stock stocks subscription",
    "devices device inboxes folder folders downloads payslips timesheet playlist playlists post posts "
    "comment comments photo photos",
    "pin password basket fines fine lease rent pension allowance vacation holidays leave shift shifts grade "
    "exam exams points",
    "pressure cholesterol weight symptoms scan referral vaccine visa passport permit licence license note "
    "goal goals savings",
    "complaint complaints deposit deposits transfer transfers",
    "servers pto subscriptions task tasks team test ticket tickets transaction transactions usage wishlist",
)
# "What our API returns" is what it gives back.
_GIVEN_BACK = "".join(
    [rf"(?<!{one}\s)" for one in ("api", "function", "endpoint", "method", "query", "service", "code")]
)
_RECORD = (
    rf"(?:{'|'.join(sorted(_RECORDS - {'returns', 'deposit'}))}|(?<!direct\s)deposit(?! box)|{_GIVEN_BACK}returns)\b"
)
_OWNED = rf"(?:my|our|mine) (?:[\w'-]+ ){{0,3}}?{_RECORD}"
_STATE = (
    r"(?:status|arriv\w+|late|delayed|due|shipped|delivered|ready|approved|processed|cancell?ed|confirmed|declined"
    r"|charged|rejected|pending|active|expir\w+|overdue|left|remaining|available|scheduled|eligible|lost|missing|stuck"
    r"|here|coming|blocked|frozen|signed|suspended|received|issued|sent"
    r"|(?<!leave\s)paid|posted|refunded|credited|opened|returned|reviewed|reach\w+)\b"
)
_FETCH = (
    # A check in is no look, and "check in my calendar" is one.
    r"(?:track|check(?!-in\b| in\b(?! (?:my|our|the|here|there|this|that|your|for)\b)|-out\b)"
    r"|look up|find|show|list|pull up|see|view|open|read|fetch|get|give|send|tell"
    r"|summari[sz]e|cancel|change"
    r"|update|reschedule|confirm|review|analy[sz]e|display|print|export|delete|book)"
)
_TROUBLE = r"(?:problem|issue|error|mistake|hold|delay|update|charge|reply|response|block|restriction)s?"
_DONE = (
    r"(?:(?:handl|manag|process|review|approv|view|open|sign|access|updat|delet|creat|assign)(?:es?|s|ed|ing)"
    r"|deal(?:s|t|ing) with|work(?:s|ed|ing) on|look(?:s|ed|ing) (?:at|after)|in charge of|responsible for)"
)
# What was done to one's own order or payment, asked for by "the": no "my" tells whose it is.
_DID_SO = (
    r"the (?:\w+ )?(?:order|package|parcel|payment|booking|reservation|refund|claim|application|ticket|request"
    r"|complaint|appointment|transfer|deposit|invoice|return|item|product|prescription|form"
    r"|flight)s? (?:that |which )?(?:i|we)"
    r" (?:have |had |just |already )*(?!can\b|could\b|should\b|must\b|want\b|need\b|use\b|am\b|are\b)\w+"
)
_OWNERS = vocabulary("my our mine")
_PERSONS = _OWNERS | vocabulary("i we me us ours")
# "The best place for my deposit" is of any deposit, "the amount of my deposit" of one.
_ANY_SUCH = r"(?:(?:best|right|correct|ideal|proper|safest|recommended|normal|typical) |(?:\w+ )?polic(?:y|ies) )"
_OF_THIS = rf"(?!\w+ing\b|{_ANY_SUCH})"
# Each of these needs an owner ("my") and a word of `_RECORDS`.
_OWN_RECORD = any_of(
    rf"\b{_FETCH} (?:me )?(?:all |of |about |the status of )*{_OWNED}",
    rf"\b(?:what|how|which|who)(?:'s|'re| (?:is|are|was|were|much|many|did|do|long|far|soon|about)) "
    rf"(?!the {_ANY_SUCH}(?:\w+ ){{0,2}}for )(?:\w+ ){{0,3}}?(?:in |on |of |for |left )?{_OWNED}",
    rf"\bwhat(?:'s| is| are) the (?:{_OF_THIS}\w+ ){{1,6}}(?:of|for|on|from) {_OWNED}",
    rf"\b(?:has|have|is|are|was|were|did|does|will)(?:n't)? {_OWNED} (?:\w+ ){{0,3}}?{_STATE}",
    rf"^\W*(?:is|are|was|were) there (?:still )?(?:an?|any) (?:\w+ )?{_TROUBLE} "
    rf"(?:with|on|in|to|for|about) {_OWNED}",
    rf"\bwhat (?:has |have )?(?:happened|become|became) (?:to|with|of) {_OWNED}",
    rf"\bwho(?:'s|'re)? (?:is |are |was |has |have )?(?:currently |now )?{_DONE} {_OWNED}",
    rf"\bwho has access to {_OWNED}",
    rf"\b(?:{_FETCH}|play|list|who liked|who commented on) (?:\S+ ){{0,5}}?(?:in |from |of |on |for )?{_OWNED}",
    rf"\bany (?:update|updates|news|word|progress|reply|response|feedback|movement|luck)s? (?:\w+ "
    rf"){{0,2}}?(?:on|about|regarding|with|for|from) {_OWNED}",
    rf"\b(?:has|have|is|are|was|were|did|does|will) (?:\w+ ){{0,4}}?(?:received?|approved?|processed|seen"
    rf"|reply|replied|comment(?:ed)?|answer(?:ed)?|get|got|read|look(?:ed)?|review(?:ed)?|check(?:ed)?|respond(?:ed)?"
    rf"|signed|started|handled|work(?:ed)?)"
    rf" (?:to |on |at |into )?{_OWNED}",
    rf"^\W*(?:is|are|was|were) {_OWNED} (?:on|at|in|for|by|still|the|due|over|under|above|below|before|after)\b",
    rf"\bwhat(?:'s| is| was| are| were) {_OWNED}|\bwhich (?:ones? )?of {_OWNED}",
    rf"^\W*(?:my|our) (?:\w+ ){{0,2}}?{_RECORD}(?: (?:status|number|details|history|update|total))?"
    r"(?:\W+(?:please|now))?\W*$",
)
_PERSONAL = CuedPatterns(
    # "Who on our team is on call?", "when will they deliver my sofa?", "did they charge me twice?"
    rule(
        "my our me us i we",
        r"^\W*+who(?:'s| is| are| was| were)? (?:else (?:is |are )?)?(?:in|on|at) (?:my|our) "
        r"(?!(?:shoes|side|mind|head|way|credit report|back|case)\b)(?:[\w'-]+ ){0,2}[\w'-]+"
        r"(?: (?:is |are )?(?:on call|on duty|off|working|free|available|in charge))?(?: (?:today|now|tonight))?\W*$",
        r"^\W*+when (?:will|are|do) (?:they|you) (?:\w+ )?(?:deliver|ship|send|refund|return|fix|repair|collect|pick up"
        r"|install|pay|process|approve|answer|review|unlock|release) (?:my|our) \w",
        r"^\W*+(?:did|have|has) (?:they|you|he|she) (?:\w+ )?(?:take|taken|charged?|bill|billed|pay|paid|refund"
        r"|refunded|send|sent|deduct|deducted|debit|debited)\b[^?]{0,60}\b(?:me|us|my|our)\b(?!.{0,80}\b(?:if|when)\b)",
        r"^\W*+(?:which|what) (?:gate|terminal|platform|seat|room|desk|table|coach|hall|ward|bay)s? (?:do|did|am|are"
        r"|will|should) (?:i|we)\b(?!.{0,80}\b(?:if|when)\b)",
    ),
    rule(
        "where when whereabouts far long late",
        r"\b(?:where|when|whereabouts|how (?:far(?: away| off)?|late))"
        r"(?:'s| (?:is|are|was|were|will|does|do|did|has|have)) (?:my|our)\b"
        r"(?! (?:nearest|appendix|liver|spleen|pancreas|gall ?bladder|kidneys?|stomach|thyroid|uterus"
        r"|bladder|prostate)\b)"
        r"(?! (?:[\w']+ ){0,2}?(?:eyes?|body|skin|hair|teeth|baby|dog|cat|puppy|kitten|plants?|lawn|cactus|roses"
        r"|tomatoes|sourdough|dough|starter)\b)"
        r"(?! (?:[\w']+ ){1,5}?(?:shown|displayed|recorded|listed|stored|printed)\b)",
    ),
    rule(
        "status balance state progress details result outcome eta",
        r"\b(?:the )?(?:status|balance|state|progress|details|result|outcome|eta) (?:of|on|for) (?:my|our)\b",
    ),
    rule("show", r"\bshow (?:me )?(?:my|our)\b"),
    rule(
        "do",
        r"\bdo (?:i|we) (?:still |currently |already )?(?:have|owe|own) (?:any|an?|enough|the|more|unread"
        r"|some|unpaid|\d"
        r"|outstanding|left)\b(?! (?:right|choice|obligation|time|to\b))(?! [\w-]+ (?:changed|replaced|barred)\b)"
        r"|\bdo (?:i|we) still have to pay for\b",
    ),
    rule(
        "have owe owed spend spent order ordered bought buy paid booked scheduled left say said ask asked sent send"
        " receive received eligible",
        r"\b(?:how (?:much|many)|what|which|when) (?:\w+ ){0,3}?(?:did|have|am|was|were|are) (?:i|we) (?:\w+ )?"
        r"(?:have|owe|owed|spend|spent|order(?:ed)?|bought|buy|paid|booked|scheduled|left|say|said|ask(?:ed)?|sent|send"
        r"|received?|eligible)\b",
        # "What do I have to do" and "what do I say to her" want advice, not records.
        r"\b(?:how (?:much|many)|what|which|when) (?!(?:[\w']+ )?(?:rights?|options?|choices?|chances?|alternatives"
        r"|obligations|duties|arguments|leverage)\b)(?:\w+ ){0,3}?do (?:i|we) (?:still |currently |now )?"
        # ... and "what do I have after 15 years" is a calculation.
        r"(?:have(?! to\b)(?! (?:after|in) (?:\d+|an?|one|two|five|ten|twenty|thirty) (?:months?|years?)\b)"
        r"(?! that (?!i\b|we\b|my\b|our\b))(?! (?:changed|replaced|repaired|checked|done)\b)"
        r"|owe(?! \w+ to\b)|spend)\b",
    ),
    rule("say write send ask want", r"\bwhat did (?:my|our) (?:\w+ ){1,2}?(?:say|write|send|ask|want)\b"),
    rule(
        "have was did am",
        r"^\W*(?:have|was|did|am) i (?:already |still |ever |actually )?(?:been (?:charged|billed|paid"
        r"|accepted|approved|refunded|banned)|received?|paid"
        r"|used|got|charged|billed|refunded|sent?|submit(?:ted)?|sign(?:ed)?|miss(?:ed)?|registered|booked"
        r"|ordered|overcharged|on the)\b",
        r"^\W*how (?:close|far) am i (?:to|from)\b",
    ),
    rule(
        "am was",
        r"\b(?<!how\s)(?:am|was) i (?:still |already )?(?:enrolled|registered|subscribed|charged|billed|approved"
        r"|accepted|eligible"
        r"|logged in|covered|on the(?! hook\b))\b"
        r"(?!.{0,80}\bunder (?:an? |the )?(?:standard|typical|usual|statutory|legal|warranty"
        r"|(?:\w+ )?(?:laws?|rules))\b)",
    ),
    rule(
        "name age address birthday phone number email username id job location favourite favorite timezone city",
        r"\b(?:what(?:'s| is| are)|tell me|do you (?:know|remember)) my (?:name|age|address|birthday|phone|number|email"
        r"|username|id|job|location|favou?rite|timezone|city)\b",
    ),
    rule(
        "am remind about remember",
        r"\b(?:who am i|where am i\b(?! (?:not )?(?:allowed|permitted)\b)"
        r"|remind me(?! (?:what|who|how|why|which|when) (?!i\b|my\b|we\b|our\b))|about me"
        r"|do you remember)\b",
    ),
    rule(
        "am",
        r"\b(?:what|which) (?!(?:tax )?bracket|trimester|generation|age)(?:\w+ ){1,2}?am i (?:\w+ )?"
        r"(?:on|in|at|under|with)\b",
        r"^\W*am i (?:still |already |currently |now )*(?:overdrawn|verified|signed (?:in|up)|scheduled|booked|assigned"
        r"|suspended|banned|blocked|locked out|insured|rostered|on call|paid up|in (?:credit|debt|arrears|the red)"
        r"|(?:over|near|close to|within|behind (?:on|with)|ahead (?:on|with)|up to date with|caught up with) (?:my|our)"
        r"|an? (?:\w+ )?(?:member|admin|administrator|subscriber|owner)\W*$)(?! (?:if|when|for an?)\b)",
    ),
    rule(
        "assigned allocated shared",
        r"\b(?:assigned|allocated) to (?:me|us)\b|\b(?:was|were|been|is|are) shared with (?:me|us)\b",
    ),
    rule("mine ours", r"\bwhich (?:\w+ ){0,4}?(?:is|are|was|were) (?:mine|ours)\b"),
    rule(
        "have did",
        r"^\D*?\bhow (?:much|many) (?:\w+ ){0,3}?(?:have (?:i|we) (?:used|made|placed|taken|worked|earned|saved"
        r"|uploaded|downloaded|submitted|filed|opened|completed|finished|sold|logged|invited|referred|deposited"
        r"|withdrawn"
        r"|transferred|streamed|got)|did (?:i|we) (?:use|make|place|take|work|earn|save|upload|download|submit"
        r"|file|open|complete|finish|sell|log|deposit|withdraw|transfer))\b",
    ),
    rule(
        "i we",
        rf"\b(?:where(?:'s| is| are)|when(?:'s| is| are| will| does| do| did| was| were)|has|have|is|are|was|were|did"
        rf"|will|(?:status|state|progress) (?:of|on)) {_DID_SO}",
    ),
    rule("who who's", r"\bwho(?:'s| is| are) my (?!neighbou?r\b)(?!\w+'s .{1,80}\bto me\b)"),
    rule(
        "did",
        r"\b(?:what|which) (?:\w+ ){1,3}?did (?:i get|(?:i|we) (?:earn|score))\b",
        r"^\W*did my (?:\w+ ){1,2}?(?:go through|arrive|ship|clear|renew)\b",
        r"^\W*did i (?:already |ever |even )?(?:pay|order|book|register|renew|subscribe|sign up|cancel|submit)\b",
    ),
    rule(
        "gone come withdrawal paycheck",
        r"^\W*(?:has|have) my (?:[\w-]+ ){1,4}(?:gone|come) through(?: yet| already| now)?\W*$",
        r"^\W*(?:is|was|has) my (?!(?:alcohol|caffeine|nicotine|opioid|drug|sugar)\b)(?:\w+ ){0,2}"
        r"(?:withdrawal|paycheck)\b(?! (?:symptoms?|bleed\w*|headaches?)\b)",
        r"^\W*what(?:'s| is| was) (?:the (?:\w+ ){1,3}of )?my (?:last|latest|next) (?:paycheck|withdrawal)\b",
    ),
    rule("charged billed", r"\bwhen (?:was|were|am|are) (?:i|we) (?:\w+ ){0,2}?(?:charged|billed)\b"),
    rule(
        "address phone email number",
        r"\b(?:what(?:'s| is)|tell me) my (?:current )?(?:shipping|billing|home|work|delivery|mailing|mobile|contact) "
        r"(?:address|phone|email|number)\b",
    ),
    rule(
        "number id reference code login",
        r"\bwhat(?:'s| is) my (?:customer|client|member(?:ship)?|account|employee|staff|personnel|student|patient"
        r"|policy|contract|reference|tax|insurance|user|booking|order|ticket|tracking|registration|loyalty) "
        r"(?:number|id|reference|code|login)\b",
    ),
    rule(
        "owe owed pay",
        r"\b(?:what(?:'s| is)|the) (?:the )?(?:total )?(?:amount|sum|money) (?:that )?(?:i|we) (?:still |currently )?"
        r"(?:owe|owed|have to pay)\b",
    ),
    rule("ip", r"\bwhat(?:'s| is) my ip\b(?! address used)"),
    rule(
        "list file record chart calendar agenda name rank left called",
        r"\b(?:what(?:'s| is| are)|(?:what|which) \w+ (?:is|are)) on my (?:\w+ )?(?:list|file|record|chart"
        r"|calendar|agenda)\b",
        r"\bwhat(?:'s| is) (?:the )?name of my (?:dentist|doctor|gp|teacher|bank|plan|insurer|landlord|(?:\w+ )?manager"
        r"|advis[eo]r|supervisor|boss|tutor|case ?worker|vet|lawyer)\b"
        r"|\bwhat(?:'s| is) my (?:\w+ )?manager(?:'s name| called)\b"
        r"|\bwhat(?:'s| is) (?:my rank (?:in|on)|left on my)\b",
    ),
    rule(
        "account subscription membership",
        r"\bhow old is my (?:account|subscription|membership)\W*$"
        r"|\b(?:which|what) (?:devices|apps|people|users|phones) (?:are|have) .{0,40}\b(?:my|our) account\b",
    ),
    rule(
        "cleared passed reached left reply answer call write respond accept last",
        r"^\W*has my (?:package|parcel|order|shipment|delivery) (?:cleared|passed|reached|left)\b|\bwhen did i last\b"
        r"|^\W*did my (?:mum|mom|dad|boss|friend|sister|brother|wife|husband|landlord) (?:reply|answer|call"
        r"|write|respond"
        r"|accept)\b",
    ),
    rule(
        "my",
        r"\bwhat(?:'s| is) on my (?:[\w-]+ )?list\b|^\W*how much (?:\w+ ){1,2}(?:is|do i have) (?:left )?on my\b",
        r"^\W*(?:what (?:time|gate|terminal|platform|day)|which (?:gate|terminal|platform|seat)) (?:is|does|do) my (?!"
        r"(?:dog|cat|baby|child|kids?|body|metabolism|best|right)\b)",
        r"^\W*do you (?:still )?have my (?:phone|email|address|number|e-mail|name|birthday|details|card)\b",
        r"^\W*what did my (?:doctor|dentist|gp|manager|boss|teacher|lawyer|landlord|vet) "
        r"(?:say|prescribe|send|write)\b",
    ),
    rule("for", r"^\W*(?:which|what) (?:[\w-]+ ){1,3}do you have (?:on (?:file|record) )?for me\b"),
    rule(
        "discuss discussed talking talk talked old",
        r"^\W*what (?:did|were|have) we (?:discuss(?:ed)?|talk(?:ed|ing)?)\b"
        r"|^\W*how old am i\W*$",
    ),
    rule("am", r"^\W*how am i doing (?:in|at|on|with) (?:this|the|my)\b"),
    rule(
        "got received get booked chose ordered",
        r"^\W*what(?:'s| is| was) the (?:[\w-]+ ){1,2}(?:that )?i (?:got|received|booked|chose|ordered)\b",
    ),
    rule(
        "did",
        r"^\W*did (?:i|we) (?:pass|fail|win|get (?:in|accepted|paid))\b",
        r"\bwhere did i (?:park|leave|put|save)\b",
    ),
    rule(
        "my our",
        r"\b(?:my|our) (?:order|account|invoice|ticket|booking|tracking|reservation|case|claim) (?:number "
        r"|id |no\.? )?(?:is )?"
        r"#?\w*\d",
    ),
)
_NUMBERED = any_of(
    r"\b(?:order|invoice|ticket|booking|tracking|case|claim|reservation)\s*+(?:number|id|no\.?|#)\s*+:?\s*+#?\w*\d{3}",
    r"\b(?:order|invoice|ticket|booking|tracking|reservation) #?\d{5}",
    r"\b(?:track|find|cancel|locate) (?:the |this )?(?:package|parcel|shipment|delivery) #?(?=\w{0,20}\d{4})\w{6,40}\b",
)
# "What is my blood type" is of one person, whatever it is; "What is my BMI" is reckoned from what was said before.
_MINE = any_of(
    r"^\W*what(?:'s| is| are| was| were) my (?!(?:[\w'-]+ ){0,2}(?:options?|rights?|choices?|chances?|odds|alternatives"
    r"|obligations|duties|responsibilities|purpose|destiny|calling|passion|spirit animal|best|next|first|legal"
    r"|missing|lacking|wrong|doing|trying|saying|returning)\b)"
    r"(?!.*\b(?:bmi|body mass index|totals?|surplus|sum|average|mean|profits?|margin|percentage)\b)"
    r"(?:[\w'-]+ ){0,2}(?!(?:for|like|of|in)\b)[\w'-]+\W*$"
)
# What a thing serves is the same for everybody's.
_PURPOSE = any_of(
    r"^\W*what(?:'s| is| are| was| were) (?:my|our) [\w' -]{1,40} (?:used|needed|required|meant|good) for\W*$"
)
_LONG_NUMBER = re.compile(r"\d{3}|\b(?=[a-z]{0,11}\d)(?=\d{0,11}[a-z])[a-z\d]{6,12}\b")
# Rules and offices are the same for everybody who says "our", an insurance is not.
_OF_ALL = any_of(
    r"\bour (?:(?!(?:home|car|health|life|motor|household|liability|pet|my|last|latest|next|current|loan|lease|contract"
    r"|mortgage|account|relationship|case|project|line|order|claims?|payment|data plan)\b)[\w'&-]+ ){0,4}?"
    r"(?:polic(?:y|ies)|rules?|guidelines?|handbook|terms|code of conduct|dress code|procedures?|process|workflow"
    r"|standards?|(?:travel|meal|mileage|home office|leave|holiday|vacation) (?:entitlements?|allowances?)|per diem|sla"
    r"|notice period|(?:opening|office|support|business) hours|(?:public|company) holidays"
    r"|(?:protection|privacy|security|safety|compliance|chief \w+|information|press) officer|head of \w+"
    r"|ceo|cto|cfo|coo|ciso|ombuds\w+|(?:hr|legal|press|security|it) contact|board|committee|works council"
    r"|(?:head\s)?offices?|headquarters|hq|warehouse|canteen|cafeteria|reception|help\s?desk|department)\b"
)
_INSURED = any_of(
    r"\binsur\w*|\bpolicy (?:number|no|id|holder)\b|\b(?:expir\w*|renew\w*|active|premiums?|deductible|excess|lapsed?"
    r"|paid|due|covers?|covered|worth|balance|left|status|remaining)\b|\d{3}"
)
# Reasons for which that happens to anybody; with an amount, a day or a payee it is one payment.
_WHY = any_of(
    r"^\W*(?:(?:hi|hello|hey|so|and|please|(?:can you )?(?:please )?tell me)\W+)*why "
    r"(?:(?:was|is|has|did|are|were) )?my "
    r"(?!(?:last|latest|recent|first|previous)\b)(?:\w+ )?(?:payment|card|transfer|transaction|top-?up|withdrawal"
    r"|deposit)s? (?:is |was |are |were )?(?:been |being |got |get |getting )?(?:declined"
    r"|rejected|refused|denied|returned|reverted|cancell?ed|failed|pending)\W*$",
    r"^\W*why (?:is|was|has) my (?:\w+ )?(?:account|card|profile) (?:been |being |got )?"
    r"(?:blocked|frozen|locked|suspended)\W*$",
)
# What no record tells: it is reckoned from the text ("What do I owe for a loan at 4%?"), a rule, or another's.
_RECKONED = any_of(
    r"\b(?:borrow|lend|lent|loan|interest|invest)\w*\b.{0,80}\d\W{0,2}(?:%|per\W{0,2}cent\b)",
    r"\d\W{0,2}(?:%|per\W{0,2}cent\b).{0,80}\b(?:interest|loan|apr)\b",
    r"\bowe for (?:keeping|losing|damaging|breaking|returning)\b",
    r"\bto (?:whom|which person) do we owe\b",
)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if the answer depends on the records of the person who asks; `bag` holds the words of the text."""
    if own_cases.is_named(folded) or _MINE.match(folded) is not None:
        return True
    if bag.isdisjoint(_PERSONS) and _LONG_NUMBER.search(folded) is None and "#" not in folded:
        return False
    if bag.isdisjoint(_OWNERS) and _RECKONED.search(folded) is not None:
        return False
    if _WHY.match(folded) is not None or _PURPOSE.match(folded) is not None:
        return False
    rest = without_conditions(folded)
    if "our" in bag and _INSURED.search(rest) is None:
        rest = _OF_ALL.sub(" _ ", rest)
    asked = bag if rest == folded else words_of(rest)
    found = not asked.isdisjoint(_OWNERS) and not asked.isdisjoint(_RECORDS) and _OWN_RECORD.search(rest) is not None
    found = found or _PERSONAL.match(rest, asked) or own_facts.applies(folded, bag) or own_cases.applies(folded, bag)
    found = found or own_dealings.applies(folded, bag)
    if own_cases.is_numbered(folded) or own_dealings.is_numbered(folded) or _NUMBERED.search(folded) is not None:
        return not asks_the_way(folded)
    if not found or tells_and_asks_the_way(folded, applies):
        return False
    return not asks_the_way(folded) or asks_besides(folded, applies)
