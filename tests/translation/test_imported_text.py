"""The text side of an imported multilingual model: tags, glossary, what must survive, unknown characters. The model has
the vocabulary files of Marian and was trained from random weights, as fine-tuning trains: into French after >>fra<<,
and to repeat the English after >>eng<<."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import regard
from pieces_files import write_vocabulary
from regard.bundle.bundle import Bundle
from regard.bundle.pack import PackOptions, pack_bundle
from regard.errors import InputError
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.text.glossary import Glossary
from regard.text.marian_vocabulary import read_marian_tokenizer
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator
from support import LINES, TINY

TAGS = (">>fra<<", ">>eng<<")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    tokenizer = read_marian_tokenizer(write_vocabulary(folder / "files", tags=TAGS))
    torch.manual_seed(1)
    config = TransformerConfig(**TINY)  # type: ignore[arg-type]
    model = make_model("transformer", config, tokenizer)
    card = {"languages": ["en", None]}
    Bundle("transformer", config, model, tokenizer, card).save(folder / "bundle")
    pairs = [(f">>fra<< {s}", t) for s, t in LINES] + [(f">>eng<< {s}", s) for s, _ in LINES]
    (folder / "train.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs * 4), encoding="utf-8")
    tables = {
        "data": {"pairs": str(folder / "train.tsv"), "dev_size": 0},
        "train": {
            "steps": 160, "batch_tokens": 1500, "learning_rate": 5e-3, "warmup": 20, "device": "cpu",
            "start_from": str(folder / "bundle"),
        },
    }  # fmt: skip
    regard.train(tables, folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def translator(run: Path) -> Translator:
    return regard.load(run, device="cpu")


@pytest.mark.long
def test_training_takes_the_vocabulary_of_its_start(run: Path) -> None:
    tokenizer = Tokenizer.load(run / "tokenizer.json")
    assert tokenizer.config.unit == "sentencepiece"
    assert tokenizer.config.tags == TAGS


@pytest.mark.parametrize("tag", [">>fra<<", "fra", "fr"])
def test_a_tag_says_the_language(translator: Translator, tag: str) -> None:
    sources = [source for source, _ in LINES]
    assert [one.text for one in translator.translate(sources, tag=tag)] == [target for _, target in LINES]
    assert [one.text for one in translator.translate(sources, tag="eng")] == sources


def test_each_text_may_begin_with_its_tag(translator: Translator) -> None:
    found = translator.translate([">>fra<< The cat sleeps.", ">>eng<<The cat sleeps.", "The cat sleeps."], tag="fr")
    assert [one.text for one in found] == ["Le chat dort.", "The cat sleeps.", "Le chat dort."]
    assert found[0].source == "The cat sleeps."


def test_without_a_tag_the_error_names_them(translator: Translator) -> None:
    for call in (translator.translate, translator.explain, lambda text: translator.score(text, text)):
        with pytest.raises(
            InputError, match=r"give the tag of one, or begin the text .*; the model has >>fra<<, >>eng<<"
        ):
            call("The cat sleeps.")
    with pytest.raises(InputError, match='unknown tag "deu"; the model has >>fra<<, >>eng<<'):
        translator.translate("The cat sleeps.", tag="deu")
    assert translator.translate("The cat sleeps.", tag="").text  # the model as it is, without one


def test_an_explanation_is_of_the_tag_that_begins_the_text(translator: Translator) -> None:
    found = [translator.explain(f"{tag} The cat sleeps.") for tag in TAGS]
    assert [one.translation for one in found] == ["Le chat dort.", "The cat sleeps."]
    assert [one.text for one in found] == ["The cat sleeps."] * 2
    assert found[0].trace.source_pieces[0] == ">>fra<<"
    assert found[0].grid().columns == ("The", "cat", "sleeps", ".")


def test_a_model_may_be_packed_with_a_tag(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run.parent / "bundle", tmp_path / "all")
    pack_bundle(tmp_path / "all", tmp_path / "fr", PackOptions("float32", tag="fr", beside=tmp_path / "all"))
    packed = regard.load(tmp_path / "fr", device="cpu")
    assert (packed.bundle.tag, packed.bundle.languages) == (">>fra<<", ("en", "fr"))
    assert packed.explain("The cat sleeps.").trace.source_pieces[0] == ">>fra<<"
    assert {path.name for path in (tmp_path / "fr").iterdir()} == {"config.json", "card.json"}


def test_the_languages_are_those_of_the_tag(translator: Translator) -> None:
    assert translator.languages("fra") == ("en", "fr")
    assert translator.languages() == ("en", None)
    bundle = replace(translator.bundle, tokenizer=translator.tokenizer.marked("fr"))
    assert (bundle.tag, bundle.languages) == (">>fra<<", ("en", "fr"))


def test_a_glossary_is_kept_to(translator: Translator) -> None:
    terms = Glossary.of({"cat": "tapis"})
    found = translator.translate("The black cat sleeps.", tag="fr", glossary=terms)
    assert "tapis" in found.text


def test_a_number_survives_where_the_pieces_can_spell_it(translator: Translator) -> None:
    digits = [str(d) for d in range(10) if str(d) in translator.tokenizer.target.ids]
    if digits:
        number = "".join(digits[:2])
        assert number in translator.translate(f"The cat sees {number} dogs.", tag="fr").text


def test_what_the_pieces_cannot_spell_is_said_to_be_missing(translator: Translator) -> None:
    found = translator.translate("The cat sees 987654 dogs.", tag="fr")
    assert "987654" in found.text or any(one.status == "missing" for one in found.protected)


def test_unknown_characters_are_copied(translator: Translator) -> None:
    found = translator.translate("The cat sees 中国.", tag="fr", unknown="copy", protect=False, guard=False)
    assert "<unk>" not in found.text
