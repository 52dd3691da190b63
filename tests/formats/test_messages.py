"""Messages of programs: what is prose, and ICU messages taken apart and put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import same, shouted
from regard.formats.messages import is_prose, parse_message


@pytest.mark.parametrize(
    "text",
    [
        "Save",
        "Save as…",
        "E-mail",
        "Are you sure?",
        "{name} is here",
        "<b>Stop</b>",
        "Ünal!",
        "保存",
        "l'eau est bonne",
    ],
)
def test_prose(text: str) -> None:
    assert is_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "42", "save", "btn-primary", "http://a.b/c", "me@example.com", "/usr/lib/x", "#FFF", "{{ count }}"),
        *("%(name)s", "$t(other.key)", "camelCase", "CONSTANT_NAME", "dd MMM yyyy", "%Y-%m-%d %H:%M", "a", "utf-8"),
        "a \ud800 b",
    ],
)
def test_no_prose(text: str) -> None:
    assert not is_prose(text)


def test_branches_are_translated_and_arguments_stay() -> None:
    message = parse_message(
        "{count, plural, offset:1 =0 {No guests.} one {{name} isn''t alone.} other {{name} and # '{others}'.}} Bye!"
    )
    assert [segment.text for segment in message.segments] == [
        "\ufffc Bye!",
        "No guests.",
        "\ufffc isn't alone.",
        "\ufffc and \ufffc {others}.",
    ]
    assert message.write(shouted(message.segments)) == (
        "{count, plural, offset:1 =0 {NO GUESTS.} one {{name} ISN''T ALONE.} other {{name} AND # '{OTHERS}'.}} BYE!"
    )


def test_what_is_no_icu_message_is_one_text() -> None:
    for text in ("{n, plural, one {a", "{n, plural, one {a} other}", "Hello, {name}", "{", "'{'"):
        assert [segment.text for segment in parse_message(text).segments] == [text]


ICU = st.recursive(
    st.text("ab '", max_size=6),
    lambda inner: st.tuples(inner, inner).map(
        lambda two: f"{{n, plural, one {{{two[0]}}} other {{{two[1]}#}}}} x {{y}}"
    ),
    max_leaves=8,
)


@given(ICU)
def test_any_message_is_understood_the_same_after_writing(text: str) -> None:
    message = parse_message(text)
    written = message.write(same(message.segments)) if message.segments else text
    assert [segment.text for segment in parse_message(written).segments] == [s.text for s in message.segments]


@given(st.text("{}'#,n plural one", max_size=60))
def test_any_text_ends(text: str) -> None:
    message = parse_message(text)
    message.write(same(message.segments))


def test_long_and_deep_messages_take_linear_time() -> None:
    for text in (
        "{n, plural, one {" * 5000,
        "{" * 1_000_000,
        "'" * 1_000_000,
        "{n, plural, one {" + "a" * 1_000_000 + "}}",
        "%(" * 500_000,
    ):
        is_prose(text)
        parse_message(text)
