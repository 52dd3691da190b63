"""A model as its diagram shows it: its blocks with shapes, parameters and operations, and the sentence that it reads.

    diagram_of(translator, "The cat is on the mat.")       a trained model, with its tokens and the weights of a step
    diagram_of_size("transformer", "base")                 sizes alone: no weights are made, whatever the size

The blocks come from the modules (`models/outline.py`). `render/model_figure.py` draws the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from regard.bundle.bundle import Bundle
from regard.config import nearest
from regard.errors import RecipeError
from regard.explain.mechanisms import Query
from regard.explain.sentence_pair import SentencePair, sentence_pair
from regard.explain.step import StepNumbers, step_numbers
from regard.models.base import Model
from regard.models.ensemble import Ensemble
from regard.models.outline import Block, BlockKind, Outline
from regard.models.table import ARCHITECTURES, check_architecture
from regard.text.words import word_spans
from regard.translation.translator import TextTranslator

# A sentence and its translation, of different lengths, so that a shape tells which is which.
EXAMPLE = ("The cat is sleeping.", "Le chat dort.")
END, BEGIN = "EOS", "BOS"
SPACE = "▁"  # of a piece: the space before it


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
    step: StepNumbers | None = None  # one step of a trained model

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


def of_kind(outline: Outline, side: str, kind: BlockKind) -> list[Block]:
    """The blocks of one kind of a side, those of repeated layers as often as there are layers."""
    return [b for one, count, b in outline.walk() if (one.name, b.kind) == (side, kind) for _ in range(count)]


# ── from a model ────────────────────────────────────────────────────────────────────────────────────────────────────


def diagram_of(
    translator: TextTranslator | Bundle,
    text: str,
    target: str | None = None,
    *,
    sentence: int | None = None,
    name: str = "",
) -> ModelDiagram:
    """The diagram of a trained model with the tokens of a sentence and of its translation."""
    return diagram_of_pair(sentence_pair(translator, text, target, sentence=sentence), name)


def diagram_of_pair(pair: SentencePair, name: str = "") -> ModelDiagram:
    bundle, tokenizer = pair.bundle, pair.bundle.tokenizer
    source, target = tokenizer.source.labels(pair.source_ids), tokenizer.target.labels(pair.target_ids)
    found = _diagram(name or bundle.architecture, bundle.architecture, bundle.model, source, target)
    return replace(found, step=attention_step(pair))


def attention_step(pair: SentencePair) -> StepNumbers | None:
    """The step that predicts the second word, in the layer that aligns; None for a model without cross-attention, or
    one that does not say what its attention is made of, such as an ensemble."""
    model = pair.bundle.model
    parts = {} if isinstance(model, Ensemble) else model.attention_parts()
    layers = sum(kind == "cross" for kind, _ in parts)
    if not layers:
        return None
    aligning = max(0, layers - (1 if model.last_layer_aligns else 2))
    query = Query("cross", aligning, 0, min(1, len(pair.target_ids)))  # the second word, or the end
    return step_numbers(pair.bundle, pair.source.model_text, pair.target_ids, query)


# ── from a size ─────────────────────────────────────────────────────────────────────────────────────────────────────


def diagram_of_size(
    architectures: Sequence[str], preset: str = "small", text: str = "", target: str = "", vocabulary: int = 8000
) -> ModelDiagram:
    """The diagram of a preset, or of the ensemble of several architectures: sizes alone, in torch's meta device."""
    source, pieces = (words_of(given or example) for given, example in zip((text, target), EXAMPLE, strict=True))
    if text and not target:
        pieces = [f"y({n})" for n in range(1, len(source) + 1)]
    for architecture in architectures:
        check_architecture(architecture)
        presets = ARCHITECTURES[architecture].presets
        if preset not in presets:
            raise RecipeError(f'unknown model.preset "{preset}" of {architecture}; {nearest(preset, presets)}')
    with torch.device("meta"):
        known = [ARCHITECTURES[architecture] for architecture in architectures]
        models = [one.model(one.presets[preset], vocabulary, vocabulary, True) for one in known]
        model = models[0] if len(models) == 1 else Ensemble(models)
    name = " + ".join(one if one == preset else f"{one} {preset}" for one in architectures)
    return _diagram(name, architectures[0] if len(models) == 1 else "ensemble", model, source, pieces)


def words_of(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


def _diagram(name: str, architecture: str, model: Model, source: Sequence[str], target: Sequence[str]) -> ModelDiagram:
    lengths = len(source) + 1, len(target) + 1
    return ModelDiagram(
        name,
        architecture,
        model.outline(*lengths).counted(),
        model.parameter_count(),
        model.flops(*lengths),
        (*source, END),
        (BEGIN, *target),
        (*target, END),
    )


# ── data ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def diagram_data(diagram: ModelDiagram) -> dict[str, Any]:
    """For JSON: every block with its numbers; layers that are equal are one, with their count."""
    members = [outline_data(member.folded()) for member in diagram.members]
    return {
        **_values(diagram, "name", "architecture", "parameters", "flops", "source", "read", "predicted"),
        "members": [{"weight": w} | m for w, m in zip(diagram.outline.weights or (1.0,), members, strict=True)],
    }


def outline_data(outline: Outline) -> dict[str, Any]:
    sides = [
        {
            **_values(one, "name", "input", "output"),
            "layers": [
                {"count": layer.count, "blocks": [block_data(block) for block in layer.blocks]} for layer in one.layers
            ],
        }
        for one in outline.sides
    ]
    bridge = outline.bridge and block_data(outline.bridge)
    return {"memory": outline.memory, "bridge": bridge, "sides": sides}


def block_data(block: Block) -> dict[str, Any]:
    always = _values(block, "kind", "name", "what", "shape", "parameters")
    more = {
        "reads": block.reads,
        "inputs": block.inputs,
        "heads": block.heads,
        "reads_at": block.offsets,
        "experts": block.chosen and dict(zip(("chosen", "all"), block.chosen, strict=True)),
        "parts": [block_data(part) for part in block.parts],
    }
    always |= {"shares": block.shared, "flops": block.flops}
    return always | {name: value for name, value in more.items() if value}


def _values(of: object, *names: str) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}
