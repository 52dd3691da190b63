"""The labs' sentences are what they say, and their figures are what one counts by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regard.align.attention import View
from regard.course.grammar import Example
from regard.course.lab import (
    attention_shares,
    has_word,
    head_attention,
    margins,
    outcome,
    run_lab,
    sentences_of,
)
from regard.course.minimal_pairs import LabPair, LabSentence, all_pairs, make_sentence
from regard.errors import InputError
from regard.explain.ablation import Head, ablated, heads_of
from regard.explain.trace import trace_sentence
from regard.search.forced_decoding import forced_log_probs
from regard.text.words import split_words
from regard.translator import Translator

TIRED = Example(
    "The animal didn't cross the street because it was too tired.",
    "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    ((0, 0), (1, 1), (4, 6), (5, 7), (7, 10), (10, 13)),
    (),
)
WIDE = Example(
    "The animal didn't cross the street because it was too wide.",
    "L'animal n'a pas traversé la rue parce qu'elle était trop large.",
    ((0, 0), (1, 1), (4, 6), (5, 7), (7, 10), (10, 13)),
    (),
)
# Two sentences that the tiny trained model knows, as if they were a pair.
CAT = LabSentence(
    "The cat sleeps.",
    "Le chat dort.",
    "chat",
    "chien",
    "Le ",
    "chat",
    "chien",
    1,
    1,
    (1,),
    (0,),
    (1,),
    ((0, 0), (1, 1)),
)
DOG = LabSentence(
    "A small dog eats.", "Un petit chien mange.", "chien", "chat", "Un petit ", "chien", "chat",
    2, 2, (2,), (0, 1), (2,), ((0, 0), (1, 1), (2, 2)),
)  # fmt: skip
PAIR = LabPair(CAT, DOG, "dev")


def test_the_notes_own_pair() -> None:
    tired, wide = (
        make_sentence("pronoun", *args)
        for args in ((TIRED, WIDE, "il", "elle", True), (WIDE, TIRED, "elle", "il", False))
    )
    words = split_words(tired.source)
    assert [words[i] for i in (tired.ambiguous, *tired.means, *tired.others, *tired.decides)] == [
        "it",
        "animal",
        "street",
        "tired",
    ]
    assert [split_words(wide.source)[i] for i in (*wide.means, *wide.others, *wide.decides)] == [
        "street",
        "animal",
        "wide",
    ]
    assert split_words(tired.target)[tired.resolved] == "il"
    assert (tired.before, tired.right, tired.wrong) == ("L'animal n'a pas traversé la rue parce qu'", "il", "elle")
    assert (wide.before, wide.right, wide.wrong) == (tired.before, "elle", "il")


@pytest.mark.parametrize("kind", ["pronoun", "polysemy"])
def test_every_pair_of_a_small_corpus(kind: str) -> None:
    chosen, measured = all_pairs(kind, size=1000)  # type: ignore[arg-type]
    assert len(chosen) == 8
    assert len(measured) >= 20
    for pair in chosen + measured:
        for case, other in ((pair.first, pair.second), (pair.second, pair.first)):
            source, target = split_words(case.source), split_words(case.target)
            assert case.target.startswith(case.before + case.right)
            assert case.right != case.wrong
            assert case.right.lower().endswith(case.word)
            assert case.wrong.lower().endswith(case.other) == (not case.wrong.lower().endswith(case.word))
            assert target[case.resolved].lower() == case.word
            assert has_word(case.target, case.word, case.other)
            assert not has_word(other.target, case.word, case.other)
            assert {source[i] for i in case.decides}.isdisjoint(split_words(other.source))
            assert case.ambiguous not in (*case.means, *case.others)
            assert not set(case.means) & set(case.others)
            if kind == "pronoun":
                assert source[case.ambiguous] == "it"
                assert (case.means, case.others) == (other.others, other.means)


def test_margins_and_accuracy_by_hand(translator: Translator) -> None:
    bundle, tokenizer = translator.bundle, translator.tokenizer
    found = margins(bundle, [PAIR])
    for margin, case in zip(found, sentences_of([PAIR]), strict=True):
        source = tokenizer.encode_source([case.source])
        before = len(tokenizer.encode_target([case.before.rstrip()])[0])
        right, wrong = tokenizer.encode_target([case.before + case.right, case.before + case.wrong])
        p, q = (forced_log_probs(bundle.model, source, [ids])[0][before:-1].sum() for ids in (right, wrong))
        assert margin == pytest.approx(p - q, abs=1e-4)
    plain = outcome(bundle, [PAIR])
    assert (plain.pairs_right, plain.sentences_right, plain.preferred) == (1, 1, 1)
    assert plain.p_right == pytest.approx((1 / (1 + np.exp(-found))).mean())
    swapped = LabPair(replace(CAT, word="chien", other="chat", right="chien", wrong="chat"), DOG, "dev")
    half = outcome(bundle, [swapped])
    assert (half.pairs_right, half.sentences_right, half.preferred) == (0, 0.5, 0.5)


def test_what_a_word_looks_at(translator: Translator) -> None:
    (ids,) = translator.tokenizer.encode_target([DOG.target])
    seen = trace_sentence(translator.bundle, DOG.source, ids)
    for kind in ("encoder", "cross"):
        row = seen.in_words(View(0, 1), kind).weights[2]  # type: ignore[arg-type]
        found = attention_shares(seen, DOG, Head(kind, 0, 1))  # type: ignore[arg-type]
        assert found is not None
        np.testing.assert_allclose(found, [row[2], row[:2].mean(), row[2], row[2]])
    assert attention_shares(seen, DOG, Head("decoder", 0, 0)) is None  # "chien" is not yet there to look at
    assert {g.head.kind for g in head_attention(translator.bundle, [PAIR], heads_of(translator.bundle.model))} == {
        "encoder",
        "cross",
    }


def test_a_whole_lab(translator: Translator) -> None:
    bundle = translator.bundle
    lab = run_lab(bundle, "polysemy", [PAIR], [PAIR], count=2, draws=3)
    assert lab.plain == outcome(bundle, [PAIR])
    assert list(lab.effects.values()) == sorted(lab.effects.values(), reverse=True)
    assert lab.by_effect.heads == tuple(lab.effects)[:2]
    with ablated(bundle.model, lab.by_effect.heads):
        assert lab.by_effect.outcome == outcome(bundle, [PAIR])
    assert len(lab.random) == 3
    assert lab.as_dict()["cut_by_effect"]["heads"] == [str(head) for head in lab.by_effect.heads]
    assert outcome(bundle, [PAIR]) == lab.plain


def test_a_cut_is_a_cut_for_the_translations_too(translator: Translator) -> None:
    bundle = translator.bundle
    assert outcome(bundle, [PAIR]).sentences_right == 1  # from here on there may be a twin without hooks to search with
    with ablated(bundle.model, [head for head in heads_of(bundle.model) if head.kind == "cross"]):
        assert outcome(bundle, [PAIR]).sentences_right < 1  # a decoder that reads nothing of the source
    assert outcome(bundle, [PAIR]).sentences_right == 1


def test_a_lab_that_there_is_not() -> None:
    with pytest.raises(InputError, match="pronoun and polysemy"):
        all_pairs("irony")  # type: ignore[arg-type]
