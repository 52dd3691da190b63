"""Reversals planted in true translations, and what the guard marks of them (docs/text.md, Quality checks).

python benchmarks/reversals.py --pairs en-de news.en news.de --pairs en-de tatoeba.en tatoeba.de --each 1000

    --pairs EN-XX ENGLISH OTHER   files of true pairs; several times; both directions are measured
    --each 1000                   reversals a direction, at most, in equal parts of the kinds and of known and unknown
    --show KIND                   print false alarms and unmarked reversals of a kind
    --most 3000                   pairs of each file, taken at equal distances

Rules, with the words in `reversals.toml` beside this file; a pair is used at most once for each kind, and only one
place of its translation is changed:

    negation   one is inserted after or before a finite verb in a sentence that has none, or the only one is removed
    opposite   a word is replaced by its opposite, in either direction
    modality   a verb of obligation becomes one of permission or ability, or the reverse, if the source has such a verb
    number     known: a digit is changed, or a number word; unknown: digits are transposed, one is added, or a quantity
               such as half, twice, million is changed
    roles      known: first and third person exchange subject and object; unknown: a passive with its agent is made
               active

`known` entries are in the lists of `src/regard/translation/reversals.toml`, `unknown` ones are not. Pairs in which
either side is in another language are left out: some corpora have such lines.
"""

from __future__ import annotations

import argparse
import random
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import regex

from regard.data.text_files import read_lines
from regard.text.language_identification import foreign_language
from regard.translation.reversals import CERTAIN_NEGATION, marked_words, reversals

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KINDS = ("negation", "number", "opposite", "modality", "roles")
Rewrite = Callable[[str], str | None]  # a translation → the reversed one, None if the rule does not apply


class Pair(NamedTuple):
    source: str
    target: str
    languages: tuple[str, str]


class Planted(NamedTuple):
    pair: Pair  # with the reversed target
    kind: str
    known: bool


def swapped_words(entries: str, both: bool = True) -> list[Rewrite]:
    """Rules for entries such as "big:small"; with `both` also the reverse."""
    rules = []
    for entry in entries.split():
        old, new = entry.replace("_", " ").split(":")
        for a, b in ((old, new), (new, old)) if both else ((old, new),):
            rules.append(
                _substitution(rf"(?<![\w'’-]){regex.escape(a)}(?![\w'’-])", regex.escape(b, literal_spaces=True))
            )
    return rules


def _substitution(pattern: str, replacement: str) -> Rewrite:
    compiled = regex.compile(pattern)

    def rewrite(text: str) -> str | None:
        found = compiled.sub(replacement, text, count=1)
        return found if found != text else None

    return rewrite


# Not the last group of 10 000, 11:00 or 802.11.
WHOLE_NUMBER = regex.compile(r"(?<![\p{L}\d.,:–-]|\d\s)\d{1,4}(?![\d%°:]|[.,]\d)(?=\s\p{L})")


def changed_digits(text: str) -> str | None:
    """12 → 13."""
    found = WHOLE_NUMBER.search(text)
    return None if found is None else text[: found.start()] + str(int(found[0]) + 1) + text[found.end() :]


def transposed_digits(text: str) -> str | None:
    """1945 → 1954, and 5 → 50."""
    found = WHOLE_NUMBER.search(text)
    if found is None:
        return None
    digits = found[0]
    other = digits[:-2] + digits[-1] + digits[-2] if len(digits) > 1 and digits[-1] != digits[-2] else digits + "0"
    return text[: found.start()] + other + text[found.end() :]


def rules(kind: str, known: bool, language: str) -> list[Rewrite]:
    group = "known" if known else "unknown"
    if kind == "number":
        words = swapped_words(TABLES["numbers"][group][language])
        return words + [changed_digits if known else transposed_digits] * max(1, len(words) // 2)
    if kind in ("opposite", "modality"):
        name = "opposites" if kind == "opposite" else kind
        return swapped_words(TABLES[name][group][language], both=known or kind == "opposite")
    return [_substitution(*pair) for pair in TABLES[kind][group][language]]


def planted(pairs: Sequence[Pair], kind: str, known: bool, count: int, rng: random.Random) -> Iterator[Planted]:
    """At most `count` reversals; rules and pairs in random order."""
    chosen = rules(kind, known, pairs[0].languages[1])
    order = rng.sample(range(len(pairs)), len(pairs))
    made = 0
    for number in order:
        if made == count:
            return
        pair = pairs[number]
        if (
            kind == "negation"
            and max(negations(pair.source, pair.languages[0]), negations(pair.target, pair.languages[1])) > 1
        ):
            continue
        for rule in rng.sample(chosen, len(chosen)):
            target = rule(pair.target)
            if target is None or target.lower() == pair.target.lower():
                continue
            if kind == "negation" and not changes_negation(pair, target):
                continue
            if kind == "modality" and not MODALS[pair.languages[0]].search(pair.source):
                continue
            yield Planted(pair._replace(target=target), kind, known)
            made += 1
            break


def negations(text: str, language: str) -> int:
    return len((marked_words(text, language) or {}).get(CERTAIN_NEGATION, ()))


NEGATIVE = {
    "en": r"\b(?:not|no|never|nobody|nothing|none|neither|nor|cannot)\b|n[’']t\b",
    "fr": r"\b(?:ne|pas|jamais|rien|aucune?|personne|ni)\b|\bn[’']",
    "de": r"\b(?:nicht|nichts|nie|niemals|niemand\w*|kein\w*|weder)\b",
    "es": r"\b(?:no|nunca|nadie|nada|ning[uú]n\w*|jamás|ni|tampoco)\b",
}


MODALS = {  # verbs of the list; a source without any has no modality to reverse
    language: regex.compile(
        r"\b(?:" + "|".join(regex.split(r"[: ]", words.replace("_", r"\s"))) + r")\b", regex.IGNORECASE
    )
    for language, words in TABLES["modality"]["known"].items()
}


def changes_negation(pair: Pair, target: str) -> bool:
    """Whether the source has as many negative clauses as the true translation, none or one, and the new one differs."""
    own, other = (bool(regex.search(NEGATIVE[x], t.lower())) for t, x in zip(pair[:2], pair.languages, strict=True))
    return own == other and own != bool(regex.search(NEGATIVE[pair.languages[1]], target.lower()))


def read_pairs(name: str, english: Path, other: Path, most: int) -> list[Pair]:
    language = name.split("-")[1]
    rows = [(a, b) for a, b in zip(read_lines(english), read_lines(other), strict=True) if a.strip() and b.strip()]
    step = max(1, len(rows) // most)
    found = [Pair(a, b, ("en", language)) for a, b in rows[::step][:most]]
    return [p for p in found if not foreign_language(p.source, "en") and not foreign_language(p.target, language)]


def marks(pair: Pair) -> list[str]:
    return [reason.name for reason in reversals(pair.source, pair.target, pair.languages)]


def measure(pairs: Sequence[Pair], each: int, show: str | None) -> None:
    """Prints the table of one direction."""
    rng = random.Random(1)
    name = "-".join(pairs[0].languages)
    started = time.perf_counter()
    alarms = [(pair, marks(pair)) for pair in pairs]
    took = (time.perf_counter() - started) / len(pairs) * 1000
    names = Counter(kind for _, found in alarms for kind in found)
    share = sum(bool(found) for _, found in alarms) / len(pairs)
    for pair, found in alarms:
        if show in found:
            print("false alarm", pair.source, "|", pair.target, sep="\t")
    for kind in KINDS:
        cells = []
        for known in (True, False):
            some = list(planted(pairs, kind, known, each // (2 * len(KINDS)), rng))
            missed = [one for one in some if not marks(one.pair)]
            cells.append((len(missed), len(some)))
            for one in missed if show == kind else ():
                print("unmarked", "known" if known else "unknown", one.pair.source, "|", one.pair.target, sep="\t")
        (a, m), (b, n) = cells
        total = f"{(a + b) / max(1, m + n):.1%}"
        print(
            f"| {name} | {kind} | {m + n} | {a / max(1, m):.1%} of {m} | {b / max(1, n):.1%} of {n} | {total} "
            f"| {names[kind] / len(pairs):.2%} |"
        )
    print(f"| {name} | all, {took:.2f} ms | {len(pairs):,} pairs | | | | {share:.2%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs=3, action="append", required=True, metavar=("EN-XX", "ENGLISH", "OTHER"))
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("--most", type=int, default=3000)
    parser.add_argument("--show", choices=KINDS)
    given = parser.parse_args()
    directions: dict[str, list[Pair]] = defaultdict(list)
    for name, english, other in given.pairs:
        directions[name] += read_pairs(name, Path(english), Path(other), given.most)
    print("| direction | kind | planted | unmarked, known | unmarked, unknown | unmarked | false alarms |")
    print("|---|---|---|---|---|---|---|")
    for pairs in directions.values():
        measure(pairs, given.each, given.show)
        measure([Pair(t, s, (b, a)) for s, t, (a, b) in pairs], given.each, given.show)


if __name__ == "__main__":
    main()
