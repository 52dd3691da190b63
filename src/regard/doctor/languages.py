"""Checks whether lines are in the language of their side, by character trigrams that are counted on each side.

A line is cut into overlapping character trigrams (Cavnar and Trenkle 1994), and each side counts its own. With
c_s(g) the count of g on side s, without the line itself, and n_s their sum,

    ln P_s(line) = Σ_g ln (c_s(g) + α) / (n_s + α G)        α = 0.5, G the distinct trigrams of both sides

A line whose other side is more probable by a wide margin is in the other side's language; if both lines of a pair are,
the pair is swapped. A line that is far less probable for its length than others of its side, on both sides, is unlike
the corpus: another language, a list of names, code, a formula. Which language it is is not determined, and two sides
that are written alike (dialects, paraphrases) cannot be distinguished. Scripts are known from the names of characters.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHA = 0.5
MARGIN = 12.0  # nats by which the other side must be more probable
LETTERS = 10  # minimum trigrams of a line to be judged; a name or a number belongs to both sides
UNLIKE_LETTERS = 20  # minimum trigrams of a line to be judged as unlike the corpus
STRANGE = 4.0  # standard distances from the median at which a line is unlike the others
STEADY = 60  # trigrams beyond which the mean of a line varies no less: topics differ, however long a line is
ALIKE = 0.3  # nats per trigram by which lines must usually fit their own side better, to distinguish the sides
LONGEST = 1000  # maximum characters of a line that are used
FEWEST_LINES = 100
MANY_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH"}


@dataclass(frozen=True)
class Fit:
    """The log-probabilities, in nats, of every line of a side on its own side and on the other."""

    own: Floats
    other: Floats
    trigrams: Ints  # number of trigrams; 0 for a line that is not judged

    @property
    def fits_other(self) -> NDArray[np.bool_]:
        return (self.other - self.own > MARGIN) & (self.trigrams >= LETTERS)

    @property
    def margin(self) -> float:
        """The median advantage of the own side over the other, in nats per trigram."""
        judged = self.trigrams >= LETTERS
        if judged.sum() < FEWEST_LINES:
            return 0.0
        return float(np.median((self.own - self.other)[judged] / self.trigrams[judged]))

    def unlike(self) -> NDArray[np.bool_]:
        """Returns the outliers, by the median and the median absolute deviation, which are robust."""
        judged = self.trigrams >= UNLIKE_LETTERS
        if judged.sum() < FEWEST_LINES:
            return np.zeros(len(self.trigrams), dtype=bool)
        mean = np.maximum(self.own, self.other) / np.maximum(1, self.trigrams)
        away = (mean - np.median(mean[judged])) * np.sqrt(np.minimum(self.trigrams, STEADY))  # short lines vary more
        spread = max(0.1, float(np.median(np.abs(away[judged]))) * 1.4826)  # a normal distribution's σ
        return judged & (away < -STRANGE * spread)


@dataclass(frozen=True)
class Languages:
    source: Fit
    target: Fit

    @property
    def apart(self) -> bool:
        """Whether the two sides can be distinguished."""
        return all(fit.margin > ALIKE for fit in (self.source, self.target))

    def swapped(self) -> list[int]:
        """Returns the pairs in which each line fits the other side better, both together by the margin."""
        source, target = self.source, self.target
        both = (source.other > source.own) & (target.other > target.own)
        clear = source.other - source.own + target.other - target.own > MARGIN
        judged = (source.trigrams >= LETTERS) & (target.trigrams >= LETTERS)
        return np.flatnonzero(both & clear & judged).tolist()


def judge_languages(pairs: Sequence[tuple[str, str]]) -> Languages:
    texts = [[pair[side] for pair in pairs] for side in (0, 1)]
    sides = [_trigrams(some) for some in texts]
    known, numbers = np.unique(np.concatenate([grams for grams, _ in sides]), return_inverse=True)
    cut = len(sides[0][0])
    grams = numbers[:cut], numbers[cut:]
    rows = [np.repeat(np.arange(len(pairs)), lengths) for _, lengths in sides]
    new = [_first_of_its_kind(some) for some in texts]  # a repeated line would increase its own probability
    counts = [np.bincount(grams[s][new[s][rows[s]]], minlength=len(known)).astype(np.float64) for s in (0, 1)]
    fits = []
    for side in (0, 1):
        own = _log_probability(counts[side][grams[side]] - 1, counts[side].sum(), len(known))  # without itself
        other = _log_probability(counts[1 - side][grams[side]], counts[1 - side].sum(), len(known))
        summed: list[Floats] = [np.bincount(rows[side], some, len(pairs)).astype(np.float64) for some in (own, other)]
        fits.append(Fit(summed[0], summed[1], sides[side][1]))
    return Languages(*fits)


def _first_of_its_kind(texts: Sequence[str]) -> NDArray[np.bool_]:
    first: dict[str, int] = {}
    return np.array([first.setdefault(text, at) == at for at, text in enumerate(texts)], dtype=bool)


def _log_probability(counts: Floats, total: float, kinds: int) -> Floats:
    found: Floats = np.log((counts + ALPHA) / (total + ALPHA * kinds))
    return found


def letters_only(text: str) -> str:
    """Returns the words in lower case between single spaces; digits and punctuation do not depend on the language.

    >>> letters_only("L'été 2024, déjà!")
    ' l été déjà '
    """
    words = "".join(c if c.isalpha() or unicodedata.combining(c) else " " for c in text[:LONGEST].lower()).split()
    return f" {' '.join(words)} " if words else ""


def _trigrams(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """Returns all character trigrams as numbers, and the number of trigrams of each line."""
    forms = [letters_only(text) for text in texts]
    forms = [form if len(form) >= 3 else "" for form in forms]
    points = np.frombuffer("".join(forms).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    sizes = np.array([len(form) for form in forms], dtype=np.int64)
    if len(points) < 3:
        return np.zeros(0, dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
    grams = points[:-2] << 42 | points[1:-1] << 21 | points[2:]  # a character has 21 bits
    inside = np.ones(len(grams), dtype=bool)
    ends = np.cumsum(sizes)[sizes > 0]
    inside[ends[:-1] - 1] = inside[ends[:-1] - 2] = False  # these overlap with the next line
    return grams[inside], np.maximum(0, sizes - 2)


@cache
def script_of(character: str) -> str | None:
    """Returns the script of a letter; None for characters of no single script.

    >>> script_of("é"), script_of("ж"), script_of("猫"), script_of("7")
    ('LATIN', 'CYRILLIC', 'CJK', None)
    """
    if not character.isalpha():
        return None
    first = unicodedata.name(character, "?").split()[0]
    return "CJK" if first in MANY_SCRIPTS else first


def script_of_line(text: str) -> str | None:
    """Returns the script of most letters; None for a line with fewer than three."""
    if text.isascii():
        return "LATIN" if sum(map(str.isalpha, text)) >= 3 else None
    counts = Counter(script for script in map(script_of, text[:LONGEST]) if script)
    return counts.most_common(1)[0][0] if counts.total() >= 3 else None
