"""Random texts of many scripts, with markup and control characters: the translation of a text depends on that text
alone, not on the batch or on threads, and what is protected is in it (the long run: make test-fuzz)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import regard
from regard.translation.translation import Translation
from regard.translator import Translator

_WORDS = """The the cat sleeps and 3 dogs in Paris. Where is Dr. Smith? HELLO naïve café Łódź don't Élise München
    שלום Привет, как дела 東京です。 ห้ามเข้า مرحبا नमस्ते 한국어 α µm kΩ 10°C 5% $3.50 2024-05-03
    https://a.example/б a@b.org @you #tag <b> </b> <br/> {name} %s &nbsp; `x 1` **bold** [link](url) [1] - * 1. > ##
    😀 👩🏽‍🚀 :) ™ → … « » “ ” ¿ ¡ ( ) , . ! ? ; :"""
WORDS = _WORDS.split()
SIGNS = (
    "\0\a\b\t\n\r\v\f\x1b\x1c\x7f\x85\x9f\xa0\xad\u200b\u200d\u200e\u200f\u202e\u2028\u2066\ufeff\ufffc\ufffd"
    "\uf8e0\uf8f0▁\u0301"
)
SPACES = st.sampled_from([" ", " ", " ", "", "  ", "\n", ", "])
PARTS = st.sampled_from(WORDS) | st.sampled_from(WORDS) | st.sampled_from(SIGNS) | st.text(max_size=4)
TEXTS = st.lists(st.tuples(PARTS, SPACES).map("".join), max_size=6).map("".join)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return regard.load("en-fr-classic", device="cpu")


@pytest.mark.parametrize("word", ["שלום", "как дела", "東京", "α"])
def test_words_in_another_script_are_copied(translator: Translator, word: str) -> None:
    found = translator.translate(f"The word {word} is old.\n{word}!")
    assert found.text.count(word) == 2
    assert found.text.startswith("Le mot")
    assert reasons(found) == [[], ["language"] if len(word) > 1 else []]


def reasons(translation: Translation) -> list[list[str]]:
    return [[reason.name for reason in sentence.reasons] for sentence in translation.sentences]


def check(translator: Translator, texts: list[str]) -> None:
    together = translator.translate(texts, beam=1)
    with ThreadPoolExecutor(2) as pool:
        alone = list(pool.map(lambda text: translator.translate(text, beam=1), texts))
    for text, found, other in zip(texts, together, alone, strict=True):
        assert (found.source, found.text, reasons(found)) == (text, other.text, reasons(other)), text
        for sentence in found.sentences:
            for one in sentence.protected:
                assert one.target is not None, text
                said = found.text[slice(*one.target)]  # a number may have another form
                assert said.casefold() == one.wanted.casefold() or one.kind in ("number", "amount"), text


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=QUIET)
@given(texts=st.lists(TEXTS, min_size=14, max_size=14))
def test_a_text_is_translated_alone_as_among_others(translator: Translator, texts: list[str]) -> None:
    check(translator, texts)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=500, deadline=None, phases=[Phase.generate], suppress_health_check=QUIET)
@given(texts=st.lists(TEXTS, min_size=14, max_size=14))
def test_ten_thousand_texts(translator: Translator, texts: list[str]) -> None:
    check(translator, texts)
