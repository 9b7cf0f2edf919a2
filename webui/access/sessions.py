"""Sessions of people: signed cookies, and the list of those that ended before their time.

A session is a record in a cookie, signed by HMAC-SHA-256. It ends when it is too old, when nothing was asked
in it for some time, and when its person logs out. Then it is in the list of ended ones, so no copy of its
cookie is valid. All workers of a server share the list until the server stops.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import time
from typing import Any

from flask.sessions import SecureCookieSessionInterface
from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from esr.threads import take_turns

_TABLE = """
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS ended (id TEXT PRIMARY KEY, until REAL);
"""
_LOCK_SECONDS = 2.0
"""Seconds to wait while other workers lock the file."""
_MOST_UNNOTED = 60.0
"""Seconds of use that a cookie need not know of, so that not each answer has a cookie."""


class SignedCookies(SecureCookieSessionInterface):
    """Cookies of sessions that are signed by SHA-256; Flask's own are by SHA-1."""

    digest_method = staticmethod(hashlib.sha256)


class Session(Struct, frozen=True):
    """Who has logged in, when (`at`), and when something was last asked, in seconds since the epoch.

    `kind` is that of the grant, `mark` the digest of its secret, and `groups` are those of a provider.
    """

    name: str
    kind: str
    mark: str
    at: int
    last_used: int
    id: str
    groups: tuple[str, ...] = ()

    @classmethod
    def begin(cls, name: str, kind: str, mark: str, groups: tuple[str, ...]) -> Session:
        now = int(time.time())
        return cls(name, kind, mark, now, now, secrets.token_urlsafe(), groups)

    def as_dict(self) -> dict[str, Any]:
        stored: dict[str, Any] = to_builtins(self)
        return stored

    @classmethod
    def from_dict(cls, stored: Any) -> Session:
        return convert(stored, cls)


class SessionLimits:
    """How long sessions last, and those that ended. Workers with the same file `path` share the list.

    `longest` and `idle` are seconds since the login and since the last request.
    """

    def __init__(self, path: str, longest: float, idle: float) -> None:
        self._longest, self._idle = longest, idle
        self._database = sqlite3.connect(
            path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._database.executescript(_TABLE)

    def is_valid(self, session: Session) -> bool:
        """Whether a session goes on. Raises sqlite3.Error if the file cannot be used."""
        now = time.time()
        is_in_time = 0 <= now - session.at <= self._longest and now - session.last_used <= self._idle
        return is_in_time and not self._has_ended(session)

    def note_use(self, session: Session) -> Session:
        """The session as it is to be stored now: the same one if its last use was noted a moment ago."""
        now = time.time()
        if now - session.last_used < min(_MOST_UNNOTED, self._idle / 10):
            return session
        return replace(session, last_used=int(now))

    @take_turns
    def end(self, session: Session) -> None:
        """End a session, so that no copy of its cookie is valid."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("DELETE FROM ended WHERE until < ?", (time.time(),))
            row = session.id, session.at + self._longest
            self._database.execute("INSERT OR IGNORE INTO ended VALUES (?, ?)", row)

    @take_turns
    def _has_ended(self, session: Session) -> bool:
        row = self._database.execute("SELECT 1 FROM ended WHERE id = ?", (session.id,)).fetchone()
        return row is not None
