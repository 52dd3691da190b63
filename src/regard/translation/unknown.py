"""PosUnk: each <unk> of a translation replaced through the alignment (Luong et al. 2015; Zhou et al. 2016).

    source(t) = argmax_s a(t, s)      a: the cross-attention that predicted word t, EOS left out

The <unk> at t becomes its source word (copy), or the lexicon's translation of that word, or the word itself if the
lexicon has none. It is for vocabularies with an <unk>: BPE spells every word. SentencePiece lacks only rare characters,
so its <unk> is aligned only with unknown source pieces, if there are any. The translation is force-decoded, so this
works with any search strategy. Luong et al. train a model to predict the position of the source word; here attention
gives it without training, and with the errors of attention.

    T target   S source
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.errors import InputError
from regard.models.base import Model
from regard.search.alignment_heads import AlignmentHeads, AlignmentView
from regard.search.engine import Ids, token_batches
from regard.search.forced_decoding import forced_attention
from regard.search.options import BATCH_TOKENS
from regard.search.token_lexicon import TokenLexicon, known
from regard.text.pieces import SPACE, from_pieces_form
from regard.text.tokenizer import Tokenizer
from regard.translation.options import Unknown

ELISION = tuple(mark.encode() for mark in "'’")  # no space after it: l' + Obama


def check_unknown(
    unknown: Unknown, tokenizer: Tokenizer, heads: AlignmentHeads, lexicon: TokenLexicon | None, architecture: str
) -> None:
    """Raises InputError if unknown words of this model cannot be replaced in this way."""
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
    batch_tokens: int = BATCH_TOKENS,
) -> list[str]:
    """Returns the text of each target, every <unk> replaced by the lexicon's translation or a copy of its source word.
    Targets without <unk> are not force-decoded."""
    lacking = [i for i, ids in enumerate(targets) if tokenizer.unknown in ids]
    read, said = [sources[i] for i in lacking], [targets[i] for i in lacking]
    only = tokenizer.source.unknown if tokenizer.config.unit == "sentencepiece" else None
    found = source_positions(
        model, heads, tokenizer.encode_source(read), said, len(tokenizer.mark_ids), only, batch_tokens
    )
    words = dict(zip(lacking, tokenizer.source.spelled(read), strict=True))
    positions = dict(zip(lacking, found, strict=True))
    return [filled(tokenizer, lexicon, words.get(i, ()), ids, positions.get(i, ())) for i, ids in enumerate(targets)]


def source_positions(
    model: Model,
    heads: AlignmentHeads,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    first: int = 0,
    only: int | None = None,
    batch_tokens: int = BATCH_TOKENS,
) -> list[list[int]]:
    """Returns the position of the aligned source word for every token of every target. The ids before `first` are a
    tag, and positions count from there. In a source with the id `only`, no other ids are considered."""
    pairs = [(tuple(source), tuple(target)) for source, target in zip(sources, targets, strict=True)]
    once = list(dict.fromkeys(pairs))  # sentences that differ only in unknown words have equal ids
    found: dict[tuple[Ids, Ids], list[int]] = {}
    for batch in token_batches([len(source) + len(target) for source, target in once], batch_tokens):
        some = [once[i] for i in batch]
        maps = forced_attention(
            model, AlignmentView(heads), [source for source, _ in some], [target for _, target in some]
        )
        for (source, target), weights in zip(some, maps, strict=True):
            words = source[first:]
            allowed = [only not in words or word == only for word in words]
            of_words = weights[: len(target), first : len(source)]  # (T, S) without EOS on either side
            found[source, target] = np.where(allowed, of_words, -1.0).argmax(axis=1).tolist()
    return [found[pair] for pair in pairs]


def filled(
    tokenizer: Tokenizer,
    lexicon: TokenLexicon | None,
    source_words: Sequence[str],
    ids: Sequence[int],
    positions: Sequence[int],
) -> str:
    """Returns the text of target ids. `source_words` are in pieces form, `positions` are their indices for each target
    token; both are used only if an id is unknown."""
    pieces: list[bytes] = []
    for t, i in enumerate(ids):
        piece = tokenizer.target.bytes[i]
        if i == tokenizer.unknown:
            source = source_words[positions[t]]
            word = (lexicon.best(source) if lexicon else None) or source
            elided = bool(pieces) and pieces[-1].endswith(ELISION)
            piece = (word.removeprefix(SPACE) if elided else word).encode()
        pieces.append(piece)
    return from_pieces_form(b"".join(pieces))
