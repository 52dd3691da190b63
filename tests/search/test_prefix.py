"""Translations that must begin with a text, and what else could be said after it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.search.forced_decoding import next_log_probs
from regard.search.options import Mbr, Sampling
from regard.search.prefix import ForcedStart, PieceTable, PrefixReader
from regard.text.pieces import nfc
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.translator import Translator
from support import LINES

TARGETS = [target for _, target in LINES]


@settings(max_examples=25)
@given(st.data())
def test_a_prefix_of_a_translation_gives_that_translation_again(translator: Translator, data: st.DataObject) -> None:
    source, target = data.draw(st.sampled_from(LINES))
    prefix = target[: data.draw(st.integers(0, len(target)))]
    assert translator.translate(source, prefix=prefix).text == target  # it learnt it by heart


@settings(max_examples=25)
@given(st.sampled_from(LINES), st.sampled_from(TARGETS), st.data())
def test_translations_begin_as_they_must(
    translator: Translator, pair: tuple[str, str], other: str, data: st.DataObject
) -> None:
    """With the beginning of another sentence, by every strategy."""
    prefix = other[: data.draw(st.integers(1, len(other)))]
    options = data.draw(
        st.sampled_from(
            [
                {},
                {"beam": 1},
                {"beam": 4, "nbest": 4},
                {"beam": 4, "groups": 2, "nbest": 4},
                {"sampling": Sampling(), "nbest": 2},
                {"mbr": Mbr(4)},
                {"no_repeat": 2, "repetition_penalty": 1.2},
            ]
        )
    )
    found = translator.translate(pair[0], prefix=prefix, **options)  # type: ignore[call-overload]
    for text in (found.text, *(c.text for c in found.candidates)):
        assert text.startswith(prefix)


@given(st.text(alphabet="le chat dort'日🐈éÉ.,-▁", max_size=30))
def test_forced_tokens_and_the_rest_spell_the_prefix(tokenizer: Tokenizer, text: str) -> None:
    reader = PrefixReader(tokenizer)
    start = reader.start(text.lstrip(" "), 1000)
    assert reader.text(start) == nfc(text.lstrip(" "))
    assert reader.table.can_spell(start.rest)
    constraint = reader.constraint(start)
    assert (constraint is None) == (not start.rest)
    if constraint is not None:
        for token in start.ids:
            assert not constraint.forbidden()
            constraint = constraint.after(token)
        while constraint.rest:  # any token that is not forbidden brings it forward
            allowed = sorted(set(range(tokenizer.target_size)) - constraint.forbidden())
            assert allowed
            before = constraint.rest
            constraint = constraint.after(allowed[0])
            assert len(constraint.rest) < len(before)
        assert not constraint.forbidden()


def test_a_word_that_was_begun_is_completed(translator: Translator) -> None:
    assert translator.translate("The cat sleeps.", prefix="Le c").text == "Le chat dort."
    texts = [t.text for t in translator.translate(["The cat sleeps.", "", "x 5"], prefix=["Le ch", "a", ""])]
    assert texts[:2] == ["Le chat dort.", ""]


def test_a_vocabulary_of_words_cannot_say_everything() -> None:
    words = Tokenizer.train(lambda: iter(LINES * 3), TextConfig(unit="word", vocab_size=60))
    reader = PrefixReader(words)
    assert reader.start("Le ch", 100).rest == "▁ch".encode()
    for text in ("Le xyz", "Le xyz dort"):
        with pytest.raises(InputError, match=f'prefix must be of words that the model knows, but "{text}" is not'):
            reader.start(text, 100)


def test_impossible_prefixes_are_refused(translator: Translator) -> None:
    with pytest.raises(InputError, match="prefix must have at most 3 tokens"):
        translator.translate("The cat sleeps.", prefix="Le chat dort et le chien dort", max_length=3)
    with pytest.raises(InputError, match="prefix must have at most 99 tokens"):
        translator.translate("The cat sleeps.", prefix="le chat " * 300)
    with pytest.raises(InputError, match="prefix must be one text, or one for each of the 2 texts, but there are 3"):
        translator.translate(["a", "b"], prefix=["a", "b", "c"])
    with pytest.raises(InputError, match="prefix takes a string"):
        translator.translate("a", prefix=7)  # type: ignore[call-overload]


def test_pieces_that_continue_a_text() -> None:
    table = PieceTable([b"", b"", b"\xe2\x96\x81", b"\xe2\x96\x81ch", b"\xe2\x96\x81chat", b"c", b"\xe2", b"ch"])
    assert table.continuing("▁ch".encode()) == {2, 3, 4, 6}
    assert table.continuing(b"c") == {5, 7}
    assert table.continuing(b"") == {2, 3, 4, 5, 6, 7}
    assert not table.can_spell(b"x")


# ── alternatives ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_alternatives_are_the_most_probable_continuations(translator: Translator) -> None:
    found = translator.alternatives("The cat sleeps.", "Le ", count=4)
    (ids,) = translator.tokenizer.encode_target(["Le"])
    (source,) = translator.tokenizer.encode_source(["The cat sleeps."])
    log_probs = next_log_probs(translator.bundle.model, source, ids)
    spaced = [i for i, piece in enumerate(translator.tokenizer.target.bytes) if piece.startswith("▁".encode())]
    spaced += [i for i, piece in enumerate(translator.tokenizer.target.bytes) if piece in (b"\xe2",)]  # of ▁ in bytes
    shares = np.exp(log_probs[spaced]) / np.exp(log_probs[spaced]).sum()
    assert [a.probability for a in found] == pytest.approx(sorted(shares, reverse=True)[:4])
    assert (found[0].word, found[0].token, found[0].text) == ("chat", "▁chat", "Le chat dort.")
    assert len({a.token for a in found}) == 4
    assert all(a.text.startswith("Le ") for a in found)


def test_alternatives_at_a_word_of_the_translation(translator: Translator) -> None:
    found = translator.alternatives("The cat sleeps.", position=1, count=3)
    assert found[0].word == "chat"
    every = translator.alternatives("The cat sleeps.", position=3, count=40)
    assert 0.5 < sum(a.probability for a in every) <= 1
    assert [a.text for a in every if a.token == "</s>"] == ["Le chat dort"]
    given = translator.alternatives("The cat sleeps.", translation="Le chien dort.", position=2, count=3)
    assert all(a.text.startswith("Le chien") for a in given)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"text": "The cat sleeps. " * 60}, "alternatives are of one sentence"),
        ({"text": "  "}, "alternatives are of one sentence"),
        ({"text": "The cat.", "position": 99}, "position must be a word of the translation, counted from 0 to"),
        ({"text": "The cat.", "prefix": "Le", "position": 1}, "give one of them"),
        ({"text": "The cat.", "translation": "Le chat."}, "give its position"),
        ({"text": "The cat.", "count": 0}, "count must be a whole number from 1 on, but is 0"),
    ],
)
def test_bad_places_are_refused(translator: Translator, arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        translator.alternatives(**arguments)  # type: ignore[arg-type]


def test_a_start_grows_by_a_token(tokenizer: Tokenizer) -> None:
    reader = PrefixReader(tokenizer)
    (chat,) = [i for i, piece in enumerate(tokenizer.target.pieces) if piece == "▁chat"]
    assert reader.after(ForcedStart((5,), "▁ch".encode()), chat) == ForcedStart((5, chat), b"")
