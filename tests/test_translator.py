"""`regard.Translator`: what it adds to a text translator."""

from __future__ import annotations

from typing import Any

import pytest

import regard
from regard.errors import InputError
from regard.translator import Translator
from support import LINES


def test_alignments_of_given_and_of_own_translations(translator: Translator) -> None:
    sources, targets = [s for s, _ in LINES[:3]], [t for _, t in LINES[:3]]
    given = translator.align(sources, targets)
    assert translator.align(sources) == given  # it learnt these by heart
    assert translator.align(sources[0], targets[0]) == given[0]
    assert given[0].source_words == ("The", "cat", "sleeps", ".")
    assert given[0].target_words == ("Le", "chat", "dort", ".")
    assert len({j for _, j in given[0].links}) == len(given[0].links)  # one source word for each target word
    assert str(given[0]) == " ".join(f"{i}-{j}" for i, j in given[0].links)
    assert all(f"{source}–{target}" in repr(given[0]) for source, target in given[0].word_pairs)
    assert translator.align("") == translator.align("", "")
    assert translator.align([]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "takes a string"),
        ((b"x",), "decode it first"),
        (("a", ["b"]), "two strings, or two lists"),
        ((["a", "b"], ["a"]), "as many targets"),
        (("word " * 300,), "sentence by sentence"),
    ],
)
def test_what_cannot_be_aligned(translator: Translator, arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        translator.align(*arguments)


def test_an_explanation_is_of_the_translation(translator: Translator) -> None:
    found = translator.explain("The cat sleeps.")
    assert found.translation == "Le chat dort."
    assert found.grid().rows == ("Le", "chat", "dort", ".")
    assert translator.explain("The cat sleeps.", "Le chien mange.").grid().rows == ("Le", "chien", "mange", ".")
    for arguments in ((None,), (["a"],), ("a", 3)):
        with pytest.raises(InputError, match="explain takes one sentence"):
            translator.explain(*arguments)  # type: ignore[arg-type]


def test_models_that_cannot_be_loaded() -> None:
    for path in (3, [3], [None]):
        with pytest.raises(InputError, match="named by a folder"):
            regard.load(path)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no folder is given"):
        regard.load([])


def test_a_recipe_must_be_one() -> None:
    for recipe in (None, 3, [("train", {})]):
        with pytest.raises(InputError, match="a recipe is a TOML file"):
            regard.train(recipe)  # type: ignore[arg-type]
