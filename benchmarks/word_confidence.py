"""The confidence of single words (docs/http-api.md), measured: how often words of each confidence stand in a reference.

python benchmarks/word_confidence.py --fit "FLORES dev" dev.en dev.fr --test "FLORES devtest" test.en test.fr
python benchmarks/word_confidence.py --sheet benchmarks/judged/fit.tsv --models src/regard/bundled --write

    --model FOLDER    of another model than the one in the box
    --most 300        lines of each file, taken at equal distances
    --engine NAME     what translates: native (default), or ctranslate2, several times faster on a CPU
    --write           put the fitted constants into the model's card

With --sheet, a word of a translation by a model in --models is right if the verdict names nothing wrong with it.
One calibration is fitted to the words of all directions, measured in each direction by a fit to every other sentence,
and written into all their cards.

For each test set it prints a table of words by their probability as the model gives it, and by the fitted confidence:
how many, the mean, and the share that the reference has. A line that is calibrated has the same number twice.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from guard import Answer, TracedRow, auc, sample, translated

from regard.bundle import bundled_models
from regard.bundle.card import WordCalibration
from regard.bundle.folder import find_bundle
from regard.explain.word_confidence import Floats, fit_word_calibration, in_reference, word_confidences, word_features
from regard.files import write_atomically
from regard.search.forced_decoding import forced_log_probs
from regard.text.words import split_words, subword_shares, word_spans
from regard.translation.confidence import bins, calibration_error
from regard.translator import Translator


class Words(NamedTuple):
    """The words of one translated set, sentence by sentence."""

    name: str
    words: list[list[str]]
    log_probs: list[Floats]
    right: list[list[bool]]

    @property
    def features(self) -> Floats:
        return np.concatenate([word_features(*one) for one in zip(self.words, self.log_probs, strict=True)])

    @property
    def all_right(self) -> list[bool]:
        return [one for some in self.right for one in some]


def measured(translator: Translator, name: str, files: Sequence[Path], most: int) -> Words:
    sources, references = (sample(file, most) for file in files)
    answers = translated(TracedRow.of(translator), sources)
    pairs = [(answer[0], ref) for answer, ref in zip(answers, references, strict=True) if answer is not None]
    words, log_probs = words_of(translator, [answer for answer, _ in pairs])
    right = [in_reference(some, split_words(ref)) for some, (_, ref) in zip(words, pairs, strict=True)]
    return Words(name, words, log_probs, right)


def words_of(translator: Translator, answers: Sequence[Answer]) -> tuple[list[list[str]], list[Floats]]:
    """The words of each answer, and their log-probabilities by a forced pass."""
    tokenizer = translator.tokenizer
    read = tokenizer.encode_source([answer.read for answer in answers])
    words, log_probs = [], []
    for answer, row in zip(
        answers, forced_log_probs(translator.bundle.model, read, [a.ids for a in answers]), strict=True
    ):
        said = tokenizer.decode(answer.ids)
        shares = subword_shares(tokenizer.target_pieces(answer.ids), word_spans(said))
        words.append(split_words(said))
        log_probs.append(row[:-1] @ shares)
    return words, log_probs


def judged(sheet: Path, models: Path, engine: str) -> dict[str, Words]:
    """The words of each direction of a sheet. Words that a reader calls wrong are wrong."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = {}
    for direction in dict.fromkeys(row["direction"] for row in rows):
        some = [row for row in rows if row["direction"] == direction]
        translator = Translator.load(models / direction, "cpu", engine)
        answers = translated(TracedRow.of(translator), [row["source"] for row in some])
        pairs = [
            (answer[0], row)
            for answer, row in zip(answers, some, strict=True)
            if answer is not None and answer[0].text == row["translation"]
        ]
        words, log_probs = words_of(translator, [answer for answer, _ in pairs])
        wrong = [{word.casefold() for word in split_words(row["wrong"].partition("(")[0])} for _, row in pairs]
        right = [[word.casefold() not in bad for word in said] for said, bad in zip(words, wrong, strict=True)]
        found[direction] = Words(direction, words, log_probs, right)
    return found


def fit_judged(found: dict[str, Words], on: str) -> dict[str, WordCalibration]:
    """One calibration for all directions, with its error in each by a fit to every other sentence."""

    def half(some: Words, start: int) -> Words:
        return Words(some.name, some.words[start::2], some.log_probs[start::2], some.right[start::2])

    def fitted(parts: Sequence[Words]) -> WordCalibration:
        features = np.concatenate([part.features for part in parts])
        right = [one for part in parts for one in part.all_right]
        return fit_word_calibration([(features, right)], on, "have nothing wrong with them, by verdicts")

    first = fitted([half(some, 0) for some in found.values()])
    errors = {name: round(show(half(some, 1), first), 4) for name, some in found.items()}
    every = fitted(list(found.values()))
    return {name: dataclasses.replace(every, errors={"other such words": error}) for name, error in errors.items()}


def show(some: Words, calibration: WordCalibration) -> float:
    """Prints the tables of one set; the calibration error of the confidence."""
    right = [float(one) for one in some.all_right]
    plain = np.exp(np.concatenate(some.log_probs))
    pairs = zip(some.words, some.log_probs, strict=True)
    fitted = np.concatenate([word_confidences(*one, calibration) for one in pairs])
    print(f"\n{some.name}: {len(right):,} words, {np.mean(right):.3f} of them right")
    errors = {}
    for what, values in (("probability", plain), ("confidence", fitted)):
        print(f"| {what} | words | mean | right |\n|---|---|---|---|")
        found = bins(values, right)
        for one in found:
            low = int(min(one.confidence, 0.999) * 10) / 10
            print(f"| {low:.1f}–{low + 0.1:.1f} | {one.count:,} | {one.confidence:.3f} | {one.quality:.3f} |")
        errors[what] = calibration_error(found)
        separate = auc(values.tolist(), [one > 0 for one in right])
        print(f"calibration error {errors[what]:.3f}, area under the ROC curve {separate:.3f}")
    return errors["confidence"]


def write(folder: Path, calibration: WordCalibration) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    made = json.dumps(dataclasses.asdict(calibration))
    card["word_calibration"] = json.loads(made, parse_float=lambda text: round(float(text), 4))
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / "card.json", lambda path: path.write_text(text, encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given_set = {"nargs": 3, "action": "append", "default": [], "metavar": ("NAME", "SOURCES", "REFERENCES")}
    parser.add_argument("--fit", **given_set)
    parser.add_argument("--test", **given_set)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--engine", choices=("native", "ctranslate2"), default="native")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--models", type=Path, default=bundled_models.folder_of().parent)
    given = parser.parse_args()
    if given.sheet:
        found = judged(given.sheet, given.models, given.engine)
        sentences = sum(len(some.words) for some in found.values())
        for name, made in fit_judged(found, f"the words of {sentences:,} judged translations").items():
            if given.write:
                write(given.models / name, made)
        return
    folder = find_bundle(given.model or bundled_models.folder_of())
    translator = Translator.load(folder, "cpu", given.engine)
    fitted_on, tests = (
        [measured(translator, name, [Path(s), Path(r)], given.most) for name, s, r in sets]
        for sets in (given.fit, given.test)
    )
    calibration = translator.bundle.known_card.word_calibration
    if fitted_on:
        names = ", ".join(some.name for some in fitted_on)
        calibration = fit_word_calibration([(some.features, some.all_right) for some in fitted_on], names)
    if calibration is None:
        parser.error("this model's card has no word calibration; give sets to fit it on, with --fit")
    errors = {some.name: round(show(some, calibration), 4) for some in tests}
    if given.write:
        write(folder, dataclasses.replace(calibration, errors=errors))


if __name__ == "__main__":
    main()
