"""Evidence for what a model relied on, beside what its attention shows: each source word is blanked in turn.

    V source words   W target words   S source subwords, EOS last   T target subwords, EOS last   D width

    Δ(w, v) = log p(target word w | source) − log p(target word w | source without word v)

The target is forced, so every number is about the same sentence; Δ > 0 where the word helped. A word can be blanked as

    mean      the embeddings of its subwords are replaced by the mean of all source embeddings. All other words keep
              their positions, so nothing else changes. This is the default.
    removed   its subwords are taken out: a sentence that the model could really be given, but all words after the gap
              have moved, and that alone changes log p.

Both are outside the training data. Where the two agree, the result is more credible. Attention is compared with Δ by
Spearman's ρ: 1 if it orders the source words as Δ does, 0 if the orders are unrelated (Jain and Wallace 2019 did so for
classifiers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.align.attention import View
from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.gradients import NO_WORD, embedding_tables, gradient_times_input
from regard.explain.interventions import BLANKS, Blank
from regard.explain.request import Request, Said, request
from regard.explain.trace import trace_sentence
from regard.explain.views import stored_view
from regard.models.base import Model
from regard.search.alignment_heads import cross_layers
from regard.search.forced_decoding import token_log_probs
from regard.text.slots import SlotTexts, fill
from regard.text.words import subword_shares, word_spans
from regard.translation.translator import TextTranslator


@dataclass(frozen=True)
class Evidence:
    """One sentence pair; every map has a row for each target word and a column for each source word."""

    source: str  # as the model reads it, slots filled
    target: str  # as the model says it, slots filled
    translation: str  # the same as `translate` gives it
    source_ids: tuple[int, ...]  # without EOS
    target_ids: tuple[int, ...]
    slots: SlotTexts  # a slot is one word
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    blank: Blank
    log_probs: NDArray[np.float64]  # (W,) of each target word, with nothing blanked
    drops: NDArray[np.float64]  # (W, V) Δ
    end_drops: NDArray[np.float64]  # (V,) Δ of EOS
    gradients: NDArray[np.float64]  # (W, V) gradient × input; NaN where it was not asked for
    attention: NDArray[np.float64] | None  # (W, V); None where the model has none
    view: View | None
    trust: Trust | None
    hidden_name: str  # where the rest of a row of attention went

    @property
    def total(self) -> NDArray[np.float64]:
        """(V,) what the whole forced output, EOS included, loses with each source word."""
        total: NDArray[np.float64] = self.drops.sum(axis=0) + self.end_drops
        return total

    def agreement(self, of: NDArray[np.float64]) -> tuple[list[float], float]:
        """ρ of another map against Δ: for each target word over the source words, and over all cells together. NaN
        where a side is all alike."""
        rows = [spearman(a, b) for a, b in zip(of, self.drops, strict=True)]
        known = np.isfinite(of).all(axis=1)
        return rows, spearman(of[known].ravel(), self.drops[known].ravel())

    def same_best(self, of: NDArray[np.float64]) -> float:
        """Share of target words for which another map's greatest source word is the one that Δ names. Most Δ are nearly
        0 and their order is chance, which ρ counts and this does not."""
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
    beam: int | None = None,
) -> Evidence:
    """For the given target, or the translation that `translate` gives. Of a text of several sentences, `sentence`
    chooses one, from 0."""
    asked = request(model, text, sentence=sentence, beam=beam)
    return evidence_of(asked, asked.said(target), blank)


def evidence_of(asked: Request, found: Said, blank: Blank = "mean", gradients: bool = True) -> Evidence:
    """For a sentence and a translation of it. Gradients take a backward pass for each target word."""
    if blank not in BLANKS:
        raise InputError(f'blank must be {" or ".join(BLANKS)}, but is "{blank}"')
    bundle, source, slots = asked.bundle, asked.source, asked.slots
    ids = found.ids
    attention, view, trust, hidden_name = None, None, None, ""
    if cross_layers(bundle.model) > 0:
        view, trust = stored_view(bundle)
        merged = trace_sentence(bundle, source, ids).in_words(view)
        attention, hidden_name = merged.weights, merged.hidden_name
    said = bundle.tokenizer.decode(ids)
    source_ids, of_word = source_in_words(bundle, source)
    shares = target_shares(bundle, ids)  # (T − 1, W)
    words = tuple(fill(source[a:b], slots.source) for a, b in word_spans(source))
    if not words or not shares.size:
        raise InputError("evidence is between words, but there are none on one side; give a sentence with words")
    rows = blanked_log_probs(bundle.model, source_ids, ids, of_word, len(words), blank)  # (V + 1, T)
    lost = rows[:1] - rows[1:]  # (V, T)
    return Evidence(
        fill(source, slots.source),
        fill(said, slots.target),
        found.translation,
        tuple(source_ids),
        ids,
        slots,
        words,
        tuple(fill(said[a:b], slots.target) for a, b in word_spans(said)),
        blank,
        rows[0, :-1] @ shares,
        (lost[:, :-1] @ shares).T,
        lost[:, -1],
        gradient_times_input(bundle.model, source_ids, ids, of_word, shares, len(words))
        if gradients
        else np.full((shares.shape[1], len(words)), np.nan),
        attention,
        view,
        trust,
        hidden_name,
    )


def source_in_words(bundle: Bundle, source: str) -> tuple[list[int], NDArray[np.int64]]:
    """A source's ids without EOS, and which word each is most part of; NO_WORD for a tag."""
    tokenizer = bundle.tokenizer
    (ids,) = tokenizer.encode_source([source])
    pieces = tokenizer.plain.source_tokens(source)
    shares = subword_shares([(p.start, p.end) for p in pieces], word_spans(source))
    of_word = shares.argmax(axis=1) if shares.size else np.zeros(0, dtype=np.int64)
    return ids, np.concatenate([np.full(len(tokenizer.mark_ids), NO_WORD), of_word])


def target_shares(bundle: Bundle, ids: Sequence[int]) -> NDArray[np.float64]:
    """(tokens, words): which part of each target token belongs to which word."""
    said = bundle.tokenizer.decode(ids)
    return subword_shares(bundle.tokenizer.target_pieces(ids), word_spans(said))


# ------------------------------------------------------------------------------------------------ blanking


@torch.inference_mode()
def blanked_log_probs(
    model: Model, source: Sequence[int], target: Sequence[int], of_word: NDArray[np.int64], words: int, blank: Blank
) -> NDArray[np.float64]:
    """(V + 1, T): log p of every target token and EOS, first of the whole source, then with each word blanked."""
    if blank == "removed":
        shorter = [[i for i, word in zip(source, of_word, strict=True) if word != gone] for gone in range(words)]
        sources = [source, *shorter]
        batch = flat_batch(sources, [target] * len(sources)).pad().to(model.device)
        return _numbers(token_log_probs(model, batch))
    batch = flat_batch([source] * (words + 1), [target] * (words + 1)).pad().to(model.device)
    gone = torch.zeros_like(batch.src_mask)  # (V + 1, S)
    for word in range(words):
        gone[word + 1, : len(source)] = torch.from_numpy(of_word == word).to(gone.device)
    with read_as_mean(model, gone):
        return _numbers(token_log_probs(model, batch))


@contextmanager
def read_as_mean(model: Model, gone: Tensor, side: Literal["source", "target"] = "source") -> Iterator[None]:
    """Within, the embeddings of batch rows are the mean of all embeddings where `gone` (B, S or T) says so."""

    def hook(table: nn.Module, inputs: Any, read: Tensor) -> Tensor:
        assert isinstance(table, nn.Embedding)
        width = gone.shape[1]  # ByteNet reads blanks after the source: they stay
        there = torch.nn.functional.pad(gone, (0, read.shape[1] - width))
        return torch.where(there[..., None], table.weight.mean(dim=0), read)  # (B, S, D)

    with ExitStack() as hooks:
        for table in embedding_tables(model, f"{side}_embedding"):
            hooks.callback(table.register_forward_hook(hook).remove)
        yield


def _numbers(rows: Tensor) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = rows.cpu().double().numpy()
    return numbers


# ------------------------------------------------------------------------------------------------ Spearman


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places from 1 on, the mean place where values are equal.

    >>> ranks(np.array([10.0, 30.0, 10.0, 20.0])).tolist()
    [1.5, 4.0, 1.5, 3.0]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)  # the last place of each distinct value
    mean: NDArray[np.float64] = (last - (counts - 1) / 2)[place.ravel()]
    return mean


def spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Spearman's ρ: the correlation of the ranks. NaN if there are fewer than two values, a side is all alike, or a
    value is no number.

    >>> spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 4, 9, 16])), spearman(np.array([1.0, 2]), np.array([3.0, 0]))
    (1.0, -1.0)
    """
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or len(a) < 2:
        return float("nan")
    x, y = ranks(a) - (len(a) + 1) / 2, ranks(b) - (len(b) + 1) / 2
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / spread, -1, 1)) if spread else float("nan")
