"""Marian folders that are read and refused. They are written by our own export; `test_marian_oracle.py` has those that
`transformers` makes."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pieces_files import grammar_lines, write_vocabulary
from regard.bundle.bundle import Bundle
from regard.bundle.marian import import_marian, read_marian
from regard.bundle.marian_tensors import PAD_BIAS
from regard.errors import InputError
from regard.export.table import export_model
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.text.marian_vocabulary import read_marian_tokenizer
from support import Call

CONFIG = TransformerConfig(
    width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2, norm="post", activation="silu", output_bias=True
)
TAG = ">>fra<<"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Marian folder, `model`, and the bundle that it was written from, `bundle`."""
    home = tmp_path_factory.mktemp("marian")
    write_vocabulary(home / "files", size=200, tags=(TAG, ">>deu<<"))
    tokenizer = read_marian_tokenizer(home / "files")
    torch.manual_seed(3)
    model = make_model("transformer", CONFIG, tokenizer)
    torch.nn.init.normal_(model.output.bias)  # type: ignore[arg-type, union-attr]
    with torch.no_grad():
        model.output.bias[0] = PAD_BIAS  # type: ignore[index, union-attr]
        model.target_embedding.weight[0] = 0  # type: ignore[index, union-attr]
    Bundle("transformer", CONFIG, model.eval(), tokenizer).save(home / "bundle")
    export_model(home / "bundle", "huggingface", home / "model")
    return home


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "model", tmp_path / "opus-mt-en-fr")
    return tmp_path / "opus-mt-en-fr"


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def change_tensor(folder: Path, name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file(tensors | {name: change(tensors[name]).contiguous()}, folder / "model.safetensors")


def test_what_was_exported_comes_back(made: Path, folder: Path, tmp_path: Path) -> None:
    before, after = Bundle.load(made / "bundle"), read_marian(folder)
    assert after.tokenizer.fingerprint == before.tokenizer.fingerprint
    own, other = before.model.state_dict(), after.model.state_dict()
    assert own.keys() == other.keys()
    assert all(torch.equal(own[name], other[name]) for name in own)
    import_marian(folder, tmp_path / "mine")
    export_model(tmp_path / "mine", "huggingface", tmp_path / "again")
    first, second = (load_file(place / "model.safetensors") for place in (folder, tmp_path / "again"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    for name in ("source.spm", "target.spm", "vocab.json"):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_an_older_pickle_is_read_as_data(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    expected = read_marian(folder).model.state_dict()
    (folder / "model.safetensors").unlink()
    found = read_marian(folder).model.state_dict()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_the_card_says_where_it_comes_from(folder: Path, tmp_path: Path, call: Call) -> None:
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\nlanguage:\n- en\n---\n# A model\n", encoding="utf-8")
    (folder / "generation_config.json").write_text('{"num_beams": 6, "length_penalty": 0.5}', encoding="utf-8")
    answer = call("import", folder, "--out", tmp_path / "mine", "--weights", "int8", "--tag", "fr")
    assert answer.code == 0, answer.err
    assert "search: beam 6, length penalty 0.5" in answer.out
    assert f"2 tags ({TAG}, >>deu<<), {TAG} before every source" in answer.out
    bundle = Bundle.load(tmp_path / "mine")
    assert (bundle.decode.beam, bundle.decode.length_penalty) == (6, 0.5)
    assert (bundle.languages, bundle.tag, bundle.weights) == (("en", "fr"), TAG, "int8")
    assert bundle.card["imported"]["licence"] == "cc-by-4.0"
    assert bundle.max_length == 1024
    told = call("info", tmp_path / "mine").out
    assert "English → French" in told
    assert "cc-by-4.0" in told
    assert call("translate", "--model", tmp_path / "mine", "The cat sleeps.").code == 0
    assert call("import", folder, "--out", tmp_path / "mine").code == 2  # it is there already


def test_everything_works_on_it(folder: Path, tmp_path: Path, call: Call) -> None:
    """As on a model that was trained here; what it says means nothing, because its weights are random."""
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n", encoding="utf-8")
    mine, pairs = tmp_path / "mine", grammar_lines()[:8]
    for side, name in enumerate(("a.en", "a.fr")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "tagged.en").write_text("".join(f"{TAG} {source}\n" for source, _ in pairs), encoding="utf-8")
    (tmp_path / "gold").write_text("0-0 1-1\n" * len(pairs), encoding="utf-8")
    files = ("--src", tmp_path / "a.en", "--tgt", tmp_path / "a.fr")
    tagged = ("--src", tmp_path / "tagged.en", *files[2:])
    for words in (
        ("import", folder, "--out", mine, "--tag", TAG),
        ("translate", "--model", mine, "--nbest", 2, pairs[0][0]),
        ("score", "--model", mine, *files),
        ("explain", "attention", "--model", mine, pairs[0][0], "--out", tmp_path / "map.svg"),
        ("align", "--model", mine, *files, "--gold", tmp_path / "gold", "--save-view"),
        ("pack", mine, "--out", tmp_path / "small"),
        ("export", mine, "--as", "ctranslate2"),
        ("train", "--start-from", mine, *tagged, "--dev-size", 2, "--steps", 2, "--out", tmp_path / "run"),
        ("export", tmp_path / "run", "--as", "huggingface", "--out", tmp_path / "back"),
        ("import", tmp_path / "back", "--out", tmp_path / "again"),
    ):
        answer = call(*words)
        assert answer.code == 0, (words[0], answer.err)
    assert Bundle.load(mine).card["attention_view"]["on"] == "gold"
    tuned, again = Bundle.load(tmp_path / "run"), Bundle.load(tmp_path / "again")
    assert tuned.card["started_from"]["imported"]["licence"] == again.card["imported"]["licence"] == "apache-2.0"
    before, after = (dict(b.model.state_dict()) for b in (Bundle.load(mine), tuned))
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.equal(tensor, after[name]) for name, tensor in again.model.state_dict().items() if "1" in name)


def delete(*names: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return change


def pickle_with_code(folder: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[Any, ...]:
            return print, ("code was run",)

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"model.shared.weight": Runs()}))


def cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def nonsense(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"not a pickle")


FIRST = "model.encoder.layers.0.fc1.weight"
REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "another class": (
        lambda f: change_config(f, model_type="m2m_100", architectures=["M2M100ForConditionalGeneration"]),
        "holds a model of the class 'M2M100ForConditionalGeneration'; what can be imported: MarianMTModel",
    ),
    "no class": (lambda f: change_config(f, model_type=None, architectures=None), "holds a model of the class None"),
    "another head": (lambda f: change_config(f, architectures=["MarianForCausalLM"]), "'MarianForCausalLM'"),
    "no config": (delete("config.json"), "has no config.json"),
    "no vocabulary": (delete("vocab.json"), "has no vocab.json"),
    "no pieces": (delete("source.spm"), "has no source.spm"),
    "no weights": (delete("model.safetensors"), "has no weights; they are in model.safetensors or pytorch_model.bin"),
    "a pickle with code": (
        pickle_with_code,
        "a pickle that wants to run code when it is opened; use model.safetensors",
    ),
    "a damaged pickle": (nonsense, "pytorch_model.bin is refused: it is damaged"),
    "cut short": (cut_short, "model.safetensors is damaged or cut short"),
    "a wrong shape": (
        lambda f: change_tensor(f, FIRST, lambda t: t[:-1]),
        f"does not fit: {FIRST} has the shape (31, 16), and config.json says (32, 16)",
    ),
    "another size": (lambda f: change_config(f, d_model=32), "does not fit"),
    "more layers": (lambda f: change_config(f, decoder_layers=3), "model.decoder.layers.2"),
    "endless layers": (
        lambda f: change_config(f, decoder_layers=10**9),
        "layers must be a whole number from 1 to 1,000",
    ),
    "other entries": (lambda f: change_config(f, vocab_size=999, decoder_vocab_size=999), "999 source"),
    "other specials": (lambda f: change_config(f, eos_token_id=1), "does not fit: <pad> is"),
    "a special that is not there": (
        lambda f: change_config(f, pad_token_id=10**6, decoder_start_token_id=10**6),
        "not two of its entries",
    ),
    "NaN": (lambda f: change_tensor(f, FIRST, lambda t: t * float("nan")), f"{FIRST} has NaN"),
    "whole numbers": (
        lambda f: change_tensor(f, FIRST, lambda t: t.long()),
        f"{FIRST} has NaN or infinite values, or is not floating",
    ),
    "a tensor too many": (
        lambda f: save_file(
            load_file(f / "model.safetensors") | {"model.encoder.layernorm_embedding.weight": torch.ones(16)},
            f / "model.safetensors",
        ),
        "layernorm_embedding.weight is not a tensor of MarianMTModel",
    ),
    "other positions": (
        lambda f: change_tensor(f, "model.encoder.embed_positions.weight", torch.zeros_like),
        "positions that are not Marian's sinusoids",
    ),
    "another activation": (lambda f: change_config(f, activation_function="tanh"), "activation 'tanh'"),
    "an uneven model": (lambda f: change_config(f, decoder_ffn_dim=64), "another ffn_dim in the encoder"),
    "an early option": (lambda f: change_config(f, normalize_before=True), "sets normalize_before"),
    "text for a number": (lambda f: change_config(f, d_model="16"), "d_model must be a whole number from 1 to"),
    "endless positions": (
        lambda f: change_config(f, max_position_embeddings=10**12),
        "max_position_embeddings must be a whole number from 1 to 1,048,576, but is 1000000000000",
    ),
    "another type": (lambda f: change_config(f, model_type="bert"), "has the model_type 'bert' in config.json"),
    "too much dropout": (lambda f: change_config(f, dropout=7.5), "dropout must be a number from 0 to 1, but is 7.5"),
    "a pipe for its card": (lambda f: os.mkfifo(f / "LICENSE"), "LICENSE is a pipe, a socket or a device"),
    "a device for its pieces": (
        lambda f: (f / "source.spm").unlink() or (f / "source.spm").symlink_to("/dev/zero"),
        "source.spm is a pipe, a socket or a device",
    ),
    "another start": (lambda f: change_config(f, decoder_start_token_id=0), "starts decoding with another token"),
    "no object": (lambda f: (f / "config.json").write_text("[1]") and None, "must hold a JSON object"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, message = REFUSED[name]
    change(folder)
    with pytest.raises(InputError) as problem:
        import_marian(folder, tmp_path / "mine")
    assert message in str(problem.value)
    assert "\n" not in str(problem.value)
    assert not capsys.readouterr().out
    assert not list(tmp_path.glob("*mine*"))


def test_a_folder_that_is_not_there(tmp_path: Path, call: Call) -> None:
    answer = call("import", tmp_path / "nowhere", "--out", tmp_path / "mine")
    assert answer.code == 2
    assert "no folder at" in answer.err
