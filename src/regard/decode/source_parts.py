"""A source line as one part or several: a line longer than the model reads is cut, and its parts translated apart.

A cut is after a sentence end if there is one in the last three quarters of a part, else before a word, else between two
tokens. A line of more than `WINDOW` characters is tokenized window by window, so that time is linear in its length and
memory bounded; the windows do not show in the parts, except in text without spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regard.text.tokenizer import Tokenizer

SENTENCE_END = ".!?…。！？"
WINDOW = 20_000  # characters

Span = tuple[int, int]  # first character, one after the last


class SourcePart(NamedTuple):
    """A line, or a part of a long one."""

    text: str
    ids: list[int]


def source_parts(
    tokenizer: Tokenizer, lines: Sequence[str], prefix: Sequence[int], max_length: int
) -> list[list[SourcePart]]:
    """The parts of each line, each with the ids of `prefix` (a tag) before its own and room for EOS within
    `max_length`. A blank line has none. The tokenizer must not add a tag itself."""
    ids = tokenizer.encode_source([line if len(line) <= WINDOW else "" for line in lines])
    pairs = zip(lines, ids, strict=True)
    return [_parts(tokenizer, line, i, prefix, max_length) if line.strip() else [] for line, i in pairs]


def _parts(tokenizer: Tokenizer, line: str, ids: list[int], prefix: Sequence[int], max_length: int) -> list[SourcePart]:
    room = max_length - len(prefix)
    if len(line) <= WINDOW and len(ids) < room:  # EOS takes the last position
        return [SourcePart(line, [*prefix, *ids])]
    most = max(1, room - 2)  # room for EOS, and for a word-start mark that the beginning of a part may need
    texts = [text for text in (line[a:b].strip() for a, b in _cuts(tokenizer, line, most)) if text]
    return [SourcePart(t, [*prefix, *i]) for t, i in zip(texts, tokenizer.encode_source(texts), strict=True) if i]


def _cuts(tokenizer: Tokenizer, line: str, most: int) -> Iterator[Span]:
    """Character ranges of at most `most` tokens each."""
    window, start = max(WINDOW, 32 * most), 0
    while start < len(line):
        text = line[start : start + window]
        ranges = list(cut_points(text, [(token.start, token.end) for token in tokenizer.source_tokens(text)], most))
        if start + window < len(line) and len(ranges) > 1:
            ranges.pop()  # it ends at the window's end, which may be within a word: cut it again from its start
        yield from ((start + first, start + last) for first, last in ranges)
        start += ranges[-1][1] if ranges and ranges[-1][1] else len(text)


def cut_points(text: str, spans: Sequence[Span], most: int) -> Iterator[Span]:
    """Character ranges of at most `most` tokens each, given every token's span."""
    first = 0
    while first < len(spans):
        last = min(first + most, len(spans))  # this part has tokens first … last−1
        if last < len(spans):
            last = _best_cut(text, spans, first, last)
        yield spans[first][0], spans[last - 1][1]
        first = last


def _best_cut(text: str, spans: Sequence[Span], first: int, last: int) -> int:
    """After the last sentence end, unless the part would be under a quarter of its size; else before the last word;
    else between the last two characters. Tokens may be bytes, and the bytes of one character stay together."""

    def between_characters(i: int) -> bool:
        return spans[i][0] >= spans[i - 1][1]

    def ends_sentence(i: int) -> bool:
        piece = text[slice(*spans[i - 1])].rstrip()
        return piece != "" and piece[-1] in SENTENCE_END

    def begins_word(i: int) -> bool:
        start = spans[i][0]
        return any(c.isspace() for c in text[max(0, start - 1) : start + 1])

    quarter = first + (last - first) // 4
    cuts = [i for i in range(last, first, -1) if between_characters(i)]
    sentence = next((i for i in cuts if i > quarter and ends_sentence(i)), None)
    return sentence or next((i for i in cuts if begins_word(i)), cuts[0] if cuts else last)
