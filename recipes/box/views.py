"""One view of attention for the directions of one model, chosen by links that are known, and its error rate in each.

    python recipes/box/views.py --models runs/general/bundled --gold data/gold-alignments --write

Links are known between English and French: those of the embedded corpus by construction, those of the Hansards drawn by
people (--gold: enfr.src, enfr.tgt and enfr.gold.1indexed.talp, compressed or not; left out where there is no such
folder). For fr-en they are turned round. The view is chosen on the corpus's dev pairs and on every other line of the
Hansards, by the mean of its error rates over both texts and both directions, and measured on the test pairs and on the
other lines. Of German and Spanish no links are known: there the view is used and not evaluated.

A folder beside another has its weights, and a conversion for CTranslate2 depends on weights and view: with one view for
all, they are converted once. A direction in which that costs more than OWN_VIEW has a view of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from regard.align.attention import Link, View
from regard.bundle.bundle import Bundle
from regard.bundle.folder import CARD, read_json, write_json
from regard.course.grammar.corpus import Example, generate
from regard.data.compressed import COMPRESSED
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.explain.aligners import GoldAlignments, read_gold
from regard.explain.alignment import aer, transpose
from regard.explain.views import attention_links
from regard.files import write_atomically
from regard.report.table import Table
from regard.text.words import WordsOf, space_spans, word_spans

HANSARDS, EMBEDDED = "the Hansards", "the embedded corpus"
OWN_VIEW = 0.02  # of the mean error rate
Rates = dict[View, float]


@dataclass(frozen=True)
class KnownText:
    """Pairs with known links, to choose on and to measure on."""

    name: str
    words: WordsOf
    dev: GoldAlignments
    test: GoldAlignments


@dataclass(frozen=True)
class Direction:
    """The error rates of every view in one direction, by text."""

    name: str
    dev: dict[str, Rates]
    test: dict[str, Rates]

    def mean(self, view: View) -> float:
        return sum(rates[view] for rates in self.dev.values()) / len(self.dev)

    def best(self) -> View:
        return min(next(iter(self.dev.values())), key=lambda view: (self.mean(view), rank(view)))


def rank(view: View) -> tuple[bool, int, int, str]:
    """Of equals: the mean of heads, the lower layer."""
    return view.head is not None, view.layer, view.head or 0, view.row


def turned(gold: GoldAlignments) -> GoldAlignments:
    pairs = [(target, source) for source, target in gold.pairs]
    return GoldAlignments(
        pairs, [transpose(links) for links in gold.sure], [transpose(links) for links in gold.possible]
    )


def some(gold: GoldAlignments, most: int | None) -> GoldAlignments:
    """At most so many lines, at equal distances."""
    return gold if most is None else gold.part(slice(0, None, max(1, -(-len(gold.pairs) // most))))


def embedded(most: int | None) -> KnownText:
    splits = generate()
    dev, test = (some(gold_of(splits[name].examples), most) for name in ("dev", "test"))
    return KnownText(EMBEDDED, word_spans, dev, test)


def gold_of(examples: Sequence[Example]) -> GoldAlignments:
    links: list[set[Link]] = [set(example.alignment) for example in examples]
    return GoldAlignments([(example.src, example.tgt) for example in examples], links, links)


def hansards(folder: Path, most: int | None) -> KnownText | None:
    """English to French, words between spaces, links counted from 1."""
    files = [there(folder / f"enfr.{name}") for name in ("src", "tgt", "gold.1indexed.talp")]
    if None in files:
        return None
    sources, targets, links = (list(read_lines(file)) for file in files if file)
    known = read_gold(list(zip(sources, targets, strict=True)), links, 1, space_spans)
    dev, test = (some(known.part(slice(first, None, 2)), most) for first in (0, 1))
    return KnownText(HANSARDS, space_spans, dev, test)


def there(path: Path) -> Path | None:
    return next((p for p in (path, *(Path(f"{path}{suffix}") for suffix in COMPRESSED)) if p.is_file()), None)


def measure(folder: Path, gold: Path | None, most: int | None) -> Direction:
    texts = [text for text in (gold and hansards(gold, most), embedded(most)) if text]
    bundle = Bundle.load(folder)
    turn = turned if folder.name == "fr-en" else lambda known: known
    dev, test = (
        {text.name: rates_of(bundle, turn(getattr(text, part)), text.words) for text in texts}
        for part in ("dev", "test")
    )
    return Direction(folder.name, dev, test)


def rates_of(bundle: Bundle, gold: GoldAlignments, words: WordsOf) -> Rates:
    found = attention_links(bundle, gold.pairs, words)
    return {view: aer([links[view] for links in found], gold.sure, gold.possible) for view in found[0]}


def shared_view(measured: Sequence[Direction]) -> View:
    """That of the lowest mean over directions."""
    views = next(iter(measured[0].dev.values()))
    return min(views, key=lambda view: (sum(way.mean(view) for way in measured), rank(view)))


def view_of(way: Direction, shared: View) -> View:
    """The shared one, unless the direction has a much better one."""
    return way.best() if way.mean(shared) - way.mean(way.best()) > OWN_VIEW else shared


def entry(view: View, way: Direction | None) -> dict[str, object]:
    """`attention_view` of a card."""
    stored: dict[str, object] = {"layer": view.layer, "head": view.head, "row": view.row}
    if way is None:
        return stored | {"aer": None, "on": ""}
    (on, rate), *others = ((text, round(rates[view], 4)) for text, rates in way.test.items())
    return stored | {"aer": rate, "on": on, "also": dict(others)}


def shown(measured: Sequence[Direction], shared: View) -> str:
    """The chosen view and the best of each direction, on text it was not chosen on."""
    texts = list(measured[0].test)
    rows = []
    for way in measured:
        for name, view in (("for all", shared), ("best here", way.best())):
            rows.append([way.name, name, str(view), *(f"{way.test[text][view]:.1%}" for text in texts)])
    return Table(["direction", "view", "", *(f"AER on {text}" for text in texts)], rows).markdown()


def write(folder: Path, view: Mapping[str, object]) -> None:
    card = read_json(folder / CARD) | {"attention_view": view}
    write_atomically(folder / CARD, lambda path: write_json(path, card))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", type=Path, required=True, help="a folder with en-fr, fr-en and the others")
    options.add_argument("--gold", type=Path, help="a folder with the Hansards' links")
    options.add_argument("--most", type=int, help="lines of each text; default: all")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--write", action="store_true", help="put the views into the cards")
    given = options.parse_args()
    folders = sorted(path.parent for path in given.models.glob(f"*/{CARD}"))
    known = [folder for folder in folders if folder.name in ("en-fr", "fr-en")]
    if not known:
        raise SystemExit(f"{given.models} has neither en-fr nor fr-en, between which links are known")
    try:
        with ProcessPoolExecutor(min(given.processes, len(known))) as pool:
            jobs = [pool.submit(measure, folder, given.gold, given.most) for folder in known]
            measured = [job.result() for job in jobs]
    except InputError as problem:
        raise SystemExit(str(problem)) from None
    shared = shared_view(measured)
    print(shown(measured, shared))
    ways = {way.name: way for way in measured}
    for folder in folders:
        way = ways.get(folder.name)
        view = entry(view_of(way, shared) if way else shared, way)
        print(f"{folder.name}: {view}")
        if given.write:
            write(folder, view)


if __name__ == "__main__":
    main()
