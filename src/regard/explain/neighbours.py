"""The training pairs nearest to a sentence, for a model with a file of its training pairs beside its weights.

    pairs.tsv      one pair per line: source, a tab, target (UTF-8); in the folder of a model or of its training run

    similarity(x, y) = Σ idf(w)² over words in both / (‖x‖ ‖y‖)      ‖x‖² = Σ idf(w)² over its words
    idf(w) = log((1 + N) / (1 + pairs with w)) + 1

This is the cosine of TF-IDF vectors of the source sides, in which a word counts once however often it occurs. It
compares words, not meanings: a paraphrase is not found. The search is exact. The index takes four bytes for each word
of the source sides and twelve for each pair; texts stay in the file.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.translation.repetition import words_of

PAIRS_FILE = "pairs.tsv"
MOST_PAIRS = 2_000_000
MEASURE = "cosine of TF-IDF vectors of the words of the source"


@dataclass(frozen=True)
class Neighbour:
    source: str
    target: str
    similarity: float  # 0: no word in common, 1: the same words
    line: int  # in the file, counted from 0


class PairIndex:
    """An index of the source words in a file of pairs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._starts = array("Q")
        at = 0
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file):
                    if number == MOST_PAIRS:
                        break
                    self._starts.append(at)
                    at += len(line)
                    for word in set(words_of(_sides(line)[0])):
                        places[word].append(number)
        except OSError as problem:
            raise InputError(f"{path.name} beside the model cannot be read: {problem.strerror}") from None
        self._lines = {word: np.frombuffer(lines, dtype=np.uint32) for word, lines in places.items()}
        self._norms = np.zeros(len(self))
        for word, lines in self._lines.items():
            self._norms[lines] += self._idf(word) ** 2
        self._norms = np.sqrt(self._norms).astype(np.float32)

    def __len__(self) -> int:
        return len(self._starts)

    def nearest(self, text: str, count: int = 5) -> list[Neighbour]:
        """The most similar pairs; ties keep the order of the file. Pairs without a common word are left out."""
        words = set(words_of(text))
        scores: NDArray[np.float64] = np.zeros(len(self))
        for word in words & self._lines.keys():
            scores[self._lines[word]] += self._idf(word) ** 2
        norm = float(np.sqrt(sum(self._idf(word) ** 2 for word in words)))
        found = np.flatnonzero(scores)
        similarity = scores[found] / (np.maximum(self._norms[found], 1e-9) * max(norm, 1e-9))
        best = np.argsort(-similarity, kind="stable")[:count]
        with self.path.open("rb") as file:
            return [self._pair(file, int(found[i]), float(similarity[i])) for i in best]

    def _idf(self, word: str) -> float:
        return float(np.log((1 + len(self)) / (1 + len(self._lines.get(word, ()))))) + 1

    def _pair(self, file: BinaryIO, line: int, similarity: float) -> Neighbour:
        file.seek(self._starts[line])
        return Neighbour(*_sides(file.readline()), min(1.0, similarity), line)


def pairs_file(folder: Path | None) -> Path | None:
    """The file of pairs beside a model, if there is one."""
    places = () if folder is None else (folder, folder / "best", folder / "last")  # a model, or a run that contains it
    return next((place / PAIRS_FILE for place in places if (place / PAIRS_FILE).is_file()), None)


def pairs_of(folder: Path | None) -> PairIndex | None:
    """The index of the pairs beside a model; None without such a file."""
    path = pairs_file(folder)
    return None if path is None else PairIndex(path)


def _sides(line: bytes) -> tuple[str, str]:
    source, _, target = line.decode("utf-8", "replace").rstrip("\r\n").partition("\t")
    return source, target
