"""What preparing the data shows; a sample that stands for more shows about the same, scaled."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from damage import SIZE, clean
from regard.data.config import CorpusConfig, DataConfig
from regard.doctor.prepare import prepared, subsample, summarize_corpus
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import TextConfig

QUIET = Console(file=StringIO())


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    text = clean()
    text.train[:30] = [(src, "") for src, _ in text.train[:30]]
    return Recipe(data=text.write(tmp_path), text=TextConfig(vocab_size=600))


def test_what_is_there_is_counted(recipe: Recipe) -> None:
    found = summarize_corpus(recipe, 1.0, QUIET)
    assert (found.pairs, found.dropped["empty"], found.prepared) == (SIZE - 30, 30, True)
    assert found.unknown["dev"] < 0.01
    assert 0 <= found.rare < 1


def test_a_stand_in_is_like_the_whole(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = summarize_corpus(recipe, 1.0, QUIET)
    monkeypatch.setattr("regard.doctor.prepare.AT_ONCE", 1000)
    monkeypatch.setattr("regard.doctor.prepare.STAND_IN", 1400)
    with prepared(recipe, SIZE, QUIET) as ready:
        assert ready.scale == 3
        (corpus,) = ready.recipe.data.corpus
        assert corpus.src != recipe.data.src
        assert ready.recipe.data.dev_src == recipe.data.dev_src
        assert Path(str(corpus.src)).exists()
        assert ready.corpus.pairs == pytest.approx(whole.pairs, rel=0.02)
        assert ready.corpus.target_tokens == pytest.approx(whole.target_tokens, rel=0.05)
        assert not ready.corpus.prepared
    assert not Path(str(corpus.src)).exists()


def test_a_corpus_is_as_rough_as_it_was(recipe: Recipe, tmp_path: Path) -> None:
    data = recipe.data
    alone = CorpusConfig(src=data.src, tgt=data.tgt, rough=0.25)
    given = replace(recipe, data=replace(data, src=None, tgt=None, corpus=(alone,), slips=0.5))
    fewer = subsample(given, 3, tmp_path).data
    assert [corpus.rough for corpus in fewer.corpus] == [0.25]


def test_weights_and_tags_stay(recipe: Recipe, tmp_path: Path) -> None:
    data = recipe.data
    further = CorpusConfig(src=data.dev_src, tgt=data.dev_tgt, weight=2.0, tag="<x>")
    given = replace(recipe, data=replace(data, corpus=(further,)), text=TextConfig(vocab_size=600, tags=("<x>",)))
    fewer = subsample(given, 3, tmp_path).data
    assert isinstance(fewer, DataConfig)
    assert [(corpus.weight, corpus.tag) for corpus in fewer.corpus] == [(1.0, None), (2.0, "<x>")]
    counts = [len(Path(str(corpus.src)).read_text(encoding="utf-8").splitlines()) for corpus in fewer.corpus]
    assert counts == [SIZE // 3, 100]
