"""Words, their places and probabilities, against other ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import InputError
from regard.explain.lattice import lattice
from regard.explain.rerun import pair_log_probs, rerun_search, rerun_translation, resume_branch, word_diff
from regard.explain.sentence_pair import sentence_pair
from regard.explain.words import LONGEST, begins_word, completed, word_by_word, word_choice
from regard.search.forced_decoding import next_log_probs
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
    found = word_by_word(sentence_pair(translator, source), count=0)
    links = {(i, j) for j, word in enumerate(found.words) for i in word.links}
    assert links == set(translator.align(source, target).links)
    assert not any(word.alternatives for word in found.words)


def test_alternatives_are_the_best_tokens_and_the_chosen_one(translator: Translator) -> None:
    pair = sentence_pair(translator, LINES[0][0])
    for word, place in zip(word_by_word(pair, count=3).words, pair.first_tokens(), strict=True):
        log_probs = next_log_probs(pair.bundle.model, pair.source_ids, pair.target_ids[:place])
        log_probs[:2] = -np.inf
        assert word.alternatives[0].probability == pytest.approx(float(np.exp(log_probs.max())), abs=1e-5)
        assert sum(one.chosen for one in word.alternatives) == 1
        assert len({one.text for one in word.alternatives}) == len(word.alternatives) <= 4


def test_an_alternative_goes_on_as_the_model_would(translator: Translator) -> None:
    pair = sentence_pair(translator, LINES[0][0])
    starts = {place: [5, pair.target_ids[place]] for place in (0, 2)}
    begins = begins_word(pair)
    ways = completed(pair.bundle.model, pair.source_ids, pair.target_ids, starts, begins)
    asked = [(place, token) for place, tokens in starts.items() for token in tokens]
    assert [way[0] for way in ways] == [token for _, token in asked]
    assert all(begins[way[-1]] or len(way) == LONGEST for way in ways[:1])
    for (place, token), way in zip(asked, ways, strict=True):
        said = [*pair.target_ids[:place], token]
        for following in way[1:]:
            assert following == int(next_log_probs(pair.bundle.model, pair.source_ids, said).argmax())
            said.append(following)


def test_the_same_search_says_the_same(translator: Translator) -> None:
    pair = sentence_pair(translator, LINES[2][0])
    again = rerun_search(pair.source, pair.bundle.model)
    assert again.ids == pair.target_ids
    assert rerun_translation(pair, pair.bundle.model, again) == LINES[2][1]
    np.testing.assert_allclose(
        pair_log_probs(pair, pair.bundle.model), word_by_word(pair, 0).token_log_probs, atol=1e-5
    )


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
    place = pair.first_tokens()[1]
    log_prob = word_by_word(pair, 0).words[1].log_prob
    assert place > 0
    assert found.probabilities[0] == pytest.approx(float(np.exp(log_prob)), rel=1e-3)
    assert sum(found.shares) == pytest.approx(1.0)
    with pytest.raises(InputError, match="none of the words"):
        word_choice(pair, ["zut", "flûte"])
    with pytest.raises(InputError, match="two to 10 single words"):
        word_choice(pair, ["zut"])


def test_differences_word_by_word() -> None:
    assert word_diff("", "Le chat") == [("added", "Le chat")]
    assert word_diff("L'homme  dort.", "L'homme dort.") == [("same", "L'homme dort.")]
