"""XML read element by element, and the text in an element. Safe against XML bombs and external entities."""

from __future__ import annotations

import html
import html.entities
import io
import re
from collections.abc import Iterator
from typing import Any

from esr.errors import InputError
from esr.loaders.base import Source, one_line

# A tree takes ten times the memory of its XML. No article is this long.
MAX_ELEMENT_BYTES = 16 * 2**20
XML = {"resolve_entities": False, "no_network": True, "huge_tree": False, "load_dtd": False}

# What these hold is a paragraph of its own.
_BLOCKS = {
    *("address", "article", "blockquote", "bq", "block", "dd", "div", "dl", "dt", "figcaption"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hl1", "hl2", "hr", "li", "ol", "p", "pre", "section"),
    *("table", "td", "th", "tr", "ul"),
}
# What these hold is not of the text. A <header> has the title, keywords and dates once more.
_PASSED_OVER = frozenset(
    ("head", "header", "media", "media-reference", "nav", "noscript", "script", "style", "svg", "template")
)
_ENTITY = re.compile(r"&\w{1,30};", re.ASCII)


def name(element: Any) -> str:
    """The element's name without its namespace, "" for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def elements(source: Source, wanted: frozenset[str]) -> Iterator[Any]:
    """The outermost elements of these names, whole, one at a time. They are emptied afterwards.

    Raises InputError where the XML is broken, or an element is longer than MAX_ELEMENT_BYTES.
    """
    from lxml import etree

    stream = _Measured(source)
    depth = 0
    try:
        for event, element in etree.iterparse(stream, events=("start", "end"), **XML):
            if name(element) not in wanted:
                if event == "end" and not depth:  # what stands between the wanted ones
                    _forget(element)
                continue
            depth += 1 if event == "start" else -1
            if not depth and event == "end":
                yield element
                _forget(element)
                stream.since = 0
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise InputError(
            f"{source.name}:{line}",
            f"broken XML at column {column}: {one_line(error.msg)}; fetch the file again or mend it",
        ) from None


def _forget(element: Any) -> None:
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


class _Measured(io.RawIOBase):
    """The source's bytes, until there are too many since the last whole element."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.since = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._source.stream.read(size if size > 0 else 2**15)
        self.since += len(data)
        if self.since > MAX_ELEMENT_BYTES:
            raise InputError(
                self._source.name,
                f"has an item of more than {MAX_ELEMENT_BYTES // 2**20} MiB: split it, or mend its end",
            )
        return data


def find(element: Any, *names: str) -> Iterator[Any]:
    """The elements of these names below this one, in the order of the document, whatever their namespace."""
    for below in element.iter():
        if below is not element and name(below) in names:
            yield below


def first(element: Any, *path: str) -> Any:
    """The first element on this path of names, anywhere below; None if there is none."""
    for step in path:
        element = next(find(element, step), None)
        if element is None:
            return None
    return element


def line(element: Any) -> str:
    """The text of an element on one line; "" for None."""
    return "" if element is None else " ".join(text(element).split())


def text(element: Any) -> str:
    """The text in an element. Blank lines stand between paragraphs, as the splitter wants it."""
    pieces: list[str] = []
    _collect(element, pieces)
    whole = _LINES.sub(_BREAK, "".join(pieces)).replace(_LINE, " ")
    paragraphs = (" ".join(paragraph.split()) for paragraph in whole.split(_BREAK))
    return "\n\n".join(filter(None, paragraphs))


def without_title(text: str, title: str) -> str:
    """The text, without a first paragraph that is the title once more."""
    first, _, rest = text.partition("\n\n")
    return rest if title and first == title else text


# XML cannot hold these.
_BREAK = "\0"
_LINE = "\1"
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_INDENTED = re.compile(r"\n {2,9}(?=\S)")
_NOT_INDENTED = re.compile(r"\n[^\s\0]")
# Agencies end the lines of a paragraph with <br/>; only two of them end the paragraph.
_LINES = re.compile(rf"{_LINE}(?:\s*{_LINE})+")


def _collect(element: Any, pieces: list[str]) -> None:
    if name(element) in _PASSED_OVER:
        return
    if not name(element):
        pieces.append(_entity(element))
        return
    if name(element) == "br":
        pieces.append(_LINE)
    block = name(element) in _BLOCKS
    if block:
        pieces.append(_BREAK)
    pieces.append(_parted(element.text or ""))
    for child in element:
        _collect(child, pieces)
        pieces.append(_parted(child.tail or ""))
    if block:
        pieces.append(_BREAK)


def _parted(text: str) -> str:
    """Text as wires lay it out, all in one <p>: a blank line ends a paragraph, an indented line begins one.

    In XML that a program has indented, all lines are, and none of them begins one.
    """
    text = _BLANK_LINE.sub(_BREAK, text)
    return _INDENTED.sub(_BREAK, text) if _NOT_INDENTED.search(text) else text


def _entity(node: Any) -> str:
    """`&eacute;` as its letter; nothing for comments, and for entities that the file itself defines."""
    return html.unescape(node.text) if _ENTITY.fullmatch(node.text or "") and _known(node.text) else ""


def _known(entity: str) -> bool:
    return entity[1:] in html.entities.html5
