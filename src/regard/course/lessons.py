"""The lessons of the web UI: scenes, each with a live view, a question and an answer.

The text is data (`lessons.json`).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def lessons() -> dict[str, Any]:
    """All lessons, as the page reads them.

    >>> [lesson["id"] for lesson in lessons()["lessons"]]
    ['mechanism', 'bottleneck', 'attention', 'heads']
    """
    found: dict[str, Any] = json.loads(files("regard.course").joinpath("lessons.json").read_text(encoding="utf-8"))
    return found


def sentences() -> list[str]:
    """Every text that a lesson starts with or offers, once each, in order.

    >>> sentences()[0]
    'The black cat sleeps on the old sofa.'
    """
    chosen = []
    for lesson in lessons()["lessons"]:
        changes = [lesson["start"], *(one["set"] for scene in lesson["scenes"] for one in scene.get("tries", []))]
        chosen += [change[key] for change in changes for key in ("text", "pair") if key in change]
    return list(dict.fromkeys(chosen))
