"""The embedded corpus: a synchronous English-French grammar with gold word alignments and phenomenon tags."""

from regard.data.grammar.corpus import DEFAULT_SIZE, NOTES_EXAMPLES, Example, MinimalPair, Split, generate
from regard.data.grammar.files import check_free, write_corpus

__all__ = [
    "DEFAULT_SIZE",
    "NOTES_EXAMPLES",
    "Example",
    "MinimalPair",
    "Split",
    "check_free",
    "generate",
    "write_corpus",
]
