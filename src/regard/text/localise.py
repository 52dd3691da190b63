"""The target language's form of a number, an amount, a time or a date: 1,250.5 → 1 250,5 · 3:45 pm → 15 h 45.

Only for those who ask for it: otherwise what must survive stays as it is. English, French, German and Spanish; other
languages, and whatever can be read in two ways (03/05/2024 in English), stay as they are. Grouping is only changed
where it is written: 1998 is rather a year.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from regard.text.numbers import CURRENCY

NO_BREAK, NARROW = "\u00a0", "\u202f"


class NumberForm(NamedTuple):
    thousands: str
    decimal: str
    percent: str  # what stands before the sign
    currency_first: bool
    fewest_grouped: int = 4  # digits


FORMS = {  # of the Unicode Common Locale Data Repository
    "en": NumberForm(",", ".", "", True),
    "fr": NumberForm(NARROW, ",", NARROW, False),
    "de": NumberForm(".", ",", NO_BREAK, False),
    "es": NumberForm(".", ",", NO_BREAK, False, 5),
}
DATE_SEPARATORS = {"fr": "/", "de": ".", "es": "/"}
SPACES = "[ \u00a0\u2009\u202f]"
_AMOUNT = regex.compile(
    rf"(?P<sign>[-−+]?)(?P<before>{CURRENCY}?){SPACES}?(?P<digits>\d[\d.,'’ \u00a0\u2009\u202f]*\d|\d){SPACES}?"
    rf"(?P<after>(?:{CURRENCY}|[%‰])?)"
)
_TIME = regex.compile(
    rf"(?P<hour>\d{{1,2}})(?:(?::|{SPACES}?[hH]{SPACES}?)(?P<minute>\d\d))?{SPACES}?"
    r"(?P<half>[hH]|Uhr|[AaPp]\.?[Mm]\.?)?"
)
_DATE = regex.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")


def localised(text: str, kind: str, source_language: str, target_language: str) -> str:
    """
    >>> localised("1,250.5", "number", "en", "fr"), localised("20%", "number", "en", "fr")
    ('1\\u202f250,5', '20\\u202f%')
    >>> localised("3:45 pm", "time", "en", "de"), localised("15 h 45", "time", "fr", "en")
    ('15:45 Uhr', '3:45 pm')
    """
    if source_language == target_language or not {source_language, target_language} <= FORMS.keys():
        return text
    if kind in ("number", "amount"):
        return _number(text, FORMS[source_language], FORMS[target_language])
    if kind == "time":
        return _time(text, target_language)
    return _date(text, source_language, target_language) if kind == "date" else text


def _number(text: str, source: NumberForm, target: NumberForm) -> str:
    found = _AMOUNT.fullmatch(text)
    digits = found and _digits(found["digits"], source, target)
    if not found or digits is None:
        return text
    unit = found["before"] or found["after"]
    if unit and unit in "%‰":
        digits = f"{digits}{target.percent}{unit}"
    elif unit:
        digits = f"{unit}{digits}" if target.currency_first else f"{digits}{NO_BREAK}{unit}"
    return f"{found['sign']}{digits}"


def _digits(digits: str, source: NumberForm, target: NumberForm) -> str | None:
    """None where it is not a number of the source's form."""
    thousands = SPACES if source.thousands == NARROW else regex.escape(source.thousands)
    decimal = regex.escape(source.decimal)
    number = rf"(?P<whole>\d{{1,3}}(?:(?:{thousands})\d{{3}})+|\d+)(?:{decimal}(?P<part>\d+))?"
    found = regex.fullmatch(number, digits)
    if found is None:
        return None
    whole: str = regex.sub(r"\D", "", found["whole"])
    if not found["whole"].isdecimal() and len(whole) >= target.fewest_grouped:
        first = len(whole) % 3 or 3
        whole = target.thousands.join([whole[:first], *(whole[i : i + 3] for i in range(first, len(whole), 3))])
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
        return f"{hour}{NO_BREAK}h" + (f"{NO_BREAK}{minute}" if minute and minute != "00" else "")
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
    if source_language == "en":  # month first or day first: only a number above 12 tells
        if int(month) > 12 >= int(day):
            day, month = month, day
        elif not int(day) > 12 >= int(month):
            return text
    return DATE_SEPARATORS[target_language].join([day, month, found[4]])
