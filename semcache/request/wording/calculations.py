"""Requests for a calculation in one frame each: "calculate 15 percent of 240" is "what is 15% of 240".

The families: a result, an equation's solution, a derivative, an integral, a common divisor or multiple, a number in
another form, an expression simplified, factored or expanded. Knows expressions and calculates nothing. Invariant: a
text that asks for anything beside, a way, a reason, a form, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from semcache.request.text import vocabulary
from semcache.request.wording.expressions import Expression, expression

_LONGEST = 200  # characters
# Every word of two letters and more that such a request may hold.
_WORDS = vocabulary("""
    hi hello hey please kindly can could would will you help me to tell give for what whats how much is are the of
    calculate compute evaluate work out find determine solve result value answer expression does do equal equals make
    makes come multiply multiplied by with and times divide divided add plus minus subtract subtracted take away from
    quotient per cent percent percentage squared cubed square root roots power raised over
    linear quadratic equation solution if when where given that such so in then which satisfies solves true
    derivative first differentiate function respect wrt dx dy dt dz du integral indefinite antiderivative integrate
    between
    average mean median mode range arithmetic these logarithm base factorial solutions zeros zeroes zero definite
    lcm gcd gcf hcf least lowest smallest greatest highest largest common multiple divisor factor numbers
    convert change express write turn rewrite represent into as its an equivalent form number notation numeral
    numerals fraction decimal binary hex hexadecimal octal roman scientific
    simplify factorise factorize expand polynomial reduce terms simplest
    half third quarter fifth tenth double twice triple
    sin cos tan cot sec csc log ln exp sqrt arcsin arccos arctan sinh cosh tanh
    """)
_WORD = re.compile(r"[^\W\d_\u00b2\u00b3]{2,}")
_SIGN = re.compile(r"[\d\u221a\u222b]|deriv|diff|integ")
_POLITE = re.compile(
    r"(?:(?:hi|hello|hey)[,!]? )?(?:please |kindly )?(?:(?:can|could|would|will) you (?:please |kindly )?)?"
    r"(?:help me (?:to )?(?=calculate|compute|solve|find|work|evaluate|simplify|differentiate|integrate|factor))?"
    r"(?:tell me |give me )?",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?: for me)?[,.]?(?: please!?)?[ ?.]*$", re.IGNORECASE)
_EQUALS = re.compile(r"(?:\s*=\s*\??| equals(?: what| how much)?| is (?:what|how much))$", re.IGNORECASE)
_ASK = r"(?:what is|what's|whats|calculate|compute|evaluate|work out|find|determine|how much is|solve)"
_RESULT = re.compile(
    rf"(?P<ask>{_ASK} )?(?:the )?(?:(?:result|value|answer) (?:of|to|for)(?: the expression)? )?:?\s*(?P<of>\S.*)$",
    re.IGNORECASE,
)
_COMES_TO = re.compile(
    r"(?:what|how much) (?:does|do|would|is) (?P<of>.+?) (?:equal|make|come to|evaluate to|equal to)$", re.IGNORECASE
)
_N = r"([$\u20ac\u00a3]?\d[\d,.]*)"
_PART = r"([$\u20ac\u00a3]?\d[\d,.]*(?:/\d+)?)"
# Orders to operate on two numbers, and the operation, with the sides as it has them.
_OPERATIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (rf"multiply {_N} (?:by|with|and|times) {_N}", r"\1 * \2"),
        (rf"divide {_N} by {_N}", r"\1 / \2"),
        (rf"add {_PART} (?:and|to|plus) {_PART}", r"\1 + \2"),
        (rf"(?:subtract|take(?: away)?) {_PART} (?:away )?from {_PART}", r"\2 - \1"),
        (rf"{_PART} subtracted from {_PART}", r"\2 - \1"),
        # "Half 8" may be half past seven, and "double 11" the name of a feast.
        (rf"(?:a |one )?half of {_N}|1/2 of {_N}", r"\1\2 / 2"),
        (rf"(?:a |one )?third of {_N}|1/3 of {_N}", r"\1\2 / 3"),
        (rf"(?:a |one )?quarter of {_N}|1/4 of {_N}", r"\1\2 / 4"),
        (rf"(?:a |one )?fifth of {_N}|1/5 of {_N}", r"\1\2 / 5"),
        (rf"(?:a |one )?tenth of {_N}|1/10 of {_N}", r"\1\2 / 10"),
        (rf"(?:the )?(?:double of|twice(?: of)?) {_N}", r"2 * \1"),
        (rf"(?:the )?triple of {_N}", r"3 * \1"),
        (rf"(?:the )?quotient of {_N} and {_N}", r"\1 / \2"),
    )
)
_UNKNOWN = r"(?:the value of )?(?P<by>[a-z])"
_SIDES = r"(?P<of>[^,;:?=]+=[^,;:?=]+?)"
_GIVEN = r"(?:if|when|where|given(?: that)?|such that|so that|in|for)(?: the equation)?:?"
_SOUGHT = r"(?:then )?(?:what is|what's|find|solve for|calculate|determine)"
_SOLVE = (
    r"(?:solve|(?:find |what are |what is )?the (?:solutions?|roots?|zeros?|zeroes) (?:of|to|for))"
    r"(?: the)?(?: linear| quadratic)?(?: equation)?:?"
)
_EQUATIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:solve for|find) (?P<by>[a-z])(?: {_GIVEN}|:|,)? {_SIDES}",
        rf"{_SOLVE} {_SIDES}(?:,? for (?P<by>[a-z]))?",
        rf"(?:find|determine|calculate|what is|what's|work out) {_UNKNOWN},? {_GIVEN} {_SIDES}",
        rf"(?:if|given(?: that)?|when) {_SIDES},? {_SOUGHT} {_UNKNOWN}",
        rf"{_SIDES}[,.;:]? {_SOUGHT} {_UNKNOWN}",
        rf"(?:what|which) (?:value of )?(?P<by>[a-z]) (?:satisfies|solves|makes)(?: the equation)?:? {_SIDES}"
        r"(?: true)?",
    )
)
_GET = r"(?:(?:what is|what's|find|calculate|compute|determine|evaluate|work out|give|take) )?(?:the )?"
_DERIVATIVE = re.compile(
    rf"(?:{_GET}(?:first )?derivative of|differentiate|{_GET}d/d[a-z](?: of)?)(?: the function)? (?P<of>.+?)"
    r"(?: (?:with respect to|wrt|w\.r\.t\.?) (?P<by>[a-z]))?$",
    re.IGNORECASE,
)
_INTEGRAL = re.compile(
    rf"(?:{_GET}(?:(?:(?:in)?definite )?integral of|antiderivative of|\u222b)|integrate)(?: the function)? (?P<of>.+?)"
    r"(?: ?d(?P<dx>[xyztu]))?(?: (?:with respect to|wrt) (?P<by>[a-z]))?"
    r"(?:,? (?:from|between) (?P<low>\S+) (?:to|and) (?P<high>\S+))?$",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"[fgh]\([a-z]\) ?= ?", re.IGNORECASE)
_COMMON = re.compile(
    rf"{_GET}(?:(?P<multiple>lcm|(?:least|lowest|smallest) common multiple)"
    r"|(?:gcd|gcf|hcf|(?:greatest|highest|largest) common (?:divisor|factor)))(?: \([a-z]{3}\))?"
    r" (?:of|for|between) (?:the numbers )?(?P<of>\d[\d, ]*(?:,? and \d+)?)$",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d,\d{3}(?!\d)")  # one number, or two
_AVERAGE = re.compile(
    rf"{_GET}(?P<name>average|(?:arithmetic )?mean|median|mode|range) of (?:the numbers |these numbers:? )?"
    r"(?P<of>-?\d+(?:\.\d+)?(?:,? -?\d+(?:\.\d+)?)*(?:,? and -?\d+(?:\.\d+)?|, -?\d+(?:\.\d+)?))$",
    re.IGNORECASE,
)
_AVERAGES = {"average": "mean", "arithmetic mean": "mean"}
_LOGARITHM = re.compile(
    rf"{_GET}log(?:arithm)?(?:_?(?P<tight>\d+)| (?:to the )?base (?P<base>\d+))(?: of)? ?\(?(?P<of>\d+(?:\.\d+)?)\)?$",
    re.IGNORECASE,
)
_FACTORIAL = re.compile(
    rf"{_GET}(?:factorial of (?P<of>\d+)|(?P<n>\d+) factorial)$|(?:calculate|compute|evaluate) (?P<sign>\d+)!$",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"""
    (?:(?:convert|change|express|write|turn|give|what\ is|what's|how\ much\ is|find|rewrite|how\ do\ you\ write
      |represent)\ )?
    (?P<number>-?\d+(?:\.\d+)?%?|\d+/\d+)
    \ (?:in(?:to)?|to|as|from\ (?:fraction|decimal|percent)\ (?:in)?to)(?:\ its|\ an?|\ the)?(?:\ equivalent)?
    \ (?P<form>decimal|percent(?:age)?|fraction|binary|hex(?:adecimal)?|octal|roman\ numerals?|scientific\ notation)
    (?:\ (?:number|form|notation|numeral|value|equivalent))?$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FORMS = {"percentage": "percent", "hex": "hexadecimal", "roman numeral": "roman numerals"}
_WORKED = re.compile(
    r"(?P<verb>simplify|factor(?:i[sz]e)?|expand)(?: the (?:expression|polynomial|quadratic|fraction))?:? (?P<of>.+)$",
    re.IGNORECASE,
)
_REDUCED = re.compile(
    r"(?:reduce|simplify) (?P<of>\d+ ?/ ?\d+)(?: to (?:its |the )?(?:lowest terms|simplest form))?$", re.IGNORECASE
)


def calculation(text: str) -> str | None:
    """The request for a calculation that this whole text is, in the frame of its family; None for another text.

    >>> calculation("Can you compute 15% of 240 for me?")
    'what is 15% of 240'
    """
    if len(text) > _LONGEST or "\n" in text:
        return None
    low = text.lower()
    if _SIGN.search(low) is None or not _WORDS.issuperset(_WORD.findall(low)):
        return None
    plain = _TAIL.sub("", " ".join(text.split()))
    if polite := _POLITE.match(plain):
        plain = plain[polite.end() :]
    for family in _FAMILIES:
        if (found := family(plain)) is not None:
            return found
    return None


def _form(text: str) -> str | None:
    if (match := _FORM.match(text)) is None:
        return None
    form = match["form"].lower()
    form = _FORMS.get(form, form)
    article = "" if form in ("binary", "hexadecimal", "octal", "roman numerals", "scientific notation") else "a "
    return f"convert {match['number']} to {article}{form}"


def _common(text: str) -> str | None:
    if (match := _COMMON.match(text)) is None or _GROUPED.search(match["of"]):
        return None
    numbers = sorted({int(number) for number in re.findall(r"\d+", match["of"])})
    if len(numbers) < 2:
        return None
    name = "least common multiple" if match["multiple"] else "greatest common divisor"
    return f"what is the {name} of {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _average(text: str) -> str | None:
    if (match := _AVERAGE.match(text)) is None or _GROUPED.search(match["of"]):
        return None
    numbers = sorted(re.findall(r"-?\d+(?:\.\d+)?", match["of"]), key=float)
    name = match["name"].lower()
    return f"what is the {_AVERAGES.get(name, name)} of {', '.join(numbers[:-1])} and {numbers[-1]}"


def _logarithm(text: str) -> str | None:
    if (match := _LOGARITHM.match(text)) is None:
        return None
    return f"what is log{match['tight'] or match['base']}({match['of']})"


def _factorial(text: str) -> str | None:
    match = _FACTORIAL.match(text)
    return None if match is None else f"what is {match['of'] or match['n'] or match['sign']} factorial"


def _solution(text: str) -> str | None:
    if "=" not in text:
        return None
    for pattern in _EQUATIONS:
        if (match := pattern.fullmatch(text)) and (found := _solved(match["of"], match["by"])) is not None:
            return found
    return None


def _solved(equation: str, unknown: str | None) -> str | None:
    """The request to solve this equation for its unknown, which is its only variable where none is said."""
    left, right = map(expression, equation.split("="))
    if left is None or right is None:
        return None
    variables = left.variables | right.variables
    if unknown is None and len(variables) == 1:
        unknown = min(variables)
    if unknown is None or unknown not in variables:
        return None
    return f"solve {left.text} = {right.text} for {unknown}"


def _derivative(text: str) -> str | None:
    if (match := _DERIVATIVE.match(text)) is None:
        return None
    of = _function_of_one(match["of"], match["by"])
    return None if of is None else f"what is the derivative of {of.text}"


def _integral(text: str) -> str | None:
    if (match := _INTEGRAL.match(text)) is None:
        return None
    of = _function_of_one(match["of"], match["dx"] or match["by"])
    if of is None:
        return None
    if match["low"] is None:
        return f"what is the integral of {of.text}"
    ends = [expression(match[end]) for end in ("low", "high")]
    low, high = (end.text if end is not None else "" for end in ends)
    return f"what is the integral of {of.text} from {low} to {high}" if low and high else None


def _function_of_one(text: str, by: str | None) -> Expression | None:
    """The expression of one variable that this is, of this one if it is said."""
    found = expression(_FUNCTION.sub("", text, count=1))
    if found is None or len(found.variables) != 1 or (by is not None and by not in found.variables):
        return None
    return found


def _worked(text: str) -> str | None:
    if match := _REDUCED.match(text):
        found = expression(match["of"])
        return None if found is None else f"simplify {found.text}"
    if (match := _WORKED.match(text)) is None:
        return None
    found = expression(match["of"])
    if found is None or not found.operates:
        return None
    verb = match["verb"].lower()
    return f"{'factor' if verb.startswith('factor') else verb} {found.text}"


def _result(text: str) -> str | None:
    ended = _EQUALS.sub("", text)
    match = _COMES_TO.match(ended) or _RESULT.match(ended)
    if match is None:
        return None
    said = match["of"]
    for pattern, plain in _OPERATIONS:
        if operation := pattern.fullmatch(said):
            said = operation.expand(plain)
            break
    found = expression(said)
    asked = match.groupdict().get("ask") or ""
    if found is None or found.variables or not found.operates or "e" in found.text.split():
        return None
    plain_question = not asked or asked.lower().startswith(("what", "how"))
    if found.written_tight and plain_question and ended == text:
        return None
    return f"what is {_in_order(found.text)}"


def _in_order(written: str) -> str:
    """An expression with its summands, and the factors of each, in one order; one that takes away keeps its own."""
    if "(" in written or "-" in written:
        return written
    return " + ".join(sorted(_factors_in_order(term) for term in written.split(" + ")))


def _factors_in_order(term: str) -> str:
    return term if "/" in term or " of " in term else " * ".join(sorted(term.split(" * ")))


_FAMILIES: tuple[Callable[[str], str | None], ...] = (
    _form,
    _common,
    _average,
    _logarithm,
    _factorial,
    _solution,
    _derivative,
    _integral,
    _worked,
    _result,
)
