"""Fine-tuning of a trained model for the expected reward of whole translations.

    R(y) ∈ [0, 1] a sentence's score against its reference   p(y | x) = Π_t p(y_t | y<t, x)   w weight of likelihood

    minimum risk (Shen et al. 2016)          ℓ = −Σ_y q(y) R(y)              q(y) = p(y | x)^α / Σ_y' p(y' | x)^α
    self-critical (Rennie et al. 2017)       ℓ = −(R(y) − b) log p(y | x)    y ~ p, b = mean R, or R(greedy translation)
    mixed (Wu et al. 2016)                   ℓ + w · (−log p(reference | x))

Minimum risk is differentiated through q, over the distinct samples among n and, optionally, the reference. The
value of the self-critical loss has no meaning; its expected gradient is that of −E[R] for any b that does not depend on
y. b is the mean reward of the n samples (Wu et al. 2016) or, as in Rennie et al., the reward of the greedy translation.
The mean includes the sample itself, which makes the gradient (n − 1)/n of the true one; its direction is the same.

    B sentences   n samples   c candidates: the reference, then the samples   T target   V vocabulary

Rewards are computed on token ids: GLEU, or the BLEU of a sentence as in `metrics.bleu.sentence_bleu`, divided by 100.
EOS is not scored, but counts in p like any token. A sample that was cut at its length limit has no EOS, so its p stops
at the last word: that is the probability with which it was sampled.

Samples are drawn without dropout, and their probabilities are computed again with it, under teacher forcing. So the
self-critical gradient is exact only without dropout. With the mean as b the difference is small. Greedy translations
are better than most samples; with them as b nearly every sample is made less probable, and the effect of dropout does
not cancel: a model of 47 BLEU fell to 14 in fifty updates. Such a recipe is refused.

One pass of the model takes all B × c rows, so an update needs about c times the memory of plain training: use smaller
batches and accumulate more.

The loss is summed over sentences, as in the papers, and divided by the target tokens of an update, like any other.
Batches hold a number of tokens, not of sentences: divided by its sentences, a sentence in a batch of ten long ones
would count ten times as much as one in a batch of a hundred short ones. Both parts of the mixed loss are divided by the
same number, so the mixture is the papers' too.

Weights are updated in `update.py`. The configuration is `recipe.train.RewardConfig`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.batch import Batch, flat_batch
from regard.metrics.bleu import MAX_ORDER, Bleu
from regard.metrics.gleu import gleu_scores, ragged
from regard.metrics.ngrams import matching
from regard.models.base import Model
from regard.recipe.train import RewardConfig
from regard.search.engine import Hypothesis
from regard.search.search import greedy, sample
from regard.training.cost import FlopCounter
from regard.training.loss import smoothed_nll_fused

Ids = tuple[int, ...]


# ── the equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def minimum_risk_loss(log_probs: Tensor, rewards: Tensor, alpha: float) -> Tensor:
    """−Σ q(y) R(y): log_probs (B, n) of whole translations, rewards (B, n) → (B,). A candidate at −∞ does not count."""
    q = (alpha * log_probs).softmax(dim=-1)  # p^α, divided by its sum
    return -(q * rewards).sum(dim=-1)


def self_critical_loss(log_probs: Tensor, rewards: Tensor, baseline: Tensor) -> Tensor:
    """−(R(y) − b) log p(y), the mean over samples: log_probs (B, n), rewards (B, n), baseline (B,) → (B,)"""
    advantage = (rewards - baseline[:, None]).detach()
    return -(advantage * log_probs).mean(dim=-1)


def sequence_log_probs(logits: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """log p(y | x) of whole rows: logits (…, T, V), targets (…, T), mask (…, T) True where a token counts → (…)"""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    right = logits.gather(-1, targets[..., None])[..., 0] - logits.logsumexp(dim=-1)  # (…, T)
    return right.masked_fill(~mask, 0.0).sum(dim=-1)


# ── rewards ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def bleu_scores(hypotheses: Sequence[Sequence[int]], references: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Sentence BLEU of each line of ids, from 0 to 1: (lines,)."""
    ours, theirs = ragged(hypotheses), ragged(references)
    total = np.maximum(0, ours.lengths[:, None] - np.arange(MAX_ORDER))  # (lines, N)
    rows = np.column_stack([ours.lengths, theirs.lengths, matching(ours, [theirs], MAX_ORDER), total])
    return Bleu(tokenize="none", effective_order=True).scores(rows) / 100


REWARDS = {"gleu": gleu_scores, "bleu": bleu_scores}


# ── one batch ───────────────────────────────────────────────────────────────────────────────────────────────────────


class RewardLoss(NamedTuple):
    """The loss and mean reward of one batch."""

    loss: Tensor  # the mixed loss, summed over the batch's sentences
    reward: float  # mean over the samples
    flops: float  # beyond those of likelihood on the same batch: sampling, and learning from the samples


def reward_loss(
    model: Model,
    batch: Batch,
    config: RewardConfig,
    label_smoothing: float = 0.0,
    generator: torch.Generator | None = None,
) -> RewardLoss:
    """Computes the loss of one batch; may be called inside an autocast region. Without a generator, samples are drawn
    by torch's global one, whose state is in the checkpoints."""
    draws, best = _translations(model, batch, config, generator or torch.default_generator)
    references = _words(batch.tgt_out, batch.tgt_mask)
    candidates = [[(reference, True), *drawn] for reference, drawn in zip(references, draws, strict=True)]
    log_probs, wide, logits = _candidate_log_probs(model, batch, candidates)  # (B, c)

    def scored(translations: Sequence[Sequence[Ids]]) -> Tensor:
        """Scores each sentence's translations against its reference: B lists of k → (B, k)"""
        repeated = [reference for reference, some in zip(references, translations, strict=True) for _ in some]
        scores = REWARDS[config.reward]([ids for some in translations for ids in some], repeated)
        return torch.tensor(scores, dtype=log_probs.dtype, device=log_probs.device).view(len(batch), -1)

    rewards = scored([[ids for ids, _ in some] for some in candidates])  # (B, c)
    if config.objective == "minimum-risk":
        first = 0 if config.with_reference else 1
        empty = _repeated([some[first:] for some in candidates]).to(log_probs.device)
        distinct = log_probs[:, first:].masked_fill(empty, -math.inf)
        loss = minimum_risk_loss(distinct, rewards[:, first:], config.sharpness)
    else:
        drawn = rewards[:, 1:]
        baseline = scored([[ids] for ids, _ in best])[:, 0] if config.baseline == "greedy" else drawn.mean(dim=1)
        loss = self_critical_loss(log_probs[:, 1:], drawn, baseline)

    total = loss.sum()
    if config.likelihood_share > 0:
        every = len(candidates[0])  # rows of a sentence; the first is the reference
        nll = smoothed_nll_fused(logits[::every], wide.tgt_out[::every], wide.tgt_mask[::every], label_smoothing)
        total = total + config.likelihood_share * nll
    flops = _flops(model, batch.src_mask.sum(dim=1).tolist(), draws, best)
    return RewardLoss(total, float(rewards[:, 1:].mean()), flops)


Candidate = tuple[Ids, bool]  # its words, and whether it ended with EOS


def _translations(
    model: Model, batch: Batch, config: RewardConfig, generator: torch.Generator
) -> tuple[list[list[Candidate]], list[Candidate]]:
    """Draws samples of every sentence and, if it is the baseline, its greedy translation; without dropout."""

    def candidate(h: Hypothesis) -> Candidate:
        return h.ids, len(h.log_probs) > len(h.ids)

    training = model.training
    model.eval()
    try:
        draws = sample(model, batch.src, batch.src_mask, config.samples, seed=generator)
        wanted = config.objective == "self-critical" and config.baseline == "greedy"
        best = greedy(model, batch.src, batch.src_mask) if wanted else []
    finally:
        model.train(training)
        # Autocast caches cast weights. Cast without a gradient, as here, they would have none in the next pass either:
        # older versions of torch do not notice.
        torch.clear_autocast_cache()
    return [[candidate(h) for h in some] for some in draws], [candidate(h) for h in best]


def _candidate_log_probs(
    model: Model, batch: Batch, candidates: Sequence[Sequence[Candidate]]
) -> tuple[Tensor, Batch, Tensor]:
    """Returns log p of every candidate (B, c), the batch of B·c rows that it is from, and its logits (B·c, T, V)."""
    sources = [source for source in _words(batch.src, batch.src_mask) for _ in candidates[0]]
    flat = [candidate for some in candidates for candidate in some]
    wide = flat_batch(sources, [ids for ids, _ in flat]).pad().to(batch.src.device)
    ended = torch.tensor([ended_by_eos for _, ended_by_eos in flat], device=wide.tgt_mask.device)
    is_eos = wide.tgt_mask.cumsum(dim=1) == wide.tgt_mask.sum(dim=1, keepdim=True)  # and the padding after it
    counts = wide.tgt_mask & (ended[:, None] | ~is_eos)  # (B·c, T)
    logits: Tensor = model(wide)
    return sequence_log_probs(logits, wide.tgt_out, counts).view(len(candidates), -1), wide, logits


def _words(ids: Tensor, mask: Tensor) -> list[Ids]:
    """Returns the rows of a padded batch without padding and without EOS."""
    lengths = mask.sum(dim=1).tolist()
    return [tuple(row[: length - 1]) for row, length in zip(ids.tolist(), lengths, strict=True)]


def _repeated(candidates: Sequence[Sequence[Candidate]]) -> Tensor:
    """(B, c) True where a candidate equals an earlier one: q is over a set."""
    return torch.tensor([[one in some[:place] for place, one in enumerate(some)] for some in candidates])


def _flops(
    model: Model, sources: Sequence[int], draws: Sequence[Sequence[Candidate]], best: Sequence[Candidate]
) -> float:
    """Returns the operations of drawing the samples, of learning from each, and of the greedy translations, which
    encode the sources again. The references' rows are counted by the loop, as in plain training."""
    cost, total = FlopCounter(model), 0.0
    for source, drawn in zip(sources, draws, strict=True):
        total += cost.of_search(source, [len(ids) + ended_by_eos for ids, ended_by_eos in drawn])
        total += sum(cost.of_pair(source, len(ids) + 1) for ids, _ in drawn)
    for source, (ids, ended_by_eos) in zip(sources, best, strict=False):  # empty without a greedy baseline
        total += cost.of_search(source, [len(ids) + ended_by_eos])
    return total
