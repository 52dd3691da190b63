"""A lexicon in the model's tokens: what it learns, what it leaves out, and its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from regard.bundle.folder import LEXICON
from regard.errors import BundleError, InputError, RecipeError
from regard.search.token_lexicon import LexiconConfig, TokenLexicon, learn_lexicon
from regard.text.tokenizer import TextConfig, Tokenizer
from support import LINES

RARE = [("The zebra sleeps.", "Le zèbre dort."), ("I see The cat.", "Je vois Le chat.")]


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    return Tokenizer.train(lambda: iter(LINES * 3), TextConfig(unit="word", vocab_size=60, joint=False))


@pytest.fixture(scope="module")
def lexicon(words: Tokenizer) -> TokenLexicon:
    return learn_lexicon([*LINES * 3, *RARE], words)


def test_words_are_translated_by_their_links(lexicon: TokenLexicon) -> None:
    assert {w: lexicon.best(w) for w in ("▁cat", "▁dog", "▁sleeps", "▁black")} == {
        "▁cat": "▁chat",
        "▁dog": "▁chien",
        "▁sleeps": "▁dort",
        "▁black": "▁noir",
    }
    assert lexicon.best("▁zebra") == "▁zèbre"  # spelled out, though the vocabulary lacks both
    assert lexicon.best("▁lion") is None
    assert (lexicon.best("▁The"), lexicon.best("▁the")) == ("▁Le", "▁le")  # case is kept


def test_rows_are_pruned_and_hold_no_more_than_one(words: Tokenizer, lexicon: TokenLexicon) -> None:
    for row in lexicon.entries.values():
        assert [t for _, t in row] == sorted((t for _, t in row), reverse=True)
        assert sum(t for _, t in row) <= 1.001
    few = learn_lexicon(LINES * 3, words, LexiconConfig(entries=1, least=0.5))
    assert all(len(row) == 1 and row[0][1] >= 0.5 for row in few.entries.values())
    assert few.size == len(few.entries) < lexicon.size


def test_in_ids(words: Tokenizer, lexicon: TokenLexicon) -> None:
    targets, probs = lexicon.in_ids(words)
    cat, chat = words.source.ids["▁cat"], words.target.ids["▁chat"]
    assert targets[cat, 0] == chat
    assert probs[cat, 0] == pytest.approx(dict(lexicon.entries["▁cat"])["▁chat"])
    assert torch.all(probs[:4] == 0)  # PAD, BOS, EOS, <unk>
    strange = TokenLexicon({"▁cat": [("▁matou", 0.6)]}, words.fingerprint, 1).in_ids(words)
    assert (strange.targets[cat, 0], strange.probs[cat, 0]) == (words.unknown, pytest.approx(0.6))


def test_pieces_of_bpe(tokenizer: Tokenizer) -> None:
    lexicon = learn_lexicon(LINES * 3, tokenizer)
    assert set(lexicon.entries) <= set(tokenizer.source.pieces)
    assert {target for row in lexicon.entries.values() for target, _ in row} <= set(tokenizer.target.pieces)
    assert tokenizer.source.spelled(["The cat é"])[0][0].startswith("▁")
    probs = lexicon.in_ids(tokenizer).probs
    assert probs.shape[0] == tokenizer.source_size
    assert probs.sum() > 1


def test_its_file(tmp_path: Path, words: Tokenizer, tokenizer: Tokenizer, lexicon: TokenLexicon) -> None:
    assert TokenLexicon.load(tmp_path, words) is None
    lexicon.save(tmp_path)
    again = TokenLexicon.load(tmp_path, words)
    assert again is not None
    assert (again.entries, again.pairs) == (lexicon.entries, len(LINES) * 3 + len(RARE))
    with pytest.raises(BundleError, match="tokens of another model"):
        TokenLexicon.load(tmp_path, tokenizer)
    for text in ("", "[]", "{}", json.dumps({"format": 1, "entries": {"a": 3}, "tokenizer": "", "pairs": 1})):
        (tmp_path / LEXICON).write_text(text)
        with pytest.raises(BundleError, match="learn it again"):
            TokenLexicon.load(tmp_path, words)


def test_only_some_pairs_are_read(words: Tokenizer) -> None:
    told: list[str] = []
    assert learn_lexicon(LINES * 3, words, LexiconConfig(pairs=10), told.append).pairs == 8
    assert told[0] == "reading pairs"
    assert learn_lexicon([*LINES, ("", "x"), ("x " * 101, "x")], words).pairs == len(LINES)


def test_bad_input(words: Tokenizer) -> None:
    with pytest.raises(InputError, match="words on both sides"):
        learn_lexicon([("", "")], words)
    with pytest.raises(InputError, match="words on both sides"):
        learn_lexicon([], words)
    with pytest.raises(InputError, match="must be read twice, but an iterator was given"):
        learn_lexicon(iter(LINES), words)
    with pytest.raises(RecipeError, match="entries must be 1 or more"):
        LexiconConfig(entries=0)
