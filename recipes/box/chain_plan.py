"""What a chain (`chain.py`) is going to do, and how long each part may take.

The minutes are divided so: texts, encoding, packing and the table take what they take, by the rates below; the rest is
the teacher's, the translating and the student's, by SHARES. It is divided again before every stage, with the time that
is left by then, so that a slow stage shortens the following ones and not the chain.
"""

from __future__ import annotations

import math
import os
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("fr", "de", "es")
DIRECTIONS = tuple(way for other in LANGUAGES for way in ((f"en-{other}"), (f"{other}-en")))
STAGES = (
    "texts", "encode", "teacher", "translate", "encode-translated", "student", "pack", "views", "calibrate", "table",
)  # fmt: skip
SHARES = {"teacher": 0.50, "translate": 0.13, "student": 0.37}  # of what the other stages leave
SELF_TAUGHT = {"teacher": 0.45, "translate": 0.13, "student": 0.42}
START_UP = {"cuda": 45.0, "cpu": 12.0}  # seconds of a training that are no updates: imports, evaluations, checkpoints
FIXED = {"texts": 12.0, "pack": 60.0, "views": 150.0, "calibrate": 900.0, "table": 150.0}  # seconds
VOCABULARY = 20.0  # seconds to learn one, on the cores of a GPU machine
ENCODED = 6000.0  # pairs a second and core
BYTES_OF_PIECE = 4.3  # of text, with 16,000 pieces for four languages
SAMPLED = 1 << 20  # bytes of a file that are read to estimate its lines

# One H200 (docs/benchmarks.md, docs/log.md): no model learns more than 0.9 million target tokens a second, large ones
# run at half of the device's peak. Searching: 744,023 and 361,931 tokens/s with a beam of 1 and 5.
LEAST_SECONDS = {"cuda": 1.1e-6, "cpu": 0.0}  # of a target token
FLOPS = {"cuda": 4.7e14, "cpu": 2.0e10}  # a second
SEARCHED = {"cuda": 744_000.0, "cpu": 900.0}  # tokens a second, greedily, all processes together
BEAM_COST = 0.27  # of a greedy search, for each further hypothesis


@dataclass(frozen=True)
class Text:
    """About how much a file holds."""

    lines: int
    tokens: int

    def __add__(self, other: Text) -> Text:
        return Text(self.lines + other.lines, self.tokens + other.tokens)


def measure(path: Path) -> Text:
    """By the first megabyte; exact for smaller files."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(SAMPLED)
    lines = head.count(b"\n")
    if lines == 0:
        return Text(0, 0)
    share = 1.0 if size <= SAMPLED else size / len(head)
    return Text(round(lines * share), round(size / BYTES_OF_PIECE + lines * share))  # EOS is a token too


@dataclass(frozen=True)
class Corpus:
    """A corpus of a recipe."""

    name: str
    text: Text  # of its target
    weight: float = 1.0


def epoch(corpora: Iterable[Corpus]) -> Text:
    """Pairs and target tokens of an epoch.

    >>> epoch([Corpus("a", Text(100, 1000)), Corpus("b", Text(10, 50), weight=4)])
    Text(lines=140, tokens=1200)
    """
    weighed = [(round(c.weight * c.text.lines), round(c.weight * c.text.tokens)) for c in corpora]
    return Text(sum(lines for lines, _ in weighed), sum(tokens for _, tokens in weighed))


def tokens_per_second(flops_of_token: float, device: str) -> float:
    """Target tokens that a model learns in a second, from the operations of one, forward and backward.

    >>> round(tokens_per_second(3e8, "cuda")), round(tokens_per_second(1.25e9, "cuda"))
    (909091, 376000)
    """
    return 1 / max(LEAST_SECONDS[device], flops_of_token / FLOPS[device])


def search_seconds(tokens: float, beam: int, device: str) -> float:
    """Of translations with so many tokens.

    >>> round(search_seconds(744_000, 1, "cuda"), 2), round(search_seconds(744_000, 5, "cuda"), 2)
    (1.0, 2.08)
    """
    return tokens / SEARCHED[device] * (1 + BEAM_COST * max(0, beam - 1))


def encode_seconds(pairs: int, cores: int, learnt: bool) -> float:
    """Of a vocabulary, unless it is there, and of encoding."""
    return pairs / (ENCODED * cores) + (0.0 if learnt else VOCABULARY)


def process_began() -> float:
    """When this process did, by `time.monotonic`; now, where the system does not say. The imports of a
    script take seconds, many on a machine that has just been started."""
    try:
        ticks = int(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])  # since boot
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic()
    return time.monotonic() - age


def divide(
    seconds: float, wanted: Sequence[str], fixed: Mapping[str, float], shares: Mapping[str, float] = SHARES
) -> dict[str, float]:
    """Seconds for each of the stages that are to be run.

    >>> {stage: round(s) for stage, s in divide(1500, ["encode", "teacher", "student"], {"encode": 60}).items()}
    {'encode': 60, 'teacher': 828, 'student': 612}
    """
    taken = {stage: fixed[stage] for stage in wanted if stage not in shares}
    left = seconds - sum(taken.values())
    flexible = [stage for stage in wanted if stage in shares]
    if flexible and left < 0.2 * seconds:
        what = ", ".join(f"{stage} {math.ceil(took)} s" for stage, took in taken.items())
        raise ValueError(f"{seconds / 60:.1f} minutes are too few: {what} leave {max(0.0, left):.0f} s for the rest")
    whole = sum(shares[stage] for stage in flexible)
    return {stage: taken[stage] if stage in taken else left * shares[stage] / whole for stage in wanted}


def training_minutes(seconds: float, device: str, runs: int = 1) -> float:
    """`train.minutes` of each of several runs that have so many seconds together; these minutes are of updates alone.

    >>> training_minutes(690, "cuda"), training_minutes(690, "cuda", runs=2)
    (10.75, 5.0)
    """
    return max(0.05, (seconds / runs - START_UP[device]) / 60)


@dataclass(frozen=True)
class TextToTranslate:
    """A text that the teachers translate; with a beam of 0 they draw samples."""

    name: str
    source: str  # a language
    target: str
    path: Path
    beam: int

    @property
    def direction(self) -> str:
        return f"{self.source}-{self.target}"


def texts_to_translate(table: Path, data: Path, out: Path) -> list[TextToTranslate]:
    """Returns the texts of general-texts.toml whose files exist, in its order."""
    text = table.read_text(encoding="utf-8").replace('"DATA/', f'"{data}/').replace('"OUT/', f'"{out}/')
    entries = tomllib.loads(text)["text"]
    directions = [("en", other) for other in LANGUAGES] + [(other, "en") for other in LANGUAGES]
    found = [
        TextToTranslate(
            entry["name"],
            source,
            target,
            Path(entry["file"].format(source=source, pair=pair_of(source, target))),
            0 if entry.get("sample") else entry["beam"],
        )
        for entry in entries
        for source, target in directions
        if source in entry.get("from", ("en", *LANGUAGES))
    ]
    return [text for text in found if text.path.is_file()]


def pair_of(source: str, target: str) -> str:
    """The folder of a pair of languages; English stands first.

    >>> pair_of("de", "en")
    'en-de'
    """
    return f"en-{target if source == 'en' else source}"
