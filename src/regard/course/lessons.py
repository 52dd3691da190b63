"""The lessons: the story of the course as scenes, each with a live view and a question. One text for page and docs.

The text is data (`lessons.json`). The page shows a scene's view beside it, live; the lessons of `docs/course` on the
same matter hold what `as_markdown` makes of it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

# What a scene can show, and what the docs call it. The page has a view of each name.
VIEWS = {
    "words": "word by word",
    "align": "where it looks",
    "heads": "every head",
    "self": "words that look at words",
    "step": "one step in numbers",
    "beam": "the ways it considered",
    "bleu": "how BLEU counts",
    "positions": "where a word stands",
    "evidence": "what it relied on",
    "lens": "layer by layer",
    "bottleneck": "one vector for everything",
    "pieces": "the text in pieces",
}


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


def as_markdown(name: str) -> str:
    """The scenes of one lesson as a part of a page of the docs.

    >>> as_markdown("bottleneck").splitlines()[2]
    'What happens when a whole sentence has to pass through one vector.'
    """
    (lesson,) = (one for one in lessons()["lessons"] if one["id"] == name)
    lines = [f"On the page of `regard serve`: *Lesson*, “{lesson['title']}”.", "", lesson["summary"]]
    for scene in lesson["scenes"]:
        lines += ["", f"### {scene['title']}", "", "\n\n".join(scene["text"])]
        lines += ["", f"View: *{VIEWS[scene['view']]}*, with “{lesson['start']['text']}”"]
        lines += ["", f"**Question.** {scene['question']}", "", f"**An answer.** {scene['answer']}"]
    return "\n".join(lines) + "\n"
