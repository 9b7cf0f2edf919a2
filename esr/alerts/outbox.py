"""What has been matched and what is to be delivered, in the database of the desk.

Each step is one transaction: marks of documents with what they have to tell; a digest with its deliveries;
a delivery that is taken, and that has ended. So a killed process leaves nothing half done, and the next one
goes on. A delivery that was being sent when its process died is sent again under the same id, by which
receivers can drop it. Each step first reads what is to be done, so those of several processes follow one
another.
"""

from __future__ import annotations

import os
import socket
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from esr.alerts.schedule import Schedule
from esr.alerts.told import find_news
from esr.dossiers.desk import Desk, DeskUnusable, make_id, write_time
from esr.following.alerts.atom import text_digest
from esr.index.login_variables import redact
from esr.processes import is_running
from esr.stdlib import batched, import_lazily

if TYPE_CHECKING:
    import sqlalchemy as sql

    from esr.alerts import tables
else:
    sql = import_lazily("sqlalchemy")
    tables = import_lazily("esr.alerts.tables")

MOST_ITEMS = 200
"""Maximum number of sentences in one digest. More of them come in several."""
HOLD_SECONDS = 600.0
"""How long a process may take for a delivery before another one takes it over."""
GIVE_UP = timedelta(days=3)
_FIRST_WAIT, _LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
_BASELINE = ""
"""The document that stands for the first run over a collection."""
_NO_DIGEST = ""
"""The digest of a line in the record of deliveries that says why an alert has stopped."""
_ROWS = 500
State = Literal["waiting", "sending", "sent", "failed"]


class KnownDocument(NamedTuple):
    """What was matched of a document: the mark of the index, and the digest of its content."""

    mark: str
    content: str
    pending_until: str = ""


class News(NamedTuple):
    """The matching sentences of a document for a search: their texts, and what to tell of each."""

    search: str
    document: str
    texts: Sequence[str]
    contents: Sequence[Mapping[str, Any]]
    present: Collection[str]
    """The digests of all sentences of the document."""


class Delivery(NamedTuple):
    """A digest on its way to a target. `id` stays the same for all attempts."""

    id: str
    digest_id: str
    search: str
    target: str
    made_at: str
    state: State
    attempts: int
    next_at: str
    ended_at: str
    error: str


class Changed(Exception):
    """Another process has matched these documents meanwhile."""


class Outbox:
    """The alerts' part of a desk. Moments have a time zone."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._is_ready = False

    @contextmanager
    def _writing(self) -> Iterator[sql.Connection]:
        with self.desk.writing_alone() as connection:
            if not self._is_ready:
                newer = tables.prepare(connection)
                if newer:
                    raise DeskUnusable(
                        f"the alerts in the desk {redact(self.desk.where)} have version {newer}, which "
                        "this esr does not know: upgrade esr"
                    )
                self._is_ready = True
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[sql.Connection]:
        if not self._is_ready:
            with self.desk.reading() as connection:  # whoever writes makes nobody wait who reads
                self._is_ready = tables.is_current(connection)
        if not self._is_ready:
            with self._writing():
                pass
        with self.desk.reading() as connection:
            yield connection

    # What was matched

    def matched_documents(self, collection: str) -> dict[str, KnownDocument] | None:
        """The documents that were matched, by id; None before the first run over the collection."""
        table = tables.documents
        columns = table.c.document, table.c.mark, table.c.content, table.c.pending_until
        with self._reading() as connection:
            rows = connection.execute(sql.select(*columns).where(table.c.collection == collection))
            documents = {document: KnownDocument(*values) for document, *values in rows}
        return None if documents.pop(_BASELINE, None) is None else documents

    def collections(self) -> set[str]:
        """The collections of which documents were matched."""
        name, names, last = tables.documents.c.collection, set[str](), ""
        with self._reading() as connection:  # one after the other, since each has many rows
            while after := connection.scalar(sql.select(sql.func.min(name)).where(name > last)):
                names.add(last := after)
        return names

    def store_baseline(self, collection: str, documents: Mapping[str, KnownDocument]) -> None:
        """Note the documents of a first run, which has nothing to tell of them."""
        with self._writing() as connection:
            self._write_documents(connection, collection, {_BASELINE: KnownDocument("", ""), **documents})

    def store_matches(
        self,
        collection: str,
        before: Mapping[str, KnownDocument],
        now: Mapping[str, KnownDocument],
        news: Iterable[News],
    ) -> int:
        """Note that documents were matched, together with their news. Returns the number of items to tell.

        `before` are the documents as they were when they were read. Raises Changed if they no longer are.
        """
        table = tables.documents
        with self._writing() as connection:
            for ids in batched(now, _ROWS):
                where = (table.c.collection == collection) & table.c.document.in_(ids)
                rows = connection.execute(
                    sql.select(table.c.document, table.c.mark, table.c.content, table.c.pending_until).where(
                        where
                    )
                )
                stored = {document: KnownDocument(*values) for document, *values in rows}
                if stored != {id: before[id] for id in ids if id in before}:
                    raise Changed
            self._write_documents(connection, collection, now)
            return self._add_news(connection, collection, news)

    def _write_documents(
        self, connection: sql.Connection, collection: str, documents: Mapping[str, KnownDocument]
    ) -> None:
        table = tables.documents
        for batch in batched(documents.items(), _ROWS):
            ids = [document for document, _ in batch]
            connection.execute(
                table.delete().where((table.c.collection == collection) & table.c.document.in_(ids))
            )
            rows = [{"collection": collection, "document": id, **of._asdict()} for id, of in batch]
            connection.execute(table.insert(), rows)

    def _add_news(self, connection: sql.Connection, collection: str, news: Iterable[News]) -> int:
        by_search: dict[str, list[News]] = defaultdict(list)
        for item_news in news:
            by_search[item_news.search].append(item_news)
        items: list[dict[str, Any]] = []
        rows: list[dict[str, Any]] = []
        matched_at = self.desk.now()
        for search, of_search in by_search.items():
            known = self._read_told(connection, search, [item_news.document for item_news in of_search])
            for item_news in of_search:
                before = known.get(item_news.document, {})
                numbers, reworded = find_news(item_news.texts, before, item_news.present)
                for number in numbers:
                    content = msgspec.json.encode(item_news.contents[number]).decode()
                    items.append(
                        {
                            "search": search,
                            "collection": collection,
                            "matched_at": matched_at,
                            "content": content,
                        }
                    )
                digests = {text_digest(item_news.texts[n]): item_news.texts[n] for n in (*numbers, *reworded)}
                rows += (
                    {"search": search, "document": item_news.document, "digest": digest, "text": text}
                    for digest, text in digests.items()
                    if digest not in before
                )
        for batch in batched(rows, _ROWS):
            connection.execute(tables.told.insert(), batch)
        for batch in batched(items, _ROWS):
            connection.execute(tables.items.insert(), batch)
        return len(items)

    def _read_told(
        self, connection: sql.Connection, search: str, documents: Sequence[str]
    ) -> dict[str, dict[str, str]]:
        table, known = tables.told, defaultdict[str, dict[str, str]](dict)
        for ids in batched(documents, _ROWS):
            where = (table.c.search == search) & table.c.document.in_(ids)
            for document, digest, text in connection.execute(
                sql.select(table.c.document, table.c.digest, table.c.text).where(where)
            ):
                known[document][digest] = text
        return known

    def note_failures(
        self, failures: Mapping[str, str], searches: Collection[str], stopped: Collection[str] = ()
    ) -> list[str]:
        """Note why searches of a run failed, and that the others of `searches` did not.

        Those that are newly `stopped` get a line in the record of deliveries. Returns them.
        """
        table, at = tables.failures, self.desk.now()
        ended = []
        with self._writing() as connection:
            rows = connection.execute(sql.select(table.c.search, table.c.failure))
            stored = {row.search: row.failure for row in rows}
            for search in searches:
                if stored.get(search) != failures.get(search):
                    connection.execute(table.delete().where(table.c.search == search))
                    if search in failures:
                        values = {"search": search, "failed_at": at, "failure": failures[search]}
                        connection.execute(table.insert().values(**values))
                        ended += [search] if search in stopped else []
            for search in ended:
                line = {"id": make_id(), "digest_id": _NO_DIGEST, "search": search, "part": 0, "target": ""}
                line |= {"made_at": at, "state": "failed", "attempts": 0, "next_at": at, "ended_at": at}
                connection.execute(tables.deliveries.insert().values(**line, error=failures[search]))
        return ended

    def failures(self) -> dict[str, str]:
        """Why the last run of a search failed, by search."""
        table = tables.failures
        with self._reading() as connection:
            rows = connection.execute(sql.select(table.c.search, table.c.failure))
            return {row.search: row.failure for row in rows}

    # Digests

    def waiting(self) -> dict[str, tuple[int, datetime]]:
        """By search, the number of items that are in no digest, and when the first of them was matched."""
        table = tables.items
        query = sql.select(table.c.search, sql.func.count(), sql.func.min(table.c.matched_at))
        with self._reading() as connection:
            rows = connection.execute(query.where(table.c.digest_id == "").group_by(table.c.search))
            return {search: (number, read_time(first)) for search, number, first in rows}

    def make_digests(self, search: str, schedule: Schedule, targets: Sequence[str], now: datetime) -> int:
        """Make the digests of a search if one is due, with their deliveries. Returns the number of digests.

        One is due at the first moment of the schedule after the oldest waiting item was matched.
        """
        table = tables.items
        is_waiting = (table.c.search == search) & (table.c.digest_id == "")
        with self._writing() as connection:
            waiting = connection.execute(
                sql.select(table.c.number, table.c.matched_at).where(is_waiting).order_by(table.c.number)
            ).all()
            if not waiting or not targets:
                return 0
            if schedule.next_after(read_time(min(row.matched_at for row in waiting))) > now:
                return 0
            made_at, digests = write_time(now), 0
            for batch in batched((row.number for row in waiting), MOST_ITEMS):
                digest_id, digests = make_id(), digests + 1
                connection.execute(
                    table.update().where(table.c.number.in_(batch)).values(digest_id=digest_id)
                )
                rows = [
                    {
                        "id": make_id(),
                        "digest_id": digest_id,
                        "search": search,
                        "part": digests,
                        "target": target,
                        "made_at": made_at,
                        "state": "waiting",
                        "attempts": 0,
                        "next_at": made_at,
                    }
                    for target in targets
                ]
                connection.execute(tables.deliveries.insert(), rows)
            return digests

    def contents(self, digest_id: str) -> list[dict[str, Any]]:
        """What a digest tells, in order."""
        table = tables.items
        query = sql.select(table.c.content).where(table.c.digest_id == digest_id).order_by(table.c.number)
        with self._reading() as connection:
            return [msgspec.json.decode(content) for content in connection.scalars(query)]

    # Deliveries

    def take_back(self) -> int:
        """Let deliveries wait again whose process on this machine has died. Returns their number."""
        table = tables.deliveries
        with self._writing() as connection:
            rows = connection.execute(
                sql.select(table.c.id, table.c.holder).where(table.c.state == "sending")
            ).all()
            dead = [row.id for row in rows if _is_dead(row.holder)]
            for ids in batched(dead, _ROWS):
                connection.execute(table.update().where(table.c.id.in_(ids)).values(state="waiting"))
            return len(dead)

    def take(
        self, now: datetime, paused: Collection[str] = (), due: datetime | None = None
    ) -> Delivery | None:
        """Take the next delivery that is to be sent, so that no other process does; None if there is none.

        Deliveries of the searches `paused` are left, and those that were not `due` at a moment before now.
        """
        table, moment = tables.deliveries, write_time(due or now)
        is_due = (table.c.state == "waiting") & (table.c.next_at <= moment)
        is_left = (table.c.state == "sending") & (table.c.held_until < now.timestamp())
        is_open = table.c.search.not_in(paused) if paused else sql.true()
        columns = [table.c[name] for name in Delivery._fields]
        with self._writing() as connection:
            row = connection.execute(
                sql.select(*columns)
                .where((is_due | is_left) & is_open)
                .order_by(table.c.next_at, table.c.part)
                .limit(1)
            ).one_or_none()
            if row is None:
                return None
            delivery = Delivery(*row)._replace(state="sending", attempts=row.attempts + 1)
            connection.execute(
                table.update()
                .where(table.c.id == delivery.id)
                .values(
                    state="sending",
                    attempts=delivery.attempts,
                    holder=this_process(),
                    held_until=now.timestamp() + HOLD_SECONDS,
                )
            )
            return delivery

    def end(self, delivery: Delivery, now: datetime, error: str = "", *, is_final: bool = False) -> State:
        """Note how an attempt ended: sent without an `error`, else tried again later, unless it `is_final`.

        Waits double from a minute to six hours. Deliveries fail for good after three days.
        """
        state: State = "sent"
        next_at = now
        if error:
            wait = min(_FIRST_WAIT * 2 ** min(delivery.attempts - 1, 20), _LONGEST_WAIT)
            next_at = now + wait
            gives_up = is_final or next_at > read_time(delivery.made_at) + GIVE_UP
            state = "failed" if gives_up else "waiting"
        with self._writing() as connection:
            table = tables.deliveries
            connection.execute(
                table.update()
                .where(table.c.id == delivery.id)
                .values(
                    state=state,
                    next_at=write_time(next_at),
                    ended_at="" if state == "waiting" else write_time(now),
                    error=error,
                )
            )
        return state

    def retry(self, now: datetime, search: str | None = None) -> int:
        """Let what has failed be due, also what waits for its next attempt. Returns the number."""
        table = tables.deliveries
        chosen = table.c.search == search if search else sql.true()
        where = chosen & (table.c.state == "failed") & (table.c.digest_id != _NO_DIGEST)
        postponed = chosen & (table.c.state == "waiting") & (table.c.attempts > 0)
        with self._writing() as connection:
            values = {
                "state": "waiting",
                "next_at": write_time(now),
                "made_at": write_time(now),
                "attempts": 0,
            }
            due = connection.execute(table.update().where(postponed).values(next_at=write_time(now)))
            again = connection.execute(table.update().where(where).values(**values))
            return int(due.rowcount + again.rowcount)

    def deliveries(self, search: str | None = None, limit: int = 100) -> list[Delivery]:
        """The last deliveries of a search or of all, newest first."""
        table = tables.deliveries
        query = sql.select(*(table.c[name] for name in Delivery._fields))
        query = query.where(table.c.search == search) if search else query
        with self._reading() as connection:
            rows = connection.execute(query.order_by(table.c.made_at.desc(), table.c.id).limit(limit))
            return [Delivery(*row) for row in rows]

    def last_deliveries(self) -> dict[str, Delivery]:
        """The last delivery of each search, by search."""
        table = tables.deliveries
        newest_first = table.c.made_at.desc(), table.c.id
        place = sql.func.row_number().over(partition_by=table.c.search, order_by=newest_first)
        placed = sql.select(*(table.c[name] for name in Delivery._fields), place.label("place")).subquery()
        query = sql.select(*(placed.c[name] for name in Delivery._fields)).where(placed.c.place == 1)
        with self._reading() as connection:
            return {row.search: Delivery(*row) for row in connection.execute(query)}

    def searches(self) -> set[str]:
        """The ids of all searches of which something is noted."""
        with self._reading() as connection:
            return {
                search
                for table in _of_searches()
                for search in connection.scalars(sql.select(table.c.search).distinct())
            }

    def forget(self, searches: Collection[str], before: datetime, collections: Collection[str] = ()) -> None:
        """Delete what belongs to these searches and collections, and what was delivered before a moment.

        What was told of other searches stays known.
        """
        deliveries, items = tables.deliveries, tables.items
        with self._writing() as connection:
            for collection in collections:
                of_collection = tables.documents.c.collection == collection
                connection.execute(tables.documents.delete().where(of_collection))
            for table in _of_searches():
                for batch in batched(sorted(searches), _ROWS):
                    connection.execute(table.delete().where(table.c.search.in_(batch)))
            old = (deliveries.c.state == "sent") & (deliveries.c.ended_at < write_time(before))
            connection.execute(deliveries.delete().where(old))
            remaining = sql.select(deliveries.c.digest_id)
            connection.execute(
                items.delete().where((items.c.digest_id != "") & items.c.digest_id.not_in(remaining))
            )


def _of_searches() -> tuple[sql.Table, ...]:
    """The tables whose rows belong to a search."""
    return tables.deliveries, tables.items, tables.told, tables.failures


def read_time(text: str) -> datetime:
    """The moment of a time as records have it."""
    return datetime.fromisoformat(text).astimezone(UTC)


def this_process() -> str:
    """What names this process in the record of deliveries."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_dead(holder: str) -> bool:
    """Whether the process that holds a delivery is known to have died. That needs to be of this machine."""
    host, _, process = holder.rpartition(":")
    if host != socket.gethostname() or not process.isdigit():
        return False
    if int(process) == os.getpid():
        return True  # an earlier process of this number: this one takes back before it takes
    return not is_running(int(process))
