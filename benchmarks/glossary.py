"""A glossary, measured: how many terms are met, and what it costs in BLEU and time.

python benchmarks/glossary.py pairs.tsv.xz                 Tatoeba as a table of pairs, or as a folder of regard fetch
python benchmarks/glossary.py pairs.tsv.xz --model FOLDER --sentences 500

Two glossaries, made from the test part and a sample of the rest by the HMM aligner, each with sentences of the test
part that have 1 to 3 of its terms. The first lists the usual translation of a word, and its sentences are those whose
reference has it. The second lists another translation, which is put into the reference in place of its word: it goes
against the model, and its references are often wrong in the rest (gender, prepositions). For each way to apply the
terms: the share that stands in the output, BLEU, and time relative to a translation without them.

    none       no glossary
    glossary   `translate(…, glossary=…)`
    search     the search is constrained to say the terms (`Terms`), at once and without more
    slots      a slot stands for the term in the source, and is filled in the translation; for a model that learnt them
    replaced   where a term is missing, the words that attention links to it are replaced afterwards, without a search
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from general.sets import tatoeba_parts

from regard.align.hmm import train_both
from regard.batch import pad_sources
from regard.data.prepare import read_table
from regard.data.sources import LinesFile
from regard.data.text_files import read_lines
from regard.errors import RegardError
from regard.metrics.bleu import bleu
from regard.search.constraints import Constraint, EachOnce
from regard.search.engine import token_batches
from regard.search.options import SearchOptions
from regard.search.required_terms import RequiredTerms
from regard.search.search import requests_of, search
from regard.text.glossary import Glossary, TermMatch, located_terms
from regard.text.slots import SLOTS, fill
from regard.text.span_matching import find_occurrences
from regard.text.words import split_words
from regard.translator import Translator

BEAM = 5
FEWEST_LETTERS = 4  # of a term; shorter words are mostly articles, pronouns and prepositions
COMMON = 0.003  # a word with a larger share of all words is no term
SAMPLE = 20_000  # pairs that the aligner reads beside the test set
SHARE = 0.4  # of the words that become terms

Pair = tuple[str, str]


class Task(NamedTuple):
    source: str
    reference: str
    matches: tuple[TermMatch, ...]  # in the source


class TermTest(NamedTuple):
    glossary: Glossary
    tasks: list[Task]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tatoeba", type=Path, help="a table of pairs, or a folder of regard fetch")
    parser.add_argument("--model", type=Path, help="a bundle, English to French; default: that of the box")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    try:
        translator = Translator.load(given.model, given.device, "native")
        tests = term_tests(given.tatoeba, given.sentences)
    except RegardError as problem:
        print(f"benchmarks/glossary.py: {problem}", file=sys.stderr)
        sys.exit(2)
    for name, test in tests.items():
        terms = sum(len(task.matches) for task in test.tasks)
        print(f"{name}: {len(test.tasks)} sentences, {terms} terms of {len(test.glossary)}, beam {BEAM}")
        print("way         met    BLEU   time")
        measure(translator, test)


def measure(translator: Translator, test: TermTest) -> None:
    free: list[str] = []
    base = 0.0
    for name, way in WAYS.items():
        if name == "slots" and not translator.bundle.slots:
            continue
        started = time.perf_counter()
        said = way(translator, test, free)
        seconds = time.perf_counter() - started
        if name == "none":
            free, base = said, seconds
        if name == "replaced":
            seconds += base  # the translation that it starts from
        met = [is_met for task, text in zip(test.tasks, said, strict=True) for is_met in term_is_met(task, text)]
        score = bleu(said, [task.reference for task in test.tasks]).score
        print(f"{name:<10} {100 * sum(met) / len(met):5.1f}% {score:6.2f} {seconds / base:5.2f}", flush=True)


def term_is_met(task: Task, text: str) -> list[bool]:
    """Whether each term has a place of its own in a translation."""
    return [place is not None for place in located_terms([match.targets for match in task.matches], text)]


# ── ways to apply the terms ─────────────────────────────────────────────────────────────────────────────────────────


def without(translator: Translator, test: TermTest, free: list[str]) -> list[str]:
    return [t.text for t in translator.translate([task.source for task in test.tasks], beam=BEAM)]


def translated(translator: Translator, test: TermTest, free: list[str]) -> list[str]:
    sources = [task.source for task in test.tasks]
    return [t.text for t in translator.translate(sources, beam=BEAM, glossary=test.glossary)]


def constrained(translator: Translator, test: TermTest, free: list[str]) -> list[str]:
    required = RequiredTerms(translator.tokenizer)
    wanted = [[match.targets for match in task.matches] for task in test.tasks]
    sources = [task.source for task in test.tasks]
    return searched(translator, sources, [required.of(targets).terms for targets in wanted])


def slots(translator: Translator, test: TermTest, free: list[str]) -> list[str]:
    ids = translator.tokenizer.slot_ids
    sources, constraints = [], []
    for source, _, matches in test.tasks:
        for k, match in reversed(list(enumerate(matches))):
            source = source[: match.start] + SLOTS[k] + source[match.end :]
        sources.append(source)
        constraints.append(EachOnce(frozenset(ids[: len(matches)]), frozenset(ids)))
    said = searched(translator, sources, constraints)
    return [fill(text, [m.targets[0] for m in task.matches]) for task, text in zip(test.tasks, said, strict=True)]


def replaced(translator: Translator, test: TermTest, free: list[str]) -> list[str]:
    made = []
    for task, text in zip(test.tasks, free, strict=True):
        aligned = translator.align(task.source, text)
        for match, met in zip(task.matches, term_is_met(task, text), strict=True):
            own = [b for a, b in aligned.word_pairs if a == task.source[match.start : match.end] and b.isalpha()]
            if own and not met:
                text = text.replace(max(own, key=len), match.targets[0], 1)
        made.append(text)
    return made


WAYS: dict[str, Callable[[Translator, TermTest, list[str]], list[str]]] = {
    "none": without,
    "glossary": translated,
    "search": constrained,
    "slots": slots,
    "replaced": replaced,
}


def searched(translator: Translator, sources: Sequence[str], constraints: Sequence[Constraint | None]) -> list[str]:
    ids = translator.tokenizer.encode_source(sources)
    options = SearchOptions(BEAM, translator.config.length_penalty)
    texts = [""] * len(sources)
    for batch in token_batches([len(i) for i in ids], 4096):
        src, mask = (t.to(translator.bundle.model.device) for t in pad_sources([ids[i] for i in batch]))
        found = search(translator.bundle.model, requests_of(src, mask, [constraints[i] for i in batch]), options)
        for i, hypotheses in zip(batch, found, strict=True):
            texts[i] = translator.tokenizer.decode(hypotheses[0].ids)
    return texts


# ── sentences and their terms ───────────────────────────────────────────────────────────────────────────────────────


def term_tests(place: Path, count: int) -> dict[str, TermTest]:
    """Both glossaries with their sentences."""
    test = tatoeba_parts(place)["test"]
    held_out = {text for pair in test for text in pair}
    if place.is_dir():
        table = zip(*(read_lines(place / f"train.{lang}") for lang in ("en", "fr")), strict=True)
    else:
        table = (pair for pair in read_table(LinesFile(place.name), {place.name: place}) if held_out.isdisjoint(pair))
    pairs = [*test, *islice(table, 0, 7 * SAMPLE, 7)]
    words = [(split_words(a.lower()), split_words(b.lower())) for a, b in pairs]
    links = list(train_both(words).align_each(words, join="intersection"))
    common = [most_common(w for pair in words for w in pair[side]) for side in (0, 1)]
    translations: dict[str, Counter[str]] = defaultdict(Counter)
    for (source, target), some in zip(words, links, strict=True):
        for i, j in some:
            both = source[i], target[j]
            if all(w.isalpha() and len(w) >= FEWEST_LETTERS and w not in c for w, c in zip(both, common, strict=True)):
                translations[source[i]][target[j]] += 1
    rng = random.Random(1)
    usual, other = {}, {}
    for word, counts in sorted(translations.items()):
        listed = [w for w, n in counts.most_common(4) if n > 1]
        if listed and rng.random() < SHARE:
            usual[word] = listed[0]
        if len(listed) > 1 and rng.random() < SHARE:
            other[word] = rng.choice(listed[1:])
    order = rng.sample(range(len(test)), len(test))
    return {
        "usual translations": TermTest(Glossary.of(usual), some_tasks(usual, [test[i] for i in order], count)),
        "other translations": TermTest(
            Glossary.of(other), some_tasks(other, [test[i] for i in order], count, translations)
        ),
    }


def most_common(words: Iterable[str]) -> set[str]:
    """Words that are no terms: articles, pronouns, auxiliaries."""
    counts = Counter(words)
    return {word for word, n in counts.items() if n > COMMON * counts.total()}


def some_tasks(
    terms: dict[str, str], pairs: Sequence[Pair], count: int, instead_of: dict[str, Counter[str]] | None = None
) -> list[Task]:
    """Sentences with 1 to 3 terms that are in the reference; or that can be put there `instead_of` others."""
    glossary, made = Glossary.of(terms), []
    for source, reference in pairs:
        matches = glossary.find(source, "en", "fr")
        for match in matches if instead_of is not None else ():
            usual = [w for w in instead_of[match.term.source] if len(find_occurrences(w, "term", reference)) == 1]  # type: ignore[index]
            if len(usual) == 1:
                ((start, end),) = find_occurrences(usual[0], "term", reference)
                reference = reference[:start] + match.targets[0] + reference[end:]
        task = Task(source, reference, tuple(matches))
        if 1 <= len(matches) <= 3 and all(term_is_met(task, reference)):
            made.append(task)
    return made[:count]


if __name__ == "__main__":
    main()
