"""WARC web archives, such as Common Crawl's news: the article of each page."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from esr.errors import InputError, to_one_line
from esr.loaders.document_ids import make_id
from esr.loaders.format import Malformed, Record, Skipped, Source, loads
from esr.loaders.html_page import extract_article
from esr.loaders.html_tree import MAX_PAGE_BYTES, NoArticle
from esr.text.written_dates import to_iso_date

_PAGE_TYPES = ("text/html", "application/xhtml+xml")


@loads(
    "warc",
    "WARC web archives (Common Crawl's news and others): the article of each HTML page",
    suffixes=(".warc",),
    sniff=lambda head: head.startswith(b"WARC/"),
    needs=("warcio.archiveiterator", "trafilatura"),
    may_lack_documents=True,
)
def _read_archive(source: Source) -> Iterator[Record | Malformed | Skipped]:
    """A record per page that has status 200 and contains an article.

    All else is skipped: requests, redirects, pictures, pages of links. The id is that of the WARC record,
    because a page may be archived twice. A page without a date gets the date of its capture. Raises
    InputError if the file is broken.
    """
    import logging

    from warcio.archiveiterator import ArchiveIterator

    # warcio logs repaired blanks in addresses as it logs broken records.
    logging.getLogger("warcio").setLevel(logging.CRITICAL + 1)
    forward = SimpleNamespace(read=source.stream.read)  # without `seek`, warcio only reads forwards
    records = iter(ArchiveIterator(forward))
    number = 0
    pending: Record | Malformed | Skipped | None = None  # the next record shows whether this one is complete
    while True:
        number += 1
        where = f"{source.name}:record {number}"
        try:
            with contextlib.redirect_stderr(io.StringIO()) as warnings:
                record = next(records, None)
                content = None if record is None else _read_archived_page(record)
        # warcio passes on the errors of its parsers.
        except Exception as error:
            if isinstance(error, (InputError, OSError, EOFError)):
                raise
            raise InputError(where, f"broken WARC: {to_one_line(error) or type(error).__name__}") from None
        if warnings.getvalue():
            raise InputError(where, "broken WARC: the record before has another length than it states")
        if isinstance(content, str):
            raise InputError(where, f"broken WARC: {content}; fetch the file again")
        if pending is not None:
            yield pending
        if record is None:
            return
        if content is None and record.rec_type == "conversion":
            reason = "a text without its page (WET; the WARC file has it)"
            pending = Skipped(where, reason, is_lasting=True)
        else:
            pending = None if content is None else _build_archived(where, record, content)


def _read_archived_page(record: Any) -> bytes | str | None:
    """The bytes of a page, None for a record without a page, or the problem with the record."""
    length = record.rec_headers.get_header("Content-Length")
    if length is None or not length.isdecimal():
        return "the record has no Content-Length"
    data = None
    if record.rec_type in ("response", "resource", "conversion") and _is_archived_page(record):
        data = record.content_stream().read(MAX_PAGE_BYTES + 1)
    # Read the rest of the record to see whether the file is truncated.
    while record.raw_stream.read(2**16):
        pass
    if getattr(record.raw_stream, "limit", 0):
        return "the record is truncated"
    return data


def _is_archived_page(record: Any) -> bool:
    http = record.http_headers
    if http is not None and http.get_statuscode() != "200":
        return False
    return _read_content_type(record).partition(";")[0].strip().lower() in _PAGE_TYPES


def _read_content_type(record: Any) -> str:
    """The header of the response, or else of the record; "" without one."""
    headers = record.rec_headers if record.http_headers is None else record.http_headers
    return headers.get_header("Content-Type") or ""


def _build_archived(where: str, record: Any, data: bytes) -> Record | Malformed | None:
    url = record.rec_headers.get_header("WARC-Target-URI")
    id = make_id((record.rec_headers.get_header("WARC-Record-ID") or "").strip("<> "))
    try:
        fields = extract_article(data, url, _read_content_type(record))
    except NoArticle:
        return None
    if not id:
        return Malformed(where, "this record has no WARC-Record-ID: every record needs one")
    visited = record.rec_headers.get_header("WARC-Date")
    return Record(where, {"id": id, **fields, "date": fields["date"] or to_iso_date(visited or "")})
