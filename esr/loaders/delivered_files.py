"""The files that earlier deliveries read, with the ids of their documents, in a SQLite file.

The changes of a run are one transaction, so a killed run leaves the record of the previous run. A run holds
SQLite's lock from start to end; the system releases it when the process ends.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import AnotherRun, EsrError, InputError, UsageError
from esr.loaders.files import display_name

_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE sources (name TEXT PRIMARY KEY, options TEXT, run INTEGER);
CREATE TABLE files (number INTEGER PRIMARY KEY, source TEXT, path BLOB, size INTEGER, modified_ns INTEGER,
                    is_done INTEGER, seen_run INTEGER, read_run INTEGER, UNIQUE (source, path));
CREATE TABLE documents (id TEXT, file INTEGER, run INTEGER, PRIMARY KEY (id, file)) WITHOUT ROWID;
CREATE INDEX documents_of_files ON documents (file);
"""
_UNKNOWN_FILES = (
    "CREATE TABLE IF NOT EXISTS unknown_files "
    "(file INTEGER, ending TEXT, count INTEGER, PRIMARY KEY (file, ending)) WITHOUT ROWID"
)
"""Schema: the number of unknown files by extension, for an archive those in it."""
_VERSION = 1
_LATE_WRITE_NS = 2 * 10**9
"""Nanoseconds. A file written this shortly before it is read may change again without a new time or size."""
_IS_PRESENT = (
    "EXISTS (SELECT 1 FROM files f WHERE f.number = d.file AND f.seen_run = :run "
    "AND (f.read_run < :run OR d.run = :run))"
)


class DeliveredFiles:
    """The record of one run. A file is identified by source and path: two sources may read the same one."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._run = int(self.fact("run") or 0) + 1
        self.remember("run", str(self._run))
        self._file = 0

    def commit(self) -> None:
        """Keep all changes."""
        self._database.execute("COMMIT")

    def fact(self, name: str) -> str | None:
        """The value stored under this name, or None."""
        row = self._one("SELECT value FROM facts WHERE name = ?", name)
        return None if row is None else str(row[0])

    def remember(self, name: str, value: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def begin_source(self, source: str, options: str, *, read_again: bool) -> None:
        """Register a source before its files. If its options have changed, all its files are read again."""
        row = self._one("SELECT options FROM sources WHERE name = ?", source)
        if read_again or (row is not None and row[0] != options):
            self._database.execute("UPDATE files SET is_done = 0 WHERE source = ?", (source,))
        self._database.execute(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?)", (source, options, self._run)
        )

    def find_change(self, source: str, path: str) -> int | None:
        """The modification time of a file in nanoseconds if it is new or changed and must be read; else None.

        Marks the file as present. Raises InputError if it cannot be read.
        """
        status = _stat(path)
        name = os.fsencode(path)
        row = self._one(
            "SELECT number, size, modified_ns, is_done FROM files WHERE source = ? AND path = ?", source, name
        )
        if row is None:
            insert = "INSERT INTO files VALUES (NULL, ?, ?, -1, -1, 0, ?, 0)"
            self._database.execute(insert, (source, name, self._run))
            return status.st_mtime_ns
        self._database.execute("UPDATE files SET seen_run = ? WHERE number = ?", (self._run, row[0]))
        is_known = row[3] and (row[1], row[2]) == (status.st_size, status.st_mtime_ns)
        return None if is_known else status.st_mtime_ns

    def begin_file(self, source: str, path: str) -> None:
        """Make this the current file. Must be called before it is opened."""
        status = _stat(path)
        is_settled = time.time_ns() - status.st_mtime_ns > _LATE_WRITE_NS
        row = self._one("SELECT number FROM files WHERE source = ? AND path = ?", source, os.fsencode(path))
        assert row is not None
        self._file = int(str(row[0]))
        self._database.execute(
            "UPDATE files SET size = ?, modified_ns = ?, is_done = ?, read_run = ? WHERE number = ?",
            (status.st_size, status.st_mtime_ns, is_settled, self._run, self._file),
        )
        self._database.execute("DELETE FROM unknown_files WHERE file = ?", (self._file,))

    def add(self, id: str) -> None:
        """Record that the current file contains a document with this id."""
        self._database.execute(
            "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (id, self._file, self._run)
        )

    def add_unknown_files(self, ending: str, count: int) -> None:
        """Record `count` files with this extension and no known format: the current file, or files in it."""
        self._database.execute(
            "INSERT OR REPLACE INTO unknown_files VALUES (?, ?, ?)", (self._file, ending, count)
        )

    def unknown_files(self) -> dict[str, int]:
        """The number of files of all sources in no known format, by extension."""
        query = "SELECT ending, sum(count) FROM unknown_files GROUP BY ending ORDER BY 2 DESC, 1"
        return {str(ending): int(count) for ending, count in self._database.execute(query)}

    def keep_open(self) -> None:
        """Record that the current file was not read completely: it keeps its documents and is read again."""
        self._database.execute("UPDATE files SET is_done = 0 WHERE number = ?", (self._file,))
        self._database.execute("UPDATE documents SET run = ? WHERE file = ?", (self._run, self._file))

    def reopen(self, id: str) -> None:
        """Record that a document was refused after it was read: the files that have it are read again."""
        self._database.execute(
            "UPDATE files SET is_done = 0 WHERE number IN (SELECT file FROM documents WHERE id = ?)", (id,)
        )

    def has_files(self, source: str) -> bool:
        """Whether a source has a file in this run, or had none before."""
        row = self._one("SELECT count(*), coalesce(max(seen_run), 0) FROM files WHERE source = ?", source)
        assert row is not None
        return row[0] == 0 or row[1] == self._run

    def find_gone(self, source: str) -> Iterator[str]:
        """The ids of this source's earlier documents that no file of any source contains any more."""
        query = (
            "SELECT DISTINCT g.id FROM documents g JOIN files o ON o.number = g.file "  # nosec B608  # constants
            "WHERE o.source = :source AND NOT EXISTS "
            f"(SELECT 1 FROM documents d WHERE d.id = g.id AND {_IS_PRESENT})"
        )
        for (id,) in self._database.execute(query, {"source": source, "run": self._run}):
            yield str(id)

    def forget_missing(self) -> None:
        """Delete the records of sources, files and documents that no longer exist."""
        self._database.execute("DELETE FROM sources WHERE run != ?", (self._run,))
        self._database.execute(f"DELETE FROM documents AS d WHERE NOT {_IS_PRESENT}", {"run": self._run})  # nosec B608  # constants
        self._database.execute("DELETE FROM files WHERE seen_run != ?", (self._run,))
        self._database.execute("DELETE FROM unknown_files WHERE file NOT IN (SELECT number FROM files)")

    def _one(self, query: str, *values: object) -> tuple[object, ...] | None:
        row: tuple[object, ...] | None = self._database.execute(query, values).fetchone()
        return row


@contextmanager
def open_delivered_files(path: Path, *, is_dry_run: bool) -> Iterator[DeliveredFiles]:
    """Open the record in this file. Changes are lost unless committed; a dry run creates no file.

    Raises AnotherRun, UsageError for a file that is no record, or EsrError if it cannot be written.
    """
    try:
        name = ":memory:" if is_dry_run and not path.exists() else str(path)
        database = sqlite3.connect(name, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            database.execute("BEGIN IMMEDIATE")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {_VERSION}")
            elif version != _VERSION:
                raise UsageError(f"{path} is of another esr: delete it, and all files are read again")
            database.execute(_UNKNOWN_FILES)
            yield DeliveredFiles(database)
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")
            database.close()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise AnotherRun(f"another esr sync with {path} is running: nothing was done") from error
        raise EsrError(f"cannot write {path}: {error} (the key state names another file)") from error
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{path} is no record of esr sync ({error}): delete it or name another") from error


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise InputError(display_name(path), f"cannot be read: {error.strerror}") from None
