"""Lessons as one HTML file: to read, to print and to send; answers are folded away and unfold without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from regard.course.lessons.docs_page import LETTERS
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
)
from regard.course.lessons.to_html import inline_html, to_html
from regard.report.page import page

STYLE = """
main { max-width: 44rem; margin: 0 auto }
article > h2:first-child { font-size: var(--size-title) }
article { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: .5rem }
pre { overflow-x: auto; background: var(--sunken); border: 1px solid var(--line); border-radius: 6px;
      padding: .6rem .8rem; font: .85em/1.5 var(--mono) }
pre code { font-size: 1em }
figure { margin: 1rem 0 } figcaption { color: var(--quiet); font-size: var(--size-small) }
.task { border-inline-start: 3px solid var(--accent); padding: .1rem 0 .1rem 1rem; margin: 1.2rem 0 }
.guess { border-color: var(--warm) }
summary { cursor: pointer; color: var(--accent) }
blockquote { margin-inline: 1rem }
@media print {
  details::details-content { content-visibility: visible }
  article { break-before: page }
  pre { white-space: pre-wrap }
}
"""


def handout(lessons: Sequence[Lesson]) -> str:
    """The document with these lessons."""
    contents = "".join(
        f'<li value="{one.number}"><a href="#lesson-{one.number}">{inline_html(one.title)}</a></li>' for one in lessons
    )
    inside = "".join(f'<article id="lesson-{one.number}">{"".join(parts(one))}</article>\n' for one in lessons)
    there = {one.number for one in lessons}
    return page("How a translator works", anchored(f"<ol>{contents}</ol>\n{inside}", there), STYLE)


def anchored(html: str, numbers: set[int]) -> str:
    """Links to lessons of the web UI → links to the lessons of this document; the others stay as text."""
    for number in range(1, 100):
        link = f'<a href="#/lesson?lesson={number}">'
        html = html.replace(link, f'<a href="#lesson-{number}">' if number in numbers else "<a>")
    return html


def parts(lesson: Lesson) -> Iterator[str]:
    goals = "".join(f"<li>{inline_html(goal)}</li>" for goal in lesson.objectives)
    yield f"<h2>{lesson.number}. {inline_html(lesson.title)}</h2>\n"
    yield f"<p>{inline_html(lesson.summary)}</p><p>After this lesson you can</p><ul>{goals}</ul>"
    live = f"With live views and checked answers: <code>regard course {lesson.number}</code>"
    yield f'<p class="quiet">{lesson.minutes} minutes. {live}</p>\n'
    yield from (block_html(block) for block in lesson.blocks)
    if lesson.notes:
        yield f'<p class="quiet">In the course notes: {inline_html(lesson.notes)}. The lesson does not need them.</p>'


def block_html(block: Block) -> str:
    match block:
        case Prose():
            return to_html(block.text)
        case Guess() | Exercise():
            kind = "task guess" if isinstance(block, Guess) else "task"
            return f'<section class="{kind}">{question_html(block)}{folded_html(block)}</section>\n'
        case LiveView():
            return f'<p class="quiet">In the web UI, live: {inline_html(block.caption)}</p>\n'
        case Equation():
            return f"{listing(block.text)}\n"
        case QuotedCode():
            return f"<figure>{listing(block.text)}<figcaption>{escape(block.file)}</figcaption></figure>\n"
        case Session():
            return f"{listing(block.text)}\n"


def listing(text: str) -> str:
    """Lines as they are; by keyboard, long ones can be scrolled."""
    return f'<pre tabindex="0">{escape(text)}</pre>'


def question_html(block: Guess | Exercise) -> str:
    """The question, with its choices, or the lines of Python that are given."""
    title = "Guess first" if isinstance(block, Guess) else "Exercise"
    found = f"<p><b>{title}</b></p>{to_html(block.question)}"
    choices = block.choices if isinstance(block, Guess) else [one["text"] for one in block.keys.get("choices", ())]
    if choices:
        found += f"<ol type='a'>{''.join(f'<li>{inline_html(choice)}</li>' for choice in choices)}</ol>"
    if isinstance(block, Exercise) and block.kind == "line":
        found += listing(block.keys.get("before", ""))
    if isinstance(block, Exercise) and block.kind == "change":
        found += f"<p>Begin with: <q>{escape(block.keys.get('begin', ''))}</q></p>"
    return found


def answer_html(block: Guess | Exercise) -> str:
    found = to_html(block.answer)
    if isinstance(block, Guess):
        right = [block.right] if block.right else []
    else:
        right = [i for i, one in enumerate(block.keys.get("choices", ()), 1) if one.get("right")]
        if block.kind == "line":
            found = listing(block.keys["solution"]) + found
        elif block.kind == "change":
            found = f"<p>For example: <q>{escape(block.keys['right'][0])}</q></p>{found}"
    letters = ", ".join(f"({LETTERS[number - 1]})" for number in right)
    return f"<p>{letters}</p>{found}" if letters else found


def folded_html(block: Guess | Exercise) -> str:
    return f"<details><summary>The answer</summary>{answer_html(block)}</details>"
