"""The SGML of news archives: Reuters-21578, and collections of TREC and LDC (AQUAINT, Gigaword).

This is not XML: ampersands are not escaped, tags are not closed, and a file has many roots. The loaders
therefore search for the few tags that matter.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    Format,
    InputError,
    Malformed,
    Record,
    Source,
    read_chunks,
    read_list,
    to_iso_date,
    to_one_line,
    too_long_error,
)
from esr.plugin.provisional import compile_lazily

_LONGEST_TAG = 1010
"""The length of the longest tag: patterns match at most 1,000 characters of attributes."""
_MOST_CHARACTERS = 8 * 2**20
_ATTRIBUTE = compile_lazily(r"""(\w+)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_TAG = compile_lazily(r"</?([A-Za-z]\w{0,40})(?:\s[^<>]{0,1000})?>")
_COMMENT = compile_lazily(r"<!--.{0,1000}?-->", re.S)
# Entities of the DTDs on TREC's disks that are not in HTML.
_TREC_ENTITIES = {"&hyph;": "-", "&blank;": " "}
_ENTITY = compile_lazily(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,30});", re.ASCII)


class Element(NamedTuple):
    """An element with its tags, its name in lower case, and the location of its start."""

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
    begin = position = 0  # start of the current element, and end of the searched text
    tag: re.Match[str] | None = None
    remaining = iter(chunks)
    while chunk := _read_at_least(remaining, len(text) - begin if tag else 1):
        # Keep the current element, or else a tag that may continue in this chunk.
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


def _read_at_least(chunks: Iterator[str], size: int) -> str:
    """The next chunks, joined up to this size or 8 Mi characters; "" at the end.

    As many as a long element has already: adding each chunk to it would take quadratic time.
    """
    pieces: list[str] = []
    missing = min(size, _MOST_CHARACTERS)
    while missing > 0 and (piece := next(chunks, "")):
        pieces.append(piece)
        missing -= len(piece)
    return "".join(pieces)


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


# Reuters-21578, the newswire of 1987: `<REUTERS NEWID=…>`s with title, dateline and body. The collection is
# by D. D. Lewis; its README describes the tags. The files are in ISO 8859-1.

_REUTERS_LISTS = ("PLACES", "PEOPLE", "ORGS", "EXCHANGES", "COMPANIES")
_AGENCY = compile_lazily(r",?\s+Reuters?$", re.I)
_CHUNK_BYTES = 2**16
_REUTERS_START = compile_lazily(rb"<!DOCTYPE lewis\b|<REUTERS\s", re.I)
_REUTERS_OPENING = compile_lazily(r"<(REUTERS)(?:\s[^<>]{0,1000})?>", re.I)
_REUTERS_CLOSING = compile_lazily(r"</REUTERS\s{0,9}>", re.I)
# Articles end with " Reuter\n\x03", "REUTER...", or both.
_CONTROL = compile_lazily(r"[\x00-\x08\x0b-\x1f]")
_CONTROL_ENTITY = compile_lazily(r"&#(?:[0-9]|[12][0-9]|3[01]);", re.ASCII)
_REUTERS_END = compile_lazily(r"(?:\s{0,9}\breuter[\s.\"]{0,20}){1,3}$", re.I)
# An indented line begins a new paragraph.
_INDENTED = compile_lazily(r"\n {3,}(?=\S)")


def _read_reuters(source: Source) -> Iterator[Record | Malformed]:
    """A record per `<REUTERS>`. Raises InputError if one has no end."""
    for where, _, raw in _split_documents(source):
        opening = _REUTERS_OPENING.match(raw)
        id = parse_attributes(opening[0]).get("newid") if opening else None
        if not id:
            yield Malformed(where, "this <REUTERS> has no NEWID: every document needs one")
        elif _REUTERS_OPENING.search(raw, 1):
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
    metadata = {name.lower(): values for name in _REUTERS_LISTS if (values := _read_reuters_list(raw, name))}
    return {
        "title": title,
        "date": date,
        "language": "en",
        "authors": read_list("authors", _AGENCY.sub("", " ".join(author.split()))),
        "keywords": _read_reuters_list(raw, "TOPICS"),
        "metadata": metadata,
        "text": _REUTERS_END.sub("", text.rstrip()),
    }


def _read_reuters_list(raw: str, name: str) -> list[str]:
    """The values in a list such as `<PLACES><D>usa</D><D>uk</D></PLACES>`."""
    lists = iterate_contents(raw, name)
    return [strip_markup(value).strip() for values in lists for value in iterate_contents(values, "D")]


def _split_documents(source: Source) -> Iterator[Element]:
    data = iter(lambda: source.stream.read(_CHUNK_BYTES), b"")
    chunks = (chunk.decode("latin-1") for chunk in data)
    return iterate_elements(source, chunks, _REUTERS_OPENING, {"reuters": _REUTERS_CLOSING})


# TREC and LDC: `<DOC>`s, plain or with tagged sentences, and the Novelty track's sentences without `<DOC>`.

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
_FBIS = compile_lazily(
    r"\s{0,99}Language:\s{0,9}<F P=105>[^<>]{0,99}</F>\s{0,9}Article Type:\s?\w{0,9}(?:\s+\[Text\])?"
)

_TREC_START = compile_lazily(rb"<DOC(\s[^<>]*)?>|<s\s[^<>]*docid", re.I)
_TREC_OPENING = compile_lazily(r"<(?:(DOC)(?:\s[^<>]{0,1000})?|(s)\s[^<>]{0,1000})>", re.I)
_TREC_CLOSING = {"doc": compile_lazily(r"</DOC\s{0,9}>", re.I), "s": compile_lazily(r"</s\s{0,9}>", re.I)}
_SENTENCE = compile_lazily(r"<s\s[^<>]{0,1000}>", re.I)
_SIX_DIGITS = compile_lazily(r"\W{0,99}(\d\d)(\d\d)(\d\d)\W{0,99}", re.ASCII)
# Ids of AQUAINT and Gigaword contain the day: XIE19990101.0001, AFP_ENG_19940512.0001
_DATED_ID = compile_lazily(r"[A-Z]{3}(?:_[A-Z]{3}_)?(\d{4})(\d\d)(\d\d)\.\d{4}", re.ASCII)


def _read_trec(source: Source) -> Iterator[Record | Malformed]:
    """A record per `<DOC>`, and per run of `<s>` outside of one with the same docid.

    Raises InputError if a `<DOC>` has no end.
    """
    for key, group in groupby(
        iterate_elements(source, read_chunks(source), _TREC_OPENING, _TREC_CLOSING), _group_key
    ):
        # Adjacent <DOC>s form one group, of which one is in memory at a time.
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
    """A key that is equal for a document's sentences outside of a `<DOC>`; None for a `<DOC>`."""
    if unit.name == "doc":
        return None
    docid = parse_attributes(_find_sentence_tags(unit)[0][0]).get("docid")
    return ("docid", docid) if docid else ("place", unit.where)


def _read_document(unit: Element) -> Record:
    if any(opening[1] for opening in _TREC_OPENING.finditer(unit.raw, 1)):
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
    opening = _TREC_OPENING.match(unit.raw)
    return parse_attributes(opening[0]).get("id") if opening else None


def _read_sentence(unit: Element, tag: re.Match[str]) -> dict[str, str]:
    """The fields of the sentence that this tag opens."""
    closing = _TREC_CLOSING["s"].search(unit.raw, tag.end())
    if closing is None or _SENTENCE.search(unit.raw, tag.end(), closing.start()):
        raise InputError(unit.where, f"the sentence {to_one_line(tag[0][:60])} has no </s>: close it")
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
    """The same as `_first_text`, but None for a long text, which is that of an unclosed element."""
    text = _first_text(raw, names)
    return text if text and len(text) <= _MAX_SHORT_TEXT else None


def _parse_date(written: str) -> str | None:
    """The same as `to_iso_date`, but six digits are a day of the 20th century (yymmdd)."""
    six = _SIX_DIGITS.fullmatch(written)
    return to_iso_date("19{}-{}-{}".format(*six.groups())) if six else to_iso_date(written)


def _date_in_id(id: str) -> str | None:
    match = _DATED_ID.fullmatch(id)
    return to_iso_date("-".join(match.groups())) if match else None


REUTERS = Format(
    "reuters",
    "SGML of Reuters-21578: <REUTERS>s with <TITLE> and <BODY>",
    suffixes=(".sgm",),
    sniff=lambda head: head.startswith(b"<") and bool(_REUTERS_START.search(head)),
    read=_read_reuters,
)


TREC = Format(
    "trec",
    "SGML of TREC and LDC (AQUAINT, Gigaword): <DOC>s, or sentences tagged <s docid= num=>",
    suffixes=(".sgml", ".sgm", ".trec"),
    sniff=lambda head: head.startswith(b"<") and bool(_TREC_START.search(head)),
    read=_read_trec,
    is_text=True,
)
