"""Findings about data: what is wrong, how often, examples, and what to do about it.

A finding is serious if training would refuse the data, learn from wrong data, or get a misleading score. The others are
information; a sound corpus has some of them too. The share of lines from which on a fault is serious is in KINDS.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SHOWN = 3  # examples of a finding
WIDTH = 72  # characters of a line that is shown
ALWAYS, NEVER = 0.0, math.inf


@dataclass(frozen=True)
class Kind:
    """A fault that lines can have."""

    what: str
    remedy: str
    serious_from: float  # share of the lines or pairs checked
    reported_from: float = ALWAYS  # share; a model misjudges some pairs of a sound corpus


KINDS = {
    "encoding": Kind(
        "are not UTF-8; training refuses them",
        "convert the file, if it is Latin-1: iconv -f ISO-8859-1 -t UTF-8 OLD > NEW",
        ALWAYS,
    ),
    "columns": Kind("are not pairs; training refuses them", "correct or drop the lines", ALWAYS),
    "bom": Kind(
        "begin with a byte order mark", r"nothing: it is taken off; for other tools: sed -i '1s/^\xEF\xBB\xBF//'", NEVER
    ),
    "line ends": Kind("end in CR LF", "nothing: CR is taken off; for other tools: sed -i 's/\\r$//' FILE", NEVER),
    "control": Kind(
        "hold control characters (NUL, escape, a CR inside)",
        "drop them: tr -d '\\000-\\010\\013-\\037' < OLD > NEW",
        0.01,
    ),
    "invisible": Kind(
        "hold characters of no width (zero-width space, BOM inside, soft hyphen, direction marks)",
        "drop them: perl -CSD -pe 's/[\\x{ad}\\x{200b}\\x{200e}\\x{200f}\\x{202a}-\\x{202e}\\x{2060}\\x{feff}]//g'",
        0.05,
    ),
    "replaced": Kind(
        "hold U+FFFD, where a character was lost", "take the text again from where it came, or drop the lines", 0.001
    ),
    "mojibake": Kind(
        'look decoded twice ("Ã©" for "é")',
        "iconv -f UTF-8 -t CP1252 OLD > NEW undoes it, where all lines have it",
        0.001,
    ),
    "html": Kind(
        "hold tags or entities of HTML",
        'take tags out, on both sides alike; entities are undone by python -c "import html, sys; '
        'sys.stdout.writelines(map(html.unescape, sys.stdin))" < OLD > NEW',
        0.05,
    ),
    "normal form": Kind(
        "are not in normal form NFC", "nothing: regard reads NFC; for other tools: uconv -x nfc OLD > NEW", NEVER
    ),
    "empty": Kind("have an empty side; training drops them", "nothing, if they are few", 0.05),
    "copies": Kind("have the same text on both sides", "drop them, if they are sentences", 0.05),
    "duplicates": Kind("occurred before", "data.dedupe drops them; keep those that were repeated on purpose", 0.5),
    "many targets": Kind(
        "have a source that also has another translation", "nothing, if they are good translations", NEVER
    ),
    "too long": Kind("have a side of over 1,000 characters, which is hardly a sentence", "split or drop them", 0.02),
    "ratio": Kind(
        "have sides of very unequal length", "look at them; data.max_ratio drops the worst, judged in tokens", 0.02
    ),
    "misaligned": Kind(
        "have sides whose words match no better than those of random pairs (about half of such pairs are detected)",
        "look at them; drop them, or align the text anew",
        0.02,
        0.002,
    ),
    "swapped": Kind("have their sides swapped", "swap them back", 0.002),
    "untranslated source": Kind("have a source in the target's language", "drop or swap them", 0.01, 0.001),
    "untranslated target": Kind("have a target in the source's language", "drop or translate them", 0.01, 0.001),
    "unlike": Kind(
        "hold a line unlike the rest: another language, names, code or formulas",
        "look at them; drop what is in another language",
        0.01,
        0.004,
    ),
    "script": Kind("hold a line in another script than its side", "drop them, or correct the file", 0.005),
    "unseen characters": Kind(
        "hold characters that train does not have", "check both for one encoding and one way to write quotes", 0.05
    ),
}


@dataclass(frozen=True)
class FaultExample:
    where: str  # file:line
    text: str


@dataclass(frozen=True)
class Finding:
    name: str
    part: str  # train, dev or test
    serious: bool
    message: str
    remedy: str
    count: int  # lines or pairs it is true of
    looked: int  # lines or pairs that were checked
    places: tuple[FaultExample, ...] = ()


@dataclass
class FaultCounts:
    """Faults so far, each with its count and its first examples."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[FaultExample]] = field(default_factory=dict)

    def met(self, name: str, place: Callable[[], FaultExample], times: int = 1) -> None:
        self.counts[name] += times
        shown = self.places.setdefault(name, [])
        if len(shown) < SHOWN:
            shown.append(place())


def finding(
    name: str,
    part: str,
    count: int,
    looked: int,
    noun: str,
    places: Sequence[FaultExample],
    total: int = 0,
) -> Finding:
    """A fault of a known kind; `total` is the size of what `looked` is a sample of."""
    kind = KINDS[name]
    among = f" of {looked:,} {noun} looked at" if total > looked else f" of {looked:,} {noun}"
    said = f"{count:,}{among} ({share(count, looked)}) {kind.what}"
    serious = count > 0 and count / max(1, looked) >= kind.serious_from
    return Finding(name, part, serious, said, kind.remedy, count, looked, tuple(places[:SHOWN]))


def share(count: int, of: int) -> str:
    """
    >>> share(3, 1000), share(1, 100_000), share(5, 5)
    ('0.3%', 'under 0.1%', '100.0%')
    """
    part = count / max(1, of)
    return "under 0.1%" if 0 < part < 0.0005 else f"{part:.1%}"


def cut_short(text: str, width: int = WIDTH) -> str:
    """One line of a screen; characters that cannot be printed are escaped.

    >>> cut_short("a\\u200bb\\x07")
    'a\\\\u200bb\\\\x07'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "…"
