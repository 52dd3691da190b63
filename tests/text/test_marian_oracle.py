"""Tokenisation of imported models, held to `transformers.MarianTokenizer` on the same files."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieces_files import grammar_lines, write_vocabulary
from regard.text.marian_vocabulary import read_marian_tokenizer
from regard.text.sentencepiece import imported_order
from regard.text.tokenizer import Tokenizer

KINDS = ["unigram", "bpe", "tagged", "apart"]
ODD = [
    "",
    " ",
    "\t",
    "a\tb",
    "  two  spaces ",
    "\u3000ideographic\u3000",
    "①½ﬁ㌔",
    "e\u0301te\u0301",
    "中国人 cat 中",
    "👩‍👩‍👧 🇫🇷",
]
SPECIAL = ("</s>", "<unk>", "<pad>")


class Both:
    """Our tokenizer and theirs, of the same files."""

    def __init__(self, ours: Tokenizer, theirs: Any) -> None:
        self.ours, self.theirs = ours, theirs
        sizes = [len(theirs.encoder), len(theirs.decoder)]
        orders = [imported_order(size, pad=size - 1, eos=0) for size in sizes]
        self.in_ours = [{i: our for our, i in enumerate(order) if i is not None} for order in orders]
        self.in_theirs = [dict(enumerate(order)) for order in orders]

    def check(self, texts: list[str]) -> None:
        if not texts:
            return
        rows = [self.theirs(texts)["input_ids"], self.theirs(text_target=texts)["input_ids"]]
        found = [self.ours.encode_source(texts), self.ours.encode_target(texts)]
        for side in (0, 1):
            assert found[side] == [[self.in_ours[side][i] for i in row[:-1]] for row in rows[side]]
        for ids in found[1]:
            shown = {self.ours.unknown, *(self.ours.target.ids[tag] for tag in self.ours.config.tags)}  # not the same
            known = [i for i in ids if i not in shown]
            theirs = self.theirs.decode([self.in_theirs[1][i] for i in known], skip_special_tokens=True)
            assert self.ours.decode(known) == theirs


@pytest.fixture(scope="module", params=KINDS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    transformers = pytest.importorskip("transformers")
    kind = "bpe" if request.param == "bpe" else "unigram"
    tags = (">>fra<<", ">>deu<<") if request.param == "tagged" else ()
    folder: Path = tmp_path_factory.mktemp(request.param)
    write_vocabulary(folder, kind, 300, tags, joint=request.param != "apart")
    names = ["source.spm", "target.spm", "vocab.json"]
    own = {"separate_vocabs": True, "target_vocab_file": str(folder / "target_vocab.json")}
    further = own if request.param == "apart" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = transformers.MarianTokenizer(*(str(folder / name) for name in names), **further)
    return Both(read_marian_tokenizer(folder), theirs)


def test_equal_on_lines_of_the_grammar(both: Both) -> None:
    pairs = grammar_lines()
    both.check([text for pair in pairs for text in pair])


def test_equal_on_odd_text(both: Both) -> None:
    rng = random.Random(1)
    lines = [rng.choice(ODD) + source + rng.choice(ODD) for source, _ in grammar_lines()[:100]]
    tags = [f"{tag}{text}" for tag in (">>fra<<", ">>deu<< ") for text in ODD] if both.ours.config.tags else []
    both.check([*ODD, *lines, *tags, "x" * 400, "l'eau, 12,5 % — « où ? »"])


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=8))
def test_equal_on_any_text(both: Both, texts: list[str]) -> None:
    """But for what is no text to them: specials, and anything between >> and << at the beginning."""
    both.check([text for text in texts if not text.startswith(">>") and not any(one in text for one in SPECIAL)])


@given(data=st.data())
def test_any_ids_are_decoded_as_theirs(both: Both, data: st.DataObject) -> None:
    ours = both.ours
    ids = [i for i in range(ours.target_size) if i != ours.unknown and ours.target.pieces[i] not in ours.config.tags]
    some = data.draw(st.lists(st.sampled_from(ids[3:]), max_size=12))
    theirs = both.theirs.decode([both.in_theirs[1][i] for i in some], skip_special_tokens=True)
    assert ours.decode([*some, 2]) == theirs
