"""From units to judged translations: search, alignment, check, guard, and a second search for marked ones.

    units ─ search ─▶ hypotheses ─ alignment ─▶ word links ─ check ─ repair ─ guard ─▶ results
              ▲                                                 │              │
              ├── missing spans are required ◀──────────────────┘              │
              └── marked ones are searched with other options ◀────────────────┘

Slots are always required. A glossary's terms that a free search does not output are placed by the alignment
(`term_placement.py`). Other protected spans that the model reads unchanged (a number for a model without slots), and
terms without an alignment, are then required in a second search, and the model's own translation of them is forbidden.
The result for a unit does not depend on the other units. Equal units are searched once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import WordAttention, beyond_tag
from regard.bundle.bundle import Bundle
from regard.bundle.card import Calibration
from regard.errors import InputError
from regard.search.alignment_heads import AlignmentView
from regard.search.constraints import All, Constraint, EachOnce, NoRepeat
from regard.search.engine import Engine, Hypothesis, Ids, Progress, SearchRequest, StopSignal, Weights
from regard.search.options import SearchOptions
from regard.search.prefix import NO_START, PrefixReader
from regard.search.required_terms import NO_SEARCH_DEMAND, RequiredTerms, SearchDemand, SearchRun, wrong_translations
from regard.text.known_words import KnownWords
from regard.text.language import scripts_of
from regard.text.words import WordLink, word_spans
from regard.translation.confidence import LogProbSum, Observation, invented_words, word_rarities
from regard.translation.guard import Judgement, is_better, judge, judge_unread, retry_options
from regard.translation.options import TranslateOptions
from regard.translation.placeholder_check import CheckedAnswer, checked, repaired, repeated, swapped
from regard.translation.translation import Candidate, Reason, distinct
from regard.translation.units import Unit
from regard.translation.word_links import word_links

LOST_WORD = -5.0  # log-probability of a token of the source, given the translation, below which its word is lost
Seen = tuple[WordAttention, list[WordLink]]  # the attention of an answer's words, and the links
FillUnknown = Callable[[Sequence[str], Sequence[Ids]], list[str]]  # sources as read, targets → texts


Key = tuple[Ids, SearchDemand]  # identifies a search


@dataclass(frozen=True)
class UnitDraft:
    """The results of a search for a unit."""

    unit: Unit
    hypotheses: Sequence[Hypothesis]  # empty if nothing is read
    checked_answers: Sequence[CheckedAnswer]  # the text of each, restored and checked
    seen: Seen | None  # of the first; None for a model without attention
    search: SearchRun
    free: Hypothesis | None = None  # found without terms of a glossary, which the model may find improbable
    back: Sequence[float] | NDArray[np.float64] = ()  # as in `Observation`

    @property
    def missing(self) -> int:
        """The number of protected spans that the model should have output but did not."""
        fates = zip(self.unit.prepared.protected_tokens, self.checked_answers[0].protected, strict=True)
        return sum(fate.status == "missing" and not token.omitted for token, fate in fates)


@dataclass(frozen=True)
class UnitResult:
    """A unit's translation: the candidates of the search, the checked answer, and the guard's judgement."""

    candidates: tuple[Candidate, ...]  # texts of the whole unit, restored; best first, no two equal
    outcome: CheckedAnswer
    aligned: bool  # whether the outcome's links are an alignment; without attention they are not
    search: SearchRun  # the last one, if there were several
    judgement: Judgement | None = None


@dataclass(frozen=True)
class Pipeline:
    """Translates units with one model and its search options."""

    bundle: Bundle
    engine: Engine
    search: SearchOptions
    text: TranslateOptions
    view: AlignmentView
    required: RequiredTerms
    prefixes: PrefixReader
    calibration: Calibration | None  # of the guard; None: no judgements
    languages: tuple[str | None, str | None]
    tag: str | None = None  # the first token of every source, if there is one
    target_words: KnownWords | None = None  # words of the target language; None if unknown
    back_tag: str | None = None  # the tag of the source language, to score sources given answers
    fill_unknown: FillUnknown | None = None

    def results(self, units: Sequence[Unit], progress: Progress | None = None) -> list[UnitResult]:
        """Returns one result for each unit. `progress` is called with the number of newly finished units."""
        found = self._results(units, self.search, progress)
        if self.calibration is None or self.search.sampling is not None:
            return found
        tries: dict[SearchOptions, list[int]] = defaultdict(list)  # search options → units to search again
        for i, one in enumerate(found):
            if one.judgement and (changes := retry_options(one.judgement.reasons, self.search.beam)):
                tries[replace(self.search, groups=1, **changes)].append(i)
        for options, marked in tries.items():
            again = self._results([units[i] for i in marked], options)
            for i, other in zip(marked, again, strict=True):
                first, second = found[i].judgement, other.judgement
                if first and second and is_better(first, second):
                    found[i] = other
        return found

    def observed(self, units: Sequence[Unit]) -> list[tuple[UnitResult, Observation | None]]:
        """Returns each unit's result of a first search, and all that the guard can observe; None if nothing is read."""
        drafts = self._checked_drafts(units, self.search)
        return [
            (self._result(draft), self._observation(draft, repaired(draft.checked_answers[0]).text)) for draft in drafts
        ]

    def _results(
        self, units: Sequence[Unit], options: SearchOptions, progress: Progress | None = None
    ) -> list[UnitResult]:
        return [self._result(draft) for draft in self._checked_drafts(units, options, progress)]

    def _scored_back(self, drafts: Sequence[UnitDraft]) -> list[UnitDraft]:
        """Returns the drafts with the log-probabilities of their sources given their translations."""
        if self.back_tag is None:
            return list(drafts)
        answered = [draft for draft in drafts if draft.hypotheses]
        rows = iter(self.back_log_probs([(one.unit.prepared.read, self._text(one.hypotheses[0])) for one in answered]))
        return [replace(draft, back=next(rows)) if draft.hypotheses else draft for draft in drafts]

    def _checked_drafts(
        self, units: Sequence[Unit], options: SearchOptions, progress: Progress | None = None
    ) -> list[UnitDraft]:
        """Searches for the units, and once more for those that lack a protected span; scores sources if asked to."""
        drafts = self.drafts(units, [SearchDemand(start=unit.start) for unit in units], options, progress)
        lacking = [i for i, draft in enumerate(drafts) if draft.missing and draft.hypotheses]
        if lacking:
            self.require_missing(drafts, lacking, options)
        return self._scored_back(drafts)

    def back_log_probs(self, pairs: Sequence[tuple[str, str]]) -> Sequence[NDArray[np.float64]]:
        """Returns the log-probabilities of the tokens of sources, as read, given answers of the model."""
        tokenizer = self.bundle.tokenizer
        answers = tokenizer.plain.encode_source([answer for _, answer in pairs])
        sources = tokenizer.encode_target([read for read, _ in pairs])
        tag = tokenizer.source.ids[self.back_tag or ""]
        return self.engine.log_probs([(tag, *ids) for ids in answers], [tuple(ids) for ids in sources])

    def _lost_words(self, read: str, log_probs: Sequence[float] | NDArray[np.float64]) -> tuple[str, ...]:
        """Returns the words of a source that its translation does not predict, by the log-probabilities of its tokens
        given the translation."""
        tokenizer = self.bundle.tokenizer
        [ids] = tokenizer.encode_target([read])
        lost = [
            span
            for span, log_prob in zip(tokenizer.target_pieces(ids), log_probs, strict=False)
            if log_prob < LOST_WORD
        ]
        text = tokenizer.decode(ids)
        words = [(text[start:end], start, end) for start, end in word_spans(text) if text[start].isalpha()]
        found = [word for word, start, end in words if any(a < end and start < b for a, b in lost)]
        return tuple(dict.fromkeys(found))

    def require_missing(self, drafts: list[UnitDraft], lacking: Sequence[int], options: SearchOptions) -> None:
        """Replaces drafts that lack protected spans by those of a search that must output them, if they lack fewer."""
        demands = [self._demand(drafts[i]) for i in lacking]
        for i, other in zip(lacking, self.drafts([drafts[i].unit for i in lacking], demands, options), strict=True):
            if other.missing < drafts[i].missing:
                drafts[i] = other

    # ── search ──

    def drafts(
        self,
        units: Sequence[Unit],
        demands: Sequence[SearchDemand],
        options: SearchOptions,
        progress: Progress | None = None,
    ) -> list[UnitDraft]:
        keys = [(unit.ids, demand) for unit, demand in zip(units, demands, strict=True)]
        times = Counter(keys)
        read = [key for key in times if key[0]]
        if progress is not None and len(read) < len(units):
            progress(len(units) - len(read))  # empty units, and duplicates of others
        stops: dict[Key, tuple[StopSignal, ...]] = defaultdict(tuple)
        for key, unit in zip(keys, units, strict=True):
            stops[key] += () if unit.stop is None else (unit.stop,)
        requests = [
            SearchRequest(key[0], self.constraint(*key, options), key[1].start.ids, stops[key], key[1].context)
            for key in read
        ]
        hypotheses = dict(zip(read, self._search(requests, options, progress), strict=True))
        attention = self._attention(hypotheses)
        seen: dict[tuple[str, SearchDemand], Seen] = {}  # by text read and demand
        drafts, every = [], [hypotheses.get(key, []) for key in keys]
        for unit, key, found, answers in zip(units, keys, every, self._answers(units, every), strict=True):
            weights, asked = attention.get(key), (unit.prepared.read, key[1])
            if weights is not None and asked not in seen:
                ids = unit.ids if self.tag is None else unit.ids[1:]
                seen[asked] = word_links(self.bundle.tokenizer, self.view, weights, asked[0], found[0].ids, ids)
            links = seen[asked][1] if asked in seen else []
            texts = [
                checked(unit.prepared, text, () if i else links)
                for i, text in enumerate(answers or [unit.prepared.known])
            ]
            drafts.append(UnitDraft(unit, found, texts, seen.get(asked), SearchRun(options, key[1])))
        return drafts

    def _search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None
    ) -> list[list[Hypothesis]]:
        if options.mbr is not None:
            from regard.search.mbr import least_risk  # imported here, because metrics are slow to import

            drawn = self.engine.search(requests, replace(options, nbest=options.mbr.samples, mbr=None), progress)
            decode = self.bundle.tokenizer.decode
            return [least_risk(some, [decode(h.ids) for h in some], options.mbr.utility) for some in drawn]
        if options.sampling is None and options.nbest > 1:  # the whole beam, for enough distinct texts
            options = replace(options, nbest=options.beam)
        return self.engine.search(requests, replace(options, attention=self._needs_attention), progress)

    def constraint(
        self, ids: Ids, demand: SearchDemand = NO_SEARCH_DEMAND, options: SearchOptions | None = None
    ) -> Constraint | None:
        """Returns the constraint on the search for one unit: every slot of the source once, and the demand."""
        options = self.search if options is None else options
        tokenizer, present = self.bundle.tokenizer, set(ids)
        slots = zip(tokenizer.source.slot_ids, tokenizer.slot_ids, strict=False)  # source and target ids
        parts: list[Constraint] = []
        if read := frozenset(target for source, target in slots if source in present):
            parts.append(EachOnce(read, frozenset(tokenizer.slot_ids)))
        if terms := self.required.of(demand.phrases).terms:
            _check_room(terms.needs + len(demand.start.ids), options.max_length)
            parts.append(terms)
        if demand.never:
            parts.append(self.required.never(demand.never))
        if options.no_repeat:
            parts.append(NoRepeat.for_source(options.no_repeat, ids))
        if begins := self.prefixes.constraint(demand.start):
            parts.append(begins)
        return None if not parts else parts[0] if len(parts) == 1 else All(tuple(parts))

    def _demand(self, draft: UnitDraft) -> SearchDemand:
        """Requires all spans read unchanged, and forbids the words generated instead of missing ones."""
        first = draft.checked_answers[0]
        phrases = tuple(one.wanted for one in draft.unit.prepared.inner if not (one.slot or one.omitted))
        lost = [one.source for one in first.protected if one.status == "missing"]
        return SearchDemand(
            phrases, tuple(wrong_translations(lost, first.links, first.text)), draft.search.demand.start
        )

    # ── alignment ──

    @property
    def _needs_attention(self) -> bool:
        needed = self.calibration is not None or self.text.protect or self.text.glossary
        return bool(self.view and needed) and self.fill_unknown is None  # filling <unk> shifts the words

    def _attention(self, hypotheses: dict[Key, list[Hypothesis]]) -> dict[Key, Weights]:
        """Returns the attention of the best hypothesis of each unit: from the search, else from a forced pass."""
        if not self._needs_attention:
            return {}
        found = {key: some[0].attention for key, some in hypotheses.items() if some}
        keys = [key for key, weights in found.items() if weights is None]
        if keys:
            maps = self.engine.attention([ids for ids, _ in keys], [hypotheses[key][0].ids for key in keys])
            found |= dict(zip(keys, maps or (), strict=maps is not None))
        return {key: beyond_tag(weights, self.tag) for key, weights in found.items() if weights is not None}

    def _log_probs(self, best: Hypothesis) -> Sequence[float] | LogProbSum:
        """Returns the log-probabilities of the tokens, or their sum, corrected to the whole vocabulary."""
        if best.log_probs or best.total is None or self.calibration is None:
            return best.log_probs
        tokens = len(best.ids) + 1
        return LogProbSum(best.total - tokens * self.calibration.unwritten, tokens)

    # ── check and guard ──

    def _answers(self, units: Sequence[Unit], found: Sequence[Sequence[Hypothesis]]) -> list[list[str]]:
        """Returns the texts of each unit's hypotheses."""
        if self.fill_unknown is None:
            return [self._unit_answers(unit, some) for unit, some in zip(units, found, strict=True)]
        pairs = [(unit.prepared.read, h.ids) for unit, some in zip(units, found, strict=True) for h in some]
        texts = iter(self.fill_unknown([read for read, _ in pairs], [ids for _, ids in pairs]))
        return [[next(texts) for _ in some] for some in found]

    def _text(self, one: Hypothesis) -> str:
        text = self.bundle.tokenizer.decode(one.ids)
        return text.replace("\r", " ").replace("\n", " ")  # which a model may output

    def _unit_answers(self, unit: Unit, hypotheses: Sequence[Hypothesis]) -> list[str]:
        sentence = unit.prepared
        answers = [self._text(h) for h in hypotheses]
        if not self.text.mend:
            return answers
        forced = len(self.prefixes.text(unit.start)) if unit.start != NO_START else 0
        shorter = [sentence.without_additions(answer) for answer in answers]
        return [new if len(new) >= forced else old for old, new in zip(answers, shorter, strict=True)]

    def _result(self, draft: UnitDraft) -> UnitResult:
        texts = [repaired(one) for one in draft.checked_answers]
        candidates = tuple(
            Candidate(one.text, h.score, h.log_prob, h.ids) for one, h in zip(texts, draft.hypotheses, strict=False)
        )
        if self.search.sampling is None or self.search.mbr is not None:
            candidates = distinct(candidates, self.search.nbest)
        aligned = draft.seen is not None or not draft.hypotheses
        return UnitResult(candidates, texts[0], aligned, draft.search, self._judged(draft, texts[0]))

    def _observation(self, draft: UnitDraft, text: str) -> Observation | None:
        if not draft.hypotheses:
            return None
        prepared, attention = draft.unit.prepared, draft.seen[0] if draft.seen else None
        invented: tuple[str, ...] = ()
        if self.target_words is not None:
            invented = invented_words(prepared.source, text, self.target_words, self.languages[1] or "")
        return Observation(
            prepared.source,
            text,
            self._log_probs(draft.free or draft.hypotheses[0]),
            len(draft.unit.ids),
            attention,
            self.languages,
            prepared.bare,
            invented,
            word_rarities(prepared.source, self.bundle.known_words) if self.bundle.known_words else (),
            draft.back,
            self._lost_words(prepared.read, draft.back) if len(draft.back) else (),
        )

    def _judged(self, draft: UnitDraft, found: CheckedAnswer) -> Judgement | None:
        seen = self._observation(draft, found.text)
        if self.calibration is None:
            return None
        if seen is None:
            return judge_unread(draft.unit.prepared.source, scripts_of(*self.languages))
        calibration = (self.calibration.thorough if len(seen.back) else None) or self.calibration
        judged = judge(seen, calibration, self.text.marks)
        if not found.protected:
            return judged
        again = repeated(seen.source, found, self.languages[0] or "en")
        numbers = [Reason("number", f'"{span}" occurs more often than in the source.', "check") for span in again]
        numbers += [
            Reason("order", f'"{second.wanted}" is before "{first.wanted}", unlike in the source.', "check")
            for first, second in swapped(seen.source, found.protected)
        ]
        return judged._replace(reasons=(*judged.reasons, *numbers))


def _check_room(needed: int, max_length: int | None) -> None:
    if max_length is not None and needed > max_length:
        raise InputError(
            f"max_length is {max_length}, but what the glossary and the prefix demand takes {needed} tokens; "
            "allow more, or demand less",
            parameter="max_length",
        )
