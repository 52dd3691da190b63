"""Rough text: what is taken away is given back, and tidy text is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.course.grammar import generate
from regard.text.mend import Mended, in_small, in_title_case, mended
from regard.translator import Translator
from support import LINES, Call

THINGS = ["😀", "❤️", "👩🏽‍🚀", ":)", "https://a.example/b", "a.b@c.fr", "@you", "#tag", "<3", "^^"]
SOME = st.lists(st.sampled_from(THINGS)).map(" ".join)


@given(st.text() | st.tuples(SOME, st.text(), SOME).map(" ".join))
def test_nothing_is_lost(line: str) -> None:
    found = mended(line)
    assert (found.before + found.read + found.after).casefold() == line.casefold() or len(line.lower()) != len(line)
    assert found.restore(found.read).casefold() == line.casefold() or len(line.lower()) != len(line)


@given(SOME, SOME)
def test_things_around_a_sentence_are_left_out(before: str, after: str) -> None:
    assert mended(f"{before} The cat sleeps. {after}").read == "The cat sleeps."
    assert mended(before) == Mended(before, "", "")


@given(st.text(alphabet="ABCÉ .!?42'", max_size=30))
def test_only_letters_change_and_only_their_case(text: str) -> None:
    assert in_small(text).upper() == text


def test_sentences_begin_with_a_capital() -> None:
    assert in_small("WHO IS IT? 'IT IS ME.' I SEE…\tÉTÉ") == "Who is it? 'It is me.' i see…\tÉté"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Tom met John Smith.",
            "Where's the Red Cross?",
            "Today is Valentine's Day.",
            "I am 25.",
            "USA",
            "I",
            "OK!",
            "",
        ),
        *(
            "¿Qué?",
            "A < B",
            "5 + 5 = 10 is true",
            "Is it 12:30?",
            "“Come in!”",
            "It is 25°",
            "cafe\u0301",
            "か\u3099",
            "© Tom",
            "`ls`",
            "He said: “No.”",
            "- Yes.",
            "C'est ça :",
        ),
    ],
)
def test_tidy_text_is_left_alone(line: str) -> None:
    assert mended(line) == Mended("", line, "") or not any(map(str.isalpha, line))


def test_the_embedded_corpus_is_tidy() -> None:
    for example in generate(1000)["train"].examples:
        assert mended(example.src) == Mended("", example.src, "")
        assert not in_title_case(example.tgt)


def test_capitals_are_read_in_small_letters_and_answered_in_capitals(translator: Translator) -> None:
    lines = [source.upper() for source, _ in LINES]
    found = translator.translate(lines, mend=True, nbest=2)
    assert [t.text for t in found] == [target.upper() for _, target in LINES]
    assert [t.read for t in found] == [source for source, _ in LINES]
    assert [t.source for t in found] == lines
    assert all(candidate.text == candidate.text.upper() for t in found for candidate in t.candidates)
    plain = translator.translate([LINES[0][0]], nbest=2)[0]
    assert [c.ids for c in found[0].candidates] == [c.ids for c in plain.candidates]


def test_what_stands_around_a_sentence_is_put_back(translator: Translator) -> None:
    (source, target), *_ = LINES
    lines = [f"😀 {source} :)", f"{source}❤️", f"@me {source.upper()} https://a.example", "😀", " 12:30 "]
    wanted = [f"😀 {target} :)", f"{target}❤️", f"@me {target.upper()} https://a.example", "😀", " 12:30 "]
    found = translator.translate(lines, mend=True)
    assert [t.text for t in found] == wanted
    assert [t.parts for t in found] == [1, 1, 1, 0, 0]


def test_without_it_lines_are_read_as_they_are(translator: Translator) -> None:
    lines = [LINES[0][0], "", "THE CAT SLEEPS.", "😀"]
    assert [t.read for t in translator.translate(lines)] == ["The cat sleeps.", "", "THE CAT SLEEPS.", "😀"]
    tidy = [LINES[0][0], "", "CAT"]
    assert translator.translate(tidy, mend=True) == translator.translate(tidy)


def test_a_long_line_in_capitals(translator: Translator) -> None:
    short = Translator(translator.bundle, translator.config, max_length=9)
    (found,) = short.translate(["THE CAT SLEEPS. THE DOG SEES THE CAT. 😀"], mend=True)
    assert (found.parts, found.text) == (2, "LE CHAT DORT. LE CHIEN VOIT LE CHAT. 😀")


def test_the_command(run_folder: object, call: Call) -> None:
    words = ("translate", "--model", str(run_folder), "--mend", "THE CAT SLEEPS.", "", "😀")
    assert call(*words) == (0, "LE CHAT DORT.\n\n😀\n", "")
    code, out, _ = call(*words[:3], "--mend", "--json", "--nbest", "2", "12:30", "THE CAT SLEEPS.")
    assert code == 0
    assert '"12:30"' in out


@pytest.mark.parametrize(
    "line", ["x" + " " * 300_000, " " * 300_000 + "x", "x " + "😀" * 200_000, "STOP" + "! " * 200_000, "@me " * 100_000]
)
def test_time_is_linear_in_the_length_of_a_line(line: str) -> None:
    """Seconds; in quadratic time hours."""
    found = mended(line)
    assert len(found.before) + len(found.read) + len(found.after) == len(line)
