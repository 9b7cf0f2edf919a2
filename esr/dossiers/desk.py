"""The desk: the database with the dossiers and saved searches of a server, in a file or in PostgreSQL.

A file is SQLite with a write-ahead log that is on disk when a change is acknowledged. A change takes the only
right to write first, so that it reads nothing that another one is about to change.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esr.dossiers.records import DeskUnusable
from esr.plugin import UsageError, to_one_line
from esr.plugin.provisional import import_lazily, redact, require, take_turns

if TYPE_CHECKING:
    import sqlalchemy as sql
    from sqlalchemy import exc

    from esr.dossiers import tables
else:
    exc = import_lazily("sqlalchemy.exc")
    sql = import_lazily("sqlalchemy")
    tables = import_lazily("esr.dossiers.tables")

__all__ = ["Desk", "DeskUnusable", "find_desk", "make_id", "open_desk", "write_time"]
VARIABLE = "ESR_DESK"
_POSTGRES = ("postgresql://", "postgres://")
BUSY_SECONDS = 30
"""Seconds for which a change waits for others to be written."""
_ID_BYTES = 10
_SCHEMA, _ALONE = 716538201, 716538202
"""The locks of PostgreSQL that hold while tables are made, and by `Desk.writing_alone`."""


class Desk:
    """An open desk, for `Dossiers` and `SavedSearches`.

    Its methods may be called from several threads. Each process opens its own, after it was forked.
    `clock` is the present time, for tests.
    """

    def __init__(
        self,
        where: str,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        migrations: Sequence[Callable[[Any], None]] | None = None,
    ) -> None:
        require("the desk of dossiers", "sqlalchemy")
        self.is_file: bool = not where.startswith(_POSTGRES)
        self.where: str = os.path.expanduser(where) if self.is_file else where
        self._clock = clock
        self._migrations = migrations
        self._engine = self._make_engine()
        self._is_ready = False

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the database."""
        self._engine.dispose()

    def now(self) -> str:
        """The present time, as records have it."""
        return write_time(self._clock())

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A transaction that reads one state. Raises DeskUnusable."""
        with self._connect("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """A transaction that writes, and is on disk after the block. Raises DeskUnusable."""
        with self._connect("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def writing_alone(self) -> Iterator[sql.Connection]:
        """A transaction that writes while no other of this kind does. Raises DeskUnusable.

        It is for changes that first read which rows they are about.
        """
        with self.writing() as connection:
            self._lock(connection, _ALONE)
            yield connection

    @contextmanager
    def _connect(self, begin: str) -> Iterator[sql.Connection]:
        self._prepare()
        with self._translate(), self._engine.connect() as connection:
            level = {} if self.is_file or begin != "BEGIN" else {"isolation_level": "REPEATABLE READ"}
            connection = connection.execution_options(esr_begin=begin, **level)
            with connection.begin():
                yield connection

    @contextmanager
    def _translate(self) -> Iterator[None]:
        try:
            yield
        except (exc.DBAPIError, exc.SQLAlchemyError) as error:
            reason = to_one_line(getattr(error, "orig", None) or error)
            raise DeskUnusable(f"the desk {redact(self.where)} cannot be used: {reason}") from error

    @take_turns
    def _prepare(self) -> None:
        """Make or migrate the tables, once. Raises DeskUnusable for a desk of a newer version."""
        if self._is_ready:
            return
        migrations = tables.MIGRATIONS if self._migrations is None else self._migrations
        newest = len(migrations) + 1
        with self._translate():
            with self._engine.connect() as connection, connection.begin():
                version = tables.read_version(connection)
            if version > newest:
                raise DeskUnusable(
                    f"the desk {redact(self.where)} has version {version}, and this esr knows versions up to "
                    f"{newest}: upgrade esr, or name another desk by {VARIABLE}"
                )
            if version < newest:
                with self._engine.connect() as connection:
                    connection = connection.execution_options(esr_begin="BEGIN IMMEDIATE")
                    with connection.begin():
                        self._lock(connection, _SCHEMA)
                        tables.migrate(connection, migrations)
        self._is_ready = True

    def _lock(self, connection: sql.Connection, number: int) -> None:
        """Take a lock until the end of the transaction. In SQLite, nobody else writes in this time anyway."""
        if not self.is_file:
            connection.execute(sql.select(sql.func.pg_advisory_xact_lock(number)))

    def _make_engine(self) -> sql.Engine:
        if not self.is_file:
            require("a desk in PostgreSQL", "psycopg")
            address = "postgresql+psycopg://" + self.where.partition("://")[2]
            try:
                return sql.create_engine(address, pool_pre_ping=True, pool_size=5, max_overflow=20)
            except (exc.ArgumentError, ValueError) as error:
                raise UsageError(
                    f"cannot read {VARIABLE} {redact(self.where)}: {to_one_line(error)}"
                ) from None
        path = Path(self.where).absolute()
        if not os.path.isdir(path.parent):
            raise UsageError(f"cannot make the desk {path}: there is no folder {path.parent}")
        if os.path.isdir(path):
            raise UsageError(f"cannot make the desk {path}: it is a folder, and the desk is a file in one")
        create_private(path)
        engine = sql.create_engine(
            f"sqlite:///{path}", connect_args={"timeout": BUSY_SECONDS, "isolation_level": None}
        )

        @sql.event.listens_for(engine, "connect")
        def set_up(connection: sqlite3.Connection, _: object) -> None:
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")

        @sql.event.listens_for(engine, "begin")
        def begin(connection: sql.Connection) -> None:
            connection.exec_driver_sql(connection.get_execution_options().get("esr_begin", "BEGIN"))

        return engine

    def secret(self) -> str:
        """The secret that signs the links of this desk, made at its first use."""
        table = tables.meta
        with self.reading() as connection:
            query = sql.select(table.c.value).where(table.c.name == "secret")
            secret = connection.scalar(query)
        if secret is not None:
            return str(secret)
        with self.writing() as connection:
            secret = connection.scalar(query)
            if secret is None:
                secret = secrets.token_hex()
                connection.execute(table.insert().values(name="secret", value=secret))
        return str(secret)


def open_desk(where: str | os.PathLike[str] | None = None, **options: Any) -> Desk:
    """Open the desk of a file or of a PostgreSQL address, by default that of `ESR_DESK`.

    A file that does not exist is made. Raises UsageError if nothing names a desk.
    """
    return Desk(_name_desk(where), **options)


def find_desk(where: str | os.PathLike[str] | None = None) -> str:
    """The file or address of a desk, by default that of `ESR_DESK`, for commands that make none.

    Raises UsageError if nothing names a desk, DeskUnusable if it is a file that does not exist.
    """
    text = _name_desk(where)
    if not text.startswith(_POSTGRES) and not os.path.exists(os.path.expanduser(text)):
        raise DeskUnusable(
            f"there is no desk at {text}: esr serve, esr dossier create and esr alerts add make one"
        )
    return text


def _name_desk(where: str | os.PathLike[str] | None) -> str:
    text = os.fspath(where) if where is not None else os.environ.get(VARIABLE, "").strip()
    if not text:
        raise UsageError(
            f"no desk is named: set {VARIABLE} to a file, such as desk.sqlite, or to the address of a "
            "PostgreSQL database"
        )
    return text


def create_private(path: Path) -> None:
    """Create the file of a desk, which only its owner may read, unless there is one.

    An existing file is not opened. By POSIX, closing it would end all locks that the process has on it:
    another process could then take the log for unused and delete it, while this one goes on writing into it.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not os.access(path, os.R_OK | os.W_OK):
            raise DeskUnusable(f"cannot write the desk {path}: permission denied") from None
    except OSError as error:
        raise DeskUnusable(
            f"cannot write the desk {path}: {(error.strerror or str(error)).lower()}"
        ) from None


def write_time(moment: datetime) -> str:
    """A time as records have it: ISO 8601 in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def make_id() -> str:
    """A new random id of a dossier, an item, a link or a saved search."""
    return secrets.token_hex(_ID_BYTES)
