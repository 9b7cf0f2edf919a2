"""Searches of an index in Elasticsearch that get only a part of an answer. The answers are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from esr.elastic.cluster import Cluster
from esr.elastic.index import ElasticsearchSnapshot
from esr.elastic.search.opened_alias import OpenedAlias
from esr.errors import EngineUnreachable
from esr.index.filters import Filters
from esr.plans.plan import CollectionStatistics, Plan, PlanTerm, Saturation, Smoothing

HIT = {"_score": 1.0, "fields": {"sentence_id": ["a.s0"]}, "sort": [1.0, 0]}
PARTIAL = {
    "_shards": {"total": 2, "failed": 1, "failures": []},
    "hits": {"hits": [HIT], "total": {"value": 1}},
    "timed_out": False,
}


class Opened(SimpleNamespace):
    """An opened index that is divided by periods. Nobody answers when it asks which of them is away."""

    def available(self) -> Opened:
        return self

    def within(self, filters: Filters) -> Cluster:
        return cast(Cluster, self.cluster)

    def describe_unavailable(self) -> str:
        raise EngineUnreachable("the engine did not answer in the time allowed")


def test_a_partial_answer_is_kept_when_no_time_is_left_to_name_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster("http://localhost:9200/news")
    monkeypatch.setattr(Cluster, "client", SimpleNamespace(search=lambda **_: PARTIAL))
    opened: Any = Opened(
        cluster=cluster,
        description=None,
        analyzer=None,
        shards={},
        lacks=None,
        is_pinned=False,
        statistics=SimpleNamespace(bounded_collection=lambda _: CollectionStatistics(sentences=9)),
    )
    plan = Plan(
        (PlanTerm("flood", 1.0),),
        Saturation(1.2, Smoothing(1.0), Smoothing(), Smoothing()),
        "all",
        "document",
    )
    snapshot = ElasticsearchSnapshot(cluster.where, cast(OpenedAlias, opened))
    result = snapshot.search(plan, 3, Filters(), records=False)
    assert [hit.sentence_id for hit in result.hits] == ["a.s0"]
    assert result.incomplete == "1 of 2 shards failed"
