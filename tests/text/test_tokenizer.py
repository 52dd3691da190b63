"""Text to ids and back: nothing is lost, whatever the text holds."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.errors import BundleError, InputError, RecipeError
from regard.text.pieces import nfc, nfc_origins, pretokenize
from regard.text.tokenizer import SPECIALS, TextConfig, Tokenizer
from regard.text.vocabulary import BYTES

Sentences = Callable[[], Iterator[tuple[str, str]]]
NASTY = [
    "",
    " ",
    "  two  spaces  ",
    "\ttab\t",
    "a\0b",
    "\u2028\u2029\x85\x0b",
    "▁",
    "▁▁ ▁",
    "<s></s><pad><unk>",
    "<0x41>",
    "😀👩‍👩‍👧",
    "\ue000\uf8f0\uf8f1\uf8f2▁\uf8f0",
    "\uf8f0\uf8f2",
    "e\u0301 \u1100\u1161\u11a8 \u212b",
    "\n\r\n",
    "\U0010ffff\ufffe\ufffd",
    "....!!??--''’’l'l'l'",
]
DRESSED = st.lists(st.sampled_from(NASTY) | st.text(max_size=8), max_size=5).map("".join)


@given(st.text() | DRESSED)
@example("".join(NASTY))
def test_every_string_comes_back(bpe: Tokenizer, text: str) -> None:
    expected = unicodedata.normalize("NFC", text)
    assert bpe.decode(bpe.encode_target([text])[0]) == expected
    assert bpe.decode_source(bpe.encode_source([text])[0]) == expected


@given(DRESSED, st.integers(0, 9))
def test_dropout_cuts_otherwise_but_loses_nothing(bpe: Tokenizer, text: str, seed: int) -> None:
    dropped = with_dropout(bpe, 0.5).encode_target([text], random.Random(seed))
    assert bpe.decode(dropped[0]) == nfc(text)
    assert len(dropped[0]) >= len(bpe.encode_target([text])[0])
    assert dropped == with_dropout(bpe, 0.5).encode_target([text], random.Random(seed))


def with_dropout(tokenizer: Tokenizer, dropout: float) -> Tokenizer:
    config = dataclasses.replace(tokenizer.config, bpe_dropout=dropout)
    return Tokenizer(tokenizer.source, tokenizer.target, config)


def test_dropout_needs_a_generator_and_a_chance(bpe: Tokenizer) -> None:
    plain = bpe.encode_source(["The cat sees the garden."])
    assert with_dropout(bpe, 0.9).encode_source(["The cat sees the garden."]) == plain
    assert bpe.encode_source(["The cat sees the garden."], random.Random(0)) == plain
    assert with_dropout(bpe, 0.9).encode_source(["The cat sees the garden."], random.Random(0)) != plain


@given(st.text() | DRESSED)
def test_target_pieces_cover_the_text(bpe: Tokenizer, text: str) -> None:
    """Spans go forward, and what lies outside all of them is single spaces before words."""
    ids = bpe.encode_target([text])[0]
    whole, spans = bpe.decode(ids), bpe.target_pieces(ids)
    assert len(spans) == len(ids)
    assert all(0 <= a <= b <= len(whole) for a, b in spans)
    assert all(a <= c and b <= d for (a, b), (c, d) in itertools.pairwise(spans))
    covered = {i for a, b in spans for i in range(a, b)}
    assert {whole[i] for i in range(len(whole)) if i not in covered} <= {" "}


def test_target_pieces_of_words_and_bytes(bpe: Tokenizer) -> None:
    text = "Le chat, l'arbre 😀."
    ids = bpe.encode_target([text])[0]
    found = [text[a:b] for a, b in bpe.target_pieces(ids)]
    assert found.count("😀") == 4  # one for each byte
    assert [w for w in found if w != "😀"] == ["Le", "chat", ",", "l'", "arbre", " ", "."]
    framed = bpe.target_pieces([1, *ids, 2, 0])
    assert framed[0] == (0, 0)
    assert framed[1:-2] == bpe.target_pieces(ids)
    assert framed[-1] == framed[-2] == (len(text), len(text))


@given(st.text() | DRESSED)
def test_source_tokens_stand_in_the_text_as_given(bpe: Tokenizer, text: str) -> None:
    tokens = bpe.source_tokens(text)
    assert [bpe.source.ids[t.text] for t in tokens] == bpe.encode_source([text])[0]
    assert all(0 <= t.start <= t.end <= len(text) for t in tokens)
    covered = {i for t in tokens for i in range(t.start, t.end)}
    assert {text[i] for i in range(len(text)) if i not in covered} <= {" "}


def test_source_tokens_of_decomposed_text(bpe: Tokenizer) -> None:
    text = "a traverse\u0301 le"
    token = bpe.source_tokens(text)[1]
    assert (token.text, text[token.start : token.end]) == ("▁traversé", "traverse\u0301")


@given(st.text())
def test_origins_follow_composition(text: str) -> None:
    origins, composed = nfc_origins(text), nfc(text)
    assert len(origins) == len(composed)
    assert all(nfc(text[a:b]).find(c) >= 0 for c, (a, b) in zip(composed, origins, strict=True))


def test_cuts_no_vocabulary_can_undo(bpe: Tokenizer) -> None:
    pieces = [t.text for t in bpe.source_tokens("Le chat voit l'homme, numéro 67 !")]
    assert {"l'", "homme", "▁l'", "."} & set(pieces)
    for text in ("Le chat voit l'homme.", "The dog doesn't see 1234.", "Qu’il…"):
        for word in pretokenize("▁" + text.replace(" ", "▁")):
            assert word.strip("▁").isalpha() or len(set(word.strip("▁"))) == 1 or word[-1] in "'’" or word == "'t"


def test_literal_specials_are_text(bpe: Tokenizer) -> None:
    ids = bpe.encode_source(["<s></s><pad>"])[0]
    assert not {0, 1, 2} & set(ids)
    assert bpe.decode([1, *ids, 2, 0, 0]) == "<s></s><pad>"


def test_specials_are_those_of_a_batch() -> None:
    from regard.batch import BOS, EOS, PAD

    assert [SPECIALS[PAD], SPECIALS[BOS], SPECIALS[EOS]] == ["<pad>", "<s>", "</s>"]


def test_bytes_that_make_no_character_are_shown_as_such(bpe: Tokenizer) -> None:
    broken = [bpe.target.ids["<0xF0>"], bpe.target.ids["<0x9F>"], *bpe.encode_target(["chat"])[0]]
    assert bpe.decode(broken) == "\ufffd\ufffd chat"
    assert bpe.target_pieces(broken)[:2] == [(0, 1), (1, 2)]


def test_lone_surrogates_are_refused(bpe: Tokenizer) -> None:
    with pytest.raises(InputError, match=r"lone surrogate \(U\+D800 at character 3\).*UTF-8"):
        bpe.encode_source(["fine", "ab\ud800"])


def test_words_know_what_they_know(words: Tokenizer) -> None:
    assert words.unknown == 3
    assert words.source is not words.target
    text = "Le chat voit l'homme."
    assert words.decode(words.encode_target([text])[0]) == text.replace(".", " <unk>")  # French here ends in " !"
    assert words.decode(words.encode_target(["Le chat voit l'homme !"])[0]) == "Le chat voit l'homme !"
    tokens = words.source_tokens("The  zebra sees <unk>.")
    assert [t.text for t in tokens] == ["▁The", "<unk>", "<unk>", "▁sees", "<unk>", "<unk>", "<unk>", "."]
    assert ("<unk>", 5, 10) in tokens  # zebra
    assert words.longest_piece is None


@pytest.mark.parametrize(
    "config",
    [
        TextConfig(vocab_size=350),
        TextConfig(vocab_size=350, joint=False),
        TextConfig(unit="word", vocab_size=50),
        TextConfig(unit="character", vocab_size=350),
    ],
)
def test_files(config: TextConfig, sentences: Sentences, tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(sentences, config)
    assert tokenizer.source_size <= config.vocab_size
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.config == config
    assert again.fingerprint == tokenizer.fingerprint == Tokenizer.train(sentences, config).fingerprint
    assert (again.source is again.target) == config.joint
    for side in ("encode_source", "encode_target"):
        assert getattr(again, side)(["Le chat, the cat 😀"]) == getattr(tokenizer, side)(["Le chat, the cat 😀"])


def test_fingerprint_is_of_the_ids(bpe: Tokenizer, sentences: Sentences) -> None:
    assert with_dropout(bpe, 0.1).fingerprint == bpe.fingerprint
    assert Tokenizer.train(sentences, TextConfig(vocab_size=320)).fingerprint != bpe.fingerprint


def test_rare_characters_are_spelled_in_bytes() -> None:
    texts = [("the cat " * 20, "le chat " * 20)] * 300 + [("Ω", "ж")]
    tokenizer = Tokenizer.train(lambda: iter(texts), TextConfig(vocab_size=300))
    assert "Ω" not in tokenizer.source.ids
    assert tokenizer.decode(tokenizer.encode_target(["Ω ж"])[0]) == "Ω ж"


@given(st.text(max_size=30))
def test_a_character_is_a_piece(text: str) -> None:
    characters = Tokenizer.train(lambda: iter([("the cat", "le chat")]), TextConfig(unit="character", vocab_size=300))
    ids = characters.encode_target([text])[0]
    assert characters.decode(ids) == nfc(text)
    pieces = [characters.target.pieces[i] for i in ids]
    assert all(len(piece) == 1 or piece in BYTES for piece in pieces)


def test_the_most_frequent_characters_are_pieces() -> None:
    texts = [("the cat ", "le chat ")] * 9
    full = Tokenizer.train(lambda: iter(texts), TextConfig(unit="character", vocab_size=400))
    start = len(SPECIALS) + len(BYTES)
    assert sorted(full.target.pieces[start:]) == sorted(set("thecatl▁"))  # fewer than allowed: no merge fills it up


def test_no_text_no_vocabulary() -> None:
    with pytest.raises(InputError, match="no text to learn a vocabulary from: 2 pairs were read and all are empty"):
        Tokenizer.train(lambda: iter([("", ""), ("", "")]), TextConfig())


def test_damaged_files(bpe: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(BundleError, match="is missing"):
        Tokenizer.load(path)
    bpe.save(path)
    whole = path.read_text()
    for damaged in ("", whole[: len(whole) // 2], "[]", '{"format": 99}', '{"format": 1}', "\0\0"):
        path.write_text(damaged)
        with pytest.raises(BundleError, match=r"tokenizer\.json (cannot be read|is not a tokenizer|is damaged)"):
            Tokenizer.load(path)
    swapped = json.loads(whole)
    swapped["source"]["pieces"][0] = "x"
    path.write_text(json.dumps(swapped))
    with pytest.raises(BundleError, match="specials are not in their places"):
        Tokenizer.load(path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"vocab_size": 100}, "vocab_size must be at least 300"),
        ({"bpe_dropout": 1.5}, r"bpe_dropout must be in \[0, 1\)"),
        ({"unit": "word", "bpe_dropout": 0.1}, "unit word has no merges"),
    ],
)
def test_impossible_settings(values: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        TextConfig(**values)  # type: ignore[arg-type]


def test_text_needs_no_torch() -> None:
    code = "import sys, regard.text.tokenizer, regard.data.corpus; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("unit", ["bpe", "word"])
@pytest.mark.parametrize("joint", [True, False])
def test_tags_are_pieces_that_no_text_spells(sentences: Sentences, tmp_path: Path, unit: Any, joint: bool) -> None:
    spelled = [
        *sentences(),
        *[("<bt> <2fr> a", "<bt> <2fr> b")] * 50,
    ]  # frequent in the text, and words of it all the same
    plain = Tokenizer.train(lambda: iter(spelled), TextConfig(unit=unit, vocab_size=500, joint=joint))
    config = TextConfig(unit=unit, vocab_size=500, joint=joint, tags=("<bt>", "<2fr>"))
    tagged = Tokenizer.train(lambda: iter(spelled), config)
    assert tagged.source_size == plain.source_size + 2
    texts = ["<bt> the cat", "<2fr>", "a<bt>", "bt"]
    assert tagged.encode_source(texts) == plain.encode_source(texts)
    ids = tagged.tag_ids("<2fr>")
    assert ids == [tagged.source_size - 1]
    assert tagged.tag_ids(None) == []
    assert tagged.decode_source([*ids, *tagged.encode_source(["the cat"])[0]]) == plain.decode_source(
        plain.encode_source(["the cat"])[0]
    )
    with pytest.raises(InputError, match=r'unknown tag "<2fe>"; did you mean "<2fr>"\?'):
        tagged.tag_ids("<2fe>")
    with pytest.raises(InputError, match="this vocabulary has none"):
        plain.tag_ids("<bt>")
    tagged.save(tmp_path / "t.json")
    again = Tokenizer.load(tmp_path / "t.json")
    assert (again.config, again.fingerprint) == (config, tagged.fingerprint)
    assert again.fingerprint != plain.fingerprint
    assert again.decode_source(ids) == ""

    marked = tagged.marked("<2fr>")  # what stands before every source, and nothing else, is another
    assert marked.encode_source(texts) == [[*ids, *row] for row in tagged.encode_source(texts)]
    assert marked.encode_target(texts) == tagged.encode_target(texts)
    for text in (*texts, ""):
        assert marked.source_tokens(text) == [("<2fr>", 0, 0), *tagged.source_tokens(text)]
    assert (marked.mark_ids, tagged.mark_ids) == (ids, [])
    assert marked.plain.encode_source(texts) == tagged.encode_source(texts)
    assert marked.plain.fingerprint == tagged.fingerprint != marked.fingerprint
    assert marked.as_dict() == tagged.as_dict()
    for again_tag in ("<2fr>", "<bt>"):
        with pytest.raises(InputError, match=f'the tag "{again_tag}" is given, but this model has its tag already'):
            marked.marked(again_tag)
    with pytest.raises(InputError, match="unknown tag"):
        tagged.marked("<2fe>")


@pytest.mark.parametrize("tag", ["bt", "<s>", "<0x41>", "<a b>", "<>", "<unk>"])
def test_what_is_no_tag(tag: str) -> None:
    with pytest.raises(RecipeError, match="a tag must look like <news>"):
        TextConfig(tags=(tag,))
    with pytest.raises(RecipeError, match="names a tag twice"):
        TextConfig(tags=("<a>", "<a>"))
