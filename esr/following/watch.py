"""Watches: saved searches that are run repeatedly and report each new sentence once.

Searches are read from a TOML file, and news is written as JSON lines or Atom feeds (RFC 4287). The state is
one SQLite file. A run stores news in one transaction before reporting it, so a killed run loses nothing: the
next run reports the rest.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree

from esr.arguments.argument import WATCH
from esr.arguments.filters import filters_of, read_filters
from esr.arguments.types import Day
from esr.errors import AnotherRun, EsrError, IndexUnusable, InputError, UsageError, to_one_line, unknown
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import Hits, Records
from esr.query import ParsedQuery, literal, parse
from esr.ranking.answers import hit_dict
from esr.ranking.prepared_query import PreparedQuery, known_scores
from esr.ranking.ranking import Ranking, read_toml
from esr.ranking.searcher import Searcher
from esr.stdlib import hash64
from esr.text.addresses import web_url
from esr.text.dates import normalise_date, parse_date_start
from esr.text.document import value_key
from esr.wording import shorten_title

# State

_TABLES = """
CREATE TABLE IF NOT EXISTS search (name TEXT PRIMARY KEY, definition TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS known (search TEXT, sentence TEXT, PRIMARY KEY (search, sentence)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS news (
    number INTEGER PRIMARY KEY AUTOINCREMENT, search TEXT NOT NULL, hit TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS output (file TEXT PRIMARY KEY, number INTEGER NOT NULL, bytes INTEGER NOT NULL);
"""
KEPT = 1_000
"""Reported news items that are kept for the feed of each search."""


class WatchState:
    """The state of a watch between its runs: known sentences, and news not yet reported.

    Use it as a context manager. Only one process at a time can open the file; others get AnotherRun.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = _connect(path)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise AnotherRun(f"another esr watch is using {path}: wait until it has finished") from error
            raise IndexUnusable(f"{path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise IndexUnusable(f"{path} is no state of esr watch: {error}") from error

    def __enter__(self) -> WatchState:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Store all changes made in the block, or none."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def definition(self, search: str) -> str | None:
        """The stored definition of a search (`SavedSearch.definition`); None for a new search."""
        row = self._db.execute("SELECT definition FROM search WHERE name = ?", (search,)).fetchone()
        return None if row is None else str(row[0])

    def begin(self, search: str, definition: str) -> None:
        """Start a new search, or one with a new definition: none of its sentences are known."""
        self.define(search, definition)
        self._db.execute("DELETE FROM known WHERE search = ?", (search,))

    def define(self, search: str, definition: str) -> None:
        """Store the definition of a search. What is known of it stays."""
        self._db.execute("REPLACE INTO search VALUES (?, ?)", (search, definition))

    def unknown(self, search: str, sentences: Sequence[str]) -> list[str]:
        """The sentences not yet known for a search, in order."""
        known = {row[0] for row in self._db.execute("SELECT sentence FROM known WHERE search = ?", (search,))}
        return [sentence for sentence in sentences if sentence not in known]

    def add_known(self, search: str, sentences: Iterable[str]) -> None:
        rows = ((search, sentence) for sentence in sentences)
        self._db.executemany("INSERT OR IGNORE INTO known VALUES (?, ?)", rows)

    def add_news(self, search: str, hits: Iterable[Mapping[str, Any]]) -> None:
        rows = ((search, json.dumps(hit, ensure_ascii=True)) for hit in hits)
        self._db.executemany("INSERT INTO news (search, hit) VALUES (?, ?)", rows)

    def news(self, after: int = 0, search: str | None = None) -> list[tuple[int, str, dict[str, Any]]]:
        """Number, search and hit of all news after a number, oldest first; of one search, or of all."""
        rows = self._db.execute(
            "SELECT number, search, hit FROM news WHERE number > ? AND ? IN (search, '') ORDER BY number",
            (after, search or ""),
        )
        return [(number, name, json.loads(hit)) for number, name, hit in rows]

    def written(self, file: str) -> tuple[int, int] | None:
        """The number of the last news known to be in a file, and the file's size in bytes up to its end.

        None for a new file.
        """
        row = self._db.execute("SELECT number, bytes FROM output WHERE file = ?", (file,)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def set_written(self, file: str, number: int, size: int) -> None:
        self._db.execute("REPLACE INTO output VALUES (?, ?, ?)", (file, number, size))

    def forget_old(self) -> None:
        """Drop news that has been written to all files, except the last KEPT items of each search."""
        least = self._db.execute("SELECT coalesce(min(number), 0) FROM output").fetchone()[0]
        for (search,) in self._db.execute("SELECT DISTINCT search FROM news").fetchall():
            self._db.execute(
                "DELETE FROM news WHERE search = ? AND number <= ? AND number NOT IN "
                "(SELECT number FROM news WHERE search = ? ORDER BY number DESC LIMIT ?)",
                (search, least, search, KEPT),
            )


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file exclusively and create its tables. Raises sqlite3.DatabaseError."""
    db = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN IMMEDIATE")
        for statement in _TABLES.split(";"):
            db.execute(statement)
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


# Saved searches

_FILTERS = {name: type for row in filters_of(WATCH) for name, type in row.names(WATCH)}
_KEYS = ("query", "literal", "ranking", *_FILTERS)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search and its name, which also names the file of its feed. `is_literal`: the query has no syntax."""

    name: str
    query: ParsedQuery
    ranking: Ranking
    filters: Filters = NO_FILTERS
    is_literal: bool = False

    def definition(self) -> str:
        """What the search asks for, as the state stores it. The ranking is not part of it."""
        parts = {"query": self.query.text, "literal": self.is_literal, "filters": self.filters.as_dict()}
        return json.dumps({"version": _DEFINITION, **parts}, sort_keys=True)

    def has_definition(self, stored: str) -> bool:
        """Whether this is the search of a stored definition, also of one by another version of esr.

        If that cannot be read in full, what can be read decides: a search that begins anew by mistake would
        keep what came since the last run to itself.
        """
        if stored == self.definition():
            return True
        definition = json.loads(stored)
        if isinstance(definition, list):
            return self._has_old_definition(*definition)
        if definition["version"] == _DEFINITION:
            return False
        return bool(definition.get("query", self.query.text) == self.query.text)

    def _has_old_definition(self, spelling: str, text: str, filters: str) -> bool:
        """Compare a definition of esr 0.2: the query in a uniform spelling and as typed, and its filters."""
        read_otherwise = parse if self.is_literal else literal
        if text != self.query.text or spelling not in (str(self.query), str(read_otherwise(text))):
            return text == self.query.text
        if spelling != str(self.query):
            return False
        known = _read_old_filters(filters)
        return known is None or known.as_dict() == self.filters.as_dict()


_DEFINITION = 1
"""The version of stored definitions."""


def _read_old_filters(text: str) -> Filters | None:
    """The filters in a `repr` of esr 0.2; None if this version cannot read them."""

    def read(node: ast.expr) -> Any:
        match node:
            case ast.Call(ast.Name("Filters"), [], keywords):
                values = {str(keyword.arg): read(keyword.value) for keyword in keywords}
                return Filters(**{**values, "attributes": dict(values.get("attributes", ()))})
            case ast.Call(
                ast.Name("HasAttribute"), [], [ast.keyword("names", names), ast.keyword(_, values)]
            ):
                return ast.literal_eval(names)[0], ast.literal_eval(values)
            case ast.Tuple(parts):
                return tuple(map(read, parts))
            case _:
                return ast.literal_eval(node)

    try:
        filters = read(ast.parse(text, mode="eval").body)
    except (EsrError, SyntaxError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return filters if isinstance(filters, Filters) else None


def read_searches(path: Path) -> list[SavedSearch]:
    """Read the searches of a file: each is a table such as `[floods]`, with a `query`.

    Optional keys are `literal`, `ranking` (as in a ranking file), and the filters, such as `after`, `source`
    and `meta` with pairs such as `desk=Berlin`. Raises InputError with the file and the search at fault.
    """
    data = read_toml(path)
    if not data:
        raise InputError(str(path), 'has no search: write one as [name] with a query = "..." below')
    return [_read_search(f"{path}, [{name}]", name, table) for name, table in data.items()]


def _read_search(where: str, name: str, table: Any) -> SavedSearch:
    if not _NAME.fullmatch(name):
        raise InputError(where, "a name has letters, digits, dots, hyphens and underscores only")
    if not isinstance(table, Mapping):
        raise InputError(where, 'a search is a table: [name] with a query = "..." below')
    try:
        for key in table:
            if key not in _KEYS:
                raise unknown("key", key, _KEYS)
        query = _text(table, "query")
        if query is None:
            raise UsageError("the query is missing")
        is_literal = table.get("literal", False)
        if not isinstance(is_literal, bool):
            raise UsageError("literal must be true or false")
        values = {
            name: table.get(name) if isinstance(type, Day) else _texts(table, name)
            for name, type in _FILTERS.items()
        }
        filters = read_filters(values, label=str)
        ranking = Ranking.from_dict(table.get("ranking", {}))
        parsed = literal(query) if is_literal else parse(query)
        return SavedSearch(name, parsed, ranking, filters, is_literal)
    except InputError:
        raise
    except EsrError as error:
        raise InputError(where, str(error)) from error


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise UsageError(f"{key} must be a text, not {value!r}")


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return one text or a list of texts as a tuple."""
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and all(isinstance(each, str) and each.strip() for each in values):
        return tuple(values)
    raise UsageError(f"{key} must be a text or a list of texts, not {value!r}")


def write_search(table: Mapping[str, Any]) -> str:
    """A search as lines for a file of searches, without empty values. Its name is made from the query."""
    name = re.sub(r"[^a-z0-9]+", "-", table["query"].lower()).strip("-")[:60].rstrip("-")
    lines = (f"{key} = {_toml(value)}\n" for key, value in table.items() if value)
    return f"[{name or 'search'}]\n{''.join(lines)}"


def _toml(value: Any) -> str:
    match value:
        case str():  # a JSON string is a TOML string, except for one character that TOML forbids
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case Mapping():
            pairs = ((key, each) for key, each in value.items() if each not in (None, {}, [], ()))
            return f"{{{', '.join(f'{_key(key)} = {_toml(each)}' for key, each in pairs)}}}"
        case _:
            return repr(value)


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml(text)


# Atom feeds

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_XML = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True)
class Feed:
    """The metadata of a feed. `id` is a permanent IRI; `self_url` is the feed's own address."""

    id: str
    title: str
    self_url: str | None = None
    page_url: str | None = None


def render_feed(
    feed: Feed, records: Sequence[SentenceRecord], link: Callable[[SentenceRecord], str | None]
) -> bytes:
    """The feed of these sentences as XML, each once. `link` returns the address of a sentence.

    The date of an entry is that of its document, or else the beginning of 1970.
    """
    root = ElementTree.Element(f"{{{ATOM}}}feed")
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    by_urn = {sentence_urn(record): record for record in reversed(records)}
    moments = [_atom_moment(record) for record in by_urn.values()]
    _add(root, "updated", max(moments, default=_rfc3339(0)))
    _add(ElementTree.SubElement(root, f"{{{ATOM}}}author"), "name", "esr")
    if feed.self_url:
        _link(root, "self", feed.self_url, MEDIA_TYPE)
    if feed.page_url:
        _link(root, "alternate", feed.page_url, "text/html")
    for urn, record in reversed(by_urn.items()):
        _add_entry(root, urn, record, link(record))
    ElementTree.register_namespace("", ATOM)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _add_entry(root: ElementTree.Element, urn: str, record: SentenceRecord, address: str | None) -> None:
    entry = ElementTree.SubElement(root, f"{{{ATOM}}}entry")
    if record.language:
        entry.set(_XML, _clean(record.language))
    moment = _atom_moment(record)
    _add(entry, "id", urn)
    _add(entry, "title", shorten_title(record.title or record.document_id))
    _add(entry, "updated", moment)
    _add(entry, "published", moment)
    if record.source:
        _add(ElementTree.SubElement(entry, f"{{{ATOM}}}author"), "name", record.source)
    if address:
        _link(entry, "alternate", address, "text/html")
    _add(entry, "content", record.text)


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, f"{{{ATOM}}}{name}").text = _clean(text)


def _clean(text: str) -> str:
    """Remove the characters that XML cannot contain."""
    return "".join(c for c in text if c in "\t\n\r" or _is_xml(ord(c)))


def _is_xml(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def _link(parent: ElementTree.Element, rel: str, address: str, type: str) -> None:
    ElementTree.SubElement(parent, f"{{{ATOM}}}link", {"rel": rel, "href": _clean(address), "type": type})


def _atom_moment(record: SentenceRecord) -> str:
    try:
        return _rfc3339(parse_date_start(normalise_date(record.date or "")))
    except (ValueError, OverflowError):
        return _rfc3339(0)


def _rfc3339(milliseconds: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


# Runs

STREAM = "-"
"""The name of standard output in the state."""
_ALL = 2**40


class WatchFailed(EsrError):
    """A saved search cannot be run. The news of the other searches is still reported."""


def find_news(
    searcher: Searcher, searches: Sequence[SavedSearch], state: WatchState, *, tell_all: bool = False
) -> list[str]:
    """Store the new sentences of each search, with scores, oldest first. Returns the names of new searches.

    The first run of a search only marks its sentences as known, unless `tell_all`. Raises WatchFailed for the
    first search that cannot be run, after all others have run.
    """
    snapshot = searcher.snapshot()
    failure: WatchFailed | None = None
    begun = []
    for search in searches:
        try:
            prepared = snapshot.prepare(search.query, search.ranking)
            if _find_news_of(prepared, search, state, tell_all):
                begun.append(search.name)
        except EsrError as error:
            failure = failure or WatchFailed(f"[{search.name}]: {error}")
    if failure is not None:
        raise failure
    return begun


def _find_news_of(prepared: PreparedQuery, search: SavedSearch, state: WatchState, tell_all: bool) -> bool:
    """Store the new sentences of a search. Returns whether the search is new."""
    found = prepared.index.select(prepared.all_words, _ALL, search.filters, Hits(records=False)).hits
    stored, definition = state.definition(search.name), search.definition()
    is_new = stored is None or not search.has_definition(stored)  # a changed search starts anew
    ids = [hit.sentence_id for hit in found]
    if is_new and not tell_all:
        unknown: list[str] = []
    else:
        unknown = ids if is_new else state.unknown(search.name, ids)
    hits = _read_hits(prepared, unknown[::-1])
    with state.transaction():
        if is_new:
            state.begin(search.name, definition)
        elif stored != definition:
            state.define(search.name, definition)
        state.add_known(search.name, ids if is_new else unknown)
        state.add_news(search.name, map(hit_dict, hits))
    return is_new


def _read_hits(prepared: PreparedQuery, ids: Sequence[str]) -> list[Hit]:
    if not ids:
        return []
    records, scores = prepared.index.read(ids, Records()), known_scores(prepared, ids)
    return [Hit(record.sentence_id, score, record) for record, score in zip(records, scores, strict=True)]


def tell_lines(state: WatchState, path: Path) -> int:
    """Append the news to a file of JSON lines, `{"search", …hit}` each. Returns the number of lines.

    The end of the file is recorded before and after. Lines that a killed run added are truncated, so each
    line is in the file once. A file shorter than recorded was replaced: lines are appended at its end.
    """
    file = str(path.resolve())
    after, size = state.written(file) or (0, -1)
    news = state.news(after)
    lines = b"".join(_line(search, hit) for _, search, hit in news)
    try:
        with path.open("ab") as out:
            if not 0 <= size <= out.tell():
                size = out.tell()
                _note(state, file, after, size)
            out.truncate(size)
            out.write(lines)
            out.flush()
            os.fsync(out.fileno())
            size += len(lines)
    except OSError as error:
        raise EsrError(f"{path} cannot be written: {to_one_line(error.strerror or error)}") from error
    _note(state, file, news[-1][0] if news else after, size)
    return len(news)


def tell_stream(state: WatchState, out: BinaryIO) -> int:
    """Write the news to a stream. Returns the number of lines.

    If a run is killed after writing but before recording it, the next one repeats the lines: a stream cannot
    be truncated.
    """
    after, _ = state.written(STREAM) or (0, 0)
    news = state.news(after)
    out.write(b"".join(_line(search, hit) for _, search, hit in news))
    out.flush()
    if news:
        _note(state, STREAM, news[-1][0], 0)
    return len(news)


def write_feeds(state: WatchState, searches: Sequence[SavedSearch], folder: Path) -> None:
    """Write the last news of each search, newest first, to a feed `NAME.atom`. Replaces files atomically."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for search in searches:
            hits = [hit for _, _, hit in state.news(0, search.name)[-KEPT:]][::-1]
            records = list(map(_read_record, hits))
            feed = Feed(feed_urn([("watch", search.name)]), search.name)
            path = folder / f"{search.name}.atom"
            part = path.with_suffix(".part")
            part.write_bytes(render_feed(feed, records, lambda record: web_url(record.url)))
            part.replace(path)
    except OSError as error:
        raise EsrError(f"{folder} cannot be written: {to_one_line(error.strerror or error)}") from error


def _read_record(hit: Mapping[str, Any]) -> SentenceRecord:
    """The sentence of stored news. Fields missing from news of an older esr get their defaults."""
    return SentenceRecord(**{name: hit[name] for name in SentenceRecord._fields if name in hit})


def _note(state: WatchState, file: str, number: int, size: int) -> None:
    with state.transaction():
        state.set_written(file, number, size)


def _line(search: str, hit: dict[str, Any]) -> bytes:
    return (json.dumps({"search": search, **hit}) + "\n").encode()


# URNs. That of a sentence is made of the document's id and the sentence's text, so it is stable across loads.


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
