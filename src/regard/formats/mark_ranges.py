"""Finds the part of a translation that a mark encloses: the words that translate the words inside it.

If a mark encloses part of a sentence, every target word votes: two points for each link to a source word inside the
mark, minus one for each link to a word outside. The mark encloses the contiguous words with the most points; of two
such ranges, the shorter one. "I do <b>not</b> eat" → "Je <b>ne mange pas</b>": 2 - 1 + 2. Words without a link count
0, so that punctuation stays outside unless the mark encloses its source. Whole sentences need no alignment, and the
text between sentences is the same in both texts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from regard.formats.document import Mark
from regard.text.words import Span, word_spans
from regard.translation.translation import SentenceTranslation, Translation

ROOT = -1  # the parent index of a mark or atom that is not inside a mark
INSIDE, OUTSIDE = 2, -1
MAX_STEPS = 5_000_000  # maximum words examined for the marks of one segment; after that, marks are placed by position
MAX_DISTANCE = 50  # maximum distance in words at which a free word is searched for


class TargetSentence:
    """The words of a translated sentence and their links to the source."""

    def __init__(self, sentence: SentenceTranslation, atom_links: Sequence[tuple[Span, Span]]) -> None:
        self.sentence = sentence
        start = sentence.target_span[0]
        self.words = [(start + first, start + last) for first, last in word_spans(sentence.text)]
        self.links = sorted(  # (source start, source end, target word)
            (*source, word) for source, target in (*(sentence.alignment or ()), *atom_links) for word in self.at(target)
        )
        self.link_starts = [start for start, _, _ in self.links]
        self.link_ends = list(accumulate((end for _, end, _ in self.links), max))
        self.linked = Counter(word for _, _, word in self.links)
        # Protected spans, which a mark should not cut.
        self.survivors = sorted(span.target for span in sentence.protected if span.target is not None)
        self.kept = sorted(  # protected spans that are identical in both texts
            (span.source, span.target)
            for span in sentence.protected
            if span.target is not None
            and sentence.text[span.target[0] - start : span.target[1] - start] == span.text
            and span.source[1] - span.source[0] == len(span.text)
        )
        letters = [at for at, character in enumerate(sentence.source, sentence.source_span[0]) if character.isalnum()]
        self.letters = (letters[0], letters[-1] + 1) if letters else (0, 0)  # from the first letter to the last

    def at(self, span: Span) -> Iterator[int]:
        """Yields the indices of the words that a span of the translation overlaps."""
        word = max(0, bisect_right(self.words, span) - 1)
        while word < len(self.words) and self.words[word][0] < span[1]:
            if self.words[word][1] > span[0]:
                yield word
            word += 1

    def widened(self, range: Span) -> Span:
        """Extends a range to include protected spans, such as `%s`, that it would cut."""
        start, end = range
        if start == end:
            return range
        for edge in (start, end):
            number = bisect_right(self.survivors, (edge, -1)) - 1
            if number >= 0 and self.survivors[number][0] < edge < self.survivors[number][1]:
                start, end = min(start, self.survivors[number][0]), max(end, self.survivors[number][1])
        return start, end

    def points(self, start: int, end: int) -> tuple[int, list[int]]:
        """For a mark around source characters `start` to `end`: the index of the first candidate word, and the points
        of this word and the next ones. If the mark encloses all letters of the sentence, words without a link count
        for it too."""
        found = self.links[bisect_right(self.link_ends, start) : bisect_left(self.link_starts, end)]
        inside = Counter(word for _, stop, word in found if stop > start)
        if start <= self.letters[0] and self.letters[1] <= end:
            words = range(len(self.words))
            unlinked = [int(self.sentence.text[at - self.sentence.target_span[0]].isalnum()) for at, _ in self.words]
        else:
            words = range(min(inside), max(inside) + 1) if inside else range(0)
            unlinked = []
        return words.start, [
            INSIDE * inside[word] + OUTSIDE * (self.linked[word] - inside[word])
            if self.linked[word] or not unlinked
            else unlinked[word]
            for word in words
        ]


@dataclass
class Claims:
    """Ranges of the translation that are used by marks with the same parent: sorted, not overlapping."""

    within: Span
    taken: list[Span]

    def free(self, word: Span) -> bool:
        if word[0] < self.within[0] or word[1] > self.within[1]:
            return False
        at = bisect_left(self.taken, (word[1], -1))  # ranges before `at` start before the word's end
        return at == 0 or self.taken[at - 1][1] <= word[0]

    def take(self, range: Span) -> None:
        if range[0] < range[1]:
            insort(self.taken, range)

    def place(self, at: int) -> int:
        """The position nearest to `at` that is not in a range."""
        at = min(max(at, self.within[0]), self.within[1])
        before = bisect_left(self.taken, (at, -1)) - 1
        return max(at, self.taken[before][1]) if before >= 0 else at


class MarkRanges:
    """Ranges in the translation for the marks of a segment, outermost first."""

    def __init__(self, translation: Translation, atom_links: Sequence[tuple[Span, Span]]) -> None:
        self.translation = translation
        self.source_starts = [sentence.source_span[0] for sentence in translation.sentences]
        self.source_ends = [sentence.source_span[1] for sentence in translation.sentences]
        links: dict[int, list[tuple[Span, Span]]] = {}
        for link in atom_links:
            links.setdefault(self.sentence_at(link[0][0]), []).append(link)
        self.sentences = [TargetSentence(s, links.get(n, ())) for n, s in enumerate(translation.sentences)]
        self.unaligned: list[int] = []  # marks that were placed by position
        self.steps = 0

    def sentence_at(self, at: int) -> int:
        """The index of the last sentence that starts at or before a source character; -1 before the first."""
        return bisect_right(self.source_starts, at) - 1

    def of_marks(self, marks: Sequence[Mark], parents: Sequence[int]) -> list[Span]:
        claims = {ROOT: Claims((0, len(self.translation.text)), [])}
        ranges: list[Span] = []
        for number, mark in enumerate(marks):
            among = claims[parents[number]]
            start, end = self.of_mark(number, mark, among)
            ranges.append((start, max(start, end)))
            among.take(ranges[-1])
            claims[number] = Claims(ranges[-1], [])
        return ranges

    def of_mark(self, number: int, mark: Mark, claims: Claims) -> Span:
        if (same := self.within_same(mark)) is not None and claims.free(same):
            return same
        first, last = self.holder(mark.start), self.holder(mark.end - 1)
        begins_inside = first is not None and first.sentence.source_span[0] < mark.start
        ends_inside = last is not None and mark.end < last.sentence.source_span[1]
        if first is not None and first is last and (begins_inside or ends_inside):
            found = self.best_range(number, mark, first, claims)
            widened = first.widened(found)
            return widened if claims.free(widened) else found
        start, end = self.outside_position(mark.start), self.outside_position(mark.end)
        if first is not None and begins_inside:
            start = self.edge(mark, first, claims, suffix=True)
        if last is not None and ends_inside:
            end = self.edge(mark, last, claims, suffix=False)
        return start, end

    def within_same(self, mark: Mark) -> Span | None:
        """The range of a mark inside a protected span that is identical in source and translation, such as the name in
        `@<b>name</b>`; otherwise None."""
        sentence = self.holder(mark.start)
        if sentence is None or not sentence.kept:
            return None
        number = bisect_right(sentence.kept, ((mark.start, len(self.translation.source) + 1),)) - 1
        if number < 0:
            return None
        (start, end), target = sentence.kept[number]
        return (target[0] + mark.start - start, target[0] + mark.end - start) if mark.end <= end else None

    def holder(self, at: int) -> TargetSentence | None:
        """The sentence that contains a source character, if any."""
        number = self.sentence_at(at)
        return self.sentences[number] if number >= 0 and at < self.source_ends[number] else None

    def outside_position(self, at: int) -> int:
        """The position in the translation of a source position at the edge of a sentence or between two."""
        number = self.sentence_at(at)
        if number < 0:
            return at
        sentence = self.sentences[number].sentence
        if at == sentence.source_span[0]:
            return sentence.target_span[0]
        return sentence.target_span[1] + at - sentence.source_span[1]

    def best_range(self, number: int, mark: Mark, sentence: TargetSentence, claims: Claims) -> Span:
        """The range of a mark that begins and ends within one sentence, or at one of its edges."""
        first, points = sentence.points(*mark) if self.steps < MAX_STEPS else (0, [])
        self.steps += len(points)
        best, most, total, start = (0, 0), 0, 0, first
        for word, gained in enumerate(points, first):
            if not claims.free(sentence.words[word]):
                total, start = 0, word + 1
                continue
            if total <= 0:
                total, start = 0, word
            total += gained
            if total > most or (total == most > 0 and word + 1 - start < best[1] - best[0]):
                best, most = (start, word + 1), total
        if not most:
            self.unaligned.append(number)
            return self.by_position(mark, sentence, claims)
        return sentence.words[best[0]][0], sentence.words[best[1] - 1][1]

    def by_position(self, mark: Mark, sentence: TargetSentence, claims: Claims) -> Span:
        """The range at the same relative position as the mark in the source, limited to free words: at least one word,
        if one is free nearby."""
        start, end = sentence.sentence.source_span
        count = len(sentence.words)
        first, last = ((at - start) * count // max(1, end - start) for at in mark)
        first = min(max(first, 0), max(0, count - 1))
        near = (word for step in range(MAX_DISTANCE) for word in (first + step, first - step) if 0 <= word < count)
        begin = next((word for word in near if claims.free(sentence.words[word])), None)
        if begin is None:
            at = claims.place(sentence.words[first][0] if count else sentence.sentence.target_span[1])
            return at, at
        stop = begin + 1
        while stop < min(last, count) and stop < begin + MAX_DISTANCE and claims.free(sentence.words[stop]):
            stop += 1
        return sentence.words[begin][0], sentence.words[stop - 1][1]

    def edge(self, mark: Mark, sentence: TargetSentence, claims: Claims, suffix: bool) -> int:
        """Where a mark that spans several sentences begins (`suffix`) or ends in this one: at the words with the most
        points at the end or at the start of the sentence."""
        first, points = sentence.points(*mark) if self.steps < MAX_STEPS else (0, [])
        gained = dict(enumerate(points, first))
        best, most, total = sentence.sentence.target_span[1 if suffix else 0], 0, 0
        words = range(len(sentence.words) - 1, first - 1, -1) if suffix else range(first + len(points))
        self.steps += len(words) if points else 0
        for word in words if points else ():
            if not claims.free(sentence.words[word]):
                break
            total += gained.get(word, OUTSIDE * sentence.linked[word])
            if total > most:
                best, most = sentence.words[word][0 if suffix else 1], total
        return best
