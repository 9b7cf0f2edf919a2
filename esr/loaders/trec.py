"""SGML of TREC and LDC: `<DOC>`s, plain or with tagged sentences, and bare sentences of the Novelty track.

This is not XML: ampersands are not escaped, tags are not closed, and a file has many roots. The loader
therefore searches for the few tags that matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from esr.errors import InputError
from esr.loaders.encoding import read_chunks
from esr.loaders.fields import read_list
from esr.loaders.format import Format, Malformed, Record, Source, register
from esr.loaders.sgml import Element, iterate_contents, iterate_elements, parse_attributes, strip_markup
from esr.text.written_dates import to_iso_date

# The Associated Press, The Wall Street Journal, Xinhua and others use different tags for the same field.
_IDS = ("DOCNO", "DOCID")
_TITLES = ("HEADLINE", "TITLE", "HL", "HEAD", "TI")
_DATES = ("DATE_TIME", "DATETIME", "DATE", "DATE1", "DD")
_SOURCES = ("PUB", "SOURCE", "SO")
_MAX_SHORT_TEXT = 1000
_AUTHORS = ("BYLINE", "AUTHOR")
_SECTIONS = ("SECTION",)
_KEYWORDS = ("KEYWORD", "KEYWORDS", "SUBJECT")
_BODIES = ("LP", "LEADPARA", "TEXT")  # a lead paragraph precedes the text
# Texts of the Foreign Broadcast Information Service begin with this.
_FBIS = re.compile(
    r"\s{0,99}Language:\s{0,9}<F P=105>[^<>]{0,99}</F>\s{0,9}Article Type:\s?\w{0,9}(?:\s+\[Text\])?"
)

_OPENING = re.compile(r"<(?:(DOC)(?:\s[^<>]{0,1000})?|(s)\s[^<>]{0,1000})>", re.I)
_CLOSING = {"doc": re.compile(r"</DOC\s{0,9}>", re.I), "s": re.compile(r"</s\s{0,9}>", re.I)}
_SENTENCE = re.compile(r"<s\s[^<>]{0,1000}>", re.I)
_SIX_DIGITS = re.compile(r"\W{0,99}(\d\d)(\d\d)(\d\d)\W{0,99}", re.ASCII)
# Ids of AQUAINT and Gigaword contain the day: XIE19990101.0001, AFP_ENG_19940512.0001
_DATED_ID = re.compile(r"[A-Z]{3}(?:_[A-Z]{3}_)?(\d{4})(\d\d)(\d\d)\.\d{4}", re.ASCII)


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record per `<DOC>`, and per run of bare `<s>` with the same docid.

    Raises InputError where a `<DOC>` has no end.
    """
    for key, group in groupby(iterate_elements(source, read_chunks(source), _OPENING, _CLOSING), _group_key):
        # Adjacent <DOC>s form one group, of which only one is held at a time.
        for units in ([unit] for unit in group) if key is None else (list(group),):
            try:
                yield _read_document(units[0]) if key is None else _read_bare_sentences(units)
            except InputError as error:
                yield Malformed(error.where, error.problem)


def _read_bare_sentences(units: list[Element]) -> Record:
    id = _docid(units[0], _find_sentence_tags(units[0])[0])
    sentences = [_read_sentence(unit, _find_sentence_tags(unit)[0]) for unit in units]
    return Record(units[0].where, {"id": id, "date": _date_in_id(id), "sentences": sentences})


def _group_key(unit: Element) -> tuple[str, str] | None:
    """Equal for all bare sentences of a document; None for a `<DOC>`, which is a complete document."""
    if unit.name == "doc":
        return None
    docid = parse_attributes(_find_sentence_tags(unit)[0][0]).get("docid")
    return ("docid", docid) if docid else ("place", unit.where)


def _read_document(unit: Element) -> Record:
    if any(opening[1] for opening in _OPENING.finditer(unit.raw, 1)):
        raise InputError(unit.where, "this <DOC> contains another one: add the missing </DOC>")
    tags = [tag for tag in _find_sentence_tags(unit) if "docid" in parse_attributes(tag[0])]
    id = _first_text(unit.raw, _IDS) or _id_attribute(unit) or (_docid(unit, tags[0]) if tags else None)
    if not id:
        raise InputError(unit.where, "this <DOC> has no <DOCNO>: every document needs one")
    for docid in (_docid(unit, tag) for tag in tags):
        if docid != id:
            raise InputError(
                unit.where, f"a sentence of document {id!r} has the docid {docid!r}: correct one of them"
            )
    dates = (_parse_date(strip_markup(date)) for name in _DATES for date in iterate_contents(unit.raw, name))
    fields: dict[str, Any] = {
        "id": id,
        "title": _first_text(unit.raw, _TITLES),
        "date": next(filter(None, dates), None) or _date_in_id(id),
        "source": _first_text(unit.raw, _SOURCES),
        "authors": read_list("authors", _short_text(unit.raw, _AUTHORS) or ""),
        "section": _short_text(unit.raw, _SECTIONS),
        "keywords": read_list("keywords", _short_text(unit.raw, _KEYWORDS) or ""),
    }
    if tags:
        fields["sentences"] = [_read_sentence(unit, tag) for tag in tags]
    else:
        bodies = [body for name in _BODIES for body in iterate_contents(unit.raw, name)]
        fields["text"] = "\n\n".join(strip_markup(_FBIS.sub("", body, count=1)) for body in bodies)
    return Record(unit.where, fields)


def _id_attribute(unit: Element) -> str | None:
    """The id of a `<DOC id="AFP_ENG_19940512.0001">`, as in Gigaword and AQUAINT-2, which lack `<DOCNO>`."""
    opening = _OPENING.match(unit.raw)
    return parse_attributes(opening[0]).get("id") if opening else None


def _read_sentence(unit: Element, tag: re.Match[str]) -> dict[str, str]:
    """The fields of the sentence that this tag opens."""
    closing = _CLOSING["s"].search(unit.raw, tag.end())
    if closing is None or _SENTENCE.search(unit.raw, tag.end(), closing.start()):
        raise InputError(unit.where, f"the sentence {tag[0][:60]} has no </s>: close it")
    text = " ".join(strip_markup(unit.raw[tag.end() : closing.start()]).split())
    return {"id": f"{_docid(unit, tag)}:{parse_attributes(tag[0])['num']}", "text": text}


def _find_sentence_tags(unit: Element) -> list[re.Match[str]]:
    return list(_SENTENCE.finditer(unit.raw))


def _docid(unit: Element, tag: re.Match[str]) -> str:
    attributes = parse_attributes(tag[0])
    if not attributes.get("docid") or not attributes.get("num"):
        raise InputError(
            unit.where, 'a sentence needs a docid and a num, like <s docid="XIE19990101.0001" num="1">'
        )
    return attributes["docid"]


def _first_text(raw: str, names: tuple[str, ...]) -> str | None:
    """The first non-empty text of these elements, on one line."""
    texts = (" ".join(strip_markup(part).split()) for name in names for part in iterate_contents(raw, name))
    return next(filter(None, texts), None)


def _short_text(raw: str, names: tuple[str, ...]) -> str | None:
    """Like `_first_text`, but None for a long text: an unclosed element contains the rest of the document."""
    text = _first_text(raw, names)
    return text if text and len(text) <= _MAX_SHORT_TEXT else None


def _parse_date(written: str) -> str | None:
    """Like `to_iso_date`, but six digits are a day of the 20th century (yymmdd), as in early newspapers."""
    six = _SIX_DIGITS.fullmatch(written)
    return to_iso_date("19{}-{}-{}".format(*six.groups())) if six else to_iso_date(written)


def _date_in_id(id: str) -> str | None:
    match = _DATED_ID.fullmatch(id)
    return to_iso_date("-".join(match.groups())) if match else None


_START = re.compile(rb"<DOC(\s[^<>]*)?>|<s\s[^<>]*docid", re.I)

FORMAT = register(
    Format(
        name="trec",
        description="SGML of TREC and LDC (AQUAINT, Gigaword): <DOC>s, or sentences tagged <s docid= num=>",
        suffixes=(".sgml", ".sgm", ".trec"),
        sniff=lambda head: head.startswith(b"<") and bool(_START.search(head)),
        read=read,
        is_text=True,
    )
)
