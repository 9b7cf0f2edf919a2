"""Reads XML element by element and extracts text. Safe against XML bombs and external entities."""

from __future__ import annotations

import html
import html.entities
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from esr.errors import InputError, to_one_line
from esr.loaders.format import Source
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = import_lazily("lxml.etree")

# No article is this long, and a tree takes ten times the memory of its XML.
MAX_ELEMENT_BYTES = 16 * 2**20
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
"""The name of the attribute xml:lang."""
_PARSER_OPTIONS = {"resolve_entities": False, "no_network": True, "huge_tree": False, "load_dtd": False}

# Elements that are paragraphs.
_BLOCKS = {
    *("address", "article", "blockquote", "bq", "block", "dd", "div", "dl", "dt", "figcaption"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hl1", "hl2", "hr", "li", "ol", "p", "pre", "section"),
    *("table", "td", "th", "tr", "ul"),
}
# Elements that are not part of the text. A <header> repeats the title, keywords and dates.
_SKIPPED = frozenset(
    ("head", "header", "media", "media-reference", "nav", "noscript", "script", "style", "svg", "template")
)
_ENTITY = re.compile(r"&\w{1,30};", re.ASCII)


def sniff(*names: str) -> Callable[[bytes], bool]:
    """A test whether a file begins as XML with an element of one of these names, in any namespace."""
    start = re.compile(rf"<(?:\w+:)?(?:{'|'.join(map(re.escape, names))})[\s>]".encode())
    return lambda head: head.startswith(b"<") and bool(start.search(head))


def local_name(element: Any) -> str:
    """The element's name without its namespace; "" for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def iterate_elements(source: Source, names: frozenset[str]) -> Iterator[Any]:
    """The outermost elements with these names, complete, one at a time. Each is cleared after its use.

    Raises InputError where the XML is broken or an element is longer than MAX_ELEMENT_BYTES.
    """
    stream = _BoundedStream(source)
    depth = 0
    try:
        for event, element in etree.iterparse(stream, events=("start", "end"), **_PARSER_OPTIONS):
            if local_name(element) not in names:
                if event == "end" and not depth:  # between the elements with these names
                    _free(element)
                continue
            depth += 1 if event == "start" else -1
            if not depth and event == "end":
                yield element
                _free(element)
                stream.size = 0
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise InputError(
            f"{source.name}:{line}",
            f"broken XML at column {column}: {to_one_line(error.msg)}; fetch the file again or correct it",
        ) from None


def _free(element: Any) -> None:
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


class _BoundedStream:
    """The source's bytes. Raises InputError if there are too many since the last complete element."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        data = self._source.stream.read(size if size > 0 else 2**15)
        self.size += len(data)
        if self.size > MAX_ELEMENT_BYTES:
            raise InputError(
                self._source.name,
                f"an item is longer than {MAX_ELEMENT_BYTES // 2**20} MiB: split it, or add its missing end",
            )
        return data


def find_all(element: Any, *names: str) -> Iterator[Any]:
    """The descendants with these names, in document order, in any namespace; empty for None."""
    for descendant in () if element is None else element.iter():
        if descendant is not element and local_name(descendant) in names:
            yield descendant


def find_first(element: Any, *path: str) -> Any:
    """The first descendant along this path of names, each at any depth; None without one, or for None."""
    for name in path:
        element = next(find_all(element, name), None)
    return element


def find_children(element: Any, name: str) -> list[Any]:
    """The children with this name; empty for None."""
    return [] if element is None else [child for child in element if local_name(child) == name]


def attribute(element: Any, name: str) -> str:
    """An attribute of an element; "" without it, or for None."""
    return "" if element is None else str(element.get(name, ""))


def to_line(element: Any) -> str:
    """The text of an element on one line; "" for None."""
    return "" if element is None else " ".join(to_text(element).split())


def to_text(element: Any) -> str:
    """The text of an element, with blank lines between paragraphs, which sentence splitting needs."""
    pieces: list[str] = []
    _collect_text(element, pieces)
    text = _LINES.sub(_BREAK, "".join(pieces)).replace(_LINE, " ")
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split(_BREAK))
    return "\n\n".join(filter(None, paragraphs))


def remove_title(text: str, title: str) -> str:
    """The text without a first paragraph that repeats the title."""
    first, _, rest = text.partition("\n\n")
    return rest if title and first == title else text


# XML cannot contain these characters.
_BREAK = "\0"
_LINE = "\1"
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_INDENTED = re.compile(r"\n {2,9}(?=\S)")
_NOT_INDENTED = re.compile(r"\n[^\s\0]")
# Agencies end each line of a paragraph with <br/>; only two in a row end a paragraph.
_LINES = re.compile(rf"{_LINE}(?:\s*{_LINE})+")


_HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)


def is_hidden(element: Any) -> bool:
    """Whether an HTML element is not shown. Elements with hidden="until-found" are not hidden."""
    hidden, style = element.get("hidden"), element.get("style")
    return (hidden is not None and hidden.strip().lower() != "until-found") or (
        style is not None and _HIDING_STYLE.search(style) is not None
    )


def _collect_text(element: Any, pieces: list[str]) -> None:
    name = local_name(element)
    if name in _SKIPPED or (name and is_hidden(element)):
        return
    if not name:
        pieces.append(_decode_entity(element))
        return
    if name == "br":
        pieces.append(_LINE)
    is_block = name in _BLOCKS
    if is_block:
        pieces.append(_BREAK)
    pieces.append(_split_paragraphs(element.text or ""))
    for child in element:
        _collect_text(child, pieces)
        pieces.append(_split_paragraphs(child.tail or ""))
    if is_block:
        pieces.append(_BREAK)


def _split_paragraphs(text: str) -> str:
    """Mark the paragraphs of wire text in a single <p>: blank lines end them, indented lines begin them.

    If all lines are indented, as in XML that a program has indented, none of them begins a paragraph.
    """
    text = _BLANK_LINE.sub(_BREAK, text)
    return _INDENTED.sub(_BREAK, text) if _NOT_INDENTED.search(text) else text


def _decode_entity(node: Any) -> str:
    """The letter of an entity such as `&eacute;`; "" for comments and entities defined in the file."""
    text = node.text or ""
    return html.unescape(text) if _ENTITY.fullmatch(text) and text[1:] in html.entities.html5 else ""
