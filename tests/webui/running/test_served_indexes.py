from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable, UsageError
from esr.index.contract import Index
from esr.index.limits import time_remaining
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from webui.app import create_app
from webui.running.gate import FAILURES, PAUSE, Busy, CircuitBreaker
from webui.running.served_indexes import CACHED_METHODS, ENGINE_METHODS, ServedIndexes, Visit, monitor
from webui.running.settings import Settings


def client_over(clock: Callable[[], float] = lambda: 0.0, **openers: Callable[[], Searcher]) -> FlaskClient:
    """A client of a server over indexes. `clock` is that of their breakers."""
    settings = Settings()
    indexes = ServedIndexes(openers, settings)
    for served in indexes.by_name.values():
        served.gate.breaker = CircuitBreaker(settings.deadline, clock)
    return create_app(indexes, settings).test_client()


def opener(index: FakeIndex) -> Callable[[], Searcher]:
    return lambda: Searcher(index)


def found_ids(client: FlaskClient, address: str) -> list[str]:
    return [hit["sentence_id"] for hit in client.get(address).get_json()["hits"]]


def test_a_request_can_name_its_index_and_the_first_is_the_default() -> None:
    client = client_over(news=opener(FakeIndex(STORM)), old=opener(FakeIndex(FLOOD)))
    for address in ("/search.json?q=storm", "/api/v1/search?q=storm"):
        assert found_ids(client, address) == ["a.s1"]
        assert found_ids(client, address + "&index=news") == ["a.s1"]
        assert found_ids(client, address + "&index=old") == ["b.s0"]
        assert found_ids(client, address + "&%69nde%78=old") == ["b.s0"]
    error = client.get("/api/v1/search?q=storm&index=olt").get_json()["error"]
    assert error["field"] == "index"
    assert "did you mean 'old'" in error["message"]


def test_an_index_is_warmed_up_when_it_is_opened() -> None:
    index = FakeIndex(STORM)
    client = client_over(news=opener(index))
    assert index.warmed == 0
    for _ in range(3):
        assert found_ids(client, "/api/v1/search?q=storm") == ["a.s1"]
    assert index.warmed == 1


def test_the_page_offers_several_indexes_and_keeps_the_choice() -> None:
    client = client_over(news=opener(FakeIndex(STORM)), old=opener(FakeIndex(FLOOD)))
    html = client.get("/search?q=storm&index=old").text
    assert '<select id="index" name="index">' in html
    assert "<option selected>old</option>" in html
    assert "index=old" in html
    assert 'name="index"' not in client_over(news=opener(FakeIndex(STORM))).get("/search?q=storm").text


def test_an_index_is_opened_once_by_the_first_request_that_needs_it() -> None:
    opened: list[str] = []

    def opens(name: str) -> Callable[[], Searcher]:
        def make() -> Searcher:
            opened.append(name)
            return Searcher(FakeIndex(STORM))

        return make

    client = client_over(news=opens("news"), old=opens("old"))
    client.get("/healthz")
    client.get("/api/v1/models")
    assert opened == []
    for _ in range(3):
        client.get("/search.json?q=storm&index=old")
    assert opened == ["old"]


def test_later_requests_retry_an_index_that_cannot_be_opened() -> None:
    index = FakeIndex(STORM)
    away = [EngineUnreachable("http://inside:9200 is away")] * 2

    def opens() -> Searcher:
        if away:
            raise away.pop()
        return Searcher(index)

    client = client_over(news=opens)
    statuses = [client.get("/search.json?q=storm").status_code for _ in range(3)]
    assert statuses == [503, 503, 200]


def test_an_unreachable_engine_is_asked_less_often_until_it_is_back() -> None:
    index, now, asked = FakeIndex(STORM), 0.0, 0
    client = client_over(clock=lambda: now, news=opener(index))

    def statistics(terms: object) -> object:
        nonlocal asked
        asked += 1
        raise EngineUnreachable("http://inside:9200 is away")

    working, index.statistics = index.statistics, statistics  # type: ignore[assignment, method-assign]
    answers = [client.get("/api/v1/search?q=storm") for _ in range(20)]
    assert {answer.status_code for answer in answers} == {503}
    assert asked == FAILURES
    assert "inside" not in "".join(answer.text for answer in answers)
    index.statistics = working  # type: ignore[method-assign]
    assert client.get("/api/v1/search?q=storm").status_code == 503
    now = PAUSE
    assert client.get("/api/v1/search?q=storm").status_code == 200
    assert client.get("/api/v1/search?q=storm").status_code == 200


def test_one_unreachable_index_does_not_affect_the_others() -> None:
    broken = FakeIndex(STORM)
    broken.error = EngineUnreachable("away")
    client = client_over(news=opener(broken), old=opener(FakeIndex(FLOOD)))
    for _ in range(5):
        assert client.get("/search.json?q=storm").status_code == 503
        assert client.get("/search.json?q=storm&index=old").status_code == 200


def test_a_message_does_not_reveal_the_place_of_the_index() -> None:
    index = FakeIndex(STORM)
    index.where = "http://inside:9200/news"
    index.error = UsageError("there is no thing in http://inside:9200/news")
    message = client_over(news=opener(index)).get("/api/v1/search?q=storm").get_json()["error"]["message"]
    assert "inside" not in message
    assert "the index" in message


@pytest.mark.parametrize("where", ["news", "index", "/srv/news", "http://inside:9200/news"])
def test_a_message_keeps_the_words_of_the_request(where: str) -> None:
    index = FakeIndex(STORM)
    index.where = where
    client = client_over(news=opener(index))
    for name, said in {
        "news": "'news'",
        "/srv/news": "'/srv/news'",
        "it's the index": '"it\'s the index"',
    }.items():
        answer = client.get("/api/v1/document", query_string={"id": name})
        assert answer.status_code == 404
        assert answer.get_json()["error"]["message"] == f"There is no document {said}."
    message = client.get("/api/v1/search?q=storm&indexes=1").get_json()["error"]["message"]
    assert message == "Unknown argument 'indexes': did you mean 'index'?"


def test_an_address_is_struck_out_whatever_stands_beside_it() -> None:
    index = FakeIndex(STORM)
    index.where = "/srv/news"
    client = client_over(news=opener(index))
    for message, told in {
        "/srv/news has no vectors": "The index has no vectors.",
        "the index's folder /srv/news has no 'x' in /srv/news/layers": (
            "The index's folder the index has no 'x' in the index/layers."
        ),
        "there is no document 'news' in /srv/newspapers": "There is no document 'news' in /srv/newspapers.",
    }.items():
        index.error = UsageError(message)
        assert client.get("/api/v1/search?q=storm").get_json()["error"]["message"] == told


OTHER_METHODS = {"close", "documents", "enrichment", "on_latest", "warm_up"}  # no page reads all documents


def test_every_method_of_an_index_that_asks_its_engine_is_monitored() -> None:
    methods = {name for name, _ in inspect.getmembers(Index, inspect.isfunction) if not name.startswith("_")}
    assert methods == ENGINE_METHODS | OTHER_METHODS


def test_attributes_pass_through_and_snapshots_are_monitored_too() -> None:
    index = FakeIndex(STORM)
    monitored = monitor(index, CircuitBreaker(1.0))
    assert monitored.where == "memory"
    assert monitored.snapshot().analyzer is index.analyzer
    assert type(monitored.snapshot()) is type(monitored)
    assert monitored.on_latest(type) is type(monitored)


@pytest.mark.parametrize(("error", "counts"), [(EngineUnreachable("away"), True), (UsageError("bad"), False)])
def test_an_unreachable_engine_opens_the_breaker_and_other_errors_do_not(
    error: Exception, counts: bool
) -> None:
    index, breaker = FakeIndex(STORM), CircuitBreaker(1.0)
    index.error = error
    for _ in range(FAILURES):
        with pytest.raises(type(error)):
            monitor(index, breaker).statistics([])
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.raise_if_open()
        index.error = None
        monitor(index, breaker).statistics([])  # the answer may be cached
        with pytest.raises(EngineUnreachable):
            breaker.raise_if_open()
        monitor(index, breaker).check_ready()
    breaker.raise_if_open()


@pytest.mark.parametrize("seconds, counts", [(0.5, False), (5.0, True)])
def test_an_engine_that_was_given_little_time_has_not_failed(seconds: float, counts: bool) -> None:
    index, breaker = FakeIndex(STORM), CircuitBreaker(10.0)
    index.error = EngineUnreachable("timed out")
    for _ in range(FAILURES):
        with pytest.raises(EngineUnreachable, match="timed out"):
            monitor(index, breaker, time.monotonic() + seconds).check_ready()
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.raise_if_open()
    else:
        breaker.raise_if_open()


def test_each_call_of_an_engine_has_the_time_that_is_left_of_its_visit() -> None:
    index, left = FakeIndex(STORM), []
    index.check_ready = lambda: left.append(time_remaining(99.0))  # type: ignore[method-assign]
    breaker = CircuitBreaker(10.0)
    deadline = time.monotonic() + 7.0
    monitor(index, breaker, deadline).check_ready()
    cast(Any, monitor(index, breaker, deadline).snapshot()).check_ready()
    assert all(6.0 < seconds <= 7.0 for seconds in left) and len(left) == 2
    assert time_remaining(99.0) == 99.0  # nothing is left behind
    with pytest.raises(EngineUnreachable, match="in the time allowed"):
        monitor(index, breaker, time.monotonic() - 1.0).check_ready()


def test_a_visit_holds_a_slot_from_its_first_use_to_its_end() -> None:
    indexes = ServedIndexes({"news": opener(FakeIndex(STORM))}, Settings(searches=1))
    with Visit(indexes, b"", 0.01) as first:
        with Visit(indexes, b"", 0.01) as unused:
            pass
        assert first.searcher is first.searcher
        with pytest.raises(Busy), Visit(indexes, b"", 0.01) as second:
            second.searcher.index.status()
    with unused, Visit(indexes, b"index=news", 0.01) as third:
        assert third.searcher.index.where == "memory"


def test_a_visit_to_an_index_that_cannot_be_opened_holds_no_slot() -> None:
    def fails() -> Searcher:
        raise UsageError("no index")

    indexes = ServedIndexes({"news": fails}, Settings(searches=1))
    with Visit(indexes, b"", 0.01) as visit:
        for _ in range(3):  # a page asks for several things, each of which it can do without
            with pytest.raises(UsageError, match="no index"):
                visit.searcher.index.status()


def test_cached_methods_are_engine_methods() -> None:
    assert CACHED_METHODS < ENGINE_METHODS
