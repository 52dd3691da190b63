"""Writes the weights of a Transformer under CTranslate2's names, as its file `model.bin`.

    D width   H heads   K head size
    version, "TransformerSpec", revision, then for each tensor its name, shape, type and bytes, then the aliases

CTranslate2 has its own writer, which imports torch; this one does not, and writes the same bytes (a test compares the
two). A matrix of 8-bit integers with a scale for each row is copied as it is: ours is W = s Q, theirs W = Q / s'.

CTranslate2 returns the attention of one decoder layer, averaged over its first heads. The order of a layer's heads is
arbitrary, so the one that aligns is put first; the output of the model does not change. Sinusoids are stored as a
table, because ours are in another order than CTranslate2's.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regard.bundle.card import StoredView
from regard.bundle.numpy_weights import StoredTensor

Weights = Literal["float32", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
# A matrix, a vector, a scalar, or the name of another entry with the same tensor.
Entry = StoredTensor | NDArray[Any] | np.generic | str

BINARY_VERSION, SPECIFICATION, REVISION = 6, "TransformerSpec", 7
TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4, "bfloat16": 5}
MAX_INT8 = 127
INT16_STEPS = 2**10  # products then have 20 bits, which leaves 12 for their sum


def write_model(path: Path, entries: Mapping[str, Entry], weights: Weights) -> None:
    tensors: dict[str, tuple[str, NDArray[Any]]] = {}  # name → (type, values)
    aliases: dict[str, str] = {}
    for name, entry in sorted(entries.items()):
        if isinstance(entry, str):
            aliases[name] = entry  # CTranslate2 aliases its scale too
        elif isinstance(entry, StoredTensor):
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
    """Converts biases, norms and positions to the type of the computation; scalars are settings."""
    array = np.asarray(numbers)
    if array.ndim == 0 or array.dtype != np.float32:
        return array.dtype.name, array
    kind = weights.removeprefix("int8_")
    return _as_float(array, kind if kind in ("float16", "bfloat16") else "float32")


def _matrix(name: str, matrix: StoredTensor, weights: Weights) -> dict[str, tuple[str, NDArray[Any]]]:
    if not weights.startswith("int"):
        return {name: _as_float(matrix.in_float32(), weights)}
    if weights == "int16":
        values = matrix.in_float32()
        step = np.float32(INT16_STEPS / (np.abs(values).max() or 1.0))
        whole = np.rint(values * step).astype(np.int16)
        return {name: ("int16", whole), f"{name}_scale": ("float32", np.asarray(step))}
    if matrix.scale is not None:
        whole, steps = matrix.numbers, 1 / np.where(matrix.scale > 0, matrix.scale, np.float32(1))  # 0: a row of zeros
    else:
        largest = np.abs(matrix.numbers).max(axis=1)
        steps = (MAX_INT8 / np.where(largest > 0, largest, np.float32(MAX_INT8))).astype(np.float32)
        whole = np.rint(matrix.numbers * steps[:, None]).astype(np.int8)
    return {name: ("int8", whole), f"{name}_scale": ("float32", steps.astype(np.float32))}


def _as_float(values: NDArray[np.float32], kind: str) -> tuple[str, NDArray[Any]]:
    if kind == "bfloat16":  # the upper half of a float32, rounded to nearest even
        bits = values.view(np.uint32)
        return kind, ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return kind, values.astype(kind, copy=False)


ACTIVATIONS = {"relu": 0, "silu": 2, "swiglu": 2, "gelu": 3}  # CTranslate2's numbers; swiglu is silu with a gate


UNUSED_SETTINGS = (
    *(f"decoder/{name}" for name in ("alibi", "alibi_use_positive_positions", "scale_alibi")),
    *("decoder/start_from_zero_embedding", "encoder/embeddings_merge", "encoder/multi_query_attention"),
)


def model_entries(
    table: Mapping[str, Any], stored: Mapping[str, StoredTensor], view: StoredView, positions: int
) -> dict[str, Entry]:
    """Returns all tensors under CTranslate2's names."""
    heads, pre = int(table["heads"]), table["norm"] == "pre"
    found: dict[str, Entry] = {
        **dict.fromkeys(UNUSED_SETTINGS, np.int8(0)),
        "decoder/alignment_layer": np.int16(view.layer),
        "decoder/alignment_heads": np.int16(heads if view.head is None else 1),
    }
    for side in ("encoder", "decoder"):
        found |= {
            f"{side}/num_heads": np.int16(heads),
            f"{side}/pre_norm": np.int8(pre),
            f"{side}/activation": np.int8(ACTIVATIONS[table["activation"]]),
            f"{side}/scale_embeddings": np.int8(1),
        }
        found |= _norm(f"{side}/layer_norm", stored, f"{side}_norm") if pre else {}
    found |= _embeddings(stored) | _positions(table, stored, positions)
    for i in range(int(table["encoder_layers"])):
        theirs, ours = f"encoder/layer_{i}", f"encoder.{i}"
        found |= _self_attention(theirs, ours, stored) | _feed_forward(theirs, ours, stored)
    for i in range(int(table["decoder_layers"])):
        theirs, ours = f"decoder/layer_{i}", f"decoder.{i}"
        order = _head_first(int(table["width"]), heads, view.head) if i == view.layer and view.head else None
        found |= _self_attention(theirs, ours, stored) | _feed_forward(theirs, ours, stored)
        found |= _cross_attention(f"{theirs}/attention", f"{ours}.cross", stored, order)
        found |= _norm(f"{theirs}/attention/layer_norm", stored, f"{ours}.around_cross.norm")
    return found


def _embeddings(stored: Mapping[str, StoredTensor]) -> dict[str, Entry]:
    """Returns the embeddings and the output matrix; a shared matrix is stored once, under its first name."""
    source = stored["source_embedding.weight"]
    target = stored.get("target_embedding.weight", source)
    found: dict[str, Entry] = {"decoder/embeddings/weight": target}
    found["encoder/embeddings_0/weight"] = "decoder/embeddings/weight" if target is source else source
    found["decoder/projection/weight"] = stored.get("output.weight", "decoder/embeddings/weight")
    if "output.bias" in stored:
        found["decoder/projection/bias"] = stored["output.bias"].numbers
    return found


def _positions(table: Mapping[str, Any], stored: Mapping[str, StoredTensor], count: int) -> dict[str, Entry]:
    names = {side: f"{side}/position_encodings/encodings" for side in ("encoder", "decoder")}
    if table["positions"] == "learned":
        sides = {"encoder": "source_positions.weight", "decoder": "target_positions.weight"}
        return {names[side]: stored[own].in_float32() for side, own in sides.items()}
    return {names["decoder"]: sinusoids(count, int(table["width"])), names["encoder"]: names["decoder"]}


def sinusoids(count: int, width: int) -> NDArray[np.float32]:
    """Returns the sinusoids (count, D) of `layers/positions.py`: sines at even indices, cosines at odd ones.

    >>> [round(float(x), 3) for x in sinusoids(2, 4)[1]]
    [0.841, 0.54, 0.01, 1.0]
    """
    frequencies = np.float32(10000) ** (-np.arange(0, width, 2, dtype=np.float32) / np.float32(width))  # (D/2,)
    angles = np.arange(count, dtype=np.float32)[:, None] * frequencies  # (count, D/2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(count, -1)[:, :width]


def _norm(theirs: str, stored: Mapping[str, StoredTensor], ours: str) -> dict[str, Entry]:
    return {f"{theirs}/gamma": stored[f"{ours}.weight"].numbers, f"{theirs}/beta": stored[f"{ours}.bias"].numbers}


def _linear(theirs: str, stored: Mapping[str, StoredTensor], *ours: str) -> dict[str, Entry]:
    """Returns a linear layer; several matrices of the same input are concatenated by rows."""
    return {
        f"{theirs}/weight": _concatenated([stored[f"{name}.weight"] for name in ours]),
        f"{theirs}/bias": _concatenated([stored[f"{name}.bias"] for name in ours]).numbers,
    }


def _concatenated(parts: Sequence[StoredTensor]) -> StoredTensor:
    scales = [part.scale for part in parts if part.scale is not None]
    if len(scales) == len(parts):
        return StoredTensor(np.concatenate([part.numbers for part in parts]), np.concatenate(scales))
    return StoredTensor(np.concatenate([part.in_float32() for part in parts]))


def _self_attention(theirs: str, ours: str, stored: Mapping[str, StoredTensor]) -> dict[str, Entry]:
    to, of = f"{theirs}/self_attention", f"{ours}.attention"
    return {
        **_linear(f"{to}/linear_0", stored, f"{of}.query", f"{of}.key", f"{of}.value"),
        **_linear(f"{to}/linear_1", stored, f"{of}.output"),
        **_norm(f"{to}/layer_norm", stored, f"{ours}.around_attention.norm"),
    }


def _cross_attention(
    theirs: str, ours: str, stored: Mapping[str, StoredTensor], order: NDArray[np.intp] | None
) -> dict[str, Entry]:
    """Returns a cross-attention layer; `order` (D,) reorders the dimensions of its heads."""
    if order is not None:
        output = f"{ours}.output.weight"
        rows = [f"{ours}.{part}.{kind}" for part in ("query", "key", "value") for kind in ("weight", "bias")]
        stored = {
            **stored,
            **{name: _take_rows(stored[name], order) for name in rows},
            output: stored[output]._replace(numbers=stored[output].numbers[:, order]),
        }
    return {
        **_linear(f"{theirs}/linear_0", stored, f"{ours}.query"),
        **_linear(f"{theirs}/linear_1", stored, f"{ours}.key", f"{ours}.value"),
        **_linear(f"{theirs}/linear_2", stored, f"{ours}.output"),
    }


def _take_rows(tensor: StoredTensor, order: NDArray[np.intp]) -> StoredTensor:
    return StoredTensor(tensor.numbers[order], None if tensor.scale is None else tensor.scale[order])


def _head_first(width: int, heads: int, head: int) -> NDArray[np.intp]:
    """Returns an order (D,) that puts the dimensions of one head first, then the other heads in their order.

    >>> _head_first(6, 3, 1).tolist()
    [2, 3, 0, 1, 4, 5]
    """
    blocks = np.arange(width).reshape(heads, -1)  # (H, K)
    return np.concatenate([blocks[head], *(block for i, block in enumerate(blocks) if i != head)])


def _feed_forward(theirs: str, ours: str, stored: Mapping[str, StoredTensor]) -> dict[str, Entry]:
    to, of = f"{theirs}/ffn", f"{ours}.feed_forward"
    gated = f"{of}.gate.weight" in stored
    found = {
        **_linear(f"{to}/linear_0", stored, f"{of}.gate" if gated else f"{of}.expand"),
        **_linear(f"{to}/linear_1", stored, f"{of}.contract"),
        **_norm(f"{to}/layer_norm", stored, f"{ours}.around_feed_forward.norm"),
    }
    return found | (_linear(f"{to}/linear_0_noact", stored, f"{of}.expand") if gated else {})
