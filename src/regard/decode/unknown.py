"""PosUnk: each <unk> of a translation replaced through the alignment (Luong et al. 2015; Zhou et al. 2016).

    source(t) = argmax_s a(t, s)      a: the cross-attention that predicted word t, EOS left out

The <unk> at t becomes its source word (copy), or the lexicon's translation of that word, or the word itself if the
lexicon has none. It is for vocabularies with an <unk>: BPE spells every word. Pieces of SentencePiece know all but rare
characters, so an <unk> of theirs is taken to be one that is unknown in the source, if there is any. The translation is
force-decoded, so this works with any search strategy. Luong et al. train a model to predict the position of the source
word; here attention gives it without training, and with the errors of attention.

    B sentences   T target   S source
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import torch

from regard.batch import EOS, flat_batch
from regard.config import nearest
from regard.decode.alignment_heads import AlignmentHeads
from regard.decode.token_lexicon import TokenLexicon, known
from regard.errors import InputError
from regard.models.base import Model
from regard.text.pieces import SPACE, from_pieces_form
from regard.text.tokenizer import Tokenizer

Unknown = Literal["keep", "copy", "lexicon"]
ELISION = tuple(mark.encode() for mark in "'’")  # no space after it: l' + Obama


def check_unknown(
    unknown: str, tokenizer: Tokenizer, heads: AlignmentHeads, lexicon: TokenLexicon | None, architecture: str
) -> None:
    """Raise if this model cannot have its unknown words replaced in this way."""
    if unknown not in get_args(Unknown):
        raise InputError(f'unknown words cannot be treated by "{unknown}"; {nearest(unknown, get_args(Unknown))}')
    if tokenizer.unknown is None:
        raise InputError(
            f"unknown words are replaced ({unknown}) in models that have <unk>, such as those of whole words; the "
            "subwords of this one spell every word; use keep"
        )
    if not heads:
        raise InputError(
            f"unknown words are replaced ({unknown}) through attention, and {architecture} has no attention; use keep, "
            "or another architecture"
        )
    if unknown == "lexicon":
        known(lexicon)


def fill_unknown(
    model: Model,
    heads: AlignmentHeads,
    tokenizer: Tokenizer,
    lexicon: TokenLexicon | None,
    sources: Sequence[str],
    targets: Sequence[Sequence[int]],
) -> list[str]:
    """The text of each target, every <unk> replaced by the lexicon's translation or a copy of its source word."""
    ids, only = tokenizer.encode_source(sources), tokenizer.source.unknown
    positions = source_positions(
        model, heads, ids, targets, len(tokenizer.mark_ids), only if tokenizer.config.unit == "sentencepiece" else None
    )
    words = tokenizer.source.spelled(sources)
    return [filled(tokenizer, lexicon, w, ids, p) for w, ids, p in zip(words, targets, positions, strict=True)]


@torch.inference_mode()
def source_positions(
    model: Model,
    heads: AlignmentHeads,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    first: int = 0,
    only: int | None = None,
) -> list[list[int]]:
    """For every token of every target the position of the source word it is aligned to. The ids before `first` are a
    tag, and positions count from there. Of a source that has the id `only`, no other ids are considered."""
    batch = flat_batch(sources, targets).pad().to(model.device)
    weights = heads.average(model.attention(batch).cross)  # (B, T, S)
    words = batch.src_mask & (batch.src != EOS)
    wanted = words & (batch.src == (-1 if only is None else only))
    words = torch.where(wanted.any(dim=1, keepdim=True), wanted, words)
    best = weights.masked_fill(~words[:, None], -1.0)[..., first:].argmax(dim=-1).tolist()  # (B, T)
    return [row[: len(target)] for row, target in zip(best, targets, strict=True)]


def filled(
    tokenizer: Tokenizer,
    lexicon: TokenLexicon | None,
    source_words: Sequence[str],
    ids: Sequence[int],
    positions: Sequence[int],
) -> str:
    """The text of target ids. `source_words` are in pieces form, `positions` their index for each target token."""
    pieces: list[bytes] = []
    for i, position in zip(ids, positions, strict=True):
        piece = tokenizer.target.bytes[i]
        if i == tokenizer.unknown:
            source = source_words[position]
            word = (lexicon.best(source) if lexicon else None) or source
            elided = bool(pieces) and pieces[-1].endswith(ELISION)
            piece = (word.removeprefix(SPACE) if elided else word).encode()
        pieces.append(piece)
    return from_pieces_form(b"".join(pieces))
