"""Sentences that are listed by their bounds are those that scoring everything gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from esr.elastic.impacts import Slack, choose_base, find_slack, has_bounds
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.requests import count
from esr.elastic.search import plan_query, pruned_search
from esr.elastic.search import pruned_search as bounded_sentences
from esr.elastic.search.sentence_search import Search
from esr.enrichment.recipe import Recipe
from esr.index.factory import open_delivery
from esr.index.filters import Filters
from esr.index.questions import Summary
from esr.index.writer import PROFILES, LoadOptions
from esr.plans.plan import Mixture, Unprunable
from esr.ranking.ranking import Ranking
from esr.text.sentence_enrichment import SentenceEnrichment
from tests.cli.conftest import call
from tests.support.elasticsearch import (
    KS,
    LONGEST,
    check_pruned,
    fresh,
    index_settings,
    load_for_pruning,
    pairwise_cases,
)
from tests.support.folder_index import document
from tests.support.pruning import EXTREME_RANKINGS, FIRST_STAGES, QUERIES, adverse_documents, make_plan
from tests.support.runs import SHARDS

pytestmark = pytest.mark.elasticsearch
MIXTURES = [
    ranking
    for ranking in [
        *({"model": model, "context": context} for model, context in FIRST_STAGES),
        *EXTREME_RANKINGS,
    ]
    if Ranking.from_dict(ranking).mixture() is not None
]
Listings = list[int]


@pytest.fixture(autouse=True)
def few_sentences_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They make the bounds matter in a small corpus."""
    monkeypatch.setattr(pruned_search, "FEW_CANDIDATES", 0)
    monkeypatch.setattr(bounded_sentences, "FIRST_SENTENCES", 2)
    monkeypatch.setattr(bounded_sentences, "FIRST_SENTENCES_PER_HIT", 0)
    monkeypatch.setattr(bounded_sentences, "FIRST_PER_HIT_AND_TERM", 0)
    monkeypatch.setattr(bounded_sentences, "GREATEST_GROWTH", 4)


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> Listings:
    """How many sentences were listed, in each request of every search."""
    sizes: Listings = []
    read = bounded_sentences.read_scored

    def record(listed: list[Any], shift: float) -> Any:
        sizes.append(len(listed))
        return read(listed, shift)

    monkeypatch.setattr(bounded_sentences, "read_scored", record)
    return sizes


@pytest.fixture(scope="module", params=SHARDS, ids="{} shards".format)
def adverse(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[ElasticsearchIndex]:
    with fresh(elasticsearch_url) as where:
        load_for_pruning(
            where, adverse_documents(), shards=request.param, precomputed_mixture=Ranking().mixture()
        )
        with closing(ElasticsearchIndex(where)) as index:
            yield index.snapshot()


@pytest.mark.parametrize("ranking", MIXTURES, ids=str)
def test_a_mixture_that_the_index_was_prepared_for_is_pruned_exactly(
    elasticsearch_url: str, ranking: dict[str, Any]
) -> None:
    """A plan to which the stored impacts do not apply uses the bounds of documents."""
    prepared = Ranking.from_dict(ranking)
    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, adverse_documents(LONGEST), precomputed_mixture=prepared.mixture())
        index = ElasticsearchIndex(where)
        snapshot = index.snapshot()
        for rule, options, query, k, filters in pairwise_cases(MIXTURES.index(ranking)):
            plan = make_plan(snapshot, query, Ranking.from_dict({**ranking, "candidates": rule, **options}))
            statistics = snapshot.statistics(plan.candidate_terms)
            assert isinstance(plan.transform, Mixture)
            is_bounded = has_bounds(plan.transform, statistics.collection)
            assert (find_slack(snapshot.opened.impacts, plan, statistics) is not None) is is_bounded
            check_pruned(snapshot, plan, k, filters)
            first_term, *other_terms = plan.terms
            for odd in (
                first_term._replace(own=False),
                first_term._replace(background=0.5),
                first_term._replace(weight=-1.0),
            ):
                odd_plan = replace(plan, terms=(odd, *other_terms))
                assert find_slack(snapshot.opened.impacts, odd_plan, statistics) is None
        index.close()


def test_more_are_listed_until_no_other_reaches_the_last_hit(
    adverse: ElasticsearchIndex, listings: Listings
) -> None:
    result = check_pruned(adverse, make_plan(adverse, "bank flood", Ranking()), 7, Filters())
    assert not isinstance(result, Unprunable)
    assert listings[:3] == [2, 8, 32]
    assert all(1.2 * size < following <= 4 * size for size, following in pairwise(listings[1:]))
    assert result.scored == listings[-1] < result.total


def test_one_request_is_enough_if_the_bounds_of_others_are_lower(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch, listings: Listings
) -> None:
    monkeypatch.setattr(bounded_sentences, "FIRST_SENTENCES", 60)
    check_pruned(adverse, make_plan(adverse, "rare stone", Ranking()), 3, Filters())
    assert listings == [60]


def test_more_are_listed_first_if_deliveries_have_added_to_bounds(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_sentences, "FIRST_SENTENCES_PER_HIT", 1)
    plan = make_plan(adverse, "bank flood flood", Ranking())
    mixture = Ranking().mixture()
    assert mixture is not None and [term.weight for term in plan.terms] == [1.0, 2.0]
    sizes = []
    for growth, losses in ((0.0, {}), (0.5, {}), (0.5, {"flood": 0.75})):
        slack = Slack(choose_base(mixture), growth, losses)
        search = Search(adverse.cluster, plan, adverse.bounded_collection(plan), Filters(), False, slack)
        sizes.append(bounded_sentences.first_size(search, 10))
    assert sizes == [12, 2 + round(10 * math.e), 2 + round(10 * math.e**2)]


def test_as_many_are_listed_next_as_the_fall_of_the_bounds_asks_for() -> None:
    bounds = [9.0, 8.0, 7.0, 6.0, 5.5, 5.0, 4.5, 4.0]
    assert bounded_sentences.next_size(bounds, 4.0) == 10
    assert bounded_sentences.next_size(bounds, 2.5) == 16
    assert bounded_sentences.next_size(bounds, 1.75) == round(8 * 2**1.5)
    assert bounded_sentences.next_size(bounds, -100.0) == 32
    assert bounded_sentences.next_size([4.0, 4.0], 3.0) == 8
    assert bounded_sentences.next_size([4.0, 3.0], -math.inf) == 8


def test_documents_are_listed_if_too_many_sentences_reach_the_last_hit(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch, listings: Listings
) -> None:
    monkeypatch.setattr(bounded_sentences, "PAGE", 20)
    result = check_pruned(adverse, make_plan(adverse, "bank flood", Ranking()), 30, Filters())
    assert not isinstance(result, Unprunable)
    assert listings == [2, 8, 20]


def test_no_more_are_listed_than_there_are_candidates(
    adverse: ElasticsearchIndex, listings: Listings
) -> None:
    """Short sentences have an impact for their length, and are listed too."""
    plan = make_plan(adverse, "only", Ranking())
    result = check_pruned(adverse, plan, 1000, Filters(documents=("d5", "d7")))
    assert not isinstance(result, Unprunable)
    assert 2 < result.total < 32
    assert listings == [2, 8, 32], "d7 has hundreds of short sentences, none of which is a candidate"


def test_no_more_are_listed_after_a_time_out(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch, listings: Listings
) -> None:
    send_together = Search.send_together

    def time_out(search: Search, *requests: dict[str, Any]) -> list[Any]:
        first, *others = send_together(search, *requests)
        search.incomplete = "the search took longer than 1 seconds"
        return [{**first, "timed_out": True}, *others]

    monkeypatch.setattr(Search, "send_together", time_out)
    result = adverse.search(make_plan(adverse, "bank flood", Ranking()), 7, Filters())
    assert listings == [2] and len(result.hits) <= 2
    assert result.incomplete is not None


def test_a_plan_that_ranks_by_nothing_lists_nothing(adverse: ElasticsearchIndex, listings: Listings) -> None:
    plan = replace(make_plan(adverse, "bank flood", Ranking(candidates="all")), terms=())
    result = check_pruned(adverse, plan, 7, Filters())
    assert result == Unprunable("the query has nothing to rank by")
    assert not listings
    assert adverse.search(plan, 7, Filters()).exhaustive == "the query has nothing to rank by"


def test_repeated_and_fractional_words_of_a_query_count(
    adverse: ElasticsearchIndex, listings: Listings
) -> None:
    """Lucene makes one clause of equal ones, with a greater boost."""
    for weights, k in product(((2.0, 1.0), (3.0, 0.25), (1e-3, 1.0)), (2, 7)):
        plan = make_plan(adverse, "bank flood", Ranking())
        terms = tuple(term._replace(weight=w) for term, w in zip(plan.terms, weights, strict=True))
        check_pruned(adverse, replace(plan, terms=terms), k, Filters())
    assert listings


@pytest.mark.parametrize("change", ["a prior", "a great weight", "a great slack", "many terms"])
def test_other_plans_list_documents(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch, listings: Listings, change: str
) -> None:
    plan = make_plan(adverse, "bank flood", Ranking())
    if change == "a prior":
        plan = make_plan(adverse, "bank flood", Ranking(priors={"importance": 1.0}))
    elif change == "a great slack":
        monkeypatch.setattr(plan_query, "GREATEST_SLACK", -0.1)
    elif change == "a great weight":
        plan = replace(plan, terms=(plan.terms[0]._replace(weight=17.0), *plan.terms[1:]))
    else:
        monkeypatch.setattr(plan_query, "MOST_TERMS", 1)
    assert not isinstance(check_pruned(adverse, plan, 7, Filters()), Unprunable)
    assert not listings


def test_a_failed_shard_in_either_answer_makes_the_answer_incomplete(
    adverse: ElasticsearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(adverse, "bank flood", Ranking())
    note, answers = Search.note_missing, 0

    def report(search: Search, answer: Any, seconds: float) -> None:
        nonlocal answers
        answers += 1
        if answers == failing:
            answer = {**answer, "_shards": {**answer["_shards"], "failed": 1}}
        note(search, answer, seconds)

    monkeypatch.setattr(Search, "note_missing", report)
    for failing in (1, 2, 3):
        answers = 0
        incomplete = adverse.search(plan, 3, Filters()).incomplete
        assert incomplete is not None and "shards failed" in incomplete
        assert answers > failing - 1
    failing = 0
    assert adverse.search(plan, 3, Filters()).incomplete is None


def test_records_are_read_of_the_best_alone(adverse: ElasticsearchIndex, listings: Listings) -> None:
    plan = make_plan(adverse, "bank flood", Ranking())
    whole = Search(adverse.cluster, plan, adverse.bounded_collection(plan), Filters(), True).exhaustive(
        7, None
    )
    result = adverse.search(plan, 7, Filters())
    assert listings and result.hits == whole.hits
    assert all(hit.record is not None and hit.record.sentence_id == hit.sentence_id for hit in result.hits)
    assert adverse.search(plan, 7, Filters(documents=("none",))).hits == []


@pytest.mark.parametrize("choice", [["--impacts"], ["--no-impacts"], []])
def test_a_load_says_whether_sentences_have_impacts(
    elasticsearch_url: str, tmp_path: Path, choice: list[str]
) -> None:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "A storm hit the coast. It passed."}\n')
    with fresh(elasticsearch_url) as where:
        assert call("load", tmp_path / "news.jsonl", "--index", where, *choice).exit_code == 0
        with closing(ElasticsearchIndex(where)) as index:
            with_impacts = count(index.cluster, index.cluster.alias, {"term": {"lifts": "storm"}})
            assert (with_impacts > 0) is (choice != ["--no-impacts"])
            hits = index.snapshot().search(make_plan(index, "storm", Ranking()), 1, Filters()).hits
    assert [hit.sentence_id for hit in hits] == ["a.s0"]


@pytest.mark.parametrize("profile", PROFILES)
def test_answers_of_all_profiles_are_exact_after_a_load_and_a_delivery(
    elasticsearch_url: str, profile: str
) -> None:
    documents = adverse_documents(LONGEST)
    with fresh(elasticsearch_url) as where:
        load_for_pruning(
            where, documents[:-4], profile=profile, precomputed_mixture=Ranking().mixture(), shards=2
        )
        open_delivery(where, LoadOptions()).append(documents[-4:])
        (settings,) = index_settings(where)
        assert "codec" in settings and (settings["codec"] == "default") is (profile == "fast")
        assert (settings.get("sort", {}).get("field") is not None) is (profile == "lean")
        with closing(ElasticsearchIndex(where)) as index:
            snapshot = index.snapshot()
            assert bool(snapshot.opened.impacts) is (profile != "lean")
            for query, k in product(QUERIES[:4], KS[:2]):
                plan = make_plan(snapshot, query, Ranking())
                assert not isinstance(check_pruned(snapshot, plan, k, Filters()), Unprunable)


def test_a_load_that_appends_keeps_the_profile_which_the_status_names(elasticsearch_url: str) -> None:
    documents = adverse_documents(LONGEST)
    for profile in PROFILES:
        with fresh(elasticsearch_url) as where:
            load_for_pruning(where, documents[:2], profile=profile)
            load_for_pruning(where, documents[2:4], if_exists="append")
            sorts = {settings.get("sort", {}).get("field") is not None for settings in index_settings(where)}
            assert sorts == {profile == "lean"}
            with closing(ElasticsearchIndex(where)) as index:
                assert index.status(Summary())["profile"] == profile


def test_impacts_survive_the_updates_of_enrichment(elasticsearch_url: str, listings: Listings) -> None:
    """Elasticsearch keeps them outside of the source, of which an update makes a new entry."""
    documents = adverse_documents(LONGEST)
    recipe = Recipe(("features",), {"model": "none"})
    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, documents, precomputed_mixture=Ranking().mixture())
        with closing(ElasticsearchIndex(where)) as index:
            with index.enrichment() as enrichment:
                of_documents = [
                    (d.document.id, [SentenceEnrichment({"x": 1.0}, (), None)] * len(d.document.sentences))
                    for d in documents
                ]
                enrichment.store(recipe, of_documents)
                enrichment.finish(recipe)
            snapshot = index.snapshot()
            result = check_pruned(snapshot, make_plan(snapshot, "rare stone", Ranking()), 2, Filters())
    assert not isinstance(result, Unprunable)
    assert listings and result.scored is not None and result.scored < result.total / 4


def test_impacts_stay_in_use_and_exact_through_deliveries(elasticsearch_url: str) -> None:
    """Appended, replaced and removed documents, and one with the longest sentence of all.

    Every other pair of query and k, and the others after the next step.
    """
    longest = document("d7", "vote " * 40)
    documents = adverse_documents(LONGEST)
    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, documents, precomputed_mixture=Ranking().mixture())
        steps = (
            lambda delivery: delivery.append([document("new", "only " * 9, ""), longest]),
            lambda delivery: delivery.remove(["d3", "d20", "d21", "d22"]),
            lambda delivery: delivery.append([document("d9", "bank fraud."), document("later", "rare " * 3)]),
        )
        for number, step in enumerate(steps):
            step(open_delivery(where, LoadOptions()))
            with closing(ElasticsearchIndex(where)) as index:
                snapshot = index.snapshot()
                for query, k in list(product(QUERIES, KS))[number % 2 :: 2]:
                    plan = make_plan(snapshot, query, Ranking())
                    assert find_slack(
                        snapshot.opened.impacts, plan, snapshot.statistics(plan.candidate_terms)
                    )
                    assert not isinstance(check_pruned(snapshot, plan, k, Filters()), Unprunable)
