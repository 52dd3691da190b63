"""Marks and atoms in translations: by known alignments, and whatever the alignment."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.fakes import reversed_words
from regard.formats.document import ATOM, Atom, CloseMark, Mark, OpenMark, PlacedSegment, Segment
from regard.formats.inline import ROOT, place_marks, skeleton_of, source_pieces
from regard.text.words import word_spans
from regard.translation.translation import ProtectedSpan, SentenceTranslation, Translation, copied


def shown(placed: PlacedSegment) -> str:
    """Marks as brackets with their numbers, atoms as #."""
    signs = {OpenMark: "[{}:", CloseMark: "]", Atom: "#{}"}
    return "".join(p if isinstance(p, str) else signs[type(p)].format(p[0]) for p in placed.pieces)


def translation(source: str, target: str, links: str, protected: tuple[ProtectedSpan, ...] = ()) -> Translation:
    """One sentence; links as "0-0 1-2" between words."""
    ours, theirs = word_spans(source), word_spans(target)
    pairs = [link.split("-") for link in links.split()]
    alignment = tuple((ours[int(i)], theirs[int(j)]) for i, j in pairs)
    whole = ((0, len(source)), (0, len(target)))
    sentence = SentenceTranslation(source, target, *whole, source, alignment=alignment or None, protected=protected)
    return Translation(source, target, 0.0, 0.0, (), sentences=(sentence,))


def marked(text: str, *words: str) -> Segment:
    spans = [(text.index(word), text.index(word) + len(word)) for word in words]
    return Segment(text, tuple(Mark(*span) for span in spans))


@pytest.mark.parametrize(
    ("source", "words", "target", "links", "expected"),
    [
        ("The black cat sleeps.", ["black"], "Le chat noir dort.", "0-0 1-2 2-1 3-3 4-4", "Le chat [0:noir] dort."),
        ("The black cat sleeps.", ["black cat"], "Le chat noir dort.", "0-0 1-2 2-1 3-3 4-4", "Le [0:chat noir] dort."),
        ("The black cat sleeps.", ["The black", "black"], "Le chat noir dort.", "0-0 1-2 2-1 3-3 4-4",
         "[0:Le chat [1:noir]] dort."),
        ("I do not eat.", ["not"], "Je ne mange pas.", "0-0 2-1 2-3 3-2 4-4", "Je [0:ne mange pas]."),
        ("the man", ["man"], "l'homme", "0-0 1-1", "l'[0:homme]"),
        ("He sleeps now.", ["He sleeps now"], "Il dort donc là.", "0-0 1-1 2-3 3-4", "[0:Il dort donc là]."),
        ("He sleeps now.", ["He sleeps now."], "Il dort maintenant !", "0-0 1-1", "[0:Il dort maintenant !]"),
        ("Yes, really.", ["really"], "Oui, vraiment.", "0-0 1-1 2-2 3-3", "Oui, [0:vraiment]."),
        ("red green", ["red", "green"], "vert rouge", "0-1 1-0", "[1:vert] [0:rouge]"),
        ("red green blue", ["red", "green", "blue"], "bleu", "0-0 1-0 2-0", "[1:][2:][0:bleu]"),
    ],
)  # fmt: skip
def test_marks_follow_their_words(source: str, words: list[str], target: str, links: str, expected: str) -> None:
    placed = place_marks(marked(source, *words), translation(source, target, links))
    assert sorted(shown(placed)) == sorted(expected)
    assert shown(placed) == expected or "][" in expected


def test_a_mark_without_alignment_is_placed_by_position_and_reported() -> None:
    placed = place_marks(
        marked("one two three four", "four"), translation("one two three four", "un deux trois quatre", "")
    )
    assert shown(placed) == "un deux trois [0:quatre]"
    assert placed.warnings == ("no translated word is aligned with 'four'; its inline element was placed by position",)


def test_a_mark_inside_what_is_the_same_in_both_texts_stays_there() -> None:
    kept = (ProtectedSpan("@alice", "address", "@alice", (6, 12), (0, 6), "kept"),)
    found = translation("Hello @alice", "@alice bonjour", "0-2", kept)
    assert shown(place_marks(marked("Hello @alice", "@alice", "alice"), found)) == "[0:@[1:alice]] bonjour"


def test_a_mark_does_not_cut_what_must_survive() -> None:
    kept = (ProtectedSpan("%s", "placeholder", "%s", (4, 6), (0, 2), "kept"),)
    found = translation("now %s", "%s là", "", kept)
    assert shown(place_marks(marked("now %s", "now"), found)) == "[0:%s] là"


def test_atoms_go_where_the_translation_says() -> None:
    source, target = f"Press {ATOM} or {ATOM}.", f"{ATOM} ou {ATOM} pressez."
    kept = tuple(
        ProtectedSpan(ATOM, "object", ATOM, (at, at + 1), (to, to + 1), "kept") for at, to in ((6, 5), (11, 0))
    )
    assert shown(place_marks(Segment(source), translation(source, target, "0-3", kept))) == "#1 ou #0 pressez."
    # Without a word from the translation they keep their order.
    assert shown(place_marks(Segment(source), translation(source, target, "0-3"))) == "#0 ou #1 pressez."


def test_an_atom_that_was_left_out_is_put_in_and_one_too_many_is_dropped() -> None:
    source = f"Press {ATOM} now."
    placed = place_marks(Segment(source), translation(source, "Appuyez maintenant.", "0-0 2-1"))
    assert shown(placed) == "Appuyez maintenant #0."
    assert placed.warnings == ("the translation left out 1 inline element(s), which were placed by position",)
    assert shown(place_marks(Segment("Yes."), translation("Yes.", f"Oui{ATOM}.", "0-0"))) == "Oui."


def test_an_atom_stays_in_its_mark() -> None:
    segment = Segment(f"see the {ATOM} file", (Mark(4, 14),))
    source = segment.text
    kept = (ProtectedSpan(ATOM, "object", ATOM, (8, 9), (0, 1), "kept"),)
    placed = place_marks(segment, translation(source, f"{ATOM} je te vois le fichier", "0-1 0-2 0-3 1-4 3-5", kept))
    assert shown(placed) == " je te vois [0:#0 le fichier]"


def test_a_mark_over_several_sentences() -> None:
    text = "one two. three four. five six."
    found = translated_by_sentence(text)
    placed = place_marks(Segment(text, (Mark(4, 25),)), found)
    assert shown(placed) == "[0:TWO ONE. FOUR THREE. SIX FIVE]."
    whole = place_marks(Segment(text, (Mark(9, 20),)), found)
    assert shown(whole) == "TWO ONE. [0:FOUR THREE.] SIX FIVE."


def translated_by_sentence(text: str) -> Translation:
    target, sentences, at = "", [], 0
    for source in text.split(". "):
        source = source if source.endswith(".") else source + "."
        first, second = source[:-1].split()
        said = f"{second} {first}.".upper()
        start, to = text.index(source, at), len(target)
        one, two = (start, start + len(first)), (start + len(first) + 1, start + len(source) - 1)
        links = ((one, (to + len(second) + 1, to + len(said) - 1)), (two, (to, to + len(second))))
        spans = ((start, start + len(source)), (to, to + len(said)))
        sentences.append(SentenceTranslation(source, said, *spans, source, alignment=links))
        at = start + len(source)
        target += said + text[at : at + 1]
    return Translation(text, target, 0.0, 0.0, (), sentences=tuple(sentences))


def test_lost_line_breaks_leave_the_segment_as_it_was() -> None:
    placed = place_marks(Segment("one\ntwo"), translation("one\ntwo", "un deux", ""))
    assert placed.text == "one\ntwo"
    assert placed.unchanged
    assert placed.warnings == ("its translation has other line breaks, so it stays as it was",)


WORDS = st.lists(st.sampled_from(["a", "bc", "d.", ATOM, "x", ",", "é"]), min_size=1, max_size=12)


@st.composite
def segments(draw: st.DrawFn) -> Segment:
    text = " ".join(draw(WORDS))
    marks: list[Mark] = []

    def nest(start: int, end: int, depth: int) -> None:
        while start < end and depth < 4 and draw(st.booleans()):
            first = draw(st.integers(start, end - 1))
            last = draw(st.integers(first + 1, end))
            marks.append(Mark(first, last))
            nest(first, last, depth + 1)
            start = last

    nest(0, len(text), 0)
    return Segment(text, tuple(marks))


@st.composite
def translations(draw: st.DrawFn, source: str) -> Translation:
    """Any words, in one or two sentences, with any links and any fate of the atoms."""
    cuts = [0, *([draw(st.integers(0, len(source)))] if draw(st.booleans()) else []), len(source)]
    target, sentences = "", []
    for start, end in pairwise(cuts):
        said = " ".join(draw(WORDS))
        span = (len(target), len(target) + len(said))
        target += said
        ours = [(start + a, start + b) for a, b in word_spans(source[start:end])]
        theirs = [(span[0] + a, span[0] + b) for a, b in word_spans(said)]
        pair = st.tuples(st.sampled_from(ours), st.sampled_from(theirs)) if ours and theirs else st.nothing()
        links = draw(st.none() | st.lists(pair, max_size=10)) if ours and theirs else None
        kept = draw(st.lists(pair, max_size=3)) if ours and theirs else []
        sentences.append(
            SentenceTranslation(
                source[start:end], said, (start, end), span, "",
                alignment=None if links is None else tuple(links),
                protected=tuple(ProtectedSpan(ATOM, "object", ATOM, a, b, "kept") for a, b in kept),
            )
        )  # fmt: skip
    return Translation(source, target, 0.0, 0.0, (), sentences=tuple(sentences))


@given(st.data())
def test_nothing_is_lost_or_doubled_and_everything_keeps_its_parent(data: st.DataObject) -> None:
    segment = data.draw(segments())
    found = data.draw(translations(segment.text))
    placed = place_marks(segment, found)
    skeleton, stack = skeleton_of(segment), [ROOT]
    opened, closed, atoms = [], [], []
    for piece in placed.pieces:
        if isinstance(piece, OpenMark):
            assert skeleton.mark_parents[piece.mark] == stack[-1]
            opened.append(piece.mark)
            stack.append(piece.mark)
        elif isinstance(piece, CloseMark):
            assert stack.pop() == piece.mark
            closed.append(piece.mark)
        elif isinstance(piece, Atom):
            assert skeleton.atom_parents[piece.atom] == stack[-1]
            atoms.append(piece.atom)
        else:
            assert piece
            assert ATOM not in piece
    assert stack == [ROOT]
    assert sorted(opened) == sorted(closed) == list(range(len(segment.marks)))
    assert sorted(atoms) == list(range(segment.text.count(ATOM)))
    words = "".join(piece for piece in placed.pieces if isinstance(piece, str))
    assert words.replace(" ", "") == found.text.replace(ATOM, "").replace(" ", "")


@given(segments())
def test_a_copy_is_the_source(segment: Segment) -> None:
    placed = place_marks(segment, copied(segment.text))
    assert placed.pieces == source_pieces(segment)
    assert placed.text == segment.text
    # Read from the pieces again, the marks have the same places.
    at, starts, marks = 0, {}, {}
    for piece in placed.pieces:
        if isinstance(piece, OpenMark):
            starts[piece.mark] = at
        elif isinstance(piece, CloseMark):
            marks[piece.mark] = Mark(starts[piece.mark], at)
        else:
            at += len(piece) if isinstance(piece, str) else 1
    assert tuple(marks[number] for number in range(len(marks))) == segment.marks


def test_many_marks_take_time_in_proportion() -> None:
    text = " ".join(["word"] * 20_000)
    marks = tuple(Mark(at, at + 4) for at in range(0, len(text), 5))
    placed = place_marks(Segment(text, marks), reversed_words(text))
    assert sum(isinstance(piece, OpenMark) for piece in placed.pieces) == len(marks)
