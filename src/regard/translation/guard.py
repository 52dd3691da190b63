"""The guard: computes a confidence for every translated sentence, and reasons to mark it, if any.

    language     the source is not in the language that the model reads
    loop         the translation repeats what the source does not
    short, long  far too short or too long for its source, compared with the model's usual length ratio
    uncovered    source words that no target word attended to
    copied       the translation is the source, or in the source's language
    improbable   the confidence is below a limit of the model's card, or the end of the translation is improbable
    negation, opposite, modality, number, roles    the translation may say the opposite (`reversals.py`)
    idiom        an idiom was translated word by word (`idioms.py`)

Every reason has a mark: *doubtful* is probably wrong, *check* perhaps. A sentence with another reason than a low
confidence is searched again with other options (`retry_options`), and the better result is taken (`is_better`). There
is no reference: only the texts and the output of the search are known (`confidence.py`), so a fluent and probable error
passes unless its words reveal it. `benchmarks/guard.py` measures its recall and false alarms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from regard.align.attention import WordAttention
from regard.bundle.card import Calibration
from regard.text.language import language_name, scripts_of
from regard.text.language_identification import foreign_language, foreign_language_of, language_words
from regard.text.protected_spans import foreign_letters
from regard.text.words import shortened
from regard.translation.confidence import LogProbSum, Observation, features, log_ratio, predicted_rightness
from regard.translation.idioms import literal_idioms
from regard.translation.repetition import loop, words_of
from regard.translation.reversals import reversals
from regard.translation.translation import Mark, Marking, Reason

MIN_UNREAD_LETTERS = 2  # in another script, of a doubtful sentence
UNTRANSLATED = frozenset(("language", "copied"))
MAX_CONFIDENCE_IF_UNTRANSLATED = 0.2  # for a source in another language, or a copy
LIMITS: dict[Marking, tuple[int, int]] = {"lenient": (0, 1), "normal": (1, 2), "strict": (2, 3)}  # doubtful, check


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of the rules. Chosen on dev sentences of Tatoeba and FLORES, translated by en-fr-classic, against
    artificially corrupted ones; `benchmarks/guard.py` reports on other text."""

    short: float = 4.0  # standard deviations of the length ratio below the model's usual one
    long: float = 5.0  # above it; good translations of short sentences tend to be long rather than short
    foreign: float = 10.0  # nats by which another language is more probable, if it is not without protected spans
    seldom: float = 0.05  # total attention from all target words, below which a source word is uncovered
    uncovered: float = 0.5  # share of the source's content words
    fewest_uncovered: int = 2  # minimal number of words
    content: int = 4  # minimal letters of a content word; shorter words are often function words
    copied: float = 0.8  # share of the target's words that are in the source
    fewest_copied: int = 3  # words that are neither names nor numbers
    mean: float = -1.6  # mean log-probability per token, for a model without calibration
    end: float = -2.5  # log-probability of the end of the sentence: cut off, or unable to stop


THRESHOLDS = Thresholds()


class Judgement(NamedTuple):
    confidence: float  # from 0, wrong, to 1, right
    reasons: tuple[Reason, ...]


def judge(
    seen: Observation, calibration: Calibration, marking: Marking = "normal", limits: Thresholds = THRESHOLDS
) -> Judgement:
    """Returns the confidence in one translation, and the reasons to mark it."""
    confidence = predicted_rightness(features(seen), calibration)
    checks = (_language, _loop, _length, _uncovered, _copied)
    found = [check(seen, calibration, limits) for check in checks]
    found.append(_improbable(seen, confidence, calibration, marking, limits))
    reasons = tuple(filter(None, found))
    if reasons and not UNTRANSLATED.isdisjoint(reason.name for reason in reasons):
        return Judgement(min(confidence, MAX_CONFIDENCE_IF_UNTRANSLATED), reasons)
    opposite = [reason._replace(mark="check") for reason in reversals(seen.source, seen.target, seen.languages)]
    idioms = literal_idioms(seen.source, seen.target, seen.languages)
    return Judgement(confidence, (*reasons, *opposite, *idioms))


def judge_unread(source: str, scripts: Sequence[str] | None) -> Judgement | None:
    """Returns the judgement of a sentence that is its own translation: doubtful if it is in a script that the model
    does not read. A single letter may be a sign: 5 kΩ."""
    if len(foreign_letters(source, scripts)) < MIN_UNREAD_LETTERS:
        return None
    return Judgement(0.0, (Reason("language", "The model does not read the script of the source, which is copied."),))


def _language(seen: Observation, calibration: Calibration, limits: Thresholds) -> Reason | None:
    wanted = seen.languages[0]
    found = foreign_language(seen.source, wanted) if wanted else None
    if wanted is None or found is None:
        return None
    if seen.bare is not None and foreign_language(seen.bare, wanted) is None:
        copied = scripts_of(found[0]) != scripts_of(wanted) and 2 * _letters(seen.bare) >= _letters(seen.source)
        if found[1] < limits.foreign or copied:
            return None  # only a name or a word in another script is foreign: "Mrs Merkel is here."
    text = f"The source seems to be {language_name(found[0])}, but the model reads {language_name(wanted)}."
    return Reason("language", text)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _loop(seen: Observation, calibration: Calibration, limits: Thresholds) -> Reason | None:
    found = loop(seen.source, seen.target)
    if found is None:
        return None
    return Reason("loop", f'The translation repeats "{shortened(found.text, 40)}" {found.times} times.')


def _length(seen: Observation, calibration: Calibration, limits: Thresholds) -> Reason | None:
    away = (log_ratio(seen) - calibration.ratio) / calibration.ratio_spread
    sizes = f"{len(seen.target)} characters for {len(seen.source)} of the source"
    if not seen.target.strip() and seen.source.strip():
        return Reason("short", "The translation is empty.")
    if away < -limits.short:
        return Reason("short", f"The translation is far shorter than usual: {sizes}.")
    if away > limits.long:
        return Reason("long", f"The translation is far longer than usual: {sizes}.")
    return None


def _uncovered(seen: Observation, calibration: Calibration, limits: Thresholds) -> Reason | None:
    attention = seen.attention
    if attention is None or not attention.target_words:
        return None
    missed = [attention.source_words[i] for i in uncovered_words(attention, limits)]
    if len(missed) < limits.fewest_uncovered or len(missed) < limits.uncovered * len(content_words(attention, limits)):
        return None
    return Reason("uncovered", f"No word of the translation attends to: {shortened(', '.join(missed))}.")


def content_words(attention: WordAttention, limits: Thresholds = THRESHOLDS) -> list[int]:
    """Returns the indices of the source words that should be translated."""
    return [i for i, w in enumerate(attention.source_words) if len(w) >= limits.content and w[0].isalpha()]


def uncovered_words(attention: WordAttention, limits: Thresholds = THRESHOLDS) -> list[int]:
    """Returns the indices of content words that hardly any target word attended to."""
    weights = attention.coverage
    return [i for i in content_words(attention, limits) if weights[i] < limits.seldom]


def _copied(seen: Observation, calibration: Calibration, limits: Thresholds) -> Reason | None:
    own, other = seen.languages
    if own is not None and own == other:
        return None
    words = language_words(seen.target)
    small = set(words_of(" ".join([word for word in words if not word[:1].isupper()])))
    if len(small) >= limits.fewest_copied:
        source, enough = seen.source.lower(), limits.copied * len(small)
        may_be_copied = sum([word in source for word in small]) >= enough  # perhaps only as parts of words
        if may_be_copied and len(small.intersection(words_of(seen.source))) >= enough:
            return Reason("copied", "The translation repeats the words of the source.")
    found = foreign_language_of(words, other, only=own) if own and other else None
    if found is not None and found[0] == own:
        return Reason("copied", f"The translation seems to be {language_name(own)}, the language of the source.")
    return None


def _improbable(
    seen: Observation, confidence: float, calibration: Calibration, marking: Marking, limits: Thresholds
) -> Reason | None:
    """Checks the confidence, or the mean log-probability if the card has no limits of confidence."""
    if not isinstance(seen.log_probs, LogProbSum) and len(seen.log_probs) and not seen.log_probs[-1] >= limits.end:
        return Reason("improbable", "The model finds it improbable that the sentence ends here.")
    below = calibration.limits.get(seen.kind)
    mean = seen.mean_log_prob
    mark: Mark = "doubtful"
    if below is None:
        low = not mean >= limits.mean  # NaN is low
    else:
        doubtful, check = (below[place] for place in LIMITS[marking])
        low, mark = confidence < check or not math.isfinite(mean), "check" if confidence >= doubtful else "doubtful"
    if not low:
        return None
    unknown = f" Unknown words: {shortened(', '.join(seen.invented))}." if seen.invented else ""
    lost = f" Words of the source that do not follow from it: {shortened(', '.join(seen.lost))}." if seen.lost else ""
    said = "unlikely to be right" if mark == "doubtful" else "perhaps not right"
    return Reason("improbable", f"By the model's probabilities it is {said} ({confidence:.0%}).{unknown}{lost}", mark)


# ── second search ─────────────────────────────────────────────────────────────────────────────────────────────────────


class SearchChanges(TypedDict, total=False):
    """The fields of `SearchOptions` that a second search changes."""

    beam: int
    length_penalty: float
    no_repeat: int


BEAM_FACTOR = 2  # of a second search
MAX_RETRY_BEAM = 16
NO_REPEAT = 3  # n of the n-grams that may not occur twice
LONGER, SHORTER = 1.5, 0.0  # length penalties


def retry_options(reasons: Sequence[Reason], beam: int) -> SearchChanges | None:
    """Returns the changed options of another search for a marked sentence; None if no search can help. A wider beam
    seldom raises a low confidence, so that alone is no reason.

    >>> retry_options([Reason("loop", "")], beam=5)
    {'beam': 10, 'no_repeat': 3}
    >>> retry_options([Reason("language", "")], beam=5)
    """
    names = {reason.name for reason in reasons} - {"improbable", "idiom"}
    wide = max(beam, min(BEAM_FACTOR * beam, MAX_RETRY_BEAM))
    if not names or "language" in names:
        return None
    if "loop" in names:
        return {"beam": wide, "no_repeat": NO_REPEAT}
    if "long" in names:
        return {"length_penalty": SHORTER, "no_repeat": NO_REPEAT}
    if names & {"short", "uncovered"}:
        return {"beam": wide, "length_penalty": LONGER}
    return {"beam": wide}


def is_better(first: Judgement, second: Judgement) -> bool:
    """Whether the second result is better: it has fewer reasons, or as many and more confidence."""
    return (len(second.reasons), -second.confidence) < (len(first.reasons), -first.confidence)
