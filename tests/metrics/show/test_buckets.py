"""Tables, sentences and the page: nothing too wide, nothing unescaped, nothing lost."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.metrics.bleu import Bleu
from regard.metrics.buckets import BucketTable, bucket_scores, by_tags, word_frequency
from regard.metrics.differences import differences
from regard.metrics.show.comparison import (
    bucket_html,
    bucket_text,
    differences_html,
    differences_text,
    frequency_html,
    frequency_text,
    highlight,
    short_names,
)
from regard.metrics.ter import Ter
from regard.report.page import page


def comparison_page(title, tables=(), found=None):
    parts = [bucket_html(one) if isinstance(one, BucketTable) else frequency_html(one) for one in tables]
    return page(title, "\n".join([*parts, *([] if found is None else [differences_html(found)])]))


def compared(one, other, references, names=("A", "B"), metric=None, **options):
    metric = metric or Bleu()
    stats = (metric.stats(one, references), metric.stats(other, references))
    return differences(metric, names, (one, other), stats, references, **options)


def tagged(tags, systems, references, metric=None):
    metric = metric or Bleu()
    return bucket_scores(
        metric, {name: metric.stats(some, references) for name, some in systems.items()}, by_tags(tags)
    )


# ------------------------------------------------------------------------------- text


def test_bucket_table_as_text():
    systems = {"A": ["a b c d", "x", "a b c d"], "longer": ["a b c d", "y", "a b c d"]}
    table = tagged(["p", "q", "p"], systems, ["a b c d", "y", "a b c d"], Bleu(effective_order=True))
    assert bucket_text(table, digits=1).split("\n") == [
        "BLEU by tags",
        "     lines      A  longer",
        "p        2  100.0   100.0",
        "q        1    0.0   100.0",
        f"all      3  {table.whole.scores[0].score:5.1f}   100.0",
        f"signature: {table.whole.scores[0].signature}",
    ]


def test_ter_says_that_lower_is_better():
    table = tagged(["p"], {"A": ["a b"]}, ["a c"], Ter())
    assert bucket_text(table).startswith("TER by tags (lower is better)\n")
    found = compared(["a b"], ["a c"], ["a c"], metric=Ter())
    assert "(lower is better)" in differences_text(found)
    assert comparison_page("t", [table], found).count("(lower is better)") == 2


def test_many_systems_follow_in_blocks():
    systems = {f"out/system-{n}-of-them.fr": ["a b", "c"] for n in range(16)}
    text = bucket_text(tagged(["p", "q"], systems, ["a b", "c"]))
    assert max(map(cell_len, text.split("\n"))) <= 100
    for n in range(16):
        assert text.count(f"…system-{n}-of-them…") == 1
    assert text.count("lines") == text.count("\n\n") + 1 > 1


def test_frequency_table_as_text():
    systems = {"A": ["the the cat"], "B": ["a cat"]}
    text = frequency_text(
        word_frequency(systems, ["the cat sat"], ["the the the", "the cat"], (1, 2), counted_in="t.fr")
    )
    assert text.split("\n") == [
        "Words by how often they occur in t.fr",
        "occurs  reference  system  words  matches  precision  recall      F1",
        "0               1  A           0        0       0.00    0.00    0.00",
        "                   B           1        0       0.00    0.00    0.00",
        "1               1  A           1        1     100.00  100.00  100.00",
        "                   B           1        1     100.00  100.00  100.00",
        "2+              1  A           2        1      50.00  100.00   66.67",
        "                   B           0        0       0.00    0.00    0.00",
    ]


def test_differences_as_text():
    found = compared(["a b", "x"], ["a c", "y"], ["a b", "y"], source=["un deux", "trois"])
    assert differences_text(found).split("\n") == [
        "BLEU line by line",
        "          lines",
        "A better      1",
        "B better      1",
        "equal         0",
        "",
        "Lines where A is better by most",
        "",
        "line 1: BLEU A 100.00, B 50.00",
        "  source     un deux",
        "  reference  a b",
        "  A          a b",
        "  B          a c",
        "",
        "Lines where B is better by most",
        "",
        "line 2: BLEU A 0.00, B 100.00",
        "  source     trois",
        "  reference  y",
        "  A          x",
        "  B          y",
        "",
        "N-grams that A gets right more often",
        "     A  B",
        "b    1  0",
        "a b  1  0",
        "",
        "N-grams that B gets right more often",
        "   A  B",
        "y  0  1",
        "",
        f"signature of lines: {found.signature}",
    ]


TEXT = st.text(st.sampled_from("ab .猫語é\u0301\t\x1b\u2028👩"), max_size=200)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=3), TEXT, TEXT)
def test_no_line_of_text_is_wider_than_100_cells_or_moves_the_cursor(lines, name, label):
    one, other, references = (list(some) for some in zip(*lines, strict=True))
    names = (f"{name}A", f"{name}B")
    systems = {names[0]: one, names[1]: other}
    texts = [
        bucket_text(tagged([label] * len(lines), systems, references)),
        differences_text(compared(one, other, references, names)),
        frequency_text(word_frequency(systems, references, ["a"], counted_in=name)),
    ]
    for text in texts:
        assert "\x1b" not in text
        assert max(map(cell_len, text.split("\n"))) <= 100


def test_names_lose_what_they_share():
    assert short_names(["a.fr", "b.fr"]) == ["a.fr", "b.fr"]
    assert short_names(["runs/first/out.fr", "runs/second/out.fr"]) == ["…first…", "…second…"]
    assert short_names(["runs/first/out.fr"]) == ["runs/first/out.fr"]
    assert short_names(["runs/of/today/out.fr"] * 2) == ["…fr"] * 2
    assert [cell_len(name) for name in short_names(["x" * 50, "y" * 50])] == [24, 24]


# ------------------------------------------------------------------------------- the page

BAD = '<b>&"'


class Reader(HTMLParser):
    """Collects what a browser would: tags, text, and text inside <mark>."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.marked, self.text = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if "mark" in self.open:
            self.marked.append(data)


@pytest.fixture
def everything():
    one, other = [f"{BAD} a cat", "x"], ["a dog", "y"]
    references, names = [f"{BAD} cat", "y"], (f"one{BAD}", f"other{BAD}")
    systems = dict(zip(names, (one, other), strict=True))
    return comparison_page(
        f"title {BAD}",
        [
            tagged([BAD, "q"], systems, references),
            word_frequency(systems, references, counted_in=BAD),
        ],
        compared(one, other, references, names, source=[f"source {BAD}", "s"], tokenize="none"),
    )


def test_everything_is_escaped(everything):
    assert "<b>" not in everything
    assert not re.search(r"&(?!(amp|lt|gt|quot|#x27|#39);)", everything)
    reader = Reader(everything)
    assert reader.open == []
    for said in (f"title {BAD}", f"one{BAD}", f"other{BAD}", f"{BAD} cat", f"source {BAD}", BAD):
        assert said in "\n".join(reader.text)
    assert "b" not in reader.tags


def test_words_of_the_reference_are_lit_and_scores_have_bars(everything):
    reader = Reader(everything)
    assert reader.marked == [BAD, "cat", "y"]
    assert reader.tags.count("rect") == 3 * 2 + 2 * 2  # buckets and all, and two frequencies, of two systems
    widths = [float(width) for width in re.findall(r'<rect width="([\d.]+)"', everything)]
    assert max(widths) == 80


def test_page_needs_nothing_else(everything):
    assert not re.search(r"(src|href)=|url\(|<script|<link|@import|https?:", everything)


@given(st.text(max_size=20), st.lists(st.integers(0, 20), max_size=6))
def test_lighting_loses_no_letter(text, places):
    places = sorted(min(place, len(text)) for place in places)
    spans = tuple(zip(places[::2], places[1::2], strict=False))
    shown = Reader(highlight(text.replace("\r", ""), spans))
    assert "".join(shown.text) == text.replace("\r", "")


def test_a_page_of_one_part():
    page = comparison_page("t", [tagged(["p"], {"A": ["a"]}, ["a"])])
    assert "Lines where" not in page
    assert "<h2>BLEU by tags</h2>" in page
