"""A glossary, measured: how many terms are met, whether they stand at the right place, and BLEU.

python benchmarks/glossary.py dev.en.xz dev.fr.xz --model en-fr --pairs pairs.en-fr.tsv.xz --tasks tasks.json
python benchmarks/glossary.py … --write old.json        with an older version of regard: only translate
python benchmarks/glossary.py … --compare old.json      the same sentences, with a row for the older version

Sentences are drawn from a held-out set, each with 1 to 3 terms of one or two words and a glossary of its own. A term is
a phrase of the source whose translation in the reference is known by the HMM aligner (which also reads `--pairs`) and
frequent; three quarters are not in the free translation. In the columns

    met        terms in the translation
    place      of those, terms that are aligned with their source by the attention of a forced pass
    HMM        the same by the HMM aligner, which knows nothing of the model
    agrees     of the terms after a determiner in the reference and here, those after the same one
    missing    terms that are reported as missing
    seconds    per sentence, one at a time
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from regard.align.hmm import BidirectionalAligner, train_both
from regard.data.text_files import read_lines
from regard.errors import RegardError
from regard.metrics.bleu import bleu
from regard.text.glossary import Glossary, located_terms
from regard.text.words import Span, split_words, word_spans
from regard.translator import Translator

FEWEST_LETTERS = 4  # of a term's word; shorter words are mostly articles, pronouns and prepositions
COMMON = 0.0015  # a word with a larger share of all words is no term
SAMPLE = 6_000  # pairs that the aligner reads beside the held-out set
LEAST_SHARE, LEAST_COUNT = 0.1, 2  # of the translations of a phrase that a term must have
USED = 0.25  # share of the terms that are in the free translation

Links = list[tuple[int, int]]
Words = list[str]


class Task(NamedTuple):
    source: str
    reference: str
    terms: dict[str, str]


class Said(NamedTuple):
    text: str
    missing: int  # terms that are reported as missing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a held-out set, one sentence a line")
    parser.add_argument("target", type=Path, help="its translation")
    parser.add_argument("--pairs", type=Path, help="more pairs for the aligner: a table, English first")
    parser.add_argument("--model", default="en-fr")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--tasks", type=Path, help="the sentences and terms; made and written if there is no such file")
    parser.add_argument("--write", type=Path, help="write the translations there, and measure nothing")
    parser.add_argument("--compare", type=Path, help="translations that another version has written")
    parser.add_argument("--show", type=int, default=0, help="print this many translations")
    given = parser.parse_args()
    try:
        run(given)
    except RegardError as problem:
        print(f"benchmarks/glossary.py: {problem}", file=sys.stderr)
        sys.exit(2)


def run(given: argparse.Namespace) -> None:
    translator = Translator.load(given.model)
    pairs = list(zip(read_lines(given.source), read_lines(given.target), strict=True))
    known = given.tasks is not None and given.tasks.exists()
    aligner = None if known and given.write else trained(pairs, given.pairs, given.model.startswith("en"))
    if known:
        tasks = [Task(*one) for one in json.loads(given.tasks.read_text(encoding="utf-8"))][: given.sentences]
    else:
        assert aligner is not None
        tasks = list(islice(chosen(translator, pairs, aligner), given.sentences))
        if given.tasks is not None:
            given.tasks.write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf-8")
    started = time.perf_counter()
    said = [translated(translator, task) for task in tasks]
    seconds = (time.perf_counter() - started) / len(tasks)
    if given.write:
        given.write.write_text(json.dumps([said, seconds], ensure_ascii=False), encoding="utf-8")
        return
    started = time.perf_counter()
    free = [Said(translator.translate(task.source, split="lines").text, 0) for task in tasks]
    rows = {"no glossary": (free, (time.perf_counter() - started) / len(tasks)), "glossary": (said, seconds)}
    if given.compare:
        old, old_seconds = json.loads(given.compare.read_text(encoding="utf-8"))
        rows["compared"] = [Said(*one) for one in old[: len(tasks)]], old_seconds
    print(f"{given.model}, {given.source.name}: {len(tasks)} sentences, {sum(len(task.terms) for task in tasks)} terms")
    print("             met   place    HMM  agrees missing   BLEU seconds")
    for name, (some, took) in rows.items():
        assert aligner is not None
        print(f"{name:<11}", measured(translator, aligner, tasks, some), f"{took:7.3f}", flush=True)
    for task, *texts in list(zip(tasks, *(some for some, _ in rows.values()), strict=True))[: given.show]:
        print(f"\n{task.source}\n{task.reference}\n{task.terms}")
        print("\n".join(f"  {name}: {one.text}" for name, one in zip(rows, texts, strict=True)))


def translated(translator: Translator, task: Task) -> Said:
    found = translator.translate(task.source, split="lines", glossary=Glossary.of(task.terms))
    spans = [one for sentence in found.sentences for one in sentence.protected if one.kind == "term"]
    return Said(found.text, sum(one.status == "missing" for one in spans))


# ── measures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def measured(translator: Translator, aligner: BidirectionalAligner, tasks: list[Task], said: list[Said]) -> str:
    languages = tuple(translator.bundle.languages)
    counts: Counter[str] = Counter()
    for task, one in zip(tasks, said, strict=True):
        matches = Glossary.of(task.terms).find(task.source, *languages)
        places = located_terms([match.targets for match in matches], one.text)
        wanted = located_terms([match.targets for match in matches], task.reference)
        attended = attention_links(translator, task.source, one.text) if any(places) else []
        words, own = word_spans(task.source), word_spans(one.text)
        links = [(words[i], own[j]) for i, j in attended if i < len(words) and j < len(own)]
        hmm = aligner.align(split_words(task.source.lower()), split_words(one.text.lower()))
        hmm_links = [(words[i], own[j]) for i, j in hmm]
        counts["missing"] += one.missing
        for match, place, other in zip(matches, places, wanted, strict=True):
            counts["terms"] += 1
            if place is not None:
                counts["met"] += 1
                counts["place"] += linked(links, (match.start, match.end), place)
                counts["HMM"] += linked(hmm_links, (match.start, match.end), place)
                before = [determiner(text, at) for text, at in ((task.reference, other), (one.text, place)) if at]
                if len(before) == 2 and all(word in DETERMINERS[languages[1]] for word in before):
                    counts["determiners"] += 1
                    counts["agrees"] += before[0] == before[1]
    shares = [("met", "terms"), ("place", "met"), ("HMM", "met"), ("agrees", "determiners"), ("missing", "terms")]
    score = bleu([one.text for one in said], [task.reference for task in tasks]).score
    return " ".join(f"{100 * counts[a] / max(1, counts[b]):6.1f}%" for a, b in shares) + f" {score:6.2f}"


def attention_links(translator: Translator, source: str, text: str) -> Sequence[tuple[int, int]]:
    try:
        return translator.align(source, text).links
    except RegardError:  # too long for the model
        return []


def linked(links: Sequence[tuple[Span, Span]], source: Span, target: Span) -> bool:
    return any(a[0] < source[1] and source[0] < a[1] and b[0] < target[1] and target[0] < b[1] for a, b in links)


DETERMINERS = {
    "en": {"a", "an"},
    "fr": {
        "son",
        "sa",
        "leur",
        "d'",
        "le",
        "la",
        "l'",
        "les",
        "un",
        "une",
        "du",
        "des",
        "au",
        "aux",
        "ce",
        "cet",
        "cette",
    },
    "de": {"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines"},
    "es": {"el", "la", "los", "las", "un", "una", "del", "al"},
}


def determiner(text: str, place: Span) -> str:
    """The word before a place."""
    spans = [span for span in word_spans(text) if span[1] <= place[0]]
    return text[slice(*spans[-1])].lower().replace("’", "'") if spans else ""


# ── sentences and their terms ───────────────────────────────────────────────────────────────────────────────────────


def trained(pairs: Sequence[tuple[str, str]], table: Path | None, from_english: bool) -> BidirectionalAligner:
    more = (line.split("\t")[:2] for line in islice(read_lines(table), SAMPLE)) if table else ()
    read = [*pairs, *((a, b) if from_english else (b, a) for a, b in more)]
    return train_both([(split_words(a.lower()), split_words(b.lower())) for a, b in read])


def chosen(translator: Translator, pairs: Sequence[tuple[str, str]], aligner: BidirectionalAligner) -> Iterator[Task]:
    """Sentences with their terms, in random order."""
    words = [(split_words(a), split_words(b)) for a, b in pairs]
    small = [([w.lower() for w in a], [w.lower() for w in b]) for a, b in words]
    links = list(aligner.align_each(small, join="intersection"))
    common = [most_common(w for pair in small for w in pair[side]) for side in (0, 1)]
    found = [list(phrases(*pair, some, *common)) for pair, some in zip(small, links, strict=True)]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pair, some in zip(small, found, strict=True):
        for source, target in some:
            counts[" ".join(pair[0][source])][" ".join(pair[1][target])] += 1
    rng = random.Random(1)
    languages = tuple(translator.bundle.languages)
    order = rng.sample(range(len(pairs)), len(pairs))
    for n in order:
        terms: dict[str, str] = {}
        for source, target in rng.sample(found[n], len(found[n])):
            name = " ".join(small[n][0][source])
            usual = counts[name][" ".join(small[n][1][target])]
            frequent = usual >= LEAST_COUNT and usual >= LEAST_SHARE * counts[name].total()
            noun = all(is_noun(*side, language) for *side, language in sides(words[n], source, target, languages))
            if frequent and noun and target.start > 0 and pairs[n][0].lower().count(name) == 1:
                terms[name] = " ".join(words[n][1][target])
        if not terms:
            continue
        free = translator.translate(pairs[n][0], split="lines").text
        kept: dict[str, str] = {}
        for name, wanted in terms.items():
            used = located_terms([[wanted]], free)[0] is not None
            trial = Glossary.of({**kept, name: wanted}).find(pairs[n][0], *languages)
            alone = len(trial) == len(kept) + 1
            met = all(located_terms([match.targets for match in trial], pairs[n][1]))
            if alone and met and len(kept) < 3 and rng.random() < (USED / 3 if used else 1):
                kept[name] = wanted
        if kept:
            yield Task(*pairs[n], kept)


def phrases(
    source: Words, target: Words, links: Links, common: set[str], common_target: set[str]
) -> Iterator[tuple[slice, slice]]:
    """Phrases of one or two words that are no function words, with their translations: up to three words, linked with
    no other word."""
    for start in range(len(source)):
        for end in (start + 1, start + 2):
            linked_to = sorted(j for i, j in links if start <= i < end)
            if not linked_to or not all(is_term(word, common) for word in source[start:end]):
                continue
            first, last = linked_to[0], linked_to[-1] + 1
            whole = {i for i, j in links if first <= j < last} <= set(range(start, end))
            covered = {i for i, _ in links} >= set(range(start, min(end, len(source))))
            edges = is_term(target[first], common_target) and is_term(target[last - 1], common_target)
            if whole and covered and edges and last - first <= 3 and (end - start > 1 or last - first == 1):
                yield slice(start, end), slice(first, last)


def is_term(word: str, common: set[str]) -> bool:
    return word.isalpha() and len(word) >= FEWEST_LETTERS and word not in common


def sides(
    words: tuple[Words, Words], source: slice, target: slice, languages: Sequence[str]
) -> list[tuple[Words, int, str]]:
    """The side that shows whether a phrase is a noun: German by its capital, else that which is not English."""
    both = [(words[0], source.start, languages[0]), (words[1], target.start, languages[1])]
    return [side for side in both if side[2] != "en"]


def is_noun(words: Words, start: int, language: str) -> bool:
    """Whether a phrase has a capital within the sentence, or in French and Spanish a determiner before it."""
    before = words[start - 1].lower().replace("’", "'") if start else ""
    return start > 0 and (words[start][0].isupper() or (language != "de" and before in DETERMINERS[language]))


def most_common(words: Iterable[str]) -> set[str]:
    """Words that are no terms: articles, pronouns, auxiliaries."""
    counts = Counter(words)
    return {word for word, n in counts.items() if n > COMMON * counts.total()}


if __name__ == "__main__":
    main()
