"""Backups of a desk: an SQLite file with all of it, whatever is written meanwhile.

A desk in a file is copied by SQLite itself, a desk in PostgreSQL row by row in one transaction. Both are
restored in one transaction too, so servers that have the desk open go on with what is restored.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from esr.dossiers.desk import Desk, DeskUnusable
from esr.plugin import UsageError, to_one_line
from esr.plugin.provisional import import_lazily

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
    except OSError as error:
        raise DeskUnusable(f"cannot write {target}: {(error.strerror or str(error)).lower()}") from None
    finally:
        for path in (temporary, *(Path(f"{temporary}{end}") for end in ("-wal", "-shm"))):
            path.unlink(missing_ok=True)
    return target.stat().st_size


def restore_desk(source: Path, desk: Desk) -> None:
    """Make a desk equal to a backup. What it had is gone. Raises UsageError if there is no backup."""
    if not source.is_file():
        raise UsageError(f"there is no backup of a desk at {source}")
    with Desk(str(source)) as backup:
        with backup.reading():  # raises for one of a newer version, and migrates an older one
            pass
        with desk.reading():
            pass
        if desk.is_file:
            _copy_file(source, Path(desk.where))
        else:
            _copy_rows(backup, desk)


def _copy_file(source: Path, target: Path) -> None:
    with _translate(source), closing(sqlite3.connect(source, timeout=30)) as read:
        (state,) = read.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise DeskUnusable(f"the desk {source} is damaged: {to_one_line(state)}")
        with closing(sqlite3.connect(target, timeout=30)) as written:
            read.backup(written)
    target.chmod(0o600)


def _write_through(path: Path) -> None:
    """Move what is in the log of a file into the file, so that it is complete without its log."""
    with _translate(path), closing(sqlite3.connect(path, timeout=30)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


@contextmanager
def _translate(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise DeskUnusable(f"cannot copy the desk {path}: {to_one_line(error)}") from error


def _copy_rows(source: Desk, target: Desk) -> None:
    """Replace all rows of a desk by those of another."""
    with source.reading() as read, target.writing() as written:
        for table in reversed(tables.METADATA.sorted_tables):
            written.execute(table.delete())
        for table in tables.METADATA.sorted_tables:
            rows = read.execute(sql.select(table)).mappings()
            while some := rows.fetchmany(_ROWS):
                written.execute(table.insert(), [dict(row) for row in some])
