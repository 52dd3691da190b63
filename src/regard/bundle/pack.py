"""What `regard pack` does apart from its flags: a model beside another whose files it uses; how far two are apart."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.bundle.folder import beside as files_of
from regard.bundle.folder import find_bundle
from regard.bundle.weights import from_storage, relative_errors, to_storage
from regard.errors import InputError
from regard.layers.lora import updated, updates_between
from regard.models.base import unique_tensors

LOST = 0.01  # of a matrix's change, at most
SPECIALS = 3  # ids of PAD, BOS and EOS


def neighbour(beside: Path, out: Path) -> str:
    """The name of the folder beside another, which must be a model of its own."""
    other = find_bundle(beside).resolve()
    if other.parent != out.parent.resolve():
        raise InputError(
            f"--beside {beside} must be in the same folder as --out {out}, but is in {other.parent}; name another --out"
        )
    if (first := files_of(other)) is not None:
        raise InputError(f"--beside {beside} uses the files of {first.name} itself; name that: --beside {first}")
    return other.name


def save_beside(small: Bundle, folder: Path, beside: Path, name: str, rank: int) -> None:
    """Write what a model has of its own, if the rest can be that of the one beside it."""
    there = Bundle.load(beside)
    check_fits(small, there, beside)
    if not rank:
        check_same(small, there, beside)
    small.save(folder, name, difference(small, there, rank, beside) if rank else None)


def check_fits(small: Bundle, there: Bundle, beside: Path) -> None:
    """Whether a model could use the vocabulary of another, and tensors of its sizes."""
    shapes = [{name: t.shape for name, t in unique_tensors(bundle.model).items()} for bundle in (small, there)]
    if small.tokenizer.plain.fingerprint != there.tokenizer.plain.fingerprint:
        raise InputError(f"--beside {beside} has another vocabulary; leave --beside out, and all is written")
    if small.architecture != there.architecture or shapes[0] != shapes[1]:
        raise InputError(f"--beside {beside} has weights of other sizes; leave --beside out, and all is written")


def check_same(small: Bundle, there: Bundle, beside: Path) -> None:
    """Whether a model, as it is to be stored, could use the weights of another as its own."""
    ours, theirs = from_storage(to_storage(unique_tensors(small.model), small.weights)), unique_tensors(there.model)
    if small.weights != there.weights or any(not torch.equal(ours[name], theirs[name]) for name in ours):
        how = f"; there they are {there.weights}: --weights {there.weights}" if small.weights != there.weights else ""
        raise InputError(f"--beside {beside} has other weights{how or '; leave --beside out, and all is written'}")


def difference(small: Bundle, there: Bundle, rank: int, beside: Path) -> dict[str, Tensor]:
    """What one model differs from another by, if that is of this rank."""
    before, after = (
        {name: tensor.detach() for name, tensor in unique_tensors(bundle.model).items()} for bundle in (there, small)
    )
    try:
        updates = updates_between(before, after, rank)
    except ValueError as problem:
        raise InputError(f"--rank {rank} cannot hold what it differs from {beside} by: {problem}") from None
    found = updated(before, updates)
    for name in before:
        change = float((after[name] - before[name]).norm())
        if float((after[name] - found[name]).norm()) > LOST * change:
            raise InputError(
                f"--rank {rank} cannot hold what it differs from {beside} by: over {LOST:.0%} of the change of {name} "
                "would be lost; give a higher --rank, or leave --beside out"
            )
    return updates


def compared(before: Bundle, after: Bundle) -> list[str]:
    """How far two models are apart, in their weights and in what they say of a line that means nothing."""
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
