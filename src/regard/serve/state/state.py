"""All that a server remembers, opened together."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from regard.serve.state.documents import DocumentJob, DocumentLimits, Documents
from regard.serve.state.glossaries import Glossaries
from regard.serve.state.keys import ApiKeys
from regard.serve.state.limits import Limiter
from regard.serve.state.store import Store
from regard.serve.state.suggestions import Suggestions


class ServerState:
    """The store of a folder and its parts. Every process opens its own; `close()` it at the end."""

    def __init__(
        self, folder: Path, documents: DocumentLimits | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.store = Store(folder, now)
        self.keys = ApiKeys(self.store)
        self.limiter = Limiter(self.store)
        self.glossaries = Glossaries(self.store)
        self.documents = Documents(self.store, documents, self._give_back)
        self.suggestions = Suggestions(self.store)

    def _give_back(self, failed: DocumentJob) -> None:
        """Count the characters of a document off that was not translated."""
        if charged := failed.request.get("charged"):
            self.limiter.give_back(charged["subject"], charged["characters"], charged["period"])

    def clean(self) -> None:
        """Remove what is no longer needed; when a server starts, and every minute."""
        self.limiter.clean()
        self.documents.clean()

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> ServerState:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
