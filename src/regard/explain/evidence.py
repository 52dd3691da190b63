"""Evidence for what a translation depends on, beside attention: each source word is blanked in turn.

    V source words   W target words   S source subwords, EOS last   T target subwords, EOS last   D width

    Δ(w, v) = log p(target word w | source) − log p(target word w | source without word v)

The target is forced, so every number is about the same sentence; Δ > 0 if the word helped. A word can be blanked as

    mean      the embeddings of its subwords are replaced by the mean of all source embeddings. All other words keep
              their positions, so nothing else changes. This is the default.
    removed   its subwords are removed: a sentence that a user could give to the model, but all later words have moved,
              and that alone changes log p.

Both inputs are unlike the training data. Where the two agree, the result is more credible. Attention is compared with Δ
by Spearman's ρ: 1 if it orders the source words as Δ does, 0 if the orders are unrelated (as in Jain and Wallace 2019
for classifiers).

Gradient × input is the linear approximation of such a change, exact for small ones only:

    G(w, v) = Σ_{s in v} x_s · ∂ log p(w) / ∂x_s        x_s the embedding of s, before its position is added

ConvS2S scales the gradient of its encoder down (`models/convs2s.py`), so its values are smaller by that factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.align.attention import View
from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.hooks import blanked_embeddings, run_on_source_embeddings
from regard.explain.sentence_pair import BLANKS, Blank, SentencePair, sentence_pair
from regard.explain.trace import trace_sentence
from regard.explain.views import stored_view
from regard.models.base import Model
from regard.search.alignment_heads import cross_layers
from regard.search.forced_decoding import token_log_probs
from regard.text.slots import SlotTexts, fill
from regard.text.words import subword_shares, word_spans
from regard.translation.translator import TextTranslator

NO_WORD = -1  # word index of a source token that is not part of the text: the model's tag


@dataclass(frozen=True)
class Evidence:
    """The evidence for one sentence pair; every map has a row per target word and a column per source word."""

    source: str  # as the model reads it, with slots filled
    target: str  # as the model writes it, with slots filled
    translation: str  # as `translate` returns it
    source_ids: tuple[int, ...]  # without EOS
    target_ids: tuple[int, ...]
    slots: SlotTexts  # a slot is one word
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    blank: Blank
    log_probs: NDArray[np.float64]  # (W,) of each target word, without blanking
    drops: NDArray[np.float64]  # (W, V) Δ
    end_drops: NDArray[np.float64]  # (V,) Δ of EOS
    gradients: NDArray[np.float64]  # (W, V) gradient × input; NaN where not computed
    attention: NDArray[np.float64] | None  # (W, V); None for a model without attention
    view: View | None
    trust: Trust | None
    hidden_name: str  # name of what the rest of an attention row is on

    @property
    def total(self) -> NDArray[np.float64]:
        """(V,) the drop of log p of the whole output, EOS included, without each source word."""
        total: NDArray[np.float64] = self.drops.sum(axis=0) + self.end_drops
        return total

    def agreement(self, of: NDArray[np.float64]) -> tuple[list[float], float]:
        """Spearman's ρ of another map and Δ: for each target word over the source words, and over all cells together.
        NaN if all values of one map are equal."""
        rows = [spearman(a, b) for a, b in zip(of, self.drops, strict=True)]
        known = np.isfinite(of).all(axis=1)
        return rows, spearman(of[known].ravel(), self.drops[known].ravel())

    def same_best(self, of: NDArray[np.float64]) -> float:
        """The share of target words whose largest source word in another map is also the one with the largest Δ. Most Δ
        are nearly 0 and their order is random, which affects ρ but not this."""
        known = np.isfinite(of).all(axis=1)
        same = of[known].argmax(axis=1) == self.drops[known].argmax(axis=1)
        return float(same.mean()) if same.size else float("nan")


def evidence(
    model: TextTranslator | Bundle,
    text: str,
    target: str | None = None,
    blank: Blank = "mean",
    *,
    sentence: int | None = None,
) -> Evidence:
    """Computes the evidence for the given target, or the translation that `translate` returns; `sentence` is an index
    into the text, from 0."""
    return evidence_of(sentence_pair(model, text, target, sentence=sentence), blank)


def evidence_of(pair: SentencePair, blank: Blank = "mean", gradients: bool = True) -> Evidence:
    """Computes the evidence for a sentence and its translation. Gradients take a backward pass over as many rows as
    there are target words."""
    if blank not in BLANKS:
        raise InputError(f'blank must be {" or ".join(BLANKS)}, but is "{blank}"')
    bundle, source, slots, ids = pair.bundle, pair.source.model_text, pair.source.slots, pair.target_ids
    attention, view, trust, hidden_name = None, None, None, ""
    if cross_layers(bundle.model) > 0:
        view, trust = stored_view(bundle)
        merged = trace_sentence(bundle, source, ids).in_words(view)
        attention, hidden_name = merged.weights, merged.hidden_name
    source_ids, of_word = source_in_words(bundle, source)
    shares, words = pair.target_shares, tuple(word.text for word in pair.source_words)  # (T − 1, W)
    if not words or not shares.size:
        raise InputError("evidence is between words, but there are none on one side; give a sentence with words")
    rows = blanked_log_probs(bundle.model, source_ids, ids, of_word, len(words), blank)  # (V + 1, T)
    lost = rows[:1] - rows[1:]  # (V, T)
    by_gradient = np.full((shares.shape[1], len(words)), np.nan)
    if gradients:
        by_gradient = gradient_times_input(bundle.model, source_ids, ids, of_word, shares, len(words))
    return Evidence(
        fill(source, slots.source),
        fill(pair.answer, slots.target),
        pair.target.translation,
        tuple(source_ids),
        ids,
        slots,
        words,
        tuple(word.text for word in pair.target_words),
        blank,
        log_probs=rows[0, :-1] @ shares,
        drops=(lost[:, :-1] @ shares).T,
        end_drops=lost[:, -1],
        gradients=by_gradient,
        attention=attention,
        view=view,
        trust=trust,
        hidden_name=hidden_name,
    )


def source_in_words(bundle: Bundle, source: str) -> tuple[list[int], NDArray[np.int64]]:
    """The ids of a source without EOS, and the word that contains most of each token; NO_WORD for a tag."""
    tokenizer = bundle.tokenizer
    (ids,) = tokenizer.encode_source([source])
    pieces = tokenizer.plain.source_tokens(source)
    shares = subword_shares([(p.start, p.end) for p in pieces], word_spans(source))
    of_word = shares.argmax(axis=1) if shares.size else np.zeros(0, dtype=np.int64)
    return ids, np.concatenate([np.full(len(tokenizer.mark_ids), NO_WORD), of_word])


# ------------------------------------------------------------------------------------------------ blanking


@torch.inference_mode()
def blanked_log_probs(
    model: Model, source: Sequence[int], target: Sequence[int], of_word: NDArray[np.int64], words: int, blank: Blank
) -> NDArray[np.float64]:
    """(V + 1, T): log p of every target token and EOS, first for the whole source, then with each word blanked."""
    if blank == "removed":
        shorter = [[i for i, word in zip(source, of_word, strict=True) if word != gone] for gone in range(words)]
        batch = flat_batch([source, *shorter], [target] * (words + 1)).pad().to(model.device)
        return token_log_probs(model, batch).cpu().double().numpy()
    batch = flat_batch([source] * (words + 1), [target] * (words + 1)).pad().to(model.device)
    blank_at = torch.zeros_like(batch.src_mask)  # (V + 1, S)
    blank_at[1:, : len(source)] = torch.from_numpy(of_word == np.arange(words)[:, None]).to(blank_at.device)
    with blanked_embeddings(model, blank_at):
        return token_log_probs(model, batch).cpu().double().numpy()


# ------------------------------------------------------------------------------------------------ Spearman


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rank of each value, from 1; equal values get their mean rank.

    >>> ranks(np.array([10.0, 30.0, 10.0, 20.0])).tolist()
    [1.5, 4.0, 1.5, 3.0]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)  # the last rank of each distinct value
    mean: NDArray[np.float64] = (last - (counts - 1) / 2)[place.ravel()]
    return mean


def spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Spearman's ρ: the correlation of the ranks. NaN if there are fewer than two values, all values of one array are
    equal, or a value is NaN.

    >>> spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 4, 9, 16])), spearman(np.array([1.0, 2]), np.array([3.0, 0]))
    (1.0, -1.0)
    """
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or len(a) < 2:
        return float("nan")
    x, y = ranks(a) - (len(a) + 1) / 2, ranks(b) - (len(b) + 1) / 2
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / spread, -1, 1)) if spread else float("nan")


# ------------------------------------------------------------------------------------------------ gradient × input


def gradient_times_input(
    model: Model,
    source: Sequence[int],
    target: Sequence[int],
    of_word: NDArray[np.int64],  # (S,) the word of each source subword, or NO_WORD; without EOS
    shares: NDArray[np.float64],  # (T, W) the part of each target subword that belongs to each word
    words: int,
) -> NDArray[np.float64]:
    """(W, V): G of every target and source word. One backward pass: the batch repeats the pair W times, and row w uses
    only the log-probability of word w."""
    count = shares.shape[1]
    batch = flat_batch([source] * count, [target] * count).pad().to(model.device)
    with torch.enable_grad():
        log_probs, embedded = run_on_source_embeddings(model, lambda: token_log_probs(model, batch))  # (W, T + 1)
        mine = torch.as_tensor(shares.T, dtype=log_probs.dtype, device=log_probs.device)  # (W, T)
        gradients = torch.autograd.grad((log_probs[:, :-1] * mine).sum(), embedded)
    products = sum((x.detach() * g).sum(dim=-1) for x, g in zip(embedded, gradients, strict=True))  # (W, S, …)
    assert isinstance(products, Tensor)
    by_subword = products[:, : len(source)].cpu().double().numpy()  # (W, S)
    part = (of_word[:, None] == np.arange(words)).astype(np.float64)  # (S, V)
    of_words: NDArray[np.float64] = by_subword @ part  # (W, V)
    return of_words
