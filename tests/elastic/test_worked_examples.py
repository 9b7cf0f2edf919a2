"""The worked examples, whose scores were computed elsewhere, on a real Elasticsearch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr.ranking.searcher import Searcher, open_searcher
from tests.support import worked_examples as worked
from tests.support.elasticsearch import close, fresh, load

RUNS = [*worked.runs(), *worked.adjusted(), *worked.dependence()]


@pytest.fixture(scope="module", params=[1, 3], ids=["1 shard", "3 shards"])
def searcher(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[Searcher]:
    with fresh(elasticsearch_url) as where:
        load(
            where,
            [located.document for located in worked.documents()],
            analyzer="plain",
            shards=request.param,
        )
        with open_searcher(where) as searcher:
            yield searcher


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_elasticsearch_gives_the_worked_scores(searcher: Searcher, run: worked.Run) -> None:
    for name, query in worked.queries().items():
        actual = {hit.sentence_id: hit.score for hit in searcher.search(query, 100, **run.ranking).hits}
        expected = {sentence: score for sentence, score in run.scores[name].items() if score is not None}
        assert actual.keys() == expected.keys()
        assert [s for s in actual if not close(actual[s], expected[s])] == [], (name, actual, expected)
