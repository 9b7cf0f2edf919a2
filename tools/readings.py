"""Plain readings of data sets, without esr: each yields the title and text of every article as one text.

They use csv, email, html, json, mailbox, xml and zipfile of Python, and pypdf for PDF.
"""

from __future__ import annotations

import csv
import html
import json
import mailbox
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from bz2 import decompress
from collections.abc import Callable, Iterable, Iterator, Mapping
from email import message_from_bytes, policy
from html.parser import HTMLParser
from pathlib import Path
from typing import cast
from unicodedata import normalize

Reading = Callable[[Iterable[Path]], Iterator[str]]

_FALLBACK = "windows-1252"
_INVISIBLE = frozenset(("head", "script", "style", "noscript"))
csv.field_size_limit(2**26)


def decode(path: Path) -> str:
    """The text of a file in UTF-8, or else in the encoding of Western Windows."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode(_FALLBACK)


def read_texts(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is an article."""
    yield from filter(str.strip, map(decode, paths))


def read_json(*keys: str) -> Reading:
    """Each file is an object with its text under these keys; `a|b` is the first of both that has a text."""

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            text = decode(path)
            if text.strip():
                yield _join(json.loads(text), keys)

    return read


def read_table(*columns: str, names: tuple[str, ...] = (), delimiter: str = ",", quote: str = '"') -> Reading:
    """Each row is an article with its text in these columns. `names` names the columns of a table without a
    header; `quote` is empty for a table without quotes."""

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            with path.open(newline="", encoding="utf-8") as file:
                rows = csv.DictReader(
                    file,
                    fieldnames=names or None,
                    delimiter=delimiter,
                    quotechar=quote or None,
                    quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
                )
                yield from (html.unescape(_join(row, columns)) for row in rows)

    return read


def read_elements(article: str, *parts: str) -> Reading:
    """Articles are SGML elements of this name, with their text in the elements `parts`."""
    elements = re.compile(rf"<{article}\b.*?</{article}>", re.DOTALL)
    texts = re.compile(rf"<({'|'.join(parts)})>(.*?)</\1>", re.DOTALL)

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            for element in elements.findall(path.read_text("latin-1")):
                yield html.unescape(" ".join(text for _, text in texts.findall(element)))

    return read


def read_xml(article: str, *parts: str) -> Reading:
    """Articles are XML elements of this name in any namespace, with their text in the elements `parts`."""

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            for element in ElementTree.parse(path).iter():  # nosec B314  # data sets of a release
                if _name(element) == article:
                    found = (part for part in element.iter() if _name(part) in parts)
                    yield " ".join(" ".join(part.itertext()) for part in found)

    return read


def read_embedded(key: str) -> Reading:
    """Each file is a page with the text of its article under this key of JSON-LD."""
    value = re.compile(rf'"{key}"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            found = value.search(decode(path))
            yield html.unescape(found[1]) if found else ""

    return read


def read_pages(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is an HTML page, with all its visible text."""
    for path in paths:
        parser = _VisibleText()
        parser.feed(decode(path))
        yield " ".join(parser.texts)


class _VisibleText(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in _INVISIBLE

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _INVISIBLE

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _join(fields: Mapping[str, object], keys: Iterable[str]) -> str:
    chosen = (next((name for name in key.split("|") if fields.get(name)), None) for key in keys)
    return " ".join(str(fields[name]) for name in chosen if name)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


# Other kinds of files


def read_subtitles(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is a text of subtitles, after its name."""
    for path in paths:
        text = re.sub(r"^(?:NOTE|STYLE)\b.*?\n\n", "", decode(path), flags=re.DOTALL | re.MULTILINE)
        lines = (line for line in text.splitlines() if not re.search(r"-->|^WEBVTT|^\s*\d+\s*$", line))
        shown = re.sub(r"<[/\w][^<>]*>|\{\\[^{}]*\}", "", "\n".join(lines))
        yield f"{path.stem.replace('_', ' ')}\n{html.unescape(shown)}"


def read_mails(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is a mail, or each message of a file that ends in .mbox."""
    for path in paths:
        if path.suffix == ".mbox":
            box = mailbox.mbox(path)
            yield from (_read_mail(bytes(message)) for message in box)
            box.close()
        else:
            yield _read_mail(path.read_bytes())


def _read_mail(data: bytes) -> str:
    message = message_from_bytes(data, policy=policy.default)
    body = message.get_body(("plain", "html"))
    text = ""
    if body is not None:
        payload = cast(bytes, body.get_payload(decode=True))
        try:
            text = payload.decode(body.get_content_charset() or "utf-8")
        except (LookupError, UnicodeDecodeError):
            text = payload.decode(_FALLBACK, "replace")
        if body.get_content_type() == "text/html":
            parser = _VisibleText()
            parser.feed(text)
            text = "".join(parser.texts)
    text = re.split(r"^-- ?\r?$", text, maxsplit=1, flags=re.MULTILINE)[0]
    return f"{message['Subject'] or ''}\n" + re.sub(r"^>.*\n?", "", text, flags=re.MULTILINE)


_BLOCKS = frozenset(("p", "h", "tab", "br", "s", "line-break", "cr", "tc", "table-cell"))
_NOT_SHOWN = frozenset(("Fallback", "moveFrom", "tracked-changes", "annotation", "note-citation", "del"))


def read_office(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is a document of Word or OpenDocument, with its notes."""
    for path in paths:
        title = [
            text
            for part in ("docProps/core.xml", "meta.xml")
            for element in _read_part(path, part)
            if _name(element) == "title" and (text := element.text)
        ]
        yield "\n".join((*title, *read_paragraphs(path)))


def read_paragraphs(path: Path) -> list[str]:
    """The paragraphs of a document of Word or OpenDocument."""
    text = ""
    for part in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml", "content.xml"):
        for element in _read_part(path, part):
            if _name(element) in ("document", "footnotes", "endnotes", "text"):
                text += "".join(_walk(element, is_open=part == "content.xml"))
                break
    return [line.strip() for line in text.split("\n") if line.strip()]


def _read_part(path: Path, part: str) -> Iterator[ElementTree.Element]:
    with zipfile.ZipFile(path) as archive:
        if part in archive.namelist():
            yield from ElementTree.fromstring(archive.read(part)).iter()  # nosec B314  # data sets of a release


def _walk(element: ElementTree.Element, is_open: bool) -> Iterator[str]:
    name = _name(element)
    if name in _NOT_SHOWN:
        return
    if name in _BLOCKS:
        yield "\n" if name in ("p", "h") else " "
    if is_open or name == "t":
        yield element.text or ""
    for child in element:
        yield from _walk(child, is_open)
        yield (child.tail or "") if is_open else ""


def read_workbook(*columns: str) -> Reading:
    """Each row of the first sheet is an article with its text in these columns, which the first row names."""

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            strings = [
                "".join(item.itertext())
                for item in _read_part(path, "xl/sharedStrings.xml")
                if _name(item) == "si"
            ]
            names: dict[str, str] = {}
            for row in _read_part(path, "xl/worksheets/sheet1.xml"):
                if _name(row) == "row":
                    cells = {re.sub(r"\d", "", cell.get("r", "")): _read_cell(cell, strings) for cell in row}
                    if names:
                        yield " ".join(text for column, text in cells.items() if names.get(column) in columns)
                    elif len(cells) > 1:
                        names = cells

    return read


def _read_cell(cell: ElementTree.Element, strings: list[str]) -> str:
    text = "".join(cell.itertext())
    return strings[int(text)] if cell.get("t") == "s" and text else text


def read_speeches(paths: Iterable[Path]) -> Iterator[str]:
    """Each `u` of TEI is a speech, after the first title of its file."""
    for path in paths:
        root = ElementTree.parse(path).getroot()  # nosec B314  # data sets of a release
        titles = ["".join(e.itertext()) for e in root.iter() if _name(e) == "title"]
        title = re.sub(r"\[.*?\]", "", titles[0]) if titles else ""
        for speech in root.iter():
            if _name(speech) == "u":
                parts = (part for part in speech.iter() if _name(part) == "seg")
                yield f"{title} " + " ".join("".join(_without_notes(part)) for part in parts)


def _without_notes(element: ElementTree.Element) -> Iterator[str]:
    if _name(element) in ("note", "kinesic", "vocal", "incident", "gap"):
        return
    yield element.text or ""
    for child in element:
        yield from _without_notes(child)
        yield child.tail or ""


def read_pages_of_alto(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is a page of recognised text."""
    for path in paths:
        text = ""
        for element in ElementTree.parse(path).iter():  # nosec B314  # data sets of a release
            name, part = _name(element), element.get("SUBS_TYPE")
            if name == "TextLine":
                text += "\n"
            elif name == "HYP" and not text.endswith("\1"):
                text = text.rstrip() + "\0"
            elif name == "String" and part == "HypPart1" and element.get("SUBS_CONTENT"):
                text += element.get("SUBS_CONTENT", "") + "\1"
            elif name == "String" and not (part == "HypPart2" and element.get("SUBS_CONTENT")):
                text += element.get("CONTENT", "") + " "
        text = re.sub(r"(?<=\w)(?:\0|[-\u00ac] )\s*(?=[^\W\dA-Z])", "", text)
        yield re.sub("[\0\1]", " ", text)


def read_wiki(paths: Iterable[Path]) -> Iterator[str]:
    """Each article of a dump of MediaWiki, without templates, tables, notes and pictures."""
    for path in paths:
        data = path.read_bytes()
        root = ElementTree.fromstring(decompress(data) if path.suffix == ".bz2" else data)  # nosec B314  # as above
        spaces = [
            e.text for e in root.iter() if _name(e) == "namespace" and e.get("key") in ("6", "14") and e.text
        ]
        files = rf"\[\[\s*(?:File|Image|Category|{'|'.join(spaces)})\s*:(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]"
        for page in root.iter():
            if _name(page) == "page":
                fields = {_name(element): element.text or "" for element in page.iter()}
                if fields.get("ns", "0") == "0" and "redirect" not in fields:
                    yield f"{fields['title']}\n{_clean_wikitext(fields['text'], files)}"


def _clean_wikitext(text: str, files: str) -> str:
    text = re.sub(r"<!--.*?-->|<ref\b[^<>]*/>|<ref\b.*?</ref\s*>", "", text, flags=re.DOTALL)
    text = re.sub(r"<(math|gallery|timeline|table|score|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    before = ""
    while before != text:
        before, text = text, re.sub(r"\{\{[^{}]*\}\}|\{\|(?:(?!\{\|).)*?\n\|\}", "", text, flags=re.DOTALL)
    text = re.sub(files, "", text, flags=re.I)
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", text)
    text = re.sub(r"\[(?:https?:)?//\S+\s*([^\]]*)\]", r"\1", text)
    return html.unescape(re.sub(r"<[^<>]*>|'{2,}|__[A-Z]+__", "", text))


def read_pdf(paths: Iterable[Path]) -> Iterator[str]:
    """Each file is a document, read by pypdf."""
    import pypdf  # of the extra dev

    for path in paths:
        pages = pypdf.PdfReader(path).pages
        text = normalize("NFKC", "\n".join(page.extract_text() for page in pages))
        yield re.sub(r"(?<=\w)-\n(?=[a-z])", "", text)


def read_export(article: str, begin: str, end: str, title: str) -> Reading:
    """Articles of a press database, in texts, documents or pages: from one line to another, after a title.

    `article` is the line between articles, `begin` and `end` those around a text, `title` finds one.
    """

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            text = "\n".join(_read_any(path)).replace("\xa0", " ").replace("\r", "")
            for part in re.split(article, text, flags=re.MULTILINE):
                first, last = (list(re.finditer(pattern, part, re.MULTILINE)) for pattern in (begin, end))
                found = re.search(title, part, re.MULTILINE)
                if first:
                    stop = next(
                        (match.start() for match in last if match.start() > first[-1].end()), len(part)
                    )
                    yield f"{found[1] if found else ''}\n{part[first[-1].end() : stop]}"

    return read


def _read_any(path: Path) -> Iterable[str]:
    if path.suffix == ".docx":
        return read_paragraphs(path)
    text = decode(path)
    if path.suffix == ".html":
        parser = _VisibleText()
        parser.feed(re.sub(r"\s+", " ", text))
        return parser.texts
    return text.splitlines()


def read_factiva(paths: Iterable[Path]) -> Iterator[str]:
    """Each `div` of the class article in a page of Factiva: the title, and the text after the copyright."""
    for path in paths:
        for article in re.split(r'<div class="article [a-z]+Article" ?>', decode(path))[1:]:
            title = re.search(r"""<span class=["']\w+Headline["']>(.*?)</span>""", article, re.DOTALL)
            rest = re.split(
                r"<div>\s*(?:©|\(c\)|Copyright\b).*?</div>", article, maxsplit=1, flags=re.I | re.DOTALL
            )
            last = re.search(r"\b(?=\w*\d{8})\w{25}\s*</p>", rest[-1])
            text = rest[-1][: last.start()].rpartition("<p")[0].rpartition("<p")[0] if last else rest[-1]
            parser = _VisibleText()
            parser.feed(f"{title[1] if title else ''} {text}")
            yield " ".join(parser.texts)
