"""The confidence and the marks of docs/text.md: fitted, and measured against references and people's judgements.

python benchmarks/guard.py --fit "Tatoeba dev" dev.en dev.fr --fit "Europarl dev" europarl.en europarl.fr \\
    --test "Tatoeba test" test.en test.fr --test newstest2013 newstest2013.en newstest2013.fr

    --model FOLDER    of another model than the one in the box
    --most 600        lines of each file, taken at equal distances: a search takes a tenth of a second and more a line
                      by the native engine, a twentieth by CTranslate2
    --keep FOLDER     translations are kept here and read again by the next run
    --write           put the fitted constants into the model's card
    --engine NAME     what translates: native (default), or ctranslate2, several times faster on a CPU
    --sheet FILE      also fit to verdicts on the translations of models beside this one (judged/fit.tsv)
    --judged FOLDER   compare with people's judgements of other translations (scores.en-de.*, critical.en-de.*)
    --signals         what each signal is worth: the figures without it
    --no-alarms       without the false alarms of each rule

The constants are fitted on the first sets and measured on the others. A translation is right or wrong by its chrF, its
length and its invented words (`rightness` in translation/confidence.py); those between count for neither. Outputs are
spoilt of the first test set. Where nothing is fitted, --write puts in what was measured of the constants that the card
has: their errors, and `unwritten`.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import lzma
import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.align.attention import beyond_tag
from regard.bundle import bundled_models
from regard.bundle.card import Calibration
from regard.bundle.folder import find_bundle
from regard.data.text_files import read_lines
from regard.explain.evidence import ranks
from regard.files import write_atomically
from regard.metrics.chrf import Chrf
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.translation.confidence import (
    Observation,
    bins,
    calibration_error,
    features,
    fit_calibration,
    invented_words,
    mark_limits,
    predicted_rightness,
    rightness,
    word_rarities,
)
from regard.translation.guard import judge
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline
from regard.translation.units import Unit
from regard.translation.word_links import word_links
from regard.translator import Translator

SPOILT = 250  # sentences of each kind
FEWEST_WORDS = 4  # of a sentence that is spoilt
SHOWN = (0.01, 0.03, 0.05, 0.1)  # shares of false alarms in the tables
FEW = 40  # lines of each file that tell how much pieces take which are not written


@dataclass(frozen=True)
class Answer:
    """A sentence as it was read and what the model said, in ids."""

    source: str
    read: str
    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """A set of sentences: what the guard sees of each, and how right its translation is, from 0 to 1."""

    name: str
    answers: list[Answer]
    observations: list[Observation]
    quality: list[float]


# ── translating ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class TracedRow:
    """A translator as `translate` uses it, line by line, and what its guard sees. Nothing is tried a second time."""

    translator: Translator
    pipeline: Pipeline

    @classmethod
    def of(cls, translator: Translator) -> TracedRow:
        config = translator.config
        tags = translator.tokenizer.config.tags
        thorough = f"<{translator.languages()[0]}>" in tags  # a model of both directions
        text = TranslateOptions(split="lines", mend=config.mend, thorough=thorough)
        return cls(translator, translator.pipeline(SearchOptions(config.beam, config.length_penalty), text))

    @property
    def calibration(self) -> Calibration:
        assert self.pipeline.calibration is not None
        return self.pipeline.calibration

    def units(self, sources: Sequence[str]) -> list[Unit | None]:
        """None for a line that the model does not read, or not as a whole."""
        found: dict[int, list[Unit]] = {}
        for unit in self.translator.unit_maker(self.pipeline.text).units(enumerate(sources)):
            found.setdefault(unit.text, []).append(unit)
        several = [found.get(number, []) for number in range(len(sources))]
        return [some[0] if len(some) == 1 and some[0].ids else None for some in several]

    def with_unwritten(self, sources: Sequence[str]) -> TracedRow:
        """With its `unwritten` measured: of each token how much more probable the search found it than the model."""
        units = [unit for unit in self.units(sources) if unit is not None]
        requests = [SearchRequest(unit.ids, self.pipeline.constraint(unit.ids)) for unit in units]
        best = [some[0] for some in self.pipeline.engine.search(requests, self.pipeline.search)]
        summed = [(unit.ids, one) for unit, one in zip(units, best, strict=True) if not one.log_probs]
        if not summed:
            return self
        rows = self.pipeline.engine.log_probs([ids for ids, _ in summed], [one.ids for _, one in summed])
        gaps = [(one.log_prob - row.sum()) / len(row) for (_, one), row in zip(summed, rows, strict=True)]
        unwritten = max(0.0, round(float(np.median(gaps)), 4))
        calibration = dataclasses.replace(self.calibration, unwritten=unwritten)
        return TracedRow(self.translator, dataclasses.replace(self.pipeline, calibration=calibration))


def translated(watched: TracedRow, sources: Sequence[str]) -> list[tuple[Answer, Observation] | None]:
    """None for a line that the model did not read, or that is too long for it."""
    units = watched.units(sources)
    read = [unit for unit in units if unit is not None]
    found: dict[int, tuple[Answer, Observation]] = {}
    for unit, (result, seen) in zip(read, watched.pipeline.observed(read), strict=True):
        if seen is not None:
            answer = Answer(unit.prepared.source, unit.prepared.read, result.outcome.text, result.candidates[0].ids)
            found[unit.text] = answer, seen
    return [found.get(number) for number in range(len(sources))]


def observe(watched: TracedRow, pairs: Sequence[tuple[str, str]]) -> list[Observation]:
    """What a forced pass says of given translations."""
    translator, pipeline = watched.translator, watched.pipeline
    tokenizer, view, known = translator.tokenizer, translator.alignment_view, pipeline.target_words
    ranked = translator.bundle.known_words
    forced = [translator.forced_pair(*pair) for pair in pairs]
    ids = [one.source_ids for one in forced], [one.target_ids for one in forced]
    maps = pipeline.engine.attention(*ids) or [None] * len(pairs)
    found: list[Observation] = []
    for (source, target), one, row, weights in zip(pairs, forced, pipeline.engine.log_probs(*ids), maps, strict=True):
        seen = None if weights is None else beyond_tag(weights, pipeline.tag)
        words = None if seen is None else word_links(tokenizer, view, seen, one.read, one.target_ids)[0]
        new = () if known is None else invented_words(source, target, known, pipeline.languages[1] or "")
        rare = word_rarities(source, ranked) if ranked else ()
        found.append(Observation(source, target, row, len(one.source_ids), words, pipeline.languages, None, new, rare))
    if pipeline.back_tag is None:
        return found
    rows = pipeline.back_log_probs([(one.read, one.answer) for one in forced])
    return [dataclasses.replace(one, back=row) for one, row in zip(found, rows, strict=True)]


def sample(file: Path, most: int) -> list[str]:
    """At most so many lines, at equal distances."""
    lines = list(read_lines(file))
    return [lines[i * len(lines) // most] for i in range(most)] if most < len(lines) else lines


def measured(watched: TracedRow, name: str, files: Sequence[Path], most: int, keep: Path | None) -> Measured:
    kept = keep / f"{name}.pickle" if keep else None
    if kept is not None and kept.exists():
        found: Measured = pickle.loads(kept.read_bytes())
        return found
    sources, references = (sample(file, most) for file in files)
    pairs = zip(translated(watched, sources), references, strict=True)
    rows = [(*found, reference) for found, reference in pairs if found is not None]
    answers, observations, wanted = (list(column) for column in zip(*rows, strict=True))
    metric = Chrf()
    similar = metric.scores(metric.stats([one.text for one in answers], wanted).rows) / 100
    quality = [
        rightness(float(chrf), len(seen.source.split()), sum(word not in reference for word in seen.invented))
        for chrf, seen, reference in zip(similar, observations, wanted, strict=True)
    ]
    result = Measured(name, answers, observations, quality)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(result))
    return result


VERDICTS = {"g": 1.0, "m": 0.5, "w": 0.0}  # good, with small errors, wrong
Judged = tuple[list[Observation], list[float]]  # observations, and the verdict on each


def with_verdicts(sheet: Path, models: Path, keep: Path | None, engine: str) -> Judged:
    """The sentences of a sheet, in all directions, whose translation is still the one that was judged."""
    kept = keep.parent / f"{sheet.stem}.pickle" if keep else None
    if kept is not None and kept.exists():
        found: Judged = pickle.loads(kept.read_bytes())
        return found
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    observations, labels = [], []
    for direction in dict.fromkeys(row["direction"] for row in rows):
        some = [row for row in rows if row["direction"] == direction]
        watched = TracedRow.of(Translator.load(models / direction, "cpu", engine))
        answers = translated(watched, [row["source"] for row in some])
        for row, answer in zip(some, answers, strict=True):
            if answer is not None and answer[0].text == row["translation"]:
                observations.append(answer[1])
                labels.append(VERDICTS[row["verdict"]])
    print(f"{len(labels):,} of {len(rows):,} translations of {sheet} are still the same")
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps((observations, labels)))
    return observations, labels


# ── calibration ───────────────────────────────────────────────────────────────────────────────────────────────────────


def confidences(some: Measured, calibration: Calibration) -> list[float]:
    return [judge(seen, calibration).confidence for seen in some.observations]


def show_calibration(sets: Sequence[Measured], calibration: Calibration) -> dict[str, float]:
    """Prints a row for each set; the expected calibration error of each."""
    print(
        "| set | sentences | mean rightness | mean confidence | calibration error | correlation |\n"
        "|---|---|---|---|---|---|"
    )
    errors = {}
    for some in sets:
        confidence = confidences(some, calibration)
        errors[some.name] = calibration_error(bins(confidence, some.quality))
        means = f"{np.mean(some.quality):.3f} | {np.mean(confidence):.3f}"
        correlation = np.corrcoef(confidence, some.quality)[0, 1]
        print(f"| {some.name} | {len(confidence):,} | {means} | {errors[some.name]:.3f} | {correlation:.2f} |")
    return errors


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def auc(values: Sequence[float], right: Sequence[bool]) -> float:
    """How often one that is right has the greater value than one that is not; 0.5 is chance."""
    good = np.asarray(right, dtype=bool)
    count = good.sum() * (~good).sum()
    above = ranks(np.asarray(values))[good].sum() - good.sum() * (good.sum() + 1) / 2
    return float(above / count) if count else float("nan")


def spearman(values: Sequence[float], others: Sequence[float]) -> float:
    return float(np.corrcoef(ranks(np.asarray(values)), ranks(np.asarray(others)))[0, 1])


def mark_figures(confidence: Sequence[float], quality: Sequence[float]) -> list[float]:
    """The area under the curve, and the share of wrong ones found at each share of false alarms."""
    decided = [(c, q == 1) for c, q in zip(confidence, quality, strict=True) if q in (0, 1)]
    _, found = mark_limits(np.asarray(confidence), np.asarray(quality), SHOWN)
    return [auc(*zip(*decided, strict=True)), *found]


def show_marks(sets: Sequence[Measured], calibration: Calibration, title: str) -> None:
    heads = " | ".join(f"found at {rate:.1%}" for rate in SHOWN)
    print(f"\n| {title} | right | wrong | AUC | {heads} | right marked | doubtful | wrong marked | doubtful |")
    print("|---|" + "---|" * (len(SHOWN) + 7))
    every = Measured("all", [], [o for one in sets for o in one.observations], [q for one in sets for q in one.quality])
    for some in [*sets, every] if len(sets) > 1 else sets:
        judged = [judge(seen, calibration) for seen in some.observations]
        area, *found = mark_figures([one.confidence for one in judged], some.quality)
        cells = [f"{area:.3f}", *(f"{share:.0%}" for share in found)]
        counts = []
        for label in (1, 0):
            marks = [{r.mark for r in one.reasons} for one, q in zip(judged, some.quality, strict=True) if q == label]
            counts.append(len(marks))
            cells += [f"{sum(map(bool, marks)) / max(1, len(marks)):.1%}"]
            cells += [f"{sum('doubtful' in one for one in marks) / max(1, len(marks)):.1%}"]
        print(f"| {some.name} | {counts[0]:,} | {counts[1]:,} | {' | '.join(cells)} |")


def show_signals(fitted_on: Sequence[Measured], tests: Sequence[Measured], judged: Judged | None) -> None:
    """What is found without each feature: in the tests, and in the sentences with verdicts, each half by a fit to
    the other."""
    names = list(features(tests[0].observations[0]))
    cheap = [name for name in names if not name.startswith("back")]
    sets = [(s.observations, s.quality) for s in fitted_on]
    seen, quality = (
        [features(one) for some in tests for one in some.observations],
        [q for s in tests for q in s.quality],
    )
    print("\n| signals | AUC | found at 3% | verdicts: AUC | found at 3% | found at 10% |\n|---|---|---|---|---|---|")
    without = {f"all but {name}": [other for other in cheap if other != name] for name in cheap}
    for title, used in {"all cheap ones": cheap, "with those of thorough": names, **without}.items():
        calibration = fit_calibration(sets, "", 0.0, used, judged)
        figures = mark_figures([predicted_rightness(values, calibration) for values in seen], quality)
        cells = [f"{figures[0]:.3f}", f"{figures[2]:.0%}"]
        if judged:
            found = np.zeros(len(judged[1]))
            for half in (0, 1):
                other: Judged = (judged[0][1 - half :: 2], judged[1][1 - half :: 2])
                part = fit_calibration(sets, "", 0.0, used, other)
                found[half::2] = [predicted_rightness(features(one), part) for one in judged[0][half::2]]
            figures = mark_figures(found.tolist(), judged[1])
            cells += [f"{figures[0]:.3f}", f"{figures[2]:.0%}", f"{figures[4]:.0%}"]
        print(f"| {title} | {' | '.join(cells)} |")


# ── people's judgements ───────────────────────────────────────────────────────────────────────────────────────────────


def judged_pairs(folder: Path, name: str, most: int) -> tuple[list[tuple[str, str]], list[str]]:
    with lzma.open(folder / f"{name}.tsv.xz", "rt", encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    rows = [rows[i * len(rows) // most] for i in range(most)] if most < len(rows) else rows
    return [(row[0], row[1]) for row in rows], [row[-1] for row in rows]


def matthews(values: Sequence[float], wrong: Sequence[bool], limit: float) -> float:
    marked, actual = np.asarray(values) < limit, np.asarray(wrong)
    return float(np.corrcoef(marked, actual)[0, 1]) if 0 < marked.sum() < len(marked) else 0.0


def show_judged(watched: TracedRow, levels: dict[str, Calibration], folder: Path, most: int) -> None:
    """Other systems' translations: correlation with people's scores, and critical errors, by a limit that is chosen on
    the training part."""
    parts = ("scores.en-de.dev", "scores.en-de.test20", "critical.en-de.train", "critical.en-de.dev")
    texts = {part: judged_pairs(folder, part, most) for part in parts}
    seen = {part: [features(one) for one in observe(watched, pairs)] for part, (pairs, _) in texts.items()}
    print("\n| people's judgements | sentences | |\n|---|---|---|")
    for title, calibration in levels.items():
        found = {part: [predicted_rightness(row, calibration) for row in rows] for part, rows in seen.items()}
        for part in parts[:2]:
            agreement = spearman(found[part], [float(label) for label in texts[part][1]])
            print(f"| {part}, {title} | {len(found[part]):,} | Spearman {agreement:.3f} |")
        wrong = {part: [label == "ERR" for label in texts[part][1]] for part in parts[2:]}
        values, actual = found[parts[2]], wrong[parts[2]]
        limits = np.quantile(values, np.arange(0.05, 1, 0.05))
        limit = limits[np.argmax([matthews(values, actual, one) for one in limits])]
        agreement = matthews(found[parts[3]], wrong[parts[3]], limit)
        print(f"| {parts[3]}, {title} | {len(found[parts[3]]):,} | MCC {agreement:.3f} |")


# ── alarms ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_alarms(name: str, observations: Sequence[Observation], calibration: Calibration) -> None:
    judged = [judge(seen, calibration) for seen in observations]
    flagged = [one for one in judged if one.reasons]
    names = Counter(reason.name for one in flagged for reason in one.reasons)
    why = ", ".join(f"{reason} {count}" for reason, count in names.most_common())
    share = len(flagged) / max(1, len(judged))
    print(f"| {name} | {len(judged):,} | {share:.1%} | {why or '–'} |")


def show_all_alarms(watched: TracedRow, tests: Sequence[Measured], calibration: Calibration) -> None:
    print("\n| outputs | sentences | marked | reasons |\n|---|---|---|---|")
    for some in tests:
        right = [seen for seen, quality in zip(some.observations, some.quality, strict=True) if quality == 1]
        show_alarms(f"{some.name}, right ones", right, calibration)
        show_alarms(some.name, some.observations, calibration)
    for name, observations in spoilt(watched, tests[0]).items():
        show_alarms(name, observations, calibration)


def spoilt(watched: TracedRow, some: Measured) -> dict[str, list[Observation]]:
    """Outputs spoilt on purpose, each scored by a forced pass."""
    rng = random.Random(1)
    chosen = [one for one in some.answers if len(one.source.split()) >= FEWEST_WORDS and len(one.text.split()) > 1]
    chosen = rng.sample(chosen, min(SPOILT, len(chosen)))

    def changed(change: Callable[[list[str]], list[str]]) -> list[tuple[str, str]]:
        return [(one.source, " ".join(change(one.text.split()))) for one in chosen]

    def looped(words: list[str]) -> list[str]:
        size = min(len(words), rng.randint(1, 3))
        at = rng.randrange(len(words) - size + 1)
        return words[:at] + words[at : at + size] * 3 + words[at + size :]

    def shuffled(text: str) -> str:
        words = text.split()
        return " ".join(rng.sample(words, len(words)))

    nonsense = [shuffled(one.source) for one in chosen]
    answers = translated(watched, nonsense)
    whole = [(one, found[0]) for one, found in zip(chosen, answers, strict=True) if found is not None]
    other_words = [(one, answer) for one, answer in whole if answer.ids != one.ids]  # else the order did not matter
    other = [one.text for one in chosen]
    groups = {
        "cut to a half": changed(lambda words: words[: max(1, len(words) // 2)]),
        "a phrase said three times": changed(looped),
        f"of the source with its words shuffled ({len(whole) - len(other_words)} unchanged ones left out)": [
            (one.source, answer.text) for one, answer in other_words
        ],
        "of another sentence": [(one.source, text) for one, text in zip(chosen, other[1:] + other[:1], strict=True)],
        "(shuffled words are all that was given)": [(answer.source, answer.text) for _, answer in whole],
    }
    return {name: observe(watched, group) for name, group in groups.items()}


def write(folder: Path, calibration: Calibration, errors: dict[str, float]) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    rounded = json.loads(json.dumps(dataclasses.asdict(calibration)), parse_float=lambda text: round(float(text), 4))
    card["calibration"] = rounded | {"errors": errors}
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / "card.json", lambda path: path.write_text(text, encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given_set = {"nargs": 3, "action": "append", "default": [], "metavar": ("NAME", "SOURCES", "REFERENCES")}
    parser.add_argument("--fit", **given_set)
    parser.add_argument("--test", **given_set)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--engine", choices=("native", "ctranslate2"), default="native")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--signals", action="store_true")
    parser.add_argument("--no-alarms", action="store_true")
    given = parser.parse_args()
    folder = find_bundle(given.model or bundled_models.folder_of())
    watched = TracedRow.of(Translator.load(folder, "cpu", given.engine))
    watched = watched.with_unwritten([line for _, s, _ in (*given.fit, *given.test) for line in sample(Path(s), FEW)])
    judged = with_verdicts(given.sheet, folder.parent, given.keep, given.engine) if given.sheet else None
    fitted_on, tests = (
        [measured(watched, name, [Path(s), Path(r)], given.most, given.keep) for name, s, r in sets]
        for sets in (given.fit, given.test)
    )
    calibration = watched.calibration
    print(f"pieces that are not written: {calibration.unwritten:.4f} nats a token")
    if fitted_on:
        names = ", ".join(some.name for some in fitted_on)
        names += ", sentences with verdicts" if judged else ""
        calibration = fit_calibration(
            [(some.observations, some.quality) for some in fitted_on], names, calibration.unwritten, (), judged
        )
    show_calibration(fitted_on, calibration)
    errors = {name: round(error, 4) for name, error in show_calibration(tests, calibration).items()}
    levels = {"set": calibration} | ({"thorough": calibration.thorough} if calibration.thorough else {})
    for title, one in levels.items():
        show_marks(tests, one, title)
    if given.signals:
        show_signals(fitted_on, tests, judged)
    if given.judged:
        show_judged(watched, levels, given.judged, given.most)
    if tests and not given.no_alarms:
        show_all_alarms(watched, tests, calibration)
    if given.write:
        write(folder, calibration, errors)


if __name__ == "__main__":
    main()
