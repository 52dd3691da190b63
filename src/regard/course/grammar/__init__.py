"""The embedded corpus: a synchronous English-French grammar with gold word alignments and phenomenon tags."""

from regard.course.grammar.corpus import (
    DEFAULT_SIZE,
    NOTES_EXAMPLES,
    Example,
    MinimalPair,
    Split,
    generate,
    write_corpus,
)

__all__ = ["DEFAULT_SIZE", "NOTES_EXAMPLES", "Example", "MinimalPair", "Split", "generate", "write_corpus"]
