"""How large a model may be: size and CPU latency of shapes, beside the model in the box.

python benchmarks/student_sizes.py                                          the shapes below
python benchmarks/student_sizes.py --shapes 8+2x384x4@16000 --beams 5 2     layers x width x inner/width @ pieces
python benchmarks/student_sizes.py --shapes 8+2x384x4@16000/7000            of which 7000 can be written

Speed does not depend on what weights were learnt, so each shape has random ones, converted to CTranslate2 in 8 bits.
All models read as many tokens as the box reads for the same English sentences and are made to write as many as the box
writes. That favours the box: on general text a larger vocabulary needs fewer pieces. The box always searches with its
own beam, the others with each of --beams: a model that learnt from a teacher's answers needs a narrower one.

Models take turns, many rounds, on one thread. A ratio is a model's time over that of the box in the same round, and the
figure is the median of the ratios, so other work on the machine matters little. "MB" is the bundle in 8 bits: matrices,
scales, norms and about 30 bytes a piece of the vocabulary. A cell of a beam holds the ratios of one sentence of about
12 words and of one of about 25; "sentences/s" is of many at a time. "Of which" are the pieces that the output is
limited to by CTranslate2's vocabulary map, as when a model for many languages writes one of them.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ctranslate2
import numpy as np
import torch

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.card import StoredView
from regard.bundle.numpy_weights import StoredTensor
from regard.bundle.weights import to_storage
from regard.export.ctranslate2 import CONFIGURATION, SHORTEST_TABLE, WITH_MAP, export_ctranslate2
from regard.export.ctranslate2_file import model_entries, write_model
from regard.models.base import unique_tensors
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.report.table import Table
from regard.text.vocabulary import SPECIALS

SHAPES = (
    "6+2x320x4@16000 6+2x384x4@16000 8+2x384x4@16000 10+2x384x4@16000 12+2x384x4@16000 6+2x448x4@16000 "
    "6+2x512x4@16000 8+2x512x3@16000 8+3x384x4@16000 8+2x384x4@8000 8+2x384x4@24000 12+2x384x4@12000 "
    "8+2x384x4@16000/7000 10+2x384x4@16000/3500 10+2x448x3@16000/3500 6+2x256x4@12000 8+2x256x4@8000"
)
PIECE_BYTES = 30  # of tokenizer.json, as in the box
BUDGET_MB, PAIR_MB, SLOWEST = 32.0, 10.6, 1.5
HEAD = 64  # numbers of an attention head, as in the box
BATCH = 32
SENTENCES = (  # of about 12 and 25 words
    "The committee will meet again next week to discuss the new proposal.",
    "She told me that her brother had never learned to drive a car.",
    "We would like to know why the train to Lyon is always late.",
    "Although the weather was bad, most of the people who had been invited came to the party and stayed until the end.",
    "The government said that it would not change its plans, but it will listen to anyone who has a better idea.",
    "If you do not know how to open the door, ask the man who lives next to the shop on the other side.",
)
SHORT = 3  # of them are of about 12 words


@dataclass(frozen=True)
class Shape:
    encoder: int
    decoder: int
    width: int
    inner: int
    pieces: int
    written: int | None = None  # pieces that the output is limited to

    @classmethod
    def parse(cls, text: str) -> Shape:
        """
        >>> Shape.parse("8+2x384x4@16000")
        Shape(encoder=8, decoder=2, width=384, inner=1536, pieces=16000, written=None)
        """
        found = re.fullmatch(r"(\d+)\+(\d+)x(\d+)x([\d.]+)@(\d+)(?:/(\d+))?", text)
        if found is None:
            raise SystemExit(f"a shape is written like 8+2x384x4@16000, but this is {text!r}")
        encoder, decoder, width, pieces = (int(found[i]) for i in (1, 2, 3, 5))
        return cls(encoder, decoder, width, round(float(found[4]) * width), pieces, int(found[6]) if found[6] else None)

    def __str__(self) -> str:
        some = f" of which {self.written:,}" if self.written else ""
        return f"{self.encoder}+{self.decoder}, {self.width}, {self.inner:,}, {self.pieces:,}{some}"


@dataclass(frozen=True)
class Candidate:
    name: str
    parameters: int
    megabytes: float
    engine: ctranslate2.Translator
    sources: list[list[str]]
    limited: bool = False  # to some pieces


@dataclass(frozen=True)
class Work:
    """What the box reads, and how many tokens it writes."""

    sources: list[list[str]]
    written: list[int]
    beam: int


def engine_of(folder: Path) -> ctranslate2.Translator:
    return ctranslate2.Translator(str(folder), compute_type="int8", inter_threads=1, intra_threads=1)


def the_box(model: Path, work: Path) -> tuple[Candidate, Work]:
    made = work / "box"
    export_ctranslate2(model, made)
    bundle, engine = Bundle.load(model), engine_of(made)
    beam = bundle.decode.beam
    pieces = bundle.tokenizer.source.pieces
    ids = bundle.tokenizer.encode_source(SENTENCES)
    sources = [[pieces[i] for i in line] + [SPECIALS[2]] for line in ids]
    said = engine.translate_batch(sources, beam_size=beam)
    table = bundle.config
    assert isinstance(table, TransformerConfig)
    shape = Shape(table.encoder_layers, table.decoder_layers, table.width, table.inner, len(pieces))
    name, size = f"the box: {shape}", megabytes(bundle.model, len(pieces))
    box_ = Candidate(name, bundle.model.parameter_count(), size, engine, sources)
    return box_, Work(sources, [len(one.hypotheses[0]) for one in said], beam)


def megabytes(model: torch.nn.Module, pieces: int) -> float:
    tensors = to_storage(unique_tensors(model), "int8")  # type: ignore[arg-type]
    return (sum(tensor.nbytes for tensor in tensors.values()) + PIECE_BYTES * pieces) / 1e6


def candidate(shape: Shape, work: Work, folder: Path) -> Candidate:
    """A model with random weights, converted."""
    config = TransformerConfig(shape.width, shape.width // HEAD, shape.inner, shape.encoder, shape.decoder, dropout=0.0)
    torch.manual_seed(1)
    model = Transformer(config, shape.pieces, shape.pieces, joint=True)
    stored = {name: StoredTensor(tensor.detach().numpy()) for name, tensor in unique_tensors(model).items()}
    folder.mkdir()
    view = StoredView(shape.decoder - 1, None, "predicting")
    write_model(folder / "model.bin", model_entries(vars(config), stored, view, SHORTEST_TABLE), "int8")
    pieces = [*SPECIALS, *(f"p{i}" for i in range(len(SPECIALS), shape.pieces))]
    (folder / "shared_vocabulary.json").write_text(json.dumps(pieces), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(WITH_MAP if shape.written else CONFIGURATION), encoding="utf-8")
    if shape.written is not None:  # after an empty source: pieces that can always be written
        (folder / "vmap.txt").write_text("\t" + " ".join(pieces[: shape.written]) + "\n", encoding="utf-8")
    draws = np.random.default_rng(1)
    sources = [
        [pieces[i] for i in draws.integers(len(SPECIALS), shape.pieces, len(line) - 1)] + [SPECIALS[2]]
        for line in work.sources
    ]
    size = megabytes(model, shape.pieces)
    return Candidate(str(shape), model.parameter_count(), size, engine_of(folder), sources, shape.written is not None)


def seconds(model: Candidate, work: Work, line: int, beam: int, copies: int = 1) -> float:
    """Of one sentence, or of several of its length at a time."""
    long = work.written[line]
    began = time.perf_counter()
    said = model.engine.translate_batch(
        [model.sources[line]] * copies,
        beam_size=beam,
        min_decoding_length=long,
        max_decoding_length=long,
        use_vmap=model.limited,
    )
    took = time.perf_counter() - began
    assert len(said[0].hypotheses[0]) == long
    return took


def measure(models: Sequence[Candidate], work: Work, beams: Sequence[int], rounds: int) -> dict[str, list[list[float]]]:
    """Ratios by kind of work, a row for each round, in it a ratio for each model and beam: one short sentence, one long
    one, and many long ones. The first model is the one that the others are compared with."""
    jobs = [("12 words", line, 1) for line in range(SHORT)]
    jobs += [("25 words", line, 1) for line in range(SHORT, len(SENTENCES))]
    jobs.append(("many", len(SENTENCES) - 1, BATCH))
    tried = [(models[0], work.beam), *((model, beam) for model in models[1:] for beam in beams)]
    found: dict[str, list[list[float]]] = {kind: [] for kind, _, _ in jobs}
    for model, beam in tried:  # what is computed at the first call is not timed
        seconds(model, work, 0, beam)
    for number in range(rounds):
        for kind, line, copies in jobs:
            if copies == 1 or number % 4 == 0:
                found[kind].append([seconds(model, work, line, beam, copies) for model, beam in tried])
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--model", type=Path, default=bundled_models.folder_of(), help="the model to compare with (default: the box)"
    )
    options.add_argument("--shapes", nargs="+", default=SHAPES.split())
    options.add_argument("--beams", type=int, nargs="+", default=[5, 3, 2])
    options.add_argument("--rounds", type=int, default=8)
    given = options.parse_args()
    shapes, beams = [Shape.parse(text) for text in given.shapes], given.beams
    with tempfile.TemporaryDirectory() as place:
        reference, work = the_box(given.model, Path(place))
        models = [reference, *(candidate(shape, work, Path(place) / str(i)) for i, shape in enumerate(shapes))]
        found = measure(models, work, beams, given.rounds)

    def ratio(kind: str, column: int) -> float:
        return statistics.median(one[column] / one[0] for one in found[kind])

    rows = []
    for i, model in enumerate(models):
        columns = [1 + (i - 1) * len(beams) + k for k in range(len(beams))] if i else [0] * len(beams)
        alone = [(ratio("12 words", column), ratio("25 words", column)) for column in columns]
        quick = [str(beam) for beam, both in zip(beams, alone, strict=True) if max(both) <= SLOWEST]
        size = "a pair" if model.megabytes <= PAIR_MB else "all six" if model.megabytes <= BUDGET_MB else "no"
        cells = [f"{model.parameters / 1e6:.1f} M", f"{model.megabytes:.1f}"]
        cells += [f"{short:.2f}× {long:.2f}×" for short, long in alone]
        cells += [f"{1 / ratio('many', column):.2f}×" for column in columns[-1:]]
        rows.append([model.name, *cells, size, ", ".join(quick) or "none"])
    least = [min(one[0] for one in found[kind]) * 1000 for kind in ("12 words", "25 words")]
    header = ["layers, width, inner, pieces", "parameters", "MB", *(f"beam {beam}" for beam in beams)]
    print(Table([*header, f"sentences/s, beam {beams[-1]}", "size for", f"beams ≤ {SLOWEST}×"], rows).text())
    print(
        f"int8, one thread of {platform.machine()}, CTranslate2 {ctranslate2.__version__}; the box, beam {work.beam}, "
        f"takes {least[0]:.1f} and {least[1]:.1f} ms at least for sentences of about 12 and 25 words"
    )


if __name__ == "__main__":
    main()
