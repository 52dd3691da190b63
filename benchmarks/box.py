"""The scores in the cards of the shipped models, made again from the shipped weights.

python benchmarks/box.py                           all models of the box; fetches Tatoeba into data/tatoeba-en-fr
python benchmarks/box.py --tatoeba pairs.tsv.xz    the collection as a table of pairs, or as a folder of regard fetch
python benchmarks/box.py --only notes              some of the test sets; quotes around a name with a space
python benchmarks/box.py --model FOLDER --write    of a model not yet in the box; the figures go into its card

Exit code 1 says that card and measurement differ, or that one of them lacks a figure of the other. Tatoeba grows from
day to day, and figures are of one state of it: the card holds a fingerprint of each test set, and a set that differs
from it is said to be another.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.bundle import box
from regard.bundle.folder import find_bundle
from regard.cli.fetch import progress
from regard.course.grammar import NOTES_EXAMPLES, generate
from regard.data.connected import split_connected
from regard.data.corpus import read_lines
from regard.data.prepare import fetch_data, read_table
from regard.data.sources import DATA_SETS, LinesFile
from regard.errors import InputError, RegardError
from regard.files import write_atomically
from regard.metrics.bleu import bleu
from regard.metrics.chrf import chrf
from regard.translator import Translator

BEAM = 5
TOLERANCE = 0.1  # points; another processor rounds otherwise and may change a few sentences among thousands
LANGUAGES = ["English", "French"]  # in the order of Tatoeba's and the grammar's columns
NAMES = ("notes", "tatoeba dev", "tatoeba test", "grammar test", "grammar compositional")

Pair = tuple[str, str]


@dataclass(frozen=True)
class TestSet:
    __test__ = False  # not a class of tests

    sources: list[str]
    references: list[str]

    @property
    def fingerprint(self) -> str:
        text = "\n".join([*self.sources, "", *self.references])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, action="append", help="a bundle; default: all in the box")
    parser.add_argument("--tatoeba", type=Path, help="a table of pairs, or a folder; default: fetched")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--write", action="store_true", help="put the figures into the card")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    try:
        pairs = test_pairs(given.only, given.tatoeba)
        models = given.model or [Path(name) for name in box.names()]
        if not models:
            raise InputError("the box is empty; name a model: --model FOLDER")
        agree = [judge(find_bundle(model), pairs, given.write, given.device) for model in models]
    except RegardError as problem:
        print(f"benchmarks/box.py: {problem}", file=sys.stderr)
        sys.exit(2)
    sys.exit(0 if all(agree) else 1)


def test_pairs(names: Sequence[str], tatoeba: Path | None) -> dict[str, list[Pair]]:
    """The test sets as pairs, English first."""
    found: dict[str, list[Pair]] = {"notes": list(NOTES_EXAMPLES)}
    if any(name.startswith("grammar") for name in names):
        splits = generate()
        found |= {f"grammar {n}": [(e.src, e.tgt) for e in splits[n].examples] for n in ("test", "compositional")}
    if any(name.startswith("tatoeba") for name in names):
        found |= {f"tatoeba {part}": pairs for part, pairs in tatoeba_parts(tatoeba).items()}
    return {name: found[name] for name in names}


def tatoeba_parts(place: Path | None) -> dict[str, list[Pair]]:
    """dev and test, split by connected sentences as for training."""
    data = DATA_SETS["tatoeba-en-fr"]
    assert data.pairs is not None
    if place is None:
        place = Path("data/tatoeba-en-fr")
        if not place.exists():
            with progress() as telling:
                fetch_data(data, place, None, telling)
    if place.is_dir():
        sides = {part: [read_lines(place / f"{part}.{lang}") for lang in ("en", "fr")] for part in ("dev", "test")}
        return {part: list(zip(*lines, strict=True)) for part, lines in sides.items()}
    table = list(read_table(LinesFile(place.name), {place.name: place}))
    parts = split_connected(table, data.pairs.dev, data.pairs.test, data.pairs.seed)
    return {"dev": parts.dev, "test": parts.test}


def judge(folder: Path, pairs: dict[str, list[Pair]], write: bool, device: str) -> bool:
    """Measure one model and compare with its card. With `write`, the card is what was measured."""
    translator = Translator.load(folder, device, "native")
    card = translator.bundle.card
    languages = card.get("about", {}).get("languages", LANGUAGES)
    if sorted(languages) != LANGUAGES:
        raise InputError(f"{folder} translates from {languages[0]} to {languages[-1]}; there is no test set for that")
    way = [LANGUAGES.index(language) for language in languages]
    print(f"{folder.name}, {' → '.join(languages)}, {translator.bundle.weights}, beam {BEAM}")
    measured = {
        name: measure(name, translator, TestSet([p[way[0]] for p in some], [p[way[1]] for p in some]))
        for name, some in pairs.items()
    }
    if write:
        card["tests"] = card.get("tests", {}) | measured
        text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
        write_atomically(folder / "card.json", lambda path: path.write_text(text, encoding="utf-8"))
    said = card.get("tests", {})
    lacking = [name for name in said if name not in NAMES]
    for name in lacking:
        print(f"{name}: in the card, but there is no such test set")
    agree = [report(name, found, said.get(name)) for name, found in measured.items()]  # all are shown
    return all(agree) and not lacking


def measure(name: str, translator: Translator, test: TestSet) -> dict[str, Any]:
    found = [t.text for t in translator.translate(test.sources, beam=BEAM)]
    about = {"sentences": len(found), "beam": BEAM, "fingerprint": test.fingerprint}
    if name == "notes":
        for source, said, wanted in zip(test.sources, found, test.references, strict=True):
            print(f"  {source}\n{'=' if said == wanted else '≠'} {said}")
        return about | {"exact": sum(a == b for a, b in zip(found, test.references, strict=True))}
    scores = (bleu(found, test.references).to_dict(), chrf(found, test.references).to_dict())
    return about | {"metrics": [{key: score[key] for key in ("name", "score", "signature")} for score in scores]}


def report(name: str, found: dict[str, Any], said: dict[str, Any] | None) -> bool:
    """Print what was found beside what the card says; do they agree?"""
    print(f"{name}, {found['sentences']:,} sentences")
    if said is None:
        print("  not in the card")
        return False
    if said["fingerprint"] != found["fingerprint"]:
        print("  another test set than the card's, so figures cannot be compared")
        return False
    if "exact" in found:
        print(f"  exact {found['exact']}   card {said['exact']}")
        return bool(found["exact"] == said["exact"])
    agree = True
    for mine, its in zip(found["metrics"], said["metrics"], strict=True):
        same = mine["signature"] == its["signature"] and abs(mine["score"] - its["score"]) <= TOLERANCE
        verdict = "agrees" if same else "DIFFERS"
        print(f"  {mine['name']:<6}{mine['score']:6.2f}   card {its['score']:6.2f}   {verdict}   {mine['signature']}")
        agree = agree and same
    return agree


if __name__ == "__main__":
    main()
