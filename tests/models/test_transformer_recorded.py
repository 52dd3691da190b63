"""The Transformer with fixed memory for searching on a GPU. On a CPU the same step runs without being recorded."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakMethod, WeakSet

import pytest
import torch
from torch import Tensor

from regard.batch import BOS, pad_sources
from regard.models import transformer_recorded as module
from regard.models.recorded_arena import Arena, Shape, next_power_of_two
from regard.models.recorded_layers import recorded as recorded_step
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.models.transformer_recorded import RecordedTransformer
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.search.search import REFILL, search
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
    assert [next_power_of_two(n, 16) for n in (1, 16, 17, 100, 128)] == [16, 16, 32, 128, 128]
    assert Shape(5, 10, 64, 64).holds(Shape(5, 9, 64, 30))
    assert not Shape(5, 10, 64, 64).holds(Shape(4, 9, 64, 30))


BASE = 2 * 6 * 512 * 2  # bytes of a token: keys and values of 6 layers of width 512 in bfloat16
GIB = 1 << 30


def test_a_shape_says_what_its_arena_takes() -> None:
    _, recorded = both("post", "cpu")
    arena = recorded.acquire(beams=3, sentences=2, source=5, room=70)
    taken = sum(numbers.numel() * numbers.element_size() for numbers in (arena.past, arena.source))
    assert arena.shape.bytes(recorded._token) == taken


@pytest.mark.parametrize(("free", "sentences"), [(200, 512), (34, 512), (32, 256), (9, 128), (1, 8), (0, 1)])
def test_fewer_sentences_where_less_memory_is_free(free: int, sentences: int) -> None:
    """A line of 500 tokens: a room of 1,024, which for 512 sentences takes 33 GiB."""
    long = Shape(5, 512, 512, 1024)
    found = long.within(free * GIB, BASE)
    assert found == long._replace(sentences=sentences)
    assert sentences == 1 or found.bytes(BASE) <= free * GIB
    assert sentences == 512 or found._replace(sentences=2 * sentences).bytes(BASE) > free * GIB
    assert Shape(5, 512, 64, 64).within(9 * GIB, BASE).sentences == 512


class Gpu:
    """A CPU that counts what arenas take of a memory of so many bytes."""

    def __init__(self, size: int, patch: pytest.MonkeyPatch) -> None:
        self.size, self.arenas = size, WeakSet[Arena]()
        self.shares, self.shapes = list[float](), list[Shape]()
        patch.setattr(module, "free_memory", lambda device: self.free)
        patch.setattr(module, "Arena", self.arena)

    @staticmethod
    def taken(arena: Arena) -> int:
        return arena.past.nbytes + arena.source.nbytes

    @property
    def free(self) -> int:
        return self.size - sum(map(self.taken, self.arenas))

    def arena(self, model: Transformer, shape: Shape, rows: int) -> Arena:
        free, made = self.free, Arena(model, shape, rows)
        forward = WeakMethod(made._forward)  # as on a GPU, where a recording does not refer to its arena
        made.run = recorded_step(lambda: forward()(), model.device)  # type: ignore[misc]
        self.shares.append(self.taken(made) / free)
        self.shapes.append(shape)
        self.arenas.add(made)
        return made


def searched(model: Transformer | RecordedTransformer) -> list[tuple[int, ...]]:
    """Lines of many lengths, one far longer than the others."""
    generator = torch.Generator().manual_seed(2)
    lengths = [1 + i % 9 for i in range(40)] + [20, 20, 100]
    requests = [SearchRequest(tuple(torch.randint(3, V, (n,), generator=generator).tolist())) for n in lengths]
    return [some[0].ids for some in search(model, requests, SearchOptions(2, 0.6))]


@pytest.mark.long
def test_a_search_in_little_memory_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REFILL, "cpu", REFILL["cuda"])
    torch.manual_seed(4)
    model = scattered(Transformer(replace(SMALL, encoder_layers=1, decoder_layers=1), V, V, True), 0.4)
    whole, token = searched(RecordedTransformer(model, torch.float32, 32)), 2 * 1 * 32 * 4  # bytes
    gpu = Gpu(4 * Shape(2, 4, 128, 256).bytes(token), monkeypatch)
    recorded = RecordedTransformer(model, torch.float32, 32)
    assert searched(recorded) == whole
    assert gpu.shapes == [Shape(2, 4, 128, 256), Shape(2, 16, 32, 64)]  # places for more when the long line is done
    assert max(gpu.shares) <= 0.5


@pytest.mark.parametrize(("times", "rooms"), [(1, [64]), (3, [512, 64])])
def test_an_idle_arena_goes_where_its_memory_is_needed(
    times: int, rooms: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, recorded = both("post", "cpu")
    first, second = Shape(2, 12, 32, 512).bytes(recorded._token), Shape(1, 24, 32, 64).bytes(recorded._token)
    gpu = Gpu(4 * first, monkeypatch)
    recorded.own.idle.append(recorded.acquire(2, 1, 20, 500))
    gpu.size = first + times * second  # others have taken the rest
    assert recorded.most_sentences(1, 20, 30) == 24
    recorded.own.idle.append(recorded.acquire(1, 1, 20, 30))
    assert [arena.shape.room for arena in recorded.own.idle] == rooms
    assert max(gpu.shares) <= 0.5


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
