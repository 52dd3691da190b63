"""A model that ends when it is due: greedy and beam search stop there, and every step before is the model's own."""

from __future__ import annotations

import pytest
import torch

from regard.batch import EOS, pad_sources
from regard.doctor.rehearse import FixedLengthModel
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.search import beam_search, greedy

SOURCES = [[5, 6, 7, 8, 9, 10, 11], [5, 6, 7], [9]]  # 8, 4 and 2 tokens with EOS


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(1)
    config = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1)
    return Transformer(config, 20, 20, joint=True).eval()


def test_translations_have_the_length_that_is_due(model: Transformer) -> None:
    src, mask = pad_sources(SOURCES)
    for found in (
        greedy(FixedLengthModel(model, 1.5), src, mask),
        [h[0] for h in beam_search(FixedLengthModel(model, 1.5), src, mask)],
    ):
        assert [len(hypothesis.ids) + 1 for hypothesis in found] == [12, 6, 3]  # EOS counted


def test_steps_are_the_models_own_but_for_the_end(model: Transformer) -> None:
    src, mask = pad_sources(SOURCES)
    punctual = FixedLengthModel(model, 1.0)
    ours, theirs = punctual.start(punctual.encode(src, mask)), model.start(model.encode(src, mask))
    token = torch.tensor([4, 5, 6])
    first, plain = punctual.step(token, ours), model.step(token, theirs)
    others = torch.arange(20) != EOS
    torch.testing.assert_close(first.logits[:, others], plain.logits[:, others])
    assert first.log_probs[:, EOS].tolist() == [-torch.inf] * 3
    second = punctual.step(token[[2, 0]], first.state.select(torch.tensor([2, 0])))
    assert second.log_probs[0].argmax() == EOS  # the source of two tokens
    assert second.log_probs[1].argmax() != EOS
