"""The conditions of exercises "change the input until …": functions that measure a text and say what they found.

A function gets the text, a translator, and the arguments of the exercise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from regard.text.words import word_spans

if TYPE_CHECKING:  # a page that lists the lessons needs no translator
    from regard.translator import Translator

MOST_CHARACTERS = 300  # of a text: more than a sentence


class Measured(NamedTuple):
    """Whether the condition holds, what was measured, and what is needed (Markdown, without the last point)."""

    right: bool
    said: str
    needed: str = ""


def bleu(text: str, _: object, reference: str, above: float) -> Measured:
    """BLEU of the text, in points of 100, against the reference; words are separated by spaces."""
    from regard.metrics.bleu import bleu as bleu_of

    found = bleu_of([text], [reference], tokenize="none")
    precisions = ", ".join(f"{right}/{all_}" for right, all_ in zip(found.correct, found.total, strict=True))
    said = f"BLEU is {found.score:.1f} (precisions {precisions}, brevity penalty {found.bp:.3f})"
    return Measured(found.score > above, said, f"above {above:g}")


def pieces(text: str, translator: Translator, least: int) -> Measured:
    """How many pieces the model reads."""
    found = [f"`{piece.text}`" for piece in translator.bundle.tokenizer.source_tokens(text)]
    said = f"{len(found)} {'piece' if len(found) == 1 else 'pieces'} ({' '.join(found)})"
    return Measured(len(found) >= least, said, f"at least {least}")


def translation_has(text: str, translator: Translator, word: str) -> Measured:
    """Whether the translation has a word, or several in a row."""
    translation = translator.translate(text).text
    # Words are separated by spaces, so a space at each end keeps a word from being found inside another.
    found = f" {' '.join(words_of(word))} " in f" {' '.join(words_of(translation))} "
    return Measured(found, f"The translation is “{translation}”", f"one with “{word}”")


def aligned(text: str, translator: Translator, source: str, target: str) -> Measured:
    """Whether the model links the source word to the target word."""
    from regard.explain.sentence_words import sentence_words

    found = translator.translate(text)
    partners = []
    for sentence in sentence_words(found):
        for i, j in sentence.links:
            from_span, to_span = sentence.source[i], sentence.target[j]
            if from_span and to_span and text[slice(*from_span)].lower() == source.lower():
                partners.append(found.text[slice(*to_span)])
    linked = ", ".join(f"“{word}”" for word in partners) or "no word"
    said = f"The translation is “{found.text}”, and “{source}” is linked to {linked}"
    return Measured(target.lower() in [word.lower() for word in partners], said, f"“{target}”")


def greedy_and_beam(text: str, translator: Translator, beam: int = 5) -> Measured:
    """Whether greedy search and beam search find different translations."""
    greedy, wide = (translator.translate(text, beam=size, phrases=False, guard=False) for size in (1, beam))
    said = (
        f"Greedy search finds “{greedy.text}” (log P {greedy.log_prob:.2f}), a beam of {beam} finds “{wide.text}” "
        f"(log P {wide.log_prob:.2f})"
    )
    return Measured(greedy.text != wide.text, said, "two different translations")


def reordered(text: str, translator: Translator, other: str) -> Measured:
    """Whether the text has the words of the other one in another order, and another translation."""
    mine, theirs = words_of(text), words_of(other)
    if Counter(mine) != Counter(theirs):
        return Measured(False, f"Use the words of “{other}”, each as often as there, and no others")
    if mine == theirs:
        return Measured(False, "The order is the same; move a word")
    first, second = (found.text for found in translator.translate([other, text]))
    return Measured(first != second, f"“{other}” → “{first}”, “{text}” → “{second}”", "two translations")


CHANGES: dict[str, Callable[..., Measured]] = {
    one.__name__: one for one in (bleu, pieces, translation_has, aligned, greedy_and_beam, reordered)
}
WITHOUT_MODEL = ("bleu",)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    found = (text[start:end].lower() for start, end in word_spans(text))
    return [word for word in found if any(letter.isalnum() for letter in word)]
