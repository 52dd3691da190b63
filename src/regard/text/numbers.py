"""Numbers as people write them: patterns for numbers, dates, times, amounts and phone numbers.

The patterns are pieces of one scan (`protect.py`). They never try a text twice: repetitions are possessive or bounded,
so that a megabyte of digits takes a moment. In "20th" and "1950s" the number is the digits; in "May 3, 1998" there are
two numbers, and the month belongs to the model.
"""

from __future__ import annotations

SPACE = r"[ \u00A0\u2009\u202F]"  # those that stand between groups of digits or before a sign
AFTER_WORD = r"(?<![\p{Latin}\p{Greek}\p{Cyrillic}\p{M}\p{N}_])"  # Chinese and Japanese write numbers within words
FRACTION = r"[\u00BC-\u00BE\u2150-\u215E\u2189]"  # ¼ ½ ¾ ⅐ …
STARTS = r"[\d+−±\u00BC-\u00BE\u2150-\u215E\u2189-]"  # what a number begins with
SIGN = r"(?:(?<![\w)\]])[-−+±])?+"

# 1,250.5  1.250,5  3.14  1/2  3:1  1939–1945  978-3-16-148410-0: digits joined by one sign without a space
_JOINED = r"\d++(?:[.,:/'’–-]\d++)*+"
_SPACED = rf"\d{{1,3}}+(?:{SPACE}\d{{3}}(?!\d))++(?:[.,]\d++)?+"  # 1 250,5
DIGITS = (
    rf"(?:(?:{_SPACED}|{_JOINED})(?:{FRACTION}|[eE][-+−]?\d++(?![\p{{L}}\p{{N}}])|×10[⁻⁺]?[⁰¹²³⁴-⁹]++)?+|{FRACTION})"
)

_DAY, _MONTH, _YEAR = r"(?:3[01]|[12]\d|0?[1-9])", r"(?:1[0-2]|0?[1-9])", r"(?:1\d|20|21)\d\d"
_CLOCK = r"(?:2[0-4]|[01]?\d):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9}+)?+)?+"
_DAY_MONTH = rf"(?:{_DAY}(?P<separator>[./-]){_MONTH}|{_MONTH}(?P<separator>[./-]){_DAY})(?P=separator)(?:{_YEAR}|\d\d)"
_YEAR_FIRST = rf"{_YEAR}(?P<between>[./-]){_MONTH}(?P=between){_DAY}"
_ZONE = r"(?:Z|[-+]\d\d:?\d\d)"
DATE = rf"{AFTER_WORD}(?:{_YEAR_FIRST}(?:T{_CLOCK}{_ZONE}?+)?+|{_DAY_MONTH})(?![\d/]|[.-]\d)"

_HALF_OF_DAY = r"(?:[AaPp]\.[Mm]\.|[AaPp][Mm](?![\p{L}\p{N}]))"
TIME = (
    rf"{AFTER_WORD}(?:{_CLOCK}(?![\d:])(?:{SPACE}?+{_HALF_OF_DAY})?+"  # 3:45  14:30:05  3:45 pm
    rf"|(?:1[0-2]|0?[1-9]){SPACE}?+{_HALF_OF_DAY}"  # 5 p.m.
    rf"|(?:2[0-4]|[01]?\d)\.[0-5]\d(?={SPACE}?+Uhr)"  # 15.45 of "15.45 Uhr", whose word is the model's
    rf"|(?:2[0-4]|[01]?\d){SPACE}?+[hH]{SPACE}?+[0-5]\d(?![\p{{L}}\p{{N}}])"  # 15h45  15 h 45
    rf"|(?:2[0-4]|[01]?\d)h(?![\p{{L}}\p{{N}}]))"  # 15h
)

CURRENCY = r"\p{Sc}"
_CODE = r"(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|RUB|BRL|MXN|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|BTC)"
_SCALE = r"(?:(?:bn|tn|[kKMmB])(?![\p{L}\p{N}]))?+"  # $5k, €2bn
AMOUNT_AFTER_SIGN = (  # $5  CHF 20
    rf"{SIGN}(?:(?<![\p{{L}}\p{{N}}])(?:US|A|C|NZ|HK|R)?+{CURRENCY}|{AFTER_WORD}{_CODE}){SPACE}?+[-−]?{DIGITS}{_SCALE}"
)
AMOUNT_BEFORE_SIGN = (  # 5 $  20 EUR
    rf"{AFTER_WORD}{SIGN}{DIGITS}(?:{_SCALE}{SPACE}?+{CURRENCY}(?![\p{{L}}\p{{N}}])|{SPACE}{_CODE}(?![\p{{L}}\p{{N}}]))"
)

_PAUSE = r"[ \u00A0.-]"
PHONE = (
    rf"(?<![\w+])\+\d{{1,3}}(?:{_PAUSE}?+\(\d{{1,4}}\))?+(?:{_PAUSE}?\d{{2,4}}|{_PAUSE}\d(?!\d)){{2,6}}(?![\d-])"
    rf"|(?<!\w)\(\d{{2,5}}\){SPACE}?+\d{{3,4}}[ .-]?\d{{3,4}}(?![\d-])"  # (555) 123-4567
    rf"|{AFTER_WORD}(?:(?:1-)?+\d{{3}}(?P<dash>[.-])\d{{3}}(?P=dash)\d{{4}}(?![\w-])"  # 555-123-4567
    rf"|\d{{3}}-\d{{4}}(?![\w-])"  # 555-0199
    rf"|0\d(?P<pause>[ .-])\d\d(?:(?P=pause)\d\d){{3}}(?!\d))"  # 01 23 45 67 89
)

PERCENT = rf"(?:[%‰]|{SPACE}[%‰](?![\w(@{{%]))"  # not the "%s" of "5 %s"
NUMBER = rf"{AFTER_WORD}{SIGN}{DIGITS}(?:{PERCENT}|{SPACE}?+°(?:[CF](?!\p{{L}}))?+)?+"
