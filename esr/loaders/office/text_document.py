"""What text documents of office programs have in common: title, properties and paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from esr.loaders.office.zip_parts import ZipParts
from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    InputError,
    ReadResult,
    Record,
    Source,
    make_id_from_path,
    read_list,
    refine_lines,
    to_iso_date,
)
from esr.plugin.provisional import markup


class Paragraph(NamedTuple):
    text: str
    is_title: bool = False


def build_records(
    source: Source, paragraphs: list[Paragraph], properties: dict[str, list[str]]
) -> Iterator[ReadResult]:
    """The record of a document, or those of a refinement."""
    lines = [paragraph.text for paragraph in paragraphs]
    if (results := refine_lines(source.name, lines)) is not None:
        yield from results
        return
    titles = [*properties.get("title", ()), *(p.text for p in paragraphs if p.is_title)]
    title = titles[0] if titles else None
    body = lines[1:] if lines and lines[0] == title else lines
    if not any(body) and not title:
        return
    dates = [
        *properties.get("created", ()),
        *properties.get("creation-date", ()),
        *properties.get("date", ()),
    ]
    authors = properties.get("initial-creator") or properties.get("creator") or []
    keywords = [*properties.get("keywords", ()), *properties.get("keyword", ())]
    fields = {
        "id": make_id_from_path(source),
        "title": title,
        "date": next(filter(None, map(to_iso_date, dates)), None),
        "language": next(iter(properties.get("language", ())), None),
        "authors": [name for text in authors for name in read_list("authors", text) or []],
        "keywords": [word for text in keywords for word in read_list("keywords", text) or []],
        "text": "\n\n".join(body),
    }
    yield Record(source.name, fields)


def read_properties(archive: ZipParts, part: str) -> dict[str, list[str]]:
    """The properties of a document: texts by the names of their elements."""
    properties: dict[str, list[str]] = {}
    names = (
        *("title", "creator", "initial-creator", "created", "creation-date", "date"),
        *("keywords", "keyword", "language"),
    )
    for element in archive.iterate(part, *names):
        if text := " ".join("".join(element.itertext()).split()):
            properties.setdefault(markup.local_name(element), []).append(text)
    return properties


def collect_paragraphs(source: Source, paragraphs: Iterator[Paragraph]) -> list[Paragraph]:
    """The paragraphs with a text. Raises InputError if they exceed the maximum size of a document."""
    collected, size = [], 0
    for paragraph in paragraphs:
        text = " ".join(paragraph.text.split())
        if text:
            collected.append(paragraph._replace(text=text))
            size += len(text)
        if size > MAX_DOCUMENT_BYTES:
            raise InputError(source.name, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MiB: split it")
    return collected


def join_row(cells: list[list[str]]) -> Iterator[str]:
    """The lines of a table's row: one line, or the paragraphs if the table only serves layout."""
    filled = [[text for text in cell if text.strip()] for cell in cells]
    if all(len(cell) <= 1 for cell in filled):
        yield " ".join(text for cell in filled for text in cell)
    else:
        yield from (text for cell in filled for text in cell)


TITLE_STYLES = ("Title", "Titel", "Titre", "Titolo", "Ttulo")


def find_attribute(element: Any, name: str) -> str:
    """An attribute in any namespace; "" if there is none."""
    return next((v for key, v in element.attrib.items() if key.rpartition("}")[2] == name), "")


BLANKS = {"tab": " ", "br": " ", "cr": " ", "noBreakHyphen": "-", "s": " ", "line-break": " "}
