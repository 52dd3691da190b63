"""API keys: kept as hashes, found by the key alone, gone at once when they are removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.serve.state.glossaries import Glossaries
from regard.serve.state.keys import ApiKey, ApiKeys, KeyLimits, given_key
from regard.serve.state.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("keys"), lambda: 1_700_000_000.0) as store:
        yield store


def test_a_key_is_256_random_bits_and_not_in_the_files(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        made = [ApiKeys(store).add(f"k{i}")[0] for i in range(20)]
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert len(set(made)) == 20
    for secret in made:
        assert re.fullmatch(r"regard_[\w-]{43}", secret)  # 43 letters of 6 bits
        assert secret.encode() not in files
        assert secret.removeprefix("regard_").encode() not in files
    assert b"k19" in files


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_no_other_text_is_a_key(store: Store, text: str) -> None:
    assert ApiKeys(store).find(text) is None


@pytest.fixture(scope="module")
def one(store: Store) -> tuple[str, ApiKey]:
    return ApiKeys(store).add("one")


@settings(max_examples=30)
@given(st.integers(0, 49), st.sampled_from("aZ0-_é\x00"))
def test_a_key_with_one_letter_changed_is_none(store: Store, one: tuple[str, ApiKey], place: int, letter: str) -> None:
    secret, key = one
    other = secret[:place] + letter + secret[place + 1 :]
    assert (ApiKeys(store).find(other) == key) == (other == secret)


def test_a_removed_key_ends_at_once_for_other_processes_too(tmp_path: Path) -> None:
    with Store(tmp_path) as one, Store(tmp_path) as two:
        secret, key = ApiKeys(one).add("alice", KeyLimits(60, 1000, "day"))
        Glossaries(two).create(key.owner, "mine", "en", "fr", {"cat": "chat"})
        found = ApiKeys(two).find(secret)
        assert found == key
        assert found.limits == KeyLimits(60, 1000, "day")
        ApiKeys(one).remove("alice")
        assert ApiKeys(two).find(secret) is None
        assert Glossaries(two).all(key.owner) == []
        again, later = ApiKeys(two).add("alice")
        assert again != secret
        assert later.owner != key.owner  # what belonged to the first does not pass on to the second
        assert [bool(key.revoked) for key in ApiKeys(one).all()] == [True, False]


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "x" * 65, "../a", "a/b", "<script>"])
def test_names_that_are_none(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="name must be 1 to 64 letters"):
        ApiKeys(store).add(name)


def test_other_mistakes(store: Store) -> None:
    keys = ApiKeys(store)
    keys.add("twice")
    with pytest.raises(InputError, match='there is a key named "twice" already'):
        keys.add("twice")
    with pytest.raises(InputError, match=r'no key named "nobody"; known: .*twice'):
        keys.remove("nobody")


def test_where_a_key_is_given() -> None:
    assert given_key("deepl-auth-key  regard_x ") == "regard_x"
    assert given_key("DeepL-Auth-Key") is None
    assert given_key("") is None
    assert given_key("regard_x") is None
