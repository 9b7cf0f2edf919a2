"""Reads the SGML of news archives. It is not XML: ampersands are not escaped and tags are not closed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from esr.errors import InputError
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, too_long_error
from esr.loaders.format import Source

_LONGEST_TAG = 1010
"""Patterns of tags match at most 1,000 characters of attributes."""
_ATTRIBUTE = re.compile(r"""(\w+)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_TAG = re.compile(r"</?([A-Za-z]\w{0,40})(?:\s[^<>]{0,1000})?>")
_COMMENT = re.compile(r"<!--.{0,1000}?-->", re.S)
# Entities of the DTDs on TREC's disks that are not in HTML.
_TREC_ENTITIES = {"&hyph;": "-", "&blank;": " "}
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,30});", re.ASCII)


class Element(NamedTuple):
    """An element including its tags, its name in lower case, and the location where it begins."""

    where: str
    name: str
    raw: str


def iterate_elements(
    source: Source, chunks: Iterable[str], opening: re.Pattern[str], closings: Mapping[str, re.Pattern[str]]
) -> Iterator[Element]:
    """The elements of a stream in order, one at a time; text between them is ignored.

    The last group of `opening` that matches is the name; `closings` has the end tags by the name in lower
    case. Raises InputError for an element without an end, or one that is too long.
    """
    text, line = "", 1
    begin = position = 0  # start of the current element, and how far the text has been searched
    tag: re.Match[str] | None = None
    for chunk in chunks:
        # Keep the current element, or else the possible start of a tag that continues in this chunk.
        keep = begin if tag else max(position, len(text) - _LONGEST_TAG)
        line += text.count("\n", begin, keep)
        text, position, begin = text[keep:] + chunk, max(position - keep, 0), 0
        while match := (closings[_name(tag)] if tag else opening).search(text, position):
            if tag:
                yield Element(f"{source.name}:{line}", _name(tag), text[begin : match.end()])
            edge = match.end() if tag else match.start()
            line += text.count("\n", begin, edge)
            begin, position, tag = edge, match.end(), None if tag else match
        if tag:
            position = max(position, len(text) - _LONGEST_TAG)
            if len(text) - begin > MAX_DOCUMENT_BYTES:
                raise too_long_error(source, line)
    if tag:
        name = tag[tag.lastindex or 0]
        raise InputError(
            f"{source.name}:{line}",
            f"this <{name}> has no </{name}>: the file may be truncated, fetch it again",
        )


def _name(tag: re.Match[str]) -> str:
    return tag[tag.lastindex or 0].lower()


def parse_attributes(tag: str) -> dict[str, str]:
    """The attributes of a tag, with names in lower case."""
    return {name.lower(): value.strip("\"' ") for name, value in _ATTRIBUTE.findall(tag)}


def iterate_contents(raw: str, name: str) -> Iterator[str]:
    """The contents of the elements with this name. An unclosed element extends to the end."""
    opening, closing = _compile_tags(name)
    position = 0
    while begin := opening.search(raw, position):
        end = closing.search(raw, begin.end())
        yield raw[begin.end() : end.start() if end else len(raw)]
        position = end.end() if end else len(raw)


@cache
def _compile_tags(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(rf"<{name}(?:\s[^<>]{{0,1000}})?>", re.I),
        re.compile(rf"</{name}\s{{0,9}}>", re.I),
    )


def strip_markup(raw: str) -> str:
    """The text without tags and comments, with entities decoded. `<P>` ends a paragraph."""
    text = _TAG.sub(lambda tag: "\n\n" if tag[1].upper() == "P" else " ", _COMMENT.sub(" ", raw))
    # Only complete entities: html.unescape alone would also decode those in "AT&T" and "R&reg".
    return _ENTITY.sub(lambda entity: _TREC_ENTITIES.get(entity[0]) or html.unescape(entity[0]), text)
