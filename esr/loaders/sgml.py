"""What the SGML of archives has in common. It is no XML: ampersands stand alone, tags are not closed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache

_ATTRIBUTE = re.compile(r"""(\w+)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_TAG = re.compile(r"</?([A-Za-z]\w{0,40})(?:\s[^<>]{0,1000})?>")
_COMMENT = re.compile(r"<!--.{0,1000}?-->", re.S)
# What the DTDs of TREC's disks have beside those of HTML.
_OF_TREC = {"&hyph;": "-", "&blank;": " "}
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,30});", re.ASCII)


def attributes(tag: str) -> dict[str, str]:
    """The attributes of a tag, their names in small letters."""
    return {name.lower(): value.strip("\"' ") for name, value in _ATTRIBUTE.findall(tag)}


def elements(raw: str, name: str) -> Iterator[str]:
    """What stands in the elements of that name. One that is not closed goes to the end."""
    opening, closing = _element_tags(name)
    at = 0
    while begin := opening.search(raw, at):
        end = closing.search(raw, begin.end())
        yield raw[begin.end() : end.start() if end else len(raw)]
        at = end.end() if end else len(raw)


@cache
def _element_tags(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(rf"<{name}(?:\s[^<>]{{0,1000}})?>", re.I),
        re.compile(rf"</{name}\s{{0,9}}>", re.I),
    )


def plain(raw: str) -> str:
    """The text without tags, comments and entities. `<P>` ends a paragraph."""
    text = _TAG.sub(lambda tag: "\n\n" if tag[1].upper() == "P" else " ", _COMMENT.sub(" ", raw))
    # Only whole entities: html.unescape alone would also see one in "AT&T" and "R&reg".
    return _ENTITY.sub(lambda entity: _OF_TREC.get(entity[0]) or html.unescape(entity[0]), text)
