"""A learner's progress: which lessons are done and which exercises were solved, in one JSON file of a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.course.lessons.load import lessons
from regard.errors import InputError
from regard.files import write_atomically

FILE = "course.json"
Progress = dict[str, dict[str, dict[str, Any]]]  # {"lessons": {"4": {"done": true, "exercises": ["weights"]}}}


def read_progress(folder: Path) -> Progress:
    """The progress that a folder holds; without a file, none."""
    path = folder / FILE
    if not path.exists():
        return {"lessons": {}}
    try:
        return known_progress(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, AttributeError, TypeError):
        raise InputError(f"{path} cannot be read as progress in the course; remove it to begin again") from None


def write_progress(folder: Path, progress: Mapping[str, Any]) -> Progress:
    """Replace the progress of a folder, and return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    known = known_progress(progress)
    text = json.dumps(known, indent=1) + "\n"
    write_atomically(folder / FILE, lambda path: path.write_text(text, encoding="utf-8"))
    return known


def known_progress(given: Mapping[str, Any]) -> Progress:
    """Only what is about lessons and exercises that exist.

    >>> known_progress({"lessons": {"1": {"done": True, "exercises": ["gone"]}, "99": {"done": True}}})
    {'lessons': {'1': {'done': True, 'exercises': []}}}
    """
    found: dict[str, dict[str, Any]] = {}
    for lesson in lessons():
        if (said := given["lessons"].get(str(lesson.number))) is None:
            continue
        solved = set(said.get("exercises", ()))
        ids = [exercise.id for exercise in lesson.exercises if exercise.id in solved]
        found[str(lesson.number)] = {"done": said.get("done") is True, "exercises": ids}
    return {"lessons": found}
