from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable, UsageError
from esr.ranking.searcher import Searcher
from tests.webui.fake_index import FLOOD, STORM, FakeIndex
from webui.app import create_app
from webui.running.served_indexes import ONLY, Indexes, places
from webui.running.settings import Settings

FAST = Settings(deadline=0.3)


def client_over(settings: Settings = FAST, **opens: Callable[[], Searcher]) -> FlaskClient:
    return create_app(Indexes(opens, settings), settings).test_client()


def over(index: FakeIndex) -> Callable[[], Searcher]:
    return lambda: Searcher(index)


def found(client: FlaskClient, address: str) -> list[str]:
    return [hit["sentence_id"] for hit in client.get(address).get_json()["hits"]]


def test_one_place_needs_no_name() -> None:
    for where in ("my-index", "http://user:a=b@host:9200/news", "/data/a=b", "C:=x"):
        assert places(where) == {ONLY: where}


def test_several_places_have_names_in_their_order() -> None:
    given = places(" news=my-index  old=http://u:p@h:9200/old?a=b ")
    assert list(given.items()) == [("news", "my-index"), ("old", "http://u:p@h:9200/old?a=b")]


@pytest.mark.parametrize("where", ["a=x b", "a=x A=y", "a=x a=y", "a=x =y"])
def test_places_without_a_name_of_their_own_are_one_message(where: str) -> None:
    with pytest.raises(UsageError, match="name"):
        places(where)


def test_a_request_names_its_index_and_the_first_is_the_default() -> None:
    client = client_over(news=over(FakeIndex(STORM)), old=over(FakeIndex(FLOOD)))
    for address in ("/search.json?q=storm", "/api/v1/search?q=storm"):
        assert found(client, address) == ["a.s1"]
        assert found(client, address + "&index=news") == ["a.s1"]
        assert found(client, address + "&index=old") == ["b.s0"]
    error = client.get("/api/v1/search?q=storm&index=olt").get_json()["error"]
    assert error["field"] == "index"
    assert "did you mean 'old'" in error["message"]


def test_an_index_is_made_ready_for_many_searches_when_it_is_opened() -> None:
    index = FakeIndex(STORM)
    client = client_over(news=over(index))
    assert index.warmed == 0
    for _ in range(3):
        assert found(client, "/api/v1/search?q=storm") == ["a.s1"]
    assert index.warmed == 1


def test_the_page_lets_one_choose_among_several_indexes_and_keeps_the_choice() -> None:
    client = client_over(news=over(FakeIndex(STORM)), old=over(FakeIndex(FLOOD)))
    html = client.get("/search?q=storm&index=old").text
    assert '<select id="index" name="index">' in html
    assert "<option selected>old</option>" in html
    assert "index=old" in html
    assert 'name="index"' not in client_over(news=over(FakeIndex(STORM))).get("/search?q=storm").text


def test_an_index_is_opened_when_it_is_first_needed_and_once() -> None:
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


def test_an_index_that_is_away_is_tried_again_by_later_requests() -> None:
    index = FakeIndex(STORM)
    away = [EngineUnreachable("http://inside:9200 is away")] * 2

    def opens() -> Searcher:
        if away:
            raise away.pop()
        return Searcher(index)

    client = client_over(news=opens)
    statuses = [client.get("/search.json?q=storm").status_code for _ in range(3)]
    assert statuses == [503, 503, 200]


@pytest.mark.slow
def test_an_engine_that_stays_away_is_asked_less_and_one_that_is_back_is_found() -> None:
    index = FakeIndex(STORM)
    client = client_over(news=over(index))
    index.error = EngineUnreachable("http://inside:9200 is away")
    asked = 0

    def statistics(terms: object) -> object:
        nonlocal asked
        asked += 1
        raise EngineUnreachable("http://inside:9200 is away")

    working, index.statistics = index.statistics, statistics  # type: ignore[assignment, method-assign]
    answers = [client.get("/api/v1/search?q=storm") for _ in range(20)]
    assert {answer.status_code for answer in answers} == {503}
    assert asked == 3
    assert "inside" not in "".join(answer.text for answer in answers)
    index.statistics, index.error = working, None  # type: ignore[method-assign]
    time.sleep(2.1)
    assert client.get("/api/v1/search?q=storm").status_code == 200
    assert client.get("/api/v1/search?q=storm").status_code == 200


def test_one_index_that_is_away_leaves_the_others_alone() -> None:
    broken = FakeIndex(STORM)
    broken.error = EngineUnreachable("away")
    client = client_over(news=over(broken), old=over(FakeIndex(FLOOD)))
    for _ in range(5):
        assert client.get("/search.json?q=storm").status_code == 503
        assert client.get("/search.json?q=storm&index=old").status_code == 200


def test_a_message_does_not_tell_where_the_index_is() -> None:
    index = FakeIndex(STORM)
    index.where = "http://inside:9200/news"
    index.error = UsageError("there is no thing in http://inside:9200/news")
    told = client_over(news=over(index)).get("/api/v1/search?q=storm").get_json()["error"]["message"]
    assert "inside" not in told
    assert "the index" in told
