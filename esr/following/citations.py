"""Citations of the articles of sentences: a line, BibTeX, RIS and CSL-JSON; and URNs of sentences and feeds.

The URN of a sentence is made of the document's id and the sentence's text, so it is stable across loads.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from esr.index.hits import SentenceRecord
from esr.registry import Registry
from esr.stdlib import hash64
from esr.text.dates import normalise_date
from esr.text.document import value_key


class Cited(NamedTuple):
    """A sentence to cite, with a reader's note and tags."""

    record: SentenceRecord
    note: str = ""
    tags: tuple[str, ...] = ()


class CitationFormat(Struct, frozen=True):
    """A format of citations. `suffix` is the end of the addresses of its files.

    `pieces` yields the file as pieces of text, about one for each sentence.
    """

    name: str
    label: str
    suffix: str
    media_type: str
    pieces: Callable[[Iterable[Cited]], Iterator[str]]

    def render(self, records: Iterable[SentenceRecord]) -> str:
        """The citations of the sentences."""
        return "".join(self.pieces(map(Cited, records)))


class Article(Protocol):
    """The fields of a citation, which documents, sentences and hits have."""

    @property
    def title(self) -> str | None: ...
    @property
    def date(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def url(self) -> str | None: ...
    @property
    def authors(self) -> tuple[str, ...]: ...


def cite(document_id: str, of: Article) -> str:
    """An article as one line: its authors, title, source, day and address, without unknown ones."""
    title = f"“{of.title}”" if of.title else f"document {document_id}"
    day = "-".join(filter(None, _date_parts(of.date)))
    return _one_line(", ".join(filter(None, (*of.authors, title, of.source, day, of.url))))


def to_bibtex(sentences: Iterable[Cited]) -> Iterator[str]:
    """An `@article` for each sentence, with the sentence as its note."""
    for n, (key, cited) in enumerate(_with_keys(sentences)):
        yield ("\n" if n else "") + _bibtex_entry(key, cited)


def to_ris(sentences: Iterable[Cited]) -> Iterator[str]:
    """A newspaper article for each sentence, with the sentence as its abstract."""
    for key, cited in _with_keys(sentences):
        yield _ris_entry(key, cited)


def to_csl(sentences: Iterable[Cited]) -> Iterator[str]:
    """A list of items of type article-newspaper, each with the sentence as its abstract."""
    yield "["
    n = -1
    for n, (key, cited) in enumerate(_with_keys(sentences)):
        item = json.dumps([_csl_item(key, cited)], indent=1, ensure_ascii=False)
        yield ("," if n else "") + item.removeprefix("[").removesuffix("\n]")
    yield "]\n" if n < 0 else "\n]\n"


def _with_keys(sentences: Iterable[Cited]) -> Iterator[tuple[str, Cited]]:
    """Yield each sentence with a unique key: the id's letters and digits, with a number if already used."""
    used: set[str] = set()
    numbers: dict[str, int] = {}
    for cited in sentences:
        key = base = re.sub(r"[^A-Za-z0-9]+", "-", cited.record.sentence_id).strip("-") or "sentence"
        while key.lower() in used:
            number = numbers[base.lower()] = numbers.get(base.lower(), 1) + 1
            key = f"{base}-{number}"
        used.add(key.lower())
        yield key, cited


_BIBTEX_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    "{": r"\textbraceleft{}",  # BibTeX counts even braces after a backslash
    "}": r"\textbraceright{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _bibtex_entry(key: str, cited: Cited) -> str:
    """The BibTeX entry. Titles are in double braces, so that styles do not change their case."""
    record = cited.record
    year, month, day = _date_parts(record.date)
    fields = {
        "title": f"{{{_bibtex_text(record.title or record.document_id)}}}",
        "journal": _bibtex_text(record.source or ""),
        "year": year,
        "month": str(int(month)) if month else "",
        "day": str(int(day)) if day else "",
        "url": re.sub(r"[{}\\]", lambda sign: f"%{ord(sign[0]):02X}", _one_line(record.url or "")),
        "note": f"``{_bibtex_text(record.text)}''",
        "annote": _bibtex_text(cited.note),
        "keywords": _bibtex_text(", ".join(cited.tags)),
    }
    lines = (f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@article{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _bibtex_text(text: str) -> str:
    return "".join(_BIBTEX_SIGNS.get(sign, sign) for sign in _one_line(text))


def _ris_entry(key: str, cited: Cited) -> str:
    record = cited.record
    year, month, day = _date_parts(record.date)
    fields = (
        ("TY", "NEWS"),
        ("ID", key),
        ("TI", record.title or record.document_id),
        ("T2", record.source),
        ("PY", year),
        ("DA", f"{year}/{month}/{day}/" if year else None),
        ("AB", record.text),
        ("UR", record.url),
        ("LA", record.language),
        ("N1", cited.note),
        *(("KW", tag) for tag in cited.tags),
    )
    lines = (f"{tag}  - {_one_line(value)}\r\n" for tag, value in fields if value)
    return "".join(lines) + "ER  - \r\n\r\n"


def _csl_item(key: str, cited: Cited) -> dict[str, Any]:
    record = cited.record
    parts = [int(part) for part in _date_parts(record.date) if part]
    fields = {
        "id": key,
        "type": "article-newspaper",
        "title": record.title or record.document_id,
        "container-title": record.source,
        "issued": {"date-parts": [parts]} if parts else None,
        "URL": record.url,
        "abstract": record.text,
        "language": record.language,
        "note": cited.note,
        "keyword": ", ".join(cited.tags),
    }
    return {name: value for name, value in fields.items() if value}


def _date_parts(date: str | None) -> tuple[str, str, str]:
    """Year, month and day as written, empty if not given."""
    match = re.match(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?![\dW])", normalise_date(date or ""), re.ASCII)
    return (match[1], match[2] or "", match[3] or "") if match else ("", "", "")


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


CITATIONS: Registry[CitationFormat] = Registry("citation format")
for _format in (
    CitationFormat("bibtex", "BibTeX", "bib", "application/x-bibtex", to_bibtex),
    CitationFormat("ris", "RIS", "ris", "application/x-research-info-systems", to_ris),
    CitationFormat("csl", "CSL-JSON", "csl", "application/vnd.citationstyles.csl+json", to_csl),
):
    CITATIONS.register(_format)


_NAMESPACE = uuid.UUID("6f5a4c1e-0b7d-5c52-9a63-3c8c1b1f6f0e")


def text_digest(text: str) -> str:
    """16 hexadecimal digits of a sentence's text, ignoring case and white space."""
    return f"{hash64(value_key(text)):016x}"


def sentence_urn(record: SentenceRecord) -> str:
    """The URN of a sentence, which is stable across loads that keep the document's id."""
    return _urn(f"{record.document_id}\n{text_digest(record.text)}")


def feed_urn(parts: Iterable[tuple[str, str]]) -> str:
    """The URN of a search's feed: the same for the same parts in any order, on any host."""
    return _urn("\n".join(sorted(f"{name}={value}" for name, value in parts)))


def _urn(name: str) -> str:
    # An id may have half of a surrogate pair, which UTF-8 cannot encode.
    return uuid.uuid5(_NAMESPACE, name.encode("utf-8", "replace").decode()).urn
