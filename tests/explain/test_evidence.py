"""What is said to be lost is lost: blanking and gradients against other ways to compute them, for all architectures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import variants
from regard.batch import flat_batch
from regard.errors import InputError
from regard.explain.evidence import (
    blanked_embeddings,
    blanked_log_probs,
    evidence,
    gradient_times_input,
    ranks,
    spearman,
)
from regard.explain.hooks import embedding_tables
from regard.explain.render.evidence_figure import evidence_output
from regard.models.base import Model
from regard.models.transformer_layers import TransformerConfig
from regard.report.deliver import contents
from regard.search.forced_decoding import forced_log_probs, token_log_probs
from regard.translator import Translator
from support import LINES
from variants import transformer

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=2, tie="none")
MODELS: dict[str, Callable[[], Model]] = {
    "transformer": lambda: transformer(SMALL),
    "rnn": variants.RNN["lstm"],
    "rnn reversed": variants.RNN["lstm-reversed"],
    "bytenet": variants.BYTENET["plain"],
    "convs2s": variants.CONVS2S["plain"],
    "gnmt": variants.GNMTS["four layers"],
    "deep-att": variants.DEEP_ATT["three and three layers"],
    "ensemble": variants.ENSEMBLES["two"],
}
SOURCE, TARGET = [5, 9, 14, 3], [7, 11, 4]
OF_WORD = np.array([0, 1, 1, 2])  # the second word has two subwords
WORDS = 3


def fresh(name: str) -> Model:
    torch.manual_seed(3)
    return MODELS[name]().eval()


# ------------------------------------------------------------------------------------------------ blanking


@pytest.mark.parametrize("name", MODELS)
def test_a_removed_word_is_not_there(name: str) -> None:
    model = fresh(name)
    found = blanked_log_probs(model, SOURCE, TARGET, OF_WORD, WORDS, "removed")
    for row, source in zip(found, (SOURCE, [9, 14, 3], [5, 3], [5, 9, 14]), strict=True):
        (alone,) = forced_log_probs(model, [source], [TARGET])
        np.testing.assert_allclose(row, alone, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_blank_changes_the_sentence_and_leaves_the_model_alone(name: str) -> None:
    model = fresh(name)
    before = forced_log_probs(model, [SOURCE], [TARGET])[0]
    found = blanked_log_probs(model, SOURCE, TARGET, OF_WORD, WORDS, "mean")
    np.testing.assert_allclose(found[0], before, atol=1e-5)
    assert (np.abs(found[1:] - found[0]).max(axis=1) > 1e-7).all()
    assert (forced_log_probs(model, [SOURCE], [TARGET])[0] == before).all()
    assert not any(table._forward_hooks for table in embedding_tables(model, "source"))


def test_a_blanked_word_is_the_mean_of_all_embeddings() -> None:
    """The same as a token whose embedding is that mean."""
    model, spare = fresh("transformer"), 21
    found = blanked_log_probs(model, SOURCE, TARGET, OF_WORD, WORDS, "mean")
    (table,) = embedding_tables(model, "source")
    with torch.no_grad():
        mean = table.weight.mean(dim=0)
        table.weight[spare] = mean
    for row, source in zip(found[1:], ([spare, 9, 14, 3], [5, spare, spare, 3], [5, 9, 14, spare]), strict=True):
        (alone,) = forced_log_probs(model, [source], [TARGET])
        np.testing.assert_allclose(row, alone, atol=1e-5)


def test_hooks_go_even_when_something_breaks() -> None:
    model = fresh("transformer")
    with pytest.raises(ZeroDivisionError), blanked_embeddings(model, torch.ones(1, 1, dtype=torch.bool)):
        raise ZeroDivisionError
    assert not embedding_tables(model, "source")[0]._forward_hooks


# ------------------------------------------------------------------------------------------------ gradients


@pytest.mark.parametrize("name", [name for name in MODELS if name != "convs2s"])  # which shrinks its own gradient
def test_gradient_times_input_is_the_slope_along_the_input(name: str) -> None:
    """x · ∂f/∂x is how f changes when x grows by a factor 1 + ε."""
    model = fresh(name).double()
    shares = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])  # three subwords in two words
    found = gradient_times_input(model, SOURCE, TARGET, OF_WORD, shares, WORDS)
    batch = flat_batch([SOURCE], [TARGET]).pad()
    for word in range(WORDS):
        grown = []
        for step in (1e-6, -1e-6):
            factor = torch.ones(1, len(SOURCE) + 1, 1, dtype=torch.float64)
            factor[0, : len(SOURCE), 0] += step * torch.from_numpy(np.equal(OF_WORD, word))

            def grow(table: object, inputs: object, read: torch.Tensor, by: torch.Tensor = factor) -> torch.Tensor:
                wide = torch.ones(1, read.shape[1], 1, dtype=read.dtype)
                wide[:, : by.shape[1]] = by
                return read * wide

            handles = [table.register_forward_hook(grow) for table in embedding_tables(model, "source")]
            with torch.no_grad():
                grown.append(token_log_probs(model, batch)[0, :-1].numpy() @ shares)
            for handle in handles:
                handle.remove()
        slope = (grown[0] - grown[1]) / 2e-6
        np.testing.assert_allclose(found[:, word], slope, atol=1e-6, rtol=1e-4)


# ------------------------------------------------------------------------------------------------ a whole sentence


@pytest.mark.parametrize("blank", ["mean", "removed"])
def test_evidence_of_a_trained_model(blank: str, translator: Translator) -> None:
    source, target = LINES[2]  # The dog sees the cat. Le chien voit le chat.
    found = evidence(translator.bundle, source, blank=blank)  # type: ignore[arg-type]
    assert found.target == target
    assert found.drops.shape == found.gradients.shape == (6, 6)
    assert found.attention is not None
    ids = translator.tokenizer.encode_source([source]), translator.tokenizer.encode_target([target])
    whole = forced_log_probs(translator.bundle.model, *ids)[0]
    np.testing.assert_allclose(found.log_probs.sum(), whole[:-1].sum(), atol=1e-4)
    if blank == "removed":
        shorter = translator.tokenizer.encode_source(["The dog sees the."])  # its subwords are those of the gap
        lost = whole.sum() - forced_log_probs(translator.bundle.model, shorter, ids[1])[0].sum()
        np.testing.assert_allclose(found.total[4], lost, atol=1e-3)
    chat = found.target_words.index("chat")
    assert found.source_words[int(found.drops[chat].argmax())] == "cat"
    rows, whole_rho = found.agreement(found.attention)
    assert len(rows) == 6
    assert -1 <= whole_rho <= 1
    assert found.same_best(found.drops) == 1
    assert found.agreement(found.drops)[1] == pytest.approx(1)


def test_every_form_of_it(translator: Translator, tmp_path: Path) -> None:
    found = evidence(translator.bundle, LINES[1][0])
    figure = evidence_output(found, [{"heads": "cross:1:1", "drop": 0.5, "output": "Le chat"}])
    forms = {suffix: contents(figure, suffix) for suffix in (".svg", ".html", ".json", ".txt")}
    assert forms == {suffix: contents(figure, suffix) for suffix in forms}
    data = json.loads(forms[".json"])
    np.testing.assert_allclose(data["drops"], found.drops, atol=1e-6)
    assert data["cuts"][0]["heads"] == "cross:1:1"
    assert "cross:1:1" in forms[".txt"].decode()


def test_a_blank_that_there_is_not(translator: Translator) -> None:
    with pytest.raises(InputError, match='blank must be mean or removed, but is "unk"'):
        evidence(translator.bundle, "The cat.", blank="unk")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ Spearman


def test_spearman_by_hand() -> None:
    a, b = (
        np.array([106.0, 100, 86, 101, 99, 103, 97, 113, 112, 110]),
        np.array([7.0, 27, 2, 50, 28, 29, 20, 12, 6, 17]),
    )
    assert spearman(a, b) == pytest.approx(-29 / 165)  # Σd² = 194, ρ = 1 − 6 · 194 / (10 · 99)
    tied = spearman(np.array([1.0, 2, 2, 3]), np.array([1.0, 3, 2, 4]))
    assert tied == pytest.approx(4.5 / np.sqrt(4.5 * 5))  # ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4
    assert np.isnan(spearman(np.ones(4), np.arange(4.0)))
    assert np.isnan(spearman(np.array([1.0]), np.array([2.0])))
    assert np.isnan(spearman(np.array([1.0, np.nan]), np.array([2.0, 3.0])))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_spearman_is_the_correlation_of_ranks_counted_one_by_one(pairs: list[tuple[int, int]]) -> None:
    def counted(values: list[int]) -> list[float]:
        return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]

    a, b = ([p[i] for p in pairs] for i in (0, 1))
    assert ranks(np.array(a, float)).tolist() == counted(a)
    found = spearman(np.array(a, float), np.array(b, float))
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(float(np.corrcoef(counted(a), counted(b))[0, 1]), abs=1e-9)
