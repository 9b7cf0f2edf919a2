"""The tables of the desk, and how a desk of an older version becomes one of this version.

Texts and JSON are texts in all databases, so the tables are the same in SQLite and in PostgreSQL. Rows of
`item_versions` and `states` are never changed: a dossier's present state is that of its version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sql
from sqlalchemy import Boolean, Column, Connection, ForeignKey, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()

meta: Table = Table(
    "desk", METADATA, Column("name", String(40), primary_key=True), Column("value", Text, nullable=False)
)
"""The version of the tables, and the secret that signs links."""

dossiers: Table = Table(
    "dossiers",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("version", Integer, nullable=False),
    Column("created_at", String(30), nullable=False),
    Column("changed_at", String(30), nullable=False),
    Column("changed_by", String(200), nullable=False),
    Column("deleted_at", String(30), nullable=False, server_default=""),
)

states: Table = Table(
    "states",
    METADATA,
    Column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("items", Integer, nullable=False),
    Column("content", Text, nullable=False),
)
"""A dossier after each of its newest changes. `content`: the ids and versions of its items, in order."""

item_versions: Table = Table(
    "item_versions",
    METADATA,
    Column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    Column("item", String(40), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("content", Text, nullable=False),
)

holdings: Table = Table(
    "holdings",
    METADATA,
    Column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    Column("item", String(40), primary_key=True),
    Column("document_id", Text, nullable=False, index=True),
    Column("sentence_id", Text, nullable=False, index=True),
)
"""Which sentences and documents are in dossiers now."""

changes: Table = Table(
    "changes",
    METADATA,
    Column("dossier", ForeignKey("dossiers.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("at", String(30), nullable=False),
    Column("who", String(200), nullable=False),
    Column("action", String(40), nullable=False),
    Column("items", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

members: Table = Table(
    "members",
    METADATA,
    Column("thing", String(40), primary_key=True),
    Column("is_group", Boolean, primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("role", String(10), nullable=False),
    Index("members_by_name", "name"),
)
"""Readers and writers of dossiers and of saved searches."""

links: Table = Table(
    "links",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("dossier", ForeignKey("dossiers.id"), nullable=False, index=True),
    Column("made_by", String(200), nullable=False),
    Column("made_at", String(30), nullable=False),
    Column("expires_at", String(30), nullable=False),
    Column("is_revoked", Boolean, nullable=False),
)

saved_searches: Table = Table(
    "saved_searches",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("delivery", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
    Column("changed_at", String(30), nullable=False),
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
