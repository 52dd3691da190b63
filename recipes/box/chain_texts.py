"""The small texts of a chain: the embedded grammar, a part of Europarl to be changed, sentences of the further sources
for the teacher to translate, pairs to learn known words from, pairs whose targets show a register, and sentences to
evaluate on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import everyday
from chain_plan import LANGUAGES, Text, measure
from formal_spanish import with_usted

from regard.course.grammar.corpus import generate
from regard.data.overlap import key_words
from regard.errors import InputError
from regard.text.language import REGISTERS
from regard.text.register import addresses_reader, register_of

BLOCK = 5  # neighbouring pairs of a part stay together, so that they can become one text
DEV = (("tests/flores-dev", 200), ("tatoeba-en-fr/dev", 150), ("en-fr/dev", 100))  # English → French
# single words and labels: only people's translations of them
LABELS = ("ui", "vocab", "names", "esco", "mozilla", "apps", "wiktionary")
GENERAL = 40_000  # sentences of each further source that the teacher translates
AMBIGUOUS = re.compile(r"\bbecause it\b")  # of which noun, the adjective says; rare in other text
TIMES = 4  # such a sentence is in the text of the grammar
TEMPLATE = 24  # pairs of an everyday template
JUDGED = Path(__file__).parents[2] / "benchmarks" / "judged"
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
    made = generate(grammar)["train"].examples
    examples = [example for example in made for _ in range(TIMES if AMBIGUOUS.search(example.src) else 1)]
    sentences = {"en": [example.src for example in examples], "fr": [example.tgt for example in examples]}
    for language, lines in sentences.items():
        write(out / f"grammar.{language}", lines)
    with ProcessPoolExecutor(len(LANGUAGES), get_context("fork")) as pool:
        list(pool.map(partial(write_pair, data, out, part, sentences), LANGUAGES))
    write_everyday(data, out)
    write_dev(data, out)


def write_pair(data: Path, out: Path, part: int, grammar: Mapping[str, list[str]], other: str) -> None:
    """Writes the texts of English and another language."""
    if not (data / f"en-{other}" / "train.en").is_file():
        return
    for language in ("en", other):
        some = evenly(data / f"en-{other}", language, part)
        write(out / f"part.en-{other}.{language}", some)
        known = write_general(data, out, other, language)
        # A word of the grammar that no other text has ("mare") is known too, and no slip of another ("made").
        known += [*some, *(grammar[language] if other == "fr" else [])]
        write(out / f"words.en-{other}.{language}", known)
    write_registers(out, other)


def evenly(folder: Path, language: str, count: int) -> list[str]:
    """Returns about `count` lines of train in blocks of neighbours, the same lines of both languages."""
    every = max(1, measure(folder / "train.en").lines // count)
    with (folder / f"train.{language}").open(encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for i, line in enumerate(file) if i // BLOCK % every == 0]


def write_general(data: Path, out: Path, other: str, language: str) -> list[str]:
    """Writes the sentences of the further sources that the teacher translates; returns the lines of all of them, labels
    and Tatoeba included."""
    folders = sorted(path for path in data.glob(f"*-en-{other}") if (path / f"train.{language}").is_file())
    lines: dict[str, list[str]] = {}
    for folder in folders:
        name = folder.name.partition("-en-")[0]
        lines[name] = read(folder / f"train.{language}") if name == "tatoeba" else evenly(folder, language, GENERAL)
    write(
        out / f"general.en-{other}.{language}",
        [line for name, some in lines.items() if name not in (*LABELS, "tatoeba") for line in some],
    )
    return [line for some in lines.values() for line in some]


def write_registers(out: Path, other: str) -> None:
    """Writes the pairs whose targets address the reader formally or informally; they are also trained on without.
    Spanish pairs that say tú are also written with usted."""
    pairs = zip(*(read(out / f"words.en-{other}.{language}") for language in ("en", other)), strict=True)
    found: dict[str | None, list[tuple[str, str]]] = {"formal": [], "informal": [], None: []}
    for english, target in pairs:
        found[register_of(target, other, addresses_reader(english))].append((english, target))
    if other == "es":
        words = Counter(word for _, target in found["informal"] for word in target.split())
        infinitives = {word for word, count in words.items() if count > 2 and word.endswith("r")}
        rewritten = ((english, with_usted(target, infinitives)) for english, target in found["informal"])
        found["formal"] += [(english, target) for english, target in rewritten if target]
    for register in REGISTERS:
        for side, language in enumerate(("en", other)):
            write(out / f"{register}.en-{other}.{language}", [pair[side] for pair in found[register]])


def write_everyday(data: Path, out: Path) -> None:
    """Writes the pairs of our own making (everyday.py), without texts that models are tested or judged by."""
    tests = [path for path in (data / "tests").glob("*") if path.is_file()]
    judged = (line.rpartition("\t")[2] for path in JUDGED.rglob("*.tsv") for line in read(path))
    held_out = everyday.words_of_files(tests) | {tuple(key_words(text)) for text in judged}
    templates, lists = everyday.read_folder(everyday.FOLDER)
    lines = everyday.expand_all(templates, lists, TEMPLATE)
    everyday.write(out, [line for line in lines if not everyday.is_held_out(line, held_out)])


def write_dev(data: Path, out: Path) -> None:
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
