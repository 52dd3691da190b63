"""Search against exact answers: a Markov chain keeps the contract, and its best sequence can be computed."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chain import Chain, V
from regard.batch import BOS, EOS, pad_sources
from regard.decode.goal import length_limit
from regard.decode.penalties import length_penalty
from regard.decode.record import Record
from regard.decode.search import beam_search, greedy, requests_of
from regard.models.transformer import Transformer, TransformerConfig


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


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    model = Chain(seed)
    src, mask = pad_sources([[3, 5], [4], [5, 6, 6]])
    for one, row in zip(greedy(model, src, mask), beam_search(model, src, mask, beam=1, alpha=0.0), strict=True):
        assert len(row) == 1
        assert one.ids == row[0].ids
        assert one.log_probs == pytest.approx(row[0].log_probs)


@settings(deadline=None, max_examples=40)
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


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0, 1.5))
def test_a_record_tells_the_whole_search_and_changes_nothing(seed: int, beam: int, alpha: float) -> None:
    """Followed by its fates alone, it gives the search's own n-best list."""
    model = Chain(seed)
    src, mask = pad_sources([[3, 5], [4]])
    records: list[Record] = []
    found = beam_search(model, src, mask, beam, alpha, records)
    assert found == beam_search(model, src, mask, beam, alpha)
    for record, hypotheses in zip(records, found, strict=True):
        live, ended = [((), ())], []
        for weighed in record.steps:
            assert [c.total for c in weighed] == sorted((c.total for c in weighed), reverse=True)
            assert len(weighed) <= 2 * beam
            kept = []
            for c in weighed:
                words, steps = live[c.row]
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
            live = kept
        if record.ending == "length limit" and not ended:
            ended = [(sum(steps) / length_penalty(len(steps), alpha), words, steps) for words, steps in live]
        best = sorted(ended, key=lambda end: -end[0])[:beam]
        assert [(h.score, h.ids, h.log_probs) for h in hypotheses] == best
        assert (record.ending == "all ended") == (not live)


def test_a_record_says_that_the_limit_was_reached() -> None:
    model = Chain(1)
    with torch.no_grad():
        model.tables[..., EOS] = -1e9
    records: list[Record] = []
    beam_search(model, *pad_sources([[3]]), beam=3, record=records)
    assert records[0].ending == "length limit"
    assert len(records[0].steps) == 24
