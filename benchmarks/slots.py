"""How reliably a model carries slots through by free search, and what slots cost in BLEU.

python benchmarks/slots.py --pairs data/box/slots-dev              pairs with slots, as recipes/box/slots.py makes them
python benchmarks/slots.py --spans data/tatoeba-en-fr/test         names and numbers of a test set as slots
python benchmarks/slots.py --model FOLDER --pairs … --spans …      another model than the one in the box
python benchmarks/slots.py --model FOLDER … --text newstest2014.fr.en newstest2014.fr.fr

No constraint holds the search here: a translation has what the model says. Carried are the sources whose translation
has each of their slots exactly once, and no other. --text takes each file in the language that ends its name, prepares
it as `regard translate` does, and counts for each model of that language the sentences that the model reads with slots
and those whose slots free search does not carry: only these are searched again with the constraint.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import regard
from regard.batch import pad_sources
from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.data.copies import copies_of
from regard.data.text_files import read_lines
from regard.device import pick_device
from regard.metrics.bleu import bleu
from regard.report.table import Table
from regard.search.constraints import satisfies
from regard.search.engine import SearchRequest, token_batches
from regard.search.options import SearchOptions
from regard.search.search import requests_of, search
from regard.text.slots import SLOTS, fill, slots_in
from regard.translation.options import TranslateOptions

BATCH_TOKENS = 8192
SHOWN = 5  # sources whose slots were not carried

Pair = tuple[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, nargs="+", default=[bundled_models.folder_of()], help="default: en-fr")
    parser.add_argument("--pairs", type=Path, help="NAME of NAME.en and NAME.fr, with slots")
    parser.add_argument("--spans", type=Path, help="NAME of NAME.en and NAME.fr, without")
    parser.add_argument("--text", type=Path, nargs="+", default=[], help="files to be translated, NAME.LANGUAGE")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    for folder in given.model if given.pairs or given.spans else ():
        bundle = Bundle.load(folder, pick_device(given.device))
        if given.pairs:
            report_carried(bundle, pairs_of(given.pairs), given.beam)
        if given.spans:
            report_spans(bundle, pairs_of(given.spans), given.beam)
    if given.text:
        translators = [(folder.name, regard.load(folder)) for folder in given.model]
        rows = [
            [name, path.name, *map(str, count_broken(translator, path, given.beam))]
            for name, translator in translators
            for path in given.text
            if translator.languages()[0] == path.suffix[1:]
        ]
        print(Table(["model", "text", "sentences", "with slots", "searched again"], rows, left=(0, 1)).markdown())


def pairs_of(stem: Path) -> list[Pair]:
    return list(zip(*(read_lines(stem.with_name(f"{stem.name}.{side}")) for side in ("en", "fr")), strict=True))


def translated(bundle: Bundle, sources: list[str], beam: int) -> list[str]:
    ids = bundle.tokenizer.encode_source(sources)
    options = SearchOptions(beam, bundle.decode.length_penalty)
    found = [""] * len(sources)
    for group in token_batches([len(row) for row in ids], BATCH_TOKENS):
        src, mask = (t.to(bundle.model.device) for t in pad_sources([ids[i] for i in group]))
        for i, (best, *_) in zip(group, search(bundle.model, requests_of(src, mask), options), strict=True):
            found[i] = bundle.tokenizer.decode(best.ids)
    return found


def count_broken(translator: regard.Translator, path: Path, beam: int) -> tuple[int, int, int]:
    """Returns how many sentences a text has, how many are read with slots, and of how many the best translation by free
    search does not carry them."""
    options = TranslateOptions(beam=beam).resolved(translator.config)
    pipeline = translator.pipeline(options.search(), options)
    units = list(translator.unit_maker(options).units(enumerate(read_lines(path))))
    with_slots = [unit for unit in units if unit.prepared.slots.source]
    found = pipeline.engine.search([SearchRequest(unit.ids) for unit in with_slots], options.search())
    rules = [pipeline.constraint(unit.ids) for unit in with_slots]
    broken = sum(not satisfies(some[0].ids, rule) for some, rule in zip(found, rules, strict=True))
    return len(units), len(with_slots), broken


def report_carried(bundle: Bundle, pairs: list[Pair], beam: int) -> None:
    sources, references = [src for src, _ in pairs], [tgt for _, tgt in pairs]
    found = translated(bundle, sources, beam)
    good = [sorted(slots_in(src)) == sorted(slots_in(said)) for src, said in zip(sources, found, strict=True)]
    total, lost = Counter(map(len, map(slots_in, sources))), Counter[int]()
    for src, said, fine in zip(sources, found, good, strict=True):
        lost[len(slots_in(src))] += not fine
        if not fine and lost.total() <= SHOWN:
            print(f"  {shown(src)}  →  {shown(said)}")
    print(f"{sum(good):,} of {len(good):,} pairs carried, {sum(good) / len(good):.2%}; {bleu(found, references)}")
    by_number = ", ".join(f"{n}: {1 - lost[n] / total[n]:.2%} of {total[n]:,}" for n in sorted(total))
    print(f"by the number of slots  {by_number}")


def report_spans(bundle: Bundle, pairs: list[Pair], beam: int) -> None:
    sources, spans = zip(*(as_slots(src, tgt) for src, tgt in pairs), strict=True)
    references = [tgt for _, tgt in pairs]
    plain = translated(bundle, [src for src, _ in pairs], beam)
    slotted = [fill(said, own) for said, own in zip(translated(bundle, list(sources), beam), spans, strict=True)]
    print(f"{sum(map(bool, spans)):,} of {len(pairs):,} sources have names or numbers that both sides have alike")
    print(f"without slots  {bleu(plain, references)}")
    print(f"with slots     {bleu(slotted, references)}")


def as_slots(src: str, tgt: str) -> tuple[str, list[str]]:
    """The source with a slot for each span that the target has too, in order, and the texts of the slots."""
    parts, at, spans = [], 0, []
    for copy in copies_of(src, tgt)[: len(SLOTS)]:
        start, end = copy.src
        parts += [src[at:start], SLOTS[len(spans)]]
        spans.append(src[start:end])
        at = end
    return "".join([*parts, src[at:]]), spans


def shown(text: str) -> str:
    return fill(text, [f"⟨{k + 1}⟩" for k in range(len(SLOTS))])


if __name__ == "__main__":
    main()
