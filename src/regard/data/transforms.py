"""Random changes to training text that make a model more robust, different in each epoch.

    both sides alike    recase; renumber, placeholders, emoji, list_marks (`copies.py`)
    the source alone    lower, title, drop_marks, slips (`slips.py`), drop_words
    several pairs       join_pairs

Spans that a translation copies are changed on both sides. Careless writing is simulated in the source only (Belinkov
and Bisk 2018), because the translation should still be correct; so a translator that lowercases CAPITALS and Title Case
and removes a full stop that the source does not have (`translation/prepare.py`) agrees with `lower` and `drop_marks`.
Joined pairs (Kondo et al. 2021) teach longer texts than any in the corpus. All randomness comes from the given
generator, so that an epoch is reproducible. Each epoch needs a new encoding of the corpus, as with BPE-dropout; with
every probability at 0 nothing here is called. Slots in a text keep their places.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from regard.data.config import DataConfig
from regard.data.copies import with_changed_numbers, with_emoji, with_list_mark, with_placeholder
from regard.data.filters import Numbered
from regard.data.slips import MARKS_LOST, with_typos, without_marks
from regard.text.normalize_input import FIRST_LETTER, sentence_case
from regard.text.slots import SLOT

Pair = tuple[str, str]
Change = Callable[[str, str, random.Random], Pair]

WORD = re.compile(r"\S+")
JOINED = (2, 2, 3, 3, 4, 5)  # numbers of pairs per joined example
NEIGHBOURS = 0.5  # probability that these are consecutive in the corpus, like the sentences of a text


def in_title_case(text: str) -> str:
    """Capitalizes the first letter of each word, also after a quotation mark or an opening mark.

    >>> in_title_case("¿dónde está «el gato»?")
    '¿Dónde Está «El Gato»?'
    """
    return WORD.sub(lambda word: FIRST_LETTER.sub(lambda first: first[0].upper(), word[0].lower(), count=1), text)


CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, in_title_case)


def recased(src: str, tgt: str, rng: random.Random) -> Pair:
    case = rng.choice(CASES)
    return case(src), case(tgt)


CASE_CHANGES: dict[str, Change] = {
    "recase": recased,
    # all lower case, or with an initial capital, as CAPITALS are normalized for translation
    "lower": lambda src, tgt, rng: (rng.choice((str.lower, sentence_case))(src), tgt),
    "title": lambda src, tgt, rng: (in_title_case(src), tgt),
}
OTHER_CHANGES: dict[str, Change] = {  # in this order: inserted text is not changed again
    "renumber": with_changed_numbers,
    "drop_marks": lambda src, tgt, rng: (without_marks(src, rng.choice(MARKS_LOST)), tgt),
    "slips": lambda src, tgt, rng: (with_typos(src, rng), tgt),
    "placeholders": with_placeholder,
    "emoji": with_emoji,
    "list_marks": with_list_mark,
}


def transformed(texts: Sequence[Numbered], config: DataConfig, rng: random.Random) -> list[Numbered]:
    """Returns each pair as changed for this epoch."""
    return [(number, *change_pair(src, tgt, config, rng)) for number, src, tgt in texts]


def change_pair(src: str, tgt: str, config: DataConfig, rng: random.Random) -> Pair:
    """Applies at most one change of case, and any of the other changes, to a pair."""
    for name, change in CASE_CHANGES.items():
        if (chance := getattr(config, name)) and rng.random() < chance:
            src, tgt = change(src, tgt, rng)
            break
    if config.drop_words:
        src = without_words(src, config.drop_words, rng)
    for name, change in OTHER_CHANGES.items():
        if (chance := getattr(config, name)) and rng.random() < chance:
            src, tgt = change(src, tgt, rng)
    return src, tgt


def without_words(text: str, chance: float, rng: random.Random) -> str:
    """Drops each word without a slot with this probability; at least one word is kept."""
    words = text.split()
    kept = [word for word in words if rng.random() >= chance or SLOT.search(word)]
    return " ".join(kept or words[:1]) if len(kept) < len(words) else text


def joined(lengths: Sequence[tuple[int, int]], chance: float, most: int, rng: random.Random) -> list[list[int]]:
    """Groups pairs into examples; each pair is in one of them. With this probability an example has two to five pairs,
    consecutive or random, as long as both sides stay within `most` tokens.

    >>> joined([(3, 3), (4, 4), (9, 9)], chance=1.0, most=8, rng=random.Random(0))
    [[0, 1], [2]]
    """
    examples: list[list[int]] = []
    free = [True] * len(lengths)
    anywhere = iter(rng.sample(range(len(lengths)), len(lengths)))
    for first in range(len(lengths)):
        if not free[first]:
            continue
        free[first] = False
        some, (src, tgt) = [first], lengths[first]
        wanted = rng.choice(JOINED) if rng.random() < chance else 1
        others = iter(range(first + 1, len(lengths))) if rng.random() < NEIGHBOURS else anywhere
        while len(some) < wanted and (other := next(others, None)) is not None:
            if not free[other]:
                continue
            src, tgt = src + lengths[other][0], tgt + lengths[other][1]
            if max(src, tgt) > most:
                break
            free[other] = False
            some.append(other)
        examples.append(some)
    return examples
