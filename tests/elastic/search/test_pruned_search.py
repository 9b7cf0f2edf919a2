"""Pruning on Elasticsearch gives the answer that scoring everything gives, and says what was done."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from esr.elastic import impacts as impacts
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.search import plan_query, pruned_search
from esr.elastic.search.pruned_search import BoundedDocuments, DocumentPage
from esr.elastic.search.sentence_search import Search
from esr.enrichment.recipe import Recipe
from esr.errors import EsrError
from esr.index.filters import Filters
from esr.plans.plan import CANDIDATES, Affine, Plan, PlanTerm, Saturation, Smoothing, StaticScore, Unprunable
from esr.ranking.ranking import Ranking
from esr.text.sentence_enrichment import SentenceEnrichment
from tests.support.elasticsearch import KS, check_pruned, exhaustive, fresh, load_for_pruning, pairwise_cases
from tests.support.pruning import (
    EXTREME_RANKINGS,
    FILTERS,
    FIRST_STAGES,
    QUERIES,
    SETTINGS,
    TURNING_CURVE,
    WORDS,
    adverse_documents,
    check_pairs,
    half,
    make_plan,
    numbered_document,
    plain_documents,
    plans,
)
from tests.support.runs import examples

pytestmark = pytest.mark.elasticsearch
SHARDS = [1, 3]
TURNING_CURVES = Plan(
    (PlanTerm("bank", 0.0, 1e-9),),
    Saturation(None, Smoothing(1.0), Smoothing(), Smoothing()),
    "all",
    "surrounding",
    (
        StaticScore("features.x", "linear", -2.0, k=0.5, curve=TURNING_CURVE),
        StaticScore("importance", "curve", -2.0, k=0.5, curve=TURNING_CURVE),
    ),
)
"""A plan whose curve falls below its least value, where nothing else tells sentences apart."""
LEAST = 1e-3
"""Stands for the least weight of a term. Lucene sums up 32-bit scores as 64-bit numbers, in an order that
depends on the whole query: what adds 2**29 times less than the rest may change the last bit or not."""


@pytest.fixture(scope="module", params=SHARDS, ids=["1 shard", "3 shards and a second load"])
def adverse(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[ElasticsearchIndex]:
    documents = adverse_documents()
    with fresh(elasticsearch_url) as where:
        if request.param == 1:
            load_for_pruning(where, documents)
        else:
            load_for_pruning(where, documents[:50], shards=3)
            load_for_pruning(where, documents[50:], if_exists="append")
        index = ElasticsearchIndex(where)
        yield index.snapshot()
        index.close()


@pytest.fixture(autouse=True)
def few_documents_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They make the bounds matter in a small corpus."""
    monkeypatch.setattr(pruned_search, "FEW_CANDIDATES", 0)
    monkeypatch.setattr(pruned_search, "FIRST_DOCUMENTS", 2)
    monkeypatch.setattr(pruned_search, "FIRST_DOCUMENTS_PER_HIT", 0)
    monkeypatch.setattr(pruned_search, "NEXT_DOCUMENTS", 10)


def test_the_cases_have_every_pair_of_values() -> None:
    """A fault that needs two of them shows, and over the rankings one of rule, options and query."""
    by_ranking = [list(pairwise_cases(number)) for number in range(len(FIRST_STAGES))]
    filters = len(set(map(repr, FILTERS)))
    sizes = [len(CANDIDATES), len(SETTINGS), len(QUERIES), len(KS), filters]
    check_pairs(by_ranking, sizes)
    numbers = range(len(FIRST_STAGES))
    check_pairs([[c for n in numbers for c in cases_of_shards(n, shards)] for shards in SHARDS], sizes)


def cases_of_shards(number: int, shards: int) -> list[tuple[str, dict[str, Any], str, int, Filters]]:
    """The half of a model's cases that are for this number of shards."""
    return half(pairwise_cases(number), len(QUERIES), number, SHARDS.index(shards))


@given(plan=plans(), k=st.sampled_from(KS), filters=st.sampled_from(FILTERS))
@example(plan=TURNING_CURVES, k=1, filters=Filters())
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_plan_is_pruned_exactly(
    adverse: ElasticsearchIndex, plan: Plan, k: int, filters: Filters
) -> None:
    statistics = adverse.statistics([term.term for term in plan.terms]).terms
    seen = (term for term in plan.terms if statistics[term.term].is_seen)
    plan = replace(
        plan, terms=tuple(term if term.weight != 1e-12 else term._replace(weight=LEAST) for term in seen)
    )
    try:
        incomplete = exhaustive(adverse, plan, k, filters).incomplete
    except (EsrError, ValueError, AssertionError):
        incomplete = "all shards failed"
    if incomplete:
        return  # no model writes it: its scores are negative, or beyond 32 bits
    check_pruned(adverse, plan, k, filters)


@pytest.mark.parametrize("model, context", FIRST_STAGES)
def test_plans_of_every_model_are_pruned_exactly(
    request: pytest.FixtureRequest, adverse: ElasticsearchIndex, model: str, context: str | None
) -> None:
    shards = request.node.callspec.params["adverse"]
    for rule, options, query, k, filters in cases_of_shards(FIRST_STAGES.index((model, context)), shards):
        ranking = Ranking.from_dict({"model": model, "context": context, "candidates": rule, **options})
        result = check_pruned(adverse, make_plan(adverse, query, ranking), k, filters)
        assert not isinstance(result, Unprunable), result


@pytest.mark.parametrize("ranking", EXTREME_RANKINGS, ids=str)
def test_parameters_at_their_ends_are_pruned_exactly(
    adverse: ElasticsearchIndex, ranking: dict[str, Any]
) -> None:
    for (n, query), filters in product(enumerate(QUERIES), FILTERS[1:4]):
        check_pruned(adverse, make_plan(adverse, query, Ranking.from_dict(ranking)), KS[n % len(KS)], filters)


def test_terms_that_are_not_the_querys_own_are_pruned_exactly(adverse: ElasticsearchIndex) -> None:
    for query, weight, k in product(("flood", "rare stone"), (0.3, 2.0), (1, 7)):
        plan = make_plan(adverse, query, Ranking())
        added = (PlanTerm("bank", weight, 0.01, own=False), PlanTerm("only", 3 * weight, 1e-4, own=False))
        check_pruned(adverse, replace(plan, terms=(*plan.terms, *added)), k, Filters())


def test_a_required_feature_that_is_not_there_adds_nothing(adverse: ElasticsearchIndex) -> None:
    """No model writes such a plan; hypothesis did."""
    required = StaticScore("features.x", "linear", -2.0, -1.0, required=True)
    for rule, k in product(CANDIDATES, (1, 7)):
        plan = make_plan(adverse, "bank", Ranking(candidates=rule))
        assert not isinstance(
            check_pruned(adverse, replace(plan, static_scores=(required,)), k, Filters()), Unprunable
        )


def pass_next_pages_through(
    change: Callable[[DocumentPage, int], tuple[DocumentPage, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each listing after the first, and how many documents reach its bound, are what this makes of them."""
    read = pruned_search.read_next_page
    monkeypatch.setattr(pruned_search, "read_next_page", lambda *arguments: change(*read(*arguments)))


def test_documents_are_listed_as_long_as_their_bounds_reach_the_last_hit(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[int] = []

    def record(page: DocumentPage, reaching: int) -> tuple[DocumentPage, int]:
        listed.append(len(page.documents.ids))
        return page, reaching

    pass_next_pages_through(record, monkeypatch)
    monkeypatch.setattr(pruned_search, "NEXT_DOCUMENTS", 2)
    monkeypatch.setattr(pruned_search, "NEXT_GROWTH", 2)
    result = check_pruned(adverse, make_plan(adverse, "bank flood", Ranking()), 30, Filters())
    assert not isinstance(result, Unprunable)
    assert listed[:3] == [2, 4, 8]
    assert result.scored is not None and result.scored < result.total


def test_sentences_left_out_are_scored_beside_the_next_listing(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[bool] = []
    send_together = Search.send_together

    def record(search: Search, *requests: dict[str, Any]) -> Any:
        together.append("search_after" in requests[1])
        return send_together(search, *requests)

    monkeypatch.setattr(Search, "send_together", record)
    monkeypatch.setattr(pruned_search, "NEXT_DOCUMENTS", 2)
    check_pruned(adverse, make_plan(adverse, "bank flood", Ranking()), 30, Filters())
    assert together[0] is False and any(together)  # candidates are counted beside the first


def test_too_many_documents_are_listed_again_if_fewer_may_reach_the_last_hit_now(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def count_too_many_at_first(page: DocumentPage, reaching: int) -> tuple[DocumentPage, int]:
        counted.append(reaching)
        return page, 10**9 if len(counted) == 1 else reaching

    pass_next_pages_through(count_too_many_at_first, monkeypatch)
    monkeypatch.setattr(pruned_search, "NEXT_DOCUMENTS", 2)
    result = check_pruned(adverse, make_plan(adverse, "bank flood rare", Ranking()), 100, Filters())
    assert not isinstance(result, Unprunable)
    assert counted[1] <= counted[0]


@pytest.mark.parametrize("k", [1, 7, 40])
def test_sentences_with_few_terms_near_are_scored_where_they_can_be_among_the_best(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    plan = make_plan(adverse, "rare stone", Ranking())
    result = check_pruned(adverse, plan, k, Filters())
    assert not isinstance(result, Unprunable)
    monkeypatch.setattr(
        BoundedDocuments, "least_terms", lambda documents, bound, most: np.zeros(len(documents.ids), np.intp)
    )
    whole = check_pruned(adverse, plan, k, Filters())
    assert not isinstance(whole, Unprunable)
    assert result.scored is not None and whole.scored is not None
    assert result.scored < whole.scored


def test_the_best_sentences_may_contain_no_term(elasticsearch_url: str) -> None:
    """In documents that nearly all sentences of the other kind rule out."""
    short = numbered_document(0, ["bank bank", "a", "bank bank", *["b " * 9] * 5], [None] * 8, None)
    others = [
        numbered_document(n, ["bank " + "c " * 60, *["d " * 9] * 5], [None] * 6, None) for n in range(1, 40)
    ]
    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, [*others[:20], short, *others[20:]])
        with closing(ElasticsearchIndex(where)) as index:
            snapshot = index.snapshot()
            result = check_pruned(snapshot, make_plan(snapshot, "bank", Ranking()), 4, Filters())
    assert not isinstance(result, Unprunable)
    assert "d0.s1" in [hit.sentence_id for hit in result.hits]
    assert result.scored is not None and result.scored < 60


def test_equal_documents_stand_in_the_order_of_the_collection(adverse: ElasticsearchIndex) -> None:
    result = check_pruned(adverse, make_plan(adverse, "only", Ranking()), 2, Filters())
    assert not isinstance(result, Unprunable)
    first, second = result.hits
    assert first.score == second.score and first.ordinal < second.ordinal


def test_a_filter_that_no_document_passes_lets_nothing_through(adverse: ElasticsearchIndex) -> None:
    for rule in CANDIDATES:
        plan = make_plan(adverse, "bank", Ranking(candidates=rule))
        result = check_pruned(adverse, plan, 2, Filters(documents=("none",)))
        assert not isinstance(result, Unprunable) and (result.hits, result.total, result.scored) == ([], 0, 0)


@pytest.mark.parametrize(
    ("constant", "value", "k", "why"),
    [
        ("FEW_CANDIDATES", 10_000, 3, "there are few candidates"),
        ("MAX_K", 2, 3, "more than 2 hits are requested"),
        ("MANY_DOCUMENTS", 5, 3, "most documents may contain one of the best sentences"),
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
    plan = make_plan(adverse, "bank flood", Ranking())
    before = adverse.search(plan, k, Filters())
    assert before.exhaustive is None
    monkeypatch.setattr(pruned_search, "MANY_SHARE", 0.0)
    monkeypatch.setattr(pruned_search, constant, value)
    after = adverse.search(plan, k, Filters())
    assert (after.exhaustive, after.scored) == (why, after.total)
    assert after.hits == before.hits and after.total == before.total


def test_a_plan_without_a_bound_is_answered_in_full_and_says_so(adverse: ElasticsearchIndex) -> None:
    plan = make_plan(adverse, "rare stone", Ranking())
    odd = replace(plan, transform=replace(plan.transform, collection=Affine(1e-295)))
    result = adverse.search(odd, 3, Filters())
    assert result.exhaustive == "the mixture may be 0 without the collection's part"


def test_lengths_beyond_the_greatest_that_is_stored_keep_the_answer_exact(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (impacts, plan_query):
        monkeypatch.setattr(module, "GREATEST_LENGTH", 8)
    rng = random.Random(5)
    bodies = [
        [" ".join(rng.choices(WORDS, k=rng.randrange(9))) for _ in range(rng.randrange(1, 12))]
        for _ in range(60)
    ]
    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, plain_documents(bodies))
        index = ElasticsearchIndex(where)
        for (model, context), query, rule in product(FIRST_STAGES, QUERIES[:4], CANDIDATES):
            ranking = Ranking.from_dict({"model": model, "context": context, "candidates": rule})
            result = check_pruned(index.snapshot(), make_plan(index, query, ranking), 3, Filters())
            assert not isinstance(result, Unprunable), result
        for module in (impacts, plan_query):
            monkeypatch.setattr(module, "GREATEST_LENGTH", 7)
        answer = index.snapshot().search(make_plan(index, "bank", Ranking()), 3, Filters())
        assert answer.exhaustive == "a sentence has more than 7 terms"
        index.close()


def test_an_alias_that_may_move_is_searched_in_one_request(adverse: ElasticsearchIndex) -> None:
    index = ElasticsearchIndex(adverse.where.replace(adverse.cluster.alias, alias_of(adverse)))
    plan = make_plan(index, "rare stone", Ranking())
    result = index.search(plan, 3, Filters())
    assert result.exhaustive == "the alias may move between two requests"
    assert index.snapshot().search(plan, 3, Filters()).hits == result.hits


def alias_of(index: ElasticsearchIndex) -> str:
    return index.cluster.alias.split("-2", 1)[0]


def test_a_shard_that_fails_in_any_of_the_requests_makes_the_answer_incomplete(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(adverse, "bank flood", Ranking())
    send = Search.send
    requests: list[Any] = []

    def answering(failing: int, search: Search, **body: Any) -> Any:
        answer = send(search, **body)
        if len(requests) == failing:
            search.incomplete = search.incomplete or "1 of 3 shards failed"
        requests.append(body)
        return answer

    for failing in range(2):
        requests.clear()
        monkeypatch.setattr(Search, "send", lambda search, n=failing, **body: answering(n, search, **body))
        assert adverse.search(plan, 3, Filters()).incomplete == "1 of 3 shards failed"
        assert len(requests) > 1


def test_few_candidates_are_scored_also_when_the_entries_were_updated(elasticsearch_url: str) -> None:
    """Elasticsearch keeps what bounds them outside of the source, of which an update makes a new entry."""
    rng = random.Random(5)
    words = [f"w{n}" for n in range(50)]
    texts = [[" ".join(rng.choices(words, k=8)) for _ in range(5)] for _ in range(200)]
    documents = [numbered_document(n, bodies, [None] * 5, None) for n, bodies in enumerate(texts)]
    recipe, sentence_enrichment = (
        Recipe(("features",), {"model": "none"}),
        SentenceEnrichment({"x": 1.0}, (), None),
    )
    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, documents)
        index = ElasticsearchIndex(where)
        for _ in range(2):
            snapshot = index.snapshot()
            result = check_pruned(snapshot, make_plan(snapshot, "w3 w7", Ranking()), 2, Filters())
            assert (
                not isinstance(result, Unprunable)
                and result.scored is not None
                and result.scored < 0.6 * result.total
            )
            with index.enrichment() as enrichment:
                enrichment.store(recipe, [(d.document.id, [sentence_enrichment] * 5) for d in documents])
                enrichment.finish(recipe)
        index.close()
