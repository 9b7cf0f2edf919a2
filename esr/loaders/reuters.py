"""Reuters-21578 SGML, the newswire of 1987: `<REUTERS NEWID=…>`s, with title, dateline and body.

Made by D. D. Lewis; its README says which tags there are. The files have letters of ISO 8859-1 in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from esr.documents.written_dates import iso
from esr.errors import InputError
from esr.loaders.base import Format, Malformed, Record, Source, register
from esr.loaders.sgml import attributes, elements, plain
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, too_long

_PIECE_BYTES = 2**16
_OPENING = re.compile(r"<REUTERS(?:\s[^<>]{0,1000})?>", re.I)
_CLOSING = re.compile(r"</REUTERS\s{0,9}>", re.I)
_LONGEST_TAG = 1010
# They end so: " Reuter\n\x03" or "REUTER...", some with both
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_CONTROL_ENTITY = re.compile(r"&#(?:[0-9]|[12][0-9]|3[01]);", re.ASCII)
_END = re.compile(r"(?:\s{0,9}\breuter[\s.\"]{0,20}){1,3}$", re.I)
# In these, a new paragraph is a line that is indented.
_INDENTED = re.compile(r"\n {3,}(?=\S)")


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each `<REUTERS>`. Raises InputError where one has no end."""
    for where, raw in _units(source):
        opening = _OPENING.match(raw)
        id = attributes(opening[0]).get("newid") if opening else None
        if not id:
            yield Malformed(where, "this <REUTERS> has no NEWID: give every document one")
        elif _OPENING.search(raw, 1):
            yield Malformed(where, "this <REUTERS> has another one in it: its </REUTERS> is missing", id)
        else:
            yield Record(where, {"id": f"reuters-{id}", "source": "Reuters", **_fields(raw)})


def _fields(raw: str) -> dict[str, str | None]:
    raw = _CONTROL_ENTITY.sub(" ", _CONTROL.sub(lambda c: c[0] if c[0] in "\n\r" else " ", raw))
    date = next((iso(plain(date)) for date in elements(raw, "DATE")), None)
    title = next((" ".join(plain(title).split()) for title in elements(raw, "TITLE")), None)
    bodies = list(elements(raw, "BODY"))
    if not bodies:  # TYPE="UNPROC": text without a structure
        bodies = [re.sub(r"(?is)<(TITLE|DATELINE|AUTHOR)\b.*?</\1>", " ", t) for t in elements(raw, "TEXT")]
    text = "\n\n".join(_INDENTED.sub("\n\n", plain(body)) for body in bodies)
    return {"title": title, "date": date, "language": "en", "text": _END.sub("", text.rstrip())}


def _units(source: Source) -> Iterator[tuple[str, str]]:
    """The place and text of each document; what stands between them is passed over."""
    text, line, begin, at = "", 1, 0, 0
    inside = False
    while data := source.stream.read(_PIECE_BYTES):
        keep = begin if inside else max(at, len(text) - _LONGEST_TAG)
        line += text.count("\n", begin, keep)
        text, at, begin = text[keep:] + data.decode("latin-1"), max(at - keep, 0), 0
        while match := (_CLOSING if inside else _OPENING).search(text, at):
            if inside:
                yield f"{source.name}:{line}", text[begin : match.end()]
            edge = match.end() if inside else match.start()
            line += text.count("\n", begin, edge)
            begin, at, inside = edge, match.end(), not inside
        if inside:
            at = max(at, len(text) - _LONGEST_TAG)
            if len(text) - begin > MAX_DOCUMENT_BYTES:
                raise too_long(source, line)
    if inside:
        raise InputError(
            f"{source.name}:{line}", "this <REUTERS> has no </REUTERS>: the file seems to be cut off"
        )


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
