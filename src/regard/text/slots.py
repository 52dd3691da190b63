"""Slots: single tokens that replace a span of text which a translation must copy unchanged.

    Call 555-0199 at 3:45 pm    →    Call ⟨0⟩ at ⟨1⟩    →    Appelle le ⟨0⟩ à ⟨1⟩

In a text a slot is one private-use character. In ids it is one of the byte pieces 0xF5 to 0xFF, which no text in UTF-8
contains: every BPE vocabulary has them already, and they do not change the encoding of a text without slots. A
vocabulary of whole words has no slots. The caller that inserts slots keeps the text that each stands for (`fill`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# The first of the bytes that never occur in UTF-8
FIRST_BYTE = 0xF5
SLOTS = tuple(chr(0xF8E0 + k) for k in range(0x100 - FIRST_BYTE))
SLOT = re.compile(f"[{SLOTS[0]}-{SLOTS[-1]}]")
slots_in = SLOT.findall  # the slots of a text, in order

# A byte that is not part of a character is decoded to a lone surrogate (Python's "surrogateescape"): 0xF5 as U+DCF5.
FROM_BROKEN = {0xDC00 + FIRST_BYTE + k: slot for k, slot in enumerate(SLOTS)}


def without_slots(text: str) -> str:
    """Returns the text with its slots removed; the same object if it has none."""
    return SLOT.sub("", text) if SLOT.search(text) else text


def fill(text: str, spans: Sequence[str]) -> str:
    """Replaces each slot of a text: slot k by `spans[k]`. A slot without a span is left unchanged.

    >>> fill(f"Appelle {SLOTS[1]} au {SLOTS[0]}.", ["555-0199", "Sarah"])
    'Appelle Sarah au 555-0199.'
    """
    filled = dict(zip(SLOTS, spans, strict=False))
    return SLOT.sub(lambda found: filled.get(found[0], found[0]), text)


class SlotTexts(NamedTuple):
    """The texts that the slots of a sentence stand for, by slot number: in the source, and in its translation, where a
    number may have another form."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()


NO_SLOTS = SlotTexts()


def around_slots(form: str) -> tuple[list[str], list[int]]:
    """Returns the parts of a text before, between and after its slots, and the number of each slot. There is one part
    more than there are slots; a part may be empty.

    >>> around_slots(f"a{SLOTS[3]}b")
    (['a', 'b'], [3])
    """
    return SLOT.split(form), [ord(slot) - ord(SLOTS[0]) for slot in SLOT.findall(form)]
