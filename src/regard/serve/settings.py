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
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class ServeConfig:
    """The settings of a server. `regard serve` has a flag for each field, with the field's help text."""

    models: tuple[str, ...] = key((), "Folders of models, or bundled models; without one, all bundled models.")
    host: str = key(LOOPBACK, "The address to listen at; 0.0.0.0 for every network.")
    port: int = key(8000, "The port; 0 for one that is free.")
    workers: int = key(1, "Processes side by side; each loads its models.")
    through: str | None = key(None, "Pivot language for pairs without a model, such as en.")
    preload: tuple[str, ...] = key((), "Load it at the start, not at its first use.")
    idle: float = key(1800.0, "Seconds after which an unused model is dropped; 0 keeps all.")
    timeout: float = key(60.0, "Seconds that a request may take.")
    characters: int = key(50_000, "Characters of a request, at most.")
    texts: int = key(200, "Texts of a request, at most.")
    alternatives: int = key(10, "Alternatives of a text, at most.")
    waiting: int = key(2_000_000, "Characters that may wait for translation; beyond that requests get 503.")
    explained: int = key(200, "Tokens of a sentence that is explained, at most.")
    device: str = key("auto", "Where to compute: auto, cuda, cuda:1, …, mps or cpu.")
    engine: str = key("auto", "Search engine: auto, native or ctranslate2.")
    state: str | None = key(
        None, "Keep keys, limits, glossaries and documents in this folder."
    )  # None for a temporary folder
    keys: bool = key(False, "Ask for API keys, which regard serve keys add makes.")
    per_minute: int | None = key(None, "Requests of a client in any minute, at most.")
    quota: int | None = key(None, "Characters of a client in each day or month, at most.")
    period: Literal["day", "month"] = key("month", "For how long quota is: a day or a month of the calendar, UTC.")
    host_names: tuple[str, ...] = key((), "A further name of this server, such as translate.example.")
    cors: tuple[str, ...] = key((), "Let pages of this origin call it; * for all.")
    body: int = key(20_000_000, "Bytes of a request, files counted.")
    document_characters: int = key(1_000_000, "Characters of a document, at most.")
    document_timeout: float = key(3600.0, "Seconds that a document may take.")
    kept_minutes: float = key(60.0, "Minutes for which documents are kept.")
    kept_bytes: int = key(1_000_000_000, "Bytes of all documents that are kept, at most.")
    log_text: bool = key(False, "Write the texts of requests to the log.")
    course: str | None = key(
        None, "Folder of a learner's progress; allows to run code and to train. Set by regard course, and no flag."
    )

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if (value := getattr(self, name)) is not None and value < least:
                raise InputError(f"{name} must be at least {least}, but is {value}")
        for name, unit in (("kept_minutes", ""), ("timeout", " seconds"), ("document_timeout", " seconds")):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be more than 0{unit}, but is {getattr(self, name):g}")
        if not 0 <= self.port <= 65535:
            raise InputError(f"port must be from 0 to 65535, but is {self.port}")
        if self.course is not None and (self.host != LOOPBACK or self.workers != 1 or self.cors):
            raise InputError(
                f"course needs the host {LOOPBACK}, one worker and no cors: it runs what its learner writes"
            )
        if self.idle < 0:
            raise InputError(f"idle must be 0 seconds or more, but is {self.idle:g}")
