"""A set of keys with values on disk, in SQLite, so that memory does not grow with the number of documents."""

from __future__ import annotations

import sqlite3


class KeyStore:
    """Keys, each with the value of its first insertion. The file is unnamed and deleted with the object."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE keys (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def insert(self, key: bytes, value: str) -> str | None:
        """Store the value under a new key and return None; for an existing key, return the stored value."""
        row = self._database.execute("SELECT value FROM keys WHERE key = ?", (key,)).fetchone()
        if row:
            return str(row[0])
        self._database.execute("INSERT INTO keys VALUES (?, ?)", (key, value))
        return None

    def close(self) -> None:
        self._database.close()
