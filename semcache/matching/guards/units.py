"""Units of measurement: spelling to dimension and factor, and the words that spell numbers.

Data alone. Invariant: two units of one dimension convert by their factors; what cannot be converted exactly (months to
days) has a dimension of its own.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_SPELLINGS: dict[str, dict[float, str]] = {
    "length": {
        1e-9: "nm nanometer nanometers nanometre nanometres",
        1e-6: "µm micron microns micrometer micrometers",
        0.001: "mm millimeter millimeters millimetre millimetres",
        0.01: "cm centimeter centimeters centimetre centimetres cms",
        0.0254: "inch inches",
        0.3048: "ft foot feet",
        0.9144: "yd yard yards",
        1.0: "m meter meters metre metres",
        1000.0: "km kms kilometer kilometers kilometre kilometres",
        1609.344: "mi mile miles",
        1852.0: "nmi",
        9.4607e15: "lightyear lightyears",
    },
    "mass": {
        1e-9: "mcg µg ug microgram micrograms",
        1e-6: "mg milligram milligrams",
        0.001: "g gm gms gram grams",
        0.0283495: "oz ounce ounces",
        0.45359237: "lb lbs",
        6.35029: "stone stones",
        1.0: "kg kgs kilo kilos kilogram kilograms",
        1000.0: "ton tons tonne tonnes",
    },
    "duration": {
        1e-6: "µs microsecond microseconds",
        0.001: "ms millisecond milliseconds",
        1.0: "s sec secs second seconds",
        60.0: "min mins minute minutes",
        3600.0: "h hr hrs hour hours",
        86400.0: "day days d",
        604800.0: "week weeks wk wks",
        1209600.0: "fortnight fortnights",
    },
    "months": {1.0: "month months mo mos", 3.0: "quarters", 12.0: "year years yr yrs", 120.0: "decade decades"},
    "volume": {
        0.001: "ml milliliter milliliters millilitre millilitres cc",
        0.00492892: "tsp teaspoon teaspoons",
        0.0147868: "tbsp tablespoon tablespoons",
        0.0295735: "floz",
        0.236588: "cup cups",
        0.473176: "pint pints",
        1.0: "l liter liters litre litres",
        3.78541: "gallon gallons gal",
    },
    "data": {
        1.0: "byte bytes",
        1e3: "kb kilobyte kilobytes",
        1e6: "mb megabyte megabytes",
        1e9: "gb gigabyte gigabytes gig gigs",
        1e12: "tb terabyte terabytes",
        1024.0: "kib",
        1048576.0: "mib",
        1073741824.0: "gib",
    },
    "bits": {1.0: "bit bits"},
    "rate": {1e3: "kbps", 1e6: "mbps", 1e9: "gbps"},
    "speed": {1.0: "km/h kmh kph kmph", 1.609344: "mph", 3.6: "m/s", 1.852: "knot knots"},
    "acceleration": {1.0: "mpss"},
    "energy": {
        1.0: "joule joules",
        4184.0: "kcal calorie calories cal",
        1000.0: "kj",
        3600.0: "wh",
        3.6e6: "kwh",
        3.6e9: "mwh",
    },
    "current": {0.001: "ma milliamp milliamps", 1.0: "amp amps ampere amperes"},
    "charge": {0.001: "mah", 1.0: "ah"},
    "power": {1.0: "watt watts w", 1000.0: "kw kilowatt kilowatts"},
    "area": {1.0: "sqm", 0.092903: "sqft", 4046.86: "acre acres", 10000.0: "hectare hectares"},
    "frequency": {1.0: "hz hertz", 1e3: "khz", 1e6: "mhz", 1e9: "ghz"},
    "pressure": {1.0: "psi", 14.5038: "bar", 0.145038: "kpa"},
    "temperature": {1.0: "celsius centigrade °c", 2.0: "fahrenheit °f", 3.0: "kelvin"},
    "dollars": {1.0: "dollar dollars bucks", 0.01: "cent cents"},  # of any country
    "usd": {1.0: "usd"},
    "eur": {1.0: "eur euro euros"},
    "gbp": {1.0: "gbp sterling quid", 0.01: "pence penny p"},
    "pounds": {1.0: "pound pounds"},  # of money or of weight
    "jpy": {1.0: "jpy yen"},
    "inr": {1.0: "inr rupee rupees rs", 1e5: "lakh lakhs lac", 1e7: "crore crores"},
    "cny": {1.0: "cny yuan renminbi rmb"},
    "aud": {1.0: "aud"},
    "cad": {1.0: "cad"},
    "nzd": {1.0: "nzd"},
    "chf": {1.0: "chf"},
    "francs": {1.0: "franc francs"},
    "peso": {1.0: "mxn peso pesos"},
    "rub": {1.0: "rub ruble rubles rouble roubles"},
    "crown": {1.0: "sek nok dkk krona kronor krone kroner"},
    "pln": {1.0: "pln zloty zlotys"},
    "czk": {1.0: "czk koruna"},
    "huf": {1.0: "huf forint forints"},
    "brl": {1.0: "brl"},
    "zar": {1.0: "zar"},
    "krw": {1.0: "krw"},
    "sgd": {1.0: "sgd"},
    "hkd": {1.0: "hkd"},
    "thb": {1.0: "thb baht"},
    "myr": {1.0: "myr ringgit"},
    "idr": {1.0: "idr rupiah"},
    "aed": {1.0: "aed dirham dirhams"},
    "riyal": {1.0: "riyal riyals"},
    "ils": {1.0: "ils shekel shekels"},
    "ngn": {1.0: "ngn naira"},
    "shilling": {1.0: "kes shilling shillings"},
    "pkr": {1.0: "pkr"},
    "bdt": {1.0: "bdt taka"},
    "vnd": {1.0: "vnd"},
    "percent": {0.01: "percent percentage pct %"},
}
UNITS: dict[str, tuple[str, float]] = {
    spelling: (dimension, factor)
    for dimension, factors in _SPELLINGS.items()
    for factor, spellings in factors.items()
    for spelling in spellings.split()
}
DOLLARS = vocabulary("usd aud cad nzd sgd hkd")
CURRENCIES = vocabulary(
    "dollars usd eur gbp jpy inr cny aud cad nzd chf francs peso rub crown pln czk huf brl zar krw sgd hkd thb myr idr"
    " aed riyal ils ngn shilling pkr bdt vnd"
)
SYMBOLS = {"$": "dollars", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
# Spellings that are a unit only right behind a number.
AMBIGUOUS = vocabulary(
    "ma ah m g l s h d w mi min mins ms second seconds sec cal bar cup cups foot gal ton tons kilo stone stones p"
    " penny pence quarters bit bits"
    " gig gigs rs yard yards pound cc percentage cent cents pct % day days week weeks year years month"
    " months mo mos hour hours"
    " minute minutes"
)
STANDALONE = frozenset(spelling for spelling in UNITS if spelling not in AMBIGUOUS)
# "per month" against "per year": a period counts without a number only after these words.
PER = frozenset(("per", "a", "an", "each", "every", "in"))
PERIODS = vocabulary("second minute hour day week fortnight month year seconds minutes hours days weeks months years")
POSSESSED = frozenset(f"{period}'s" for period in PERIODS)  # "a week's holiday"

_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve"
    " thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TO_TWELFTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
DIGITS = {word: value for value, word in enumerate(_TO_NINETEEN.split())}
DIGITS |= {word: 10 * tens for tens, word in enumerate(_TENS.split(), start=2)}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = {word: value for value, word in enumerate(_TO_TWELFTH.split(), start=1)}
ORDINALS |= {f"{word}th": value for word, value in DIGITS.items() if value > 12 and word.endswith("teen")}
ORDINALS |= {f"{word[:-1]}ieth": value for word, value in DIGITS.items() if word.endswith("ty")} | {"hundredth": 100}
FRACTIONS = {"half": "0.5", "thirds": "/3", "fifths": "/5", "quarters": "/4"}
TIMES = {
    "twice": "2",
    "double": "2",
    "thrice": "3",
    "triple": "3",
    "dozen": "12",
    "once": "1~",
    "couple": "2~",
    "both": "2~",
}
