"""The files of the page, read once, by name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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
    tag: str  # changes with the content, so a browser asks but loads nothing twice


@cache
def page_files() -> dict[str, PageFile]:
    """By name: "index.html", "main.js" …"""
    found = {}
    for file in sorted(files("regard.serve").joinpath("page").iterdir(), key=lambda one: one.name):
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in TYPES:
            content = file.read_bytes()
            found[file.name] = PageFile(content, TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:20]}"')
    return found
