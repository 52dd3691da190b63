"""English dates with the name of a month."""

from __future__ import annotations

import pytest

from regard.text.dates import dates_in_words


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Born on May 3, 1998, in Rome.", ["May 3, 1998"]),
        ("December 31st or Jan. 1", ["December 31st", "Jan. 1"]),
        ("June 2020 was hot.", []),
        ("You may 3 times; May 45; March 3.5; Sept 12:30", []),
        ("On 3 May 1998", []),
    ],
)
def test_dates(text: str, dates: list[str]) -> None:
    assert [text[start:end] for start, end in dates_in_words(text)] == dates
    assert dates_in_words(text, "fr") == []
