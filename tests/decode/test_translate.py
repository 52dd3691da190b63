"""Text in, text out, on a model that was really trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.batch import budgeted
from regard.decode.sampling import Sampling
from regard.decode.source_parts import cut_points, source_parts
from regard.errors import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import Vocabulary
from regard.translator import Translator
from support import LINES


def test_it_learnt_its_corpus(translator: Translator) -> None:
    found = translator.translate([s for s, _ in LINES])
    assert [t.text for t in found] == [t for _, t in LINES]
    assert all(t.score <= 0 for t in found)


def test_order_and_empty_lines_are_kept(translator: Translator) -> None:
    lines = ["", "The cat sleeps.", "   ", "The dog sees the cat.", ""]
    assert [t.text for t in translator.translate(lines)] == ["", "Le chat dort.", "", "Le chien voit le chat.", ""]


@pytest.mark.parametrize("beam", [1, 4])
def test_the_batch_does_not_matter(translator: Translator, beam: int) -> None:
    lines = [s for s, _ in LINES] * 2 + ["Cat", "sleeps dog the and eats a cat", "Ü 😀 x"]
    alone = [translator.translate([line], beam=beam)[0].text for line in lines]
    for budget in (1, 16, 64, 10_000):
        assert [t.text for t in translator.translate(lines, beam=beam, batch_tokens=budget)] == alone


def test_n_best(translator: Translator) -> None:
    found = translator.translate(["The cat sleeps."], beam=4, nbest=3)[0]
    assert len(found.candidates) == 3
    assert found.candidates[0].text == found.text
    scores = [c.score for c in found.candidates]
    assert scores == sorted(scores, reverse=True)
    with pytest.raises(InputError, match="between 1 and the beam"):
        translator.translate(["x"], beam=2, nbest=3)


def test_one_string_gives_one_translation(translator: Translator) -> None:
    assert translator.translate("The cat sleeps.") == translator.translate(["The cat sleeps."])[0]


def test_a_long_line_is_cut_at_sentence_ends(translator: Translator) -> None:
    short = Translator(translator.bundle, translator.config, max_length=9)
    found = short.translate(["The cat sleeps. The dog sees the cat. The cat does not eat."])[0]
    assert found.parts == 3
    assert found.text == "Le chat dort. Le chien voit le chat. Le chat ne mange pas."


def test_a_megabyte_in_one_line_ends(translator: Translator) -> None:
    (parts,) = source_parts(translator.tokenizer, ["word " * 200_000], [], translator.max_length)
    assert all(len(p.ids) < translator.max_length for p in parts)
    assert translator.tokenizer.decode_source(parts[0].ids).startswith("word word")
    assert parts[0].text.startswith("word word")


@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 100))
def test_budgets_hold_and_nothing_is_lost(lengths: list[int], budget: int) -> None:
    groups = list(budgeted(lengths, budget))
    assert sorted(i for g in groups for i in g) == list(range(len(lengths)))
    assert all(len(g) == 1 or len(g) * (max(lengths[i] for i in g) + 1) <= budget for g in groups)


@given(st.text(alphabet="ab .!", min_size=1, max_size=80), st.integers(1, 9))
def test_cuts_cover_the_text(text: str, most: int) -> None:
    spans = [(i, i + 1) for i in range(len(text))]
    ranges = list(cut_points(text, spans, most))
    assert "".join(text[a:b] for a, b in ranges) == text
    assert all(b - a <= most for a, b in ranges)


def test_loading_says_what_is_missing(tmp_path: Path, run_folder: Path) -> None:
    assert Translator.load(run_folder).translate(["The cat sleeps."])[0].text == "Le chat dort."


def test_drawn_translations_do_not_depend_on_the_batch(translator: Translator) -> None:
    lines = [s for s, _ in LINES] + ["", "Cat dog."]
    hot = Sampling(temperature=2.0, seed=1)
    alone = [translator.translate([line], sampling=hot, nbest=2)[0] for line in lines]
    together = translator.translate(lines, sampling=hot, nbest=2)
    assert [[c.ids for c in t.candidates] for t in together] == [[c.ids for c in t.candidates] for t in alone]
    assert all(len(t.candidates) == 2 for t in together if t.source)
    others = translator.translate(lines, sampling=Sampling(temperature=2.0, seed=2), nbest=2)
    assert [t.text for t in together] != [t.text for t in others]
    cold = translator.translate([s for s, _ in LINES], sampling=Sampling(temperature=0.01))
    assert [t.text for t in cold] == [t for _, t in LINES]


def test_a_tag_must_be_known(translator: Translator) -> None:
    with pytest.raises(InputError, match='unknown tag "<bt>"; this vocabulary has none'):
        translator.translate(["The cat sleeps."], tag="<bt>")


def test_a_tag_changes_what_the_model_reads(translator: Translator) -> None:
    """The last entry of the vocabulary, taken for a tag: every part of a line has it in front."""
    plain = translator.tokenizer
    *pieces, last = plain.source.pieces
    merges = [(a, b) for a, b in plain.source.merges or [] if a + b != last]
    source = Vocabulary(pieces, merges).with_tags(["<x>"])
    tagged = Tokenizer(source, source, replace(plain.config, tags=("<x>",)))
    bundle = replace(translator.bundle, tokenizer=tagged)
    other = Translator(bundle, translator.config, max_length=12)
    read: list[list[int]] = []
    candidates = other._candidates
    other._candidates = lambda parts, *rest: read.extend(p.ids for p in parts) or candidates(parts, *rest)  # type: ignore[method-assign, func-returns-value]
    other.translate(["The cat sleeps.", "The cat sleeps. The dog eats. A cat sees the dog. The cat eats."], tag="<x>")
    assert len(read) > 2
    assert all(ids[0] == len(source) - 1 and len(ids) < 12 for ids in read)
