"""The engine of CTranslate2: fast on CPUs, in 8 bits, and without torch.

    B sentences   T target tokens   S source tokens, then EOS

It searches with a converted model (`ctranslate2_model.py`) and returns the same as the native engine, in float32 the
same hypotheses: ranked by our length penalty (CTranslate2 divides by length^α, we by ((5 + length) / 6)^α, so its
n-best list is ranked again), each cut off at the limit of its own source, with the attention of the alignment heads.

A sentence with a constraint is first searched without it: if the best hypothesis meets the constraint, it is also the
best of those that do. If not, the best of the beam that does is taken. If none does, or only one that is far less
probable, a search with a narrow beam is repeated with a wider one; then the search is resumed from where the best
hypothesis violated the constraint (`constraint_repair.py`).

Everything else is left to the native engine, which is created on first use: sampling, options that CTranslate2 does
not support, sentences beyond its positions, and constraints for which no translation was found (without torch, these
are returned violated).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.device import has_torch
from regard.search.alignment_heads import AlignmentView
from regard.search.branches import branches, continued
from regard.search.constraint_repair import (
    NO_PENALTY,
    ConstraintRepair,
    ViolatingDraft,
    max_target_length,
    translatable_rules,
    weights_of,
)
from regard.search.constraints import satisfies
from regard.search.context_search import PrefixSearch, continuations, joined, with_prefix
from regard.search.ctranslate2_model import BOS, EOS, PAD, ConvertedModel
from regard.search.engine import (
    Branch,
    Engine,
    Hypothesis,
    Ids,
    Progress,
    SearchRequest,
    Weights,
    check_log_probs,
    length_penalty,
    token_batches,
)
from regard.search.options import BATCH_TOKENS, SearchOptions

if TYPE_CHECKING:
    from ctranslate2 import AsyncTranslationResult

MAX_BATCH_TOKENS = 512  # source tokens, for up to FULL_BATCH rows per sentence: larger batches exceed the CPU caches
FULL_BATCH = 5
MAX_BEAM_CT2 = 64  # beams
SUPPRESSED_TOKENS = frozenset((PAD, BOS))
SCORE_MARGIN = 0.3  # of score; a resumed search rarely finds one nearer to the best
EXTRA_HYPOTHESES = (
    1  # hypotheses beyond `beam` that must end before a search stops; with 0, one result in sixty differs
)
NARROW_BEAM = 2  # up to this beam there are none: 1% of results differ, at the same quality, in 5% less time
WIDER_BEAM = 5  # for a sentence of which a narrow beam has no hypothesis that meets its constraint


class RawHypothesis(NamedTuple):
    """One hypothesis as CTranslate2 returns it."""

    tokens: list[str]  # EOS last, unless it was cut off
    log_prob: float
    attention: list[list[float]] | None


@dataclass(frozen=True)
class CTranslate2Engine:
    model: ConvertedModel
    view: AlignmentView  # the attention heads that give the alignment
    make_native: Callable[[], Engine]
    batch_tokens: int = BATCH_TOKENS

    @cached_property
    def native(self) -> Engine:
        """The native engine, for everything CTranslate2 cannot do."""
        return self.make_native()

    # ── the interface of an engine ────────────────────────────────────────────────────────────────────────────────────

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = [[] for _ in requests]
        broken: dict[int, Hypothesis] = {}  # the best, if none meets the constraint or only a far less probable one
        own = [i for i, request in enumerate(requests) if supports(options) and self._fits(request, options.beam)]
        self._search_freely(requests, own, options, found, broken, progress)
        if broken and options.beam <= NARROW_BEAM:
            slots = (i for i in broken if translatable_rules(requests[i]) is not None)
            again = [i for i in slots if self._fits(requests[i], WIDER_BEAM)]
            self._search_freely(requests, again, replace(options, beam=WIDER_BEAM), found, broken, progress)
        for i, hypotheses in self._resumed(requests, broken, options).items():
            found[i] = self._more_probable(requests[i].ids, found[i], hypotheses, options)
        if progress is not None and (done := sum(bool(found[i]) for i in broken)):
            progress(done)
        left = [i for i in range(len(requests)) if not found[i]]
        if left:
            self._search_left(requests, left, found, broken, options, progress)
        return found

    def _search_freely(
        self,
        requests: Sequence[SearchRequest],
        some: Sequence[int],
        options: SearchOptions,
        found: list[list[Hypothesis]],
        broken: dict[int, Hypothesis],
        progress: Progress | None,
    ) -> None:
        """Searches without constraints. Records in `found` the hypotheses that meet the constraint of their request,
        and in `broken` the best hypothesis, if none meets the constraint or only a far less probable one."""
        never: list[int] = []  # those with tokens that must be suppressed
        for suppressed, now in ((False, some), (True, never)):
            for i, ended in self._searched(requests, now, options, suppressed):
                if not suppressed and any(SUPPRESSED_TOKENS.intersection(one.tokens) for one in ended):
                    never.append(i)
                    continue
                rule, ranked = requests[i].constraint, self._ranked(requests[i], ended, options)
                best = next(ranked)
                meeting = (one for one in chain([best], ranked) if rule is None or satisfies(one.ids, rule))
                found[i] = list(islice(meeting, options.nbest)) or found[i]
                if not found[i] or found[i][0].score < best.score - SCORE_MARGIN:
                    broken[i] = best
                    continue
                broken.pop(i, None)
                if progress is not None:
                    progress(1)

    def _search_left(
        self,
        requests: Sequence[SearchRequest],
        left: Sequence[int],
        found: list[list[Hypothesis]],
        broken: Mapping[int, Hypothesis],
        options: SearchOptions,
        progress: Progress | None,
    ) -> None:
        """Searches for requests with a prefix, then by the native engine for what is left. Without torch, the best
        hypothesis is returned though it violates its constraint; the caller's checks report what it lacks."""
        if supports(options) and not options.min_length:
            begun = [i for i in left if requests[i].prefix]
            lists = with_prefix(self, self._prefix_search(options), [requests[i] for i in begun], options)
            for i, found[i] in zip(begun, lists, strict=True):
                if progress is not None and found[i]:
                    progress(1)
        if broken and not has_torch():
            for i in broken.keys() & left:
                found[i] = [broken[i]]
        left = [i for i in left if not found[i] and requests[i].may_fall_back]
        asked = [requests[i]._replace(free_search_failed=i in broken) for i in left]
        again = self.native.search(asked, options, progress) if left else []
        for i, hypotheses in zip(left, again, strict=True):
            found[i] = hypotheses

    def search_in_context(self, requests: Sequence[SearchRequest], options: SearchOptions) -> list[list[Hypothesis]]:
        if not supports(options) or options.min_length:
            return self.native.search_in_context(requests, options)
        search, attention = self._prefix_search(options), options.attention and self._aligns
        return continuations(self, requests, search.search(list(map(joined, requests)), options, attention), options)

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        """Returns attention by decoding with the targets as forced prefixes. CTranslate2 reads all tokens of a prefix
        at once only in batches of one, and where it is asked for alternatives after the prefix."""
        if not self.view:
            return None
        if not self._aligns or not self._all_fit(sources, targets):
            return self.native.attention(sources, targets)
        results = self.model.translator.translate_batch(
            [self.model.source_tokens(source) for source in sources],
            target_prefix=[self.model.target_tokens(target) for target in targets],
            beam_size=1,
            return_alternatives=True,
            max_batch_size=1,
            max_input_length=0,
            max_decoding_length=max(map(len, targets), default=0) + 1,
            return_attention=True,
            return_end_token=True,
        )
        return [
            weights_of(result.attention[0], len(target), len(source))
            for result, source, target in zip(results, sources, targets, strict=True)
        ]

    def next_log_probs(self, sources: Sequence[Ids], prefixes: Sequence[Ids]) -> list[NDArray[np.float64]]:
        if not self._all_fit(sources, prefixes):
            return self.native.next_log_probs(sources, prefixes)
        return [self._next_log_probs(*pair) for pair in zip(sources, prefixes, strict=True)]

    def _next_log_probs(self, source: Ids, prefix: Ids) -> NDArray[np.float64]:
        (result,) = self.model.translator.translate_batch(
            [self.model.source_tokens(source)],
            target_prefix=[self.model.target_tokens(prefix)],
            beam_size=1,
            max_input_length=0,
            max_decoding_length=len(prefix) + 1,
            min_decoding_length=0,  # with 1, the end has no probability at the beginning
            return_logits_vocab=True,
        )
        logits = np.array(result.logits[0][len(prefix)], dtype=np.float64)[: len(self.model.target)]  # (V,)
        shifted = logits - logits.max()
        log_probs: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
        return log_probs

    def branches(self, source: Ids, prefix: Ids, length: int, least: float) -> list[Branch]:
        if not self._all_fit([source], [(*prefix, *range(length))]):
            return self.native.branches(source, prefix, length, least)
        return branches(self.model, source, prefix, length, least)

    def continued(self, source: Ids, prefixes: Sequence[Ids]) -> list[Ids]:
        if max_target_length(source) + 1 >= self.model.made.positions:
            return self.native.continued(source, prefixes)
        return continued(self.model, source, prefixes)

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        if not self._all_fit(sources, targets):
            return self.native.log_probs(sources, targets)
        results = self.model.translator.score_batch(
            [self.model.source_tokens(source) for source in sources],
            [self.model.target_tokens(target) for target in targets],
            max_batch_size=min(self.batch_tokens, MAX_BATCH_TOKENS),
            batch_type="tokens",
            max_input_length=0,
        )
        return [np.array(result.log_probs, dtype=np.float64) for result in results]

    # ── search ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _budget(self, options: SearchOptions) -> int:
        """The maximal number of source tokens of a batch."""
        return min(self.batch_tokens, MAX_BATCH_TOKENS) * FULL_BATCH // max(FULL_BATCH, options.beam)

    def _prefix_search(self, options: SearchOptions) -> PrefixSearch:
        return PrefixSearch(self.model, self._budget(options))

    @property
    def _aligns(self) -> bool:
        """Whether the converted model returns the attention of this view."""
        return self.view.heads.maps == ((self.model.made.layer, self.model.made.head),)

    def _first_rows(self, sources: Sequence[Ids], options: SearchOptions) -> list[AsyncTranslationResult] | None:
        """Returns the attention of the first token by greedy search, because CTranslate2's beam search (4.8) returns
        the first row of another sentence in batches. None where it is not needed."""
        read = options.attention and self._aligns and self.view.row == "predicting"
        if not read or options.beam == 1 or len(sources) == 1:
            return None
        tokens = [self.model.source_tokens(ids) for ids in sources]
        found: list[AsyncTranslationResult] = self.model.translator.translate_batch(
            tokens, beam_size=1, max_input_length=0, max_decoding_length=1, return_attention=True, asynchronous=True
        )
        return found

    def _fits(self, request: SearchRequest, beam: int) -> bool:
        """Whether a request fits the model's positions and has no prefix (`_prefixed` searches for those). A call of
        CTranslate2 cannot be interrupted, so a request that can be stopped must be small enough for a short one. Where
        the native engine is excluded, a constraint that probably needs it is not tried."""
        if request.stops:
            needs_native = request.constraint is not None and translatable_rules(request) is None
            excluded = needs_native and not any(stop.fallback for stop in request.stops)
            if excluded or request.is_stopped or len(request.ids) * beam > MAX_BATCH_TOKENS * FULL_BATCH:
                return False
        return not request.prefix and max_target_length(request.ids) + 1 < self.model.made.positions

    def _all_fit(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> bool:
        longest = max((len(ids) for ids in (*sources, *targets)), default=0)
        return longest + 1 < self.model.made.positions

    def _searched(
        self, requests: Sequence[SearchRequest], some: Sequence[int], options: SearchOptions, suppressed: bool
    ) -> Iterator[tuple[int, list[RawHypothesis]]]:
        """Yields the hypotheses of some requests, in any order. All batches are started before the first is awaited.

        One token more than the limit is allowed, so that there is attention from the last token too. Suppressing tokens
        changes the probabilities of the others a little, so it is done only where it is needed.
        """
        pending = []
        wanted = options.beam + EXTRA_HYPOTHESES if options.beam > NARROW_BEAM else options.beam
        for batch in token_batches([len(requests[i].ids) for i in some], self._budget(options)):
            sources = [requests[some[place]].ids for place in batch]
            results = self.model.translator.translate_batch(
                [self.model.source_tokens(ids) for ids in sources],
                beam_size=options.beam,
                patience=wanted / options.beam,
                num_hypotheses=wanted,
                length_penalty=NO_PENALTY,
                suppress_sequences=[[token] for token in SUPPRESSED_TOKENS] if suppressed else None,
                max_input_length=0,
                max_decoding_length=max(map(max_target_length, sources)) + 1,
                use_vmap=self.model.limited(sources),
                min_decoding_length=options.min_length,
                return_end_token=True,
                return_scores=True,
                return_attention=options.attention and self._aligns,
                asynchronous=True,
            )
            pending.append((batch, results, self._first_rows(sources, options)))
        for batch, results, first_rows in pending:
            for number, (place, promise) in enumerate(zip(batch, results, strict=True)):
                result = promise.result()
                attention = result.attention or [None] * len(result.hypotheses)
                if first_rows is not None:
                    first = first_rows[number].result().attention[0][:1]
                    attention = [first + rows[1:] for rows in attention]
                ended = zip(result.hypotheses, result.scores, attention, strict=True)
                yield some[place], [RawHypothesis(*one) for one in ended]

    def _ranked(
        self, request: SearchRequest, found: Sequence[RawHypothesis], options: SearchOptions
    ) -> Iterator[Hypothesis]:
        """Yields the hypotheses, best first, whether or not they meet the constraint; the caller seldom needs all."""
        check_log_probs([found[0].log_prob])
        limit = max_target_length(request.ids)
        within = [one for one in found if one.tokens[-1] == EOS and len(one.tokens) <= limit + 1]
        if not within:
            yield self._cut_off(found[0], limit, request.ids, options)
            return
        scores = [one.log_prob / length_penalty(len(one.tokens), options.length_penalty) for one in within]
        for place in sorted(range(len(within)), key=lambda place: -scores[place]):
            one = self._hypothesis(within[place], scores[place], request.ids)
            if one.attention is not None and options.beam > 1 and self.view.row == "having-read":
                one.attention[0] = 0.0  # unused, and may belong to another sentence
            yield one

    def _resumed(
        self, requests: Sequence[SearchRequest], broken: Mapping[int, Hypothesis], options: SearchOptions
    ) -> dict[int, list[Hypothesis]]:
        """Returns the hypotheses found by resuming from where these violated their constraints."""
        if not broken or not self._aligns or options.min_length:
            return {}
        some = [i for i in broken if translatable_rules(requests[i]) is not None and not requests[i].is_stopped]
        maps = {i: broken[i].attention for i in some}
        lacking = [i for i in some if maps[i] is None]
        if lacking:
            made = self.attention([requests[i].ids for i in lacking], [broken[i].ids for i in lacking])
            maps |= dict(zip(lacking, made or (), strict=True))
        drafts = [
            ViolatingDraft(requests[i], broken[i].ids, weights) for i, weights in maps.items() if weights is not None
        ]
        found = ConstraintRepair(self.model, self.view.row, min(self.batch_tokens, MAX_BATCH_TOKENS)).search(
            drafts, options
        )
        return {i: hypotheses for i, hypotheses in zip(maps, found, strict=True) if hypotheses}

    def _more_probable(
        self, source: Ids, kept: list[Hypothesis], resumed: list[Hypothesis], options: SearchOptions
    ) -> list[Hypothesis]:
        """Returns the more probable of the beam's hypotheses and those of the resumed search. Both are scored over the
        whole vocabulary, unlike in the search of a model with a tag."""
        if not kept:
            return resumed
        (log_probs,) = self.log_probs([source], [kept[0].ids])
        score = float(log_probs.sum()) / length_penalty(len(log_probs), options.length_penalty)
        return kept if score >= resumed[0].score else resumed

    def _hypothesis(self, one: RawHypothesis, score: float, source: Ids) -> Hypothesis:
        ids = self.model.target_ids(one.tokens[:-1])
        attention = None if one.attention is None else weights_of(one.attention, len(ids), len(source))
        return Hypothesis(ids, (), score, one.log_prob, attention)

    def _cut_off(self, one: RawHypothesis, limit: int, source: Ids, options: SearchOptions) -> Hypothesis:
        """Makes a hypothesis of one that did not end: its first tokens, without EOS."""
        ids = self.model.target_ids([token for token in one.tokens[:limit] if token != EOS])
        log_probs = tuple(self.log_probs([source], [ids])[0].tolist())[: len(ids)]
        return Hypothesis(ids, log_probs, sum(log_probs) / length_penalty(len(ids), options.length_penalty))


def supports(options: SearchOptions) -> bool:
    """Whether these options mean the same to CTranslate2. The caller turns `no_repeat` into a constraint."""
    if options.sampling is not None:
        return False
    known = SearchOptions(
        options.beam,
        options.length_penalty,
        nbest=options.nbest,
        no_repeat=options.no_repeat,
        min_length=options.min_length,
        attention=options.attention,
    )
    return options == known and options.beam <= MAX_BEAM_CT2
