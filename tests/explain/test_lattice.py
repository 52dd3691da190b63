"""The lattice of a beam search: it is the search's own, whole, and says why."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

from regard.batch import EOS, pad_sources
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.lattice import START, Lattice, NodeFate, as_dict, lattice, path_to
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.search.engine import Hypothesis
from regard.search.search import beam_search, greedy
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1, tie="none")
SOURCE = "The black cat sees me."


def replayed(lattice: Lattice) -> list[Hypothesis]:
    """The n-best list made again from the nodes alone."""
    found = []
    ends = [number for number, node in enumerate(lattice.nodes) if node.fate in ("finished", "cut off")]
    for end in sorted(ends, key=lambda number: -lattice.nodes[number].score):
        path = [lattice.nodes[number] for number in path_to(lattice.nodes, end)]
        ids = tuple(node.token for node in path if node.token != EOS)
        found.append(Hypothesis(ids, tuple(node.log_prob for node in path), lattice.nodes[end].score))
    return found


def restless(tokenizer: Tokenizer, seed: int, ends: float) -> Bundle:
    """A model of chance that changes its mind; the end has about `ends` as its logit at every step."""
    torch.manual_seed(seed)
    model = make_model("transformer", SMALL, tokenizer)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    bias = model.decoder_norm.bias.data
    model.output.weight.data[EOS] = ends * bias / bias.square().sum()
    return Bundle("transformer", SMALL, model.eval(), tokenizer)


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_replaying_what_was_kept_gives_the_searchs_own_list(tokenizer: Tokenizer, seed: int, beam: int) -> None:
    bundle = restless(tokenizer, seed, ends=3.0)
    found = lattice(bundle, SOURCE, beam, 0.6, guard=False)
    src, mask = pad_sources(tokenizer.encode_source([SOURCE]))
    (expected,) = beam_search(bundle.model, src, mask, beam, 0.6)
    again = replayed(found)
    assert [h.ids for h in again] == [h.ids for h in expected]
    assert [h.score for h in again] == pytest.approx([h.score for h in expected], abs=1e-6)
    for one, other in zip(again, expected, strict=True):
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-6)
    assert [entry.text for entry in found.nbest] == [tokenizer.decode(h.ids) for h in expected]
    if beam == 1:
        (plain,) = greedy(bundle.model, src, mask)
        assert again[0].ids == plain.ids
        assert again[0].log_probs == pytest.approx(plain.log_probs, abs=1e-6)


def test_every_node_says_what_became_of_it(tokenizer: Tokenizer) -> None:
    seen = set()
    for seed in range(24):
        found = lattice(restless(tokenizer, seed, ends=4.0), SOURCE, 3, 1.5, guard=False)
        for node in found.nodes:
            seen.add(node.fate)
            parent = found.nodes[node.parent] if node.parent != START else None
            assert node.step == (1 if parent is None else parent.step + 1)
            assert node.total == pytest.approx((parent.total if parent else 0.0) + node.log_prob)
            assert parent is None or parent.fate == "kept"
            assert node.reason
            assert (node.rank is not None) == (node.fate in ("finished", "cut off"))
        assert [found.nodes[n].leads_to for n in found.nbest[0].nodes] == [1] * len(found.nbest[0].nodes)
        for step in range(1, found.steps + 1):
            assert len([n for n in found.at(step) if found.nodes[n].fate in ("kept", "abandoned")]) <= 3
            assert len(found.at(step)) <= 6
    assert seen == set(get_args(NodeFate))


def test_what_never_ends_is_cut_off(tokenizer: Tokenizer) -> None:
    found = lattice(restless(tokenizer, 3, ends=-60.0), "The cat", 2, 0.6, guard=False)
    assert found.ending == "the length limit was reached"
    assert [node.fate for node in found.nodes if node.rank] == ["cut off", "cut off"]
    assert len(found.nbest) == 2
    assert [h.ids for h in replayed(found)] == [tuple(found.nodes[n].token for n in e.nodes) for e in found.nbest]


def test_it_is_what_the_translator_finds(translator: Translator) -> None:
    found = lattice(translator.bundle, "The black cat sleeps.")
    expected = translator.translate(["The black cat sleeps."], nbest=translator.config.beam)[0]
    assert [entry.text for entry in found.nbest] == [c.text for c in expected.candidates]
    data = as_dict(found)
    assert data["nodes"][0]["node"] == 0
    assert data["nbest"][0]["text"] == expected.text


def test_no_text_is_refused(translator: Translator) -> None:
    with pytest.raises(InputError, match="the text is empty"):
        lattice(translator.bundle, "")
