"""Lessons as one file of slides with reveal.js, which the package contains: it needs no network.

A lesson is a column of slides. What stands below one heading shares slides, as far as it fits. Answers appear with the
next key. Of a live view the slide has the caption, and the command that shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from regard.course.lessons.handout import anchored, answer_html, block_html, question_html
from regard.course.lessons.lesson import Block, Exercise, Guess, Lesson, LiveView, Prose
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
.reveal table { border-collapse: collapse; font-size: 20px }
.reveal th, .reveal td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); text-align: left }
.reveal figure { margin: 0 } .reveal figcaption { color: var(--quiet); font-size: 18px }
.reveal .answer { border-inline-start: 4px solid var(--good); padding-inline-start: 18px; font-size: 22px }
.reveal .live { border-inline-start: 4px solid var(--accent); padding-inline-start: 18px; margin-bottom: .6em }
.reveal .controls, .reveal .progress { color: var(--accent) }
.reveal .slide-number { right: auto; left: 12px; background: none; color: var(--quiet) }
"""


def slides(lessons: Sequence[Lesson]) -> str:
    """The document with the slides of these lessons."""
    there = {one.number for one in lessons}
    columns = "".join(f'<section id="lesson-{one.number}">\n{"".join(column(one))}</section>\n' for one in lessons)
    own = files("regard.course.lessons").joinpath("reveal")
    library, styles = (own.joinpath(f"reveal.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    assert "</script" not in library
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>How a translator works</title>\n'
        f"<style>{styles}</style>\n<style>\n:root {{\n{declarations()}\n}}\n{STYLE}</style>\n</head>\n<body>\n"
        f'<div class="reveal"><div class="slides">\n{anchored(columns, there)}</div></div>\n'
        f"<script>{library}</script>\n<script>{START}</script>\n</body>\n</html>\n"
    )


def column(lesson: Lesson) -> Iterator[str]:
    """The slides of a lesson: parts below one heading share slides, as many as fit."""
    goals = "".join(f"<li>{inline_html(goal)}</li>" for goal in lesson.objectives)
    begin = f'<p class="quiet">Lesson {lesson.number}</p><h1>{inline_html(lesson.title)}</h1>'
    yield slide("", [f"{begin}<p>{inline_html(lesson.summary)}</p><p>After this lesson you can</p><ul>{goals}</ul>"])
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
                    yield SlidePart(to_html(text), lines_of(text) * LINE + GAP)
        case Guess() | Exercise():
            question, answer = question_html(block), answer_html(block)
            yield SlidePart(question, height_of(question), begins=isinstance(block, Exercise))
            yield SlidePart(f'<div class="answer fragment">{answer}</div>', height_of(answer))
        case LiveView():
            where = f'<p class="quiet">Live in the web UI: <code>regard course {lesson.number}</code></p>'
            yield SlidePart(
                f'<div class="live">{to_html(block.caption)}{where}</div>', lines_of(block.caption) * LINE + LINE + GAP
            )
        case _:
            lines = block.text.splitlines()
            dense = len(lines) > MOST_LINES or max(map(len, lines)) > LETTERS_OF_CODE
            html = block_html(block).replace("<pre", '<pre class="dense"' if dense else "<pre")
            yield SlidePart(html, len(lines) * (SMALL_LINE if dense else CODE_LINE) + 3 * GAP)


def lines_of(text: str) -> int:
    """
    >>> lines_of("- one\\n- two"), lines_of("a" * 100)
    (2, 2)
    """
    items = re.split(r"\n(?=[-*|] ?|\d+\. )", text)
    return sum(1 + len(item) // LETTERS_OF_LINE for item in items)


def height_of(html: str) -> int:
    """The estimated height of a question or an answer."""
    listings = re.findall(r"<pre[^>]*>(.*?)</pre>", html, re.DOTALL)
    code: int = sum((one.count("\n") + 1) * CODE_LINE + 2 * GAP for one in listings)
    rest = re.split(r"</p>|</li>|</tr>", re.sub(r"<pre[^>]*>.*?</pre>", "", html, flags=re.DOTALL))
    texts = (re.sub(r"<[^>]*>", "", one) for one in rest)
    return code + sum(LINE * (1 + len(text) // LETTERS_OF_LINE) for text in texts if text.strip()) + 2 * GAP
