"""The words of all sentences at once are those of each sentence by itself."""

from __future__ import annotations

import numpy as np
import pytest

from regard.bundle import bundled_models
from regard.explain.sentence_pair import sentence_pair
from regard.explain.sentence_words import sentence_words
from regard.explain.words import word_by_word
from regard.text.words import split_words
from regard.translation.chain import TextChain
from regard.translation.options import TranslateOptions
from regard.translator import Translator

TEXT = "  The black cat sleeps. Thank you!\n\n- She has 3 books and 12 birds. I see him 🙂 every day."


@pytest.fixture(scope="module")
def classic() -> Translator:
    return Translator.load(bundled_models.folder_of("en-fr-classic"))


def test_they_are_those_of_each_sentence(classic: Translator) -> None:
    translation = classic.translate(TEXT)
    found = sentence_words(translation, classic)
    assert len(found) == len(translation.sentences) == 4
    for number, (sentence, words) in enumerate(zip(translation.sentences, found, strict=True)):
        pair = sentence_pair(classic, TEXT, sentence.text, sentence=number)
        alone = word_by_word(pair)
        assert [word.span for word in pair.source_words] == list(words.source)
        assert words.log_probs is not None
        np.testing.assert_allclose(words.log_probs, [word.log_prob for word in alone.words], atol=1e-4)
        assert [TEXT[slice(*span)] for span in words.source if span] == split_words(sentence.source)
        assert [translation.text[slice(*span)] for span in words.target if span] == split_words(sentence.text)
    for number in (0, 3):  # without a phrase of the table and without numbers, which are linked by their text
        pair = sentence_pair(classic, TEXT, translation.sentences[number].text, sentence=number)
        alone = word_by_word(pair)
        assert set(found[number].links) == {(i, j) for j, word in enumerate(alone.words) for i in word.links}
    linked = [(found[2].source[i], found[2].target[j]) for i, j in found[2].links]
    texts = {(TEXT[slice(*one)], translation.text[slice(*other)]) for one, other in linked if one and other}
    assert {("3", "3"), ("12", "12")} <= texts


def test_without_a_model_they_are_linked_but_not_probable(classic: Translator) -> None:
    back = Translator.load(bundled_models.folder_of("fr-en"))
    chain = TextChain([back, classic])
    translation = chain.translate("Le chat noir dort. Je le vois.")
    found = sentence_words(translation)
    words = [[translation.text[slice(*span)] for span in one.target if span] for one in found]
    assert words == [split_words(sentence.text) for sentence in translation.sentences]
    assert all(one.links and one.log_probs is None and one.confidences is None for one in found)


def test_a_sentence_that_was_translated_in_parts_has_no_probabilities(classic: Translator) -> None:
    text = f"The cat sleeps. {'the old man and ' * 120}the dog eat."
    options = TranslateOptions(guard=False)
    found = sentence_words(classic.translate(text, options), classic, options)
    assert [one.log_probs is None for one in found] == [False, True]
    assert found[1].links
