"""`regard lexicon`: learn which token translates which, beside a model."""

from __future__ import annotations

import glob
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.bundle import bundled_models
from regard.cli.options import Model, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle.bundle import Bundle
    from regard.data.splits import Splits
    from regard.search.token_lexicon import TokenLexicon

SHOWN = 8  # tokens printed as examples
LONG_ENOUGH = 4  # letters of an example


def lexicon(
    model: Model = None,
    src: Annotated[
        Path | None,
        typer.Option("--src", metavar="FILE", help="Source sentences.  [default: the model's training data]"),
    ] = None,
    tgt: Annotated[Path | None, typer.Option("--tgt", metavar="FILE", help="Their translations, line by line.")] = None,
    entries: Annotated[
        int,
        typer.Option("--entries", parser=number("--entries", int, 1), metavar="N", help="Translations kept per token."),
    ] = 10,
) -> None:
    """Learn which token translates which, beside a model.

    For translate --steer and --unknown lexicon. An aligner finds the links between the tokens of sentence pairs, and
    links are counted. The lexicon is written beside the model, as lexicon.json, and replaces one that is there. A model
    in the box cannot be changed: its lexicon is shown.

    \b
      regard lexicon --model runs/mine --src corpus/dev.en --tgt corpus/dev.fr
      regard lexicon --model runs/mine --src corpus/train.en --tgt corpus/train.fr --entries 3
    """
    from rich.console import Console

    from regard.bundle.bundle import Bundle
    from regard.bundle.find_model import find_model
    from regard.bundle.folder import LEXICON
    from regard.search.token_lexicon import LexiconConfig, learn_lexicon

    config = LexiconConfig(entries=entries)
    folder = find_model(model or bundled_models.folder_of())
    bundle = Bundle.load(folder)
    if folder.parent == bundled_models.HOME:
        show_boxed(folder, bundle, bool(src or tgt))
        return
    splits = splits_of(bundle, src, tgt)
    with Console(stderr=True).status("") as status:
        learnt = learn_lexicon(splits.training_pairs(), bundle.tokenizer, config, status.update)
    learnt.save(folder)
    files = " and ".join(str(corpus.files) for corpus in splits.train)
    typer.echo(
        f"{learnt.size:,} entries of {len(learnt.entries):,} tokens, from {learnt.pairs:,} pairs of {files}: "
        f"{folder / LEXICON}"
    )
    show_examples(learnt)


def splits_of(bundle: Bundle, src: Path | None, tgt: Path | None) -> Splits:
    """The files that were named, or the ones that the model's card names, without its held-out pairs."""
    from regard.config import build
    from regard.data.config import DataConfig
    from regard.data.corpus import PairFiles
    from regard.data.splits import Splits, TrainingCorpus, find_splits

    if (src is None) != (tgt is None):
        given, lacking = ("--src", "--tgt") if src else ("--tgt", "--src")
        raise InputError(
            f"{given} {src or tgt} was given without {lacking}; add {lacking} FILE, line by line its match"
        )
    if src is not None and tgt is not None:
        return Splits((TrainingCorpus(PairFiles((src, tgt))),), None, None)
    config = build(DataConfig, bundle.card.get("recipe", {}).get("data", {}), "data")
    tables = [(config.src, config.tgt, config.pairs), *((c.src, c.tgt, c.pairs) for c in config.corpus)]
    named = [name for names in tables for name in names if name]
    if not named or not all(Path(name).is_file() or glob.glob(name) for name in named):  # noqa: PTH207
        where = f"the model learnt from {' and '.join(named)}, not found here" if named else "its data is not known"
        raise InputError(f"{where}; give sentence pairs: --src FILE --tgt FILE")
    splits = find_splits(config)
    if bundle.tag is None:
        return splits
    train = tuple(corpus for corpus in splits.train if corpus.tag == bundle.tag)  # others may go another way
    if not train:
        raise InputError(f"the model learnt from no pairs with its tag {bundle.tag}; give some: --src FILE --tgt FILE")
    return replace(splits, train=train)


def show_boxed(folder: Path, bundle: Bundle, files_given: bool) -> None:
    from regard.search.token_lexicon import TokenLexicon

    found = TokenLexicon.load(folder, bundle.tokenizer)
    if found is None or files_given:
        raise InputError(
            f"the model {folder.name} is in the box, where nothing is written; copy it, then learn beside the copy: "
            f"regard pack {folder.name} --out mine, regard lexicon --model mine --src FILE --tgt FILE"
        )
    typer.echo(f"{found.size:,} entries of {len(found.entries):,} tokens, from {found.pairs:,} pairs")
    show_examples(found)


def show_examples(learnt: TokenLexicon) -> None:
    from regard.text.pieces import SPACE

    whole = (e for e in learnt.entries if len(e.strip(SPACE)) >= LONG_ENOUGH and e.strip(SPACE).isalpha())
    for token in islice(whole, SHOWN):
        said = " · ".join(f"{target.replace(SPACE, '')} {t:.2f}" for target, t in learnt.entries[token][:4])
        typer.echo(f"  {token.replace(SPACE, ''):<16}{said}")
