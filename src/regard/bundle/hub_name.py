"""Which names mean a model on the hub of Hugging Face."""

from __future__ import annotations

import re

OWNER = "Helsinki-NLP"  # of OPUS-MT
PART = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}"
NAME = re.compile(rf"{PART}/{PART}")
OPUS = re.compile(rf"opus-mt[_-]{PART}")


def hub_name(given: str) -> str | None:
    """The name on the hub that a text stands for, where it can stand for nothing else: a model of OPUS-MT, by its own
    name or with its owner's. Models of other names need `regard fetch`, because a folder runs/mine looks the same.

    >>> hub_name("opus-mt-en-fr"), hub_name("gsarti/opus-mt-tc-en-pl"), hub_name("runs/mine")
    ('Helsinki-NLP/opus-mt-en-fr', 'gsarti/opus-mt-tc-en-pl', None)
    """
    if OPUS.fullmatch(given):
        return f"{OWNER}/{given}"
    owner, _, name = given.partition("/")
    return given if NAME.fullmatch(given) and (owner == OWNER or OPUS.fullmatch(name)) else None


def full_name(name: str) -> str:
    """With the owner, who is OPUS-MT's unless another is named."""
    return name if "/" in name else f"{OWNER}/{name}"
