"""Sentence cutting against libraries, on paragraphs whose boundaries are known.

    python benchmarks/sentences.py FOLDER [--paragraphs 200] [--only NAME …] [--part all|seen|unseen] [--errors]

FOLDER holds the corpora of `CORPORA`, one sentence a line. Paragraphs are 2 to 12 of their lines, joined by a space
(in Japanese by nothing). Lines that do not end with a mark, and lines that evidently hold two sentences, are left out.
The hard set is `sentences_hard.txt`, beside this file: abbreviations, initials, quotations, ordinals; every second of
its paragraphs was not looked at while the rules were written ("unseen"). Libraries that are not installed are left out.

A boundary is where a sentence ends, counted in visible characters, so spaces that a library drops do not matter. F1 is
of the boundaries within paragraphs. "Same" is the share of paragraphs of Tatoeba lines, without any line left out
because of two sentences, which are cut as the lines alone are cut.
"""

from __future__ import annotations

import argparse
import bz2
import lzma
import random
import re
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

Cut = Callable[[str, str], list[str]]

HARD = Path(__file__).with_name("sentences_hard.txt")
CORPORA = {  # language: files, and the column of a table
    "en": [
        "tatoeba-en-fr/pairs.tsv.xz:0",
        "general-tests/newstest2013.en.xz",
        "common-voice/en.txt.xz",
        "europarl/dev.en.bz2",
    ],
    "fr": [
        "tatoeba-en-fr/pairs.tsv.xz:1",
        "general-tests/newstest2013.fr.xz",
        "common-voice/fr.txt.xz",
        "europarl/dev.fr.bz2",
    ],
    "de": [
        "general-tests/tatoeba-test-v2021-08-07.en-de.de.xz",
        "general-tests/newstest2013.de.xz",
        "common-voice/de.txt.xz",
        "europarl/dev.de.bz2",
    ],
    "es": [
        "general-tests/tatoeba-test-v2021-08-07.en-es.es.xz",
        "general-tests/newstest2013.es.xz",
        "common-voice/es.txt.xz",
        "europarl/dev.es.bz2",
    ],
    "ja": ["enja-50k/train.ja.xz"],
}
UNSPACED = ("ja", "zh")
CLOSED = re.compile(r"[.!?…。！？][\"'”’“»«)\]」』）]*$")
TWO = re.compile(r"[!?。！？…]+[\"'”’“» )」』）]*\s?[\w¿¡«„\"“「]|[a-zà-ÿ]{4,}\.[\"”»)]*\s+\W?[A-ZÀ-Ý]|\.\.\.")


class Paragraph(NamedTuple):
    language: str
    sentences: list[str]

    @property
    def text(self) -> str:
        return ("" if self.language in UNSPACED else " ").join(self.sentences)


def read(folder: Path, name: str) -> list[str]:
    name, _, column = name.partition(":")
    path = folder / name
    opened = lzma.open if path.suffix == ".xz" else bz2.open
    with opened(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    return [line.split("\t")[int(column)] for line in lines] if column else lines


def paragraphs(lines: list[str], language: str, count: int, rng: random.Random) -> Iterator[Paragraph]:
    for _ in range(count):
        yield Paragraph(language, rng.sample(lines, rng.randint(2, 12)))


def hard_paragraphs(part: str) -> list[Paragraph]:
    found, language = [], ""
    for block in HARD.read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip().split("\n")
        if lines[0].startswith("= "):
            language = lines.pop(0)[2:]
        found.append(Paragraph(language, lines))
    return {"all": found, "seen": found[0::2], "unseen": found[1::2]}[part]


def ends(sentences: list[str]) -> set[int]:
    """Where sentences end, in visible characters; without the end of the paragraph."""
    return set(list(accumulate(len("".join(sentence.split())) for sentence in sentences))[:-1])


def measure(cut: Cut, given: list[Paragraph], show: bool = False) -> tuple[float, float, float]:
    """F1 of the boundaries, the share of exact paragraphs, characters per second."""
    right = found = wanted = exact = 0
    started = time.process_time()
    answers = [cut(paragraph.text, paragraph.language) for paragraph in given]
    seconds = time.process_time() - started
    for paragraph, answer in zip(given, answers, strict=True):
        true, said = ends(paragraph.sentences), ends(answer)
        right, found, wanted = right + len(true & said), found + len(said), wanted + len(true)
        exact += true == said
        if show and true != said:
            print(" ⏐ ".join(answer), "\n")
    speed = sum(len(paragraph.text) for paragraph in given) / seconds
    return 200 * right / max(1, found + wanted), 100 * exact / len(given), speed


def same(cut: Cut, given: list[Paragraph]) -> float:
    def alone(paragraph: Paragraph) -> set[int]:
        return ends([part for line in paragraph.sentences for part in cut(line, paragraph.language)])

    return 100 * sum(ends(cut(p.text, p.language)) == alone(p) for p in given) / len(given)


def contestants() -> Iterator[tuple[str, Cut]]:
    from regard.text.sentences import sentence_spans

    def pieces(text: str, cuts: list[int]) -> list[str]:
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def ours(text: str, language: str) -> list[str]:  # list marks are no part of a span: they go with what follows
        return pieces(text, [end for _, end in sentence_spans(text, language)][:-1])

    yield "regard", ours
    try:
        import pysbd

        known = {
            language: pysbd.Segmenter(language=language, clean=False)
            for language in ("en", "fr", "de", "es", "ja", "zh")
        }
        yield "pysbd", lambda text, language: known[language].segment(text)
    except ImportError:
        pass
    try:
        import sentencex

        yield "sentencex", lambda text, language: list(sentencex.segment(language, text))
    except ImportError:
        pass
    try:
        import syntok.segmenter as syntok

        yield (
            "syntok",
            lambda text, language: ["".join(t.spacing + t.value for t in s) for p in syntok.analyze(text) for s in p],
        )
    except ImportError:
        pass
    try:
        import blingfire

        yield "blingfire", lambda text, language: blingfire.text_to_sentences(text).split("\n")
    except (ImportError, OSError):
        pass
    try:
        from sentence_splitter import SentenceSplitter

        moses = {language: SentenceSplitter(language=language) for language in ("en", "fr", "de", "es")}
        yield "sentence-splitter (Moses)", lambda text, language: moses.get(language, moses["en"]).split(text)
    except ImportError:
        pass
    try:
        import spacy

        blank = {
            language: spacy.blank(language if language != "ja" else "xx")
            for language in ("en", "fr", "de", "es", "ja", "zh")
        }
        for pipeline in blank.values():
            pipeline.add_pipe("sentencizer")
        yield "spaCy sentencizer", lambda text, language: [sentence.text for sentence in blank[language](text).sents]
    except ImportError:
        pass
    try:
        from uniseg.sentencebreak import sentences as unicode_sentences

        yield "uniseg (UAX 29)", lambda text, language: list(unicode_sentences(text))
    except ImportError:
        pass
    try:
        from nltk.tokenize.punkt import PunktSentenceTokenizer

        punkt = PunktSentenceTokenizer()
        yield "NLTK Punkt, untrained", lambda text, language: punkt.tokenize(text)
    except ImportError:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description="Sentence cutting against libraries.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--paragraphs", type=int, default=200, help="of each corpus")
    parser.add_argument("--only", nargs="*", help="names of libraries")
    parser.add_argument("--part", choices=("all", "seen", "unseen"), default="unseen", help="of the hard set")
    parser.add_argument("--errors", action="store_true", help="show paragraphs that are cut otherwise")
    options = parser.parse_args()
    rng = random.Random(16)
    plain: dict[str, list[Paragraph]] = {}
    tatoeba: list[Paragraph] = []
    for language, names in CORPORA.items():
        plain[language] = []
        for name in names:
            lines = [line.replace(" ", "") if language == "ja" else line for line in read(options.folder, name)]
            lines = [line.strip() for line in lines if CLOSED.search(line.strip())]
            if "tatoeba" in name or language == "ja":
                tatoeba += paragraphs(lines, language, options.paragraphs, rng)
            plain[language] += paragraphs(
                [line for line in lines if not TWO.search(line)], language, options.paragraphs, rng
            )
    hard = hard_paragraphs(options.part)
    print(f"| library | {' | '.join(plain)} | hard | hard, exact | exact | same | characters/s |")
    print("|---|" + "---|" * (len(plain) + 5))
    for name, cut in contestants():
        if options.only and name not in options.only:
            continue
        scores = {language: measure(cut, given, options.errors) for language, given in plain.items()}
        f1 = " | ".join(f"{score[0]:.2f}" for score in scores.values())
        exact = sum(score[1] * len(plain[language]) for language, score in scores.items()) / sum(
            map(len, plain.values())
        )
        hard_f1, hard_exact, _ = measure(cut, hard, options.errors)
        speed = measure(cut, [p for given in plain.values() for p in given])[2]
        figures = [f"{hard_f1:.1f}", f"{hard_exact:.1f}", f"{exact:.1f}", f"{same(cut, tatoeba):.1f}", f"{speed:,.0f}"]
        print(f"| {name} | {f1} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
