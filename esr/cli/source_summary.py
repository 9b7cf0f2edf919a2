"""What came: counts, languages, dates and sources, as a load and its dry run report them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from esr.analysis.choice import primary_language
from esr.documents import Document
from esr.documents.dates import parse_date_end, parse_date_start
from esr.loaders import UnknownFiles
from esr.loaders.known_columns import look_into_objects
from esr.loaders.list_values import read_paragraphs

_COUNTED = ("title", "date", "source", "language", "authors", "section", "keywords")
"""Fields whose documents are counted."""
_MAX_SHOWN = 5
_MAX_KEYS, _MAX_KEY_CHARS = 30, 60
_MIN_TEXT_CHARS = 40
"""What is shorter does not look like the text of an article."""
_MAX_SOURCES = 10_000
"""Beyond this number of different sources, further ones are counted together."""


class SourceSummary:
    """Counts over documents, in bounded memory."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(("documents", "sentences", "without_sentences", *_COUNTED), 0)
        self.languages: Counter[str] = Counter()
        """How many documents are in each language that a document declares, or that was detected for it."""
        self._metadata: Counter[str] = Counter()
        """How many documents have each key of metadata."""
        self._sources: Counter[str] = Counter()
        self._other_sources = 0
        self._text_like: Counter[str] = Counter()
        self._unknown_files: Counter[str] = Counter()
        self._first: tuple[int, str] | None = None
        self._last: tuple[int, str] | None = None

    def add(self, document: Document) -> None:
        counts = self.counts
        counts["documents"] += 1
        counts["sentences"] += len(document.sentences)
        counts["without_sentences"] += not document.sentences
        for name in _COUNTED:
            counts[name] += bool(getattr(document, name))
        for key in document.metadata:
            if key in self._metadata or len(self._metadata) < _MAX_SOURCES:
                self._metadata[key] += 1
        if not document.sentences and document.metadata:
            self._add_text_like(document.metadata)
        self.languages[primary_language(document.language)] += 1
        if document.source is not None:
            self._add_source(document.source)
        if document.date is not None:
            self._add_date(document.date)

    def add_unknown_files(self, files: UnknownFiles) -> None:
        """Count files that no loader knows."""
        self._unknown_files[files.ending] += files.number

    def text_like_columns(self) -> list[str]:
        """Columns that look like the text of documents without one, the most frequent first."""
        return [name for name, _ in self._text_like.most_common(_MAX_SHOWN)]

    def _add_text_like(self, metadata: Mapping[str, Any]) -> None:
        for name, value in look_into_objects(metadata).items():
            text = value if isinstance(value, str) else read_paragraphs(value)
            if text and _looks_like_text(text) and len(self._text_like) < _MAX_SOURCES:
                self._text_like[name] += 1

    def _add_source(self, source: str) -> None:
        if source in self._sources or len(self._sources) < _MAX_SOURCES:
            self._sources[source] += 1
        else:
            self._other_sources += 1

    def _add_date(self, date: str) -> None:
        start, end = (parse_date_start(date), date), (parse_date_end(date), date)
        self._first = min(self._first or start, start)
        self._last = max(self._last or end, end)

    def lines(self) -> list[str]:
        """For people: nothing if no document came, and no line about what no document has."""
        counts = self.counts
        if not counts["documents"]:
            return []
        lines = [
            f"{counts['title']:,} have a title, {counts['date']:,} a date, {counts['source']:,} a source, "
            f"{counts['language']:,} a language"
        ]
        if counts["authors"] or counts["section"] or counts["keywords"]:
            lines.append(
                f"{counts['authors']:,} have authors, {counts['section']:,} a section, "
                f"{counts['keywords']:,} keywords"
            )
        if counts["language"]:
            names = {code or "unknown": n for code, n in self.languages.items()}
            lines.append(f"languages: {_format_counts(names)}")
        if self._first and self._last:
            lines.append(f"dates: {_to_day(self._first[1])} to {_to_day(self._last[1])}")
        if self._sources:
            lines.append(f"sources: {_format_counts(self._sources, self._other_sources)}")
        if self._metadata:
            lines.append(f"kept as metadata, as no fields: {_list_keys(self._metadata)}")
        return lines

    @property
    def unknown_files(self) -> dict[str, int]:
        """By ending, how many files no loader knows; "" is for names without one."""
        return dict(self._unknown_files.most_common())

    def as_dict(self) -> dict[str, Any]:
        """For programs: the counts, `languages` ("" is unknown), `dates` (`from` and `to`), `sources`,
        `metadata` (by key, how many documents have it) and `unknown_files` (by ending, "" for none).

        `other_sources` is the number of documents from sources beyond the first 10,000.
        """
        return {
            **self.counts,
            "languages": dict(self.languages.most_common()),
            "dates": {"from": self._first[1], "to": self._last[1]} if self._first and self._last else None,
            "sources": dict(self._sources.most_common()),
            "other_sources": self._other_sources,
            "metadata": dict(self._metadata.most_common()),
            "unknown_files": self.unknown_files,
        }


def describe_unknown_files(counts: Mapping[str, int]) -> str:
    """The files that no loader knows, by their endings, as a sentence without its end."""
    endings = {ending or "without an ending": n for ending, n in counts.items()}
    total, parts = sum(counts.values()), _format_counts(endings)
    return f"{total:,} files are in no format that is read, and were left out: {parts}"


def _looks_like_text(text: str) -> bool:
    """Whether this is some length of words, or of a script that has no blanks; no address."""
    return len(text) >= _MIN_TEXT_CHARS and (len(text.split()) > 4 or not text.isascii())


def _list_keys(counts: Counter[str]) -> str:
    """All keys in order of their frequency, up to a number that fits on a few lines."""
    shown = [f"{' '.join(key.split())[:_MAX_KEY_CHARS]} {n:,}" for key, n in counts.most_common(_MAX_KEYS)]
    others = len(counts) - len(shown)
    return ", ".join([*shown, *([f"and {others:,} other keys"] if others else [])])


def _format_counts(counts: Mapping[str, int], others: int = 0) -> str:
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    others += sum(n for _, n in ranked[_MAX_SHOWN:])
    shown = [f"{' '.join(name.split())} {n:,}" for name, n in ranked[:_MAX_SHOWN]]
    return ", ".join([*shown, *([f"others {others:,}"] if others else [])])


def _to_day(date: str) -> str:
    return date.replace(" ", "T").partition("T")[0]
