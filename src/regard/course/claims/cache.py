"""A cache of JSON results in a folder: what exists is read, not computed again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.files import write_atomically


class JsonCache:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        path = self.folder / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        result = make()
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))
        return json.loads(text)  # the same types as a later read gives
