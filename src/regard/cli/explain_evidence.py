"""`regard explain evidence`, `importance` and `lab`: what the output depends on, compared with attention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.explain_common import load_translator, show_sentences
from regard.cli.options import Device, FlagTable, Font, How, Model, Numbers, Picture, Sentence, SentenceNumber, Target
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle.bundle import Bundle
    from regard.explain.evidence import Evidence

FLAGS = FlagTable("""
--cut-heads N 1..       How many heads are cut together.
--draws N 1..10000      Random sets of heads.
--seed N                Of the random sets.
--blank                 mean: a blanked word has the mean of all embeddings, and the others keep their positions.
                        removed: it is left out, and the words after it move up.
--cut HEADS             Cut heads and translate again: KIND:LAYER:HEAD counted from 1, several with commas; or each, one
                        by one. Can be given several times.
--src FILE              Sentences. [default: the embedded test]
--tgt FILE              Their translations, line by line.
--sentences N 4..       How many; one half chooses heads, the other measures them.
--minimal-pairs N 1..   How many pairs choose heads, and how many measure them, at most. [default: all]
""")

CutHeads = Annotated[int, FLAGS("--cut-heads")]
Draws = Annotated[int, FLAGS("--draws")]
Seed = Annotated[int, FLAGS("--seed")]


def evidence(
    text: Sentence,
    model: Model = None,
    sentence: SentenceNumber = None,
    target: Target = None,
    blank: Annotated[Literal["mean", "removed"], FLAGS("--blank")] = "mean",
    cut: Annotated[list[str] | None, FLAGS("--cut")] = None,
    how: How = None,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Blank each source word and measure what the output loses.

    The output is forced, so all numbers are about the same words: Δ log p is how much less probable a target word
    becomes when a source word is blanked. Spearman's ρ compares the order of the source words by attention and by Δ: 1
    is the same order, 0 is no relation.

    \b
      regard explain evidence "The black cat sleeps." --out evidence.html
      regard explain evidence --model en-fr-classic "The black cat sleeps." --blank removed --cut cross:2:1 --cut each
    """
    from regard.explain import evidence as measured
    from regard.explain.ablation import parse_head
    from regard.explain.render.evidence_figure import evidence_output
    from regard.report.deliver import deliver

    wanted = [[] if words == "each" else [parse_head(one) for one in words.split(",")] for words in cut or ()]
    translator = load_translator(model, device, out)

    def show(number: int) -> None:
        found = measured.evidence(translator, text, target, blank, sentence=number)
        output = evidence_output(found, _cuts(translator.bundle, found, wanted, how))
        deliver(output, out, font, above=found.translation)

    show_sentences(translator, text, sentence, show, out=out, target=target)


def importance(
    model: Model = None,
    src: Annotated[Path | None, FLAGS("--src")] = None,
    tgt: Annotated[Path | None, FLAGS("--tgt")] = None,
    sentences: Annotated[int, FLAGS("--sentences")] = 200,
    cut_heads: CutHeads = 3,
    draws: Draws = 10,
    seed: Seed = 1,
    how: How = None,
    out: Numbers = None,
    device: Device = "auto",
) -> None:
    """Cut every head and sort them by what log p loses.

    The heads that cost most on one half of the sentences are cut together on the other half, beside as many random
    heads: a choice that random heads match is no choice.

    \b
      regard explain importance --sentences 8 --draws 2
      regard explain importance --src corpus/dev.en --tgt corpus/dev.fr --sentences 8 --draws 2 --out heads.json
    """
    from regard.explain.importance import importance as head_importance
    from regard.explain.render.evidence_figure import importance_output
    from regard.report.deliver import NUMBERS, check_out, deliver
    from regard.translator import Translator

    check_out(out, NUMBERS)
    lines = _pairs(src, tgt, sentences)
    bundle = Translator.load(model, device).bundle
    sources = bundle.tokenizer.encode_source([s for s, _ in lines])
    targets = bundle.tokenizer.encode_target([t for _, t in lines])
    pairs = list(zip(sources, targets, strict=True))
    half = len(pairs) // 2
    found = head_importance(bundle.model, pairs[:half], pairs[half:], cut_heads, draws, seed, how)
    deliver(importance_output(found), out)


def lab(
    kind: Annotated[
        Literal["pronoun", "polysemy"],
        typer.Argument(metavar="LAB", help="pronoun (it: il or elle) or polysemy (bank: banque or rive)."),
    ],
    model: Model = None,
    minimal_pairs: Annotated[int | None, FLAGS("--minimal-pairs")] = None,
    cut_heads: CutHeads = 3,
    draws: Draws = 10,
    seed: Seed = 1,
    how: How = None,
    out: Numbers = None,
    device: Device = "auto",
) -> None:
    """Find the heads that decide il or elle, la banque or la rive.

    On all minimal pairs of the embedded corpus, three questions: does the model get both sentences of a pair right,
    what does the word in question attend to in each head, and what remains when heads are cut: those that cost most,
    those that attend most to what the word means, and random ones. Heads are chosen on the dev pairs and measured on
    the others. The figures of docs/explain.md are of the model en-fr-classic, which is small enough to look into.

    \b
      regard explain lab pronoun --model en-fr-classic --minimal-pairs 2 --draws 1
      regard explain lab polysemy --minimal-pairs 2 --draws 1 --cut-heads 1 --out polysemy.json
    """
    from regard.course.lab import lab_output, run_lab
    from regard.course.minimal_pairs import all_pairs
    from regard.report.deliver import NUMBERS, check_out, deliver
    from regard.translator import Translator

    check_out(out, NUMBERS)
    bundle = Translator.load(model, device).bundle

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    tell("making the embedded corpus")
    chosen, measured = all_pairs(kind, minimal_pairs)
    found = run_lab(bundle, kind, chosen, measured, count=cut_heads, draws=draws, seed=seed, how=how, tell=tell)
    deliver(lab_output(found), out)


def _cuts(bundle: Bundle, found: Evidence, wanted: list[list[Any]], how: Any) -> list[dict[str, Any]]:
    """For each set of heads (for an empty set: each head alone), the loss of the forced output, and the new output."""
    from regard.explain.ablation import heads_of
    from regard.explain.importance import ablated_output

    sets = [one for heads in wanted for one in ([heads] if heads else [[h] for h in heads_of(bundle.model)])]
    return [ablated_output(bundle, found.source_ids, found.target_ids, heads, how, found.slots) for heads in sets]


def _pairs(src: Path | None, tgt: Path | None, count: int) -> list[tuple[str, str]]:
    from itertools import islice

    from regard.data.corpus import PairFiles, read_pairs

    if (src is None) != (tgt is None):
        raise InputError("give --src and --tgt together, or neither for the embedded test")
    if src is None or tgt is None:
        from regard.course.grammar import generate

        examples = generate(5000)["test"].examples
        step = max(1, len(examples) // count)
        return [(e.src, e.tgt) for e in examples[::step][:count]]
    lines = list(islice(read_pairs(PairFiles((src, tgt))), count))
    if len(lines) < 4:
        raise InputError(f"{src} has {len(lines)} pairs, but at least 4 are needed")
    return lines
