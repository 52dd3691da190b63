"""`regard.Translator`: what it adds to a text translator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.errors import InputError
from regard.translation.prepare import Reader
from regard.translator import Translator
from support import LINES


def test_alignments_of_given_and_of_own_translations(translator: Translator) -> None:
    sources, targets = [s for s, _ in LINES[:3]], [t for _, t in LINES[:3]]
    given = translator.align(sources, targets)
    assert translator.align(sources) == given  # it learnt these by heart
    assert translator.align(sources[0], targets[0]) == given[0]
    assert given[0].source_words == ("The", "cat", "sleeps", ".")
    assert given[0].target_words == ("Le", "chat", "dort", ".")
    assert len({j for _, j in given[0].links}) == len(given[0].links)  # one source word for each target word
    assert str(given[0]) == " ".join(f"{i}-{j}" for i, j in given[0].links)
    assert all(f"{source}–{target}" in repr(given[0]) for source, target in given[0].word_pairs)
    assert translator.align("") == translator.align("", "")
    assert translator.align([]) == []


def test_a_long_line_is_aligned_with_its_own_translation(translator: Translator) -> None:
    """It is translated in parts, and so aligned."""
    found = translator.align("The cat sleeps. " * 60)
    assert len(found.source_words) == len(found.target_words) == len(found.links) == 240


def test_what_is_read_in_small_letters_or_not_at_all_keeps_its_words(translator: Translator) -> None:
    mending = Translator(translator.bundle, replace(translator.config, mend=True))
    plain = mending.align("The cat sleeps.", "Le chat dort.")
    loud = mending.align("THE CAT SLEEPS.", "LE CHAT DORT.")
    assert loud.links == plain.links
    assert loud.target_words == ("LE", "CHAT", "DORT", ".")
    around = mending.align("  😀 The cat sleeps.", "  😀 Le chat dort.")
    assert around.source_words == ("😀", "The", "cat", "sleeps", ".")
    assert around.links == tuple((i + 1, j + 1) for i, j in plain.links)


def test_a_slot_is_linked_with_itself(translator: Translator) -> None:
    found = Translator(translator.bundle)
    found.__dict__["reader"] = Reader("en", "fr", slots=len(found.tokenizer.slot_ids))
    aligned = found.align("The dog sees 3:45 pm.", "À 3:45 pm, le chien voit.")
    words = [(a, b) for a, b in aligned.word_pairs if a in ("3", ":", "45", "pm")]
    assert {("3", "3"), (":", ":"), ("45", "45"), ("pm", "pm")} <= set(words)
    shown = found.score("The dog sees 3:45 pm.", "Le chien voit 3:45 pm.")
    assert "3:45 pm" in shown.tokens


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "takes a string"),
        ((b"x",), "decode it first"),
        (("a", ["b"]), "two strings, or two lists"),
        ((["a", "b"], ["a"]), "as many targets"),
        (("word " * 300, "mot"), "fewer than 100 tokens, but pair 0 has"),
    ],
)
def test_what_cannot_be_aligned(translator: Translator, arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        translator.align(*arguments)


def test_an_explanation_is_of_the_translation(translator: Translator) -> None:
    found = translator.explain("The cat sleeps.")
    assert found.translation == "Le chat dort."
    assert found.grid().rows == ("Le", "chat", "dort", ".")
    assert translator.explain("The cat sleeps.", "Le chien mange.").grid().rows == ("Le", "chien", "mange", ".")
    for arguments in ((None,), (["a"],), ("a", 3)):
        with pytest.raises(InputError, match="explain takes one sentence"):
            translator.explain(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pdf", b"%PDF-1.7", "a.pdf cannot be read: it is a PDF file; open it in Word or LibreOffice"),
        ("a.txt", b"%PDF-1.7", "a.txt is a PDF file, not plain text"),
        ("a.foo", b"The cat sleeps.", r"its suffix is none of \.txt \.md .* set format to \"text\""),
        ("a.html", b"<p>The cat sleeps.</p>", "format must be one of lines, text, csv, tsv, jsonl, parquet"),
    ],
)
def test_files_that_are_not_read(translator: Translator, tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=said):
        translator.translate_file(tmp_path / name, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_table_and_lines_of_another_suffix(translator: Translator, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,text\n7,"The cat sleeps."\n')
    (tmp_path / "a.foo").write_text("The cat sleeps.\n")
    tally = translator.translate_file(tmp_path / "a.csv", tmp_path / "out.csv", glossary={"dog": "chien"})
    assert (tally.texts, tally.sentences) == (2, 1)
    assert (tmp_path / "out.csv").read_text() == 'id,text\n7,"Le chat dort."\n'
    translator.translate_file(tmp_path / "a.foo", tmp_path / "out.foo", format="text")
    assert (tmp_path / "out.foo").read_text() == "Le chat dort.\n"


def test_models_that_cannot_be_loaded() -> None:
    for path in (3, [3], [None]):
        with pytest.raises(InputError, match="named by a folder"):
            regard.load(path)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no folder is given"):
        regard.load([])


def test_a_recipe_must_be_one() -> None:
    for recipe in (None, 3, [("train", {})]):
        with pytest.raises(InputError, match="a recipe is a TOML file"):
            regard.train(recipe)  # type: ignore[arg-type]
