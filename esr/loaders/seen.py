"""What has come by before, kept on disk by SQLite: the memory does not grow with the number of documents."""

from __future__ import annotations

import sqlite3


class Seen:
    """Keys, each with what was said of it the first time. The file has no name and goes with the object."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE seen (key BLOB PRIMARY KEY, first TEXT) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def first(self, key: bytes, said: str) -> str | None:
        """What was said of this key before; None if it is new, and then `said` is kept."""
        row = self._database.execute("SELECT first FROM seen WHERE key = ?", (key,)).fetchone()
        if row:
            return str(row[0])
        self._database.execute("INSERT INTO seen VALUES (?, ?)", (key, said))
        return None

    def close(self) -> None:
        self._database.close()
