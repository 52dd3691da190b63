"""Lessons as files for teachers: notebooks, slides, or one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from regard.course.lessons.handout import handout
from regard.course.lessons.lesson import Lesson
from regard.course.lessons.notebook import notebook
from regard.course.lessons.slides import slides
from regard.errors import InputError
from regard.files import write_atomically

Kind = Literal["notebook", "slides", "html"]
USUAL_NAMES: dict[Kind, str] = {"notebook": "course-notebooks", "slides": "course-slides.html", "html": "course.html"}


def export_lessons(lessons: Sequence[Lesson], kind: Kind, out: Path | None = None) -> list[Path]:
    """Writes the lessons; returns the files. `out` is a folder for notebooks and otherwise a file."""
    place = out or Path(USUAL_NAMES[kind])
    if kind == "notebook":
        if place.exists() and not place.is_dir():
            raise InputError(f"notebooks are written into a folder, but {place} is a file; give a folder")
        return [_written(place / f"{one.name}.ipynb", notebook(one)) for one in lessons]
    if place.is_dir():
        raise InputError(
            f"{kind} is one file, but {place} is a folder; give a name such as {place / USUAL_NAMES[kind]}"
        )
    return [_written(place, slides(lessons) if kind == "slides" else handout(lessons))]


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))
    return path


def chosen_numbers(given: str, count: int) -> list[int]:
    """The numbers of lessons in words such as "1-3,12".

    >>> chosen_numbers("1-3,12", 12)
    [1, 2, 3, 12]
    """
    found: set[int] = set()
    for part in given.replace(" ", "").split(","):
        first, sign, last = part.partition("-")
        ends = (first, last if sign else first)
        if not all(end.isdecimal() and 1 <= int(end) <= count for end in ends) or int(ends[0]) > int(ends[1]):
            raise InputError(f'lessons are chosen like 4 or 1-3,12, from 1 to {count}, but not "{given}"')
        found |= set(range(int(ends[0]), int(ends[1]) + 1))
    return sorted(found)
