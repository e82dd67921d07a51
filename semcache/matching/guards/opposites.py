"""Words that exclude each other: opposites in pairs, and groups of alternatives.

Data, and the inflections of it. Invariant: no word stands on both sides of one axis, and none is a negator, which would
count twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from semcache.request.text import vocabulary

_VERBS = """
enable disable|activate deactivate|increase decrease,reduce|buy,purchase sell|allow,permit deny,forbid,prohibit,disallow
start,begin stop|include exclude|add remove,delete,drop|create delete,destroy|cancel renew|merge split|join leave
install uninstall|subscribe unsubscribe|upload download|import export
send receive|lend borrow|encode decode|encrypt decrypt|deposit withdraw|lock unlock|push pull|hire fire|gain lose
raise lower|accept reject,decline|connect disconnect|compress decompress|mute unmute|follow unfollow|hide show,unhide
attach detach|expand collapse|serialize deserialize|serialise deserialise|subtract multiply|freeze thaw,unfreeze
block unblock|ascend descend|inhale exhale|immigrate emigrate|login logout|zip unzip|approve disapprove
agree disagree|like dislike|trust distrust|register unregister,deregister|upgrade downgrade|maximize minimize
maximise minimise|pass fail|succeed fail|marry divorce|tighten loosen|inflate deflate|arrive depart|undo redo
qualify disqualify
appear disappear|admit deny|archive unarchive|publish unpublish|pin unpin|wrap unwrap|pack unpack|strengthen weaken
lengthen shorten|widen narrow|soften harden|plug unplug|assemble disassemble|opt-in opt-out|bind unbind|open close
attack defend|append prepend|grant revoke|select deselect,unselect|mount dismount,unmount|encourage discourage
thicken thin,dilute|precede succeed|overwrite append
"""
_PLAIN = """
on off|before,prior after|min,minimum max,maximum|ascending descending|first last|safe unsafe|legal illegal
legally illegally|possible impossible|best worst|better worse|more less,fewer|most least
cheap,cheaper,cheapest expensive,pricey
large,larger,largest,big,bigger,biggest small,smaller,smallest|high,higher,highest low,lower,lowest|hot cold
fast,faster,fastest slow,slower,slowest|long,longer,longest short,shorter,shortest|tall,taller,tallest shorter,shortest
young,younger,youngest old,older,oldest|rich,richer,richest poor,poorer,poorest
strong,stronger,strongest weak,weaker,weakest
easy,easier,easiest hard,harder,hardest,difficult|early,earlier,earliest late,later|newest oldest|newer older
left right|inside outside|internal external|inner outer|input,inputs output,outputs|public private|male female
men women|boys girls|boy girl|husband wife|mother father|mom,mum dad|son daughter|brother sister|uncle aunt
nephew,nephews niece,nieces|grandson,grandsons granddaughter,granddaughters|grandpa,grandfather grandma,grandmother
stepfather,stepdad stepmother,stepmom,stepmum|stepson stepdaughter|godfather godmother|inland coastal
uphill downhill|biological adoptive,adopted|felony,felonies misdemeanor,misdemeanors,misdemeanour
permutation,permutations combination,combinations|singly doubly|literally idiomatically
portrait landscape|matte glossy|pve pvp
boyfriend girlfriend|pros cons|advantage,advantages,benefit,benefits disadvantage,disadvantages,drawback,drawbacks
hypertension hypotension|hyperglycemia hypoglycemia|hyperthyroidism hypothyroidism|hyperkalemia hypokalemia
hypernatremia hyponatremia|hyperthermia hypothermia|acute chronic|benign malignant|systolic diastolic|bacterial viral
agonist antagonist|contagious noncontagious|conscious unconscious|fertile infertile|pre post|horizontal vertical
horizontally vertically|row,rows column,columns|latitude longitude|even odd|rational irrational|sine,sin cosine,cos
numerator denominator|integral,integrate,antiderivative derivative,differentiate|positive negative|finite infinite
convex concave|odd even|encoder decoder|client server|frontend backend|mutable immutable
synchronous,sync asynchronous,async
static dynamic|signed unsigned|uppercase lowercase|upper lower|prefix suffix|parent child|stack queue|leading trailing
local remote|valid invalid|visible invisible|supervised unsupervised|deterministic nondeterministic|linear nonlinear
stateful stateless|arrival,arrivals departure,departures|domestic international|refundable nonrefundable
credit debit|asset,assets liability,liabilities|profit,profits loss,losses|income,revenue expense,expenses|bull bear
lender borrower|buyer seller|sender,senders recipient,recipients|payer payee|licensor licensee|mentor mentee
interviewer interviewee|plaintiff defendant|landlord tenant|employer employee|inbound outbound|incoming outgoing
locally remotely|weekday,weekdays weekend,weekends|within outside|minor,minors adult,adults|soft hard
raw cooked,boiled,fried,roasted|sweet savory,savoury|fresh frozen,canned,tinned
subscriber,subscribers nonsubscriber|wired wireless|online offline|hardcover paperback|kids,children adults
left-handed right-handed|northbound southbound|eastbound westbound|prepaid postpaid|fixed variable|gross net
const,constant,constants variable,variables|stdout stderr|sensitive insensitive|sensitively insensitively
case-sensitive case-insensitive|case-sensitively case-insensitively|perennial,perennials annuals
single married
indoor,indoors outdoor,outdoors|vegetarian nonvegetarian|vegan nonvegan|sunrise sunset|happy unhappy|healthy unhealthy
known unknown|available unavailable|likely unlikely|fair unfair|usual unusual|normal abnormal
moral immoral|ethical unethical|correct incorrect|true false|complete,completed incomplete
regular irregular|reversible irreversible|responsible irresponsible|logical illogical|moderate extreme|formal informal
direct indirect|dependent independent|relevant irrelevant|secure insecure|active inactive|accurate inaccurate
consistent inconsistent|sufficient insufficient|compatible incompatible|appropriate inappropriate|literate illiterate
mature immature|patient impatient|perfect imperfect|practical impractical|proper improper|reliable unreliable
stable unstable|necessary unnecessary|comfortable uncomfortable|certain uncertain|employed unemployed
married unmarried|paid unpaid|limited unlimited|official unofficial|supported unsupported|sorted unsorted
ordered unordered|structured unstructured|verified unverified|authorized unauthorized|authorised unauthorised
introvert,introverts extrovert,extroverts|introverted extroverted|optimist pessimist|major minor|majority minority
winner loser|victory defeat|friend enemy|love,loves hate,hates|heaven hell|war peace|birth death|live die
victim perpetrator|plaintiff defendant|singular plural|masculine feminine|ancient modern|absolute relative
acid,acidic alkaline|anode cathode|exothermic endothermic|aerobic anaerobic|conductor insulator|concave convex
upstream downstream|above below|over under|up down|top bottom|front rear|near far|empty full
rise,rises,rising,rose,risen fall,falls,falling,fell,fallen
wet dry|clean dirty|thick thin|heavy,heavier,heaviest lightweight,lighter,lightest
wide,wider,widest narrow,narrower,narrowest|loud,louder quiet,quieter|bright,brighter dim
temporary,temporarily permanent,permanently|automatic,automatically manual,manually|optional mandatory,required
voluntary involuntary|maximal minimal|vertical horizontal|clockwise counterclockwise,anticlockwise|oral topical
overweight underweight|overrated underrated|overvalued undervalued|nullable nonnullable|lossless lossy
union intersection|multicast unicast|public private|wholesale retail|long-term short-term|import export|alive dead
present absent|attack,attacks defence,defense|entry exit|cause cure|sighted blind
ceiling floor|superior inferior|senior junior|same different|total partial
synonym,synonyms antonym,antonyms|maternal paternal|anterior posterior|dorsal ventral
vertebrate,vertebrates invertebrate,invertebrates
recursive,recursively iterative,iteratively|grandchild,grandchildren grandparent,grandparents
physical virtual|comparative,comparatives superlative,superlatives|previous current|predecessor successor
"""
# Opposites that also stand in other wordings of one request: they count where texts differ in little else.
_WEAK_VERBS = """
read write|win lose|overestimate underestimate|overpay underpay|praise criticize,criticise|prove disprove
legalize,legalise criminalize,criminalise|promote demote|melt freeze|grow shrink|float sink|absorb emit|invest divest
stimulate inhibit|remember forget|earn spend|insert extract|tie untie|charge discharge|reveal conceal|arrest release
centralize,centralise decentralize,decentralise|hydrate dehydrate|rent,lease buy,own,purchase|rent,lease sell
buy,purchase return|enter leave,exit|arrive leave|save invest|save delete|stop,suspend,pause resume|pause play
book,confirm,reinstate cancel|submit withdraw|allow block,ban|insert delete|commit revert|ask answer|give receive
join quit|become cease,stop,quit|fill empty,drain|heat cool|improve worsen|build demolish|attract repel|copy move
plant harvest
summarize,summarise,condense,shorten expand,elaborate
pause cancel,delete|mute block|archive delete|enlarge shrink,reduce|treat prevent|exchange return,refund|hire become
renew replace|file,submit withdraw|send draft
"""
_WEAK = """
good bad|prime composite|safer,safest dangerous|free paid|new old|upstairs downstairs|front back|hot iced
cash card,credit|fee,fees fine,fines|plus including,inclusive
"""
# Adjectives whose comparatives and superlatives are such opposites.
_GRADED = """
dark light,bright,pale|warm,hot cold,cool,chilly|far close,near|happy,merry sad|smart,clever,bright dumb|safe risky
soft hard,firm|rough smooth|shallow deep|sharp blunt,dull|tight loose|fat thin,slim,lean|dry wet,damp|sweet sour
mild harsh,severe|pretty ugly|kind mean,cruel|simple complex|strict lax|dense sparse|calm stormy|healthy sick
"""
# Alternatives of one kind: prompts that name different members ask different things.
_GROUPS = """
all|running|stopped|paused|queued,pending
before,prior|during|after
north,northern|south,southern|east,eastern|west,western
breakfast|lunch|dinner
spring,springtime|summer|autumn|winter
pdf|docx|csv|json|xml|yaml|xlsx|html|markdown
red|blue|green|yellow|purple|orange|pink|brown
dog,dogs,puppy,puppies|cat,cats,kitten,kittens|horse,horses|rabbit,rabbits|hamster,hamsters
mean|median|mode
noun,nouns|verb,verbs|adjective,adjectives|adverb,adverbs|pronoun,pronouns
author,authors|publisher,publishers|illustrator,illustrators|translator,translators|narrator,narrators
minimum|average|maximum
perimeter|area|circumference|diameter|radius|volume
circle,circles,circular|triangle,triangles,triangular|rectangle,rectangles,rectangular|sphere,spheres|cylinder,cylinders|cone,cones|hexagon|pentagon|octagon|ellipse
boil,boiled,boiling|fry,fried,frying|grill,grilled,grilling|bake,baked,baking,roast,roasted,roasting|steam,steamed,steaming|microwave,microwaved,microwaving|melting,freezing
symptom,symptoms|treatment,treatments,therapy|prevention|diagnosis
multiplication|addition|subtraction|division
beginner,beginners,novice,novices|intermediate|advanced,expert,experts
apple,apples|banana,bananas|mango,mangoes|grape,grapes|strawberry,strawberries|lemon,lemons
beef|chicken|pork|lamb|salmon|tuna
morning,mornings|afternoon,afternoons|evening,evenings
posts|messages|photos|comments
coffee|tea|beer|wine|milk|juice
football|basketball|tennis|cricket|baseball|hockey|volleyball|golf
leather|cotton|wool|silk|polyester
guitar|piano|violin|drums
bride,brides|groom,grooms
rice|pasta|quinoa
monthly|yearly,annual,annually|weekly|daily|hourly|quarterly
liver|kidney,kidneys|heart|lung,lungs|stomach|brain
breast|prostate|colon|pancreatic|cervical|ovarian
bronze|silver|gold|platinum
sedan|suv|motorcycle|truck|bicycle
email,e-mail|sms
visa|mastercard|amex|paypal
toddler,toddlers|infant,infants,newborn,newborns|teenager,teenagers,teen,teens|adult,adults
husband|wife|mother|father
entirely,completely,fully,totally,wholly,only,solely,exclusively|mostly,mainly,largely,primarily|partly,partially
slightly|severely,badly,extremely,heavily,seriously
barely,scarcely|easily
desert,deserts|dessert,desserts
personal|personnel
cannon,cannons|canon,canons
statue,statues|statute,statutes
complement,complements,complementing|compliment,compliments,complimenting
ingenious|ingenuous
human|humane
proton,protons|neutron,neutrons|electron,electrons
yolk,yolks|whites
liveness|readiness|startup
oral,orally|intravenous,intravenously|intramuscular,intramuscularly|intradermal,intradermally|subcutaneous,subcutaneously
nitrate,nitrates|nitrite,nitrites|nitride,nitrides
sulfate,sulphate,sulfates|sulfite,sulphite,sulfites|sulfide,sulphide,sulfides
methane|methanol|methanal
ethane|ethanol|ethanal
carbohydrate,carbohydrates,carbs|protein,proteins|fat,fats|fiber,fibre|sugar,sugars|sodium|cholesterol
"""
_IRREGULAR = {
    "buy": "bought",
    "sell": "sold",
    "begin": "began begun",
    "send": "sent",
    "lend": "lent",
    "withdraw": "withdrew withdrawn",
    "forbid": "forbade forbidden",
    "lose": "lost losing",
    "freeze": "froze frozen",
    "hide": "hid hidden",
    "show": "shown",
    "undo": "undid undone",
    "bind": "bound",
    "unbind": "unbound",
    "write": "wrote written",
    "win": "won",
    "grow": "grew grown",
    "shrink": "shrank shrunk",
    "sink": "sank sunk",
    "forget": "forgot forgotten",
    "spend": "spent",
    "tie": "tying",
    "cancel": "cancelled cancelling",
    "build": "built",
    "give": "gave given",
    "untie": "untying",
    "far": "farther farthest further furthest",
}
# What was done to a thing ("frozen" asks for "unfreeze"), beside the participles in "ed".
_PARTICIPLES = vocabulary(
    "bought sold lent sent spent frozen hidden shown withdrawn undone bound unbound written grown shrunk sunk forgotten"
    " begun forbidden built given"
)
# Past tenses: they may stand for a state or a deed.
_PASTS = vocabulary("won lost withdrew froze hid undid wrote grew shrank sank forgot forbade began gave")
_NOUNS = """
increase decrease|subscription unsubscription|installation uninstallation|activation deactivation|encryption decryption
inclusion exclusion|deposit withdrawal|agreement disagreement|approval rejection|acceptance rejection
compression decompression|connection disconnection|weight-gain weight-loss|immigration emigration|immigrant emigrant
"""


def _forms(verb: str) -> set[str]:
    stem = verb[:-1] if verb.endswith("e") else verb
    last = verb + verb[-1] if verb in _DOUBLED else stem
    forms = {verb, verb + "s", last + "ed", last + "ing"}
    if verb.endswith("y") and verb[-2] not in "aeiou":
        forms |= {verb[:-1] + "ies", verb[:-1] + "ied"}
    if verb.endswith(("s", "x", "ch", "sh")):
        forms.add(verb + "es")
    return forms | set(_IRREGULAR.get(verb, "").split())


_PREFIXES = """
hyper hypo|pre post|ante post|over under|inter intra|macro micro|maxi mini|homo hetero|mono poly|uni multi|endo exo
pro anti|in de|in ex|im ex|in out|fore back|up down|sub super|intro extro|bi tri|inter intro|en de|as des
"""
_SUFFIXES = "ful less"
_BASE = 3  # letters that must be left of a word with such an affix
_DOUBLED = vocabulary(
    "stop begin permit admit submit commit repel quit ban zip unzip plug unplug pin unpin wrap"
    " unwrap win forget emit hot fat thin slim wet sad dim"
)


def _affixes(pairs: str) -> dict[str, tuple[tuple[str, int], ...]]:
    """The pairs that each affix is in, and on which side."""
    table: dict[str, tuple[tuple[str, int], ...]] = {}
    for pair in pairs.replace("\n", "|").split("|"):
        for sign, affix in zip((1, -1), pair.split(), strict=False):
            table[affix] = (*table.get(affix, ()), (pair, sign))
    return table


_BEFORE, _BEHIND = _affixes(_PREFIXES), _affixes(_SUFFIXES)
_LONGEST = max(map(len, _BEFORE))


@lru_cache(maxsize=16384)
def affixed(word: str) -> tuple[tuple[str, int], ...]:
    """The axes that a word is on by how it begins or ends, "hyper hypo-tension", and on which side of each."""
    found: list[tuple[str, int]] = []
    for end in range(2, min(_LONGEST, len(word) - _BASE) + 1):
        found += [(f"{pair}-{word[end:]}", sign) for pair, sign in _BEFORE.get(word[:end], ())]
    for affix, sides in _BEHIND.items():
        if word.endswith(affix) and len(word) - len(affix) >= _BASE:
            found += [(f"{word[: -len(affix)]}-{pair}", sign) for pair, sign in sides]
    return tuple(found)


def _degrees(adjective: str) -> set[str]:
    """The comparative and the superlative."""
    if adjective in _IRREGULAR:
        return set(_IRREGULAR[adjective].split())
    stem = adjective + adjective[-1] if adjective in _DOUBLED else adjective.removesuffix("e")
    if adjective.endswith("y"):
        stem = adjective[:-1] + "i"
    return {stem + "er", stem + "est"}


def _itself(word: str) -> set[str]:
    return {word}


class _Table(NamedTuple):
    """Pairs of opposites, the forms of their words, and whether they count only where little else differs."""

    pairs: str
    forms: Callable[[str], set[str]]
    weak: bool


_TABLES = (
    _Table(_VERBS, _forms, weak=False),
    _Table(_PLAIN, _itself, weak=False),
    _Table(_NOUNS, _itself, weak=False),
    _Table(_WEAK_VERBS, _forms, weak=True),
    _Table(_WEAK, _itself, weak=True),
    _Table(_GRADED, _degrees, weak=True),
)


class _Axes(NamedTuple):
    """The axes and sides of each word, the axes that count only where little else differs, and those of verbs."""

    by_word: dict[str, frozenset[tuple[int, int]]]
    weak: frozenset[int]
    verbs: frozenset[int]


def _axes() -> _Axes:
    axes: dict[str, set[tuple[int, int]]] = {}
    weak: set[int] = set()
    verbs: set[int] = set()
    pairs = [(table, pair.split()) for table in _TABLES for pair in table.pairs.replace("\n", "|").split("|")]
    for number, (table, sides) in enumerate((one for one in pairs if one[1]), 1):
        weak |= {number} if table.weak else set()
        verbs |= {number} if table.forms is _forms else set()
        for sign, side in zip((1, -1), sides, strict=True):
            for form in {form for word in side.split(",") for form in table.forms(word)}:
                axes.setdefault(form, set()).add((number, sign))
    return _Axes({word: frozenset(sides) for word, sides in axes.items()}, frozenset(weak), frozenset(verbs))


AXES, WEAK, VERBS = _axes()
STATES = frozenset(word for word in AXES if word in _PARTICIPLES or (word[-2:] == "ed" and word[-3:] != "eed"))
DEEDS = frozenset(AXES) - STATES - _PASTS
# Axes whose words are mostly prepositions: they count only beside a word that switches or moves something.
LOOSE = frozenset(axis for word in ("off", "down") for axis, _ in AXES[word])
SWITCHING = vocabulary(
    "turn turned turning turns switch switched switching put set shut power powered log logging logged sign"
    " signing signed went gone"
    " scroll scrolling move moving moved go goes going bring tone volume slow speed page voice mode lights light"
)
# Axes whose sides compare or order two things, and those of deeds between two parties: "lend" against "borrow".
CONVERSE = frozenset(
    axis
    for word in vocabulary(
        "more better large fast long tall young high early strong heavy rich before over above cheap"
    )
    for axis, _ in AXES[word]
)
DEALS = frozenset(axis for word in ("lend", "send") for axis, _ in AXES[word]) | (
    frozenset(axis for axis, _ in AXES["purchase"]) & frozenset(axis for axis, _ in AXES["sell"])
)
# Properties and states, which may be the trouble in one wording and the wish in another.
MILD = frozenset(
    axis
    for word in vocabulary(
        "large fast young loud high long easy clean cheap better more safe hot allow lock accept even parent local"
        " inside"
    )
    for axis, _ in AXES[word]
)
# Words of a group that are mostly the setting of a request.
SETTINGS = vocabulary("running before winter dinner red monthly area boil entirely slightly barely")
GROUPS: dict[str, tuple[int, int]] = {
    word: (group, member)
    for group, line in enumerate(filter(None, _GROUPS.split("\n")))
    for member, words in enumerate(line.split("|"))
    for word in words.split(",")
    if " " not in word
}
