"""PDF with a text layer, read by PDFium: one document per file, and the page of each sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from esr.loaders.office.pdf_layout import (
    SENTENCE_END,
    FurnitureKey,
    find_furniture,
    is_continuation,
    order_columns,
    remove_furniture,
    split_paragraphs,
)
from esr.loaders.office.pdf_lines import Page, read_lines
from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    PAGE,
    Format,
    InputError,
    Record,
    Remark,
    Source,
    join_pieces,
    make_id_from_path,
    open_seekable,
    read_list,
    to_iso_date,
    to_one_line,
)
from esr.plugin.provisional import compile_lazily, find_uncut_words, join_lines

_END = b"%%EOF"
_END_BYTES = 2048
# A page of text has some thousand letters. Reading one with more than this would take minutes.
_MAX_PAGE_LETTERS = 500_000


def read(source: Source) -> Iterator[Record | Remark]:
    """The record of the file. Raises InputError if it is broken or encrypted, or has only pictures."""
    import pypdfium2

    with open_seekable(source) as file:
        file.seek(max(0, file.seek(0, 2) - _END_BYTES))
        if _END not in file.read():
            raise InputError(source.name, "broken PDF: it has no end, so fetch the file again")
        file.seek(0)
        try:
            with closing(pypdfium2.PdfDocument(file)) as document:
                pages = list(_read_pages(source, document))
                metadata = document.get_metadata_dict(skip_empty=True)
        except pypdfium2.PdfiumError as error:
            raise InputError(source.name, _describe(to_one_line(error))) from None
    if not any(pages):
        raise InputError(
            source.name,
            "has no text layer, only pictures: recognise its text first, for example with ocrmypdf",
        )
    if not all(pages):
        yield Remark(source.name, "have pages without a text layer, of which nothing was read", "files")
    furniture = find_furniture(pages)
    if furniture:
        yield Remark(source.name, "have headers or footers that pages repeat, which were left out", "files")
    title = _find_title(metadata, pages[0], furniture)
    yield Record(
        source.name,
        {
            "id": make_id_from_path(source),
            "title": title,
            "date": _find_date(metadata),
            "authors": read_list("authors", _PLACEHOLDER.sub("", metadata.get("Author") or "")),
            "keywords": read_list("keywords", metadata.get("Keywords") or ""),
            "metadata": {"pages": len(pages)},
            "text": join_pieces(_join_pages(pages, furniture, title)),
        },
    )


def _describe(problem: str) -> str:
    if "password" in problem.lower():
        return "is encrypted: save it without a password"
    return f"broken PDF: {problem.rstrip('.')}; fetch the file again"


def _read_pages(source: Source, document: Any) -> Iterator[Page]:
    """The lines of each page. Raises PdfiumError, and InputError if there are too many."""
    letters = 0
    for number in range(len(document)):
        with closing(document[number]) as page, closing(page.get_textpage()) as text:
            count = text.count_chars()
            letters += count
            if count > _MAX_PAGE_LETTERS or letters > MAX_DOCUMENT_BYTES:
                raise InputError(
                    f"{source.name}:page {number + 1}", "has more letters than any text: leave the file out"
                )
            yield list(read_lines(page, text, count))


def _join_pages(
    pages: Sequence[Page], furniture: set[FurnitureKey], title: str | None
) -> Iterator[tuple[str, dict[str, float]]]:
    """The paragraphs with their pages, joined across columns and pages."""
    words = find_uncut_words(line.text for page in pages for line in page)
    pending: list[str] = []
    begin = 1
    for number, page in enumerate(pages, 1):
        for column in order_columns(remove_furniture(page, furniture)):
            for n, lines in enumerate(split_paragraphs(column)):
                continues = (
                    not n and pending and not SENTENCE_END.search(pending[-1]) and is_continuation(lines)
                )
                if pending and not continues:
                    yield from _build_paragraph(pending, words, begin, title)
                    pending = []
                begin = begin if pending else number
                pending += [line.text for line in lines]
    yield from _build_paragraph(pending, words, begin, title)


def _build_paragraph(
    lines: list[str], words: Any, page: int, title: str | None
) -> Iterator[tuple[str, dict[str, float]]]:
    text = join_lines(lines, words)
    if text and not (page == 1 and text == title):
        yield text, {PAGE: page}


# Programs write "(anonymous)" or "(unspecified)" for properties that are not set.
_PLACEHOLDER = compile_lazily(r"\((?:anonymous|unspecified|none|null)\)$", re.I)
_FILE_NAME = compile_lazily(
    r"(?:microsoft (?:word|powerpoint)|untitled|unbenannt|sans titre|.*\.\w{2,5}$)", re.I
)
_TITLE_SIZE = 1.25
"""Minimum height of a title's letters, relative to those of most lines."""


def _find_title(metadata: dict[str, str], first: Page, furniture: set[FurnitureKey]) -> str | None:
    """The title in the metadata, unless it is a file name, or else the largest lines."""
    stated = " ".join((metadata.get("Title") or "").replace("\0", " ").split())
    if stated and not _FILE_NAME.match(stated) and not _PLACEHOLDER.match(stated):
        return stated
    lines = [line for line in remove_furniture(first, furniture) if any(map(str.isalpha, line.text))]
    if len(lines) < 2:
        return None
    from statistics import median

    largest = max(line.height for line in lines)
    if largest < _TITLE_SIZE * median(line.height for line in lines):
        return None
    title = [line for line in lines if line.height > 0.85 * largest]
    return join_lines(line.text for line in sorted(title, key=lambda line: -line.top)[:4])


_DATE = compile_lazily(r"(?:D:)?(\d{4})(\d\d)(\d\d)")


def _find_date(metadata: dict[str, str]) -> str | None:
    """The day of creation, or else of the last change."""
    for name in ("CreationDate", "ModDate"):
        if match := _DATE.match(metadata.get(name) or ""):
            return to_iso_date("-".join(match.groups()))
    return None


PDF = Format(
    "pdf",
    "PDF with a text layer: one document per file, with the page of each sentence; its path is the id",
    suffixes=(".pdf",),
    sniff=lambda head: head.startswith(b"%PDF-"),
    read=read,
    needs=("pypdfium2",),
    is_confined=True,
)
