"""The vocabulary of an imported model: order of ids, spans, files, and what can be wrong with them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from pieces_files import grammar_lines, pieces_of, trained, write_vocabulary
from regard.errors import BundleError, InputError, RecipeError
from regard.text.marian_vocabulary import marian_files, read_marian_tokenizer
from regard.text.sentencepiece import SentencePieceVocabulary, imported_order
from regard.text.tokenizer import TextConfig, Tokenizer

TAGS = (">>fra<<", ">>deu<<")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return read_marian_tokenizer(write_vocabulary(tmp_path_factory.mktemp("files"), request.param, tags=TAGS))


@given(st.integers(2, 40), st.data())
def test_every_imported_id_has_one_place(size: int, data: st.DataObject) -> None:
    pad, eos = data.draw(st.permutations(range(size)))[:2]
    order = imported_order(size, pad, eos)
    assert order[:3] == [None, pad, eos]
    assert sorted(i for i in order if i is not None) == list(range(size))


def test_specials_come_first_and_unknown_pieces_are_unk(imported: Tokenizer) -> None:
    assert imported.target.pieces[:4] == ["<pad>", "<s>", "</s>", "<unk>"]
    assert imported.unknown == 3
    assert imported.slot_ids == ()
    assert imported.longest_piece is None
    assert 3 in imported.encode_source(["中"])[0]
    assert imported.decode([3]) == "<unk>"


def test_a_special_in_a_text_is_text(imported: Tokenizer) -> None:
    (ids,) = imported.encode_source(["a </s> <pad> b"])
    assert not {0, 1, 2} & {*ids}


def test_a_special_that_is_one_unknown_stretch_is_unknown() -> None:
    """A model of Chinese knows no Latin letters, and gives "</s>" back in one piece."""
    out = io.BytesIO()
    lines = ["我看见一只猫", "猫在家里", "我在家里看见猫"] * 30
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, vocab_size=20, hard_vocab_limit=False, minloglevel=2
    )
    pieces = ["</s>", "<unk>", ">>fra<<", "<s>", *pieces_of(out.getvalue()), "<pad>"]
    ids = {piece: i for i, piece in enumerate(pieces)}
    vocabulary = SentencePieceVocabulary.imported(out.getvalue(), ids)
    assert len(set(vocabulary.pieces)) == len(vocabulary.pieces)
    assert vocabulary.imported_ids == ids
    for text in ("</s>", "<s>", "<pad>", "猫</s>", "猫>>fra<<"):
        assert vocabulary.unknown in vocabulary.encode([text])[0]
        assert not {0, 1, 2, vocabulary.ids[">>fra<<"]} & {*vocabulary.encode([text])[0]}
        assert [token.text for token in vocabulary.tokens(text)][-1] == "<unk>"


def test_what_only_the_other_language_knows_is_known(tmp_path: Path) -> None:
    """vocab.json is of both languages: é, which the English model lacks, has the id of the French é."""
    tokenizer = read_marian_tokenizer(write_vocabulary(tmp_path))
    assert tokenizer.source.pieces[tokenizer.encode_source(["é"])[0][-1]] == "é"


def test_a_tag_is_one_id_and_other_words_between_brackets_are_text(imported: Tokenizer) -> None:
    plain, tagged, other = imported.encode_source(["cat", ">>fra<< cat", ">>xyz<< cat"])
    assert tagged == [imported.source.ids[">>fra<<"], *plain]
    assert len(other) > len(tagged)
    assert imported.source_tokens(">>fra<< cat")[0] == (">>fra<<", 0, 7)
    assert imported.marked(">>deu<<").encode_source(["cat"]) == [[imported.source.ids[">>deu<<"], *plain]]


def test_spans_of_a_sentence(imported: Tokenizer) -> None:
    text = "The  black\tcats, ½ ﬁn!"
    tokens = imported.source_tokens(text)
    assert len(tokens) == len(imported.encode_source([text])[0])
    covered = [text[token.start : token.end] for token in tokens]
    assert "".join(covered).replace(" ", "").replace("\t", "").startswith("Theblackcats,½")
    for token, part in zip(tokens, covered, strict=True):
        piece = token.text.lstrip("▁")
        assert token.text == "<unk>" or not piece or piece in unicodedata.normalize("NFKC", part)


@given(text=TEXTS)
def test_spans_are_in_order_and_inside_the_text(imported: Tokenizer, text: str) -> None:
    (ids,) = imported.encode_source([text])
    tokens = imported.source_tokens(text)
    assert [token.text for token in tokens] == [imported.source.pieces[i] for i in ids]
    assert len(imported.source.spelled([text])[0]) == len(ids)
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)
    assert all(0 <= token.start <= token.end <= len(text) for token in tokens)
    covered = {at for token in tokens for at in range(token.start, token.end)}
    assert all(at in covered for at, one in enumerate(text) if one.isascii() and one.isalnum() and text[:2] != ">>")


@given(data=st.data())
def test_target_pieces_are_spans_of_the_decoded_text(imported: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, imported.target_size - 1), max_size=12))
    text, spans = imported.decode(ids), imported.target_pieces(ids)
    assert len(spans) == len(ids)
    for i, (start, end) in zip(ids, spans, strict=True):
        piece = imported.target.bytes[i].decode().replace("▁", " ")
        assert text[start:end].strip() == piece.strip()


def test_byte_fallback_of_a_model_that_has_it() -> None:
    model = trained(0, "unigram", 600, byte_fallback=True)
    pieces = ["</s>", "<unk>", *pieces_of(model), "<pad>"]
    vocabulary = SentencePieceVocabulary.imported(model, {piece: i for i, piece in enumerate(pieces)})
    (ids,) = vocabulary.encode(["a中a"])
    assert vocabulary.decode(ids) == "a中a"
    assert [(t.start, t.end) for t in vocabulary.tokens("a中a")][-4:] == [(1, 2)] * 3 + [(2, 3)]


@pytest.mark.parametrize("joint", [True, False])
def test_files_come_back_as_they_were(joint: bool, tmp_path: Path) -> None:
    folder = write_vocabulary(tmp_path / "one", tags=TAGS, joint=joint)
    tokenizer = read_marian_tokenizer(folder)
    assert tokenizer.config.joint == joint
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.fingerprint == tokenizer.fingerprint
    assert again.config == tokenizer.config
    lines = [source for source, _ in grammar_lines()[:20]]
    assert again.encode_source(lines) == tokenizer.encode_source(lines)
    assert again.encode_target(lines) == tokenizer.encode_target(lines)
    for name, content in marian_files(again).items():
        if name.endswith(".json"):
            assert json.loads(content) == json.loads((folder / name).read_text())
        else:
            assert content == (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("source.spm", None, "has no source.spm"),
        ("vocab.json", None, "has no vocab.json"),
        ("target.spm", b"no model", "is not a SentencePiece model"),
        ("target.spm", b"", "is not a SentencePiece model"),
        ("vocab.json", b"{", "is not JSON"),
        ("vocab.json", b"[1]", "must give every piece its id"),
        ("vocab.json", b'{"a": 0}', "lacks <pad>, </s>, <unk>"),
        ("vocab.json", b'{"</s>": 0, "<unk>": 1, "<pad>": 3}', "must have the ids 0 to 2, each once"),
    ],
)
def test_what_is_wrong_with_files_is_said(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    folder = write_vocabulary(tmp_path)
    (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_marian_tokenizer(folder)


def test_a_damaged_tokenizer_file(tmp_path: Path, imported: Tokenizer) -> None:
    path = tmp_path / "tokenizer.json"
    stored = imported.as_dict()
    stored["source"]["model"] = "?"
    path.write_text(json.dumps(stored))
    with pytest.raises(BundleError, match="is damaged"):
        Tokenizer.load(path)


def test_it_is_not_learnt_from_text() -> None:
    with pytest.raises(InputError, match=r"train\.start_from"):
        Tokenizer.train(lambda: iter([("a", "b")]), TextConfig("sentencepiece"))
    with pytest.raises(RecipeError, match="unit sentencepiece has no merges"):
        TextConfig("sentencepiece", bpe_dropout=0.1)


def test_half_a_character_is_refused(imported: Tokenizer) -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        imported.encode_source(["\ud800"])


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_vocabulary(tmp_path)
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(InputError, match=r"pip install 'regard\[marian\]'"):
        read_marian_tokenizer(folder)


def test_no_torch_is_imported(tmp_path: Path, imported: Tokenizer) -> None:
    imported.save(tmp_path / "tokenizer.json")
    code = (
        "import sys; from pathlib import Path; from regard.text.tokenizer import Tokenizer\n"
        f"t = Tokenizer.load(Path({str(tmp_path / 'tokenizer.json')!r})); t.decode(t.encode_source(['a cat'])[0])\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
