"""PosUnk: each <unk> of a translation replaced through the alignment (Luong et al. 2015; Zhou et al. 2016).

    maker(t) = argmax_s a(t, s)      a: the cross-attention that predicted word t, EOS left out

The <unk> at t becomes the source word at its maker (copy), or the lexicon's translation of that word, and the word
itself where the lexicon has none. It is for whole-word vocabularies: BPE spells every word and has no <unk>. The
translation is force-decoded, so it serves every search alike. Luong et al. train a model to say where an <unk> comes
from; attention says so without training, and is as right as the attention is.

    B sentences   T target   S source
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import torch

from regard.batch import EOS, flat_batch
from regard.config import nearest
from regard.decode.reading import Reading
from regard.decode.token_lexicon import TokenLexicon, known, spelled
from regard.errors import InputError
from regard.models.base import Model
from regard.text.pieces import SPACE, from_pieces_form
from regard.text.tokenizer import Tokenizer

Unknown = Literal["keep", "copy", "lexicon"]
ELISION = tuple(mark.encode() for mark in "'’")  # what follows it is written close to it: l' + Obama


def check_unknown(
    unknown: str, tokenizer: Tokenizer, reading: Reading, lexicon: TokenLexicon | None, architecture: str
) -> None:
    """Can this model's unknown words be filled in so?"""
    if unknown not in get_args(Unknown):
        raise InputError(f'unknown words cannot be treated by "{unknown}"; {nearest(unknown, get_args(Unknown))}')
    if tokenizer.unknown is None:
        raise InputError(
            f"unknown words are replaced ({unknown}) in models of whole words; the pieces of this one spell every "
            "word, so it says no <unk>; use keep"
        )
    if not reading:
        raise InputError(
            f"to replace unknown words ({unknown}), attention finds their source words, and {architecture} has no "
            "attention; use keep, or another architecture"
        )
    if unknown == "lexicon":
        known(lexicon)


def fill_unknown(
    model: Model,
    reading: Reading,
    tokenizer: Tokenizer,
    lexicon: TokenLexicon | None,
    sources: Sequence[str],
    targets: Sequence[Sequence[int]],
) -> list[str]:
    """Texts of the targets, each <unk> looked up in the lexicon, or copied from its source."""
    places = makers(model, reading, tokenizer.encode_source(sources), targets, first=len(tokenizer.mark_ids))
    words = spelled(tokenizer.source, sources)
    return [filled(tokenizer, lexicon, w, ids, p) for w, ids, p in zip(words, targets, places, strict=True)]


@torch.inference_mode()
def makers(
    model: Model, reading: Reading, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], first: int = 0
) -> list[list[int]]:
    """For every word of every target the place of the source word that it was made from. Ids before `first` are no
    words (a tag), and places are counted from there."""
    batch = flat_batch(sources, targets).pad().to(model.device)
    weights = reading.of(model.attention(batch).cross)  # (B, T, S)
    words = batch.src_mask & (batch.src != EOS)
    seen = weights.masked_fill(~words[:, None], -1.0)[..., first:]
    best = seen.argmax(dim=-1).tolist()  # (B, T)
    return [row[: len(target)] for row, target in zip(best, targets, strict=True)]


def filled(
    tokenizer: Tokenizer,
    lexicon: TokenLexicon | None,
    source_words: Sequence[str],
    ids: Sequence[int],
    places: Sequence[int],
) -> str:
    """The text of target ids. `source_words` are in pieces form, `places` the maker of each target word."""
    pieces: list[bytes] = []
    for i, place in zip(ids, places, strict=True):
        piece = tokenizer.target.bytes[i]
        if i == tokenizer.unknown:
            source = source_words[place]
            word = (lexicon.best(source) if lexicon else None) or source
            together = bool(pieces) and pieces[-1].endswith(ELISION)
            piece = (word.removeprefix(SPACE) if together else word).encode()
        pieces.append(piece)
    return from_pieces_form(b"".join(pieces))
