"""WARC web archives such as Common Crawl's news, read by warcio: one document per page."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from typing import Any

from esr.errors import InputError, to_one_line
from esr.loaders import page
from esr.loaders.format import Format, Malformed, Record, Source, register
from esr.loaders.ids import make_id
from esr.text.written_dates import to_iso_date

_PAGE_TYPES = ("text/html", "application/xhtml+xml")


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record per page that was answered with status 200 and contains an article.

    Everything else is skipped: requests, redirects, pictures, pages of links. The id is that of the WARC
    record, because a page may be archived twice. A page without a date gets the date of its visit. Raises
    InputError where the file is broken.
    """
    from warcio.archiveiterator import ArchiveIterator

    # warcio reports repaired blanks in addresses in the same way as broken records.
    logging.getLogger("warcio").setLevel(logging.CRITICAL + 1)
    records = iter(ArchiveIterator(_ForwardStream(source)))
    number = 0
    pending = None  # the next record shows whether this one is complete
    while True:
        number += 1
        where = f"{source.name}:record {number}"
        try:
            with contextlib.redirect_stderr(io.StringIO()) as warnings:
                record = next(records, None)
                content = None if record is None else _read_page(record)
        # warcio raises whatever its parsers raise.
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
        pending = None if content is None else _build_record(where, record, content)


def _read_page(record: Any) -> bytes | str | None:
    """The bytes of a page, None for a record without a page, or the problem with the record."""
    length = record.rec_headers.get_header("Content-Length")
    if length is None or not length.isdecimal():
        return "the record has no Content-Length"
    data = None
    if record.rec_type in ("response", "resource", "conversion") and _is_page(record):
        data = record.content_stream().read(page.MAX_PAGE_BYTES + 1)
    # Read the rest of the record to see whether the file is truncated.
    while record.raw_stream.read(2**16):
        pass
    if getattr(record.raw_stream, "limit", 0):
        return "the record is truncated"
    return data


def _is_page(record: Any) -> bool:
    http = record.http_headers
    if http is None:
        content_type = record.rec_headers.get_header("Content-Type") or ""
    elif http.get_statuscode() != "200":
        return False
    else:
        content_type = http.get_header("Content-Type") or ""
    return content_type.partition(";")[0].strip().lower() in _PAGE_TYPES


def _build_record(where: str, record: Any, data: bytes) -> Record | Malformed | None:
    url = record.rec_headers.get_header("WARC-Target-URI")
    id = make_id((record.rec_headers.get_header("WARC-Record-ID") or "").strip("<> "))
    try:
        fields = page.extract_article(data, url)
    except page.NoArticle:
        return None
    if not id:
        return Malformed(where, "this record has no WARC-Record-ID: every record needs one")
    visited = record.rec_headers.get_header("WARC-Date")
    return Record(where, {"id": id, **fields, "date": fields["date"] or to_iso_date(visited or "")})


class _ForwardStream:
    """The stream of a source without `seek`, so that warcio reads it forward only."""

    def __init__(self, source: Source) -> None:
        self._stream = source.stream

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)


FORMAT = register(
    Format(
        name="warc",
        description="WARC web archives (Common Crawl's news and others): the article of each HTML page",
        suffixes=(".warc",),
        sniff=lambda head: head.startswith(b"WARC/"),
        read=read,
        needs=("warcio.archiveiterator", "trafilatura"),
        may_lack_documents=True,
    )
)
