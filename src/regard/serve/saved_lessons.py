"""What the live views of the lessons ask about their own sentences, beyond what a saved page asks about every text.

The requests must equal those of `page/questions.js`, like those of `saved_page.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any

from regard.course.lessons.lesson import Lesson, LiveView
from regard.course.lessons.load import lessons

Answer = dict[str, Any]
Ask = Callable[[str, Answer | None], Awaitable[Answer | None]]


async def about_lessons(ask: Ask, model: str, texts: Collection[str]) -> None:
    """Send the requests of the lessons, and those of each of their views whose sentence is one of these texts."""
    for path in ("/api/lessons", *(f"/api/lessons/{one.number}" for one in lessons())):
        await ask(path, None)
    for one in lessons():
        for view in (block for block in one.blocks if isinstance(block, LiveView)):
            for shown in selections_of(one, view):
                if shown.get("text") in texts:
                    await about_view(ask, model, view.name, shown)


def selections_of(lesson: Lesson, view: LiveView) -> Iterator[Mapping[str, Any]]:
    """The selection with which a view begins, and those of its buttons."""
    first = {**lesson.start, **view.set}
    yield first
    for change in view.tries:
        yield {**first, **change.set}


async def about_view(ask: Ask, model: str, name: str, shown: Mapping[str, Any]) -> None:
    sentence = {"model": model, "text": shown["text"], "sentence": 0}
    if name == "beam":
        await ask("/api/lattice", sentence | ({"beam": shown["beam"]} if shown.get("beam") else {}))
    elif name == "break":
        await ask(f"/api/break?model={model}", None)
        await ask("/api/break", sentence | settings_of(shown.get("broken", "")))
    elif name in ("step", "bleu", "self"):
        translated = await ask("/api/translate", {"model": model, "text": shown["text"], "words": True}) or {}
        translation = translated["translations"][0]["sentences"][0]["text"]
        if name == "bleu" and shown.get("reference"):
            references = [line.strip() for line in shown["reference"].split("\n") if line.strip()]
            await ask("/api/bleu", {"hypothesis": translation, "references": references})
        elif name == "step" and shown.get("layer"):
            await about_head(ask, sentence | {"translation": translation}, shown)
        elif name == "self" and shown.get("pair"):
            for text in (shown["text"], shown["pair"]):
                words = shown.get("choices", "il elle").replace(",", " ").split()
                await ask("/api/choice", {"model": model, "text": text, "sentence": 0, "words": words})


async def about_head(ask: Ask, about: Answer, shown: Mapping[str, Any]) -> None:
    """Request every step of the head that a view names."""
    head = {"kind": shown.get("kind", "cross"), "layer": shown["layer"], "head": shown.get("head") or 1}
    first = await ask("/api/step", {**about, **head, "position": 0})
    for position in range(1, len(first["positions"]) if first else 0):
        await ask("/api/step", {**about, **head, "position": position})


def settings_of(written: str) -> Answer:
    """What `broken` of the page's selection asks of the model.

    >>> settings_of("residual=0 at=encoder.6 heads=cross.2.1")["heads"]
    [['cross', 2, 1]]
    """
    given = dict(word.split("=") for word in written.split())
    heads = [one.split(".") for one in given.get("heads", "").split(",") if one]
    factors = {name: float(given.get(name, 1)) for name in ("scores", "positions", "residual")}
    return factors | {
        "residual_at": given.get("at", ""), "mask": given.get("mask") != "0",
        "heads": [[kind, int(layer), int(head)] for kind, layer, head in heads],
    }  # fmt: skip
