"""A model as its diagram shows it: its blocks with shapes, parameters and operations, and the sentence that it reads.

    diagram_of(translator, "The cat is on the mat.")       a trained model, with its tokens and the weights of a step
    diagram_of_size("transformer", "base")                 sizes alone: no weights are made, whatever the size

The blocks come from the modules (`models/outline.py`). `render/model_figure.py` draws the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from regard.bundle.bundle import Bundle
from regard.config import nearest
from regard.errors import RecipeError
from regard.explain.mechanisms import Query
from regard.explain.sentence_pair import SentencePair, sentence_pair
from regard.explain.step import StepNumbers, step_numbers
from regard.explain.terms import Array
from regard.explain.trace import forced_maps
from regard.models.base import Model
from regard.models.ensemble import Ensemble
from regard.models.outline import Block, Outline, OutlineSide
from regard.models.table import ARCHITECTURES, check_architecture
from regard.text.words import word_spans
from regard.translation.translator import TextTranslator

# The sentence of the course, and its translation there.
EXAMPLE = ("The cat is on the mat.", "Le chat est sur le tapis.")
END, BEGIN = "EOS", "BOS"
SPACE = "▁"  # of a piece: the space before it


@dataclass(frozen=True)
class AttentionStep:
    """What one step of a real model attends to, head by head, and the numbers of one of its heads."""

    kind: str  # "cross" or "encoder"
    layer: int  # from 0
    weights: Array  # (H, queries, keys)
    numbers: StepNumbers | None  # None for a model that does not say what its attention is made of


@dataclass(frozen=True)
class ModelDiagram:
    name: str
    architecture: str
    outline: Outline  # counted
    parameters: int
    flops: float
    source: tuple[str, ...]  # tokens, EOS last
    read: tuple[str, ...]  # what the decoder reads, BOS first
    predicted: tuple[str, ...]  # what it predicts, EOS last
    step: AttentionStep | None = None

    def shown(self) -> ModelDiagram:
        """The same with tokens as a reader knows them; the words of a size are so already."""
        if not any(token.startswith(SPACE) for token in self.source):
            return self
        source, read, predicted = (tuple(map(piece_shown, some)) for some in (self.source, self.read, self.predicted))
        return replace(self, source=source, read=read, predicted=predicted)

    @property
    def members(self) -> tuple[Outline, ...]:
        return self.outline.members or (self.outline,)


def piece_shown(piece: str) -> str:
    """A piece as a reader knows words: without the sign of the space before it, and with a hyphen inside a word.

    >>> [piece_shown(piece) for piece in ("▁cat", "ing", ".", "<eos>")]
    ['cat', '-ing', '.', 'EOS']
    """
    if piece in ("<eos>", "<bos>"):
        return piece[1:-1].upper()
    if piece.startswith(SPACE) and len(piece) > 1:
        return piece[1:]
    return f"-{piece}" if piece[:1].isalpha() and not piece.isupper() else piece


# ── what is in an outline ───────────────────────────────────────────────────────────────────────────────────────────


def side(outline: Outline, name: str) -> OutlineSide | None:
    return next((one for one in outline.sides if one.name == name), None)


def of_kind(found: OutlineSide | None, kind: str) -> list[Block]:
    """The blocks of one kind, those of repeated layers as often as there are layers."""
    if found is None:
        return []
    return [b for layer in found.layers for b in layer.blocks if b.kind == kind for _ in range(layer.count)]


# ── from a model ────────────────────────────────────────────────────────────────────────────────────────────────────


def diagram_of(
    translator: TextTranslator | Bundle,
    text: str,
    target: str | None = None,
    query: Query | None = None,
    *,
    sentence: int | None = None,
    name: str = "",
) -> ModelDiagram:
    """The diagram of a trained model with the tokens of a sentence and of its translation. `query` is the step whose
    numbers are shown, by default the second word's in the layer that aligns; an ensemble has none."""
    return diagram_of_pair(sentence_pair(translator, text, target, sentence=sentence), query, name)


def diagram_of_pair(pair: SentencePair, query: Query | None = None, name: str = "") -> ModelDiagram:
    bundle, model = pair.bundle, pair.bundle.model
    labels = bundle.tokenizer.source.labels(pair.source_ids), bundle.tokenizer.target.labels(pair.target_ids)
    source, pieces = tuple(labels[0]), tuple(labels[1])
    step = attention_step(bundle, pair.source.model_text, pair.source_ids, pair.target_ids, query)
    found = model.outline(len(source) + 1, len(pieces) + 1).counted()
    return ModelDiagram(
        name or bundle.architecture,
        bundle.architecture,
        found,
        model.parameter_count(),
        model.flops(len(source) + 1, len(pieces) + 1),
        (*source, END),
        (BEGIN, *pieces),
        (*pieces, END),
        step,
    )


def attention_step(
    bundle: Bundle, text: str, source: Sequence[int], target: Sequence[int], query: Query | None
) -> AttentionStep | None:
    model = bundle.model
    if not model.has_attention or isinstance(model, Ensemble):
        return None
    maps = forced_maps(model, source, target)
    aligning = max(0, len(maps.cross) - (1 if model.last_layer_aligns else 2))
    query = query or Query("cross", aligning, 0, min(1, len(target)))  # the second word, or the end
    layer: Array = np.asarray(getattr(maps, query.kind)[query.layer][0].double())
    known = bool(model.attention_parts())
    return AttentionStep(
        query.kind, query.layer, layer, step_numbers(bundle, text, target, query) if known else None
    )  # fmt: skip


# ── from a size ─────────────────────────────────────────────────────────────────────────────────────────────────────


def diagram_of_size(
    architectures: Sequence[str], preset: str = "small", text: str = "", target: str = "", vocabulary: int = 8000
) -> ModelDiagram:
    """The diagram of a preset, or of the ensemble of several architectures: sizes alone, in torch's meta device."""
    source, pieces = words_of(text or EXAMPLE[0]), words_of(target or EXAMPLE[1])
    if text and not target:
        pieces = tuple(f"y({n})" for n in range(1, len(source) + 1))
    for architecture in architectures:
        check_architecture(architecture)
        presets = ARCHITECTURES[architecture].presets
        if preset not in presets:
            raise RecipeError(f'unknown model.preset "{preset}" of {architecture}; {nearest(preset, presets)}')
    with torch.device("meta"):
        models = [made(architecture, preset, vocabulary) for architecture in architectures]
        model = models[0] if len(models) == 1 else Ensemble(models)
    lengths = len(source) + 1, len(pieces) + 1
    names = [f"{architecture} {preset}" for architecture in architectures]
    return ModelDiagram(
        " + ".join(names),
        architectures[0] if len(models) == 1 else "ensemble",
        model.outline(*lengths).counted(),
        model.parameter_count(),
        model.flops(*lengths),
        (*source, END),
        (BEGIN, *pieces),
        (*pieces, END),
    )


def made(architecture: str, preset: str, vocabulary: int) -> Model:
    _, presets, model = ARCHITECTURES[architecture]
    return model(presets[preset], vocabulary, vocabulary, True)


def words_of(text: str) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in word_spans(text))


# ── data ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def diagram_data(diagram: ModelDiagram) -> dict[str, Any]:
    """For JSON: every block with its numbers; layers that are equal are one, with their count."""
    members = [outline_data(member.folded()) for member in diagram.members]
    return {
        "name": diagram.name,
        "architecture": diagram.architecture,
        "parameters": diagram.parameters,
        "flops": diagram.flops,
        "source": list(diagram.source),
        "read": list(diagram.read),
        "predicted": list(diagram.predicted),
        "members": [{"weight": w} | m for w, m in zip(diagram.outline.weights or (1.0,), members, strict=True)],
    }


def outline_data(outline: Outline) -> dict[str, Any]:
    sides = [
        {
            "name": one.name,
            "input": one.input,
            "output": one.output,
            "layers": [
                {"count": layer.count, "blocks": [block_data(block) for block in layer.blocks]} for layer in one.layers
            ],
        }
        for one in outline.sides
    ]
    bridge = None if outline.bridge is None else block_data(outline.bridge)
    return {"memory": outline.memory, "bridge": bridge, "sides": sides}


def block_data(block: Block) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": block.kind,
        "name": block.name,
        "what": block.what,
        "shape": list(block.shape),
        "parameters": block.parameters,
        "shares": block.shared,
        "flops": block.flops,
    }
    if block.reads:
        found["reads"] = block.reads
    if block.heads:
        found["heads"] = block.heads
    if block.offsets:
        found["reads_at"] = list(block.offsets)
    if block.chosen:
        found["experts"] = {"chosen": block.chosen[0], "all": block.chosen[1]}
    if block.parts:
        found["parts"] = [block_data(part) for part in block.parts]
    return found
