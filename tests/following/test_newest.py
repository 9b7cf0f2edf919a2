"""The newest sentences of all that match, on both engines."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import esr
from esr.documents import Document
from esr.documents.dates import parse_date_start
from esr.engines.index import Filters
from esr.following.newest import find_newest
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.following.test_timeline import random_documents
from tests.support.elasticsearch import RELATIVE, document, fresh, load


@pytest.fixture
def searcher(anywhere: str) -> Iterator[Searcher]:
    load(anywhere, list(random_documents()), analyzer="plain")
    with esr.open(anywhere) as opened:
        yield opened


def expected(documents: list[Document], words: set[str], source: str | None = None) -> list[str]:
    """A plain scan: newest first, undated last, else in the order of the collection."""
    found = [
        (-parse_date_start(each.date) if each.date else float("inf"), sentence.id)
        for each in documents
        for sentence in each.sentences
        if words <= set(sentence.text.strip(".").split()) and source in (None, each.source)
    ]
    return [id for _, id in sorted(found, key=lambda pair: pair[0])]


@pytest.mark.parametrize("k", [1, 7, 1000])
def test_all_that_match_come_the_newest_first(searcher: Searcher, k: int) -> None:
    documents = list(searcher.index.documents())
    for words, source in (({"storm"}, None), ({"storm", "flood"}, "a.org")):
        prepared = searcher.prepare(" ".join(words), Ranking())
        filters = Filters(sources=(source,)) if source else Filters()
        answer, everything = find_newest(prepared, k, filters), expected(documents, words, source)
        assert [hit.sentence_id for hit in answer.hits] == everything[:k]
        assert answer.total == len(everything)


def test_three_shards_give_the_same_order(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, list(random_documents()), analyzer="plain", shards=3)
        with esr.open(where) as opened:
            test_all_that_match_come_the_newest_first(opened, 1000)


def test_scores_are_those_of_the_ranking(searcher: Searcher) -> None:
    for ranking in (Ranking(), Ranking(model="bm25"), Ranking(context="surrounding")):
        prepared = searcher.prepare("storm flood", ranking)
        ranked = {hit.sentence_id: hit.score for hit in prepared.search(5000).hits}
        answer = find_newest(prepared, 30, records=False)
        assert answer.hits and all(hit.record is None for hit in answer.hits)
        for hit in answer.hits:
            assert hit.score == pytest.approx(ranked[hit.sentence_id], rel=RELATIVE)


def test_several_segments_keep_the_order_of_the_collection(tmp_path: object) -> None:
    rng, where = random.Random(5), f"{tmp_path}/index"
    documents = [document(f"d{n}", "storm", date=f"2017-0{rng.randint(1, 3)}-01") for n in range(60)]
    for n in range(0, 60, 20):
        load(where, documents[n : n + 20], if_exists="append" if n else "fail")
    with esr.open(where) as opened:
        for k in (5, 25, 60):
            hits = find_newest(opened.prepare("storm", Ranking()), k).hits
            assert [hit.sentence_id for hit in hits] == expected(documents, {"storm"})[:k]
