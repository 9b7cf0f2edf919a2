"""Sentences without a term, such as rows of signs or a few stop words, are no candidates, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from esr import models
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.index.filters import Filters
from esr.plans.plan import CANDIDATES
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.elasticsearch import document
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


def test_where_there_is_nothing_to_rank_by_the_condition_alone_decides(searcher: Searcher) -> None:
    for query, ids in (('"it is what it is"', {"a.s2"}), ("source:y", {"c.s0", "c.s1", "d.s0"})):
        answer = searcher.search(query, 100)
        assert {hit.sentence_id for hit in answer.hits} == ids and answer.total == len(ids)
    ranked = searcher.search("source:y", 100, priors={"importance": 1.0})
    assert [hit.sentence_id for hit in ranked.hits] == ["c.s1"] and ranked.total == 1
