"""Examples for the quality estimator: pairs of sentences, with what is wrong in them.

    python recipes/box/quality/examples.py --pairs edited.en-fr.tsv … --model MODEL --out OUT

A line of --pairs has, for each of its two languages, a sentence and the same sentence with another meaning (edits.py).
The model translates both, x to T(x) and x' to T(x'), so of every sentence there are, with y its translation by people:

    x, y    x, T(x)    x', T(x')         right, T(x) as far as it resembles y
    x, T(x')    x', T(x)    x', y    x, y'    wrong, in the words that differ

Neither side alone tells whether a pair is right. Pairs (x, T(x')) are left out where the model finds T(x') hardly less
probable than T(x), given x: synonyms, and words that may be left out.
"""

from __future__ import annotations

import argparse
import difflib
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.bundle.bundle import Bundle
from regard.bundle.bundled_models import folder_of
from regard.bundle.find_model import find_model
from regard.device import pick_device
from regard.metrics.chrf import Chrf
from regard.models.transformer_recorded import for_search
from regard.search.engine import SearchRequest
from regard.search.forced_decoding import forced_log_probs
from regard.search.options import SearchOptions
from regard.search.search import search
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import SPECIALS
from regard.text.words import word_spans
from regard.translation.confidence import rightness

EOS = SPECIALS.index("</s>")
RIGHT, WRONG, UNKNOWN = 0, 1, 2  # labels of tokens
GAP = 3.0  # nats by which the translation of the other sentence must be less probable
MOST_TOKENS = 250  # of a pair
MOST_CHANGED = 0.6  # share of a translation's words, above which it is not known which are wrong
CHUNK = 20_000


class Edited(NamedTuple):
    languages: tuple[str, str]
    sentence: str
    other: str  # with another meaning; "" if there is none
    reference: str  # translation of the sentence by people
    wrong_reference: str  # with another meaning; "" if there is none


class Pair(NamedTuple):
    source: str
    target: str
    languages: tuple[str, str]
    right: float  # from 0 to 1
    other_source: str | None = None  # whose words tell which ones of the source are wrong; None: not known
    other_target: str | None = None


def read(path: Path, most: int) -> list[Edited]:
    languages = path.stem.split(".")[-1].split("-")
    found = []
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in islice(file, most):
            _, a, a2, _, b, b2 = line.rstrip("\n").split("\t")
            found.append(Edited((languages[0], languages[1]), a, a2, b, b2))
            found.append(Edited((languages[1], languages[0]), b, b2, a, a2))
    return found


class Translated(NamedTuple):
    row: Edited
    answer: str
    other_answer: str
    gap: float  # nats between both answers, given the sentence


def translated(rows: Sequence[Edited], folder: Path, device: str) -> list[Translated]:
    bundle = Bundle.load(find_model(folder), device)
    bundle.model.eval()
    model, tokenizer = for_search(bundle.model), bundle.tokenizer.plain
    texts = [text for row in rows for text in (row.sentence, row.other)]
    ids = tokenizer.encode_source(texts)
    tags = [tokenizer.source.ids[f"<{row.languages[1]}>"] for row in rows for _ in (0, 1)]
    asked = [SearchRequest((tag, *one)) for tag, one in zip(tags, ids, strict=True)]
    began = time.time()
    found = [one[0] for one in search(model, asked, SearchOptions(1, 0.6))]
    print(f"{len(asked):,} translations, {time.time() - began:.0f} s", flush=True)
    sources = [one.ids for one in asked[::2]]
    forced = forced_log_probs(bundle.model, sources, [one.ids for one in found[1::2]], 60_000)
    print(f"forced, {time.time() - began:.0f} s", flush=True)
    gaps = [best.log_prob - float(row.sum()) for best, row in zip(found[::2], forced, strict=True)]
    answers = [tokenizer.decode(one.ids) for one in found]
    return [
        Translated(row, a, b, gap) for row, a, b, gap in zip(rows, answers[::2], answers[1::2], gaps, strict=True)
    ]


def pairs_of(rows: Sequence[Translated]) -> list[Pair]:
    """Of rows of one direction."""
    metric = Chrf()
    stats = metric.stats([one.answer for one in rows], [one.row.reference for one in rows])
    similar = metric.scores(stats.rows) / 100
    languages, found = rows[0].row.languages, []
    for (row, answer, other_answer, gap), chrf in zip(rows, similar, strict=True):
        own, other, reference = row.sentence, row.other, row.reference
        good = rightness(float(chrf), len(own.split()))
        found += [Pair(own, reference, languages, 1.0, own, reference), Pair(own, answer, languages, good, own, answer)]
        if row.wrong_reference:
            found.append(Pair(own, row.wrong_reference, languages, 0.0, None, reference))
        if not other:
            continue
        found.append(Pair(other, reference, languages, 0.0, own, None))
        if other_answer != answer and gap > GAP:
            found.append(Pair(own, other_answer, languages, 0.0, other, answer))
            found.append(Pair(other, answer, languages, 0.0, own, other_answer))
            if good > 0.5:
                found.append(Pair(other, other_answer, languages, good, other, other_answer))
    return found


def differing(text: str, other: str) -> list[tuple[int, int]] | None:
    """The spans of the words that the other text does not have; None if nearly all words differ."""
    if text == other:
        return []
    spans, theirs = word_spans(text), word_spans(other)
    a, b = [text[i:j] for i, j in spans], [other[i:j] for i, j in theirs]
    found = [
        spans[i]
        for kind, start, end, _, _ in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        if kind != "equal"
        for i in range(start, end)
    ]
    return found if len(found) <= max(2, MOST_CHANGED * len(a)) else None


def labelled(tokenizer: Tokenizer, ids: Sequence[int], text: str, other: str | None, right: float) -> list[int]:
    """The label of each token of one side."""
    wrong = None if other is None else differing(text, other)
    if wrong is None:
        return [UNKNOWN] * len(ids)
    rest = RIGHT if right in (0.0, 1.0) else UNKNOWN
    if not wrong:
        return [rest] * len(ids)
    spans = tokenizer.source.spans(ids)
    return [WRONG if any(a < j and i < b for i, j in wrong) else rest for a, b in spans]


Arrays = tuple[NDArray[np.uint16], NDArray[np.uint8], NDArray[np.int32], NDArray[np.float32]]
_tokenizer: Tokenizer


def _start(folder: Path) -> None:
    global _tokenizer
    _tokenizer = Tokenizer.load(folder / "tokenizer.json")


def encoded(rows: Sequence[Translated]) -> Arrays:
    """Ids and labels of all pairs, one after the other, the length of each, and how right it is."""
    tokenizer = _tokenizer
    pairs = pairs_of(rows)
    sides = [tokenizer.source.encode([pair[side] for pair in pairs]) for side in (0, 1)]
    ids: list[int] = []
    labels: list[int] = []
    lengths, right = [], []
    for pair, source, target in zip(pairs, *sides, strict=True):
        size = len(source) + len(target) + 4
        if size > MOST_TOKENS:
            continue
        first, second = (tokenizer.source.ids[f"<{language}>"] for language in pair.languages)
        ids += [first, *source, EOS, second, *target, EOS]
        own = labelled(tokenizer, source, pair.source, pair.other_source, pair.right)
        their = labelled(tokenizer, target, pair.target, pair.other_target, pair.right)
        labels += [UNKNOWN, *own, UNKNOWN, UNKNOWN, *their, UNKNOWN]
        lengths.append(size)
        right.append(pair.right)
    return (
        np.array(ids, np.uint16),
        np.array(labels, np.uint8),
        np.array(lengths, np.int32),
        np.array(right, np.float32),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True)
    parser.add_argument("--model", type=Path, default=folder_of())
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=10**9, help="lines of each file")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    began = time.time()
    device = str(pick_device(given.device))
    given.out.mkdir(parents=True, exist_ok=True)
    rows = [row for path in given.pairs for row in read(path, given.most)]
    print(f"{len(rows):,} sentences, {time.time() - began:.0f} s", flush=True)
    found = translated(rows, given.model, device)
    print(f"translated, {time.time() - began:.0f} s", flush=True)
    by_language: dict[tuple[str, str], list[Translated]] = {}
    for one in found:
        by_language.setdefault(one.row.languages, []).append(one)
    chunks = [some[i : i + CHUNK] for some in by_language.values() for i in range(0, len(some), CHUNK)]
    context = get_context("spawn")  # a forked process cannot use CUDA
    start = {"mp_context": context, "initializer": _start, "initargs": (find_model(given.model),)}
    with ProcessPoolExecutor(given.processes, **start) as pool:
        arrays = list(pool.map(encoded, chunks))
    for name, parts in zip(("ids", "labels", "lengths", "right"), zip(*arrays, strict=True), strict=True):
        np.save(given.out / f"{name}.npy", np.concatenate(parts))
    total = sum(len(part[2]) for part in arrays)
    print(f"{total:,} examples, {sum(len(part[0]) for part in arrays):,} tokens, {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
