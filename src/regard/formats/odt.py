"""OfficeDocument texts (ODT): the body, notes, comments, text boxes, headers and footers.

Spans of one style are one mark, links are marks; fields, pictures and notes are atoms; tabs and line breaks end a
segment and stay where they are. Titles and descriptions of pictures are translated. Tracked deletions, code (by style)
and everything else in the file stay unchanged.

Document properties, formulas and charts (which are documents of their own inside the file) are not supported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from regard.errors import InputError
from regard.formats.archive import open_archive
from regard.formats.document import FormatOptions
from regard.formats.flow import Flow
from regard.formats.office import Grammar, OfficeDocument, Role, element_roles, read_part
from regard.formats.xml_tokens import OPEN, Token, xml_tokens

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT_SPACE, STYLE_SPACE = f"{ODF}text:1.0", f"{ODF}style:1.0"
KINDS = ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template")
CODE_STYLES = ("Source_20_Text", "Preformatted_20_Text", "Teletype", "User_20_Entry")
MAX_SPACES = 1000  # maximum spaces of one element

WHITE_SPACE = re.compile(r"[ \t\r\n]+")
SPACES = re.compile(r" {2,}")

ROLES = element_roles("odt")


class OpenGrammar(Grammar):
    """The roles of the elements of an ODT file."""

    bare_text = True
    prefix = b"text:"  # until a paragraph has been read

    def role(self, token: Token, inside: bool) -> Role:
        namespace, _, name = token.name.rpartition(" ")
        if namespace == TEXT_SPACE and name in ("p", "h"):
            return self.paragraph(token)
        if name in ("title", "desc") and "svg" in namespace:
            return Role("paragraph")
        if not inside:
            return ROLES[name] if name == "tracked-changes" else Role("block")
        if name == "annotation" or name.endswith("-start"):
            return Role("start")
        if name.endswith(("-end", "-mark", "bookmark", "soft-page-break")) or name == "change":
            return Role("point")
        if namespace != TEXT_SPACE:
            floats = token.attributes.get(f"{TEXT_SPACE} anchor-type", "as-char") != "as-char"
            return Role("point" if floats else "atom")
        if name == "s":
            count = token.attributes.get(f"{TEXT_SPACE} c", "1")
            return Role("glyph", " " * int(count)) if count.isdecimal() and int(count) <= MAX_SPACES else Role("atom")
        return ROLES.get(name, Role("atom"))

    def is_code(self, token: Token) -> bool:
        return token.attributes.get(f"{TEXT_SPACE} style-name") in self.code_styles

    def text(self, text: str, flow: Flow) -> str:
        """Collapses white space to one space, or to none at the start of a paragraph or after a space."""
        text = WHITE_SPACE.sub(" ", text)
        before = flow.leaves[-1] if flow.leaves else None
        if before is None or (before.kind == "text" and before.text.endswith(" ")):
            return text.removeprefix(" ")
        return text

    def written(self, text: str) -> bytes:
        def spaces(found: re.Match[str]) -> str:
            return f' <{self.prefix.decode()}s {self.prefix.decode()}c="{len(found[0]) - 1}"/>'

        return SPACES.sub(spaces, escape(WHITE_SPACE.sub(lambda found: " " * len(found[0]), text))).encode()


def read(data: bytes, options: FormatOptions) -> OfficeDocument:
    archive = open_archive(data, "ODT")
    if "mimetype" in archive.members:
        kind = archive.part("mimetype", 1000).decode("ascii", "replace").strip()
        if kind not in KINDS:
            raise InputError(f"this ODT file is of the kind {kind[:100]!r}, but only text documents are read")
    manifest = "META-INF/manifest.xml"
    if manifest in archive.members and is_encrypted(archive.part(manifest)):
        raise InputError("this ODT file is encrypted: save it without a password")
    names = ["content.xml", *(["styles.xml"] if "styles.xml" in archive.members else [])]
    contents = archive.parts(names)
    codes = code_styles(list(contents.values()))
    parts = {name: read_part(content, name, OpenGrammar(content, codes)) for name, content in contents.items()}
    return OfficeDocument(archive, parts)


def is_encrypted(manifest: bytes) -> bool:
    try:
        return any(token.name.endswith(" encryption-data") for token in xml_tokens(manifest, "META-INF/manifest.xml"))
    except InputError:
        return False  # old files have no namespaces there


def code_styles(contents: Sequence[bytes]) -> frozenset[str]:
    """The names of the styles that are for code or inherit from such a style."""
    children: dict[str, list[str]] = {}
    for content in contents:
        for token in xml_tokens(content, "an XML part"):
            if token.kind == OPEN and token.name == f"{STYLE_SPACE} style":
                parent = token.attributes.get(f"{STYLE_SPACE} parent-style-name", "")
                children.setdefault(parent, []).append(token.attributes.get(f"{STYLE_SPACE} name", ""))
    found, waiting = set[str](), list(CODE_STYLES)
    while waiting:
        style = waiting.pop()
        if style not in found:
            found.add(style)
            waiting += children.get(style, ())
    return frozenset(found)
