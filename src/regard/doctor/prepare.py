"""Prepares the data as for training, with vocabulary and encoded pairs in the cache, and gathers statistics.

If there are more pairs than can be encoded in a minute, a sample of them is written to a temporary folder and used
instead: lengths and frequencies are those of the sample, counts and seconds are scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from regard.data.config import CorpusConfig
from regard.data.corpus import PairFiles, read_pairs
from regard.data.encode import EncodedCorpus
from regard.data.epochs import encode_epoch
from regard.data.filters import FilterReport
from regard.data.splits import find_splits
from regard.doctor.predict import CorpusSummary
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import BYTES
from regard.training.cost import now, since
from regard.training.job import find_start_model
from regard.training.log import progress_bar
from regard.training.training_data import learn_tokenizer

AT_ONCE = 300_000  # maximum pairs that are all prepared
STAND_IN = 100_000  # pairs of the sample
OFTEN = 100  # minimum occurrences of a piece to be learnt well (Gowda and May 2020)


@dataclass(frozen=True)
class Prepared:
    recipe: Recipe  # for the rehearsal: the given one, or one of a sample
    corpus: CorpusSummary
    scale: float  # pairs of the corpus per prepared pair


@contextmanager
def prepared(recipe: Recipe, pairs: int, console: Console) -> Iterator[Prepared]:
    """Prepares the data of a recipe; the yielded recipe can be rehearsed inside the `with`."""
    if pairs <= AT_ONCE:
        yield Prepared(recipe, summarize_corpus(recipe, 1.0, console), 1.0)
        return
    with TemporaryDirectory() as folder:
        stride = -(-pairs // STAND_IN)
        stand_in = subsample(recipe, stride, Path(folder))
        yield Prepared(stand_in, summarize_corpus(stand_in, stride, console), stride)


def subsample(recipe: Recipe, stride: int, folder: Path) -> Recipe:
    """Returns the recipe with every stride-th pair of each training corpus. They are evenly spread, since the
    beginning of a corpus may differ from the rest."""
    data = recipe.data
    held = data.dev_src or data.dev_pairs or data.dev_size == 0
    splits = find_splits(data if held else replace(data, dev_size=0))
    tables = []
    for number, corpus in enumerate(splits.train):
        paths = folder / f"{number}.src", folder / f"{number}.tgt"
        with paths[0].open("w", encoding="utf-8") as src, paths[1].open("w", encoding="utf-8") as tgt:
            for pair in islice(read_pairs(corpus.files), 0, None, stride):
                src.write(pair[0].replace("\n", " ") + "\n")
                tgt.write(pair[1].replace("\n", " ") + "\n")
        tables.append(CorpusConfig(str(paths[0]), str(paths[1]), None, corpus.weight, corpus.tag, corpus.rough))
    cache = str(folder / "cache")
    return replace(recipe, data=replace(data, src=None, tgt=None, pairs=None, corpus=tuple(tables), cache=cache))


def summarize_corpus(recipe: Recipe, scale: float, console: Console) -> CorpusSummary:
    """Learns the vocabulary and encodes the pairs, or reads both from the cache."""
    began = now()
    splits = find_splits(recipe.data)
    start = find_start_model(recipe.train.start_from, recipe.architecture, recipe.model, recipe.text)
    tokenizer = start.tokenizer if start else learn_tokenizer(recipe.data, recipe.text, splits, console)
    with progress_bar(console, "encoding pairs") as show:
        encoded = encode_epoch(splits.train, tokenizer, recipe.data, recipe.train.seed, None, show)
    preparing = since(began) * scale
    report = sum((corpus.report for corpus in encoded), FilterReport())
    counts = piece_counts(encoded, tokenizer) * scale
    often = int((counts >= OFTEN).sum())
    return CorpusSummary(
        pairs=round(sum(map(len, encoded)) * scale),
        target_tokens=round(sum(len(corpus.tgt) + len(corpus) for corpus in encoded) * scale),
        preparing=preparing,
        prepared=scale == 1,
        dropped={name: round(count * scale) for name, count in report.dropped.items()},
        rare=1 - often / len(counts),
        often=often,
        unknown={
            name: unknown_share(files, tokenizer)
            for name, files in (("dev", splits.dev), ("test", splits.test))
            if files
        },
    )


def piece_counts(corpora: list[EncodedCorpus], tokenizer: Tokenizer) -> NDArray[np.float64]:
    """Counts each piece except bytes in the targets; for a joint vocabulary, on both sides."""
    counts = np.zeros(tokenizer.target_size)
    for corpus in corpora:
        sides = (corpus.src, corpus.tgt) if tokenizer.config.joint else (corpus.tgt,)
        counts += sum(np.bincount(side, minlength=tokenizer.target_size) for side in sides)
    return counts[[piece not in BYTES for piece in tokenizer.target.pieces]]


def unknown_share(files: PairFiles, tokenizer: Tokenizer) -> float:
    """Returns the share, in the sources, of words that are not in the vocabulary, or of pieces that are bytes."""
    ids = [i for row in tokenizer.encode_source([src for src, _ in read_pairs(files)]) for i in row]
    if tokenizer.unknown is not None:
        odd = {tokenizer.unknown}
    else:
        odd = {tokenizer.source.ids[piece] for piece in BYTES if piece in tokenizer.source.ids}
    return sum(i in odd for i in ids) / max(1, len(ids))
