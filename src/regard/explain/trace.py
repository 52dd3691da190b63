"""The attention of every layer and head for one sentence pair, under forced decoding.

    S source subwords and EOS   T decoder predictions, EOS last   H heads   L layers

If a model has a tag before every source, the tag is the first of S; like EOS it is not a word. One teacher-forced pass
gives all maps; they equal those of a search that found this target.

A slot (`text/slots.py`) is one token and one word. It is one character in the model's own texts, `read` and `output`,
to which spans refer; texts for users have the slot's content.

A row that does not sum to 1 is an error. Subwords are merged in `align/attention.py`, and alignment is measured in
`alignment.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.align.attention import View, WordAttention, beyond_tag, views_of, word_attention
from regard.batch import EOS, flat_batch
from regard.bundle.bundle import Bundle
from regard.errors import BundleError, InputError
from regard.models.attention_parts import AttentionKind
from regard.models.base import AttentionMaps, Model
from regard.text.slots import NO_SLOTS, SlotTexts, fill
from regard.text.words import Span, WordsOf, word_spans

Kind = AttentionKind
KINDS: tuple[Kind, ...] = get_args(AttentionKind)
TOLERANCE = 1e-3  # how far from 1 a row may sum, for rounding


@dataclass(frozen=True)
class Trace:
    """One sentence pair with all attention between and within source and target."""

    read: str  # the source as the model reads it
    output: str  # the target as the model writes it
    source_pieces: tuple[str, ...]  # the tag if there is one, subwords, EOS last: S
    target_pieces: tuple[str, ...]  # what each decoder position predicts, EOS last: T
    source_spans: tuple[Span, ...]  # span in `read` of each source subword, without tag and EOS
    target_spans: tuple[Span, ...]  # spans in `output`
    target_ids: tuple[int, ...]  # without EOS
    encoder: tuple[NDArray[np.float64], ...]  # per layer (H, S, S)
    decoder: tuple[NDArray[np.float64], ...]  # per layer (H, T, T): row t has read BOS and the targets before t
    cross: tuple[NDArray[np.float64], ...]  # per layer (H, T, S)
    how: str  # the search that found the target: "forced", "greedy", "beam 5"
    tag: str | None = None  # the source's first piece if it is a tag
    slots: SlotTexts = NO_SLOTS  # the contents of slots

    @property
    def source(self) -> str:
        """The source text with slots filled."""
        return fill(self.read, self.slots.source)

    @property
    def target(self) -> str:
        return fill(self.output, self.slots.target)

    def weights(self, view: View, kind: Kind = "cross") -> NDArray[np.float64]:
        """One map in subwords, (queries, keys), of the view's head or the mean of heads."""
        layers = getattr(self, kind)
        if not layers:
            raise InputError(f"there is no {kind} attention in this model; it has {', '.join(self.kinds) or 'none'}")
        if not 0 <= view.layer < len(layers):
            raise InputError(f"layer must be from 0 to {len(layers) - 1} for {kind} attention, but is {view.layer}")
        heads: NDArray[np.float64] = layers[view.layer]  # (H, queries, keys)
        if view.head is not None and not 0 <= view.head < len(heads):
            raise InputError(f"head must be from 0 to {len(heads) - 1} in that layer, but is {view.head}")
        found: NDArray[np.float64] = heads.mean(axis=0) if view.head is None else heads[view.head]
        return found

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model has."""
        return tuple(kind for kind in KINDS if getattr(self, kind))

    def hidden_name(self, kind: Kind) -> str:
        """The name of the columns that are not words."""
        if kind == "decoder":
            return "BOS"
        return f"EOS and {self.tag}" if self.tag else "EOS"

    def in_words(self, view: View, kind: Kind = "cross", words: WordsOf = word_spans) -> WordAttention:
        """Returns one map between words: weights to the subwords of a word are summed, rows of its subwords averaged.
        The weight on EOS and the tag, or on BOS in decoder self-attention, is `eos_mass`. A row of the encoder is
        the word itself."""
        weights, row = self.weights(view, kind), view.row
        source = target = (self.target_spans, self.output, self.slots.target)
        if kind == "decoder":  # keys are BOS and the previous words: BOS moves to the end, since it is not a word
            weights = np.roll(weights, -1, axis=1)
        else:
            weights, source = beyond_tag(weights, self.tag), (self.source_spans, self.read, self.slots.source)
        if kind == "encoder":
            weights, target, row = weights[self.tag is not None :], source, "predicting"
        merged = word_attention(weights, source[0], target[0], source[1], target[1], row, words)
        columns = tuple(fill(word, source[2]) for word in merged.source_words)
        rows = tuple(fill(word, target[2]) for word in merged.target_words)
        return replace(merged, source_words=columns, target_words=rows, hidden_name=self.hidden_name(kind))

    def views(self, words: WordsOf = word_spans) -> dict[View, WordAttention]:
        """Returns every view of the cross-attention in words, without filling slots."""
        cross = [beyond_tag(layer, self.tag) for layer in self.cross]
        return views_of(cross, self.source_spans, self.target_spans, self.read, self.output, words)


def trace_sentence(
    bundle: Bundle, source: str, target_ids: Sequence[int], *, slots: SlotTexts = NO_SLOTS, how: str = "forced"
) -> Trace:
    """Computes all attention weights of a source and given target ids. `slots` are the contents of its slots, `how`
    names the search that found the target. Raises InputError for a model without attention."""
    tokenizer = bundle.tokenizer
    (source_ids,) = tokenizer.encode_source([source])
    ids, maps = tuple(target_ids), forced_maps(bundle.model, source_ids, target_ids)
    if not maps.cross:
        raise no_attention(bundle)
    tokens, end = tokenizer.plain.source_tokens(source), tokenizer.target.pieces[EOS]
    return Trace(
        source,
        tokenizer.decode(ids),
        (*tokenizer.source.labels(source_ids, slots.source), end),
        (*tokenizer.target.labels(ids, slots.target), end),
        tuple((t.start, t.end) for t in tokens),
        tuple(tokenizer.target_pieces(ids)),
        ids,
        checked_rows("encoder", maps.encoder),
        checked_rows("decoder", maps.decoder),
        checked_rows("cross", maps.cross),
        how,
        bundle.tag,
        slots,
    )


def checked_rows(kind: Kind, layers: Sequence[Tensor]) -> tuple[NDArray[np.float64], ...]:
    """Converts each (1, H, queries, keys) to (H, queries, keys); raises if a row does not sum to 1."""
    found = []
    for layer, maps in enumerate(layers):
        weights = maps[0].detach().cpu().double().numpy()
        sums = weights.sum(axis=-1)  # (H, queries)
        wrong = np.argwhere(~(np.abs(sums - 1) <= TOLERANCE))  # also true for NaN
        if len(wrong):
            head, row = wrong[0]
            raise BundleError(
                f"{kind} attention of layer {layer}, head {head}, row {row}, counted from 0, sums to "
                f"{sums[head, row]:.3f}, not 1, so no map is shown; the weights may be damaged: copy the model again"
            )
        found.append(weights)
    return tuple(found)


def no_attention(bundle: Bundle) -> InputError:
    return InputError(
        f'there is no attention to show: a model of the architecture "{bundle.architecture}" has none; '
        "train one that has: architecture rnn-attention or transformer"
    )


@torch.inference_mode()
def forced_maps(model: Model, source: Sequence[int], target: Sequence[int]) -> AttentionMaps:
    """The attention maps of a teacher-forced pass over one pair of ids, given without BOS and EOS."""
    return model.attention(flat_batch([source], [target]).pad().to(model.device))
