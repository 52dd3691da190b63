"""Terms in a text: whole words, the longest, in the case and number of the source; files with their faults."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.text_files import read_glossary, read_keep
from regard.errors import InputError
from regard.text.glossary import Glossary, GlossaryTerm, located_terms
from regard.text.words import split_words


def found(glossary: Glossary, text: str, source: str = "en", target: str = "fr") -> dict[str, tuple[str, ...]]:
    return {text[m.start : m.end]: m.targets for m in glossary.find(text, source, target)}


def test_the_longest_term_and_whole_words() -> None:
    terms = Glossary.of(
        {"New York": "New York", "New York Times": "le Times", "cat": "chat", "C++": "C++", "art": "art"}
    )
    assert list(found(terms, "The New York Times left New York.")) == ["New York Times", "New York"]
    assert not found(terms, "a concatenation, New-York, C + +, part, cat-like")
    assert list(found(terms, "I know C++, and art.")) == ["C++", "art"]
    assert list(found(terms, "New  York")) == ["New  York"]


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"cat": 7}, "glossary must have a str for each term and translation, but has 'cat': 7"),
        ({"cat": " "}, 'the term "cat" has no word on one side'),
    ],
)
def test_terms_that_are_none(terms: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Glossary.of(terms)


def test_the_case_of_the_source_is_taken_over() -> None:
    terms = Glossary.of({"cat": "chat", "Paris": "Lutèce", "IT": "informatique"})
    assert found(terms, "my cat") == {"cat": ("chat",)}
    assert found(terms, "my CAT") == {"CAT": ("CHAT",)}
    assert found(terms, "my Cat") == {"Cat": ("Chat",)}
    assert found(terms, "Cat food") == {"Cat": ("chat", "Chat")}  # any word has a capital at the beginning
    assert found(terms, "“Cat food”") == {"Cat": ("chat", "Chat")}
    assert found(terms, "it is in Paris, not in PARIS or paris") == {"Paris": ("Lutèce",)}


@pytest.mark.parametrize(
    ("term", "text", "source"),
    [
        ("cat", "cats", "en"), ("box", "boxes", "en"), ("city", "Cities", "en"), ("house", "houses", "en"),
        ("cat", "cat's", "en"), ("cat", "cat’s", "en"), ("cat", "cats'", "en"),
        ("walk", "walks", "en"), ("walk", "walked", "en"), ("bake", "baking", "en"), ("stop", "stopped", "en"),
        ("carry", "carried", "en"), ("credit card", "credit cards", "en"), ("City", "Cities", "en"),
        ("chat", "chats", "fr"), ("bateau", "bateaux", "fr"), ("journal", "journaux", "fr"), ("jeu", "jeux", "fr"),
        ("carte de crédit", "cartes de crédit", "fr"), ("petit", "petites", "fr"),
        ("Hund", "Hunde", "de"), ("Frau", "Frauen", "de"), ("Auto", "Autos", "de"), ("Haus", "Hauses", "de"),
        ("gato", "gatos", "es"), ("luz", "luces", "es"), ("ciudad", "ciudades", "es"), ("gato", "gata", "es"),
    ],
)  # fmt: skip
def test_simple_inflection_is_seen_through(term: str, text: str, source: str) -> None:
    terms = Glossary.of({term: "x"})
    assert found(terms, text, source)
    assert not found(terms, text, "xx") or text.endswith(("'s", "’s", "s'"))


@pytest.mark.parametrize(
    ("target", "language", "plural"),
    [
        ("chat noir", "fr", "chats noirs"), ("bateau", "fr", "bateaux"), ("journal", "fr", "journaux"),
        ("festival", "fr", "festivals"), ("carte de crédit", "fr", "cartes de crédit"),
        ("eau d'érable", "fr", "eaux d'érable"), ("city", "en", "cities"), ("box", "en", "boxes"),
        ("day", "en", "days"),
        ("state of mind", "en", "states of mind"), ("luz", "es", "luces"), ("tarjeta roja", "es", "tarjetas rojas"),
        ("ciudad", "es", "ciudades"), ("Katze", "de", "Katzen"), ("Hund", "de", "Hunde"),
    ],
)  # fmt: skip
def test_a_plural_may_be_said_where_the_source_is_plural(target: str, language: str, plural: str) -> None:
    terms = Glossary.of({"thing": target})
    assert found(terms, "the thing", target=language)["thing"][0] == target
    assert plural not in found(terms, "the thing", target=language)["thing"]
    targets = found(terms, "the things", target=language)["things"]
    assert (targets[0], targets[-1]) == (plural, target)
    assert found(terms, "the things", target="xx") == {"things": (target,)}


def test_listed_forms_are_the_only_ones() -> None:
    terms = Glossary.of({"mouse|mice": "souris", "cat": "minou|minous|matou"})
    assert found(terms, "a mouse and two mice") == {"mouse": ("souris",), "mice": ("souris",)}
    assert found(terms, "a cat") == {"cat": ("minou", "minous", "matou")}
    assert found(terms, "two cats") == {"cats": ("minous", "minou", "matou")}


def test_words_to_keep_stand_for_themselves_uninflected() -> None:
    keep = Glossary.keeping(["AcmeCloud Pro", "foo", " "])
    assert found(keep, "AcmeCloud Pro's Foo, foos and acmecloud pro") == {
        "AcmeCloud Pro": ("AcmeCloud Pro",),
        "Foo": ("Foo",),
    }
    both = Glossary.of({"foo": "toto", "cat": "chat"}).merged_with(keep)
    assert found(both, "foo cat") == {"foo": ("foo",), "cat": ("chat",)}
    assert len(both) == 3


def test_scripts_without_spaces_and_other_forms_of_a_letter() -> None:
    assert found(Glossary.of({"東京": "Tokyo"}), "私は東京に行く") == {"東京": ("Tokyo",)}
    assert list(found(Glossary.of({"café": "x"}), "un cafe\u0301 noir")) == ["cafe\u0301"]
    assert list(found(Glossary.of({"l'eau": "x"}), "de l’eau")) == ["l’eau"]


@given(st.lists(st.sampled_from(["new", "york", "cats", "Cat", "the", "times", ",", "x"]), max_size=12))
def test_matches_are_in_order_apart_and_as_they_say(words: list[str]) -> None:
    text = " ".join(words)
    terms = Glossary.of({"new york": "a", "york times": "b", "cat": "c", "the cat": "d", "new york times": "e"})
    end = 0
    for match in terms.find(text):
        assert match.start >= end
        assert text[match.start : match.end].lower().rstrip("s") == match.term.source.rstrip("s")
        end = match.end
    if "york" in split_words(text) and "new york" in text:
        assert any(m.term.source.startswith("new york") for m in terms.find(text))


def test_many_terms_that_begin_alike_are_told_apart() -> None:
    many = Glossary(GlossaryTerm(f"new {i}", (str(i),)) for i in range(30_000))
    assert [m.targets for m in many.find("a new 77 and a new thing, a new 29999 " * 50)] == [("77",), ("29999",)] * 50


def test_terms_are_located_once_each_as_whole_words() -> None:
    text = "Pense-t-elle aux cartes de crédit ? Chats, chat, achat."
    assert located_terms([["pense"], ["chat"], ["chat"], ["carte"], ["cartes"]], text) == [
        (0, 5), (43, 47), None, None, (17, 23)
    ]  # fmt: skip
    both = located_terms([["carte"], ["carte de crédit"], ["carte"]], "une carte de crédit, une carte")
    assert both == [(25, 30), (4, 19), None]


def test_files(tmp_path: Path) -> None:
    text = '\ufeff# ours\n\ncat\tchat\r\n"dog"\t«\u00a0chien\u00a0»\nmouse | mice\tsouris\ncat\tminou\n'
    for name, write in (
        ("terms.tsv", Path.write_bytes),
        ("terms.tsv.gz", lambda p, b: p.write_bytes(gzip.compress(b))),
    ):
        write(tmp_path / name, text.encode())
        terms = read_glossary(tmp_path / name)
        assert len(terms) == 4
        assert found(terms, 'a cat, a "dog", mice') == {
            "cat": ("minou",), '"dog"': ("«\u00a0chien\u00a0»",), "mice": ("souris",)
        }  # fmt: skip
        assert terms.warnings == [f'{tmp_path / name}, line 6: "cat" is listed again; "minou" replaces "chat"']
    (tmp_path / "keep.txt").write_text("# names\nAcme\n\nBig Co.\n")
    assert list(found(read_keep(tmp_path / "keep.txt"), "Acme and Big Co.")) == ["Acme", "Big Co."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\tchat\ndog chien\n", 'line 2 must be a term, one tab or "=", and its translation, but is "dog chien"'),
        ("cat\t\n", "line 1 must be a term"),
        ("\tchat\n", "line 1 must be a term"),
        ("a\tb\tc\n", "line 1 must be a term, one tab"),
        ("a\t|\n", "line 1 has no word on one side"),
        ("a\t" + "b" * 501, "line 1 has a term of 501 characters; at most 500"),
        ("# nothing\n", "lists no term"),
        ("", "is empty"),
        ("caf\xe9\tx\n", "line 1 is not UTF-8"),
    ],
)
def test_faults_of_a_file_are_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "terms.tsv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message) as caught:
        read_glossary(tmp_path / "terms.tsv")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="has a tab"):
        Glossary.parse_keep(["a\tb"], "keep.txt")
    with pytest.raises(InputError, match="does not exist"):
        read_keep(tmp_path / "none.txt")
