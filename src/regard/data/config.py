"""The data of a recipe: its section [data] and its tables [[data.corpus]]."""

from __future__ import annotations

from dataclasses import dataclass, replace

from regard.config import key, require

TRANSFORMS = (  # keys of DataConfig
    "recase", "lower", "title", "drop_marks", "slips", "drop_words", "renumber", "placeholders", "emoji", "list_marks",
    "join_pairs",
)  # fmt: skip
MOST_OFTEN = 1000  # maximum weight of a corpus: passes over it per epoch


@dataclass(frozen=True)
class CorpusConfig:
    """A table [[data.corpus]] of a recipe: one of several corpora to learn from."""

    src: str | None = key(None, "source sentences")
    tgt: str | None = key(None, "their translations")
    pairs: str | None = key(None, "instead of src and tgt: a .tsv or .jsonl file")
    weight: float = key(1.0, "how many times an epoch goes through it: 2 twice, 0.5 through one half, then the other")
    tag: str | None = key(None, "one of text.tags, put before its sources")
    rough: float = key(1.0, "the chances of [data] for changes to text (recase to join_pairs), times this; 0: none")

    def __post_init__(self) -> None:
        require(0 <= self.rough <= 1, f"data.corpus.rough must be from 0 to 1, but is {self.rough:g}")
        good = 0 < self.weight <= MOST_OFTEN
        require(good, f"data.corpus.weight must be above 0 and at most {MOST_OFTEN}, but is {self.weight:g}")


@dataclass(frozen=True)
class DataConfig:
    """Section [data] of a recipe."""

    src: str | None = key(None, 'source sentences, one a line (.gz .xz .bz2 .zst too); "part*.en" names many files')
    tgt: str | None = key(None, "their translations, line by line")
    pairs: str | None = key(
        None, "instead of src and tgt: one .tsv or .jsonl file (.gz .xz .bz2 .zst too), or a pattern"
    )
    corpus: tuple[CorpusConfig, ...] = key(
        (), "further corpora, in a recipe: [[data.corpus]] with src and tgt or pairs, weight, tag, rough (docs/data.md)"
    )
    dev_src: str | None = key(None, "source sentences to evaluate on during training")
    dev_tgt: str | None = key(None, "their translations")
    dev_pairs: str | None = key(None, "instead of dev_src and dev_tgt: one .tsv or .jsonl file")
    test_src: str | None = key(None, "source sentences to score the finished model on")
    test_tgt: str | None = key(None, "their translations")
    test_pairs: str | None = key(None, "instead of test_src and test_tgt: one .tsv or .jsonl file")
    src_key: str = key("src", "where a JSONL line holds its source; a.b reaches inside")
    tgt_key: str = key("tgt", "where a JSONL line holds its target")
    dev_size: int | None = key(None, "pairs to hold out without dev files (none: 1000 or 5%, the lesser)")
    max_length: int = key(256, "drop pairs with more tokens than this on a side")
    max_ratio: float = key(4.0, "drop pairs of which one side is this many times longer (from 11 tokens on)")
    dedupe: bool = key(False, "drop pairs that occurred before")
    dev_tag: str | None = key(None, "one of text.tags, put before the sources of dev and test")
    recase: float = key(0.0, "chance that both sides are put in lower, upper or title case, anew each epoch")
    lower: float = key(0.0, "chance that a source is put in small letters; its target stays")
    title: float = key(0.0, "chance that a source Is Put In Title Case; its target stays")
    drop_marks: float = key(0.0, "chance that a source loses its last mark, its commas or all marks; its target stays")
    slips: float = key(0.0, "chance that a source is typed carelessly: letters wrong, twice, missing or swapped")
    drop_words: float = key(0.0, "chance that a source word is left out, anew each epoch")
    renumber: float = key(0.0, "chance that numbers of both sides become others, the same ones on both")
    placeholders: float = key(0.0, "chance that a placeholder or an address, such as {name}, is put into both sides")
    emoji: float = key(0.0, "chance that an emoji is put behind or before both sides")
    list_marks: float = key(0.0, "chance that both sides begin with the same list mark, such as - or 1.")
    join_pairs: float = key(0.0, "chance that an example is made of two to five pairs, anew each epoch")
    slots: float = key(
        0.0, "share of the pairs that get slots on both sides for numbers and names, to learn to carry them through"
    )
    cache: str | None = key(None, "folder for encoded data (none: $REGARD_CACHE or ~/.cache/regard)")

    def __post_init__(self) -> None:
        require(self.max_length >= 1, f"max_length must be at least 1 token, but is {self.max_length}")
        require(self.max_ratio >= 1, f"max_ratio must be at least 1, but is {self.max_ratio}")
        size = self.dev_size
        require(size is None or size >= 0, f"dev_size must be 0 (no dev set) or more, but is {size}")
        for name in (*TRANSFORMS, "slots"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"data.{name} is a chance and must be from 0 to 1, but is {value}")

    @property
    def transforms(self) -> tuple[float, ...]:
        """The probabilities of the changes in `transforms.py`; all 0: texts are not changed."""
        return tuple(getattr(self, name) for name in TRANSFORMS)

    def with_scaled_transforms(self, factor: float) -> DataConfig:
        """Returns a copy in which the probabilities of all changes to text are multiplied by a factor."""
        return replace(self, **{name: factor * getattr(self, name) for name in TRANSFORMS})
