"""Random changes to training text that make a model more robust, different in each epoch.

    both sides alike    recase; renumber, placeholders, emoji, list_marks (`copies.py`)
    the source alone    lower, title, drop_marks, slips (`slips.py`), drop_words
    several pairs       join_pairs

What must be kept is changed on both sides. What people write carelessly is changed in the source alone (Belinkov and
Bisk 2018), because they still want a proper translation; so a translator that reads CAPITALS and Title Case in small
letters and takes off a full stop that the source does not have (`translation/prepare.py`) agrees with `lower` and
`drop_marks`. Joined pairs (Kondo et al. 2021) teach longer texts than any in the corpus. All randomness comes from the
given generator, so that an epoch can be made again. Each epoch needs a new encoding of the corpus, as with BPE-dropout;
with every probability at 0 nothing here is called. Slots in a text stay, each where it was.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from regard.data.config import DataConfig
from regard.data.copies import with_emoji, with_list_mark, with_other_numbers, with_placeholder
from regard.data.filters import Numbered
from regard.data.slips import MARKS_LOST, carelessly_typed, without_marks
from regard.text.normalize_input import FIRST_LETTER, sentence_case
from regard.text.slots import SLOT

Pair = tuple[str, str]
Change = Callable[[str, str, random.Random], Pair]

WORD = re.compile(r"\S+")
JOINED = (2, 2, 3, 3, 4, 5)  # how many pairs become one example
NEIGHBOURS = 0.5  # chance that these follow each other in the corpus, as the sentences of a text do


def in_title_case(text: str) -> str:
    """The first letter of each word is a capital, also behind a quotation mark or an opening mark.

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
    # in small letters throughout, or with the capital that a sentence begins with, as CAPITALS are read
    "lower": lambda src, tgt, rng: (rng.choice((str.lower, sentence_case))(src), tgt),
    "title": lambda src, tgt, rng: (in_title_case(src), tgt),
}
OTHER_CHANGES: dict[str, Change] = {  # in this order: what is put in is not changed again
    "renumber": with_other_numbers,
    "drop_marks": lambda src, tgt, rng: (without_marks(src, rng.choice(MARKS_LOST)), tgt),
    "slips": lambda src, tgt, rng: (carelessly_typed(src, rng), tgt),
    "placeholders": with_placeholder,
    "emoji": with_emoji,
    "list_marks": with_list_mark,
}


def transformed(texts: Sequence[Numbered], config: DataConfig, rng: random.Random) -> list[Numbered]:
    """Each pair in its form for this epoch."""
    return [(number, *change_pair(src, tgt, config, rng)) for number, src, tgt in texts]


def change_pair(src: str, tgt: str, config: DataConfig, rng: random.Random) -> Pair:
    """The pair with at most one change of case, and any of the others."""
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
    """Each word without a slot is dropped with this probability; at least one stays."""
    words = text.split()
    kept = [word for word in words if rng.random() >= chance or SLOT.search(word)]
    return " ".join(kept or words[:1]) if len(kept) < len(words) else text


def joined(lengths: Sequence[tuple[int, int]], chance: float, most: int, rng: random.Random) -> list[list[int]]:
    """Which of some pairs become one example; each pair is in one of them. With this chance an example is to have two
    to five pairs, neighbours or any others, as long as both sides stay within `most` tokens.

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
