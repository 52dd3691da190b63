"""Reversals: what a translation says the other way round is marked, and a faithful one is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import regard.translation.reversals as module
from regard.translation.reversals import marked_words, reversals

LANGUAGES = ("en", "fr", "de", "es")
LISTS = tomllib.loads(Path(module.__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PLANTED = Path(__file__).parents[2] / "benchmarks" / "reversals.toml"

FAITHFUL = [
    ("en", "fr", "I don't know.", "Je ne sais pas."),
    ("en", "fr", "Nobody came.", "Personne n'est venu."),
    ("en", "fr", "You're tired, aren't you?", "Tu es fatigué, n'est-ce pas ?"),
    ("en", "fr", "It is only a small step.", "Ce n'est qu'un petit pas."),
    ("en", "fr", "The file was not found.", "Le fichier est introuvable."),
    ("en", "fr", "It's not bad.", "C'est bon."),
    ("en", "fr", "I like him.", "Il me plaît."),
    ("en", "fr", "Twenty-one cats and 1,250 dogs.", "21 chats et 1 250 chiens."),
    ("en", "fr", "In the 1980s he had ninety employees.", "Dans les années 80, il avait quatre-vingt-dix employés."),
    ("en", "de", "We only learnt of it yesterday.", "Wir haben erst gestern davon erfahren."),
    ("de", "en", "Wir haben erst gestern davon erfahren.", "We didn't learn of it until yesterday."),
    ("en", "de", "You must not smoke here.", "Hier dürfen Sie nicht rauchen."),
    ("de", "en", "Zweihundertfünf Leute kamen um drei Uhr nachmittags.", "205 people came at 15:00."),
    ("de", "en", "Das ist einfach noch einmal zu prüfen.", "This is simply to be checked again."),
    ("es", "en", "No vino nadie nunca.", "Nobody ever came."),
    ("en", "es", "Amendment No 5 was adopted.", "La enmienda 5 fue aprobada."),
    ("en", "es", "It cost 2 billion euros.", "Costó 2.000 millones de euros."),
    ("en", "es", "I like it.", "Me gusta."),
    ("en", "xx", "I don't know.", "?"),
]

REVERSED = [
    ("negation", "de", "en", "…dass ich mich erst jetzt melde.", "…that I'm not getting in touch now."),
    ("negation", "en", "fr", "I don't know.", "Je sais."),
    ("negation", "en", "es", "It is possible.", "Es imposible."),
    ("opposite", "de", "en", "Der Mieter ist verpflichtet.", "The owner is obliged."),
    ("opposite", "fr", "en", "Prenez le médicament avant le repas.", "Take the medicine after the meal."),
    ("modality", "en", "de", "You must leave.", "Sie dürfen gehen."),
    ("modality", "es", "en", "Usted puede pagar.", "You have to pay."),
    ("number", "en", "fr", "I have two cats.", "J'ai trois chats."),
    ("number", "en", "de", "It costs 12 euros.", "Es kostet 21 Euro."),
    ("number", "es", "en", "La mitad de los alumnos.", "A dozen of the pupils."),
    ("roles", "en", "fr", "I called him.", "Il m'a appelé."),
    ("roles", "de", "en", "Er hat mich angerufen.", "I called him."),
]


def kinds(source: str, target: str, *languages: str) -> list[str]:
    return [reason.name for reason in reversals(source, target, (languages[0], languages[1]))]


@pytest.mark.parametrize(("own", "other", "source", "target"), FAITHFUL)
def test_a_faithful_translation_is_not_marked(own: str, other: str, source: str, target: str) -> None:
    assert kinds(source, target, own, other) == []


@pytest.mark.parametrize(("kind", "own", "other", "source", "target"), REVERSED)
def test_a_reversal_is_marked_with_its_kind(kind: str, own: str, other: str, source: str, target: str) -> None:
    assert kinds(source, target, own, other) == [kind]
    (reason,) = reversals(source, target, (own, other))
    assert '"' in reason.text or kind == "number"  # the words concerned


CLAUSES = {  # the same statements, each affirmed and denied
    "en": [("she is here", "she is not here"), ("we know it", "we do not know it"), ("he came", "he never came")],
    "fr": [
        ("elle est ici", "elle n'est pas ici"),
        ("on le sait", "on ne le sait pas"),
        ("il vint", "il ne vint jamais"),
    ],
    "de": [("sie ist hier", "sie ist nicht hier"), ("man weiß es", "man weiß es nicht"), ("er kam", "er kam nie")],
    "es": [("está aquí", "no está aquí"), ("se sabe", "no se sabe"), ("vino", "nunca vino")],
}
pairs_of_languages = st.tuples(st.sampled_from(LANGUAGES), st.sampled_from(LANGUAGES))


@given(pairs_of_languages, st.lists(st.tuples(st.integers(0, 2), st.just(0)), max_size=3), st.integers(0, 2), st.data())
def test_one_negation_on_both_sides_is_never_marked(
    languages: tuple[str, str], others: list[tuple[int, int]], denied: int, data: st.DataObject
) -> None:
    statements = [*others, (denied, 1)]
    texts = [
        ", ".join(CLAUSES[language][n][side] for n, side in data.draw(st.permutations(statements))) + "."
        for language in languages
    ]
    assert kinds(texts[0], texts[1], *languages) == []


@given(pairs_of_languages, st.integers(0, 2), st.booleans())
def test_a_lost_or_added_negation_is_always_marked(languages: tuple[str, str], number: int, added: bool) -> None:
    source, target = (
        CLAUSES[language][number][side] for language, side in zip(languages, (not added, added), strict=True)
    )
    assert kinds(source, target, *languages) == ["negation"]


@given(st.integers(0, len(LISTS["opposites"]) - 1), pairs_of_languages, st.integers(0, 1), st.data())
def test_a_listed_opposite_is_always_marked(
    scale: int, languages: tuple[str, str], side: int, data: st.DataObject
) -> None:
    own, other = (
        [
            word
            for word in (entry.replace("*", "").replace("_", " ") for entry in LISTS["opposites"][scale][x][s].split())
            if {(name, at) for name, at in marked_words(word, x) or {} if name == f"opposite {scale}"}
            == {(f"opposite {scale}", s)}
        ]
        for x, s in zip(languages, (side, 1 - side), strict=True)
    )
    if own and other:
        source, target = data.draw(st.sampled_from(own)), data.draw(st.sampled_from(other))
        assert {"opposite", "negation"} & set(kinds(source, target, *languages))


@given(st.integers(2, 99_999), st.integers(2, 99_999), pairs_of_languages)
def test_a_number_is_marked_if_and_only_if_it_changed(first: int, second: int, languages: tuple[str, str]) -> None:
    decade = {str(first)[-2:], str(second)[-2:]} <= {str(first), str(second)} and first % 10 == 0
    if not (decade and first != second):
        assert kinds(f"({first})", f"({second})", *languages) == ([] if first == second else ["number"])


def test_the_benchmark_plants_opposites_that_the_lists_do_not_have() -> None:
    planted = tomllib.loads(PLANTED.read_text(encoding="utf-8"))["opposites"]
    for known in (True, False):
        for language, entries in planted["known" if known else "unknown"].items():
            for entry in entries.split():
                old, new = entry.split(":")
                assert bool({"opposite", "negation"} & set(kinds(old, new, language, language))) == known, entry


@given(st.data(), st.sampled_from(LANGUAGES))
def test_remembered_marks_are_those_of_the_word_in_its_text(data: st.DataObject, language: str) -> None:
    entries = module.lists(language)
    assert entries is not None
    known = [*map(" ".join, entries.phrases), *entries.beginnings, "chair", "2", ".", "not_only"]
    text = " ".join(data.draw(st.lists(st.sampled_from(known), max_size=12)))
    read = [(one, ()) if isinstance(one, str) else one for one in module._reader(language)(text)]
    words = module.WORD.findall(text)
    assert [word for word, _ in read] == words
    for place, (word, marks) in enumerate(read):
        assert marks is None or list(marks) == module._longest(entries, words, place)
        ends = range(2, len(word) + 1)
        begun = [(mark, end / 100) for end in ends for mark in entries.beginnings.get(word[:end], ())]
        assert module._by_beginning(entries, word) == begun
