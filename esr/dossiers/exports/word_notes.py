"""Footnotes and endnotes of Word documents, which python-docx lacks as of its version 1.2.

Notes of a kind are a part of the file, with relationships of its own for the links in them. Each has a number
that its reference in the text repeats; the first two are the lines between the text and the notes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from docx.document import Document
    from docx.opc import constants, packuri, part
    from docx.oxml import ns, parser
    from docx.text.paragraph import Paragraph
else:
    constants = import_lazily("docx.opc.constants")
    packuri = import_lazily("docx.opc.packuri")
    part = import_lazily("docx.opc.part")
    ns = import_lazily("docx.oxml.ns")
    parser = import_lazily("docx.oxml.parser")


_NUMERALS = '<w:numFmt w:val="decimal"/>'
"""Word numbers endnotes i, ii, iii by itself."""


class Piece(NamedTuple):
    """Text of a note; a link if it has an address."""

    text: str
    address: str = ""


class Notes:
    """The notes of a document of one kind, footnote or endnote. Styles need a `Hyperlink` of characters."""

    def __init__(self, document: Document, kind: str) -> None:
        self._kind = kind
        self._last = 0
        self._part = part.XmlPart(
            packuri.PackURI(f"/word/{kind}s.xml"),
            getattr(constants.CONTENT_TYPE, f"WML_{kind.upper()}S"),
            parser.parse_xml(f"<w:{kind}s {ns.nsdecls('w', 'r')}/>"),
            document.part.package,
        )
        document.part.relate_to(self._part, getattr(constants.RELATIONSHIP_TYPE, f"{kind.upper()}S"))
        for number, name in ((-1, "separator"), (0, "continuationSeparator")):
            self._add(number, f"<w:p><w:r><w:{name}/></w:r></w:p>", f' w:type="{name}"')
        kinds = "".join(f'<w:{kind} w:id="{number}"/>' for number in (-1, 0))
        numerals = parser.parse_xml(f"<w:{kind}Pr {ns.nsdecls('w')}>{_NUMERALS}</w:{kind}Pr>")
        document.sections[0]._sectPr.insert(0, numerals)
        settings = document.settings.element
        settings.find(ns.qn("w:compat")).addprevious(
            parser.parse_xml(f"<w:{kind}Pr {ns.nsdecls('w')}>{_NUMERALS}{kinds}</w:{kind}Pr>")
        )

    def add(self, paragraph: Paragraph, pieces: Iterable[Piece]) -> None:
        """Add a note, and its number at the end of the paragraph."""
        self._last += 1
        name = self._kind.capitalize()
        mark = f'<w:rPr><w:rStyle w:val="{name}Reference"/></w:rPr>'
        note = self._add(
            self._last,
            f'<w:p><w:pPr><w:pStyle w:val="{name}Text"/></w:pPr><w:r>{mark}<w:{self._kind}Ref/></w:r></w:p>',
        )
        line = note[0]
        append_text(line, " ")
        for piece in pieces:
            if piece.address:
                append_link(self._part, line, piece.text, piece.address)
            else:
                append_text(line, piece.text)
        reference = f'<w:{self._kind}Reference w:id="{self._last}"/>'
        paragraph._p.append(parser.parse_xml(f"<w:r {ns.nsdecls('w')}>{mark}{reference}</w:r>"))

    def _add(self, number: int, content: str, attributes: str = "") -> Any:
        start = f'<w:{self._kind} {ns.nsdecls("w")}{attributes} w:id="{number}">'
        note = parser.parse_xml(f"{start}{content}</w:{self._kind}>")
        self._part.element.append(note)
        return note


def append_text(line: Any, text: str) -> Any:
    """Append a run to a paragraph or a link, both as elements; returns the run."""
    run = parser.OxmlElement("w:r")
    line.append(run)
    run.text = text
    return run


def append_link(owner: Any, line: Any, text: str, address: str) -> None:
    """Append a link to a paragraph, as an element of a part: that of the document or of its notes."""
    rels = owner.rels
    id = f"link{len(rels) + 1}"  # python-docx would compare each link with all before it
    rels.add_relationship(constants.RELATIONSHIP_TYPE.HYPERLINK, address, id, is_external=True)
    link = parser.OxmlElement("w:hyperlink")
    link.set(ns.qn("r:id"), id)
    line.append(link)
    append_text(link, text).insert(
        0, parser.parse_xml(f'<w:rPr {ns.nsdecls("w")}><w:rStyle w:val="Hyperlink"/></w:rPr>')
    )
