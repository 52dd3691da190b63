"""The kinds of machine translation beside each other, English to French: by rules, statistical, hybrid and neural.

    python benchmarks/kinds.py --data DATA --text tatoeba --work runs/kinds
    python benchmarks/kinds.py --data DATA --text europarl --pairs 25000 --work runs/kinds
    python benchmarks/kinds.py --work runs/kinds --write docs/kinds.md

DATA has the folders tatoeba-en-fr (pairs.tsv) and europarl (train, dev and test in .en and .fr), compressed or not.
Tatoeba is split by connected sentences, as `regard fetch` splits it; of Europarl's test the lines that are in their
languages are taken. What is learnt and measured is kept in the folder --work, so that a command that is repeated goes
on. Costs are seconds of one core, not of a clock; those of the last two hybrids are for development and test sentences.

Systems: the embedded grammar's rules; the word-based translator; the phrase-based one; a model of the box; and hybrids:
rules where they can read a sentence, else phrases; the phrase-based n best, with the neural log-probability as one more
feature; and those together with the neural n best. Weights of the last two are learnt by PRO on development text.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from regard.align import hmm
from regard.align.ibm import count_translations
from regard.align.numbered import NumberedPairs, words_of
from regard.course.phrases.phrase_based import JOIN, PhraseBased, PhraseBasedConfig, tune_weights
from regard.course.phrases.tune import Proposals, learn_reranking
from regard.course.rules.translate import translate_all
from regard.course.word_based import Bigrams, WordBased, WordBasedConfig
from regard.data.compressed import COMPRESSED
from regard.data.corpus import tsv_pair
from regard.data.overlap import key_words
from regard.data.sources import DATA_SETS
from regard.data.splits import split_connected
from regard.data.text_files import read_lines
from regard.metrics.bleu import Bleu
from regard.report.table import Table
from regard.text.language_identification import foreign_language
from regard.translation.options import AS_LINES
from regard.translator import Translator

Pairs = list[tuple[str, str]]
TEXTS = {"tatoeba": "Tatoeba, everyday sentences", "europarl": "Europarl, debates"}
NEURAL = {"tatoeba": "en-fr-classic", "europarl": "en-fr"}
NEURAL_BEST = 5  # neural proposals for a hybrid
MARKS = ("<!-- kinds -->", "<!-- /kinds -->")


@dataclass(frozen=True)
class Texts:
    train: Callable[[], Pairs]  # read only where something is still to be learnt
    dev: Pairs
    test: Pairs


def lines(folder: Path, name: str) -> Iterator[str]:
    found = [path for ending in ("", *COMPRESSED) if (path := folder / f"{name}{ending}").exists()]
    if not found:
        raise SystemExit(f"{folder / name} is not there, neither as it is nor compressed")
    return read_lines(found[0])


def spread(pairs: Sequence[tuple[str, str]], most: int) -> Pairs:
    return list(pairs[:: max(1, len(pairs) // most)][:most])


def read_texts(data: Path, text: str, most: int) -> Texts:
    if text == "europarl":

        def part(name: str) -> Pairs:
            sides = (lines(data / text, f"{name}.{side}") for side in ("en", "fr"))
            return [pair for pair in zip(*sides, strict=True) if all(pair)]

        return Texts(lambda: spread(part("train"), most), part("dev"), list(filter(is_translated, part("test"))))
    table = DATA_SETS["tatoeba-en-fr"].pairs
    assert table is not None
    rows = [tsv_pair(line, f"line {n}") for n, line in enumerate(lines(data / "tatoeba-en-fr", "pairs.tsv"), start=1)]
    split = split_connected(rows, table.dev, table.test, table.seed)
    return Texts(lambda: spread(split["train"], most), split["dev"], split["test"])


def is_translated(pair: tuple[str, str]) -> bool:
    """Europarl has many speeches in the speaker's own language alone: no reference to measure by."""
    english, french = pair
    same = key_words(english) == key_words(french)
    return not same and foreign_language(english, "en") is None and foreign_language(french, "fr") is None


class SystemOutput(NamedTuple):
    lines: Sequence[str]
    note: str = ""
    seconds: float | None = None  # where it is not the time of this call


class Record:
    """What is known so far, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def put(self, **values: Any) -> None:
        self.known |= values
        self.path.write_text(json.dumps(self.known, ensure_ascii=False, indent=1) + "\n", "utf-8")

    def system(self, name: str, references: Sequence[str], make: Callable[[], SystemOutput], **costs: Any) -> None:
        """Measure a system, unless it is known."""
        systems = self.known.get("systems", {})
        if name in systems:
            return
        begun = time.process_time()
        said = make()
        metric = Bleu()
        score = metric.score(metric.stats(said.lines, references))
        print(f"{name}: {score}", flush=True)
        seconds = time.process_time() - begun if said.seconds is None else said.seconds
        row = {"bleu": score.score, "signature": score.signature, "note": said.note, "translating": seconds, **costs}
        self.put(systems=systems | {name: row})


def say(line: str) -> None:
    print(line, flush=True)


def learn(texts: Texts, work: Path, config: PhraseBasedConfig) -> tuple[WordBased, PhraseBased, dict[str, float]]:
    """Both statistical systems, from one alignment, or from what is stored; and the seconds of each step."""
    words, untuned, phrases = work / "words.json.gz", work / "untuned.npz", work / "phrases.npz"
    spent = Record(work / "cost.json")
    if "words" not in spent.known:
        train = texts.train()
        clock = [time.process_time()]
        say(f"aligning {len(train):,} pairs")
        numbered = NumberedPairs.of(train)
        both = hmm.train_both_on(numbered)
        targets = [target for _, target in train]
        clock.append(time.process_time())
        made = PhraseBased.of_links(numbered, list(both.align_each(numbered, JOIN)), targets, config, say)
        made.save(untuned)
        clock.append(time.process_time())
        lexicon = count_translations(numbered, both.align_each(numbered, "intersection"), WordBasedConfig.options)
        language = Bigrams.count(words_of(target) for target in targets)
        WordBased(lexicon, language, made.writing, WordBasedConfig()).save(words)
        clock.append(time.process_time())
        steps = ("aligning", "phrases", "words")
        spent.put(
            pairs=len(train), **{step: end - start for step, start, end in zip(steps, clock, clock[1:], strict=False)}
        )
    if "tuning" not in spent.known:
        begun = time.process_time()
        made = replace(PhraseBased.load(untuned), config=config)
        tune_weights(made, texts.dev[: config.dev_sentences], say).save(phrases)
        spent.put(tuning=time.process_time() - begun)
    return WordBased.load(words), PhraseBased.load(phrases), spent.known


# ------------------------------------------------------------------------------------------------ hybrids


def proposals(
    pairs: Pairs, phrases: PhraseBased, neural: Translator, size: int
) -> tuple[list[Proposals], list[Proposals]]:
    """Of each source the phrase-based n best with the neural log-probability; and these with the neural n best, all
    judged by what both systems can say of any text: the neural and the 5-gram log-probability, and its length."""
    sources = [source for source, _ in pairs]
    own = [phrases.candidates(source, size) for source in sources]
    texts = [[phrases.write(source, one) for one in found] for source, found in zip(sources, own, strict=True)]
    others = neural.translate(sources, beam=NEURAL_BEST, nbest=NEURAL_BEST, **AS_LINES)
    pools = [[*some, *(one.text for one in other.candidates)] for some, other in zip(texts, others, strict=True)]
    asked = [(source, text) for source, pool in zip(sources, pools, strict=True) for text in pool]
    scores = iter([one.log_prob for one in neural.scores(asked)])
    numbers = {word: number for number, word in enumerate(phrases.target_words)}
    reranked, pooled = [], []
    for found, some, pool in zip(own, texts, pools, strict=True):
        judged = [next(scores) for _ in pool]
        reranked.append(Proposals(some, [[*one.features, score] for one, score in zip(found, judged, strict=False)]))
        split = [words_of(text) for text in pool]
        lm = [phrases.language.log_prob([numbers.get(w, phrases.language.unknown) for w in words]) for words in split]
        rows = [[score, one, float(len(words))] for score, one, words in zip(judged, lm, split, strict=True)]
        pooled.append(Proposals(pool, rows))
    return reranked, pooled


def measure(texts: Texts, work: Path, given: argparse.Namespace) -> None:
    record = Record(work / "record.json")
    settings = {name: getattr(given, name) for name in ("pairs", "dev", "test", "rounds", "nbest")}
    if record.known.setdefault("settings", settings) != settings:
        raise SystemExit(f"{work} was begun with {record.known['settings']}; give another --work for {settings}")
    words, phrases, cost = learn(texts, work, PhraseBasedConfig(rounds=given.rounds, dev_sentences=given.dev))
    test = texts.test[: given.test]
    sources, references = [source for source, _ in test], [target for _, target in test]
    sizes = {"train": cost["pairs"], "dev": given.dev, "test": len(test), "phrase pairs": len(phrases.table)}
    record.put(sizes=sizes, cost=cost, nbest=given.nbest, neural=NEURAL[given.text])
    by_rules = cache(lambda: translate_all(sources))
    by_phrases = cache(lambda: phrases.translate(sources))
    neural = Translator.load(NEURAL[given.text], "cpu")

    def rules() -> SystemOutput:
        read = sum(line is not None for line in by_rules())
        return SystemOutput(
            [line or "" for line in by_rules()], f"read {read:,} of {len(test):,}; the others are empty lines"
        )

    def rules_else_phrases() -> SystemOutput:
        return SystemOutput([a or b for a, b in zip(by_rules(), by_phrases(), strict=True)], "no weights to tune")

    record.system("rules", references, rules)
    learning = cost["aligning"] + cost["words"]
    record.system(
        "word-based (IBM, HMM)", references, lambda: SystemOutput(words.translate(sources)), learning=learning
    )
    learning = cost["aligning"] + cost["phrases"] + cost["tuning"]
    record.system("phrase-based", references, lambda: SystemOutput(by_phrases()), learning=learning)
    record.system("hybrid: rules, else phrases", references, rules_else_phrases, translating=None)
    record.system(
        f"neural: {NEURAL[given.text]} of the box",
        references,
        lambda: SystemOutput([one.text for one in neural.translate(sources, **AS_LINES)]),
    )

    dev = texts.dev[: given.dev]

    @cache
    def found() -> tuple[list[tuple[list[Proposals], list[Proposals]]], float]:
        begun = time.process_time()
        return [proposals(some, phrases, neural, given.nbest) for some in (dev, test)], time.process_time() - begun

    def reranked(kind: int) -> SystemOutput:
        for_dev, for_test = (both[kind] for both in found()[0])
        weights = learn_reranking(for_dev, [target for _, target in dev])
        note = f"weight of the neural log-probability {weights[-1 if len(weights) > 3 else 0]:.2f} of 1"
        return SystemOutput([one.best(weights) for one in for_test], note, found()[1])

    record.system("hybrid: phrases, judged by the neural model too", references, lambda: reranked(0))
    record.system("hybrid: proposals of both, judged by both", references, lambda: reranked(1))


# ------------------------------------------------------------------------------------------------ the page


def seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def page(work: Path) -> str:
    """Every text that has been measured, a table each."""
    parts = []
    for text, title in TEXTS.items():
        path = work / text / "record.json"
        if not path.exists():
            continue
        known = json.loads(path.read_text("utf-8"))
        rows = [
            [
                name,
                f"{row['bleu']:.2f}",
                seconds(row.get("learning")),
                seconds(row.get("translating")),
                row.get("note", ""),
            ]
            for name, row in known["systems"].items()
        ]
        heads = ["system", "BLEU", "learning, s", "translating, s", ""]
        sizes = ", ".join(f"{name} {count:,}" for name, count in known["sizes"].items())
        signature = next(iter(known["systems"].values()))["signature"]
        parts += [f"## {title}", sizes + f"; n best {known['nbest']}.", Table(heads, rows).markdown(), f"`{signature}`"]
    return "\n\n".join(parts)


def write_page(work: Path, docs: Path) -> None:
    before, rest = docs.read_text("utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    docs.write_text(f"{before}{MARKS[0]}\n{page(work)}\n{MARKS[1]}{after}", "utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="the folder with the texts")
    options.add_argument("--text", choices=TEXTS, default="tatoeba")
    options.add_argument(
        "--pairs", type=int, default=200_000, help="training pairs at most, spread evenly over the text"
    )
    options.add_argument("--dev", type=int, default=300, help="sentences to tune weights on")
    options.add_argument("--test", type=int, default=1000, help="sentences to measure")
    options.add_argument("--rounds", type=int, default=4, help="of tuning")
    options.add_argument("--nbest", type=int, default=10, help="phrase-based proposals for a hybrid")
    options.add_argument("--work", type=Path, required=True, help="where everything learnt is kept")
    options.add_argument("--write", type=Path, metavar="PAGE", help="put the tables of --work into this page")
    given = options.parse_args()
    if given.data:
        work = given.work / given.text
        work.mkdir(parents=True, exist_ok=True)
        measure(read_texts(given.data, given.text, given.pairs), work, given)
    if given.write:
        write_page(given.work, given.write)
    else:
        print(page(given.work))


if __name__ == "__main__":
    main()
