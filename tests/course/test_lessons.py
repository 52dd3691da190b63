"""The lessons: every source is complete, quotes code that exists, and equals its page in docs/course.

REGARD_WRITE_DOCS=1 pytest tests/course/test_lessons.py writes the pages.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import regard
from regard.course.lessons.docs_page import docs_page, index
from regard.course.lessons.exercises import NumberExercise, NumberHint, WrongAnswer
from regard.course.lessons.lesson import Guess, Lesson, Listing, LiveView, Prose, QuotedCode, ViewChange
from regard.course.lessons.load import lesson, lessons, parse, selections, sentences
from regard.course.lessons.to_html import inline_html, to_html
from regard.errors import InputError

DOCS = Path(__file__).parents[2] / "docs" / "course"
PAGE = Path(regard.__file__).parent / "serve" / "page"
LIST = re.compile(r"(?<=\n\n)- \[1\. .*?(?=\n\n)", re.DOTALL)
each = pytest.mark.parametrize("one", lessons(), ids=lambda one: one.name)

SOURCE = '''+++
title = "A title"
summary = "What it shows."
minutes = 5
objectives = ["read *a*", "do b"]
notes = "section 1"
start = {}
+++

Text.

```guess
question = "Which?"
choices = ["this", "that"]
right = 2
answer = "That."
```

```view align
caption = "Look."
set = { text = "The cat sleeps." }
tries = [{ label = "Another", set = { text = "The dog eats." } }]
```

```code src/regard/a.py
x = 1
```

````exercise
id = "sum"
kind = "number"
question = "1 + 1?"
value = 2
hints = [{ text = "Add." }]
wrong = [{ given = 3, hint = "Add" }]
answer = """
2:
```
>>> 1 + 1
2
```
"""
````
'''


# ----------------------------------------------------------------------------------------------- the twelve lessons


def test_there_are_twelve() -> None:
    assert [one.number for one in lessons()] == list(range(1, 13))
    assert lesson(4).slug == "attention"


@each
def test_a_lesson_is_complete(one: Lesson) -> None:
    kinds = [type(block) for block in one.blocks]
    assert {Prose, Guess, QuotedCode, Listing} <= set(kinds)
    assert LiveView in kinds or one.slug == "cost"
    assert 3 <= len(one.exercises) <= 5
    assert all((one.title, one.summary, one.notes, *one.objectives))
    assert any(isinstance(block, Listing) and block.kind in ("console", "python") for block in one.blocks)


@each
def test_the_page_of_the_documentation_is_the_lesson(one: Lesson) -> None:
    page = DOCS / f"{one.name}.md"
    if os.environ.get("REGARD_WRITE_DOCS"):
        page.write_text(docs_page(one), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == docs_page(one)


def test_the_documentation_lists_the_lessons() -> None:
    path = DOCS / "README.md"
    text = path.read_text(encoding="utf-8")
    if os.environ.get("REGARD_WRITE_DOCS"):
        text = LIST.sub(lambda _: index(lessons()), text, count=1)
        path.write_text(text, encoding="utf-8")
    found = LIST.search(text)
    assert found
    assert found[0] == index(lessons())


def test_the_page_has_every_view_of_the_lessons() -> None:
    listed = (PAGE / "inside.js").read_text(encoding="utf-8") + (PAGE / "lesson.js").read_text(encoding="utf-8")
    used = {block.name for one in lessons() for block in one.blocks if isinstance(block, LiveView)}
    for view in used:
        assert re.search(rf"\b{view}: \w+(Panel|View)\b", listed), view


def test_what_a_lesson_selects_is_part_of_the_selection() -> None:
    start = re.search(r"START = Object.freeze\(\{(.*?)\}\)", (PAGE / "state.js").read_text(encoding="utf-8"), re.DOTALL)
    assert start
    known = set(re.findall(r"^  (\w+):", start[1], re.MULTILINE))
    assert all(set(one) <= known for one in selections())


def test_every_sentence_is_named_once() -> None:
    assert len(sentences()) == len(set(sentences())) > 5


# ----------------------------------------------------------------------------------------------------- the format


def test_a_source_is_read_block_by_block() -> None:
    one = parse(SOURCE, "03-a-title.md")
    assert (one.number, one.slug, one.name, one.minutes) == (3, "a-title", "03-a-title", 5)
    prose, guess, view, code, exercise = one.blocks
    assert prose == Prose("Text.")
    assert guess == Guess("Which?", "That.", ("this", "that"), 2)
    assert view == LiveView(
        "align", "Look.", {"text": "The cat sleeps."}, (ViewChange("Another", {"text": "The dog eats."}),)
    )
    assert code == QuotedCode("src/regard/a.py", "x = 1")
    assert one.exercise("sum") is exercise
    assert exercise == NumberExercise(
        id="sum", question="1 + 1?", answer="2:\n```\n>>> 1 + 1\n2\n```\n", value=2, hints=(NumberHint("Add."),),
        wrong=(WrongAnswer(3, "Add"),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("minutes = 5", "minutes = 11", "line 4: minutes must be from 1 to 10"),
        ('title = "A title"\n', "", "line 1: lesson needs title"),
        ('"read *a*", ', "", "line 5: objectives must be 2 to 4"),
        ('title = "A title"', "title = A", "line 1: Invalid value (at line 2, column 9)"),
        ("right = 2", "right = 3", "line 15: right must be from 1 to 2, but is 3"),
        ("right = 2\n", "", "line 12: guess needs right"),
        ('answer = "That."', 'reply = "That."', 'line 16: unknown key "reply" in guess; known: answer'),
        ("```view align", "```view", "line 19: a fence must be one of guess, view NAME"),
        ("```code", "```cod", "line 25: a fence must be one of guess"),
        ("```code src/regard/a.py\nx = 1", "```python\nx = 1", "line 25: a block of python begins with >>>"),
        ("```code src/regard/a.py\nx = 1\n```", "```code src/regard/a.py\nx = 1", "line 40: a fence must be one of"),
        ('kind = "number"', 'kind = "numbers"', "line 31: kind must be number, choice, change, line, but is 'numbers'"),
        ("value = 2", 'value = "2"', "line 33: exercise.value must be a number or a list of a number"),
        ('id = "sum"', 'id = "Sum"', "line 30: id must be lower-case words"),
        ('{ text = "Add." }', "{ value = 3 }", "line 29: numberhint needs text"),
        ("given = 3", "gives = 3", 'line 29: unknown key "gives" in wronganswer'),
        ("\n````\n", "\n", "line 29: the fence has no end"),
        ("+++\ntitle", "title", "line 1: a lesson begins with its front matter"),
    ],
)
def test_a_mistake_is_reported_with_its_line(old: str, new: str, message: str) -> None:
    assert old in SOURCE
    with pytest.raises(InputError, match=re.escape(f"03-a-title.md, {message}")):
        parse(SOURCE.replace(old, new, 1), "03-a-title.md")


def test_an_id_occurs_once() -> None:
    twice = SOURCE + "\n" + SOURCE[SOURCE.index("````exercise") :]
    with pytest.raises(InputError, match=r'line \d+: the id "sum" occurs twice'):
        parse(twice, "03-a-title.md")


def test_there_is_no_lesson_13() -> None:
    with pytest.raises(InputError, match="there are lessons 1 to 12, but not 13"):
        lesson(13)


def test_a_lesson_as_a_page_folds_its_answers() -> None:
    page = docs_page(parse(SOURCE, "03-a-title.md"))
    assert page.startswith("# 3. A title\n\nWhat it shows.\n\n5 minutes to read; ")
    assert "- (b) that\n\n<details><summary>Answer</summary>\n\n(b) That.\n\n</details>" in page
    assert "> **On the page.** Look. Shown: “The cat sleeps.”. To try: Another (“The dog eats.”)." in page
    assert "<!-- code: src/regard/a.py -->\n```\nx = 1\n```" in page
    assert "**Exercise 1.** 1 + 1?" in page


# ------------------------------------------------------------------------------------------------------- as HTML


def test_markdown_becomes_html() -> None:
    assert to_html("## A\n\n- b\n- `c`") == "<h2>A</h2><ul><li>b</li><li><code>c</code></li></ul>"
    table = to_html("| a |\n|---|\n| 1 |")
    assert table == '<div class="wide"><table><thead><tr><th>a</th></tr></thead><tr><td>1</td></tr></table></div>'
    assert to_html("```\n>>> 1 < 2\n```") == "<pre><code>&gt;&gt;&gt; 1 &lt; 2\n</code></pre>"
    assert inline_html("one *paragraph*") == "one <em>paragraph</em>"
    assert inline_html("two\n\nparagraphs") == "<p>two</p><p>paragraphs</p>"


def test_links_lead_to_lessons_or_out_and_nowhere_else() -> None:
    assert to_html("[a](09-positions.md#x)") == '<p><a href="#/lesson?lesson=9">a</a></p>'
    assert to_html("[a](../explain.md)") == "<p>a</p>"
    assert to_html("[a](javascript:alert(1))") == "<p>a</p>"
    assert to_html('[a](https://b.example/"c)') == (
        '<p><a href="https://b.example/&quot;c" rel="noopener noreferrer">a</a></p>'
    )


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a <img src=x onerror=alert(1)>", "<b onclick=x>"])
def test_raw_html_is_text(hostile: str) -> None:
    made = to_html(hostile)
    assert "<script" not in made
    assert "<img" not in made
    assert "<b" not in made
    assert "&lt;" in made
