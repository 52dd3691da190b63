"""The tokenizer of a translator: text ↔ ids on both sides, with one joint vocabulary or two.

Encoding is reversible: `decode(encode(s)) == NFC(s)` for BPE, whatever the string holds. Ids carry no BOS or EOS;
a batch adds them. A slot (`slots.py`) is one id on both sides. A tokenizer is saved as one file. `pieces.py` splits
text, `vocabulary_training.py` learns vocabularies; imported models use `sentencepiece.py`. A `marked` tokenizer puts a
tag before every source; the mark is stored in the bundle, not in this file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from regard.config import build, key, nearest, require
from regard.errors import BundleError, InputError
from regard.text.language import LANGUAGE_TAG, REGISTERS, Register, describe_tags, find_tag, leading_tag
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.pieces import nfc, to_pieces_form
from regard.text.sentencepiece import SentencePieceVocabulary
from regard.text.slots import without_slots
from regard.text.vocabulary import BYTES, SPECIALS, UNKNOWN, Piece, Vocabulary
from regard.text.words import Span

FORMAT = 1  # of the file, and of the pre-tokenization that the ids depend on
SAMPLE = 1_000_000  # maximal number of pairs a vocabulary is learned from
TAG = re.compile(r"<[\w.+-]+>")  # brackets are split from words, so no text is encoded as this piece
CHUNK = 2000  # pairs whose characters are counted at once
MAX_LINE = 10_000  # characters; a longer line is not used to learn the vocabulary

Pairs = Callable[[], Iterator[tuple[str, str]]]


@dataclass(frozen=True)
class TextConfig:
    """Section [text] of a recipe."""

    unit: Literal["bpe", "word", "character", "sentencepiece"] = key(
        "bpe", "what a token is: a subword (bpe), a word, a character, or an imported model's piece (sentencepiece)"
    )
    vocab_size: int = key(8000, "entries of the vocabulary, of each one if they are separate")
    joint: bool = key(True, "one vocabulary for both languages (needed to tie all embeddings)")
    tags: tuple[str, ...] = key((), "further entries, such as <bt>, that no text is encoded as, to mark sources with")
    bpe_dropout: float = key(0.0, "probability of skipping a merge in training, so that a word is split in many ways")

    def __post_init__(self) -> None:
        least = {"bpe": 300, "word": 10, "character": 300, "sentencepiece": 5}[self.unit]
        require(
            self.vocab_size >= least,
            f"vocab_size must be at least {least} for unit {self.unit}, but is {self.vocab_size}; try 8000",
        )
        form, example = (LANGUAGE_TAG, ">>fra<<") if self.unit == "sentencepiece" else (TAG, "<news>")
        odd = [tag for tag in self.tags if not form.fullmatch(tag) or tag in (*SPECIALS, UNKNOWN, *BYTES)]
        require(not odd, f'a tag must look like {example}, but text.tags has "{"".join(odd[:1])}"')
        require(len(set(self.tags)) == len(self.tags), f"text.tags names a tag twice: {', '.join(self.tags)}")
        require(self.vocab_size < 2**31, f"vocab_size must be below 2^31, but is {self.vocab_size}")
        require(0 <= self.bpe_dropout < 1, f"bpe_dropout must be in [0, 1), but is {self.bpe_dropout}; try 0.1")
        require(
            self.unit == "bpe" or self.bpe_dropout == 0,
            f"bpe_dropout is {self.bpe_dropout}, but unit {self.unit} has no merges to drop; set 0, or unit to bpe",
        )


class Tokenizer:
    """The vocabularies of both sides of a translator. In a joint vocabulary an id is the same piece on both sides."""

    def __init__(self, source: Vocabulary, target: Vocabulary, config: TextConfig, mark: str | None = None) -> None:
        assert len(source) == len(target) or not config.joint
        assert mark is None or mark in config.tags
        self.source, self.target, self.config = source, target, config
        self.source_size, self.target_size = len(source), len(target)
        self.unknown = target.unknown  # the target id of <unk>; None if the vocabulary can spell every text
        self.slot_ids = target.slot_ids  # in the target (`slots.py`); only BPE has them
        self.multilingual = config.unit == "sentencepiece" and bool(config.tags)  # its tags select the target language
        self.mark = mark  # the tag before every source
        self.has_registers = "-formal>" in "".join(config.tags)

    @classmethod
    def train(cls, pairs: Pairs, config: TextConfig) -> Tokenizer:
        """Learns a tokenizer from sentence pairs. `pairs` is called several times and must yield the same each time."""
        if config.unit == "sentencepiece":
            raise InputError(
                "pieces of SentencePiece are not learned here, they come with an imported model; "
                "set train.start_from to such a model, or text.unit to bpe"
            )
        try:  # translating needs no library for it
            from regard.text.vocabulary_training import CharacterCounts, character_vocabulary, learn_bpe, learn_words
        except ModuleNotFoundError as error:
            raise InputError(
                f'learning a vocabulary needs the package {error.name}; install it: pip install "regard[torch]"'
            ) from None
        count, read, counts = 0, pairs(), (CharacterCounts(), CharacterCounts())
        while some := list(islice(read, CHUNK)):
            count += len(some)
            for side, texts in zip(counts, zip(*some, strict=True), strict=True):
                side.add([text[:MAX_LINE] for text in texts])
        characters = [side.counter() for side in counts]
        if not characters[0] + characters[1]:
            raise InputError(f"no text to learn a vocabulary from: {count:,} pairs were read and all are empty")
        stride = -(-count // SAMPLE)

        def learn(sides: tuple[int, ...]) -> LearnedVocabulary:
            lines = _lines(pairs(), sides, stride)
            if config.unit == "word":
                return learn_words(lines, config.vocab_size).with_tags(config.tags)
            counts = sum((characters[s] for s in sides), Counter[str]())
            if config.unit == "character":
                return character_vocabulary(counts, config.vocab_size).with_tags(config.tags)
            return learn_bpe(lines, counts, config.vocab_size).with_tags(config.tags)

        source = learn((0, 1) if config.joint else (0,))
        return cls(source, source if config.joint else learn((1,)), config)

    @property
    def longest_piece(self) -> int | None:
        """The maximal number of characters of a token; None if an unknown word may be of any length."""
        if self.unknown is not None:
            return None
        return max(len(piece) for vocabulary in (self.source, self.target) for piece in vocabulary.pieces)

    def encode_source(self, texts: Sequence[str], rng: random.Random | None = None) -> list[list[int]]:
        """Returns the ids of each text, after the mark if there is one, without BOS or EOS. With `rng`, BPE-dropout is
        applied as configured."""
        ids = self._encode(self.source, texts, rng)
        return ids if self.mark is None else [[self.source.ids[self.mark], *row] for row in ids]

    def encode_target(self, texts: Sequence[str], rng: random.Random | None = None) -> list[list[int]]:
        return self._encode(self.target, texts, rng)

    def _encode(self, vocabulary: Vocabulary, texts: Sequence[str], rng: random.Random | None) -> list[list[int]]:
        if rng is None or not self.config.bpe_dropout:
            return vocabulary.encode(texts)
        return vocabulary.encode_with_dropout(texts, rng, self.config.bpe_dropout)

    def tag_ids(self, tag: str | None) -> list[int]:
        """Returns the ids that a tag adds before a source: one id, or none without a tag."""
        return [self.source.ids[self.find_tag(tag)]] if tag else []

    def find_tag(self, name: str) -> str:
        """Returns the tag of this name; >>fra<< may be given as fra or fr. Raises InputError for an unknown tag."""
        if self.mark is not None:
            raise InputError(
                f'the tag "{name}" is given, but this model has its tag already, {self.mark}; leave it out'
            )
        if self.multilingual:
            return find_tag(name, self.config.tags)
        if name not in self.config.tags:
            known = nearest(name, self.config.tags) if self.config.tags else "this vocabulary has none"
            raise InputError(f'unknown tag "{name}"; {known}')
        return name

    def by_tag(self, texts: Sequence[str], tag: str | None) -> dict[str | None, dict[int, str]]:
        """Groups texts, with their numbers, by tag. Texts for a multilingual model may begin with a tag, which is
        removed; `tag` is for the others."""
        if not self.multilingual or self.mark is not None:
            return {tag: dict(enumerate(texts))}
        groups: dict[str | None, dict[int, str]] = {} if texts else {tag: {}}
        for number, text in enumerate(texts):
            own = leading_tag(text, self.config.tags)
            groups.setdefault(own or tag, {})[number] = text[len(own) :].lstrip() if own else text
        return groups

    def register_tags(self, tag: str | None = None) -> dict[Register, str]:
        """Returns the tags that stand for a language tag, by default the mark, if a register is asked for: <fr-formal>
        and <fr-informal> for <fr>. Empty if the vocabulary does not have both."""
        found = {register: f"{(tag or self.mark or '')[:-1]}-{register}>" for register in REGISTERS}
        return found if set(found.values()) <= set(self.config.tags) else {}

    def prefix(self, tag: str | None, register: Register | None = None) -> list[int]:
        """Returns the ids before every source: those of the tag, or of the mark, or of the tag that stands for it in a
        register. Raises InputError if a multilingual model has neither, or if it has no tag for the register; the tag
        "" means none."""
        if register is not None:
            tags = self.register_tags(tag)
            if not tags:
                raise InputError(
                    f"formality is {register}, but this model has no tags for it, such as <fr-formal>: it translates "
                    "in one way only; leave formality out",
                    parameter="formality",
                )
            return [self.source.ids[tags[register]]]
        if self.multilingual and self.mark is None and tag is None:
            raise InputError(
                f"this model translates into several languages: give the tag of one, or begin the text with it, as in "
                f'"{self.config.tags[0]} Hello."; {describe_tags(self.config.tags)}',
                parameter="tag",
            )
        return self.tag_ids(tag) or self.mark_ids

    @property
    def mark_ids(self) -> list[int]:
        """The ids that `encode_source` puts before every text."""
        return [] if self.mark is None else [self.source.ids[self.mark]]

    def marked(self, tag: str) -> Tokenizer:
        """Returns this tokenizer with a tag before every source."""
        return Tokenizer(self.source, self.target, self.config, self.find_tag(tag))

    @property
    def plain(self) -> Tokenizer:
        """This tokenizer without its mark."""
        return self if self.mark is None else Tokenizer(self.source, self.target, self.config)

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of target ids; PAD, BOS and EOS add nothing."""
        return self.target.decode(ids)

    def decode_source(self, ids: Iterable[int]) -> str:
        return self.source.decode(ids)

    def target_pieces(self, ids: Sequence[int]) -> list[Span]:
        """Returns the span of each id in `decode(ids)`; a byte of a character has the whole character's span."""
        return self.target.spans(ids)

    def source_tokens(self, text: str) -> list[Piece]:
        """Returns the tokens of a text by `encode_source`, with their spans in the given text. A mark has an empty span
        at the beginning."""
        tokens = self.source.tokens(text)
        return tokens if self.mark is None else [Piece(self.mark, 0, 0), *tokens]

    def target_tokens(self, text: str) -> list[Piece]:
        """Returns the tokens of a text by `encode_target`, with their spans in the given text."""
        return self.target.tokens(text)

    def as_dict(self) -> dict[str, Any]:
        """Returns the content of the file. If both sides have the same pieces, these are stored once."""
        kept: dict[str, Any] = {"source": self.source.stored()}
        if self.source is not self.target:
            shared = ("pieces",) if self.config.joint else ()
            kept["target"] = {name: value for name, value in self.target.stored().items() if name not in shared}
        return {"format": FORMAT, "config": dataclasses.asdict(self.config), **kept}

    @property
    def fingerprint(self) -> str:
        """A hash that is equal exactly if two tokenizers give equal ids (without dropout)."""
        what = self.as_dict() | {"config": self.config.unit} | ({"mark": self.mark} if self.mark else {})
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.as_dict(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BundleError(f"{path} is missing; a model folder needs it: copy the whole folder again") from None
        except (ValueError, OSError, RecursionError) as error:
            raise BundleError(f"{path} cannot be read ({error}); copy it again from the model folder") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise BundleError(f"{path} is not a tokenizer this version of regard can read (format {FORMAT})")
        try:
            config = build(TextConfig, found["config"], "text")
            source = _vocabulary(found["source"], config)
            if config.joint and "target" not in found:
                return cls(source, source, config)
            shared = {"pieces": source.pieces} if config.joint else {}
            return cls(source, _vocabulary(shared | found["target"], config), config)
        except Exception as error:
            raise BundleError(f"{path} is damaged ({type(error).__name__}: {error}); copy it again") from None


def _vocabulary(found: dict[str, Any], config: TextConfig) -> Vocabulary:
    if not all(isinstance(piece, str) for piece in found["pieces"]):
        raise ValueError("its pieces must be strings")
    if config.unit == "sentencepiece":
        return SentencePieceVocabulary.restored(found)
    pieces, merges = found["pieces"], found["merges"]
    start = [*SPECIALS, UNKNOWN] if config.unit == "word" else [*SPECIALS]
    if pieces[: len(start)] != start or (merges is None) != (config.unit == "word"):
        raise ValueError("its specials are not in their places")
    if pieces[len(pieces) - len(config.tags) :] != [*config.tags]:
        raise ValueError("its tags are not in their places")
    return LearnedVocabulary(pieces, None if merges is None else [(a, b) for a, b in merges], config.tags)


def _lines(pairs: Iterator[tuple[str, str]], sides: tuple[int, ...], stride: int) -> Iterator[str]:
    """Yields the chosen sides of every stride-th pair, in pieces form."""
    for pair in islice(pairs, 0, None, stride):
        for side in sides:
            if len(pair[side]) <= MAX_LINE:
                yield to_pieces_form(nfc(without_slots(pair[side])))
