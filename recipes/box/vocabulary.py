"""The vocabulary of the six directions, learnt from a balanced sample of all text, and models carried over to it.

    python recipes/box/vocabulary.py learn DATA --recipe recipes/box/general-teacher.toml --out runs/vocabulary
    python recipes/box/vocabulary.py carry en-fr --vocabulary runs/vocabulary --out runs/start

`learn` takes a limited number of pairs of each source, so that pieces are not spent on the words of parliament: debates
are most of the text, but not of what people translate. It writes tokenizer.json and words.txt.gz, for `chain.py
--vocabulary`.

`carry` gives a model another vocabulary, for training to start from. A piece that the old vocabulary has keeps its
embedding; another gets the mean of the old pieces that spell it; a tag such as <fr-formal> begins as <fr>.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator
from pathlib import Path

from chain_plan import LANGUAGES
from chain_texts import evenly, head
from torch import Tensor

from regard.bundle.bundle import Bundle
from regard.bundle.find_model import find_model
from regard.bundle.folder import TOKENIZER, WORDS
from regard.config import build
from regard.models.table import make_model
from regard.text.known_words import KnownWords
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.text.vocabulary import Vocabulary

CAP = 12_000  # pairs of a source and pair of languages
CAPS = {
    "": 60_000, "tatoeba": 40_000, "news": 20_000, "godot": 4_000, "pydocs": 4_000, "php": 4_000, "msdotnet": 4_000,
    "debian-desc": 4_000, "docs-debian": 2_000, "tldr": 2_000, "vocab": 4_000, "esco": 4_000, "names": 2_000,
    "wiktionary": 4_000,
}  # fmt: skip
SINGLE = 40_000  # sentences of each monolingual text
Pair = tuple[str, str]


def sample(data: Path) -> Iterator[Pair]:
    """Yields pairs of all sources, and single sentences two by two."""
    for other in LANGUAGES:
        for folder in sorted(data.glob(f"*en-{other}")):
            if (folder / "train.en").is_file():
                count = CAPS.get(folder.name.removesuffix(f"en-{other}").removesuffix("-"), CAP)
                sides = [evenly(folder, language, count) for language in ("en", other)]
                yield from zip(*sides, strict=True)
    for path in sorted((data / "mono").glob("*.txt")):
        if ".report" not in path.name:
            lines = head(path, SINGLE)
            yield from zip(lines[::2], lines[1::2], strict=False)


def learn(data: Path, recipe: Path, out: Path) -> None:
    config = build(TextConfig, tomllib.loads(recipe.read_text(encoding="utf-8"))["text"], "text")
    pairs = list(sample(data))
    tokenizer, known = Tokenizer.train(lambda: iter(pairs), config), KnownWords.learn(pairs, "en")
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(out / TOKENIZER)
    known.save(out / WORDS)
    print(f"{out}: {tokenizer.target_size:,} pieces and {len(known.words):,} words from {len(pairs):,} pairs")


def spelled_by(piece: bytes, old: dict[bytes, int], longest: int) -> list[int]:
    """Returns old pieces that spell a new one, the longest possible first.

    >>> spelled_by(b"abc", {b"a": 1, b"ab": 2, b"c": 3}, 2)
    [2, 3]
    """
    found, at = [], 0
    while at < len(piece):
        size = next((n for n in range(min(longest, len(piece) - at), 0, -1) if piece[at : at + n] in old), 0)
        if size:
            found.append(old[piece[at : at + size]])
        at += max(1, size)
    return found


def carried(rows: Tensor, old: Vocabulary, new: Vocabulary) -> Tensor:
    """Returns the embeddings (V', d) of the new vocabulary from those of the old one (V, d)."""
    by_bytes = {spelling: number for number, spelling in enumerate(old.bytes) if spelling}
    longest = max(map(len, by_bytes))
    result = rows.mean(0).repeat(len(new), 1)
    for number, (piece, spelling) in enumerate(zip(new.pieces, new.bytes, strict=True)):
        base = f"{piece.split('-')[0]}>" if piece.startswith("<") and "-" in piece else piece
        if piece in old.ids or base in old.ids:
            result[number] = rows[old.ids.get(piece, old.ids.get(base))]
        elif ids := spelled_by(spelling, by_bytes, longest):
            result[number] = rows[ids].mean(0)
    return result


def carry(model: Path, vocabulary: Path, out: Path) -> None:
    bundle, tokenizer = Bundle.load(model), Tokenizer.load(vocabulary / TOKENIZER)
    weights = bundle.model.state_dict()
    new = make_model(bundle.architecture, bundle.config, tokenizer)
    for name, value in weights.items():
        if value.shape[:1] == (bundle.tokenizer.source_size,):  # embeddings and the output layer, often one matrix
            weights[name] = carried(value, bundle.tokenizer.source, tokenizer.source)
    new.load_state_dict(weights)
    card = {key: value for key, value in bundle.card.items() if key in ("recipe", "languages", "parameters")}
    Bundle(bundle.architecture, bundle.config, new, tokenizer, card, "float16", bundle.known_words).save(out)
    shared = len(set(bundle.tokenizer.source.pieces) & set(tokenizer.source.pieces))
    print(f"{out}: {shared:,} of {tokenizer.source_size:,} pieces are in both vocabularies")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = options.add_subparsers(dest="command", required=True)
    learning = commands.add_parser("learn", help="learn a vocabulary")
    learning.add_argument("data", type=Path)
    learning.add_argument("--recipe", type=Path, required=True, help="its [text] is used")
    learning.add_argument("--out", type=Path, required=True)
    carrying = commands.add_parser("carry", help="give a model another vocabulary")
    carrying.add_argument("model", type=Path)
    carrying.add_argument("--vocabulary", type=Path, required=True)
    carrying.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    if given.command == "learn":
        learn(given.data, given.recipe, given.out)
    else:
        carry(find_model(given.model), given.vocabulary, given.out)


if __name__ == "__main__":
    main()
