"""A set of keys with values on disk, in SQLite, so that memory does not grow with the number of documents."""

from __future__ import annotations

import sqlite3

from esr.errors import EsrError


class KeyStore:
    """Keys, each with one value: that of its first insertion, until it is replaced.

    The file is unnamed and deleted with the object. Methods raise EsrError if it cannot be written.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE keys (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def insert(self, key: bytes, value: str) -> str | None:
        """Store the value under a new key and return None; for an existing key, return the stored value."""
        cursor = self._execute("INSERT OR IGNORE INTO keys VALUES (?, ?)", (key, value))
        return None if cursor.rowcount else self.find(key)

    def find(self, key: bytes) -> str | None:
        """The value of a key, or None."""
        row = self._execute("SELECT value FROM keys WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def replace(self, key: bytes, value: str) -> None:
        """Store another value under an existing key."""
        self._execute("UPDATE keys SET value = ? WHERE key = ?", (value, key))

    def _execute(self, query: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        try:
            return self._database.execute(query, values)
        except sqlite3.OperationalError as error:
            raise EsrError(
                f"cannot write to the folder of temporary files ({error}): make room there, "
                "or name another folder in TMPDIR"
            ) from error

    def close(self) -> None:
        self._database.close()
