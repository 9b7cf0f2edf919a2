"""Pruning on Elasticsearch gives the answer that scoring everything gives, and says what was done."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr.documents import Located
from esr.documents.enrichment import SentenceEnrichment
from esr.engines.elasticsearch.index import ElasticsearchIndex
from esr.engines.elasticsearch.search import pruned
from esr.engines.elasticsearch.search.searching import Search
from esr.engines.elasticsearch.store import impacts
from esr.engines.factory import LoadOptions, open_delivery, open_writer
from esr.engines.index import Filters, SearchResult
from esr.enrichment.recipe import Recipe
from esr.errors import EsrError
from esr.plans import bounds
from esr.plans.plan import CANDIDATES, Affine, Plan, PlanTerm, Static
from esr.ranking.ranking import Ranking
from tests.engines.elasticsearch.support import fresh
from tests.engines.pruning import (
    ENDS,
    FILTERS,
    FIRST_STAGES,
    QUERIES,
    SETTINGS,
    adverse_documents,
    made,
    planned,
    plans,
)
from tests.support.folder_index import document

pytestmark = pytest.mark.elasticsearch
KS = (1, 2, 7, 1000)
MIXTURES = [
    ranking
    for ranking in [*({"model": model, "context": context} for model, context in FIRST_STAGES), *ENDS]
    if Ranking.from_dict(ranking).mixture() is not None
]


@pytest.fixture(scope="module", params=[1, 3], ids=["1 shard", "3 shards and a second load"])
def adverse(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[ElasticsearchIndex]:
    found = adverse_documents()
    with fresh(elasticsearch_url) as where:
        if request.param == 1:
            load(where, found, prepared=Ranking().mixture())
        else:
            load(where, found[:50], shards=3)
            load(where, found[50:], if_exists="append")
        index = ElasticsearchIndex(where)
        yield index.snapshot()
        index.close()


@pytest.fixture(autouse=True)
def few_documents_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They make the bounds matter in a small corpus."""
    monkeypatch.setattr(pruned, "FEW", 0)
    monkeypatch.setattr(pruned, "FIRST", 1)
    monkeypatch.setattr(pruned, "A_HIT", 0)
    monkeypatch.setattr(pruned, "LISTED", 2)


def load(where: str, documents: list[Located], **options: Any) -> None:
    options.setdefault("if_exists", "fail")
    open_writer(where, LoadOptions(analyzer="plain", **options)).load(documents)


def everything(index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters) -> SearchResult:
    return Search(index.cluster, plan, index.bounded(plan), filters, False).everything(k, None)


def same(index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters) -> SearchResult | str:
    """Holds the pruned answer to the exhaustive one, and gives it."""
    known = index.statistics(plan.matching)
    kept = impacts.fit(index._impacts, plan, known)
    got = pruned.pruned(Search(index.cluster, plan, index.bounded(plan), filters, False, kept), k, known)
    if not isinstance(got, str):
        right = everything(index, plan, k, filters)
        assert got.hits == right.hits, (plan, k, filters)
        assert got.total == right.total
        assert got.incomplete is None and got.exhaustive is None
        assert got.scored is not None and min(k, right.total) <= got.scored <= right.total
    return got


@given(asked=plans(), k=st.sampled_from(KS), filters=st.sampled_from(FILTERS))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.mark.parametrize("ranking", MIXTURES, ids=str)
def test_a_mixture_that_the_index_was_prepared_for(elasticsearch_url: str, ranking: dict[str, Any]) -> None:
    """And what does not fit the numbers that are kept goes by the scripts."""
    prepared = Ranking.from_dict(ranking)
    with fresh(elasticsearch_url) as where:
        load(where, adverse_documents(), prepared=prepared.mixture())
        index = ElasticsearchIndex(where)
        now = index.snapshot()
        for n, (rule, more, query) in enumerate(product(CANDIDATES, SETTINGS, QUERIES)):
            plan = planned(now, query, Ranking.from_dict({**ranking, "candidates": rule, **more}))
            known = now.statistics(plan.matching)
            bounded = bounds.Bound(plan.transform, known.collection.longest_sentence).impossible([]) is None
            assert impacts.fit(now._impacts, plan, known) is bounded
            same(now, plan, KS[n % len(KS)], FILTERS[n % len(FILTERS)])
            first, *others = plan.terms
            for odd in (
                first._replace(own=False),
                first._replace(background=0.5),
                first._replace(weight=-1.0),
            ):
                assert not impacts.fit(now._impacts, replace(plan, terms=(odd, *others)), known)
        index.close()


@pytest.mark.parametrize("ranking", ENDS, ids=str)
def test_parameters_at_their_ends(adverse: ElasticsearchIndex, ranking: dict[str, Any]) -> None:
    for (n, query), filters in product(enumerate(QUERIES), FILTERS[1:4]):
        same(adverse, planned(adverse, query, Ranking.from_dict(ranking)), KS[n % len(KS)], filters)


def test_terms_that_are_not_the_querys_own(adverse: ElasticsearchIndex) -> None:
    for query, weight, k in product(("flood", "rare stone"), (0.3, 2.0), (1, 7)):
        plan = planned(adverse, query, Ranking())
        added = (PlanTerm("bank", weight, 0.01, own=False), PlanTerm("only", 3 * weight, 1e-4, own=False))
        same(adverse, replace(plan, terms=(*plan.terms, *added)), k, Filters())


def test_a_required_feature_that_is_not_there_adds_nothing(adverse: ElasticsearchIndex) -> None:
    """No model writes such a plan; hypothesis did."""
    required = Static("features.x", "linear", -2.0, -1.0, required=True)
    for rule, k in product(CANDIDATES, (1, 7)):
        plan = planned(adverse, "bank", Ranking(candidates=rule))
        assert not isinstance(same(adverse, replace(plan, statics=(required,)), k, Filters()), str)


def test_equal_documents_stand_in_the_order_of_the_collection(adverse: ElasticsearchIndex) -> None:
    found = same(adverse, planned(adverse, "only", Ranking()), 2, Filters())
    assert not isinstance(found, str)
    first, second = found.hits
    assert first.score == second.score and first.order < second.order


def test_a_filter_that_no_document_passes_lets_nothing_through(adverse: ElasticsearchIndex) -> None:
    for rule in CANDIDATES:
        plan = planned(adverse, "bank", Ranking(candidates=rule))
        found = same(adverse, plan, 2, Filters(documents=("none",)))
        assert not isinstance(found, str) and (found.hits, found.total, found.scored) == ([], 0, 0)


@pytest.mark.parametrize(
    ("constant", "value", "k", "why"),
    [
        ("FEW", 10_000, 3, "there are few candidates"),
        ("GREATEST_K", 2, 3, "more than 2 hits are asked for"),
        ("PAGE", 5, 3, "5 documents or more may have one of the best sentences"),
    ],
)
def test_what_is_not_worth_pruning_is_scored_in_full_and_says_why(
    adverse: ElasticsearchIndex,
    monkeypatch: pytest.MonkeyPatch,
    constant: str,
    value: int,
    k: int,
    why: str,
) -> None:
    plan = planned(adverse, "bank flood", Ranking())
    before = adverse.search(plan, k, Filters())
    assert before.exhaustive is None
    monkeypatch.setattr(pruned, constant, value)
    after = adverse.search(plan, k, Filters())
    assert (after.exhaustive, after.scored) == (why, after.total)
    assert after.hits == before.hits and after.total == before.total


def test_a_plan_without_a_bound_is_answered_in_full_and_says_so(adverse: ElasticsearchIndex) -> None:
    plan = planned(adverse, "rare stone", Ranking())
    odd = replace(plan, transform=replace(plan.transform, collection=Affine(1e-295)))
    found = adverse.search(odd, 3, Filters())
    assert found.exhaustive == "the mixture may be 0 without the collection's part"


def test_an_alias_that_may_move_is_searched_in_one_request(adverse: ElasticsearchIndex) -> None:
    index = ElasticsearchIndex(adverse.where.replace(adverse.cluster.alias, alias_of(adverse)))
    plan = planned(index, "rare stone", Ranking())
    found = index.search(plan, 3, Filters())
    assert found.exhaustive == "the alias may move between two requests"
    assert index.snapshot().search(plan, 3, Filters()).hits == found.hits


def alias_of(index: ElasticsearchIndex) -> str:
    return index.cluster.alias.split("-2", 1)[0]


def test_a_shard_that_fails_in_any_of_the_requests_makes_the_answer_incomplete(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(adverse, "bank flood", Ranking())
    ask = Search.ask
    asked: list[Any] = []

    def answering(failing: int, search: Search, **body: Any) -> Any:
        answer = ask(search, **body)
        if len(asked) == failing:
            search.incomplete = search.incomplete or "1 of 3 shards failed"
        asked.append(body)
        return answer

    for failing in range(2):
        asked.clear()
        monkeypatch.setattr(Search, "ask", lambda search, n=failing, **body: answering(n, search, **body))
        assert adverse.search(plan, 3, Filters()).incomplete == "1 of 3 shards failed"
        assert len(asked) > 1


def test_few_candidates_are_scored_also_when_the_entries_were_updated(elasticsearch_url: str) -> None:
    """Elasticsearch keeps what bounds them outside of the source, of which an update makes a new entry."""
    chance = random.Random(5)
    words = [f"w{n}" for n in range(50)]
    texts = [[" ".join(chance.choices(words, k=8)) for _ in range(5)] for _ in range(200)]
    found = [made(n, each, [None] * 5, None) for n, each in enumerate(texts)]
    recipe, one = Recipe(("features",), {"model": "none"}), SentenceEnrichment({"x": 1.0}, (), None)
    with fresh(elasticsearch_url) as where:
        load(where, found)
        index = ElasticsearchIndex(where)
        for _ in range(2):
            now = index.snapshot()
            got = same(now, planned(now, "w3 w7", Ranking()), 2, Filters())
            assert not isinstance(got, str) and got.scored is not None and got.scored < 0.6 * got.total
            with index.enrichment() as stored:
                stored.store(recipe, [(d.document.id, [one] * 5) for d in found])
                stored.finish(recipe)
        index.close()


def test_deliveries_keep_the_bounds_right(elasticsearch_url: str) -> None:
    found = adverse_documents()
    with fresh(elasticsearch_url) as where:
        load(where, found, prepared=Ranking().mixture())
        new = document("new", "only " * 9, "")
        open_delivery(where, LoadOptions()).append([new])
        open_delivery(where, LoadOptions()).remove(["d3", "d20"])
        index = ElasticsearchIndex(where)
        now = index.snapshot()
        for query, k in product(QUERIES, KS):
            assert not isinstance(same(now, planned(now, query, Ranking()), k, Filters()), str)
        index.close()
