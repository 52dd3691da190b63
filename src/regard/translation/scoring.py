"""Scores of given translations by a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from regard.device import has_torch
from regard.errors import InputError
from regard.export.ctranslate2 import source_checksum
from regard.search.ctranslate2_model import cached
from regard.search.engine import check_log_probs
from regard.search.options import BATCH_TOKENS
from regard.text.slots import NO_SLOTS, SlotTexts
from regard.text.words import Span
from regard.translation.loaded_model import LoadedModel
from regard.translation.options import TranslateOptions, checked_texts
from regard.translation.translation import in_one_line
from regard.translation.units import UnitMaker

if TYPE_CHECKING:
    from regard.search.ctranslate2_engine import CTranslate2Engine
    from regard.search.likelihood import Likelihood

CHUNK = 2000  # pairs at a time


class ScoringModel(LoadedModel):
    """A model that scores and ranks translations."""

    @overload
    def score(self, sources: str, targets: str, *, tag: str | None = None) -> Likelihood: ...  # type: ignore[overload-overlap]

    @overload
    def score(self, sources: Iterable[str], targets: Iterable[str], *, tag: str | None = None) -> list[Likelihood]: ...

    def score(
        self, sources: str | Iterable[str], targets: str | Iterable[str], *, tag: str | None = None
    ) -> Likelihood | list[Likelihood]:
        """Scores given translations by forced decoding. Returns one `Likelihood` for a pair of strings, and a list for
        two lists. Sources are preprocessed as in `translate`, each as one sentence; a target gets slots where its
        source has them."""
        if isinstance(sources, str) != isinstance(targets, str):
            raise InputError("score takes a source and a target: two strings, or two lists of the same length")
        read, written = (checked_texts(side, "score") for side in (sources, targets))
        if len(read) != len(written):
            raise InputError(f"score needs as many targets as sources, but there are {len(written)} and {len(read)}")
        found = list(self.scores(zip(read, written, strict=True), tag=tag))
        return found[0] if isinstance(sources, str) else found

    def forced_pair(self, source: str, target: str, tag: str | None = None) -> ForcedPair:
        """Returns a source, preprocessed as in `translate` as one sentence, with a given translation of it."""
        return forced_pair(self.unit_maker(TranslateOptions(split="lines", mend=self.config.mend), tag), source, target)

    def scores(self, pairs: Iterable[tuple[str, str]], *, tag: str | None = None) -> Iterator[Likelihood]:
        """Scores any number of pairs lazily, like `score`, with at most 2,000 in memory."""
        from regard.search.likelihood import Likelihood

        waiting, done = iter(pairs), 0
        while some := [tuple(map(in_one_line, pair)) for pair in islice(waiting, CHUNK)]:
            forced = [self.forced_pair(source, target, tag) for source, target in some]
            for number, pair in enumerate(forced):
                pair.check_length(self.max_length, "score", done + number)
            ids = [pair.source_ids for pair in forced], [pair.target_ids for pair in forced]
            rows = self.forced_log_probs(*ids)
            for (source, target), pair, row in zip(some, forced, rows, strict=True):
                check_log_probs(row.tolist())
                tokens = self.tokenizer.target.labels(pair.target_ids, pair.slots.target)
                yield Likelihood(source, target, (*tokens, "</s>"), tuple(row.tolist()))
            done += len(some)

    def forced_log_probs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float64]]:
        """Returns log P of the target tokens and of EOS for each pair, in float32: by the model in torch, or by
        CTranslate2 where torch is not installed."""
        if has_torch() or self.converted is None:
            from regard.search.forced_decoding import forced_log_probs

            return forced_log_probs(self.bundle.model, sources, targets)
        return self._float32_engine.log_probs(list(map(tuple, sources)), list(map(tuple, targets)))

    @cached_property
    def _float32_engine(self) -> CTranslate2Engine:
        from regard.search.ctranslate2_engine import CTranslate2Engine

        folder = self._folders[0]
        model = cached(folder, source_checksum(folder), weights="float32")
        return CTranslate2Engine(model, self.alignment_view, partial(self._native_engine, None, BATCH_TOKENS, "auto"))

    def rank(
        self, source: str, targets: Iterable[str], *, length_penalty: float | None = None, tag: str | None = None
    ) -> list[Likelihood]:
        """Returns the scores of several translations of one source, best first, ranked as by a search with this length
        penalty (default: the model's own)."""
        alpha = TranslateOptions(length_penalty=length_penalty).resolved(self.config).search().length_penalty
        (read,), written = checked_texts(source, "rank"), checked_texts(targets, "rank")
        found = self.scores(((read, target) for target in written), tag=tag)
        return sorted(found, key=lambda one: -one.score(alpha))


@dataclass(frozen=True)
class ForcedPair:
    """A source and a target, as text and as ids without EOS. Origins map each character to the text as given."""

    read: str
    answer: str
    source_ids: tuple[int, ...]  # including the tag
    target_ids: tuple[int, ...]
    source_origins: tuple[Span, ...]
    target_origins: tuple[Span, ...]
    slots: SlotTexts = NO_SLOTS

    def check_length(self, max_length: int, method: str, number: int) -> None:
        """Raises InputError if one side with its EOS is too long for the model."""
        if max(len(self.source_ids), len(self.target_ids)) >= max_length:
            raise InputError(
                f"{method} reads sentences of fewer than {max_length} tokens, but pair {number} has "
                f"{len(self.source_ids)} and {len(self.target_ids)}; give its sentences one by one"
            )


def forced_pair(maker: UnitMaker, source: str, target: str) -> ForcedPair:
    """Makes a forced pair; `maker` must take a text as one sentence (split "lines")."""
    tokenizer = maker.tokenizer
    units = list(maker.units([(0, source)]))
    if len(units) == 1 and units[0].ids:
        (unit,) = units
        sentence, at = unit.prepared, unit.span[0]
        inset = len(target) - len(target.lstrip())
        answer = sentence.as_model_output(target.strip())
        answer_origins = tuple((inset + start, inset + end) for start, end in answer.origins)
        origins = tuple((at + start, at + end) for start, end in sentence.origins)
        (target_ids,) = tokenizer.encode_target([answer.text])
        texts = sentence.read, answer.text, unit.ids, tuple(target_ids)
        return ForcedPair(*texts, origins, answer_origins, sentence.slots)
    (source_ids,), (target_ids,) = tokenizer.encode_source([source]), tokenizer.encode_target([target])
    texts = source, target, (*maker.prefix, *source_ids), tuple(target_ids)
    return ForcedPair(*texts, _places(source), _places(target))


def _places(text: str) -> tuple[Span, ...]:
    return tuple((at, at + 1) for at in range(len(text)))
