"""How the working is shown: within the terminal's width, digits under their tokens, formulas that hold, and a page
in which text stays text."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.metrics.bleu import SMOOTHING, Bleu
from regard.metrics.bleu_steps import explain_bleu
from regard.metrics.show.bleu_steps import render_html, render_text

TEXT = st.lists(
    st.sampled_from(["the", "The", "cat", "a", ".", "<b>&", "你好", "👩‍👩‍👧", "\x1b[31m", "x" * 100])
    | st.text(max_size=5),
    max_size=30,
).map(" ".join)


def worked(hypothesis, *references, **options):
    return explain_bleu(Bleu(**options), [hypothesis], [[one] for one in references])


def section(text, name):
    """The lines under one heading, up to the next empty line."""
    return text.split(f"\n{name}\n")[1].split("\n\n")[0].split("\n")


# ------------------------------------------------------------------------------- plain text


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4),
    st.integers(72, 120),
    st.sampled_from(sorted(SMOOTHING)),
    st.booleans(),
)
@example([("a " * 60, "a b " * 30)], 72, "none", True)
@example(
    [("汉字汉字汉字汉字 " * 3 + "漢字漢字漢字漢字漢字漢字 " * 3, "汉字汉字汉字汉字 漢字漢字漢字漢字漢字漢字")],
    72,
    "exp",
    True,
)
def test_nothing_is_wider_than_the_terminal(pairs, width, smooth, effective):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    working = explain_bleu(Bleu(smooth=smooth, effective_order=effective), hypotheses, references)
    text = render_text(working, width=width)
    lines = [line for line in text.split("\n") if line.strip() != working.score.signature]
    assert max(map(cell_len, lines)) <= width
    assert len(lines) == len(text.split("\n")) - 1
    assert all(character.isprintable() for line in lines for character in line)


def test_digits_stand_under_the_ends_of_their_tokens():
    _, hypothesis, below, reference, below_reference = section(
        render_text(worked("The 你好 is on mat", "The 你好 is on the mat", tokenize="none")), "Text"
    )
    assert hypothesis.split() == ["hypothesis", "The", "你好", "is", "on", "mat"]
    assert below.split() == ["4", "4", "4", "4", "1"]
    assert below_reference.split() == ["4", "4", "4", "4", "·", "1"]
    for tokens, digits in ((hypothesis, below), (reference, below_reference)):
        ends = [cell_len(tokens[: found.end()]) for found in re.finditer(r"\S+", tokens)][1:]
        assert [found.end() for found in re.finditer(r"\S", digits)] == ends


def test_a_long_line_is_broken_and_nothing_of_it_is_lost():
    words = [f"word{i}" for i in range(40)]
    body = section(render_text(worked(" ".join(words), " ".join(words)), width=72), "Text")[1:]
    tokens, digits = " ".join(body[0::2]).split(), " ".join(body[1::2]).split()
    assert tokens == ["hypothesis", *words, "reference", *words]
    assert digits == ["4"] * 80


@settings(max_examples=25, deadline=None)
@given(TEXT, TEXT, st.sampled_from(sorted(SMOOTHING)), st.integers(1, 4), st.booleans())
@example("The cat is on mat", "The cat is on the mat", "exp", 3, False)
def test_the_formulas_hold_as_they_are_printed(hypothesis, reference, smooth, order, effective):
    """Whoever types them into a calculator gets the score."""
    working = worked(hypothesis, reference, smooth=smooth, max_order=order, effective_order=effective)
    text = re.sub(r"\n  (?=\S)", " ", render_text(working, width=200)).replace("−", "-").replace("- ∞", "-inf")
    text = text.replace("∞", "inf")
    penalty = re.search(r"BP = e\^\(1 - r/c\) = e\^\(1 - (\d+)/(\d+)\) = e\^\((.*?)\) = ([\d.]+)", text)
    assert (penalty is None) == (working.score.bp in (0, 1))
    if penalty:
        r, c, power, bp = map(float, penalty.groups())
        assert math.exp(1 - r / c) == pytest.approx(bp, abs=1e-4)
        assert 1 - r / c == pytest.approx(power, abs=1e-4)
    terms = re.search(r"mean = e\^\(([^)]*)\)(?: = e\^\([^)]*\))? = ([\d.]+)", text)
    if any(working.score.correct):
        numbers = [float(one.replace(" ", "")) for one in re.findall(r"[-+]?\s?(?:\d+\.\d+|inf)", terms[1])]
        assert math.exp(sum(numbers)) == pytest.approx(float(terms[2]), abs=5e-4)
    bp, mean, score = map(float, re.search(r"BP · mean = (\S+) · (\S+) = (\S+)", text).groups())
    assert bp * mean == pytest.approx(score, abs=2e-4)
    assert score == pytest.approx(working.score.score / 100, abs=1e-4)
    assert str(working.score) in text


def test_a_table_of_ngrams():
    text = render_text(worked("the the the the the the", "the cat is on the mat", tokenize="none", smooth="none"))
    assert section(text, "1-grams: 2 of 6 credited") == [
        "       count  max ref  clipped",
        "  the      6        2        2",
        "  sum      6                 2",
    ]
    assert section(text, "Precisions")[1].split() == [
        "1",
        "2/6",
        "0.3333",
        "0.3333",
        "0.2500",
        "-0.2747".replace("-", "−"),
    ]
    assert section(text, "Precisions")[2].split() == ["2", "0/5", "0.0000", "0.0000", "0.2500", "−∞"]
    assert "e^(−0.2747 − ∞ − ∞ − ∞) = e^(−∞) = 0.0000" in text


def test_smoothed_and_left_out_orders_in_the_table():
    lifted = render_text(worked("the the", "the cat", tokenize="none", effective_order=True))
    assert section(lifted, "Precisions")[2].split() == ["2", "0/1", "0.0000", "0.5/1", "0.5000", "0.5000", "−0.3466"]
    assert section(lifted, "Precisions")[3].split() == ["3", "0/0", "0.0000", "0.0000", "left", "out"]


@pytest.mark.parametrize(
    ("hypothesis", "said"),
    [
        ("a b c d e", "c > r, so BP = 1"),
        ("a b c d", "c = r, so BP = 1"),
        ("a b", "c < r, so BP = e^(1 − r/c) = e^(1 − 4/2) = e^(−1.0000) = 0.3679"),
        ("", "c = 0, so BP = 0"),
    ],
)
def test_the_cases_of_the_penalty(hypothesis, said):
    assert f"  {said}" in render_text(worked(hypothesis, "a b c d")).split("\n")


def test_lengths_name_every_reference_and_the_rule():
    text = render_text(worked("a b c", "a", "a b c d", "a b c d e f g", ref_length="average"))
    assert "c = 3 tokens in the hypothesis, 1 and 4 and 7 in the references; r = 4 (average)" in " ".join(text.split())


def test_a_corpus_shows_what_it_lost_and_gained_and_a_few_lines():
    hypotheses, references = ["a a b", "a", "x y z", "c d e f"] * 3, ["a b", "a a", "u v w", "c d e f"] * 3
    text = render_text(explain_bleu(Bleu(), hypotheses, references, most=1))
    assert text.startswith("BLEU of 12 lines, step by step\n")
    assert section(text, "1-grams: 21 of 33 credited, most credit lost first") == [
        "     count  max ref  clipped  lost",
        "  a      9        9        6     3",
        "  … and 3 more, which lost 9",
    ]
    assert section(text, "1-grams: 21 of 33 credited, most credit gained first")[1].split() == ["a", "9", "9", "6"]
    assert re.findall(r"line (\d+), alone ([\d.]+)", text) == [
        ("3", "0.00"),
        ("7", "0.00"),
        ("11", "0.00"),
        ("4", "100.00"),
        ("8", "100.00"),
        ("12", "100.00"),
    ]


def test_a_line_of_many_is_named():
    working = explain_bleu(Bleu(), ["a", "b c"], ["a", "b d"], line=2)
    assert render_text(working).startswith("BLEU of line 2 of 2, step by step\n")
    assert "<title>BLEU of line 2 of 2, step by step</title>" in render_html(working)


# ------------------------------------------------------------------------------- a page


class Page(HTMLParser):
    """Tags that were closed in order, the text between them, and the marks with their titles."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text, self.marks = [], set(), [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "mark":
            self.marks.append([dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "mark":
            self.marks[-1][1] += data
        self.text.append(data)


NASTY = "<b>& </mark></script> \"quoted\" 'q' &amp; <b>&"


@pytest.mark.parametrize("lines", [1, 7])
def test_text_stays_text(lines):
    working = explain_bleu(Bleu(tokenize="none"), [f"{NASTY} <b>&"] * lines, [[f"{NASTY} x"] * lines, ["<i>"] * lines])
    html = render_html(working)
    parsed = Page(html)
    assert parsed.open == []
    assert not parsed.tags & {"b", "i", "script", "link", "img"}
    assert "<b>&" in [text for _, text in parsed.marks]
    assert "\"quoted\" 'q'" in "".join(parsed.text)
    assert "http" not in html.replace("http-equiv", "")


def test_marks_are_darker_for_longer_matches():
    parsed = Page(render_html(worked("The cat is on mat", "The cat is on the mat", max_order=3)))
    marks = [(text, attributes["title"]) for attributes, text in parsed.marks]
    longest = [("The", 3), ("cat", 3), ("is", 3), ("on", 3), ("mat", 1)]
    assert marks == [(token, f"in a credited {n}-gram") for token, n in longest * 2]
    depth = [int(re.search(r"(\d+)%", attributes["style"])[1]) for attributes, _ in parsed.marks]
    assert depth == [100, 100, 100, 100, 0] * 2


def test_page_and_terminal_say_the_same():
    working = worked("the The cat on mat .", "The cat is on the mat.", "There is a cat.", smooth="floor")
    parsed = " ".join(" ".join(Page(render_html(working)).text).split())
    text = " ".join(render_text(working, width=1000).split())
    for sentence in (*working.reasons, str(working.score), working.score.signature):
        assert sentence in parsed
        assert sentence in text
    for order in working.orders:
        for row in order.tables[0].rows:
            said = f"{' '.join(row.ngram)} {row.count} {row.most} {row.clipped}"
            assert said in parsed
            assert said in text
