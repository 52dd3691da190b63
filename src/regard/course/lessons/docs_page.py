"""A lesson as a page of docs/course, and the list of lessons in its README. Answers are folded."""

from __future__ import annotations

from collections.abc import Sequence

from regard.course.lessons.lesson import (
    Block,
    Equation,
    Exercise,
    Guess,
    Lesson,
    LiveView,
    Prose,
    QuotedCode,
    Session,
)  # fmt: skip

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def docs_page(lesson: Lesson) -> str:
    """The page of a lesson, in GitHub's Markdown."""
    notes = f"\n\nIn the course notes: {lesson.notes}." if lesson.notes else ""
    head = f"""# {lesson.number}. {lesson.title}

{lesson.summary}

{lesson.minutes} minutes; with live views and checked exercises: `regard course {lesson.number}`

After this lesson you can
{_items(lesson.objectives)}{notes}"""
    numbers = {exercise.id: at for at, exercise in enumerate(lesson.exercises, 1)}
    parts = [head]
    for block in lesson.blocks:
        parts.append(
            exercise_markdown(block, numbers[block.id])
            if isinstance(block, Exercise)
            else block_markdown(block, lesson)
        )
    return "\n\n".join(parts) + "\n"


def index(lessons: Sequence[Lesson]) -> str:
    """The list of lessons."""
    return "\n".join(
        f"- [{one.number}. {one.title}]({one.name}.md), {one.minutes} minutes: {one.summary}" for one in lessons
    )


def block_markdown(block: Block, lesson: Lesson) -> str:
    match block:
        case Prose():
            return block.text
        case Guess():
            choices = "\n\n" + _choices(block.choices) if block.choices else ""
            right = f"({LETTERS[block.right - 1]}) " if block.right else ""
            return f"**Guess first.** {block.question}{choices}\n\n{_folded(right + block.answer)}"
        case LiveView():
            return _view(block)
        case Equation():
            return _fence(block.text)
        case QuotedCode():
            return f"<!-- code: {block.file} -->\n{_fence(block.text)}"
        case Session():
            return _fence(block.text)
    raise TypeError(f"{block} of lesson {lesson.number}")


def _view(view: LiveView) -> str:
    given = [f"“{view.set[key]}”" for key in ("text", "pair") if key in view.set]
    shown = f" Shown: {', '.join(given)}." if given else ""
    tries = [f"{label} (“{change['text']}”)" if "text" in change else label for label, change in view.tries]
    more = f" To try: {'; '.join(tries)}." if tries else ""
    return "\n".join(f"> {line}".rstrip() for line in f"**On the page.** {view.caption}{shown}{more}".splitlines())


def exercise_markdown(exercise: Exercise, number: int) -> str:
    source = f" ({exercise.source})" if exercise.source else ""
    keys = exercise.keys
    parts = [f"**Exercise {number}{source}.** {exercise.question}"]
    answer = exercise.answer
    if exercise.kind == "choice":
        parts.append(_choices([one["text"] for one in keys["choices"]]))
        right = [f"({letter})" for letter, one in zip(LETTERS, keys["choices"], strict=False) if one.get("right")]
        answer = f"{', '.join(right)}: {answer}"
    elif exercise.kind == "change":
        if keys.get("begin"):
            parts.append(f"Begin with: {keys['begin']}")
        answer = f"For example: {keys['right'][0]}\n\n{answer}"
    elif exercise.kind == "line":
        before = "\n".join(part.strip("\n") for part in (keys.get("before", ""), keys.get("begin", "")) if part)
        if before:
            parts.append(_fence(before, "python"))
        answer = f"{_fence(keys['solution'], 'python')}\n\n{answer}"
    return "\n\n".join([*parts, _folded(answer)])


def _items(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _choices(texts: Sequence[str]) -> str:
    return _items([f"({letter}) {text}" for letter, text in zip(LETTERS, texts, strict=False)])


def _folded(answer: str) -> str:
    return f"<details><summary>Answer</summary>\n\n{answer.strip()}\n\n</details>"


def _fence(body: str, language: str = "") -> str:
    return f"```{language}\n{body.rstrip()}\n```"
