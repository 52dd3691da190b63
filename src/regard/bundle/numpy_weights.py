"""A bundle's stored weights as numpy arrays, without torch; and the vocabulary entries used with each tag.

    R rows   C columns

For code that only converts weights (`export/`): an 8-bit integer matrix stays one, with the scale of each row
(`weights.py`). `tensors.py` loads them into a model. The file format is that of safetensors: the length of a header in
8 bytes, the header in JSON, then the numbers.

`written_pieces` of a card lists the pieces that a model outputs for each of its tags. A model for several languages has
one vocabulary for all of them, and each language uses about half of it. An engine that computes probabilities for these
pieces only is faster: on a CPU most of a step goes into the output matrix. For each tag the card has a bit for every
entry of the vocabulary, in hexadecimal. Pieces with a share below RARE of the text for a tag are left out, so that
occasional foreign names do not add the other languages again; any word can still be spelt in bytes, which an engine
adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from regard.bundle import folder as places
from regard.bundle.folder import one_line, verify
from regard.errors import BundleError

Floats = NDArray[np.float32]
KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "i1"}
SCALE, UP, DOWN = ".scale", ".up", ".down"  # as in weights.py and layers/lora.py, which need torch


class StoredTensor(NamedTuple):
    """One tensor as it is stored."""

    numbers: NDArray[Any]  # float32, or int8 with a scale
    scale: Floats | None = None  # (R,)

    def in_float32(self) -> Floats:
        if self.scale is None:
            return self.numbers
        whole: Floats = self.numbers * self.scale.reshape(-1, *(1 for _ in self.numbers.shape[1:]))
        return whole


def read_tensors(folder: Path) -> dict[str, StoredTensor]:
    """Reads the tensors of a bundle by name, with updates added; raises `BundleError` if a file is invalid."""
    tensors = _read(places.part(folder, places.WEIGHTS))
    own = places.updates(folder)
    if own is None:
        return tensors
    updates = {name: stored.in_float32() for name, stored in _read(own).items()}
    for name in {name.removesuffix(UP) for name in updates if name.endswith(UP)}:
        try:
            change = updates[name + UP] @ updates[name + DOWN]
            tensors[name] = StoredTensor(tensors[name].in_float32() + change)
        except (KeyError, ValueError) as problem:
            raise BundleError(f"{own} does not fit the weights beside it: {one_line(problem)}") from None
    return tensors


def _read(path: Path) -> dict[str, StoredTensor]:
    verify(path)
    try:
        arrays = {name: _array(entry) for name, entry in deserialize(path.read_bytes())}  # type: ignore[no-untyped-call]
    except (OSError, SafetensorError, KeyError) as problem:
        raise BundleError(
            f"{path} is damaged or cut short ({one_line(problem)}); copy it again or train anew"
        ) from None
    whole = {name for name, numbers in arrays.items() if numbers.dtype == np.int8}
    tensors = {}
    for name, numbers in arrays.items():
        if name in whole:
            scale = arrays.get(name + SCALE)
            if scale is None or scale.shape != numbers.shape[:1]:
                raise BundleError(f"{path} is damaged: {name}{SCALE} must hold one scale for each row of {name}")
            tensors[name] = StoredTensor(numbers, scale)
        elif not (name.endswith(SCALE) and name.removesuffix(SCALE) in whole):
            tensors[name] = StoredTensor(numbers)
    for name, stored in tensors.items():
        if not np.isfinite(stored.numbers if stored.scale is None else stored.scale).all():
            raise BundleError(f"{path} is damaged: {name} holds NaN or infinity")
    return tensors


def _array(entry: Mapping[str, Any]) -> NDArray[Any]:
    """Returns int8 unchanged, and everything else as float32."""
    kind = entry["dtype"]
    numbers = np.frombuffer(entry["data"], KINDS[kind]).reshape(entry["shape"])
    if kind == "BF16":  # the upper half of a float32
        return (numbers.astype("<u4") << 16).view("<f4")
    return numbers if kind == "I8" else numbers.astype(np.float32, copy=False)


WRITTEN_PIECES = "written_pieces"
RARE = 1e-6  # share of the tokens


def frequent_pieces(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns which entries occur with at least the share RARE.

    >>> frequent_pieces(np.array([5_000_000, 0, 3, 6])).tolist()
    [True, False, False, True]
    """
    found: NDArray[np.bool_] = counts >= max(1.0, RARE * float(counts.sum()))
    return found


def pieces_to_card(counts: Mapping[str, NDArray[np.int64]]) -> dict[str, str]:
    """Encodes the frequent pieces by tag, from the counts of each vocabulary entry in the targets for that tag.

    >>> pieces_to_card({"<fr>": np.array([1, 0, 0, 2, 0, 0, 0, 0, 1])})
    {'<fr>': '9080'}
    """
    return {tag: np.packbits(frequent_pieces(found)).tobytes().hex() for tag, found in counts.items()}


def pieces_from_card(card: Mapping[str, Any], size: int) -> dict[str, list[int]]:
    """Decodes the ids by tag, for a vocabulary of this size; empty if the card has none.

    >>> pieces_from_card({"written_pieces": {"<fr>": "9080"}}, size=9)
    {'<fr>': [0, 3, 8]}
    """
    told = card.get(WRITTEN_PIECES, {})
    try:
        bits = {tag: np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8)) for tag, text in told.items()}
    except (AttributeError, TypeError, ValueError) as problem:
        raise BundleError(
            f"{WRITTEN_PIECES} of the card must have digits of base 16 for each tag ({one_line(problem)})"
        ) from None
    for tag, found in bits.items():
        if not size <= len(found) < size + 8:
            raise BundleError(
                f"{WRITTEN_PIECES} of the card has {len(found)} bits for {tag}, but the vocabulary {size} entries"
            )
    return {tag: np.flatnonzero(found[:size]).tolist() for tag, found in bits.items()}
