"""A lesson as Markdown: its blocks, its page of docs/course, and the list of lessons in its README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from regard.course.lessons.exercises import ChangeExercise, ChoiceExercise, Exercise, LineExercise
from regard.course.lessons.lesson import Block, Guess, Lesson, Listing, LiveView, Prose, QuotedCode

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def docs_page(lesson: Lesson) -> str:
    """The page of a lesson, in GitHub's Markdown; answers are folded."""
    head = f"""# {lesson.number}. {lesson.title}

{lesson.summary}

{lesson.minutes} minutes to read; with live views and checked exercises: `regard course {lesson.number}`

After this lesson you can
{items(lesson.objectives)}

In the course notes: {lesson.notes}."""
    return "\n\n".join([head, *(block_markdown(block, lesson) for block in lesson.blocks)]) + "\n"


def index(lessons: Sequence[Lesson]) -> str:
    """The list of lessons."""
    return items(
        f"[{one.number}. {one.title}]({one.name}.md), {one.minutes} minutes to read: {one.summary}" for one in lessons
    )


def introduction(lesson: Lesson) -> str:
    """What the lesson shows, and what the reader can do after it."""
    return f"{lesson.summary}\n\nAfter this lesson you can\n\n{items(lesson.objectives)}"


def block_markdown(block: Block, lesson: Lesson) -> str:
    match block:
        case Prose():
            return block.text
        case Guess() | Exercise():
            question, answer = question_and_answer(block, lesson)
            return f"{question}\n\n{folded(answer)}"
        case LiveView():
            return _view(block)
        case QuotedCode():
            return f"<!-- code: {block.file} -->\n{fence(block.text)}"
        case Listing():
            return fence(block.text)


def question_and_answer(block: Guess | Exercise, lesson: Lesson) -> tuple[str, str]:
    """The question with what belongs to it, and the worked answer."""
    if isinstance(block, Guess):
        question = f"**Guess first.** {block.question}\n\n{_choices(block.choices)}"
        return question, f"({LETTERS[block.right - 1]}) {block.answer}"
    source = f" ({block.source})" if block.source else ""
    question = f"**Exercise {lesson.exercises.index(block) + 1}{source}.** {block.question}"
    match block:
        case ChoiceExercise():
            right = ", ".join(f"({LETTERS[number - 1]})" for number in block.right)
            return f"{question}\n\n{_choices([one.text for one in block.choices])}", f"{right}: {block.answer}"
        case ChangeExercise():
            return f"{question}\n\nBegin with: {block.begin}", f"For example: {block.right[0]}\n\n{block.answer}"
        case LineExercise():
            given = "\n".join(part.strip("\n") for part in (block.before, block.begin) if part)
            return f"{question}\n\n{fence(given, 'python')}", f"{fence(block.solution, 'python')}\n\n{block.answer}"
        case _:
            return question, block.answer


def _view(view: LiveView) -> str:
    given = [f"“{view.set[key]}”" for key in ("text", "pair") if key in view.set]
    shown = f" Shown: {', '.join(given)}." if given else ""
    tries = [f"{one.label} (“{one.set['text']}”)" if "text" in one.set else one.label for one in view.tries]
    more = f" To try: {'; '.join(tries)}." if tries else ""
    return "\n".join(f"> {line}".rstrip() for line in f"**On the page.** {view.caption}{shown}{more}".splitlines())


def items(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _choices(texts: Iterable[str]) -> str:
    return items(f"({letter}) {text}" for letter, text in zip(LETTERS, texts, strict=False))


def folded(answer: str) -> str:
    return f"<details><summary>Answer</summary>\n\n{answer.strip()}\n\n</details>"


def fence(body: str, language: str = "") -> str:
    return f"```{language}\n{body.rstrip()}\n```"
