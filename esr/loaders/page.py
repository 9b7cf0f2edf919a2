"""HTML pages: the article of a page by trafilatura, without menus, advertisements and comments."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

from esr.documents.written_dates import iso
from esr.loaders import markup
from esr.loaders.base import Format, Malformed, Record, Source, one_line, path_id_of, register

# No article's page is this long, and what tells text from menus takes long on long pages.
MAX_PAGE_BYTES = 8 * 2**20
_HEAD_BYTES = 2**14
_LANG = re.compile(rb"""<html\b[^<>]{0,1000}?\slang\s{0,9}=\s{0,9}["']?([A-Za-z][A-Za-z0-9-]{1,30})""", re.I)
_BULLET = re.compile(r"^\s{0,99}- ")


class NoArticle(ValueError):
    """There is no article in a page, or none that can be made out."""


def read(source: Source) -> Iterator[Record | Malformed]:
    """The record of the page, or what is wrong with it."""
    data = source.stream.read(MAX_PAGE_BYTES + 1)
    try:
        fields = article(data)
    except NoArticle as error:
        yield Malformed(source.name, str(error))
    else:
        yield Record(source.name, {"id": path_id_of(source), **fields})


def article(data: bytes, url: str | None = None) -> dict[str, Any]:
    """The fields of the article in a page, but for the id. Raises NoArticle.

    The page's own markup says the encoding, or else it is guessed. Dates are only taken from what the page
    says of itself (metadata, JSON-LD), not guessed from its text.
    """
    import trafilatura

    if len(data) > MAX_PAGE_BYTES:
        raise NoArticle(f"the page is longer than {MAX_PAGE_BYTES // 2**20} MiB: no article is")
    _quiet()
    try:
        found = trafilatura.bare_extraction(
            data,
            url=url,
            include_comments=False,
            with_metadata=True,
            date_extraction_params={"extensive_search": False, "original_date": True},
        )
    # It goes through many parsers, and what pages hold makes them raise this and that.
    except Exception as error:
        raise NoArticle(f"the page cannot be read ({one_line(error) or type(error).__name__})") from None
    if found is None or not (found.text or "").strip():
        raise NoArticle("no text of an article is found in the page: leave it out")
    return {
        "title": found.title,
        "date": iso(found.date) if found.date else None,
        "source": found.sitename or found.hostname,
        "url": url or found.url,
        "language": _language(data),
        "text": markup.without_title(_paragraphs(found.text), found.title or ""),
    }


def _paragraphs(text: str) -> str:
    """In trafilatura's text a line is a paragraph, "- a" an item of a list, "| a | b |" a row of a table."""
    lines = (_BULLET.sub("", line) for line in text.split("\n"))
    rows = (" ".join(line.replace("|", " ").split()) if line.startswith("|") else line for line in lines)
    return "\n\n".join(row for row in rows if any(map(str.isalnum, row)))


def _language(data: bytes) -> str | None:
    """What `<html lang="…">` says."""
    found = _LANG.search(data, 0, _HEAD_BYTES)
    return found[1].decode() if found else None


def fragment_text(fragment: str) -> str:
    """The text of a piece of HTML, as feeds and mails have it, blank lines between paragraphs."""
    from lxml import etree
    from lxml import html as parser

    if "<" not in fragment and "&" not in fragment:
        return fragment
    try:
        return markup.text(parser.fragment_fromstring(fragment.replace("\0", " "), create_parent="div"))
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise NoArticle(f"its HTML cannot be read ({one_line(error)})") from None


def _quiet() -> None:
    """It writes to standard error of every odd page."""
    for library in ("trafilatura", "htmldate", "justext", "courlan", "charset_normalizer"):
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)


FORMAT = register(
    Format(
        name="html",
        description="HTML pages: the article of each, without what stands around it; its path is the id",
        suffixes=(".html", ".htm", ".xhtml"),
        # A page among other files is more often their cover than a document.
        sniff=lambda head: False,
        read=read,
        needs=("trafilatura",),
    )
)
