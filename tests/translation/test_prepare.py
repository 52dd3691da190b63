"""A sentence as a model reads it: what is taken out comes back, and every character keeps its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.glossary import Glossary
from regard.text.known_words import KnownWords
from regard.text.slots import SLOTS
from regard.translation.options import TranslateOptions
from regard.translation.prepare import ODD_SPACE, SPACES, Reader, prepared
from regard.translation.prepared_sentence import PreparedSentence, ProtectedToken
from regard.translator import Translator
from support import LINES, Call, grammar

MENDS = TranslateOptions(mend=True)
LITERAL, SLOTTED = Reader("en", "fr"), Reader("en", "fr", slots=len(SLOTS))
THINGS = ["😀", "❤️", "👩🏽‍🚀", "https://a.example/b", "a.b@c.fr", "@you", "#tag"]
SOME = st.lists(st.sampled_from(THINGS)).map(" ".join)
ANY = st.text() | st.tuples(SOME, st.text(), SOME).map(" ".join)


def same(restored: str, line: str) -> bool:
    """But for case, where it changes no length."""
    return restored.casefold() == line.casefold() or any(len(c.upper()) != 1 or len(c.lower()) != 1 for c in line)


@given(ANY, st.sampled_from([LITERAL, SLOTTED]), st.booleans(), st.booleans())
def test_nothing_is_lost(line: str, reader: Reader, mend: bool, protect: bool) -> None:
    found = prepared(line, TranslateOptions(mend=mend, protect=protect), reader)
    if not found.read:
        assert found.restore("").text == line
        return
    if not any(map(str.isspace, line)) and not any(one.omitted for one in found.protected_tokens):
        assert same(found.restore(found.read).text, line)
    assert len(found.origins) == len(found.read)
    for character, (start, end) in zip(found.read, found.origins, strict=True):
        if character in SLOTS:
            assert found.restore(character).text[found.start :].startswith(line[start:end])
        elif not character.isspace():
            assert same(character, line[start:end])


def test_a_slip_is_read_as_the_word_that_was_meant() -> None:
    reader = Reader("en", "fr", slots=len(SLOTS), known=KnownWords(["where", "are", "the", "letters", "in"]))
    line = "😀 Where are teh leters in file leters.txt, `leters` or Leters?"
    found = prepared(line, MENDS, reader)
    assert found.read == f"Where are teh letters in file {SLOTS[0]}, {SLOTS[1]} or {SLOTS[2]}?"
    at = found.read.index("letters")
    assert line[slice(*found.origin((at, at + 7)))] == "leters"
    assert "leters in" in prepared(line, TranslateOptions(), reader).read
    assert "leters" in prepared("where are the leters?", MENDS, reader).read  # here it could be a name


def test_the_numbers_of_an_english_date_are_read_and_must_be_said() -> None:
    found = prepared("On May 1, 1998 I saw 3 cats.", MENDS, SLOTTED)
    assert found.read == f"On May 1, 1998 I saw {SLOTS[0]} cats."
    assert [one.wanted for one in found.protected_tokens] == [("1", "1er"), ("1998",), ("3",)]
    assert SLOTS[0] in prepared("Le 3 mai 1998", MENDS, Reader("fr", "en", slots=9)).read


def test_a_misspelt_word_at_the_start_is_no_name() -> None:
    reader = Reader("en", "fr", slots=len(SLOTS), known=KnownWords(["where", "is", "it"]))
    assert prepared("Wheere is it?", MENDS, reader).read == "Wheere is it?"
    assert prepared("Oslo is it.", MENDS, reader).read == f"{SLOTS[0]} is it."


@given(SOME, SOME)
def test_things_around_a_sentence_are_left_out_for_a_model_that_has_no_slots(before: str, after: str) -> None:
    assert prepared(f"{before} The cat sleeps. {after}", MENDS, LITERAL).read == "The cat sleeps."
    assert prepared(before, MENDS, LITERAL).read == ""


def test_with_slots_what_belongs_to_the_sentence_stays_in_it() -> None:
    one, two = SLOTS[:2]
    found = prepared("😀 See https://a.example/b or call 555-0199 🍕 now 😂!", MENDS, SLOTTED)
    assert found.read == f"See {one} or call {two} {SLOTS[2]} now {SLOTS[3]}!"
    assert found.restore(f"Voir {two} {one}").text == "😀 Voir 555-0199 https://a.example/b"
    assert prepared("Where are you? https://a.example", MENDS, SLOTTED).read == "Where are you?"
    assert prepared("Write to a.b@c.fr", MENDS, SLOTTED).read == f"Write to {one}"


def test_emoji_inside_are_not_read_by_a_model_without_slots() -> None:
    found = prepared("I love pizza 🍕 and my dog 😂!", MENDS, LITERAL)
    assert found.read == "I love pizza and my dog!"
    assert [one.omitted for one in found.protected_tokens] == [True, True]
    assert found.origin((13, 16)) == (15, 18)


def test_a_full_stop_that_the_source_has_not_is_left_out() -> None:
    cats, there = prepared("Cats", MENDS, SLOTTED), prepared("Where are you", MENDS, SLOTTED)
    assert (cats.without_additions("Les chats."), cats.without_additions("Les chats !")) == ("Les chats", "Les chats")
    assert there.without_additions("Où es-tu ?") == "Où es-tu ?"
    assert prepared("Cats.", MENDS, SLOTTED).without_additions("Les chats.") == "Les chats."
    assert cats.without_additions(".") == "."


def test_a_filled_slot_stays_apart_from_words_as_in_the_source() -> None:
    found = prepared("Take version v12.8.18 on the 20th of May.", MENDS, SLOTTED)
    one, two = SLOTS[:2]
    restored = found.restore(f"la{one}dès le {two}e")
    assert restored.text == "la v12.8.18 dès le 20e"
    assert restored.text[slice(*restored.span((2, 3)))] == "v12.8.18"
    assert restored.text[slice(*restored.span((3, 6)))] == "dès"
    assert found.restore(f"{one}{two}").text == "v12.8.18 20"


def test_further_spaces_and_signs_are_read_as_words() -> None:
    found = prepared("A  big shop,\tbooks & maps", MENDS, SLOTTED)
    assert found.read == "A big shop,\tbooks and maps"
    assert found.origin((18, 21)) == (19, 20)


def test_marks_that_nobody_sees_are_not_read() -> None:
    found = prepared("The \u202ecat\u202c is \u200fon the\0 mat.", MENDS, SLOTTED)
    assert found.read.split() == ["The", "cat", "is", "on", "the", "mat."]
    assert all(one.omitted for one in found.protected_tokens)


def test_words_in_another_script_are_a_slot_or_not_read() -> None:
    line = "He said Привет, как дела to Zoë."
    assert prepared(line, MENDS, SLOTTED).read == f"He said {SLOTS[0]} to Zoë."
    assert prepared(line, MENDS, LITERAL).read == "He said to Zoë."
    for reader in (Reader("ru", "en", slots=9), Reader("en", "ru", slots=9), Reader(None, None)):
        assert "как дела" in prepared(line, MENDS, reader).read
    assert prepared("Добрый день!", MENDS, SLOTTED).read == ""


@pytest.mark.parametrize("text", ["12:30", "{name}: %s", "😀", "...", "https://a.example", "@a @b", "42 %", ""])
def test_what_has_no_words_is_not_read(text: str) -> None:
    for reader in (LITERAL, SLOTTED):
        found = prepared(text, MENDS, reader)
        assert (found.read, found.restore("").text) == ("", text)
        assert all(one.outside for one in found.protected_tokens)


@pytest.mark.parametrize(
    "line",
    [
        *("Tom met John Smith.", "Where's the Red Cross?", "USA is a name", "OK, come!", "¿Qué dices?", "A < B is so"),
        *("“Come in!”", "cafe\u0301 is it", "naïve Łódź", "He said: “No.”", "- Yes.", "C'est ça :"),
    ],
)
def test_tidy_text_is_left_alone(line: str) -> None:
    for reader in (LITERAL, SLOTTED):
        assert prepared(line, MENDS, reader) == whole(line)


def whole(line: str) -> PreparedSentence:
    return PreparedSentence(line, 0, len(line), line)


def test_the_embedded_corpus_is_read_as_it_is() -> None:
    for example in grammar()["train"].examples:
        assert prepared(example.src, MENDS, SLOTTED).read == example.src


def test_wrapping_is_read_as_a_space() -> None:
    found = prepared("The cat\n> sleeps\r\n   well.", TranslateOptions(split="wrapped"), SLOTTED)
    assert found.read == "The cat sleeps well."
    assert found.origin((8, 14)) == (10, 16)


def test_a_given_translation_is_read_with_slots() -> None:
    found = prepared("Call 555-0199 at 3:45 pm!", MENDS, SLOTTED)
    assert found.as_model_output("Appelle le 555-0199 à 3:45 pm !").text == f"Appelle le {SLOTS[0]} à {SLOTS[1]} !"
    assert found.as_model_output("Appelle !").text == "Appelle !"


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_capitals_are_read_in_small_letters_and_answered_in_capitals(translator: Translator) -> None:
    lines = [source.upper() for source, _ in LINES]
    found = translator.translate(lines, mend=True, nbest=2)
    assert [t.text for t in found] == [target.upper() for _, target in LINES]
    assert [t.sentences[0].read for t in found] == [source for source, _ in LINES]
    assert [t.source for t in found] == lines
    assert all(candidate.text == candidate.text.upper() for t in found for candidate in t.candidates)
    plain = translator.translate([LINES[0][0]], nbest=2)[0]
    assert [c.ids for c in found[0].candidates] == [c.ids for c in plain.candidates]


def test_what_stands_around_a_sentence_is_put_back(translator: Translator) -> None:
    (source, target), *_ = LINES
    lines = [f"😀 {source} :)", f"{source}❤️", f"@me {source.upper()} https://a.example", "😀", " 12:30 "]
    wanted = [f"😀 {target} :)", f"{target}❤️", f"@me {target.upper()} https://a.example", "😀", " 12:30 "]
    found = translator.translate(lines, mend=True)
    assert [t.text for t in found] == wanted
    assert [len(t.candidates) for t in found] == [1, 1, 1, 0, 0]


def test_without_it_capitals_are_read_as_they_are(translator: Translator) -> None:
    lines = [LINES[0][0], "THE CAT SLEEPS."]
    assert [t.sentences[0].read for t in translator.translate(lines)] == lines
    tidy = [LINES[0][0], "", "CAT."]
    assert translator.translate(tidy, mend=True) == translator.translate(tidy)


def test_the_command(run_folder: object, call: Call) -> None:
    words = ("translate", "--model", str(run_folder), "--no-guard", "--mend", "THE CAT SLEEPS.", "", "😀")
    assert call(*words) == (0, "LE CHAT DORT.\n\n😀\n", "")
    code, out, _ = call(*words[:4], "--mend", "--json", "--nbest", "2", "12:30", "THE CAT SLEEPS.")
    assert code == 0
    assert '"12:30"' in out


@pytest.mark.parametrize("line", ["x " + "😀" * 20_000, "STOP" + "! " * 20_000, "@me " * 10_000])
def test_time_is_linear_in_the_length_of_a_line(line: str) -> None:
    """Seconds; in quadratic time hours."""
    assert prepared(line, MENDS, LITERAL).source == line


def test_a_term_that_is_translated_is_read_and_one_that_is_kept_has_a_slot() -> None:
    terms = Glossary.of({"cat": "matou"}).merged_with(Glossary.keeping(["Acme"]))
    found = prepared("The cat of Acme has 3 cats.", TranslateOptions(glossary=terms), SLOTTED)
    assert found.read == f"The cat of {SLOTS[0]} has {SLOTS[1]} cats."
    assert [one.wanted[0] for one in found.protected_tokens] == ["matou", "Acme", "3", "matous"]


def test_german_nouns_are_no_title_case() -> None:
    line = "Herr Doktor Weber ist Arzt"
    assert prepared(line, TranslateOptions(mend=True), Reader("de", "en")).read == line
    assert prepared(line, TranslateOptions(mend=True), Reader("en", "de")).read != line
    assert prepared("DER HUND SCHLÄFT", TranslateOptions(mend=True), Reader("de", "en")).read == "Der hund schläft"


@pytest.mark.parametrize(
    ("line", "read", "said"),
    [
        ("HE LIVES IN HAMBURG.", "He lives in ⟨1⟩.", "HAMBURG"),
        ("He Lives In Hamburg Altona.", "He lives in ⟨1⟩.", "Hamburg Altona"),
        ("he lives in hamburg.", "he lives in ⟨1⟩.", "Hamburg"),
        ("HE LIVES IN A HINNY.", "He lives in a hinny.", None),
    ],
)
def test_an_unknown_name_has_a_slot_though_capitals_say_nothing(line: str, read: str, said: str | None) -> None:
    reader = Reader("en", "fr", slots=2, known=KnownWords(["he", "lives", "in", "a"]))
    found = prepared(line, TranslateOptions(mend=True), reader)
    assert found.read.replace(SLOTS[0], "⟨1⟩") == read
    assert [one.wanted for one in found.protected_tokens] == ([] if said is None else [(said,)])


def test_names_in_capitals_have_no_more_slots_than_there_are() -> None:
    reader = Reader("en", "fr", slots=1, known=KnownWords(["in", "and"]))
    line = "IN HAMBURG AND BOLOGNA AND ZARAGOZA"
    assert len(prepared(line, TranslateOptions(mend=True), reader).protected_tokens) == 1
    assert prepared(line, TranslateOptions(mend=True), Reader("en", "fr", known=reader.known)).protected_tokens == ()
    assert (
        prepared(line, TranslateOptions(mend=True), Reader("de", "fr", slots=1, known=reader.known)).protected_tokens
        == ()
    )


@given(st.text("a \n\r\t>\u00a0\u2028\u202f", max_size=10))
def test_no_odd_space_is_missed(text: str) -> None:
    assert all(ODD_SPACE.search(found[0]) for found in SPACES.finditer(text))


@given(st.text(st.sampled_from("aß é" + "".join(SLOTS[:4])), max_size=12), st.booleans())
def test_an_answer_is_restored_as_character_by_character(answer: str, all_caps: bool) -> None:
    filled = [ProtectedToken(2, 4, "number", ("12",), SLOTS[0]), ProtectedToken(6, 9, "name", ("Tom",), SLOTS[2])]
    sentence = PreparedSentence("« 12a Tom »", 2, 9, "", (), tuple(filled), all_caps)
    by_slot = {one.slot: one for one in filled}
    removed = {i for i, c in enumerate(answer) if c in SLOTS and (c not in by_slot or c in answer[:i])}
    removed |= {i - 1 for i in removed if i and answer[i - 1] == " "}
    text, starts, ends = "« ", [], []
    for place, character in enumerate(answer):
        one = None if place in removed else by_slot.get(character)
        before, part, after = "", character.upper() if all_caps else character, ""
        if one is not None:
            before, after = sentence._spaces(one, text[-2:], answer[place + 1 : place + 2])
            part = one.wanted[0]
        part = "" if place in removed else part
        starts.append(len(text) + len(before))
        ends.append(starts[-1] + len(part))
        text += before + part + after
    restored = sentence.restore(answer)
    assert restored.text == text + " »"
    assert [*restored.starts][: len(answer)] == starts
    assert restored.starts[len(answer)] == len(text)
    assert [*restored.ends][: len(answer)] == ends
