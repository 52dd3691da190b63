"""recipes/box/vocabulary.py: a balanced vocabulary is learnt, and a model is carried over to another one."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.bundle.bundle import Bundle
from regard.models.transformer import Transformer, TransformerConfig
from regard.text.tokenizer import TextConfig, Tokenizer
from support import LINES, load_script

BOX = Path(__file__).parents[2] / "recipes" / "box"
TAGS = ("<en>", "<fr>")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(BOX))
    return load_script(BOX / "vocabulary.py")


def tokenizer_of(size: int, tags: tuple[str, ...] = TAGS) -> Tokenizer:
    return Tokenizer.train(lambda: iter(LINES), TextConfig(vocab_size=size, tags=tags))


def test_a_piece_keeps_its_embedding_or_gets_the_mean_of_those_that_spell_it(script: object) -> None:
    old, new = tokenizer_of(320), tokenizer_of(360, (*TAGS, "<fr-formal>"))
    rows = torch.randn(old.source_size, 8)
    found = script.carried(rows, old.source, new.source)  # type: ignore[attr-defined]
    assert found.shape == (new.source_size, 8)
    by_bytes = {spelling: number for number, spelling in enumerate(old.source.bytes) if spelling}
    unknown = 0
    for number, piece in enumerate(new.source.pieces):
        if piece in old.source.ids:
            torch.testing.assert_close(found[number], rows[old.source.ids[piece]])
        elif spelling := new.source.bytes[number]:
            ids = script.spelled_by(spelling, by_bytes, max(map(len, by_bytes)))  # type: ignore[attr-defined]
            assert b"".join(old.source.bytes[i] for i in ids) == spelling
            torch.testing.assert_close(found[number], rows[ids].mean(0))
            unknown += 1
    assert unknown > 10
    formal, french = new.source.ids["<fr-formal>"], old.source.ids["<fr>"]
    torch.testing.assert_close(found[formal], rows[french])


def test_a_model_carried_to_its_own_vocabulary_is_the_same(script: object, tmp_path: Path) -> None:
    tokenizer, config = (
        tokenizer_of(320),
        TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1),
    )
    model = Transformer(config, tokenizer.source_size, tokenizer.target_size, True)
    Bundle("transformer", config, model, tokenizer).save(tmp_path / "old")
    script.carry(tmp_path / "old", tmp_path / "old", tmp_path / "new")  # type: ignore[attr-defined]
    found = Bundle.load(tmp_path / "new").model.state_dict()
    for name, value in model.state_dict().items():
        torch.testing.assert_close(found[name], value, rtol=1e-3, atol=1e-3)


@pytest.mark.long
def test_learning_takes_every_source_and_both_files(tmp_path: Path) -> None:
    for name, line in (("en-fr", "debate"), ("ui-en-fr", "button")):
        (tmp_path / "data" / name).mkdir(parents=True)
        for language in ("en", "fr"):
            text = "".join(f"{line} {language} {'ab'[i % 2]}\n" for i in range(50))
            (tmp_path / "data" / name / f"train.{language}").write_text(text, encoding="utf-8")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[text]\nvocab_size = 300\ntags = ["<en>", "<fr>"]\n', encoding="utf-8")
    command = [sys.executable, BOX / "vocabulary.py", "learn", tmp_path / "data", "--recipe", recipe]
    done = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "out")], check=True, capture_output=True, text=True
    )
    assert "from 100 pairs" in done.stdout
    assert b"button" in gzip.decompress((tmp_path / "out" / "words.txt.gz").read_bytes())
    assert Tokenizer.load(tmp_path / "out" / "tokenizer.json").config.tags == ("<en>", "<fr>")
