"""Documents through the bundled model: French comes out, the shape stays."""

from __future__ import annotations

import io
import json

import docx
import polib
import pytest
from odf import teletype
from odf.opendocument import load

import regard
from formats.echo import DOCUMENTS
from formats.test_docx import skeleton
from formats.test_subtitles import skeleton as cues
from regard.formats.document import FormatOptions
from regard.formats.translate_document import Translate, translate_document
from regard.translation.translation import Translation


@pytest.fixture(scope="module")
def translate() -> Translate:
    translator = regard.load("en-fr", device="cpu", engine="ctranslate2")

    def translated(texts: list[str], wrapped: bool) -> list[Translation]:
        return translator.translate(texts, split="wrapped" if wrapped else "sentences")

    return translated  # type: ignore[return-value]


def test_word(translate: Translate) -> None:
    data = (DOCUMENTS / "report.docx").read_bytes()
    new = translate_document(data, "docx", translate).data
    assert skeleton(new) == skeleton(data)
    bold = [run.text for paragraph in docx.Document(io.BytesIO(new)).paragraphs for run in paragraph.runs if run.bold]
    assert "maison" in bold[0]


def test_others(translate: Translate) -> None:
    odt = translate_document((DOCUMENTS / "notes.odt").read_bytes(), "odt", translate).data
    assert "lundi" in teletype.extractText(load(io.BytesIO(odt)).text)
    data = (DOCUMENTS / "station.srt").read_bytes()
    srt = translate_document(data, "srt", translate).data
    assert cues(srt, "srt") == cues(data, "srt")
    assert "train" in srt.decode()
    po = polib.pofile(translate_document((DOCUMENTS / "game.po").read_bytes(), "po", translate).data.decode())
    plural = next(entry for entry in po if entry.msgid_plural)
    assert all("%d" in form for form in plural.msgstr_plural.values())
    messages = json.loads(translate_document((DOCUMENTS / "shop.json").read_bytes(), "json", translate).data)
    assert "{{name}}" in messages["greeting"]
    assert "vide" in messages["cart"]["empty"]
    options = FormatOptions(columns=("text",))
    tsv = translate_document((DOCUMENTS / "reviews.tsv").read_bytes(), "tsv", translate, options).data.decode()
    assert "Thank you!" in tsv
    assert "heure" in tsv
