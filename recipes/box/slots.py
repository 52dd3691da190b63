"""Pairs that teach the model en-fr-classic to carry slots through, by the alignment of its words.

    python recipes/box/slots.py --pairs data/tatoeba-en-fr --texts data/box --out data/box

slots.en/.fr      to learn from: out of the training pairs, the answers to further English, rough and joined text
slots-dev.en/.fr  to measure with: out of the dev pairs and the contexts that are held out

A slot stands for what both sides have alike (Tom, 1998), for a noun that the aligner links to one word, with or without
its article, for a number word, or for something put in after a word and after its translation, as an emoji would be.
contexts.tsv has what Tatoeba lacks: telephone numbers, addresses, dates, messages of programs. Everything is drawn from
fixed seeds: the same files come out each time.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from prepare import LONGEST, Pair, read, write

from regard.align.hmm import BidirectionalAligner, HmmConfig, train_both
from regard.align.numbered import Link
from regard.data.copies import KEPT, Replacement, copies_of, inserted, joined_copies, replaced
from regard.text.slots import SLOT, SLOTS
from regard.text.words import Span, word_spans

CONTEXTS = Path(__file__).with_name("contexts.tsv")
HELD_OUT = 9  # every ninth context is measured with and not learnt
OFTEN = 3  # times that two words must be linked
SHARE = 0.15  # of a word's links that must go to the other


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = (
    words("the a an my your his her our their this that these those"),
    words(
        "le la les un une des mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces du au "
        "aux"
    ),
)
NUMBERS = (
    words("two three four five six seven eight nine ten eleven twelve fifteen twenty thirty fifty hundred"),
    words("deux trois quatre cinq six sept huit neuf dix onze douze quinze vingt trente cinquante cent"),
)
CLOSED = words(
    "is was are were has had have will would can could must should may might did does do in on at to of for from with "
    "by and or but that which who when if because as than about into before after until without not yesterday today "
    "tomorrow est était sont étaient a avait ont avaient sera fut dans sur à de pour par avec sans et ou mais que qui "
    "quand si parce car comme avant après jusqu' en au aux du d' ne n' se s' y hier aujourd'hui demain chez vers"
)
LITTLE = CLOSED.union(
    *DETERMINERS, words("i you he she it we they who what je tu il elle on nous vous ils elles qui quoi ce y en ne n'")
)
NOUN = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ-]+")
CHOICE = re.compile(r"\[([^\]]*)\]")
PLACE = re.compile(r"\{(\d)\}")


class Words:
    """One side of a pair as words with their places."""

    def __init__(self, text: str) -> None:
        self.text, self.spans = text, word_spans(text)
        self.lower = [text[a:b].casefold() for a, b in self.spans]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=Path, required=True, help="folder with train and dev as .en and .fr")
    options.add_argument("--texts", type=Path, required=True, help="folder of prepare.py, with english.fr translated")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--count", type=int, default=160_000, help="pairs to learn from out of text")
    options.add_argument("--contexts", type=int, default=30_000, help="pairs to learn from out of contexts.tsv")
    given = options.parse_args()
    human = pairs_of(given.pairs / "train")
    taught = pairs_of(given.texts / "english")
    aligner = train_both([*human, *taught], HmmConfig())
    maker = SlotPairs(aligner)
    maker.learn_lexicon(taught)
    rng = random.Random(3)
    some = [rng.choice(taught if rng.random() < 0.65 else human) for _ in range(round(1.15 * given.count))]
    made = list(maker.pairs(some, rng))[: given.count]
    learnt, held_out = contexts()
    made += [context(rng.choice(learnt), rng) for _ in range(given.contexts)]
    made = [as_read(pair, rng) for pair in [*made, *put_together(made, taught, len(made) // 8, rng)]]
    rng.shuffle(made)
    write(given.out, "slots", made)
    rng = random.Random(4)
    measured = list(maker.pairs(pairs_of(given.pairs / "dev"), rng))[:2000]
    write(given.out, "slots-dev", [*measured, *(context(one, rng) for one in held_out for _ in range(10))])


def pairs_of(stem: Path) -> list[Pair]:
    sides = (read(stem.with_name(f"{stem.name}.{language}")) for language in ("en", "fr"))
    return list(zip(*sides, strict=True))


class SlotPairs:
    """Makes pairs with slots, by an aligner and by how often words are linked."""

    def __init__(self, aligner: BidirectionalAligner) -> None:
        self.aligner = aligner
        self.linked: Counter[tuple[str, str]] = Counter()
        self.seen: Counter[str] = Counter()

    def aligned(self, pairs: Sequence[Pair]) -> Iterator[tuple[Words, Words, list[Link]]]:
        for (src, tgt), links in zip(pairs, self.aligner.align_each(pairs, "intersection"), strict=True):
            yield Words(src), Words(tgt), links

    def learn_lexicon(self, pairs: Sequence[Pair]) -> None:
        for src, tgt, links in self.aligned(pairs):
            for i, j in links:
                self.linked[src.lower[i], tgt.lower[j]] += 1
                self.seen[src.lower[i]] += 1

    def sure(self, word: str, other: str) -> bool:
        count = self.linked[word, other]
        return count >= OFTEN and count >= SHARE * self.seen[word]

    def pairs(self, some: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
        """Each pair with slots, if it allows any."""
        for src, tgt, links in self.aligned(some):
            if SLOT.search(src.text) or SLOT.search(tgt.text):
                continue
            sure = [(i, j) for i, j in links if self.sure(src.lower[i], tgt.lower[j])]
            found = self.replacements(src, tgt, sure, rng)
            if any(one.src[0] < one.src[1] for one in found) or rng.random() < 0.5:  # enough are put in as it is
                yield listed(replaced(src.text, tgt.text, found, rng), rng)

    def replacements(self, src: Words, tgt: Words, links: Sequence[Link], rng: random.Random) -> list[Replacement]:
        copies = joined_copies(src.text, tgt.text, copies_of(src.text, tgt.text), rng)
        found = [copy for copy in copies if rng.random() < KEPT]
        nouns = list(aligned_nouns(src, tgt, links, rng))
        if nouns and rng.random() < (0.35 if found else 0.7):
            found += rng.sample(nouns, min(len(nouns), rng.choice((1, 1, 1, 2, 3))))
        if not found or rng.random() < 0.2:
            found += [insertion(src, tgt, links, rng) for _ in range(rng.choice((1, 1, 1, 2)))]
        return apart(found)


def aligned_nouns(src: Words, tgt: Words, links: Sequence[Link], rng: random.Random) -> Iterator[Replacement]:
    """Nouns after an article on both sides, alone or with it, and number words."""
    for i, j in links:
        both = (src.lower[i], tgt.lower[j])
        if all(word in some for word, some in zip(both, NUMBERS, strict=True)):
            yield Replacement(src.spans[i], tgt.spans[j])
            continue
        if not i or not j or not all(NOUN.fullmatch(word) for word in both):
            continue
        if src.lower[i - 1] not in DETERMINERS[0] or tgt.lower[j - 1] not in DETERMINERS[1]:
            continue
        if not ends_phrase(src, i) or not ends_phrase(tgt, j):
            continue
        contracted = tgt.lower[j - 1] in ("du", "au", "aux", "des")  # de le, à le: more than an article
        elided = tgt.text[: tgt.spans[j - 1][0]].endswith(("'", "’"))  # another phrase might not be
        if not contracted and not elided and rng.random() < 0.6:
            yield Replacement((src.spans[i - 1][0], src.spans[i][1]), (tgt.spans[j - 1][0], tgt.spans[j][1]))
        else:
            yield Replacement(src.spans[i], tgt.spans[j])


def ends_phrase(side: Words, i: int) -> bool:
    """Whether a word may be the last of its noun phrase: the next one is no noun or adjective that belongs to it."""
    if i + 1 == len(side.spans):
        return True
    following = side.lower[i + 1]
    return not following[0].isalnum() or following in CLOSED


def insertion(src: Words, tgt: Words, links: Sequence[Link], rng: random.Random) -> Replacement:
    """A place after a word and after its translation, mostly; else at an end."""
    good = [
        (i, j)
        for i, j in links
        if src.lower[i][0].isalnum()
        and tgt.lower[j][0].isalnum()
        and tgt.lower[j][-1] not in "'’"
        and src.lower[i] not in LITTLE
        and tgt.lower[j] not in LITTLE
        and src.text[src.spans[i][1] : src.spans[i][1] + 1] not in ("'", "’", "-")
    ]
    if not good or rng.random() < 0.4:
        return inserted(src.text, tgt.text, rng)
    i, j = rng.choice(good)
    before, after = rng.choice(((" ", ""), (" ", ""), (" ", ""), (" ", ""), ("", ""), (" (", ")")))
    return Replacement((src.spans[i][1],) * 2, (tgt.spans[j][1],) * 2, before, after)


def listed(pair: Pair, rng: random.Random) -> Pair:
    """Now and then the slot at the end of both sides becomes several: ⟨1⟩, ⟨2⟩ and ⟨3⟩."""
    last = [re.search(f"({SLOT.pattern})(?= ?[.?!]?$)", side) for side in pair]
    if rng.random() > 0.1 or not all(last) or last[0][1] != last[1][1]:  # type: ignore[index]
        return pair
    free = [slot for slot in SLOTS if slot not in pair[0]]
    some = rng.sample(free, min(len(free), rng.choice((1, 2, 2, 3))))
    words = rng.choice(((" and ", " et "), (" and ", " et "), (" or ", " ou ")))
    return tuple(  # type: ignore[return-value]
        side[: found.start()] + ", ".join([found[1], *some[:-1]]) + word + some[-1] + side[found.end() :]
        for side, found, word in zip(pair, last, words, strict=True)
        if found
    )


def apart(found: Iterable[Replacement]) -> list[Replacement]:
    """Those that neither overlap nor touch one that came before them."""
    kept: list[Replacement] = []
    for one in found:
        if all(clear(one.src, other.src) and clear(one.tgt, other.tgt) for other in kept):
            kept.append(one)
    return kept[: len(SLOTS)]


def clear(one: Span, other: Span) -> bool:
    return one[1] < other[0] or other[1] < one[0]


# ------------------------------------------------------------------------------------------------ contexts


def contexts() -> tuple[list[Pair], list[Pair]]:
    """To learn from, and held out."""
    lines = [(a, b) for a, b in (line.split("\t") for line in read(CONTEXTS))]
    held_out = lines[HELD_OUT - 1 :: HELD_OUT]
    return [line for line in lines if line not in held_out], held_out


def context(pair: Pair, rng: random.Random) -> Pair:
    """A context with one choice of its words and random slots. Choices of both sides go together."""
    src, tgt = pair
    for options in [found[1].split("|") for found in CHOICE.finditer(src)]:
        one = rng.randrange(len(options))
        src, tgt = (CHOICE.sub(lambda found, one=one: found[1].split("|")[one], side, count=1) for side in (src, tgt))
    slots = rng.sample(SLOTS, len(SLOTS))
    return fill(src, slots), fill(tgt, slots)


def fill(side: str, slots: Sequence[str]) -> str:
    return PLACE.sub(lambda found: slots[int(found[1])], side)


def put_together(made: Sequence[Pair], plain: Sequence[Pair], count: int, rng: random.Random) -> list[Pair]:
    """A pair with slots before or after another, with or without."""
    found = []
    while len(found) < count:
        one, other = rng.choice(made), rng.choice(made if rng.random() < 0.5 else plain)
        if set(SLOT.findall(one[0])) & set(SLOT.findall(other[0])):
            continue
        both = [one, other] if rng.random() < 0.5 else [other, one]
        whole = (" ".join(s for s, _ in both), " ".join(t for _, t in both))
        if len(whole[0].split()) <= LONGEST:
            found.append(whole)
    return found


def as_read(pair: Pair, rng: random.Random) -> Pair:
    """Now and then in small letters, or without the full stop on both sides."""
    src, tgt = pair
    if rng.random() < 0.08:
        src = src.lower()
    if rng.random() < 0.08 and src.endswith(".") and tgt.endswith("."):
        src, tgt = src[:-1], tgt[:-1]
    return src, tgt


if __name__ == "__main__":
    main()
