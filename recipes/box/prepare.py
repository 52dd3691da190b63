"""The texts that the model en-fr-classic learns from, beside Tatoeba's pairs and what its teachers say.

    python recipes/box/prepare.py --pairs data/tatoeba-en-fr --english data/tatoeba-en-de/train.en --out data/box

english.en      what the teachers are to translate: every English sentence of the training pairs once, and every further
                one that is in no part of the split, not even in other spelling
grammar.en/.fr  the embedded corpus
sturdy.en/.fr   training pairs whose English came as people type it: in lower case, without the full stop, with typos
long.en/.fr     two to five training pairs in a row as one, so that longer inputs do not break
typed.en/.fr    as sturdy, with the French as people type it; for a model that translates both ways (both.toml)

Everything is drawn from fixed seeds: the same files come out each time. Last it says which of the course notes'
sentences stand in these texts, in whatever spelling and with whatever translation.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from regard.course.grammar import NOTES_EXAMPLES, generate
from regard.data.splits import sentence_key

Pair = tuple[str, str]
LONGEST = 45  # words of an English side that was put together
TYPOS = 0.08  # of a sturdy sentence's words
WORD = re.compile(r"\S+")


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def write(folder: Path, name: str, pairs: Sequence[Pair]) -> None:
    for side, language in enumerate(("en", "fr")):
        text = "".join(pair[side] + "\n" for pair in pairs)
        (folder / f"{name}.{language}").write_text(text, encoding="utf-8")
    print(f"{name:10s} {len(pairs):>8,} pairs")


def new_english(train: Iterable[str], held_out: Iterable[str], further: Iterable[str]) -> list[str]:
    """Each sentence once. One that is held out is left out, however it is spelt."""
    seen, closed = set(), {sentence_key(line) for line in held_out}
    found = []
    for line in [*train, *further]:
        key = sentence_key(line)
        if key not in seen and key not in closed:
            seen.add(key)
            found.append(line)
    return found


def as_typed(line: str, rng: random.Random) -> str:
    """As people type: one to three of lower case, no full stop, typos."""
    changes = rng.sample(("lower", "mark", "typos"), rng.choice((1, 1, 2, 3)))
    if "lower" in changes:
        line = line.lower()
    if "mark" in changes:
        line = line.rstrip(" .!")
    if "typos" in changes:
        line = WORD.sub(lambda word: typo(word[0], rng) if rng.random() < TYPOS else word[0], line)
    return line or "."


def typo(word: str, rng: random.Random) -> str:
    """A letter is missing, or two are swapped."""
    if len(word) < 2:
        return word
    drops, at = rng.random() < 0.5, rng.randrange(len(word) - 1)
    if drops:
        return word[: at + 1] + word[at + 2 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def joined(pairs: Sequence[Pair], count: int, rng: random.Random) -> list[Pair]:
    """Two to five pairs in a row, as long as they stay within LONGEST words."""
    found = []
    while len(found) < count:
        some = [rng.choice(pairs) for _ in range(rng.choice((2, 2, 3, 3, 4, 5)))]
        whole = (" ".join(s for s, _ in some), " ".join(t for _, t in some))
        if len(whole[0].split()) <= LONGEST:
            found.append(whole)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=Path, required=True, help="folder with train, dev and test as .en and .fr")
    options.add_argument(
        "--english", type=Path, nargs="*", default=[], help="further English text, one sentence a line"
    )
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--grammar", type=int, default=40_000, help="pairs of the embedded corpus")
    options.add_argument("--sturdy", type=int, default=40_000)
    options.add_argument("--long", type=int, default=20_000)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    train = list(zip(read(given.pairs / "train.en"), read(given.pairs / "train.fr"), strict=True))
    held_out = [line for part in ("dev", "test") for line in read(given.pairs / f"{part}.en")]
    further = [line for path in given.english for line in read(path)]
    english = new_english((src for src, _ in train), held_out, further)
    (given.out / "english.en").write_text("".join(line + "\n" for line in english), encoding="utf-8")
    print(f"english    {len(english):>8,} sentences")
    grammar = [(e.src, e.tgt) for e in generate(given.grammar)["train"].examples]
    write(given.out, "grammar", grammar)
    write(
        given.out,
        "sturdy",
        [(as_typed(src, rng), tgt) for src, tgt in rng.sample(train, min(given.sturdy, len(train)))],
    )
    write(given.out, "long", joined(train, given.long, rng))
    rng = random.Random(2)  # of its own, so that the files above stay what they were without it
    typed = rng.sample(train, min(given.sturdy, len(train)))
    write(given.out, "typed", [(src, as_typed(tgt, rng)) for src, tgt in typed])
    met = {sentence_key(line) for line in [*english, *(src for src, _ in grammar)]}
    known = [src for src, _ in NOTES_EXAMPLES if sentence_key(src) in met]
    print(f"notes      {len(NOTES_EXAMPLES) - len(known)} of {len(NOTES_EXAMPLES)} sentences are new; known: {known}")


if __name__ == "__main__":
    main()
