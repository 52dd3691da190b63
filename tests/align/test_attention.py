"""Merging subwords into words: by hand, and the properties any merging must have."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align.attention import View, views_of, word_attention
from regard.errors import InputError
from regard.text.words import split_words, subword_shares, word_spans

SOURCE, SOURCE_SPANS = "The cats sleep", [(0, 3), (4, 7), (7, 8), (9, 14)]  # The cat s sleep
TARGET, TARGET_SPANS = "Les chats", [(0, 3), (4, 6), (6, 9)]  # Les ch ats
WEIGHTS = np.array(
    [
        [0.7, 0.1, 0.1, 0.0, 0.1],  # predicts Les
        [0.0, 0.5, 0.2, 0.1, 0.2],  # has read Les, predicts ch
        [0.0, 0.3, 0.6, 0.1, 0.0],  # has read ch, predicts ats
        [0.2, 0.0, 0.0, 0.4, 0.4],  # has read ats, predicts EOS
    ]
)


def test_predicting_by_hand():
    found = word_attention(WEIGHTS, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    assert found.source_words == ("The", "cats", "sleep")
    assert found.target_words == ("Les", "chats")
    np.testing.assert_allclose(found.weights, [[0.7, 0.2, 0.0], [0.0, (0.7 + 0.9) / 2, 0.1]])
    np.testing.assert_allclose(found.eos_mass, [0.1, 0.1])


def test_having_read_by_hand():
    found = word_attention(WEIGHTS, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET, "having-read")
    np.testing.assert_allclose(found.weights, [[0.0, 0.7, 0.1], [0.1, 0.45, 0.25]])
    np.testing.assert_allclose(found.eos_mass, [0.2, 0.2])


def test_predicting_needs_no_row_for_eos_but_having_read_does():
    short = WEIGHTS[:3]
    found = word_attention(short, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    np.testing.assert_allclose(found.weights[0], [0.7, 0.2, 0.0])
    with pytest.raises(InputError, match=r"must be 4 × 5, EOS included, but is 3 × 5"):
        word_attention(short, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET, "having-read")


def test_shapes_and_readings_that_do_not_fit():
    with pytest.raises(InputError, match="but is 4 × 4"):
        word_attention(WEIGHTS[:, :4], SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    with pytest.raises(InputError, match="but is 1 × 4 × 5"):
        word_attention(WEIGHTS[None], SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    with pytest.raises(InputError, match='predicting or having-read, but is "reading"'):
        word_attention(WEIGHTS, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET, "reading")  # type: ignore[arg-type]


def test_a_subword_over_two_words_is_shared_by_its_characters():
    # one subword "l'homme" over the words "l'" (2 characters) and "homme" (5)
    np.testing.assert_allclose(subword_shares([(0, 7)], [(0, 2), (2, 7)]), [[2 / 7, 5 / 7]])


def test_a_subword_with_a_space_before_it_belongs_to_its_word():
    np.testing.assert_array_equal(subword_shares([(0, 3), (3, 7)], [(0, 3), (4, 7)]), np.eye(2))


@pytest.mark.parametrize(("span", "word"), [((3, 4), 1), ((8, 9), 1), ((5, 5), 1), ((0, 0), 0), ((4, 4), 1)])
def test_a_subword_without_characters_of_a_word_goes_to_the_nearest(span, word):
    shares = subword_shares([span], [(0, 3), (4, 7)])  # a space goes to the word after it, or to the last word
    np.testing.assert_array_equal(shares, np.eye(2)[[word]])


def test_no_words_at_all():
    empty = word_attention(np.array([[1.0]]), [], [], "", "")
    assert empty.weights.shape == (0, 0)
    blank_source = word_attention(np.array([[0.4, 0.6], [0, 1]]), [(0, 1)], [(0, 2)], " ", "oh")
    assert blank_source.weights.shape == (1, 0)
    np.testing.assert_allclose(blank_source.eos_mass, [1.0])


def test_a_word_no_subword_belongs_to_is_not_a_number():
    found = word_attention(WEIGHTS[:2], SOURCE_SPANS, TARGET_SPANS[:1], SOURCE, TARGET)  # cut after "Les"
    assert np.isfinite(found.weights[0]).all()
    assert np.isnan(found.weights[1]).all()
    assert np.isnan(found.eos_mass[1])


def test_a_broken_row_spoils_no_other():
    broken = WEIGHTS.copy()
    broken[0, 2] = np.nan
    found = word_attention(broken, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    assert np.isnan(found.weights[0]).any()
    np.testing.assert_allclose(found.weights[1], [0.0, 0.8, 0.1])


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_tensors_are_taken_as_they_come(kind):
    tensor = torch.tensor(WEIGHTS, dtype=kind, requires_grad=True)
    found = word_attention(tensor, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    np.testing.assert_allclose(found.weights[1], [0.0, 0.8, 0.1], atol=5e-3)


def test_every_view_of_a_sentence():
    rng = np.random.default_rng(0)
    cross = [rng.dirichlet(np.ones(5), (3, 4)) for _ in range(2)]  # 2 layers of (H, T, S)
    cross[1][2] = WEIGHTS
    views = views_of(cross, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET)
    assert len(views) == 2 * (1 + 3) * 2
    np.testing.assert_allclose(views[View(1, 2, "predicting")].weights[1], [0.0, 0.8, 0.1], atol=1e-6)
    for view, found in views.items():
        weights = cross[view.layer].mean(axis=0) if view.head is None else cross[view.layer][view.head]
        again = word_attention(weights, SOURCE_SPANS, TARGET_SPANS, SOURCE, TARGET, view.row)
        np.testing.assert_allclose(found.weights, again.weights, atol=1e-6)


def test_a_view_in_print_counts_from_one():
    assert str(View(1, None, "having-read")) == "layer 2 · mean of heads · having read"
    assert str(View(0, 3)) == "layer 1 · head 4 · predicting"


# ------------------------------------------------------------------------------- properties

TEXT = st.text(st.sampled_from("ab c d'é-.猫😀\u0301"), max_size=20)


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    """A text cut into subwords anywhere; now and then one is empty, as the pieces of a byte fallback are."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *places, len(text)]
    return list(pairwise(edges)) if text else []


@settings(max_examples=40, deadline=None)
@given(st.data(), TEXT, TEXT, st.sampled_from(["predicting", "having-read"]), st.integers(0, 9))
def test_mass_is_conserved(data, source, target, row, seed):
    source_spans, target_spans = data.draw(cut(source)), data.draw(cut(target))
    shape = (len(target_spans) + 1, len(source_spans) + 1)
    weights = np.random.default_rng(seed).dirichlet(np.ones(shape[1]), size=shape[0])
    found = word_attention(weights, source_spans, target_spans, source, target, row)
    assert found.weights.shape == (len(split_words(target)), len(split_words(source)))
    np.testing.assert_allclose(found.weights.sum(axis=1) + found.eos_mass, 1)


@st.composite
def cut_words(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text of words, each cut into subwords, with spaces that are subwords of their own or of none."""
    words = draw(st.lists(st.sampled_from(["a", "chat", "d'", "猫", "..", "vient-il"]), min_size=1, max_size=6))
    text, spans = "", list[tuple[int, int]]()
    for word in words:
        if draw(st.booleans()):
            if draw(st.booleans()):
                spans.append((len(text), len(text) + 1))
            text += " "
        edges = sorted({0, len(word), *draw(st.lists(st.integers(0, len(word)), max_size=2))})
        spans += [(len(text) + a, len(text) + b) for a, b in pairwise(edges)]
        text += word
    return text, spans


@settings(max_examples=100, deadline=None)
@given(cut_words(), cut_words(), st.integers(0, 9))
def test_words_of_whole_subwords_are_merged_as_by_shares(source, target, seed):
    if seed % 2:  # an empty subword at the beginning, as before a slot
        source, target = (source[0], [(0, 0), *source[1]]), (target[0], [(0, 0), *target[1]])
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(source[1]) + 1), size=len(target[1]) + 1)
    found = word_attention(weights, source[1], target[1], source[0], target[0])
    columns = subword_shares(source[1], word_spans(source[0]))
    rows = subword_shares(target[1], word_spans(target[0]))
    means = rows.T / rows.sum(axis=0)[:, None]
    np.testing.assert_allclose(found.weights, means @ weights[:-1, :-1] @ columns)
    np.testing.assert_allclose(found.eos_mass, means @ weights[:-1, -1])
    np.testing.assert_allclose(found.coverage, found.weights.sum(axis=0))


@settings(max_examples=25, deadline=None)
@given(TEXT, TEXT, st.integers(0, 9))
def test_one_subword_a_word_changes_nothing(source, target, seed):
    source_spans, target_spans = word_spans(source), word_spans(target)
    weights = np.random.default_rng(seed).random((len(target_spans) + 1, len(source_spans) + 1))
    for row, first in (("predicting", 0), ("having-read", 1)):
        found = word_attention(weights, source_spans, target_spans, source, target, row)
        rows = weights[first : first + len(target_spans)]
        np.testing.assert_allclose(found.weights, rows[:, :-1])
        np.testing.assert_allclose(found.eos_mass, rows[:, -1])


def test_import_needs_no_torch():
    check = "import regard.explain.alignment, regard.explain.render.terminal, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
