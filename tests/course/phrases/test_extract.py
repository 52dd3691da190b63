"""Phrases against Koehn's textbook example, and the corpus-wide search against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align.numbered import Link, Sentences
from regard.course.phrases.extract import CorpusLinks, Span, extract_phrases, occurrences

GERMAN = ["michael", "geht", "davon", "aus", ",", "dass", "er", "im", "haus", "bleibt"]
ENGLISH = ["michael", "assumes", "that", "he", "will", "stay", "in", "the", "house"]
LINKS = [(0, 0), (1, 1), (2, 1), (3, 1), (5, 2), (6, 3), (7, 6), (7, 7), (8, 8), (9, 4), (9, 5)]


def test_the_textbook_sentence_gives_the_textbook_phrases() -> None:
    """Koehn, Statistical Machine Translation (2010), figure 5.6 with the comma, which has no link."""
    found = {
        (" ".join(GERMAN[a:b]), " ".join(ENGLISH[c:d]))
        for (a, b), (c, d) in extract_phrases(len(GERMAN), len(ENGLISH), LINKS, longest=10)
    }
    assert {
        ("michael", "michael"),
        ("geht davon aus", "assumes"),
        ("geht davon aus ,", "assumes"),
        (", dass", "that"),
        ("dass er", "that he"),
        ("im haus", "in the house"),
        ("bleibt", "will stay"),
        ("im haus bleibt", "will stay in the house"),
        ("geht davon aus , dass", "assumes that"),
        (" ".join(GERMAN), " ".join(ENGLISH)),
    } <= found
    assert len(found) == 24
    assert not any(source in ("geht", "davon", "geht davon", "er im", ",") for source, _ in found)


Pair = tuple[int, int, list[Link]]


@st.composite
def aligned(draw: st.DrawFn) -> Pair:
    source, target = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    links = st.tuples(st.integers(0, source - 1), st.integers(0, target - 1))
    return source, target, sorted(draw(st.sets(links, max_size=8)))


@settings(max_examples=30, deadline=None)
@given(st.lists(aligned(), min_size=1, max_size=4), st.integers(1, 5))
def test_a_corpus_has_the_phrases_of_its_sentences(pairs: list[Pair], longest: int) -> None:
    source = Sentences.of([[0] * pair[0] for pair in pairs])
    target = Sentences.of([[0] * pair[1] for pair in pairs])
    links = CorpusLinks.of([pair[2] for pair in pairs], source, target)
    found: list[tuple[Span, Span]] = []
    for some in occurrences(links, source, target, longest):
        for a, c, width in zip(some.source.tolist(), some.target.tolist(), some.target_lengths.tolist(), strict=True):
            found.append(((a, a + some.length), (c, c + width)))
    starts = np.stack([source.starts(), target.starts()], axis=1).tolist()
    expected = [
        ((a + i, b + i), (c + j, d + j))
        for (words, others, some_links), (i, j) in zip(pairs, starts, strict=True)
        for (a, b), (c, d) in extract_phrases(words, others, some_links, longest)
    ]
    assert sorted(found) == sorted(expected)
