"""The conditions of exercises "change the input until …": functions that measure a text and say what they found.

A function gets the text, a translator if it needs one, and the arguments of the exercise. Those that need `attention`
need torch; those that need the `engine` translate, and those that need `nothing` get no translator.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_type_hints

from regard.config import accept, describe, nearest
from regard.errors import InputError
from regard.text.words import word_spans

if TYPE_CHECKING:  # a page that lists the lessons needs no translator
    from regard.translator import Translator

Need = Literal["nothing", "engine", "attention"]
MOST_CHARACTERS = 300  # of a text: more than a sentence


class Measured(NamedTuple):
    """Whether the condition holds, what was measured, and what is needed (Markdown, without the last point)."""

    right: bool
    said: str
    needed: str = ""


class Change(NamedTuple):
    function: Callable[..., Measured]
    needs: Need


# ── without a model ───────────────────────────────────────────────────────────────────────────────────────────────────


def words(text: str, least: int | None = None, most: int | None = None) -> Measured:
    """How many words the text has."""
    return _counted(len(words_of(text)), "words", least, most)


def bleu(
    text: str, reference: str, above: float | None = None, below: float | None = None, max_order: int = 4
) -> Measured:
    """BLEU of the text, in points of 100, against the reference; words are separated by spaces."""
    from regard.metrics.bleu import bleu as bleu_of

    found = bleu_of([text], [reference], tokenize="none", max_order=max_order)
    precisions = ", ".join(f"{right}/{all_}" for right, all_ in zip(found.correct, found.total, strict=True))
    said = f"BLEU is {found.score:.1f} (precisions {precisions}, brevity penalty {found.bp:.3f})"
    return _bounded(found.score, said, above, below)


# ── with the engine ───────────────────────────────────────────────────────────────────────────────────────────────────


def pieces(text: str, translator: Translator, least: int | None = None, most: int | None = None) -> Measured:
    """How many pieces the model reads."""
    found = [piece.text for piece in translator.bundle.tokenizer.source_tokens(text)]
    measured = _counted(len(found), "pieces", least, most)
    return measured._replace(said=f"{measured.said} ({' '.join(f'`{piece}`' for piece in found)})")


def translation_has(text: str, translator: Translator, word: str, absent: bool = False) -> Measured:
    """Whether the translation has a word, or several in a row; `absent`: whether it has not."""
    translation = translator.translate(text).text
    has = _contains(words_of(translation), words_of(word))
    return Measured(
        has != absent, f"The translation is “{translation}”", f"one {'without' if absent else 'with'} “{word}”"
    )


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


def greedy_and_beam(text: str, translator: Translator, beam: int = 5, same: bool = False) -> Measured:
    """Whether greedy search and beam search find different translations; `same`: the same one."""
    greedy, wide = (translator.translate(text, beam=size, phrases=False, guard=False) for size in (1, beam))
    said = (
        f"Greedy search finds “{greedy.text}” (log P {greedy.log_prob:.2f}), a beam of {beam} finds “{wide.text}” "
        f"(log P {wide.log_prob:.2f})"
    )
    needed = "the same translation" if same else "two different translations"
    return Measured((greedy.text == wide.text) == same, said, needed)


def reordered(text: str, translator: Translator, other: str) -> Measured:
    """Whether the text has the words of the other one in another order, and another translation."""
    mine, theirs = words_of(text), words_of(other)
    if Counter(mine) != Counter(theirs):
        return Measured(False, f"Use the words of “{other}”, each as often as there, and no others")
    if mine == theirs:
        return Measured(False, "The order is the same; move a word")
    first, second = (found.text for found in translator.translate([other, text]))
    return Measured(first != second, f"“{other}” → “{first}”, “{text}” → “{second}”", "two translations")


def confidence(text: str, translator: Translator, above: float | None = None, below: float | None = None) -> Measured:
    """The confidence of the translation of a sentence, from 0 to 1."""
    found = translator.translate(text)
    known = [one.confidence for one in found.sentences if one.confidence is not None]
    if not known:
        return Measured(False, f"The translation is “{found.text}”; its confidence is not known")
    return _bounded(min(known), f"The translation is “{found.text}”, with confidence {min(known):.2f}", above, below)


# ── with attention ────────────────────────────────────────────────────────────────────────────────────────────────────


def weight(
    text: str,
    translator: Translator,
    query: str,
    key: str,
    above: float | None = None,
    below: float | None = None,
    kind: Literal["cross", "encoder"] = "cross",
) -> Measured:
    """The attention weight of a word on another: of a target word on a source word in the map that the page shows
    first (cross), or of a source word on another, the largest of all layers and heads (encoder)."""
    from regard.align.attention import View
    from regard.explain.sentence_pair import sentence_pair
    from regard.explain.views import stored_view

    pair = sentence_pair(translator, text)
    chosen, _ = stored_view(translator.bundle)
    views = [chosen]
    if kind == "encoder":
        views = [View(layer, head) for layer, heads in enumerate(pair.trace.encoder) for head in range(len(heads))]
    best, place = -1.0, ""
    for view in views:
        found = pair.trace.in_words(view, kind)
        value = max(
            (found.weights[i, j] for i, j in _pairs(found.target_words, found.source_words, query, key)), default=-1.0
        )
        if value > best:
            best, place = (
                float(value),
                f"layer {view.layer + 1}" + ("" if view.head is None else f", head {view.head + 1}"),
            )
    begin = f"The translation is “{pair.target.translation}”. " if kind == "cross" else ""
    if best < 0:
        return Measured(False, f"{begin}There is no pair of the words “{query}” and “{key}”")
    return _bounded(best, f"{begin}The weight of “{query}” on “{key}” is {best:.2f} ({place})", above, below)


CHANGES: dict[str, Change] = {
    "words": Change(words, "nothing"),
    "bleu": Change(bleu, "nothing"),
    "pieces": Change(pieces, "engine"),
    "translation_has": Change(translation_has, "engine"),
    "aligned": Change(aligned, "engine"),
    "greedy_and_beam": Change(greedy_and_beam, "engine"),
    "reordered": Change(reordered, "engine"),
    "confidence": Change(confidence, "engine"),
    "weight": Change(weight, "attention"),
}


def check_arguments(name: str, arguments: Mapping[str, Any]) -> None:
    """Raises InputError unless these are arguments of the condition of this name.

    >>> check_arguments("pieces", {"last": 6})
    Traceback (most recent call last):
    regard.errors.InputError: pieces has no argument "last"; did you mean "least"?
    """
    function = CHANGES[name].function
    hints = get_type_hints(function, {"Translator": object} | vars(inspect.getmodule(function)))
    known = {one: p for one, p in inspect.signature(function).parameters.items() if one not in ("text", "translator")}
    for one, value in arguments.items():
        if one not in known:
            raise InputError(f'{name} has no argument "{one}"; {nearest(one, known)}', parameter="arguments")
        try:
            accept(value, hints[one])
        except ValueError:
            raise InputError(
                f"arguments.{one} must be {describe(hints[one])}, but is {value!r}", parameter="arguments"
            ) from None
    for one, parameter in known.items():
        if parameter.default is parameter.empty and one not in arguments:
            raise InputError(f"{name} needs the argument {one}", parameter="arguments")
    for either in (("least", "most"), ("above", "below")):
        if set(either) <= set(known) and not set(either) & set(arguments):
            raise InputError(f"{name} needs the argument {either[0]} or {either[1]}", parameter="arguments")


# ── common parts ──────────────────────────────────────────────────────────────────────────────────────────────────────


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    found = (text[start:end].lower() for start, end in word_spans(text))
    return [word for word in found if any(letter.isalnum() for letter in word)]


def _contains(several: list[str], part: list[str]) -> bool:
    return any(several[i : i + len(part)] == part for i in range(len(several) - len(part) + 1))


def _pairs(rows: Any, columns: Any, query: str, key: str) -> list[tuple[int, int]]:
    return [
        (i, j)
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
        if row.lower() == query.lower() and column.lower() == key.lower()
    ]


def _counted(count: int, what: str, least: int | None, most: int | None) -> Measured:
    """
    >>> _counted(4, "pieces", 6, None)
    Measured(right=False, said='4 pieces', needed='at least 6')
    """
    needed = [f"at least {least}"] if least is not None else []
    needed += [f"at most {most}"] if most is not None else []
    right = (least is None or count >= least) and (most is None or count <= most)
    return Measured(right, f"{count} {what if count != 1 else what.removesuffix('s')}", " and ".join(needed))


def _bounded(value: float, said: str, above: float | None, below: float | None) -> Measured:
    needed = [f"above {above:g}"] if above is not None else []
    needed += [f"below {below:g}"] if below is not None else []
    right = (above is None or value > above) and (below is None or value < below)
    return Measured(right, said, " and ".join(needed))
