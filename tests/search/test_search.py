"""Search against exact answers: a Markov chain keeps the contract, and its best sequence can be computed."""

from __future__ import annotations

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from chain import Chain, V
from regard.batch import BOS, EOS, pad_sources
from regard.errors import BundleError, InputError
from regard.models.base import Model
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.batch_rows import length_limit
from regard.search.constraints import NoRepeat
from regard.search.engine import SearchRequest, StopSignal, length_penalty
from regard.search.options import Sampling, SearchOptions
from regard.search.search import Capacity, beam_search, greedy, requests_of, search
from regard.search.search_trace import SearchTrace


def best_by_dynamic_programming(table: Tensor, limit: int) -> tuple[float, list[int]]:
    """The most probable sequence that ends with EOS within `limit` words."""
    paths = {BOS: (0.0, [])}
    best = (-float("inf"), [])
    for _ in range(limit):
        for last, (score, words) in paths.items():
            best = max(best, (score + float(table[last, EOS]), words))
        paths = {
            w: max((s + float(table[last, w]), [*words, w]) for last, (s, words) in paths.items()) for w in range(3, V)
        }
    return best


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_a_wide_beam_finds_the_best(seed: int) -> None:
    model = Chain(seed)
    src, mask = pad_sources([[3], [4]])
    limit = length_limit(requests_of(src, mask)[0])
    found = beam_search(model, src, mask, beam=150, alpha=0.0)
    for row, word in enumerate((3, 4)):
        score, words = best_by_dynamic_programming(model.tables[word].detach(), limit)
        assert found[row][0].score == pytest.approx(score, abs=1e-4)
        assert list(found[row][0].ids) == words


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(0, 1.5))
def test_n_best_lists_are_ordered_distinct_and_rightly_scored(seed: int, beam: int, alpha: float) -> None:
    model = Chain(seed)
    src, mask = pad_sources([[3], [4]])
    for sentence, hypotheses in zip((3, 4), beam_search(model, src, mask, beam, alpha), strict=True):
        assert len({h.ids for h in hypotheses}) == len(hypotheses) <= beam
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for h in hypotheses:
            said = [*h.ids, EOS][: len(h.log_probs)]
            steps = model.tables[sentence][[BOS, *said[:-1]], said].tolist()
            assert h.log_probs == pytest.approx(steps, abs=1e-5)
            assert h.score == pytest.approx(sum(steps) / length_penalty(len(steps), alpha), abs=1e-4)


def test_a_model_that_never_ends_stops_at_its_own_limit() -> None:
    model = Chain(1)
    with torch.no_grad():
        model.tables[..., EOS] = -1e9
    src, mask = pad_sources([[3], [3, 4, 4, 4]])
    assert (
        [len(h.ids) for h in greedy(model, src, mask)]
        == [length_limit(one) for one in requests_of(src, mask)]
        == [24, 30]
    )
    assert [len(h[0].ids) for h in beam_search(model, src, mask, beam=3)] == [24, 30]


@pytest.mark.parametrize("beam", [1, 3])
def test_a_transformers_output_does_not_depend_on_the_batch(beam: int) -> None:
    torch.manual_seed(4)
    config = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=2)
    model = Transformer(config, 23, 23, True).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    sources = [torch.randint(3, 23, (n,)).tolist() for n in (1, 9, 4, 4, 6, 2)]
    together = beam_search(model, *pad_sources(sources), beam=beam)
    for source, expected in zip(sources, together, strict=True):
        alone = beam_search(model, *pad_sources([source]), beam=beam)[0]
        assert [h.ids for h in alone] == [h.ids for h in expected]
        assert [h.score for h in alone] == pytest.approx([h.score for h in expected], abs=1e-4)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0, 1.5))
def test_a_record_tells_the_whole_search_and_changes_nothing(seed: int, beam: int, alpha: float) -> None:
    """Followed by its fates alone, it gives the search's own n-best list."""
    model = Chain(seed)
    src, mask = pad_sources([[3, 5], [4]])
    records: list[SearchTrace] = []
    found = beam_search(model, src, mask, beam, alpha, records)
    assert found == beam_search(model, src, mask, beam, alpha)
    for record, hypotheses in zip(records, found, strict=True):
        search, ended = [((), ())], []
        for weighed in record.steps:
            assert [c.total for c in weighed] == sorted((c.total for c in weighed), reverse=True)
            assert len(weighed) <= 2 * beam
            kept = []
            for c in weighed:
                words, steps = search[c.row]
                assert c.total == pytest.approx(sum(steps) + c.log_prob)
                assert c.score == pytest.approx(c.total / length_penalty(len(steps) + 1, alpha))
                if c.fate == "kept":
                    kept.append(((*words, c.token), (*steps, c.log_prob)))
                elif c.fate == "finished":
                    ended.append((c.score, words, (*steps, c.log_prob)))
                elif c.fate == "outranked":
                    assert sum(score >= c.score for score, _, _ in ended) >= beam
                else:
                    assert len(kept) == beam
            search = kept
        if record.ending == "length limit" and not ended:
            ended = [(sum(steps) / length_penalty(len(steps), alpha), words, steps) for words, steps in search]
        best = sorted(ended, key=lambda end: -end[0])[:beam]
        assert [(h.score, h.ids, h.log_probs) for h in hypotheses] == best
        assert (record.ending == "all ended") == (not search)


def test_a_record_says_that_the_limit_was_reached() -> None:
    model = Chain(1)
    with torch.no_grad():
        model.tables[..., EOS] = -1e9
    records: list[SearchTrace] = []
    beam_search(model, *pad_sources([[3]]), beam=3, record=records)
    assert records[0].ending == "length limit"
    assert len(records[0].steps) == 24


def plain_greedy(model: Model, source: list[int], limit: int) -> list[int]:
    """The definition: the most probable token, one after the other; PAD and BOS are never said."""
    state, token, said = model.start(model.encode(*pad_sources([source]))), BOS, []
    while len(said) < limit:
        step = model.step(torch.tensor([token]), state)
        state, token = step.state, EOS + int(step.logits[0, EOS:].argmax())
        if token == EOS:
            break
        said.append(token)
    return said


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0, 1.5))
@torch.inference_mode()
def test_a_beam_of_one_is_greedy_search(seed: int, alpha: float) -> None:
    model = Chain(seed)
    sources = [[3, 5], [4], [5, 6, 6]]
    requests = [SearchRequest(tuple(source)) for source in sources]
    for request, found in zip(requests, search(model, requests, SearchOptions(1, alpha)), strict=True):
        assert list(found[0].ids) == plain_greedy(model, list(request.ids), length_limit(request))


def exhaustive(table: Tensor, limit: int, alpha: float) -> dict[tuple[int, ...], float]:
    """The score of every sequence that ends within the limit."""
    found, paths = {}, [((), 0.0)]
    for _ in range(limit):
        for words, total in paths:
            end = total + float(table[words[-1] if words else BOS, EOS])
            found[words] = end / length_penalty(len(words) + 1, alpha)
        paths = [
            ((*words, w), total + float(table[words[-1] if words else BOS, w]))
            for words, total in paths
            for w in range(3, V)
        ]
    return found


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.6]))
def test_a_wide_beam_is_exhaustive_search(seed: int, alpha: float) -> None:
    """With a row for every sequence, the n-best list is that of all sequences."""

    class Short(Chain):
        max_positions = 5  # four tokens, EOS counted

    model = Short(seed)
    (found,) = search(model, [SearchRequest((3,))], SearchOptions(300, alpha, nbest=20))
    every = sorted(exhaustive(model.tables[3].detach(), 4, alpha).items(), key=lambda item: -item[1])[:20]
    assert [h.score for h in found] == pytest.approx([score for _, score in every], abs=1e-5)
    assert len({h.ids for h in found}) == 20


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 7), st.permutations(range(9)))
def test_neither_neighbours_nor_order_nor_refills_change_a_result(
    seed: int, beam: int, together: int, order: list[int]
) -> None:
    model = Chain(seed)
    requests = [
        SearchRequest(ids) for ids in ((3,), (4, 5), (5,) * 7, (6, 3), (4,), (3, 3, 3), (5, 6), (6,) * 12, (4, 6))
    ]
    options = SearchOptions(beam, 0.6, nbest=beam)
    alone = [search(model, [request], options)[0] for request in requests]
    said: list[int] = []
    found = search(model, [requests[i] for i in order], options, said.append, Capacity(10**6, together))
    assert found == [alone[i] for i in order]
    assert sum(said) == len(requests)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.6, 1.2]))
def test_fewer_that_are_wanted_are_the_first_of_more(seed: int, alpha: float) -> None:
    """A search that stops as soon as the wanted ones are settled finds the same ones."""
    model, requests = Chain(seed), [SearchRequest((3, 5)), SearchRequest((4,))]
    every = search(model, requests, SearchOptions(5, alpha, nbest=5))
    for wanted in (1, 3):
        for some, all_of_them in zip(
            search(model, requests, SearchOptions(5, alpha, nbest=wanted)), every, strict=True
        ):
            assert some == all_of_them[:wanted]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("beam", [1, 4])
def test_a_prefix_is_how_a_translation_begins(beam: int, sampled: bool) -> None:
    model = Chain(3)
    requests = [SearchRequest((3, 5), prefix=(6, 6, 4)), SearchRequest((4,)), SearchRequest((5,), prefix=(3,))]
    options = SearchOptions(beam, 0.6, nbest=beam, sampling=Sampling() if sampled else None)
    found = search(model, requests, options)
    for request, hypotheses in zip(requests, found, strict=True):
        for h in hypotheses:
            assert h.ids[: len(request.prefix)] == request.prefix
            said = [*h.ids, EOS][: len(h.log_probs)]
            assert h.log_probs == pytest.approx(model.tables[request.ids[0]][[BOS, *said[:-1]], said].tolist())
    assert found[1] == search(model, [requests[1]], options)[0]


def test_a_prefix_beyond_what_the_model_can_say_is_refused() -> None:
    model = Chain(3)
    model.max_positions = 8
    with pytest.raises(InputError, match="this model generates at most 6 tokens, not 9"):
        search(model, [SearchRequest((3,), prefix=(4,) * 9)], SearchOptions(2, 0.6))


def test_a_model_without_probabilities_is_refused() -> None:
    model = Chain(1)
    with torch.no_grad():
        model.tables[3, 4] = torch.nan
    for options in (SearchOptions(1, 0.6), SearchOptions(3, 0.6), SearchOptions(1, 0.6, nbest=4, sampling=Sampling())):
        with pytest.raises(BundleError, match="NaN instead of probabilities"):
            search(model, [SearchRequest((3,), prefix=(4,))], options)


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 10_000),
    st.sampled_from(
        [SearchOptions(1, 0.6), SearchOptions(3, 0.6, nbest=2), SearchOptions(1, 0.6, sampling=Sampling())]
    ),
    st.booleans(),
    st.lists(st.none() | st.integers(0, 12), min_size=2, max_size=7),
    st.integers(1, 4),
)
@example(0, SearchOptions(1, 0.6), False, [None, None, None, None, None, 0, None], 3)  # cancelled amid the waiting ones
def test_a_stopped_request_has_no_result_and_changes_no_other(
    seed: int, options: SearchOptions, bound: bool, checks: list[int | None], together: int
) -> None:
    """Each request is cancelled at its n-th check, or never."""
    model, rule = Chain(seed), NoRepeat(2, 1) if bound else None
    plain = [SearchRequest((3 + i % 3,) * (1 + i % 4), rule) for i in range(len(checks))]
    stops = [
        None if n is None else StopSignal(is_cancelled=iter([*[False] * n, *[True] * 99]).__next__) for n in checks
    ]
    requests = [one if stop is None else one._replace(stops=(stop,)) for one, stop in zip(plain, stops, strict=True)]
    alone = search(model, plain, options)
    found = search(model, requests, options, capacity=Capacity(10**6, together))
    for i, stop in enumerate(stops):
        assert found[i] == ([] if stop is not None and stop.abandoned else alone[i])
    assert all(stop.abandoned for stop, n in zip(stops, checks, strict=True) if n == 0)


def test_a_shared_request_goes_on_while_one_of_its_owners_waits() -> None:
    model, options = Chain(3), SearchOptions(2, 0.6)
    gone, waiting = StopSignal(is_cancelled=lambda: True), StopSignal()
    (found,) = search(model, [SearchRequest((3, 4), stops=(gone, waiting))], options)
    assert found == search(model, [SearchRequest((3, 4))], options)[0]
