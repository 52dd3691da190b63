"""A sublayer that is skipped adds nothing; the others add as much more."""

from __future__ import annotations

import pytest
import torch

from regard.layers.residual import Norm, Residual, skipped


def test_whole_rows_are_skipped_and_the_mean_stays() -> None:
    torch.manual_seed(1)
    out = skipped(torch.ones(20_000, 2, 3), 0.2)
    gone = (out == 0).all(dim=(1, 2))
    assert torch.equal(gone, (out == 0).any(dim=(1, 2)))
    assert gone.float().mean().item() == pytest.approx(0.2, abs=0.01)
    torch.testing.assert_close(out[~gone], torch.full_like(out[~gone], 1.25))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_skipped_sublayer_is_the_identity(norm: Norm) -> None:
    torch.manual_seed(1)
    around = Residual(6, norm, dropout=0.0, layer_drop=0.5)
    x = torch.randn(64, 3, 6)
    nothing = around.norm(x) if norm == "post" else x
    came = around(x, lambda y: y + 10)
    alone = (came - nothing).abs().amax(dim=(1, 2)) < 1e-6
    assert 10 < int(alone.sum()) < 54
    twice = x + 2 * ((x if norm == "post" else around.norm(x)) + 10)  # f / (1 − p)
    expected = around.norm(twice) if norm == "post" else twice
    torch.testing.assert_close(came[~alone], expected[~alone])


def test_outside_training_nothing_is_skipped_and_nothing_grows() -> None:
    around = Residual(6, "pre", dropout=0.0, layer_drop=0.5).eval()
    x = torch.randn(8, 3, 6)
    torch.testing.assert_close(around(x, lambda y: y), x + around.norm(x))


def test_one_program_serves_every_draw() -> None:
    """No branch hangs on the dice: a compiler sees one graph, without breaks."""
    around = Residual(6, "pre", dropout=0.0, layer_drop=0.5)
    x = torch.randn(4, 3, 6)
    found = torch._dynamo.explain(lambda y: around(y, torch.tanh))(x)
    assert found.graph_count == 1
    assert found.graph_break_count == 0
