"""Sentences: layout is kept exactly, and what ends a sentence is decided as a reader would."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.text.sentences import sentence_spans

LANGUAGES = ("en", "fr", "de", "es", "it", "ja", "zh", "ru", "xx", "pt-BR")
# What rules look at is drawn more often than chance would
WORDS = [
    "Mr. ",
    "z. B. ",
    "3. ",
    "Oktober ",
    "I. ",
    "U.S. ",
    "etc. ",
    "p.m. ",
    "The ",
    "he ",
    "Tom ",
    "said ",
    "iPhone ",
]
LAYOUT = ["> ", "- ", "* ", "1. ", "a) ", "## ", "---", "[1]", "\r\n", "... ", "{x}", "https://a.b/c ", ":) "]
SIGNS = list("#.!?… 。！？」「“”«»\"'()\n\r\u2028\x0b\x0c\x1c\x85\t\u00a0\x00\u0301\ufffc😀猫はとaZ9ß")
PIECES = st.sampled_from(WORDS + LAYOUT + SIGNS)
TEXTS = st.text() | st.lists(PIECES, max_size=30).map("".join)


def cut(text: str, language: str = "en", wrapped: bool = False) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language, wrapped=wrapped)]


@given(TEXTS, st.sampled_from(LANGUAGES), st.booleans())
@example(">\xa00", "en", False)
def test_spans_are_in_order_and_hold_no_space_at_their_ends(text: str, language: str, wrapped: bool) -> None:
    spans = sentence_spans(text, language, wrapped=wrapped)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip() != ""


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_a_line_break_is_in_no_sentence(text: str, language: str) -> None:
    assert all(len(sentence.splitlines()) == 1 for sentence in cut(text, language))


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_no_letter_and_no_number_is_left_out(text: str, language: str) -> None:
    """Between the sentences there are spaces, line breaks and the marks of lists, which are short."""
    inside = "".join(cut(text, language))
    letters = sum(map(str.isalpha, text)) - sum(map(str.isalpha, inside))
    assert letters <= 6 * 3 * (text.count(".") + text.count(")"))


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Mr. Smith left at 5 p.m. on Jan. 3.", "He was late.", "So was I.", "Dr. No. 5 came, too."]),
        ("en", ["Open 10 a.m. - 2 p.m. on Monday.", "We won 3-5.", "Tom left."]),
        ("de", ["Wir sind vom 3.–5. Mai in Berlin.", "Es sind 3-5.", "Das reicht."]),
        (
            "en",
            [
                "J. R. R. Tolkien wrote it.",
                "George W. Bush read it.",
                "Vitamin C helps.",
                "Tom got an A.",
                "He is glad.",
            ],
        ),
        (
            "en",
            ["She lives in the U.S.", "The U.S. Army is there.", "We met at Acme Inc. in May.", "It is 9 a.m.", "Go."],
        ),
        ("en", ["Pi is 3.14.", "Use v2.0.1.", "See https://a.example/b?c=d.", "Ask a.b@c.example.", "Open x.tar.gz."]),
        (
            "en",
            ['"Stop!" he said.', '"Why?" Tom asked.', 'He said, "Wait!"', "She did (really!) wait.", "(Why?)", "So."],
        ),
        (
            "en",
            [
                "Cats, e.g. mine, sleep.",
                "Dogs, cats, etc. sleep.",
                "Well... maybe.",
                "Wait...",
                "What?!",
                "Oh! what a day.",
            ],
        ),
        ("en", ["I'm here. 😀", "Bye! :)", "Yahoo! Mail is old.", "iPhones ring.", "It is -5.", "3 came."]),
        ("en", ["i like cats.", "they sleep.", "do you?", "i do"]),
        (
            "fr",
            [
                "M. Le Goff est là.",
                "« Arrête ! » dit-il.",
                "Qui ?",
                "Moi ?!",
                "Il dit : « Non. »",
                "Elle part.",
                "Bon… oui.",
            ],
        ),
        (
            "fr",
            [
                "C'était en 44 av. J.-C. à Rome.",
                "Prenez p. ex. du sel, etc. et mangez.",
                "L'U.R.S.S. était là.",
                "Voir p. 5.",
            ],
        ),
        (
            "de",
            [
                "Am 3. Oktober war das.",
                "Im 19. und 20. Jahrhundert nicht.",
                "Ich bin 30.",
                "Tom ist 31.",
                "Es war der 3. 10. 1990.",
            ],
        ),
        (
            "de",
            [
                "Z. B. Katzen, d. h. Tiere usw. schlafen.",
                "Ludwig XIV. war König.",
                "Er wohnt in der Bahnhofstr. 5.",
                "Nr. 5 lebt.",
            ],
        ),
        ("de", ["„Halt!“, rief er.", "»Ja!« sagte sie.", "Er sagte: „Nein.“", "Vgl. Abs. 2.", "Gut."]),
        ("es", ["El Sr. Gil vive en EE. UU. hoy.", "¿Y Ud.?", "¡Hola!", "¿Qué tal?", "Son las 5 p. m.", "Nadie vino."]),
        ("xx", ["Sí.", "Dr. Gil vino.", "¿Qué?"]),
        ("ru", ["Это дом.", "Да?", "А. С. Пушкин жил здесь."]),
        ("hi", ["यह है।", "वह था।"]),
        ("ar", ["هل أنت هنا؟", "نعم."]),
    ],
)
def test_sentences_of_a_paragraph(language: str, sentences: list[str]) -> None:
    assert cut(" ".join(sentences), language) == sentences
    assert [cut(sentence, language) for sentence in sentences] == [[sentence] for sentence in sentences]


@pytest.mark.parametrize("language", ["ja", "zh", "en"])  # by script, whatever the language is said to be
@pytest.mark.parametrize(
    "sentences",
    [
        ["猫がいます。", "本当？", "うん！", "3.5％です｡", "Yahoo!ニュース。", "本当?", "はい。"],
        ["「行こう。早く。」と彼は言った。", "「どこへ？」", "彼は黙った。", "（終わり。）"],
        ["“走吧。”他说。", "你好！", "《你好。再见。》是书。", "Tom在家。", "真的吗？！"],
    ],
)
def test_chinese_and_japanese_need_no_spaces(sentences: list[str], language: str) -> None:
    assert cut("".join(sentences), language) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("  - One. Two.\r\n\t* Three \n• Four\r", ["One.", "Two.", "Three", "Four"]),
        (
            "1. Salt\n2) Oil\n(3) Tea\na) Jam\n(iv) Ham\nIV. Egg\n- [x] Fig",
            ["Salt", "Oil", "Tea", "Jam", "Ham", "Egg", "Fig"],
        ),
        ("> > Hi.\n>> - You\n## Head\n---\n***\n> \n", ["Hi.", "You", "Head"]),
        ("A. Einstein\n3.5 km\n-5 °C\n*x* is\n#tag", ["A. Einstein", "3.5 km", "-5 °C", "*x* is", "#tag"]),
        ("one\x0btwo\x0cthree\u2028four\u2029five\x85six", ["one", "two", "three", "four", "five", "six"]),
        ("Do this: 1. Sit. 2. Stand.", ["Do this: 1. Sit.", "Stand."]),
        ("", []),
        (" \n\t\u3000\r\n", []),
    ],
)
def test_layout_is_outside_of_the_sentences(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_a_german_date_is_no_list_mark() -> None:
    assert cut("3. Oktober 1990\n4. Salz", "de") == ["3. Oktober 1990", "Salz"]


def test_wrapped_lines_are_one_sentence() -> None:
    text = "> The cat\n> is on the mat. It\r\n> sleeps.\n\nMr.\n  Smith - he of\n48. Elm St. - came\n"
    text += "- and\n  left\n1. One\n2. Two"
    sentences = cut(text, wrapped=True)
    assert [re.sub(r"\s*\n[\s>]*", " ", sentence) for sentence in sentences] == [
        *["The cat is on the mat.", "It sleeps.", "Mr. Smith - he of 48.", "Elm St. - came", "and left", "One", "Two"]
    ]
    assert sentences[0] == "The cat\n> is on the mat."


SENTENCES = [
    *[
        'Tom said, "I\'m fine."',
        "It's 5 p.m.",
        "Is it?",
        "Mr. Hill left!",
        "We saw 3.",
        "1,250 came.",
        "Wait...",
        "No. I won't.",
    ],
    *[
        '"Why?" asked Mary.',
        "(He left.)",
        "It was I.",
        "He has a Ph.D. from M.I.T. now.",
        "Go to www.example.com.",
        "'Yes.'",
    ],
]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12), st.sampled_from([" ", "  ", "\n", "\t"]))
def test_lines_are_cut_alike_alone_and_together(lines: list[str], between: str) -> None:
    assert cut(between.join(lines)) == [sentence for line in lines for sentence in cut(line)]


@pytest.mark.parametrize("unit", ["a", "ab ", "。「", "「", ". ", '"', "> ", "- ", "\n", "! :) ", "\u0301", "(", " »"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_hostile_text_takes_linear_time(unit: str, wrapped: bool) -> None:
    """Text of which quadratic work would take minutes: the suite's timeout would end it."""
    text = "x" + unit * (200_000 // len(unit))
    spans = sentence_spans(text, wrapped=wrapped)
    assert spans[0][0] == 0
    assert spans[-1][1] <= len(text)


def test_five_megabytes_of_one_word_are_one_sentence() -> None:
    assert sentence_spans("a" * 5_000_000) == [(0, 5_000_000)]
