"""Every explanation is of the translation that `translate` gives: the same mending, beam, length penalty and limits."""

from __future__ import annotations

import pytest
import torch

import regard
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.evidence import evidence
from regard.explain.front import explain
from regard.explain.lattice import lattice
from regard.explain.request import request
from regard.models.table import ARCHITECTURES, make_model
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator

ROUGH = ["PLEASE DO NOT FEED THE ANIMALS.", "😀 Where are you? #later", "The Cat Is Back on His Mat", "The cat sleeps."]


@pytest.fixture(scope="module")
def boxed() -> Translator:
    """Its recipe says to mend, and its beam is 5."""
    found = regard.load(device="cpu")
    assert found.config.mend
    return found


@pytest.mark.parametrize("text", ROUGH)
def test_all_explain_what_translate_says(boxed: Translator, text: str) -> None:
    said = boxed.translate(text)
    shown, relied, searched = explain(boxed, text), evidence(boxed, text), lattice(boxed, text)
    assert (shown.text, shown.translation) == (text, said.text)
    read = said.sentences[0].read
    assert (shown.trace.source, shown.trace.target_ids) == (read, said.candidates[0].ids)
    assert (relied.source, relied.translation) == (read, said.text)
    assert (searched.source, searched.nbest[0].text, searched.beam) == (read, said.text, 5)
    assert request(boxed, text).target_ids() == said.candidates[0].ids
    of_bundle = explain(boxed.bundle, text)
    assert of_bundle.translation == said.text


@pytest.mark.parametrize("architecture", ["rnn", "rnn-attention", "transformer"])
@pytest.mark.parametrize("beam", [1, 3])
def test_evidence_searches_with_the_beam_of_the_model(tokenizer: Tokenizer, architecture: str, beam: int) -> None:
    torch.manual_seed(1)
    config = ARCHITECTURES[architecture].presets["tiny"]
    model = make_model(architecture, config, tokenizer)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # so that other beams find other translations
    card = {"recipe": {"decode": {"beam": beam, "length_penalty": 0.0}, "data": {"max_length": 12}}}
    bundle = Bundle(architecture, config, model.eval(), tokenizer, card)
    found = evidence(bundle, "The dog sees the cat.")
    assert found.translation == Translator(bundle).translate("The dog sees the cat.").text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text is empty"),
        (" \n", "the text is empty"),
        ("12:30", '"12:30" has no words and is copied as it is'),
        ("...", "has no words"),
        ("cat " * 500, "tokens, but the model reads fewer than"),
    ],
)
def test_what_cannot_be_explained_is_one_error(boxed: Translator, text: str, message: str) -> None:
    for ask in (explain, evidence, lattice):
        with pytest.raises(InputError, match=message):
            ask(boxed, text)


def test_a_model_that_does_not_mend_reads_the_text_as_it_is(translator: Translator) -> None:
    assert not translator.config.mend
    assert explain(translator, "THE CAT SLEEPS.").trace.source == "THE CAT SLEEPS."
