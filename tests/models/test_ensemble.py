"""An ensemble is a model: it keeps the contract, and it says what its members say on average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor, nn

from regard.batch import BOS, PAD, Batch, pack, pad_sources
from regard.decode.beam import beam_search
from regard.decode.greedy import greedy
from regard.errors import InputError
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.ensemble import Ensemble, mean_in_log
from regard.models.transformer import Transformer, TransformerConfig

V = 23
SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=3, norm="post")
PRE = replace(SMALL, norm="pre", decoder_layers=1, activation="gelu")
FOUR_HEADS = replace(SMALL, heads=4, positions="rotary", decoder_layers=2)


@dataclass(frozen=True)
class BlindState:
    gist: Tensor  # (N, D)

    def select(self, rows: Tensor) -> BlindState:
        return BlindState(self.gist[rows])


class Blind(Model):
    """No attention: the mean of the source words and the last target word. It does not say its source vocabulary."""

    def __init__(self, target_size: int = V) -> None:
        super().__init__()
        self.words, self.last = nn.Embedding(V, 8), nn.Embedding(target_size, 8)
        self.output = nn.Linear(8, target_size)
        self.target_size = target_size

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return Memory(self.words(src) * mask[..., None], mask)

    def start(self, memory: Memory, trace: bool = False) -> BlindState:
        return BlindState(memory.states.sum(1) / memory.mask.sum(1, keepdim=True))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, BlindState)
        return Step(self.output(torch.tanh(state.gist + self.last(token))).log_softmax(-1), state, None)

    def forward(self, batch: Batch) -> Tensor:
        gist = self.start(self.encode(batch.src, batch.src_mask)).gist
        return self.output(torch.tanh(gist[:, None] + self.last(batch.tgt_in)))

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [])

    def flops(self, source: int, target: int) -> float:
        return 2.0 * target * 8 * self.target_size


def transformer(config: TransformerConfig) -> Transformer:
    return Transformer(config, V, V, True)


ENSEMBLES: dict[str, Callable[[], Ensemble]] = {
    "one": lambda: Ensemble([transformer(SMALL)]),
    "two": lambda: Ensemble([transformer(SMALL), transformer(PRE)]),
    "weighted": lambda: Ensemble([transformer(SMALL), transformer(PRE)], [3, 1]),
    "different heads": lambda: Ensemble([transformer(SMALL), transformer(FOUR_HEADS)]),
    "one without attention": lambda: Ensemble([Blind(), transformer(SMALL)]),
    "nested": lambda: Ensemble([Ensemble([transformer(PRE), Blind()]), transformer(SMALL)]),
}


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


def stepwise(model: Model, batch: Batch, trace: bool = False) -> tuple[Tensor, list[Tensor | None]]:
    state = model.start(model.encode(batch.src, batch.src_mask), trace=trace)
    rows, seen = [], []
    for token in batch.tgt_in.unbind(1):
        step = model.step(token, state)
        state = step.state
        rows.append(step.log_probs)
        seen.append(step.attention)
    return torch.stack(rows, dim=1), seen


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


# ── the mean ────────────────────────────────────────────────────────────────────────────────────────────────────────


@torch.inference_mode()
def test_an_ensemble_of_one_is_the_model(pair: list[Model], batch: Batch) -> None:
    model, alone = pair[0], Ensemble([pair[0]])
    assert torch.equal(alone(batch), model(batch).log_softmax(-1))
    assert torch.equal(stepwise(alone, batch)[0], stepwise(model, batch)[0])
    for own, maps in zip(model.attention(batch).cross, alone.attention(batch).cross, strict=True):
        assert torch.equal(own, maps)
    assert alone.flops(7, 5) == model.flops(7, 5)
    assert alone.parameter_count() == model.parameter_count()
    assert greedy(alone, batch.src, batch.src_mask) == greedy(model, batch.src, batch.src_mask)


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
            said = pack([source], [list(hypothesis.ids)]).pad()
            mean = sum(model(said).softmax(-1) for model in pair) / 2  # (1, T, V)
            right = mean.log().gather(-1, said.tgt_out[..., None])[0, : len(hypothesis.log_probs), 0]
            close(torch.tensor(hypothesis.log_probs), right)


# ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────────


@torch.inference_mode()
def test_steps_equal_teacher_forcing(model: Model, batch: Batch) -> None:
    forced = model(batch)
    close(forced, forced.log_softmax(-1))  # log-probabilities are their own logits
    close(stepwise(model, batch)[0][batch.tgt_mask], forced[batch.tgt_mask])


@torch.inference_mode()
def test_the_future_cannot_change_the_past(model: Model, batch: Batch) -> None:
    changed = batch.tgt_in.clone()
    changed[:, 3:] = (changed[:, 3:] + 5) % (V - 3) + 3
    before, after = model(batch), model(replace(batch, tgt_in=changed))
    close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@torch.inference_mode()
def test_extra_padding_changes_nothing(model: Model, batch: Batch) -> None:
    def wider(rows: Tensor) -> Tensor:
        return torch.cat([rows, torch.full((len(rows), 4), PAD).to(rows.dtype)], dim=1)

    padded = Batch(*(wider(getattr(batch, name)) for name in batch.__dataclass_fields__))
    close(model(padded)[:, : batch.tgt_in.shape[1]][batch.tgt_mask], model(batch)[batch.tgt_mask])


@torch.inference_mode()
def test_batch_of_one_equals_batch_of_many(model: Model, batch: Batch) -> None:
    together = model(batch)
    for row in range(len(batch)):
        source = batch.src[row][batch.src_mask[row]][:-1].tolist()
        target = batch.tgt_out[row][batch.tgt_mask[row]][:-1].tolist()
        close(model(pack([source], [target]).pad())[0], together[row][batch.tgt_mask[row]])


@torch.inference_mode()
@pytest.mark.parametrize("rows", [[2, 0], [1, 1, 0, 2], [0, 1, 2], [2]])
def test_select_commutes_with_step(model: Model, batch: Batch, rows: list[int]) -> None:
    index = torch.tensor(rows)
    state = model.start(model.encode(batch.src, batch.src_mask))
    first = model.step(torch.full((len(batch),), BOS), state)
    token = batch.tgt_in[:, 1]
    then_select = model.step(token, first.state).log_probs[index]
    close(model.step(token[index], first.state.select(index)).log_probs, then_select)
    close(model.step(token, first.state).log_probs[index], then_select)  # the old state is untouched


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


def test_every_parameter_learns(model: Model, batch: Batch) -> None:
    model(batch).log_softmax(-1).gather(-1, batch.tgt_out[..., None])[batch.tgt_mask].sum().backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert [n for n in silent if not n.endswith("key.bias")] == []  # softmax does not see a key's bias


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
