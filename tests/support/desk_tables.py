"""What the tables of a desk refuse, and how its queries read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sql


def check_rows(table: sql.Table) -> None:
    """Check that a table takes a row once, and only with a value in each column."""
    engine = sql.create_engine("sqlite://")
    table.metadata.create_all(engine)
    row: dict[str, Any] = {column.name: "1" if _is_text(column) else 1 for column in table.columns}
    with engine.begin() as connection:
        connection.execute(table.insert().values(**row))
    empty = [{**row, column.name: None} for column in table.columns if not _is_numbered(column)]
    for refused in (row, *empty):
        with pytest.raises(sql.exc.IntegrityError), engine.begin() as connection:
            connection.execute(table.insert().values(**refused))
    engine.dispose()


def _is_text(column: sql.Column[Any]) -> bool:
    return isinstance(column.type, sql.Text)


def _is_numbered(column: sql.Column[Any]) -> bool:
    """Whether SQLite numbers the rows itself."""
    return list(column.table.primary_key) == [column] and isinstance(column.type, sql.Integer)


@contextmanager
def noting_scans() -> Iterator[set[tuple[str, str]]]:
    """The tables that statements of SQLite read from the first row to the last, with the statements."""
    scans: set[tuple[str, str]] = set()
    with noting_steps() as steps:
        yield scans
    scans.update(step for step in steps if step[0].startswith("SCAN"))


@contextmanager
def noting_steps() -> Iterator[set[tuple[str, str]]]:
    """How statements of SQLite read the tables: steps of their plans, with the statements."""
    steps: set[tuple[str, str]] = set()

    def note(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool
    ) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            values = parameters[0] if executemany else parameters
            plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            steps.update((row[3], " ".join(statement.split())) for row in plan)

    sql.event.listen(sql.Engine, "before_cursor_execute", note)
    try:
        yield steps
    finally:
        sql.event.remove(sql.Engine, "before_cursor_execute", note)
