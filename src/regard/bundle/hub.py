"""Downloads models from the Hugging Face hub.

One request lists the files of a model with their sizes and checksums, and their commit; then each needed file is
downloaded at that commit (`data/fetch.py` resumes interrupted downloads and verifies them). File names are ours, never
the server's. HF_ENDPOINT may name another server with the same interface. With REGARD_OFFLINE=1 no server is
contacted.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.fetch import AGENT, OnBytes, check_online, digest, download
from regard.errors import InputError

ENDPOINT = "https://huggingface.co"
NEEDED = ("config.json", "vocab.json", "source.spm", "target.spm")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that exists is used
FURTHER = ("target_vocab.json", "tokenizer_config.json", "generation_config.json", "README.md")  # optional files
COMMIT = re.compile(r"[0-9a-f]{40}")
TIMEOUT_SECONDS = 30.0  # for the list of files
MAX_LIST_BYTES = 10_000_000  # maximum size of the list

BY_HAND = "copy the model's folder here and use regard import"

ProgressOf = Callable[[str], OnBytes]


class HubFile(NamedTuple):
    name: str
    size: int
    checksum: str | None  # "sha256:…" of a large file, "git-sha1:…" of a small one


class HubModel(NamedTuple):
    """A model as the hub lists it."""

    name: str
    endpoint: str
    commit: str
    files: tuple[HubFile, ...]  # only the needed ones
    licence: str | None

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def address(self, file: HubFile) -> str:
        return f"{self.endpoint}/{self.name}/resolve/{self.commit}/{file.name}"


def look_up(name: str, endpoint: str | None = None) -> HubModel:
    """Looks up the needed files of the model `name`, which includes its owner."""
    endpoint = (endpoint or os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    found = _ask(name, endpoint)
    if found.get("gated"):
        raise _closed(name, endpoint)
    files = {one.name: one for one in map(_file, found.get("siblings") or ()) if one is not None}
    weights = next((file for file in WEIGHTS if file in files), None)
    missing = [file for file in NEEDED if file not in files] + ([] if weights else [WEIGHTS[0]])
    if missing:
        raise InputError(
            f"{name} is not a Marian model: {endpoint} has no {', '.join(missing)} of it; regard reads those of OPUS-MT"
        )
    commit = str(found.get("sha")) if COMMIT.fullmatch(str(found.get("sha"))) else "main"
    card = found.get("cardData")
    licence = card.get("license") if isinstance(card, Mapping) else None
    wanted = [*NEEDED, *([weights] if weights else []), *(file for file in FURTHER if file in files)]
    licence = str(licence)[:100] if licence else None
    return HubModel(name, endpoint, commit, tuple(files[file] for file in wanted), licence)


def _ask(name: str, endpoint: str) -> dict[str, Any]:
    """Requests the hub's description of a model."""
    url = f"{endpoint}/api/models/{name}?blobs=true"
    check_online(f"{name} on {endpoint}")
    if not url.startswith(("http://", "https://")):
        raise InputError(f"HF_ENDPOINT must begin with https:// or http://, but is {endpoint}")
    try:
        request = urllib.request.Request(url, headers={"User-Agent": AGENT})
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            found = json.loads(answer.read(MAX_LIST_BYTES))
    except urllib.error.HTTPError as problem:
        problem.close()
        if problem.code == http.HTTPStatus.FORBIDDEN or problem.headers.get("X-Error-Code") == "GatedRepo":
            raise _closed(name, endpoint) from None
        if problem.code in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.NOT_FOUND):  # not distinguished by the hub
            raise InputError(f"{endpoint} has no model {name}, or it is private; look for its name there") from None
        raise InputError(f"{url} cannot be fetched: {problem.code} {problem.reason}; try again later") from None
    except urllib.error.URLError as problem:
        why = getattr(problem.reason, "strerror", None) or problem.reason
        raise InputError(f"{endpoint} cannot be reached ({why}); is there a network? If not, {BY_HAND}") from None
    except (OSError, http.client.HTTPException) as problem:
        raise InputError(f"{endpoint} broke the connection ({problem}); try again, or {BY_HAND}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{url} does not answer as the hub does; HF_ENDPOINT must name a server that does") from None
    if not isinstance(found, dict):
        raise InputError(f"{url} does not answer as the hub does; HF_ENDPOINT must name a server that does")
    return found


def _closed(name: str, endpoint: str) -> InputError:
    return InputError(
        f"{name} is given only to people whom its owner has admitted: fetch it there ({endpoint}/{name}), "
        "and use regard import on the folder"
    )


def _file(entry: object) -> HubFile | None:
    """Parses an entry of the list; None if it is not needed."""
    if not isinstance(entry, Mapping) or entry.get("rfilename") not in (*NEEDED, *WEIGHTS, *FURTHER):
        return None
    large, size = entry.get("lfs"), entry.get("size")
    checksum: str | None
    if isinstance(large, Mapping) and re.fullmatch("[0-9a-f]{64}", str(large.get("sha256"))):
        checksum = f"sha256:{large['sha256']}"
    else:
        small = str(entry.get("blobId"))
        checksum = f"git-sha1:{small}" if COMMIT.fullmatch(small) else None
    return HubFile(entry["rfilename"], size if isinstance(size, int) and size >= 0 else 0, checksum)


def fetch_files(model: HubModel, folder: Path, progress_of: ProgressOf) -> None:
    """Downloads the files of a model to a folder; files that are already complete are not fetched again."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in model.files:
        path = folder / file.name
        if path.is_file() and file.checksum and _checksum(path, file.checksum) == file.checksum:
            continue
        download(model.address(file), path, file.checksum, progress_of(file.name))
        if file.size and path.stat().st_size != file.size:
            found = path.stat().st_size
            path.unlink()
            raise InputError(f"{model.address(file)} has {found:,} bytes, but its list says {file.size:,}; try again")


def _checksum(path: Path, like: str) -> str:
    kind = like.partition(":")[0]
    return f"{kind}:{digest(path, kind)}"


def check_room(model: HubModel, folder: Path) -> None:
    """Raises if a folder's disk has no space for the files and the bundle made of them."""
    needed, free = 2 * model.size, shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{model.name} needs {needed / 1e6:,.0f} MB, but {folder} has {free / 1e6:,.0f} MB free; make room, or set "
            "REGARD_CACHE to a folder on another disk"
        )
