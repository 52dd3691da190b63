"""Shares against their definition, and where they are known beforehand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import variants
from regard.batch import BOS, EOS
from regard.explain.share import Shares, shares_of
from regard.models.base import Model
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.forced_decoding import forced_log_probs
from variants import transformer

CONFIG = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1, tie="none")
MODELS: dict[str, Callable[[], Model]] = {
    "transformer": lambda: transformer(CONFIG),
    "attentive rnn": variants.RNN["before"],
    "convs2s": variants.CONVS2S["plain"],
    "gnmt": variants.GNMTS["four layers"],
    "bytenet": variants.BYTENET["plain"],
    "deep-att": variants.DEEP_ATT["three and three layers"],
}
SOURCE, TARGET = [5, 9, 14, 3], [7, 11, 4, 12]
WORDS = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1.0]])  # the second word has two tokens


def sharp(make: Callable[[], Model]) -> Model:
    torch.manual_seed(3)
    model = make().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


@pytest.mark.parametrize("name", MODELS)
def test_they_add_up_and_the_first_word_is_the_sources(name: str) -> None:
    found = shares_of(sharp(MODELS[name]), SOURCE, TARGET, WORDS)
    share = found.from_source
    assert found.before[0] == pytest.approx(0.0, abs=1e-5)
    assert np.isnan(share[0]) or share[0] == pytest.approx(1.0, abs=1e-3)
    assert (np.isnan(share) | ((share >= 0) & (share <= 1))).all()


def test_both_parts_together_are_the_difference_between_all_and_nothing() -> None:
    """What is blanked is put into a model of its own: its tables hold the mean where a token is not read."""
    model = sharp(MODELS["transformer"])
    assert isinstance(model, Transformer)
    found = shares_of(model, SOURCE, TARGET, WORDS)
    (whole,) = forced_log_probs(model, [SOURCE], [TARGET])
    with torch.no_grad():
        source, target = model.source_embedding.weight, model.target_embedding.weight
        mean, other = source.mean(dim=0), target.mean(dim=0)
        kept, begin = source[EOS].clone(), target[BOS].clone()
        own = target[11].clone()  # the second word's first token, which its second token has read
        source[:], target[:] = mean, other
        source[EOS], target[BOS] = kept, begin
        (nothing,) = forced_log_probs(model, [SOURCE], [TARGET])
        target[11] = own
        (second,) = forced_log_probs(model, [SOURCE], [TARGET])
    none = np.array([nothing[0], second[1] + second[2], nothing[3]])
    np.testing.assert_allclose(found.source + found.before, whole[:4] @ WORDS - none, atol=1e-4)


def test_a_model_that_does_not_read_the_source_takes_nothing_from_it() -> None:
    model = sharp(MODELS["transformer"])
    assert isinstance(model, Transformer)
    with torch.no_grad():
        model.decoder_layers()[0].cross.output.weight.zero_()
    found = shares_of(model, SOURCE, TARGET, WORDS)
    np.testing.assert_allclose(found.source, 0.0, atol=1e-5)
    assert np.abs(found.before[1:]).min() > 1e-4


def test_a_model_that_reads_no_words_before_takes_nothing_from_them() -> None:
    model = sharp(MODELS["transformer"])
    with torch.no_grad():
        model.target_embedding.weight[:] = model.target_embedding.weight[BOS]  # type: ignore[union-attr,index,operator]
    found = shares_of(model, SOURCE, TARGET, WORDS)
    np.testing.assert_allclose(found.before, 0.0, atol=1e-5)


def test_a_part_that_lowers_the_probability_counts_nothing() -> None:
    found = Shares(np.array([2.0, -1.0, 1.0, -1.0]), np.array([2.0, 3.0, -4.0, -1.0])).from_source
    np.testing.assert_array_equal(found, [0.5, 0.0, 1.0, np.nan])


def test_a_tag_is_never_blanked() -> None:
    model = sharp(MODELS["transformer"])
    found = shares_of(model, SOURCE, TARGET, WORDS, tags=len(SOURCE))
    np.testing.assert_allclose(found.source, 0.0, atol=1e-5)
