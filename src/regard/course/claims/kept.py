"""The folder in which finished parts of the experiments are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.files import write_atomically


class Kept:
    """A folder of finished things, each a JSON file: what is there is not made again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        path = self.folder / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        made = make()
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))
        return json.loads(text)  # as it will be read the next time
