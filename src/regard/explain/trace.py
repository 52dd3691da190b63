"""The attention of every layer and head for one sentence, under forced decoding and under a search.

    S source subwords and EOS   T what the decoder predicts, EOS last   H heads   L layers   N live rows of a search

A model with a tag before every source has it as the first of S; like EOS it is not a word.

Under forced decoding one teacher-forced pass gives all maps. Under a search they are the search's own: a wrapper that
keeps the contract (`models/base.py`) stores the attention of each step under the tokens before it. Its state carries
those tokens, so they are reordered with the beam, and the rows of the chosen hypothesis are found by its own tokens.
The search does not know of it. The encoder's maps do not depend on the target and come from a pass over the source.

A slot (`text/slots.py`) is one token and one word. The model's own texts, `read` and `said`, have it as one character,
and spans are of these; whatever people see has the text that it stands for.

A row that does not sum to 1 is an error. This file merges no subwords (`attention.py`) and measures no alignment
(`alignment.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.align.attention import View, WordAttention, beyond_tag, views_of, word_attention
from regard.batch import EOS, flat_batch, pad_sources
from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.errors import BundleError, InputError
from regard.models.attention_parts import AttentionKind
from regard.models.base import Around, AttentionMaps, Memory, Model, State, Step
from regard.models.state import BatchState, inner, per_row
from regard.search.engine import Hypothesis
from regard.search.search import beam_search
from regard.text.slots import NO_SLOTS, SlotTexts, fill
from regard.text.words import Span, WordsOf, word_spans

Kind = AttentionKind
TOLERANCE = 1e-3  # how far from 1 a row may sum, for rounding


@dataclass(frozen=True)
class Trace:
    """One sentence pair and every attention between and within its two sides."""

    read: str  # the source as the model reads it
    said: str  # the target as the model says it
    source_pieces: tuple[str, ...]  # the tag if there is one, subwords, EOS last: S
    target_pieces: tuple[str, ...]  # what each decoder position predicts, EOS last: T
    source_spans: tuple[Span, ...]  # characters of `read` of each source subword, without tag and EOS
    target_spans: tuple[Span, ...]  # of `said`
    target_ids: tuple[int, ...]  # without EOS
    encoder: tuple[NDArray[np.float64], ...]  # per layer (H, S, S)
    decoder: tuple[NDArray[np.float64], ...]  # per layer (H, T, T): row t has read BOS and targets before t
    cross: tuple[NDArray[np.float64], ...]  # per layer (H, T, S)
    how: str  # "forced", "greedy", "beam 5"
    tag: str | None = None  # the source's first piece, where that is a tag
    slots: SlotTexts = NO_SLOTS  # what they stand for

    @property
    def source(self) -> str:
        """With slots filled."""
        return fill(self.read, self.slots.source)

    @property
    def target(self) -> str:
        return fill(self.said, self.slots.target)

    def weights(self, view: View, kind: Kind = "cross") -> NDArray[np.float64]:
        """One map in subwords, (queries, keys); the view's head, or the mean of heads."""
        layers = getattr(self, kind)
        if not layers:
            raise InputError(f"there is no {kind} attention in this model; it has {', '.join(self.kinds) or 'none'}")
        if not 0 <= view.layer < len(layers):
            raise InputError(f"layer must be from 0 to {len(layers) - 1} for {kind} attention, but is {view.layer}")
        heads: NDArray[np.float64] = layers[view.layer]  # (H, queries, keys)
        if view.head is None:
            mean: NDArray[np.float64] = heads.mean(axis=0)
            return mean
        if not 0 <= view.head < len(heads):
            raise InputError(f"head must be from 0 to {len(heads) - 1} in that layer, but is {view.head}")
        one: NDArray[np.float64] = heads[view.head]
        return one

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Which attentions the model has."""
        every: tuple[Kind, ...] = ("encoder", "decoder", "cross")
        return tuple(kind for kind in every if getattr(self, kind))

    def hidden_name(self, kind: Kind) -> str:
        """What of a map is no word."""
        if kind == "decoder":
            return "BOS"
        return f"EOS and {self.tag}" if self.tag else "EOS"

    def in_words(self, view: View, kind: Kind = "cross", words: WordsOf = word_spans) -> WordAttention:
        """One map between words: weights to the subwords of a word are summed, rows of its subwords averaged. What goes
        to EOS and the tag, or of the decoder's own words to BOS, is `eos_mass`. A row of the encoder is the word
        itself."""
        weights, row = self.weights(view, kind), view.row
        source = target = (self.target_spans, self.said, self.slots.target)
        if kind == "decoder":  # keys are BOS and the words before: BOS goes to the end, as what is not a word
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
        """Every view of the cross-attention, in words; slots are not filled."""
        cross = [beyond_tag(layer, self.tag) for layer in self.cross]
        return views_of(cross, self.source_spans, self.target_spans, self.read, self.said, words)


def trace_sentence(
    bundle: Bundle,
    source: str,
    target_ids: Sequence[int] | None = None,
    *,
    search: DecodeConfig | None = None,
    nbest: int = 0,
    slots: SlotTexts = NO_SLOTS,
) -> Trace:
    """All attention of one source and the target given in ids (forced), or the one that the search finds, which is the
    model's own unless given. `nbest` is the hypothesis' place in the n-best list, from 0; `slots` is what the slots of
    the source stand for."""
    tokenizer = bundle.tokenizer
    (source_ids,) = tokenizer.encode_source([source])
    if target_ids is not None:
        ids, maps, how = tuple(target_ids), forced_maps(bundle.model, source_ids, target_ids), "forced"
    else:
        config = search or bundle.decode
        found, maps = searched_maps(bundle.model, source_ids, config, nbest)
        ids, how = found.ids, "greedy" if config.beam == 1 else f"beam {config.beam}"
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
    """Each (1, H, queries, keys) → (H, queries, keys), whose every row sums to 1."""
    found = []
    for layer, maps in enumerate(layers):
        weights = maps[0].detach().cpu().double().numpy()
        sums = weights.sum(axis=-1)  # (H, queries)
        wrong = np.argwhere(~(np.abs(sums - 1) <= TOLERANCE))  # NaN is not near 1 either
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


# ------------------------------------------------------------------------------------------------ in ids


@torch.inference_mode()
def forced_maps(model: Model, source: Sequence[int], target: Sequence[int]) -> AttentionMaps:
    """The maps of a teacher-forced pass over one pair, given without BOS and EOS."""
    return model.attention(flat_batch([source], [target]).pad().to(model.device))


@torch.inference_mode()
def searched_maps(
    model: Model, source: Sequence[int], config: DecodeConfig, nbest: int = 0
) -> tuple[Hypothesis, AttentionMaps]:
    """A hypothesis of the search and the maps that the search itself had on its way to it."""
    traced = _TracedModel(model)
    src, mask = (t.to(model.device) for t in pad_sources([source]))
    (found,) = beam_search(traced, src, mask, config.beam, config.length_penalty)
    if not 0 <= nbest < len(found):
        raise InputError(
            f"nbest must be from 0 to {len(found) - 1}, the hypotheses that the search found, but is {nbest}; "
            "use a wider beam"
        )
    ids = found[nbest].ids
    prefixes = [ids[:t] for t in range(len(ids) + 1)]
    rows = [traced.seen[prefix] for prefix in prefixes if prefix in traced.seen]
    if len(rows) < len(prefixes):  # cut off at its length limit: the search made no step after its last token
        rows.append(_last_row(forced_maps(model, source, ids)))
    layers = [torch.stack(layer, dim=1)[None] for layer in zip(*(row.cross for row in rows), strict=True)]
    own = [_lower_triangle(layer)[None] for layer in zip(*(row.decoder for row in rows), strict=True)]
    return found[nbest], AttentionMaps(forced_maps(model, source, []).encoder, own, layers)


@dataclass(frozen=True)
class _StepAttention:
    """The attention of one row of one step."""

    cross: tuple[Tensor, ...]  # per layer (H, S)
    decoder: tuple[Tensor, ...]  # per layer (H, t + 1)


@dataclass(frozen=True)
class _TracedState(BatchState):
    model: State = inner()
    read: Tensor = per_row()  # (N, t) BOS and the tokens before this step


class _TracedModel(Around):
    """A model for one search over one sentence that stores each step's attention under the tokens before it."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.seen: dict[tuple[int, ...], _StepAttention] = {}

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> _TracedState:
        nothing = torch.empty(len(memory.mask) * beams, 0, dtype=torch.long, device=memory.mask.device)
        return _TracedState(beams, self.model.start(memory, trace=True, beams=beams), nothing)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, _TracedState)
        step = self.model.step(token, state.model)
        read = torch.cat([state.read, token[:, None]], dim=1)  # (N, t)
        for row, (_, *said) in enumerate(read.tolist()):
            cross = step.attention[row].unbind() if step.attention is not None else ()  # each (H, S)
            self.seen[tuple(said)] = _StepAttention(tuple(cross), tuple(layer[row] for layer in step.decoder))
        return step._replace(state=_TracedState(state.beams, step.state, read))


def _last_row(maps: AttentionMaps) -> _StepAttention:
    return _StepAttention(tuple(m[0, :, -1] for m in maps.cross), tuple(m[0, :, -1] for m in maps.decoder))


def _lower_triangle(rows: Sequence[Tensor]) -> Tensor:
    """Rows (H, 1), (H, 2), … (H, T) → (H, T, T), zero above the diagonal."""
    return torch.stack([torch.nn.functional.pad(row, (0, len(rows) - row.shape[1])) for row in rows], dim=1)
