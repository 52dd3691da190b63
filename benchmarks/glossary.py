"""A glossary in the search, measured: how many terms are met, and what it costs in BLEU and time.

python benchmarks/glossary.py pairs.tsv.xz                 Tatoeba as a table of pairs, or as a folder of regard fetch
python benchmarks/glossary.py pairs.tsv.xz --model FOLDER --sentences 500

Two lists of sentences from the test part, each with 1 to 3 terms. Terms of the first are words of the reference, found
by the HMM aligner: a glossary that is right. Terms of the second are other translations of the word that the aligner
found elsewhere, put into the reference in place of its word: a glossary against the model. For each way to apply the
terms: the share that stands in the output, BLEU against the reference, and time relative to a search without them.

    none       the model alone
    search     the search is constrained to say the terms (`Terms`)
    instead    those sentences whose terms the model has not said are searched again: the words that it said instead,
               found by attention, are forbidden (`Never`)
    slots      a slot stands for the term in the source, and is filled in the translation; for a model that learnt them
    replaced   the words that the model said instead are replaced afterwards, without a search
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from box import tatoeba_parts

from regard.align.hmm import train_both
from regard.batch import budgeted, pad_sources
from regard.data.corpus import read_lines
from regard.data.prepare import read_table
from regard.data.sources import LinesFile
from regard.decode.constraints import All, Constraint, EachOnce
from regard.decode.required_terms import RequiredTerms
from regard.decode.search import SearchOptions, search
from regard.errors import RegardError
from regard.metrics.bleu import bleu
from regard.text.fidelity import occurs
from regard.text.glossary import Glossary, TermMatch, located_terms
from regard.text.slots import SLOTS, fill
from regard.text.words import split_words
from regard.translator import Translator

BEAM = 5
FEWEST_LETTERS = 4  # of a term; shorter words are mostly articles, pronouns and prepositions
COMMON = 0.003  # a word with a larger share of all words is no term
SAMPLE = 20_000  # pairs that the aligner reads beside the test set

Pair = tuple[str, str]


class Task(NamedTuple):
    source: str
    reference: str
    matches: tuple[TermMatch, ...]  # in the source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tatoeba", type=Path, help="a table of pairs, or a folder of regard fetch")
    parser.add_argument("--model", type=Path, help="a bundle, English to French; default: that of the box")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    try:
        translator = Translator.load(given.model, given.device)
        right, other = tasks(given.tatoeba, given.sentences)
    except RegardError as problem:
        print(f"benchmarks/glossary.py: {problem}", file=sys.stderr)
        sys.exit(2)
    for name, some in (("terms of the reference", right), ("other translations", other)):
        terms = sum(len(task.matches) for task in some)
        print(f"{name}: {len(some)} sentences, {terms} terms, beam {BEAM}")
        print("way         met    BLEU   time")
        measure(translator, some)


def measure(translator: Translator, some: list[Task]) -> None:
    base = 0.0
    free: list[str] = []
    for name, way in WAYS.items():
        if name == "slots" and not translator.bundle.slots:
            continue
        started = time.perf_counter()
        said = way(translator, some, free)
        seconds = time.perf_counter() - started
        if name == "none":
            free, base = said, seconds
        if name == "replaced":
            seconds += base  # the translation that it starts from
        met = [is_met for task, text in zip(some, said, strict=True) for is_met in term_is_met(task, text)]
        score = bleu(said, [task.reference for task in some]).score
        line = f"{name:<10} {100 * sum(met) / len(met):5.1f}% {score:6.2f} {seconds / base:5.2f}"
        print(line, flush=True)


def term_is_met(task: Task, text: str) -> list[bool]:
    """Whether each term has a place of its own in a translation."""
    return [place is not None for place in located_terms([match.targets for match in task.matches], text)]


# ── ways to apply the terms ─────────────────────────────────────────────────────────────────────────────────────────


def without(translator: Translator, some: list[Task], free: list[str]) -> list[str]:
    return searched(translator, some, [None] * len(some))


def constrained(translator: Translator, some: list[Task], free: list[str]) -> list[str]:
    required = RequiredTerms(translator.tokenizer)
    return searched(translator, some, [required.of([m.targets for m in task.matches]).terms for task in some])


def instead(translator: Translator, some: list[Task], free: list[str]) -> list[str]:
    required = RequiredTerms(translator.tokenizer)
    said = searched(translator, some, [None] * len(some))
    unmet = [i for i, (task, text) in enumerate(zip(some, said, strict=True)) if not all(term_is_met(task, text))]
    constraints: list[Constraint | None] = []
    for i in unmet:
        terms = required.of([match.targets for match in some[i].matches]).terms
        own = [word for word in own_words(translator, some[i], said[i]) if word is not None]
        assert terms is not None
        constraints.append(All((terms, required.never(own))))
    for i, text in zip(unmet, searched(translator, [some[i] for i in unmet], constraints), strict=True):
        said[i] = text
    return said


def slots(translator: Translator, some: list[Task], free: list[str]) -> list[str]:
    ids = translator.tokenizer.slot_ids
    read, constraints = [], []
    for task in some:
        source = task.source
        for k, match in reversed(list(enumerate(task.matches))):
            source = source[: match.start] + SLOTS[k] + source[match.end :]
        read.append(task._replace(source=source))
        constraints.append(EachOnce(frozenset(ids[: len(task.matches)]), frozenset(ids)))
    said = searched(translator, read, constraints)
    return [fill(text, [m.targets[0] for m in task.matches]) for task, text in zip(some, said, strict=True)]


def replaced(translator: Translator, some: list[Task], free: list[str]) -> list[str]:
    made = []
    for task, text in zip(some, free, strict=True):
        for match, word, met in zip(
            task.matches, own_words(translator, task, text), term_is_met(task, text), strict=True
        ):
            if not met and word is not None:
                text = text.replace(word, match.targets[0], 1)
        made.append(text)
    return made


WAYS: dict[str, Callable[[Translator, list[Task], list[str]], list[str]]] = {
    "none": without,
    "search": constrained,
    "instead": instead,
    "slots": slots,
    "replaced": replaced,
}


def own_words(translator: Translator, task: Task, text: str) -> list[str | None]:
    """For each term that is not met, the longest word that attention links to it."""
    aligned = translator.align(task.source, text)
    links = defaultdict(list)
    for source, target in aligned.word_pairs:
        links[source].append(target)
    found: list[str | None] = []
    for match, met in zip(task.matches, term_is_met(task, text), strict=True):
        words = [w for w in links[task.source[match.start : match.end]] if w.isalpha() and len(w) >= FEWEST_LETTERS]
        found.append(max(words, key=len) if words and not met else None)
    return found


def searched(translator: Translator, some: Sequence[Task], constraints: Sequence[Constraint | None]) -> list[str]:
    ids = translator.tokenizer.encode_source([task.source for task in some])
    options = SearchOptions(BEAM, translator.config.length_penalty)
    texts = [""] * len(some)
    for batch in budgeted([len(i) for i in ids], 4096):
        src, mask = (t.to(translator.bundle.model.device) for t in pad_sources([ids[i] for i in batch]))
        found = search(translator.bundle.model, src, mask, options, [constraints[i] for i in batch])
        for i, hypotheses in zip(batch, found, strict=True):
            texts[i] = translator.tokenizer.decode(hypotheses[0].ids)
    return texts


# ── sentences and their terms ───────────────────────────────────────────────────────────────────────────────────────


def tasks(place: Path, count: int) -> tuple[list[Task], list[Task]]:
    """Sentences with terms of the reference, and with other translations."""
    test = tatoeba_parts(place)["test"]
    held_out = {text for pair in test for text in pair}
    if place.is_dir():
        table = zip(*(read_lines(place / f"train.{lang}") for lang in ("en", "fr")), strict=True)
    else:
        table = (pair for pair in read_table(LinesFile(place.name), {place.name: place}) if held_out.isdisjoint(pair))
    beside = list(islice(islice(table, 0, None, 7), SAMPLE))
    words = [(split_words(a.lower()), split_words(b.lower())) for a, b in (*test, *beside)]
    links = list(train_both(words).align_each(words, join="intersection"))
    counts = [Counter(w for pair in words for w in pair[side]) for side in (0, 1)]
    translations: dict[str, Counter[str]] = defaultdict(Counter)
    for pair, some in zip(words, links, strict=True):
        for i, j in some:
            translations[pair[0][i]][pair[1][j]] += 1

    def is_term(word: str, side: int) -> bool:
        return word.isalpha() and len(word) >= FEWEST_LETTERS and counts[side][word] <= COMMON * counts[side].total()

    rng = random.Random(1)
    right, other = [], []
    order = list(range(len(test)))
    rng.shuffle(order)
    for i in order:
        (source, reference), pair = test[i], words[i]
        linked = [(pair[0][a], pair[1][b]) for a, b in links[i] if is_term(pair[0][a], 0) and is_term(pair[1][b], 1)]
        linked = [link for link in dict.fromkeys(linked) if translations[link[0]][link[1]] > 1]
        chosen = rng.sample(linked, min(len(linked), rng.randint(1, 3)))
        right.append(task(source, reference, dict(chosen)))
        others = {}
        for word, usual in chosen:
            found = [w for w, n in translations[word].most_common() if n > 1 and w != usual and is_term(w, 1)]
            places = occurs(usual, "term", reference)
            if found and len(places) == 1:
                others[word] = rng.choice(found[:3])
                reference = reference[: places[0][0]] + others[word] + reference[places[0][1] :]
        other.append(task(source, reference, others))
    return [[t for t in some if t.matches][:count] for some in (right, other)]  # type: ignore[return-value]


def task(source: str, reference: str, terms: dict[str, str]) -> Task:
    return Task(source, reference, tuple(Glossary.of(terms).find(source, "en", "xx")))


if __name__ == "__main__":
    main()
