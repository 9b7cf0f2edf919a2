"""WARC, the format of web archives, read by warcio: a document a page, as in Common Crawl's news."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from typing import Any

from esr.documents.written_dates import iso
from esr.errors import InputError
from esr.loaders import page
from esr.loaders.base import Format, Malformed, Record, Source, id_of, one_line, register

_PAGES = ("text/html", "application/xhtml+xml")


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each page that was answered with status 200 and has an article in it.

    All else is passed over: requests, redirects, pictures, pages of links. The id is that of the WARC record,
    since a page may be there twice. Where a page does not say its date, that of its visit is taken. Raises
    InputError where the file is broken.
    """
    from warcio.archiveiterator import ArchiveIterator

    # It mends blanks in addresses, and says so where it also says that a record is broken.
    logging.getLogger("warcio").setLevel(logging.CRITICAL + 1)
    records = iter(ArchiveIterator(_Unpacked(source)))
    number = 0
    held = None  # whether a record was whole is known when the next one begins
    while True:
        number += 1
        where = f"{source.name}:record {number}"
        try:
            with contextlib.redirect_stderr(io.StringIO()) as warnings:
                record = next(records, None)
                found = None if record is None else _page(record)
        # warcio raises what its parsers raise.
        except Exception as error:
            if isinstance(error, (InputError, OSError, EOFError)):
                raise
            raise InputError(where, f"broken WARC: {one_line(error) or type(error).__name__}") from None
        if warnings.getvalue():
            raise InputError(where, "broken WARC: the record before is longer or shorter than it says")
        if isinstance(found, str):
            raise InputError(where, f"broken WARC: {found}; fetch the file again")
        if held is not None:
            yield held
        if record is None:
            return
        held = None if found is None else _made(where, record, found)


def _page(record: Any) -> bytes | str | None:
    """The bytes of a page, None if the record holds none, or what is wrong with it."""
    length = record.rec_headers.get_header("Content-Length")
    if length is None or not length.isdecimal():
        return "a record without Content-Length"
    data = None
    if record.rec_type in ("response", "resource", "conversion") and _is_page(record):
        data = record.content_stream().read(page.MAX_PAGE_BYTES + 1)
    # What is left of the record must be there, or the file is cut off.
    while record.raw_stream.read(2**16):
        pass
    if getattr(record.raw_stream, "limit", 0):
        return "the record is cut off"
    return data


def _is_page(record: Any) -> bool:
    http = record.http_headers
    if http is None:
        kind = record.rec_headers.get_header("Content-Type") or ""
    elif http.get_statuscode() != "200":
        return False
    else:
        kind = http.get_header("Content-Type") or ""
    return kind.partition(";")[0].strip().lower() in _PAGES


def _made(where: str, record: Any, data: bytes) -> Record | Malformed | None:
    url = record.rec_headers.get_header("WARC-Target-URI")
    id = id_of((record.rec_headers.get_header("WARC-Record-ID") or "").strip("<> "))
    try:
        fields = page.article(data, url)
    except page.NoArticle:
        return None
    if not id:
        return Malformed(where, "this record has no WARC-Record-ID: give every record one")
    crawled = record.rec_headers.get_header("WARC-Date")
    return Record(where, {"id": id, **fields, "date": fields["date"] or iso(crawled or "")})


class _Unpacked:
    """The stream of a source, which warcio only reads: it must not seek."""

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
        holds_others=True,
    )
)
