"""Characters that indicate damage: control characters, zero-width characters, lost ones, text decoded twice, HTML.

A first pattern finds the few lines that can have any of them; only those are checked one by one. The joiners U+200C
and U+200D are not counted: Persian, Hindi and emoji need them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from regard.doctor.findings import FaultCounts, FaultExample

CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff"
LATER = "\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸ€"  # bytes 80–BF of UTF-8, read as Latin-1 or Windows-1252
TAGS = r"a|b|i|u|p|br|hr|em|strong|div|span|font|table|tr|td|th|li|ul|ol|h[1-6]|img|sub|sup|html|body|script|style"
SUSPECT = re.compile(f"[{CONTROL}{INVISIBLE}\ufffdÃÂâÐÑ&<]")
FAULTS = {
    "control": re.compile(f"[{CONTROL}]"),
    "invisible": re.compile(f"[{INVISIBLE}]"),
    "replaced": re.compile("\ufffd"),
    "mojibake": re.compile(f"[ÃÂ][{LATER}]|â[\u0080€][{LATER}]|(?:[ÐÑ][{LATER}]){{2}}"),
    "html": re.compile(
        rf"&(?:amp|lt|gt|quot|apos|nbsp|#\d+|#x[0-9a-f]+);|</?(?:{TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE
    ),
}


def check_characters(texts: Sequence[str], place: Callable[[int], FaultExample], tally: FaultCounts) -> None:
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:  # JSON can hold lines within a text
        texts = [text.replace("\n", " ") for text in texts]
        joined = "\n".join(texts)
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    suspects = {bisect_right(starts, match.start()) - 1 for match in SUSPECT.finditer(joined)}
    for at in sorted(suspects):
        for name, pattern in FAULTS.items():
            if pattern.search(texts[at]):
                tally.met(name, lambda at=at: place(at))  # type: ignore[misc]
    if not joined.isascii() and not unicodedata.is_normalized("NFC", joined):
        for at, text in enumerate(texts):
            if not text.isascii() and not unicodedata.is_normalized("NFC", text):
                tally.met("normal form", lambda at=at: place(at))  # type: ignore[misc]
