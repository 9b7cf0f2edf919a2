"""SQLite databases: one document per row of the tables that have texts.

A database file can hold SQL of its own in views, triggers, generated columns and virtual tables. None of it
is run: only ordinary tables are read, with functions forbidden and the length of values limited.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    Format,
    InputError,
    Malformed,
    ReadResult,
    Record,
    Remark,
    Source,
    to_one_line,
)
from esr.plugin.provisional import decode_cell, is_in_field

_MAGIC = b"SQLite format 3\0"
_MAX_STEPS = 10**9
"""Maximum number of instructions of SQLite's machine for each row, far more than one takes."""
_STEPS_BETWEEN_CHECKS = 10**6
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_PRAGMA)


def read(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per row. Tables without a column of texts are left out, with a remark, if others have one.

    Raises InputError if the file is broken, or has changes that are not yet in it.
    """
    with _open_file(source) as path:
        _check_journal(source)
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
                _protect(database)
                yield from _read_tables(source, database)
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            problem = f"broken SQLite: {to_one_line(error)}; fetch or write the file again"
            raise InputError(source.name, problem) from None


@contextmanager
def _open_file(source: Source) -> Iterator[Path]:
    """The path of the source's file, or of a copy of its bytes."""
    if source.path is not None:
        yield Path(source.path).absolute()
        return
    with tempfile.NamedTemporaryFile(prefix="esr-", suffix=".sqlite") as file:
        shutil.copyfileobj(source.stream, file)
        file.flush()
        yield Path(file.name)


def _check_journal(source: Source) -> None:
    for suffix in ("-wal", "-journal"):
        journal = Path(f"{source.path}{suffix}")
        if source.path is not None and journal.exists() and journal.stat().st_size:
            problem = f"has changes in {journal.name}: close the program that writes it, or load a backup"
            raise InputError(source.name, problem)


def _protect(database: sqlite3.Connection) -> None:
    """Let the database run nothing but reads of columns. Blobs that are no text are read as bytes."""
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_DOCUMENT_BYTES)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
    )


def _read_tables(source: Source, database: sqlite3.Connection) -> Iterator[ReadResult | Remark]:
    tables = _list_tables(database)
    with_texts = {n: columns for n, columns in tables.items() if any(is_in_field(c, "text") for c in columns)}
    for name in tables.keys() - with_texts.keys() if with_texts else ():
        text = f"have a table {to_one_line(name)[:60]!r} without a column of texts, which was left out"
        yield Remark(source.name, text, "files")
    for name, columns in (with_texts or tables).items():
        yield from _read_rows(source, database, name, columns)


def _list_tables(database: sqlite3.Connection) -> dict[str, list[str]]:
    """The ordinary tables with their columns. Generated columns, virtual tables and views are left out."""
    listed = database.execute("PRAGMA main.table_list").fetchall()
    names = [row[1] for row in listed if row[2] == "table" and not row[1].startswith("sqlite_")]
    tables = {}
    for name in sorted(names):
        rows = database.execute(f"PRAGMA main.table_xinfo({_quote(name)})").fetchall()
        if columns := [row[1] for row in rows if row[6] == 0]:
            tables[name] = columns
    return tables


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_rows(
    source: Source, database: sqlite3.Connection, table: str, columns: list[str]
) -> Iterator[ReadResult]:
    where = f"{source.name}:{to_one_line(table)[:60]}"
    steps = 0

    def check() -> bool:
        nonlocal steps
        steps += _STEPS_BETWEEN_CHECKS
        return steps > _MAX_STEPS

    database.set_progress_handler(check, _STEPS_BETWEEN_CHECKS)
    selected = ", ".join(map(_quote, columns))
    number = 0
    for row in database.execute(f"SELECT {selected} FROM main.{_quote(table)}"):  # nosec B608  # names are quoted
        steps, number = 0, number + 1
        values = {column: _to_json(value) for column, value in zip(columns, row, strict=True)}
        if any(value is not None for value in values.values()):
            yield Record(f"{where}:row {number}", values)
        else:
            yield Malformed(f"{where}:row {number}", "the row has no values: remove it")


def _to_json(value: Any) -> str | None:
    """A value as in CSV. Bytes that are not UTF-8, such as pictures, are left out."""
    if isinstance(value, bytes):
        value = decode_cell(value)
    text = "" if value is None else str(value)
    return text if text.strip() else None


SQLITE = Format(
    "sqlite",
    "SQLite: one document per row of the tables with texts (see --mapping)",
    suffixes=(".sqlite", ".sqlite3"),
    sniff=lambda head: head.startswith(_MAGIC),
    read=read,
    any_names=True,
)
