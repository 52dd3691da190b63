"""Translation with the sentence before as context: pronouns of our own pairs, and BLEU of consecutive lines.

    python benchmarks/context.py pronouns en-fr en-de en-es fr-en de-en es-en
    python benchmarks/context.py lines DATA/flores-dev en-fr de-en        BLEU; DATA/flores-dev.en, .fr … are the lines

The ways that are compared: each sentence alone; both sentences *joined* in one line, of which the second is taken; both
as the source, with the translation of the first alone as a *forced* prefix of the target; and the same, *chosen* only
where it differs in a pronoun, as by `translate`.

A pair is "I bought the car yesterday. It is very old.": the pronoun refers to a thing of known gender. Of the second
sentence's translation we count whether its pronoun (in Spanish, an adjective or an object pronoun) has that gender,
another one, or none, as *ce*, *cela*, *das*, and *es* for a German noun that is not neuter. Pairs are left out if the
translation of the first sentence does not have the expected noun. From French, German and Spanish, *it* is right, and
*he* or *she* is wrong.
With `lines`, the line before is the context of each line with a pronoun (`text/pronouns.py`); the damage of a wrong
context shows in a file of unrelated lines.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from context_pairs import Pair, pairs_of

import regard
from regard.report.table import Table
from regard.text.pronouns import has_pronoun
from regard.text.sentences import sentence_spans
from regard.translation import revision
from regard.translator import Translator

WAYS = ("alone", "joined", "forced", "chosen")
PLAIN: dict[str, Any] = {"split": "lines", "in_context": False}


class Two(NamedTuple):
    """A sentence and the one before."""

    before: str
    sentence: str


def translated(translator: Translator, some: Sequence[Two], way: str) -> list[str]:
    """Returns the translations of the second sentences."""
    if way == "alone":
        return [one.text for one in translator.translate([two.sentence for two in some], **PLAIN)]
    if way == "joined":
        return list(joined(translator, some))
    if way == "chosen":
        return in_context(translator, some)
    with patch.object(revision, "is_better", lambda first, second, language: bool(second.candidates)):
        return in_context(translator, some)


def joined(translator: Translator, some: Sequence[Two]) -> Iterator[str]:
    """Translates both as one line, and takes the sentences after those of the first; else the second alone."""
    language = translator.languages()[1] or "en"
    first = translator.translate([two.before for two in some], **PLAIN)
    both = translator.translate([f"{two.before} {two.sentence}" for two in some], **PLAIN)
    alone = translated(translator, some, "alone")
    for one, line, other in zip(first, both, alone, strict=True):
        spans, count = sentence_spans(line.text, language), len(sentence_spans(one.text, language))
        yield line.text[spans[count][0] :] if len(spans) > count else other


def in_context(translator: Translator, some: Sequence[Two]) -> list[str]:
    """Translates the second as `translate` does: given the first and its translation, if it has a pronoun."""
    texts, documents = [text for two in some for text in two], [i for i in range(len(some)) for _ in range(2)]
    found = translator.translate(texts, documents=documents, split="lines", in_context=True)
    return [one.text for one in found[1::2]]


# ── pronouns ──

GENDERED = {
    "fr": {"m": r"\bils?\b|\ble\b", "f": r"\belles?\b|\bla\b"},
    "de": {"m": r"\ber\b|\bEr\b|\bihn\b", "f": r"\bsie\b|^Sie\b", "n": r"\bes\b|\bEs\b"},
    "es": {
        "m": r"\b(?:viej|car|hermos|bonit|bell|preciosí?|pequeñ)os?\b|(?:\b|r)los?\b",
        "f": r"\b(?:viej|car|hermos|bonit|bell|preciosí?|pequeñ)as?\b|(?:\b|r)las?\b",
    },
    "en": {"n": r"\bit\b|\bthey\b|\bthem\b|\bit's\b", "other": r"\bs?he\b|\bhim\b|\bhers?\b"},
}


def outcome(pair: Pair, text: str, language: str) -> str:
    flags = re.IGNORECASE if language in ("fr", "es", "en") else 0
    found = {gender for gender, pattern in GENDERED[language].items() if re.search(pattern, text, flags)}
    if language == "de" and pair.gender != "n":
        found.discard("n")
    return "right" if found == {pair.gender} else "wrong" if found else "neutral"


def pronoun_table(models: Sequence[str], count: int, seed: int, show: int) -> Table:
    body = []
    for name in models:
        translator = regard.load(name, device="cpu")
        source, target = translator.languages()
        pairs = pairs_of(source or "", target or "")
        random.Random(seed).shuffle(pairs)
        if target != "en":
            first = translator.translate([pair.before for pair in pairs], **PLAIN)
            pairs = [pair for pair, one in zip(pairs, first, strict=True) if pair.noun in one.text.casefold()]
        pairs = pairs[:count]
        for way in WAYS:
            texts = translated(translator, [Two(pair.before, pair.sentence) for pair in pairs], way)
            outcomes = [outcome(pair, text, target or "") for pair, text in zip(pairs, texts, strict=True)]
            counted = Counter(outcomes)
            genders = [
                f"{gender} {sum(o == 'right' and p.gender == gender for o, p in zip(outcomes, pairs, strict=True))}"
                f"/{sum(p.gender == gender for p in pairs)}"
                for gender in sorted({pair.gender for pair in pairs})
            ]
            figures = (f"{counted[kind]}" for kind in ("right", "neutral", "wrong"))
            body.append([name, f"{len(pairs)}", way, *figures, ", ".join(genders)])
            for pair, text, kind in list(zip(pairs, texts, outcomes, strict=True))[:show]:
                print(f"{kind:8} {pair.gender} {pair.before} {pair.sentence}  →  {text}")
    return Table(["model", "pairs", "way", "right", "neutral", "wrong", "right by gender"], body)


# ── lines ──


def line_table(stem: Path, models: Sequence[str], count: int, show: int) -> Table:
    body = []
    for name in models:
        translator = regard.load(name, device="cpu")
        languages = [language or "" for language in translator.languages()]
        sources, references = [
            stem.with_name(f"{stem.name}.{language}").read_text(encoding="utf-8").splitlines()[:count]
            for language in languages
        ]
        some = [i for i in range(1, len(sources)) if has_pronoun(sources[i], languages[0])]
        asked = [Two(sources[i - 1], sources[i]) for i in some]
        alone = [one.text for one in translator.translate(sources, **PLAIN)]
        for way in WAYS:
            texts, began = list(alone), time.monotonic()
            if way != "alone":
                for i, text in zip(some, translated(translator, asked, way), strict=True):
                    texts[i] = text
            taken = time.monotonic() - began
            changed = [i for i in some if texts[i] != alone[i]]
            scores = [
                regard.bleu([texts[i] for i in which], [[references[i] for i in which]]).score
                for which in (range(len(sources)), some)
            ]
            figures = [f"{len(sources)}", f"{len(some)}", way, f"{len(changed)}"]
            body.append([name, *figures, *(f"{score:.2f}" for score in scores), f"{taken:.0f} s"])
            for i in changed[:show]:
                print(f"{sources[i - 1]}\n{sources[i]}\n  {alone[i]}\n  {texts[i]}\n  {references[i]}\n")
    return Table(["model", "lines", "with a pronoun", "way", "changed", "BLEU", "BLEU of those", "time"], body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    pronouns, lines = commands.add_parser("pronouns"), commands.add_parser("lines")
    lines.add_argument("stem", type=Path)
    for command, count in ((pronouns, 400), (lines, 200)):
        command.add_argument("models", nargs="+")
        command.add_argument("--count", type=int, default=count, help="most pairs or lines")
        command.add_argument("--show", type=int, default=0, help="translations to print")
    pronouns.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.what == "pronouns":
        print(pronoun_table(given.models, given.count, given.seed, given.show).markdown())
    else:
        print(line_table(given.stem, given.models, given.count, given.show).markdown())


if __name__ == "__main__":
    main()
