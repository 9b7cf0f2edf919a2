"""The tables of alerts in the desk: which documents were matched, what is to be told, and what was delivered.

A sentence is told once to a search: its row in `alert_told` is written in the same transaction as the row in
`alert_items`, the outbox, and as the mark of its document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sql
from sqlalchemy import Connection, Float, Integer, MetaData, Table

from esr.dossiers.tables import column, meta

METADATA = MetaData()

documents: Table = Table(
    "alert_documents",
    METADATA,
    column("collection", primary_key=True),
    column("document", primary_key=True),
    column("mark"),
    column("content"),
    column("pending_until", server_default=""),
)
"""The documents that were matched. `mark` is that of the index, `content` a digest of texts and fields.
`pending_until`: when to stop waiting for their enrichment; empty for those that wait for none."""

told: Table = Table(
    "alert_told",
    METADATA,
    column("search", primary_key=True),
    column("document", primary_key=True),
    column("digest", primary_key=True),
    column("text"),
)
"""The sentences that a search has told, by the digest of their text; days as documents of that name."""

items: Table = Table(
    "alert_items",
    METADATA,
    column("number", Integer, primary_key=True),
    column("search", index=True),
    column("collection"),
    column("matched_at"),
    column("content"),
    column("digest_id", server_default="", index=True),
)
"""The outbox: what each search has to tell, by `number`. `digest_id` is empty until it is due."""

failures: Table = Table(
    "alert_failures",
    METADATA,
    column("search", primary_key=True),
    column("failed_at"),
    column("failure"),
)
"""Why the last run of a search failed, for searches that could not be run."""

deliveries: Table = Table(
    "alert_deliveries",
    METADATA,
    column("id", primary_key=True),
    column("digest_id"),
    column("search", index=True),
    column("part", Integer),
    column("target"),
    column("made_at"),
    column("state", index=True),
    column("attempts", Integer),
    column("next_at"),
    column("holder", server_default=""),
    column("held_until", Float, server_default="0"),
    column("ended_at", server_default=""),
    column("error", server_default=""),
)
"""A digest on its way to one target. `state` is waiting, sending, sent or failed."""

MIGRATIONS: Sequence[Callable[[Connection], None]] = ()
"""What makes tables of version n + 1 of those of version n, from version 1 on."""
_VERSION = "alerts"


def read_version(connection: Connection) -> int:
    """The version of the tables of alerts; 0 in a desk without them."""
    return int(connection.scalar(sql.select(meta.c.value).where(meta.c.name == _VERSION)) or 0)


def is_current(connection: Connection) -> bool:
    """Whether the tables are those of this version, which need not be prepared."""
    return read_version(connection) == len(MIGRATIONS) + 1


def prepare(connection: Connection) -> int:
    """Make the tables, or bring them to the newest version. Returns their version if it is newer, else 0."""
    stored, newest = read_version(connection), len(MIGRATIONS) + 1
    if not stored:
        METADATA.create_all(connection)
        connection.execute(meta.insert().values(name=_VERSION, value=str(newest)))
        return 0
    if stored > newest:
        return stored
    for step in MIGRATIONS[stored - 1 :]:
        step(connection)
    if stored < newest:
        connection.execute(meta.update().where(meta.c.name == _VERSION).values(value=str(newest)))
    return 0
