"""An ensemble is a model: it keeps the contract, and it says what its members say on average."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from regard.batch import Batch, flat_batch, pad_sources
from regard.errors import InputError
from regard.models.base import Model
from regard.models.ensemble import Ensemble, mean_in_log
from regard.models.transformer import Transformer
from regard.search.search import beam_search, greedy
from variants import ENSEMBLES, FOUR_HEADS, Blind, V, close, stepwise, transformer
from variants import PRE_NORM as PRE
from variants import SMALL_ENSEMBLE as SMALL


@pytest.fixture(params=ENSEMBLES)
def model(request: pytest.FixtureRequest) -> Ensemble:
    torch.manual_seed(7)
    model = ENSEMBLES[request.param]()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


@pytest.fixture
def pair() -> list[Model]:
    torch.manual_seed(3)
    pair: list[Model] = [transformer(SMALL).eval(), transformer(PRE).eval()]
    for one in pair:
        for parameter in one.parameters():
            nn.init.normal_(parameter, std=0.3)
    return pair


# ── the mean ────────────────────────────────────────────────────────────────────────────────────────────────────────


@torch.inference_mode()
def test_an_ensemble_of_one_is_the_model(pair: list[Model], batch: Batch) -> None:
    model, alone = pair[0], Ensemble([pair[0]])
    assert torch.equal(alone(batch), model(batch).log_softmax(-1))
    close(stepwise(alone, batch)[0], stepwise(model, batch)[0])
    for own, maps in zip(model.attention(batch).cross, alone.attention(batch).cross, strict=True):
        assert torch.equal(own, maps)
    assert alone.flops(7, 5) == model.flops(7, 5)
    assert alone.parameter_count() == model.parameter_count()
    found, right = (greedy(one, batch.src, batch.src_mask) for one in (alone, model))
    assert [h.ids for h in found] == [h.ids for h in right]


@torch.inference_mode()
@pytest.mark.parametrize(("weights", "shares"), [(None, (0.5, 0.5)), ([3.0, 1.0], (0.75, 0.25))])
def test_two_models_are_averaged_in_probability(
    pair: list[Model], batch: Batch, weights: list[float] | None, shares: tuple[float, float]
) -> None:
    first, second = (model(batch).double().softmax(-1) for model in pair)
    by_hand = (shares[0] * first + shares[1] * second).log().float()
    both = Ensemble(pair, weights)
    close(both(batch), by_hand)
    close(stepwise(both, batch)[0][batch.tgt_mask], by_hand[batch.tgt_mask])
    assert both.flops(7, 5) == pair[0].flops(7, 5) + pair[1].flops(7, 5)


def test_a_word_only_one_model_knows_keeps_half_its_probability() -> None:
    never = torch.tensor([[0.0, -torch.inf]])
    assert mean_in_log([never, torch.tensor([[0.5, 0.5]]).log()], (0.5, 0.5)).exp().tolist() == [[0.75, 0.25]]


@torch.inference_mode()
def test_a_beam_scores_what_the_mean_says(pair: list[Model], batch: Batch) -> None:
    """Each hypothesis is read again by the members alone, and their mean is taken by hand."""
    both = Ensemble(pair)
    for row, found in enumerate(beam_search(both, batch.src, batch.src_mask, beam=3, alpha=0.0)):
        assert len({h.ids for h in found}) == len(found) == 3
        source = batch.src[row][batch.src_mask[row]][:-1].tolist()
        for hypothesis in found:
            said = flat_batch([source], [list(hypothesis.ids)]).pad()
            mean = sum(model(said).softmax(-1) for model in pair) / 2  # (1, T, V)
            right = mean.log().gather(-1, said.tgt_out[..., None])[0, : len(hypothesis.log_probs), 0]
            close(torch.tensor(hypothesis.log_probs), right)


# ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────────


@torch.inference_mode()
def test_attention_is_given_when_asked_and_sums_to_one(model: Model, batch: Batch) -> None:
    maps = model.attention(batch)
    for weights in maps.encoder + maps.decoder + maps.cross:
        close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert stepwise(model, batch)[1] == [None] * batch.tgt_in.shape[1]
    traced = [seen for seen in stepwise(model, batch, trace=True)[1] if seen is not None]
    forced = torch.stack(maps.cross, dim=1)  # (B, ΣL, H, T, S)
    mask = batch.tgt_mask[:, None, None].expand(forced.shape[:-1])
    close(torch.stack(traced, dim=3)[mask], forced[mask])


# ── what members may differ in ──────────────────────────────────────────────────────────────────────────────────────


@torch.inference_mode()
def test_layers_of_all_members_stand_in_their_order(pair: list[Model], batch: Batch) -> None:
    maps = Ensemble(pair).attention(batch)
    for name in ("encoder", "decoder", "cross"):
        own = [layer for model in pair for layer in getattr(model.attention(batch), name)]
        assert len(own) == len(getattr(maps, name))
        assert all(torch.equal(a, b) for a, b in zip(own, getattr(maps, name), strict=True))


@torch.inference_mode()
def test_members_with_different_heads_show_the_mean_of_their_own(pair: list[Model], batch: Batch) -> None:
    other = transformer(FOUR_HEADS).eval()
    seen = Ensemble([pair[0], other]).attention(batch).cross
    own = [layer.mean(1, keepdim=True) for model in (pair[0], other) for layer in model.attention(batch).cross]
    assert [layer.shape[1] for layer in seen] == [1] * 5
    assert all(torch.equal(a, b) for a, b in zip(own, seen, strict=True))


@torch.inference_mode()
def test_members_without_attention_are_left_out(batch: Batch) -> None:
    assert [seen for seen in stepwise(Ensemble([Blind(), Blind()]), batch, trace=True)[1] if seen is not None] == []
    seen = stepwise(Ensemble([Blind(), transformer(SMALL)]), batch, trace=True)[1][0]
    assert seen is not None
    assert seen.shape[1:3] == (3, 2)


def test_members_keep_the_mode_they_are_in(pair: list[Model]) -> None:
    ready = Ensemble(pair)
    assert not ready.training
    ready.train(ready.training)
    assert not any(module.training for module in ready.modules())


@pytest.mark.parametrize(
    ("models", "weights", "message"),
    [
        (list, None, "at least one model"),
        (lambda: [transformer(SMALL), Transformer(SMALL, V, 30, False)], None, "target vocabulary.*23, 30 entries"),
        (lambda: [transformer(SMALL), Transformer(SMALL, 30, V, False)], None, "source vocabulary.*23, 30 entries"),
        (lambda: [Blind(), Blind(24)], None, "target vocabulary.*23, 24"),
        (lambda: [Blind(), Blind()], [1.0], "2 weights, but 1 are given"),
        (lambda: [Blind(), Blind()], [1.0, 0.0], "above 0, but are 1, 0"),
        (lambda: [Blind(), Blind()], [1.0, float("nan")], "above 0"),
    ],
)
def test_what_cannot_be_an_ensemble_is_refused(
    models: Callable[[], list[Model]], weights: list[float] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Ensemble(models(), weights)


@torch.inference_mode()
def test_the_batch_does_not_matter_to_search(pair: list[Model]) -> None:
    both = Ensemble(pair)
    sources = [[5, 6, 7], [9], [4, 4, 8, 20, 3]]
    together = beam_search(both, *pad_sources(sources), beam=3)
    for source, expected in zip(sources, together, strict=True):
        alone = beam_search(both, *pad_sources([source]), beam=3)[0]
        assert [h.ids for h in alone] == [h.ids for h in expected]
