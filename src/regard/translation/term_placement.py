"""Places glossary terms that a free search did not output.

    Hold the power button.            the sentence, with the term power button → bouton marche/arrêt
    Tiens le bouton de courant.       the draft
    Tiens le bouton marche/arrêt …    the most probable of the draft's edits (`term_edits.py`)
    Tiens le bouton marche/arrêt.     the edit, or what a search finds after its beginning

One term of a draft is placed at a time, from left to right, because the rest may change. Of the translations that have
more terms in their places than the draft, the one is taken that translates no term twice, then the most probable.
Without one the draft stays, and its terms are reported as missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from regard.search.engine import Ids, Progress, length_penalty
from regard.search.options import SearchOptions
from regard.search.prefix import ForcedStart
from regard.search.required_terms import SearchDemand
from regard.translation.pipeline import Pipeline, UnitDraft
from regard.translation.prepared_sentence import PreparedSentence
from regard.translation.term_edits import TermDraft, TermEdit, edits_for, translated_twice
from regard.translation.units import Unit

MAX_BEGINNINGS = 2  # edits whose rest is searched
DETERMINER_WEIGHT = 0.3  # of the log-probability of a determiner: the model expects that of its own noun


class GlossaryPipeline(Pipeline):
    """Translates units whose sentences may have terms of a glossary."""

    def _checked_drafts(
        self, units: Sequence[Unit], options: SearchOptions, progress: Progress | None = None
    ) -> list[UnitDraft]:
        drafts = self.drafts(units, [SearchDemand(start=unit.start) for unit in units], options, progress)
        self._place_terms(drafts, options)
        self.require_missing(drafts, [i for i, one in enumerate(drafts) if one.missing and one.hypotheses], options)
        return drafts

    def _place_terms(self, drafts: list[UnitDraft], options: SearchOptions) -> None:
        """Replaces drafts that lack terms by translations that have them, as far as they are found."""
        waiting = [i for i, draft in enumerate(drafts) if draft.missing and draft.seen]
        while waiting:
            starts = self._best_edits([drafts[i] for i in waiting], options)
            asked = [(i, start) for i, some in zip(waiting, starts, strict=True) for start in some]
            demands = [SearchDemand(start=ForcedStart(start)) for _, start in asked]
            made = self.drafts([drafts[i].unit for i, _ in asked], demands, options)
            tried: dict[int, list[UnitDraft]] = defaultdict(list)
            for (i, _), draft in zip(asked, made, strict=True):
                tried[i] += [draft] if draft.seen else []
            waiting = []
            for i, some in tried.items():
                best = min(some, key=self._rank, default=drafts[i])
                if best.missing < drafts[i].missing:
                    drafts[i] = replace(best, free=drafts[i].free or drafts[i].hypotheses[0])
                    waiting += [i] if best.missing else []

    def _rank(self, draft: UnitDraft) -> tuple[int, int, float]:
        return draft.missing, translated_twice(self._term_draft(draft)), -draft.hypotheses[0].score

    def _term_draft(self, draft: UnitDraft) -> TermDraft:
        assert draft.seen is not None
        fixed = len(self.prefixes.text(draft.unit.start))
        return TermDraft(draft.unit.prepared, draft.checked_answers[0], draft.seen[0], self.languages[1], fixed)

    def _best_edits(self, drafts: list[UnitDraft], options: SearchOptions) -> list[list[Ids]]:
        """Returns for each draft the most probable edits with its next missing term: their beginnings, and the whole
        texts. Of the edits that differ in a determiner, the one is taken after which the term is most probable."""
        edits = [(i, edit) for i, draft in enumerate(drafts) for edit in edits_for(self._term_draft(draft))]
        units = [drafts[i].unit for i, _ in edits]
        parts = [self._encoded(unit.prepared, edit) for unit, (_, edit) in zip(units, edits, strict=True)]
        rows = self.engine.log_probs([unit.ids for unit in units], [some[-1] for some in parts]) if parts else []
        scored: list[dict[tuple[str, str], tuple[float, Ids, Ids]]] = [{} for _ in drafts]  # by term and rest
        for (i, edit), (head, before, beginning, whole), row in zip(edits, parts, rows, strict=True):
            if self.bundle.tokenizer.unknown not in whole:
                determiner = float(row[len(head) : len(before)].sum())
                total = float(row.sum()) - (1 - DETERMINER_WEIGHT) * determiner
                one = total / length_penalty(len(row), options.length_penalty), beginning, whole
                scored[i][edit.term, edit.rest] = max(one, scored[i].get((edit.term, edit.rest), one))
        best = [sorted(some.values(), reverse=True)[:MAX_BEGINNINGS] for some in scored]
        return [list(dict.fromkeys([*(b for _, b, _ in some), *(whole for *_, whole in some)])) for some in best]

    def _encoded(self, sentence: PreparedSentence, edit: TermEdit) -> list[Ids]:
        """Returns the tokens of an edit up to the determiner, the term, the end of the term, and the end."""
        texts = (edit.head, edit.before, edit.beginning, edit.beginning + edit.rest)
        said = [sentence.as_model_output(text).text for text in texts]
        return [tuple(ids) for ids in self.bundle.tokenizer.encode_target(said)]
