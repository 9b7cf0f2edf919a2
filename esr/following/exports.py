"""Sentences for other programs: citations of their articles, and files of any number of hits.

A citation is a line, in one of the styles of `citation_styles.py`, BibTeX, RIS or CSL-JSON. The formats of
files are a registry, each with a writer that needs little memory: it gets hits one by one and yields bytes.
Tables have a column for each requested field. A value that a spreadsheet could take for a formula is written
as text.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from unicodedata import category

from msgspec import Struct

from esr.extras import require
from esr.following.citation_styles import SINGLE_QUOTES, STYLES, Reference, quote_inside, split_name
from esr.index.hits import Hit, SentenceRecord
from esr.ranking.answers import COLUMNS, guard_formula, require_record
from esr.registry import Registry
from esr.stdlib import batched, import_lazily, replace_nonfinite
from esr.text.addresses import web_url
from esr.text.attributes import META_PREFIX
from esr.text.dates import is_iso_date, normalise_date
from esr.text.languages import JOINERS
from esr.wording import LONG_TITLE_CHARS, shorten_title

if TYPE_CHECKING:
    import csv
    import tempfile

    import xlsxwriter
    from xlsxwriter import exceptions
else:
    csv = import_lazily("csv")
    exceptions = import_lazily("xlsxwriter.exceptions")
    tempfile = import_lazily("tempfile")
    xlsxwriter = import_lazily("xlsxwriter")

# Citations


class Cited(NamedTuple):
    """A sentence to cite, with a reader's note and tags, its permanent link, and the day it was read."""

    record: SentenceRecord
    note: str = ""
    tags: tuple[str, ...] = ()
    permalink: str = ""
    accessed: date | None = None

    @property
    def day_read(self) -> date:
        """The day of access, by default the present one in UTC."""
        return self.accessed or datetime.now(UTC).date()

    @property
    def address(self) -> str:
        """The article at its source or, without its address, the sentence in esr."""
        return web_url(self.record.url) or web_url(self.permalink) or ""


class CitationFormat(Struct, frozen=True):
    """A format of citations. `suffix` is the end of the addresses of its files.

    `pieces` yields the file as pieces of text, about one for each sentence.
    """

    name: str
    label: str
    suffix: str
    media_type: str
    pieces: Callable[[Iterable[Cited]], Iterator[str]]

    def render(self, sentences: Iterable[SentenceRecord | Cited]) -> str:
        """The citations of the sentences."""
        cited = (sentence if isinstance(sentence, Cited) else Cited(sentence) for sentence in sentences)
        return "".join(self.pieces(cited))

    @property
    def ending(self) -> str:
        """The end of the names of its files."""
        return "json" if self.media_type.endswith("json") else self.suffix


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
    """An article as one line: its authors, title, source, day and web address, without unknown ones.

    Only the title is in double quotation marks. Those inside the fields become single ones, so that no title
    can end early and go on as another source. Other addresses than those of the web are left out.
    """
    title = f"document {document_id}"
    if of.title:
        title = f"“{shorten_title(of.title, LONG_TITLE_CHARS).translate(SINGLE_QUOTES)}”"
    authors = (author.translate(SINGLE_QUOTES) for author in of.authors)
    source = (of.source or "").translate(SINGLE_QUOTES)
    day = "-".join(filter(None, _date_parts(of.date)))
    return _one_line(", ".join(filter(None, (*authors, title, source, day, web_url(of.url)))))


def to_lines(style: Callable[[Reference], str], sentences: Iterable[Cited]) -> Iterator[str]:
    """The articles of the sentences as lines in a style, each article once."""
    known: set[str] = set()
    for cited in sentences:
        if cited.record.document_id in known:
            continue
        known.add(cited.record.document_id)
        yield style(make_reference(cited)) + "\n"


def make_reference(cited: Cited) -> Reference:
    """What a style prints of the article of a sentence."""
    record = cited.record
    return Reference(
        [split_name(author) for author in record.authors],
        _one_line(shorten_title(record.title or record.document_id, LONG_TITLE_CHARS)),
        _one_line(record.source or ""),
        _date_parts(record.date),
        cited.address,
        cited.day_read,
    )


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
        "author": " and ".join(_bibtex_name(author) for author in record.authors),
        "title": f"{{{_bibtex_text(record.title or record.document_id)}}}",
        "journal": _bibtex_text(record.source or ""),
        "year": year,
        "month": str(int(month)) if month else "",
        "day": str(int(day)) if day else "",
        "url": _bibtex_address(cited.address),
        "urldate": f"{cited.day_read}" if cited.address else "",
        "permalink": _bibtex_address(cited.permalink),
        "note": f"``{_bibtex_text(quote_inside(record.text))}''",
        "annote": _bibtex_text(cited.note),
        "keywords": _bibtex_text(", ".join(cited.tags)),
    }
    lines = (f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@article{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _bibtex_text(text: str) -> str:
    return "".join(_BIBTEX_SIGNS.get(sign, sign) for sign in _one_line(text))


def _bibtex_name(author: str) -> str:
    """A person's name by the family name; in braces, BibTeX does not split another."""
    name = split_name(author)
    return _bibtex_text(name.inverted) if name.given else f"{{{_bibtex_text(name.family)}}}"


def _bibtex_address(address: str) -> str:
    return re.sub(r"[{}\\]", lambda sign: f"%{ord(sign[0]):02X}", address)


def _ris_entry(key: str, cited: Cited) -> str:
    record = cited.record
    year, month, day = _date_parts(record.date)
    fields = (
        ("TY", "NEWS"),
        ("ID", key),
        *(("AU", split_name(author).inverted) for author in record.authors),
        ("TI", record.title or record.document_id),
        ("T2", record.source),
        ("PY", year),
        ("DA", f"{year}/{month}/{day}/" if year else None),
        ("AB", record.text),
        ("UR", cited.address),
        ("Y2", f"{cited.day_read:%Y/%m/%d}/" if cited.address else None),
        ("L2", cited.permalink if cited.permalink != cited.address else None),
        ("LA", record.language),
        ("N1", cited.note),
        *(("KW", tag) for tag in cited.tags),
    )
    lines = (f"{tag}  - {_one_line(value)}\r\n" for tag, value in fields if value)
    return "".join(lines) + "ER  - \r\n\r\n"


def _csl_item(key: str, cited: Cited) -> dict[str, Any]:
    record = cited.record
    parts = [int(part) for part in _date_parts(record.date) if part]
    day = cited.day_read
    fields = {
        "id": key,
        "type": "article-newspaper",
        "title": record.title or record.document_id,
        "container-title": record.source,
        "issued": {"date-parts": [parts]} if parts else None,
        "author": [_csl_name(author) for author in record.authors],
        "URL": cited.address,
        "accessed": {"date-parts": [[day.year, day.month, day.day]]} if cited.address else None,
        "custom": {"permalink": cited.permalink} if cited.permalink else None,
        "abstract": record.text,
        "language": record.language,
        "note": cited.note,
        "keyword": ", ".join(cited.tags),
    }
    return {name: value for name, value in fields.items() if value}


def _csl_name(author: str) -> dict[str, str]:
    name = split_name(author)
    return {"family": name.family, "given": name.given} if name.given else {"literal": name.family}


def _date_parts(written: str | None) -> tuple[str, str, str]:
    """Year, month and day as written, empty if not given or not in the calendar."""
    date = normalise_date(written or "")
    match = re.match(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?![\dW])", date, re.ASCII)
    if match and not is_iso_date(match[0]):
        match = None
    return (match[1], match[2] or "", match[3] or "") if match else ("", "", "")


def _one_line(text: str) -> str:
    return " ".join("".join(map(_make_printable, text)).split())


def _make_printable(sign: str) -> str:
    """The sign, nothing for an invisible one, such as a soft hyphen, or a blank for a control character."""
    if sign.isprintable() or sign in JOINERS:
        return sign
    return "" if category(sign) == "Cf" else " "


CITATIONS: Registry[CitationFormat] = Registry("citation format")
for _citation in (
    *(
        CitationFormat(label.lower(), label, f"{label.lower()}.txt", "text/plain", partial(to_lines, style))
        for label, style in STYLES.items()
    ),
    CitationFormat("bibtex", "BibTeX", "bib", "application/x-bibtex", to_bibtex),
    CitationFormat("ris", "RIS", "ris", "application/x-research-info-systems", to_ris),
    CitationFormat("csl", "CSL-JSON", "csl", "application/vnd.citationstyles.csl+json", to_csl),
):
    CITATIONS.register(_citation)


# Files


RANK = "rank"
FIELDS = (RANK, "score", *SentenceRecord._fields, "direction", "copies", "metadata", "permalink")
"""The fields of a hit in files, in addition to keys of the metadata such as `meta.desk`."""


NOTE, TAGS, SPEAKER = "note", "tags", "speaker"
"""Fields of clippings: a text and a list of texts that readers add, and the speaker of a quotation."""


class Row(NamedTuple):
    """A hit, and its fields by name; keys of the metadata are in `metadata`."""

    hit: Hit
    fields: Mapping[str, Any]


Write = Callable[[Iterable[Row], Sequence[str]], Iterator[bytes]]


class ExportFormat(Struct, frozen=True):
    """A format of files. `suffix` is the end of a file's address, `ending` that of its name.

    `write` gets the columns, or none for the default ones. `has_columns`: whether they can be chosen.
    `needs`: the optional module that it needs, if any; `most`: its maximum number of rows, or None.
    """

    name: str
    label: str
    suffix: str
    media_type: str
    write: Write
    ending: str
    has_columns: bool = True
    needs: str = ""
    most: int | None = None

    def check(self) -> None:
        """Raise UsageError if the module that the format needs is missing."""
        if self.needs:
            require(f"the format {self.name}", self.needs)


_BATCH = 500
"""Rows written at a time."""
_MARK = "\ufeff".encode()
"""The byte order mark, by which spreadsheets recognise UTF-8."""


def write_csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A table in UTF-8 with a byte order mark."""
    columns = columns or COLUMNS
    yield _MARK + _csv_lines([columns])
    for batch in batched(rows, _BATCH):
        yield _csv_lines([_guarded(_cell(row, column)) for column in columns] for row in batch)


def write_jsonl(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A line of JSON for each hit, with the chosen fields, or all that have a value."""
    for batch in batched(rows, _BATCH):
        yield "".join(_json_line(row) for row in batch).encode()


def write_xlsx(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A sheet of texts and numbers, without formulas. It is first written to disk, as the format requires."""
    columns = columns or COLUMNS
    with tempfile.TemporaryFile() as file:
        try:
            with xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
                sheet = book.add_worksheet("sentences")
                sheet.freeze_panes(1, 0)
                for n, column in enumerate(columns):
                    sheet.set_column(n, n, _WIDTHS.get(column, _USUAL_WIDTH))
                    sheet.write_string(0, n, column)
                for line, row in enumerate(rows, 1):
                    for n, column in enumerate(columns):
                        value = _cell(row, column)
                        if isinstance(value, str):
                            sheet.write_string(line, n, _encodable(value)[:_MOST_IN_CELL])
                        else:
                            sheet.write_number(line, n, value)
        except exceptions.FileCreateError as error:
            raise error.args[0] from None  # the OSError of the disk
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


_WIDTHS = {RANK: 6, "score": 10, "position": 8, "text": 80, "title": 40}
_USUAL_WIDTH = 16
_MOST_IN_CELL = 32_767
"""Maximum characters of a cell in Excel."""
XLSX_ROWS = 1_048_575
"""Maximum rows of a sheet in Excel below the names of columns."""
_PIECE = 1 << 16


def _write_citations(
    citation: CitationFormat, rows: Iterable[Row], columns: Sequence[str]
) -> Iterator[bytes]:
    sentences = (
        Cited(
            require_record(row.hit),
            _note_of(row),
            tuple(row.fields.get(TAGS, ())),
            web_url(row.fields.get("permalink")) or "",
        )
        for row in rows
    )
    for batch in batched(citation.pieces(sentences), _BATCH):
        yield "".join(batch).encode("utf-8", "replace")


def _note_of(row: Row) -> str:
    """A reader's note, after the speaker of a quotation."""
    speaker, note = row.fields.get(SPEAKER, ""), row.fields.get(NOTE, "")
    return ": ".join(filter(None, [speaker and f"said by {speaker}", note]))


def _cell(row: Row, column: str) -> str | int | float:
    """The value of a column: a number, or a text, empty if unknown."""
    if column.startswith(META_PREFIX):
        value = (row.fields.get("metadata") or {}).get(column.removeprefix(META_PREFIX))
    else:
        value = row.fields.get(column)
    if column == "url":
        value = web_url(value)
    elif column == "copies":
        value = value and value["text"]
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return value
        case list() | tuple() if all(isinstance(item, str) for item in value):
            return "; ".join(value)
        case _:
            return json.dumps(replace_nonfinite(value), ensure_ascii=False) if value else ""


def _guarded(value: str | int | float) -> str:
    return guard_formula(value) if isinstance(value, str) else repr(value)


def _csv_lines(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8", "replace")


def _json_line(row: Row) -> str:
    return _encodable(json.dumps(replace_nonfinite(row.fields), ensure_ascii=False)) + "\n"


def _encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


EXPORTS: Registry[ExportFormat] = Registry("format of files")
for _format in (
    ExportFormat("csv", "CSV", "csv", "text/csv", write_csv, "csv"),
    ExportFormat("jsonl", "JSON Lines", "jsonl", "application/x-ndjson", write_jsonl, "jsonl"),
    ExportFormat(
        "xlsx",
        "Excel",
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        write_xlsx,
        "xlsx",
        needs="xlsxwriter",
        most=XLSX_ROWS,
    ),
    *(
        ExportFormat(
            described.name,
            described.label,
            described.suffix,
            described.media_type,
            partial(_write_citations, described),
            described.ending,
            has_columns=False,
        )
        for described in CITATIONS.values()
    ),
):
    EXPORTS.register(_format)
