"""The indices of a server: choosing, opening and monitoring them; health, metrics and settings."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable, IndexMissing, IndexUnusable, UsageError
from esr.index.limits import time_remaining
from esr.index.questions import Readiness, Summary
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from tools.references.commands import build_page
from webui.app import create_app
from webui.running.gate import FAILURES, PAUSE, REST, WAITED, Busy, CircuitBreaker, stage_times, time_stage
from webui.running.served_indexes import ServedIndexes, Visit, monitor
from webui.running.settings import DEFAULT_NAME, Settings, parse_locations


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


def test_what_a_request_waited_for_a_thread_is_part_of_its_time() -> None:
    client = client_over(news=opener(FakeIndex(STORM)))
    late = {WAITED: Settings().deadline}
    for _ in range(FAILURES + 1):  # it is no failure of the engine
        assert client.get("/search.json?q=storm", environ_overrides=late).status_code == 503
    in_time = {WAITED: Settings().deadline / 2}
    assert client.get("/search.json?q=storm", environ_overrides=in_time).status_code == 200


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
    assert re.search(r'<p class="count" role="status">.* in the index old</p>', html)
    assert "<h2>No sentences found in the index old</h2>" in client.get("/search?q=xyzzy&index=old").text
    assert " in the index" not in client.get("/search?q=storm").text
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

    def statistics(*args: object) -> object:
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
        monitor(index, breaker).status(Readiness())
    breaker.raise_if_open()


@pytest.mark.parametrize("seconds, counts", [(0.5, False), (5.0, True)])
def test_an_engine_that_was_given_little_time_has_not_failed(seconds: float, counts: bool) -> None:
    index, breaker = FakeIndex(STORM), CircuitBreaker(10.0)
    index.error = EngineUnreachable("timed out")
    for _ in range(FAILURES):
        with pytest.raises(EngineUnreachable, match="timed out"):
            monitor(index, breaker, time.monotonic() + seconds).status(Readiness())
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.raise_if_open()
    else:
        breaker.raise_if_open()


def test_each_call_of_an_engine_has_the_time_that_is_left_of_its_visit() -> None:
    index, left = FakeIndex(STORM), []
    index.status = lambda fact: left.append(time_remaining(99.0))  # type: ignore[method-assign]
    breaker = CircuitBreaker(10.0)
    deadline = time.monotonic() + 7.0
    monitor(index, breaker, deadline).status(Readiness())
    monitor(index, breaker, deadline).snapshot().status(Readiness())
    assert all(6.0 < seconds <= 7.0 for seconds in left) and len(left) == 2
    assert time_remaining(99.0) == 99.0  # nothing is left behind
    with pytest.raises(EngineUnreachable, match="in the time allowed"):
        monitor(index, breaker, time.monotonic() - 1.0).status(Readiness())


def test_a_visit_holds_a_slot_from_its_first_use_to_its_end() -> None:
    indexes = ServedIndexes({"news": opener(FakeIndex(STORM))}, Settings(searches=1))
    with Visit(indexes, b"", 0.01) as first:
        with Visit(indexes, b"", 0.01) as unused:
            pass
        assert first.searcher is first.searcher
        with pytest.raises(Busy), Visit(indexes, b"", 0.01) as second:
            second.searcher.index.status(Summary())
    with unused, Visit(indexes, b"index=news", 0.01) as third:
        assert third.searcher.index.where == "memory"


def test_a_visit_to_an_index_that_cannot_be_opened_holds_no_slot() -> None:
    def fails() -> Searcher:
        raise UsageError("no index")

    indexes = ServedIndexes({"news": fails}, Settings(searches=1))
    with Visit(indexes, b"", 0.01) as visit:
        for _ in range(3):  # a page asks for several things, each of which it can do without
            with pytest.raises(UsageError, match="no index"):
                visit.searcher.index.status(Summary())


@pytest.fixture
def two() -> tuple[FlaskClient, FakeIndex, FakeIndex]:
    news, old = FakeIndex(STORM), FakeIndex(FLOOD)
    settings = Settings()
    served = ServedIndexes({"news": lambda: Searcher(news), "old": lambda: Searcher(old)}, settings)
    return create_app(served, settings).test_client(), news, old


def test_the_server_is_alive_even_if_the_engine_is_not(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("away")
    assert client.get("/healthz").json == {"status": "ok"}


def test_the_server_is_ready_when_each_index_is(two: tuple[FlaskClient, FakeIndex, FakeIndex]) -> None:
    client, _, _ = two
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json) == (
        200,
        {"status": "ok", "indexes": {"news": "ok", "old": "ok"}},
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EngineUnreachable("http://inside timed out"), "engine_unreachable"),
        (IndexMissing("there is no index at http://inside/news"), "index_missing"),
        (IndexUnusable("http://inside/news lacks a stored script"), "index_unusable"),
    ],
)
def test_the_server_is_not_ready_while_an_index_is_not(
    two: tuple[FlaskClient, FakeIndex, FakeIndex], error: Exception, code: str
) -> None:
    client, _, old = two
    old.error = error
    for _ in range(5):  # each check asks the engine: no breaker stops it
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json == {"status": "not ready", "indexes": {"news": "ok", "old": code}}
        assert "inside" not in answer.text
    old.error = None
    assert client.get("/readyz").status_code == 200


def test_metrics_count_requests_errors_stages_and_requests_in_flight(client: FlaskClient) -> None:
    def value(line: str) -> float:
        match = re.search(rf"^{re.escape(line)} (\S+)$", client.get("/metrics").text, re.M)
        return float(match[1]) if match else 0.0

    increases = {
        'esr_requests_total{route="results",status="200"}': 2,
        'esr_requests_total{route="api.search",status="400"}': 1,
        'esr_errors_total{code="bad_input"}': 1,
        'esr_request_seconds_count{route="results"}': 2,
        'esr_stage_seconds_count{stage="queue"}': 3,
        'esr_stage_seconds_count{stage="search"}': 2,
    }
    before = {line: value(line) for line in increases}
    client.get("/search?q=storm")
    client.get("/search?q=storm")
    client.get("/api/v1/search?q=the")
    assert {line: value(line) - before[line] for line in increases} == increases
    assert value("esr_requests_in_flight") == 1  # the request for the metrics
    answer = client.get("/metrics")
    assert answer.content_type.startswith("text/plain; version=")


def test_unknown_addresses_share_one_line_of_metrics(client: FlaskClient) -> None:
    for n in range(3):
        client.get(f"/nosuch{n}")
    text = client.get("/metrics").text
    assert 'route="none",status="404"' in text
    assert "nosuch" not in text


def test_the_time_of_a_stage_is_added_up() -> None:
    with Flask(__name__).test_request_context():
        for _ in range(2):
            with time_stage("engine"):
                time.sleep(0.01)
        stages = stage_times(1.0)
    assert list(stages) == ["engine", REST]
    assert 0.02 <= stages["engine"] < 0.9
    assert abs(sum(stages.values()) - 1.0) < 1e-9


def test_outside_of_requests_nothing_is_timed() -> None:
    with time_stage("engine"):
        pass
    with Flask(__name__).test_request_context():
        assert list(stage_times(1.0)) == [REST]


ROOT = Path(__file__).resolve().parents[3]


def test_the_table_has_every_setting_with_its_default_and_help() -> None:
    table = {row.name: row for row in Settings.table()}
    assert table["max_k"].default == Settings().max_k == 100
    assert table["query_chars"].default == 2_000
    assert all(row.help for row in table.values())
    assert set(table) == set(Settings.__dataclass_fields__)


def test_the_reference_lists_every_variable_that_the_code_reads() -> None:
    files = [path for folder in ("esr", "webui") for path in (ROOT / folder).rglob("*.py")]
    named = {name for path in files for name in re.findall(r"\bESR_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))}
    named |= {row.variable for row in Settings.table()}
    written = re.findall(r"^\| `(ESR_[A-Z_]+)` \| .+ \|", build_page(), re.M)
    assert set(written) == named
    assert len(written) == len(named)


def test_variables_of_the_environment_change_settings_and_empty_ones_do_not() -> None:
    settings = Settings.from_environment(
        {"ESR_MAX_K": "7", "ESR_DEADLINE": "1.5", "ESR_RATE": " 5/second ", "ESR_THREADS": "", "HOME": "/"}
    )
    assert settings == Settings(max_k=7, deadline=1.5, rate="5/second")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ESR_MAX_K", "many", "a whole number, not 'many'"),
        ("ESR_MAX_K", "0", "a whole number from 1 to 1,000,000,000, not 0"),
        ("ESR_MAX_K", "1.5", "a whole number"),
        ("ESR_MAX_K", "1000000001", "from 1 to 1,000,000,000, not 1000000001"),
        ("ESR_DEADLINE", "0", "a number from 0.1 to"),
        ("ESR_DEADLINE", "nan", "a number from 0.1 to"),
        ("ESR_DEADLINE", "inf", "a number from 0.1 to"),
        ("ESR_PROXIES", "-1", "from 0 to"),
    ],
)
def test_the_error_for_a_bad_value_names_the_variable(variable: str, value: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Settings.from_environment({variable: value})
    assert variable in str(caught.value)


def test_a_single_place_needs_no_name() -> None:
    for where in ("my-index", "http://user:a=b@host:9200/news", "/data/a=b", "C:=x"):
        assert parse_locations(where) == {DEFAULT_NAME: where}


def test_several_places_have_names_and_keep_their_order() -> None:
    locations = parse_locations(" news=my-index  old=http://u:p@h:9200/old?a=b ")
    assert list(locations.items()) == [("news", "my-index"), ("old", "http://u:p@h:9200/old?a=b")]


@pytest.mark.parametrize("where", ["a=x b", "a=x A=y", "a=x a=y", "a=x =y"])
def test_each_of_several_places_needs_a_name_of_its_own(where: str) -> None:
    with pytest.raises(UsageError, match="name"):
        parse_locations(where)
