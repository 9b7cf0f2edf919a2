"""Runs of alerts: find what is new in collections, make the digests that are due, deliver them.

The steps are apart, so that a mail server that does not answer holds up no matching. Every step may be killed
and repeated, and several processes may run at once.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from esr.alerts.alert_conditions import VERSION, Conditions, read_arguments, read_conditions, write_arguments
from esr.alerts.channels import PAGE, Channels, DeliveryFailed, check_target
from esr.alerts.choices import AT_ONCE, DEFAULT_ZONE
from esr.alerts.letters import write_letter
from esr.alerts.matching import Match, count_days, find_matches, needs_enrichment
from esr.alerts.outbox import Changed, KnownDocument, News, Outbox, read_time
from esr.alerts.schedule import Schedule, read_schedule
from esr.alerts.usual import judge_day
from esr.dossiers.desk import Desk, write_time
from esr.dossiers.records import Person, SavedSearch
from esr.dossiers.saved_searches import SavedSearches
from esr.errors import EsrError, InputError, UsageError
from esr.following.alerts.atom import text_digest
from esr.index.contract import Index
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import DocumentMarks, Records, Summary
from esr.ranking.answers import hit_dict
from esr.ranking.searcher import open_searcher
from esr.stdlib import batched
from esr.text.dates import DAY, normalise_date, parse_date_start
from esr.text.document import Document
from esr.text.sentence_enrichment import QUOTES, VECTORS
from esr.text.validate import checksum

OPERATOR = Person("operator", is_operator=True)
"""Who runs alerts: they are of all owners."""
MATCHED_TOGETHER = 1_000
"""Number of documents that are matched at once."""
_STORED_TOGETHER = 50
"""Number of documents whose matches are stored in one transaction."""
PENDING = timedelta(days=14)
"""How long a document is matched again while its enrichment is not complete."""
KEPT = timedelta(days=90)
"""How long deliveries that arrived are kept in the record."""
_EXAMPLES = 5
"""Number of sentences that are shown of an unusual day."""


class Alert(Struct, frozen=True):
    """A saved search with the targets, the schedule and the collection of its delivery.

    One that is paused is matched, and delivers what it has found when it no longer is. `index_name` is that
    of the collection on a server, for links. `added_at` is the time as records have it.
    """

    id: str
    name: str
    owner: str
    collection: str
    conditions: Conditions
    schedule: Schedule
    targets: tuple[str, ...] = ()
    is_paused: bool = False
    index_name: str = ""
    added_at: str = ""


def make_delivery(
    collection: str,
    targets: Sequence[str] = (),
    every: str = AT_ONCE,
    zone: str = DEFAULT_ZONE,
) -> dict[str, Any]:
    """The settings of a delivery as a saved search has them. Raises UsageError."""
    read_schedule(every, zone)
    return {
        "form": VERSION,
        "collection": collection,
        "to": list(map(check_target, targets)),
        "every": every,
        "zone": zone,
        "is_paused": False,
    }


def read_alert(search: SavedSearch) -> Alert | None:
    """The alert of a saved search; None for one that is not delivered.

    Raises EsrError if its conditions or settings cannot be read.
    """
    delivery = search.delivery
    if not delivery.get("collection"):
        return None
    arguments = read_arguments(search.arguments, int(delivery.get("form", 1)))
    return Alert(
        search.id,
        search.name,
        search.owner,
        delivery["collection"],
        read_conditions(arguments, f"the alert {search.name!r}"),
        read_schedule(delivery.get("every", AT_ONCE), delivery.get("zone", DEFAULT_ZONE)),
        tuple(delivery.get("to", ())),
        bool(delivery.get("is_paused")),
        delivery.get("index", ""),
        search.created_at,
    )


def add_alert(
    desk: Desk, person: Person, name: str, table: Mapping[str, Any], delivery: Mapping[str, Any]
) -> SavedSearch:
    """Keep an alert. `table` are its conditions, as in a file of saved searches. Raises InputError."""
    read_conditions(table, f"the alert {name!r}")
    return SavedSearches(desk).create(person, name, write_arguments(table), delivery)


def set_pause(desk: Desk, person: Person, id: str, *, is_paused: bool) -> SavedSearch:
    """Let an alert wait, or deliver again."""
    searches = SavedSearches(desk)
    search = searches.read(person, id)
    delivery = {**search.delivery, "is_paused": is_paused}
    return searches.change(person, id, delivery=delivery, base=search.version)


class AlertRuns:
    """Runs the alerts of a desk.

    `stopped` are those that the last run did not run, by id, with the reason; `newly_stopped` those that the
    run before did run. `begun` has the number of documents of each collection that the last run saw first.
    """

    def __init__(
        self,
        desk: Desk,
        channels: Channels,
        *,
        locations: Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        is_stopped: Callable[[], bool] = lambda: False,
        variables: Mapping[str, str] = os.environ,
        find_obstacle: Callable[[Alert], str] = lambda alert: "",
    ) -> None:
        """`locations` are those of collections by name; a collection without one is named by its location.

        `find_obstacle` says why an alert may not run, such as that its owner has lost the access to its
        index. It is empty for one that may. An alert that may not is not matched, and sends nothing.
        """
        self.outbox: Outbox = Outbox(desk)
        self._desk = desk
        self._channels = channels
        self._locations = locations or {}
        self._clock = clock
        self._is_stopped = is_stopped
        self._page = variables.get(PAGE, "")
        self._find_obstacle = find_obstacle
        self.stopped: dict[str, str] = {}
        self.newly_stopped: list[str] = []
        self.begun: dict[str, int] = {}

    def read_alerts(self) -> tuple[list[Alert], dict[str, str]]:
        """The alerts of all owners, and by id, why others cannot be read."""
        alerts, failures = [], {}
        for search in SavedSearches(self._desk).list_readable(OPERATOR):
            try:
                alert = read_alert(search)
            except EsrError as error:
                failures[search.id] = str(error)
            else:
                alerts += [] if alert is None else [alert]
        return alerts, failures

    def _stop(self, alerts: Sequence[Alert]) -> list[Alert]:
        """The alerts that may run. The others are noted as stopped."""
        obstacles = {alert.id: self._find_obstacle(alert) for alert in alerts}
        self.stopped = {id: obstacle for id, obstacle in obstacles.items() if obstacle}
        return [alert for alert in alerts if alert.id not in self.stopped]

    def run(self, *, tell_all: bool = False) -> dict[str, int]:
        """Do all steps once. Returns the numbers of new items, digests, and deliveries by their end.

        The first run over a collection tells nothing of what it has, unless `tell_all`. Collections and
        searches that fail are noted, and the others are run; then raises EsrError for the first one.
        """
        self.begun, self.newly_stopped = {}, []
        stored, failures = self.read_alerts()
        unreadable, alerts = dict(failures), self._stop(stored)
        first: EsrError | None = None
        by_collection: dict[str, list[Alert]] = defaultdict(list)
        for alert in stored:  # what comes while an alert is stopped is not told when it runs again
            by_collection[alert.collection] += [] if alert.id in self.stopped else [alert]
        items, not_run = 0, set[str]()
        for collection, of_collection in by_collection.items():
            if self._is_stopped():
                break
            try:
                with open_searcher(self._locations.get(collection, collection)) as searcher:
                    index = searcher.index.snapshot()
                    of_run = dict(unreadable)
                    items += self.find(collection, index, of_collection, of_run, tell_all=tell_all)
                    failures |= of_run
            except EsrError as error:
                first = first or error
                not_run |= {alert.id for alert in of_collection}
        noted = {**failures, **self.stopped}
        # Those that were not run may not have been told yet what they missed while they failed.
        run_ids = [] if self._is_stopped() else [alert.id for alert in stored if alert.id not in not_run]
        ended = self.outbox.note_failures(noted, {*noted, *run_ids}, self.stopped)
        self.newly_stopped = [alert.name for alert in stored if alert.id in ended]
        counts = {"items": items, "digests": self.make_digests(alerts)}
        counts |= self._deliver(alerts, unreadable)
        if first is None and failures:
            names = {alert.id: alert.name for alert in alerts}
            id, problem = next(iter(failures.items()))
            first = InputError(f"the alert {names[id]!r}", problem) if id in names else EsrError(problem)
        if first is not None:
            raise first
        return counts

    # Matching

    def find(
        self,
        collection: str,
        index: Index,
        alerts: Sequence[Alert],
        failures: dict[str, str],
        *,
        tell_all: bool = False,
    ) -> int:
        """Match new and changed documents of a snapshot, and store what is to be told. Returns its number.

        `failures`: by id, why alerts cannot be read; those that cannot be run are added. They are told what
        they missed when they work again, of documents that were matched at most `PENDING` before.
        """
        missed = {*self.outbox.failures()}
        marks = index.status(DocumentMarks())
        known = self.outbox.matched_documents(collection)
        if known is None and not tell_all:
            contents = ((document.id, checksum(document)) for document in index.documents())
            documents = {id: KnownDocument(marks.get(id, ""), content) for id, content in contents}
            self.outbox.store_baseline(collection, documents)
            self.begun[collection] = len(documents)
            return 0
        if known is None:
            self.outbox.store_baseline(collection, {})
            known = {}
        pending_until = "" if _is_enriched(index) else write_time(self._clock() + PENDING)
        state = _Matching(collection, index, known, marks, pending_until)
        items = 0
        new = [id for id, mark in marks.items() if id not in known or known[id].mark != mark]
        for ids in batched(new, MATCHED_TOGETHER):
            if not self._is_stopped():
                items += self._match(state, ids, alerts, failures)
        waiting = [a for a in alerts if a.id in missed or needs_enrichment(index, a.conditions)]
        pending = [id for id, of in known.items() if of.pending_until and id in marks and id not in new]
        for ids in batched(pending, MATCHED_TOGETHER):
            if not self._is_stopped():
                items += self._match_again(state, ids, waiting, failures)
        return items

    def _match(
        self, state: _Matching, ids: Sequence[str], alerts: Sequence[Alert], failures: dict[str, str]
    ) -> int:
        documents = list(state.index.documents(ids))
        contents = {document.id: checksum(document) for document in documents}
        changed = [
            d for d in documents if d.id not in state.known or state.known[d.id].content != contents[d.id]
        ]
        is_changed = {document.id for document in changed}
        news = _find_news(state.index, changed, alerts, failures)
        pending_until = state.pending_until
        if failures and changed:
            self.outbox.note_failures(failures, failures)  # first: by it, a later run tells what they miss
            pending_until = pending_until or write_time(self._clock() + PENDING)
        now = {
            id: KnownDocument(
                state.marks[id],
                content,
                pending_until if id in is_changed else state.known[id].pending_until,
            )
            for id, content in contents.items()
        }
        before = {id: state.known[id] for id in now if id in state.known}
        return self._store(state.collection, before, now, news)

    def _store(
        self,
        collection: str,
        before: Mapping[str, KnownDocument],
        now: Mapping[str, KnownDocument],
        news: Iterable[News],
    ) -> int:
        """Store matches, a few documents at a time, since others who write to the desk wait meanwhile.

        Unusual days come first: if the process is killed after them, their documents are matched again, and
        the days are known.
        """
        by_document: dict[str, list[News]] = defaultdict(list)
        for item in news:
            by_document[item.document].append(item)
        days = [item for document in by_document if document not in now for item in by_document[document]]
        items = 0
        for ids in batched(now, _STORED_TOGETHER):
            part = [*days, *(item for id in ids for item in by_document.get(id, ()))]
            days = []
            try:
                items += self.outbox.store_matches(
                    collection,
                    {id: before[id] for id in ids if id in before},
                    {id: now[id] for id in ids},
                    part,
                )
            except Changed:
                continue  # the other process tells it
        return items

    def _match_again(
        self, state: _Matching, ids: Sequence[str], alerts: Sequence[Alert], failures: dict[str, str]
    ) -> int:
        """Match documents again that were new before they were enriched, or while an alert failed.

        Alerts are not told those that were matched before they were added.
        """
        able = [alert for alert in alerts if alert.id not in failures]
        documents = list(state.index.documents(ids)) if able else []
        news = _find_news(state.index, documents, able, failures)
        before = {id: state.known[id] for id in ids}
        first = {alert.id: write_time(read_time(alert.added_at) + PENDING) for alert in able}
        news = [
            item
            for item in news
            if item.document not in before or before[item.document].pending_until >= first[item.search]
        ]
        waits, now = bool(failures or state.pending_until), write_time(self._clock())
        after = {
            id: of._replace(pending_until=of.pending_until if waits and of.pending_until > now else "")
            for id, of in before.items()
        }
        return self._store(state.collection, before, after, news) if news or after != before else 0

    # Digests and deliveries

    def make_digests(self, alerts: Iterable[Alert]) -> int:
        """Make the digests that are due. Returns their number."""
        waiting, digests = self.outbox.waiting(), 0
        for alert in alerts:
            if alert.id in waiting and not alert.is_paused:
                digests += self.outbox.make_digests(alert.id, alert.schedule, alert.targets, self._clock())
        return digests

    def deliver(self) -> dict[str, int]:
        """Send what is to be sent now. Returns the number of deliveries by how they ended.

        What was to be sent of removed alerts is deleted. That of an alert that cannot be read waits.
        """
        stored, unreadable = self.read_alerts()
        return self._deliver(self._stop(stored), unreadable)

    def _deliver(self, alerts: Iterable[Alert], unreadable: Mapping[str, str]) -> dict[str, int]:
        """Send what is to be sent now of these alerts. `unreadable`: by id, why others cannot be read."""
        by_id = {alert.id: alert for alert in alerts}
        paused = [alert.id for alert in by_id.values() if alert.is_paused]
        counts = {"sent": 0, "waiting": 0, "failed": 0}
        self.forget()
        self.outbox.take_back()
        begun_at = self._clock()  # what fails and is due again meanwhile is for the next run
        while not self._is_stopped():
            delivery = self.outbox.take(self._clock(), paused, begun_at)
            if delivery is None:
                break
            alert = by_id.get(delivery.search)
            name = alert.name if alert else delivery.search
            letter = write_letter(
                delivery.id,
                delivery.search,
                name,
                self.outbox.contents(delivery.digest_id),
                page=self._page,
                index=alert.index_name if alert else "",
                attempt=delivery.attempts,
            )
            error, is_final = "", False
            try:
                if obstacle := self.stopped.get(delivery.search):
                    raise DeliveryFailed(obstacle, is_final=True)
                if problem := unreadable.get(delivery.search):
                    raise DeliveryFailed(problem)
                self._channels.send(delivery.target, letter)
            except DeliveryFailed as failed:
                error, is_final = str(failed), failed.is_final
            except UsageError as problem:
                error = str(problem)
            state = self.outbox.end(delivery, self._clock(), error, is_final=is_final)
            counts[state] += 1
        return counts

    def retry(self) -> int:
        """Let what has failed be due, also what waits for its next attempt. Returns the number."""
        return self.outbox.retry(self._clock())

    def forget(self) -> None:
        """Delete what belongs to no saved search, and deliveries that are long past.

        So an alert is not told what came while its collection had none: it begins with a first run.
        """
        noted, matched = self.outbox.searches(), self.outbox.collections()
        stored = SavedSearches(self._desk).list_readable(OPERATOR)  # last: what is added meanwhile is kept
        present = {search.id for search in stored}
        collections = {str(search.delivery.get("collection")) for search in stored}
        self.outbox.forget(noted - present, self._clock() - KEPT, matched - collections)


class _Matching(Struct, frozen=True):
    """A snapshot of a collection, and what is known of its documents."""

    collection: str
    index: Index
    known: Mapping[str, KnownDocument]
    marks: Mapping[str, str]
    pending_until: str


_PARTS = ("entities", VECTORS, QUOTES)
"""The parts of enrichment that conditions can ask for."""


def _is_enriched(index: Index) -> bool:
    """Whether all documents have each part of enrichment that any document has."""
    summary = index.status(Summary())
    by_part: dict[str, int] = defaultdict(int)
    for part in summary["enrichment"]:
        by_part[part["part"]] += part["documents"]
    return all(by_part[part] >= summary["documents"] for part in _PARTS if part in by_part)


def _find_news(
    index: Index, documents: Sequence[Document], alerts: Sequence[Alert], failures: dict[str, str]
) -> list[News]:
    """What the documents have for each alert, by document."""
    matches = find_matches(index, documents, [alert.conditions for alert in alerts])
    failures |= {alerts[number].id: problem for number, problem in matches.failures.items()}
    ids = list(dict.fromkeys(match.sentence_id for of_search in matches.by_search for match in of_search))
    records = dict(zip(ids, index.read(ids, Records()), strict=True)) if ids else {}
    present = {d.id: {text_digest(sentence.text) for sentence in d.sentences} for d in documents}
    news = []
    for alert, of_alert in zip(alerts, matches.by_search, strict=True):
        if alert.conditions.unusual:
            news += _find_days(index, alert, [records[match.sentence_id] for match in of_alert])
            continue
        by_document: dict[str, list[Match]] = defaultdict(list)
        for match in of_alert:
            by_document[records[match.sentence_id].document_id].append(match)
        for document, of_document in by_document.items():
            texts = [records[match.sentence_id].text for match in of_document]
            contents = [_content(records[match.sentence_id], match) for match in of_document]
            news.append(News(alert.id, document, texts, contents, present[document]))
    return news


def _content(record: SentenceRecord, match: Match) -> dict[str, Any]:
    content = hit_dict(Hit(record.sentence_id, match.score, record))
    return content if match.similarity is None else {**content, "similarity": match.similarity}


def _find_days(index: Index, alert: Alert, records: Sequence[SentenceRecord]) -> list[News]:
    """The unusual days among those of new sentences. Each is told once, as a document of its own."""
    by_day: dict[int, list[SentenceRecord]] = defaultdict(list)
    for record in records:
        if record.date:
            by_day[parse_date_start(normalise_date(record.date)) // DAY].append(record)
    if not by_day:
        return []
    counts, totals = count_days(index, alert.conditions)
    news = []
    for day in sorted(by_day):
        judged = judge_day(counts, day, totals)
        if judged is not None:
            name = datetime.fromtimestamp(day * DAY / 1000, UTC).date().isoformat()
            hits = [_content(record, Match(record.sentence_id)) for record in by_day[day][:_EXAMPLES]]
            unusual = {"day": name, "count": judged.sentences, "usual": judged.usual, "limit": judged.limit}
            content = {"unusual": unusual, "hits": hits}
            news.append(News(alert.id, f"day {name}", [name], [content], frozenset[str]()))
    return news


def settle_location(where: str) -> str:
    """The location of an index, which does not depend on the present folder."""
    return where if "://" in where else os.path.abspath(where)


def list_locations(indexes: Collection[str]) -> dict[str, str]:
    """The locations of collections by name, from texts such as `news=/data/news`."""
    pairs = (text.partition("=") for text in indexes if "=" in text and "://" not in text.partition("=")[0])
    return {name: location for name, _, location in pairs}
