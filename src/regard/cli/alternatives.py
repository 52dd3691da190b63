"""What else a translation could say at a place, for `regard translate --alternatives`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from regard.errors import InputError

if TYPE_CHECKING:
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator


def check_alternatives(count: int | None, prefix: str, position: int | None, others: dict[str, bool]) -> None:
    """`others`: flags that do not go with alternatives, and whether they are given."""
    if count is None:
        if position is not None:
            raise InputError("--at-word is of alternatives; add --alternatives 5")
        return
    if position is not None and prefix:
        raise InputError("--alternatives come after --prefix or at --at-word; give one of them")
    for flag in (flag for flag, given in others.items() if given):
        raise InputError(f"--alternatives are those of the model's own search, without {flag}; leave it out")


def write_alternatives(
    out: TextIO,
    texts: Iterator[tuple[TextTranslator | TextChain, str]],
    options: Mapping[str, Any],
    as_json: bool,
) -> None:
    """For each text a line for each alternative: probability, word and sentence; an empty line between texts."""
    for number, (translator, text) in enumerate(texts):
        found = translator.alternatives(text, **options)
        if as_json:
            rows = [asdict(one) for one in found]
            out.write(json.dumps({"source": text, "alternatives": rows}, ensure_ascii=False) + "\n")
            continue
        wide = max(len(one.word) for one in found)
        out.write("\n" if number else "")
        for one in found:
            out.write(f"{one.probability:>6.1%}  {one.word or '∎':<{wide}}  {one.text}\n")
