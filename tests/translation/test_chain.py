"""Two translations as one: spans, links and protected spans go from the first source to the last target."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from regard.text.words import word_spans
from regard.translation.chain import joined
from regard.translation.translation import (
    Candidate,
    ProtectedSpan,
    Reason,
    SentenceTranslation,
    Translation,
    copied,
)

NAMES = ("French → English", "English → German")


def sentence(source: str, text: str, at: tuple[int, int], **known: object) -> SentenceTranslation:
    a, b = at
    made = SentenceTranslation(source, text, (a, a + len(source)), (b, b + len(text)), source)
    return replace(made, candidates=(Candidate(text, -1.0, -2.0, ()),), **known)  # type: ignore[arg-type]


def whole(source: str, text: str, *sentences: SentenceTranslation) -> Translation:
    return Translation(source, text, -1.0, -2.0, (Candidate(text, -1.0, -2.0, ()),), sentences)


FIRST = whole(
    "- Le chat, 5.\n\nOui.",
    "- The cat, 5.\n\nYes.",
    sentence("Le chat, 5.", "The cat, 5.", (2, 2), confidence=0.8, reasons=(Reason("short", "It is short."),),
             alignment=(((2, 4), (2, 5)), ((5, 9), (6, 9)), ((11, 12), (11, 12))),
             protected=(ProtectedSpan("5", "number", "5", (11, 12), (11, 12), "kept"),)),
    sentence("Oui.", "Yes.", (15, 15), confidence=0.5, alignment=(((15, 18), (15, 18)),)),
)  # fmt: skip
CAT = whole(
    "The cat, 5.",
    "5 für die Katze.",
    sentence("The cat, 5.", "5 für die Katze.", (0, 0), confidence=0.5, reasons=(Reason("loop", "It repeats."),),
             alignment=(((0, 3), (6, 9)), ((4, 7), (10, 15)), ((9, 10), (0, 1))),
             protected=(ProtectedSpan("5", "number", "5", (9, 10), (0, 1), "repaired"),)),
)  # fmt: skip
YES = whole("Yes.", "Ja.", sentence("Yes.", "Ja.", (0, 0), confidence=0.5, alignment=(((0, 3), (0, 2)),)))


def test_what_is_said_of_both_steps() -> None:
    found = joined(FIRST, [CAT, YES], NAMES, name_first=True)
    assert found.text == "- 5 für die Katze.\n\nJa."
    cat, yes = found.sentences
    assert (cat.source_span, cat.target_span, yes.source_span, yes.target_span) == (
        (2, 13),
        (2, 18),
        (15, 19),
        (20, 23),
    )
    linked = [(found.source[slice(*a)], found.text[slice(*b)]) for a, b in cat.alignment or ()]
    assert linked == [("Le", "die"), ("chat", "Katze"), ("5", "5")]
    assert [reason.text for reason in cat.reasons] == [
        "French → English: It is short.",
        "English → German: It repeats.",
    ]
    assert (cat.confidence, yes.confidence) == (0.4, 0.25)
    assert cat.protected == (ProtectedSpan("5", "number", "5", (11, 12), (2, 3), "repaired"),)
    assert (found.log_prob, yes.candidates[0].log_prob) == (-8.0, -4.0)
    assert len(found.warnings) == 2


def test_what_the_second_step_loses_is_lost() -> None:
    without = whole("The cat, 5.", "Die Katze.", sentence("The cat, 5.", "Die Katze.", (0, 0)))
    cat = joined(FIRST, [without, YES], NAMES, name_first=True).sentences[0]
    assert (cat.protected[0].status, cat.protected[0].target) == ("missing", None)
    assert cat.reasons[-1].name == "lost"
    assert cat.alignment is None  # that of the second step is not known


@settings(max_examples=25)
@given(st.lists(st.text(alphabet="ab 5é,", min_size=1, max_size=8).filter(str.strip), max_size=4))
def test_a_second_step_that_copies_changes_nothing(texts: list[str]) -> None:
    parts, at = [], 1
    for text in texts:
        links = tuple(((a + at, b + at), (a + at, b + at)) for a, b in word_spans(text))
        parts.append(sentence(text, text, (at, at), alignment=links))
        at += len(text) + 1
    line = " " + " ".join(texts) + "\n"
    second = [replace(copied(text, word_spans(text)), text=text) for text in texts]
    found = joined(whole(line, line, *parts), second, NAMES, name_first=True)
    assert found.text == line
    for one, before in zip(found.sentences, parts, strict=True):
        assert (one.source_span, one.target_span, one.alignment) == (
            before.source_span,
            before.target_span,
            before.alignment,
        )
