"""The alerts of a history: a desk in SQLite, receivers of letters, and runs that are killed between calls.

SQLite's own files are real. A kill leaves them as they are at that moment: what the killed process would have
done afterwards, such as a rollback, does not happen.
"""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import sqlalchemy as sql

from esr.alerts.channels import Channels, DeliveryFailed, Letter
from esr.alerts.outbox import Outbox
from esr.alerts.runs import OPERATOR, AlertRuns, add_alert, make_delivery, set_pause
from esr.dossiers.desk import Desk, write_time
from esr.dossiers.records import Person
from esr.dossiers.saved_searches import SavedSearches
from esr.errors import EsrError
from esr.text.validate import checksum
from tests.simulation import alert_model, model
from tests.simulation.alert_model import SEARCHES, Told
from tests.simulation.model import Wrong
from tests.simulation.steps import Kill, Meeting, Refusal, Step
from tests.simulation.world import Clock

PERSON = Person("ann")


class Killed(BaseException):
    """The process is killed here."""


class Sent(NamedTuple):
    """What a delivery has: the search, the target, and the sorted texts."""

    search: str
    target: str
    texts: tuple[str, ...]


class Receivers(Channels):
    """Keeps letters by their id, and counts the copies of this step."""

    def __init__(self) -> None:
        super().__init__({})
        self.letters: dict[str, Sent] = {}
        self.copies: Counter[str] = Counter()
        self.refusal = Refusal()
        self.before_call: Callable[[str], None] = lambda call: None

    def send(self, target: str, letter: Letter) -> None:
        self.before_call("send")
        is_refused = target in self.refusal.targets
        if not is_refused or self.refusal.is_received:
            content = json.loads(letter.payload)
            sent = Sent(content["name"], target, tuple(sorted(item["text"] for item in content["items"])))
            if self.letters.setdefault(letter.id, sent) != sent:
                raise Wrong(
                    f"a letter comes again under the same id as {sent}, not {self.letters[letter.id]}"
                )
            self.copies[letter.id] += 1
        if is_refused:
            raise DeliveryFailed("refused", self.refusal.is_final)
        self.before_call("sent")


class Seen(NamedTuple):
    """What is seen of a desk.

    `known` are ids of documents with checksums. `waiting` has the numbers of sentences in no digest, with
    the moment of the first one. `deliveries` have their state, two moments and the number of attempts.
    """

    known: tuple[tuple[str, str], ...] | None
    waiting: tuple[tuple[str, int, str], ...]
    texts: tuple[str, ...]
    deliveries: tuple[tuple[Sent, str, str, str, int], ...]


Deliveries = dict[str, tuple[Sent, str, str, str, int]]
"""Deliveries by id, as they are in `Seen`."""


def expect(state: Told) -> Seen:
    """What should be seen of a desk in this state."""
    known = None if state.known is None else tuple((each.id, checksum(each)) for each in state.known)
    waiting = []
    for search in SEARCHES:
        mine = [each for each in state.waiting if each.search == search.name]
        if mine:
            first = min(each.matched_at for each in mine)
            waiting.append((search.name, len(mine), write_time(first)))
    deliveries = [
        (
            Sent(each.search, each.target, each.texts),
            each.state,
            write_time(each.made_at),
            write_time(each.next_at),
            each.attempts,
        )
        for each in state.deliveries
    ]
    texts = tuple(sorted(each.text for each in state.waiting))
    return Seen(known, tuple(sorted(waiting)), texts, tuple(sorted(deliveries)))


class AlertDesk:
    """The desk of a history, in a folder of its own beside that of the index."""

    def __init__(self, folder: Path, clock: Clock, where: str) -> None:
        folder.mkdir()
        self._file = folder / "desk.sqlite"
        self._clock = clock
        self._where = where
        self._receivers = Receivers()
        self.state = Told()
        self._noted: dict[str, Sent] = {}  # also what the record no longer has
        self.counts: Counter[str] = Counter()
        self._before_call: Callable[[int, str], None] = lambda number, call: None
        self._left: dict[Path, bytes] = {}
        """The files at the last kill."""
        self._observer = Desk(str(self._file))
        """To look at the desk with: what it has compiled serves all looks. Closed after each."""
        self._deliveries: Deliveries | None = None
        """As they were seen last. Only runs change them."""

    @contextmanager
    def _desk(self) -> Iterator[Desk]:
        with Desk(str(self._file), clock=lambda: self._clock.now) as desk:
            yield desk

    def run_step(self, step: Step, index: model.State) -> None:
        """Carry out a step of alerts on an index in this state. Raises Wrong."""
        number = step.number % len(SEARCHES)
        if step.kind == "add alert":
            self._add(number)
        elif step.kind == "pause alert":
            self._pause(number)
        else:
            self._run(step, index)

    def _add(self, number: int) -> None:
        search = SEARCHES[number]
        if number in self.state.alerts:
            return
        every = "hourly" if search.is_hourly else "at once"
        with self._desk() as desk:
            delivery = make_delivery(self._where, search.targets, every)
            add_alert(desk, PERSON, search.name, {"query": search.query}, delivery)
        self.state = replace(self.state, alerts=(*self.state.alerts, number))

    def _pause(self, number: int) -> None:
        """Let an alert wait, or go on if it waits."""
        if number not in self.state.alerts:
            return
        paused = self.state.paused ^ {number}
        with self._desk() as desk:
            self._set_pause(desk, number, is_paused=number in paused)
        self.state = replace(self.state, paused=paused)

    @staticmethod
    def _set_pause(desk: Desk, number: int, *, is_paused: bool) -> None:
        (id,) = [
            search.id
            for search in SavedSearches(desk).list_readable(OPERATOR)
            if search.name == SEARCHES[number].name
        ]
        set_pause(desk, OPERATOR, id, is_paused=is_paused)

    # Runs

    def _run(self, step: Step, index: model.State) -> None:
        trouble = step.trouble
        refusal = trouble if isinstance(trouble, Refusal) else Refusal()
        paths = [
            list(alert_model.run(self.state, documents, self._clock.now, refusal))
            for documents in ([None, ()] if index.serving is None else [index.serving.documents])
        ]  # an index that was being deleted may be there, without documents
        self._receivers.copies.clear()
        self._receivers.refusal = refusal
        before = self._see()[1] if self._deliveries is None else self._deliveries
        ended = {id for id, (_, state, *_) in before.items() if state in ("sent", "failed")}
        error = None
        try:
            with self._desk() as desk, self._calls(self._disturb(trouble)):
                error = self._run_once(desk)
        except Killed:
            self._leave_files()
            self._settle([state for path in paths for state in path], "a kill")
        else:
            if error is not None and index.serving is not None:
                raise Wrong(f"the run of alerts failed: {error}") from error
            self._settle([path[-1] for path in paths], "the run")
        self.counts["alert runs"] += 1
        self._check_letters(self._deliveries or {}, ended)

    def _run_once(self, desk: Desk) -> EsrError | None:
        try:
            AlertRuns(desk, self._receivers, clock=lambda: self._clock.now, variables={}).run()
        except EsrError as error:
            return error
        return None

    def _disturb(self, trouble: object) -> Callable[[int, str], None]:
        """What happens before each call, given its number and its name."""

        def kill(number: int, call: str) -> None:
            if isinstance(trouble, Kill) and number == trouble.call:
                self._left = {path: path.read_bytes() for path in self._files()}
                self.counts["kills"] += 1
                raise Killed

        def meet(number: int, call: str) -> None:
            is_free = call.startswith("BEGIN") or call in ("send", "sent")
            if isinstance(trouble, Meeting) and number >= trouble.call and is_free:
                self._before_call = lambda number, call: None
                self.counts["meetings"] += 1
                with mock.patch.object(socket, "gethostname", lambda: "elsewhere"), self._desk() as desk:
                    self._run_once(desk)

        return kill if isinstance(trouble, Kill) else meet

    @contextmanager
    def _calls(self, before_call: Callable[[int, str], None]) -> Iterator[None]:
        """Call this before each statement and each commit, and before and after each letter."""
        number = 0
        self._before_call = before_call

        def note(call: str) -> None:
            nonlocal number
            number += 1
            self._before_call(number, call)

        def before_statement(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            note(statement)

        def before_commit(connection: Any) -> None:
            note("COMMIT")

        sql.event.listen(sql.Engine, "before_cursor_execute", before_statement)
        sql.event.listen(sql.Engine, "commit", before_commit)
        self._receivers.before_call = note
        try:
            yield
        finally:
            self._receivers.before_call = lambda call: None
            sql.event.remove(sql.Engine, "before_cursor_execute", before_statement)
            sql.event.remove(sql.Engine, "commit", before_commit)
            self.counts["alert calls"] += number

    def _files(self) -> Iterator[Path]:
        """The database and its log, of which the next process makes the rest."""
        for path in (self._file, self._file.with_name(f"{self._file.name}-wal")):
            if path.exists():
                yield path

    def _leave_files(self) -> None:
        """Let the folder have the files as they were at the kill."""
        for path in self._file.parent.iterdir():
            path.unlink()
        for path, content in self._left.items():
            path.write_bytes(content)

    # What is seen

    def _see(self) -> tuple[Seen, Deliveries]:
        """What is seen of the desk, and its deliveries by id."""
        with self._observer as desk:
            names = {search.id: search.name for search in SavedSearches(desk).list_readable(OPERATOR)}
            outbox = Outbox(desk)
            known = outbox.matched_documents(self._where)
            waiting = sorted(
                (names[id], number, write_time(first)) for id, (number, first) in outbox.waiting().items()
            )
            deliveries: Deliveries = {}
            for each in outbox.deliveries(limit=1_000_000):
                texts = tuple(sorted(content["text"] for content in outbox.contents(each.digest_id)))
                sent = Sent(names[each.search], each.target, texts)
                deliveries[each.id] = (sent, each.state, each.made_at, each.next_at, each.attempts)
            texts = tuple(sorted(content["text"] for content in outbox.contents("")))
        contents = None if known is None else tuple(sorted((id, each.content) for id, each in known.items()))
        return Seen(contents, tuple(waiting), texts, tuple(sorted(deliveries.values()))), deliveries

    def _settle(self, allowed: Sequence[Told], when: str) -> None:
        """Find the state of the desk among those that are allowed. Raises Wrong."""
        seen, self._deliveries = self._see()
        self.counts["comparisons"] += 1
        for state in reversed(allowed):
            if expect(state) == seen:
                self.state = state
                return
        expected = expect(allowed[-1])
        for name, value, other in zip(Seen._fields, seen, expected, strict=True):
            if value != other:
                raise Wrong(f"after {when}, the desk has in {name} {value}, not {other}")
        raise AssertionError("nothing differs")

    def _check_letters(self, deliveries: Deliveries, ended: Collection[str]) -> None:
        """What was sent has arrived. A letter comes again only if nobody noted that it had arrived."""
        for id, (sent, state, *_) in deliveries.items():
            if state == "sent" and id not in self._receivers.letters:
                raise Wrong(f"{sent} was never sent, and is noted as sent")
        self._noted |= {id: sent for id, (sent, *_) in deliveries.items()}
        for id, sent in self._receivers.letters.items():
            if id not in self._noted:
                raise Wrong(f"{sent} was sent under an id that no delivery has")
            if self._noted[id] != sent:
                raise Wrong(f"{sent} was sent, not {self._noted[id]}")
        for id, copies in self._receivers.copies.items():
            if copies > 1 or id in ended:
                raise Wrong(f"{self._receivers.letters[id]} was sent again")

    def finish(self, index: model.State) -> None:
        """Let all that waits be delivered, long after the last step. Raises Wrong if something is not."""
        moments = [each.matched_at for each in self.state.waiting]
        moments += [each.next_at for each in self.state.deliveries]
        self._clock.now = max([self._clock.now, *moments]) + timedelta(hours=2)
        for number in self.state.paused:
            self._pause(number)
        self._run(Step("run alerts"), index)
        if self.state.alerts and index.serving is not None:  # what was matched just now may be due in an hour
            self._clock.advance(7200)
            self._run(Step("run alerts"), index)
        open_states = {each.state for each in self.state.deliveries} - {"sent", "failed"}
        if self.state.waiting or open_states:
            raise Wrong(f"at the end, {self.state.waiting} waits, and deliveries are {open_states}")
