"""Documents and tables of office programs: DOCX, ODT and XLSX, which are zip archives of XML.

Text is read from the XML, one paragraph at a time: python-docx leaves out tracked insertions, content
controls, text boxes and notes, and holds all pictures in memory.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, time
from typing import Any, NamedTuple

from esr.errors import InputError, to_one_line
from esr.loaders import markup, press_databases
from esr.loaders.encoding import MAX_DOCUMENT_BYTES
from esr.loaders.fields import read_list
from esr.loaders.format import Malformed, ReadResult, Record, Remark, Source, loads
from esr.loaders.ids import make_id_from_path
from esr.loaders.zip_parts import ZIP, ZipParts, open_parts
from esr.text.written_dates import to_iso_date

_FRAME = rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|_rels/|docProps/|customXml/)"


def _sniff_open_xml(folder: bytes) -> Callable[[bytes], bool]:
    """A test whether an archive begins with a member common to these formats, and has one in `folder`."""
    pattern = re.compile(_FRAME + rb".*PK\x03\x04.{26}" + folder, re.DOTALL)
    return lambda head: head.startswith(ZIP) and bool(pattern.match(head))


class _Paragraph(NamedTuple):
    text: str
    is_title: bool = False


def _build_records(
    source: Source, paragraphs: list[_Paragraph], properties: dict[str, list[str]]
) -> Iterator[ReadResult]:
    """The record of a document, or of each article in an export of a press database."""
    lines = [paragraph.text for paragraph in paragraphs]
    if database := press_databases.find_database(lines):
        yield from database.read_lines(source.name, lines)
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


def _read_properties(archive: ZipParts, part: str) -> dict[str, list[str]]:
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


def _collect(source: Source, paragraphs: Iterator[_Paragraph]) -> list[_Paragraph]:
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


def _join_row(cells: list[list[str]]) -> Iterator[str]:
    """The lines of a table's row: one line, or the paragraphs if the table only serves layout."""
    filled = [[text for text in cell if text.strip()] for cell in cells]
    if all(len(cell) <= 1 for cell in filled):
        yield " ".join(text for cell in filled for text in cell)
    else:
        yield from (text for cell in filled for text in cell)


# DOCX

_MAIN = "word/document.xml"
_NOTES = ("footnotes.xml", "endnotes.xml")
_RELATIONS = "_rels/.rels"
_TITLE_STYLES = ("Title", "Titel", "Titre", "Titolo", "Ttulo")


@loads(
    "docx",
    "DOCX of Word and others: one document per file; its path is the id",
    suffixes=(".docx", ".docm"),
    sniff=_sniff_open_xml(b"word/"),
    needs=("lxml.etree",),
    is_container=True,
)
def read_docx(source: Source) -> Iterator[ReadResult]:
    """The record of the document, with its notes at the end. Tracked deletions are left out."""
    with open_parts(source, _RELATIONS, _MAIN) as (archive, _):
        main = _find_main(archive)
        if main not in archive.names:
            raise InputError(source.name, f"broken document: it has no {main}; fetch the file again")
        folder = main.rpartition("/")[0]
        parts = (main, *(f"{folder}/{name}".lstrip("/") for name in _NOTES))
        elements = (e for part in parts for e in archive.iterate(part, "p", "tr"))
        paragraphs = _collect(source, (p for element in elements for p in _read_word(element)))
        properties = _read_properties(archive, "docProps/core.xml")
    yield from _build_records(source, paragraphs, properties)


def _find_main(archive: ZipParts) -> str:
    """The name of the part with the text, which differs between programs."""
    for relation in archive.iterate(_RELATIONS, "Relationship"):
        if relation.get("Type", "").endswith("/officeDocument"):
            return str(relation.get("Target", "")).lstrip("/")
    return _MAIN


def _read_word(element: Any) -> Iterator[_Paragraph]:
    if markup.local_name(element) == "tr":
        cells = (child for child in element.iter() if markup.local_name(child) == "tc")
        outer = (cell for cell in cells if not _is_within(cell, "tc", element))
        yield from map(_Paragraph, _join_row([list(_paragraphs_of_word(cell)) for cell in outer]))
        return
    style = next((s for s in element.iter() if markup.local_name(s) == "pStyle"), None)
    is_title = style is not None and _attribute(style, "val") in _TITLE_STYLES
    yield from (_Paragraph(text, is_title) for text in _paragraphs_of_word(element))


def _is_within(element: Any, name: str, outermost: Any) -> bool:
    """Whether an element of this name encloses the element, inside of `outermost`."""
    parent = element.getparent()
    while parent is not None and parent is not outermost:
        if markup.local_name(parent) == name:
            return True
        parent = parent.getparent()
    return False


def _attribute(element: Any, name: str) -> str:
    """An attribute in any namespace; "" if there is none."""
    return next((v for key, v in element.attrib.items() if key.rpartition("}")[2] == name), "")


_BLANKS = {"tab": " ", "br": " ", "cr": " ", "noBreakHyphen": "-", "s": " ", "line-break": " "}


def _paragraphs_of_word(element: Any) -> Iterator[str]:
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
        pieces.append(_BLANKS.get(name, ""))
        if name == "p" and node is not element:
            yield "".join(pieces)
            pieces = []
            stack.append(None)
        stack += reversed(node)
    yield "".join(pieces)


# ODT

_CONTENT = "content.xml"


@loads(
    "odt",
    "ODT of LibreOffice and others: one document per file; its path is the id",
    suffixes=(".odt",),
    sniff=lambda head: head.startswith(ZIP) and b"application/vnd.oasis.opendocument.text" in head[:120],
    needs=("lxml.etree",),
    is_container=True,
)
def read_odt(source: Source) -> Iterator[ReadResult]:
    """The record of the document, with each note after its paragraph. Tracked deletions are left out."""
    with open_parts(source, _CONTENT) as (archive, _):
        if next(archive.iterate("META-INF/manifest.xml", "encryption-data"), None) is not None:
            raise InputError(source.name, "is encrypted: save it without a password")
        elements = archive.iterate(_CONTENT, "p", "h", "table-row", "tracked-changes", "annotation")
        paragraphs = _collect(source, (p for element in elements for p in _read_open(element)))
        properties = _read_properties(archive, "meta.xml")
    yield from _build_records(source, paragraphs, properties)


def _read_open(element: Any) -> Iterator[_Paragraph]:
    name = markup.local_name(element)
    if name in ("tracked-changes", "annotation"):
        return
    if name == "table-row":
        cells = [cell for cell in element if markup.local_name(cell) == "table-cell"]
        texts = [[text for p in cell for text in _paragraphs_of_open(p)] for cell in cells]
        yield from map(_Paragraph, _join_row(texts))
        return
    is_title = _attribute(element, "style-name") in _TITLE_STYLES
    for n, text in enumerate(_paragraphs_of_open(element)):
        yield _Paragraph(text, is_title and not n)


def _paragraphs_of_open(element: Any) -> Iterator[str]:
    """The text of a paragraph, then those of its notes and frames."""
    inner: list[Any] = []

    def collect(node: Any) -> Iterator[str]:
        name = markup.local_name(node)
        yield _BLANKS.get(name, "")
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
            yield from _paragraphs_of_open(paragraph)


# XLSX


@loads(
    "xlsx",
    "XLSX: one document per row, columns named by the first row or --columns",
    suffixes=(".xlsx", ".xlsm"),
    sniff=_sniff_open_xml(b"xl/"),
    needs=("openpyxl", "defusedxml"),
    tabular=True,
    any_names=True,
    is_container=True,
)
def read_xlsx(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per row. The first row that is not blank, or --columns, names the fields.

    Sheets whose columns differ from the first sheet's are left out, with a remark. Raises InputError if the
    file is broken.
    """
    with open_parts(source, "xl/workbook.xml") as (archive, file):
        archive.spend_all()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # openpyxl warns about unknown styles and checks
                yield from _read_sheets(source, file)
        # openpyxl passes on the errors of its parsers.
        except Exception as error:
            if isinstance(error, InputError | zipfile.BadZipFile) or getattr(error, "errno", None):
                raise
            problem = to_one_line(error) or type(error).__name__
            raise InputError(source.name, f"broken XLSX: {problem}; fetch or save the file again") from None


def _read_sheets(source: Source, file: Any) -> Iterator[ReadResult | Remark]:
    from openpyxl import load_workbook

    columns = list(source.table.columns) if source.table.columns else None
    is_declared = columns is not None
    is_first = True
    book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # programs declare wrong dimensions
        rows = _iterate_rows(f"{source.name}:{sheet.title}", sheet)
        filled: _Rows = (
            (n, list(map(_to_text, row))) for n, row in rows if any(cell is not None for cell in row)
        )
        if not is_declared:
            filled = _without_headings(filled)
        if not is_declared and (first := next(filled, None)):
            names = [(name or "").strip() for name in first[1]]
            while names and not names[-1]:
                names.pop()
            if is_first:
                columns = _check_columns(f"{source.name}:{sheet.title}!{first[0]}", names)
            elif names != columns:
                text = f"have a sheet {to_one_line(sheet.title)!r} with other columns, which was left out"
                yield Remark(source.name, text, "files")
                continue
            is_first = False
        for number, cells in filled:
            yield _build_row(f"{source.name}:{to_one_line(sheet.title)}!{number}", columns or [], cells)


_MAX_CELLS = 250_000_000
"""Maximum number of cells of a sheet. One cell in the last column makes a row of 16,384."""


def _iterate_rows(where: str, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """The rows with their numbers. Raises InputError if they have too many cells."""
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row)
        if cells > _MAX_CELLS:
            raise InputError(where, f"the sheet has more than {_MAX_CELLS:,} cells: delete its empty columns")
        yield number, list(row)


_Rows = Iterator[tuple[int, list[str | None]]]


def _without_headings(rows: _Rows) -> _Rows:
    """The rows without the table's titles: single-cell rows before the first row of several cells.
    The rows of a table with one column are unchanged.
    """
    before = []
    for row in rows:
        if sum(cell is not None for cell in row[1]) > 1:
            yield row
            yield from rows
            return
        before.append(row)
        if len(before) > _MAX_HEADINGS:
            break
    yield from before
    yield from rows


_MAX_HEADINGS = 10


def _check_columns(where: str, names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            problem = f"column {to_one_line(name)!r} is duplicated: rename one of the two"
            raise InputError(where, problem if name else "a column has no name: give it one")
    return names


def _build_row(where: str, columns: list[str], cells: list[str | None]) -> ReadResult:
    while len(cells) > len(columns) and cells[-1] is None:
        cells.pop()
    if len(cells) > len(columns):
        problem = f"this row has {len(cells)} cells, but there are {len(columns)} columns: name them all"
        return Malformed(where, problem)
    cells += [None] * (len(columns) - len(cells))
    return Record(where, dict(zip(columns, cells, strict=True)))


def _to_text(value: Any) -> str | None:
    """A cell as in CSV: numbers as text, dates in ISO 8601."""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = "" if value is None else str(value)
    return text if text.strip() else None
