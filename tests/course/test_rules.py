"""The grammar turned round: every sentence it writes is read again, and nothing else is."""

from __future__ import annotations

import random

import pytest

from regard.course.grammar import NOTES_EXAMPLES, corpus, verbs
from regard.course.grammar.clauses import PAST
from regard.course.rules.english_words import verb_groups
from regard.course.rules.translate import translate, translate_all
from support import grammar


@pytest.mark.parametrize(("english", "french"), NOTES_EXAMPLES)
def test_the_sentences_of_the_notes_are_translated(english, french):
    assert translate(english) == french


def test_each_sentence_of_the_test_splits_is_translated_exactly():
    splits = grammar()
    for name in ("test", "compositional"):
        examples = splits[name].examples
        assert translate_all(e.src for e in examples) == [e.tgt for e in examples]


def test_fresh_sentences_of_every_construction_are_read():
    for number, (make, mark) in enumerate(corpus._CONSTRUCTIONS):
        rng = random.Random(number)
        for _ in range(8):
            draft = corpus.Draft(rng)
            example = corpus.finish(draft, make(draft), mark).example
            assert translate(example.src) == example.tgt


@pytest.mark.parametrize(
    "line",
    [
        "",
        ".",
        "I",
        "Hello!",
        "The cat sleeps",  # no final mark
        "the cat sleeps.",  # no capital
        "The cat  sleeps.",  # two spaces
        "A old cat sleeps.",
        "The cat sleep.",
        "The cat saw.",
        "The cat put the book.",
        "The zebra sleeps.",
        "He sees him and the cat.",
        "It is big.",  # nothing that it could be
        "Where the cat sleeps?",
        "The bank is beautiful.",  # nothing tells which bank
        "The cat sleeps because.",
        "When the cat sleeps.",
    ],
)
def test_what_the_grammar_does_not_say_is_not_translated(line):
    assert translate(line) is None


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("The cat was so tired that it didn't sleep.", "Le chat était si fatigué qu'il n'a pas dormi."),
        (
            "The hat does not fit in the box because it is too big.",
            "Le chapeau n'entre pas dans la boîte parce qu'il est trop grand.",
        ),
        ("The bats slept.", "Les chauves-souris ont dormi."),
        ("Marie will find the letter and read it.", "Marie trouvera la lettre et la lira."),
        ("If he leaves, she will cry.", "S'il part, elle pleurera."),
        ("What did the old man buy?", "Qu'est-ce que le vieil homme a acheté ?"),
        ("They read the letter.", "Ils ont lu la lettre."),
    ],
)
def test_known_hard_places(english, french):
    assert translate(english) == french


def test_a_verb_group_is_read_as_the_grammar_writes_it():
    groups = verb_groups(verbs.BY_NAME["wake up"], plural=False, person=3, question=False)
    assert groups["didn't", "want", "to", "wake"].modal == "want"
    assert groups["woke",].tense == PAST
    assert ("waked",) not in groups
