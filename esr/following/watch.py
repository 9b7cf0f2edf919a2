"""Saved searches run again and again: each tells once what came since last time."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from esr.engines.index import Hit, SentenceRecord
from esr.errors import EsrError, to_one_line
from esr.following.atom import Feed, render_feed
from esr.following.identity import feed_urn
from esr.following.saved_searches import SavedSearch
from esr.following.watch_state import KEPT, WatchState
from esr.ranking.answers import hit_dict
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.searcher import Searcher
from esr.ranking.sentence_scores import known_scores

STREAM = "-"
"""What notes call standard output."""
_ALL = 2**40


class WatchFailed(EsrError):
    """A saved search cannot be run. What others found is told all the same."""


def find_news(
    searcher: Searcher, searches: Sequence[SavedSearch], state: WatchState, *, tell_all: bool = False
) -> None:
    """Store what each search has that is not known, with its score, the oldest first.

    What a search finds when it is run for the first time is only learned, unless `tell_all`. Raises
    WatchFailed for the first search that cannot be run, after all others have been.
    """
    snapshot = searcher.snapshot()
    failure: WatchFailed | None = None
    for search in searches:
        try:
            prepared = snapshot.prepare(search.query, search.ranking)
            _find_news_of(prepared, search, state, tell_all)
        except EsrError as error:
            failure = failure or WatchFailed(f"[{search.name}]: {error}")
    if failure is not None:
        raise failure


def _find_news_of(prepared: PreparedQuery, search: SavedSearch, state: WatchState, tell_all: bool) -> None:
    found = prepared.index.by_date(prepared.all_words, _ALL, search.filters, records=False).hits
    definition = _describe(search)
    is_new = state.definition(search.name) != definition
    ids = [hit.sentence_id for hit in found]
    if is_new and not tell_all:
        unknown: list[str] = []
    else:
        unknown = ids if is_new else state.unknown(search.name, ids)
    hits = _read_hits(prepared, unknown[::-1])
    with state.transaction():
        if is_new:
            state.begin(search.name, definition)
        state.add_known(search.name, ids if is_new else unknown)
        state.add_news(search.name, map(hit_dict, hits))


def _read_hits(prepared: PreparedQuery, ids: Sequence[str]) -> list[Hit]:
    if not ids:
        return []
    records, scores = prepared.index.sentences(ids), known_scores(prepared, ids)
    return [Hit(record.sentence_id, score, record) for record, score in zip(records, scores, strict=True)]


def _describe(search: SavedSearch) -> str:
    """What a search asks for: another question is another search. How it ranks makes no difference."""
    return json.dumps([str(search.query), search.query.text, repr(search.filters)])


def tell_lines(state: WatchState, path: Path) -> int:
    """Add what is new to a file of JSON lines, `{"search", …hit}` each, and return how many.

    Where the file ends is noted before and after. What a killed run has added in between is cut off, so each
    line is in the file once. A file that is shorter than noted was taken away: it goes on from where it is.
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
    """Write what is new to a stream, and return how many lines.

    A run that is killed between writing and noting it is repeated by the next one: a stream has no end to go
    back to.
    """
    after, _ = state.written(STREAM) or (0, 0)
    news = state.news(after)
    out.write(b"".join(_line(search, hit) for _, search, hit in news))
    out.flush()
    if news:
        _note(state, STREAM, news[-1][0], 0)
    return len(news)


def write_feeds(state: WatchState, searches: Sequence[SavedSearch], folder: Path) -> None:
    """A feed for each search, `NAME.atom`, of its last news, the newest first. Each is replaced whole."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for search in searches:
            hits = [hit for _, _, hit in state.news(0, search.name)[-KEPT:]][::-1]
            records = list(map(_read_record, hits))
            feed = Feed(feed_urn([("watch", search.name)]), search.name)
            path = folder / f"{search.name}.atom"
            part = path.with_suffix(".part")
            part.write_bytes(render_feed(feed, records, lambda record: record.url))
            part.replace(path)
    except OSError as error:
        raise EsrError(f"{folder} cannot be written: {to_one_line(error.strerror or error)}") from error


def _read_record(hit: Mapping[str, Any]) -> SentenceRecord:
    """The sentence of stored news. Fields that its esr did not know yet have their defaults."""
    return SentenceRecord(**{name: hit[name] for name in SentenceRecord._fields if name in hit})


def _note(state: WatchState, file: str, number: int, size: int) -> None:
    with state.transaction():
        state.set_written(file, number, size)


def _line(search: str, hit: dict[str, Any]) -> bytes:
    return (json.dumps({"search": search, **hit}) + "\n").encode()
