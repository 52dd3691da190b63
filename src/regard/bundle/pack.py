"""The implementation of `regard pack`: writes a model as one small folder, on its own or beside another model.

Beside another, only the differences are written: config.json and card.json alone if vocabulary and weights are the
same, or low-rank updates of the matrices if one model was adapted from the other. Scores in the card are dropped if the
weights change, because they were measured with the old ones.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.bundle.card import MEASURED, SCORES, read_about, without_places
from regard.bundle.find_model import find_model
from regard.bundle.folder import LEXICON, Storage, check_new, find_bundle, new_folder
from regard.bundle.folder import beside as files_of
from regard.bundle.weights import from_storage, relative_errors, to_storage
from regard.data.corpus import PairFiles, read_pairs
from regard.errors import InputError
from regard.layers.lora import updated, updates_between
from regard.models.base import unique_tensors
from regard.text.known_words import KnownWords
from regard.text.tokenizer import SAMPLE

MAX_LOSS = 0.01  # maximum share of a matrix's change that may be lost
SPECIALS = 3  # number of special ids: PAD, BOS and EOS
READABLE = 0o644  # packed files must be readable by other users
ALONE = "; without it the whole model is written"


@dataclass(frozen=True)
class PackOptions:
    weights: Storage = "int8"
    keep_lexicon: bool = True
    about: Path | None = None  # TOML file with the section `about` of the card
    tag: str | None = None  # one of the model's tags, to be put before every source
    beside: Path | None = None  # a model in the same folder whose vocabulary and weights are used
    rank: int = 0  # rank of the updates that are stored in place of weights
    pairs: tuple[Path, Path] | None = None  # text of this direction, to learn known words from


def pack_bundle(model: Path, out: Path, options: PackOptions) -> list[str]:
    """Writes a model to a new folder. Returns lines with the sizes and the changes of weights and log-probabilities."""
    check_new(out)
    beside, tag, rank = options.beside, options.tag, options.rank
    text = {"about": read_about(options.about)} if options.about else {}
    folder = find_model(model)
    bundle = Bundle.load(folder)
    tokenizer = bundle.tokenizer if tag is None else bundle.tokenizer.marked(tag)
    if tag is not None and "about" in bundle.card and not text and not tokenizer.multilingual:
        raise InputError(
            f"the card of {folder} describes it without the tag; give a description of it with {tag}", parameter="about"
        )
    dropped: tuple[str, ...] = MEASURED if tag is not None else SCORES if options.weights != bundle.weights else ()
    if tokenizer.multilingual:  # its tag selects the language, and the other measurements stay valid
        dropped = tuple(name for name in dropped if name in SCORES)
    card = {name: value for name, value in bundle.card.items() if name not in dropped}
    small = replace(bundle, tokenizer=tokenizer, weights=options.weights, card=without_places(card) | text)
    if options.pairs is not None:
        small.known_words = words_of(small, options.pairs)
    if rank < 0:
        raise InputError(f"rank must not be negative, but is {rank}")
    if rank and beside is None:
        raise InputError(f"rank {rank} is of a difference from another model, but none is named", parameter="beside")
    name = "" if beside is None else neighbour(beside, out)  # before anything is written
    with new_folder(out) as work:
        if beside is None:
            small.save(work)
        else:
            save_beside(small, work, beside, name, rank)
        lines = compared(bundle, Bundle.load(work))
        if options.keep_lexicon and tag is None and (folder / LEXICON).is_file():
            shutil.copyfile(folder / LEXICON, work / LEXICON)
        for path in work.iterdir():
            path.chmod(READABLE)
    sizes = [
        f"{folder_size(place) / 1e6:8.2f} MB  {kind:<9}{place}"
        for place, kind in ((folder, bundle.weights), (out, options.weights))
    ]
    return [*sizes, *lines]


def words_of(bundle: Bundle, pairs: tuple[Path, Path]) -> KnownWords:
    """Learns the known words of one direction of a model from at most SAMPLE pairs of two files."""
    if not bundle.slots:
        raise InputError("known words are for a model that has learnt slots, and this one has not", parameter="src")
    files = PairFiles(pairs)
    count = sum(1 for _ in read_pairs(files))
    if not count:
        raise InputError(f"{files} has no pairs to learn known words from", parameter=("src", "tgt"))
    return KnownWords.learn(islice(read_pairs(files), 0, None, -(-count // SAMPLE)), bundle.languages[0] or "en")


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def neighbour(beside: Path, out: Path) -> str:
    """Returns the name of the folder beside `out`, which must have its own weights."""
    other = find_bundle(beside).resolve()
    if other.parent != out.parent.resolve():
        raise InputError(
            f"beside must be a folder next to {out}, but {beside} is in {other.parent}; choose another place for it",
            parameter="out",
        )
    if (first := files_of(other)) is not None:
        raise InputError(f"beside must be a model with files of its own, but {beside} uses those of {first}; name that")
    return other.name


def save_beside(small: Bundle, folder: Path, beside: Path, name: str, rank: int) -> None:
    """Writes only the files in which a model differs from the one beside it; raises if the rest cannot be shared."""
    other = Bundle.load(beside)
    check_fits(small, other, beside)
    if not rank:
        check_same(small, other, beside)
    small.save(folder, name, difference(small, other, rank, beside) if rank else None)


def check_fits(small: Bundle, other: Bundle, beside: Path) -> None:
    """Raises unless a model has the vocabulary of another, and tensors of the same sizes."""
    shapes = [{name: t.shape for name, t in unique_tensors(bundle.model).items()} for bundle in (small, other)]
    if small.tokenizer.plain.fingerprint != other.tokenizer.plain.fingerprint:
        raise InputError(f"beside must have the same vocabulary, but {beside} has another{ALONE}")
    if small.architecture != other.architecture or shapes[0] != shapes[1]:
        raise InputError(f"beside must have weights of the same sizes, but {beside} has others{ALONE}")


def check_same(small: Bundle, other: Bundle, beside: Path) -> None:
    """Raises unless a model, as it is to be stored, has the same weights as another."""
    if small.weights != other.weights:
        raise InputError(f"weights must be {other.weights} as in {beside}, but are {small.weights}")
    ours, theirs = from_storage(to_storage(unique_tensors(small.model), small.weights)), unique_tensors(other.model)
    if any(not torch.equal(ours[name], theirs[name]) for name in ours):
        raise InputError(f"beside must have the same weights, but {beside} has others{ALONE}")


def difference(small: Bundle, other: Bundle, rank: int, beside: Path) -> dict[str, Tensor]:
    """Returns the updates of this rank between two models; raises if they cannot represent the difference."""
    before, after = (
        {name: tensor.detach() for name, tensor in unique_tensors(bundle.model).items()} for bundle in (other, small)
    )
    why = f"updates of rank {rank} cannot hold the difference from {beside}"
    try:
        updates = updates_between(before, after, rank)
    except ValueError as problem:
        raise InputError(f"{why}: {problem}", parameter="rank") from None
    found = updated(before, updates)
    for name in before:
        change = float((after[name] - before[name]).norm())
        if float((after[name] - found[name]).norm()) > MAX_LOSS * change:
            raise InputError(
                f"{why}: over {MAX_LOSS:.0%} of the change of {name} would be lost; raise rank, or store it alone",
                parameter=("rank", "beside"),
            )
    return updates


def compared(before: Bundle, after: Bundle) -> list[str]:
    """Describes the differences of two models in their weights, and in their log-probabilities of an arbitrary line."""
    errors = relative_errors(unique_tensors(before.model), unique_tensors(after.model))
    worst = max(errors, key=lambda name: errors[name])
    sides = (before.tokenizer.source_size, before.tokenizer.target_size)
    source, target = (list(range(SPECIALS, min(SPECIALS + 20, size))) for size in sides)  # the first tokens of each
    batch = flat_batch([source], [target]).pad()
    with torch.inference_mode():
        one, other = (bundle.model(batch).log_softmax(dim=-1) for bundle in (before, after))
    assert one.shape == other.shape
    return [
        f"largest relative error of a tensor: {errors[worst]:.2%} ({worst})",
        f"largest difference of a log-probability: {float((one - other).abs().max()):.2g}",
    ]
