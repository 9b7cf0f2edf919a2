"""What is asked again. The answers are made up: tests/engines/test_cluster_chaos.py kills real nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from elasticsearch import ApiError

from esr.engines import deadline
from esr.engines.elasticsearch.cluster import requests
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.errors import EngineUnreachable, EsrError, IndexMissing


def answer(*failures: str) -> dict[str, Any]:
    """Of three shards, some of which failed for these reasons."""
    told = [{"reason": {"type": failure}} for failure in failures]
    return {"_shards": {"total": 3, "failed": len(failures), "failures": told}}


WHOLE = answer()
LOST = answer("node_disconnected_exception")
NO_COPY = answer("no_shard_available_action_exception")
NO_INDEX = [{"type": "index_not_found_exception", "reason": "no such index"}]
NOTHING = {"status": 404, "error": {"type": "index_not_found_exception", "root_cause": NO_INDEX}}


def error(status: int, kind: str, cause: str) -> ApiError:
    node = NodeConfig("http", "localhost", 9200)
    headers = HttpHeaders({"x-elastic-product": "Elasticsearch"})
    body = {
        "error": {"type": kind, "reason": "shards failed", "root_cause": [{"type": cause, "reason": "gone"}]}
    }
    return ApiError("no", ApiResponseMeta(status, "1.1", headers, 0.1, node), body)


class Answers:
    """A client that gives these answers, one after the other."""

    def __init__(self, *answers: Any) -> None:
        self.left = list(answers)
        self.requests: list[dict[str, Any]] = []

    def search(self, **request: Any) -> Any:
        self.requests.append(request)
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def indices(self) -> Answers:
        return self

    refresh = search

    def msearch(self, **request: Any) -> Any:
        return {"responses": self.search(**request)}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "PAUSES", (0.0, 0.0))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Cluster, Answers]]:
    def made(*answers: Any) -> tuple[Cluster, Answers]:
        client = Answers(*answers)
        cluster = Cluster("http://localhost:9200/news")
        cluster.close()
        monkeypatch.setattr(Cluster, "client", client)
        return cluster, client

    return made


def test_a_search_that_lost_a_shard_is_asked_again(asked: Callable[..., Any]) -> None:
    cluster, client = asked(LOST, WHOLE)
    assert requests.search(cluster, allow_partial=True, index="news") == WHOLE
    assert [request["index"] for request in client.requests] == ["news", "news"]


def test_parts_are_allowed_only_where_they_are_told_of(asked: Callable[..., Any]) -> None:
    cluster, client = asked(WHOLE, WHOLE)
    requests.search(cluster, index="news")
    requests.search(cluster, allow_partial=True, index="news")
    assert [request["allow_partial_search_results"] for request in client.requests] == [False, True]


def test_what_stays_lost_is_given_in_parts_in_the_end(asked: Callable[..., Any]) -> None:
    cluster, client = asked(LOST, LOST, LOST, WHOLE)
    assert requests.search(cluster, allow_partial=True) == LOST
    assert client.left == [WHOLE]


def test_a_shard_without_a_copy_is_not_asked_again(asked: Callable[..., Any]) -> None:
    cluster, _ = asked(NO_COPY, WHOLE)
    assert requests.search(cluster, allow_partial=True) == NO_COPY


def test_nothing_is_asked_again_where_no_time_is_left(
    asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PAUSES", (60.0,))
    cluster, _ = asked(LOST, WHOLE)
    with deadline.within(5):
        assert requests.search(cluster, allow_partial=True) == LOST


def test_an_error_of_lost_shards_is_asked_again_and_told_in_the_end(asked: Callable[..., Any]) -> None:
    lost = error(503, "search_phase_execution_exception", "node_disconnected_exception")
    cluster, _ = asked(lost, WHOLE)
    assert requests.search(cluster) == WHOLE
    cluster, _ = asked(lost, lost, lost, WHOLE)
    with pytest.raises(EngineUnreachable, match="overloaded or not ready"):
        requests.search(cluster)


@pytest.mark.parametrize(
    "failure",
    [
        error(503, "search_phase_execution_exception", "no_shard_available_action_exception"),
        error(400, "search_phase_execution_exception", "script_exception"),
        error(500, "illegal_state_exception", "illegal_state_exception"),
    ],
)
def test_other_errors_are_told_at_once(asked: Callable[..., Any], failure: ApiError) -> None:
    cluster, client = asked(failure, WHOLE)
    with pytest.raises(EsrError):
        requests.search(cluster)
    assert client.left == [WHOLE]


def test_several_searches_are_asked_again_together(asked: Callable[..., Any]) -> None:
    cluster, _ = asked([WHOLE, LOST], [WHOLE, WHOLE])
    assert requests.msearch(cluster, []) == [WHOLE, WHOLE]


def test_several_searches_are_whole_or_an_error(asked: Callable[..., Any]) -> None:
    cluster, _ = asked([WHOLE, LOST], [LOST, WHOLE], [WHOLE, LOST])
    with pytest.raises(EngineUnreachable, match="1 of 3 shards failed"):
        requests.msearch(cluster, [])
    cluster, _ = asked([WHOLE, NOTHING])
    with pytest.raises(IndexMissing, match="no such index"):
        requests.msearch(cluster, [])


def test_several_searches_are_given_as_they_are_where_parts_will_do(asked: Callable[..., Any]) -> None:
    cluster, client = asked([WHOLE, LOST], [WHOLE, LOST], [NOTHING, LOST], [WHOLE, WHOLE])
    assert requests.msearch(cluster, [], allow_partial=True) == [NOTHING, LOST]
    assert client.left == [[WHOLE, WHOLE]]


def test_pages_follow_until_one_is_not_full(asked: Callable[..., Any]) -> None:
    full, last = (WHOLE | {"hits": {"hits": [{"sort": [n]} for n in some]}} for some in ([3, 5], [8]))
    cluster, client = asked(full, last, WHOLE)
    assert list(requests.search_pages(cluster, 2, index="news")) == [full, last]
    assert [request.get("search_after") for request in client.requests] == [None, [5]]
    assert client.left == [WHOLE]


def test_a_count_is_that_of_all_shards_or_an_error(asked: Callable[..., Any]) -> None:
    lost = error(503, "search_phase_execution_exception", "node_disconnected_exception")
    cluster, client = asked(lost, WHOLE | {"hits": {"total": {"value": 180}}})
    assert requests.count(cluster, "news", {"match_all": {}}) == 180
    asked_last = client.requests[-1]
    assert not asked_last["allow_partial_search_results"] and asked_last["track_total_hits"]
    assert asked_last["query"] == {"match_all": {}}


def test_a_refresh_that_a_node_cannot_make_is_asked_of_another(
    asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that hung speaks for the primaries it had, and the others refuse that."""
    refused = error(500, "", "")
    refused.body.clear()
    refused.body.update(answer("illegal_state_exception"))
    cluster, client = asked(refused, WHOLE)
    turns: list[bool] = []
    monkeypatch.setattr(Cluster, "switch_node", lambda _: turns.append(True))
    requests.refresh(cluster, "news")
    assert not client.left and turns == [True]
    with pytest.raises(EsrError, match="overloaded or not ready"):
        requests.refresh(asked(error(503, "master_not_discovered_exception", "gone"))[0], "news")


def test_a_refresh_reaches_every_copy_or_is_an_error(asked: Callable[..., Any]) -> None:
    cluster, client = asked(LOST, WHOLE)
    requests.refresh(cluster, "news")
    assert not client.left
    cluster, _ = asked(LOST, LOST, LOST, WHOLE)
    with pytest.raises(EngineUnreachable, match="1 of 3 shards failed to refresh"):
        requests.refresh(cluster, "news")
