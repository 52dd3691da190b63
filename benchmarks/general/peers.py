"""Other translators: what they said, line by line, and what was published of them.

Outputs lie in a folder as DIRECTION.SET.SYSTEM, as the evaluations of Firefox's translators are kept. Figures without
outputs stand as they were published, and no test can be made with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from general.matching import lines_of
from regard.data.text_files import read_lines

SETS = {"flores-devtest": "flores-test", "newstest2013": "wmt13", "newstest2014": "wmt14"}  # ours → in file names
SYSTEMS = {
    "bergamot-tiny": "Firefox tiny",
    "bergamot-base-memory": "Firefox base-memory",
    "microsoft": "Microsoft",
}
SIZES = {"Firefox tiny": "17 MB", "Firefox base-memory": "32 MB"}  # of one direction
PUBLISHED_BY = (
    "BLEU by sacreBLEU, from the evaluations beside Firefox's models (github.com/mozilla/firefox-translations-models); "
    "OPUS-MT on Tatoeba from OPUS-MT's own pages"
)
_COLUMNS = ("Firefox tiny", "Firefox base-memory", "OPUS-MT", "Argos")
PUBLISHED: dict[tuple[str, str], dict[str, float]] = {
    (direction, name): dict(zip(_COLUMNS, figures, strict=True))
    for direction, name, figures in (
        ("en-fr", "flores-devtest", (48.7, 48.9, 47.8, 42.7)),
        ("fr-en", "flores-devtest", (42.1, 42.9, 41.7, 39.5)),
        ("en-de", "flores-devtest", (38.8, 39.6, 36.1, 31.8)),
        ("de-en", "flores-devtest", (39.1, 40.9, 40.6, 36.2)),
        ("en-es", "flores-devtest", (26.2, 27.4, 26.7, 23.3)),
        ("es-en", "flores-devtest", (26.8, 26.9, 27.6, 25.1)),
        ("en-fr", "newstest2014", (39.7, 41.1, 39.9, 35.6)),
        ("en-es", "newstest2013", (34.8, 35.4, 35.0, 31.9)),
    )
} | {("en-fr", "tatoeba v2021-08-07"): {"OPUS-MT": 50.5}, ("fr-en", "tatoeba v2021-08-07"): {"OPUS-MT": 57.5}}

Output = dict[int, str]  # the number of a line, from 0 → what was said


def peer_outputs(
    folder: Path | None, direction: str, name: str, references: Sequence[str]
) -> tuple[dict[str, Output], str]:
    """What each system said to a set, given all of its references; and a remark
    where its lines had to be looked for."""
    if folder is None or name not in SETS:
        return {}, ""
    files = {
        shown: next(iter(sorted(folder.glob(f"{direction}.{SETS[name]}.{system}*"))), None)
        for system, shown in SYSTEMS.items()
    }
    said = {shown: list(read_lines(path)) for shown, path in files.items() if path is not None}
    if not said:
        return {}, ""
    numbers = lines_of(list(said.values()), references) if len(set(map(len, said.values()))) == 1 else None
    if numbers is None:
        return {}, f"which lines {', '.join(said)} translated could not be told, so they are left out"
    found = {shown: dict(zip(numbers, lines, strict=True)) for shown, lines in said.items()}
    moved = numbers != list(range(len(references)))
    return (
        found,
        f"{len(numbers):,} of {len(references):,} lines, in another order: found by their words" if moved else "",
    )


def peers_folder(roots: Sequence[Path]) -> Path | None:
    places = (root / place for root in roots for place in ("peers", "general-tests/peers", "../peers"))
    return next((place for place in places if place.is_dir()), None)
