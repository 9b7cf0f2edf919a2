"""TEI: parliamentary debates (ParlaMint), one document per speech, and other texts, one document each.

Files are read element by element, so debates of any length fit into memory.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    Format,
    InputError,
    Record,
    Source,
    make_id,
    make_id_from_path,
    read_list,
    to_iso_date,
)
from esr.plugin.provisional import join_lines, markup

_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_BLOCKS = ("p", "head", "ab", "l", "item", "row", "sp", "opener", "closer", "byline", "dateline", "trailer")
_NAMES = frozenset(("teiHeader", "standOff", "u", "front", "back", *_BLOCKS))
# Notes of the editors (applause, the name of the speaker), and text replaced by an editor's correction.
_SKIPPED = frozenset(
    ("note", "fw", "figDesc", "sic", "orig", "abbr", "del", "kinesic", "vocal", "incident", "gap")
)
_PARTS = frozenset(("seg", "p", "l", "head", "item", "lg", "sp", "ab"))


def read(source: Source) -> Iterator[Record]:
    """A record per speech `<u>`, or else per text. Raises InputError where the XML is broken.

    Notes such as "Applause" are no part of a speech. Front and back matter are left out.
    """
    header: dict[str, Any] = {}
    persons: dict[str, str] = {}
    # Only the text after the last header is read: the headers of a corpus come first and have no text.
    body: list[str] = []
    where = source.name
    size = texts = speeches = 0
    heading = None  # the last heading, which is added to the text of its division
    for element in markup.iterate_elements(source, _NAMES):
        name = markup.local_name(element)
        if name in ("teiHeader", "standOff"):
            for person in markup.find_all(element, "person"):
                persons |= _read_person(person)
        if name == "teiHeader":
            if body:
                yield _build_text(source, where, header, body, texts)
                texts += 1
            header, body, size = _read_header(element), [], 0
            header["language"] = header["language"] or _find_language(element)
            where = f"{source.name}:{element.sourceline}"
        elif name == "u":
            speeches += 1
            parent = element.getparent()
            title = heading[1] if heading and heading[0] is parent else None
            if record := _build_speech(source, element, {**header, "heading": title}, persons, speeches):
                yield record
        elif name in _BLOCKS and (text := _to_text(element)):
            heading = (element.getparent(), text) if name == "head" else heading
            body.append(text)
            size += len(text)
            if size > MAX_DOCUMENT_BYTES:
                raise InputError(
                    where, f"this text is longer than {MAX_DOCUMENT_BYTES // 2**20} MiB: split it"
                )
    # Outside of its speeches, a debate has only titles and notes.
    if body and not speeches:
        yield _build_text(source, where, header, body, texts)


def _read_header(header: Any) -> dict[str, Any]:
    """The fields of a document in a header, with the id of its text as `text_id`."""
    statement = markup.find_first(header, "titleStmt")
    titles = markup.find_children(statement, "title")
    mains = [title for title in titles if title.get("type") in (None, "main")]
    sittings = [title for title in titles if title.get("type") == "sub"]
    authors = map(markup.to_line, markup.find_children(statement, "author"))
    meetings = [text for m in markup.find_all(header, "meeting") if (text := markup.to_line(m))]
    language = markup.attribute(markup.find_first(header, "profileDesc", "language"), "ident")
    return {
        "title": _choose_title(mains) or _choose_title(titles),
        "sitting": _choose_title(sittings),
        "date": _find_date(header),
        "source": _find_source(header),
        "language": language or None,
        "authors": [name for author in authors for name in read_list("authors", author) or []],
        "section": meetings[0] if meetings else None,
    }


def _choose_title(titles: list[Any]) -> str | None:
    """The first title, preferably not in English, without a remark on samples."""
    originals = [title for title in titles if title.get(markup.LANGUAGE) != "en"] or titles
    return re.sub(r"\s*\[ParlaMint[^\]]*\]", "", markup.to_line(originals[0])) or None if originals else None


def _find_source(header: Any) -> str | None:
    """The publisher of the printed source, or the parliament or its country, or else the file's publisher."""
    printed = markup.to_line(markup.find_first(header, "sourceDesc", "publisher"))
    setting = markup.find_first(header, "setting")
    names = {n.get("type"): markup.to_line(n) for n in markup.find_all(setting, "name")}
    publisher = markup.find_first(header, "publicationStmt", "publisher")
    return printed or names.get("org") or names.get("country") or markup.to_line(publisher) or None


def _find_language(element: Any) -> str | None:
    """The language declared by the element or the nearest one around it; None if none declares it."""
    while element is not None and not element.get(markup.LANGUAGE):
        element = element.getparent()
    return markup.attribute(element, markup.LANGUAGE) or None


def _find_date(header: Any) -> str | None:
    for path in (
        ("settingDesc", "date"),
        ("sourceDesc", "date"),
        ("creation", "date"),
        ("publicationStmt", "date"),
    ):
        element = markup.find_first(header, *path)
        stated = next(filter(None, (markup.attribute(element, n) for n in ("when", "from", "notBefore"))), "")
        if date := to_iso_date(stated or markup.to_line(element)):
            return date
    return None


def _read_person(person: Any) -> dict[str, str]:
    """The name of a person by their id."""
    id, name = person.get(_XML_ID), markup.find_first(person, "persName")
    if not id or name is None:
        return {}
    parts = {markup.local_name(part): markup.to_line(part) for part in reversed(name)}
    return {id: " ".join(filter(None, (parts.get("forename"), parts.get("surname")))) or markup.to_line(name)}


_LISTS = ("*listPerson*.xml", "../*listPerson*.xml")
_CORPUS_BYTES = 2**16
"""Bytes of a file that are searched for the element of a corpus, after declarations and comments."""


@lru_cache(maxsize=4)
def _read_lists(folder: Path, corpus: str, changed: int) -> dict[str, str]:
    """The names of persons by id, from the lists in the folder of a corpus or the one above.

    A list may be in the header of the corpus, whose file name is the beginning of those of its texts.
    `changed`, the modification time of the folder, is a cache key.
    """
    persons: dict[str, str] = {}
    headers = (path for name in (f"{corpus}.xml", f"../{corpus}.xml") for path in folder.glob(name))
    for path in (
        *filter(_is_corpus, headers),
        *(p for pattern in _LISTS for p in sorted(folder.glob(pattern))),
    ):
        with path.open("rb") as stream:
            source = Source(str(path), str(path), stream)
            for person in markup.iterate_elements(source, frozenset({"person"})):
                persons |= _read_person(person)
    return persons


def _is_corpus(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"<teiCorpus" in stream.read(_CORPUS_BYTES)


def _build_speech(
    source: Source, speech: Any, header: dict[str, Any], persons: dict[str, str], number: int
) -> Record | None:
    text = _to_text(speech)
    if not text:
        return None
    who = speech.get("who", "").removeprefix("#")
    listed: dict[str, str] = {}
    if source.path and who not in persons:
        path = Path(source.path).resolve()
        corpus = glob.escape(path.name.partition("_")[0])
        listed = _read_lists(path.parent, corpus, path.parent.stat().st_mtime_ns)
    speaker = persons.get(who) or listed.get(who) or _name_from_id(who)
    id = speech.get(_XML_ID) or f"{make_id_from_path(source)}.{number}"
    about = {"speaker": who, "role": speech.get("ana", "").replace("#", ""), "sitting": header.get("sitting")}
    fields = {
        **_without_debate(header),
        "id": make_id(id),
        "title": header.get("heading") or header.get("sitting") or header.get("title"),
        "language": _find_language(speech) or header.get("language"),
        "authors": [speaker] if speaker else [],
        "metadata": {name: value for name, value in about.items() if value},
        "text": text,
    }
    return Record(f"{source.name}:{speech.sourceline}", fields)


def _name_from_id(id: str) -> str:
    """The name in an id: "Jane Doe" for "JaneDoe" and "Doe.Jane"."""
    parts = id.split(".")
    if len(parts) == 2:
        return " ".join(reversed(parts)).strip()
    return re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", re.sub(r"[_.]", " ", id)).strip()


def _build_text(source: Source, where: str, header: dict[str, Any], body: list[str], number: int) -> Record:
    id = make_id_from_path(source)
    title = header.get("title")
    paragraphs = body[1:] if title and body[0] == title else body
    fields = _without_debate(header)
    return Record(
        where, {**fields, "id": f"{id}.{number}" if number else id, "text": "\n\n".join(paragraphs)}
    )


def _without_debate(header: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in header.items() if name not in ("heading", "sitting")}


def _to_text(element: Any) -> str:
    """The text of an element, with blank lines between its parts; words cut by line ends are joined."""
    pieces: list[str] = []
    _collect(element, pieces)
    paragraphs = "".join(pieces).split(_BREAK)
    return "\n\n".join(filter(None, (join_lines(p.split(_LINE)) for p in paragraphs)))


_BREAK, _LINE = "\0", "\1"  # XML cannot contain these characters
_ENDS = {"lb": _LINE, "pb": " ", "cb": " "}


def _collect(element: Any, pieces: list[str]) -> None:
    name = markup.local_name(element)
    if not name or name in _SKIPPED:
        return
    is_annotated = name == "s" and markup.find_first(element, "w") is not None
    if is_annotated:
        pieces += (_join_words(element), " ")
        return
    if name in _ENDS and element.get("break") == "no":
        _cut_hyphen(pieces)
        return
    pieces.append(_ENDS.get(name, ""))
    end = _BREAK if name in _PARTS else ""
    pieces += (end, _fold(element.text))
    for child in element:
        _collect(child, pieces)
        is_cut = markup.local_name(child) in _ENDS and child.get("break") == "no"
        pieces.append(_fold(child.tail).lstrip() if is_cut else _fold(child.tail))
    pieces.append(end)


def _fold(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _cut_hyphen(pieces: list[str]) -> None:
    """Remove the hyphen, and the blanks after it, of a word that continues in the next line."""
    while pieces and not pieces[-1].strip():
        pieces.pop()
    if pieces:
        pieces[-1] = re.sub(r"[-\u00ad\u00ac\u2010]$", "", pieces[-1].rstrip())


def _join_words(sentence: Any) -> str:
    """The text of an annotated sentence. The attribute `join` says where no blank separates words."""
    text = ""
    is_joined = True
    for word in markup.find_all(sentence, "w", "pc"):
        parent = word.getparent()
        if parent is not None and markup.local_name(parent) == "w":  # the parts of a contraction
            continue
        join = word.get("join", "")
        text += ("" if is_joined or join in ("left", "both") else " ") + "".join(word.itertext()).strip()
        is_joined = join in ("right", "both")
    return text


TEI = Format(
    "tei",
    "TEI: speeches of parliaments (ParlaMint), by their speakers, or one document per text",
    suffixes=(".tei",),
    sniff=markup.sniff("TEI", "teiCorpus", "TEI.2"),
    read=read,
    needs=("lxml.etree",),
    may_lack_documents=True,
)
