"""A vocabulary of ours as a tokenizer of the Rust library `tokenizers`, which `transformers` loads from tokenizer.json.

It does in that library's steps what `text/tokenizer.py` does: NFC, spaces made visible (`text/pieces.py`), cuts, BPE
with byte fallback; EOS at the end, and the mark, where a model has one, at the beginning. Two things differ: a special
that is written in a text, such as </s>, is taken for it, and slots are not known.
"""

from __future__ import annotations

from collections.abc import Sequence

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from regard.batch import EOS
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.pieces import CUTS, ESCAPE, ONE, SPACE, ZERO
from regard.text.vocabulary import SPECIALS, UNKNOWN


def fast_tokenizer(vocabulary: LearnedVocabulary, tags: Sequence[str], mark: str | None) -> tokenizers.Tokenizer:
    """BPE, or whole words."""
    ids, merges = vocabulary.ids, vocabulary.merges
    model = models.WordLevel(ids, UNKNOWN) if merges is None else models.BPE(ids, merges, byte_fallback=True)
    made = tokenizers.Tokenizer(model)
    made.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in (*SPECIALS, *tags)])
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(ESCAPE, ESCAPE + ZERO),
            normalizers.Replace(SPACE, ESCAPE + ONE),
            normalizers.Replace(" ", SPACE),
            normalizers.Prepend(SPACE),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Split(Regex(CUTS), "isolated")
    begin, special = ([mark] if mark else []), [(SPECIALS[EOS], EOS), *([(mark, ids[mark])] if mark else [])]
    made.post_processor = processors.TemplateProcessing(single=[*begin, "$A", SPECIALS[EOS]], special_tokens=special)
    made.decoder = decoders.Sequence(
        [
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Replace(SPACE, " "),
            decoders.Replace(ESCAPE + ONE, SPACE),
            decoders.Replace(ESCAPE + ZERO, ESCAPE),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return made
