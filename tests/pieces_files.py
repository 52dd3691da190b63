"""The vocabulary files of a Marian model, made of SentencePiece models that are trained on our grammar."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import sentencepiece

from support import grammar


@cache
def grammar_lines(count: int = 600) -> tuple[tuple[str, str], ...]:
    train = grammar(seed=3)["train"].examples
    return tuple((example.src, example.tgt) for example in train[:count])


@cache
def trained(side: int, kind: str = "unigram", size: int = 300, byte_fallback: bool = False) -> bytes:
    """A SentencePiece model of one side of the grammar's sentences, normalised by nmt_nfkc as those of OPUS-MT are."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([pair[side] for pair in grammar_lines()]),
        model_writer=out,
        vocab_size=size,
        model_type=kind,
        hard_vocab_limit=False,
        byte_fallback=byte_fallback,
        num_threads=1,
        minloglevel=2,
    )
    return out.getvalue()


def pieces_of(model: bytes) -> list[str]:
    """Without its control symbols."""
    loaded = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [loaded.id_to_piece(i) for i in range(3, loaded.get_piece_size())]


def write_vocabulary(
    folder: Path, kind: str = "unigram", size: int = 300, tags: Sequence[str] = (), joint: bool = True
) -> Path:
    """source.spm, target.spm, vocab.json and, where they are apart, target_vocab.json, which lack a few pieces of the
    models, so that these are unknown."""
    folder.mkdir(parents=True, exist_ok=True)
    models = [trained(side, kind, size) for side in (0, 1)]
    for name, model in zip(("source.spm", "target.spm"), models, strict=True):
        (folder / name).write_bytes(model)
    sides = [pieces_of(model) for model in models]
    lists = [[*tags, *sides[0], *sides[1]]] if joint else [[*tags, *sides[0]], sides[1]]
    for name, pieces in zip(("vocab.json", "target_vocab.json"), lists, strict=False):
        entries = dict.fromkeys(["</s>", "<unk>", *(p for p in pieces if not p.startswith("▁qu")), "<pad>"])
        (folder / name).write_text(json.dumps({piece: i for i, piece in enumerate(entries)}, ensure_ascii=False))
    return folder
