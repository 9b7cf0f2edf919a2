"""ODT of LibreOffice and others: one document per file."""

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
from esr.loaders.office.zip_parts import ZIP, open_parts
from esr.plugin import Format, InputError, ReadResult, Source
from esr.plugin.provisional import markup

_CONTENT = "content.xml"


def read(source: Source) -> Iterator[ReadResult]:
    """The record of the document, with each note after its paragraph. Tracked deletions are left out."""
    with open_parts(source, _CONTENT) as (archive, _):
        if next(archive.iterate("META-INF/manifest.xml", "encryption-data"), None) is not None:
            raise InputError(source.name, "is encrypted: save it without a password")
        elements = archive.iterate(_CONTENT, "p", "h", "table-row", "tracked-changes", "annotation")
        paragraphs = collect_paragraphs(source, (p for element in elements for p in _read_element(element)))
        properties = read_properties(archive, "meta.xml")
    yield from build_records(source, paragraphs, properties)


def _read_element(element: Any) -> Iterator[Paragraph]:
    name = markup.local_name(element)
    if name in ("tracked-changes", "annotation"):
        return
    if name == "table-row":
        cells = [cell for cell in element if markup.local_name(cell) == "table-cell"]
        texts = [[text for p in cell for text in _iterate_paragraphs(p)] for cell in cells]
        yield from map(Paragraph, join_row(texts))
        return
    is_title = find_attribute(element, "style-name") in TITLE_STYLES
    for n, text in enumerate(_iterate_paragraphs(element)):
        yield Paragraph(text, is_title and not n)


def _iterate_paragraphs(element: Any) -> Iterator[str]:
    """The text of a paragraph, then those of its notes and frames."""
    inner: list[Any] = []

    def collect(node: Any) -> Iterator[str]:
        name = markup.local_name(node)
        yield BLANKS.get(name, "")
        yield (node.text or "") if name else ""
        for child in node:
            child_name = markup.local_name(child)
            if child_name in ("note-body", "text-box", "table-row"):
                inner.append(child)
            elif child_name not in ("annotation", "note-citation"):
                yield from collect(child)
                if child_name in ("p", "h"):
                    yield "\n"
            yield child.tail or ""

    yield "".join(collect(element))
    for part in inner:
        for paragraph in part:
            yield from _iterate_paragraphs(paragraph)


ODT = Format(
    "odt",
    "ODT of LibreOffice and others: one document per file; its path is the id",
    suffixes=(".odt",),
    sniff=lambda head: head.startswith(ZIP) and b"application/vnd.oasis.opendocument.text" in head[:120],
    read=read,
    needs=("lxml.etree",),
    is_container=True,
)
