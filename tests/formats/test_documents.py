"""Whole documents of every format: a copy has the same bytes, and after a translation another parser finds the same
skeleton."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path

import html5lib
import pytest
from lxml import etree

from formats.fakes import copy, reverse
from regard.formats.markdown_events import shape_of
from regard.formats.table import format_of
from regard.formats.translate_document import translate_document

FOLDER = Path(__file__).parent / "documents"
ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])  # this project's own
READ = ("alt", "title", "placeholder", "summary", "abbr", "content", "value", "aria-label")


def html_skeleton(data: bytes) -> Hashable:
    """Every element with its parent and its attributes, but for those that people read; scripts and code with their
    text; comments."""
    tree = html5lib.parse(data, treebuilder="lxml", namespaceHTMLElements=False, useChardet=False)
    return frozenset(Counter(map(element, tree.iter())).items())


def xml_skeleton(data: bytes) -> Hashable:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return frozenset(Counter(map(element, etree.fromstring(data, parser).iter())).items())


def element(node: etree._Element) -> Hashable:
    parent = node.getparent()
    attributes = frozenset((key, value) for key, value in node.attrib.items() if key not in READ)
    kept = node.tag in ("script", "style", "code", "kbd", "pre") or not isinstance(node.tag, str)
    text = "".join(node.itertext()) if kept and isinstance(node.tag, str) else node.text if kept else ""
    return str(node.tag), None if parent is None else str(parent.tag), attributes, text


def markdown_skeleton(data: bytes) -> Hashable:
    blocks, inline = shape_of(data.decode().replace("\r\n", "\n"))
    return blocks, frozenset((kind, count) for kind, count in inline.items() if kind[0] != "Html")


SKELETONS: dict[str, Callable[[bytes], Hashable]] = {
    "html": html_skeleton,
    "xml": xml_skeleton,
    "markdown": markdown_skeleton,
    "text": lambda data: data.count(b"\n"),
}
DOCUMENTS = [path for path in sorted(FOLDER.iterdir()) if format_of(path) in SKELETONS]


@pytest.mark.parametrize("path", [*DOCUMENTS, *PAGES], ids=lambda path: path.name)
def test_a_copy_has_the_same_bytes(path: Path) -> None:
    data = path.read_bytes()
    found = translate_document(data, format_of(path) or "", copy)
    assert found.segments
    assert found.data == data


@pytest.mark.parametrize("path", [*DOCUMENTS, *PAGES[:6]], ids=lambda path: path.name)
def test_a_translation_has_the_same_skeleton_and_every_word(path: Path) -> None:
    data, format = path.read_bytes(), format_of(path) or ""
    found = translate_document(data, format, reverse)
    assert found.data != data
    skeleton = xml_skeleton if path.suffix == ".xhtml" else SKELETONS[format]
    assert skeleton(found.data) == skeleton(data)
    assert not [line for line in found.warnings if "stays as it was" in line and "HTML inside" not in line]
    # Read again, the segments are the translations; those inside tags have moved with them.
    again = translate_document(found.data, format, copy)
    assert sorted(sorted(one.text.upper().split()) for one in again.segments) == sorted(
        sorted(one.text.upper().split()) for one in found.translations
    )


def test_three_documents_of_each_format() -> None:
    counted = Counter(format_of(path) for path in DOCUMENTS)
    assert min(counted[name] for name in ("html", "xml")) >= 3
    assert counted["markdown"] + len(PAGES) >= 3
