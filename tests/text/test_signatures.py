"""Names under a closing."""

from __future__ import annotations

import pytest

from regard.text.signatures import is_signature


def last_line(text: str) -> tuple[int, int]:
    return len(text) - len(text.splitlines()[-1]), len(text)


@pytest.mark.parametrize(
    "text",
    [
        "Kind regards,\nMark",
        "Bye.\n\nThanks,\n\nMark Miller",
        "Cordialement,\r\nRose",
        "Mit freundlichen Grüßen\nMark S.",
    ],
)
def test_signatures(text: str) -> None:
    assert is_signature(text, last_line(text))


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ann,\nThanks",
        "Mark",
        "Regards,\nmark it",
        "Kind regards,\nMark the page.",
        "Many thanks for it.\nMark",
        "\nMark",
    ],
)
def test_other_lines(text: str) -> None:
    assert not is_signature(text, last_line(text))


def test_a_name_within_a_line_is_no_signature() -> None:
    assert not is_signature("Kind regards, Mark", (14, 18))
