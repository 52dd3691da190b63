"""Words, their places and probabilities, against other ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import InputError
from regard.explain.lattice import lattice
from regard.explain.rerun import pair_log_probs, rerun_translation, resume_branch, word_diff
from regard.explain.sentence_pair import sentence_pair
from regard.explain.words import word_by_word, word_choice
from regard.text.words import split_words
from regard.translator import Translator
from support import LINES

TEXT = f"  {LINES[0][0]} {LINES[1][0]}"


def test_words_stand_where_they_are_said_to_be(translator: Translator) -> None:
    for number, (source, target) in enumerate(LINES[:2]):
        pair = sentence_pair(translator, TEXT, sentence=number)
        assert [TEXT[slice(*word.span)] for word in pair.source_words if word.span] == split_words(source)
        assert pair.target.translation == target
        assert [target[slice(*word.span)] for word in pair.target_words if word.span] == split_words(target)
        forced = sentence_pair(translator, TEXT, target, sentence=number)
        assert forced.target_words == pair.target_words
        for pieces, text in ((pair.source_pieces, TEXT), (pair.target_pieces, target)):
            placed = [(piece.text.strip("▁"), text[slice(*piece.span)].strip()) for piece in pieces if piece.span]
            assert [label for label, _ in placed] == [there for _, there in placed]


def test_probabilities_are_those_of_score(translator: Translator) -> None:
    source, target = LINES[0]
    pair = sentence_pair(translator, source)
    found = word_by_word(pair)
    score = translator.score(source, target)
    np.testing.assert_allclose(found.token_log_probs, score.token_log_probs, atol=1e-5)
    total = sum(word.log_prob for word in found.words) + found.token_log_probs[-1]
    assert total == pytest.approx(score.log_prob, abs=1e-4)
    assert found.loop is None
    assert [token for word in found.words for token, _ in word.tokens] == list(score.tokens[:-1])
    assert found.coverage is not None
    assert len(found.coverage) == len(pair.source_words)


def test_links_are_those_of_align(translator: Translator) -> None:
    source, target = LINES[0]
    found = word_by_word(sentence_pair(translator, source))
    links = {(i, j) for j, word in enumerate(found.words) for i in word.links}
    assert links == set(translator.align(source, target).links)


def test_the_same_search_says_the_same(translator: Translator) -> None:
    pair = sentence_pair(translator, LINES[2][0])
    again = pair.source.search_again(pair.bundle.model)
    assert again.ids == pair.target_ids
    found, log_probs = pair.own_search
    assert found.ids == again.ids
    np.testing.assert_allclose(log_probs, pair_log_probs(pair, pair.bundle.model))
    assert rerun_translation(pair, pair.bundle.model, again) == LINES[2][1]
    np.testing.assert_allclose(pair_log_probs(pair, pair.bundle.model), word_by_word(pair).token_log_probs, atol=1e-5)


def test_a_branch_is_resumed(translator: Translator) -> None:
    pair = sentence_pair(translator, LINES[0][0], beam=3)
    found = lattice(translator, LINES[0][0], beam=3)
    best = resume_branch(pair.source, found, found.nbest[0].nodes[0])
    assert (best.text, best.score) == (found.nbest[0].text, pytest.approx(found.nbest[0].score, abs=1e-4))
    dropped = next(number for number, node in enumerate(found.nodes) if node.fate == "crowded out")
    other = resume_branch(pair.source, found, dropped)
    assert other.text.startswith(other.prefix)
    assert other.score < best.score
    with pytest.raises(InputError, match="node must be from 0"):
        resume_branch(pair.source, found, len(found.nodes))


def test_a_choice_between_words(translator: Translator) -> None:
    pair = sentence_pair(translator, LINES[0][0])
    words = [word.text for word in pair.target_words]
    found = word_choice(pair, [words[1], "zut"])
    assert (found.position, found.shares[0] > 0.5) == (1, True)
    log_prob = word_by_word(pair).words[1].log_prob
    assert found.probabilities[0] == pytest.approx(float(np.exp(log_prob)), rel=1e-3)
    assert sum(found.shares) == pytest.approx(1.0)
    with pytest.raises(InputError, match="none of the words"):
        word_choice(pair, ["zut", "flûte"])
    with pytest.raises(InputError, match="two to 10 single words"):
        word_choice(pair, ["zut"])


def test_differences_word_by_word() -> None:
    assert word_diff("", "Le chat") == [("added", "Le chat")]
    assert word_diff("L'homme  dort.", "L'homme dort.") == [("same", "L'homme dort.")]
