"""Lessons as one HTML file: to read, to print and to send; answers are folded away and unfold without a script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from regard.course.lessons.docs_page import block_markdown, fence, introduction, question_and_answer
from regard.course.lessons.exercises import Exercise
from regard.course.lessons.lesson import Block, Guess, Lesson, LiveView, QuotedCode
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
.task > ul { list-style: none; padding: 0 }
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
    articles = "".join(f'<article id="lesson-{one.number}">{article(one)}</article>\n' for one in lessons)
    return page("How a translator works", standalone(f"<ol>{contents}</ol>\n{articles}", lessons), STYLE)


def standalone(html: str, lessons: Sequence[Lesson]) -> str:
    """The HTML of these lessons for one document: links to lessons stay inside it, or become text; long lines of
    listings can be scrolled by keyboard."""
    numbers = {str(one.number) for one in lessons}

    def link(found: re.Match[str]) -> str:
        return f'<a href="#lesson-{found[1]}">' if found[1] in numbers else "<a>"

    return re.sub(r'<a href="#/lesson\?lesson=(\d+)">', link, html).replace("<pre", '<pre tabindex="0"')


def article(lesson: Lesson) -> str:
    live = f"With live views and checked answers: `regard course {lesson.number}`"
    return "\n".join((
        to_html(f"## {lesson.number}. {lesson.title}\n\n{introduction(lesson)}"),
        quiet(f"{lesson.minutes} minutes to read. {live}"),
        *(block_html(block, lesson) for block in lesson.blocks),
        quiet(f"In the course notes: {lesson.notes}. The lesson does not need them."),
    ))  # fmt: skip


def block_html(block: Block, lesson: Lesson) -> str:
    match block:
        case Guess() | Exercise():
            question, answer = map(to_html, question_and_answer(block, lesson))
            kind = "task guess" if isinstance(block, Guess) else "task"
            fold = f"<details><summary>The answer</summary>{answer}</details>"
            return f'<section class="{kind}">{question}{fold}</section>'
        case LiveView():
            return quiet(f"In the web UI, live: {block.caption}")
        case QuotedCode():
            return f"<figure>{to_html(fence(block.text))}<figcaption>{escape(block.file)}</figcaption></figure>"
        case _:
            return to_html(block_markdown(block, lesson))


def quiet(markdown: str) -> str:
    return f'<div class="quiet">{to_html(markdown)}</div>'
