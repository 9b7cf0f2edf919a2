"""Backups of a desk: an SQLite file with all of it, whatever is written meanwhile.

A desk in a file is copied by SQLite itself, a desk in PostgreSQL row by row in one transaction. Both are
restored in one transaction too, so servers that have the desk open go on with what is restored.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esr.dossiers.desk import BUSY_SECONDS, Desk, DeskUnusable, create_private
from esr.folder.format.files import sync_folder
from esr.plugin import UsageError, to_one_line
from esr.plugin.provisional import import_lazily, scratch_folder

if TYPE_CHECKING:
    import sqlalchemy as sql

    from esr.dossiers import tables
else:
    sql = import_lazily("sqlalchemy")
    tables = import_lazily("esr.dossiers.tables")

NAME = "desk.sqlite"
"""The name of the desk in a folder of a backup."""
_ROWS = 500


def back_up_desk(desk: Desk, target: Path) -> int:
    """Write all of a desk to a file, which is replaced at the end, and return its size in bytes."""
    temporary = target.with_name(f"{target.name}.new")
    temporary.unlink(missing_ok=True)
    try:
        with desk.reading():  # makes or migrates the tables, or raises
            pass
        if desk.is_file:
            _copy_file(Path(desk.where), temporary)
        else:
            with Desk(str(temporary)) as copy:
                _copy_rows(desk, copy)
            _write_through(temporary)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
        sync_folder(target.parent)
    except OSError as error:
        raise DeskUnusable(f"cannot write {target}: {(error.strerror or str(error)).lower()}") from None
    finally:
        for path in (temporary, *(Path(f"{temporary}{end}") for end in ("-wal", "-shm"))):
            path.unlink(missing_ok=True)
    return target.stat().st_size


def restore_desk(source: Path, desk: Desk) -> None:
    """Make a desk equal to a backup. What it had is gone. Raises UsageError if there is no backup.

    The backup is only read: it may be on a read-only medium, and one of an older version stays as it is.
    """
    if not source.is_file():
        raise UsageError(f"there is no backup of a desk at {source}")
    with scratch_folder("restore") as folder:
        copy = folder / NAME
        try:
            _read_file(source, copy)
            with Desk(str(copy)) as backup:
                with backup.reading():  # raises for one of a newer version, and migrates an older one
                    pass
                with desk.reading():
                    pass
                if desk.is_file:
                    _copy_file(copy, Path(desk.where))
                else:
                    _copy_rows(backup, desk)
        except DeskUnusable as error:
            raise DeskUnusable(str(error).replace(str(copy), str(source))) from error


def _read_file(source: Path, target: Path) -> None:
    """Copy a desk that may be in use, or one on a read-only medium, where SQLite could not open its log."""
    if all(os.access(path, os.W_OK) for path in (source, source.parent)):
        _copy_file(source, target)
        return
    create_private(target)
    try:
        for end in ("", "-wal"):
            if os.path.exists(f"{source}{end}"):
                shutil.copyfile(f"{source}{end}", f"{target}{end}")
    except OSError as error:
        raise DeskUnusable(f"cannot copy the desk {source}: {to_one_line(error.strerror or error)}") from None


def _copy_file(source: Path, target: Path) -> None:
    with _open(source) as read:
        (state,) = read.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise DeskUnusable(f"the desk {source} is damaged: {to_one_line(state)}")
        create_private(target)
        with _open(target) as written:
            read.backup(written)


def _write_through(path: Path) -> None:
    """Move what is in the log of a file into the file, so that it is complete without its log."""
    with _open(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise DeskUnusable(f"cannot copy the desk {path}: {to_one_line(error)}") from error


def _copy_rows(source: Desk, target: Desk) -> None:
    """Replace all rows of a desk by those of another, also of tables that only other parts of esr know."""
    with source.reading() as read, target.writing() as written:
        known = sql.MetaData()
        known.reflect(written, only=tables.is_of_desk)
        for table in reversed(known.sorted_tables):
            written.execute(table.delete())
        copied = _read_tables(read)
        copied.create_all(written)
        for table in copied.sorted_tables:
            rows = read.execute(sql.select(table)).mappings()
            while some := rows.fetchmany(_ROWS):
                written.execute(table.insert(), [dict(row) for row in some])
            _continue_numbers(written, table)


def _read_tables(connection: sql.Connection) -> sql.MetaData:
    """The tables of a database, with types and defaults that every database has."""
    read, plain = sql.MetaData(), sql.MetaData()
    read.reflect(connection, only=tables.is_of_desk)
    for table in read.sorted_tables:
        columns = [
            sql.Column(
                column.name,
                column.type.as_generic(),
                *(sql.ForeignKey(key.target_fullname) for key in column.foreign_keys),
                primary_key=column.primary_key,
                nullable=column.nullable,
                server_default=_read_default(column),
            )
            for column in table.columns
        ]
        copied = sql.Table(table.name, plain, *columns)
        for index in table.indexes:
            sql.Index(index.name, *(copied.c[column.name] for column in index.columns), unique=index.unique)
    return plain


def _read_default(column: sql.Column[Any]) -> sql.TextClause | None:
    """A constant default, without the type that PostgreSQL adds; None for the next of a row of numbers."""
    text = getattr(getattr(column.server_default, "arg", None), "text", "")
    return sql.text(text.split("::")[0]) if text and "nextval" not in text else None


def _continue_numbers(connection: sql.Connection, table: sql.Table) -> None:
    """Let PostgreSQL number the next rows after those that were copied."""
    for column in table.primary_key.columns:
        if connection.dialect.name == "postgresql" and isinstance(column.type, sql.Integer):
            sequence = sql.func.pg_get_serial_sequence(table.name, column.name)
            if connection.scalar(sql.select(sequence)):
                highest = connection.scalar(sql.select(sql.func.max(column)))
                connection.execute(sql.select(sql.func.setval(sequence, highest or 1, highest is not None)))
