"""/api/neighbours as data: the training pairs nearest to a text, of models that have their pairs beside them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.explain.neighbours import MEASURE, PAIRS_FILE, PairIndex, pairs_of
from regard.serve.inside import numbers
from regard.serve.problems import ServeError


class PairIndexes:
    """The pairs beside each model, read when they are first asked for."""

    def __init__(self) -> None:
        self._indexes: dict[Path, PairIndex | None] = {}

    def forget(self, folder: Path) -> None:
        """Give the memory of an index back."""
        self._indexes.pop(folder, None)

    def answer(self, folder: Path, model: str, text: str, count: int) -> dict[str, Any]:
        if folder not in self._indexes:
            self._indexes[folder] = pairs_of(folder)
        index = self._indexes[folder]
        if index is None:
            raise ServeError(
                404, f"the model {model} has no file {PAIRS_FILE} in its folder with the pairs that it was trained on"
            )
        found = index.nearest(text, count)
        rows = [asdict(one) | {"similarity": numbers(one.similarity)} for one in found]
        return {"model": model, "pairs": rows, "searched": len(index), "measure": MEASURE}
