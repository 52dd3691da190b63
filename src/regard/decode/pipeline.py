"""From units to judged translations: search, alignment, check, guard, and a second try for what is doubtful.

    units ─ search under constraints ─▶ hypotheses ─ forced pass ─▶ word links ─ check, repair ─ guard ─▶ results
                      ▲                                                                      │
                      └───────────── another search for doubtful ones ◀──────────────────────┘

The result for a unit does not depend on the other units. Equal units are searched once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from regard.align.attention import WordAttention
from regard.batch import budgeted, pad_sources
from regard.bundle.bundle import Bundle
from regard.bundle.calibration import Calibration
from regard.decode.attended import AlignmentView, Weights, attended, word_links
from regard.decode.confidence import Observation
from regard.decode.constraints import All, Constraint, EachOnce, NoRepeat
from regard.decode.guard import Judgement, better, judge, second_tries
from regard.decode.hypothesis import Hypothesis
from regard.decode.prepare import PreparedSentence, TextOptions
from regard.decode.required_terms import RequiredTerms
from regard.decode.search import SearchOptions, search
from regard.decode.survival import Survived, checked
from regard.decode.translation import Candidate, Reason, WordLink
from regard.decode.units import Unit
from regard.models.base import Model
from regard.text.fidelity import invented_numbers
from regard.text.slots import SLOTS

FULL_BATCH = 16  # rows of a sentence up to which a batch has all its tokens; wider searches get smaller batches

Ids = tuple[int, ...]
Phrases = tuple[tuple[str, ...], ...]  # what must be said, each in one of several forms
Key = tuple[Ids, Phrases]  # what a search depends on
Seen = tuple[WordAttention, list[WordLink]]  # what the words of an answer attended to
FillUnknown = Callable[[Sequence[str], Sequence[Ids]], list[str]]  # sources as read, targets → texts


@dataclass(frozen=True)
class UnitResult:
    """A unit's translation: what the search found, what became of it, and what the guard says."""

    candidates: tuple[Candidate, ...]  # texts of the whole unit, restored; best first, no two equal
    outcome: Survived
    aligned: bool  # whether the outcome's links are an alignment; without attention they are not
    judgement: Judgement | None = None


@dataclass(frozen=True)
class Pipeline:
    """What translates units: one model with its search."""

    bundle: Bundle
    model: Model  # the bundle's, or with a lexicon and rules mixed in
    search: SearchOptions
    text: TextOptions
    view: AlignmentView
    required: RequiredTerms
    calibration: Calibration | None  # of the guard; None: nothing is judged
    languages: tuple[str | None, str | None]
    batch_tokens: int
    tag: str | None = None  # the first token of every source, where there is one
    fill_unknown: FillUnknown | None = None

    def results(self, units: Sequence[Unit], progress: Callable[[int], None] | None = None) -> list[UnitResult]:
        """One result for each unit. `progress` is called with the number of units that a batch finished."""
        found = self._results(units, self.search, progress)
        if self.calibration is None or self.search.sampling is not None:
            return found
        tries: dict[SearchOptions, list[int]] = defaultdict(list)  # which units are searched for again, and how
        for i, one in enumerate(found):
            for changes in second_tries(one.judgement.reasons, self.search.beam) if one.judgement else ():
                tries[replace(self.search, **changes)].append(i)
        for options, doubtful in tries.items():
            again = self._results([units[i] for i in doubtful], options)
            for i, other in zip(doubtful, again, strict=True):
                first, second = found[i].judgement, other.judgement
                if first and second and better(first, second):
                    found[i] = other
        return found

    # ── search ──

    def _results(
        self, units: Sequence[Unit], options: SearchOptions, progress: Callable[[int], None] | None = None
    ) -> list[UnitResult]:
        keys = [(unit.ids, self._phrases_of(unit.prepared)) for unit in units]
        unread = sum(not ids for ids, _ in keys)
        if progress is not None and unread:
            progress(unread)
        times = Counter(keys)
        distinct = [key for key in times if key[0]]
        hypotheses: dict[Key, list[Hypothesis]] = {}
        # Of the whole beam, so that there are enough different texts.
        wide = replace(options, nbest=options.beam) if options.nbest > 1 and options.sampling is None else options
        budget = self.batch_tokens * FULL_BATCH // max(FULL_BATCH, options.rows)
        for batch in budgeted([len(ids) for ids, _ in distinct], budget):
            some = [distinct[i] for i in batch]
            src, mask = (t.to(self.model.device) for t in pad_sources([ids for ids, _ in some]))
            constraints = [self._constraint(*key, options.no_repeat) for key in some]
            hypotheses |= zip(some, search(self.model, src, mask, wide, constraints), strict=True)
            if progress is not None:
                progress(sum(times[key] for key in some))
        attention = self._attention(hypotheses)
        seen: dict[str, Seen] = {}  # of each text that was read
        results = []
        for unit, key in zip(units, keys, strict=True):
            found, weights, read = hypotheses.get(key, []), attention.get(key), unit.prepared.read
            if weights is not None and read not in seen:
                seen[read] = word_links(self.bundle.tokenizer, self.view, weights, read, found[0].ids)
            results.append(self._result(unit, found, seen.get(read)))
        return results

    def _phrases_of(self, sentence: PreparedSentence) -> Phrases:
        """What the search must say in so many words."""
        if not self.text.protect and self.text.glossary is None:
            return ()
        return tuple(one.wanted for one in sentence.inner if not one.slot)

    def _constraint(self, ids: Ids, phrases: Phrases, no_repeat: int) -> Constraint | None:
        slots = self.bundle.tokenizer.slot_ids
        parts: list[Constraint] = []
        read = {SLOTS.index(character) for character in self.bundle.tokenizer.decode_source(ids) if character in SLOTS}
        if read:
            parts.append(EachOnce(frozenset(slots[k] for k in read), frozenset(slots)))
        if terms := self.required.of(phrases).terms:
            parts.append(terms)
        if no_repeat:
            parts.append(NoRepeat.for_source(no_repeat, ids))
        return None if not parts else parts[0] if len(parts) == 1 else All(tuple(parts))

    # ── alignment ──

    def _attention(self, hypotheses: dict[Key, list[Hypothesis]]) -> dict[Key, Weights]:
        """The attention of the best hypothesis of each unit."""
        needed = self.calibration is not None or self.text.protect or self.text.glossary
        if not (self.view and needed) or self.fill_unknown is not None:  # what fills <unk> moves the words
            return {}
        keys = [key for key, found in hypotheses.items() if found]
        lengths = [len(key[0]) + len(hypotheses[key][0].ids) for key in keys]
        maps: dict[Key, Weights] = {}
        for batch in budgeted(lengths, self.batch_tokens):
            some = [keys[i] for i in batch]
            pairs = [ids for ids, _ in some], [hypotheses[key][0].ids for key in some]
            maps |= zip(some, attended(self.bundle.model, self.view, *pairs, self.tag), strict=True)
        return maps

    # ── check and guard ──

    def _result(self, unit: Unit, hypotheses: Sequence[Hypothesis], seen: Seen | None) -> UnitResult:
        sentence = unit.prepared
        if not hypotheses:
            return UnitResult((), checked(sentence, "", ()), True)
        answers = self._answers(sentence, hypotheses)
        attention, links = seen or (None, [])
        outcomes = [checked(sentence, answer, links if i == 0 else ()) for i, answer in enumerate(answers)]
        candidates = [
            Candidate(outcome.text, h.score, h.log_prob, h.ids) for outcome, h in zip(outcomes, hypotheses, strict=True)
        ]
        if self.search.sampling is None:
            candidates = distinct_candidates(candidates)
        result = UnitResult(tuple(candidates[: self.search.nbest]), outcomes[0], seen is not None)
        if self.calibration is None:
            return result
        read = Observation(
            sentence.source, outcomes[0].text, hypotheses[0].log_probs, len(unit.ids), attention, self.languages
        )
        judged = judge(read, self.calibration)
        invented = self._invented(sentence, outcomes[0].text)
        return replace(result, judgement=judged._replace(reasons=(*judged.reasons, *invented)))

    def _invented(self, sentence: PreparedSentence, text: str) -> list[Reason]:
        """Numbers that nobody said: a small model makes them up."""
        if not self.text.protect:
            return []
        spans = invented_numbers(sentence.source, text, self.languages[0] or "en")
        return [Reason("number", f"The number {text[start:end]} is not in the source.") for start, end in spans]

    def _answers(self, sentence: PreparedSentence, hypotheses: Sequence[Hypothesis]) -> list[str]:
        if self.fill_unknown is not None:
            return self.fill_unknown([sentence.read] * len(hypotheses), [h.ids for h in hypotheses])
        return [self.bundle.tokenizer.decode(h.ids) for h in hypotheses]


def distinct_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first of each text."""
    return list({candidate.text: candidate for candidate in reversed(candidates)}.values())[::-1]
