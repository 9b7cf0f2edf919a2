"""HTML pages: trafilatura extracts the article, without menus, advertisements and comments."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

from esr.documents.newspaper_dates import to_iso_date
from esr.errors import to_one_line
from esr.loaders import markup
from esr.loaders.format import Format, Malformed, Record, Source, register
from esr.loaders.ids import make_id_from_path

# No article's page is this long, and extraction is slow on long pages.
MAX_PAGE_BYTES = 8 * 2**20
_HEAD_BYTES = 2**14
_LANG = re.compile(rb"""<html\b[^<>]{0,1000}?\slang\s{0,9}=\s{0,9}["']?([A-Za-z][A-Za-z0-9-]{1,30})""", re.I)
_BULLET = re.compile(r"^\s{0,99}- ")


class NoArticle(ValueError):
    """A page contains no article, or none that can be extracted."""


def read(source: Source) -> Iterator[Record | Malformed]:
    """The record of the page, or the problem with it."""
    data = source.stream.read(MAX_PAGE_BYTES + 1)
    try:
        fields = extract_article(data)
    except NoArticle as error:
        yield Malformed(source.name, str(error))
    else:
        yield Record(source.name, {"id": make_id_from_path(source), **fields})


def extract_article(data: bytes, url: str | None = None) -> dict[str, Any]:
    """The fields of the article in a page, except the id. Raises NoArticle.

    The encoding is that of the page's markup, or else guessed. Dates come from the page's metadata and
    JSON-LD only; none is guessed from the text.
    """
    import trafilatura

    if len(data) > MAX_PAGE_BYTES:
        raise NoArticle(f"the page is longer than {MAX_PAGE_BYTES // 2**20} MiB: leave it out")
    _silence_libraries()
    try:
        article = trafilatura.bare_extraction(
            data,
            url=url,
            include_comments=False,
            with_metadata=True,
            date_extraction_params={"extensive_search": False, "original_date": True},
        )
    # Pages go through many parsers, which raise various exceptions.
    except Exception as error:
        raise NoArticle(f"the page cannot be read ({to_one_line(error) or type(error).__name__})") from None
    if article is None or not (article.text or "").strip():
        raise NoArticle("the page contains no text of an article: leave it out")
    return {
        "title": article.title,
        "date": to_iso_date(article.date) if article.date else None,
        "source": article.sitename or article.hostname,
        "url": url or article.url,
        "language": _find_language(data),
        "text": markup.remove_title(_split_paragraphs(article.text), article.title or ""),
    }


def _split_paragraphs(text: str) -> str:
    """In trafilatura's text a line is a paragraph, "- a" an item of a list, "| a | b |" a row of a table."""
    lines = (_BULLET.sub("", line) for line in text.split("\n"))
    rows = (" ".join(line.replace("|", " ").split()) if line.startswith("|") else line for line in lines)
    return "\n\n".join(row for row in rows if any(map(str.isalnum, row)))


def _find_language(data: bytes) -> str | None:
    """The language that `<html lang="…">` declares."""
    match = _LANG.search(data, 0, _HEAD_BYTES)
    return match[1].decode() if match else None


def html_to_text(fragment: str) -> str:
    """The text of an HTML fragment, as in feeds and mails, with blank lines between paragraphs."""
    from lxml import etree
    from lxml import html as parser

    if "<" not in fragment and "&" not in fragment:
        return fragment
    try:
        return markup.to_text(parser.fragment_fromstring(fragment.replace("\0", " "), create_parent="div"))
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise NoArticle(f"the HTML cannot be read ({to_one_line(error)})") from None


def _silence_libraries() -> None:
    """These libraries log every unusual page to standard error."""
    for library in ("trafilatura", "htmldate", "justext", "courlan", "charset_normalizer"):
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)


FORMAT = register(
    Format(
        name="html",
        description="HTML pages: the article of each, without the rest of the page; its path is the id",
        suffixes=(".html", ".htm", ".xhtml"),
        # A page among files of other formats is more often their index than a document.
        sniff=lambda head: False,
        read=read,
        needs=("trafilatura",),
    )
)
