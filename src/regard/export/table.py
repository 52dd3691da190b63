"""The table of export formats.

A format is a file with one function `(folder of the bundle, new folder, how weights are stored) → lines that describe
what was written`, which refuses a model that it cannot express, and a row here. It is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from regard.bundle.find_model import find_model
from regard.bundle.folder import check_new
from regard.config import nearest
from regard.errors import InputError


class Export(NamedTuple):
    """A format: the function that writes it, and the ways in which it stores weights."""

    module: str
    function: str
    weights: tuple[str, ...]  # ways to store them; the first is the default
    replaces: bool = False  # whether an earlier export is replaced; the function refuses any other existing folder


CT2_WEIGHTS = ("int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32")
EXPORTS = {
    "ctranslate2": Export("regard.export.ctranslate2", "export_as_lines", CT2_WEIGHTS, replaces=True),
    "huggingface": Export("regard.export.huggingface", "export_huggingface", ("float32", "float16", "bfloat16")),
}


def export_model(model: Path, kind: str, out: Path | None = None, weights: str | None = None) -> list[str]:
    """Exports a model to a new folder, by default `kind` within the model's own. Returns lines that describe what was
    written. Raises `InputError` for an unknown format or way to store weights, for a folder that already exists, and
    for a model that the format cannot express."""
    if kind not in EXPORTS:
        raise InputError(f'unknown format "{kind}"; {nearest(kind, EXPORTS)}', parameter="as")
    form = EXPORTS[kind]
    if weights is not None and weights not in form.weights:
        raise InputError(f'weights must be one of {", ".join(form.weights)} for {kind}, but are "{weights}"')
    folder = find_model(model)
    place = out or folder / kind
    if not form.replaces:
        check_new(place)
    write = getattr(import_module(form.module), form.function)
    lines: list[str] = write(folder, place, weights or form.weights[0])
    return lines
