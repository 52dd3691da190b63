"""Writes the office documents of `documents/` that we made ourselves: `python tests/formats/make_documents.py FOLDER`.

`report.docx` is made by python-docx, `word.docx` is WordprocessingML as Word writes it (with revision marks, fields,
bookmarks, a footnote, tracked changes and a text box), `notes.odt` is made by odfpy.
"""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from pathlib import Path

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def picture() -> BytesIO:
    """A small grey square as PNG."""
    import struct
    import zlib

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + b"\x99" * 48 for _ in range(48))
    header = struct.pack(">IIBBBBB", 48, 48, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return BytesIO(b"\x89PNG\r\n\x1a\n" + body)


def report(path: Path) -> None:
    import docx

    document = docx.Document()
    document.core_properties.author = "regard"
    document.sections[0].header.paragraphs[0].text = "The house by the sea"
    document.sections[0].footer.paragraphs[0].text = "Please do not smoke in the house."
    document.add_heading("A summer at the sea", 0)
    paragraph = document.add_paragraph("We have a ")
    paragraph.add_run("small house").bold = True
    paragraph.add_run(" near the sea. It is ")
    paragraph.add_run("very old").italic = True
    paragraph.add_run(", but we love it. My father bought it in 1998 for $12,500.")
    document.add_heading("What you must know", 1)
    document.add_paragraph("The key is under the stone.", style="List Bullet")
    document.add_paragraph("There is no television.", style="List Bullet")
    paragraph = document.add_paragraph("Close the door ", style="List Number")
    run = paragraph.add_run("every evening")
    run.bold = run.underline = True
    paragraph.add_run(".")
    document.add_picture(picture())
    shape = document.inline_shapes[0]._inline.docPr
    shape.set("descr", "A photo of the house")
    table = document.add_table(rows=3, cols=3)
    table.style = "Table Grid"
    rows = (("Day", "Morning", "Evening"), ("Monday", "We swim.", "We cook."), ("Tuesday", "We read.", "We sleep."))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    paragraph = document.add_paragraph("Name:\tTom\nCity:\tParis")
    commented = document.add_paragraph("I think that it will rain tomorrow.")
    document.add_comment(commented.runs, text="Are you sure?", author="Ann", initials="A")
    document.save(str(path))


def word(path: Path) -> None:
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    namespaces = (
        f'xmlns:w="{W}" xmlns:r="{relation}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    box = "<w:txbxContent><w:p><w:r><w:t>The shop is closed on Sunday.</w:t></w:r></w:p></w:txbxContent>"
    text_box = (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor distT="0" distB="0" distL="114300" '
        'distR="114300" simplePos="0" relativeHeight="251659264" behindDoc="0" locked="0" layoutInCell="1" '
        'allowOverlap="1"><wp:simplePos x="0" y="0"/><wp:positionH relativeFrom="column"><wp:posOffset>3200400'
        '</wp:posOffset></wp:positionH><wp:positionV relativeFrom="paragraph"><wp:posOffset>300000</wp:posOffset>'
        '</wp:positionV><wp:extent cx="2286000" cy="457200"/><wp:wrapNone/><wp:docPr id="1" name="Text Box 1" '
        'descr="A sign on the door"/><a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/'
        'wordprocessingShape"><wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext '
        'cx="2286000" cy="457200"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx>'
        f"{box}</wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice>"
        f'<mc:Fallback><w:pict><v:shape style="width:180pt;height:36pt"><v:textbox>{box}</v:textbox></v:shape>'
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    link = '<w:rPr><w:rStyle w:val="Hyperlink"/></w:rPr>'
    body = f"""<w:p w:rsidR="00A1" w:rsidRDefault="00A1"><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>\
<w:bookmarkStart w:id="0" w:name="_Toc1"/><w:r><w:t>The old shop</w:t></w:r><w:bookmarkEnd w:id="0"/></w:p>
<w:p w:rsidR="00A2"><w:r w:rsidR="00A3"><w:t xml:space="preserve">My brother </w:t></w:r><w:r w:rsidR="00A4"><w:t>\
has a </w:t></w:r><w:proofErr w:type="spellStart"/><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve"> big shop</w:t>\
</w:r><w:proofErr w:type="spellEnd"/><w:r><w:t xml:space="preserve"> in the city.</w:t></w:r><w:r><w:rPr><w:rStyle \
w:val="FootnoteReference"/></w:rPr><w:footnoteReference w:id="2"/></w:r><w:r><w:lastRenderedPageBreak/>\
<w:t xml:space="preserve"> He sells books &amp; old maps there.</w:t></w:r>{text_box}</w:p>
<w:p><w:r><w:t xml:space="preserve">You can </w:t></w:r><w:hyperlink r:id="rId9" w:history="1"><w:r>{link}<w:t>read \
more</w:t></w:r></w:hyperlink><w:r><w:t xml:space="preserve"> about it or </w:t></w:r><w:r><w:fldChar \
w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> HYPERLINK "https://example.com/" </w:instrText>\
</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r>{link}<w:t>write to him</w:t></w:r><w:r><w:fldChar \
w:fldCharType="end"/></w:r><w:r><w:t>.</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">The map is on page </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r>\
<w:instrText xml:space="preserve"> PAGEREF _Toc1 \\h </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/>\
</w:r><w:r><w:rPr><w:noProof/></w:rPr><w:t>1</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r>\
<w:t xml:space="preserve"> of this book.</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">He is </w:t></w:r><w:del w:id="5" w:author="Ann" w:date="2026-01-01T00:00:00Z">\
<w:r><w:delText>never</w:delText></w:r></w:del><w:ins w:id="6" w:author="Ann" w:date="2026-01-01T00:00:00Z"><w:r>\
<w:t>always</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> very friendly.</w:t></w:r></w:p>
<w:p><w:r><w:t>Opens at:</w:t><w:tab/><w:t>nine o’clock</w:t><w:br/><w:t>Closes at:</w:t><w:tab/><w:t>six o’clock</w:t>\
</w:r></w:p>
<w:sdt><w:sdtPr><w:alias w:val="Owner"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t xml:space="preserve">The owner is \
</w:t></w:r><w:sdt><w:sdtPr><w:alias w:val="Name"/></w:sdtPr><w:sdtContent><w:r><w:t>my good friend</w:t></w:r>\
</w:sdtContent></w:sdt><w:r><w:t>.</w:t></w:r></w:p></w:sdtContent></w:sdt>
<w:p><w:pPr><w:pStyle w:val="SourceCode"/></w:pPr><w:r><w:t>print("hello")</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">The command </w:t></w:r><w:r><w:rPr><w:rStyle w:val="VerbatimChar"/></w:rPr><w:t>\
ls -l</w:t></w:r><w:r><w:t xml:space="preserve"> shows the files.</w:t></w:r></w:p>
<w:sectPr><w:headerReference w:type="default" r:id="rId7"/><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>"""

    def part(root: str, inside: str) -> str:
        declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
        return f"{declaration}<w:{root} {namespaces}>{inside}</w:{root}>"

    def style(kind: str, name: str, shown: str, inside: str = "") -> str:
        return f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{shown}"/>{inside}</w:style>'

    package = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    kinds = {"document": "document.main", "styles": "styles", "footnotes": "footnotes", "header1": "header"}
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{package}.{kind}+xml"/>' for name, kind in kinds.items()
    )
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/>{overrides}</Types>'
    )

    def relations(*entries: tuple[str, str, str]) -> str:
        made = "".join(
            f'<Relationship Id="{name}" Type="{relation}/{kind}" Target="{target}"'
            + (' TargetMode="External"/>' if kind == "hyperlink" else "/>")
            for name, kind, target in entries
        )
        return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{made}</Relationships>'

    reference = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    notes = "".join(
        f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
        for number, kind in enumerate(("separator", "continuationSeparator"))
    )
    sentence = '<w:r><w:t xml:space="preserve"> It is the oldest shop of all.</w:t></w:r>'
    note = f"<w:r>{reference}<w:footnoteRef/></w:r>{sentence}"
    contents = {
        "[Content_Types].xml": types,
        "_rels/.rels": relations(("rId1", "officeDocument", "word/document.xml")),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/styles.xml": part(
            "styles",
            style("paragraph", "Heading1", "heading 1", '<w:rPr><w:b/><w:sz w:val="36"/></w:rPr>')
            + style(
                "character", "Hyperlink", "Hyperlink", '<w:rPr><w:color w:val="0563C1"/><w:u w:val="single"/></w:rPr>'
            )
            + style("character", "FootnoteReference", "footnote reference", reference)
            + style("paragraph", "SourceCode", "Source Code", '<w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr>')
            + style("character", "VerbatimChar", "Verbatim Char", '<w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr>'),
        ),
        "word/footnotes.xml": part("footnotes", f'{notes}<w:footnote w:id="2"><w:p>{note}</w:p></w:footnote>'),
        "word/header1.xml": part("hdr", "<w:p><w:r><w:t>A letter to my friends</w:t></w:r></w:p>"),
        "word/_rels/document.xml.rels": relations(
            ("rId5", "styles", "styles.xml"),
            ("rId6", "footnotes", "footnotes.xml"),
            ("rId7", "header", "header1.xml"),
            ("rId9", "hyperlink", "https://example.com/shop"),
        ),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def notes(path: Path) -> None:
    from odf import dc, draw, office, style, svg, table, text
    from odf.opendocument import OpenDocumentText

    document = OpenDocumentText()
    bold = style.Style(name="Bold", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    document.automaticstyles.addElement(bold)
    code = style.Style(name="P9", family="paragraph", parentstylename="Preformatted_20_Text")
    document.automaticstyles.addElement(code)
    document.text.addElement(text.H(outlinelevel=1, text="Notes for the teacher"))
    paragraph = text.P(text="The ")
    paragraph.addElement(text.Span(stylename=bold, text="new students"))
    paragraph.addText(" will come on Monday.")
    note = text.Note(noteclass="footnote", id="ftn1")
    note.addElement(text.NoteCitation(text="1"))
    note_body = text.NoteBody()
    note_body.addElement(text.P(text="They speak English and French."))
    note.addElement(note_body)
    paragraph.addElement(note)
    paragraph.addText(" Please be kind to them.")
    document.text.addElement(paragraph)
    paragraph = text.P(text="Read the ")
    paragraph.addElement(text.A(type="simple", href="https://example.com/book", text="first book"))
    paragraph.addText(" before you come")
    paragraph.addElement(text.S(c=3))
    paragraph.addText("and bring a pen.")
    document.text.addElement(paragraph)
    paragraph = text.P(text="Time:")
    paragraph.addElement(text.Tab())
    paragraph.addText("in the morning")
    paragraph.addElement(text.LineBreak())
    paragraph.addText("Place:")
    paragraph.addElement(text.Tab())
    paragraph.addText("in the garden")
    document.text.addElement(paragraph)
    frame = draw.Frame(width="4cm", height="2cm", anchortype="paragraph")
    box = draw.TextBox()
    box.addElement(text.P(text="Do not forget your lunch!"))
    frame.addElement(box)
    frame.addElement(svg.Title(text="A note on the wall"))
    comment = office.Annotation()
    comment.addElement(dc.Creator(text="Ann"))
    comment.addElement(text.P(text="This is important."))
    paragraph = text.P()
    paragraph.addElement(comment)
    paragraph.addText("The lesson begins at nine.")
    paragraph.addElement(frame)
    document.text.addElement(paragraph)
    document.text.addElement(text.P(stylename=code, text="for x in y: print(x)"))
    grid = table.Table(name="Table1")
    grid.addElement(table.TableColumn(numbercolumnsrepeated=2))
    for cells in (("Name", "Age"), ("My little sister", "12")):
        row = table.TableRow()
        for cell_text in cells:
            cell = table.TableCell(valuetype="string")
            cell.addElement(text.P(text=cell_text))
            row.addElement(cell)
        grid.addElement(row)
    document.text.addElement(grid)
    document.save(str(path))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    report(folder / "report.docx")
    word(folder / "word.docx")
    notes(folder / "notes.odt")
