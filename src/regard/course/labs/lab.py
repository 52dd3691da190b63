"""The pronoun lab and the polysemy lab: what decides il or elle, la banque or la rive, and which heads carry it.

    1. Does the model get it right? Its translations, and P(right) against P(wrong) when both are forced.
    2. What does the word in question look at, head by head?
    3. Which heads matter? Each is cut alone on the dev pairs; the costliest are cut together on the other pairs, and so
       are those that look most at what is meant, or at what decides, and random ones of the same number.

A head that looks at the right noun need not be one that matters, so the choices stand side by side. Choices are made on
dev alone; all figures that are shown are of test and compositional. `lab_cases.py` has the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.bundle.bundle import Bundle
from regard.course.labs.cases import Case, CasePair, LabKind
from regard.decode.translate import Translator
from regard.errors import InputError
from regard.explain.attention import View
from regard.explain.capture import Capture, capture
from regard.explain.cutting import Head, How, cut, heads_of, random_heads
from regard.explain.likelihood import forced_log_probs
from regard.text.tokenizer import Tokenizer
from regard.text.words import split_words

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """How a model does on some pairs."""

    pairs_right: float  # share of pairs whose two translations both have their own word and not the other's
    sentences_right: float
    preferred: float  # share of sentences where P(right) > P(wrong)
    margin: float  # mean of log P(right) − log P(wrong), nats
    p_right: float  # mean of P(right) / (P(right) + P(wrong))
    elsewhere: float  # nats per token of the reference outside the choice: whether a cut hurts everything else, too


@dataclass(frozen=True)
class Gaze:
    """What the word in question looks at through one head, on the mean of the sentences, as shares of the row."""

    head: Head
    means: float  # to what it means (pronoun), or to what decides its sense (polysemy)
    others: float  # to the other noun, or to another word of the sentence, on their mean
    decides: float  # to the words in which the two sentences of a pair differ
    itself: float

    @property
    def lean(self) -> float:
        return self.means - self.others


@dataclass(frozen=True)
class Cut:
    """What is left with some heads cut."""

    heads: tuple[Head, ...]
    outcome: Outcome


@dataclass(frozen=True)
class Lab:
    kind: LabKind
    chosen_on: int  # pairs
    measured_on: int
    plain: Outcome
    gazes: tuple[Gaze, ...]  # every head, the one that leans most first
    effects: dict[Head, float]  # margin lost when a head alone is cut, on dev; the greatest first
    by_effect: Cut
    by_gaze: Cut  # those that lean most to what is meant
    by_deciding: Cut  # those that look most at the deciding words
    random: tuple[Cut, ...]

    def apart(self) -> tuple[Cut, ...]:
        """The random draws that hold none of the heads chosen by effect."""
        return tuple(cut for cut in self.random if not set(cut.heads) & set(self.by_effect.heads))

    def as_dict(self) -> dict[str, Any]:
        """For JSON; heads as they are printed."""

        def plain(cut: Cut) -> dict[str, Any]:
            return {"heads": [str(head) for head in cut.heads], **asdict(cut.outcome)}

        return {
            "lab": self.kind,
            "pairs_chosen_on": self.chosen_on,
            "pairs_measured_on": self.measured_on,
            "plain": asdict(self.plain),
            "gazes": [{**asdict(g), "head": str(g.head), "lean": g.lean} for g in self.gazes],
            "effects": {str(head): drop for head, drop in self.effects.items()},
            "cut_by_effect": plain(self.by_effect),
            "cut_by_gaze": plain(self.by_gaze),
            "cut_by_deciding": plain(self.by_deciding),
            "cut_random": [plain(cut) for cut in self.random],
        }


def run_lab(
    bundle: Bundle,
    kind: LabKind,
    chosen: Sequence[CasePair],
    measured: Sequence[CasePair],
    *,
    count: int = 3,
    draws: int = 10,
    seed: int = 1,
    how: How | None = None,
    tell: Tell = lambda line: None,
) -> Lab:
    """Heads are chosen on the one and measured on the other; `count` are cut together, and `draws` random sets of as
    many. `lab_cases.all_pairs` gives both."""
    heads = heads_of(bundle.model)
    if not heads:
        raise InputError("a lab needs heads to cut, but this model has none; use a Transformer or rnn-attention")
    count = min(count, len(heads))
    tell(f"cutting each of {len(heads)} heads on {len(chosen)} pairs")
    whole = margins(bundle, chosen).mean()
    effects: dict[Head, float] = {}
    for head in heads:
        with cut(bundle.model, [head], how):
            effects[head] = float(whole - margins(bundle, chosen).mean())
    effects = dict(sorted(effects.items(), key=lambda item: -item[1]))
    tell(f"looking through {len(heads)} heads")
    looked = gazes(bundle, chosen, heads)
    leaning = sorted(looked, key=lambda gaze: -gaze.lean)
    deciding = sorted(looked, key=lambda gaze: -gaze.decides)
    tell(f"cutting {count} heads at a time on {len(measured)} pairs")

    def without(some: Sequence[Head]) -> Cut:
        with cut(bundle.model, some, how):
            return Cut(tuple(some), outcome(bundle, measured))

    return Lab(
        kind,
        len(chosen),
        len(measured),
        outcome(bundle, measured),
        tuple(sorted(gazes(bundle, measured, heads), key=lambda gaze: -gaze.lean)),
        effects,
        without(tuple(effects)[:count]),
        without([gaze.head for gaze in leaning[:count]]),
        without([gaze.head for gaze in deciding[:count]]),
        tuple(without(some) for some in random_heads(heads, count, draws, seed)),
    )


def both(pairs: Sequence[CasePair]) -> list[Case]:
    return [case for pair in pairs for case in (pair.first, pair.second)]


# ------------------------------------------------------------------------------------------------ right or wrong


def outcome(bundle: Bundle, pairs: Sequence[CasePair]) -> Outcome:
    cases = both(pairs)
    said = [one.text for one in Translator(bundle).translate([case.source for case in cases], beam=1)]
    right = np.array([says(text, case.word, case.other) for text, case in zip(said, cases, strict=True)])
    margin = margins(bundle, pairs)
    return Outcome(
        float((right[0::2] & right[1::2]).mean()),
        float(right.mean()),
        float((margin > 0).mean()),
        float(margin.mean()),
        float((1 / (1 + np.exp(-margin))).mean()),
        elsewhere(bundle, cases),
    )


def says(text: str, wanted: str, unwanted: str) -> bool:
    words = [word.lower() for word in split_words(text)]
    return wanted in words and unwanted not in words


def margins(bundle: Bundle, pairs: Sequence[CasePair]) -> NDArray[np.float64]:
    """log P(right) − log P(wrong) of every sentence, each after the same words; (2 × pairs,)"""
    cases, tokenizer = both(pairs), bundle.tokenizer
    sources = tokenizer.encode_source([case.source for case in cases])
    choices = [choice(tokenizer, case) for case in cases]
    rights, wrongs = [one.right for one in choices], [one.wrong for one in choices]
    right, wrong = (forced_log_probs(bundle.model, sources, targets) for targets in (rights, wrongs))
    return np.array(
        [
            of_right[one.start : len(one.right)].sum() - of_wrong[one.start : len(one.wrong)].sum()
            for one, of_right, of_wrong in zip(choices, right, wrong, strict=True)
        ]
    )


class Choice(NamedTuple):
    """Both translations in ids up to the end of the choice, and where they begin to differ."""

    right: list[int]
    wrong: list[int]
    start: int


def choice(tokenizer: Tokenizer, case: Case) -> Choice:
    right, wrong = tokenizer.encode_target([case.before + case.right, case.before + case.wrong])
    return Choice(right, wrong, next(t for t, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b))


def elsewhere(bundle: Bundle, cases: Sequence[Case]) -> float:
    """Mean log p of the references' tokens that are not the choice."""
    tokenizer = bundle.tokenizer
    sources = tokenizer.encode_source([case.source for case in cases])
    targets = tokenizer.encode_target([case.target for case in cases])
    rows = forced_log_probs(bundle.model, sources, targets)
    choices = [choice(tokenizer, case) for case in cases]
    kept = [np.delete(row, range(one.start, len(one.right))) for row, one in zip(rows, choices, strict=True)]
    return float(np.concatenate(kept).mean())


# ------------------------------------------------------------------------------------------------ looking


def gazes(bundle: Bundle, pairs: Sequence[CasePair], heads: Sequence[Head]) -> list[Gaze]:
    """Every head's mean over the sentences. Heads that have nothing to look at yet (the decoder, where what decides
    comes later in French) are left out."""
    sums: dict[Head, list[NDArray[np.float64]]] = {head: [] for head in heads}
    cases = both(pairs)
    targets = bundle.tokenizer.encode_target([case.target for case in cases])
    for case, ids in zip(cases, targets, strict=True):
        seen = capture(bundle, case.source, ids)
        for head in heads:
            shares = gaze(seen, case, head)
            if shares is not None:
                sums[head].append(shares)
    means = {head: np.mean(rows, axis=0) for head, rows in sums.items() if rows}
    return [Gaze(head, *map(float, mean)) for head, mean in means.items()]


def gaze(seen: Capture, case: Case, head: Head) -> NDArray[np.float64] | None:
    """(means, others, decides, itself) of one sentence through one head."""
    weights = seen.in_words(View(head.layer, head.head), head.kind).weights  # (queries, keys), both words
    places = [case.means, case.others, case.decides, (case.asks,)]
    if head.kind == "decoder":  # what it looks at are French words, and only those before
        before = [tuple(j for i, j in case.links if i in place and j < case.asked) for place in places]
        places = [*before[:3], ()]
        if not (before[0] and before[1]):
            return None
    row = weights[case.asks if head.kind == "encoder" else case.asked]
    means, others, decides, itself = (list(dict.fromkeys(place)) for place in places)
    return np.array([row[means].sum(), row[others].mean(), row[decides].sum(), row[itself].sum()])
