"""The guard of docs/text.md, measured: calibration of the confidence, false alarms, and what is found of spoilt output.

python benchmarks/guard.py --fit "Tatoeba dev" dev.en dev.fr --fit "Europarl dev" europarl.en europarl.fr \\
    --test "Tatoeba test" test.en test.fr --test newstest2013 newstest2013.en newstest2013.fr

    --model FOLDER    of another model than the one in the box
    --most 600        lines of each file, taken at equal distances: a search takes a tenth of a second and more a line
                      by the native engine, a twentieth by CTranslate2
    --keep FOLDER     translations are kept here and read again by the next run
    --plot FILE       draw confidence against chrF: docs/img/calibration.svg
    --write           put the fitted constants into the model's card
    --engine NAME     what translates: native (default), or ctranslate2, several times faster on a CPU
    --no-alarms       the calibration alone

The constants are fitted on the first sets and measured on the others. Outputs are spoilt of the first test set. Where
nothing is fitted, --write puts in what was measured of the constants that the card has: their errors, and `unwritten`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
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
from regard.files import write_atomically
from regard.metrics.chrf import Chrf
from regard.report.chart import Spot, from_zero, plot
from regard.report.render import svg
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.translation.confidence import Observation, bins, calibration_error, fit_calibration
from regard.translation.guard import judge
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline
from regard.translation.units import Unit
from regard.translation.word_links import word_links
from regard.translator import Translator

GOOD = 0.5  # chrF of a sentence from which on a warning about its translation is a false alarm
SPOILT = 250  # sentences of each kind
FEWEST_WORDS = 4  # of a sentence that is spoilt
FEW = 40  # lines of each file that tell how much pieces take which are not written
CAPTION = "The chrF that sentences had, in bins of the confidence that predicted it; on the diagonal both are equal."


@dataclass(frozen=True)
class Answer:
    """A sentence as it was read and what the model said, in ids."""

    source: str
    read: str
    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """A set of sentences: what the guard sees of each, and its chrF from 0 to 1."""

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
        text = TranslateOptions(split="lines", mend=config.mend)
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


def observe(watched: TracedRow, answers: Sequence[Answer]) -> list[Observation]:
    """What a forced pass says of each answer."""
    translator, engine = watched.translator, watched.pipeline.engine
    bundle, view = translator.bundle, translator.alignment_view
    read = [tuple(ids) for ids in bundle.tokenizer.encode_source([one.read for one in answers])]
    said = [one.ids for one in answers]
    maps = engine.attention(read, said) or [None] * len(answers)
    found: list[Observation] = []
    for one, ids, row, weights in zip(answers, read, engine.log_probs(read, said), maps, strict=True):
        seen = None if weights is None else beyond_tag(weights, bundle.tag)
        words = None if seen is None else word_links(bundle.tokenizer, view, seen, one.read, one.ids)[0]
        found.append(Observation(one.source, one.text, row, len(ids), words, bundle.languages))
    return found


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
    quality = metric.scores(metric.stats([one.text for one in answers], wanted).rows) / 100
    result = Measured(name, answers, observations, np.asarray(quality).tolist())
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(result))
    return result


# ── calibration ───────────────────────────────────────────────────────────────────────────────────────────────────────


def confidences(some: Measured, calibration: Calibration) -> list[float]:
    return [judge(seen, calibration).confidence for seen in some.observations]


def show_calibration(sets: Sequence[Measured], calibration: Calibration) -> dict[str, float]:
    """Prints a row for each set; the expected calibration error of each."""
    print(
        "| set | sentences | mean chrF | mean confidence | calibration error | correlation |\n|---|---|---|---|---|---|"
    )
    errors = {}
    for some in sets:
        confidence = confidences(some, calibration)
        errors[some.name] = calibration_error(bins(confidence, some.quality))
        means = f"{np.mean(some.quality):.3f} | {np.mean(confidence):.3f}"
        correlation = np.corrcoef(confidence, some.quality)[0, 1]
        print(f"| {some.name} | {len(confidence):,} | {means} | {errors[some.name]:.3f} | {correlation:.2f} |")
    return errors


def draw(sets: Sequence[Measured], calibration: Calibration, file: Path) -> None:
    series = {"as predicted": [Spot(0.0, 0.0), Spot(1.0, 1.0)]} | {
        some.name: [
            Spot(one.confidence, one.quality)
            for one in bins(confidences(some, calibration), some.quality)
            if one.count >= 10  # fewer say nothing
        ]
        for some in sets
    }
    axes = from_zero("confidence", [1.0]), from_zero("chrF of the sentences, mean", [1.0])
    drawing = plot("Confidence against chrF", series, *axes, joined=True)
    file.write_text(svg(dataclasses.replace(drawing, caption=CAPTION)), encoding="utf-8")


# ── alarms ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_alarms(name: str, observations: Sequence[Observation], calibration: Calibration) -> None:
    judged = [judge(seen, calibration) for seen in observations]
    flagged = [one for one in judged if one.reasons]
    names = Counter(reason.name for one in flagged for reason in one.reasons)
    why = ", ".join(f"{reason} {count}" for reason, count in names.most_common())
    share = len(flagged) / max(1, len(judged))
    print(f"| {name} | {len(judged):,} | {share:.1%} | {why or '–'} |")


def show_all_alarms(watched: TracedRow, tests: Sequence[Measured], calibration: Calibration) -> None:
    print("\n| outputs | sentences | with a reason | reasons |\n|---|---|---|---|")
    for some in tests:
        good = [seen for seen, quality in zip(some.observations, some.quality, strict=True) if quality >= GOOD]
        show_alarms(f"{some.name}, chrF of {GOOD:g} and more", good, calibration)
        show_alarms(some.name, some.observations, calibration)
    for name, observations in spoilt(watched, tests[0]).items():
        show_alarms(name, observations, calibration)


def spoilt(watched: TracedRow, some: Measured) -> dict[str, list[Observation]]:
    """Outputs spoilt on purpose, each scored by a forced pass."""
    rng = random.Random(1)
    chosen = [one for one in some.answers if len(one.source.split()) >= FEWEST_WORDS and len(one.text.split()) > 1]
    chosen = rng.sample(chosen, min(SPOILT, len(chosen)))
    tokenizer = watched.translator.tokenizer

    def said(texts: Sequence[str]) -> list[Answer]:
        ids = tokenizer.encode_target(texts)
        rows = zip(chosen, texts, ids, strict=True)
        return [dataclasses.replace(one, text=text, ids=tuple(its)) for one, text, its in rows]

    def changed(change: Callable[[list[str]], list[str]]) -> list[Answer]:
        return said([" ".join(change(tokenizer.decode(one.ids).split())) for one in chosen])

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
    other = [tokenizer.decode(one.ids) for one in chosen]
    groups = {
        "cut to a half": changed(lambda words: words[: max(1, len(words) // 2)]),
        "a phrase said three times": changed(looped),
        f"of the source with its words shuffled ({len(whole) - len(other_words)} unchanged ones left out)": [
            dataclasses.replace(one, text=answer.text, ids=answer.ids) for one, answer in other_words
        ],
        "of another sentence": said(other[1:] + other[:1]),
        "(shuffled words are all that was given)": [answer for _, answer in whole],
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
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--engine", choices=("native", "ctranslate2"), default="native")
    parser.add_argument("--no-alarms", action="store_true")
    given = parser.parse_args()
    folder = find_bundle(given.model or bundled_models.folder_of())
    watched = TracedRow.of(Translator.load(folder, "cpu", given.engine))
    watched = watched.with_unwritten([line for _, s, _ in (*given.fit, *given.test) for line in sample(Path(s), FEW)])
    fitted_on, tests = (
        [measured(watched, name, [Path(s), Path(r)], given.most, given.keep) for name, s, r in sets]
        for sets in (given.fit, given.test)
    )
    calibration = watched.calibration
    print(f"pieces that are not written: {calibration.unwritten:.4f} nats a token")
    if fitted_on:
        names = ", ".join(some.name for some in fitted_on)
        calibration = fit_calibration(
            [(some.observations, some.quality) for some in fitted_on], names, calibration.unwritten
        )
    show_calibration(fitted_on, calibration)
    errors = {name: round(error, 4) for name, error in show_calibration(tests, calibration).items()}
    if tests and not given.no_alarms:
        show_all_alarms(watched, tests, calibration)
    if given.plot:
        draw(tests, calibration, given.plot)
    if given.write:
        write(folder, calibration, errors)


if __name__ == "__main__":
    main()
