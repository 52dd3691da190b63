"""Repair of translations that violate their constraint, by resuming CTranslate2's search from a prefix.

CTranslate2 has no constraints, but it can start from given tokens, suppress tokens, and repeat no run of n tokens. That
is enough to repair the most frequent violation, a slot that is missing, repeated, or from another sentence:

    source    ⟨1⟩ met ⟨2⟩ in May.
    free      ⟨1⟩ l'a rencontré en mai.               ⟨2⟩ is missing
    prefixes  ⟨1⟩ l'a ⟨2⟩ …    ⟨1⟩ ⟨2⟩ …    …         with the slot at the places that attended to it most
    found     ⟨1⟩ a rencontré ⟨2⟩ en mai.             resumed from the place where the slot is most probable

A result with fewer violations than the draft is the draft of the next round; otherwise the next prefix is tried. When
no prefix is left, nothing is found; the native engine then searches with the constraint from the first token.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from regard.align.attention import RowMeaning
from regard.search.constraints import All, EachOnce, NoRepeat, count_violations, satisfies, violations_by_kind
from regard.search.ctranslate2_model import BOS, EOS, PAD, ConvertedModel
from regard.search.engine import Hypothesis, Ids, SearchRequest, Weights, length_penalty, token_batches
from regard.search.options import SearchOptions

if TYPE_CHECKING:
    from ctranslate2 import AsyncTranslationResult

PLACES = 6  # positions compared for a missing slot
ROUNDS = 5
SPACE_AND_SLOT = 2  # tokens
LONGER_RUNS = 8  # run lengths tried, until the source repeats no run
REPAIR_BEAM = 5  # of every resumed search; for a wider beam it resumes from several prefixes at a time
NO_PENALTY = 1e-9  # scores stay sums; with 0 a search would stop when its best hypothesis ends
SPACE = "▁"  # start of a piece that follows a space
JOINING = "'’-([{«"  # final characters of a piece after which no space is generated


class TranslatedRules(NamedTuple):
    """The parts of a constraint that CTranslate2 supports."""

    slots: EachOnce | None
    no_repeat: int = 0


class ViolatingDraft(NamedTuple):
    """A translation that violates its constraint, with the attention of its tokens."""

    request: SearchRequest
    ids: Ids
    attention: Weights


class RepairedHypothesis(NamedTuple):
    """A translation found by resuming the search from a prefix."""

    begun: Ids
    ids: Ids
    log_prob: float  # of the tokens after the prefix `begun`
    attention: Weights


def translatable_rules(request: SearchRequest) -> TranslatedRules | None:
    """Returns the constraint as CTranslate2 supports it, None if it has other parts. CTranslate2 can only forbid runs
    of n tokens to occur twice: if the source repeats a run of n, a larger n is used that it does not repeat."""
    constraint = request.constraint
    parts = constraint.parts if isinstance(constraint, All) else (constraint,)
    slots = [part for part in parts if isinstance(part, EachOnce)]
    runs = [part for part in parts if isinstance(part, NoRepeat)]
    if len(slots) + len(runs) < len(parts) or len(slots) > 1 or len(runs) > 1:
        return None
    known = TranslatedRules(slots[0] if slots else None)
    if not runs:
        return known
    lengths = range(runs[0].n, runs[0].n + LONGER_RUNS)
    found = (n for n in lengths if NoRepeat.for_source(n, request.ids).times == 1)
    return next((known._replace(no_repeat=n) for n in found), None)


def max_target_length(source: Ids) -> int:
    """Returns the maximal number of tokens of a translation, as in the native engine."""
    return 2 * (len(source) + 1) + 20


def weights_of(rows: list[list[float]], target: int, source: int) -> Weights:
    """Returns attention rows as an array (T + 1, S + 1), EOS last on both sides."""
    return np.array(rows[: target + 1], dtype=np.float64)[:, : source + 1]


@dataclass(frozen=True)
class ConstraintRepair:
    model: ConvertedModel
    row: RowMeaning  # meaning of the rows of its attention
    batch_tokens: int  # maximal number of source tokens of a batch

    def search(self, drafts: Sequence[ViolatingDraft], options: SearchOptions) -> list[list[Hypothesis]]:
        """Returns hypotheses that meet the constraint of each draft, best first; an empty list if none was found."""
        found: dict[int, list[RepairedHypothesis]] = {}
        pending = {i: draft for i, draft in enumerate(drafts) if self._can(draft)}
        begun, at_once = self._beginnings(pending), max(1, options.beam // REPAIR_BEAM)
        for _ in range(ROUNDS):
            pending = {i: draft for i, draft in pending.items() if not draft.request.is_stopped}
            asked = {i: begun[i][:at_once] for i in pending}
            resumed = self._resumed(pending, asked, options) if pending else {}
            nearer: dict[int, ViolatingDraft] = {}
            for i, some in resumed.items():
                request, begun[i] = drafts[i].request, begun[i][at_once:]
                if kept := _best_of_each(one for one in some if satisfies(one.ids, request.constraint)):
                    found[i] = kept
                    del pending[i]
                elif nearest := _nearest(some, pending[i]):
                    pending[i] = nearer[i] = nearest
                elif not begun[i]:
                    del pending[i]
            begun |= self._beginnings(nearer)
        return self._scored(drafts, found, options)

    def _can(self, draft: ViolatingDraft) -> bool:
        rules = translatable_rules(draft.request)
        return rules is not None and (rules.slots is None or self._places(draft.request, rules.slots) is not None)

    def _places(self, request: SearchRequest, slots: EachOnce) -> dict[int, int] | None:
        """Returns the source position of each required slot, None if one is not in the source."""
        pieces = [self.model.source[i] for i in request.ids]
        wanted = {slot: self.model.target[slot] for slot in slots.left}
        if not set(wanted.values()) <= set(pieces):
            return None
        return {slot: pieces.index(piece) for slot, piece in wanted.items()}

    # ── prefixes ──

    def _beginnings(self, drafts: Mapping[int, ViolatingDraft]) -> dict[int, list[Ids]]:
        """Returns the prefixes to resume from for each draft, best first: without a wrong slot, and with a missing slot
        where it is most probable."""
        found = {i: self.beginnings(draft) for i, draft in drafts.items()}
        several = [(i, one) for i, some in found.items() if len(some) > 1 for one in some]
        scores = self._log_probs([(drafts[i].request.ids, one) for i, one in several])
        ranked: dict[int, list[tuple[float, Ids]]] = defaultdict(list)
        for (i, one), log_probs in zip(several, scores, strict=True):
            rules = translatable_rules(drafts[i].request)
            ends_in_slot = rules is not None and rules.slots is not None and one[-1:] and one[-1] in rules.slots.left
            ranked[i].append((sum(log_probs[-1 - SPACE_AND_SLOT : -1]) if ends_in_slot else math.inf, one))
        return found | {i: [one for _, one in sorted(some, reverse=True)] for i, some in ranked.items()}

    def beginnings(self, draft: ViolatingDraft) -> list[Ids]:
        """Returns the tokens before a wrong slot, alone and with a missing slot; if slots are only missing, prefixes
        with one at the places that attended to it most; for repeated runs of tokens, the empty prefix."""
        constraint = draft.request.constraint
        rules = translatable_rules(draft.request)
        slots = rules.slots if rules is not None else None
        found = [] if slots is None else self._by_slots(draft, slots)
        return [one for one in found if constraint and not violations_by_kind(one, constraint)[0]] or [()]

    def _by_slots(self, draft: ViolatingDraft, all_slots: EachOnce) -> list[Ids]:
        slots, at = all_slots, 0
        for at, token in enumerate((*draft.ids, None)):  # noqa: B007
            if token is None or token in slots.forbidden():
                break
            slots = slots.after(token)
        if at == len(draft.ids) and not slots.left:
            return []  # the only violations are repeated runs
        source = self._places(draft.request, all_slots)
        assert source is not None
        if at < len(draft.ids):  # a slot that is repeated, or not in the source
            read = draft.attention[min(at + self._shift, len(draft.attention) - 1)]
            others = sorted(slots.left, key=lambda slot: (-read[source[slot]], slot))[:PLACES]
            return [self._without_space(draft.ids[:at]), *(self._with(draft, at, slot) for slot in others)]
        order = {slot: self._order(draft, source[slot]) for slot in slots.left}
        first = min(slots.left, key=lambda slot: (order[slot][0], slot))  # the others are left to the next round
        return list(dict.fromkeys(self._with(draft, place, first) for place in order[first][:PLACES]))

    @property
    def _shift(self) -> int:
        """The number of rows between the one that predicts a token and the one with the token's attention."""
        return int(self.row == "having-read")

    def _order(self, draft: ViolatingDraft, source: int) -> list[int]:
        """Returns the starts of words, ordered by how much they attended to a source token and the one before it."""
        rows = draft.attention[self._shift : self._shift + len(draft.ids), max(0, source - 1) : source + 1].sum(axis=1)
        places = (self._word_start(draft.ids, int(place)) for place in np.argsort(-rows, kind="stable"))
        return list(dict.fromkeys((*places, len(draft.ids))))

    def _word_start(self, ids: Ids, place: int) -> int:
        while place > 0 and self.model.target[ids[place]][0].isalnum():
            place -= 1
        return place

    def _with(self, draft: ViolatingDraft, place: int, slot: int) -> Ids:
        """Returns the tokens before a place, then the slot, after a space if the source has one there."""
        begun = self._without_space(draft.ids[:place])
        pieces = [self.model.source[i] for i in draft.request.ids]
        at = pieces.index(self.model.target[slot])
        joined = bool(begun) and self.model.target[begun[-1]][-1] in JOINING
        space = self.model.target_ids([SPACE]) if pieces[max(0, at - 1)] == SPACE and not joined else ()
        return (*begun, *space, slot)

    def _without_space(self, ids: Ids) -> Ids:
        return ids[:-1] if ids and self.model.target[ids[-1]] == SPACE else ids

    # ── search ──

    def _resumed(
        self, drafts: Mapping[int, ViolatingDraft], asked: Mapping[int, Sequence[Ids]], options: SearchOptions
    ) -> dict[int, list[RepairedHypothesis]]:
        """Returns the hypotheses found from each prefix of each draft. A batch shares its suppressed tokens; all
        batches are started before the first is awaited. The vocabulary is not limited by tags: given a prefix with a
        piece that a tag's map does not have, CTranslate2 (4.8) returns another piece in its place."""
        alike: dict[tuple[frozenset[str], int], list[tuple[int, Ids]]] = defaultdict(list)
        for i, draft in drafts.items():
            rules = translatable_rules(draft.request)
            assert rules is not None
            for begun in asked[i]:
                never = self._never(rules.slots, begun)
                alike[never, rules.no_repeat].append((i, begun))
        batches = [
            (told, [some[place] for place in batch])
            for told, some in alike.items()
            for batch in token_batches([len(drafts[i].request.ids) for i, _ in some], self.batch_tokens)
        ]
        pending: list[tuple[tuple[int, Ids], AsyncTranslationResult]] = []
        for (never, no_repeat), batch in batches:
            sources = [drafts[i].request.ids for i, _ in batch]
            results = self.model.translator.translate_batch(
                [self.model.source_tokens(ids) for ids in sources],
                target_prefix=[self.model.target_tokens(begun) for _, begun in batch],
                beam_size=REPAIR_BEAM,
                num_hypotheses=REPAIR_BEAM,
                length_penalty=NO_PENALTY,
                no_repeat_ngram_size=no_repeat,
                suppress_sequences=[[token] for token in sorted(never)],
                max_input_length=0,
                max_decoding_length=max(map(max_target_length, sources)) + 1,
                return_end_token=True,
                return_scores=True,
                return_attention=True,
                asynchronous=True,
            )
            pending += zip(batch, results, strict=True)
        found: dict[int, list[RepairedHypothesis]] = {i: [] for i in drafts}
        for (i, begun), promise in pending:
            result, source = promise.result(), drafts[i].request.ids
            for tokens, log_prob, rows in zip(result.hypotheses, result.scores, result.attention, strict=True):
                if tokens[-1:] == [EOS] and len(tokens) <= max_target_length(source) + 1:
                    ids = self.model.target_ids(tokens[:-1])
                    found[i].append(RepairedHypothesis(begun, ids, log_prob, weights_of(rows, len(ids), len(source))))
        return found

    def _never(self, slots: EachOnce | None, begun: Ids) -> frozenset[str]:
        """Returns the tokens forbidden after a prefix: slots of other sentences, and those already in the prefix."""
        if slots is None:
            return frozenset((PAD, BOS))
        others = slots.reserved - slots.left.difference(begun)
        return frozenset((PAD, BOS, *self.model.target_tokens(tuple(others))))

    def _scored(
        self, drafts: Sequence[ViolatingDraft], found: dict[int, list[RepairedHypothesis]], options: SearchOptions
    ) -> list[list[Hypothesis]]:
        """Scores hypotheses with the model's own log-probabilities: the search gives none for a prefix, and suppressed
        tokens raise the probabilities of the others."""
        pairs = [(i, one) for i, some in found.items() for one in some]
        scores = self._log_probs([(drafts[i].request.ids, one.ids) for i, one in pairs])
        ranked: list[list[Hypothesis]] = [[] for _ in drafts]
        for (i, one), log_probs in zip(pairs, scores, strict=True):
            score = sum(log_probs) / length_penalty(len(log_probs), options.length_penalty)
            one.attention[0] = drafts[i].attention[0]  # beam search may give that of another sentence (CTranslate2 4.8)
            ranked[i].append(Hypothesis(one.ids, tuple(log_probs), score, attention=one.attention))
        return [sorted(some, key=lambda one: -one.score)[: options.nbest] for some in ranked]

    def _log_probs(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[list[float]]:
        """Returns the model's log-probability of each token of a translation, and of EOS."""
        results = self.model.translator.score_batch(
            [self.model.source_tokens(source) for source, _ in pairs],
            [self.model.target_tokens(target) for _, target in pairs],
            max_batch_size=self.batch_tokens,
            batch_type="tokens",
            max_input_length=0,
        )
        return [result.log_probs for result in results]


def _best_of_each(found: Iterator[RepairedHypothesis]) -> list[RepairedHypothesis]:
    """Returns the most probable hypothesis of each prefix, without duplicates."""
    best: dict[Ids, RepairedHypothesis] = {}
    for one in sorted(found, key=lambda one: -one.log_prob):
        best.setdefault(one.begun, one)
    return list({one.ids: one for one in best.values()}.values())


def _nearest(found: Sequence[RepairedHypothesis], before: ViolatingDraft) -> ViolatingDraft | None:
    """Returns the hypothesis with the fewest violations as a draft, if it has fewer than before."""
    constraint = before.request.constraint
    best = min(found, key=lambda one: (count_violations(one.ids, constraint), -one.log_prob), default=None)
    if best is None or count_violations(best.ids, constraint) >= count_violations(before.ids, constraint):
        return None
    return before._replace(ids=best.ids, attention=best.attention)
