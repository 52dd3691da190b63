"""Word documents (DOCX, WordprocessingML): the body, headers, footers, notes, comments and text boxes.

Runs of one format are one mark, links are marks; fields, pictures, formulas and references to notes are atoms; tabs and
line breaks end a segment and stay where they are. Tracked deletions, code (by the names of styles) and everything else
in the file stay unchanged. The alternative texts of pictures are translated.

Texts inside charts and SmartArt, document properties and the language tags of runs are not supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from regard.errors import InputError
from regard.formats.archive import Archive, open_archive
from regard.formats.document import FormatOptions
from regard.formats.flow import Flow, Leaf, Wrapper
from regard.formats.office import Grammar, OfficeDocument, Role, element_roles, read_part
from regard.formats.xml_tokens import OPEN, Token, xml_tokens

NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",  # the strict variant
)
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
# The endings of the content types of parts with text.
TEXT_PARTS = ("main+xml", "header+xml", "footer+xml", "footnotes+xml", "endnotes+xml", "comments+xml")
CODE_STYLES = {"html code", "html preformatted", "html sample", "html keyboard", "source code", "verbatim char", "code"}

MAX_FIELD_NESTING = 20  # fields inside fields

ROLES = element_roles("docx")


class WordGrammar(Grammar):
    """The roles of the elements of a Word file."""

    prefix = b"w:"  # until a paragraph has been read

    def __init__(self, data: bytes, code_styles: frozenset[str]) -> None:
        super().__init__(data, code_styles)
        self.fields: dict[int, str] = {}  # by the offset of a field character: begin, separate or end

    def role(self, token: Token, inside: bool) -> Role:
        namespace, _, name = token.name.rpartition(" ")
        if namespace not in NAMESPACES:
            return Role("atom" if inside else "block")
        if name == "p":
            return self.paragraph(token)
        if not inside:
            return ROLES[name] if name in ("del", "moveFrom") else Role("block")
        if name == "fldChar":
            self.fields[token.start] = token.attributes.get(f"{namespace} fldCharType", "")
        if name.endswith(("Start", "End")):
            return Role("start" if name.endswith("Start") else "point")
        return ROLES.get(name, Role("atom"))

    def attributes(self, token: Token) -> Sequence[str]:
        if token.name.endswith("wordprocessingDrawing docPr"):
            return [name for name in ("title", "descr") if name in token.attributes]
        return []

    def is_code(self, token: Token) -> bool:
        namespace, _, name = token.name.rpartition(" ")
        return name in ("pStyle", "rStyle") and token.attributes.get(f"{namespace} val") in self.code_styles

    def text(self, text: str, flow: Flow) -> str:
        return text.replace("\n", " ")

    def written(self, text: str) -> bytes:
        name = self.prefix + b"t"
        return b'<%b xml:space="preserve">%b</%b>' % (name, escape(text.replace("\n", " ")).encode(), name)

    def finish(self, flow: Flow) -> None:
        """Handles fields: a link becomes a wrapper around its text, any other field an atom from begin to end."""
        if not self.fields.keys() & {leaf.start for leaf in flow.leaves}:
            return
        leaves = list(flow.leaves)
        open_fields: list[list[int]] = []  # for each open field: the leaves of its begin and its separator
        for number, leaf in enumerate(flow.leaves):
            kind = self.fields.get(leaf.start) if leaf.kind == "point" else None
            if kind == "begin":
                open_fields.append([number])
                if len(open_fields) > MAX_FIELD_NESTING:
                    return
            elif kind == "separate" and open_fields:
                open_fields[-1].append(number)
            elif kind == "end" and open_fields:
                places = [*open_fields.pop(), number]
                if len(places) != 3 or not self.is_link(flow, places) or not self.wrap_link(flow, leaves, places):
                    for inside in range(places[0], number + 1):
                        leaves[inside] = leaves[inside]._replace(kind="atom")
        flow.leaves = [leaf for leaf in leaves if leaf.start < leaf.end or leaf.kind != "point"]

    def is_link(self, flow: Flow, places: Sequence[int]) -> bool:
        first, separator = (flow.leaves[place] for place in places[:2])
        return b"HYPERLINK" in self.data[first.end : separator.start]

    def wrap_link(self, flow: Flow, leaves: list[Leaf], places: Sequence[int]) -> bool:
        """Makes a wrapper of the runs before and after a link's text; returns False if they contain anything else."""
        begin, separator, end = places
        parent = leaves[begin].path[:-1]
        runs = [leaves[place].path[-1:] for place in places]
        beside = ((begin, begin - 1), (separator, separator + 1), (end, end - 1), (end, end + 1))
        shared = any(
            0 <= other < len(leaves) and leaves[other].path[: len(parent) + 1] == leaves[place].path
            for place, other in beside
        )
        if shared or any(leaves[place].path[:-1] != parent for place in places):
            return False
        if any(leaf.path[: len(parent)] != parent for leaf in leaves[begin : end + 1]):
            return False
        opening, middle, closing = (flow.wrappers[run[0]] for run in runs)
        link = Wrapper((opening.open[0], middle.close[1]), None, False, close=(closing.open[0], closing.close[1]))
        flow.wrappers.append(link)
        for place in range(separator + 1, end):
            path = leaves[place].path
            leaves[place] = leaves[place]._replace(path=(*parent, len(flow.wrappers) - 1, *path[len(parent) :]))
        for place in (*range(begin, separator + 1), end):
            leaves[place] = Leaf("point", 0, 0, parent)
        return True


def read(data: bytes, options: FormatOptions) -> OfficeDocument:
    archive = open_archive(data, "DOCX")
    names = text_parts(archive)
    if not names:
        raise InputError("this DOCX file holds no text part of a Word document: is it a spreadsheet or a presentation?")
    styles = next((name for name in archive.members if name.endswith("/styles.xml")), None)
    contents = archive.parts(names)
    codes = code_styles(archive.part(styles)) if styles else frozenset()
    parts = {name: read_part(content, name, WordGrammar(content, codes)) for name, content in contents.items()}
    return OfficeDocument(archive, parts)


def text_parts(archive: Archive) -> list[str]:
    """The parts that contain text, by their content types, the body first."""
    names = []
    for token in xml_tokens(archive.part("[Content_Types].xml"), "[Content_Types].xml"):
        if token.kind == OPEN and token.name == f"{TYPES} Override":
            name = token.attributes.get("PartName", "").lstrip("/")
            kind = token.attributes.get("ContentType", "")
            if kind.endswith(TEXT_PARTS) and "wordprocessingml" in kind + "wordprocessingml" * ("ms-word" in kind):
                names.append((not kind.endswith("main+xml"), name))
    return [name for _, name in sorted(names) if name in archive.members]


def code_styles(data: bytes) -> frozenset[str]:
    """The ids of the styles whose names indicate code."""
    found, style = set[str](), ""
    for token in xml_tokens(data, "styles.xml"):
        namespace, _, name = token.name.rpartition(" ")
        if token.kind == OPEN and name == "style":
            style = token.attributes.get(f"{namespace} styleId", "")
        elif token.kind == OPEN and name == "name":
            found |= {style} if token.attributes.get(f"{namespace} val", "").lower() in CODE_STYLES else set()
    return frozenset(found)
