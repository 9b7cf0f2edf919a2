"""The state of a watch, one SQLite file: the news of each search, and what has been written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from esr.errors import AnotherRun, EsrError, IndexUnusable

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

    Use it as a context manager. Only one process at a time can open the file; others get AnotherRun. The end
    of the block raises EsrError if the file could not be read or written, for example on a full disk.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
        if isinstance(error, sqlite3.OperationalError):
            raise EsrError(
                f"cannot write {self.path}: {error}. Make room on its disk, or move it to another one and "
                "name it with --state; the next run reports what this one did not"
            ) from error
        if isinstance(error, sqlite3.DatabaseError):
            raise IndexUnusable(
                f"{self.path} is damaged ({error}): restore a copy, or delete it, and the searches begin anew"
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Store all changes made in the block, or none."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk may have ended it
                self._db.execute("ROLLBACK")
            raise

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
