"""What must survive a translation: how much of it does, and whether the rest is reported.

python benchmarks/survive.py --real test.en --seed 2          1,000 sentences, translated by the model in the box
python benchmarks/survive.py --real test.en --dry             only whether the spans are found
python benchmarks/survive.py --pairs test.en test.fr          false alarms: spans that the reference does not contain

The sentences are made by `spans.py`, half of them from the lines of --real. Seed 1 is for tuning; figures are reported
of other seeds. A span is exact if it stands in the output as it is, as often as in the source; a number may also stand
in another locale's form. Of the others it is counted whether the result says so: a protected span that is missing, or a
reason to doubt the sentence. What is neither is silent, and should not happen.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from spans import Case, cases

import regard
from regard.text.known_words import KnownWords
from regard.text.protected_spans import protected_spans
from regard.text.span_matching import find_occurrences
from regard.translation.translation import Translation

Rows = dict[str, Counter[str]]
Span = tuple[int, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a bundle; default: the model in the box")
    parser.add_argument("--real", type=Path, help="English sentences, one a line; .xz too")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beam", type=int)
    parser.add_argument("--engine", choices=("native", "ctranslate2"), default="native", help="[default: native]")
    parser.add_argument("--dry", action="store_true", help="only find the spans")
    parser.add_argument("--known", type=Path, help="known words; default: the model's")
    parser.add_argument("--learn", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help="known words of these pairs")
    parser.add_argument("--pairs", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help="false alarms on these pairs")
    parser.add_argument("--language", default="en", help="of the source of --pairs and --learn")
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    given = parser.parse_args()
    if given.learn:
        known = KnownWords.learn(zip(*map(lines, given.learn), strict=True), given.language)
    elif given.known:
        known = KnownWords.load(given.known)
    else:
        known = getattr(regard.load(given.model, engine="native").bundle, "known_words", None)
    if given.pairs:
        figures = false_alarms(list(zip(*map(lines, given.pairs), strict=True)), known, given.language)
    else:
        made = cases(given.count, given.seed, lines(given.real) if given.real else ())
        figures = detection(made, known) if given.dry else survival(made, given.model, given.beam, given.engine)
    if given.out:
        given.out.write_text(
            json.dumps(vars(given) | figures, indent=1, ensure_ascii=False, default=str) + "\n", "utf-8"
        )


def lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def survival(made: Sequence[Case], model: str | None, beam: int | None, engine: str) -> dict[str, object]:
    """Translate, and count by kind what became of the spans."""
    translator = regard.load(model, device="auto" if engine == "native" else "cpu", engine=engine)
    began = time.monotonic()
    found = translator.translate([case.text for case in made], beam=beam)
    seconds = time.monotonic() - began
    rows: Rows = defaultdict(Counter)
    losses = []
    for case, translation in zip(made, found, strict=True):
        wanted = [(case.text[span.start : span.end], span.kind) for span in case.spans]
        for span, (text, kind), place in zip(case.spans, wanted, located(wanted, translation.text), strict=True):
            fate = fate_of(text, place, translation)
            if fate == "lost":
                fate = "reported" if is_reported((span.start, span.end), translation) else "silent"
                losses.append(
                    {"source": case.text, "output": translation.text, "span": text, "kind": kind, "fate": fate}
                )
            for row in (kind, "all"):
                rows[row][fate] += 1
    table(rows, ("exact", "form", "reported", "silent"))
    doubtful = sum(bool(translation.doubtful) for translation in found)
    print(f"{len(made):,} sentences, {seconds:.1f} s, {doubtful:,} with a doubtful sentence")
    return {"rows": rows, "seconds": seconds, "doubtful": doubtful, "losses": losses}


def fate_of(text: str, place: tuple[int, int] | None, translation: Translation) -> str:
    if place is None:
        return "lost"
    return "exact" if translation.text[place[0] : place[1]] == text else "form"


def is_reported(span: tuple[int, int], translation: Translation) -> bool:
    """Whether a missing protected span overlaps it, or its sentence is marked as doubtful."""
    for sentence in translation.sentences:
        if sentence.source_span[0] < span[1] and span[0] < sentence.source_span[1] and sentence.reasons:
            return True
        for held in sentence.protected:
            if held.status == "missing" and held.source[0] < span[1] and span[0] < held.source[1]:
                return True
    return False


def detection(made: Iterable[Case], known: KnownWords | None) -> dict[str, object]:
    """Precision and recall of `protected_spans`, by kind; a span of another kind is found all the same."""
    rows: Rows = defaultdict(Counter)
    wrong = []
    for case in made:
        gold = {(span.start, span.end): span.kind for span in case.spans}
        found = {(span.start, span.end): span.kind for span in protected_spans(case.text, known)}
        for span, kind in gold.items():
            for row in (kind, "all"):
                rows[row]["spans"] += 1
                rows[row]["found"] += span in found
        for span, kind in found.items():
            for row in (kind, "all"):
                rows[row]["extra"] += span not in gold
        if gold.keys() != found.keys():
            texts = [[case.text[start:end] for start, end in sorted(spans)] for spans in (gold, found)]
            wrong.append({"text": case.text, "gold": texts[0], "found": texts[1]})
    table(rows, ("spans", "found", "extra"))
    return {"rows": rows, "wrong": wrong}


def false_alarms(pairs: Sequence[tuple[str, str]], known: KnownWords | None, language: str) -> dict[str, object]:
    """Spans that are found in the source and are not in the reference: what people translated."""
    rows: Rows = defaultdict(Counter)
    translated = []
    for source, reference in pairs:
        wanted = [(source[span.start : span.end], span.kind) for span in protected_spans(source, known, language)]
        lost = [one for one, place in zip(wanted, located(wanted, reference), strict=True) if place is None]
        for _, kind in wanted:
            rows[kind]["spans"] += 1
        for kind in {kind for _, kind in lost}:
            rows[kind]["sentences"] += 1
        for text, kind in lost:
            rows[kind]["translated"] += 1
            translated.append({"source": source, "reference": reference, "span": text, "kind": kind})
        rows["all"].update(spans=len(wanted), translated=len(lost), sentences=bool(lost))
    table(rows, ("spans", "translated", "sentences"))
    for kind, row in rows.items():
        print(f"{kind}: {100 * row['sentences'] / max(1, len(pairs)):.2f}% of {len(pairs):,} sentences")
    return {"rows": rows, "sentences": len(pairs), "translated": translated}


def table(rows: Rows, columns: Sequence[str]) -> None:
    print(f"{'kind':<12}" + "".join(f"{column:>12}" for column in columns))
    for kind in sorted(rows, key=lambda kind: (kind == "all", kind)):
        total = sum(rows[kind][column] for column in columns)
        share = f"   {100 * rows[kind]['exact'] / max(1, total):6.2f}% exact" if "exact" in columns else ""
        print(f"{kind:<12}" + "".join(f"{rows[kind][column]:>12,}" for column in columns) + share)


def located(wanted: Sequence[tuple[str, str]], target: str) -> list[Span | None]:
    """For each (text, kind) its span in the translation, no span twice, the longest first; None for what is missing."""
    places: list[Span | None] = [None] * len(wanted)
    same: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, one in enumerate(wanted):
        same[one].append(i)
    taken = bytearray(len(target))
    for (text, kind), rows in sorted(same.items(), key=lambda item: -len(item[0][0])):
        free = iter(rows)
        for start, end in find_occurrences(text, kind, target):
            if taken.find(1, start, end) < 0 and (row := next(free, None)) is not None:
                taken[start:end] = b"\x01" * (end - start)
                places[row] = (start, end)
    return places


if __name__ == "__main__":
    main()
