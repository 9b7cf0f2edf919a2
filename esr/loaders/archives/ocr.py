"""Recognised text of printed pages: ALTO files, one document each, and METS files, one document per article.

METS lists the ALTO files of an issue, and the blocks of each article. Words that are hyphenated at line ends
are joined. Sentences have the page and the mean confidence of the words in their block.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from esr.plugin import (
    PAGE,
    Format,
    InputError,
    Malformed,
    Record,
    Skipped,
    Source,
    find_language,
    join_pieces,
    make_id,
    make_id_from_path,
)
from esr.plugin.provisional import (
    CONFIDENCE,
    PlacedText,
    UnclearDate,
    find_uncut_words,
    join_lines,
    markup,
    read_date,
)

_HREF = "{http://www.w3.org/1999/xlink}href"


class Block(NamedTuple):
    """A block of a page: its id, its lines, and the confidences of its words, if the file has any."""

    id: str
    lines: list[str]
    confidences: list[float]


# ALTO


def read_alto(source: Source) -> Iterator[Record | Skipped]:
    """The record of a page. It is skipped if a METS file names it, since the articles contain its text."""
    if source.path and (mets := _find_mets(Path(source.path).resolve())):
        yield Skipped(source.name, f"a page of {mets}, which has its articles", is_lasting=True)
        return
    blocks = list(read_blocks(source))
    if blocks:
        fields = {
            "id": make_id_from_path(source),
            "metadata": _describe(blocks),
            "text": _to_text({None: blocks}),
        }
        yield Record(source.name, fields)


def read_blocks(source: Source) -> Iterator[Block]:
    """The blocks of a page that have a text. Raises InputError where the XML is broken."""
    for element in markup.iterate_elements(source, frozenset({"TextBlock"})):
        lines, confidences = [], []
        for line in markup.find_all(element, "TextLine"):
            lines.append(_read_line(line))
            for string in markup.find_all(line, "String"):
                confidence = _to_number(string.get("WC"))
                confidences += [] if confidence is None else [confidence]
        if any(lines):
            yield Block(element.get("ID", ""), list(filter(None, lines)), confidences)


def _read_line(line: Any) -> str:
    """The words of a line. A hyphenated word is in the line of its first part only."""
    words: list[str] = []
    for string in markup.find_all(line, "String", "HYP"):
        if markup.local_name(string) == "HYP":
            if words and not words[-1].endswith(_WHOLE):
                words[-1] += "\u00ac"  # always a hyphen at a line end
            continue
        whole = string.get("SUBS_CONTENT")
        if whole and string.get("SUBS_TYPE") == "HypPart1":
            words.append(whole + _WHOLE)
        elif not (whole and string.get("SUBS_TYPE") == "HypPart2"):
            words.append(string.get("CONTENT", ""))
    return " ".join(" ".join(words).replace(_WHOLE, "").split())


_WHOLE = "\0"


def _to_number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _to_text(pages: Mapping[int | None, Iterable[Block]], title: str | None = None) -> PlacedText:
    """The text of blocks on numbered pages, without a first block that repeats the title."""
    words = find_uncut_words(line for blocks in pages.values() for block in blocks for line in block.lines)
    pieces = [
        (join_lines(block.lines, words), _places(page, block))
        for page, blocks in pages.items()
        for block in blocks
    ]
    return join_pieces(pieces[1:] if len(pieces) > 1 and pieces[0][0] == title else pieces)


def _places(page: int | None, block: Block) -> dict[str, float]:
    places: dict[str, float] = {} if page is None else {PAGE: page}
    if block.confidences:
        places[CONFIDENCE] = _mean(block.confidences)
    return places


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 3)


def _describe(blocks: Iterable[Block]) -> dict[str, Any]:
    """The mean confidence of all words."""
    confidences = [value for block in blocks for value in block.confidences]
    return {"ocr_confidence": _mean(confidences)} if confidences else {}


def _find_mets(page: Path) -> str | None:
    """The name of the METS file that names a page, in its folder or the one above."""
    for folder in (page.parent, page.parent.parent):
        for name, pages in read_mets_files(folder, folder.stat().st_mtime_ns):
            if page in pages:
                return name
    return None


@lru_cache(maxsize=8)
def read_mets_files(folder: Path, changed: int) -> list[tuple[str, frozenset[Path]]]:
    """The METS files of a folder with the files that they name. `changed`, its time, is a cache key."""
    mets_files = []
    for path in sorted(folder.glob("*.xml")):
        if "mets" in path.name.lower():
            # A broken METS file is reported when it is read as a source.
            with suppress(InputError), path.open("rb") as stream:
                issue = _read_issue(Source(str(path), str(path), stream, str(path)))
                mets_files.append((path.name, frozenset(issue.files.values())))
    return mets_files


# METS


_Areas = list[tuple[str, str]]
"""Blocks as pairs of ids: of a file, and of a block in it."""


class _Article(NamedTuple):
    id: str
    title: str
    areas: _Areas


class _Issue(NamedTuple):
    """The contents of a METS file: ALTO files by id, in order, articles, and the description of the issue."""

    files: dict[str, Path]
    articles: list[_Article]
    title: str | None
    date: str | None
    language: str | None
    id: str


_ARTICLES = frozenset(
    ("ARTICLE", "AD", "ADVERTISEMENT", "ADVERT", "DEATH_NOTICE", "OBITUARY", "LETTER", "CHAPTER")
)
_CUT = re.compile(r"\s*(?:\.\.\.|…)$")
_NO_TITLES = frozenset(("sans titre", "ohne titel", "untitled", "no title", "senza titolo", "zonder titel"))
_METS_PARTS = frozenset(("dmdSec", "fileGrp", "structMap", "metsHdr"))


def read_mets(source: Source) -> Iterator[Record | Malformed]:
    """A record per article of an issue, and one per page for the blocks outside of articles.

    Raises InputError if the METS file is broken or packed. A missing or broken ALTO file is malformed.
    """
    if source.path is None:
        raise InputError(
            source.name, "METS names other files, which can be read from a folder only: unpack it"
        )
    issue = _read_issue(source)
    pages: dict[str, list[Block]] = {}
    for file_id, path in issue.files.items():
        try:
            with path.open("rb") as stream:
                pages[file_id] = list(read_blocks(Source(os.fspath(path), os.fspath(path), stream)))
        except OSError as error:
            yield Malformed(source.name, f"{path.name} cannot be read: {error.strerror}")
        except InputError as error:
            yield Malformed(error.where, error.problem)
    numbers = {file_id: number for number, file_id in enumerate(issue.files, 1)}
    left = {file_id: {block.id: block for block in blocks} for file_id, blocks in pages.items()}
    base = issue.id or make_id_from_path(source)
    for article in issue.articles:
        blocks: dict[int | None, list[Block]] = {}
        for file_id, block_id in article.areas:
            if block := left.get(file_id, {}).pop(block_id, None):
                blocks.setdefault(numbers[file_id], []).append(block)
        if blocks:
            yield _build_record(source, issue, f"{base}.{article.id}", article.title or None, blocks)
    for file_id, rest in left.items():
        if rest:
            number = numbers[file_id]
            title = f"{issue.title}, page {number}" if issue.title else f"Page {number}"
            yield _build_record(source, issue, f"{base}.page{number}", title, {number: [*rest.values()]})


def _build_record(
    source: Source, issue: _Issue, id: str, title: str | None, pages: dict[int | None, list[Block]]
) -> Record:
    text = _to_text(pages, title)
    if title and _CUT.search(title):
        title = _complete(title, text)
    fields = {
        "id": make_id(id),
        "title": title,
        "date": issue.date,
        "source": issue.title,
        "language": issue.language,
        "metadata": _describe(block for blocks in pages.values() for block in blocks),
        "text": text,
    }
    return Record(source.name, fields)


def _complete(title: str, text: str) -> str:
    """The title, completed from the first paragraph of the text if that begins with a title that was cut."""
    first = text.partition("\n")[0].strip()
    return first if first.startswith(_CUT.sub("", title)) and len(first) < _LONGEST_TITLE else title


_LONGEST_TITLE = 300


def _read_issue(source: Source) -> _Issue:
    reader = _MetsReader(Path(source.path or "").resolve().parent)
    id = ""
    for element in markup.iterate_elements(source, _METS_PARTS):
        id = id or element.getroottree().getroot().get("OBJID", "")
        reader.read_part(element)
    return _Issue(
        reader.files,
        reader.join_articles(),
        title=next(iter(reader.titles), None),
        date=next(iter(reader.dates), None),
        language=next(iter(reader.languages), None),
        id=id,
    )


class _MetsReader:
    """Collects the parts of a METS file, which come in any order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[str, Path] = {}
        self.titles: list[str] = []
        self.dates: list[str] = []
        self.languages: list[str] = []
        self._titles_by_id: dict[str, str] = {}
        self._articles: list[tuple[_Article, str]] = []  # each with the id of its description

    def read_part(self, element: Any) -> None:
        name = markup.local_name(element)
        if name == "fileGrp":
            self.files |= _read_files(element, self._folder)
        elif name == "structMap":
            self._read_structure(element)
        elif name == "dmdSec":
            self._read_description(element)

    def join_articles(self) -> list[_Article]:
        """The articles with their titles: their labels, or else those of their descriptions."""
        titles = (article.title or self._titles_by_id.get(id, "") for article, id in self._articles)
        titles = ("" if title.strip(" []").lower() in _NO_TITLES else title for title in titles)
        pairs = zip(self._articles, titles, strict=True)
        return [article._replace(title=" ".join(title.split())) for (article, _), title in pairs]

    def _read_description(self, section: Any) -> None:
        titles = [text for title in markup.find_all(section, "title") if (text := markup.to_line(title))]
        self._titles_by_id[section.get("ID", "")] = titles[0] if titles else ""
        self.titles += titles
        dates = (markup.to_line(date) for date in markup.find_all(section, "dateIssued", "date"))
        self.dates += filter(None, map(_read_day, dates))
        languages = (markup.to_line(term) for term in markup.find_all(section, "languageTerm"))
        self.languages += (find_language(text) or text for text in languages if text)

    def _read_structure(self, structure: Any) -> None:
        """Add the outermost articles."""
        inside: set[Any] = set()
        for division in markup.find_all(structure, "div"):
            id = division.get("ID") or str(len(self._articles) + 1)
            if division not in inside and division.get("TYPE", "").upper() in _ARTICLES:
                inside.update(markup.find_all(division, "div"))
                article = _Article(id, division.get("LABEL", ""), list(_read_areas(division)))
                self._articles.append((article, division.get("DMDID", "").partition(" ")[0]))


def _read_areas(element: Any) -> Iterator[tuple[str, str]]:
    for area in markup.find_all(element, "area"):
        if area.get("BEGIN"):
            yield area.get("FILEID", ""), area.get("BEGIN")


def _read_day(text: str) -> str | None:
    try:
        date = read_date(text)
    except UnclearDate:
        return None
    return date.iso if date else None


def _read_files(group: Any, folder: Path) -> dict[str, Path]:
    """The ALTO files of a group by their ids. Files outside the folder of the METS file are not read."""
    files = {}
    for file in markup.find_all(group, "file"):
        href = markup.attribute(markup.find_first(file, "FLocat"), _HREF)
        try:
            path = (folder / unquote(urlsplit(href).path).lstrip("/")).resolve()
        except ValueError:  # no address, or no path: with an unfinished IPv6 address, or a zero byte
            continue
        is_alto = "alto" in f"{group.get('ID', '')}{group.get('USE', '')}{file.get('ID', '')}{href}".lower()
        if is_alto and path.suffix.lower() == ".xml" and path.is_relative_to(folder) and file.get("ID"):
            files[file.get("ID")] = path
    return files


ALTO = Format(
    "alto",
    "ALTO, recognised text of a page: one document per file, and the confidence of sentences",
    suffixes=(".alto",),
    sniff=markup.sniff("alto"),
    read=read_alto,
    needs=("lxml.etree",),
    may_lack_documents=True,
)


METS = Format(
    "mets",
    "METS with ALTO files: one document per article of an issue, with pages and confidence",
    suffixes=(".mets",),
    sniff=markup.sniff("mets"),
    read=read_mets,
    needs=("lxml.etree",),
    may_lack_documents=True,
)
