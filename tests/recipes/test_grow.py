"""recipes/box/grow.py: a larger model computes what the smaller one does, and its copies can become different."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.models.table import make_model
from regard.models.transformer import TransformerConfig
from regard.text.tokenizer import TextConfig, Tokenizer
from support import load_script

grow = load_script(Path(__file__).parents[2] / "recipes" / "box" / "grow.py")
SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=1, dropout=0.0)
LARGE = replace(SMALL, width=32, heads=4, inner=64, encoder_layers=3, decoder_layers=2)


def small(config: TransformerConfig) -> Bundle:
    torch.manual_seed(3)
    pairs = [("the cat sees the dog", "le chat voit le chien")] * 3
    tokenizer = Tokenizer.train(lambda: iter(pairs), TextConfig(vocab_size=300))
    model = make_model("transformer", config, tokenizer).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return Bundle("transformer", config, model, tokenizer, {})


def logits(bundle: Bundle) -> torch.Tensor:
    model = bundle.model.double().eval()
    with torch.no_grad():
        return model(flat_batch([[7, 8, 9, 10, 11], [12, 13]], [[20, 21, 22], [23, 24, 25]]).pad())


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal"])
def test_the_larger_model_computes_the_same(positions: str) -> None:
    old = small(replace(SMALL, positions=positions))
    new = grow.grown(old, replace(LARGE, positions=positions))
    expected, found = logits(old).log_softmax(-1), logits(new).log_softmax(-1)
    if positions == "rotary":
        torch.testing.assert_close(found, expected)
    else:  # the frequencies of the copies are not quite the same
        torch.testing.assert_close(found, expected, atol=1.0, rtol=0.0)
        assert not torch.allclose(found, expected)


def test_copies_get_different_gradients() -> None:
    new = grow.grown(small(replace(SMALL, positions="rotary")), replace(LARGE, positions="rotary"))
    model = new.model.double().train()
    model(flat_batch([[7, 8, 9]], [[20, 21]]).pad()).square().sum().backward()
    gradient = dict(model.named_parameters())["encoder.0.feed_forward.expand.weight"].grad
    assert gradient is not None
    halves = gradient.view(2, 32, 32)
    assert not torch.allclose(halves[0], halves[1])


def test_a_shape_that_is_no_multiple_is_refused() -> None:
    with pytest.raises(SystemExit, match="the same multiple of"):
        grow.grown(small(SMALL), replace(LARGE, heads=2))
