"""SGML of Reuters-21578, the newswire of 1987: `<REUTERS NEWID=…>`s with title, dateline and body.

The collection is by D. D. Lewis; its README describes the tags. The files are in ISO 8859-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from esr.loaders.fields import read_list
from esr.loaders.format import Format, Malformed, Record, Source, register
from esr.loaders.sgml import Element, iterate_contents, iterate_elements, parse_attributes, strip_markup
from esr.text.written_dates import to_iso_date

_LISTS = ("PLACES", "PEOPLE", "ORGS", "EXCHANGES", "COMPANIES")
_AGENCY = re.compile(r",?\s+Reuters?$", re.I)
_CHUNK_BYTES = 2**16
_OPENING = re.compile(r"<(REUTERS)(?:\s[^<>]{0,1000})?>", re.I)
_CLOSING = re.compile(r"</REUTERS\s{0,9}>", re.I)
# Articles end with " Reuter\n\x03" or "REUTER...", some with both.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_CONTROL_ENTITY = re.compile(r"&#(?:[0-9]|[12][0-9]|3[01]);", re.ASCII)
_END = re.compile(r"(?:\s{0,9}\breuter[\s.\"]{0,20}){1,3}$", re.I)
# An indented line begins a new paragraph.
_INDENTED = re.compile(r"\n {3,}(?=\S)")


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record per `<REUTERS>`. Raises InputError where one has no end."""
    for where, _, raw in _split_documents(source):
        opening = _OPENING.match(raw)
        id = parse_attributes(opening[0]).get("newid") if opening else None
        if not id:
            yield Malformed(where, "this <REUTERS> has no NEWID: every document needs one")
        elif _OPENING.search(raw, 1):
            yield Malformed(where, "this <REUTERS> contains another one: add the missing </REUTERS>", id)
        else:
            yield Record(where, {"id": f"reuters-{id}", "source": "Reuters", **_parse_fields(raw)})


def _parse_fields(raw: str) -> dict[str, Any]:
    raw = _CONTROL_ENTITY.sub(" ", _CONTROL.sub(lambda c: c[0] if c[0] in "\n\r" else " ", raw))
    date = next((to_iso_date(strip_markup(date)) for date in iterate_contents(raw, "DATE")), None)
    title = next((" ".join(strip_markup(title).split()) for title in iterate_contents(raw, "TITLE")), None)
    bodies = list(iterate_contents(raw, "BODY"))
    if not bodies:  # TYPE="UNPROC": unstructured text
        head = re.compile(r"(?is)<(TITLE|DATELINE|AUTHOR)\b.*?</\1>")
        bodies = [head.sub(" ", text) for text in iterate_contents(raw, "TEXT")]
    text = "\n\n".join(_INDENTED.sub("\n\n", strip_markup(body)) for body in bodies)
    author = next((strip_markup(author) for author in iterate_contents(raw, "AUTHOR")), "")
    metadata = {name.lower(): values for name in _LISTS if (values := _read_list(raw, name))}
    return {
        "title": title,
        "date": date,
        "language": "en",
        "authors": read_list("authors", _AGENCY.sub("", " ".join(author.split()))),
        "keywords": _read_list(raw, "TOPICS"),
        "metadata": metadata,
        "text": _END.sub("", text.rstrip()),
    }


def _read_list(raw: str, name: str) -> list[str]:
    """The values in a list such as `<PLACES><D>usa</D><D>uk</D></PLACES>`."""
    lists = iterate_contents(raw, name)
    return [strip_markup(value).strip() for values in lists for value in iterate_contents(values, "D")]


def _split_documents(source: Source) -> Iterator[Element]:
    data = iter(lambda: source.stream.read(_CHUNK_BYTES), b"")
    chunks = (chunk.decode("latin-1") for chunk in data)
    return iterate_elements(source, chunks, _OPENING, {"reuters": _CLOSING})


_START = re.compile(rb"<!DOCTYPE lewis\b|<REUTERS\s", re.I)

FORMAT = register(
    Format(
        name="reuters",
        description="SGML of Reuters-21578: <REUTERS>s with <TITLE> and <BODY>",
        suffixes=(".sgm",),
        sniff=lambda head: head.startswith(b"<") and bool(_START.search(head)),
        read=read,
    )
)
