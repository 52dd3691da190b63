"""Rough text beside clean text: a test set as people write it, translated as `regard translate` does, and scored.

    python benchmarks/rough.py --source test.en --reference test.fr
    python benchmarks/rough.py --model FOLDER --tag "<fr>" --source test.en --reference test.fr --lines 1000

The same sentences in each form, with what the preparation of `regard translate` makes of them: sentences, capitals,
slips, slots, emoji. "Fitting" says what an output is compared with. The clean translations are put in the same form
before they are scored against the same references, so a difference is of the words and not of the form. "As it is" is
BLEU of the rough output against the references as they are in the file.

    form             source                                             fitting reference
    capitals         IN CAPITALS                                        in capitals, so the output must be too
    title case       Each Word Has A Capital                            as it is
    lower case       no capital at all                                  as it is
    no punctuation   without marks, except within words and numbers     the same without marks, and so are the outputs
    slips            one letter in 40 wrong, twice, missing or swapped  as it is
    no accents       café is cafe; only where the language has accents  as it is
    emoji            an emoji behind each                               with the emoji
    five a line      five sentences as one line                         the five references as one line
    list items       after -, •, 1., a) by turns                        after the same
    hurried          lower case, no punctuation and slips at once       the same without marks, and so are the outputs

Slips are drawn by the code that can also draw them for training (`regard.data.slips`), from --seed. Accents follow the
language that ends the name of the source file: in German ä is written ae, elsewhere a letter without its accent. The
exit code is 1 if a form other than "hurried" loses more than --within BLEU.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from regard.data.copies import EMOJI
from regard.data.slips import BARE, SPELT_OUT, with_slips, without_accents, without_marks
from regard.data.text_files import read_lines
from regard.data.transforms import in_title_case
from regard.errors import InputError, RegardError
from regard.metrics.bleu import bleu
from regard.metrics.chrf import chrf
from regard.report.table import Table
from regard.translator import Translator

LETTERS_PER_TYPO = 40
FIVE = 5
LIST_MARKS = ("-", "•", "1.", "2.", "a)", "(b)", "*")
WORST = "hurried"  # not asked to be as good as clean text

Change = Callable[[list[str]], list[str]]  # of all lines of a file


@dataclass(frozen=True)
class Form:
    """How sources are written, and what is done to references and clean translations so that they fit."""

    source: Change
    fit: Change = list
    fits_output: bool = False  # whether it is done to the rough translations too


class Scores(NamedTuple):
    """BLEU and chrF of clean and rough text against the fitting references."""

    clean: tuple[float, float]
    rough: tuple[float, float]
    as_it_is: float | None  # BLEU of the rough output against the references of the file; none if lines were joined


def each(change: Callable[[str], str]) -> Change:
    return lambda lines: [change(line) for line in lines]


def forms(language: str, seed: int) -> dict[str, Form]:
    """Every form, by its name.

    >>> {name: form.source(["Ça va, Tom ?"])[0] for name, form in forms("fr", 1).items()}["no punctuation"]
    'Ça va Tom'
    """

    def slips(lines: list[str]) -> list[str]:
        rng = random.Random(seed)
        return [with_slips(line, LETTERS_PER_TYPO, rng) if line.strip() else line for line in lines]

    def emoji(lines: list[str]) -> list[str]:
        rng = random.Random(seed)
        return [f"{line} {rng.choice(EMOJI)}" for line in lines]

    def listed(lines: list[str]) -> list[str]:
        return [f"{LIST_MARKS[number % len(LIST_MARKS)]} {line}" for number, line in enumerate(lines)]

    def five(lines: list[str]) -> list[str]:
        return [" ".join(lines[at : at + FIVE]) for at in range(0, len(lines), FIVE)]

    unmarked = each(lambda line: without_marks(line, "all"))
    letters = SPELT_OUT if language == "de" else BARE
    return {
        "capitals": Form(each(str.upper), each(str.upper)),
        "title case": Form(each(in_title_case)),
        "lower case": Form(each(str.lower)),
        "no punctuation": Form(unmarked, unmarked, fits_output=True),
        "slips": Form(slips),
        "no accents": Form(each(lambda line: without_accents(line, letters))),
        "emoji": Form(emoji, emoji),
        "five a line": Form(five, five),
        "list items": Form(listed, listed),
        WORST: Form(lambda lines: slips(unmarked(each(str.lower)(lines))), unmarked, fits_output=True),
    }


def measured(form: Form, translate: Change, sources: list[str], clean: list[str], references: list[str]) -> Scores:
    """Scores of one form; `clean` are the translations of the sources as they are."""
    output = translate(form.source(sources))
    fitting = form.fit(references)
    return Scores(
        scores(form.fit(clean), fitting),
        scores(form.fit(output) if form.fits_output else output, fitting),
        bleu(output, references).score if len(output) == len(references) else None,
    )


def scores(found: Sequence[str], references: Sequence[str]) -> tuple[float, float]:
    return bleu(found, references).score, chrf(found, references).score


def row(name: str, found: Scores) -> list[str]:
    figures = [name]
    for clean, rough in zip(found.clean, found.rough, strict=True):
        figures += [f"{clean:.2f}", f"{rough:.2f}", f"{rough - clean:+.2f}"]
    return [*figures, "–" if found.as_it_is is None else f"{found.as_it_is:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a bundle, or a name of the box; default: en-fr")
    parser.add_argument("--source", type=Path, required=True, help="sentences, one a line; NAME.LANGUAGE")
    parser.add_argument("--reference", type=Path, required=True, help="their translations")
    parser.add_argument("--tag", help="one of the model's tags: the language to translate into")
    parser.add_argument("--lines", type=int, help="only the first so many")
    parser.add_argument("--only", nargs="+", choices=list(forms("en", 0)), metavar="FORM", help="some of the forms")
    parser.add_argument("--beam", type=int, help="default: the model's own")
    parser.add_argument("--engine", default="auto", help="default: as `regard translate` chooses it")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", type=float, default=3.0, help="BLEU that a form may lose")
    given = parser.parse_args()
    try:
        lost = run(given)
    except RegardError as problem:
        print(f"benchmarks/rough.py: {problem}", file=sys.stderr)
        sys.exit(2)
    if lost:
        print(f"\nmore than {given.within:g} BLEU lost: {', '.join(lost)}")
        sys.exit(1)


def run(given: argparse.Namespace) -> list[str]:
    """Prints the table; returns the forms that lose too much."""
    sources, references = (list(islice(read_lines(path), given.lines)) for path in (given.source, given.reference))
    if len(sources) != len(references):
        raise InputError(f"{given.source} and {given.reference} must have as many lines")
    translator = Translator.load(given.model, given.device, given.engine)

    def translate(lines: list[str]) -> list[str]:
        return [found.text for found in translator.translate(lines, beam=given.beam, tag=given.tag)]

    language = next((part for part in reversed(given.source.name.split(".")) if len(part) == 2 and part != "xz"), "en")
    every = forms(language, given.seed)
    chosen = {name: every[name] for name in given.only or every if every[name].source(sources) != sources}
    clean = translate(sources)
    found: dict[str, Scores] = {}
    for name, form in chosen.items():
        print(f"{name} …", file=sys.stderr, flush=True)
        found[name] = measured(form, translate, sources, clean, references)
    both = scores(clean, references)
    print(
        f"{given.source.name}, {len(sources):,} lines, clean: BLEU {both[0]:.2f}, chrF {both[1]:.2f}; seed {given.seed}"
    )
    header = ["form", "BLEU clean", "rough", "difference", "chrF clean", "rough", "difference", "BLEU as it is"]
    print(Table(header, [row(name, one) for name, one in found.items()]).markdown())
    for metric in (bleu, chrf):
        print(metric(clean, references).signature)
    return [n for n, one in found.items() if one.clean[0] - one.rough[0] > given.within and n != WORST]


if __name__ == "__main__":
    main()
