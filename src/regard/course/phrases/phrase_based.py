"""A phrase-based translator (Koehn, Och and Marcu, 2003), from sentence pairs to text.

    pairs ─ two HMM aligners, joined ─▶ phrases with four scores     `align/hmm.py`, `extract.py`, `table.py`
    target side ─▶ a 5-gram model                                    `kneser_ney.py`
    development pairs ─ decode, learn to rank, again ─▶ weights      `search.py`, `tune.py`
    a file                                                           `store.py`

Words are compared without case; unknown ones are copied. Capitals and spaces are restored as in the word-based
translator (`word_based.py`). Not modelled: agreement over a distance longer than a phrase or five words, inflection of
unseen words, and where phrases move (the cost of a jump depends only on its length).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from regard.align import hmm
from regard.align.numbered import Link, NumberedPairs
from regard.config import key, require
from regard.course.phrases.kneser_ney import KneserNey, train_language_model
from regard.course.phrases.search import (
    FEATURES,
    Derivation,
    Option,
    Options,
    PartialTranslation,
    SearchConfig,
    Weights,
    n_best,
    search,
)
from regard.course.phrases.store import load, save
from regard.course.phrases.table import KEPT, SCORES, PhraseTable, build_table
from regard.course.phrases.tune import RankedCandidates, interpolated_weights, pro, scored_candidates
from regard.course.word_based import Orthography
from regard.errors import InputError
from regard.metrics.bleu import bleu
from regard.text.words import word_spans

INITIAL_WEIGHTS: Weights = (0.1, 0.1, 0.05, 0.05, 0.0, 0.2, 0.35, 0.15)  # before tuning
UNKNOWN_SCORE = -10.0  # each table score of a word that is copied
JOIN: hmm.Join = "grow-diag-final-and"
Say = Callable[[str], None]


@dataclass(frozen=True)
class PhraseBasedConfig:
    """Settings for training and search of a phrase-based translator."""

    longest: int = key(5, "words of a phrase at most")
    order: int = key(5, "words of the longest n-gram of the language model")
    options: int = key(20, "translations of a phrase that are tried")
    rounds: int = key(6, "times that the development text is decoded to tune the weights; 0: not tuned")
    dev_sentences: int = key(500, "sentences of the development text that are used")
    n_best: int = key(100, "translations of a sentence that tuning ranks")
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        require(1 <= self.longest <= 10, f"longest must be from 1 to 10, but is {self.longest}")
        require(2 <= self.order <= 10, f"order must be from 2 to 10, but is {self.order}")
        require(1 <= self.options <= KEPT, f"options must be from 1 to {KEPT}, but is {self.options}")
        require(self.rounds >= 0, f"rounds must be 0 or more, but is {self.rounds}")
        require(self.dev_sentences >= 1, f"dev_sentences must be 1 or more, but is {self.dev_sentences}")
        require(self.n_best >= 2, f"n_best must be 2 or more, but is {self.n_best}")


@dataclass(frozen=True)
class PhraseBased:
    """A trained phrase-based translator."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    table: PhraseTable
    language: KneserNey
    writing: Orthography
    weights: Weights
    config: PhraseBasedConfig

    def __post_init__(self) -> None:
        if len(self.weights) != len(FEATURES):
            raise InputError(f"weights must be {len(FEATURES)}, one for each of FEATURES, but are {len(self.weights)}")

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        dev: Sequence[tuple[str, str]] = (),
        config: PhraseBasedConfig | None = None,
        say: Say = lambda _: None,
    ) -> PhraseBased:
        """Trains on (source, target) lines, which are read twice; the weights are tuned on `dev`, if it is given."""
        if iter(pairs) is pairs:
            raise InputError("pairs must be read several times, but an iterator was given; give a list")
        c = config or PhraseBasedConfig()
        numbered = NumberedPairs.of(pairs)
        say(f"aligning {len(numbered):,} pairs")
        links = list(hmm.train_both_on(numbered).align_each(numbered, JOIN))
        made = cls.of_links(numbered, links, (target for _, target in pairs), c, say)
        return tune_weights(made, dev[: c.dev_sentences], say) if dev and c.rounds else made

    @classmethod
    def of_links(
        cls,
        numbered: NumberedPairs,
        links: Sequence[Sequence[Link]],
        targets: Iterable[str],
        config: PhraseBasedConfig | None = None,
        say: Say = lambda _: None,
    ) -> PhraseBased:
        """Builds a translator from aligned pairs and the original target lines; its weights are not tuned."""
        c = config or PhraseBasedConfig()
        say("extracting phrases")
        table = build_table(numbered, links, c.longest)
        say(f"{len(table):,} phrase pairs; counting n-grams")
        language = train_language_model(numbered.target, len(numbered.target_words), c.order)
        writing = Orthography.learn(targets)
        return cls(numbered.source_words, numbered.target_words, table, language, writing, INITIAL_WEIGHTS, c)

    @cached_property
    def _source_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.source_words)}

    def save(self, path: str | Path) -> None:
        """Writes one file (`store.py`), whose name must end in .npz."""
        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> PhraseBased:
        """Reads a saved translator; raises InputError if the file is missing or is not one."""
        return load(cls, Path(path))

    def translate(self, lines: Iterable[str]) -> list[str]:
        """Translates each line."""
        return [self.translate_line(line) for line in lines]

    def translate_line(self, line: str) -> str:
        found = self.candidates(line, 1)
        return self.write(line, found[0]) if found else ""

    def candidates(self, line: str, size: int) -> list[Derivation]:
        """Returns the best translations, in words; none for a line without a word."""
        words = [line[start:end] for start, end in word_spans(line)]
        return n_best(self.search(words), size) if words else []

    def write(self, line: str, candidate: Derivation) -> str:
        """Formats a candidate as text, with capitals and spaces."""
        return self.writing.write(candidate.words, capital=line.lstrip()[:1].isupper())

    def search(self, words: Sequence[str]) -> PartialTranslation:
        return search(len(words), self.options(words), self.language, self.weights, self.config.search)

    def options(self, words: Sequence[str]) -> Options:
        """Returns the best translations of every span by the weights; a word without any is copied."""
        numbers = [self._source_numbers.get(word.casefold(), -1) for word in words]
        found: dict[tuple[int, int], list[Option]] = {}
        for start in range(len(words)):
            for end in range(start + 1, min(start + self.table.longest, len(words)) + 1):
                if numbers[end - 1] < 0:
                    break
                some = [
                    self._option(tuple(target), tuple(self.target_words[n] for n in target), tuple(scores))
                    for target, scores in self.table.lookup(numbers[start:end])
                ]
                if some:
                    some.sort(key=lambda option: -option.estimate)
                    found[start, end] = some[: self.config.options]
            if (start, start + 1) not in found:
                copied = (UNKNOWN_SCORE,) * len(SCORES)
                found[start, start + 1] = [self._option((self.language.unknown,), (words[start],), copied)]
        return found

    def _option(self, words: tuple[int, ...], text: tuple[str, ...], scores: tuple[float, ...]) -> Option:
        w = self.weights
        score = sum(weight * one for weight, one in zip(w, scores, strict=False)) + w[4] + w[5] * len(words)
        lm, state = 0.0, 0
        for word in words:
            log_prob, state = self.language.follow(state, word)
            lm += log_prob
        return Option(words, text, scores, score, score + w[6] * lm)


def tune_weights(system: PhraseBased, dev: Sequence[tuple[str, str]], say: Say) -> PhraseBased:
    """Tunes the weights; returns the system with those of the round with the highest BLEU on the development text."""
    dev = [(source, target) for source, target in dev if word_spans(source)]
    if not dev:
        raise InputError("weights are tuned on development pairs with words, but they were given none")
    pools: list[dict[str, tuple[float, ...]]] = [{} for _ in dev]
    best, best_score = system, -1.0
    for number in range(system.config.rounds + 1):
        firsts = []
        for (source, _), pool in zip(dev, pools, strict=True):
            found = system.candidates(source, system.config.n_best)
            texts = [system.write(source, one) for one in found]
            firsts.append(texts[0])
            pool.update((text, one.features) for text, one in zip(texts, found, strict=True))
        score = bleu(firsts, [target for _, target in dev]).score
        say(f"tuning, round {number} of {system.config.rounds}: BLEU {score:.2f} on {len(dev):,} sentences")
        if score > best_score:
            best, best_score = system, score
        if number < system.config.rounds:
            learnt = pro(list(_ranked(pools, dev)), system.weights, seed=number)
            system = replace(system, weights=interpolated_weights(system.weights, learnt))
    return best


def _ranked(
    pools: Sequence[dict[str, tuple[float, ...]]], dev: Sequence[tuple[str, str]]
) -> Iterator[RankedCandidates]:
    for pool, (_, reference) in zip(pools, dev, strict=True):
        yield scored_candidates(list(pool.values()), list(pool), reference)
