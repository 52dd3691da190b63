"""Exports a Transformer to CTranslate2, an engine that translates on CPUs several times faster than torch.

The result is a folder that CTranslate2 reads: `model.bin config.json` and the vocabulary, whose tokens are our pieces.
`regard.json` beside them records what it was made from, so that an outdated conversion is not used.

`ctranslate2_file.py` converts the names of the weights. Models that CTranslate2 cannot express are refused: rotary
positions, mixtures of experts, every other architecture.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.bundle import folder as places
from regard.bundle.card import Card, StoredView, load_card
from regard.bundle.folder import one_line, read_json, write_json
from regard.bundle.numpy_weights import WRITTEN_PIECES as WRITTEN_PIECES
from regard.bundle.numpy_weights import StoredTensor, pieces_from_card, read_tensors
from regard.errors import BundleError, InputError
from regard.export.ctranslate2_file import ACTIVATIONS, WEIGHTS, Entry, Weights, model_entries, write_model
from regard.files import sync_folder
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import BYTES, SPECIALS, UNKNOWN

ABOUT = "regard.json"
MAP = "vmap.txt"
EXPORTED = "ctranslate2"  # the folder, within the bundle's, where an export is written and looked for
CONVERTER = 1  # version of the output of this file and `ctranslate2_file.py`
NORM_EPSILON = 1e-5  # that of torch's LayerNorm
SHORTEST_TABLE = 1024  # positions
CAN_BE_EXPORTED = (
    "Transformers with sinusoidal or learned positions and without experts can: pre- or post-norm, "
    f"{', '.join(ACTIVATIONS)}, joint or separate vocabularies"
)


@dataclass(frozen=True)
class ConversionInfo:
    """Describes a converted model and its source: the contents of `regard.json`."""

    source: str  # checksum of everything it depends on
    weights: Weights
    positions: int  # the longest sentence on either side, including EOS
    layer: int  # the layer whose attention it returns
    head: int | None  # None: the mean of the layer's heads
    tags: str = ""  # space-separated tags with a restricted set of output pieces (vmap.txt)


def export_ctranslate2(folder: Path, out: Path, weights: Weights = "int8") -> ConversionInfo:
    """Converts the bundle in `folder` to the new folder `out`, which is created atomically. An earlier conversion there
    is replaced; any other folder is refused."""
    if weights not in WEIGHTS:
        raise InputError(f"weights must be one of {', '.join(WEIGHTS)}, but is {weights}", parameter="weights")
    about = read_json(folder / places.CONFIG)
    if problem := refusal(about):
        raise InputError(f"{folder} {problem}; {CAN_BE_EXPORTED}")
    if out.exists() and not is_replaceable(out):
        raise InputError(f"{out} already exists and is no conversion; choose another folder", parameter="out")
    table, (card, known) = about["config"], load_card(folder)
    view = alignment_of(known, table)
    tokenizer = Tokenizer.load(places.part(folder, places.TOKENIZER))
    positions = position_count(known, table)
    written = with_registers(pieces_from_card(card, tokenizer.target_size), tokenizer)
    made = ConversionInfo(source_checksum(folder), weights, positions, view.layer, view.head, " ".join(written))
    try:
        entries = model_entries(table, read_tensors(folder), view, positions)
        check_sizes(entries, tokenizer)
    except (KeyError, ValueError, IndexError, TypeError) as problem:
        raise BundleError(f"{folder}: its weights do not fit its config.json ({one_line(repr(problem))})") from None
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        write_model(temporary / "model.bin", entries, weights)
        write_vocabularies(temporary, tokenizer)
        if written:
            write_map(temporary / MAP, tokenizer.target.pieces, written)
        write_json(temporary / "config.json", WITH_MAP if written else CONFIGURATION)
        write_json(temporary / ABOUT, {"converter": CONVERTER, **dataclasses.asdict(made)})
        publish(temporary, out, made)
    except OSError as problem:
        raise BundleError(f"cannot write {out}: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return made


def export_as_lines(folder: Path, out: Path, weights: Weights) -> list[str]:
    """Converts like `export_ctranslate2`, and returns lines that describe what was written."""
    made = export_ctranslate2(folder, out, weights)
    size = sum(path.stat().st_size for path in out.iterdir())
    heads = "the mean of its heads" if made.head is None else f"head {made.head}"
    return [
        f"{out}: a model of CTranslate2, weights {made.weights}, {size / 1e6:.1f} MB",
        f"attention: layer {made.layer}, {heads}; sentences of up to {made.positions} tokens",
    ]


def refusal(about: Mapping[str, Any]) -> str | None:
    """Returns why a model with this config.json cannot be converted; None if it can."""
    architecture, table = about.get("architecture"), about.get("config")
    if architecture != "transformer" or not isinstance(table, Mapping):
        return f"has the architecture {one_line(architecture)}, which CTranslate2 cannot express"
    if table.get("positions") == "rotary":
        return "has rotary positions, which CTranslate2 does not have in encoder-decoder models"
    if table.get("experts"):
        return "has a mixture of experts, which CTranslate2 cannot express"
    if table.get("activation") not in ACTIVATIONS:
        return f"has the activation {one_line(table.get('activation'))}, which CTranslate2 cannot express"
    return None


# ── the source of a conversion ────────────────────────────────────────────────────────────────────────────────────────


def source_checksum(folder: Path) -> str:
    """Returns the checksum of everything in a bundle that a conversion depends on."""
    about, (card, known) = read_json(folder / places.CONFIG), load_card(folder)
    parts = [places.part(folder, places.WEIGHTS), places.part(folder, places.TOKENIZER), places.updates(folder)]
    stored = known.attention_view
    view = stored and (stored.layer, stored.head)  # only these fields are converted
    said = [about.get("architecture"), about.get("config"), view, known.max_length]
    said += [card[WRITTEN_PIECES]] if WRITTEN_PIECES in card else []
    digest = hashlib.sha256(json.dumps([CONVERTER, *said], sort_keys=True).encode())
    for path in parts:
        if path is not None:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def read_conversion_info(folder: Path) -> ConversionInfo | None:
    """Reads the `regard.json` of a conversion; None if there is none that this version can read."""
    if not (folder / ABOUT).is_file() or not (folder / "model.bin").is_file():
        return None
    try:
        about = read_json(folder / ABOUT)
        if about.pop("converter", None) != CONVERTER:
            return None
        return ConversionInfo(**about)
    except (BundleError, TypeError):
        return None


def is_replaceable(out: Path) -> bool:
    """Whether a folder is an earlier conversion, or empty."""
    return out.is_dir() and ((out / ABOUT).is_file() or not any(out.iterdir()))


def publish(temporary: Path, out: Path, made: ConversionInfo) -> None:
    """Renames a complete folder to `out`. An identical conversion there is kept: another process may have been faster,
    and others may be reading it."""
    if read_conversion_info(out) == made:
        return
    old = out.with_name(f".{out.name}.{os.getpid()}.old")
    try:
        if out.exists():
            out.rename(old)
        temporary.rename(out)
    except OSError:
        if read_conversion_info(out) != made:
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
    sync_folder(out.parent)


# ── the parts of the folder ───────────────────────────────────────────────────────────────────────────────────────────


CONFIGURATION = {
    "unk_token": UNKNOWN,
    "bos_token": SPECIALS[1],
    "eos_token": SPECIALS[2],
    "decoder_start_token": SPECIALS[1],
    "add_source_bos": False,
    "add_source_eos": False,  # EOS is passed with the source, so that its attention is returned
    "layer_norm_epsilon": NORM_EPSILON,
    "multi_query_attention": False,
}


# With a map CTranslate2 computes the probability of its unknown token too, so that must be an entry of the vocabulary.
# Padding serves as this token: no source contains it, and it is never generated.
WITH_MAP = {**CONFIGURATION, "unk_token": SPECIALS[0]}


def write_vocabularies(folder: Path, tokenizer: Tokenizer) -> None:
    sides = {"source": tokenizer.source.pieces, "target": tokenizer.target.pieces}
    if sides["source"] == sides["target"]:
        sides = {"shared": sides["source"]}
    for side, pieces in sides.items():
        text = json.dumps(pieces, ensure_ascii=False, indent=0)
        (folder / f"{side}_vocabulary.json").write_text(text + "\n", encoding="utf-8")


def with_registers(written: Mapping[str, Sequence[int]], tokenizer: Tokenizer) -> dict[str, Sequence[int]]:
    """Adds the tags of both registers of a language; they allow at least the pieces of the language's own tag."""
    found = dict(written)
    for tag, pieces in written.items():
        found |= {one: sorted({*pieces, *written.get(one, ())}) for one in tokenizer.register_tags(tag).values()}
    return found


def write_map(path: Path, pieces: Sequence[str], written: Mapping[str, Sequence[int]]) -> None:
    """Writes CTranslate2's vocabulary map: a token of the source, a tab, and the pieces it allows in the output. The
    line of the empty token has the pieces that are always allowed, which can spell any text. The pieces of all tags are
    in it too: CTranslate2 adds those of a tag to a sorted set once for each source of a batch."""
    common = set.intersection(*map(set, written.values()))
    always = common.union(i for i, piece in enumerate(pieces) if piece in (*SPECIALS, *BYTES))
    lines = {"": sorted(always)} | {tag: sorted({*ids} - always) for tag, ids in written.items()}
    text = (f"{token}\t{' '.join(pieces[i] for i in ids)}\n" for token, ids in lines.items())
    path.write_text("".join(text), encoding="utf-8")


def read_vocabularies(folder: Path) -> tuple[list[str], list[str]]:
    """Reads the tokens of source and target, by id."""
    both = folder / "shared_vocabulary.json"
    paths = [both] if both.is_file() else [folder / f"{side}_vocabulary.json" for side in ("source", "target")]
    try:
        read = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        if not all(isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces) for pieces in read):
            raise ValueError("a vocabulary is a list of texts")
    except (OSError, ValueError, RecursionError) as problem:
        raise BundleError(f"the vocabulary in {folder} cannot be read: {one_line(problem)}; export it again") from None
    return read[0], read[-1]


def check_sizes(entries: Mapping[str, Entry], tokenizer: Tokenizer) -> None:
    sides = {"encoder/embeddings_0": tokenizer.source_size, "decoder/embeddings": tokenizer.target_size}
    for side, size in sides.items():
        matrix = entries[f"{side}/weight"]
        matrix = entries[matrix] if isinstance(matrix, str) else matrix
        assert isinstance(matrix, StoredTensor)
        if len(matrix.numbers) != size:
            raise ValueError(f"{side} has {len(matrix.numbers)} rows for {size} tokens")


def position_count(card: Card, table: Mapping[str, Any]) -> int:
    """Returns the maximum sentence length of a conversion: the learned positions, or what a search can need."""
    if table.get("positions") == "learned":
        return int(table["max_positions"])
    return max(SHORTEST_TABLE, 2 * card.max_length + 64)  # twice the source plus 20, and room for constraints


def alignment_of(card: Card, table: Mapping[str, Any]) -> StoredView:
    """Returns the attention view for alignments: the card's, else the mean of the heads of the last layer but one, as
    in `search/alignment_heads.py`."""
    stored, layers, heads = card.attention_view, int(table["decoder_layers"]), int(table["heads"])
    if stored is not None and stored.layer < layers and (stored.head or 0) < heads:
        return stored
    return StoredView(layers - 2 if layers > 2 else layers - 1, None, "predicting")
