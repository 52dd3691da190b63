"""Every word of a translation: its probability, its alternatives, its tokens, and the source words it is linked to.

    T target tokens, EOS last   W target words   V vocabulary   k alternatives

The translation is forced, so all of it comes from one pass:

    probability    of a word: the product of the probabilities of its tokens, each given the source and the prefix
    alternatives   the most probable tokens at the position of the word's first token. Each is completed to a word with
                   the model's own best tokens; its probability is that of the first token alone. If several give the
                   same word, the most probable one is listed
    links          the source word with the largest attention weight, in the view of the model's card
    coverage       the attention that a source word gets from all target words together; words with hardly any are
                   listed, as the guard would count them
    loop           text that the translation repeats and the source does not

`share.py` computes how much of a word is due to the source and to the preceding words.

`word_choice` measures minimal pairs: two sources that differ in a word, and a target word that depends on it.

    The animal did not cross the street because it was too tired.     … parce qu'il était trop fatigué.
    The animal did not cross the street because it was too wide.      … parce qu'elle était trop large.

The position is the first word of the translation that is one of the given words. After the same prefix, the
probabilities of all given words are compared: the product over the tokens of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.align.attention import beyond_tag
from regard.batch import BOS, EOS, flat_batch
from regard.errors import InputError
from regard.explain.sentence_pair import SentencePair
from regard.models.base import Model
from regard.search.forced_decoding import forced_attention, forced_log_probs
from regard.text.casing import capitalize_first
from regard.text.pieces import SPACE
from regard.text.slots import fill
from regard.text.words import word_spans
from regard.translation.confidence import coverage
from regard.translation.guard import uncovered_words
from regard.translation.repetition import Loop, loop
from regard.translation.word_links import word_links

LONGEST = 6  # maximum tokens of a completed alternative
MOST_WORDS = 10  # maximum words of a choice
SPARE = 3  # extra tokens that are completed, because several may give the same word


@dataclass(frozen=True)
class WordAlternative:
    """A candidate for the position of a word."""

    text: str  # empty for the end of the sentence
    token: str  # its first token
    probability: float  # of that token
    chosen: bool  # whether the translation has that token


@dataclass(frozen=True)
class TranslatedWord:
    log_prob: float
    tokens: tuple[tuple[str, float], ...]  # tokens that start in the word, with their probabilities
    alternatives: tuple[WordAlternative, ...]  # best first; the chosen one is always among them
    links: tuple[int, ...]  # indices of source words


@dataclass(frozen=True)
class WordByWord:
    """The words of one sentence pair; they are those of `SentencePair.target_words`."""

    words: tuple[TranslatedWord, ...]
    token_log_probs: NDArray[np.float64]  # (T,) EOS last
    coverage: NDArray[np.float64] | None  # of each source word; None for a model without attention
    uncovered: tuple[int, ...]  # indices of source words
    loop: Loop | None


def word_by_word(pair: SentencePair, count: int = 5) -> WordByWord:
    """Computes probabilities, links and `count` alternatives for each word; 0 leaves alternatives out."""
    log_probs = forced_distributions(pair.bundle.model, pair.source_ids, pair.target_ids)  # (T, V)
    output = np.array([*pair.target_ids, EOS])
    own = log_probs[np.arange(len(output)), output]
    labels = pair.bundle.tokenizer.target.labels(pair.target_ids, pair.source.slots.target)
    firsts = pair.first_tokens()
    others = _alternatives(pair, log_probs, firsts, count) if count else [()] * len(firsts)
    links, covered, uncovered = _attention(pair)
    of_words = pair.by_word(own)
    begins = pair.target_shares.argmax(axis=1) if len(firsts) else np.zeros(0, dtype=int)  # the word of each token
    words = [
        TranslatedWord(
            float(of_words[word]),
            tuple((labels[t], float(np.exp(own[t]))) for t in np.flatnonzero(begins == word)),
            tuple(others[word]),
            tuple(sorted(links.get(word, ()))),
        )
        for word in range(len(firsts))
    ]
    repeated = loop(pair.source.text, pair.target.translation)
    return WordByWord(tuple(words), own, covered, uncovered, repeated)


@torch.inference_mode()
def forced_distributions(model: Model, source: Sequence[int], target: Sequence[int]) -> NDArray[np.float64]:
    """(T, V): log P of every token of the vocabulary at every target position, EOS included."""
    batch = flat_batch([source], [target]).pad().to(model.device)
    logits: Tensor = model(batch)[0]  # (T, V)
    found: NDArray[np.float64] = logits.double().log_softmax(dim=-1).cpu().numpy()
    return found


def _attention(pair: SentencePair) -> tuple[dict[int, set[int]], NDArray[np.float64] | None, tuple[int, ...]]:
    """The source words that each target word is linked to, the coverage of source words, and the uncovered words."""
    bundle, view = pair.bundle, pair.source.translator.alignment_view
    if not view or not pair.target_ids:
        return {}, None, ()
    (seen,) = forced_attention(bundle.model, view, [pair.source_ids], [pair.target_ids])
    weights = beyond_tag(seen, bundle.tag)
    in_words, spans = word_links(bundle.tokenizer, view, weights, pair.source.model_text, pair.target_ids)
    sources = {span: number for number, span in enumerate(word_spans(pair.source.model_text))}
    targets = {span: number for number, span in enumerate(pair.target_spans)}
    links: dict[int, set[int]] = {}
    for source, target in spans:
        links.setdefault(targets[target], set()).add(sources[source])
    return links, coverage(in_words), tuple(uncovered_words(in_words))


# ── alternatives ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _alternatives(
    pair: SentencePair, log_probs: NDArray[np.float64], firsts: Sequence[int], count: int
) -> list[list[WordAlternative]]:
    chosen = [_most_probable(log_probs[place], pair.target_ids[place], count + SPARE) for place in firsts]
    starts: dict[int, list[int]] = {}
    for place, tokens in zip(firsts, chosen, strict=True):  # a token that belongs to two words is the first of both
        starts.setdefault(place, tokens)
    ways = completed(pair.bundle.model, pair.source_ids, pair.target_ids, starts, begins_word(pair))
    first_way = dict(zip(starts, np.cumsum([0, *map(len, starts.values())]).tolist(), strict=False))
    vocabulary, slots = pair.bundle.tokenizer.target, pair.source.slots.target
    found = []
    for place, tokens in zip(firsts, chosen, strict=True):
        row = []
        for number, token in enumerate(tokens, start=first_way[place]):
            text, (label,) = _word(pair, place, ways[number]), vocabulary.labels([token], slots)
            probability = float(np.exp(log_probs[place, token]))
            row.append(WordAlternative(text, label, probability, token == pair.target_ids[place]))
        found.append(_distinct(row, count))
    return found


def _distinct(row: Sequence[WordAlternative], count: int) -> list[WordAlternative]:
    """The most probable alternative of each word, at most `count`, and the chosen one."""
    first: dict[str, WordAlternative] = {}
    for one in sorted(row, key=lambda one: not one.chosen):  # the chosen one represents its word
        first.setdefault(one.text, one)
    best = sorted(first.values(), key=lambda one: -one.probability)
    return [one for place, one in enumerate(best) if place < count or one.chosen]


def _most_probable(log_probs: NDArray[np.float64], output: int, count: int) -> list[int]:
    """The `count` most probable tokens, best first; the token of the translation is appended if missing."""
    allowed = log_probs.copy()
    allowed[:EOS] = -np.inf  # padding and BOS
    best = [int(token) for token in np.argsort(-allowed, kind="stable")[:count]]
    return best if output in best else [*best, output]


@torch.inference_mode()
def completed(
    model: Model,
    source: Sequence[int],
    target: Sequence[int],
    starts: Mapping[int, Sequence[int]],
    begins: NDArray[np.bool_],
) -> list[list[int]]:
    """Completes each start token of each position to a word, with the model's most probable tokens after the target
    prefix: until all next tokens start a new word, at most LONGEST tokens, possibly with EOS. `begins` (V,): which
    tokens start a word or end the sentence."""
    if not starts:
        return []
    device, last = model.device, max(starts)
    batch = flat_batch([source], [target]).pad().to(device)
    state = model.start(model.encode(batch.src, batch.src_mask))
    found: list[list[int]] = []
    for place, read in enumerate([BOS, *target][: last + 1]):
        state = model.step(torch.tensor([read], device=device), state).state
        if place in starts:
            ways = [torch.tensor(starts[place], device=device)]
            branch = state.select(torch.zeros_like(ways[0]))
            while len(ways) < LONGEST:
                step = model.step(ways[-1], branch)
                branch = step.state
                ways.append(step.logits.argmax(dim=-1))
                if begins[ways[-1].cpu().numpy()].all():
                    break
            found += torch.stack(ways, dim=1).tolist()
    return found


def begins_word(pair: SentencePair) -> NDArray[np.bool_]:
    """(V,): whether a token starts with a space, or ends the sentence."""
    space = SPACE.encode()
    found = np.array([piece.startswith(space) for piece in pair.bundle.tokenizer.target.bytes])
    found[: EOS + 1] = True
    return found


def _word(pair: SentencePair, place: int, way: Sequence[int]) -> str:
    """The word that contains the first token of a completion; empty if the sentence ends there."""
    if way[0] == EOS:
        return ""
    tokenizer = pair.bundle.tokenizer
    ids = [*pair.target_ids[:place], *(way[: way.index(EOS)] if EOS in way else way)]
    text, (start, end) = tokenizer.decode(ids), tokenizer.target_pieces(ids)[place]
    found = next((text[a:b] for a, b in word_spans(text) if b > start), text[start:end])
    return fill(found, pair.source.slots.target)


# ── a choice between words ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class WordChoice:
    position: int  # index of the target word where the choice is made
    prefix: str  # the translation before it, as the model writes it
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """The probability of each word relative to all given words."""
        total = sum(self.probabilities)
        return tuple(p / total if total else 0.0 for p in self.probabilities)


def word_choice(pair: SentencePair, words: Sequence[str]) -> WordChoice:
    """The probabilities of the given words at the position of the first of them. Raises InputError if none of them is
    in the translation, ignoring case."""
    given = [word.strip() for word in words]
    if not 2 <= len(given) <= MOST_WORDS or any(len(word_spans(word)) != 1 for word in given):
        raise InputError(f"words must be two to {MOST_WORDS} single words, such as il and elle, but are {list(words)}")
    small = {word.lower() for word in given}
    output = [pair.answer[start:end].lower() for start, end in pair.target_spans]
    place = next((number for number, word in enumerate(output) if word in small), None)
    if place is None:
        raise InputError(
            f'none of the words {", ".join(given)} is in the translation "{pair.target.translation}"; give a word of it'
        )
    start, end = pair.target_spans[place]
    before = pair.answer[:start]
    capital = pair.answer[start:end][:1].isupper()
    tokenizer, model = pair.bundle.tokenizer, pair.bundle.model
    forms = [capitalize_first(word) if capital else word for word in given]
    ids = tokenizer.encode_target([before + word for word in forms])
    rows = forced_log_probs(model, [pair.source_ids] * len(ids), ids)
    shared = sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, zip(*ids, strict=False)))
    totals = [float(np.exp(row[shared : len(own)].sum())) for row, own in zip(rows, ids, strict=True)]
    return WordChoice(place, before, tuple(forms), tuple(totals))
