"""ePub books and periodicals: one document per chapter or article.

An ePub is a zip archive of XHTML files. Its package file has the metadata, and the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from esr.loaders.office.zip_parts import ZIP, ZipParts, open_parts
from esr.plugin import (
    Format,
    InputError,
    Malformed,
    ReadResult,
    Record,
    Source,
    make_id,
    make_id_from_path,
    read_list,
    to_iso_date,
    to_one_line,
)
from esr.plugin.provisional import (
    ExpansionError,
    html_tree,
    import_lazily,
    markup,
)

if TYPE_CHECKING:
    from lxml import etree
    from lxml import html as lxml_html
else:
    etree = import_lazily("lxml.etree")
    lxml_html = import_lazily("lxml.html")

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_TEXT_TYPES = ("application/xhtml+xml", "text/html")


def read(source: Source) -> Iterator[ReadResult]:
    """A record per file of the book's reading order that has a text, except the table of contents.

    The source is the title of the book. A chapter protected by DRM, or with broken markup, is malformed.
    """
    with open_parts(source, _CONTAINER) as (parts, _):
        package = _find_package(source, parts)
        book, chapters = _read_package(parts, package)
        encrypted = {unquote(e.get("URI", "")) for e in parts.iterate(_ENCRYPTION, "CipherReference")}
        for chapter in chapters:
            where = f"{source.name}/{chapter}"
            if chapter in encrypted:
                yield Malformed(where, "the chapter is protected (DRM): load a copy without protection")
                continue
            try:
                title, text = _read_chapter(parts, chapter)
            except InputError as error:
                yield Malformed(error.where, error.problem)
                continue
            if text:
                id = make_id(f"{make_id_from_path(source)}/{chapter.rpartition('.')[0] or chapter}")
                yield Record(where, {**book, "id": id, "title": title or book["source"], "text": text})


def _find_package(source: Source, parts: ZipParts) -> str:
    """The name of the package file. Raises InputError if there is none."""
    for root in parts.iterate(_CONTAINER, "rootfile"):
        if (name := str(root.get("full-path", ""))) in parts.names:
            return name
    raise InputError(source.name, f"broken ePub: {_CONTAINER} names no package file; fetch the file again")


def _read_package(parts: ZipParts, package: str) -> tuple[dict[str, Any], list[str]]:
    """The fields that all chapters have, and the names of their files in reading order."""
    stated: dict[str, list[str]] = {}
    items: dict[str, Any] = {}
    order: list[str] = []
    names = ("title", "creator", "date", "language", "subject", "item", "itemref")
    for element in parts.iterate(package, *names):
        name = markup.local_name(element)
        if name == "item":
            items[element.get("id", "")] = dict(element.attrib)
        elif name == "itemref":
            order.append(element.get("idref", ""))
        elif text := markup.to_line(element):
            stated.setdefault(name, []).append(text)
    files = []
    for item in filter(None, map(items.get, order)):
        is_text = item.get("media-type") in _TEXT_TYPES and "nav" not in item.get("properties", "").split()
        file = normpath(join(dirname(package), unquote(item.get("href", ""))))
        if is_text and file in parts.names:
            files.append(file)
    book = {
        "source": next(iter(stated.get("title", ())), None),
        "date": next(filter(None, map(to_iso_date, stated.get("date", ()))), None),
        "language": next(iter(stated.get("language", ())), None),
        "authors": [name for text in stated.get("creator", ()) for name in read_list("authors", text) or []],
        "keywords": stated.get("subject", []),
    }
    return book, list(dict.fromkeys(files))


def _read_chapter(parts: ZipParts, file: str) -> tuple[str | None, str]:
    """The title and the text of a file: its first heading, or else its `<title>`.

    The file is XML. If it is broken, as by an entity of HTML, it is read as HTML. Raises InputError.
    """
    try:
        for element in parts.iterate(file, "html"):
            return _read_page(element)
    except ExpansionError:
        raise
    except InputError as error:
        try:
            return _read_page(_parse_html(parts.read(file, html_tree.MAX_PAGE_BYTES + 1)))
        except html_tree.NoArticle as problem:
            raise InputError(error.where, str(problem)) from None
    return None, ""


def _read_page(page: Any) -> tuple[str | None, str]:
    body = next((child for child in page.iter() if markup.local_name(child) == "body"), None)
    heading = next(markup.find_all(body, "h1", "h2", "h3"), None)
    title = markup.to_line(heading) or markup.to_line(markup.find_first(page, "title")) or None
    text = "" if body is None else markup.to_text(body)
    return title, markup.remove_title(text, title or "")


def _parse_html(data: bytes) -> Any:
    """The tree of a page. Raises NoArticle."""
    if len(data) > html_tree.MAX_PAGE_BYTES:
        raise html_tree.NoArticle(
            f"the chapter is longer than {html_tree.MAX_PAGE_BYTES // 2**20} MiB: leave it out"
        )
    html_tree.check_attributes(data, has_code=False)
    try:
        return lxml_html.document_fromstring(data, parser=lxml_html.HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise html_tree.NoArticle(f"the chapter cannot be read ({to_one_line(error)})") from None


EPUB = Format(
    "epub",
    "ePub books and periodicals: one document per chapter or article",
    suffixes=(".epub",),
    sniff=lambda head: head.startswith(ZIP) and b"mimetypeapplication/epub+zip" in head[:120],
    read=read,
    needs=("lxml.etree",),
    is_container=True,
)
