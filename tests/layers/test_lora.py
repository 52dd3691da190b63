"""Low-rank adaptation: only the product BA changes, merged and unmerged are one model, frozen weights stay."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.layers.lora import LowRank, adapt, factors, low_rank, merged, updated, updates_between
from regard.models.base import unique_tensors
from regard.models.rnn import RnnConfig
from regard.models.table import make_model
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.text.tokenizer import TextConfig, Tokenizer

CONFIG = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2, dropout=0.0)
BATCH = flat_batch([[7, 8, 9], [10, 11]], [[12, 13], [14, 15, 16]]).pad()


def small(config: TransformerConfig = CONFIG) -> Transformer:
    torch.manual_seed(0)
    return Transformer(config, 40, 40, joint=True).eval()


def train_a_little(model: nn.Module) -> None:
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.5)
    for _ in range(3):
        model(BATCH).logsumexp(-1).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_the_equation() -> None:
    w, b, a = torch.randn(5, 4), torch.randn(5, 2), torch.randn(2, 4)
    expected = w.clone()
    for i in range(5):
        for j in range(4):
            expected[i, j] += 3 * sum(b[i, k] * a[k, j] for k in range(2))
    torch.testing.assert_close(low_rank(w, b, a, 3.0), expected)


def test_an_adapted_model_begins_as_the_model_itself() -> None:
    model = small()
    before = model(BATCH)
    count = adapt(model, rank=2, alpha=4)
    assert count == (4 + 2) + 2 * (4 + 4 + 2)  # attention's four matrices, feed-forward's two
    assert torch.equal(model(BATCH), before)
    other = small()
    adapt(other, rank=2, alpha=4)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("changes", [{}, {"activation": "swiglu", "norm": "post"}, {"experts": 2}])
def test_only_a_product_of_low_rank_is_learnt(changes: dict[str, object]) -> None:
    config = TransformerConfig(**{**CONFIG.__dict__, **changes})
    model = small(config)
    start = {name: tensor.detach().clone() for name, tensor in unique_tensors(model).items()}
    adapt(model, rank=2, alpha=4)
    train_a_little(model)
    now = merged(model, unique_tensors(model))
    assert now.keys() == start.keys()
    adapted = {f"{path}.weight" for path, layer in model.named_modules() if isinstance(layer, LowRank)}
    assert adapted
    for name, tensor in now.items():
        difference = tensor.detach() - start[name]
        if name in adapted:
            assert torch.linalg.matrix_rank(difference, atol=1e-5) <= 2, name
        else:
            assert not difference.any(), name
    assert any((now[name] - start[name]).abs().max() > 1e-3 for name in adapted)
    for path, layer in model.named_modules():
        if isinstance(layer, LowRank):
            assert torch.equal(layer.frozen, start[f"{path}.weight"])
            assert layer.frozen.grad is None


def test_a_saved_model_is_plain(tmp_path: Path) -> None:
    pairs = [("a b c", "d e f")] * 4
    tokenizer = Tokenizer.train(lambda: iter(pairs), TextConfig(vocab_size=300))
    model = make_model("transformer", CONFIG, tokenizer).eval()
    adapt(model, rank=3, alpha=6)
    train_a_little(model)
    Bundle("transformer", CONFIG, model, tokenizer).save(tmp_path / "m")
    plain = Bundle.load(tmp_path / "m").model
    assert not any(isinstance(layer, LowRank) for layer in plain.modules())
    with torch.inference_mode():
        torch.testing.assert_close(plain(BATCH), model(BATCH))
        mask: Tensor = BATCH.src_mask
        steps = [m.step(BATCH.tgt_in[:, 0], m.start(m.encode(BATCH.src, mask))) for m in (plain, model)]
        torch.testing.assert_close(steps[0].log_probs, steps[1].log_probs)


def test_a_model_without_such_matrices_has_none(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(lambda: iter([("a b", "c d")] * 3), TextConfig(vocab_size=300))
    assert adapt(make_model("rnn", RnnConfig(), tokenizer), rank=2, alpha=4) == 0


def test_two_models_differ_by_what_was_learnt() -> None:
    model = small()
    before = {name: tensor.detach().clone() for name, tensor in unique_tensors(model).items()}
    adapt(model, rank=2, alpha=4)
    train_a_little(model)
    after = {name: tensor.detach() for name, tensor in merged(model, unique_tensors(model)).items()}
    updates = updates_between(before, after, rank=2)
    assert len(updates) == 2 * 26
    assert all(2 in tensor.shape for tensor in updates.values())
    found = updated(before, updates)
    assert found.keys() == after.keys()
    for name, tensor in after.items():
        torch.testing.assert_close(found[name], tensor)
    lost = updated(before, updates_between(before, after, rank=1))
    assert any(not torch.allclose(lost[name], after[name]) for name in after)


def test_factors_are_the_nearest_of_their_rank() -> None:
    change = torch.randn(6, 9)
    sigma = torch.linalg.svdvals(change)
    for rank in range(1, 7):
        up, down = factors(change, rank)
        assert (up.shape, down.shape) == ((6, rank), (rank, 9))
        torch.testing.assert_close(
            (change - up @ down).norm(), sigma[rank:].norm(), atol=1e-5, rtol=1e-5
        )  # Eckart–Young


def test_updates_are_of_matrices_and_whole() -> None:
    weights = {"a.weight": torch.ones(3, 2), "a.bias": torch.ones(3)}
    with pytest.raises(ValueError, match=r"a\.bias has changed, which is no matrix"):
        updates_between(weights, weights | {"a.bias": torch.zeros(3)}, 1)
    assert updates_between(weights, weights, 1) == {}
    whole = updates_between(weights, weights | {"a.weight": torch.zeros(3, 2)}, 1)
    for bad in ({"a.weight.up": whole["a.weight.up"]}, {**whole, "b": torch.ones(1)}, {"c.up": 1, "c.down": 1}):
        with pytest.raises(ValueError, match="two factors for each"):
            updated(weights, bad)


def test_a_wrapped_layer_is_not_left_out_in_silence() -> None:
    model = Transformer(TransformerConfig(width=8, heads=2, inner=8, encoder_layers=1, decoder_layers=1), 9, 9, True)
    model.encoder[0].attention.key = torch.nn.Sequential(model.encoder[0].attention.key)
    with pytest.raises(TypeError, match="key of a MultiHeadAttention is a Sequential, not a linear layer"):
        adapt(model, 2, 4.0)
