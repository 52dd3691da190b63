"""Converts numbers, amounts, times and dates to the target language's form: 1,250.5 → 1 250,5 · 3:45 pm → 15 h 45.

Only with the option `localize`: otherwise protected spans are unchanged. Supports English, French, German and Spanish;
other languages, and ambiguous texts (03/05/2024 in English), are unchanged. Grouping is changed only where the source
has it: 1998 is probably a year.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from regard.text.span_patterns import CURRENCY, SPACE

NO_BREAK_SPACE, NARROW_SPACE = "\u00a0", "\u202f"


class NumberFormat(NamedTuple):
    thousands: str
    decimal: str
    percent_space: str
    currency_first: bool
    min_grouped: int = 4  # minimal digits of a grouped number


FORMATS = {  # from the Unicode Common Locale Data Repository
    "en": NumberFormat(",", ".", "", True),
    "fr": NumberFormat(NARROW_SPACE, ",", NARROW_SPACE, False),
    "de": NumberFormat(".", ",", NO_BREAK_SPACE, False),
    "es": NumberFormat(".", ",", NO_BREAK_SPACE, False, 5),
}
DATE_SEPARATORS = {"fr": "/", "de": ".", "es": "/"}
_AMOUNT = regex.compile(
    rf"(?P<sign>[-−+]?)(?P<before>{CURRENCY}?){SPACE}?(?P<digits>\d[\d.,'’ \u00a0\u2009\u202f]*\d|\d){SPACE}?"
    rf"(?P<after>(?:{CURRENCY}|[%‰])?)"
)
_TIME = regex.compile(
    rf"(?P<hour>\d{{1,2}})(?:(?:[:.]|{SPACE}?[hH]{SPACE}?)(?P<minute>\d\d))?{SPACE}?"
    r"(?P<half>[hH]|Uhr|[AaPp]\.?[Mm]\.?)?"
)
_RANGE = regex.compile(rf"({SPACE}?[–×-]{SPACE}?)")  # between the parts of a span: 9:00 – 17:00
_DATE = regex.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")


def localize(text: str, kind: str, source_language: str, target_language: str) -> str:
    """Returns the text of a protected span of this kind in the form of the target language.

    >>> localize("1,250.5", "number", "en", "fr"), localize("20%", "number", "en", "fr")
    ('1\\u202f250,5', '20\\u202f%')
    >>> localize("3:45 pm", "time", "en", "de"), localize("15 h 45", "time", "fr", "en")
    ('15:45 Uhr', '3:45 pm')
    """
    if source_language == target_language or not {source_language, target_language} <= FORMATS.keys():
        return text
    return "".join(_localized(part, kind, source_language, target_language) for part in _RANGE.split(text))


def _localized(text: str, kind: str, source_language: str, target_language: str) -> str:
    if kind in ("number", "amount"):
        return _number(text, FORMATS[source_language], FORMATS[target_language])
    if kind == "time":
        return _time(text, target_language)
    return _date(text, source_language, target_language) if kind == "date" else text


def _number(text: str, source: NumberFormat, target: NumberFormat) -> str:
    found = _AMOUNT.fullmatch(text)
    digits = found and _digits(found["digits"], source, target)
    if not found or digits is None:
        return text
    unit = found["before"] or found["after"]
    if unit and unit in "%‰":
        digits = f"{digits}{target.percent_space}{unit}"
    elif unit:
        digits = f"{unit}{digits}" if target.currency_first else f"{digits}{NO_BREAK_SPACE}{unit}"
    return f"{found['sign']}{digits}"


def _digits(digits: str, source: NumberFormat, target: NumberFormat) -> str | None:
    """Converts the digits; None if they are not a number in the source's form."""
    thousands = SPACE if source.thousands == NARROW_SPACE else regex.escape(source.thousands)
    decimal = regex.escape(source.decimal)
    number = rf"(?P<whole>\d{{1,3}}(?:(?:{thousands})\d{{3}})+|\d+)(?:{decimal}(?P<part>\d+))?"
    found = regex.fullmatch(number, digits)
    if found is None:
        return None
    whole: str = regex.sub(r"\D", "", found["whole"])
    if not found["whole"].isdecimal() and len(whole) >= target.min_grouped:
        whole = regex.sub(r"(?<=\d)(?=(?:\d{3})+$)", target.thousands, whole)
    return f"{whole}{target.decimal}{found['part']}" if found["part"] else whole


def _time(text: str, language: str) -> str:
    found = _TIME.fullmatch(text)
    if found is None or int(found["hour"]) > 24 or not (found["minute"] or found["half"]):
        return text
    hour, half = int(found["hour"]), (found["half"] or "").replace(".", "").lower()
    if half in ("am", "pm"):
        if not 1 <= hour <= 12:
            return text
        hour = hour % 12 + (12 if half == "pm" else 0)
    minute = found["minute"]
    if language == "fr":
        return f"{hour}{NO_BREAK_SPACE}h" + (f"{NO_BREAK_SPACE}{minute}" if minute and minute != "00" else "")
    if language == "de":
        return f"{hour}:{minute or '00'} Uhr" if minute else f"{hour} Uhr"
    if language == "es":
        return f"{hour}:{minute or '00'}"
    of_half_day = f"{(hour - 1) % 12 + 1}" + (f":{minute}" if minute and minute != "00" else "")
    return f"{of_half_day} {'pm' if 12 <= hour < 24 else 'am'}"


def _date(text: str, source_language: str, target_language: str) -> str:
    found = _DATE.fullmatch(text)
    if found is None or target_language not in DATE_SEPARATORS:
        return text
    day, month = found[1], found[3]
    if source_language == "en":  # month or day first: only a number above 12 decides
        if int(month) > 12 >= int(day):
            day, month = month, day
        elif not int(day) > 12 >= int(month):
            return text
    return DATE_SEPARATORS[target_language].join([day, month, found[4]])
