"""Steering: the blend is a distribution, says what the equations say, and is nothing at all where it has no say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.batch import EOS, Batch, flat_batch
from regard.course.rules.translate import translate as by_rules
from regard.errors import InputError
from regard.models.base import Model
from regard.search.alignment_heads import AlignmentHeads, alignment_heads_of, cross_layers, ensemble_alignment_heads
from regard.search.search import beam_search, greedy
from regard.search.steering import LexiconSteered, RuleSteered, blend, lexicon_proposal, rules_in_ids, uniform_attention
from regard.search.token_lexicon import IdTable, learn_lexicon
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator
from support import LINES
from variants import ENSEMBLES, Blind, V, attending, close, some_table, stepwise


@pytest.fixture
def model() -> Model:
    torch.manual_seed(2)
    return attending()().eval()


@given(st.integers(0, 10_000), st.floats(0, 0.99))
def test_a_blend_is_a_distribution(seed: int, weight: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    log_probs = (8 * torch.randn(3, 7, generator=generator)).log_softmax(-1)
    shares = torch.rand(3, 7, generator=generator)
    proposal = shares / shares.sum(-1, keepdim=True) * torch.rand(3, 1, generator=generator)
    proposal[0] = 0.0
    proposal[1, 2:] = 0.0
    mixed = blend(log_probs, proposal, weight)
    close(mixed.exp().sum(-1), torch.ones(3))
    missing = 1 - proposal.sum(-1, keepdim=True)
    close(mixed.exp(), (1 - weight) * log_probs.exp() + weight * (proposal + missing * log_probs.exp()))
    assert torch.equal(mixed[0], log_probs[0])  # where nothing is proposed, bit for bit


def test_the_proposal_is_the_sum_of_the_paper() -> None:
    table, src = some_table(), torch.tensor([[7, 5, 9, EOS]])
    attention = torch.tensor([[0.5, 0.2, 0.2, 0.1]])
    expected = torch.zeros(V)
    for weight, word in zip(attention[0].tolist(), src[0].tolist(), strict=True):
        for target, t in zip(table.targets[word].tolist(), table.probs[word].tolist(), strict=True):
            expected[target] += weight * t
    close(lexicon_proposal(attention, table.targets[src], table.probs[src], V)[0], expected)


def test_a_model_without_attention_weighs_all_tokens_alike(batch: Batch) -> None:
    even = uniform_attention(batch.src, batch.src_mask)
    close(even.sum(1), torch.ones(3))
    assert even[1].tolist() == [0.5, 0.5, 0, 0, 0, 0, 0, 0]


@torch.inference_mode()
def test_weight_zero_is_the_plain_model(model: Model, batch: Batch) -> None:
    steered = LexiconSteered(model, some_table(), AlignmentHeads(((0, None),)), 0.0)
    guided = RuleSteered(model, lambda source: source, 0.0)
    for wrapped in (steered, guided):
        close(stepwise(wrapped, batch)[0], stepwise(model, batch)[0])
        found, right = (beam_search(one, batch.src, batch.src_mask) for one in (wrapped, model))
        assert [[h.ids for h in some] for some in found] == [[h.ids for h in some] for some in right]


@torch.inference_mode()
def test_a_heavy_lexicon_is_followed(model: Model, batch: Batch) -> None:
    """Every word is translated by itself: what is said first is a word of the source."""
    table = IdTable(torch.arange(V)[:, None], torch.ones(V, 1) * (torch.arange(V) > EOS)[:, None])
    steered = LexiconSteered(model, table, AlignmentHeads(((0, None),)), 0.99)
    for hypotheses, source in zip(beam_search(steered, batch.src, batch.src_mask), batch.src.tolist(), strict=True):
        assert hypotheses[0].ids[0] in source


# ------------------------------------------------------------------------------------------------ rules


@torch.inference_mode()
def test_rules_are_followed_to_their_end(model: Model, batch: Batch) -> None:
    guided = RuleSteered(model, lambda source: [3, 4, *source], 0.999)
    for search in (
        greedy(guided, batch.src, batch.src_mask),
        [h[0] for h in beam_search(guided, batch.src, batch.src_mask)],
    ):
        for found, source, mask in zip(search, batch.src, batch.src_mask, strict=True):
            assert found.ids == (3, 4, *source[mask][:-1].tolist())


@torch.inference_mode()
def test_who_leaves_the_rules_is_left_alone(model: Model) -> None:
    """The plan is 9 8 7: said are 9 8 7, 9 5 7 and 5 8 7."""
    batch = flat_batch([[7, 8, 9]] * 3, [[9, 8, 7], [9, 5, 7], [5, 8, 7]]).pad()
    guided = RuleSteered(model, lambda source: source[::-1], 0.5)
    bare = model(batch).log_softmax(-1)
    for log_probs in (guided(batch), stepwise(guided, batch)[0]):
        helped = [
            [t for t in range(4) if not torch.allclose(row[t], alone[t], atol=1e-3)]
            for row, alone in zip(log_probs, bare, strict=True)
        ]
        assert helped == [[0, 1, 2, 3], [0, 1], [0]]
    for t, due in enumerate([9, 8, 7, EOS]):
        assert guided(batch)[0, t, due].exp() > 0.5


@torch.inference_mode()
@pytest.mark.parametrize("suggestion", [None, [], [3] * 40])
def test_any_suggestion_will_do(model: Model, batch: Batch, suggestion: Sequence[int] | None) -> None:
    guided = RuleSteered(model, lambda _: suggestion, 0.9)
    close(stepwise(guided, batch)[0][batch.tgt_mask], guided(batch)[batch.tgt_mask])
    assert (guided(batch)[:, 0].argmax(-1) == EOS).all() == (suggestion == [])
    if suggestion is None:
        close(stepwise(guided, batch)[0], stepwise(model, batch)[0])


def test_the_grammar_in_ids(tokenizer: Tokenizer) -> None:
    suggest = rules_in_ids(by_rules, tokenizer)
    found = suggest(tokenizer.encode_source(["The cat sleeps."])[0])
    assert found is not None
    assert tokenizer.decode(found) == "Le chat dort."
    assert suggest(tokenizer.encode_source(["Cat the sleeps"])[0]) is None


# ------------------------------------------------------------------------------------------------ reading


def test_what_is_read_as_alignment(model: Model) -> None:
    assert (cross_layers(Blind()), cross_layers(model)) == (0, 1)
    assert not alignment_heads_of(Blind(), {})
    deep = ENSEMBLES["two"]()  # three layers and one
    assert cross_layers(deep) == 4
    assert alignment_heads_of(model, {}) == AlignmentHeads(((0, None),))
    view = {"layer": 3, "head": 1, "row": "predicting"}
    assert alignment_heads_of(deep, {"attention_view": view}).maps == ((3, 1),)
    assert alignment_heads_of(deep, {"attention_view": view | {"row": "having-read"}}).maps == ((2, None),)
    members = [*deep.members, Blind(), model]
    assert ensemble_alignment_heads(members).maps == ((1, None), (3, None), (4, None))


# ------------------------------------------------------------------------------------------------ in words


def test_steering_mends_a_model_that_knows_nothing(translator: Translator) -> None:
    """An untrained decoder says anything; the lexicon pulls it to words that translate the source."""
    lexicon = learn_lexicon(LINES * 3, translator.tokenizer)
    torch.manual_seed(0)
    lost = replace(
        translator.bundle, model=type(translator.bundle.model)(translator.bundle.config, 360, 360, True).eval()
    )
    blind = Translator(lost, lexicon=lexicon)
    blind.rule_system = by_rules
    said = blind.translate(["The black cat sleeps."], steer=0.95)[0].text
    assert set(said.split()) & {"Le", "chat", "noir", "dort."}
    ruled = blind.translate(["The black cat sleeps.", "cat black The"], rules=0.999)
    assert ruled[0].text == "Le chat noir dort."
    assert ruled[1].text == blind.translate(["cat black The"])[0].text


def test_steering_does_not_depend_on_the_batch(translator: Translator) -> None:
    able = Translator(translator.bundle, lexicon=learn_lexicon(LINES, translator.tokenizer))
    able.rule_system = by_rules
    lines = [s for s, _ in LINES] + ["Cat", "sleeps dog the and eats a cat"]
    alone = [able.translate([line], steer=0.4, rules=0.2)[0].text for line in lines]
    assert [t.text for t in able.translate(lines, steer=0.4, rules=0.2)] == alone


def test_off_is_off(translator: Translator) -> None:
    able = Translator(translator.bundle, lexicon=learn_lexicon(LINES, translator.tokenizer))
    lines = [s for s, _ in LINES] + ["Cat", "eats a cat"]
    assert able.translate(lines, nbest=3, steer=0.0, rules=0.0) == translator.translate(lines, nbest=3)


def test_weights_are_checked(translator: Translator) -> None:
    for weights in ({"steer": 1.0}, {"steer": -0.1}, {"rules": 2.0}, {"rules": float("nan")}):
        with pytest.raises(InputError, match="from 0"):
            translator.translate(["x"], **weights)
    with pytest.raises(InputError, match="regard lexicon"):
        Translator(translator.bundle).translate(["x"], steer=0.2)
