"""Messages as YAML: read again by PyYAML, byte for byte with a translator that copies."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import DOCUMENTS
from formats.fakes import copy
from regard.errors import InputError
from regard.formats.document import DEFAULTS, PlacedSegment
from regard.formats.translate_document import translate_document
from regard.formats.yaml import read

FILES = ["rails.yml", "garden.yaml", "docs.yaml"]


def replaced(data: bytes, new: str) -> bytes:
    """Every text with something put at its front and end."""
    document = read(data, DEFAULTS)
    return document.write([PlacedSegment((segment.text.upper() + new,)) for segment in document.segments])


def kinds(data: bytes) -> list[Any]:
    """The events with anchors and tags, without the texts and the styles of scalars."""
    return [
        (type(event).__name__, getattr(event, "anchor", None), getattr(event, "tag", None))
        for event in yaml.parse(data)
    ]


@pytest.mark.parametrize("name", FILES)
def test_copier_gives_the_same_bytes(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    assert translate_document(data, "yaml", copy).data == data


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("added", ["", " : l'été", ' # "x"', " [y]", "\\"])
def test_skeleton_stays(name: str, added: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    new = replaced(data, added)
    assert kinds(new) == kinds(data)
    assert new.count(b"#") == data.count(b"#") + added.count("#") * len(read(data, DEFAULTS).segments)


def test_styles_are_kept_where_they_can_be() -> None:
    new = replaced((DOCUMENTS / "rails.yml").read_bytes(), "").decode()
    assert '  hello: "HELLO, %{NAME}!"\n' in new
    assert "  welcome: &welcome WELCOME TO OUR HOUSE\n  again: *welcome\n" in new
    assert "    blank: 'CAN''T BE EMPTY'\n    taken: IS ALREADY TAKEN   # a plain scalar\n" in new
    assert "    body: |\n      DEAR %{NAME},\n\n      YOUR LETTER HAS ARRIVED.\n      THANK YOU VERY MUCH.\n" in new
    assert "    footer: >-\n      YOU RECEIVE THIS LETTER BECAUSE YOU HAVE AN ACCOUNT WITH US.\n\n" in new
    french = replaced((DOCUMENTS / "rails.yml").read_bytes(), " déjà").decode()
    assert "&welcome WELCOME TO OUR HOUSE déjà\n" in french
    assert "THANK YOU VERY MUCH.\n       déjà\n" in french
    quoted = replaced((DOCUMENTS / "rails.yml").read_bytes(), " : l'x").decode()
    assert "&welcome 'WELCOME TO OUR HOUSE : l''x'" in quoted


def test_values_that_are_no_strings_or_no_prose_stay() -> None:
    before, after = (yaml.safe_load(data) for data in ((DOCUMENTS / "garden.yaml").read_bytes(),) * 2)
    new = yaml.safe_load(replaced((DOCUMENTS / "garden.yaml").read_bytes(), ""))
    assert before == after
    assert new["plants"][1] == {"name": "OLD TREE", "height": 12, "since": before["plants"][1]["since"]}
    assert new["nothing"] is None
    assert new["title"] == "GARDEN"


STYLES = st.sampled_from(["{}", '"{}"', "'{}'"])
CONTEXTS = st.sampled_from(
    ["key: {}\n", "- {}\n- Other text\n", "a: [{}, Some thing]\n", "a: {{b: {}}}\n", "? x\n: {}\n"]
)


@given(STYLES, CONTEXTS, st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30))
def test_any_translation_is_read_back(style: str, context: str, text: str) -> None:
    data = context.format(style.format("Some words")).encode()
    document = read(data, DEFAULTS)
    new = document.write(
        [
            PlacedSegment((text,)) if s.text == "Some words" else PlacedSegment((s.text,), unchanged=True)
            for s in document.segments
        ]
    )
    values = [event.value for event in yaml.parse(new.decode()) if isinstance(event, yaml.ScalarEvent)]
    wanted = [event.value for event in yaml.parse(data.decode()) if isinstance(event, yaml.ScalarEvent)]
    assert values == [text if value == "Some words" else value for value in wanted]


@given(st.sampled_from("|>"), st.sampled_from(["", "-", "+"]), st.text("ab .:#\n-'é\u2028", max_size=120))
def test_any_translation_of_a_block_is_read_back(style: str, chomping: str, text: str) -> None:
    data = f"key: {style}{chomping}\n  Some words here.\n\n  And more.\nlast: Other words\n".encode()
    document = read(data, DEFAULTS)
    source = document.segments[0].text
    ending = source[len(source.rstrip("\n")) :]
    text = text.strip("\n ") + ending
    other = PlacedSegment((document.segments[1].text,), unchanged=True)
    new = yaml.safe_load(document.write([PlacedSegment((text,)), other]))
    assert new == {"key": text, "last": "Other words"}


def test_hostile_documents() -> None:
    bomb = "a: &a [Some text]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)
    )
    for text in (bomb, "a: " + "x" * 5_000_000, "a: \u200fSome words\n", "[" * 400 + "]" * 400):
        assert translate_document(text.encode(), "yaml", copy).data == text.encode()
    for data in (
        b"[" * 1000,
        b"[" * 100_000 + b"]" * 100_000,
        b"a: [",
        b"a: \0",
        b"\xff\xff",
        b"a: 'x",
        b"a: b: c",
        b"\t- a",
    ):
        with pytest.raises(InputError) as caught:
            read(data, DEFAULTS)
        assert "\n" not in str(caught.value)
