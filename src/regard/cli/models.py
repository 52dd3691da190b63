"""Commands about model folders: `regard info`, `lexicon`, `pack`, `import` and `export`."""

from __future__ import annotations

import glob
import json
import textwrap
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.bundle import bundled_models
from regard.cli.options import FlagTable, Json, Model
from regard.cli.process import for_terminal
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle.bundle import Bundle
    from regard.data.splits import Splits
    from regard.search.token_lexicon import TokenLexicon

FLAGS = FlagTable("""
--all             List the bundled models: languages, size, scores, licences of their data.
--src FILE        Source sentences.  [default: the model's training data]
--tgt FILE        Their translations, line by line.
--entries N 1..   Translations kept per token.
--out FOLDER      A folder that does not exist yet.
--weights         How weights are stored: int8 takes a quarter of the bytes, float16 half.
--lexicon         What to do with the lexicon beside the model, if there is one.
--about FILE      What its card says about it (TOML; docs/bundled-models.md shows one).
--beside FOLDER   A model next to --out with the same weights and vocabulary: they are not written again.
--rank N 0..      With --beside: write only the difference from its weights, at this rank, as training with --start-from
                  and --lora-rank makes it.
--as              The program that is to load it.
""")
PACK_FLAGS = FlagTable("""
--tag TAG    One of the model's tags; the packed model puts it before every source.
--src FILE   For a model that learnt slots in several directions: sources of this direction, for the words it knows.
--tgt FILE   With --src: their translations, line by line.
""")
IMPORT_FLAGS = FlagTable("--tag TAG  One of the model's tags, such as >>fra<<, to be put before every source.")
EXPORT_FLAGS = FlagTable("""
--out FOLDER     A folder that does not exist yet.  [default: in the model's own]
--weights TYPE   How weights are stored: int8 takes a quarter of the bytes, float16 half.
""")
ModelArgument = Annotated[Path | None, typer.Argument(metavar="[MODEL]", help="The model; --model is the same.")]
Weights = Annotated[Literal["float32", "float16", "int8"], FLAGS("--weights")]

HEADING_WIDTH, LINE_WIDTH = 14, 110  # columns of the headings of a card, and maximum width of prose
PROSE = ("title", "data", "training", "limits", "tags")
MAX_EXAMPLES = 8  # maximum entries of a lexicon that are printed
MIN_EXAMPLE_LETTERS = 4


def named_model(model: Path | None, flag: Path | None) -> Path | None:
    """The model, which is an argument or the value of --model. Raises InputError if both are given."""
    if model is not None and flag is not None:
        raise InputError(f"a model was given twice, as {model} and as --model {flag}; give it once")
    return model or flag


# ---------------------------------------------------------------------------------------------------------------- info


def info(
    model: ModelArgument = None,
    model_flag: Model = None,
    all_models: Annotated[bool, FLAGS("--all")] = False,
    as_json: Json = False,
) -> None:
    """Show what a model is and where it comes from.

    Architecture, sizes, data with licences, training, cost, scores with their signatures, limits. With --json the whole
    card. With --all the bundled models, one per line; a model named by two languages, such as en-fr, can be chosen by
    translate --to.

    \b
      regard info --all
      regard info en-fr --json
    """
    from regard.bundle.describe import describe_bundled, describe_json, describe_rows

    named = named_model(model, model_flag)
    if all_models and named is not None:
        raise InputError(f"--all lists every bundled model, and {named} is one model; give one of them")
    if all_models and not as_json:
        typer.echo(bundled_table())
        return
    folder = named or bundled_models.folder_of()
    if as_json:
        typer.echo(
            json.dumps(describe_bundled() if all_models else describe_json(folder), indent=2, ensure_ascii=False)
        )
        return
    for name, lines in describe_rows(folder).items():
        if name in PROSE:
            width = LINE_WIDTH - HEADING_WIDTH
            wrapped = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in lines)
            lines = [part for parts in wrapped for part in parts]
        for i, line in enumerate(lines):
            typer.echo(for_terminal(f"{name if i == 0 else '':<{HEADING_WIDTH}}{line}"))


def bundled_table() -> str:
    """The bundled models as a table. Its scores are BLEU; the cards have more."""
    from regard.bundle.describe import describe_bundled
    from regard.report.table import Table

    rows = []
    for one in describe_bundled():
        scores = [f"{test} {found['BLEU']:.1f}" for test, found in one["tests"].items() if "BLEU" in found]
        title = one["title"] + (f" (weights of {one['beside']})" if one["beside"] else "")
        size, data = f"{one['bytes'] / 1e6:.1f}", ", ".join(one["licences"])
        rows.append([one["name"], size, title, ", ".join(scores) or "not measured", data])
    if not rows:
        return "no models are bundled"
    return Table(["model", "MB", "title", "BLEU", "data"], rows, left=(0, 2, 3, 4)).text(LINE_WIDTH)


# ------------------------------------------------------------------------------------------------------------- lexicon


def lexicon(
    model: Model = None,
    src: Annotated[Path | None, FLAGS("--src")] = None,
    tgt: Annotated[Path | None, FLAGS("--tgt")] = None,
    entries: Annotated[int, FLAGS("--entries")] = 10,
) -> None:
    """Learn which token translates which, beside a model.

    The lexicon is used by translate --steer and --unknown lexicon. An aligner finds the links between the tokens of
    sentence pairs, and links are counted. The lexicon is written beside the model, as lexicon.json, and replaces an
    existing one. A bundled model cannot be changed: its lexicon is shown.

    \b
      regard lexicon --model runs/mine --src corpus/dev.en --tgt corpus/dev.fr
      regard lexicon --model runs/mine --src corpus/train.en --tgt corpus/train.fr --entries 3
    """
    from rich.console import Console

    from regard.bundle.bundle import Bundle
    from regard.bundle.find_model import find_model
    from regard.bundle.folder import LEXICON
    from regard.search.token_lexicon import LexiconConfig, TokenLexicon, learn_lexicon

    config = LexiconConfig(entries=entries)
    folder = find_model(model or bundled_models.folder_of())
    bundle = Bundle.read(folder)
    if folder.parent == bundled_models.HOME:
        found = TokenLexicon.load(folder, bundle.tokenizer)
        if found is None or src or tgt:
            raise InputError(
                f"the model {folder.name} is bundled and cannot be changed; copy it, then learn beside the copy: "
                f"regard pack {folder.name} --out mine, regard lexicon --model mine --src FILE --tgt FILE"
            )
        print_lexicon(found)
        return
    splits = lexicon_data(bundle, src, tgt)
    with Console(stderr=True).status("") as status:
        learnt = learn_lexicon(splits.training_pairs(), bundle.tokenizer, config, status.update)
    learnt.save(folder)
    print_lexicon(learnt, f" of {' and '.join(str(corpus.files) for corpus in splits.train)}: {folder / LEXICON}")


def lexicon_data(bundle: Bundle, src: Path | None, tgt: Path | None) -> Splits:
    """The given files, or those that the model's card names, without its held-out pairs. Raises InputError if one file
    of a pair is missing, or if there are none."""
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
    train = tuple(corpus for corpus in splits.train if corpus.tag == bundle.tag)  # others may be of another direction
    if not train:
        raise InputError(f"the model learnt from no pairs with its tag {bundle.tag}; give some: --src FILE --tgt FILE")
    return replace(splits, train=train)


def print_lexicon(found: TokenLexicon, origin: str = "") -> None:
    """Print the size of a lexicon, and the first entries of whole words."""
    from regard.text.pieces import SPACE

    typer.echo(f"{found.size:,} entries of {len(found.entries):,} tokens, from {found.pairs:,} pairs{origin}")
    whole = (e for e in found.entries if len(e.strip(SPACE)) >= MIN_EXAMPLE_LETTERS and e.strip(SPACE).isalpha())
    for token in islice(whole, MAX_EXAMPLES):
        targets = " · ".join(f"{target.replace(SPACE, '')} {t:.2f}" for target, t in found.entries[token][:4])
        typer.echo(f"  {token.replace(SPACE, ''):<16}{targets}")


# ----------------------------------------------------------------------------------------------- pack, import, export


def pack(
    model: ModelArgument = None,
    out: Annotated[Path, FLAGS("--out")] = ...,  # type: ignore[assignment]
    model_flag: Model = None,
    weights: Weights = "int8",
    lexicon: Annotated[Literal["keep", "drop"], FLAGS("--lexicon")] = "keep",
    about: Annotated[Path | None, FLAGS("--about")] = None,
    tag: Annotated[str | None, PACK_FLAGS("--tag")] = None,
    beside: Annotated[Path | None, FLAGS("--beside")] = None,
    rank: Annotated[int, FLAGS("--rank")] = 0,
    src: Annotated[Path | None, PACK_FLAGS("--src")] = None,
    tgt: Annotated[Path | None, PACK_FLAGS("--tgt")] = None,
) -> None:
    """Write a model as one small folder, to copy or publish.

    Where the weights change, the scores in the card are dropped, because they were measured with other weights. Names
    of folders on this machine are dropped too. With a new tag, scores, the view of attention and the lexicon are
    dropped.
    A model for both directions (--tag) and a model that was adapted from another (--rank) can share the files of a
    model next to it (--beside); docs/bundled-models.md shows both.

    \b
      regard pack runs/mine --out small
      regard pack en-fr --weights float16 --out en-fr-float16
    """
    from regard.bundle.pack import PackOptions, pack_bundle

    if (src is None) != (tgt is None):
        raise InputError("--src and --tgt are two sides of the same pairs; give both or none")
    pairs = (src, tgt) if src and tgt else None
    options = PackOptions(weights, lexicon == "keep", about, tag, beside, rank, pairs)
    for line in pack_bundle(named_model(model, model_flag) or bundled_models.folder_of(), out, options):
        typer.echo(line)


def import_(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A Marian model as Hugging Face stores it.")],
    out: Annotated[Path, FLAGS("--out")],
    weights: Weights = "float32",
    tag: Annotated[str | None, IMPORT_FLAGS("--tag")] = None,
) -> None:
    """Read a Marian model (OPUS-MT) as Hugging Face stores it.

    The folder holds config.json, model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm. The
    result is a model like any other: translate, explain, align, train --start-from and export work with it.
    docs/marian.md says what is taken over, and which other models cannot be read.

    \b
      regard import opus-mt-en-fr --out mine
      regard import opus-mt-en-ROMANCE --tag '>>fra<<' --out mine
    """
    from regard.bundle.marian import import_marian

    for line in import_marian(folder, out, weights, tag):
        typer.echo(line)


def export(
    model: ModelArgument = None,
    kind: Annotated[Literal["ctranslate2", "huggingface"], FLAGS("--as")] = "ctranslate2",
    out: Annotated[Path | None, EXPORT_FLAGS("--out")] = None,
    model_flag: Model = None,
    weights: Annotated[str | None, EXPORT_FLAGS("--weights")] = None,
) -> None:
    """Write a model in the format of another program.

    ctranslate2: a folder for CTranslate2, which translates on CPUs several times faster than torch (docs/engines.md).
    It is used automatically if it is in the model's folder and was made from the same weights. A bundled model is
    converted when it is first used and needs no export. Transformers can be exported, except those with rotary
    positions or experts. Weights: int8 (the default), int8_float32, int8_float16, int8_bfloat16, int16, float16,
    bfloat16 or float32; the type after int8_ is that of biases.

    huggingface: a folder that `transformers` loads, with its tokenizer (docs/marian.md). Weights: float32 (the
    default), float16 or bfloat16.

    \b
      regard export runs/mine
      regard export --as huggingface --out en-fr-huggingface
    """
    from regard.export.table import export_model

    chosen = named_model(model, model_flag)
    if chosen is None and out is None:
        raise InputError("nothing is written into a bundled model; name a new folder: --out FOLDER")
    for line in export_model(chosen or bundled_models.folder_of(), kind, out, weights):
        typer.echo(line)
