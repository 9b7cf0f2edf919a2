"""Sentences without a term, such as rows of signs or a few stop words, on both engines.

Where the ranking decides on candidates, they are none. Where the condition of the query decides, it alone
does, so that every count of the query is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from esr import models
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.index.factory import is_elasticsearch
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByField
from esr.models.adjustments import Adjustment
from esr.plans.plan import CANDIDATES
from esr.query import parse
from esr.ranking.query_report import count_matches
from esr.ranking.ranking import Ranking
from esr.ranking.requests import raw_request
from esr.ranking.searcher import Searcher
from tests.support.elasticsearch import document, http
from tests.support.index_contents import ENGINES, open_loaded
from tests.support.runs import need

SPLITS = [
    (m.name, c) for m in models.MODELS.values() if m.second_stage is None for c in (m.contexts or (None,))
]
NEWS = [
    document("a", "A flood came.", "__", "It is what it is.", "The river rose.", title="Flood", source="x"),
    document("b", "***", "Rain fell.", "A flood, a flood!", "—", source="x"),
    document("c", "__", "A vote.", source="y"),
    document("d", "The of.", source="y", title="Flood"),
]
TERMLESS = {"a.s1", "a.s2", "b.s0", "b.s3", "c.s0", "d.s0"}


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """A searcher of the news that prunes, on each engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("esr.elastic.search.pruned_search.FEW_CANDIDATES", 0)
        patch.setattr(LOADER, "kernel", need(KERNEL))
        with open_loaded(request, tmp_path_factory.mktemp("termless"), NEWS, analyzer="english") as opened:
            yield opened


def test_the_statistics_count_them(searcher: Searcher) -> None:
    assert searcher.index.statistics([]).collection.termless_sentences == len(TERMLESS)


@pytest.mark.parametrize("model, context", SPLITS)
def test_no_model_and_no_rule_has_them_among_hits_totals_or_counts(
    searcher: Searcher, model: str, context: str | None
) -> None:
    for rule, prior, filters in product(
        CANDIDATES, ({}, {"importance": 1.0}), (None, {"source": ["x", "y"]})
    ):
        ranking = Ranking(model, context, priors=prior, candidates=rule)
        answer = searcher.search("flood river", 100, ranking=ranking, filters=filters)
        ids = {hit.sentence_id for hit in answer.hits}
        assert {"a.s0", "b.s2"} <= ids and not ids & TERMLESS, (rule, prior, filters)
        assert answer.total == len(ids), (rule, prior, filters)
        plan = searcher.prepare("flood river", ranking).plan
        assert len(searcher.index.candidates(plan, Filters()).evidence.lengths["sentence"]) == len(ids)


def test_a_best_list_of_one_is_no_row_of_signs(searcher: Searcher) -> None:
    for model, context in (("2s", "document"), ("2s", "both"), ("3mm", "document"), ("bm25f", "document")):
        (hit,) = searcher.search("flood", 1, model=model, context=context, priors={"length": -5.0}).hits
        assert hit.sentence_id not in TERMLESS


DECIDED = {
    '"it is what it is"': {"a.s2"},
    '"it is" flood': {"a.s2"},
    "source:y": {"c.s0", "c.s1", "d.s0"},
    "title:flood": {"a.s0", "a.s1", "a.s2", "a.s3", "d.s0"},
    "w* flood": {"a.s2"},
    "+the river": {"a.s3", "d.s0"},
    "title:flood -river": {"a.s0", "a.s1", "a.s2", "d.s0"},
    "(it OR rain)": {"a.s2", "b.s1"},
}
"""Queries whose conditions decide on candidates, with the sentences that satisfy them."""
RANKINGS: list[dict[str, Any]] = [
    {},
    {"features": [Adjustment("position", "linear", {"w": 1.0})]},
    {"features": [Adjustment("len", "log", {"w": 1.0})], "candidates": "matching"},
]


@pytest.mark.parametrize("query", DECIDED)
@pytest.mark.parametrize("model, context", [("2si", None), ("2s", "document"), ("bm25", None)])
def test_where_the_condition_decides_every_count_is_that_of_its_sentences(
    searcher: Searcher, model: str, context: str | None, query: str
) -> None:
    for settings in RANKINGS:
        prepared = searcher.prepare(parse(query), Ranking(model, context, **settings))
        answer = prepared.search(100)
        assert {hit.sentence_id for hit in answer.hits} == DECIDED[query], settings
        counts = count_matches(prepared, NO_FILTERS)
        (sources,) = prepared.index.count([prepared.matching], NO_FILTERS, ByField(["source"], 9))
        numbers = answer.total, counts.matching, sum(number for _, number in sources["source"])
        assert numbers == (len(DECIDED[query]),) * 3, settings
        assert prepared.with_all_words().search(100).total == counts.all_words, settings
        best = prepared.search(1)
        assert best.total == answer.total
        assert [hit.sentence_id for hit in best.hits] == [answer.hits[0].sentence_id]
        candidates = searcher.index.candidates(prepared.plan, NO_FILTERS).evidence
        assert len(candidates.lengths["sentence"]) == answer.total


def test_the_condition_decides_for_words_that_are_all_required(searcher: Searcher) -> None:
    prepared = searcher.prepare("flood", Ranking(features=RANKINGS[1]["features"]), require_all=True)
    assert prepared.search(9).total == count_matches(prepared, NO_FILTERS).matching == 2


def test_only_the_prior_of_length_leaves_them_out(searcher: Searcher) -> None:
    for prior, ids in (("importance", {"c.s0", "c.s1", "d.s0"}), ("length", {"c.s1"})):
        ranked = searcher.search("source:y", 100, priors={prior: 1.0})
        assert {hit.sentence_id for hit in ranked.hits} == ids and ranked.total == len(ids)


def test_words_that_no_document_contains_make_no_sentence_without_a_term_a_candidate(
    searcher: Searcher,
) -> None:
    answer = searcher.search("unseen", 100, candidates="all")
    assert not {hit.sentence_id for hit in answer.hits} & TERMLESS
    assert answer.total == len(answer.hits) == 5


def test_requests_select_the_same_sentences(searcher: Searcher) -> None:
    if not is_elasticsearch(searcher.index.where):
        pytest.skip("a folder has no requests")
    for query, settings in product(DECIDED, RANKINGS):
        prepared = searcher.prepare(parse(query), Ranking(**settings))
        if not prepared.plan.terms:
            continue  # a request needs a word
        body = raw_request(prepared, 100, filters=NO_FILTERS)
        found = http("POST", f"{searcher.index.where}/_search", body)["hits"]["hits"]
        assert {hit["_id"] for hit in found} == DECIDED[query], (query, settings)
