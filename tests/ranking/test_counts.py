"""Counts of sentences mean the same everywhere, on both engines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr import models
from esr.following.newest import find_newest
from esr.following.timeline import build_timeline
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByDay, ByField
from esr.query import parse
from esr.ranking.query_report import MatchCounts, count_matches
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.elasticsearch import document
from tests.support.index_contents import ENGINES, open_loaded

FLOOD = "The flood took a bridge", "Nobody was hurt there", "The storm brought a flood", "Hail fell later"
STORM = "A storm is near", "People left the coast", "The title says nothing"
QUERIES = {
    "flood": MatchCounts(2, 2),
    "storm flood": MatchCounts(3, 1),
    "the storm": MatchCounts(2, 2),
    "+storm flood": MatchCounts(2, 1),
    "storm -flood": MatchCounts(1, 1),
    "flo*": MatchCounts(2, 2),
    '"a flood"': MatchCounts(1, 1),
    "title:gale": MatchCounts(3, 3),
    "storm source:Wire": MatchCounts(1, 1),
    "source:Wire": MatchCounts(4, 4),
    "+storm flood hail -bridge": MatchCounts(2, 0),
}
"""Queries, with the sentences that match them, and those of them with all words."""


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    news = [
        document("a", *FLOOD, source="Wire", date="2024-03-01"),
        document("b", *STORM, source="Courier", date="2024-03-02", title="A gale"),
    ]
    with open_loaded(request, tmp_path_factory.mktemp("counts"), news) as opened:
        yield opened


@pytest.mark.parametrize("query", QUERIES)
def test_facets_and_days_count_the_sentences_that_match(searcher: Searcher, query: str) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    matching = count_matches(prepared, NO_FILTERS).matching
    facets = prepared.index.count([prepared.matching], NO_FILTERS, ByField(["source"], 9))[0]["source"]
    (days,) = prepared.index.count([prepared.matching], NO_FILTERS, ByDay())
    assert matching == sum(number for _, number in facets) == sum(days.values()) > 0
    for source, number in facets:
        assert count_matches(prepared, Filters(sources=(source,))).matching == number


@pytest.mark.parametrize("query", QUERIES)
def test_lists_by_date_and_timelines_count_the_sentences_with_all_words(
    searcher: Searcher, query: str
) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    counts = count_matches(prepared, NO_FILTERS)
    (series,) = build_timeline([prepared], NO_FILTERS, "day", 0).series
    assert counts.all_words == find_newest(prepared, 1, NO_FILTERS).total == series.total
    assert counts.matching is not None and counts.all_words is not None
    assert counts.all_words <= counts.matching


@pytest.mark.parametrize("query", QUERIES)
def test_what_matches_does_not_depend_on_the_ranking(searcher: Searcher, query: str) -> None:
    first_stages = [model for model in models.MODELS.values() if model.second_stage is None]
    splits = [(model.name, context) for model in first_stages for context in model.contexts or (None,)]
    expected = count_matches(searcher.prepare(parse(query), Ranking()), NO_FILTERS)
    for model, context in splits:
        ranking = Ranking(model, context=context)
        prepared = searcher.prepare(parse(query), ranking)
        facets = prepared.index.count([prepared.matching], NO_FILTERS, ByField(["source"], 9))[0]["source"]
        assert count_matches(prepared, NO_FILTERS) == expected
        assert sum(number for _, number in facets) == expected.matching, (model, context)


@pytest.mark.parametrize(("query", "counts"), QUERIES.items())
def test_a_sentence_with_a_word_matches_if_it_satisfies_the_conditions(
    searcher: Searcher, query: str, counts: MatchCounts
) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    assert count_matches(prepared, NO_FILTERS) == counts
    assert prepared.with_all_words().search(9).total == counts.all_words
