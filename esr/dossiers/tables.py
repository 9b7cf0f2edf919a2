"""The tables of the desk, and how a desk of an older version becomes one of this version.

Texts and JSON are texts in all databases, so the tables are the same in SQLite and in PostgreSQL. Rows of
`item_versions` and `states` are never changed: a dossier's present state is that of its version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sql
from sqlalchemy import Boolean, Column, Connection, ForeignKey, Index, Integer, MetaData, Table, Text

METADATA = MetaData()


_OF_ALERTS = "alert_"
"""What the names of tables begin with that `esr.alerts` adds to a desk."""


def is_of_desk(table: str, _: object = None) -> bool:
    """Whether a table is one of a desk, and not that of another application in the same database."""
    return table in METADATA.tables or table.startswith(_OF_ALERTS)


def column(name: str, type: Any = Text, **options: Any) -> Column[Any]:
    """A column that has a value in each row. Texts have no maximum, which SQLite would not enforce."""
    return Column(name, type, nullable=False, **options)


meta: Table = Table("desk", METADATA, column("name", primary_key=True), column("value"))
"""The version of the tables, and the secret that signs links."""

dossiers: Table = Table(
    "dossiers",
    METADATA,
    column("id", primary_key=True),
    column("owner", index=True),
    column("version", Integer),
    column("created_at"),
    column("changed_at"),
    column("changed_by"),
    column("deleted_at", server_default=""),
)

states: Table = Table(
    "states",
    METADATA,
    column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    column("version", Integer, primary_key=True),
    column("name"),
    column("description"),
    column("items", Integer),
    column("content"),
)
"""A dossier after each of its newest changes. `content`: the ids and versions of its items, in order."""

item_versions: Table = Table(
    "item_versions",
    METADATA,
    column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    column("item", primary_key=True),
    column("version", Integer, primary_key=True),
    column("content"),
)

holdings: Table = Table(
    "holdings",
    METADATA,
    column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    column("item", primary_key=True),
    column("document_id", index=True),
    column("sentence_id", index=True),
)
"""Which sentences and documents are in dossiers now."""

changes: Table = Table(
    "changes",
    METADATA,
    column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    column("version", Integer, primary_key=True),
    column("at"),
    column("who"),
    column("action"),
    column("items"),
    column("detail"),
)

members: Table = Table(
    "members",
    METADATA,
    column("thing", primary_key=True),
    column("is_group", Boolean, primary_key=True),
    column("name", primary_key=True),
    column("role"),
    Index("members_by_name", "name"),
)
"""Readers and writers of dossiers and of saved searches."""

links: Table = Table(
    "links",
    METADATA,
    column("id", primary_key=True),
    column("dossier", ForeignKey("dossiers.id"), index=True),
    column("made_by"),
    column("made_at"),
    column("expires_at"),
    column("is_revoked", Boolean),
)

saved_searches: Table = Table(
    "saved_searches",
    METADATA,
    column("id", primary_key=True),
    column("owner", index=True),
    column("name"),
    column("version", Integer),
    column("arguments"),
    column("delivery"),
    column("state"),
    column("created_at"),
    column("changed_at"),
)

MIGRATIONS: Sequence[Callable[[Connection], None]] = ()
"""What makes a desk of version n + 1 of one of version n, from version 1 on."""


def read_version(connection: Connection) -> int:
    """The version of a desk's tables; 0 for a new one."""
    if not sql.inspect(connection).has_table(meta.name):
        return 0
    value = connection.scalar(sql.select(meta.c.value).where(meta.c.name == "version"))
    return int(value or 0)


def migrate(connection: Connection, migrations: Sequence[Callable[[Connection], None]]) -> None:
    """Make the tables, or bring them to the newest version, in the transaction of the connection."""
    version, newest = read_version(connection), len(migrations) + 1
    if version == newest:
        return
    if version == 0:
        METADATA.create_all(connection)
        connection.execute(meta.insert().values(name="version", value=str(newest)))
        return
    for step in migrations[version - 1 :]:
        step(connection)
    connection.execute(meta.update().where(meta.c.name == "version").values(value=str(newest)))
