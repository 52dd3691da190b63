"""The confidence of single words (docs/http-api.md), measured: how often words of each confidence stand in a reference.

python benchmarks/word_confidence.py --fit "FLORES dev" dev.en dev.fr --test "FLORES devtest" test.en test.fr

    --model FOLDER    of another model than the one in the box
    --most 300        lines of each file, taken at equal distances
    --engine NAME     what translates: native (default), or ctranslate2, several times faster on a CPU
    --write           put the fitted constants into the model's card

For each test set it prints a table of words by their probability as the model gives it, and by the fitted confidence:
how many, the mean, and the share that the reference has. A line that is calibrated has the same number twice.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from guard import TracedRow, auc, sample, translated

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
    tokenizer = translator.tokenizer
    read = tokenizer.encode_source([answer.read for answer, _ in pairs])
    rows = forced_log_probs(translator.bundle.model, read, [answer.ids for answer, _ in pairs])
    found = Words(name, [], [], [])
    for (answer, reference), row in zip(pairs, rows, strict=True):
        said = tokenizer.decode(answer.ids)
        words = split_words(said)
        shares = subword_shares(tokenizer.target_pieces(answer.ids), word_spans(said))
        found.words.append(words)
        found.log_probs.append(row[:-1] @ shares)
        found.right.append(in_reference(words, split_words(reference)))
    return found


def show(some: Words, calibration: WordCalibration) -> float:
    """Prints the tables of one set; the calibration error of the confidence."""
    right = [float(one) for one in some.all_right]
    plain = np.exp(np.concatenate(some.log_probs))
    pairs = zip(some.words, some.log_probs, strict=True)
    fitted = np.concatenate([word_confidences(*one, calibration) for one in pairs])
    print(f"\n{some.name}: {len(right):,} words, {np.mean(right):.3f} of them in the reference")
    errors = {}
    for what, values in (("probability", plain), ("confidence", fitted)):
        print(f"| {what} | words | mean | in the reference |\n|---|---|---|---|")
        found = bins(values, right)
        for one in found:
            low = int(min(one.confidence, 0.999) * 10) / 10
            print(f"| {low:.1f}–{low + 0.1:.1f} | {one.count:,} | {one.confidence:.3f} | {one.quality:.3f} |")
        errors[what] = calibration_error(found)
        separate = auc(values.tolist(), [one > 0 for one in right])
        print(f"calibration error {errors[what]:.3f}, area under the ROC curve {separate:.3f}")
    return errors["confidence"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given_set = {"nargs": 3, "action": "append", "default": [], "metavar": ("NAME", "SOURCES", "REFERENCES")}
    parser.add_argument("--fit", **given_set)
    parser.add_argument("--test", **given_set)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--engine", choices=("native", "ctranslate2"), default="native")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
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
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
        made = dataclasses.asdict(dataclasses.replace(calibration, errors=errors))
        card["word_calibration"] = json.loads(json.dumps(made), parse_float=lambda text: round(float(text), 4))
        text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
        write_atomically(folder / "card.json", lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
