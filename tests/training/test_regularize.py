"""Each regulariser against its definition, written out in plain loops or taken from torch."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import BOS, EOS, PAD, Batch, FlatBatch, Places, flat_batch
from regard.errors import RecipeError
from regard.models.base import Model
from regard.models.table import ARCHITECTURES
from regard.recipe.read import recipe_from_tables
from regard.recipe.train import TrainConfig
from regard.training.cost import FlopCounter
from regard.training.regularize import (
    add_word_dropout,
    forward_passes,
    predictions,
    r_drop,
    r_drop_fused,
    replace_with_predictions,
    symmetric_kl,
    word_dropout,
)

V = 23


def two_passes() -> tuple[Tensor, Tensor, Tensor]:
    """Logits (2B, T, V) of two passes over two sentences, targets (B, T), mask (B, T)."""
    torch.manual_seed(3)
    mask = torch.tensor([[True, True, False], [True, True, True]])
    return torch.randn(4, 3, V, dtype=torch.float64), torch.randint(3, V, (2, 3)), mask


def test_symmetric_kl_is_torchs_both_ways() -> None:
    logits, _, mask = two_passes()
    p, q = (z.log_softmax(-1)[mask] for z in logits.float().chunk(2))
    both_ways = F.kl_div(p, q, log_target=True, reduction="sum") + F.kl_div(q, p, log_target=True, reduction="sum")
    torch.testing.assert_close(symmetric_kl(*logits.chunk(2), mask), both_ways)


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_r_drop_is_half_the_papers(alpha: float) -> None:
    """Liang et al. 2021, equations 1 to 4: −log P₁ − log P₂ + α · ½ (KL(P₁‖P₂) + KL(P₂‖P₁)), token by token."""
    logits, targets, mask = two_passes()
    paper = 0.0
    for row, column in mask.nonzero().tolist():
        p, q = (z.float().softmax(-1)[row, column] for z in logits.chunk(2))
        right = int(targets[row, column])
        kl = float((p * (p / q).log()).sum() + (q * (q / p).log()).sum())
        paper += -math.log(p[right]) - math.log(q[right]) + alpha * 0.5 * kl
    assert r_drop(logits, targets, mask, 0.0, alpha).item() == pytest.approx(paper / 2, rel=1e-5)


def test_the_lean_r_drop_equals_the_equation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.training.regularize.IN_CACHE", 4 * V)  # several pieces
    logits, targets, mask = two_passes()
    found = []
    for loss in (r_drop, r_drop_fused):
        z = logits.float().requires_grad_()
        value = loss(z, targets, mask, 0.1, 5.0)
        (3 * value).backward()
        found.append((value.detach(), z.grad))
    torch.testing.assert_close(found[0], found[1])


def test_passes_that_agree_pay_nothing() -> None:
    logits, targets, mask = two_passes()
    same = logits[:2].repeat(2, 1, 1)
    assert r_drop(same, targets, mask, 0.1, 7.0).item() == pytest.approx(r_drop(same, targets, mask, 0.1, 0.0).item())


def test_word_dropout_takes_whole_words_and_keeps_the_mean() -> None:
    torch.manual_seed(1)
    dropped = word_dropout(torch.ones(200, 100, 4), 0.3)
    silent = (dropped == 0).all(dim=-1)
    assert torch.equal(silent, (dropped == 0).any(dim=-1))
    assert silent.float().mean().item() == pytest.approx(0.3, abs=0.01)
    torch.testing.assert_close(dropped[~silent], torch.full_like(dropped[~silent], 1 / 0.7))


def small(architecture: str) -> Model:
    torch.manual_seed(0)
    _, presets, make = ARCHITECTURES[architecture]
    return make(presets["tiny"], V, V, True)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_learns_from_all_of_it(architecture: str, batch: Batch) -> None:
    """Noise in training, two passes in one batch, the decoder's own words; and none of it when translating."""
    model = small(architecture)
    plain = model.eval()(batch)
    add_word_dropout(model, 0.5)
    assert torch.equal(model(batch), plain)
    model.train()
    mixed = replace_with_predictions(batch, predictions(model, batch), torch.ones(()))
    loss = r_drop_fused(model(mixed.twice()), batch.tgt_out, batch.tgt_mask, 0.1, 5.0)
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_dropped_words_reach_the_model_as_zeros() -> None:
    model = small("transformer").train()
    seen: list[Tensor] = []
    add_word_dropout(model, 0.5)
    tables = [m for m in (model.source_embedding, model.target_embedding) if isinstance(m, nn.Embedding)]
    for table in tables:
        table.register_forward_hook(lambda _, __, vectors: seen.append(vectors))
    model(flat_batch([[5] * 60] * 4, [[6] * 60] * 4).pad())
    shares = [(vectors == 0).all(dim=-1).float().mean().item() for vectors in seen]
    assert len(shares) == 2
    assert all(0.35 < share < 0.65 for share in shares)


def test_own_words_are_those_of_the_place_before() -> None:
    batch = flat_batch([[7], [8]], [[11, 12, 13], [14]]).pad()
    predicted = torch.tensor([[3, 4, EOS, 6], [7, PAD, 9, 9]])
    always = replace_with_predictions(batch, predicted, torch.ones(()))
    assert always.tgt_in.tolist() == [[BOS, 3, 4, 13], [BOS, 7, PAD, PAD]]  # after 4 it would stop: 13 stays
    assert torch.equal(always.tgt_out, batch.tgt_out)
    assert torch.equal(replace_with_predictions(batch, predicted, torch.zeros(())).tgt_in, batch.tgt_in)


def test_sentences_that_share_a_row_do_not_read_each_others_words() -> None:
    batch = in_one_row([[7], [8]], [[11, 12], [14]], 8)
    predicted = torch.full_like(batch.tgt_in, 20)
    own = replace_with_predictions(batch, predicted, torch.ones(()))
    assert own.tgt_in.tolist() == [[BOS, 20, 20, BOS, 20, PAD, PAD, PAD]]


def in_one_row(sources: list[list[int]], targets: list[list[int]], width: int) -> Batch:
    one = flat_batch(sources, targets)
    places = Places(1, width, torch.zeros(len(one), dtype=torch.int64), one.src_offsets[:-1], one.tgt_offsets[:-1])
    return FlatBatch(one.src, one.src_offsets, one.tgt_in, one.tgt_out, one.tgt_offsets, places).pad()


def test_r_drop_in_shared_rows_equals_a_row_each() -> None:
    """Without dropout both passes are one, so the loss must be the plain one however sentences lie."""
    model = small("transformer").eval()
    sentences = [[5, 6, 7], [8, 9]], [[11, 12], [14, 15, 16]]
    losses = []
    for batch in (flat_batch(*sentences).pad(), in_one_row(*sentences, 8)):
        losses.append(r_drop_fused(model(batch.twice()), batch.tgt_out, batch.tgt_mask, 0.1, 5.0))
    torch.testing.assert_close(losses[0], losses[1])


def test_predictions_need_no_gradient_and_are_the_likeliest(batch: Batch) -> None:
    model = small("transformer").eval()
    assert torch.equal(predictions(model, batch), model(batch).argmax(-1))
    assert not predictions(model, batch).requires_grad


@pytest.mark.parametrize("r_drop_weight", [0.0, 5.0])
@pytest.mark.parametrize("sampling_rate", [0.0, 0.5])
def test_learning_is_counted_as_torch_counts_it(r_drop_weight: float, sampling_rate: float) -> None:
    config = TrainConfig(r_drop=r_drop_weight, sampling_rate=sampling_rate)
    model, pairs = small("convs2s").train(), flat_batch([[3, 4, 5, 6]], [[7] * 9])
    batch = pairs.pad()
    with FlopCounterMode(display=False) as counter:
        if config.sampling_rate:
            batch = replace_with_predictions(batch, predictions(model, batch), torch.ones(()))
        model(batch.twice() if config.r_drop else batch).sum().backward()
    assert FlopCounter(model, forward_passes(config)).of_batch(pairs) == counter.get_total_flops()


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"train": {"r_drop": 1.0}, "model": {"dropout": 0.0}},
            "train.r_drop compares two passes with dropout, but model.dropout is 0",
        ),
        ({"train": {"r_drop": -1.0}}, "train.r_drop must not be negative, but is -1.0"),
        ({"train": {"word_dropout": 1.0}}, "train.word_dropout must be at least 0 and below 1, but is 1.0"),
        ({"train": {"sampling_rate": 1.5}}, "train.sampling_rate must be from 0 to 1, but is 1.5"),
        ({"train": {"embedding_rate": 0.0}}, "train.embedding_rate must be positive, but is 0.0"),
        ({"model": {"layer_drop": 1.0}}, "model.layer_drop must be at least 0 and below 1, but is 1.0"),
        (
            {"train": {"r_drop": 1.0, "start_from": "x"}, "reward": {"objective": "minimum-risk"}},
            "train.r_drop is for training by likelihood, .*; leave it out",
        ),
    ],
)
def test_impossible_settings_are_one_line(tables: dict[str, dict[str, object]], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        recipe_from_tables(tables)
