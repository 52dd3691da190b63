"""The small texts of a chain: the embedded grammar, a part of Europarl to be changed, pairs to learn known words from,
and sentences to evaluate on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from chain_plan import LANGUAGES, Text, measure

from regard.course.grammar.corpus import generate
from regard.errors import InputError

BLOCK = 5  # neighbouring pairs of a part stay together, so that they can become one text
DEV = (("tests/flores-dev", 200), ("tatoeba-en-fr/dev", 150), ("en-fr/dev", 100))  # English → French
CUT = ("*-*/*.*", "mono/*.txt", "tests/*.*")  # texts of DATA


def write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def head(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in islice(file, count)]


def write_texts(data: Path, out: Path, grammar: int, part: int) -> None:
    """`grammar` pairs of the grammar, and about `part` pairs of each Europarl corpus."""
    examples = generate(grammar)["train"].examples
    sentences = {"en": [example.src for example in examples], "fr": [example.tgt for example in examples]}
    for language, lines in sentences.items():
        write(out / f"grammar.{language}", lines)
    for other in LANGUAGES:
        source = data / f"en-{other}"
        if (source / "train.en").is_file():
            every = max(1, measure(source / "train.en").lines // part)
            for language in ("en", other):
                with (source / f"train.{language}").open(encoding="utf-8", newline="\n") as file:
                    some = [line.rstrip("\n") for i, line in enumerate(file) if i // BLOCK % every == 0]
                write(out / f"part.en-{other}.{language}", some)
                everyday = data / f"tatoeba-en-{other}" / f"train.{language}"
                # A word of the grammar that no other text has ("mare") is known too, and no slip of another ("made").
                known = [*(read(everyday) if everyday.is_file() else []), *some]
                write(out / f"words.en-{other}.{language}", known + (sentences[language] if other == "fr" else []))
    dev: dict[str, list[str]] = {"en": [], "fr": []}
    for name, count in DEV:
        if all((data / f"{name}.{language}").is_file() for language in dev):
            for language, lines in dev.items():
                lines += head(data / f"{name}.{language}", count)
    if not dev["en"]:
        wanted = ", ".join(f"{name}.en" for name, _ in DEV)
        raise InputError(f"{data} has no sentences to evaluate on; one of these is needed, with its .fr: {wanted}")
    for language, lines in dev.items():
        write(out / f"dev.{language}", lines)


def cut(data: Path, out: Path, lines: int) -> Path:
    """The first lines of all files, as data for a trial."""
    for pattern in CUT:
        for path in sorted(data.glob(pattern)):
            write(out / path.relative_to(data), head(path, lines))
    return out


def lines_of(folder: Path) -> Text:
    """All files of a folder together."""
    return sum((measure(path) for path in sorted(folder.iterdir()) if path.is_file()), Text(0, 0))
