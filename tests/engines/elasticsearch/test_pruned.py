"""Pruning on Elasticsearch gives the answer that scoring everything gives, and says what was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr.documents import Located
from esr.engines.elasticsearch import pruned
from esr.engines.elasticsearch.index import ElasticsearchIndex
from esr.engines.elasticsearch.searching import Search
from esr.engines.index import Candidates, Filters
from esr.engines.opening import LoadOptions, loading
from esr.errors import EsrError
from esr.plans.plan import CANDIDATES, Plan
from esr.ranking.ranking import Ranking
from tests.engines.elasticsearch.support import fresh
from tests.engines.pruning import (
    FILTERS,
    FIRST_STAGES,
    QUERIES,
    SETTINGS,
    adverse_documents,
    planned,
    plans,
)

pytestmark = pytest.mark.elasticsearch
KS = (1, 2, 7, 1000)
BOOSTS: list[dict[str, Any]] = [
    {"boosts": {"feedback": {"sentences": 3, "terms": 5}}},
]


@pytest.fixture(scope="module", params=[1, 3], ids=["1 shard", "3 shards and a second load"])
def adverse(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[ElasticsearchIndex]:
    found = adverse_documents()
    with fresh(elasticsearch_url) as where:
        if request.param == 1:
            load(where, found)
        else:
            load(where, found[:50], shards=3)
            load(where, found[50:], if_exists="append")
        index = ElasticsearchIndex(where)
        yield index.now()
        index.close()


@pytest.fixture(autouse=True)
def few_documents_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They make the bounds matter in a small corpus."""
    monkeypatch.setattr(pruned, "FEW", 0)
    monkeypatch.setattr(pruned, "FIRST", 1)
    monkeypatch.setattr(pruned, "A_HIT", 0)


def load(where: str, documents: list[Located], **options: Any) -> None:
    options.setdefault("if_exists", "fail")
    loading(where, LoadOptions(analyzer="plain", **options)).load(documents)


def everything(index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters) -> Candidates:
    return Search(index.cluster, plan, index.bounded(plan), filters, False).everything(k, None)


def same(index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters) -> Candidates | str:
    """Holds the pruned answer to the exhaustive one, and gives it."""
    got = pruned.pruned(Search(index.cluster, plan, index.bounded(plan), filters, False), k)
    if not isinstance(got, str):
        right = everything(index, plan, k, filters)
        assert got.hits == right.hits, (plan, k, filters)
        assert got.total == right.total
        assert got.incomplete is None and got.exhaustive is None
        assert got.scored is not None and min(k, right.total) <= got.scored <= right.total
    return got


@given(asked=plans(), k=st.sampled_from(KS), filters=st.sampled_from(FILTERS))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_plan(adverse: ElasticsearchIndex, asked: Plan, k: int, filters: Filters) -> None:
    known = adverse.statistics([term.term for term in asked.terms]).terms
    asked = replace(asked, terms=tuple(term for term in asked.terms if known[term.term].seen))
    try:
        incomplete = everything(adverse, asked, k, filters).incomplete
    except (EsrError, ValueError, AssertionError):
        incomplete = "all shards failed"
    if incomplete:
        return  # no model writes it: its scores are negative, or beyond 32 bits
    same(adverse, asked, k, filters)


@pytest.mark.parametrize("model, context", FIRST_STAGES)
def test_models(adverse: ElasticsearchIndex, model: str, context: str | None) -> None:
    for n, (rule, more, query) in enumerate(product(CANDIDATES, SETTINGS, QUERIES)):
        ranking = Ranking.from_dict({"model": model, "context": context, "candidates": rule, **more})
        found = same(adverse, planned(adverse, query, ranking), KS[n % len(KS)], FILTERS[n % len(FILTERS)])
        assert not isinstance(found, str), found
