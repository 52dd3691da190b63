"""The settings of a server: its address, models, limits and switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.config import key
from regard.errors import InputError

LEAST = {
    "workers": 1, "texts": 1, "characters": 1, "document_characters": 1, "waiting": 1, "body": 1000, "alternatives": 0,
    "explained": 2, "per_minute": 1, "quota": 1, "kept_bytes": 1,
}  # fmt: skip


@dataclass(frozen=True)
class ServeConfig:
    """A server. Times are in seconds."""

    models: tuple[str, ...] = key((), "folders of models, or names of bundled models; none: all bundled models")
    host: str = key("127.0.0.1", "the address to listen at; 0.0.0.0 for every network")
    port: int = key(8000, "the port; 0 for one that is free")
    workers: int = key(1, "processes that serve side by side; each loads its models")
    device: str = key("auto", "where models compute: auto, cpu, cuda, cuda:1 or mps")
    engine: str = key("auto", "what searches: auto, native or ctranslate2")
    through: str | None = key(None, "translate pairs without a model by way of this language, such as en")
    preload: tuple[str, ...] = key((), "models to load at the start; the others are loaded at their first use")
    idle: float = key(1800.0, "a model that was not used for so long is dropped; 0 keeps all")
    timeout: float = key(60.0, "the longest that a request may take")
    texts: int = key(200, "texts of a request, at most")
    characters: int = key(50_000, "characters of a request, at most")
    waiting: int = key(2_000_000, "characters that may wait for translation; beyond that requests are refused")
    body: int = key(20_000_000, "bytes of a request, files counted")
    alternatives: int = key(10, "alternatives of a text, at most")
    explained: int = key(200, "tokens of a sentence that is explained, at most")
    state: str | None = key(None, "folder of keys, limits, glossaries and documents; none: a temporary one")
    cors: tuple[str, ...] = key((), "origins whose pages may call the server; * for all")
    host_names: tuple[str, ...] = key((), "further names under which the server is reached, such as translate.example")
    keys: bool = key(False, "whether every request needs an API key")
    per_minute: int | None = key(None, "requests of a client in any minute, at most")
    quota: int | None = key(None, "characters of a client in each day or month, at most")
    period: Literal["day", "month"] = key("month", "for how long quota is: a day or a month of the calendar, UTC")
    document_characters: int = key(1_000_000, "characters of a document, at most")
    document_timeout: float = key(3600.0, "the longest that the translation of a document may take")
    kept_minutes: float = key(60.0, "minutes for which documents and their translations are kept")
    kept_bytes: int = key(1_000_000_000, "bytes of all documents that are kept, at most")
    log_text: bool = key(False, "whether the log may hold texts")

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if (value := getattr(self, name)) is not None and value < least:
                raise InputError(f"{name} must be at least {least}, but is {value}")
        for name, unit in (("kept_minutes", ""), ("timeout", " seconds"), ("document_timeout", " seconds")):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be more than 0{unit}, but is {getattr(self, name):g}")
        if not 0 <= self.port <= 65535:
            raise InputError(f"port must be from 0 to 65535, but is {self.port}")
        if self.idle < 0:
            raise InputError(f"idle must be 0 seconds or more, but is {self.idle:g}")
