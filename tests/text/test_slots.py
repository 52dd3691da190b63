"""Slots: one character in a text, one id in every BPE vocabulary, and nothing else changes."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.pieces import ESCAPE, ONE, SPACE, ZERO, nfc
from regard.text.slots import SLOT, SLOTS, fill, slots_in, without_slots
from regard.text.tokenizer import TextConfig, Tokenizer

Sentences = Callable[[], Iterator[tuple[str, str]]]
ODD = st.sampled_from(
    [*SLOTS, SPACE, ESCAPE, ZERO, ONE, " ", "  ", "le chat", "l'", "'s", "é", "e\u0301", "😀", "7", "."]
)
SLOTTED = st.lists(ODD | st.text(max_size=4), max_size=12).map("".join)


def test_eleven_characters_that_are_no_escapes() -> None:
    assert len(set(SLOTS)) == 11
    assert not set(SLOTS) & {ESCAPE, ZERO, ONE}
    assert all(SLOT.fullmatch(slot) for slot in SLOTS)
    for other in (chr(ord(SLOTS[0]) - 1), chr(ord(SLOTS[-1]) + 1)):
        assert not SLOT.search(other)


def test_ids_are_those_of_bytes_that_no_text_has(bpe: Tokenizer) -> None:
    assert bpe.slot_ids == tuple(bpe.target.ids[f"<0x{byte:02X}>"] for byte in range(0xF5, 0x100))
    assert bpe.encode_source([SLOTS[4]])[0][-1] == bpe.slot_ids[4]
    space = bpe.encode_target([" "])[0][-1]
    assert bpe.encode_target([f"chat {SLOTS[0]}."])[0] == [
        *bpe.encode_target(["chat"])[0],
        space,
        bpe.slot_ids[0],
        *bpe.encode_target(["."])[0][1:],  # without the ▁ of its own beginning
    ]
    assert [bpe.decode([i]) for i in bpe.slot_ids] == list(SLOTS)


@given(SLOTTED)
def test_every_string_comes_back(bpe: Tokenizer, text: str) -> None:
    for encode, decode in ((bpe.encode_target, bpe.decode), (bpe.encode_source, bpe.decode_source)):
        (ids,) = encode([text])
        assert decode(ids) == nfc(text)
        assert [SLOTS[bpe.slot_ids.index(i)] for i in ids if i in bpe.slot_ids] == slots_in(text)


@given(SLOTTED, st.integers(0, 9))
def test_dropout_keeps_them(bpe: Tokenizer, text: str, seed: int) -> None:
    dropping = Tokenizer(bpe.source, bpe.target, dataclasses.replace(bpe.config, bpe_dropout=0.5))
    (ids,) = dropping.encode_target([text], random.Random(seed))
    assert bpe.decode(ids) == nfc(text)
    assert sum(i in bpe.slot_ids for i in ids) == len(slots_in(text))


@given(st.lists(SLOTTED, max_size=5))
def test_many_at_once_are_one_by_one(bpe: Tokenizer, texts: list[str]) -> None:
    assert bpe.encode_source(texts) == [bpe.encode_source([text])[0] for text in texts]


@given(SLOTTED)
def test_spans(bpe: Tokenizer, text: str) -> None:
    whole = nfc(text)
    (ids,) = bpe.encode_target([text])
    for i, (start, end) in zip(ids, bpe.target_pieces(ids), strict=True):
        if i in bpe.slot_ids:
            assert whole[start:end] == SLOTS[bpe.slot_ids.index(i)]
    tokens = bpe.source_tokens(text)
    assert [bpe.source.ids[token.text] for token in tokens] == bpe.encode_source([text])[0]
    found = [text[t.start : t.end] for t in tokens if bpe.source.ids[t.text] in bpe.slot_ids]
    assert found == slots_in(text)


@given(st.lists(st.integers(3, 399), max_size=30))
def test_whatever_a_model_says_can_be_read(bpe: Tokenizer, ids: list[int]) -> None:
    ids = [i for i in ids if i < bpe.target_size]
    text = bpe.decode(ids)
    spelled = [SLOTS[bpe.slot_ids.index(i)] for i in ids if i in bpe.slot_ids]
    assert slots_in(text) == spelled
    spans = bpe.target_pieces(ids)
    assert [text[a:b] for i, (a, b) in zip(ids, spans, strict=True) if i in bpe.slot_ids] == spelled


def test_other_broken_bytes_are_still_said_to_be_broken(bpe: Tokenizer) -> None:
    assert (
        bpe.decode([bpe.target.ids["<0xF4>"], bpe.slot_ids[10], bpe.target.ids["<0x80>"]]) == f"\ufffd{SLOTS[10]}\ufffd"
    )


def test_whole_words_have_none(words: Tokenizer) -> None:
    assert words.slot_ids == ()
    assert words.encode_source([f"cat {SLOTS[0]}"])[0][-1] == words.unknown
    assert len(words.source_tokens(f"cat {SLOTS[0]}")) == 2


@pytest.mark.parametrize("unit", ["bpe", "word"])
def test_a_vocabulary_is_learnt_without_them(sentences: Sentences, unit: str) -> None:
    config = TextConfig(unit=unit, vocab_size=400)  # type: ignore[arg-type]
    plain = Tokenizer.train(sentences, config)
    slotted = Tokenizer.train(lambda: ((f"{s}{SLOTS[2]}", f"{SLOTS[3]}{t}") for s, t in sentences()), config)
    assert slotted.fingerprint == plain.fingerprint


def test_a_text_is_filled() -> None:
    text = f"{SLOTS[1]}, {SLOTS[0]} et {SLOTS[1]}{SLOTS[5]}"
    assert fill(text, ["a", "b"]) == f"b, a et b{SLOTS[5]}"
    assert fill("rien", []) == without_slots("rien") == "rien"
    assert without_slots(text) == ",  et "
    assert fill(SLOTS[0], [SLOTS[1]]) == SLOTS[1]  # what is filled in is not read again


def test_a_long_text_of_slots_ends_soon(bpe: Tokenizer) -> None:
    text = SLOTS[0] * 200_000
    (ids,) = bpe.encode_source([text])
    assert len(ids) == 200_001
    assert bpe.decode_source(ids) == text
