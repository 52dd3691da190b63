"""A word-for-word translator: the baseline of every comparison.

Each source word is replaced by one target word or by none, in the order of the source. The choice weighs how the word
was translated in the training text against a bigram language model of the target side:

    score(f | e) = Σ_i ln p(f_i | e_i) + λ · Σ_j ln p(f_j | f_{j−1})        f_j: the f_i that are not nothing

p(f | e) is counted over the links on which two HMM aligners agree; a word without a link was translated by
nothing. The language model is Kneser and Ney's (1995) of order two, interpolated, with one discount D:

    p(w | v) = max(c(vw) − D, 0) / c(v) + D · |{w': c(vw') > 0}| / c(v) · q(w)
    q(w)     = (|{v: c(vw) > 0}| + 1) / (all distinct bigrams + vocabulary + 1)    an unseen word has the + 1 alone

The rest of a translation depends only on the last word, so of two hypotheses with the same last word the better one is
kept: with a wide enough beam the search is exact. Words are compared without case; unknown ones are copied.

What it does not do: move a word, turn one word into two ("didn't" cannot become "ne … pas"), agree, or inflect.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from regard.align import hmm
from regard.align.ibm import NOTHING, Lexicon, count_translations
from regard.align.numbered import NumberedPairs, words_of
from regard.config import build, key, require
from regard.errors import InputError, RecipeError
from regard.files import write_atomically
from regard.text.casing import capitalize_first
from regard.text.words import word_spans

DISCOUNT = 0.75
_FORMAT = "regard word-based translator, 1"


@dataclass(frozen=True)
class WordBasedConfig:
    """Settings of a word-based translator."""

    options: int = key(8, "how many translations of a word are tried")
    drop: float = key(0.5, "a word may be left out if at least this share of its uses had no translation")
    lm_weight: float = key(1.0, "weight of the language model")
    beam: int = key(30, "partial translations that are kept after each word")

    def __post_init__(self) -> None:
        require(self.options >= 1, f"options must be 1 or more, but is {self.options}")
        require(0 <= self.drop <= 1, f"drop must be from 0 to 1, but is {self.drop}")
        require(self.lm_weight >= 0, f"lm_weight must be 0 or more, but is {self.lm_weight}")
        require(self.beam >= 1, f"beam must be 1 or more, but is {self.beam}")


# ------------------------------------------------------------------------------------------------ language model


@dataclass(frozen=True)
class Bigrams:
    """A language model: the counts of pairs of words. A sentence begins and ends with NOTHING."""

    counts: Mapping[str, Mapping[str, int]]  # first word → second word → count

    @classmethod
    def count(cls, lines: Iterable[Sequence[str]]) -> Bigrams:
        """Counts the bigrams of lines of words."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for line in lines:
            for first, second in zip([NOTHING, *line], [*line, NOTHING], strict=True):
                counts[first][second] += 1
        return cls(counts)

    @cached_property
    def _before(self) -> Counter[str]:
        """The number of different words before each word."""
        return Counter(second for seconds in self.counts.values() for second in seconds)

    @cached_property
    def _distinct(self) -> int:
        return self._before.total()

    @cached_property
    def _totals(self) -> dict[str, int]:
        return {first: sum(seconds.values()) for first, seconds in self.counts.items()}

    @property
    def words(self) -> list[str]:
        """All words that can follow another, including NOTHING (the end)."""
        return list(self._before)

    def probability(self, word: str, after: str) -> float:
        """Returns p(word | after), where `after` is the preceding word."""
        known = (self._before[word] + 1) / (self._distinct + len(self._before) + 1)
        total = self._totals.get(after, 0)
        if not total:
            return known
        seconds = self.counts[after]
        seen = max(seconds.get(word, 0) - DISCOUNT, 0.0)
        return (seen + DISCOUNT * len(seconds) * known) / total


# ------------------------------------------------------------------------------------------------ writing


@dataclass(frozen=True)
class Orthography:
    """How the words of a language are written: capitals, and marks without a space before or after."""

    spelling: Mapping[str, str]  # of words that are not lower case inside a sentence: paul → Paul
    after: frozenset[str]  # written without a space before it: . ,
    before: frozenset[str]  # written without a space after it: l' (

    @classmethod
    def learn(cls, lines: Iterable[str]) -> Orthography:
        """Learns the orthography of a text from its lines."""
        forms: dict[str, Counter[str]] = defaultdict(Counter)
        leans: dict[str, Counter[str]] = {"after": Counter(), "before": Counter()}  # + 1 without a space, − 1 with one
        for line in lines:
            spans = word_spans(line)
            for (start, end), (last_start, last_end) in zip(spans[1:], spans, strict=False):
                word, last = line[start:end], line[last_start:last_end]
                forms[word.casefold()][word] += 1
                sign = 1 if start == last_end else -1
                if not any(c.isalnum() for c in word):
                    leans["after"][word] += sign
                if not last[-1].isalnum():
                    leans["before"][last.casefold()] += sign
        common = {folded: max(seen, key=lambda form: (seen[form], form)) for folded, seen in forms.items()}
        return cls(
            {folded: form for folded, form in sorted(common.items()) if form != folded},
            frozenset(word for word, sign in leans["after"].items() if sign > 0),
            frozenset(word for word, sign in leans["before"].items() if sign > 0),
        )

    def write(self, words: Sequence[str], capital: bool) -> str:
        """Joins words to a line of text."""
        text, last = "", ""
        for word in words:
            space = " " if text and word not in self.after and last not in self.before else ""
            text += space + self.spelling.get(word, word)
            last = word.casefold()
        return capitalize_first(text) if capital else text


# ------------------------------------------------------------------------------------------------ translator


@dataclass(frozen=True)
class WordBased:
    """A trained word-based translator."""

    lexicon: Lexicon
    language: Bigrams
    writing: Orthography
    config: WordBasedConfig

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        config: WordBasedConfig | None = None,
        aligner: hmm.HmmConfig | None = None,
    ) -> WordBased:
        """Trains on (source, target) lines, which are read three times. Pairs with an empty side are left out."""
        if iter(pairs) is pairs:
            raise InputError("pairs must be read several times, but an iterator was given; give a list")
        config = config or WordBasedConfig()
        numbered = NumberedPairs.of(pairs)
        links = hmm.train_both_on(numbered, aligner).align_each(numbered, "intersection")
        return cls(
            count_translations(numbered, links, config.options, config.drop),
            Bigrams.count(words for _, target in pairs if (words := words_of(target))),
            Orthography.learn(target for _, target in pairs),
            config,
        )

    def translate(self, lines: Iterable[str]) -> list[str]:
        """Translates each line."""
        return [self.translate_line(line) for line in lines]

    def translate_line(self, line: str) -> str:
        words = [line[start:end] for start, end in word_spans(line)]
        if not words:
            return ""
        best = search([self._options(word) for word in words], self.language, self.config.lm_weight, self.config.beam)
        return self.writing.write(best, capital=words[0][:1].isupper())

    def _options(self, word: str) -> list[tuple[str, float]]:
        return self.lexicon.get(word.casefold(), [(word, 1.0)])

    def save(self, path: str | Path) -> None:
        """Writes JSON, compressed if the name ends in .gz. Equal translators give equal bytes."""
        stored = {
            "format": _FORMAT,
            "config": asdict(self.config),
            "lexicon": self.lexicon,
            "bigrams": self.language.counts,
            "spelling": self.writing.spelling,
            "after": sorted(self.writing.after),
            "before": sorted(self.writing.before),
        }
        data = json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        if str(path).endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        write_atomically(Path(path), lambda file: file.write_bytes(data))

    @classmethod
    def load(cls, path: str | Path) -> WordBased:
        """Reads a saved translator; raises InputError if the file is missing or is not one."""
        try:
            data = Path(path).read_bytes()
        except OSError as problem:
            raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
        try:
            stored = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
            if stored["format"] != _FORMAT:
                raise ValueError(stored["format"])
            return cls(
                {word: [(f, float(p)) for f, p in options] for word, options in stored["lexicon"].items()},
                Bigrams(stored["bigrams"]),
                Orthography(stored["spelling"], frozenset(stored["after"]), frozenset(stored["before"])),
                build(WordBasedConfig, stored["config"], "config"),
            )
        except (
            *(ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError),
            *(zlib.error, gzip.BadGzipFile, RecipeError),
        ):
            raise InputError(f"{path} is not a word-based translator; write one with WordBased.save") from None


def search(options: Sequence[Sequence[tuple[str, float]]], language: Bigrams, weight: float, beam: int) -> list[str]:
    """Finds the best words by beam search, one or none from each list of options."""
    kept: dict[str, tuple[float, tuple[str, ...]]] = {NOTHING: (0.0, ())}  # by last word: score, words
    for choices in options:
        longer: dict[str, tuple[float, tuple[str, ...]]] = {}
        for last, (score, words) in kept.items():
            for word, probability in choices:
                new, end, made = score + math.log(probability), last, words
                if word != NOTHING:
                    new += weight * math.log(language.probability(word.casefold(), last))
                    end, made = word.casefold(), (*words, word)
                if end not in longer or new > longer[end][0]:
                    longer[end] = (new, made)
        kept = dict(sorted(longer.items(), key=lambda item: -item[1][0])[:beam])
    closed = [
        (score + weight * math.log(language.probability(NOTHING, last)), words) for last, (score, words) in kept.items()
    ]
    return list(max(closed, key=lambda ended: ended[0])[1])
