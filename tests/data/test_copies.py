"""Pairs with slots: what both sides have alike, or a place that both have; always the same slots on both sides.

---

What a translation copies: the same on both sides, and the rest of the pair as it was."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.config import DataConfig
from regard.data.copies import (
    Replacement,
    copies_of,
    inserted,
    joined_copies,
    replaced,
    slotted,
    with_changed_numbers,
    with_emoji,
    with_list_mark,
    with_placeholder,
    with_slots,
)
from regard.data.corpus import PairFiles
from regard.data.encode import encode_corpus
from regard.errors import RecipeError
from regard.recipe.recipe import Recipe
from regard.text.layout import after_list_marks
from regard.text.protected_spans import protected_spans
from regard.text.slots import SLOT, SLOTS, slots_in, without_slots
from regard.text.tokenizer import TextConfig, Tokenizer

WORDS = st.sampled_from(
    ["Tom", "Mary", "the", "le", "1,250", "1 250", "3", "d'Alice", "Alice", "Ich", "😀", ".", " ?", "x"]
)
SENTENCES = st.lists(WORDS | st.text(max_size=5), min_size=1, max_size=12).map(" ".join).filter(str.strip)


def texts(src: str, tgt: str) -> list[tuple[str, str]]:
    return [(src[r.src[0] : r.src[1]], tgt[r.tgt[0] : r.tgt[1]]) for r in copies_of(src, tgt)]


def test_what_both_sides_have_alike() -> None:
    assert texts("Tom paid Mary 1,250 euros.", "Tom a payé 1 250 euros à Mary.") == [
        ("Tom", "Tom"),
        ("Mary", "Mary"),
        ("1,250", "1 250"),
    ]
    assert texts("I saw Tom and Tom.", "J'ai vu Tom.") == []  # not equally often
    assert texts("Tom met Tom.", "Tom a rencontré Tom.") == [("Tom", "Tom")] * 2
    assert texts("Alice's car", "la voiture d'Alice") == []  # another name would be after "de"
    assert texts("in 1998 or 1999", "in 1999 oder 1998") == [("1998", "1998"), ("1999", "1999")]
    assert texts("The cat", "Le chat") == []


def test_neighbours_are_mostly_one() -> None:
    src, tgt = "I met Angela Merkel.", "J'ai rencontré Angela Merkel."
    copies = copies_of(src, tgt)
    assert len(copies) == 2
    found = Counter(len(joined_copies(src, tgt, copies, random.Random(seed))) for seed in range(200))
    assert set(found) == {1, 2}
    assert found[1] > found[2]


def test_places_that_both_sides_have() -> None:
    src, tgt = "Really?", "Vraiment ?"
    found = {replaced(src, tgt, [inserted(src, tgt, random.Random(s))], random.Random(0)) for s in range(50)}
    (slot,) = {slot for pair in found for side in pair for slot in slots_in(side)}
    assert found == {
        (f"{slot} Really?", f"{slot} Vraiment ?"),
        (f"Really? {slot}", f"Vraiment ? {slot}"),
        (f"Really {slot}?", f"Vraiment {slot} ?"),
    }
    assert inserted("...", "...", random.Random(1)) in (
        Replacement((0, 0), (0, 0), after=" "),
        Replacement((3, 3), (3, 3), before=" "),
    )


@given(SENTENCES, SENTENCES, st.integers(0, 99))
def test_both_sides_have_the_same_slots_once_each(src: str, tgt: str, seed: int) -> None:
    plain = without_slots(src), without_slots(tgt)
    pair = with_slots(*plain, random.Random(seed))
    slots = [slots_in(side) for side in pair]
    assert sorted(slots[0]) == sorted(slots[1])
    assert 1 <= len(set(slots[0])) == len(slots[0])
    assert with_slots(*plain, random.Random(seed)) == pair
    assert with_slots(*pair, random.Random(0)) == pair  # has slots already


def test_all_slots_are_drawn() -> None:
    rng = random.Random(5)
    drawn = Counter(slots_in(with_slots("I know Tom.", "Je connais Tom.", rng)[0])[0] for _ in range(2000))
    assert set(drawn) == set(SLOTS)
    assert min(drawn.values()) > 100


def test_no_more_than_there_are() -> None:
    src = "; ".join(f"{n}" for n in range(100, 130))
    pair = with_slots(src, src, random.Random(0))
    assert len(slots_in(pair[0])) == len(SLOTS)


def test_the_share_is_kept() -> None:
    texts = [(number, "A cat.", "Un chat.") for number in range(4000)]
    found = slotted(texts, 0.25, random.Random(1))
    assert [number for number, _, _ in found] == list(range(4000))
    assert 850 < sum(bool(slots_in(src)) for _, src, _ in found) < 1150


def test_pairs_with_the_same_placeholders_always_get_slots() -> None:
    texts = [
        (0, "Copy %1 to {name}.", "Copier %1 vers {name}."),
        (1, "Copy %1.", "Copier %2."),
        (2, "A {cat.", "Un {chat."),
    ]
    found = [slotted(texts, 1e-9, random.Random(seed)) for seed in range(20)]
    assert all(slots_in(some[0][1]) for some in found)
    assert all(some[1:] == texts[1:] for some in found)
    assert {SLOT.sub("_", some[0][1]) for some in found} >= {"Copy _ to _.", "Copy _ to {name}."}


PAIRS = [(f"Tom saw {n} birds.", f"Tom a vu {n} oiseaux.") for n in range(100, 180)]


def test_slots_are_of_the_seed_and_not_of_the_epoch(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400))
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS), encoding="utf-8")

    def encoded(epoch: int | None, seed: int = 3, **keys: float) -> list[tuple[str, str]]:
        config = DataConfig(cache=str(tmp_path / "cache"), **keys)  # type: ignore[arg-type]
        corpus = encode_corpus(PairFiles((tmp_path / "a.tsv",)), tokenizer, config, epoch=epoch, seed=seed)
        assert corpus.has_target_ids(tokenizer.slot_ids) == bool(config.slots)
        ids = [corpus.pair(i) for i in range(len(corpus))]
        return [(tokenizer.decode_source(s), tokenizer.decode(t)) for s, t in ids]

    assert encoded(None) == PAIRS
    found = encoded(0, slots=0.5)
    assert found == encoded(1, slots=0.5) == encoded(None, slots=0.5) != encoded(0, seed=4, slots=0.5)
    assert len(list((tmp_path / "cache").iterdir())) == 3  # encoded once for all epochs
    noisy = encoded(0, slots=0.5, slips=1.0, drop_words=0.3, recase=1.0)
    assert all(sorted(slots_in(src)) == sorted(slots_in(tgt)) for src, tgt in [*found, *noisy])


def test_a_share_is_from_0_to_1_and_whole_words_have_no_slots() -> None:
    with pytest.raises(RecipeError, match=r"data\.slots is a chance and must be from 0 to 1, but is 2"):
        DataConfig(slots=2)
    with pytest.raises(RecipeError, match=r"data\.slots is 0\.1, but whole words have no slots"):
        Recipe(data=DataConfig(slots=0.1), text=TextConfig(unit="word"))


SOME = st.lists(
    st.sampled_from(["Tom", "a", "1,250", "1 250", "98", "7", "10:30", "3rd", "21st", "1.5", "x2"]), max_size=9
)


@given(SOME, SOME, st.integers(0, 99))
def test_other_numbers_are_the_same_on_both_sides(ours: list[str], theirs: list[str], seed: int) -> None:
    src, tgt = " . ".join(ours), " . ".join(theirs)
    found = with_changed_numbers(src, tgt, random.Random(seed))
    for before, after in zip((src, tgt), found, strict=True):
        assert re.sub("[0-9]", "0", after) == re.sub("[0-9]", "0", before)
    if sorted(ours) == sorted(theirs):
        assert sorted(found[0].split(" . ")) == sorted(found[1].split(" . "))


@pytest.mark.parametrize("text", ["21st", "10:30", "1.5 million", "7 cats", "x2", "03/04/2010", "1999-2000", "12.30pm"])
def test_numbers_that_grammar_depends_on_stay(text: str) -> None:
    assert all(with_changed_numbers(text, text, random.Random(seed)) == (text, text) for seed in range(20))


def test_numbers_of_one_side_stay() -> None:
    src, tgt = "In 1998 there were 12, 12.", "En 1998 il y en avait 12."
    found = {with_changed_numbers(src, tgt, random.Random(seed)) for seed in range(50)}
    assert len(found) > 40
    assert all(a.endswith("there were 12, 12.") and b.endswith("il y en avait 12.") for a, b in found)
    assert all(a[3:7] == b[3:7] and a[3] != "0" for a, b in found)


def test_a_placeholder_stands_for_what_both_sides_have() -> None:
    for seed in range(60):
        src, tgt = with_placeholder("I met Tom.", "J'ai vu Tom.", random.Random(seed))
        assert src[:6] + tgt[:8] == "I met J'ai vu "
        assert src[6:] == tgt[8:]
        assert src.endswith(".")
    for seed in range(60):
        src, tgt = with_placeholder("I see.", "Je vois.", random.Random(seed))
        assert src.replace("I see", "Je vois") == tgt


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_emoji_and_list_marks_are_what_the_translator_takes_for_such(seed: int) -> None:
    src, tgt = with_emoji("I see.", "Je vois.", random.Random(seed))
    assert src.replace("I see", "Je vois") == tgt
    assert {span.kind for span in protected_spans(src)} == {"emoji"} or ".:" in src or ".;" in src or ".<" in src
    src, tgt = with_list_mark("I see.", "Je vois.", random.Random(seed))
    assert src.replace("I see", "Je vois") == tgt
    assert src[after_list_marks(src, 0, len(src)) :] == "I see."
