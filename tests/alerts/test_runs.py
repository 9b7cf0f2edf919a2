"""Runs of alerts: what is told, once, over loads, corrections, rollbacks, late enrichment and other runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from esr.alerts.alert_conditions import VERSION, read_arguments, write_arguments
from esr.alerts.channels import Channels, DeliveryFailed, Letter
from esr.alerts.outbox import HOLD_SECONDS, Changed, KnownDocument, News, Outbox
from esr.alerts.runs import OPERATOR, PENDING, AlertRuns, add_alert, make_delivery, read_alert, set_pause
from esr.dossiers.desk import Desk
from esr.dossiers.records import Person
from esr.dossiers.saved_searches import SavedSearches
from esr.errors import EsrError, InputError, UsageError
from esr.index.factory import open_delivery, open_generations
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, fresh, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import enrich

pytestmark = pytest.mark.slow

ANN = Person("ann")
FIRST = [
    document("a", "A storm came.", "It rained.", date="2017-01-05", source="BBC"),
    document("b", "The storm went on.", date="2017-01-06"),
]


class Receiver(Channels):
    """Keeps letters instead of sending them. `problem` is raised instead, if it is set."""

    def __init__(self) -> None:
        super().__init__({})
        self.letters: list[tuple[str, Letter]] = []
        self.problem: BaseException | None = None

    def send(self, target: str, letter: Letter) -> None:
        if self.problem is not None:
            raise self.problem
        self.letters.append((target, letter))

    def texts(self) -> list[str]:
        """The sentences of all letters, which are then forgotten."""
        items = [item for _, letter in self.letters for item in json.loads(letter.payload)["items"]]
        self.letters.clear()
        return [item.get("text") or item["unusual"]["day"] for item in items]


class World:
    """A collection, a desk, a receiver and a clock."""

    def __init__(self, folder: Path, where: str | None = None) -> None:
        self.where = where or str(folder / "news")
        self.desk = Desk(str(folder / "desk.sqlite"), clock=lambda: self.now)
        self.receiver = Receiver()
        self.now = datetime(2024, 1, 1, 12, tzinfo=UTC)
        load(self.where, FIRST)

    def add(self, every: str = "at once", zone: str = "UTC", **table: Any) -> str:
        delivery = make_delivery(self.where, ["mailto:ann@example.org"], every, zone)
        return add_alert(self.desk, ANN, "storms", table, delivery).id

    def append(self, *documents: Any) -> None:
        open_delivery(self.where, LoadOptions()).append(located(documents))

    def runs(self) -> AlertRuns:
        return AlertRuns(self.desk, self.receiver, clock=lambda: self.now)

    def run(self, **options: Any) -> list[str]:
        self.runs().run(**options)
        return self.receiver.texts()


@pytest.fixture
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    """On a folder, or where a test says so (`on_both`) also on a server."""
    with ExitStack() as stack:
        is_on_server = getattr(request, "param", "embedded") == "elasticsearch"
        url = request.getfixturevalue("elasticsearch_url") if is_on_server else None
        made = World(tmp_path, stack.enter_context(fresh(url)) if url else None)
        yield made
        made.desk.close()


on_both = pytest.mark.parametrize(
    "world", ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)], indirect=True
)


@on_both
def test_the_first_run_tells_nothing_and_the_next_what_is_new_in_its_context(world: World) -> None:
    world.add(query="storm")
    assert world.run() == []
    world.append(
        document("c", "Before.", "A storm in May.", "After.", title="May", url="https://e.example/c")
    )
    world.runs().run()
    ((target, letter),) = world.receiver.letters
    (item,) = json.loads(letter.payload)["items"]
    assert target == "mailto:ann@example.org"
    assert (item["text"], item["previous"], item["next"]) == ("A storm in May.", "Before.", "After.")
    assert (
        "Before." in letter.text
        and "> A storm in May." in letter.text
        and "https://e.example/c" in letter.text
    )
    assert "<strong>A storm in May.</strong>" in letter.html and letter.subject == "storms: 1 new sentence"
    world.receiver.letters.clear()
    assert world.run() == []


def test_a_first_run_from_the_start_tells_what_is_there(world: World) -> None:
    world.add(query="storm")
    assert world.run(tell_all=True) == ["A storm came.", "The storm went on."]


@on_both
def test_a_correction_is_not_told_again_but_a_new_match_is(world: World) -> None:
    world.add(query="storm")
    world.run()
    world.append(document("c", "A storm reached the coast on Monday.", "All was calm."))
    assert world.run() == ["A storm reached the coast on Monday."]
    world.append(document("c", "Well.", "A storm reached the coast on Tuesday.", "A storm was not expected."))
    assert world.run() == ["A storm was not expected."]
    world.append(document("c", "A storm reached the coast on Tuesday.", "A storm was not expected."))
    assert world.run() == []


@on_both
def test_loads_of_the_same_documents_and_rollbacks_tell_nothing_twice(world: World) -> None:
    world.add(query="storm")
    world.run()
    world.append(document("c", "A storm at sea."))
    assert world.run() == ["A storm at sea."]
    open_generations(world.where).rollback()
    assert world.run() == []
    world.append(document("c", "A storm at sea."))
    assert world.run() == []
    load(
        world.where,
        [*FIRST, document("c", "A storm at sea."), document("d", "A storm inland.")],
        if_exists="replace",
    )
    assert world.run() == ["A storm inland."]


def test_what_was_new_before_its_enrichment_is_told_after_it(world: World) -> None:
    enricher = FakeEnricher(("entities",))
    with open_searcher(world.where) as searcher:
        enrich(searcher.index, enricher)
    world.add(query="storm", entity=["Ohio", "Paris", "Łukasz", "ACME", "UN", "Barack Obama"])
    world.add(query="storm")
    world.run()
    world.append(*(document(f"n{n}", f"A storm of {n}.") for n in range(8)))
    first = world.run()
    assert len(first) == 8, "the alert without names"
    with open_searcher(world.where) as searcher:
        enrich(searcher.index, enricher)
    named = world.run()
    assert 2 <= len(named) <= 8 and len({*named}) == len(named)
    assert world.run() == []


def test_an_alert_is_not_told_after_an_enrichment_what_came_before_it_was_added(world: World) -> None:
    enricher = FakeEnricher(("entities",))
    with open_searcher(world.where) as searcher:
        enrich(searcher.index, enricher)
    world.add(query="storm")
    world.run()
    world.append(*(document(f"n{n}", f"A storm of {n}.") for n in range(8)))
    assert len(world.run()) == 8
    world.now += timedelta(days=1)
    world.add(query="storm", entity=["Ohio", "Paris", "Łukasz", "ACME", "UN", "Barack Obama"])
    world.append(*(document(f"m{n}", f"A storm of {n}.") for n in range(8)))
    assert len(world.run()) == 8, "the alert without names"
    with open_searcher(world.where) as searcher:
        enrich(searcher.index, enricher)
    world.runs().run()
    items = [item for _, letter in world.receiver.letters for item in json.loads(letter.payload)["items"]]
    assert items and {item["document_id"][0] for item in items} == {"m"}


def test_an_alert_is_not_told_what_came_while_its_collection_had_no_alert(world: World) -> None:
    searches = SavedSearches(world.desk)
    first = world.add(query="storm")
    unreadable = world.add(query="gale")
    world.run()
    delivery = searches.read(ANN, unreadable).delivery
    searches.change(ANN, unreadable, delivery={**delivery, "form": VERSION + 1})
    searches.delete(ANN, first)
    world.runs().forget()
    assert Outbox(world.desk).matched_documents(world.where), "the other alert is of this collection too"
    searches.delete(ANN, unreadable)
    world.runs().forget()
    world.append(document("c", "A storm at sea."))
    world.add(query="storm")
    assert world.run() == []
    world.append(document("d", "A storm inland."))
    assert world.run() == ["A storm inland."]


def test_an_alert_that_works_again_is_told_what_it_missed(world: World) -> None:
    id = world.add(query="storm")
    world.add(query="gale")
    world.run()
    searches = SavedSearches(world.desk)
    delivery = searches.read(ANN, id).delivery
    searches.change(ANN, id, delivery={**delivery, "form": VERSION + 1})
    world.append(document("c", "A storm at sea.", "A gale at sea."))
    for _ in range(2):
        with pytest.raises(EsrError, match="newer version"):
            world.run()
    assert world.receiver.texts() == ["A gale at sea."], "the others are told at once, and once"
    world.append(document("d", "A storm inland."))
    searches.change(ANN, id, delivery=delivery)
    assert world.run() == ["A storm inland.", "A storm at sea."]
    assert world.run() == []


def miss_a_storm(world: World) -> None:
    """Let an alert fail, since its ranking needs a feature that the new sentence does not have."""
    world.add(
        query="storm", least_score=-9, ranking={"features": [{"feature": "count", "form": "log", "w": 1}]}
    )
    world.run()
    world.append(document("c", "A storm at sea."))
    with pytest.raises(EsrError, match="count"):
        world.run()


def run_enriched(world: World) -> list[str]:
    """Run the alerts after the features were computed."""
    with open_searcher(world.where) as searcher:
        enrich(searcher.index, FakeEnricher(("features",)))
    return world.run()


def test_an_alert_whose_ranking_cannot_be_computed_is_told_later_what_it_missed(world: World) -> None:
    miss_a_storm(world)
    world.now += PENDING - timedelta(days=1)
    assert run_enriched(world) == ["A storm at sea."]


def test_what_an_alert_missed_is_told_also_if_the_index_was_away_meanwhile(world: World) -> None:
    miss_a_storm(world)
    away = Path(world.where).rename(f"{world.where}-away")
    with pytest.raises(EsrError, match="there is no index"):
        world.run()
    away.rename(world.where)
    assert run_enriched(world) == ["A storm at sea."]


def test_what_an_alert_missed_is_not_kept_for_ever(world: World) -> None:
    id = world.add(query="storm")
    world.add(query="gale")
    world.run()
    searches = SavedSearches(world.desk)
    delivery = searches.read(ANN, id).delivery
    searches.change(ANN, id, delivery={**delivery, "form": VERSION + 1})
    world.append(document("c", "A storm at sea."))
    for _ in range(2):
        with pytest.raises(EsrError, match="newer version"):
            world.run()
        world.now += PENDING
    searches.change(ANN, id, delivery=delivery)
    assert world.run() == []


def test_a_digest_is_due_by_the_clock_of_its_zone(world: World) -> None:
    world.add("daily 08:00", "America/New_York", query="storm")
    world.run()
    world.append(document("c", "A storm."))
    assert world.run() == []
    world.now = datetime(2024, 1, 1, 12, 59, tzinfo=UTC)
    world.append(document("d", "A second storm."))
    assert world.run() == []
    world.now = datetime(2024, 1, 1, 13, 0, tzinfo=UTC)
    assert world.run() == ["A storm.", "A second storm."]
    world.append(document("e", "A third storm."))
    assert world.run() == []


def test_an_unusual_day_is_told_once(world: World) -> None:
    quiet = [document(f"q{n}", "All is calm.", date=f"2017-01-{n + 7:02}") for n in range(20)]
    world.append(*quiet)
    world.add(query="storm", unusual=True)
    world.run()
    world.append(*(document(f"u{n}", f"Storm {n}.", date="2017-01-27T10:00:00Z") for n in range(6)))
    assert world.run() == ["2017-01-27"]
    world.append(document("v", "Another storm.", date="2017-01-27"))
    assert world.run() == []


def test_a_paused_alert_waits_and_a_deleted_one_is_forgotten(world: World) -> None:
    id = world.add(query="storm")
    world.run()
    searches = SavedSearches(world.desk)
    search = searches.read(ANN, id)
    searches.change(ANN, id, delivery={**search.delivery, "is_paused": True})
    world.append(document("c", "A storm."))
    assert world.run() == []
    searches.change(ANN, id, delivery=search.delivery)
    assert world.run() == ["A storm."]
    searches.delete(ANN, id)
    world.runs().forget()
    assert Outbox(world.desk).deliveries() == []


def test_what_waits_for_its_next_attempt_is_not_sent_while_the_alert_is_paused(world: World) -> None:
    id = world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    world.receiver.problem = None
    set_pause(world.desk, ANN, id, is_paused=True)
    world.now += timedelta(hours=1)
    assert world.run() == []
    set_pause(world.desk, ANN, id, is_paused=False)
    assert world.run() == ["A storm came.", "The storm went on."]


def test_an_alert_that_is_added_while_others_are_forgotten_keeps_its_news(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, box = SavedSearches.list_readable, Outbox(world.desk)

    def list_before_another_run(searches: SavedSearches, person: Person) -> Any:
        before = listed(searches, person)
        storm = News("new", "d", ["A storm."], [{"text": "A storm."}], frozenset())
        box.store_matches("other", {}, {"d": KnownDocument("mark", "content")}, [storm])
        return before

    monkeypatch.setattr(SavedSearches, "list_readable", list_before_another_run)
    world.runs().forget()
    assert box.waiting()["new"][0] == 1


def test_what_was_to_be_sent_of_a_removed_alert_is_not_sent(world: World) -> None:
    id = world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    SavedSearches(world.desk).delete(ANN, id)
    world.receiver.problem = None
    world.now += timedelta(hours=1)
    assert world.run() == []
    assert Outbox(world.desk).deliveries() == []


def test_an_alert_that_cannot_be_read_waits_and_the_list_says_why(world: World) -> None:
    id = world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    world.receiver.problem = None
    searches = SavedSearches(world.desk)
    delivery = searches.read(ANN, id).delivery
    searches.change(ANN, id, delivery={**delivery, "form": VERSION + 1})
    world.now += timedelta(hours=1)
    with pytest.raises(EsrError, match="newer version"):
        world.run()
    assert world.receiver.letters == []
    (delivered,) = Outbox(world.desk).deliveries()
    assert delivered.state == "waiting" and "newer version" in delivered.error
    assert "newer version" in Outbox(world.desk).failures()[id]
    searches.change(ANN, id, delivery=delivery)
    world.now += timedelta(hours=1)
    assert world.run() == ["A storm came.", "The storm went on."]
    assert Outbox(world.desk).failures() == {}


def test_an_alert_stops_when_its_owner_loses_the_index_and_says_so_once_in_the_log(world: World) -> None:
    world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    world.receiver.problem = None
    obstacles = {"ann": "stopped: its owner ann has no access any more"}
    world.append(document("c", "A storm in secret."))

    def run() -> list[str]:
        world.now += timedelta(hours=1)
        runs = AlertRuns(
            world.desk,
            world.receiver,
            clock=lambda: world.now,
            find_obstacle=lambda alert: obstacles.get(alert.owner, ""),
        )
        runs.run()
        names.extend(runs.newly_stopped)
        return world.receiver.texts()

    names: list[str] = []
    assert run() == [] and run() == [] and names == ["storms"]
    box = Outbox(world.desk)
    assert [(one.state, one.error) for one in box.deliveries()] == [("failed", obstacles["ann"])] * 2
    assert [*box.failures().values()] == [obstacles["ann"]]
    obstacles.clear()
    assert run() == [] and box.failures() == {}
    assert box.retry(world.now) == 1, "the line of the log is no delivery"


def test_an_alert_that_cannot_be_run_is_reported_and_the_others_are_run(world: World) -> None:
    world.add(query="the of")
    world.add(query="storm")
    with pytest.raises(InputError, match="stop words"):
        world.run(tell_all=True)
    assert world.receiver.texts() == ["A storm came.", "The storm went on."]
    assert [*Outbox(world.desk).failures().values()] == [
        "the query has only stop words: give at least one word to search for"
    ]


def test_a_delivery_that_is_being_sent_is_taken_by_nobody_else_for_some_time(world: World) -> None:
    world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    box, moment = Outbox(world.desk), world.now + timedelta(days=1)
    taken = box.take(moment)
    assert taken is not None and box.take(moment) is None
    again = box.take(moment + timedelta(seconds=HOLD_SECONDS + 1))
    assert again is not None and (again.id, again.attempts) == (taken.id, taken.attempts + 1)


def test_documents_that_another_process_has_matched_meanwhile_are_not_noted(world: World) -> None:
    box, matched = Outbox(world.desk), {"d": KnownDocument("mark", "content")}
    box.store_matches("news", {}, matched, [])
    with pytest.raises(Changed):
        box.store_matches("news", {}, {"d": KnownDocument("other", "content")}, [])
    assert box.store_matches("news", matched, {"d": KnownDocument("other", "content")}, []) == 0


def test_a_delivery_that_fails_is_tried_again_later_and_later_with_the_same_id(world: World) -> None:
    world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    (before,) = Outbox(world.desk).deliveries()
    assert (before.state, before.error, before.attempts) == ("waiting", "no answer", 1)
    world.now += timedelta(seconds=30)
    world.receiver.problem = None
    assert world.run() == [], "too early"
    world.now += timedelta(seconds=31)
    world.runs().run()
    ((_, letter),) = world.receiver.letters
    assert letter.id == before.id and letter.attempt == 2


def test_a_run_tries_each_delivery_once_however_long_receivers_take(world: World) -> None:
    class SlowReceiver(Receiver):
        attempts = 0

        def send(self, target: str, letter: Letter) -> None:
            self.attempts += 1
            world.now += timedelta(seconds=20)
            raise DeliveryFailed("the receiver answered 504")

    world.receiver = receiver = SlowReceiver()
    for _ in range(6):
        world.add(query="storm")
    world.run(tell_all=True)
    assert receiver.attempts == 6
    assert {delivery.attempts for delivery in Outbox(world.desk).deliveries()} == {1}


def test_deliveries_are_given_up_after_days_and_can_be_tried_again(world: World) -> None:
    world.add(query="storm")
    world.receiver.problem = DeliveryFailed("no answer")
    world.run(tell_all=True)
    attempts = 0
    while Outbox(world.desk).deliveries()[0].state == "waiting":
        world.now += timedelta(hours=1)
        world.run()
        attempts += 1
    assert 12 <= attempts <= 80
    world.receiver.problem = None
    assert world.run() == []
    assert Outbox(world.desk).retry(world.now) == 1
    assert world.run() == ["A storm came.", "The storm went on."]


def test_a_delivery_whose_process_was_killed_is_sent_by_the_next_one(world: World) -> None:
    world.add(query="storm")
    world.receiver.problem = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        world.run(tell_all=True)
    world.receiver.problem = None
    assert world.run() == ["A storm came.", "The storm went on."]


def test_many_sentences_come_in_several_letters(world: World) -> None:
    world.add(query="storm")
    world.append(document("c", *(f"Storm number {n}." for n in range(250))))
    world.runs().run(tell_all=True)
    assert [len(json.loads(letter.payload)["items"]) for _, letter in world.receiver.letters] == [200, 52]


TABLE = {
    "query": "storm OR flood",
    "literal": True,
    "after": "2017-01",
    "source": ["BBC", "RTE"],
    "meta": ["desk=Berlin"],
    "least_score": -4.5,
    "ranking": {"model": "bm25"},
    "like": ["A storm came."],
    "similarity": 0.7,
}


def test_conditions_survive_their_stored_form() -> None:
    assert read_arguments(write_arguments(TABLE)) == TABLE


def test_arguments_of_an_older_esr_and_of_a_page_are_read() -> None:
    stored = {
        "q": ["storm"],
        "from": ["2017"],
        "syntax": ["none"],
        "k": ["50"],
        "fold": ["no"],
        "sort": ["date"],
    }
    assert read_arguments(stored) == {"query": "storm", "from": "2017", "literal": True}


def test_arguments_of_a_newer_esr_are_refused() -> None:
    with pytest.raises(UsageError, match="update esr"):
        read_arguments({"q": ["storm"]}, VERSION + 1)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "query is missing"),
        ({"query": "storm", "sourse": "BBC"}, "did you mean"),
        ({"query": "storm", "similarity": 0.5}, "needs like"),
        ({"query": "storm", "like": ["x"], "similarity": 2}, "from -1 to 1"),
        ({"like": ["x"], "unusual": True}, "needs a query"),
        ({"query": "storm", "unusual": True, "least_score": 2}, "counts the sentences"),
        (
            {"query": "storm", "least_score": 1, "ranking": {"rerank": [{"signal": "meaning", "w": 8}]}},
            "second stage",
        ),
    ],
)
def test_wrong_conditions_are_refused_when_they_are_added(
    world: World, table: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        add_alert(world.desk, ANN, "x", table, {})


@pytest.mark.parametrize(
    "target", ["ann@example.org", "mailto:ann", "mailto:a b@c", "https:///x", "nothing://x"]
)
def test_wrong_targets_are_refused(target: str) -> None:
    with pytest.raises(UsageError):
        make_delivery("news", [target])


def test_a_saved_search_without_delivery_is_no_alert(world: World) -> None:
    search = SavedSearches(world.desk).create(ANN, "storms", {"q": ("storm",)})
    assert read_alert(search) is None


def test_an_alert_that_a_newer_esr_has_stored_is_a_failure(world: World) -> None:
    delivery = {**make_delivery(world.where, ["mailto:ann@example.org"]), "form": VERSION + 1}
    SavedSearches(world.desk).create(ANN, "storms", {"q": ("storm",)}, delivery)
    with pytest.raises(EsrError, match="newer version"):
        world.run()


def test_alerts_of_all_owners_are_run(world: World) -> None:
    world.add(query="storm")
    add_alert(
        world.desk,
        Person("bob"),
        "rain",
        {"query": "rained"},
        make_delivery(world.where, ["mailto:b@example.org"]),
    )
    assert sorted(world.run(tell_all=True)) == ["A storm came.", "It rained.", "The storm went on."]
    assert {search.owner for search in SavedSearches(world.desk).list_readable(OPERATOR)} == {"ann", "bob"}
