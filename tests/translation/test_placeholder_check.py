"""What must survive: found in the answer, or put in where it belongs."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from regard.text.glossary import Glossary
from regard.text.slots import SLOTS
from regard.text.words import WordLink, word_spans
from regard.translation.options import TranslateOptions
from regard.translation.placeholder_check import NOT_READABLE, REORDERED, checked, repaired, repeated, swapped
from regard.translation.prepare import Reader, prepared
from regard.translation.prepared_sentence import PreparedSentence, ProtectedToken

LITERAL, SLOTTED = Reader("en", "fr"), Reader("en", "fr", slots=len(SLOTS))


def in_order(sentence: PreparedSentence, answer: str) -> list[WordLink]:
    return list(zip(word_spans(sentence.read), word_spans(answer), strict=False))


def test_a_slot_that_was_said_is_kept_where_it_was_said() -> None:
    sentence = prepared("Call 555-0199 at 3:45 pm 😀", TranslateOptions(), SLOTTED)
    answer = f"À {SLOTS[1]}, appelle {SLOTS[0]}"
    found = checked(sentence, answer, ())
    assert found.text == "À 3:45 pm, appelle 555-0199 😀"
    assert [(one.status, found.text[slice(*one.target)]) for one in found.protected if one.target] == [
        ("kept", "555-0199"),
        ("kept", "3:45 pm"),
        ("kept", "😀"),
    ]


def test_what_was_garbled_is_replaced_through_the_alignment() -> None:
    sentence = prepared("There are 1,250 people here.", TranslateOptions(), LITERAL)
    answer = "Il 12 personnes ici ."
    links = [((0, 5), (0, 2)), ((10, 15), (3, 5)), ((16, 22), (6, 15)), ((23, 27), (16, 19))]
    found = repaired(checked(sentence, answer, links))
    assert found.text == "Il 1,250 personnes ici ."
    (one,) = found.protected
    assert (one.status, one.target) == ("repaired", (3, 8))
    assert ((16, 22), (9, 18)) in found.links


def test_what_is_not_there_at_all_is_put_after_its_neighbour() -> None:
    sentence = prepared("Call 555-0199 now.", TranslateOptions(), LITERAL)
    found = repaired(checked(sentence, "Appelle maintenant.", [((0, 4), (0, 7)), ((14, 17), (8, 18))]))
    assert found.text == "Appelle 555-0199 maintenant."
    first = prepared("555-0199 is it.", TranslateOptions(), LITERAL)
    assert repaired(checked(first, "C'est ça.", [((9, 11), (0, 5))])).text == "555-0199 C'est ça."
    assert repaired(checked(first, "C'est ça.", ())).text == "C'est ça 555-0199."


def test_a_control_character_replaces_no_word_and_takes_no_space() -> None:
    sentence = prepared("The c\0at\x07 sleeps.", TranslateOptions(), SLOTTED)
    assert sentence.read == "The cat sleeps."
    found = repaired(checked(sentence, "Le chat dort.", in_order(sentence, "Le chat dort.")))
    assert found.text == "Le chat\0\x07 dort."


def test_a_term_may_begin_the_sentence_with_a_capital_and_counts_once() -> None:
    terms = TranslateOptions(glossary=Glossary.of({"cat": "matou", "dog": "chien"}))
    sentence = prepared("Cats and a cat and a dog.", terms, LITERAL)
    found = checked(sentence, "Matous et matou et chien.", ())
    assert found.text == "Matous et matou et chien."
    assert [one.target for one in found.protected] == [(0, 6), (10, 15), (19, 24)]
    once = checked(sentence, "Matous et un chien.", ())
    assert [one.status for one in once.protected] == ["kept", "missing", "kept"]


def test_without_repair_it_is_missing() -> None:
    sentence = prepared("Call 555-0199 now.", TranslateOptions(), LITERAL)
    found = checked(sentence, "Appelle maintenant.", ())
    assert [(one.status, one.target, bool(one.note)) for one in found.protected] == [("missing", None, True)]


def test_each_occurrence_counts_once() -> None:
    sentence = prepared("From 12 to 12 there are 12.", TranslateOptions(), LITERAL)
    found = checked(sentence, "De 12 à 12.", ())
    assert [one.status for one in found.protected] == ["kept", "kept", "missing"]


def test_one_of_several_forms_is_enough() -> None:
    sentence = PreparedSentence("The cats", 0, 8, "The cats")
    protected_tokens = ProtectedToken(4, 8, "term", ("chats", "matous"))
    found = checked(PreparedSentence(**{**vars(sentence), "protected_tokens": (protected_tokens,)}), "Les matous", ())
    assert (found.protected[0].status, found.protected[0].target) == ("kept", (4, 10))


@example(["12", "cat", "12", "12", "12"], [])
@given(st.lists(st.sampled_from(["12", "cat", "sleeps", "a@b.fr", "{x}", "3:45"]), min_size=1, max_size=8),
       st.lists(st.sampled_from(["12", "chat", "dort", "{x}", ",", "45"]), max_size=8))  # fmt: skip
def test_after_repair_everything_is_there_and_every_span_says_where(source: list[str], answer: list[str]) -> None:
    sentence = prepared(" ".join(source), TranslateOptions(), LITERAL)
    if not sentence.read:
        return
    text = " ".join(answer)
    found = repaired(checked(sentence, text, in_order(sentence, text)))
    for one in found.protected:
        assert one.status in ("kept", "repaired")
        assert one.target is not None
        assert found.text[slice(*one.target)] == one.wanted
    targets = sorted(one.target for one in found.protected if one.target)
    assert all(a[1] <= b[0] for a, b in pairwise(targets))


def test_spans_that_touch_are_one_slot() -> None:
    sentence = prepared("Call 555-0199 at <b>3:45</b> pm, 1,250 euros.", TranslateOptions(), SLOTTED)
    assert sentence.read == f"Call {SLOTS[0]} at {SLOTS[1]}, {SLOTS[2]} euros."
    assert [one.wanted for one in sentence.protected_tokens] == [("555-0199",), ("<b>3:45</b> pm",), ("1,250",)]


def test_a_slot_is_filled_once_and_a_strange_one_is_removed() -> None:
    sentence = prepared("Call 555-0199 now.", TranslateOptions(), SLOTTED)
    answer = f"Appelle {SLOTS[0]} {SLOTS[0]} maintenant {SLOTS[7]}."
    assert checked(sentence, answer, ()).text == "Appelle 555-0199 maintenant."


def test_filled_slots_do_not_make_one_number_of_two() -> None:
    sentence = prepared("Rooms 12, 14 and 16.", TranslateOptions(), SLOTTED)
    found = repaired(checked(sentence, f"Salles {SLOTS[0]},{SLOTS[1]} et {SLOTS[2]}.", ()))
    assert (found.text, {one.status for one in found.protected}) == ("Salles 12, 14 et 16.", {"kept"})


def test_the_final_text_is_read_again() -> None:
    sentence = prepared("Rooms 12 and more.", TranslateOptions(), SLOTTED)
    (one,) = repaired(checked(sentence, f"Salles 3,{SLOTS[0]}4 et plus.", ())).protected
    assert (one.status, one.target) == ("kept", (10, 12))
    (one,) = repaired(checked(sentence, f"Salles 3-{SLOTS[0]}.5 et plus.", ())).protected
    assert (one.status, one.target, one.note) == ("missing", None, NOT_READABLE)


def test_a_changed_order_is_noted_and_in_a_list_wrong() -> None:
    sentence = prepared("Rooms 12, 14 and 16 for 3 cats.", TranslateOptions(), SLOTTED)
    found = repaired(checked(sentence, f"{SLOTS[3]} chats, salles {SLOTS[1]}, {SLOTS[0]} et {SLOTS[2]}.", ()))
    assert [one.note for one in found.protected] == ["", REORDERED, "", REORDERED]
    assert [(first.text, second.text) for first, second in swapped(sentence.source, found.protected)] == [("12", "14")]
    tags = prepared("A <b>black cat</b> sleeps.", TranslateOptions(), SLOTTED)
    turned = repaired(checked(tags, f"Un {SLOTS[1]}chat noir{SLOTS[0]} dort.", ()))
    assert [(first.text, second.text) for first, second in swapped(tags.source, turned.protected)] == [("<b>", "</b>")]


def test_a_span_that_occurs_more_often_than_in_the_source() -> None:
    sentence = prepared("On the 20th, two cats and 2 dogs came.", TranslateOptions(), SLOTTED)
    found = repaired(checked(sentence, f"Le {SLOTS[0]}, 20, 2 chats et {SLOTS[1]} chiens.", ()))
    assert repeated(sentence.source, found, "en") == ["20"]
