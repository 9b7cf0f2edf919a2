"""Each page and each operation of the API plans its query once, and searches once for each ranking."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from webui.app import create_app
from webui.running.settings import Settings

pytestmark = pytest.mark.slow

FEEDBACK = "&boost=feedback:0.5"


class CountingIndex(FakeIndex):
    """Counts the questions that need the engine."""

    def __init__(self) -> None:
        super().__init__(STORM, FLOOD)
        self.calls: Counter[str] = Counter()

    def statistics(self, terms: Any) -> Any:
        if terms:
            self.calls["statistics"] += 1
        return super().statistics(terms)

    def search(self, *args: Any, **settings: Any) -> Any:
        self.calls["search"] += 1
        return super().search(*args, **settings)

    def facets(self, *args: Any) -> Any:
        self.calls["facets"] += 1
        return super().facets(*args)


@pytest.fixture
def counting() -> CountingIndex:
    return CountingIndex()


@pytest.fixture
def calls(counting: CountingIndex, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a query was prepared, a plan made, and the engine asked."""
    prepare, plan = Searcher.prepare_interpretation, Ranking.plan

    def counted_prepare(*args: Any, **settings: Any) -> Any:
        counting.calls["prepare"] += 1
        return prepare(*args, **settings)

    def counted_plan(*args: Any) -> Any:
        counting.calls["plan"] += 1
        return plan(*args)

    monkeypatch.setattr(Searcher, "prepare_interpretation", counted_prepare)
    monkeypatch.setattr(Ranking, "plan", counted_plan)
    return counting.calls


@pytest.fixture
def client(counting: CountingIndex) -> FlaskClient:
    return create_app(Searcher(counting), Settings(access_log=0)).test_client()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address", ["/search?", "/search.csv?", "/search.run?", "/search.json?", "/api/v1/search?"]
)
def test_a_search_is_planned_once_and_asked_once(
    client: FlaskClient, calls: Counter[str], address: str
) -> None:
    assert client.get(f"{address}q=storm").status_code == 200
    facets = calls.pop("facets", 0)
    assert calls == {"prepare": 1, "plan": 1, "statistics": 1, "search": 1}
    assert facets == (address == "/search?")


@pytest.mark.parametrize("address", ["/search?", "/search.csv?", "/api/v1/search?"])
def test_feedback_makes_one_first_pass(client: FlaskClient, calls: Counter[str], address: str) -> None:
    """The first pass has a plan, statistics and a search of its own: the query without any boost."""
    assert client.get(f"{address}q=storm{FEEDBACK}").status_code == 200
    calls.pop("facets", 0)
    assert calls == {"prepare": 1, "plan": 2, "statistics": 2, "search": 2}


@pytest.mark.parametrize("address", ["/explain?id=a.s1&", "/api/v1/explain?id=a.s1&"])
@pytest.mark.parametrize(("boost", "searches"), [("", 0), (FEEDBACK, 1)])
def test_an_explanation_is_planned_once(
    client: FlaskClient, calls: Counter[str], address: str, boost: str, searches: int
) -> None:
    assert client.get(f"{address}q=storm{boost}").status_code == 200
    assert (calls["prepare"], calls["search"]) == (1, searches)


@pytest.mark.parametrize("address", ["/document?id=a&", "/api/v1/document?id=a&"])
@pytest.mark.parametrize(("boost", "searches"), [("", 0), (FEEDBACK, 1)])
def test_the_scores_of_a_document_are_planned_once(
    client: FlaskClient, calls: Counter[str], address: str, boost: str, searches: int
) -> None:
    assert client.get(f"{address}q=storm{boost}").status_code == 200
    assert (calls["prepare"], calls["search"]) == (1, searches)


@pytest.mark.parametrize("address", ["/compare?", "/api/v1/compare?"])
def test_a_comparison_plans_and_searches_once_for_each_ranking(
    client: FlaskClient, calls: Counter[str], address: str
) -> None:
    assert client.get(f"{address}q=storm&vs.model=bm25{FEEDBACK}").status_code == 200
    assert calls == {"prepare": 2, "plan": 3, "statistics": 3, "search": 3}


def test_a_batch_plans_each_query_once(client: FlaskClient, calls: Counter[str]) -> None:
    assert client.post(f"/batch?{FEEDBACK}", data={"queries": "storm\nflood"}).status_code == 200
    assert (calls["prepare"], calls["search"]) == (2, 4)
    calls.clear()
    queries = [{"id": "1", "query": "storm"}, {"id": "2", "query": "flood"}]
    body = {"queries": queries, "ranking": {"boosts": {"feedback": 0.5}}}
    assert client.post("/api/v1/batch", json=body).status_code == 200
    assert (calls["prepare"], calls["search"]) == (2, 4)
