"""Sampling against exact probabilities: a model of two words at most, whose every output can be listed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.batch import BOS, EOS, Batch, pad_sources
from regard.errors import InputError
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.state import BatchState, per_row, repeat_rows
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.batch_rows import length_limit
from regard.search.sampling import draw, most_probable, near_best, nucleus, sampling_probs
from regard.search.search import greedy, requests_of, sample

V = 7
SAMPLES = 1000  # of each of four seeds


@dataclass(frozen=True)
class Said(BatchState):
    gist: Tensor = per_row()  # (N,) the first source word
    length: Tensor = per_row()  # (N,)


class TwoWords(Model):
    """P(next | first source word, how many are said, previous), EOS at the third step for certain."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        scores = torch.randn(V, 3, V, V, generator=torch.Generator().manual_seed(seed)) * 1.5
        scores[..., [0, BOS]] = -torch.inf
        scores[:, 2] = -torch.inf
        scores[:, 2, :, EOS] = 0.0
        self.table = torch.nn.Parameter(scores.log_softmax(-1))
        self.target_size = V

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return Memory(src[..., None].float(), mask)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> Said:
        gist = repeat_rows(memory.states[:, 0, 0].long(), beams)
        return Said(beams, gist, torch.zeros_like(gist))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, Said)
        return Step(self.table[state.gist, state.length, token], replace(state, length=state.length + 1), None)

    def forward(self, batch: Batch) -> Tensor:
        return self.table[batch.src[:, :1], torch.arange(batch.tgt_in.shape[1]).clamp(max=2), batch.tgt_in]

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [])

    def flops(self, source: int, target: int) -> float:
        return 0.0

    def outputs(
        self, source: int, temperature: float = 1.0, k: int | None = None, p: float = 1.0, share: float = 0.0
    ) -> dict[Ids, float]:
        """Every output and its probability, cut and tempered by a plain reading of the definitions."""

        def chosen(length: int, previous: int) -> list[float]:
            probs = [math.exp(x / temperature) for x in self.table[source, length, previous].tolist()]
            order = sorted(range(V), key=lambda w: -probs[w])[:k]
            kept, mass = [], 0.0
            for word in order:
                if mass < p * sum(probs[w] for w in order):
                    kept.append(word)
                    mass += probs[word]
            kept = [w for w in kept if probs[w] >= share * max(probs)]
            return [probs[w] / sum(probs[k] for k in kept) if w in kept else 0.0 for w in range(V)]

        first = chosen(0, BOS)
        found = {(): first[EOS]} | {(a,): first[a] * chosen(1, a)[EOS] for a in range(3, V)}
        found |= {(a, b): first[a] * chosen(1, a)[b] for a, b in product(range(3, V), repeat=2)}
        return found


Ids = tuple[int, ...]


def within_chance(seen: Counter[Ids], expected: dict[Ids, float]) -> None:
    total = seen.total()
    assert sum(expected.values()) == pytest.approx(1)
    assert set(seen) <= {ids for ids, p in expected.items() if p > 0}
    for ids, p in expected.items():
        assert seen[ids] / total == pytest.approx(p, abs=4.5 * math.sqrt(p * (1 - p) / total) + 1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.5},
        {"temperature": 3.0},
        {"top_k": 2},
        {"top_p": 0.6},
        {"min_p": 0.3},
        {"temperature": 2.0, "top_k": 4, "top_p": 0.8},
        {"temperature": 1.5, "top_p": 0.95, "min_p": 0.2},
    ],
)
def test_samples_come_as_often_as_they_should(options: dict[str, float]) -> None:
    model = TwoWords()
    sources = pad_sources([[3], [5, 4]])
    drawn = [sample(model, *sources, count=SAMPLES, seed=seed, **options) for seed in range(4)]  # type: ignore[arg-type]
    found = [[h for some in drawn for h in some[sentence]] for sentence in range(2)]
    names = {"temperature": "temperature", "top_k": "k", "top_p": "p", "min_p": "share"}
    for source, hypotheses in zip((3, 5), found, strict=True):
        expected = model.outputs(source, **{names[n]: v for n, v in options.items()})  # type: ignore[arg-type]
        within_chance(Counter(h.ids for h in hypotheses), expected)


def test_sentences_and_seeds_are_drawn_independently() -> None:
    """One sample each of many sentences, which the model takes for the same one."""
    model = TwoWords()
    sources = [[4, a, b, c] for a, b, c in product(range(3, 13), repeat=3)]
    found = Counter(hypotheses[0].ids for hypotheses in sample(model, *pad_sources(sources), seed=2))
    within_chance(found, model.outputs(4))
    by_seed = Counter(sample(model, *pad_sources([[4]]), seed=seed)[0][0].ids for seed in range(600))
    within_chance(by_seed, model.outputs(4))


def test_log_probs_are_the_models_own_whatever_was_cut() -> None:
    model = TwoWords()
    exact = model.outputs(3)
    for h in sample(model, *pad_sources([[3]]), count=50, temperature=2.0, top_p=0.9)[0]:
        assert len(h.log_probs) == len(h.ids) + 1
        assert h.score == h.log_prob == pytest.approx(math.log(exact[h.ids]), abs=1e-5)


def test_a_seed_gives_the_same_samples_and_a_generator_new_ones() -> None:
    model, source = TwoWords(), pad_sources([[3], [4]])
    assert sample(model, *source, count=20, seed=5) == sample(model, *source, count=20, seed=5)
    assert sample(model, *source, count=20, seed=5) != sample(model, *source, count=20, seed=6)
    first, second = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    once = [sample(model, *source, count=20, seed=first) for _ in range(2)]
    again = [sample(model, *source, count=20, seed=second) for _ in range(2)]
    assert once == again
    assert once[0] != once[1]


@pytest.fixture(scope="module")
def transformer() -> Transformer:
    torch.manual_seed(4)
    config = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2)
    model = Transformer(config, 23, 23, True).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


SOURCES = [[7], [3, 4, 5, 6, 7, 8, 9, 10, 11], [20, 3, 3, 9], [12, 13]]


def test_neighbours_places_and_later_samples_do_not_matter(transformer: Transformer) -> None:
    together = sample(transformer, *pad_sources(SOURCES), count=4, seed=3)
    turned = sample(transformer, *pad_sources(SOURCES[::-1]), count=4, seed=3)[::-1]
    fewer = sample(transformer, *pad_sources(SOURCES), count=2, seed=3)
    for row, source in enumerate(SOURCES):
        expected = [h.ids for h in together[row]]
        assert [h.ids for h in sample(transformer, *pad_sources([source]), count=4, seed=3)[0]] == expected
        assert [h.ids for h in turned[row]] == expected
        assert [h.ids for h in fewer[row]] == expected[:2]
    assert len({h.ids for some in together for h in some}) > 12  # and yet they are samples


@pytest.mark.parametrize("options", [{"temperature": 1e-4}, {"top_k": 1}, {"top_p": 1e-9}, {"min_p": 1.0}])
def test_in_the_limit_it_is_greedy(transformer: Transformer, options: dict[str, float]) -> None:
    src, mask = pad_sources(SOURCES)
    for best, drawn in zip(greedy(transformer, src, mask), sample(transformer, src, mask, 3, **options), strict=True):  # type: ignore[arg-type]
        for one in drawn:
            assert one.ids == best.ids
            assert one.log_probs == pytest.approx(best.log_probs, abs=1e-4)


def test_a_model_that_never_ends_stops_at_its_own_limit(transformer: Transformer) -> None:
    class Endless(Transformer):
        def step(self, token: Tensor, state: State) -> Step:
            step = super().step(token, state)
            return step._replace(logits=step.log_probs.index_fill(1, torch.tensor(EOS), -torch.inf))

    endless = Endless(transformer.config, 23, 23, True).eval()
    src, mask = pad_sources(SOURCES)
    for limit, some in zip(map(length_limit, requests_of(src, mask)), sample(endless, src, mask, count=2), strict=True):
        assert [len(h.ids) for h in some] == [len(h.log_probs) for h in some] == [limit, limit]


# ── the equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_cuts_by_hand() -> None:
    log_probs = torch.tensor([[0.1, 0.4, 0.2, 0.3]]).log()
    assert (most_probable(log_probs, 2) > -math.inf).tolist() == [[False, True, False, True]]
    assert (most_probable(log_probs, 9) > -math.inf).all()
    for p, kept in [(0.3, [1]), (0.5, [1, 3]), (0.69, [1, 3]), (0.71, [1, 2, 3]), (0.95, [0, 1, 2, 3])]:
        assert (nucleus(log_probs, p)[0] > -math.inf).nonzero()[:, 0].tolist() == kept
    for share, kept in [(0.01, [0, 1, 2, 3]), (0.26, [1, 2, 3]), (0.51, [1, 3]), (0.76, [1]), (1.0, [1])]:
        assert (near_best(log_probs, share)[0] > -math.inf).nonzero()[:, 0].tolist() == kept
    torch.testing.assert_close(sampling_probs(log_probs, 1.0, None, 0.5), torch.tensor([[0, 4 / 7, 0, 3 / 7]]))
    torch.testing.assert_close(sampling_probs(log_probs, 0.5, 2, 1.0), torch.tensor([[0, 0.64, 0, 0.36]]))


def test_a_draw_is_where_the_running_sum_passes_u() -> None:
    probs = torch.tensor([[0.0, 0.25, 0.0, 0.5, 0.25, 0.0]])
    drawn = [int(draw(probs, torch.tensor([u]))) for u in (0.0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2**-24)]
    assert drawn == [1, 1, 3, 3, 4, 4]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1 - 2**-24, width=32), st.floats(1e-3, 5), st.integers(1, 300))
def test_a_word_of_no_probability_is_never_drawn(seed: int, u: float, temperature: float, k: int) -> None:
    log_probs = (torch.randn(4, 300, generator=torch.Generator().manual_seed(seed)) * 5).log_softmax(-1)
    probs = sampling_probs(log_probs, temperature, k, 0.9)
    words = draw(probs, torch.full((4,), u))
    assert (probs.gather(1, words[:, None]) > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "samples must be at least 1"),
        ({"temperature": 0.0}, "temperature must be above 0.*beam of 1"),
        ({"top_k": 0}, "top_k must be a whole number of at least 1"),
        ({"top_p": 0.0}, "top_p must be above 0"),
        ({"top_p": 1.5}, "from 0 to 1, but is 1.5"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_impossible_wishes_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sample(TwoWords(), *pad_sources([[3]]), **options)  # type: ignore[arg-type]
