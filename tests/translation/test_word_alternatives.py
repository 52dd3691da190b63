"""Other words for a place: whole words of the language, with the model's own probabilities, and quick refusals."""

from __future__ import annotations

import math
import re
from itertools import combinations

import pytest

import regard
from regard.errors import InputError
from regard.explain.sentence_pair import explained_source
from regard.search.options import SearchOptions
from regard.text.words import split_words, word_spans
from regard.translation.options import TranslateOptions
from regard.translation.word_alternatives import (
    KEPT,
    LEAST,
    NUMBER,
    WordAlternatives,
    other_wordings,
    word_alternatives,
)
from regard.translator import Translator

SOFA = "The black cat sleeps on the old sofa."
LAW = "The government announced yesterday that the new law will protect farmers."


@pytest.fixture(scope="module")
def both(_box_converted: None) -> dict[str, Translator]:
    return {engine: regard.load("en-fr", device="cpu", engine=engine) for engine in ("ctranslate2", "native")}


def at(translator: Translator, text: str, position: int, translation: str | None = None) -> WordAlternatives:
    found = explained_source(translator, text)
    pipeline = translator.pipeline(SearchOptions(2), TranslateOptions(guard=False))
    shown = found.shown.text if translation is None else translation
    return word_alternatives(pipeline, found.unit, shown, position, translator.target_words)


def test_words_have_the_probability_of_their_pieces_and_a_translation(both: dict[str, Translator]) -> None:
    translator = both["ctranslate2"]
    words = split_words(translator.translate(LAW).text)
    offered = 0
    for position in range(len(words)):
        found = at(translator, LAW, position)
        assert found.word == words[position]
        assert found.probability + sum(one.probability for one in found.others) < 1.01
        for one in found.others:
            offered += 1
            assert split_words(one.text)[: position + 1] == [*words[:position], one.word]
            assert one.probability >= LEAST
            assert one.probability == pytest.approx(forced(translator, LAW, one.text, position), rel=0.2)  # in 8 bits
    assert offered >= 6


def forced(translator: Translator, source: str, target: str, position: int) -> float:
    """The probability of a word, by forced decoding."""
    (ids,) = translator.tokenizer.encode_target([target])
    (row,) = translator.engine().log_probs([explained_source(translator, source).unit.ids], [tuple(ids)])
    start, end = word_spans(target)[position]
    spans = translator.tokenizer.target_pieces(ids)
    return math.exp(sum(row[i] for i, (first, last) in enumerate(spans) if first < end and start < last))


def test_both_engines_offer_the_same(both: dict[str, Translator]) -> None:
    translation = "Le gouvernement a annoncé hier que la nouvelle loi protégerait les agriculteurs."
    ours, native = (at(both[engine], LAW, 3, translation) for engine in ("ctranslate2", "native"))
    assert (ours.word, ours.others[0].word) == (native.word, native.others[0].word) == ("annoncé", "déclaré")
    assert ours.probability == pytest.approx(native.probability, abs=0.03)


def test_a_word_fits_its_place(both: dict[str, Translator]) -> None:
    found = at(both["ctranslate2"], "Yesterday the president of the company left Berlin.", 0)
    assert found.others
    assert all(one.word[0].isupper() for one in found.others)  # it begins the sentence
    capitals = at(both["ctranslate2"], "THE OLD MAN SLEEPS ON THE SOFA.", 3)
    assert all(one.word.isupper() and one.text.isupper() for one in capitals.others)
    known = both["ctranslate2"].target_words
    assert known is not None
    for position in range(1, 8):
        for one in at(both["ctranslate2"], SOFA, position).others:
            assert one.word.islower()
            assert known.word_class(one.word.strip("'’")) != "unknown" or one.word[-1] in "'’"


def test_numbers_and_protected_spans_are_refused_at_once(
    both: dict[str, Translator], monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = both["ctranslate2"]
    text = "She paid 24 euros at https://example.org in Paris."
    translation = translator.translate(text).text
    words = split_words(translation)
    monkeypatch.setattr(type(translator.engine()), "branches", None)  # nothing is searched for
    assert at(translator, text, words.index("24")).reason in (KEPT, NUMBER)
    assert at(translator, "It was in 1984.", 3, "C'était en 1984.").reason in (KEPT, NUMBER)
    with pytest.raises(InputError, match="position must be a word of the translation, counted from 0 to"):
        at(translator, SOFA, 99)


def test_numbers_elsewhere_stay(both: dict[str, Translator]) -> None:
    text = "The old man bought 24 apples for 3.50 euros yesterday."
    words = split_words(both["ctranslate2"].translate(text).text)
    found = [one for place in range(4) for one in at(both["ctranslate2"], text, place).others]
    assert found
    assert words
    assert all("24" in one.text for one in found)


def test_other_wordings_are_not_nearly_the_same(both: dict[str, Translator]) -> None:
    translator = both["ctranslate2"]
    text = "She paid 24 euros for the old book, which is not clear to me either."
    found = explained_source(translator, text)
    pipeline = translator.pipeline(SearchOptions(2), TranslateOptions(guard=False))
    wordings = [one.text for one in other_wordings(pipeline, found.unit, found.shown.text)]
    assert 1 <= len(wordings) <= 4
    assert all("24" in one for one in wordings)
    every = [re.findall(r"\w+", one.lower()) for one in (found.shown.text, *wordings)]
    assert all(word_edits(one, other) >= 2 for one, other in combinations(every, 2))


def word_edits(words: list[str], others: list[str]) -> int:
    """The edit distance."""
    row = [*range(len(others) + 1)]
    for i, word in enumerate(words, start=1):
        last, row = row, [i]
        row += [0] * len(others)
        for j, other in enumerate(others, start=1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (word != other))
    return row[-1]
