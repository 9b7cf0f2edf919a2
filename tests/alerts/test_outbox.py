"""The outbox: what is matched, told and delivered, each once, whoever else runs alerts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sql

from esr.alerts import tables
from esr.alerts.outbox import Changed, Delivery, KnownDocument, News, Outbox
from esr.alerts.schedule import read_schedule
from esr.dossiers.desk import Desk, DeskUnusable
from esr.following.alerts.atom import text_digest
from tests.support.desk_tables import check_rows, noting_scans

NOW = datetime(2024, 1, 1, 12, tzinfo=UTC)
KNOWN = KnownDocument("mark", "content")


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Outbox]:
    with Desk(str(tmp_path / "desk"), clock=lambda: NOW) as desk:
        yield Outbox(desk)


def news(search: str, document: str, *texts: str) -> News:
    present = set(map(text_digest, texts))
    return News(search, document, texts, [{"text": text} for text in texts], present)


def send(box: Outbox, search: str, *texts: str, targets: int = 1) -> list[Delivery]:
    """The deliveries of new sentences, as they wait."""
    box.store_matches(search, {}, dict.fromkeys(texts, KNOWN), [news(search, t, t) for t in texts])
    box.make_digests(search, read_schedule(), [f"mailto:{n}@example.org" for n in range(targets)], NOW)
    return box.deliveries(search)


def take(box: Outbox, minutes: float = 0) -> Delivery:
    taken = box.take(NOW + timedelta(minutes=minutes))
    assert taken is not None
    return taken


def do_at_once(boxes: list[Outbox], work: Callable[[Outbox], Any]) -> list[Any]:
    """What each of these outboxes does, all at the same time."""
    barrier = Barrier(len(boxes))

    def begin(box: Outbox) -> Any:
        barrier.wait()
        return work(box)

    with ThreadPoolExecutor(len(boxes)) as threads:
        return list(threads.map(begin, boxes))


def test_processes_at_once_store_each_match_make_each_digest_and_take_each_delivery_once(where: str) -> None:
    def match(box: Outbox) -> int:
        try:
            return box.store_matches("news", {}, {"d": KNOWN}, [news("s", "d", "Rain.", "Snow.")])
        except Changed:
            return 0

    with ExitStack() as opened:
        desks = [opened.enter_context(Desk(where, clock=lambda: NOW)) for _ in range(4)]
        boxes = list(map(Outbox, desks))
        assert do_at_once(boxes, Outbox.failures) == [{}] * 4, "one of them makes the tables"
        assert sorted(do_at_once(boxes, match)) == [0, 0, 0, 2]
        targets = [f"mailto:{n}@example.org" for n in range(3)]
        digests = do_at_once(boxes, lambda box: box.make_digests("s", read_schedule(), targets, NOW))
        assert sorted(digests) == [0, 0, 0, 1]
        for delivery in boxes[0].deliveries():
            texts = [content["text"] for content in boxes[0].contents(delivery.digest_id)]
            assert texts == ["Rain.", "Snow."]
        taken = filter(None, do_at_once(boxes, lambda box: box.take(NOW)))
        assert sorted(delivery.target for delivery in taken) == targets


@pytest.mark.parametrize("table", tables.METADATA.sorted_tables, ids=str)
def test_a_table_has_no_row_twice_and_none_without_a_value(table: sql.Table) -> None:
    check_rows(table)


def test_no_query_of_an_alert_reads_a_whole_table(box: Outbox) -> None:
    with noting_scans() as scans:
        box.matched_documents("news")
        box.collections()
        send(box, "storms", "A storm.")
        box.contents(box.deliveries("storms")[0].digest_id)
        box.waiting()
        box.take_back()
        box.end(take(box), NOW, "no answer")
        box.retry(NOW, "storms")
    assert not scans


def test_the_tables_of_a_newer_esr_are_refused_and_older_ones_migrated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []
    to_second, to_third = (lambda connection: steps.append(2)), (lambda connection: steps.append(3))
    monkeypatch.setattr(tables, "MIGRATIONS", [to_second])
    with Desk(str(tmp_path / "desk")) as desk:
        assert Outbox(desk).matched_documents("news") is None
        assert not steps, "new tables are the newest"
        monkeypatch.setattr(tables, "MIGRATIONS", [to_second, to_third])
        for _ in range(2):
            assert Outbox(desk).matched_documents("news") is None
        assert steps == [3]
        monkeypatch.setattr(tables, "MIGRATIONS", [])
        with pytest.raises(DeskUnusable, match="have version 3, which this esr does not know"):
            Outbox(desk).matched_documents("news")


def test_the_list_does_not_wait_for_whoever_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esr.dossiers.desk.BUSY_SECONDS", 0.1)
    with Desk(str(tmp_path / "desk")) as desk, Desk(str(tmp_path / "desk")) as other:
        assert Outbox(desk).failures() == {}
        with other.writing():
            assert Outbox(desk).failures() == {} and Outbox(desk).last_deliveries() == {}


def test_a_sentence_is_told_to_each_search_and_of_each_collection_that_has_its_document(box: Outbox) -> None:
    box.store_baseline("news", {"old": KNOWN})
    assert box.matched_documents("news") == {"old": KNOWN} and box.matched_documents("other") is None
    assert (
        box.store_matches("news", {}, {"d": KNOWN}, [news("s", "d", "Rain."), news("t", "d", "Rain.")]) == 2
    )
    assert box.store_matches("other", {}, {"d": KNOWN}, [news("s", "d", "Rain.", "Snow.")]) == 1
    assert box.waiting() == {"s": (2, NOW), "t": (1, NOW)}
    assert box.matched_documents("news") == {"old": KNOWN, "d": KNOWN}
    assert box.collections() == {"news", "other"}


def test_a_failure_is_noted_until_a_run_without_it(box: Outbox) -> None:
    assert box.note_failures({"s": "stopped", "t": "no index"}, ["s", "t", "u"], ["s"]) == ["s"]
    assert box.failures() == {"s": "stopped", "t": "no index"}
    assert box.note_failures({"s": "stopped", "t": "no words"}, ["s", "t"], ["s"]) == []
    assert box.note_failures({}, ["s"], []) == []
    assert box.failures() == {"t": "no words"}, "that of a search of another run stays"
    assert box.note_failures({"s": "stopped"}, ["s"], ["s"]) == ["s"]
    lines = box.deliveries("s")
    assert [(line.state, line.error, line.attempts) for line in lines] == [("failed", "stopped", 0)] * 2
    assert not box.deliveries("t")


def test_a_digest_is_made_when_it_is_due_and_somebody_is_to_have_it(box: Outbox) -> None:
    daily, at_eight = read_schedule("daily 08:00"), NOW + timedelta(hours=20)
    assert box.make_digests("s", daily, ["mailto:a@example.org"], at_eight) == 0
    box.store_matches("news", {}, {"d": KNOWN}, [news("s", "d", *(f"Rain {n}." for n in range(401)))])
    assert box.make_digests("s", daily, [], at_eight) == 0
    assert box.make_digests("s", daily, ["mailto:a@example.org"], at_eight - timedelta(seconds=1)) == 0
    assert box.make_digests("s", daily, ["mailto:a@example.org"], at_eight) == 3
    parts = [take(box, 20 * 60) for _ in range(3)]
    texts = [[content["text"] for content in box.contents(part.digest_id)] for part in parts]
    assert [len(part) for part in texts] == [200, 200, 1]
    assert [text for part in texts for text in part] == [f"Rain {n}." for n in range(401)]
    assert box.waiting() == {}


def test_a_delivery_that_is_being_sent_is_left_alone_for_ten_minutes(box: Outbox) -> None:
    send(box, "s", "Rain.")
    taken = take(box)
    assert (taken.state, taken.attempts) == ("sending", 1)
    assert box.take(NOW + timedelta(minutes=10)) is None
    assert take(box, 10.01)._replace(attempts=1) == taken


def test_waits_double_from_a_minute_to_six_hours_and_end_after_three_days(box: Outbox) -> None:
    send(box, "s", "Rain.")
    minutes, waits, state = 0.0, [], "waiting"
    while state == "waiting":
        assert box.take(NOW + timedelta(minutes=minutes - 0.01)) is None
        state = box.end(take(box, minutes), NOW + timedelta(minutes=minutes), "no answer")
        (delivery,) = box.deliveries()
        waits.append((datetime.fromisoformat(delivery.next_at) - NOW).total_seconds() / 60 - minutes)
        minutes += waits[-1]
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256] + [360] * 11
    assert minutes - waits[-1] <= 3 * 24 * 60 < minutes
    assert (delivery.state, delivery.error, delivery.attempts) == ("failed", "no answer", 20)
    later = NOW + timedelta(days=9)
    assert box.retry(later, "t") == 0 and box.retry(later, "s") == 1
    (again,) = box.deliveries()
    assert (again.state, again.attempts, again.made_at, again.next_at) == (
        *("waiting", 0),
        *["2024-01-10T12:00:00.000Z"] * 2,
    )


def test_an_attempt_that_would_fail_again_is_the_last(box: Outbox) -> None:
    send(box, "s", "Rain.", targets=2)
    assert box.end(take(box), NOW, "550 unknown", is_final=True) == "failed"
    assert box.end(take(box), NOW) == "sent"
    assert sorted(each.state for each in box.deliveries()) == ["failed", "sent"]
    assert all(each.ended_at for each in box.deliveries())
    send(box, "t", "Snow.", targets=2)
    box.end(take(box), NOW, "no answer")
    assert [each.ended_at for each in box.deliveries("t")] == ["", ""]
    assert box.retry(NOW) == 2, "what failed, and what waits for its next attempt"


@pytest.mark.parametrize(
    ("host", "process", "is_back"),
    [("here", "own", True), ("here", "dead", True), ("here", "parent", False), ("elsewhere", "dead", False)],
)
def test_what_a_dead_process_of_this_machine_was_sending_waits_again(
    box: Outbox, monkeypatch: pytest.MonkeyPatch, host: str, process: str, is_back: bool
) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    send(box, "s", "Rain.")
    numbers = {"own": os.getpid(), "dead": dead.pid, "parent": os.getppid()}
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: numbers[process])
        if host == "elsewhere":
            patch.setattr("socket.gethostname", lambda: host)
        take(box)
    assert box.take_back() == is_back
    assert (box.take(NOW) is not None) == is_back


def test_the_last_hundred_deliveries_are_listed_and_the_last_of_each_search(box: Outbox) -> None:
    send(box, "s", "Rain.", targets=101)
    assert (len(box.deliveries("s")), len(box.deliveries(limit=200))) == (100, 101)
    box.store_matches("news", {}, {"d": KNOWN}, [news("s", "d", "Snow."), news("t", "d", "Snow.")])
    for search, minutes in (("t", 1), ("s", 2)):
        box.make_digests(search, read_schedule(), ["mailto:a@example.org"], NOW + timedelta(minutes=minutes))
    assert [each.search for each in box.deliveries(limit=3)] == ["s", "t", "s"]
    last = box.last_deliveries()
    assert {search: each.made_at[14:16] for search, each in last.items()} == {"s": "02", "t": "01"}


def test_what_belongs_to_no_search_and_what_arrived_long_ago_is_forgotten(box: Outbox) -> None:
    send(box, "s", "Rain.")
    send(box, "t", "Snow.", targets=2)
    box.note_failures({"s": "no index", "t": "no index"}, ["s", "t"])
    digest = box.deliveries("t")[0].digest_id
    assert box.searches() == {"s", "t"}
    for _ in range(3):
        box.end(take(box), NOW)
    box.forget(["s"], NOW)
    assert [each.search for each in box.deliveries()] == ["t", "t"] and box.failures() == {"t": "no index"}
    assert box.contents(digest) == [{"text": "Snow."}]
    box.store_matches("news", {}, {"d": KNOWN}, [news("t", "d", "Hail.")])
    box.forget([], NOW + timedelta(seconds=1))
    assert box.deliveries() == [] and box.contents(digest) == []
    assert box.waiting() == {"t": (1, NOW)}, "what is still to be told"
    assert box.store_matches("other", {}, {"Snow.": KNOWN}, [news("t", "Snow.", "Snow.")]) == 0, "told before"
