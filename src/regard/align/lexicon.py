"""A lexicon counted from aligned sentence pairs: the translations of each source word, with their probabilities.

p(f | e) = links between e and f / occurrences of e        NOTHING takes the occurrences without a link
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from regard.align.numbered import Link, Text, words_of

NOTHING = ""  # the translation of a word without a link

Lexicon = dict[str, list[tuple[str, float]]]  # word → its translations, most probable first, with their probabilities


def count_translations(
    pairs: Iterable[tuple[Text, Text]], links: Iterable[Sequence[Link]], options: int, drop: float = 0.5
) -> Lexicon:
    """The `options` most frequent translations of each source word, from one-to-one links of each pair.

    NOTHING is kept as a translation of the words for which it has a share of at least `drop`. A word that was never
    linked has NOTHING as its only translation.

    >>> count_translations([("a b", "x y"), ("a b", "x")], [[(0, 0), (1, 1)], [(0, 0)]], options=8)
    {'a': [('x', 1.0)], 'b': [('', 0.5), ('y', 0.5)]}
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for (source, target), found in zip(pairs, links, strict=True):
        source_words, target_words = words_of(source), words_of(target)
        partner = dict(found)
        for i, word in enumerate(source_words if target_words else []):
            counts[word][target_words[partner[i]] if i in partner else NOTHING] += 1
    lexicon: Lexicon = {}
    for word, seen in counts.items():
        total = seen.total()
        ranked = [(f, n / total) for f, n in sorted(seen.items(), key=lambda item: (-item[1], item[0]))]
        kept = [option for option in ranked if option[0] != NOTHING][:options]
        droppable = seen[NOTHING] >= drop * total
        lexicon[word] = [option for option in ranked if option in kept or (option[0] == NOTHING and droppable)]
    return lexicon
