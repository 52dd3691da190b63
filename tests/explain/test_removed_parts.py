"""Parts that are weakened or removed: against models without them, in a forward pass and in the steps of a search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

import variants
from regard.batch import flat_batch
from regard.course.claims.ablations import ABLATIONS, replaced
from regard.errors import InputError
from regard.explain.ablation import Head, PartChanges, removable_parts, with_changes
from regard.layers.residual import Residual
from regard.models.base import Model
from regard.models.transformer_layers import TransformerConfig
from regard.search.forced_decoding import forced_log_probs
from regard.search.search import greedy
from variants import close, stepwise, transformer

SMALL = TransformerConfig(width=16, heads=4, inner=32, encoder_layers=2, decoder_layers=2)
BATCH = flat_batch([[5, 9, 14, 3], [8, 6]], [[7, 11, 4], [12, 9, 3]]).pad()
SOURCE = [5, 9, 14, 3]


def sharp(config: TransformerConfig = SMALL) -> Model:
    torch.manual_seed(7)
    model = transformer(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def found_and_scored(model: Model) -> tuple[float, float]:
    """log P of a greedy translation by the steps of the search, and by teacher forcing."""
    source = torch.tensor([[*SOURCE, 2]])
    (best,) = greedy(model, source, source > 0)
    scored = forced_log_probs(model, [SOURCE], [best.ids])[0]
    return best.log_prob, float(scored[: len(best.log_probs)].sum())  # without EOS where the length limit cut it off


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (PartChanges(scores=2.0), "without scaling"),  # √4
        (PartChanges(positions=0.0), "without positions"),
        (PartChanges(mask=False), "without mask"),
    ],
)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_removed_part_is_removed_as_for_training(changes: PartChanges, name: str, norm: str) -> None:
    model = sharp(replace(SMALL, norm=norm))
    before = model(BATCH)
    with ABLATIONS[name]():
        wanted = model(BATCH)
    with with_changes(model, changes):
        close(model(BATCH), wanted)
        if changes.mask:
            close(stepwise(model, BATCH)[0], wanted.log_softmax(-1))
    assert not torch.allclose(wanted, before, atol=1e-3)
    assert torch.equal(model(BATCH), before)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_residual_sums_a_layer_gives_its_own_part_alone(norm: str) -> None:
    def alone(self: Residual, x: torch.Tensor, sublayer: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        return self.norm(sublayer(x)) if self.post else sublayer(self.norm(x))

    model = sharp(replace(SMALL, norm=norm))
    with replaced(Residual, "forward", alone):
        wanted = model(BATCH)
    with with_changes(model, PartChanges(residual=0.0)):
        close(model(BATCH), wanted)
        close(stepwise(model, BATCH)[0], wanted.log_softmax(-1))
    with with_changes(model, PartChanges(residual=0.0, residual_at=("decoder", 1))):
        one = model(BATCH)
        with with_changes(model, PartChanges(residual=0.0, residual_at=("encoder", None))):
            assert not torch.allclose(model(BATCH), one, atol=1e-3)
    assert not torch.allclose(one, wanted, atol=1e-3)


@pytest.mark.parametrize("changes", [PartChanges(scores=3.0), PartChanges(positions=0.3), PartChanges(residual=0.7)])
def test_a_search_has_the_same_changes_as_a_forward_pass(changes: PartChanges) -> None:
    model = sharp()
    with with_changes(model, changes):
        searched, scored = found_and_scored(model)
    assert searched == pytest.approx(scored, abs=1e-4)


def test_a_model_trained_without_scaling_searches_without_it() -> None:
    model = sharp()
    with ABLATIONS["without scaling"]():
        searched, scored = found_and_scored(model)
    assert searched == pytest.approx(scored, abs=1e-4)
    assert found_and_scored(model)[1] != pytest.approx(scored, abs=1e-2)


def test_equal_scores_and_cut_heads_together() -> None:
    model = sharp()
    with with_changes(model, PartChanges(scores=0.0, heads=(Head("cross", 0, 1),))):
        seen = model.attention(BATCH).cross[0]
        after = model(BATCH)
    close(seen[0, 0, 0], torch.full((5,), 0.2))
    with with_changes(model, PartChanges(scores=0.0)):
        assert not torch.allclose(model(BATCH), after, atol=1e-4)


def test_what_can_be_removed_of_a_model() -> None:
    found = removable_parts(sharp())
    assert (found.scores, found.mask, found.positions, found.key_size) == (True, True, True, 4)
    assert (found.residual, len(found.heads)) == ({"encoder": 2, "decoder": 2}, 24)
    assert not removable_parts(sharp(replace(SMALL, positions="rotary"))).positions
    recurrent = removable_parts(variants.RNN["before"]())
    assert (recurrent.scores, recurrent.mask, recurrent.residual, len(recurrent.heads)) == (True, False, {}, 1)


def test_the_scores_of_a_recurrent_model() -> None:
    torch.manual_seed(5)
    model = variants.RNN["before"]().eval()
    with torch.no_grad(), with_changes(model, PartChanges(scores=0.0)):
        (weights,) = model.attention(BATCH).cross
    assert math.isclose(float(weights[0, 0, 0, 0]), 0.2, abs_tol=1e-5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (PartChanges(mask=False), "no causal mask"),
        (PartChanges(positions=0.0), "no added positions"),
        (PartChanges(residual=0.0), "no residual sums"),
    ],
)
def test_what_a_recurrent_model_lacks_is_said(changes: PartChanges, words: str) -> None:
    with pytest.raises(InputError, match=words), with_changes(variants.RNN["before"](), changes):
        pass


def test_a_layer_that_does_not_exist_is_refused() -> None:
    changes = PartChanges(residual=0.0, residual_at=("encoder", 2))
    with pytest.raises(InputError, match="has layers 1 to 2, but not 3"), with_changes(sharp(), changes):
        pass


def test_a_model_without_attention_has_no_scores() -> None:
    model = variants.RNN["lstm"]()
    assert not removable_parts(model).scores
    with pytest.raises(InputError, match="no attention scores"), with_changes(model, PartChanges(scores=2.0)):
        pass
