"""`regard align`: word alignments from a model's attention, and their reliability."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from regard.bundle import bundled_models
from regard.cli.lines import check_output, read_lines, write_output
from regard.cli.options import Device, FlagTable, Json, Model
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.align.attention import View
    from regard.bundle.bundle import Bundle
    from regard.explain.aligners import AlignmentScore, GoldAlignments, Pair
    from regard.text.words import WordsOf
    from regard.translator import Translator


FLAGS = FlagTable("""
--src FILE            Sentences, one a line (.gz .xz .bz2 .zst too).
--tgt FILE            Their translations, line by line.
--gold FILE           Known links in Pharaoh format: i-j is sure, ipj possible. With them the error rates are measured.
--gold-first N 0..1   The number of a sentence's first word in --gold.
--dev-src FILE        Sentences to choose the view on. [default: every other line of --src]
--dev-tgt FILE        Their translations.
--dev-gold FILE       Their links.
--train-src FILE      More text for the aligners that are compared. [default: --src and --tgt alone]
--train-tgt FILE      Its translations.
--words               What a word is: as regard splits text, or what stands between spaces.
--out FILE            Where links go, a line each: 0-0 1-2 … [default: the terminal, without --gold]
--save-view           Write the chosen view and its error rate to the model's card.
--seed N              Of the random baselines.
""")


def align(
    src: Annotated[Path, FLAGS("--src")],
    tgt: Annotated[Path, FLAGS("--tgt")],
    model: Model = None,
    gold: Annotated[Path | None, FLAGS("--gold")] = None,
    gold_first: Annotated[int, FLAGS("--gold-first")] = 0,
    dev_src: Annotated[Path | None, FLAGS("--dev-src")] = None,
    dev_tgt: Annotated[Path | None, FLAGS("--dev-tgt")] = None,
    dev_gold: Annotated[Path | None, FLAGS("--dev-gold")] = None,
    train_src: Annotated[Path | None, FLAGS("--train-src")] = None,
    train_tgt: Annotated[Path | None, FLAGS("--train-tgt")] = None,
    words: Annotated[Literal["regard", "spaces"], FLAGS("--words")] = "regard",
    out: Annotated[Path | None, FLAGS("--out")] = None,
    save_view: Annotated[bool, FLAGS("--save-view")] = False,
    seed: Annotated[int, FLAGS("--seed")] = 1,
    as_json: Json = False,
    device: Device = "auto",
) -> None:
    """Link the words of translations by a model's attention.

    Each target word is linked with the source word that it attends to most, in one layer and head (the view). With
    --gold the best view is chosen on one half of the lines and measured on the other, beside the best for either
    meaning of a row (the word that is predicted, or the word read last), value norms, the diagonal, chance, the same
    model untrained, and aligners without a neural network. AER is the alignment error rate; 0 is perfect.

    \b
      regard align --src corpus/dev.en --tgt corpus/dev.fr --out dev.links
      regard align --src corpus/dev.en --tgt corpus/dev.fr --gold corpus/dev.align
    """
    from regard.bundle.find_model import find_model

    if gold is None and (save_view or as_json or dev_src or dev_tgt or dev_gold or train_src or train_tgt):
        raise InputError("a view is chosen, measured and compared by known links; add them: --gold FILE")
    check_output(out, src)
    folder = find_model(model or bundled_models.folder_of())
    if save_view and folder.parent == bundled_models.HOME:
        raise InputError(
            f"the model {folder.name} is a bundled model, which is read-only; copy it first: regard pack "
            f"{folder.name} --out mine"
        )
    from regard.text.words import space_spans, word_spans
    from regard.translator import Translator

    pairs, cut = read_both(src, tgt), space_spans if words == "spaces" else word_spans
    if gold is None:
        write_given(out, Translator.load(folder, device), pairs, cut)
        return
    known = read_known(pairs, gold, gold_first, cut)
    dev, test = dev_and_test(known, (dev_src, dev_tgt, dev_gold), gold_first, cut)
    if not (dev.pairs and test.pairs):
        raise InputError(f"a view is chosen on some lines and measured on others, but {src} has {len(pairs)}")
    text = [*more_text(train_src, train_tgt), *pairs]
    bundle = Translator.load(folder, device).bundle
    from regard.explain.aligners import attention_rows, baseline_rows

    view, table = attention_rows(bundle, dev, test, cut)
    table += baseline_rows(bundle, dev, test, text, cut, seed)
    show(table, len(dev.pairs), len(test.pairs), len(text), as_json)
    if out is not None:
        write_links(out, bundle, pairs, view, cut)
    if save_view:
        keep_view(bundle, folder, table[0], gold.name)


def read_both(src: Path, tgt: Path) -> list[Pair]:
    sources, targets = list(read_lines(src)), list(read_lines(tgt))
    if len(sources) != len(targets):
        raise InputError(f"{src} has {len(sources):,} lines, but {tgt} has {len(targets):,}; they must be translations")
    if not sources:
        raise InputError(f"{src} is empty; give sentences, one a line")
    return list(zip(sources, targets, strict=True))


def more_text(src: Path | None, tgt: Path | None) -> list[Pair]:
    """Read the additional text for the aligners, if any."""
    if (src is None) != (tgt is None):
        raise InputError("text for the aligners is two files: --train-src and --train-tgt")
    return read_both(src, tgt) if src and tgt else []


def read_known(pairs: list[Pair], gold: Path, first: int, words: WordsOf) -> GoldAlignments:
    from regard.explain.aligners import read_gold

    return read_gold(pairs, list(read_lines(gold)), first, words)


def dev_and_test(
    known: GoldAlignments, dev: tuple[Path | None, ...], first: int, words: WordsOf
) -> tuple[GoldAlignments, GoldAlignments]:
    """Lines to choose the view on and others to measure it on: the given files, or halves of the lines."""
    if not any(dev):
        return known.part(slice(0, None, 2)), known.part(slice(1, None, 2))
    src, tgt, gold = dev
    if not (src and tgt and gold):
        raise InputError("sentences to choose the view on are three files: --dev-src, --dev-tgt and --dev-gold")
    return read_known(read_both(src, tgt), gold, first, words), known


def write_given(out: Path | None, translator: Translator, pairs: list[Pair], words: WordsOf) -> None:
    """Write the links of texts that are prepared as in `regard translate`, in the view of the model's card."""
    from regard.explain.views import stored_view
    from regard.explain.word_alignment import align_pairs

    view, trust = stored_view(translator.bundle)
    typer.echo(f"regard: links are those of {view} ({trust or 'not measured; use --gold FILE'})", err=True)
    write_output(out, lambda file: file.writelines(f"{found}\n" for found in align_pairs(translator, pairs, words)))


def show(table: list[AlignmentScore], chosen_on: int, measured_on: int, learnt_from: int, as_json: bool) -> None:
    if as_json:
        rows = [{**dataclasses.asdict(row), "view": str(row.view) if row.view else None} for row in table]
        told = {"chosen_on": chosen_on, "measured_on": measured_on, "aligners_learnt_from": learnt_from, "rows": rows}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    wide = max(len(row.name) for row in table)
    typer.echo(f"{'':<{wide}}  precision  recall    AER")
    for row in table:
        view = f"  {row.view}" if row.view else ""
        typer.echo(f"{row.name:<{wide}}  {row.precision:9.1%}  {row.recall:6.1%}  {row.aer:5.1%}{view}")
    typer.echo(
        f"views chosen on {chosen_on:,} pairs, all measured on {measured_on:,} others; "
        f"the aligners learnt from {learnt_from:,} pairs without links"
    )


def write_links(output: Path, bundle: Bundle, pairs: list[Pair], view: View, words: WordsOf) -> None:
    """Write the links in the view that was measured; texts are not prepared, as in the measurement."""
    from regard.align.attention import hard_links
    from regard.explain.alignment import format_links
    from regard.explain.trace import trace_sentence

    def write_all(out: TextIO) -> None:
        for (source, _), ids in zip(pairs, bundle.tokenizer.encode_target([t for _, t in pairs]), strict=True):
            seen = trace_sentence(bundle, source, ids).in_words(view, words=words)
            out.write(format_links(hard_links(seen)) + "\n")

    write_output(output, write_all)


def keep_view(bundle: Bundle, folder: Path, chosen: AlignmentScore, on: str) -> None:
    """Store the view and its error rate in the model's card."""
    from regard.files import write_atomically

    view = chosen.view
    assert view is not None
    stored = {"layer": view.layer, "head": view.head, "row": view.row, "aer": chosen.aer, "on": on}
    text = json.dumps(bundle.card | {"attention_view": stored}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / "card.json", lambda path: path.write_text(text, encoding="utf-8"))
    typer.echo(f"kept in {folder / 'card.json'}: {view}, AER {chosen.aer:.1%} on {on}")
