"""The Transformer with fixed memory for searching on a GPU. On a CPU the same step runs without being recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.batch import BOS, pad_sources
from regard.models.recorded_arena import Shape, at_least
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.models.transformer_recorded import RecordedTransformer
from variants import V, close, scattered

SMALL = TransformerConfig(width=32, heads=2, inner=48, encoder_layers=2, decoder_layers=2, norm="post")
CONFIGS = {
    "post": SMALL,
    "pre, gelu": replace(SMALL, norm="pre", activation="gelu"),
    "swiglu, learned": replace(SMALL, activation="swiglu", positions="learned", max_positions=40),
    "rotary, heads of 12": replace(SMALL, width=24, positions="rotary"),
    "bias": replace(SMALL, output_bias=True, activation="silu"),
}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
SOURCES = [[5, 6, 7], [8], [9, 10, 11, 12, 13, 14], [4, 4]]


def both(name: str, device: str, rows: int = 24) -> tuple[Transformer, RecordedTransformer]:
    torch.manual_seed(3)
    model = scattered(Transformer(CONFIGS[name], V, V, True)).to(device)
    return model, RecordedTransformer(model, torch.float32, rows)


def sources(device: str, which: list[int]) -> tuple[Tensor, Tensor]:
    src, mask = pad_sources([SOURCES[i] for i in which])
    return src.to(device), mask.to(device)


@torch.inference_mode()
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("name", CONFIGS)
def test_it_steps_as_the_model_does(name: str, beams: int, device: str) -> None:
    model, recorded = both(name, device)
    states = [m.start(m.encode(*sources(device, [2, 0, 1])), beams=beams, room=10) for m in (model, recorded)]
    generator = torch.Generator().manual_seed(1)

    def step(rows: int) -> None:
        token = torch.randint(3, V, (rows * beams,), generator=generator).to(device)
        found = [m.step(token, state).logits.clone() for m, state in zip((model, recorded), states, strict=True)]
        close(found[1], found[0])

    def select(rows: int) -> None:
        within = torch.randint(0, beams, (rows, beams), generator=generator) + beams * torch.arange(rows)[:, None]
        states[:] = [state.select(within.flatten().to(device)) for state in states]

    step(3)
    select(3)
    step(3)
    more = [m.start(m.encode(*sources(device, [3, 2])), beams=beams, room=20) for m in (model, recorded)]
    states[:] = [state.join(new) for state, new in zip(states, more, strict=True)]
    for _ in range(3):
        select(5)
        step(5)
    states[:] = [state.keep(torch.tensor([4, 0, 2], device=device)) for state in states]
    step(3)
    more = [m.start(m.encode(*sources(device, [1, 0])), beams=beams, room=10) for m in (model, recorded)]
    states[:] = [state.join(new) for state, new in zip(states, more, strict=True)]
    step(5)
    select(5)
    step(5)


@torch.inference_mode()
def test_a_state_grows_beyond_its_arena() -> None:
    model, recorded = both("post", "cpu", rows=2)
    states = [m.start(m.encode(*sources("cpu", [0])), beams=2, room=40) for m in (model, recorded)]
    token = torch.tensor([5, 6])
    close(*(m.step(token, state).logits for m, state in zip((model, recorded), states, strict=True)))
    many = [2] * 8
    more = [m.start(m.encode(*sources("cpu", many)), beams=2, room=90) for m in (model, recorded)]
    states = [state.join(new) for state, new in zip(states, more, strict=True)]
    token = torch.arange(18) % 20 + 3
    close(*(m.step(token, state).logits for m, state in zip((model, recorded), states, strict=True)))


@torch.inference_mode()
def test_an_arena_is_used_again() -> None:
    _, recorded = both("post", "cpu")
    state = recorded.start(recorded.encode(*sources("cpu", [0, 1])), beams=2, room=5)
    arena = state.arena()  # type: ignore[attr-defined]
    beside = recorded.start(recorded.encode(*sources("cpu", [0])), beams=2, room=5)
    assert beside.arena() is not arena  # type: ignore[attr-defined]
    del state
    again = recorded.start(recorded.encode(*sources("cpu", [2])), beams=2, room=7)
    assert again.arena() is arena  # type: ignore[attr-defined]


@torch.inference_mode()
def test_states_without_room_are_the_models_own() -> None:
    model, recorded = both("post", "cpu")
    token = torch.tensor([BOS] * 2)
    src, mask = sources("cpu", [0, 1])
    steps = [m.step(token, m.start(m.encode(src, mask), trace=True)) for m in (model, recorded)]
    close(steps[1].logits, steps[0].logits)
    assert steps[1].attention is not None


def test_shapes_are_few() -> None:
    assert [at_least(n, 16) for n in (1, 16, 17, 100, 128)] == [16, 16, 32, 128, 128]
    assert Shape(5, 10, 64, 64).holds(Shape(5, 9, 64, 30))
    assert not Shape(5, 10, 64, 64).holds(Shape(4, 9, 64, 30))


@pytest.mark.gpu
@torch.inference_mode()
def test_a_row_does_not_depend_on_its_neighbours() -> None:
    torch.manual_seed(3)
    config = replace(SMALL, width=256, heads=4, inner=1024)
    model = scattered(Transformer(config, 999, 999, True), 0.06).cuda()
    recorded = RecordedTransformer(model, torch.bfloat16, 640)
    generator = torch.Generator().manual_seed(5)
    lines = [torch.randint(3, 999, (1 + i % 40,), generator=generator).tolist() for i in range(128)]
    said = torch.randint(3, 999, (12, 128, 5), generator=generator).cuda()

    def logits(which: list[int]) -> Tensor:
        src, mask = (t.cuda() for t in pad_sources([lines[i] for i in which]))
        state = recorded.start(recorded.encode(src, mask), beams=5, room=30)
        steps = [recorded.step(token[which].flatten(), state).logits.clone() for token in said]
        return torch.stack(steps)  # (12, N, V)

    together = logits(list(range(128))).view(12, 128, 5, -1)
    for which in ([7], [127, 3], list(range(40, 77))):
        assert torch.equal(logits(which).view(12, len(which), 5, -1), together[:, which])
