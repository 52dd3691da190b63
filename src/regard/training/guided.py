"""Guided attention: one head learns to look where an aligner would (Chen et al. 2016; one head, Garg et al. 2019).

    ℓ = NLL + λ · Σ_t −Σ_s A_ts log α_ts          A_t the aligner's links of target token t, shared evenly; α the head

The row is the *predicting* one: it explains the token to come, as a search needs it. A token without a link asks
nothing. The links are our own aligner's (`baselines/hmm.py`, which gives each target word one maker at most, as a row
of attention wants it), learnt from the training text itself, once, and kept in the cache; a link between words is one
between all their subwords. λ is `train.guided_weight`, off at 0; the head is the first of layer `train.guided_layer`.

The weights come from a second pass (`Model.attention`), so it works for every architecture that looks and is twice
the work. A batch finds its links by its ids: text that is another in every epoch (BPE-dropout, transforms) has none.

    B sentences   T target tokens   S source tokens   H heads
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.align import hmm
from regard.batch import Batch, FlatBatch
from regard.data.batching import Encoded
from regard.data.encode import EncodedCorpus
from regard.data.mixture import Mixture
from regard.decode.alignment_heads import cross_layers, default_layer
from regard.errors import RecipeError
from regard.files import write_atomically
from regard.models.base import Model
from regard.recipe.train import TrainConfig
from regard.text.pieces import piece_spans
from regard.text.tokenizer import Tokenizer
from regard.text.words import subword_shares, word_spans

FORMAT = 1  # of the kept links, and of how they are found
Link = tuple[int, int]


def guided_nll(weights: Tensor, links: Tensor) -> Tensor:
    """Σ −A log α: weights (B, T, S) whose rows sum to 1, links (B, T, S) True where the aligner links."""
    wanted = links / links.sum(dim=-1, keepdim=True).clamp_min(1)  # (B, T, S)
    return -(wanted * weights.float().clamp_min(1e-9).log()).sum()


def guided_loss(model: Model, batch: Batch, config: TrainConfig) -> Tensor:
    """λ times the loss of the guided head, summed over the batch."""
    assert batch.links is not None
    cross = model.attention(batch).cross  # per layer (B, H, T, S)
    return config.guided_weight * guided_nll(cross[guided_layer(model, len(cross), config)][:, 0], batch.links)


def guided_layer(model: Model, layers: int, config: TrainConfig) -> int:
    return config.guided_layer - 1 if config.guided_layer else default_layer(model, layers)


def check_guided(model: Model, architecture: str, config: TrainConfig) -> None:
    layers = cross_layers(model)
    if layers < max(1, config.guided_layer):
        what = f"has {layers} layers that look at the source" if layers else "has no attention"
        raise RecipeError(
            f"train.guided_layer is {config.guided_layer}, but {architecture} {what}; "
            + (f"use 1 to {layers}, or 0" if layers else "train one that looks: --architecture rnn-attention")
        )


class Guide:
    """The links of every training pair in subwords, found by the pair's ids."""

    def __init__(self, corpus: Encoded, tokenizer: Tokenizer, cache: Path) -> None:
        corpora = corpus.corpora if isinstance(corpus, Mixture) else [corpus]
        path = cache / f"{_fingerprint(corpora, tokenizer)}.links.npz"
        pairs = [corpus.pair(i) for corpus in corpora for i in range(len(corpus))]
        found = _kept(path)
        if found is None or len(found["offsets"]) != len(pairs) + 1:
            found = _laid(learn_links(pairs, tokenizer))
            with contextlib.suppress(OSError):  # where nothing can be written, nothing is kept
                path.parent.mkdir(parents=True, exist_ok=True)
                laid = found
                write_atomically(path, lambda place: _save(place, laid))
        self.offsets, self.links = found["offsets"], found["links"]
        self.rows = {_key(np.asarray(s), np.asarray(t)): row for row, (s, t) in enumerate(pairs)}

    def on(self, flat: FlatBatch, batch: Batch) -> Batch:
        """The batch with its links; it must be `flat`'s own."""
        links = torch.zeros(*batch.tgt_out.shape, batch.src.shape[1], dtype=torch.bool)  # (B, T, S)
        src, tgt = flat.src.numpy(), flat.tgt_out.numpy()
        src_ends, tgt_ends = flat.src_offsets.tolist(), flat.tgt_offsets.tolist()
        for n in range(len(flat)):
            source = src[src_ends[n] : src_ends[n + 1] - 1]  # without EOS
            row = self.rows.get(_key(source, tgt[tgt_ends[n] : tgt_ends[n + 1] - 1]))
            if row is not None:
                places = torch.from_numpy(self.links[self.offsets[row] : self.offsets[row + 1]])  # (links, 2)
                links[n, places[:, 1], places[:, 0]] = True
        return replace(batch, links=links)


def learn_links(pairs: Sequence[tuple[list[int], list[int]]], tokenizer: Tokenizer) -> list[list[Link]]:
    """For pairs in ids, the links (source subword, target subword) of an aligner that has learnt from them."""
    texts = [(tokenizer.decode_source(source), tokenizer.decode(target)) for source, target in pairs]
    aligned = hmm.train(texts).align_all(texts)
    found = []
    for (source, target), (text, said), links in zip(pairs, texts, aligned, strict=True):
        spans = piece_spans([tokenizer.source.bytes[i] for i in source])
        found.append(in_subwords(links, (text, spans), (said, tokenizer.target_pieces(target))))
    return found


def in_subwords(links: Iterable[Link], source: tuple[str, list[Link]], target: tuple[str, list[Link]]) -> list[Link]:
    """Links between words as links between all their subwords; each side is a text and the spans of its subwords."""
    parts = [subword_shares(spans, word_spans(text)) > 0 for text, spans in (source, target)]  # (subwords, words)
    return [
        (int(s), int(t))
        for i, j in links
        for s in np.flatnonzero(parts[0][:, i])
        for t in np.flatnonzero(parts[1][:, j])
    ]


# ------------------------------------------------------------------------------------------------ keeping them


def _laid(links: Sequence[list[Link]]) -> dict[str, NDArray[np.int64]]:
    ends = np.cumsum([0, *map(len, links)])
    flat = np.array([link for some in links for link in some], dtype=np.int64).reshape(-1, 2)
    return {"offsets": ends, "links": flat}


def _save(path: Path, found: dict[str, NDArray[np.int64]]) -> None:
    with path.open("wb") as file:
        np.savez(file, offsets=found["offsets"], links=found["links"])


def _kept(path: Path) -> dict[str, NDArray[np.int64]] | None:
    try:
        with np.load(path) as stored:
            return {name: stored[name] for name in ("offsets", "links")}
    except (OSError, ValueError, KeyError, EOFError):
        return None


def _fingerprint(corpora: Sequence[EncodedCorpus], tokenizer: Tokenizer) -> str:
    made = hashlib.blake2b(f"{FORMAT} {tokenizer.fingerprint}".encode(), digest_size=12)
    for corpus in corpora:
        for ids in (corpus.src, corpus.src_offsets, corpus.tgt, corpus.tgt_offsets):
            made.update(ids.tobytes())
    return made.hexdigest()


def _key(source: NDArray[np.int64], target: NDArray[np.int64]) -> int:
    return hash((source.tobytes(), target.tobytes()))
