"""Plain readings of data sets, without esr: each yields the title and text of every article as one text."""

from __future__ import annotations

import csv
import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

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
    """Each file is an object with its text under these keys; of `a|b`, the first that has some."""

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            text = decode(path)
            if text.strip():
                yield _join(json.loads(text), keys)

    return read


def read_table(*columns: str, names: tuple[str, ...] = (), delimiter: str = ",", quote: str = '"') -> Reading:
    """Each row is an article with its text in these columns. `names` are those of a table without a header;
    an empty `quote` is that of a table without quotes."""

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
    """Articles are the elements of this name in SGML, and their text is in these elements of them."""
    elements = re.compile(rf"<{article}\b.*?</{article}>", re.DOTALL)
    texts = re.compile(rf"<({'|'.join(parts)})>(.*?)</\1>", re.DOTALL)

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            for element in elements.findall(path.read_text("latin-1")):
                yield html.unescape(" ".join(text for _, text in texts.findall(element)))

    return read


def read_xml(article: str, *parts: str) -> Reading:
    """Articles are the elements of this name in XML, whatever their namespace, with their text in these."""

    def read(paths: Iterable[Path]) -> Iterator[str]:
        for path in paths:
            for element in ElementTree.parse(path).iter():
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
    """Each file is a page of HTML, with all that a reader sees of it."""
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
