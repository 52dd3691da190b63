"""Glossaries of clients: whole or refused, and only for who made them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.serve.state import glossaries as module
from regard.serve.state.glossaries import Glossaries, read_entries
from regard.serve.state.store import Store
from regard.serve.state.suggestions import Suggestions


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("glossaries"), lambda: 1000.0) as store:
        yield store


def test_from_creation_to_deletion(store: Store) -> None:
    glossaries = Glossaries(store)
    pairs = read_entries("cat\tchat|minou\nAcme Cloud\tAcme Cloud\n")
    made = glossaries.create("key:1", "pets", "en", "fr", pairs)
    assert (made.name, made.source, made.target, made.created, made.entries) == ("pets", "en", "fr", 1000.0, 2)
    assert glossaries.get("key:1", made.id) == made
    assert glossaries.all("key:1") == [made]
    assert glossaries.entries("key:1", made.id) == "cat\tchat|minou\nAcme Cloud\tAcme Cloud"
    ready = glossaries.merge(glossaries.find("key:1", [made.id]))
    assert [match.targets for match in ready.find("My cat.", "en", "fr")] == [("chat", "minou")]
    assert glossaries.merge(glossaries.find("key:1", [made.id])) is ready  # parsed once

    for call in (glossaries.get, glossaries.entries):
        assert call("key:2", made.id) is None
    assert glossaries.find("key:2", [made.id]) == []
    assert not glossaries.delete("key:2", made.id)
    assert glossaries.all("key:2") == []

    other = Glossaries(store)  # another worker
    assert other.delete("key:1", made.id)
    assert glossaries.find("key:1", [made.id]) == []  # although it is in the memory of this one
    assert not glossaries.delete("key:1", made.id)


term = st.lists(st.sampled_from(["cat", "Cat", "#", "été", "猫", "a'b", ",", '"', "12"]), min_size=1, max_size=3)
clean_term = term.map(" ".join)


@settings(max_examples=25)
@given(st.dictionaries(clean_term, clean_term, min_size=1, max_size=5))
def test_entries_come_back_as_they_were_given(store: Store, pairs: dict[str, str]) -> None:
    text = "\n".join(f"{a}\t{b}" for a, b in pairs.items())
    assert read_entries(text) == pairs
    glossaries = Glossaries(store)
    made = glossaries.create("key:3", "any", "en", "fr", pairs)
    assert glossaries.entries("key:3", made.id) == text
    glossaries.delete("key:3", made.id)


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("", "tsv", "needs at least one entry"),
        ("cat", "tsv", "line 1 of the entries must be a term, one tab"),
        ("cat\tchat\n\ndog\t", "tsv", "line 3 of the entries must be a term, one tab"),
        ("a\tb\tc", "tsv", "line 1"),
        ("cat\tchat\ncat\tminou", "tsv", 'line 2 of the entries has the term "cat" again'),
        ("cat\tch\x00at", "tsv", "control character"),
        ("x" * 501 + "\ty", "tsv", "at most 500 are allowed"),
        ('"cat,chat', "csv", "not CSV"),
        ("cat,chat,en", "csv", "a term, a comma"),
        ("x" * 1_000_001, "tsv", "at most 1,000,000 characters"),
        ("\n".join(f"t{i}\tu" for i in range(10_001)), "tsv", "at most 10,000 entries"),
    ],
)
def test_entries_that_cannot_be_used(text: str, form: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_entries(text, form)  # type: ignore[arg-type]


def test_there_are_bounds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_GLOSSARIES", 2)
    monkeypatch.setattr(module, "MAX_PARSED", 1)
    glossaries = Glossaries(store)
    for number in range(2):
        made = glossaries.create("key:4", f"g{number}", "en", "fr", {"cat": f"chat{number}"})
        glossaries.merge(glossaries.find("key:4", [made.id]))
    assert glossaries._parse.cache_info().currsize == 1
    with pytest.raises(InputError, match="most allowed"):
        glossaries.create("key:4", "one more", "en", "fr", {"cat": "chat"})
    for name in ("", " ", "x" * 201, "a\nb"):
        with pytest.raises(InputError, match="name must be"):
            glossaries.create("key:5", name, "en", "fr", {"cat": "chat"})


def test_suggestions_are_kept_once_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.serve.state import suggestions as suggested

    monkeypatch.setattr(suggested, "MOST", 5)
    monkeypatch.setattr(suggested, "MOST_OF_ONE", 3)
    with Store(tmp_path, lambda: 7.0) as store:
        suggestions = Suggestions(store)
        for _ in range(2):
            suggestions.add("a", "en", "fr", "cat", "chat")
        (kept,) = suggestions.all()
        assert (kept.source, kept.target, kept.text, kept.better, kept.created) == ("en", "fr", "cat", "chat", 7.0)
        for number in range(2):
            suggestions.add("a", "en", "fr", "cat", f"chat{number}")
        with pytest.raises(InputError, match="too many suggestions"):
            suggestions.add("a", "en", "fr", "cat", "chat9")
        for number in range(2):
            suggestions.add("b", "en", "fr", "cat", f"chat{number}")
        with pytest.raises(InputError, match="too many suggestions"):
            suggestions.add("c", "en", "fr", "cat", "chat")
        assert len(suggestions.all()) == 5
        with pytest.raises(InputError, match="1 to 5,000 characters"):
            suggestions.add("d", "en", "fr", "", "chat")
        with pytest.raises(InputError, match="1 to 5,000 characters"):
            suggestions.add("d", "en", "fr", "cat", "x" * 5001)
