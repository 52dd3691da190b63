"""Two models side by side on labels and ordinary sentences, judged by a person who does not see which is which.

    python benchmarks/judge.py sheet --old src/regard/bundled --new runs/general/bundled --out runs/judged
    python benchmarks/judge.py count runs/judged --data data/general
    python benchmarks/judge.py marks benchmarks/judged --models src/regard/bundled
    python benchmarks/judge.py reversals benchmarks/judged --models src/regard/bundled
    python benchmarks/judge.py idioms benchmarks/judged --pairs fr-en news.fr news.en

`sheet` translates the texts of a folder, labels.tsv and sentences.tsv, with the six directions of both models and
writes OUT/sheet.tsv: one row per text with translations A and B, which of them is the old model's being random in each
row, and OUT/key.tsv, which says it. A person fills in the columns `a` and `b`
of the sheet:

    g   good: right, and natural enough that nobody would change the meaning
    m   minor: the meaning is right; a small error of grammar, style or word choice
    w   wrong: the meaning is wrong or lost, words are missing or invented, or it cannot be understood

The phrase table is not used, so that labels are those of the models. With --judged, a sheet that was filled in before,
its verdicts are written where the translation is the same. Equal translations are written once (B is "="), and their
verdict counts for both. `count` prints the verdicts by model for labels and for each kind and direction. With --data,
the training text of the new model, texts that are a whole line of it, whatever their case, are counted apart: most
labels are.
benchmarks/judged has 300 labels and 200 sentences of ten kinds of text, and the sheet of the bundled weights beside the
model of debates. The sentences were written before these weights were trained and without sight of any training text.
benchmarks/judged/first has the sentences and the sheet of the weights before: two files of recipes/box/everyday were
written when words that failed there were known (*wheelbarrow*, *bleach*), so it says nothing about later weights.
benchmarks/judged/fit.tsv has 1,409 more sentences, with verdicts on the bundled weights' translations and the wrong
words. `guard.py --sheet` fits the confidence to them, so they say nothing about its marks.
`marks` translates the texts of a filled-in sheet again and says how many of each verdict the guard marks; texts whose
translation is not one of the judged ones are left out and counted.
`reversals` does the same with the reversals of reversals.tsv, which were found by reading the wrong translations of
fit.tsv. `idioms` says how many of fit.tsv's translations have an idiom that is translated word by word, of each
verdict, and how many of other true pairs, which are false alarms unless the translator was literal.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import regard
from regard.data.text_files import read_lines
from regard.report.table import Table
from regard.translation.idioms import literal_idioms

TEXTS = Path(__file__).with_name("judged")
VERDICTS = {"g": "good", "m": "minor", "w": "wrong"}
COLUMNS = ["number", "direction", "kind", "source", "A", "B", "a", "b"]
EQUAL = "="
Row = dict[str, str]


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(row[column] for column in columns) for row in rows]
    path.write_text("\n".join(["\t".join(columns), *lines]) + "\n", encoding="utf-8")


def texts(folder: Path) -> list[Row]:
    file = folder / "labels.tsv"
    found = read(file) if file.is_file() else []
    labels = [{"direction": row["direction"], "kind": "label", "source": row["label"]} for row in found]
    sentences = [{**row, "source": row["sentence"]} for row in read(folder / "sentences.tsv")]
    return [{**row, "number": str(number)} for number, row in enumerate([*labels, *sentences], start=1)]


def translations(folder: Path, rows: Sequence[Row]) -> dict[str, str]:
    """Returns the translation of each row by its number."""
    by_direction: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_direction[row["direction"]].append(row)
    found: dict[str, str] = {}
    for direction, some in by_direction.items():
        translator = regard.load(folder / direction, engine="ctranslate2")  # as a user of a CPU gets it
        results = translator.translate([row["source"] for row in some], phrases=False)
        found |= {row["number"]: result.text for row, result in zip(some, results, strict=True)}
    return found


def verdicts_of(sheet: Path) -> dict[tuple[str, str, str], str]:
    """Returns the verdict on each translation of each text of a sheet."""
    found = {}
    for row in read(sheet):
        for translation, verdict in ((row["A"], row["a"]), (row["B"], row["b"])):
            if translation != EQUAL:
                found[row["direction"], row["source"], translation] = verdict
    return found


def make_sheet(rows: list[Row], old: Path, new: Path, out: Path, seed: int, judged: Path | None) -> None:
    rng, known = random.Random(seed), verdicts_of(judged) if judged else {}
    by_old, by_new = translations(old, rows), translations(new, rows)
    sheet, key = [], []
    for row in rows:
        pair = [("old", by_old[row["number"]]), ("new", by_new[row["number"]])]
        rng.shuffle(pair)
        (first, a), (second, b) = pair
        first_verdict, second_verdict = (known.get((row["direction"], row["source"], said), "") for said in (a, b))
        equal = {"B": EQUAL, "b": ""} if a == b else {"B": b, "b": second_verdict}
        sheet.append({**row, "A": a, "a": first_verdict, **equal})
        key.append({"number": row["number"], "A": first, "B": second})
    write(out / "sheet.tsv", COLUMNS, sheet)
    write(out / "key.tsv", ["number", "A", "B"], key)
    equal, missing = sum(row["B"] == EQUAL for row in sheet), sum(not row["a"] for row in sheet)
    missing += sum(not row["b"] for row in sheet if row["B"] != EQUAL)
    print(f"{out / 'sheet.tsv'} has {len(sheet)} rows, {equal} with equal translations; {missing} verdicts are missing")


def lines_in(data: Path, wanted: Iterable[Row]) -> set[str]:
    """Returns the numbers of the rows whose source is a line of the training text in its language."""
    by_language: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in wanted:
        by_language[row["direction"][:2]][row["source"].casefold()].add(row["number"])
    found: set[str] = set()
    for language, numbers in by_language.items():
        for path in data.glob(f"*/train.{language}"):
            with path.open(encoding="utf-8", newline="\n") as file:
                found.update(*(numbers[key] for line in file if (key := line.rstrip("\n").casefold()) in numbers))
    return found


def count(folder: Path, data: Path | None = None) -> Table:
    """Counts the verdicts by kind, by direction and in total, for the old and the new model."""
    models = {row["number"]: row for row in read(folder / "key.tsv")}
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: {"old": Counter(), "new": Counter()})
    sheet = read(folder / "sheet.tsv")
    seen = lines_in(data, sheet) if data else set()
    for row in sheet:
        verdicts = {"A": row["a"].strip(), "B": row["a" if row["B"] == EQUAL else "b"].strip()}
        part = "labels" if row["kind"] == "label" else "sentences"
        groups = [part, row["kind"], f"{part} {row['direction']}"]
        if data:
            groups.append(f"{part}, {'in' if row['number'] in seen else 'not in'} the training text")
        for side, verdict in verdicts.items():
            if verdict not in VERDICTS:
                raise SystemExit(f'row {row["number"]}: the verdict is "{verdict}"; it must be g, m or w')
            for group in groups:
                if group != "label":
                    counts[group][models[row["number"]][side]][verdict] += 1
    rows = [
        [group, str(sum(some["old"].values())), *(str(some[model][v]) for model in ("old", "new") for v in VERDICTS)]
        for group, some in counts.items()
    ]
    header = ["", "texts", *(f"{model}: {verdict}" for model in ("old", "new") for verdict in VERDICTS.values())]
    return Table(header, rows)


def marks(folder: Path, models: Path, marking: str, thorough: bool) -> Table:
    """Counts the marks by kind and verdict."""
    known = verdicts_of(folder / "sheet.tsv")
    by_direction: dict[str, list[Row]] = defaultdict(list)
    for row in read(folder / "sheet.tsv"):
        by_direction[row["direction"]].append(row)
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: {verdict: Counter() for verdict in VERDICTS})
    other = 0
    for direction, some in by_direction.items():
        translator = regard.load(models / direction, engine="ctranslate2")
        found = translator.translate([row["source"] for row in some], phrases=False, marks=marking, thorough=thorough)
        for row, translation in zip(some, found, strict=True):
            verdict = known.get((direction, row["source"], translation.text))
            other += verdict is None
            mark = next((one.mark for one in translation.marked), None) or "no mark"
            for group in (row["kind"], "sentences") if row["kind"] != "label" else ("labels",):
                if verdict is not None:
                    counts[group][verdict][mark] += 1
    print(f"{other} translations are not judged")
    kinds = ("check", "doubtful", "no mark")
    rows = [
        [group, *(str(some[verdict][kind]) for verdict in VERDICTS for kind in kinds)] for group, some in counts.items()
    ]
    return Table(["", *(f"{name}: {kind}" for name in VERDICTS.values() for kind in kinds)], rows)


def marked_reversals(folder: Path, models: Path, thorough: bool) -> Table:
    """Counts the marked translations by the kind of their reversal."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    by_direction: dict[str, list[Row]] = defaultdict(list)
    for row in read(folder / "reversals.tsv"):
        by_direction[row["direction"]].append(row)
    for direction, some in by_direction.items():
        translator = regard.load(models / direction, engine="ctranslate2")
        found = translator.translate([row["source"] for row in some], thorough=thorough)
        for row, translation in zip(some, found, strict=True):
            same = translation.text == row["translation"]
            state = ("marked" if translation.marked else "unmarked") if same else "translated otherwise"
            counts[row["reversal"]][state] += 1
            counts["all"][state] += 1
    states = ("marked", "unmarked", "translated otherwise")
    return Table(["", *states], [[kind, *(str(some[state]) for state in states)] for kind, some in counts.items()])


def literal(folder: Path, pairs: Sequence[tuple[str, str, str]]) -> Table:
    """Counts the translations with a literal idiom: those of a sheet by kind and verdict, and those of true pairs."""
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for row in read(folder / "fit.tsv"):
        source, target = row["direction"].split("-")
        found = bool(literal_idioms(row["source"], row["translation"], (source, target)))
        kind = "idioms" if row["kind"] == "idioms" else "others"
        counts[f"{kind}, {VERDICTS[row['verdict']]}"][found] += 1
    for direction, *files in pairs:
        source, target = direction.split("-")
        for one, other in zip(*map(read_lines, map(Path, files)), strict=True):
            counts[f"{direction}, true pairs"][bool(literal_idioms(one, other, (source, target)))] += 1
    rows = [[name, str(some.total()), str(some[True])] for name, some in counts.items()]
    return Table(["", "texts", "marked"], rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = options.add_subparsers(dest="command", required=True)
    sheet = commands.add_parser("sheet", help="translate with both models and write the blind sheet")
    sheet.add_argument("--old", type=Path, required=True, help="folder with the six directions")
    sheet.add_argument("--new", type=Path, required=True, help="folder with the six directions")
    sheet.add_argument("--out", type=Path, required=True)
    sheet.add_argument("--texts", type=Path, default=TEXTS, help="folder with sentences.tsv, and labels.tsv if any")
    sheet.add_argument("--judged", type=Path, metavar="SHEET", help="a sheet that was filled in before")
    sheet.add_argument("--seed", type=int, default=1, help="of the order of A and B")
    counted = commands.add_parser("count", help="count the verdicts of a sheet that was filled in")
    counted.add_argument("folder", type=Path)
    counted.add_argument("--data", type=Path, help="the training text, SOURCE/train.en and so on")
    marked = commands.add_parser("marks", help="count what the guard marks of a sheet that was filled in")
    marked.add_argument("folder", type=Path)
    marked.add_argument("--models", type=Path, required=True, help="folder with the six directions")
    marked.add_argument("--marks", choices=("lenient", "normal", "strict"), default="normal")
    marked.add_argument("--thorough", action="store_true", help="score sources given their translations")
    reversed_ones = commands.add_parser("reversals", help="count what the guard marks of reversals that were made")
    reversed_ones.add_argument("folder", type=Path)
    reversed_ones.add_argument("--models", type=Path, required=True, help="folder with the six directions")
    reversed_ones.add_argument("--thorough", action="store_true", help="score sources given their translations")
    idioms = commands.add_parser("idioms", help="count idioms that were translated word by word")
    idioms.add_argument("folder", type=Path)
    idioms.add_argument("--pairs", nargs=3, action="append", default=[], metavar=("DIRECTION", "SOURCES", "TARGETS"))
    given = options.parse_args()
    if given.command == "reversals":
        print(marked_reversals(given.folder, given.models, given.thorough).markdown())
    elif given.command == "idioms":
        print(literal(given.folder, given.pairs).markdown())
    elif given.command == "sheet":
        make_sheet(texts(given.texts), given.old, given.new, given.out, given.seed, given.judged)
    elif given.command == "count":
        print(count(given.folder, given.data).markdown())
    else:
        print(marks(given.folder, given.models, given.marks, given.thorough).markdown())


if __name__ == "__main__":
    main()
