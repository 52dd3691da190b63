"""Known words: learnt from pairs, stored in a plain file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.bundle.bundled_models import folder_of
from regard.errors import InputError
from regard.text.casing import cased_forms
from regard.text.known_words import LONG_WORD, RANKED_WORD, KnownWords
from regard.text.normalize_input import sentence_case, truecase

PAIRS = [
    ("I saw Tom on Monday.", "J'ai vu Tom lundi."),
    ("Tom lives in London.", "Tom habite à Londres."),
    ("The Germans sang.", "Les Allemands chantèrent."),
    ("We met Mr. Baker.", "Nous avons rencontré M. Baker."),
    ("I know the Bakers and Baker.", "Je connais les Baker et Baker."),
    ("Ask Baker, the baker.", "Demande à Baker, le boulanger."),
    ("The Baker cat, the cats.", "Le chat de Baker, les chats."),
    ("I went to Boston with Ann.", "Je suis allé à Boston avec Ann."),
]


@pytest.fixture(scope="module")
def known() -> KnownWords:
    return KnownWords.learn(PAIRS, min_copied=2 + 3)


@pytest.mark.parametrize(
    ("word", "knowledge"),
    [
        ("cat", "ordinary"),
        ("Cat", "ordinary"),
        ("Monday", "translated"),
        ("London", "translated"),
        ("Germans", "translated"),
        ("Baker", "rare"),
        ("Boston", "unknown"),
        ("Zürich", "unknown"),
    ],
)
def test_knowledge(known: KnownWords, word: str, knowledge: str) -> None:
    assert known.word_class(word) == knowledge


def test_names_seen_often_are_left_to_the_model() -> None:
    assert KnownWords.learn(PAIRS, min_copied=2).word_class("Tom") == "copied"
    assert KnownWords.learn(PAIRS, min_copied=3).word_class("Tom") == "unknown"


def test_german_nouns_must_be_seen_twice() -> None:
    pairs = [("Der Hund und die Hundehütte.", "The dog and the kennel."), ("Ein Hund, sagte er.", "A dog, he said.")]
    known = KnownWords.learn(pairs, "de")
    assert [word in known.words for word in ("Hund", "Hundehütte", "sagte", "und")] == [True, False, True, True]
    assert "Hundehütte" in KnownWords.learn(pairs, "en").words


def test_a_german_noun_that_is_seldom_written_small_has_its_capital() -> None:
    pairs = [("Wir haben Zeit und essen.", "We have time and eat.")] * 21 + [("hast du zeit?", "have you time?")]
    known = KnownWords.learn(pairs, "de")
    assert [known.truecased(word) for word in ("zeit", "essen", "hast")] == ["Zeit", "essen", "hast"]
    assert "zeit" not in known.words
    assert "zeit" in KnownWords.learn(pairs[1:], "de").words


def test_a_word_that_mostly_has_a_capital_is_read_with_it_and_stays_known_in_small_letters() -> None:
    pairs = [("Il va à Paris et à Nice.", "He goes to Paris and to Nice.")] * 6 + [
        ("Les paris, les tours.", "Bets, towers.")
    ]
    known = KnownWords.learn(pairs, "fr")
    assert [known.truecased(word) for word in ("paris", "tours", "va")] == ["Paris", "tours", "va"]
    assert known.word_class("paris") == "ordinary"
    assert known.correction("paris", language="fr") is None
    fewer = KnownWords.learn(pairs[1:], "fr")
    assert fewer.truecased("paris") == "paris"
    often = KnownWords.learn(pairs, "fr", min_copied=1)  # Paris is copied there
    assert "Paris" in often.copied
    assert often.truecased("paris") == "Paris"


def test_a_letter_that_stands_alone_keeps_its_size() -> None:
    pairs = [("Il dit que M Petit vient.", "He says that Mr Petit comes.")] * 9 + [
        ("cent m plus loin", "a hundred m on")
    ]
    assert KnownWords.learn(pairs, "fr").truecased("m") == "m"


@pytest.mark.parametrize(
    ("model", "capitals", "read"),
    [
        ("fr-en", "LE TRAIN POUR PARIS", "Le train pour Paris"),
        ("fr-en", "PIERRE ET MARIE SONT EN ARGENTINE", "Pierre et Marie sont en Argentine"),
        ("fr-en", "LES TOURS DE LA VILLE", "Les tours de la ville"),
        ("en-fr", "CHINA AND TURKEY", "China and Turkey"),
        ("en-fr", "THE FRENCH HOUSE", "The French house"),
        ("en-de", "THE POLISH WOMAN IN TURKEY", "The Polish woman in Turkey"),
        ("de-en", "EINE FRAGE DER KOSTEN", "Eine Frage der Kosten"),
        ("de-en", "WIR ESSEN HIER", "Wir essen hier"),
    ],
)
def test_capitals_as_the_models_of_the_box_read_them(model: str, capitals: str, read: str) -> None:
    known = KnownWords.load(folder_of(model) / "words.txt.gz")
    assert truecase(sentence_case(capitals), known, model[:2]) == read


def test_the_beginning_of_a_sentence_needs_more(known: KnownWords) -> None:
    assert known.is_name("Baker", at_start=False)
    assert not known.is_name("Baker", at_start=True)
    assert known.is_name("Zürich", at_start=True)
    assert not known.is_name("Seeing", at_start=True) or "see" not in known.words


def test_file(known: KnownWords, tmp_path: Path) -> None:
    known.save(tmp_path / "known.gz")
    again = KnownWords.load(tmp_path / "known.gz")
    assert (again.words, again.copied, again.rare) == (known.words, known.copied, known.rare)
    assert KnownWords.load(tmp_path / "known.gz") is again  # shared
    KnownWords(["more", *known.words]).save(tmp_path / "known.gz")
    assert "more" in KnownWords.load(tmp_path / "known.gz").words


BY_FREQUENCY = ["the", "is", "people", "where", "station", "élève", "cantar", "perdonar", "Straße"]
ORDERED = KnownWords(BY_FREQUENCY, by_frequency=True)


@pytest.mark.parametrize(
    ("word", "language", "at_start", "meant"),
    [
        ("peolpe", "en", False, "people"),
        ("Peolpe", "en", True, "People"),
        ("Peolpe", "en", False, None),  # a name, for all that is known
        ("thee", "en", False, "the"),  # not a form of it
        ("thee", "en", True, "the"),
        ("eleve", "fr", False, "élève"),
        ("Eleve", "fr", True, "Élève"),
        ("Perdona", "es", True, None),  # a form of perdonar
        ("Starße", "de", False, "Straße"),
        ("isthe", "en", False, "is the"),
        ("zebra", "en", False, None),
    ],
)
def test_what_was_meant(word: str, language: str, at_start: bool, meant: str | None) -> None:
    assert ORDERED.correction(word, at_start, language) == meant


def test_names_and_forms_of_verbs_at_the_start() -> None:
    assert not ORDERED.is_name("Cantaremos", at_start=True, language="es")
    assert ORDERED.is_name("Cantaremos", at_start=True, language="fr")
    assert not ORDERED.is_name("Wheer", at_start=True)
    assert ORDERED.is_name("Zürich", at_start=True)


def test_frequent_words_come_first(tmp_path: Path) -> None:
    known = KnownWords.learn([("The cat saw the cat and the dog.", "Le chat a vu le chat et le chien.")])
    assert known.ordered[:2] == ("cat", "the")
    known.save(tmp_path / "known.gz")
    assert KnownWords.load(tmp_path / "known.gz").ordered == known.ordered
    (tmp_path / "old.gz").write_bytes(gzip.compress(b"# regard: known words 1\ncat\nthe\n"))
    assert not KnownWords.load(tmp_path / "old.gz").ranks  # in the order of the alphabet


@pytest.mark.parametrize("content", [b"", b"cat\ndog\n", b"\xff\xfe"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "known.gz").write_bytes(content)
    with pytest.raises(InputError, match="not a file of known words"):
        KnownWords.load(tmp_path / "known.gz")


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=4))
def test_any_pairs(pairs: list[tuple[str, str]]) -> None:
    known = KnownWords.learn(pairs)
    small = [word.lower() for word in known.words if word.lower().islower()]  # 𝙰 has no small form
    assert not any(known.is_name(word, at_start=False) for word in small)


@given(st.text(st.sampled_from("chatC é\u0301-'"), max_size=40))
def test_words_of_a_text_are_those_of_one_pass_over_it(text: str) -> None:
    known = KnownWords(["chat", "hac"], ["Cat"], by_frequency=True)
    words = LONG_WORD.findall(text)
    assert known.unlisted(text) == [one for one in words if not {one, one.lower()} & {"chat", "hac", "Cat"}]
    assert len(known.rarities(text)) == len(RANKED_WORD.findall(text))


@given(
    st.lists(st.sampled_from(["The", "cat", "d'Anne", "l'été", "cat's", "Baker,", "(Tom)", "A&B", "x-Y\tz", ""])).map(
        " ".join
    )
)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_unfamiliar_words_are_those_of_one_pass_over_the_text(language: str, text: str) -> None:
    known = KnownWords(["the", "cat", "Baker"], ["Tom"], ["Baker"])
    forms = set(cased_forms(text, language))
    unknown = {form for form in forms if form not in known.words and form.lower() not in known.words}
    assert known.unfamiliar(text, language) == unknown | forms & known.rare
