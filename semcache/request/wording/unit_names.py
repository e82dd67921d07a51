"""Units of measure: their names and the one symbol for each.

Knows no number and no conversion. Invariant: letters whose case tells two units apart ("MB" and "Mb", "mW" and "MW")
are read to the letter; a symbol that is a word or has two readings ("in", "m", "A", "pt") is no entry.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_TABLE = {
    "km": "kilometre kilometres kilometer kilometers kms",
    "cm": "centimetre centimetres centimeter centimeters cms",
    "mm": "millimetre millimetres millimeter millimeters",
    "nm": "nanometre nanometres nanometer nanometers",
    "kg": "kilogram kilograms kilogramme kilogrammes kilo kilos kgs",
    "mg": "milligram milligrams",
    "mcg": "microgram micrograms \u00b5g \u03bcg ug",
    "ml": "millilitre millilitres milliliter milliliters",
    "cl": "centilitre centilitres centiliter centiliters",
    "L": "litre litres liter liters",
    "g": "gram grams gramme grammes",
    "mph": "miles_per_hour mile_per_hour miles_an_hour mi/h",
    "km/h": "kilometres_an_hour kilometers_an_hour kilometres_per_hour kilometers_per_hour kph kmh kmph",
    "m/s": "metres_per_second meters_per_second",
    "GB": "gigabyte gigabytes gig gigs",
    "MB": "megabyte megabytes",
    "KB": "kilobyte kilobytes",
    "TB": "terabyte terabytes",
    "PB": "petabyte petabytes",
    "Gbps": "gigabits_per_second gigabit_per_second gbit/s gb/s",
    "Mbps": "megabits_per_second megabit_per_second mbit/s",
    "Kbps": "kilobits_per_second kilobit_per_second kbit/s",
    "MB/s": "megabytes_per_second",
    "GB/s": "gigabytes_per_second",
    "GHz": "gigahertz",
    "MHz": "megahertz",
    "kHz": "kilohertz",
    "Hz": "hertz",
    "kWh": "kilowatt-hour kilowatt-hours kilowatt_hour kilowatt_hours kilowatthours",
    "kW": "kilowatt kilowatts",
    "mAh": "milliampere-hour milliampere-hours milliampere_hours milliamp_hours milliamp-hours milliamp_hour",
    "W": "watt watts",
    "V": "volt volts",
    "amps": "amp ampere amperes",
    "ohms": "ohm \u03a9 \u2126",
    "dB": "decibel decibels",
    "psi": "pounds_per_square_inch",
    "bpm": "beats_per_minute",
    "rpm": "revolutions_per_minute",
    "fps": "frames_per_second",
    "dpi": "dots_per_inch",
    "ppm": "parts_per_million",
    "mpg": "miles_per_gallon",
    "kPa": "kilopascal kilopascals",
    "hPa": "hectopascal hectopascals",
    "kJ": "kilojoule kilojoules",
    "kcal": "kilocalorie kilocalories kcals",
    "px": "pixel pixels",
    "MP": "megapixel megapixels",
    "hp": "horsepower",
    "ha": "hectare hectares",
    "m\u00b2": "square_metre square_metres square_meter square_meters sqm sq_m m2 sq._m",
    "km\u00b2": "square_kilometre square_kilometres square_kilometer square_kilometers sq_km km2",
    "cm\u00b2": "square_centimetres square_centimeters sq_cm cm2",
    "m\u00b3": "cubic_metre cubic_metres cubic_meter cubic_meters m3",
    "sq ft": "square_foot square_feet sqft sq_ft sq._ft ft\u00b2 ft2",
    "ft": "foot feet",
    "inches": "inch",
    "cc": "cubic_centimetre cubic_centimetres cubic_centimeter cubic_centimeters cm3",
    "qt": "quart quarts",
    "pints": "pint",
    "mg/dl": "milligrams_per_decilitre milligrams_per_deciliter",
    "atm": "atmosphere atmospheres",
    "joules": "joule",
    "newtons": "newton",
    "lm": "lumen lumens",
    "kn": "kilonewton kilonewtons",
    "pascals": "pascal",
    "stone": "stones",
    "dl": "decilitre decilitres deciliter deciliters",
    "yd": "yard yards yds",
    "miles": "mile mi",
    "lb": "lbs",
    "oz": "ounce ounces",
    "fl oz": "fluid_ounce fluid_ounces",
    "gal": "gallon gallons",
    "tbsp": "tablespoon tablespoons tbsps tbs",
    "tsp": "teaspoon teaspoons tsps",
    "cups": "cup",
    "years": "year yr yrs",
    "months": "month",
    "weeks": "week wk wks",
    "days": "day",
    "hours": "hour h hr hrs",
    "minutes": "minute min mins",
    "seconds": "second s sec secs",
    "milliseconds": "millisecond ms msec",
}
# Read to the letter: another case is another unit, or none.
_EXACT = {
    "W": "W", "V": "V", "g": "g", "L": "L", "l": "L", "dB": "dB", "ha": "ha", "MW": "MW", "mW": "mW", "GW": "GW",
    "m": "m", "mA": "mA", "A": "amps", "N": "newtons", "J": "joules", "Pa": "pascals", "kN": "kn", "hp": "hp",
    "MP": "MP", "ms": "milliseconds", "s": "seconds", "h": "hours", "min": "minutes",
    "Mb": "Mb", "Gb": "Gb", "Kb": "Kb", "Tb": "Tb", "Mbit": "Mb", "Gbit": "Gb", "Mbits": "Mb", "Gbits": "Gb",
    "megabit": "Mb", "megabits": "Mb", "gigabit": "Gb", "gigabits": "Gb", "Mb/s": "Mbps", "Gb/s": "Gbps",
    "MBps": "MB/s", "GBps": "GB/s", "MB/s": "MB/s", "GB/s": "GB/s", "mW/h": "mW/h",
    "megawatt": "MW", "megawatts": "MW", "milliwatt": "mW", "milliwatts": "mW", "metre": "m", "metres": "m",
    "meter": "m", "meters": "m",
}  # fmt: skip
# Capitals make these units of another size, or of another kind ("NM" are nautical miles).
_OTHERS = vocabulary("Mg ML MM Mm Nm NM mHz Pb mPa MPa")
_AMBIGUOUS = vocabulary("w v g l s h m mb/s gb/s mbit gbit mbits gbits mbps gbps mw db mp")


def _symbols() -> dict[str, str]:
    table = {symbol.lower(): symbol for symbol in _TABLE}
    for symbol, names in _TABLE.items():
        table |= dict.fromkeys(names.replace("_", " ").split(" ") if "_" not in names else _names(names), symbol)
    return {name: symbol for name, symbol in table.items() if name not in _AMBIGUOUS} | {"mbps": "Mbps", "gbps": "Gbps"}


def _names(names: str) -> list[str]:
    return [name.replace("_", " ") for name in names.split(" ")]


SYMBOLS: dict[str, str] = _symbols()
WRITTEN: tuple[str, ...] = tuple(sorted({*SYMBOLS, *_EXACT}, key=lambda name: (-len(name), name)))
FIRST_WORDS: frozenset[str] = frozenset(name.split(" ")[0].lower() for name in WRITTEN)


# Names that are units where no number stands before them, too, and their other writing.
_TIMES = frozenset(
    (
        "years",
        "months",
        "weeks",
        "days",
        "hours",
        "minutes",
        "seconds",
        "milliseconds",
        "cups",
        "miles",
        "inches",
        "amps",
    )
)
ALONE: dict[str, str] = {
    **{
        name: plain
        for name, plain in SYMBOLS.items()
        if plain not in _TIMES and (len(name) > 4 or name in ("kms", "kgs", "kilo", "kilos", "feet", "grams",
            "yds", "lbs", "gig", "gigs", "kph"))
        and name not in ("square foot", "yards", "yard", "ounce", "litre", "liter", "pixel", "kilo", "hertz",
            "volts", "watts", "watt", "ampere", "inch")
    },
    "pounds per square inch": "psi", "miles an hour": "mph", "mi/h": "mph", "kilometers an hour": "km/h",
    "kilometres an hour": "km/h",
}  # fmt: skip


def symbol(written: str) -> str | None:
    """The symbol of a unit as somebody wrote it, in the plural; None where its case says another thing."""
    return None if written in _OTHERS else _EXACT.get(written) or SYMBOLS.get(written.lower())
