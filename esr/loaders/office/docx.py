"""DOCX of Word and others: one document per file.

Text is read from the XML, one paragraph at a time: python-docx leaves out tracked insertions, content
controls, text boxes and notes, and holds all pictures in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from esr.loaders.office.text_document import (
    BLANKS,
    TITLE_STYLES,
    Paragraph,
    build_records,
    collect_paragraphs,
    find_attribute,
    join_row,
    read_properties,
)
from esr.loaders.office.zip_parts import ZipParts, open_parts, sniff_open_xml
from esr.plugin import Format, InputError, ReadResult, Source
from esr.plugin.provisional import markup

_MAIN = "word/document.xml"
_NOTES = ("footnotes.xml", "endnotes.xml")
_RELATIONS = "_rels/.rels"


def read(source: Source) -> Iterator[ReadResult]:
    """The record of the document, with its notes at the end. Tracked deletions are left out."""
    with open_parts(source, _RELATIONS, _MAIN) as (archive, _):
        main = _find_main(archive)
        if main not in archive.names:
            raise InputError(source.name, f"broken document: it has no {main}; fetch the file again")
        folder = main.rpartition("/")[0]
        parts = (main, *(f"{folder}/{name}".lstrip("/") for name in _NOTES))
        elements = (e for part in parts for e in archive.iterate(part, "p", "tr"))
        paragraphs = collect_paragraphs(source, (p for element in elements for p in _read_element(element)))
        properties = read_properties(archive, "docProps/core.xml")
    yield from build_records(source, paragraphs, properties)


def _find_main(archive: ZipParts) -> str:
    """The name of the part with the text, which differs between programs."""
    for relation in archive.iterate(_RELATIONS, "Relationship"):
        if relation.get("Type", "").endswith("/officeDocument"):
            return str(relation.get("Target", "")).lstrip("/")
    return _MAIN


def _read_element(element: Any) -> Iterator[Paragraph]:
    if markup.local_name(element) == "tr":
        cells = (child for child in element.iter() if markup.local_name(child) == "tc")
        outer = (cell for cell in cells if not _is_within(cell, "tc", element))
        yield from map(Paragraph, join_row([list(_iterate_paragraphs(cell)) for cell in outer]))
        return
    style = next((s for s in element.iter() if markup.local_name(s) == "pStyle"), None)
    is_title = style is not None and find_attribute(style, "val") in TITLE_STYLES
    yield from (Paragraph(text, is_title) for text in _iterate_paragraphs(element))


def _is_within(element: Any, name: str, outermost: Any) -> bool:
    """Whether an element of this name encloses the element, inside of `outermost`."""
    parent = element.getparent()
    while parent is not None and parent is not outermost:
        if markup.local_name(parent) == name:
            return True
        parent = parent.getparent()
    return False


def _iterate_paragraphs(element: Any) -> Iterator[str]:
    """The paragraphs of an element. Text boxes and cells in it are separate paragraphs."""
    pieces: list[str] = []
    stack = [element]
    while stack:
        node = stack.pop()
        if node is None:
            yield "".join(pieces)
            pieces = []
            continue
        name = markup.local_name(node)
        if name in ("moveFrom", "Fallback", "del"):
            continue
        if name == "t":
            pieces.append(node.text or "")
        pieces.append(BLANKS.get(name, ""))
        if name == "p" and node is not element:
            yield "".join(pieces)
            pieces = []
            stack.append(None)
        stack += reversed(node)
    yield "".join(pieces)


DOCX = Format(
    "docx",
    "DOCX of Word and others: one document per file; its path is the id",
    suffixes=(".docx", ".docm"),
    sniff=sniff_open_xml(b"word/"),
    read=read,
    needs=("lxml.etree",),
    is_container=True,
)
