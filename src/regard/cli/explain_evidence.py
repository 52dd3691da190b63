"""`regard explain evidence | importance | lab`: what a model relied on, held against what it looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Device, Font, Model, Numbers, Picture, Sentence, Target, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle.bundle import Bundle
    from regard.explain.cutting import How
    from regard.explain.evidence import Evidence

HowOption = Annotated[
    str | None,
    typer.Option(
        "--how",
        metavar="HOW",
        help="zero: the head says nothing. uniform: it looks everywhere alike.  [default: zero, for recurrent uniform]",
    ),
]
Heads = Annotated[int, typer.Option(parser=number("--heads", int), metavar="N", help="How many heads to cut together.")]
Draws = Annotated[int, typer.Option(parser=number("--draws", int), metavar="N", help="Random sets of heads.")]
Seed = Annotated[int, typer.Option(parser=number("--seed", int), metavar="N", help="Of the random sets.")]


def evidence(
    text: Sentence,
    model: Model = None,
    target: Target = None,
    blank: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="mean: a blanked word is read as the mean of all embeddings, and all others keep their places. "
            "removed: it is taken out, and the words after it move up.",
        ),
    ] = "mean",
    cut: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HEADS",
            help="Cut heads and translate again: KIND:LAYER:HEAD from 1, several with commas; or each, one by one. Can "
            "be given several times.",
        ),
    ] = None,
    how: HowOption = None,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Blank each source word and measure what the output loses, beside what attention shows.

    The output is forced, so all numbers are about the same words: Δ log p is how much less probable a target word
    becomes when a source word is blanked. Spearman's ρ says whether attention orders the source words as Δ does: 1 if
    it does, 0 if it says nothing about it.

      regard explain evidence "The black cat sleeps."

      regard explain evidence "The black cat sleeps." --blank removed --out evidence.html

      regard explain evidence "The black cat sleeps." --cut cross:2:1 --cut each
    """
    from regard.explain import evidence as measured
    from regard.explain.cutting import parse_head
    from regard.explain.render.evidence_figure import evidence_output
    from regard.report.deliver import PICTURES, check_out, deliver
    from regard.translator import Translator

    if blank not in measured.BLANKS:
        raise InputError(f'--blank must be {" or ".join(measured.BLANKS)}, but is "{blank}"')
    wanted = [[] if words == "each" else [parse_head(one) for one in words.split(",")] for words in cut or ()]
    check_out(out, PICTURES)
    bundle = Translator.load(model, device).bundle
    found = measured.evidence(bundle, text, target, _any(blank))
    output = evidence_output(found, _cuts(bundle, found, wanted, _how(how)))
    deliver(output, out, font, above=found.target)


def importance(
    model: Model = None,
    src: Annotated[Path | None, typer.Option(metavar="FILE", help="Sentences.  [default: the embedded test]")] = None,
    tgt: Annotated[Path | None, typer.Option(metavar="FILE", help="Their translations, line by line.")] = None,
    sentences: Annotated[
        int, typer.Option(parser=number("--sentences", int), metavar="N", help="How many; half choose, half measure.")
    ] = 200,
    heads: Heads = 3,
    draws: Draws = 10,
    seed: Seed = 1,
    how: HowOption = None,
    out: Numbers = None,
    device: Device = "auto",
) -> None:
    """Cut every head and sort them by what log p loses; the costliest are held against random ones.

    Heads are chosen on one half of the sentences and cut together on the other half, beside random heads of the same
    number: a choice that random heads match is no choice.

      regard explain importance --model runs/mine --src test.en --tgt test.fr
    """
    from regard.explain import cutting
    from regard.explain.render.evidence_figure import importance_output
    from regard.report.deliver import NUMBERS, check_out, deliver
    from regard.translator import Translator

    for flag, value, least in (("--sentences", sentences, 4), ("--heads", heads, 1), ("--draws", draws, 1)):
        _at_least(flag, value, least)
    check_out(out, NUMBERS)
    lines = _pairs(src, tgt, sentences)
    bundle = Translator.load(model, device).bundle
    sources = bundle.tokenizer.encode_source([s for s, _ in lines])
    targets = bundle.tokenizer.encode_target([t for _, t in lines])
    pairs = list(zip(sources, targets, strict=True))
    half = len(pairs) // 2
    found = cutting.importance(bundle.model, pairs[:half], pairs[half:], heads, draws, seed, _how(how))
    deliver(importance_output(found), out)


def lab(
    kind: Annotated[
        str, typer.Argument(metavar="LAB", help="pronoun (it: il or elle) or polysemy (bank: banque or rive).")
    ],
    model: Model = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            parser=number("--pairs", int), metavar="N", help="Only so many pairs to choose on and to measure on."
        ),
    ] = None,
    heads: Heads = 3,
    draws: Draws = 10,
    seed: Seed = 1,
    how: HowOption = None,
    out: Numbers = None,
    device: Device = "auto",
) -> None:
    """Which heads decide il or elle, la banque or la rive: all minimal pairs of the embedded corpus.

    Three questions: does the model get both sentences of a pair right, what does the word in question look at through
    each head, and what is left when heads are cut: those whose cut costs most, those that look most at what the word
    means, and random ones. Heads are chosen on the dev pairs and measured on the others.

      regard explain lab pronoun --model runs/demo/run

      regard explain lab polysemy --model runs/demo/run --heads 1 --out polysemy.json
    """
    from regard.course.labs.minimal_pairs import LABS, all_pairs
    from regard.course.labs.pronoun_polysemy import run_lab
    from regard.course.labs.report import lab_output
    from regard.report.deliver import NUMBERS, check_out, deliver
    from regard.translator import Translator

    if kind not in LABS:
        raise InputError(f'there is no lab "{kind}"; type regard explain lab {LABS[0]} or {LABS[1]}')
    for flag, value in (("--pairs", pairs), ("--heads", heads), ("--draws", draws)):
        _at_least(flag, value, 1)
    check_out(out, NUMBERS)
    bundle = Translator.load(model, device).bundle

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    tell("making the embedded corpus")
    chosen, measured = all_pairs(_any(kind), pairs)
    found = run_lab(bundle, _any(kind), chosen, measured, count=heads, draws=draws, seed=seed, how=_how(how), tell=tell)
    deliver(lab_output(found), out)


# ------------------------------------------------------------------------------------------------ what all do


def _cuts(bundle: Bundle, found: Evidence, wanted: list[list[Any]], how: How | None) -> list[dict[str, Any]]:
    """Of each set of heads (an empty one: of every head alone): what the forced output loses, and the new output."""
    from regard.explain.cutting import cut_output, heads_of

    sets = [one for heads in wanted for one in ([heads] if heads else [[h] for h in heads_of(bundle.model)])]
    return [cut_output(bundle, found.source, found.target, heads, how) for heads in sets]


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


def _how(how: str | None) -> How | None:
    from regard.explain.cutting import HOWS

    if how is not None and how not in HOWS:
        raise InputError(f'--how must be {" or ".join(HOWS)}, but is "{how}"')
    checked: How | None = _any(how)
    return checked


def _at_least(flag: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise InputError(f"{flag} must be at least {least}, but is {value}")


def _any(word: str | None) -> Any:
    """A word that was checked already, for a function that takes some words only."""
    return word
