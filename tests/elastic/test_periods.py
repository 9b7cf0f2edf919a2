"""An index divided by month gives the answers of an undivided one, on every model and after deliveries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from typing import Any, NamedTuple

import pytest

from esr.elastic import meta
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.search import sentence_search
from esr.errors import IndexUnusable
from esr.index.factory import open_delivery, open_migration
from esr.index.filters import Filters
from esr.index.questions import ByDay, ByField, DocumentMarks, DocumentsBefore, Summary
from esr.index.writer import LoadOptions
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.dates import parse_date_start
from tests.index.test_parity import FILTERS, QUERIES, SPLITS, corpus, random_documents
from tests.support.elasticsearch import document, fresh, http, load, located
from tests.support.index_contents import COUNTS_AND_LISTS

pytestmark = [pytest.mark.elasticsearch, pytest.mark.slow]

BY_MONTH = [
    Filters(date_from=parse_date_start("2025-03-01"), date_to=parse_date_start("2025-04-30")),
    Filters(date_to=parse_date_start("1990-01-01")),
]


class Pair(NamedTuple):
    """The same documents in an undivided index, and in one divided by month."""

    whole: Searcher
    divided: Searcher


@pytest.fixture(scope="module")
def pair(elasticsearch_url: str) -> Iterator[Pair]:
    """After deliveries: documents added, corrected and removed, and one that changed its month."""
    moved = document("r5", "The flood that moved to another month.", "A bank.", date="2025-01-30")
    with fresh(elasticsearch_url) as whole, fresh(elasticsearch_url) as divided:
        for where, by in ((whole, None), (divided, "month")):
            load(where, corpus(), by=by, precomputed_mixture=Ranking().mixture())
            changed = [moved, *random_documents(20, 3, seed=9), document("n", "A rare flood.", date="2031")]
            open_delivery(where, LoadOptions()).append(located(changed))
            open_delivery(where, LoadOptions()).remove(["r14", "r15", "earthquake-relief"])
        with open_searcher(whole) as one, open_searcher(divided) as other:
            yield Pair(one, other)


@pytest.fixture
def pruning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esr.elastic.search.pruned_search.FEW_CANDIDATES", 0)
    monkeypatch.setattr("esr.elastic.search.pruned_search.FIRST_DOCUMENTS", 5)


def answer(searcher: Searcher, query: str, k: int, **options: Any) -> tuple[Any, ...]:
    result = searcher.search(query, k, records=False, **options)
    return result.total, result.incomplete, result.unseen, [(h.sentence_id, h.score) for h in result.hits]


def differences(pair: Pair, queries: Sequence[str], filters: Sequence[Filters], **ranking: Any) -> list[Any]:
    different = []
    for query, of_filters in product(queries, filters):
        expected, actual = (answer(searcher, query, 20, filters=of_filters, **ranking) for searcher in pair)
        *counts, hits = expected
        *actual_counts, actual_hits = actual
        is_same = counts == actual_counts and len(hits) == len(actual_hits)
        if not is_same or not all(
            mine[0] == theirs[0] and mine[1] == pytest.approx(theirs[1], rel=1e-9, abs=1e-9)
            for mine, theirs in zip(actual_hits, hits, strict=True)
        ):
            different.append((query, of_filters, expected, actual))
    return different


@pytest.mark.parametrize("model, context", SPLITS)
def test_scores_do_not_depend_on_periods(pair: Pair, pruning: None, model: str, context: str | None) -> None:
    number = SPLITS.index((model, context))
    filters = [Filters(), FILTERS[number % len(FILTERS)], BY_MONTH[0]]
    queries = [QUERIES[number % len(QUERIES)], QUERIES[(number + 1) % len(QUERIES)]]
    assert not differences(pair, queries, filters, model=model, context=context)[:1]


def test_exhaustive_searches_and_priors_do_not_depend_on_periods(pair: Pair) -> None:
    assert not differences(pair, QUERIES, [*FILTERS, *BY_MONTH])[:1]
    assert not differences(pair, QUERIES[:2], BY_MONTH, priors={"importance": 0.5, "length": -1.0})[:1]


def test_both_prune_by_the_bounds_of_sentences(pair: Pair, pruning: None) -> None:
    whole, divided = (searcher.search(QUERIES[0], 5) for searcher in pair)
    assert whole.exhaustive is None and divided.exhaustive is None
    assert (whole.scored, whole.total) == (divided.scored, divided.total)
    index = pair.divided.index
    assert isinstance(index, ElasticsearchIndex) and index.snapshot().opened.impacts


def test_counts_statistics_and_documents_do_not_depend_on_periods(pair: Pair) -> None:
    whole, divided = (searcher.index for searcher in pair)
    terms = [*pair.whole.terms(" ".join(QUERIES)), "bank", "unseenword"]
    assert divided.statistics(terms) == whole.statistics(terms)
    for filters in (*FILTERS, *BY_MONTH):
        assert divided.count([None], filters) == whole.count([None], filters)
        assert divided.count([None], filters, ByDay()) == whole.count([None], filters, ByDay())
        by = ByField(("source", "month"), 20)
        assert divided.count([None], filters, by) == whole.count([None], filters, by)
    assert list(divided.documents()) == list(whole.documents())
    size = whole.status(Summary())["documents"]
    positions = [size - 1, 0, size // 2]
    assert divided.documents(positions=positions) == whole.documents(positions=positions)


def test_a_filter_by_date_names_only_the_indices_of_its_months(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = sentence_search.search

    def recorded(cluster: Any, **request: Any) -> Any:
        asked.append(request["index"])
        return real(cluster, **request)

    monkeypatch.setattr(sentence_search, "search", recorded)
    pair.divided.search("flood bank", 3, filters=BY_MONTH[0])
    days = {name[-24:-14] for names in asked for name in names.split(",")}
    assert asked and days == {"2025.03.01", "2025.04.01"}


SOME = [
    document("a", "A flood in the old town.", date="2023-04-01"),
    document("b", "Another flood.", date="2024-02-29"),
    document("c", "The flood rose.", date="2025-02-28"),
]


def lose(where: str, how: str) -> str:
    """Lose the index of 2024, and return its name."""
    url = where.rpartition("/")[0]
    (name,) = [name for name in http("GET", f"{where}/_alias") if "2024.01.01" in name]
    (stored,) = http("GET", f"{url}/{name}/_mapping").values()
    kinds = {"deleted": ("sentences", "documents"), "without documents": ("documents",)}
    for kind in kinds.get(how, ("sentences",)):
        http("DELETE", f"{url}/{name.replace('sentences', kind)}")
    if how == "red":
        nowhere = {"index.routing.allocation.require._name": "nobody", "index.final_pipeline": "_none"}
        body = {"settings": nowhere, "mappings": {"_meta": stored["mappings"]["_meta"]}}
        aliases = {where.rpartition("/")[2]: {}}
        http("PUT", f"{url}/{name}?wait_for_active_shards=0", {**body, "aliases": aliases})
    return name


@pytest.mark.parametrize("how", ["deleted", "half deleted", "red"])
def test_a_lost_period_is_named_and_the_others_answer(where: str, how: str) -> None:
    load(where, SOME, by="year")
    with open_searcher(where) as opened_before:
        assert len(opened_before.search("flood", 10).hits) == 3
        name = lose(where, how)
        with open_searcher(where) as opened_after:
            for searcher in (opened_before, opened_after):
                for query in ("flood", "flood town"):  # statistics of the second are not cached
                    result = searcher.search(query, 10)
                    assert {hit.sentence_id for hit in result.hits} == {"a.s0", "c.s0"}
                    assert result.incomplete is not None and name in result.incomplete
    if how != "red":
        with pytest.raises(IndexUnusable, match=r"missing.*esr rollback"):
            open_delivery(where, LoadOptions()).append(located([document("d", "A river.")]))
        with pytest.raises(IndexUnusable, match=name):
            open_migration(where, LoadOptions())


@pytest.mark.parametrize("how", ["deleted", "half deleted"])
def test_counts_and_lists_fail_if_they_would_leave_a_lost_period_out(where: str, how: str) -> None:
    load(where, SOME, by="year")
    name = lose(where, how)
    with open_searcher(where) as searcher:
        index = searcher.snapshot().index
        for ask in COUNTS_AND_LISTS:
            with pytest.raises(IndexUnusable, match=rf"{name}.*missing.*snapshot.*esr rollback"):
                ask(index, Filters())
            ask(index, Filters(date_from=parse_date_start("2025-01-01")))  # 2024 has none of these
        assert index.count([None], Filters(date_to=parse_date_start("2023-12-31"))) == [1]
        for read in (
            index.documents,
            lambda: index.documents(["a", "b"]),
            lambda: index.status(DocumentMarks()),
            lambda: index.status(DocumentsBefore(parse_date_start("2026"))),
        ):
            with pytest.raises(IndexUnusable, match=name):
                read()
        assert [found.id for found in index.documents(["a"])] == ["a"]
        assert "2024" in index.status(Summary())["incomplete"]


def test_a_request_that_moves_to_another_node_searches_the_same_remaining_periods(where: str) -> None:
    load(where, SOME, by="year")
    lose(where, "half deleted")
    scheme, _, rest = where.partition("://")
    host, _, alias = rest.partition("/")
    several = f"{scheme}://{host},localhost:{host.rpartition(':')[2]}/{alias}"
    with closing(ElasticsearchIndex(several)) as index:
        snapshot = index.snapshot()
        snapshot.cluster.switch_node()
        assert snapshot.count([None], Filters(date_from=parse_date_start("2025-01-01"))) == [1]


def test_an_alias_of_many_periods_names_a_period_without_documents(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, SOME, by="year")
    name = lose(where, "without documents")
    monkeypatch.setattr(meta, "LONGEST_NAMES", 100)
    with open_searcher(where) as searcher:
        assert name in str(searcher.search("flood", 10).incomplete)
        with pytest.raises(IndexUnusable, match=name.replace("sentences", "documents")):
            searcher.snapshot().index.documents()


def test_an_index_of_more_periods_than_a_request_can_name_is_searched_the_same(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, pruning: None
) -> None:
    monkeypatch.setattr(meta, "LONGEST_NAMES", 100)
    where = pair.divided.index.where
    with open_searcher(where) as searcher:
        assert not differences(Pair(pair.whole, searcher), QUERIES, [Filters(), BY_MONTH[0]])[:1]
        index = searcher.index
        assert isinstance(index, ElasticsearchIndex)
        assert index.snapshot().opened.is_pinned and "," not in index.snapshot().cluster.alias
