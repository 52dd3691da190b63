"""The continuations of a prefix by CTranslate2, for other words at a place.

CTranslate2 expands a prefix into the most probable next tokens and continues each by itself (`return_alternatives`). It
then reads the prefix at once, not token by token, so this is several times as fast as one search for each. The end of
the translation is never one of the next tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.search.constraint_repair import NO_PENALTY, max_target_length
from regard.search.ctranslate2_model import BOS, EOS, PAD, ConvertedModel
from regard.search.engine import MAX_BRANCHES, Branch, Ids

SUPPRESSED = frozenset((PAD, BOS))


def branches(model: ConvertedModel, source: Ids, prefix: Ids, length: int, least: float) -> list[Branch]:
    """Returns what `Engine.branches` does."""
    (result,) = model.translator.translate_batch(
        [model.source_tokens(source)],
        target_prefix=[model.target_tokens(prefix)],
        beam_size=1,
        num_hypotheses=MAX_BRANCHES,
        length_penalty=NO_PENALTY,
        return_alternatives=True,
        min_alternative_expansion_prob=least,
        max_input_length=0,
        max_decoding_length=len(prefix) + length,
        return_end_token=True,
        return_scores=True,
    )
    found = [(tokens[len(prefix) :], score) for tokens, score in zip(result.hypotheses, result.scores, strict=True)]
    return [
        Branch(model.target_ids(tokens), score)
        for tokens, score in found
        if tokens[:1] != [EOS] and not SUPPRESSED.intersection(tokens)
    ]


def continued(model: ConvertedModel, source: Ids, prefixes: Sequence[Ids]) -> list[Ids]:
    """Returns what `Engine.continued` does."""
    results = model.translator.translate_batch(
        [model.source_tokens(source)] * len(prefixes),
        target_prefix=[model.target_tokens(prefix) for prefix in prefixes],
        beam_size=1,
        max_input_length=0,
        max_decoding_length=max_target_length(source),
    )
    found = [result.hypotheses[0] for result in results]
    return [() if SUPPRESSED.intersection(one) else model.target_ids(one) for one in found]
