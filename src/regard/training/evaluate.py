"""Evaluation on held-out pairs: loss per token under teacher forcing, and BLEU of translations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.metrics.bleu import BleuScore, bleu
from regard.search.engine import token_batches
from regard.training.loss import smoothed_nll
from regard.translation.options import AS_LINES
from regard.translation.translator import TextTranslator


@dataclass(frozen=True)
class HeldOut:
    """Pairs as text; the references are scored as given."""

    sources: Sequence[str]
    references: Sequence[str]
    tag: str | None = None  # put before every source


@dataclass(frozen=True)
class Evaluation:
    loss: float  # nats per target token, EOS counted, no smoothing
    bleu: BleuScore
    hypotheses: list[str]

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))


def evaluate(
    bundle: Bundle, pairs: HeldOut, search: DecodeConfig, longest: int, batch_tokens: int = 4096
) -> Evaluation:
    training = bundle.model.training
    bundle.model.eval()
    try:
        loss = token_loss(bundle, pairs, longest, batch_tokens)
        translator = TextTranslator(bundle, search, longest)
        found = translator.translate(pairs.sources, tag=pairs.tag, batch_tokens=batch_tokens, **AS_LINES)
        hypotheses = [one.text for one in found]
    finally:
        bundle.model.train(training)
    return Evaluation(loss, bleu(hypotheses, pairs.references), hypotheses)


@torch.inference_mode()
def token_loss(bundle: Bundle, pairs: HeldOut, longest: int, batch_tokens: int) -> float:
    """Returns the mean negative log-likelihood per token; pairs too long for training are left out."""
    tag = bundle.tokenizer.tag_ids(pairs.tag)
    sources = [tag + ids for ids in bundle.tokenizer.encode_source(pairs.sources)]
    targets = bundle.tokenizer.encode_target(pairs.references)
    fitting = [
        (s, t) for s, t in zip(sources, targets, strict=True) if s[len(tag) :] and t and max(len(s), len(t)) < longest
    ]
    total, tokens = 0.0, 0
    for group in token_batches([max(len(s), len(t)) for s, t in fitting], batch_tokens):
        flat = flat_batch([fitting[i][0] for i in group], [fitting[i][1] for i in group])
        batch = flat.pad().to(bundle.model.device)
        total += float(smoothed_nll(bundle.model(batch), batch.tgt_out, batch.tgt_mask, 0.0))
        tokens += batch.target_tokens
    return total / tokens if tokens else math.nan
