"""A vocabulary that was learnt before is not learnt again, unless something asked for has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.data.cache import cached_known_words, cached_tokenizer
from regard.data.config import DataConfig
from regard.text.known_words import KnownWords
from regard.text.tokenizer import TextConfig, Tokenizer

PAIRS = [("the cat sleeps", "le chat dort")] * 9


def test_learnt_once(tmp_path: Path) -> None:
    data, learnt = DataConfig(cache=str(tmp_path / "cache")), 0

    def ask(text: TextConfig, fingerprint: str = "a") -> Tokenizer:
        def learn() -> Tokenizer:
            nonlocal learnt
            learnt += 1
            return Tokenizer.train(lambda: iter(PAIRS), text)

        return cached_tokenizer(data, text, fingerprint, learn)

    small = TextConfig(vocab_size=300)
    first, again = ask(small), ask(small)
    assert learnt == 1
    assert (again.fingerprint, again.config) == (first.fingerprint, first.config)
    ask(small, "other text")
    ask(TextConfig(vocab_size=301))
    assert learnt == 3
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert ask(small).fingerprint == first.fingerprint
    assert learnt == 4


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_no_place_to_keep_it(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    data = DataConfig(cache=str(tmp_path / place))
    found = cached_tokenizer(data, TextConfig(), "a", lambda: Tokenizer.train(lambda: iter(PAIRS), TextConfig()))
    assert found.encode_source(["the cat"])


def test_words_are_learnt_once(tmp_path: Path) -> None:
    data, learnt = DataConfig(cache=str(tmp_path / "cache")), 0

    def ask(fingerprint: str, language: str = "en") -> KnownWords:
        def learn() -> KnownWords:
            nonlocal learnt
            learnt += 1
            return KnownWords.learn(PAIRS, language)

        return cached_known_words(data, fingerprint, language, learn)

    assert ask("a").words == ask("a").words == {"the", "cat", "sleeps"}
    assert learnt == 1
    ask("b")
    ask("a", "de")
    assert learnt == 3
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(b"damaged")
    assert ask("a").words == {"the", "cat", "sleeps"}
    assert learnt == 4
