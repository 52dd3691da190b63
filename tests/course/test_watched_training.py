"""A minute of training: what it learns from is held apart from what it is measured on, and time sets the pace."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import pytest
import torch

from regard.course.watched_training import BATCH_TOKENS, LONGEST, MODELS, ShortSentences, WatchedTraining, batches
from regard.serve import training_service
from regard.text.words import split_words


@cache
def sentences() -> ShortSentences:
    return ShortSentences(1000)


def test_sentences_are_short_and_held_apart() -> None:
    found = sentences()
    learned = {one.src for one in found.train}
    assert max(len(line.split()) for line in learned) <= LONGEST
    assert learned.isdisjoint([one.src for one in (*found.held_out, found.shown)])
    assert all(found.is_known(one) for one in found.held_out)


def test_the_map_has_a_row_and_a_column_for_each_word() -> None:
    found = WatchedTraining("rnn-attention", sentences()).look()
    shown = sentences().shown
    sizes = len(found["weights"]), len(found["weights"][0])
    assert sizes == (len(split_words(shown.tgt)), len(split_words(shown.src)) + 1)
    uniform = 1 / sizes[1]
    assert found["on_links"] > uniform / 2  # it has learned nothing


@pytest.mark.parametrize("name", MODELS)
def test_a_few_updates_lower_the_loss(name: str) -> None:
    training = WatchedTraining(name, sentences())
    source = training.tokenizer.encode_source([one.src for one in sentences().train])
    target = training.tokenizer.encode_target([one.tgt for one in sentences().train])
    stream = batches(source, target)
    losses = [training.update(batch, number, 0.0) for number, batch in enumerate(islice(stream, 12), 1)]
    assert sum(losses[-3:]) < sum(losses[:3])
    assert ("weights" in training.look()) == (name != "rnn")


def test_batches_keep_to_their_budget_and_never_end() -> None:
    some = list(islice(batches([[5] * n for n in (3, 4, 9)] * 20, [[6] * n for n in (4, 4, 7)] * 20), 9))
    assert all(batch.src.numel() <= BATCH_TOKENS and batch.tgt_in.numel() <= BATCH_TOKENS for batch in some)
    assert sum(len(batch) for batch in some) > 60


def test_the_rate_follows_the_time_not_the_updates() -> None:
    training = WatchedTraining("transformer", sentences(), seconds=10)
    batch = next(batches([[5, 6]] * 4, [[7]] * 4))

    def rate(number: int, second: float) -> Any:
        training.update(batch, number, second)
        return training.optimizer.param_groups[0]["lr"]

    assert rate(50, 9.0) < 0.2 * rate(50, 1.0)
    assert rate(60, 10.0) == 0


def test_attention_on_the_linked_words_is_counted() -> None:
    training, shown = WatchedTraining("transformer", sentences()), sentences().shown
    weights = torch.zeros(len(split_words(shown.tgt)) + 1, len(split_words(shown.src)) + 1)
    assert training.on_links(weights) == 0
    for source, target in shown.alignment:
        weights[target, source] = 1 / sum(t == target for _, t in shown.alignment)
    assert training.on_links(weights) == pytest.approx(1)


def test_the_server_offers_the_same_models() -> None:
    assert tuple(MODELS) == training_service.MODELS
