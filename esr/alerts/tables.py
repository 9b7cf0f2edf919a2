"""The tables of alerts in the desk: which documents were matched, what is to be told, and what was delivered.

A sentence is told once to a search: its row in `alert_told` is written in the same transaction as the row in
`alert_items`, the outbox, and as the mark of its document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sql
from sqlalchemy import Column, Connection, Float, Integer, MetaData, String, Table, Text

from esr.dossiers.tables import meta

METADATA = MetaData()

documents: Table = Table(
    "alert_documents",
    METADATA,
    Column("collection", String(300), primary_key=True),
    Column("document", Text, primary_key=True),
    Column("mark", String(40), nullable=False),
    Column("content", String(32), nullable=False),
    Column("pending_until", String(30), nullable=False, server_default="", index=True),
)
"""The documents that were matched. `mark` is that of the index, `content` a digest of texts and fields.
`pending_until`: when to stop waiting for their enrichment; empty for those that wait for none."""

told: Table = Table(
    "alert_told",
    METADATA,
    Column("search", String(40), primary_key=True),
    Column("document", Text, primary_key=True),
    Column("digest", String(20), primary_key=True),
    Column("text", Text, nullable=False),
)
"""The sentences that a search has told, by the digest of their text; days as documents of that name."""

items: Table = Table(
    "alert_items",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("search", String(40), nullable=False, index=True),
    Column("collection", String(300), nullable=False),
    Column("matched_at", String(30), nullable=False),
    Column("content", Text, nullable=False),
    Column("digest_id", String(40), nullable=False, server_default="", index=True),
)
"""The outbox: what each search has to tell, by `number`. `digest_id` is empty until it is due."""

failures: Table = Table(
    "alert_failures",
    METADATA,
    Column("search", String(40), primary_key=True),
    Column("failed_at", String(30), nullable=False),
    Column("failure", Text, nullable=False),
)
"""Why the last run of a search failed, for searches that could not be run."""

deliveries: Table = Table(
    "alert_deliveries",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("digest_id", String(40), nullable=False, index=True),
    Column("search", String(40), nullable=False, index=True),
    Column("part", Integer, nullable=False),
    Column("target", Text, nullable=False),
    Column("made_at", String(30), nullable=False),
    Column("state", String(10), nullable=False, index=True),
    Column("attempts", Integer, nullable=False),
    Column("next_at", String(30), nullable=False),
    Column("holder", String(100), nullable=False, server_default=""),
    Column("held_until", Float, nullable=False, server_default="0"),
    Column("ended_at", String(30), nullable=False, server_default=""),
    Column("error", Text, nullable=False, server_default=""),
)
"""A digest on its way to one target. `state` is waiting, sending, sent or failed."""

MIGRATIONS: Sequence[Callable[[Connection], None]] = ()
"""What makes tables of version n + 1 of those of version n, from version 1 on."""
_VERSION = "alerts"


def prepare(connection: Connection) -> int:
    """Make the tables, or bring them to the newest version. Returns their version if it is newer, else 0."""
    where = meta.c.name == _VERSION
    stored = connection.scalar(sql.select(meta.c.value).where(where))
    newest = len(MIGRATIONS) + 1
    if stored is None:
        METADATA.create_all(connection)
        connection.execute(meta.insert().values(name=_VERSION, value=str(newest)))
        return 0
    if int(stored) > newest:
        return int(stored)
    for step in MIGRATIONS[int(stored) - 1 :]:
        step(connection)
    if int(stored) < newest:
        connection.execute(meta.update().where(where).values(value=str(newest)))
    return 0
