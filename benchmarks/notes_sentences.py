"""The notes' own sentences through the heads that show what the notes claim, and what happens when such a head is cut.

    PYTHONPATH=src python benchmarks/notes_sentences.py --model en-fr-classic --to fr
    PYTHONPATH=src python benchmarks/notes_sentences.py --model fr-en --to en

For each sentence the script names a claim of the notes as a pair of words: the word that is produced or that attends,
and the word that it should attend to. It prints the translation, the head with the largest weight between the two, that
weight, and then what the translation becomes and loses when this one head is cut (greedy search, log p of the uncut
translation); beside it the same for the head whose loss costs this sentence most. These are single sentences: an
example of each claim, not a measurement of it. `regard claims` and `regard explain lab` measure.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from regard.explain.ablation import Head, ablated, ablated_output, heads_of, mean_log_prob
from regard.explain.explanation import Explanation
from regard.report.table import Table
from regard.translator import Translator


class NotesClaim(NamedTuple):
    source: str
    kind: str  # of attention
    word: str  # that attends: of the target in cross-attention, else of the source
    to: str  # a source word


CLAIMS = {
    "fr": [
        NotesClaim("The cat is on the mat.", "cross", "chat", "cat"),
        NotesClaim("The cat sat on the mat.", "encoder", "sat", "cat"),
        NotesClaim("The animal didn't cross the street because it was too tired.", "encoder", "it", "animal"),
        NotesClaim("The animal didn't cross the street because it was too wide.", "encoder", "it", "street"),
        NotesClaim("The bank approved the loan.", "encoder", "bank", "loan"),
        NotesClaim("The poor do not have any money.", "cross", "pauvres", "poor"),
    ],
    "en": [
        NotesClaim("Le chat est sur le tapis.", "cross", "cat", "chat"),
        NotesClaim("Le chat s'est assis sur le tapis.", "encoder", "assis", "chat"),
        NotesClaim("L'animal n'a pas traversé la rue parce qu'il était trop fatigué.", "encoder", "il", "animal"),
        NotesClaim("L'animal n'a pas traversé la rue parce qu'elle était trop large.", "encoder", "elle", "rue"),
        NotesClaim("La banque a approuvé le prêt.", "encoder", "banque", "prêt"),
        NotesClaim("Les pauvres sont démunis.", "cross", "poor", "pauvres"),
    ],
}


def place(words: list[str], wanted: str) -> int | None:
    """
    >>> place(["Le", "chat."], "chat")
    1
    """
    for number, word in enumerate(words):
        if word.strip(".,'’▁ ").casefold() == wanted.casefold():
            return number
    return None


def strongest(found: Explanation, claim: NotesClaim) -> tuple[Head, float] | None:
    """The head with the largest weight between the two words; None where a word is not there."""
    best: tuple[Head, float] | None = None
    for layer, maps in enumerate(getattr(found.trace, claim.kind)):
        for head in range(len(maps)):
            grid = found.grid(claim.kind, layer, head)  # type: ignore[arg-type]
            row, column = place(list(grid.rows), claim.word), place(list(grid.columns), claim.to)
            if row is None or column is None:
                return None
            weight = float(grid.values[row, column])
            if best is None or weight > best[1]:
                best = Head(claim.kind, layer, head), weight  # type: ignore[arg-type]
    return best


def row(translator: Translator, claim: NotesClaim) -> list[str]:
    found = translator.explain(claim.source)
    arrow = f"{claim.word} → {claim.to} ({claim.kind})"
    head = strongest(found, claim)
    if head is None:
        return [claim.source, found.translation, arrow, "the word is not in the translation", *[""] * 5]
    trace = found.trace
    (source,) = translator.bundle.tokenizer.encode_source([trace.read])
    model, pair = translator.bundle.model, [(source, trace.target_ids)]
    left = {}
    for one in heads_of(model):
        with ablated(model, [one]):
            left[one] = mean_log_prob(model, pair)
    costliest = min(left, key=left.__getitem__)
    cuts = {
        one: ablated_output(translator.bundle, source, trace.target_ids, [one], slots=trace.slots)
        for one in (head[0], costliest)
    }
    cells = [claim.source, found.translation, arrow, f"{head[0]} ({head[1]:.2f})"]
    for one in (head[0], costliest):
        output = cuts[one]["output"] if cuts[one]["output"] != found.translation else "the same"
        cells += [f"{cuts[one]['drop']:.2f}".replace("-", "−"), output]
    return [*cells[:6], str(costliest), *cells[6:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="en-fr-classic")
    parser.add_argument("--to", default="fr", choices=list(CLAIMS), help="the language of the translations")
    given = parser.parse_args()
    translator = Translator.load(given.model, "cpu")
    header = ["sentence", "translation", "claim", "head (weight)", "log p lost", "without it"]
    header += ["costliest head", "log p lost", "without it"]
    print(Table(header, [row(translator, claim) for claim in CLAIMS[given.to]], left=(0, 1, 2, 3, 5, 6, 8)).markdown())


if __name__ == "__main__":
    main()
