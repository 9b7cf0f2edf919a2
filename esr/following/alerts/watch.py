"""Runs of a watch: saved searches that are run repeatedly and report each new sentence once.

News is written as JSON lines or Atom feeds. A run stores news in one transaction before reporting it, so a
killed run loses nothing: the next run reports the rest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from esr.errors import EsrError, to_one_line
from esr.following.alerts.atom import Feed, feed_urn, render_feed
from esr.following.alerts.saved_searches import SavedSearch
from esr.following.alerts.watch_state import KEPT, WatchState
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import Hits, Records
from esr.ranking.answers import hit_dict
from esr.ranking.prepared_query import PreparedQuery, known_scores
from esr.ranking.searcher import Searcher
from esr.text.addresses import web_url

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
    matching = prepared.index.select(prepared.all_words, _ALL, search.filters, Hits(records=False)).hits
    stored, definition = state.definition(search.name), search.definition()
    is_new = stored is None or not search.has_definition(stored)  # a changed search starts anew
    ids = [hit.sentence_id for hit in matching]
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


def append_lines(state: WatchState, path: Path) -> int:
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


def write_stream(state: WatchState, out: BinaryIO) -> int:
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
