"""What a user says of the elements of marked-up text by their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TagRules:
    """Without them, an element of XML that stands beside text is inline, and HTML's elements are what HTML says."""

    ignored: frozenset[str] = frozenset()  # whose content stays as it is
    splitting: frozenset[str] = frozenset()  # that end a text, wherever they stand
    inline: frozenset[str] = frozenset()
    outline: bool = (
        True  # XML: whether elements that are not named are judged by where they stand; else they are inline
    )
    preserve: bool = False  # XML: whether line breaks and runs of spaces mean something
    identifiers: bool = True  # XML: whether what looks like an identifier stays


NO_RULES = TagRules()
