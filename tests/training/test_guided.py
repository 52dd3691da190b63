"""Guided attention: its loss by hand, links in subwords, the cache, and that a head does learn to look there."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from encoded import Fixed
from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.errors import RecipeError
from regard.recipe.read import recipe_from_tables
from regard.recipe.train import TrainConfig
from regard.text.tokenizer import Tokenizer
from regard.training.guided import AlignmentGuide, guided_nll, in_subwords, learn_links
from regard.training.regularize import forward_passes
from support import LINES, TINY, write_lines


def test_the_loss_by_hand() -> None:
    weights = torch.tensor([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]], requires_grad=True)
    links = torch.tensor([[[True, False, True], [False, False, False]]])  # the second token asks nothing
    loss = guided_nll(weights, links)
    assert loss.item() == pytest.approx(-(0.5 * math.log(0.5) + 0.5 * math.log(0.2)))
    loss.backward()
    assert weights.grad is not None
    assert (weights.grad[0, 1] == 0).all()


def test_links_between_words_are_links_between_all_their_subwords() -> None:
    links = in_subwords(
        [(0, 1), (1, 0)], ("cats sleep", [(0, 3), (3, 4), (4, 10)]), ("do cha", [(0, 2), (2, 5), (5, 6)])
    )
    assert sorted(links) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 0)]


@pytest.fixture
def pairs(tokenizer: Tokenizer) -> list[tuple[list[int], list[int]]]:
    sources, targets = zip(*LINES, strict=True)
    return list(zip(tokenizer.encode_source(sources), tokenizer.encode_target(targets), strict=True))


def test_a_batch_finds_its_own_links(
    tmp_path: Path, tokenizer: Tokenizer, pairs: list[tuple[list[int], list[int]]]
) -> None:
    corpus = Fixed([s for s, _ in pairs], [t for _, t in pairs])
    wanted = list(learn_links(lambda: iter(pairs), tokenizer))
    guide = AlignmentGuide(corpus, tokenizer, tmp_path)
    (kept,) = tmp_path.glob("*.links")
    stamp = kept.stat().st_mtime_ns
    for one in (guide, AlignmentGuide(corpus, tokenizer, tmp_path)):
        flat = corpus.gather([5, 2, 7])
        batch = one.add_links(flat, flat.pad())
        assert batch.links is not None
        assert batch.links.shape == (3, batch.tgt_out.shape[1], batch.src.shape[1])
        for row, pair in enumerate((5, 2, 7)):
            assert sorted((s, t) for t, s in batch.links[row].nonzero().tolist()) == sorted(set(wanted[pair]))
        assert batch.rows(slice(1, 2)).links is not None
    assert kept.stat().st_mtime_ns == stamp  # read, not learnt again
    whole = kept.read_bytes()
    for damaged in (b"damaged", b"", whole[:-1], whole[: len(whole) // 2], whole[:9] + b"?" + whole[10:]):
        kept.write_bytes(damaged)
        again = AlignmentGuide(corpus, tokenizer, tmp_path)
        np.testing.assert_array_equal(again.table.links, guide.table.links)
        assert kept.read_bytes() == whole
    strange = flat_batch([[4, 4]], [[4]])
    assert not guide.add_links(strange, strange.pad()).links.any()  # type: ignore[union-attr]


def test_where_links_cannot_be_kept_training_is_told_and_goes_on(
    tmp_path: Path, tokenizer: Tokenizer, pairs: list[tuple[list[int], list[int]]]
) -> None:
    corpus = Fixed([s for s, _ in pairs], [t for _, t in pairs])
    wanted = AlignmentGuide(corpus, tokenizer, tmp_path).table
    (kept,) = tmp_path.glob("*.links")
    kept.unlink()
    (kept / "in the way").mkdir(parents=True)  # it can be neither read nor replaced
    told: list[str] = []
    found = AlignmentGuide(corpus, tokenizer, tmp_path, told.append).table
    np.testing.assert_array_equal(found.links, wanted.links)
    assert len(told) == 1
    assert told[0].startswith(f"word links are not kept for the next run: cannot write {kept}")


@pytest.mark.long
def test_memory_does_not_grow_with_the_corpus(
    tmp_path: Path,
    tokenizer: Tokenizer,
    pairs: list[tuple[list[int], list[int]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of each further pair some dozen bytes are held while links are learnt, and next to none afterwards."""
    monkeypatch.setattr("regard.align.numbered.CHUNK", 200)
    monkeypatch.setattr("regard.align.numbered.CELLS", 2000)
    held, peaks = [], []
    for times in (10, 20, 120):  # the first one warms up
        corpus = Fixed([s for s, _ in pairs * times], [t for _, t in pairs * times])
        tracemalloc.start()
        guide = AlignmentGuide(corpus, tokenizer, tmp_path)
        for found, bytes_ in zip((held, peaks), tracemalloc.get_traced_memory(), strict=True):
            found.append(bytes_)
        tracemalloc.stop()
        assert len(guide.table.offsets) == len(pairs) * times + 1
    more = len(pairs) * 100
    assert (held[2] - held[1]) / more < 50
    assert (peaks[2] - peaks[1]) / more < 300


@pytest.mark.long
def test_the_head_learns_to_look_there(tmp_path: Path) -> None:
    src, tgt = (str(path) for path in write_lines(tmp_path))
    losses = {}
    for weight in (0.0, 0.5):
        recipe = {
            "data": {"src": src, "tgt": tgt, "max_length": 60},
            "text": {"vocab_size": 360},
            "model": TINY,
            "train": {"steps": 40, "batch_tokens": 400, "learning_rate": 1e-2, "warmup": 5, "device": "cpu"},
        }
        recipe["train"] |= {"guided_weight": weight, "guided_layer": 2} if weight else {}
        bundle = Bundle.load(regard.train(recipe, tmp_path / f"run{weight}").run)
        tokenizer = bundle.tokenizer
        coded = [tokenizer.encode_source([s])[0] for s, _ in LINES], [tokenizer.encode_target([t])[0] for _, t in LINES]
        corpus = Fixed(*coded)
        flat = corpus.gather(range(len(LINES)))
        batch = AlignmentGuide(corpus, tokenizer, tmp_path / "cache").add_links(flat, flat.pad())
        with torch.inference_mode():
            cross = bundle.model.attention(batch).cross
        losses[weight] = guided_nll(cross[1][:, 0], batch.links).item()  # type: ignore[arg-type]
    assert losses[0.5] < 0.5 * losses[0.0]


def test_its_cost() -> None:
    assert forward_passes(TrainConfig(guided_weight=0.1)) == 2 * forward_passes(TrainConfig())


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"train": {"guided_layer": 1}}, "train.guided_weight is 0; set it to 0.1"),
        ({"train": {"guided_weight": -1.0}}, "must not be negative"),
        ({"train": {"guided_weight": 0.1, "r_drop": 1.0}}, "leave out bpe_dropout, transforms, rewards, r_drop"),
        ({"train": {"guided_weight": 0.1}, "text": {"bpe_dropout": 0.1}}, "the same in every epoch"),
    ],
)
def test_bad_recipes(tables: dict[str, dict[str, float]], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        recipe_from_tables(tables)


@pytest.mark.parametrize(
    ("model", "layer", "said"),
    [
        ({"architecture": "rnn", "preset": "tiny"}, 0, "rnn has no attention; train one with attention"),
        (TINY, 3, "transformer has 2 layers that attend to the source; use 1 to 2, or 0"),
    ],
)
def test_models_without_that_layer(tmp_path: Path, model: dict[str, object], layer: int, said: str) -> None:
    src, tgt = (str(path) for path in write_lines(tmp_path))
    recipe = {
        "data": {"src": src, "tgt": tgt},
        "text": {"vocab_size": 360},
        "model": model,
        "train": {"guided_weight": 0.1, "guided_layer": layer, "device": "cpu"},
    }
    with pytest.raises(RecipeError, match=said):
        regard.train(recipe, tmp_path / "run")
    assert not (tmp_path / "run").exists()
