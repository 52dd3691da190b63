"""The file `model.bin` of CTranslate2: named tensors in one of its number formats.

    version, "TransformerSpec", revision, then for each tensor its name, shape, type and bytes, then the aliases

CTranslate2 has a writer of its own, which imports torch; this one does not, and writes the same bytes (a test compares
the two). A matrix of 8-bit whole numbers with a scale for each row is taken over as it is: ours is W = s Q, theirs
W = Q / s'.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regard.bundle.stored import Stored

Weights = Literal["float32", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
Entry = Stored | NDArray[Any] | np.generic | str  # a matrix, a vector, a single number, or the name of the same tensor

BINARY_VERSION, SPECIFICATION, REVISION = 6, "TransformerSpec", 7
TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4, "bfloat16": 5}
MOST = 127
INT16_STEPS = 2**10  # products have 20 bits then, and 12 are left to add them up


def write_model(path: Path, entries: Mapping[str, Entry], weights: Weights) -> None:
    tensors: dict[str, tuple[str, NDArray[Any]]] = {}  # the number format, and the numbers
    aliases: dict[str, str] = {}
    for name, entry in sorted(entries.items()):
        if isinstance(entry, str):
            aliases[name] = entry  # its scale too, when it is read
        elif isinstance(entry, Stored):
            tensors |= _matrix(name, entry, weights)
        else:
            tensors[name] = _vector(entry, weights)
    with path.open("wb") as file:
        file.write(struct.pack("<I", BINARY_VERSION))
        _write_text(file, SPECIFICATION)
        file.write(struct.pack("<II", REVISION, len(tensors)))
        for name, (kind, numbers) in sorted(tensors.items()):
            _write_text(file, name)
            file.write(struct.pack(f"<B{numbers.ndim}I", numbers.ndim, *numbers.shape))
            file.write(struct.pack("<BI", TYPES[kind], numbers.nbytes))
            file.write(np.ascontiguousarray(numbers).tobytes())
        file.write(struct.pack("<I", len(aliases)))
        for pair in sorted(aliases.items()):
            for name in pair:
                _write_text(file, name)


def _write_text(file: BinaryIO, text: str) -> None:
    data = text.encode()
    file.write(struct.pack("<H", len(data) + 1) + data + b"\0")


def _vector(numbers: NDArray[Any] | np.generic, weights: Weights) -> tuple[str, NDArray[Any]]:
    """Biases, norms and positions are kept in the type that is computed in; single numbers are settings."""
    array = np.asarray(numbers)
    if array.ndim == 0 or array.dtype != np.float32:
        return array.dtype.name, array
    kind = weights.removeprefix("int8_")
    return _as_float(array, kind if kind in ("float16", "bfloat16") else "float32")


def _matrix(name: str, matrix: Stored, weights: Weights) -> dict[str, tuple[str, NDArray[Any]]]:
    if not weights.startswith("int"):
        return {name: _as_float(matrix.in_float32(), weights)}
    if weights == "int16":
        values = matrix.in_float32()
        step = np.float32(INT16_STEPS / (np.abs(values).max() or 1.0))
        return {
            name: ("int16", np.rint(values * step).astype(np.int16)),
            f"{name}_scale": ("float32", np.asarray(step)),
        }
    if matrix.scale is not None:
        whole, steps = matrix.numbers, 1 / np.where(matrix.scale > 0, matrix.scale, np.float32(1))  # 0: a row of zeros
    else:
        largest = np.abs(matrix.numbers).max(axis=1)
        steps = (MOST / np.where(largest > 0, largest, np.float32(MOST))).astype(np.float32)
        whole = np.rint(matrix.numbers * steps[:, None]).astype(np.int8)
    return {name: ("int8", whole), f"{name}_scale": ("float32", steps.astype(np.float32))}


def _as_float(values: NDArray[np.float32], kind: str) -> tuple[str, NDArray[Any]]:
    if kind == "bfloat16":  # the upper half of a float32, rounded to the nearest, to even where two are as near
        bits = values.view(np.uint32)
        return kind, ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return kind, values.astype(kind, copy=False)
