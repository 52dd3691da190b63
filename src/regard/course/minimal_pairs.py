"""The sentences of the labs: all minimal pairs of the embedded corpus, with the words where the choice shows.

    The animal didn't cross the street because it was too tired.   → … parce qu'il …     because of *animal*
    The animal didn't cross the street because it was too wide.    → … parce qu'elle …   because of *street*

The two sentences of a pair differ only in the deciding words (*tired*, *wide*). The wrong translation of a sentence is
its own one up to the choice, then the other sentence's choice: for a pronoun "il" or "elle" alone, for a noun of two
senses its whole phrase ("le clou", "l'ongle"), so that both are correct French. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from regard.course.grammar import DEFAULT_SIZE, Example, generate
from regard.errors import InputError
from regard.text.words import split_words, word_spans

LabKind = Literal["pronoun", "polysemy"]
LABS: tuple[LabKind, ...] = get_args(LabKind)
_PLAIN = ("did", "does", "do", "will", "can", "could", "cannot")
_NEGATED = ("didn't", "doesn't", "don't", "won't", "can't", "couldn't")
_AUXILIARIES = (*_PLAIN, *_NEGATED)
_DETERMINERS = ("le", "la", "l'", "les", "un", "une", "des", "du", "au", "aux", "d'", "ce", "cet", "cette", "ces")


@dataclass(frozen=True)
class LabSentence:
    """One sentence of a pair. Word indices are those of `text.words`, from 0."""

    source: str
    target: str
    word: str  # must be in its translation, lower case …
    other: str  # … and this must not
    before: str  # its translation up to the choice
    right: str  # the choice
    wrong: str  # the other sentence's choice
    ambiguous: int  # the ambiguous source word: "it", "nail"
    resolved: int  # the target word that resolves it: "il", "clou"
    means: tuple[int, ...]  # source words: the antecedent of "it", or the words that decide the sense
    others: tuple[int, ...]  # source words to compare with: the other noun, or all other words
    decides: tuple[int, ...]  # source words in which the two sentences differ
    links: tuple[tuple[int, int], ...]  # gold alignment


@dataclass(frozen=True)
class LabPair:
    """Two sentences that differ only in the words that decide."""

    first: LabSentence
    second: LabSentence
    split: str


def all_pairs(kind: LabKind, limit: int | None = None, size: int = DEFAULT_SIZE) -> tuple[list[LabPair], list[LabPair]]:
    """Returns the pairs of dev, to choose heads on, and those of test and compositional, to measure on. `size` is that
    of the corpus whose training text excludes the pairs; `limit` is the maximum length of each list."""
    if kind not in LABS:
        raise InputError(f'there is no lab "{kind}"; there are {" and ".join(LABS)}')
    splits = generate(size)
    found: dict[str, list[LabPair]] = {}
    for name in ("dev", "test", "compositional"):
        split = splits[name]
        some = [p for p in split.pairs if p.kind == kind]
        found[name] = [
            LabPair(
                make_sentence(
                    kind, split.examples[p.first], split.examples[p.second], p.first_word, p.second_word, True
                ),
                make_sentence(
                    kind, split.examples[p.second], split.examples[p.first], p.second_word, p.first_word, False
                ),
                name,
            )
            for p in some
        ]
    chosen, measured = found["dev"], found["test"] + found["compositional"]
    return chosen[:limit], measured[:limit]


def make_sentence(
    kind: LabKind, own: Example, partner: Example, word: str, other: str, of_subject: bool
) -> LabSentence:
    """Makes a sentence of a pair with its word indices; `own` is its example, `partner` that of the other sentence."""
    source, target = [w.lower() for w in split_words(own.src)], [w.lower() for w in split_words(own.tgt)]
    partner_words = [w.lower() for w in split_words(partner.src)]
    decides = differing(source, partner_words)
    partner_target = [w.lower() for w in split_words(partner.tgt)]
    resolved, partner_resolved = _last(target, word), _last(partner_target, other)
    means: tuple[int, ...]
    others: tuple[int, ...]
    if kind == "pronoun":
        ambiguous = source.index("it", source.index("because"))
        subject = next(i for i, w in enumerate(source) if w in _AUXILIARIES) - 1
        thing = source.index("because") - 1
        means, others = ((subject,), (thing,)) if of_subject else ((thing,), (subject,))
        start, partner_start = resolved, partner_resolved
    else:
        ambiguous = next(i for i, j in own.alignment if j == resolved and i not in decides)
        means = decides
        others = tuple(i for i, w in enumerate(source) if i not in (*decides, ambiguous) and w.isalpha())
        start, partner_start = phrase_start(target, resolved), phrase_start(partner_target, partner_resolved)
    before, right = _cut(own.tgt, start, resolved)
    _, wrong = _cut(partner.tgt, partner_start, partner_resolved)
    return LabSentence(
        own.src, own.tgt, word, other, before, right, wrong, ambiguous, resolved, means, others, decides, own.alignment
    )


def differing(words: Sequence[str], others: Sequence[str]) -> tuple[int, ...]:
    """Returns the indices of the words that differ from the other sentence: those between shared prefix and suffix.

    >>> differing("the nail of the wall was old".split(), "the nail of the queen was old".split())
    (4,)
    """
    shared = min(len(words), len(others))
    start = next((i for i in range(shared) if words[i] != others[i]), shared)
    end = next((i for i in range(shared - start) if words[-1 - i] != others[-1 - i]), shared - start)
    return tuple(range(start, len(words) - end))


def phrase_start(words: Sequence[str], noun: int) -> int:
    """Returns the start of a noun's phrase: its determiner, or a "de" or "à" before that, which may contract.

    >>> phrase_start("il cherche de l' ongle".split(), 4), phrase_start("il cherche le vieux clou".split(), 4)
    (2, 2)
    """
    for start in range(noun - 1, max(-1, noun - 4), -1):
        if words[start] in _DETERMINERS:
            return start - 1 if start and words[start - 1] in ("de", "à") else start
    return noun


def _cut(text: str, first: int, last: int) -> tuple[str, str]:
    """Returns the text before word `first`, and the text from there to the end of word `last`."""
    spans = word_spans(text)
    return text[: spans[first][0]], text[spans[first][0] : spans[last][1]]


def _last(words: Sequence[str], word: str) -> int:
    return len(words) - 1 - list(reversed(words)).index(word)
