"""Subtitles: opened again by webvtt-py, byte for byte with a translator that copies."""

from __future__ import annotations

import io

import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import DOCUMENTS, shouted
from formats.fakes import copy, reverse
from regard.errors import InputError
from regard.formats.document import DEFAULTS
from regard.formats.subtitles import line_breaks
from regard.formats.table import reader_of
from regard.formats.translate_document import translate_document
from regard.translation.translation import Translation

FILES = ["station.srt", "kitchen.srt", "lecture.srt", "interview.vtt", "story.vtt", "weather.vtt"]


def format_of(name: str) -> str:
    return name.rpartition(".")[2]


def skeleton(data: bytes, format: str) -> list[object]:
    cues = webvtt.from_buffer(io.BytesIO(data), format=format)
    return [(cue.start, cue.end, cue.identifier, cue.voice, len(cue.lines)) for cue in cues]


@pytest.mark.parametrize("name", FILES)
def test_copier_gives_the_same_bytes(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    assert translate_document(data, format_of(name), copy).data == data


@pytest.mark.parametrize("name", FILES)
def test_skeleton_stays(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    new = translate_document(data, format_of(name), reverse).data
    assert new != data
    assert skeleton(new, format_of(name)) == skeleton(data, format_of(name))
    for sign in (b"<i>", b"</i>", b"<b>", b"</b>", b"<c", b"</c>", b"<v ", b"{\\an8}", b"<font", b"\r\n", b"-->"):
        assert new.count(sign) == data.count(sign)


def segments_of(name: str) -> list[str]:
    return [segment.text for segment in reader_of(format_of(name))((DOCUMENTS / name).read_bytes(), DEFAULTS).segments]


def test_sentences_run_over_lines_and_cues() -> None:
    assert segments_of("station.srt") == [
        "Where were you last night?",
        "I waited for you at the station until the last train had gone.",
        "I am sorry. I forgot that you were coming.",
        "You always forget me.",
        "That is not true!",
        "If you really want to know the truth, I was with my mother in the hospital.",
        "A train arrives",
        "Come back to me",
    ]
    assert segments_of("interview.vtt")[2] == "could help him. & now I can."  # another voice begins a new text
    assert segments_of("lecture.srt")[-1] == "Thank you"  # after a pause
    assert "2" not in "".join(segments_of("lecture.srt"))


def test_a_translation_is_shared_out_over_its_lines() -> None:
    data = (DOCUMENTS / "station.srt").read_bytes()

    def french(texts: list[str], wrapped: bool) -> list[Translation]:
        known = {
            "If you really want to know the truth, I was with my mother in the hospital.": (
                "Si tu veux vraiment savoir la vérité, j'étais avec ma mère à l'hôpital."
            ),
        }
        return [Translation(text, known.get(text, text), 0.0, 0.0, ()) for text in texts]

    new = translate_document(data, "srt", french).data.decode()  # type: ignore[arg-type]
    assert "\nSi tu veux vraiment\nsavoir la vérité,\n\n6\n" in new
    assert "\nj'étais avec ma mère\nà l'hôpital.\n\n7\n" in new


def test_a_mark_over_two_cues_is_closed_and_opened_again() -> None:
    data = b"1\n00:00:01,000 --> 00:00:02,000\none <i>two three</i>\n\n2\n00:00:02,000 --> 00:00:03,000\nfour five.\n"
    document = reader_of("srt")(data, DEFAULTS)
    placed = shouted(document.segments)[0]
    first, opened, _, closed, last = placed.pieces
    moved = type(placed)((first, opened, "TWO THREE FOUR FIVE", closed, "."))
    assert last == " FOUR FIVE."
    new = document.write([moved]).decode()
    assert "ONE <i>TWO THREE</i>\n\n2\n00:00:02,000 --> 00:00:03,000\n<i>FOUR FIVE</i>.\n" in new


def test_too_few_words_leave_no_empty_line() -> None:
    data = b"1\n00:00:01,000 --> 00:00:02,000\none two\nthree\n\n2\n00:00:02,000 --> 00:00:03,000\nfour.\n"
    document = reader_of("srt")(data, DEFAULTS)
    new = document.write([type(shouted(document.segments)[0])(("seul",))])
    assert skeleton(new, "srt") == skeleton(data, "srt")


@given(
    st.lists(st.text("ab ,.日本", max_size=30), max_size=4).map(" ".join),
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
)
def test_breaks_are_in_order_and_lose_nothing(text: str, lengths: list[int]) -> None:
    breaks = line_breaks(text, lengths)
    assert breaks == sorted(set(breaks))
    assert len(breaks) < len(lengths)
    assert all(0 < place < len(text) for place in breaks)


@given(st.text("ab.<>/i{}\\&;\n\r-♪1: \ufffc", max_size=80))
def test_any_cue_text_comes_back(text: str) -> None:
    for format, head in (("srt", "1\n00:00:01,000 --> 00:00:02,000\n"), ("vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n")):
        data = (head + text + "\n\n2\n00:00:03,000 --> 00:00:04,000\nword\n").encode()
        assert translate_document(data, format, copy).data == data
        translate_document(data, format, reverse)


def test_hostile_files() -> None:
    head = "1\n00:00:01,000 --> 00:00:02,000\n"
    for text in (
        "a" * 5_000_000,
        "<i>" * 1000 + "a" + "</i>" * 1000,
        "<i>" * 20_000,
        "a\0b \u202e c",
        "- \n" * 20_000,
        "<" * 1_000_000,
    ):
        data = (head + text).encode()
        assert translate_document(data, "srt", copy).data == data
    for data, said in ((b"hello", "not an SRT file"), (b"\xff\xff", "UTF-8"), (b"", "not an SRT file")):
        with pytest.raises(InputError, match=said):
            reader_of("srt")(data, DEFAULTS)
    with pytest.raises(InputError, match="not a WebVTT file"):
        reader_of("vtt")(b"WEBVTTX\n", DEFAULTS)
