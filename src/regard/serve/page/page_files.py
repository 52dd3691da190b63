"""The page: its files, read once, their routes, and the page as a single file.

Files are served from memory by their exact names, so that no requested path reaches the disk.

In the single file, modules, styles and icon are embedded in the document, and so are answers if there are any. The
page's modules use only a small part of the language, which `bundle` relies on and checks: imports by name or `* as`, at
the top, from files beside them; exports only as declarations; no cycles. Each becomes a function that is called once
and returns its exports. The document allows its own script and styles by their hashes, and nothing else: it loads and
sends nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from regard.errors import RegardError

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    content: bytes
    media_type: str
    tag: str  # changes with the content, so that a browser revalidates but does not reload unchanged files


@cache
def page_files() -> dict[str, PageFile]:
    """The files by name: "index.html", "main.js" …"""
    found = {}
    for file in sorted(files("regard.serve").joinpath("page").iterdir(), key=lambda one: one.name):
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in TYPES:
            content = file.read_bytes()
            found[file.name] = PageFile(content, TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:20]}"')
    return found


# ── the page as a single file ──────────────────────────────────────────────────────────────────────────────────────

IMPORT = re.compile(r'^import (?P<what>\{[^}]*\}|\* as \w+) from "\./(?P<file>[\w.]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function |const |class )(?:async )?\w+ (?P<name>\w+)", re.MULTILINE)


def bundle(modules: Mapping[str, str], first: str) -> str:
    """Bundle the module `first` and all its imports into one script.

    >>> print(bundle({"a.js": 'import { b } from "./b.js";\\nb();', "b.js": "export function b() {}"}, "a.js"))
    "use strict";
    const b_js = (() => {
    function b() {}
    return { b };
    })();
    const a_js = (() => {
    const { b } = b_js;
    b();
    return {  };
    })();
    <BLANKLINE>
    """
    done: list[str] = []
    script = ['"use strict";']

    def add(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            raise RegardError(f"the page's modules import each other in a circle: {' → '.join((*way, name))}")
        if name in done:
            return
        if name not in modules:
            raise RegardError(f"{way[-1] if way else 'the page'} imports {name}, which is not among the page's files")
        for found in IMPORT.finditer(modules[name]):
            add(found["file"], (*way, name))
        done.append(name)
        script.append(as_function(name, modules[name]))

    add(first, ())
    return "\n".join(script) + "\n"


def as_function(name: str, text: str) -> str:
    body = IMPORT.sub(lambda found: f"const {_imported(found['what'])} = {_variable(found['file'])};", text)
    exported = [found["name"] for found in EXPORT.finditer(body)]
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    if re.search(r"^import\b", body, re.MULTILINE):
        raise RegardError(f"{name} has an import of another form than the page's modules use")
    return f"const {_variable(name)} = (() => {{\n{body.strip()}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _imported(what: str) -> str:
    return re.sub(r"\s+", " ", what).replace(" as ", ": ") if what.startswith("{") else what.removeprefix("* as ")


def _variable(file: str) -> str:
    return file.replace(".", "_")


@cache
def shell() -> str:
    """The page as one file, without answers."""
    page = {name: found.content.decode("utf-8") for name, found in page_files().items()}
    document = page["index.html"]
    script = bundle({name: text for name, text in page.items() if name.endswith(".js")}, "main.js")
    styles = "\n".join(page[name] for name in re.findall(r'<link rel="stylesheet" href="([\w.]+)">', document))
    if "</script" in script or "</style" in styles:
        raise RegardError("the page's own script or style would end its element")
    icon = f"data:image/svg+xml,{quote(page['icon.svg'])}"
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(styles)}'; img-src data:"
    document = re.sub(r'<link rel="stylesheet" href="[\w.]+">\n', "", document)
    document = document.replace('href="icon.svg"', f'href="{icon}"')
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{styles}</style>'
    document = document.replace('<meta name="color-scheme"', f'{head}\n<meta name="color-scheme"')
    document = document.replace('<script type="module" src="main.js"></script>\n', "")
    # after the answers, which the script reads
    return document.replace("</body>", f'<script type="module">{script}</script>\n</body>')


def with_answers(answers: Sequence[Mapping[str, Any]], place: str = "#/translate") -> str:
    """The page with answers, each with `path`, `body` and `answer`. It opens at `place`."""
    written = json.dumps(list(answers), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    written = written.replace("<", "\\u003c")  # so that no text can end the script element
    filled = shell().replace('id="answers">', f'id="answers">{written}', 1)
    return filled.replace("<html ", f'<html data-hash="{quote(place, safe="")}" ', 1)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


# ── routes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def send_file(request: Request) -> Response:
    file = page_files()[request.url.path.removeprefix("/") or "index.html"]
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


async def send_one_file(request: Request) -> Response:
    """Send the page as one file without answers, which the page fills in when a user saves it."""
    return HTMLResponse(shell())


def page_routes() -> list[Route]:
    names = ["/", *(f"/{name}" for name in page_files() if name != "index.html")]
    return [*(Route(name, send_file, methods=["GET"]) for name in names), Route("/one-file.html", send_one_file)]
