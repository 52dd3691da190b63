"""Repetition: the quick checks find what a comparison of everything with everything finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regard.translation.repetition import (
    LETTERS,
    MAX_CHARS_CHECKED,
    PHRASE,
    STUTTER,
    WORD,
    Loop,
    loop,
    repeated_phrase,
    stutter,
    words_of,
)

TEXT = st.text(st.sampled_from("aAbé '-.\u0301ΣΑ \n")) | st.text()
SOME_WORDS = st.lists(st.sampled_from(["a", "b", "chat", "chien", "encore"]), max_size=30)


@given(TEXT)
def test_words_are_those_of_one_pass_over_the_text(text: str) -> None:
    assert words_of(text) == WORD.findall(text[:MAX_CHARS_CHECKED].lower())


@given(TEXT)
def test_a_stutter_is_found_in_one_pass_over_the_text(text: str) -> None:
    found = [Loop(m[1], len(m[0]) // len(m[1])) for m in STUTTER.finditer(text[:MAX_CHARS_CHECKED].lower())]
    assert stutter(text) == max(found, key=lambda one: one.times, default=Loop("", 1))


@given(SOME_WORDS)
def test_no_repeated_phrase_is_missed(words: list[str]) -> None:
    best = Loop("", 1)
    for size in range(1, min(PHRASE, len(words) // 2) + 1):
        run = 0
        for at in range(size, len(words)):
            run = run + 1 if words[at] == words[at - size] else 0
            times = 1 + run // size
            if times > best.times and not (size == 1 and len(words[at]) < LETTERS and times < 3):
                best = Loop(" ".join(words[at - size + 1 : at + 1]), times)
    assert repeated_phrase(words) == best


@given(SOME_WORDS)
def test_a_text_has_no_loop_beside_itself(words: list[str]) -> None:
    text = " ".join(words)
    assert loop(text, text) is None
