"""Which requests to a cluster are sent again.

The answers are made up: tests/index/test_chaos.py kills real nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest
from elastic_transport import (
    ApiResponseMeta,
    HttpHeaders,
    NodeConfig,
    ObjectApiResponse,
)
from elasticsearch import ApiError

from esr.elastic import requests
from esr.elastic.cluster import Cluster
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, UsageError
from esr.index.limits import within


def answer(*failures: str) -> dict[str, Any]:
    """Of three shards, some of which failed for these reasons."""
    reasons = [{"reason": {"type": failure}} for failure in failures]
    return {"_shards": {"total": 3, "failed": len(failures), "failures": reasons}}


WHOLE = answer()
LOST = answer("node_disconnected_exception")
NO_COPY = answer("no_shard_available_action_exception")
NO_INDEX = [{"type": "index_not_found_exception", "reason": "no such index"}]
NOTHING = {"status": 404, "error": {"type": "index_not_found_exception", "root_cause": NO_INDEX}}


HEADERS = HttpHeaders({"x-elastic-product": "Elasticsearch"})
META = ApiResponseMeta(200, "1.1", HEADERS, 0.1, NodeConfig("http", "localhost", 9200))


def error(status: int, kind: str, cause: str) -> ApiError:
    body = {
        "error": {"type": kind, "reason": "shards failed", "root_cause": [{"type": cause, "reason": "gone"}]}
    }
    return ApiError("no", replace(META, status=status), body)


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

    def options(self, **_: Any) -> Answers:
        return self

    def get_alias(self, **_: Any) -> Any:
        """No alias leads anywhere: an index that is missing was not deleted by hand."""
        return ObjectApiResponse({}, META)

    def msearch(self, **request: Any) -> Any:
        return ObjectApiResponse({"responses": self.search(**request)}, META)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "PAUSES", (0.0, 0.0))


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Cluster, Answers]]]:
    with ExitStack() as clusters:

        def connect_to(*answers: Any) -> tuple[Cluster, Answers]:
            client = Answers(*answers)
            cluster = clusters.enter_context(closing(Cluster("http://localhost:9200/news")))
            monkeypatch.setattr(Cluster, "client", client)
            return cluster, client

        yield connect_to


@pytest.mark.usefixtures("no_pauses")
def test_a_search_that_lost_a_shard_is_sent_again(connect: Callable[..., Any]) -> None:
    cluster, client = connect(LOST, WHOLE)
    assert requests.search(cluster, allow_partial=True, index="news") == WHOLE
    assert [request["index"] for request in client.requests] == ["news", "news"]


@pytest.mark.usefixtures("no_pauses")
def test_partial_answers_are_allowed_only_where_the_caller_reports_them(connect: Callable[..., Any]) -> None:
    cluster, client = connect(WHOLE, WHOLE)
    requests.search(cluster, index="news")
    requests.search(cluster, allow_partial=True, index="news")
    assert [request["allow_partial_search_results"] for request in client.requests] == [False, True]


@pytest.mark.usefixtures("no_pauses")
def test_an_answer_that_stays_partial_is_returned_in_the_end(connect: Callable[..., Any]) -> None:
    cluster, client = connect(LOST, LOST, LOST, WHOLE)
    assert requests.search(cluster, allow_partial=True) == LOST
    assert client.left == [WHOLE]


@pytest.mark.usefixtures("no_pauses")
def test_a_search_is_not_sent_again_for_a_shard_without_a_copy(connect: Callable[..., Any]) -> None:
    cluster, _ = connect(NO_COPY, WHOLE)
    assert requests.search(cluster, allow_partial=True) == NO_COPY


@pytest.mark.usefixtures("no_pauses")
def test_nothing_is_sent_again_when_no_time_is_left(
    connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PAUSES", (60.0,))
    cluster, _ = connect(LOST, WHOLE)
    with within(5):
        assert requests.search(cluster, allow_partial=True) == LOST


@pytest.mark.usefixtures("no_pauses")
def test_a_search_that_fails_for_lost_shards_is_sent_again_and_then_raises(
    connect: Callable[..., Any],
) -> None:
    failure = error(503, "search_phase_execution_exception", "node_disconnected_exception")
    cluster, _ = connect(failure, WHOLE)
    assert requests.search(cluster) == WHOLE
    cluster, _ = connect(failure, failure, failure, WHOLE)
    with pytest.raises(EngineUnreachable, match="overloaded or not ready"):
        requests.search(cluster)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(
    "failure",
    [
        error(503, "search_phase_execution_exception", "no_shard_available_action_exception"),
        error(400, "search_phase_execution_exception", "script_exception"),
        error(500, "illegal_state_exception", "illegal_state_exception"),
        error(500, "search_phase_execution_exception", "maxClauseCount is set to 1024"),
    ],
)
def test_other_errors_are_raised_at_once(connect: Callable[..., Any], failure: ApiError) -> None:
    cluster, client = connect(failure, WHOLE)
    with pytest.raises(EsrError):
        requests.search(cluster)
    assert client.left == [WHOLE]


@pytest.mark.usefixtures("no_pauses")
def test_several_searches_are_sent_again_together(connect: Callable[..., Any]) -> None:
    cluster, _ = connect([WHOLE, LOST], [WHOLE, WHOLE])
    assert requests.msearch(cluster, []) == [WHOLE, WHOLE]


@pytest.mark.usefixtures("no_pauses")
def test_several_searches_are_complete_or_an_error(connect: Callable[..., Any]) -> None:
    cluster, _ = connect([WHOLE, LOST], [LOST, WHOLE], [WHOLE, LOST])
    with pytest.raises(EngineUnreachable, match="1 of 3 shards failed"):
        requests.msearch(cluster, [])
    cluster, _ = connect([WHOLE, NOTHING])
    with pytest.raises(IndexMissing, match="there is no index"):
        requests.msearch(cluster, [])


@pytest.mark.usefixtures("no_pauses")
def test_several_searches_may_be_returned_incomplete(
    connect: Callable[..., Any],
) -> None:
    cluster, client = connect([WHOLE, LOST], [WHOLE, LOST], [NOTHING, LOST], [WHOLE, WHOLE])
    assert requests.msearch(cluster, [], allow_partial=True) == [NOTHING, LOST]
    assert client.left == [[WHOLE, WHOLE]]


@pytest.mark.usefixtures("no_pauses")
def test_pages_follow_until_one_is_not_full(connect: Callable[..., Any]) -> None:
    full, last = (
        WHOLE | {"hits": {"hits": [{"sort": [n]} for n in sort_values]}} for sort_values in ([3, 5], [8])
    )
    cluster, client = connect(full, last, WHOLE)
    assert list(requests.search_pages(cluster, 2, index="news")) == [full, last]
    assert [request.get("search_after") for request in client.requests] == [None, [5]]
    assert client.left == [WHOLE]


@pytest.mark.usefixtures("no_pauses")
def test_a_count_covers_all_shards_or_is_an_error(connect: Callable[..., Any]) -> None:
    failure = error(503, "search_phase_execution_exception", "node_disconnected_exception")
    cluster, client = connect(failure, WHOLE | {"hits": {"total": {"value": 180}}})
    assert requests.count(cluster, "news", {"match_all": {}}) == 180
    last_request = client.requests[-1]
    assert not last_request["allow_partial_search_results"] and last_request["track_total_hits"]
    assert last_request["query"] == {"match_all": {}}


@pytest.mark.usefixtures("no_pauses")
def test_a_refresh_that_a_node_rejects_is_sent_to_another(
    connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that hung speaks for the primaries it had, and the others refuse that."""
    refused = error(500, "", "")
    refused.body.clear()
    refused.body.update(answer("illegal_state_exception"))
    cluster, client = connect(refused, WHOLE)
    switches: list[bool] = []
    monkeypatch.setattr(Cluster, "switch_node", lambda _: switches.append(True))
    requests.refresh(cluster, "news")
    assert not client.left and switches == [True]
    with pytest.raises(EsrError, match="overloaded or not ready"):
        requests.refresh(connect(error(503, "master_not_discovered_exception", "gone"))[0], "news")


@pytest.mark.usefixtures("no_pauses")
def test_a_refresh_reaches_every_copy_or_is_an_error(connect: Callable[..., Any]) -> None:
    cluster, client = connect(LOST, WHOLE)
    requests.refresh(cluster, "news")
    assert not client.left
    cluster, _ = connect(LOST, LOST, LOST, WHOLE)
    with pytest.raises(EngineUnreachable, match="1 of 3 shards failed to refresh"):
        requests.refresh(cluster, "news")


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(
    ("status", "kind", "reason", "expected", "message"),
    [
        (
            400,
            "illegal_argument_exception",
            "unable to find script [x] in cluster state",
            IndexUnusable,
            "lacks",
        ),
        (403, "security_exception", "action is unauthorized for user [u]", EsrError, "denies the request"),
        (400, "parsing_exception", "unknown query [x]", EsrError, "answered 400: unknown query"),
        (500, "too_many_clauses", "maxClauseCount is set to 1024", UsageError, "takes 1,024 clauses"),
    ],
)
def test_a_refused_search_of_several_is_reported_as_if_it_were_alone(
    connect: Callable[..., tuple[Cluster, Answers]],
    status: int,
    kind: str,
    reason: str,
    expected: type[EsrError],
    message: str,
) -> None:
    refused = {"status": status, "error": {"type": kind, "reason": reason}}
    cluster, _ = connect([WHOLE, refused])
    with pytest.raises(expected, match=message) as raised:
        requests.msearch(cluster, [{}, {}, {}, {}])
    assert not isinstance(raised.value, EngineUnreachable)
