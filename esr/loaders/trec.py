"""TREC and LDC SGML: `<DOC>`s, plain or with tagged sentences, and bare ones of the Novelty track.

It is no XML: ampersands stand alone, tags are not closed, a file has many roots. So it is read by
looking for the few tags that matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from esr.documents.written_dates import iso
from esr.errors import InputError
from esr.loaders.base import Format, Malformed, Record, Source, register
from esr.loaders.sgml import attributes, elements, plain
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, pieces, too_long

# The same thing has different tags in the Associated Press, Wall Street Journal, Xinhua …
_IDS = ("DOCNO", "DOCID")
_TITLES = ("HEADLINE", "TITLE", "HL", "HEAD", "TI")
_DATES = ("DATE_TIME", "DATETIME", "DATE", "DATE1", "DD")
_SOURCES = ("PUB", "SOURCE", "SO")
_BODIES = ("LP", "LEADPARA", "TEXT")  # a lead paragraph stands before the text
# The Foreign Broadcast Information Service begins its texts with this.
_FBIS = re.compile(
    r"\s{0,99}Language:\s{0,9}<F P=105>[^<>]{0,99}</F>\s{0,9}Article Type:\s?\w{0,9}(?:\s+\[Text\])?"
)

_OPENING = re.compile(r"<(?:(DOC)(?:\s[^<>]{0,1000})?|(s)\s[^<>]{0,1000})>", re.I)
_CLOSING = {"doc": re.compile(r"</DOC\s{0,9}>", re.I), "s": re.compile(r"</s\s{0,9}>", re.I)}
_LONGEST_TAG = 1010
_SENTENCE = re.compile(r"<s\s[^<>]{0,1000}>", re.I)
_SIX_DIGITS = re.compile(r"\W{0,99}(\d\d)(\d\d)(\d\d)\W{0,99}", re.ASCII)
# AQUAINT and Gigaword put the day into the id: XIE19990101.0001, AFP_ENG_19940512.0001
_DATED_ID = re.compile(r"[A-Z]{3}(?:_[A-Z]{3}_)?(\d{4})(\d\d)(\d\d)\.\d{4}", re.ASCII)


class _Unit(NamedTuple):
    """A `<DOC>` or a bare `<s>`, with its tags, and the place it begins at."""

    where: str
    kind: str
    raw: str


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each `<DOC>`, and of each run of bare `<s>` of the same docid.

    Raises InputError where a `<DOC>` has no end.
    """
    for key, group in groupby(_units(source), _belongs_to):
        # Documents of one line are one group: of these, only one is held at a time.
        for units in ([unit] for unit in group) if key is None else (list(group),):
            try:
                yield _document(units[0]) if key is None else _bare(units)
            except InputError as error:
                yield Malformed(error.where, error.problem)


def _bare(units: list[_Unit]) -> Record:
    id = _docid(units[0], _tags(units[0])[0])
    sentences = [_sentence(unit, _tags(unit)[0]) for unit in units]
    return Record(units[0].where, {"id": id, "date": _date_in(id), "sentences": sentences})


def _belongs_to(unit: _Unit) -> tuple[str, str] | None:
    """The same for all bare sentences of a document; None for a `<DOC>`, which stands alone."""
    if unit.kind == "doc":
        return None
    docid = attributes(_tags(unit)[0][0]).get("docid")
    return ("docid", docid) if docid else ("place", unit.where)


def _units(source: Source) -> Iterator[_Unit]:
    """The units of the file in order; what stands between them is passed over."""
    text, line = "", 1
    opening: re.Match[str] | None = None
    begin = at = 0  # where the open unit begins, and how far the text has been looked through
    for piece in pieces(source):
        # Keep the open unit, or else what may be the front of a tag that goes on in this piece.
        keep = begin if opening else max(at, len(text) - _LONGEST_TAG)
        line += text.count("\n", begin, keep)
        text, at, begin = text[keep:] + piece, max(at - keep, 0), 0
        while True:
            if opening is None:
                opening = _OPENING.search(text, at)
                if opening is None:
                    break
                line += text.count("\n", begin, opening.start())
                begin, at = opening.start(), opening.end()
            kind = "doc" if opening[1] else "s"
            closing = _CLOSING[kind].search(text, at)
            if closing is None:
                at = max(at, len(text) - _LONGEST_TAG)
                if len(text) - begin > MAX_DOCUMENT_BYTES:
                    raise too_long(source, line)
                break
            yield _Unit(f"{source.name}:{line}", kind, text[begin : closing.end()])
            line += text.count("\n", begin, closing.end())
            begin = at = closing.end()
            opening = None
    if opening:
        tag = opening[1] or opening[2]
        raise InputError(
            f"{source.name}:{line}", f"this <{tag}> has no </{tag}>: the file seems to be cut off"
        )


def _document(unit: _Unit) -> Record:
    if any(opening[1] for opening in _OPENING.finditer(unit.raw, 1)):
        raise InputError(unit.where, "this <DOC> has another one in it: its </DOC> is missing")
    tags = [tag for tag in _tags(unit) if "docid" in attributes(tag[0])]
    id = _first(unit.raw, _IDS) or _own_id(unit) or (_docid(unit, tags[0]) if tags else None)
    if not id:
        raise InputError(unit.where, "this <DOC> has no <DOCNO>: give every document one")
    for docid in (_docid(unit, tag) for tag in tags):
        if docid != id:
            raise InputError(
                unit.where, f"a sentence of document {id!r} has the docid {docid!r}: mend one of them"
            )
    dates = (_date(plain(date)) for name in _DATES for date in elements(unit.raw, name))
    fields: dict[str, Any] = {
        "id": id,
        "title": _first(unit.raw, _TITLES),
        "date": next(filter(None, dates), None) or _date_in(id),
        "source": _first(unit.raw, _SOURCES),
    }
    if tags:
        fields["sentences"] = [_sentence(unit, tag) for tag in tags]
    else:
        bodies = [body for name in _BODIES for body in elements(unit.raw, name)]
        fields["text"] = "\n\n".join(plain(_FBIS.sub("", body, count=1)) for body in bodies)
    return Record(unit.where, fields)


def _own_id(unit: _Unit) -> str | None:
    """Gigaword and AQUAINT-2 have no `<DOCNO>`: `<DOC id="AFP_ENG_19940512.0001" type="story">`."""
    opening = _OPENING.match(unit.raw)
    return attributes(opening[0]).get("id") if opening else None


def _sentence(unit: _Unit, tag: re.Match[str]) -> dict[str, str]:
    """The fields of the sentence that this tag opens."""
    closing = _CLOSING["s"].search(unit.raw, tag.end())
    if closing is None or _SENTENCE.search(unit.raw, tag.end(), closing.start()):
        raise InputError(unit.where, f"the sentence {tag[0][:60]} has no </s>: close it")
    text = " ".join(plain(unit.raw[tag.end() : closing.start()]).split())
    return {"id": f"{_docid(unit, tag)}:{attributes(tag[0])['num']}", "text": text}


def _tags(unit: _Unit) -> list[re.Match[str]]:
    return list(_SENTENCE.finditer(unit.raw))


def _docid(unit: _Unit, tag: re.Match[str]) -> str:
    given = attributes(tag[0])
    if not given.get("docid") or not given.get("num"):
        raise InputError(
            unit.where, 'a sentence must say its docid and num, like <s docid="XIE19990101.0001" num="1">'
        )
    return given["docid"]


def _first(raw: str, names: tuple[str, ...]) -> str | None:
    """The text of the first of these elements that has any, on one line."""
    texts = (" ".join(plain(element).split()) for name in names for element in elements(raw, name))
    return next(filter(None, texts), None)


def _date(written: str) -> str | None:
    """As `iso`; here six digits are year, month and day: the papers that write so are of before 2000."""
    six = _SIX_DIGITS.fullmatch(written)
    return iso("19{}-{}-{}".format(*six.groups())) if six else iso(written)


def _date_in(id: str) -> str | None:
    dated = _DATED_ID.fullmatch(id)
    return iso("-".join(dated.groups())) if dated else None


_START = re.compile(rb"<DOC(\s[^<>]*)?>|<s\s[^<>]*docid", re.I)

FORMAT = register(
    Format(
        name="trec",
        description="SGML of TREC and LDC (AQUAINT, Gigaword): <DOC>s, or sentences tagged <s docid= num=>",
        suffixes=(".sgml", ".sgm", ".trec"),
        sniff=lambda head: head.startswith(b"<") and bool(_START.search(head)),
        read=read,
    )
)
