"""The web page with the responses for some texts, as a single file: for a lecture without a server.

    texts ─▶ the requests that the page's questions.js sends ─▶ the application, in this process ─▶ one file

The requests must equal those of `page/questions.js` exactly, or the page will not find their responses; a browser test
opens a saved page and checks that every panel shows something.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from starlette.applications import Starlette

from regard.errors import InputError
from regard.serve.app import create_app
from regard.serve.page.page_files import with_answers
from regard.serve.saved_lessons import Answer, Ask, about_lessons
from regard.serve.settings import ServeConfig


def saved_page(config: ServeConfig, texts: Sequence[str], progress: Callable[[int], None] = lambda done: None) -> str:
    """The page for the config's model and these texts. `progress` is called with the number of texts done."""
    if len(config.models) != 1:
        raise InputError(f"a page is saved with one model, but {len(config.models)} are given")
    if not all(text.strip() for text in texts):
        raise InputError("a text for the page is empty; give at least one sentence")
    return with_answers(asyncio.run(_all_answers(config, texts, progress)))


async def _all_answers(config: ServeConfig, texts: Sequence[str], progress: Callable[[int], None]) -> list[Answer]:
    app = create_app(config)
    kept: list[Answer] = []

    async def ask(path: str, body: Answer | None) -> Answer | None:
        """Send a request and record its response. A request that is refused here would also be refused on the page."""
        status, answer = await in_process(app, path, body)
        if status == 200:
            kept.append({"path": path, "body": body, "answer": answer})
        elif status >= 500:
            raise InputError(f"{path} was not answered: {answer['error']['message']}")
        return answer if status == 200 else None

    async with app.state.services.running():
        model = (await ask("/api/models?cards=false", None) or {})["default"]
        await ask("/api/positions", {"width": 64, "length": 64})
        for done, text in enumerate(texts):
            progress(done)
            await about_text(ask, model, text)
        await about_lessons(ask, model, texts)
        progress(len(texts))
    return kept


async def about_text(ask: Ask, model: str, text: str) -> None:
    """Send all requests of the panels about a text and its sentences."""
    translated = await ask("/api/translate", {"model": model, "text": text, "words": True})
    if translated is None:
        raise InputError(f'there is no translation of "{text}" for the page')
    await ask("/api/tokens", {"model": model, "text": text})
    for number, sentence in enumerate(translated["translations"][0]["sentences"]):
        await about_sentence(ask, {"model": model, "text": text, "sentence": number}, sentence["text"])


async def about_sentence(ask: Ask, sentence: Answer, translation: str) -> None:
    about = {**sentence, "translation": translation}
    words = await ask("/api/words", about)
    await ask("/api/words", {**about, "share": True})
    for path in ("/api/lens", "/api/evidence", "/api/diagram"):
        await ask(path, about)
    await about_parts(ask, about)
    maps = None
    for more in views():
        found = await ask("/api/attention", {**about, **more})
        maps = maps or found
    lattice = await ask("/api/lattice", sentence)
    for other in lattice["nbest"][1:] if lattice else ():
        for path, more in (("/api/words", {}), ("/api/attention", {"kind": "cross"})):
            await ask(path, {**about, **more, "translation": other["text"]})
    for position in range(len(words["words"]) if words else 0):
        await ask("/api/alternatives", {**about, "position": position})
    if maps:
        await about_heads(ask, about, maps)


async def about_parts(ask: Ask, about: Answer) -> None:
    """Request the stack of the model, and its layers, attentions and heads. The numbers of the other parts of layers
    would make the file twice as large."""
    found = await ask("/api/anatomy", about)

    async def open_part(part: Answer) -> None:
        await ask("/api/anatomy/part", {**about, "part": part["id"]})
        for inside in part["parts"]:
            if inside["kind"] in ("attention", "head"):
                await open_part(inside)

    for part in found["parts"] if found else ():
        if part["kind"] != "softmax":
            await open_part(part)


async def about_heads(ask: Ask, about: Answer, maps: Answer) -> None:
    """Request every step of the view that is shown first, and the sentence without each head."""
    chosen = maps["chosen"]
    view = {"kind": maps["kind"], "layer": chosen["layer"], "head": chosen["head"] or 1}
    first = await ask("/api/step", {**about, **view, "position": 0})
    for position in range(1, len(first["positions"]) if first else 0):
        await ask("/api/step", {**about, **view, "position": position})
    heads = [[maps["kind"], one["layer"], one["head"]] for layer in maps["layers"] for one in layer]
    for head in heads:
        await ask("/api/cut", {**about, "heads": [head]})
    await ask("/api/cut", {**about, "heads": heads, "how": "uniform"})


def views() -> Iterator[Answer]:
    """The attention maps that the page's switches select."""
    for units in ({}, {"units": "pieces"}):
        for reading in ({}, {"reading": "predicting"}, {"reading": "having_read"}):
            yield {"kind": "cross", **units, **reading}
        for kind in ("encoder", "decoder"):
            yield {"kind": kind, **units}


async def in_process(app: Starlette, path: str, body: Answer | None) -> tuple[int, Any]:
    """Return the status and JSON of a response of the application, without a network."""
    path, _, query = path.partition("?")
    sent = json.dumps(body).encode("utf-8") if body is not None else b""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "method": "GET" if body is None else "POST",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    waiting = [{"type": "http.request", "body": sent, "more_body": False}]
    status, received = 0, b""

    async def receive() -> Any:
        if not waiting:
            await asyncio.Event().wait()  # never disconnects
        return waiting.pop()

    async def send(message: Any) -> None:
        nonlocal status, received
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            received += message.get("body", b"")

    await app(scope, receive, send)
    return status, json.loads(received)
