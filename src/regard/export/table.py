"""The formats that a model can be exported to, in one table.

To add one: a file that writes it, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from regard.errors import InputError
from regard.export.ctranslate2_file import WEIGHTS, Weights


def to_ctranslate2(folder: Path, out: Path, weights: str | None) -> list[str]:
    from regard.export.ctranslate2 import export_ctranslate2

    chosen: Weights = next((known for known in WEIGHTS if known == (weights or "int8")), "int8")
    if weights not in (None, chosen):
        raise InputError(f"weights must be one of {', '.join(WEIGHTS)}, but is {weights}", parameter="weights")
    made = export_ctranslate2(folder, out, chosen)
    size = sum(path.stat().st_size for path in out.iterdir())
    heads = "the mean of its heads" if made.head is None else f"head {made.head}"
    return [
        f"{out}: a model of CTranslate2, weights {made.weights}, {size / 1e6:.1f} MB",
        f"attention: layer {made.layer}, {heads}; sentences of up to {made.positions} tokens",
    ]


# From a bundle's folder, the folder to write and the weights' format, if one is named, to lines that say what was made.
EXPORTS: dict[str, Callable[[Path, Path, str | None], list[str]]] = {"ctranslate2": to_ctranslate2}


def default_folder(folder: Path, name: str) -> Path:
    """Where an export is written, and where a translator looks for it: within the bundle's folder."""
    return folder / name


def export(folder: Path, name: str, out: Path | None = None, weights: str | None = None) -> list[str]:
    """Write the bundle in `folder` in the format `name`; lines that say what was written."""
    if name not in EXPORTS:
        raise InputError(f"a model can be exported as {', '.join(EXPORTS)}, but not as {name!r}")
    return EXPORTS[name](folder, default_folder(folder, name) if out is None else out, weights)
