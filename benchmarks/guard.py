"""The guard of docs/text.md, measured: calibration of the confidence, false alarms, and what is found of spoilt output.

python benchmarks/guard.py --fit "Tatoeba dev" dev.en dev.fr --fit "Europarl dev" europarl.en europarl.fr \\
    --test "Tatoeba test" test.en test.fr --test newstest2013 newstest2013.en newstest2013.fr

    --model FOLDER    of another model than the one in the box
    --most 600        lines of each file, taken at equal distances: a search takes a tenth of a second and more a line
    --keep FOLDER     translations are kept here and read again by the next run
    --plot FILE       draw confidence against chrF: docs/img/calibration.svg
    --write           put the fitted constants into the model's card
    --engine NAME     what translates: native (default), or ctranslate2, several times faster on a CPU
    --no-alarms       the calibration alone

The constants are fitted on the first sets and measured on the others. Outputs are spoilt of the first test set.
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
from regard.bundle import box
from regard.bundle.calibration import Calibration
from regard.bundle.card import read_card
from regard.bundle.folder import find_bundle
from regard.data.text_files import read_lines
from regard.decode.attended import attended
from regard.decode.confidence import Observation, bins, calibration_error, fit_calibration
from regard.decode.guard import judge
from regard.decode.likelihood import forced_log_probs
from regard.decode.translation import Translation
from regard.decode.word_links import word_links
from regard.files import write_atomically
from regard.metrics.chrf import Chrf
from regard.report.chart import Spot, from_zero, plot
from regard.report.svg import svg
from regard.translator import Translator

GOOD = 0.5  # chrF of a sentence from which on a warning about its translation is a false alarm
SPOILT = 250  # sentences of each kind
FEWEST_WORDS = 4  # of a sentence that is spoilt
BATCH = 64
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


def translated(translator: Translator, sources: Sequence[str]) -> list[Answer | None]:
    """None for a sentence that the model did not read, or is too long for it."""
    reads = translator.tokenizer.encode_source

    def answer(found: Translation) -> Answer | None:
        if len(found.sentences) != 1 or not found.candidates:
            return None
        read = found.sentences[0].read
        short = read and len(reads([read])[0]) + 1 < translator.max_length
        return Answer(found.source, read, found.text, found.candidates[0].ids) if short else None

    return [answer(found) for found in translator.translate(sources, split="lines", guard=False)]


def observe(translator: Translator, answers: Sequence[Answer]) -> list[Observation]:
    """What a forced pass says of each answer."""
    bundle = translator.bundle
    view = translator.alignment_view
    found: list[Observation] = []
    for start in range(0, len(answers), BATCH):
        some = answers[start : start + BATCH]
        read = bundle.tokenizer.encode_source([one.read for one in some])
        said = [one.ids for one in some]
        log_probs = forced_log_probs(bundle.model, read, said)
        seen = attended(bundle.model, view, read, said) if view else []
        maps = [beyond_tag(weights, bundle.tag) for weights in seen] or [None] * len(some)
        for one, ids, row, weights in zip(some, read, log_probs, maps, strict=True):
            words = None if weights is None else word_links(bundle.tokenizer, view, weights, one.read, one.ids)[0]
            found.append(Observation(one.source, one.text, row, len(ids), words, bundle.languages))
    return found


def spread(lines: list[str], most: int) -> list[str]:
    """At most so many lines, at equal distances."""
    return [lines[i * len(lines) // most] for i in range(most)] if most < len(lines) else lines


def measured(translator: Translator, name: str, files: Sequence[Path], most: int, keep: Path | None) -> Measured:
    kept = keep / f"{name}.pickle" if keep else None
    if kept is not None and kept.exists():
        found: Measured = pickle.loads(kept.read_bytes())
        return found
    sources, references = (spread(list(read_lines(file)), most) for file in files)
    pairs = zip(translated(translator, sources), references, strict=True)
    answers, wanted = zip(*[(answer, ref) for answer, ref in pairs if answer is not None], strict=True)
    metric = Chrf()
    quality = metric.scores(metric.stats([one.text for one in answers], list(wanted)).rows) / 100
    result = Measured(name, list(answers), observe(translator, answers), np.asarray(quality).tolist())
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


def show_all_alarms(translator: Translator, tests: Sequence[Measured], calibration: Calibration) -> None:
    print("\n| outputs | sentences | with a reason | reasons |\n|---|---|---|---|")
    for some in tests:
        good = [seen for seen, quality in zip(some.observations, some.quality, strict=True) if quality >= GOOD]
        show_alarms(f"{some.name}, chrF of {GOOD:g} and more", good, calibration)
        show_alarms(some.name, some.observations, calibration)
    for name, observations in spoilt(translator, tests[0]).items():
        show_alarms(name, observations, calibration)


def spoilt(translator: Translator, some: Measured) -> dict[str, list[Observation]]:
    """Outputs spoilt on purpose, each scored by a forced pass."""
    rng = random.Random(1)
    chosen = [one for one in some.answers if len(one.source.split()) >= FEWEST_WORDS and len(one.text.split()) > 1]
    chosen = rng.sample(chosen, min(SPOILT, len(chosen)))
    tokenizer = translator.tokenizer

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
    answers = translated(translator, nonsense)
    whole = [(one, answer) for one, answer in zip(chosen, answers, strict=True) if answer is not None]
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
    return {name: observe(translator, group) for name, group in groups.items()}


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
    folder = find_bundle(given.model or box.boxed())
    translator = Translator.load(folder, "cpu", given.engine)
    fitted_on, tests = (
        [measured(translator, name, [Path(s), Path(r)], given.most, given.keep) for name, s, r in sets]
        for sets in (given.fit, given.test)
    )
    calibration = read_card(translator.bundle.card).calibration
    if fitted_on:
        names = ", ".join(some.name for some in fitted_on)
        calibration = fit_calibration([(some.observations, some.quality) for some in fitted_on], names)
    show_calibration(fitted_on, calibration)
    errors = {name: round(error, 4) for name, error in show_calibration(tests, calibration).items()}
    if tests and not given.no_alarms:
        show_all_alarms(translator, tests, calibration)
    if given.plot:
        draw(tests, calibration, given.plot)
    if given.write:
        write(folder, calibration, errors)


if __name__ == "__main__":
    main()
