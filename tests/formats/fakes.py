"""Translators for tests: one that copies, one that reverses the words of every line, with their alignment."""

from __future__ import annotations

from collections.abc import Sequence

from regard.formats.document import ATOM
from regard.text.words import word_spans
from regard.translation.translation import ProtectedSpan, SentenceTranslation, Translation, copied


def copy(texts: Sequence[str], wrapped: bool) -> list[Translation]:
    return [copied(text) for text in texts]


def reverse(texts: Sequence[str], wrapped: bool) -> list[Translation]:
    return [reversed_words(text) for text in texts]


def reversed_words(text: str) -> Translation:
    """
    >>> reversed_words("the black cat\\n sleeps").text
    'CAT BLACK THE\\n SLEEPS'
    """
    target, sentences, at = "", [], 0
    for line in text.split("\n"):
        words = [(at + start, at + end) for start, end in word_spans(line)]
        if words:
            first, last = words[0][0], words[-1][1]
            target += text[at:first]
            begins, links, kept = len(target), [], []
            for start, end in reversed(words):
                target += " " if len(target) > begins else ""
                place = (len(target), len(target) + end - start)
                target += "".join(c.upper() if len(c.upper()) == 1 else c for c in text[start:end])
                links.append(((start, end), place))
                if text[start:end] == ATOM:
                    kept.append(ProtectedSpan(ATOM, "object", ATOM, (start, end), place, "kept"))
            said, span = target[begins:], (begins, len(target))
            source = text[first:last]
            sentences.append(
                SentenceTranslation(
                    source, said, (first, last), span, source, alignment=tuple(links), protected=tuple(kept)
                )
            )
            target += text[last : at + len(line)]
        else:
            target += line
        at += len(line) + 1
        target += "\n" if at <= len(text) else ""
    return Translation(text, target, 0.0, 0.0, (), sentences=tuple(sentences))
