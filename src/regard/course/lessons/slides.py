"""Lessons as one file of slides with reveal.js, which the package contains: it needs no network.

A lesson is a column of slides. What stands below one heading shares slides, as far as it fits. Answers appear with the
next key. Of a live view the slide has the caption, and the command that shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from importlib.resources import files
from typing import NamedTuple

from regard.course.lessons.docs_page import introduction, question_and_answer
from regard.course.lessons.exercises import Exercise
from regard.course.lessons.handout import block_html, standalone
from regard.course.lessons.lesson import Block, Guess, Lesson, LiveView, Prose
from regard.course.lessons.to_html import inline_html, to_html
from regard.report.palette import declarations

# For the estimate of what fits, in pixels of a slide of 1120 × 700.
ROOM, LINE, CODE_LINE, SMALL_LINE, GAP = 550, 36, 26, 19, 14
LETTERS_OF_LINE, LETTERS_OF_CODE = 84, 94
MOST_LINES = 20  # of a listing in letters of the usual size
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
START = """
Reveal.initialize({hash: true, center: false, width: 1120, height: 700, margin: 0.04, transition: "none",
  slideNumber: "h.v"});
"""
STYLE = """
:root { color-scheme: light dark }
.reveal-viewport { background: var(--paper) }
.reveal { font: 25px/1.42 var(--sans); color: var(--ink) }
.reveal .slides { text-align: left }
.reveal .slides > section, .reveal .slides > section > section { padding: 0 }
.reveal h1, .reveal h2, .reveal h3 { font: 500 44px/1.2 var(--serif); margin: 0 0 .6em }
.reveal h2 { font-size: 36px } .reveal h3 { font-size: 30px }
.reveal p { margin: 0 0 .6em } .reveal ul, .reveal ol { display: block; margin: 0 0 .6em 1.2em }
.reveal a { color: var(--accent) } .reveal .quiet { color: var(--quiet); font-size: 20px }
.reveal pre { font: 19px/1.4 var(--mono); background: var(--sunken); border: 1px solid var(--line); border-radius: 6px;
  padding: 12px 16px; margin: 0 0 .6em; overflow: auto; max-height: 600px }
.reveal pre.dense { font-size: 13.5px } .reveal code { font: .9em var(--mono) }
.reveal pre code { font: inherit }
.reveal table { border-collapse: collapse; font-size: 20px }
.reveal th, .reveal td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); text-align: left }
.reveal figure { margin: 0 } .reveal figcaption { color: var(--quiet); font-size: 18px }
.reveal .answer { border-inline-start: 4px solid var(--good); padding-inline-start: 18px; font-size: 22px }
.reveal .task > ul { list-style: none; margin-left: 0 }
.reveal .live { border-inline-start: 4px solid var(--accent); padding-inline-start: 18px; margin-bottom: .6em }
.reveal .controls, .reveal .progress { color: var(--accent) }
.reveal .slide-number { right: auto; left: 12px; background: none; color: var(--quiet) }
"""


def slides(lessons: Sequence[Lesson]) -> str:
    """The document with the slides of these lessons."""
    columns = "".join(f'<section id="lesson-{one.number}">\n{"".join(column(one))}</section>\n' for one in lessons)
    own = files("regard.course.lessons").joinpath("reveal")
    library, styles = (own.joinpath(f"reveal.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    assert "</script" not in library
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>How a translator works</title>\n'
        f"<style>{styles}</style>\n<style>\n:root {{\n{declarations()}\n}}\n{STYLE}</style>\n</head>\n<body>\n"
        f'<div class="reveal"><div class="slides">\n{standalone(columns, lessons)}</div></div>\n'
        f"<script>{library}</script>\n<script>{START}</script>\n</body>\n</html>\n"
    )


def column(lesson: Lesson) -> Iterator[str]:
    """The slides of a lesson: parts below one heading share slides, as many as fit."""
    yield slide("", [to_html(f"Lesson {lesson.number}\n\n# {lesson.title}\n\n{introduction(lesson)}")])
    heading, shown, height = lesson.title, list[str](), 0
    for part in (part for block in lesson.blocks for part in block_parts(block, lesson)):
        if shown and (part.heading or part.begins or height + part.height > ROOM):
            yield slide(heading, shown)
            shown, height = [], 0
        heading = part.heading or heading
        if part.html:
            shown.append(part.html)
        height += part.height
    if shown:
        yield slide(heading, shown)


def slide(heading: str, parts: Sequence[str]) -> str:
    title = f"<h2>{inline_html(heading)}</h2>" if heading else ""
    return f"<section>{title}{''.join(parts)}</section>\n"


class SlidePart(NamedTuple):
    """Something that is not divided between slides, or a heading; its height is an estimate in pixels."""

    html: str
    height: int
    heading: str = ""
    begins: bool = False  # a slide of its own


def block_parts(block: Block, lesson: Lesson) -> Iterator[SlidePart]:
    match block:
        case Prose():
            apart = re.sub(r"^(#+ .*)$", r"\n\n\1\n\n", block.text, flags=re.MULTILINE)
            for text in filter(str.strip, re.split(r"\n{2,}", apart)):
                if found := re.fullmatch(r"#+ (.*)", text.strip()):
                    yield SlidePart("", 0, found[1])
                else:
                    yield measured(to_html(text))
        case Guess() | Exercise():
            question, answer = map(to_html, question_and_answer(block, lesson))
            yield measured(f'<div class="task">{question}</div>')._replace(begins=isinstance(block, Exercise))
            yield measured(f'<div class="answer fragment">{answer}</div>')
        case LiveView():
            where = f'<p class="quiet">Live in the web UI: <code>regard course {lesson.number}</code></p>'
            yield measured(f'<div class="live">{to_html(block.caption)}{where}</div>')
        case _:
            yield measured(block_html(block, lesson))


def measured(html: str) -> SlidePart:
    """HTML with its estimated height; long listings get small letters."""
    listings = [unescape(one).splitlines() for one in re.findall(r"<pre><code>(.*?)</code></pre>", html, re.DOTALL)]
    dense = any(len(lines) > MOST_LINES or max(map(len, lines)) > LETTERS_OF_CODE for lines in listings)
    code = sum(len(lines) * (SMALL_LINE if dense else CODE_LINE) + 2 * GAP for lines in listings)
    rest = re.split(r"</p>|</li>|</tr>", re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL))
    texts = (unescape(re.sub(r"<[^>]*>", "", one)) for one in rest)
    height = code + sum(LINE * (1 + len(text) // LETTERS_OF_LINE) for text in texts if text.strip()) + GAP
    return SlidePart(html.replace("<pre>", '<pre class="dense">') if dense else html, height)
