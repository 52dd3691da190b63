"""Messages as JSON and records as JSON lines: read again by the standard library, byte for byte with a copier."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import DOCUMENTS, shouted
from formats.fakes import copy
from regard.errors import InputError
from regard.formats.document import DEFAULTS, FormatOptions
from regard.formats.json import JsonString, Members, read_json
from regard.formats.table import reader_of
from regard.formats.translate_document import translate_document

FILES = ["shop.json", "app_en.arb", "extension.json"]
RECORDS = {"news.jsonl": ("title", "body"), "escaped.jsonl": ("text",), "questions.ndjson": ("question", "answer")}


def shout(data: bytes, format: str, options: FormatOptions = DEFAULTS) -> bytes:
    document = reader_of(format)(data, options)
    return document.write(shouted(document.segments))


def skeleton(value: Any) -> Any:
    """Keys, kinds, numbers: everything but the strings."""
    if isinstance(value, dict):
        return [(key, skeleton(inner)) for key, inner in value.items()]
    return [skeleton(inner) for inner in value] if isinstance(value, list) else str if isinstance(value, str) else value


@pytest.mark.parametrize("name", FILES)
def test_copier_gives_the_same_bytes(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    assert translate_document(data, "json", copy).data == data


@pytest.mark.parametrize("name", FILES)
def test_skeleton_stays(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    new = shout(data, "json")
    assert skeleton(json.loads(new)) == skeleton(json.loads(data))
    assert new != data


def test_values_that_are_no_prose_stay() -> None:
    data = (DOCUMENTS / "shop.json").read_bytes()
    new = json.loads(shout(data, "json"))
    assert new["app"] == {"title": "BOOK SHOP", "url": "https://example.com/books", "colour": "#ffaa00"}
    assert new["buttons"] == ["BUY", "CANCEL", "send"]
    assert new["slash"] == "READ AND/OR WRITE"
    assert reader_of("json")(data, DEFAULTS).warnings == ("4 values are not prose and were left unchanged",)
    assert rb"AND\/OR" in shout(data, "json")


def test_metadata_stays_and_escapes_are_kept() -> None:
    new = shout((DOCUMENTS / "extension.json").read_bytes(), "json")
    parsed = json.loads(new)
    assert parsed["count"]["description"] == "Shown after counting"
    assert parsed["count"]["placeholders"]["count"]["example"] == "Twelve"
    assert rb"CAF\u00c9" in new
    arb = json.loads(shout((DOCUMENTS / "app_en.arb").read_bytes(), "json"))
    assert arb["@files"]["description"] == "How many files there are"
    assert arb["files"] == (
        "{count, plural, =0 {THERE ARE NO FILES.} one {THERE IS # FILE IN {folder}.} "
        "other {THERE ARE # FILES IN {folder}.}}"
    )
    assert arb["pronoun"] == "{gender, select, female {SHE IS HAPPY} male {HE IS HAPPY} other {THEY ARE HAPPY}}"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


def strings(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        return [found for inner in (value.values() if isinstance(value, dict) else value) for found in strings(inner)]
    return [value] if isinstance(value, str) else []


def found_strings(value: Any) -> list[str]:
    if isinstance(value, Members):
        value = [inner for _, inner in value]
    if isinstance(value, list):
        return [found for inner in value for found in found_strings(inner)]
    return [value] if isinstance(value, JsonString) else []


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_any_document_is_read_as_the_standard_library_reads_it(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert found_strings(read_json(text)) == strings(value)


@given(st.text('{}[]",:1eE.+-tru \\\n', max_size=30))
def test_what_the_standard_library_refuses_is_refused(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(InputError):
            read_json(text)
    else:
        read_json(text)


@pytest.mark.parametrize("name", RECORDS)
def test_records(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    options = FormatOptions(columns=RECORDS[name])
    assert translate_document(data, "jsonl", copy, options).data == data
    new = shout(data, "jsonl", options)
    lines = [
        (json.loads(old), json.loads(fresh))
        for old, fresh in zip(data.splitlines(), new.splitlines(), strict=True)
        if old
    ]
    for old, fresh in lines:
        wanted = {key: value.upper() if key in options.columns and value else value for key, value in old.items()}
        assert fresh == wanted


def test_records_need_a_key() -> None:
    data = (DOCUMENTS / "news.jsonl").read_bytes()
    for columns, said in (((), "no key was chosen; there are: title, body"), (("nothing",), "'nothing'")):
        with pytest.raises(InputError, match=said):
            reader_of("jsonl")(data, FormatOptions(columns=columns))


def test_hostile_documents() -> None:
    for text in (
        "[" * 100 + "]" * 100,
        f'["{"a" * 5_000_000}"]',
        '{"a": "x y", "a": "x y"}',
    ):
        assert translate_document(text.encode(), "json", copy).data == text.encode()
    deep = b"[" * 100_000 + b"]" * 100_000
    for data in (deep, b"", b"[1, 2", b'{"a": "b', b"[\0]", b'["\xff"]', b"nul", b"[1] 2", b'{"a" 1}', b'["a\nb"]'):
        with pytest.raises(InputError) as caught:
            reader_of("json")(data, DEFAULTS)
        assert "\n" not in str(caught.value)


def test_lone_surrogates_and_direction_marks_stay() -> None:
    data = rb'["a lone \ud800 one", "x \u200fy\u0000 z"]'
    assert json.loads(shout(data, "json")) == ["a lone \ud800 one", "X \u200fY\0 Z"]
