"""The pronoun lab and the polysemy lab: which heads decide il or elle, la banque or la rive.

    1. Does the model get it right? Its translations, and P(right) against P(wrong) when both are forced.
    2. What does the ambiguous word attend to, head by head?
    3. Which heads matter? Each head is cut alone on the dev pairs. Then several are cut together on the other pairs:
       the costliest, those that attend most to the antecedent or to the deciding word, and random ones.

A head that attends to the right noun need not matter for the result, so both choices are reported. Heads are chosen on
dev only; all reported figures are of test and compositional. `minimal_pairs.py` has the sentences.
docs/explain.md has the figures of the model en-fr-classic, whose decoder of three layers is small enough to look into.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import View
from regard.bundle.bundle import Bundle
from regard.course.minimal_pairs import LabKind, LabPair, LabSentence
from regard.errors import InputError
from regard.explain.ablation import Head, ablated, heads_of
from regard.explain.importance import random_heads
from regard.explain.sentence_pair import Ablation
from regard.explain.trace import Trace, trace_sentence
from regard.report.deliver import Output
from regard.report.table import Table
from regard.search.forced_decoding import forced_log_probs
from regard.text.tokenizer import Tokenizer
from regard.text.words import split_words
from regard.translation.options import AS_LINES
from regard.translator import Translator

Tell = Callable[[str], None]


@dataclass(frozen=True)
class LabOutcome:
    """The quality of a model's choices on some pairs."""

    pairs_right: float  # share of pairs whose two translations both have their own word and not the other's
    sentences_right: float
    preferred: float  # share of sentences where P(right) > P(wrong)
    margin: float  # mean of log P(right) − log P(wrong), nats
    p_right: float  # mean of P(right) / (P(right) + P(wrong))
    elsewhere: float  # nats per reference token outside the choice: shows whether a cut hurts everything else too


@dataclass(frozen=True)
class HeadAttention:
    """The attention of the ambiguous word in one head: shares of its row, averaged over the sentences."""

    head: Head
    means: float  # to its antecedent (pronoun), or to the words that decide its sense (polysemy)
    others: float  # to the other noun, or the mean over the other words of the sentence
    decides: float  # to the words in which the two sentences of the pair differ
    itself: float

    @property
    def lean(self) -> float:
        """Attention to the antecedent or deciding words, minus attention to the others."""
        return self.means - self.others


@dataclass(frozen=True)
class HeadCut:
    """The outcome with some heads cut."""

    heads: tuple[Head, ...]
    outcome: LabOutcome


@dataclass(frozen=True)
class Lab:
    """The figures of one lab."""

    kind: LabKind
    chosen_on: int  # pairs
    measured_on: int
    plain: LabOutcome
    attention: tuple[HeadAttention, ...]  # every head, by descending `lean`
    effects: dict[Head, float]  # margin lost when the head alone is cut, on dev, descending
    by_effect: HeadCut
    by_attention: HeadCut  # those with the largest `lean`
    by_deciding: HeadCut  # those that attend most to the deciding words
    random: tuple[HeadCut, ...]

    def apart(self) -> tuple[HeadCut, ...]:
        """Returns the random draws that contain none of the heads chosen by effect."""
        return tuple(cut for cut in self.random if not set(cut.heads) & set(self.by_effect.heads))

    def as_dict(self) -> dict[str, Any]:
        """Returns the figures as JSON values; heads are named as they are printed."""

        def plain(cut: HeadCut) -> dict[str, Any]:
            return {"heads": [str(head) for head in cut.heads], **asdict(cut.outcome)}

        return {
            "lab": self.kind,
            "pairs_chosen_on": self.chosen_on,
            "pairs_measured_on": self.measured_on,
            "plain": asdict(self.plain),
            "gazes": [{**asdict(g), "head": str(g.head), "lean": g.lean} for g in self.attention],
            "effects": {str(head): drop for head, drop in self.effects.items()},
            "cut_by_effect": plain(self.by_effect),
            "cut_by_gaze": plain(self.by_attention),
            "cut_by_deciding": plain(self.by_deciding),
            "cut_random": [plain(cut) for cut in self.random],
        }


def run_lab(
    bundle: Bundle,
    kind: LabKind,
    chosen: Sequence[LabPair],
    measured: Sequence[LabPair],
    *,
    count: int = 3,
    draws: int = 10,
    seed: int = 1,
    how: Ablation | None = None,
    tell: Tell = lambda line: None,
) -> Lab:
    """Runs a lab. Heads are chosen on the pairs `chosen` and measured on `measured` (see `minimal_pairs.all_pairs`);
    `count` heads are cut together, and `draws` random sets of the same size."""
    heads = heads_of(bundle.model)
    if not heads:
        raise InputError("a lab needs heads to cut, but this model has none; use a Transformer or rnn-attention")
    count = min(count, len(heads))
    tell(f"cutting each of {len(heads)} heads on {len(chosen)} pairs")
    whole = margins(bundle, chosen).mean()
    effects: dict[Head, float] = {}
    for head in heads:
        with ablated(bundle.model, [head], how):
            effects[head] = float(whole - margins(bundle, chosen).mean())
    effects = dict(sorted(effects.items(), key=lambda item: -item[1]))
    tell(f"measuring the attention of {len(heads)} heads")
    attention = head_attention(bundle, chosen, heads)
    leaning = sorted(attention, key=lambda one: -one.lean)
    deciding = sorted(attention, key=lambda one: -one.decides)
    tell(f"cutting {count} heads at a time on {len(measured)} pairs")

    def without(some: Sequence[Head]) -> HeadCut:
        with ablated(bundle.model, some, how):
            return HeadCut(tuple(some), outcome(bundle, measured))

    return Lab(
        kind,
        len(chosen),
        len(measured),
        outcome(bundle, measured),
        tuple(sorted(head_attention(bundle, measured, heads), key=lambda one: -one.lean)),
        effects,
        without(tuple(effects)[:count]),
        without([one.head for one in leaning[:count]]),
        without([one.head for one in deciding[:count]]),
        tuple(without(some) for some in random_heads(heads, count, draws, seed)),
    )


def sentences_of(pairs: Sequence[LabPair]) -> list[LabSentence]:
    return [sentence for pair in pairs for sentence in (pair.first, pair.second)]


# ------------------------------------------------------------------------------------------------ right or wrong


def outcome(bundle: Bundle, pairs: Sequence[LabPair]) -> LabOutcome:
    """Translates and force-decodes both sentences of every pair, and measures how often the choice is right."""
    sentences = sentences_of(pairs)
    found = Translator(bundle).translate([one.source for one in sentences], beam=1, **AS_LINES)
    right = np.array([has_word(t.text, one.word, one.other) for t, one in zip(found, sentences, strict=True)])
    margin = margins(bundle, pairs)
    return LabOutcome(
        float((right[0::2] & right[1::2]).mean()),
        float(right.mean()),
        float((margin > 0).mean()),
        float(margin.mean()),
        float((1 / (1 + np.exp(-margin))).mean()),
        elsewhere(bundle, sentences),
    )


def has_word(text: str, wanted: str, unwanted: str) -> bool:
    words = [word.lower() for word in split_words(text)]
    return wanted in words and unwanted not in words


def margins(bundle: Bundle, pairs: Sequence[LabPair]) -> NDArray[np.float64]:
    """Returns log P(right) − log P(wrong) of every sentence, both after the same prefix; (2 × pairs,)."""
    sentences, tokenizer = sentences_of(pairs), bundle.tokenizer
    sources = tokenizer.encode_source([sentence.source for sentence in sentences])
    choices = [choice(tokenizer, sentence) for sentence in sentences]
    rights, wrongs = [one.right for one in choices], [one.wrong for one in choices]
    right, wrong = (forced_log_probs(bundle.model, sources, targets) for targets in (rights, wrongs))
    return np.array(
        [
            of_right[one.start : len(one.right)].sum() - of_wrong[one.start : len(one.wrong)].sum()
            for one, of_right, of_wrong in zip(choices, right, wrong, strict=True)
        ]
    )


class ForcedChoice(NamedTuple):
    """The ids of both translations up to the end of the choice, and the position where they begin to differ."""

    right: list[int]
    wrong: list[int]
    start: int


def choice(tokenizer: Tokenizer, sentence: LabSentence) -> ForcedChoice:
    """Encodes the two forced targets of a sentence."""
    right, wrong = tokenizer.encode_target([sentence.before + sentence.right, sentence.before + sentence.wrong])
    return ForcedChoice(right, wrong, next(t for t, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b))


def elsewhere(bundle: Bundle, sentences: Sequence[LabSentence]) -> float:
    """Returns the mean log p of the reference tokens outside the choice."""
    tokenizer = bundle.tokenizer
    sources = tokenizer.encode_source([sentence.source for sentence in sentences])
    targets = tokenizer.encode_target([sentence.target for sentence in sentences])
    rows = forced_log_probs(bundle.model, sources, targets)
    choices = [choice(tokenizer, sentence) for sentence in sentences]
    kept = [np.delete(row, range(one.start, len(one.right))) for row, one in zip(rows, choices, strict=True)]
    return float(np.concatenate(kept).mean())


# ------------------------------------------------------------------------------------------------ attention


def head_attention(bundle: Bundle, pairs: Sequence[LabPair], heads: Sequence[Head]) -> list[HeadAttention]:
    """Returns each head's mean over the sentences. A decoder head is left out where the words in question come later in
    French, because it cannot attend to them yet."""
    sums: dict[Head, list[NDArray[np.float64]]] = {head: [] for head in heads}
    sentences = sentences_of(pairs)
    targets = bundle.tokenizer.encode_target([sentence.target for sentence in sentences])
    for sentence, ids in zip(sentences, targets, strict=True):
        captured = trace_sentence(bundle, sentence.source, ids)
        for head in heads:
            shares = attention_shares(captured, sentence, head)
            if shares is not None:
                sums[head].append(shares)
    means = {head: np.mean(rows, axis=0) for head, rows in sums.items() if rows}
    return [HeadAttention(head, *map(float, mean)) for head, mean in means.items()]


def attention_shares(captured: Trace, sentence: LabSentence, head: Head) -> NDArray[np.float64] | None:
    """Returns the shares (means, others, decides, itself) of one head in one sentence."""
    weights = captured.in_words(View(head.layer, head.head), head.kind).weights  # (queries, keys), both words
    places = [sentence.means, sentence.others, sentence.decides, (sentence.ambiguous,)]
    if head.kind == "decoder":  # its keys are French words, and only earlier ones
        before = [tuple(j for i, j in sentence.links if i in place and j < sentence.resolved) for place in places]
        places = [*before[:3], ()]
        if not (before[0] and before[1]):
            return None
    row = weights[sentence.ambiguous if head.kind == "encoder" else sentence.resolved]
    means, others, decides, itself = (list(dict.fromkeys(place)) for place in places)
    return np.array([row[means].sum(), row[others].mean(), row[decides].sum(), row[itself].sum()])


# -------------------------------------------------------------------------------- text


MOST_HEADS = 8  # maximum heads listed


def lab_output(lab: Lab) -> Output:
    """Returns the lab in every format that `regard explain lab` writes."""
    return Output(text=lambda: lab_text(lab), data=lab.as_dict)


def lab_text(lab: Lab) -> str:
    words = ("the antecedent", "the other noun") if lab.kind == "pronoun" else ("the deciding word", "another word")
    worst = min(cut.outcome.pairs_right for cut in lab.random)
    better = sum(cut.outcome.pairs_right > lab.by_effect.outcome.pairs_right for cut in lab.random)
    effects = " · ".join(f"{head} {drop:+.2f}" for head, drop in list(lab.effects.items())[:MOST_HEADS])
    lines = [
        f"{lab.kind} lab: heads chosen on {lab.chosen_on} pairs of dev, measured on {lab.measured_on} others",
        _cut_table(lab, words[0]).text(),
        f"random draws: {worst:.1%} of pairs right at worst; {better} of {len(lab.random)} beat the costliest",
        "log p elsewhere: nats per token of the rest of the reference, which shows whether a cut hurts that too",
        "",
        f"attention of the ambiguous word, by its weight on {words[0]} minus that on {words[1]}",
        _attention_table(lab, *words).text(),
        f"margin lost when one head is cut, on dev: {effects}",
    ]
    return "\n".join(lines)


def _cut_table(lab: Lab, what: str) -> Table:
    chosen = [("costliest", lab.by_effect), (f"most to {what}", lab.by_attention)]
    chosen += [("most to the deciding word", lab.by_deciding)] if lab.kind == "pronoun" else []  # else the same word
    rows = [("none", lab.plain)]
    rows += [(f"{name}: {' '.join(map(str, one.heads))}", one.outcome) for name, one in chosen]
    rows.append((f"random, mean of {len(lab.random)}", _mean(lab.random)))
    if lab.apart():
        rows.append((f"random, {len(lab.apart())} of them without a costliest head", _mean(lab.apart())))
    header = ("heads cut", "pairs right", "sentences right", "P(right)", "log P(right)/P(wrong)", "log p elsewhere")
    return Table(header, [[name, *_figures(outcome)] for name, outcome in rows])


def _attention_table(lab: Lab, what: str, other: str) -> Table:
    pronoun = lab.kind == "pronoun"
    rows = []
    for one in lab.attention[:MOST_HEADS]:
        shares = (one.means, one.others, *([one.decides] if pronoun else []), one.itself)
        rows.append([str(one.head), *(f"{share:.3f}" for share in shares), f"{lab.effects[one.head]:+.2f}"])
    return Table(
        ("head", what, other, *(["deciding word"] if pronoun else []), "itself", "margin lost by its cut"), rows
    )


def _figures(of: LabOutcome) -> list[str]:
    shares = [f"{of.pairs_right:.1%}", f"{of.sentences_right:.1%}"]
    return [*shares, f"{of.p_right:.3f}", f"{of.margin:+.2f}", f"{of.elsewhere:.3f}"]


def _mean(cuts: tuple[HeadCut, ...]) -> LabOutcome:
    rows = np.array([list(vars(cut.outcome).values()) for cut in cuts])
    return LabOutcome(*(float(x) for x in rows.mean(axis=0)))
