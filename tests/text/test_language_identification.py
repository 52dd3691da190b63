"""Language identification, and the tables of the identifier."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid import modelio
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from regard.files import user_cache
from regard.text import language_identification
from regard.text.language import LANGUAGE_NAMES, language_code, language_name
from regard.text.language_identification import (
    MAX_CHARACTERS,
    NOT_IN_WORDS,
    REPETITION,
    IdentifiedLanguage,
    foreign_language,
    identify_language,
    language_words,
    sample_language,
)

SENTENCES = {
    "en": "I have never seen such a beautiful garden before.",
    "fr": "Je n'ai jamais vu un si beau jardin auparavant.",
    "de": "Ich habe noch nie einen so schönen Garten gesehen.",
    "es": "Nunca antes había visto un jardín tan hermoso.",
    "it": "Non ho mai visto un giardino così bello prima d'ora.",
    "nl": "Ik heb nog nooit zo'n mooie tuin gezien.",
    "pl": "Nigdy wcześniej nie widziałem tak pięknego ogrodu.",
    "ru": "Я никогда раньше не видел такого красивого сада.",
    "ja": "こんなに美しい庭は今まで見たことがありません。",
    "zh": "我以前从来没有见过这么美丽的花园。",
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("expected", SENTENCES)
def test_a_sentence_is_told_from_every_other_language_and_not_from_its_own(language: str, expected: str) -> None:
    found = foreign_language(SENTENCES[language], expected)
    if language == expected:
        assert found is None
    else:
        assert found is not None
        assert found[0] == language
        assert found[1] > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "12:30 3,14",
        "Zürich",
        "Merkel",
        "Angela Merkel, Gerhard Schröder",
        "Go!",
        "Ask Tom.",
        "https://exemple.fr/le/chat/est/sur/le/tapis",
        "{le} {chat} %s <est>",
        "OK",
        "\ud800 \udfff \x00 a b",
        "PLEASE DO NOT FEED THE ANIMALS.",
        "I love pizza 🍕 and my dog 😂!",
    ],
)
def test_names_numbers_and_short_english_raise_no_alarm(text: str) -> None:
    assert foreign_language(text, "en") is None


def test_a_neighbour_language_is_no_alarm() -> None:
    danish = "Jeg har aldrig set en så smuk have før."
    assert foreign_language(danish, "no") is None
    assert foreign_language(danish, "en") is not None


def test_a_language_that_the_identifier_does_not_know_is_never_missed() -> None:
    assert foreign_language(SENTENCES["fr"], "tlh") is None


def test_addresses_and_numbers_around_a_sentence_do_not_hide_its_language() -> None:
    found = foreign_language("https://example.com/docs?id=42 3:45 " + SENTENCES["fr"] + " #user @name", "en")
    assert found is not None
    assert found[0] == "fr"


@given(st.text(alphabet=st.characters(), max_size=200), st.sampled_from(["en", "ja", "xx"]))
def test_any_text_is_judged(text: str, language: str) -> None:
    found = foreign_language(text, language)
    assert found is None or (found[0] != language and found[1] > 0)


@given(st.text(st.sampled_from("aE漢é-4 \n'")) | st.text())
def test_words_are_those_of_one_pass_over_the_text(text: str) -> None:
    words = dict.fromkeys(REPETITION.sub(r"\1", text[:MAX_CHARACTERS]).split())
    kept = [w for w in words if not w.startswith("-") and NOT_IN_WORDS.isdisjoint(w) and any(map(str.isalpha, w))]
    assert language_words(text) == kept


def test_a_very_long_word_is_only_begun() -> None:
    assert foreign_language("é" * 5_000_000, "en") is None
    assert sum(map(len, language_words("a" * 5_000_000))) <= 1000


def test_a_sample_has_a_language_only_where_its_lines_agree() -> None:
    french, german = [SENTENCES["fr"]] * 200, [SENTENCES["de"]] * 200
    assert sample_language(french) == "fr"
    assert sample_language(french + german) is None
    assert sample_language(french[:50]) is None
    assert sample_language(["12", "%s", "Paris"] * 200) is None


def test_codes_and_names_are_each_others_inverse() -> None:
    assert all(language_code(language_name(code)) == code for code in LANGUAGE_NAMES)
    assert len(set(LANGUAGE_NAMES.values())) == len(LANGUAGE_NAMES)


FOUR = ["de", "en", "es", "fr"]
SHORT = {
    "fr": ["Bonjour", "Je t'aime", "Bonne nuit", "Où est la gare ?", "Le chat dort."],
    "de": ["Guten Tag", "Danke", "Ich liebe dich", "Die Katze schläft."],
    "es": ["Gracias", "Buenos días", "El gato duerme.", "Te quiero"],
    "en": ["Good morning", "Thanks", "I love you", "The cat sleeps."],
}


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, some in SHORT.items() for text in some])
def test_a_word_or_two_are_often_enough(language: str, text: str) -> None:
    assert identify_language([text], FOUR).language == language


def test_what_tells_nothing_is_the_usual_language_and_not_sure() -> None:
    for text in ("", "42", "Hi", "OK", "https://example.org/le-chat"):
        assert identify_language([text], FOUR) == IdentifiedLanguage("en", sure=False)
        assert identify_language([text], ["fr", "de"]).language == "fr"


def test_what_is_in_none_of_them_is_said_to_be() -> None:
    assert identify_language(["Il gatto dorme sul tappeto."], FOUR) == IdentifiedLanguage("it", sure=True)
    assert identify_language(["Я никогда раньше не видел такого красивого сада."], FOUR).language == "ru"


def test_a_text_is_in_the_language_of_most_of_its_lines() -> None:
    german, english = "Die Katze schläft auf dem Teppich.", "The cat sleeps on the mat."
    assert identify_language([f"{german}\n" * 9 + english], FOUR) == IdentifiedLanguage("de", sure=True)
    assert identify_language([german] * 6 + [english] * 4, FOUR) == IdentifiedLanguage("de", sure=True, mixed=True)
    assert identify_language(["OK", "Tom", "Hallo", german], FOUR) == IdentifiedLanguage("de", sure=True)


def test_a_language_that_the_identifier_does_not_know_can_be_asked_for() -> None:
    assert identify_language(["qwrtz"], ["tlh"]) == IdentifiedLanguage("tlh", sure=False)


@settings(max_examples=25)
@given(st.lists(st.text(max_size=40), max_size=4), st.sets(st.sampled_from(FOUR), min_size=1))
def test_any_text_has_an_answer(texts: list[str], languages: set[str]) -> None:
    found = identify_language(texts, sorted(languages))
    assert found.sure or found.language in languages


load_identifier = language_identification.load_identifier.__wrapped__  # without the cache
TEXTS = (
    "The cat is on the mat.",
    "Le chat est sur le tapis, n'est-ce pas ?",
    "Я никогда раньше не видел такого сада.",
    "こんなに美しい庭は",
    "zzz",
    "",
    "PLEASE DO NOT FEED",
    "\ud800 a",
)


@pytest.fixture(scope="module")
def packed() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: LanguageIdentifier) -> list[str]:
    """Notes each time that the packed model is read, which the tables of `packed` stand for."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    read: list[str] = []

    def load(path: Path) -> tuple[object, ...]:
        read.append(str(path))
        return packed.nb_ptc, packed.nb_pc, packed.nb_classes, packed.tk_nextmove, packed.tk_row, packed.tk_output

    monkeypatch.setattr(modelio, "load_model", load)
    return read


def test_mapped_tables_give_the_same(packed: LanguageIdentifier, unpacked: list[str]) -> None:
    for times in (1, 1):  # unpacked, then mapped
        identifier = load_identifier()
        assert [identifier.rank(text) for text in TEXTS] == [packed.rank(text) for text in TEXTS]
        assert len(unpacked) == times


def test_damaged_tables_are_made_again(packed: LanguageIdentifier, unpacked: list[str]) -> None:
    load_identifier()
    (folder,) = (user_cache() / "language").iterdir()
    table = folder / "nextmove.npy"
    table.write_bytes(table.read_bytes()[:1000])
    (folder.parent / "of-an-older-version").mkdir()
    assert load_identifier().rank(TEXTS[0]) == packed.rank(TEXTS[0])
    assert len(unpacked) == 2
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    load_identifier()
    assert len(unpacked) == 2


def test_where_nothing_can_be_written_it_works_all_the_same(
    packed: LanguageIdentifier, unpacked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file is in the way of the folder")
    assert load_identifier().rank(TEXTS[0]) == packed.rank(TEXTS[0])


COMMON = sorted(language_identification.COMMON_WORDS["en"])


@given(
    st.lists(st.sampled_from([*COMMON, "THE", "cat,", "Zürich", "-x", "3", "漢字", "ĸĸĸĸ"]), max_size=30).map(" ".join)
)
def test_a_text_with_enough_common_words_is_not_foreign(text: str) -> None:
    if language_identification._has_common_words(text, "en"):
        assert language_identification.foreign_language_of(language_identification.language_words(text), "en") is None


@pytest.mark.parametrize(
    "text", ["Where is the old railway station, please?", "Der Zug fährt morgen früh ab.", "El tren."]
)
@pytest.mark.parametrize("expected", ["en", "de", "fr", "xx"])
def test_one_language_is_found_as_among_all(text: str, expected: str) -> None:
    words = language_identification.language_words(text)
    found = language_identification.foreign_language_of(words, expected)
    for only in ("en", "de", "es", "xx"):
        among_two = language_identification.foreign_language_of(words, expected, only)
        assert among_two == found if found and found[0] == only else among_two in (None, found)


@pytest.mark.parametrize(("text", "language"), [("Hallo", "de"), ("Hola!", "es"), ("Salut", "fr"), ("Bitte", "de")])
def test_a_greeting_is_in_the_language_that_alone_has_it(text: str, language: str) -> None:
    assert identify_language([text], FOUR) == IdentifiedLanguage(language, sure=True)
    assert identify_language([text], ["en", "it"]).language != language
