"""The SGML of news archives, which is not XML: ampersands are not escaped and tags are not closed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache

_ATTRIBUTE = re.compile(r"""(\w+)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_TAG = re.compile(r"</?([A-Za-z]\w{0,40})(?:\s[^<>]{0,1000})?>")
_COMMENT = re.compile(r"<!--.{0,1000}?-->", re.S)
# Entities of the DTDs on TREC's disks that HTML does not have.
_TREC_ENTITIES = {"&hyph;": "-", "&blank;": " "}
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,30});", re.ASCII)


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
    # Only complete entities: html.unescape alone would also decode one in "AT&T" and "R&reg".
    return _ENTITY.sub(lambda entity: _TREC_ENTITIES.get(entity[0]) or html.unescape(entity[0]), text)
